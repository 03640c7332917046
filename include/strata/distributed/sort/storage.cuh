// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>
#include <strata/distributed/sort/brackets.cuh>
#include <strata/distributed/sort/gathered.cuh>
#include <strata/distributed/sort/merge_runs.cuh>
#include <strata/distributed/sort/plan.hpp>
#include <strata/distributed/sort/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The arguments of a sort on one rank.
template <class KeysIn, class ValuesIn, class Key, class Value>
struct distributed_sort_arguments {
  KeysIn keys_in;
  ValuesIn values_in;
  std::int64_t num_items;
  pair_arrays<Key, Value> output;
  std::int64_t capacity;
  std::int64_t* num_out;

  bool have_valid_counts() const {
    return !detail::refuses_count(num_items, "num_items") && !detail::refuses_count(capacity, "capacity") &&
           !detail::refuses_reach(keys_in, num_items, "d_keys_in") &&
           !detail::refuses_reach(values_in, num_items, "d_values_in");
  }
  bool have_valid_arrays() const {
    constexpr bool has_values = pair_arrays<Key, Value>::has_values;
    if (detail::refuses_null(num_out, "num_out")) return false;
    if (num_items > 0 && (detail::refuses_null(keys_in, "d_keys_in") ||
                          (has_values && detail::refuses_null(values_in, "d_values_in")))) {
      return false;
    }
    if (capacity > 0 && (detail::refuses_null(output.keys, "d_keys_out") ||
                         (has_values && detail::refuses_null(output.values, "d_values_out")))) {
      return false;
    }
    return !detail::outputs_overlap(
        {detail::bytes_of(output.keys, capacity, "d_keys_out"),
         detail::bytes_of(output.values, capacity, "d_values_out")},
        {detail::bytes_of(keys_in, num_items, "d_keys_in"), detail::bytes_of(values_in, num_items, "d_values_in")});
  }
};

/// Temporary storage of a sort on one rank.
template <class Key, class Value>
struct distributed_sort_storage {
  using Arrays = pair_arrays<Key, Value>;

  sort_sizes sizes;
  sample_messages first, later;
  std::size_t local_sort_bytes = 0, merge_bytes = 0, work_bytes = 0, gathered_sort_bytes = 0;
  temporary_storage::layout<7> all;
  temporary_storage::layout<7> work;
  temporary_storage::layout<7> gathered_work;  // replaces `work` if the items of all ranks are gathered

  distributed_sort_storage(int ranks, const distributed_sort_tuning& tuning)
      : sizes{ranks, tuning, sizeof(Key)},
        first(sample_messages::first(sizes.first_samples(), sizeof(Key))),
        later(sample_messages::later(sizes.samples(), sizes.max_splitters(), sizeof(Key))) {}

  template <class Arguments, class LocalSort, class Compare>
  cudaError_t reserve(const Arguments& arguments, const LocalSort& local_sort, const Compare& compare) {
    if (!arguments.have_valid_counts()) return cudaErrorInvalidValue;
    const cudaError_t status = local_sort(nullptr, local_sort_bytes, arguments.keys_in, arguments.values_in,
                                          arguments.output.keys, arguments.output.values, arguments.num_items, nullptr);
    if (status != cudaSuccess) return status;
    if (sizes.ranks == 1) {
      all.template reserve<unsigned char>(work_slot, local_sort_bytes);
      return cudaSuccess;
    }
    const std::int64_t chunk = sizes.max_chunk(arguments.capacity);
    const cudaError_t merge_status = run_merger<Key, Value, Compare>::size_of_storage(chunk, merge_bytes, compare);
    if (merge_status != cudaSuccess) return merge_status;
    reserve_items(work, 0, begin_of_part(arguments.capacity, sizes.ranks * sizes.tuning.chunks));
    const int buffers = run_merger<Key, Value, Compare>::number_of_buffers(sizes.ranks);
    for (int i = 0; i < buffers; ++i) reserve_items(work, 2 + 2 * i, chunk);
    work.template reserve<unsigned char>(6, merge_bytes);
    work_bytes = work.bytes();
    const cudaError_t gathered_status = reserve_gathered(arguments, local_sort);
    if (gathered_status != cudaSuccess) return gathered_status;
    reserve_items(all, 0, arguments.num_items);
    all.template reserve<unsigned char>(work_slot, work_bytes);
    all.template reserve<unsigned char>(work_slot, local_sort_bytes);  // used before there is anything to merge
    const std::size_t message = detail::most(first.bytes, later.bytes);
    const auto ranks = static_cast<std::size_t>(sizes.ranks);
    all.template reserve<unsigned char>(3, message);
    all.template reserve<unsigned char>(4, message * ranks);
    all.template reserve<unsigned char>(5, bytes_of_headers() + 2 * number_of_brackets() * sizeof(cut_bracket));
    return cudaSuccess;
  }

  bool map(void* d_temp_storage, std::size_t temp_storage_bytes) {
    if (!all.map(d_temp_storage, temp_storage_bytes)) return false;
    if (sizes.ranks == 1) return true;
    const std::size_t gathered_bytes = gathered_work.bytes();
    return work.map(workspace(), work_bytes) && gathered_work.map(workspace(), gathered_bytes);
  }

  /// The largest number of items of a rank whose items are gathered. With more than two ranks, it is less than an area
  /// has room for, because each rank sorts the items of all.
  std::int64_t most_in_area() const {
    if (sizes.ranks > max_peers) return 0;
    const auto fitting = static_cast<std::int64_t>(area_layout<Key, Value>::most_items);
    return detail::least<std::int64_t>(2 * fitting / detail::most(sizes.ranks, 2), sizes.tuning.max_gathered_items);
  }

  /// Where part `i` of the received items begins, if `before` items come before it: each part has an aligned beginning,
  /// and room for its lead.
  static std::int64_t begin_of_part(std::int64_t before, int i) {
    return (before + (aligned_items - 1)) / aligned_items * aligned_items + i * 2 * aligned_items;
  }

  Arrays sorted() const { return arrays(all, 0); }
  unsigned char* workspace() const { return all.template get<unsigned char>(work_slot); }
  Arrays gathered() const { return arrays(gathered_work, 0); }
  Arrays gathered_sorted() const { return arrays(gathered_work, 2); }
  unsigned char* gathered_sort() const { return gathered_work.template get<unsigned char>(4); }
  Arrays received_items() const { return arrays(work, 0); }
  Arrays buffer(int i) const { return arrays(work, 2 + 2 * i); }
  unsigned char* merge_storage() const { return work.template get<unsigned char>(6); }
  unsigned char* message() const { return all.template get<unsigned char>(3); }
  unsigned char* received() const { return all.template get<unsigned char>(4); }
  /// The results of the first round: headers, then brackets. They lie side by side, so that the host gets them by one
  /// copy.
  unsigned char* findings() const { return all.template get<unsigned char>(5); }
  call_header* headers() const { return reinterpret_cast<call_header*>(findings()); }
  cut_bracket* brackets(int which) const {
    return reinterpret_cast<cut_bracket*>(findings() + bytes_of_headers()) +
           static_cast<std::size_t>(which) * number_of_brackets();
  }
  std::size_t bytes_of_headers() const {
    constexpr std::size_t alignment = alignof(cut_bracket);
    return (static_cast<std::size_t>(sizes.ranks) * sizeof(call_header) + alignment - 1) / alignment * alignment;
  }
  std::size_t number_of_brackets() const {
    return static_cast<std::size_t>(sizes.max_splitters()) * static_cast<std::size_t>(sizes.ranks);
  }

  /// Returns values in the form that a local sort reads.
  static auto as_input(Value* values) {
    if constexpr (Arrays::has_values) {
      return static_cast<const Value*>(values);
    } else {
      return values;
    }
  }

 private:
  static constexpr int work_slot = 2;

  /// Reserves storage for the gathered items of all ranks. No rank has more of them than `most_in_area()`.
  template <class Arguments, class LocalSort>
  cudaError_t reserve_gathered(const Arguments& arguments, const LocalSort& local_sort) {
    const std::int64_t each = detail::least(most_in_area(), arguments.capacity + 1);
    const std::int64_t most = each * sizes.ranks;
    if (most == 0) return cudaSuccess;
    const Arrays none{};
    const cudaError_t status = local_sort(nullptr, gathered_sort_bytes, static_cast<const Key*>(none.keys),
                                          as_input(none.values), none.keys, none.values, most, nullptr);
    reserve_items(gathered_work, 0, most);
    reserve_items(gathered_work, 2, most);
    gathered_work.template reserve<unsigned char>(4, gathered_sort_bytes);
    all.template reserve<unsigned char>(work_slot, gathered_work.bytes());
    return status;
  }

  static void reserve_items(temporary_storage::layout<7>& layout, int slot, std::int64_t count) {
    layout.template reserve<Key>(slot, static_cast<std::size_t>(count));
    if (Arrays::has_values) layout.template reserve<Value>(slot + 1, static_cast<std::size_t>(count));
  }
  static Arrays arrays(const temporary_storage::layout<7>& layout, int slot) {
    return {layout.template get<Key>(slot), Arrays::has_values ? layout.template get<Value>(slot + 1) : nullptr};
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
