// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/radix_sort/segmented_dispatch.cuh>
#include <strata/device/top_k/agent_segmented.cuh>
#include <strata/device/top_k/segmented_arguments.cuh>
#include <strata/device/top_k/segmented_tuning.hpp>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Replaces `T*` by `const T*`, so that both share kernels. Other iterators stay as they are.
template <class Iterator>
struct segmented_top_k_input {
  using type = Iterator;
};
template <class T>
struct segmented_top_k_input<T*> {
  using type = const T*;
};

/// The tuning row that a kernel reads.
enum class top_k_rows_of {
  narrow,
  middle,
  wide,
  small_groups,
  groups,
  large_groups,
  small_block,
  block,
  large_block,
  long_segments
};

template <class Policy, top_k_rows_of Rows>
STRATA_HD constexpr top_k_warp_tuning top_k_warp_rows() {
  if constexpr (Rows == top_k_rows_of::narrow) {
    return Policy::narrow;
  } else if constexpr (Rows == top_k_rows_of::middle) {
    return Policy::middle;
  } else {
    return Policy::wide;
  }
}
template <class Policy, top_k_rows_of Rows>
STRATA_HD constexpr top_k_block_tuning top_k_block_rows() {
  if constexpr (Rows == top_k_rows_of::small_block) {
    return Policy::small_block;
  } else if constexpr (Rows == top_k_rows_of::small_groups) {
    return Policy::small_groups;
  } else if constexpr (Rows == top_k_rows_of::groups) {
    return Policy::groups;
  } else if constexpr (Rows == top_k_rows_of::large_groups) {
    return Policy::large_groups;
  } else if constexpr (Rows == top_k_rows_of::large_block) {
    return Policy::large_block;
  } else {
    return Policy::block;
  }
}

template <class Policy, class Problem, top_k_rows_of Rows, bool IsSorted>
struct top_k_warps_agent {
  static constexpr top_k_warp_tuning tuning = detail::top_k_warp_rows<Policy, Rows>();
  using type = AgentSegmentedTopKWarps<Problem, tuning.block_threads, tuning.lanes, tuning.items_per_lane, IsSorted>;
};
template <class Policy, class Problem, top_k_rows_of Rows, bool IsSorted>
struct top_k_block_agent {
  static constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, Rows>();
  static constexpr bool is_long = Rows == top_k_rows_of::long_segments;
  using type =
      AgentSegmentedTopKBlock<Policy, Problem, tuning.block_threads, tuning.items_per_thread, IsSorted, is_long>;
};

template <class Policy, class Problem, top_k_rows_of Rows, bool IsSorted>
struct top_k_groups_agent {
  static constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, Rows>();
  using type = AgentSegmentedTopKGroups<Problem, tuning.block_threads, tuning.items_per_thread, IsSorted>;
};

/// Selects from segments that fit in the registers of a logical warp. It leaves other segments to the next kernel.
template <class MaxPolicy, top_k_rows_of Rows, bool IsSorted, class Problem>
__launch_bounds__((detail::top_k_warp_rows<typename MaxPolicy::ActivePolicy, Rows>().block_threads),
                  (detail::top_k_warp_rows<typename MaxPolicy::ActivePolicy, Rows>().blocks_per_multiprocessor))
    STRATA_KERNEL void segmented_top_k_warps_kernel(const STRATA_GRID_CONSTANT Problem problem) {
  using Agent = typename top_k_warps_agent<typename MaxPolicy::ActivePolicy, Problem, Rows, IsSorted>::type;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), problem).run();
}

/// Selects from segments that fit in the registers of a block, or, with `long_segments`, from those that do not. It
/// skips segments that the warps of `wide` have handled, if there were such warps.
template <class MaxPolicy, top_k_rows_of Rows, bool IsSorted, class Problem>
__launch_bounds__((detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, Rows>().block_threads),
                  (detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, Rows>().blocks_per_multiprocessor))
    STRATA_KERNEL void segmented_top_k_block_kernel(const STRATA_GRID_CONSTANT Problem problem, top_k_scratch scratch,
                                                    bool has_warps) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = typename top_k_block_agent<Policy, Problem, Rows, IsSorted>::type;
  using Warps = typename top_k_warps_agent<Policy, Problem, top_k_rows_of::wide, IsSorted>::type;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), problem, scratch).run([has_warps](long long length, long long count) {
    return Agent::can_have(length) && (!has_warps || !Warps::can_have(length, count));
  });
}

/// Selects few results from segments of one size. Each block handles one segment at a time.
template <class MaxPolicy, top_k_rows_of Rows, bool IsSorted, class Problem>
__launch_bounds__((detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, Rows>().block_threads),
                  (detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, Rows>().blocks_per_multiprocessor))
    STRATA_KERNEL void segmented_top_k_groups_kernel(const STRATA_GRID_CONSTANT Problem problem) {
  using Agent = typename top_k_groups_agent<typename MaxPolicy::ActivePolicy, Problem, Rows, IsSorted>::type;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), problem).run();
}

/// Selects from few long segments of one size. gridDim.y blocks handle each segment.
template <class MaxPolicy, bool IsSorted, class Problem>
__launch_bounds__(
    (detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, top_k_rows_of::block>().block_threads),
    (detail::top_k_block_rows<typename MaxPolicy::ActivePolicy, top_k_rows_of::block>().blocks_per_multiprocessor))
    STRATA_KERNEL void segmented_top_k_parts_kernel(const STRATA_GRID_CONSTANT Problem problem, top_k_scratch scratch) {
  using Policy = typename MaxPolicy::ActivePolicy;
  constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, top_k_rows_of::block>();
  using Agent = AgentTopKLongSegment<Policy, Problem, tuning.block_threads, tuning.items_per_thread, IsSorted>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const typename Problem::row row = problem.at(blockIdx.z);
  if (row.count > 0) Agent(shared.Alias(), problem, scratch.of(blockIdx.z, gridDim.y)).run(row, blockIdx.y, gridDim.y);
  if (blockIdx.y == 0) problem.pad(row, static_cast<int>(threadIdx.x), tuning.block_threads);
}

inline constexpr int top_k_copy_threads = 256;

/// Writes results that have been sorted. `keys` and `indices` have `stride` items for each segment.
template <class Problem>
__launch_bounds__(top_k_copy_threads)
    STRATA_KERNEL void segmented_top_k_copy_kernel(const STRATA_GRID_CONSTANT Problem problem,
                                                   const typename Problem::Key* keys, const long long* indices,
                                                   long long stride) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  for (long long segment = blockIdx.x; segment < problem.segments.num_segments(); segment += gridDim.x) {
    const typename Problem::row row = problem.at(segment);
    for (long long i = threadIdx.x; i < row.count; i += top_k_copy_threads) {
      const auto from = static_cast<std::size_t>(segment * stride + i);
      problem.write(row, static_cast<std::size_t>(i), static_cast<std::size_t>(indices[from]), keys[from]);
    }
    problem.pad(row, static_cast<int>(threadIdx.x), top_k_copy_threads);
  }
}

/// Results in rows of `stride` items in temporary storage. A segment has as many results as `results` says.
template <class Results>
struct top_k_clipped_rows {
  static constexpr bool has_padding = false;

  Results results;
  long long stride;

  long long max_results() const { return stride; }
  STRATA_D long long begin(long long segment) const { return segment * stride; }
  STRATA_D long long count(long long segment, long long length) const { return results.count(segment, length); }
};

/// Returns where the results of a segment begin or end in rows of `stride` items.
template <class Segments, class Results>
struct top_k_results_end {
  Segments segments;
  Results results;
  long long stride;

  STRATA_D long long operator()(long long segment) const {
    return segment * stride + results.count(segment, segments(segment).length);
  }
};
struct top_k_results_begin {
  long long stride;

  STRATA_D long long operator()(long long segment) const { return segment * stride; }
};

template <class Policy>
using segmented_top_k_rows = std::void_t<
    if_rows<top_k_warp_tuning, decltype(Policy::narrow), decltype(Policy::middle), decltype(Policy::wide)>,
    if_rows<top_k_block_tuning, decltype(Policy::small_groups), decltype(Policy::groups),
            decltype(Policy::large_groups)>,
    if_rows<top_k_block_tuning, decltype(Policy::small_block), decltype(Policy::block), decltype(Policy::large_block)>,
    if_rows<top_k_tuning, decltype(Policy::select)>>;

/// True if logical warps can have all these numbers of lanes.
template <class... Lanes>
constexpr bool are_lanes(Lanes... lanes) {
  return ((lanes >= 1 && lanes <= warp_threads && is_power_of_two(static_cast<unsigned long long>(lanes))) && ...);
}

/// Checks the tuning rows of a policy. AgentTopK selects from long segments in blocks of as many threads as `block`
/// has.
template <class Policy>
constexpr void check_top_k_rows() {
  static_assert(Policy::select.block_threads == Policy::block.block_threads,
                "DeviceSegmentedTopK: block and select of a policy must have the same block_threads");
  static_assert(
      detail::are_whole_warps(Policy::narrow.block_threads, Policy::middle.block_threads, Policy::wide.block_threads,
                              Policy::small_groups.block_threads, Policy::groups.block_threads,
                              Policy::large_groups.block_threads, Policy::small_block.block_threads,
                              Policy::block.block_threads, Policy::large_block.block_threads) &&
          detail::are_lanes(Policy::narrow.lanes, Policy::middle.lanes, Policy::wide.lanes),
      "DeviceSegmentedTopK: block_threads of each tuning row must be a multiple of 32, at most 1024, and lanes a power "
      "of two from 1 to 32");
}

/// Carries out one call. Without values, ValueIterator and ValueOutputIterator are NullType.
template <bool IsMax, bool IsSorted, class PolicyHub, class KeyIterator, class Segments, class Results,
          class KeyOutputIterator, class ValueIterator, class ValueOutputIterator>
struct DispatchSegmentedTopK {
  using Key = iterator_value_t<KeyIterator>;
  static_assert(hub_has_rows<segmented_top_k_rows, PolicyHub>,
                "DeviceSegmentedTopK: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members narrow, middle and wide (top_k_warp_tuning), small_groups, groups, "
                "large_groups, small_block, block and large_block (top_k_block_tuning) and select (top_k_tuning)");
  using MaxPolicy = typename hub_or<segmented_top_k_rows, PolicyHub, segmented_top_k_policy_hub<Key>>::MaxPolicy;
  using Problem = segmented_top_k_problem<IsMax, KeyIterator, Segments, Results, KeyOutputIterator, ValueIterator,
                                          ValueOutputIterator>;
  using Code = typename Problem::Code;
  using Gather = top_k_scratch::Gather;
  static constexpr bool has_size = std::is_same_v<Segments, segments_of_size>;
  static constexpr long long max_grid = 0x7fffffff;
  static constexpr long long max_rows_of_grid = 0xffff;
  /// The largest number of blocks that select from long segments.
  static constexpr long long max_long_blocks = 256;

  Problem problem;
  cudaStream_t stream;
  device_properties device;
  top_k_scratch scratch;

  /// Makes the call. The caller has checked the arrays.
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Problem& problem,
                              cudaStream_t stream) {
    const auto segments = problem.segments.num_segments();
    temporary_storage::layout<2> storage;
    storage.template reserve<unsigned char>(0, 1);
    if (may_have_long(problem)) {
      constexpr auto blocks = static_cast<std::size_t>(max_long_blocks);
      const std::size_t parts = has_size ? blocks : static_cast<std::size_t>(detail::least(segments, max_long_blocks));
      storage.template reserve<unsigned long long>(0, parts * top_k_candidates_of_part);
      storage.template reserve<platform::tagged_word>(1, parts * std::size_t{Gather::words_per_value});
    }
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (segments == 0 || problem.results.max_results() == 0) return cudaSuccess;
    DispatchSegmentedTopK dispatch{
        problem,
        stream,
        {},
        {storage.template get<unsigned long long>(0), {storage.template get<platform::tagged_word>(1), next_epoch()}}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  /// True if, with at least one policy of the chain, segments may be longer than a block can hold. All policies count,
  /// because temporary storage must not depend on the device.
  static bool may_have_long(const Problem& problem) {
    constexpr auto most = static_cast<long long>(detail::least_in_chain<block_items, MaxPolicy>());
    return problem.segments.max_size() > most;
  }
  template <class Policy>
  struct block_items {
    static constexpr std::size_t value =
        top_k_block_agent<Policy, Problem, top_k_rows_of::block, IsSorted>::type::tile_items;
  };
  template <class Policy>
  cudaError_t Invoke() {
    detail::check_top_k_rows<Policy>();
    const long long size = problem.segments.max_size();
    const long long most = detail::least(problem.results.max_results(), size);
    if constexpr (has_size) {
      if (by_warps<Policy, top_k_rows_of::narrow>(size, most)) return launch_warps<Policy, top_k_rows_of::narrow>();
      if (by_warps<Policy, top_k_rows_of::middle>(size, most)) return launch_warps<Policy, top_k_rows_of::middle>();
    }
    if (by_warps<Policy, top_k_rows_of::wide>(size, most)) return launch_warps<Policy, top_k_rows_of::wide>();
    if constexpr (has_size) {
      if (by_groups<Policy, top_k_rows_of::small_groups>(size, most)) {
        return launch_groups<Policy, top_k_rows_of::small_groups>();
      }
      if (by_groups<Policy, top_k_rows_of::groups>(size, most)) return launch_groups<Policy, top_k_rows_of::groups>();
      if (by_groups<Policy, top_k_rows_of::large_groups>(size, most) && !are_few_long<Policy>(size, most)) {
        return launch_groups<Policy, top_k_rows_of::large_groups>();
      }
      if (are_few_long<Policy>(size, most)) return launch_parts<Policy>(number_of_parts<Policy>(size));
      if (by_block<Policy, top_k_rows_of::small_block>(size)) {
        return launch_blocks<Policy, top_k_rows_of::small_block>(false);
      }
      if (!by_block<Policy, top_k_rows_of::block>(size) && by_block<Policy, top_k_rows_of::large_block>(size)) {
        return launch_blocks<Policy, top_k_rows_of::large_block>(false);
      }
      if (by_block<Policy, top_k_rows_of::block>(size)) return launch_blocks<Policy, top_k_rows_of::block>(false);
      return problem.segments.num_segments() <= max_long_blocks
                 ? launch_parts<Policy>(number_of_parts<Policy>(size))
                 : launch_blocks<Policy, top_k_rows_of::long_segments>(false);
    } else {
      cudaError_t status = launch_warps<Policy, top_k_rows_of::wide>();
      if (status == cudaSuccess) status = launch_blocks<Policy, top_k_rows_of::block>(true);
      if (status != cudaSuccess || by_block<Policy, top_k_rows_of::block>(size)) return status;
      return launch_blocks<Policy, top_k_rows_of::long_segments>(true);
    }
  }

 private:
  template <class Policy, top_k_rows_of Rows>
  static bool by_warps(long long size, long long most) {
    return top_k_warps_agent<Policy, Problem, Rows, IsSorted>::type::can_have(size, most);
  }
  template <class Policy, top_k_rows_of Rows>
  static bool by_block(long long size) {
    return top_k_block_agent<Policy, Problem, Rows, IsSorted>::type::can_have(size);
  }

  template <class Policy, top_k_rows_of Rows>
  static bool by_groups(long long size, long long most) {
    return top_k_groups_agent<Policy, Problem, Rows, IsSorted>::type::can_have(size, most);
  }
  /// True if a segment does not fit in a block, a sample bounds its candidates, and there are multiprocessors for
  /// several blocks of each segment.
  template <class Policy>
  bool are_few_long(long long size, long long most) const {
    constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, top_k_rows_of::block>();
    using Agent = AgentTopKLongSegment<Policy, Problem, tuning.block_threads, tuning.items_per_thread, IsSorted>;
    return !by_block<Policy, top_k_rows_of::block>(size) && Agent::has_sample(size, most) &&
           number_of_parts<Policy>(size) > 1;
  }

  launch_configuration configuration(const char* name, dim3 grid, int threads) const {
    return {name, grid, dim3(static_cast<unsigned>(threads)), 0, stream, 1, device.ptx_version >= 900};
  }

  template <class Policy, top_k_rows_of Rows>
  cudaError_t launch_warps() {
    constexpr top_k_warp_tuning tuning = detail::top_k_warp_rows<Policy, Rows>();
    const long long blocks =
        detail::ceiling_divide<long long>(problem.segments.num_segments(), tuning.block_threads / tuning.lanes);
    return strata::launch(
        configuration("strata::DeviceSegmentedTopK (warps)",
                      dim3(static_cast<unsigned>(detail::least(blocks, max_grid))), tuning.block_threads),
        segmented_top_k_warps_kernel<MaxPolicy, Rows, IsSorted, Problem>, problem);
  }

  template <class Policy, top_k_rows_of Rows>
  cudaError_t launch_groups() {
    constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, Rows>();
    const long long blocks = detail::least(problem.segments.num_segments(), max_grid);
    return strata::launch(configuration("strata::DeviceSegmentedTopK (groups)", dim3(static_cast<unsigned>(blocks)),
                                        tuning.block_threads),
                          segmented_top_k_groups_kernel<MaxPolicy, Rows, IsSorted, Problem>, problem);
  }

  /// Returns the number of blocks of each long segment, such that all multiprocessors have work.
  template <class Policy>
  long long number_of_parts(long long size) const {
    constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, top_k_rows_of::block>();
    const long long resident = detail::least(
        static_cast<long long>(device.multiprocessors) * tuning.blocks_per_multiprocessor, max_long_blocks);
    const long long parts = detail::most(
        detail::least(
            resident / detail::most(problem.segments.num_segments(), 1LL),
            static_cast<long long>(detail::least(max_top_k_parts, static_cast<unsigned>(tuning.block_threads)))),
        1LL);
    constexpr long long tile_items = tuning.block_threads * tuning.items_per_thread;
    return detail::least(parts, detail::ceiling_divide(size, tile_items));
  }

  template <class Policy>
  cudaError_t launch_parts(long long parts) {
    constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, top_k_rows_of::block>();
    const long long segments = problem.segments.num_segments();
    return strata::launch(
        configuration("strata::DeviceSegmentedTopK (parts)",
                      dim3(1, static_cast<unsigned>(parts), static_cast<unsigned>(segments)), tuning.block_threads),
        segmented_top_k_parts_kernel<MaxPolicy, IsSorted, Problem>, problem, scratch);
  }

  /// With `has_warps`, logical warps have already selected from the shorter segments.
  template <class Policy, top_k_rows_of Rows>
  cudaError_t launch_blocks(bool has_warps) {
    constexpr top_k_block_tuning tuning = detail::top_k_block_rows<Policy, Rows>();
    long long blocks = detail::least(problem.segments.num_segments(), max_rows_of_grid);
    // Each block checks the lengths of many segments, and selects from those that are left to it.
    if (has_warps) {
      blocks =
          detail::least(blocks, static_cast<long long>(device.multiprocessors) * 4 * tuning.blocks_per_multiprocessor);
    }
    if (Rows == top_k_rows_of::long_segments) blocks = detail::least(blocks, max_long_blocks);
    return strata::launch(configuration("strata::DeviceSegmentedTopK (blocks)", dim3(1, static_cast<unsigned>(blocks)),
                                        tuning.block_threads),
                          segmented_top_k_block_kernel<MaxPolicy, Rows, IsSorted, Problem>, problem, scratch,
                          has_warps);
  }
};

/// For more sorted results than a block sorts: selects into temporary storage, sorts there, and writes the results.
template <bool IsMax, class PolicyHub, class KeyIterator, class Segments, class Results, class KeyOutputIterator,
          class ValueIterator, class ValueOutputIterator>
cudaError_t sorted_segmented_top_k(
    void* d_temp_storage, std::size_t& temp_storage_bytes,
    const segmented_top_k_problem<IsMax, KeyIterator, Segments, Results, KeyOutputIterator, ValueIterator,
                                  ValueOutputIterator>& problem,
    cudaStream_t stream) {
  using Problem = segmented_top_k_problem<IsMax, KeyIterator, Segments, Results, KeyOutputIterator, ValueIterator,
                                          ValueOutputIterator>;
  using Key = typename Problem::Key;
  using Result = typename Problem::Result;
  using Copies = top_k_clipped_rows<Results>;
  using Select = DispatchSegmentedTopK<IsMax, false, PolicyHub, typename Result::Codes, Segments, Copies, Key*,
                                       top_k_indices, long long*>;
  using Begins = TransformInputIterator<long long, top_k_results_begin, CountingInputIterator<long long>>;
  using Ends =
      TransformInputIterator<long long, top_k_results_end<Segments, Results>, CountingInputIterator<long long>>;
  using Sort = DispatchSegmentedRadixSort<Key, long long, IsMax, Begins, Ends>;
  const long long segments = problem.segments.num_segments();
  const long long size = problem.segments.max_size();
  const long long stride = detail::least(problem.results.max_results(), size);
  if (detail::refuses_rows(segments, stride, "k")) return cudaErrorInvalidValue;
  const auto count = static_cast<std::size_t>(segments) * static_cast<std::size_t>(stride);
  const CountingInputIterator<long long> numbers(0);
  const offset_segments<Begins, Ends> rows{Begins(numbers, {stride}),
                                           Ends(numbers, {problem.segments, problem.results, stride})};
  typename Select::Problem selection{
      Result::codes(problem.keys), problem.segments, {problem.results, stride}, nullptr, {}, nullptr};
  std::size_t select_bytes = 0, sort_bytes = 0;
  const auto sort = [&](void* storage, std::size_t& bytes, const Key* keys, Key* sorted, const long long* indices,
                        long long* sorted_indices) {
    return Sort::Dispatch(storage, bytes, {keys, sorted, nullptr}, {indices, sorted_indices, nullptr}, count, segments,
                          rows, 0, RadixTraits<Key>::bits, false, stream);
  };
  cudaError_t status = Select::Dispatch(nullptr, select_bytes, selection, stream);
  if (status == cudaSuccess) status = sort(nullptr, sort_bytes, nullptr, nullptr, nullptr, nullptr);
  if (status != cudaSuccess) return status;
  temporary_storage::layout<5> storage;
  storage.template reserve<Key>(0, count);
  storage.template reserve<Key>(1, count);
  storage.template reserve<long long>(2, count);
  storage.template reserve<long long>(3, count);
  storage.template reserve<unsigned char>(4, select_bytes);
  storage.template reserve<unsigned char>(4, sort_bytes);
  if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
  if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (segments == 0) return cudaSuccess;
  Key* const keys = storage.template get<Key>(0);
  Key* const sorted_keys = storage.template get<Key>(1);
  auto* const indices = storage.template get<long long>(2);
  auto* const sorted_indices = storage.template get<long long>(3);
  selection.keys_out = keys;
  selection.values_out = indices;
  status = Select::Dispatch(storage.template get<unsigned char>(4), select_bytes, selection, stream);
  if (status != cudaSuccess) return status;
  status = sort(storage.template get<unsigned char>(4), sort_bytes, keys, sorted_keys, indices, sorted_indices);
  if (status != cudaSuccess) return status;
  device_properties device;
  status = detail::current_device_properties(device, stream);
  if (status != cudaSuccess) return status;
  const long long blocks = detail::least(segments, 0x7fffffffLL);
  return strata::launch({"strata::DeviceSegmentedTopK (copy)", dim3(static_cast<unsigned>(blocks)),
                         dim3(top_k_copy_threads), 0, stream, 1, device.ptx_version >= 900},
                        segmented_top_k_copy_kernel<Problem>, problem, static_cast<const Key*>(sorted_keys),
                        static_cast<const long long*>(sorted_indices), stride);
}

/// Returns the keys of a call in the form that kernels take.
template <class KeyIterator, class Decomposer>
auto segmented_top_k_keys(KeyIterator keys, const Decomposer& decomposer) {
  using Keys = typename segmented_top_k_input<KeyIterator>::type;
  if constexpr (std::is_same_v<Decomposer, identity_decomposer>) {
    static_cast<void>(decomposer);
    return static_cast<Keys>(keys);
  } else {
    return top_k_fields_iterator<Keys, Decomposer>(keys, decomposer);
  }
}

/// Checks the arguments of a call and makes it.
template <bool IsMax, bool IsSorted, class PolicyHub, class KeyIterator, class KeyOutputIterator, class ValueIterator,
          class ValueOutputIterator, class Segments, class Results, class Decomposer>
cudaError_t segmented_top_k(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                            KeyOutputIterator d_keys_out, ValueIterator d_values_in, ValueOutputIterator d_values_out,
                            const Segments& segments, const Results& results, const Decomposer& decomposer,
                            cudaStream_t stream) {
  if (segments.are_refused() || results.are_refused(segments.num_segments())) return cudaErrorInvalidValue;
  const long long num_segments = segments.num_segments();
  const std::size_t outputs = results.reach(num_segments, segments.max_size());
  if (detail::refuses_reach(d_keys_in, segments.reach(), "d_keys_in") ||
      detail::refuses_reach(d_values_in, segments.reach(), "d_values_in") ||
      detail::refuses_reach(d_keys_out, outputs, "d_keys_out") ||
      detail::refuses_reach(d_values_out, outputs, "d_values_out")) {
    return cudaErrorInvalidValue;
  }
  if constexpr (std::is_same_v<ValueIterator, top_k_indices>) {
    using Index = output_value_t<ValueOutputIterator, long long>;
    if (Segments::has_max_size && detail::refuses_index_type<Index>(segments.max_size(), "d_indices_out")) {
      return cudaErrorInvalidValue;
    }
  }
  if (d_temp_storage != nullptr && outputs > 0) {
    const std::size_t inputs = segments.reach();
    const argument_bytes keys_out = detail::bytes_of(d_keys_out, outputs, "d_keys_out");
    const argument_bytes values_out = detail::bytes_of(d_values_out, outputs, "d_values_out");
    if (detail::refuses_null(d_keys_out, "d_keys_out") || detail::refuses_null(d_values_out, "d_values_out") ||
        segments.have_null() || results.have_null() ||
        (inputs > 0 &&
         (detail::refuses_null(d_keys_in, "d_keys_in") || detail::refuses_null(d_values_in, "d_values_in"))) ||
        detail::outputs_overlap({keys_out, values_out}, {detail::bytes_of(d_keys_in, inputs, "d_keys_in"),
                                                         detail::bytes_of(d_values_in, inputs, "d_values_in")}) ||
        segments.overlap(keys_out) || segments.overlap(values_out) || results.overlap(keys_out, num_segments) ||
        results.overlap(values_out, num_segments)) {
      return cudaErrorInvalidValue;
    }
  }
  const auto keys = detail::segmented_top_k_keys(d_keys_in, decomposer);
  using Keys = std::decay_t<decltype(keys)>;
  using Values = typename segmented_top_k_input<ValueIterator>::type;
  using Dispatch = DispatchSegmentedTopK<IsMax, IsSorted, PolicyHub, Keys, Segments, Results, KeyOutputIterator, Values,
                                         ValueOutputIterator>;
  const typename Dispatch::Problem problem{keys, segments, results, d_keys_out, d_values_in, d_values_out};
  if constexpr (IsSorted) {
    if (detail::least(results.max_results(), segments.max_size()) > max_top_k_sorted_by_block) {
      return detail::sorted_segmented_top_k<IsMax, PolicyHub>(d_temp_storage, temp_storage_bytes, problem, stream);
    }
  }
  return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, problem, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
