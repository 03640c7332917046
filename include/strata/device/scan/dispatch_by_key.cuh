// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/problem_scan_by_key.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Scans by key. The output may be the array of keys. Then a result may overwrite a key that the block of the next tile
/// has not read yet. So two kernels before the scan replace each key by a flag: whether a run begins with its item.
/// Only the block that scans the item reads the flag.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The keys are cut into parts: one for each thread of the first kernel, and for each block of the second.
inline constexpr unsigned max_key_parts = 1024;
inline constexpr int key_part_threads = 256;

/// Finds out for each part whether a run begins with its first item. A thread has a part.
template <class Begins>
STRATA_KERNEL void find_begins_of_parts_kernel(Begins by_keys, std::size_t num_items, std::size_t part_items,
                                               unsigned char* part_begins) {
  const std::size_t part = blockIdx.x * std::size_t{key_part_threads} + threadIdx.x;
  if (part * part_items >= num_items) return;
  part_begins[part] = by_keys.at(part * part_items) ? 1 : 0;
}

/// Overwrites each key with a flag that says whether a run begins with it. A block has a part.
template <class Begins>
STRATA_KERNEL void write_begins_over_keys_kernel(Begins by_keys, std::size_t num_items, std::size_t part_items,
                                                 const unsigned char* part_begins, begins_over_keys begins) {
  using Key = typename Begins::Key;
  STRATA_SHARED(shared, Uninitialized<Key>);
  Key& last_key = shared.Alias();  // of the tile before
  const std::size_t first = blockIdx.x * part_items;
  const std::size_t end = num_items - first < part_items ? num_items : first + part_items;
  for (std::size_t tile = first; tile < end; tile += key_part_threads) {
    const std::size_t i = tile + threadIdx.x;
    bool is_begin = false;
    if (i < end) {
      if (i == first) {
        is_begin = part_begins[blockIdx.x] != 0;
      } else if (threadIdx.x == 0) {
        is_begin = !by_keys.are_equal(last_key, by_keys.keys[i]);
      } else {
        is_begin = by_keys.at(i);
      }
    }
    __syncthreads();  // All have read their keys.
    if (i < end) {
      if (threadIdx.x == key_part_threads - 1) last_key = by_keys.keys[i];
      begins.set(i, is_begin);
    }
    __syncthreads();
  }
}

/// `part_begins` has `max_key_parts` bytes.
template <class Begins>
cudaError_t write_begins_over_keys(const Begins& by_keys, std::size_t num_items, unsigned char* part_begins,
                                   const begins_over_keys& begins, cudaStream_t stream) {
  const std::size_t part_items =
      round_up<std::size_t>(ceiling_divide<std::size_t>(num_items, max_key_parts), key_part_threads);
  const auto parts = static_cast<unsigned>(ceiling_divide(num_items, part_items));
  launch_configuration configuration{"strata::DeviceScan, begins of parts",
                                     dim3(ceiling_divide(parts, unsigned{key_part_threads})), dim3(key_part_threads)};
  configuration.stream = stream;
  const cudaError_t status =
      strata::launch(configuration, find_begins_of_parts_kernel<Begins>, by_keys, num_items, part_items, part_begins);
  if (status != cudaSuccess) return status;
  configuration.name = "strata::DeviceScan, begins of runs";
  configuration.grid = dim3(parts);
  return strata::launch(configuration, write_begins_over_keys_kernel<Begins>, by_keys, num_items, part_items,
                        static_cast<const unsigned char*>(part_begins), begins);
}

/// True if types allow that results are written over keys.
template <class KeyIterator, class OutputIterator>
inline constexpr bool may_write_over_keys = false;
template <class Key, class Output>
inline constexpr bool may_write_over_keys<Key*, Output*> = sizeof(Key) == sizeof(Output) && !std::is_const_v<Output>;

/// Carries out one call of a scan by key, whose sums are carried in `T`. `InitT` is NullType, a value, or a
/// FutureValue.
template <class T, bool IsInclusive, class PolicyHub, class KeyIterator, class ValueIterator, class OutputIterator,
          class ScanOp, class InitT, class NumItemsT, class EqualityOp>
cudaError_t dispatch_scan_by_key(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys,
                                 ValueIterator d_values, OutputIterator d_out, ScanOp scan_op, InitT init,
                                 NumItemsT num_items, EqualityOp equality_op, cudaStream_t stream) {
  constexpr bool is_possible = equality_requirements<EqualityOp, iterator_value_t<KeyIterator>>::are_met &&
                               operator_requirements<ScanOp, T>::are_met && relocatable_requirements<T>::are_met;
  using ByKeys = begins_by_keys<KeyIterator, EqualityOp>;
  using Problem = scan_by_key_problem<T, ByKeys, ValueIterator, OutputIterator, ScanOp, IsInclusive, InitT>;
  using Dispatcher = dispatch_if<is_possible, DispatchScan<Problem, PolicyHub>>;
  const Problem problem{{d_keys, equality_op}, d_values, d_out, scan_op, init};
  if constexpr (!is_possible || !may_write_over_keys<KeyIterator, OutputIterator>) {
    return Dispatcher::Dispatch(d_temp_storage, temp_storage_bytes, problem, num_items, stream);
  } else {
    // The size is the same for all outputs, over keys or not.
    std::size_t scan_bytes = 0;
    cudaError_t status = Dispatcher::Dispatch(nullptr, scan_bytes, problem, num_items, stream);
    if (status != cudaSuccess) return status;
    temporary_storage::layout<2> storage;
    storage.template reserve<unsigned char>(0, max_key_parts);
    storage.template reserve<unsigned char>(1, scan_bytes);
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    void* const scan_storage = storage.template get<unsigned char>(1);
    const std::size_t count = detail::max_items(num_items);
    if (!problem.is_over_keys() || count == 0) {
      return Dispatcher::Dispatch(scan_storage, scan_bytes, problem, num_items, stream);
    }
    // With a FutureCount, keys from the count up to its bound would be overwritten, too.
    if (detail::is_refused(is_future_count<NumItemsT>, "d_values_out",
                           "is d_keys_in, but only a call without a FutureCount may overwrite its keys") ||
        !problem.are_arguments_valid(count)) {
      return cudaErrorInvalidValue;
    }
    const begins_over_keys begins{reinterpret_cast<unsigned char*>(d_out), sizeof(*d_out)};
    status =
        detail::write_begins_over_keys(problem.begins, count, storage.template get<unsigned char>(0), begins, stream);
    if (status != cudaSuccess) return status;
    using OverKeys =
        scan_by_key_problem<T, begins_over_keys, ValueIterator, OutputIterator, ScanOp, IsInclusive, InitT>;
    return DispatchScan<OverKeys, PolicyHub>::Dispatch(
        scan_storage, scan_bytes, OverKeys{begins, d_values, d_out, scan_op, init}, num_items, stream);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
