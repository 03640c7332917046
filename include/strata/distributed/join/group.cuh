// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/distributed/exchange/group.cuh>
#include <strata/distributed/join/kernels.cuh>
#include <strata/distributed/join/route.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Sorts the rows of a side by class (`join_classes`). The rows of a class go to one rank, go to all ranks, have no
/// key, or are dropped.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Groups the rows of one side on this rank.
template <bool IsBuild, class Call, class Storage>
struct join_row_grouping {
  using Key = typename Call::Key;
  // not for users: the type is that of destinations
  static_assert(std::is_same_v<join_class_t, destination_key>,
                "join_class_t must be the type of destinations, by "
                "which rows are sorted");

  const Call& call;
  const Storage& storage;
  /// The number of the first row.
  unsigned first_row = 0;

  /// Finds the bytes of Storage::work() that run() needs.
  cudaError_t size_of_work(std::size_t& bytes) const {
    bytes = 0;
    cudaError_t status = cudaSuccess;
    for_each_sort([&](auto items, auto* out) {
      std::size_t of_sort = 0;
      if (status == cudaSuccess) status = sort(nullptr, of_sort, nullptr, nullptr, items, out);
      if (of_sort > bytes) bytes = of_sort;
    });
    return status;
  }

  /// Writes the sorted classes to Storage::sorted_classes(), and the arrays to send in their order.
  cudaError_t run(const join_routing& routing) const {
    if (rows() == 0) return cudaSuccess;
    cudaError_t status =
        strata::launch(detail::join_row_launch("strata::DistributedHashJoin, classes", rows(), call.stream),
                       distributed_join_classify_kernel<typename Call::RoutedKeys>,
                       call.template routed_keys<IsBuild>(), static_cast<unsigned>(rows()), routing, storage.classes());
    for_each_sort([&](auto items, auto* out) {
      std::size_t bytes = storage.work_bytes();
      if (status != cudaSuccess) return;
      status = sort(storage.work(), bytes, storage.classes(), storage.sorted_classes(), items, out);
    });
    if constexpr (Call::template sorts_rows<IsBuild>) {
      for_each_array([&](auto items, auto* out) {
        if (status != cudaSuccess) return;
        status = detail::gather_items(static_cast<const unsigned*>(storage.template rows_sent<IsBuild>()), first_row,
                                      items, out, rows(), call.stream);
      });
    }
    return status;
  }

 private:
  std::int64_t rows() const { return call.template side<IsBuild>().rows; }

  /// Calls `f(items, out)` for keys and columns.
  template <class F>
  void for_each_array(const F& f) const {
    f(call.template side<IsBuild>().keys, storage.template keys_sent<IsBuild>());
    call.template for_each_moved_column<IsBuild>([&](const auto& column, auto value, int index) {
      f(column.in, storage.template values_sent<typename decltype(value)::type>(index));
    });
  }
  /// Calls `f(items, out)` for the arrays that a sort moves.
  template <class F>
  void for_each_sort(const F& f) const {
    if constexpr (Call::template sorts_rows<IsBuild>) {
      f(CountingInputIterator<unsigned>(first_row), storage.template rows_sent<IsBuild>());
    } else {
      for_each_array(f);
    }
  }

  template <class Items, class Item>
  cudaError_t sort(void* d_work, std::size_t& bytes, const join_class_t* classes, join_class_t* sorted_classes,
                   Items items, Item* out) const {
    // The last class has the rows that are dropped.
    return detail::group_items(d_work, bytes, classes, sorted_classes, items, out, rows(),
                               static_cast<int>(call.classes().dropped()), call.stream);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
