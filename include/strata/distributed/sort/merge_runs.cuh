// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/merge_sort/merge_dispatch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Keys and their values. The values may be NullType.
template <class Key, class Value>
struct pair_arrays {
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;

  Key* keys = nullptr;
  Value* values = nullptr;

  pair_arrays at(std::int64_t index) const { return {keys + index, has_values ? values + index : nullptr}; }
};

/// A run: sorted items side by side.
template <class Key, class Value>
struct sorted_run {
  pair_arrays<Key, Value> items;
  std::int64_t count;
};

/// Merges sorted runs, two at a time. Among equal items, the items of an earlier run come first.
///
/// The merges form a binary tree over the runs. A merge at depth 0 writes the output. A merge at depth d > 0 writes
/// buffer (d - 1) % 2, at the positions that its items have in the output. Its inputs are runs, or merges of depth d +
/// 1, which lie in the other buffer. The results of depth d + 2, which lie in its own buffer at the same positions,
/// have been merged by then. So two buffers are enough. Up to four runs need one buffer, and two runs need none.
template <class Key, class Value, class Compare>
struct run_merger {
  using Arrays = pair_arrays<Key, Value>;
  using Run = sorted_run<Key, Value>;

  const Compare& compare;
  Arrays buffers[2];
  void* storage;
  std::size_t storage_bytes;
  cudaStream_t stream;

  static constexpr int number_of_buffers(int runs) { return runs <= 2 ? 0 : runs <= 4 ? 1 : 2; }

  /// Finds the temporary storage of merges of up to `items` items.
  static cudaError_t size_of_storage(std::int64_t items, std::size_t& bytes, const Compare& compare) {
    const Run none{};
    return merge_two(nullptr, bytes, {none.items, items}, {none.items, 0}, none.items, compare, nullptr);
  }

  /// Merges the runs, none of which is empty.
  cudaError_t operator()(const std::vector<Run>& runs, const Arrays& output) const {
    if (runs.empty()) return cudaSuccess;
    if (runs.size() == 1) return copy(runs[0], output);
    Run result{};
    return merge(runs, 0, runs.size(), 0, 0, output, result);
  }

 private:
  /// Merges the runs from `first` to `last - 1`. Their items have the positions from `begin` on.
  cudaError_t merge(const std::vector<Run>& runs, std::size_t first, std::size_t last, int depth, std::int64_t begin,
                    const Arrays& output, Run& result) const {
    if (last - first == 1) {
      result = runs[first];
      return cudaSuccess;
    }
    const std::size_t middle = first + (last - first + 1) / 2;
    Run left{}, right{};
    cudaError_t status = merge(runs, first, middle, depth + 1, begin, output, left);
    if (status != cudaSuccess) return status;
    status = merge(runs, middle, last, depth + 1, begin + left.count, output, right);
    if (status != cudaSuccess) return status;
    result = {(depth == 0 ? output : buffers[(depth - 1) % 2]).at(begin), left.count + right.count};
    std::size_t bytes = storage_bytes;
    return merge_two(storage, bytes, left, right, result.items, compare, stream);
  }

  static cudaError_t merge_two(void* storage, std::size_t& bytes, const Run& left, const Run& right,
                               const Arrays& output, const Compare& compare, cudaStream_t stream) {
    return detail::merge_ranges(storage, bytes, static_cast<const Key*>(left.items.keys), as_input(left), left.count,
                                static_cast<const Key*>(right.items.keys), as_input(right), right.count, output.keys,
                                output.values, compare, stream);
  }
  static auto as_input(const Run& run) {
    if constexpr (Arrays::has_values) {
      return static_cast<const Value*>(run.items.values);
    } else {
      return run.items.values;
    }
  }

  cudaError_t copy(const Run& run, const Arrays& output) const {
    const auto count = static_cast<std::size_t>(run.count);
    const cudaError_t status =
        cudaMemcpyAsync(output.keys, run.items.keys, count * sizeof(Key), cudaMemcpyDeviceToDevice, stream);
    if (status != cudaSuccess || !Arrays::has_values) return status;
    return cudaMemcpyAsync(output.values, run.items.values, count * sizeof(Value), cudaMemcpyDeviceToDevice, stream);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
