// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/engine/stream_argument.hpp>
#include <strata/device/top_k/batched_arguments.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Finds the `k` greatest or least keys of each of many segments, which may lie anywhere. Arguments are as in
/// DeviceBatchedTopK of CUB 3.5. In a new program call DeviceSegmentedTopK, which has more functions.
///
/// - **Segments.** `d_keys_in[s]` is an iterator to the keys of segment `s`, and `d_keys_out[s]` to the place for its
///   results. Values have such iterators, too. `d_keys_in` is a pointer to pointers, or any random-access iterator of
///   iterators.
/// - **Numbers.** `segment_sizes` and `k` are integers, or wrappers of `cuda::args`, which libcu++ has from 3.5 on:
///   `constant` and `immediate` for a number that the host knows, `deferred` for one in device memory,
///   `deferred_sequence` for an array in device memory with a number for each segment. `num_segments` is an integer,
///   `constant` or `immediate`. No header of libcu++ is included for them. A wrapper of numbers in device memory may
///   have a bound, which no number may exceed. A negative number in device memory counts as 0. Unsorted results need no
///   bounds. For sorted results, give bounds to save temporary storage: if the bounds of `segment_sizes` and of `k` are
///   both above 2,048, it has room for as many results of each segment as the smaller bound says. A segment has fewer
///   than 2^32 items, as in DeviceSegmentedTopK. A bound may be larger.
/// - **Number of results.** A segment with fewer than `k` items gives all. Nothing is written behind its results.
/// - **Result.** Results are as by DeviceSegmentedTopK: among equal keys, the first ones in the segment are taken,
///   so results are the same from run to run, and on all devices. If `where` is an environment that requires
///   `output_ordering::unsorted`, results are in the order of the input. Otherwise they are in the order of a stable
///   sort, descending for the greatest. CUB documents this sorted order, too, for calls without requirements, but such
///   calls do not compile with CUB 3.5.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (never 0), then with that much
///   device memory and, as `where`, a stream or an environment. Or once, without these two arguments: see `execution`.
/// - **Methods, storage, types.** As in DeviceSegmentedTopK, for segments of one size or by lengths, without a
///   decomposer.
/// - **Execution.** Up to three launches on the stream, and more if a segment may have more than 2,048 sorted results;
///   no host synchronisation and no allocation.
/// - **Aliasing.** No output may overlap an input, another output, or an array of iterators or numbers. The host does
///   not know where segments are, so this is not checked.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a number that the host knows and that
///   is negative or too large, a null pointer to iterators or numbers, storage too small.
///
/// @code
/// // The two greatest keys of each of two rows, in no common array.
/// __managed__ int a[3] = {7, 9, 6}, b[3] = {1, 5, 2}, best_of_a[2], best_of_b[2];
/// __managed__ int* rows[2];
/// __managed__ int* best[2];
///
/// int main() {
///   rows[0] = a, rows[1] = b, best[0] = best_of_a, best[1] = best_of_b;
///   if (strata::DeviceBatchedTopK::MaxKeys(rows, best, 3, 2, 2) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d, %d %d\n", best_of_a[0], best_of_a[1], best_of_b[0], best_of_b[1]);
/// }
/// // prints: 9 7, 5 2
/// @endcode
struct DeviceBatchedTopK {
  /// The greatest keys of each segment.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentSizesT, class K, class NumSegmentsT,
            class Where = cudaStream_t>
  static cudaError_t MaxKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentSizesT segment_sizes, K k, NumSegmentsT num_segments,
                             const Where& where = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceBatchedTopK::MaxKeys");
    const detail::stream_argument<cudaStream_t, result<Where>> stream(where);
    return call<true, result<Where>>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, no_values, no_values,
                                     segment_sizes, k, num_segments, stream);
  }
  /// The greatest keys of each segment, without temporary storage.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentSizesT, class K, class NumSegmentsT,
            class Where = cudaStream_t>
  static cudaError_t MaxKeys(KeyInputIteratorT d_keys_in, KeyOutputIteratorT d_keys_out, SegmentSizesT segment_sizes,
                             K k, NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(&where, "strata::DeviceBatchedTopK::MaxKeys");
    return call_with_storage<true>(where, d_keys_in, d_keys_out, no_values, no_values, segment_sizes, k, num_segments);
  }
  /// The least keys of each segment.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentSizesT, class K, class NumSegmentsT,
            class Where = cudaStream_t>
  static cudaError_t MinKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentSizesT segment_sizes, K k, NumSegmentsT num_segments,
                             const Where& where = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceBatchedTopK::MinKeys");
    const detail::stream_argument<cudaStream_t, result<Where>> stream(where);
    return call<false, result<Where>>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, no_values, no_values,
                                      segment_sizes, k, num_segments, stream);
  }
  /// The least keys of each segment, without temporary storage.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentSizesT, class K, class NumSegmentsT,
            class Where = cudaStream_t>
  static cudaError_t MinKeys(KeyInputIteratorT d_keys_in, KeyOutputIteratorT d_keys_out, SegmentSizesT segment_sizes,
                             K k, NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(&where, "strata::DeviceBatchedTopK::MinKeys");
    return call_with_storage<false>(where, d_keys_in, d_keys_out, no_values, no_values, segment_sizes, k, num_segments);
  }
  /// The greatest keys of each segment and their values.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentSizesT, class K, class NumSegmentsT, class Where = cudaStream_t>
  static cudaError_t MaxPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentSizesT segment_sizes, K k,
                              NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceBatchedTopK::MaxPairs");
    const detail::stream_argument<cudaStream_t, result<Where>> stream(where);
    return call<true, result<Where>>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                     d_values_out, segment_sizes, k, num_segments, stream);
  }
  /// The greatest keys of each segment and their values, without temporary storage.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentSizesT, class K, class NumSegmentsT, class Where = cudaStream_t>
  static cudaError_t MaxPairs(KeyInputIteratorT d_keys_in, KeyOutputIteratorT d_keys_out,
                              ValueInputIteratorT d_values_in, ValueOutputIteratorT d_values_out,
                              SegmentSizesT segment_sizes, K k, NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(&where, "strata::DeviceBatchedTopK::MaxPairs");
    return call_with_storage<true>(where, d_keys_in, d_keys_out, d_values_in, d_values_out, segment_sizes, k,
                                   num_segments);
  }
  /// The least keys of each segment and their values.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentSizesT, class K, class NumSegmentsT, class Where = cudaStream_t>
  static cudaError_t MinPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentSizesT segment_sizes, K k,
                              NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceBatchedTopK::MinPairs");
    const detail::stream_argument<cudaStream_t, result<Where>> stream(where);
    return call<false, result<Where>>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                      d_values_out, segment_sizes, k, num_segments, stream);
  }
  /// The least keys of each segment and their values, without temporary storage.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentSizesT, class K, class NumSegmentsT, class Where = cudaStream_t>
  static cudaError_t MinPairs(KeyInputIteratorT d_keys_in, KeyOutputIteratorT d_keys_out,
                              ValueInputIteratorT d_values_in, ValueOutputIteratorT d_values_out,
                              SegmentSizesT segment_sizes, K k, NumSegmentsT num_segments, const Where& where = {}) {
    STRATA_NVTX_RANGE(&where, "strata::DeviceBatchedTopK::MinPairs");
    return call_with_storage<false>(where, d_keys_in, d_keys_out, d_values_in, d_values_out, segment_sizes, k,
                                    num_segments);
  }

 private:
  static constexpr NullType no_values{};
  template <class Where>
  static constexpr detail::call_result result = detail::may_be_unsorted<Where>() ? detail::call_result::fixed
                                                                                 : detail::call_result::sorted;

  template <bool IsMax, class Where, class... Arguments>
  static cudaError_t call_with_storage(const Where& where, const Arguments&... all) {
    const auto& place = detail::where_of<cudaStream_t, result<Where>>(where);
    return detail::with_storage(
        [](void* storage, std::size_t& bytes, const auto&... arguments) {
          return call<IsMax, result<Where>>(storage, bytes, arguments...);
        },
        all..., place);
  }

  template <bool IsMax, detail::call_result Result, class KeysIn, class KeysOut, class ValuesIn, class ValuesOut,
            class SegmentSizes, class K, class NumSegments>
  static cudaError_t call(void* d_temp_storage, std::size_t& temp_storage_bytes, const KeysIn& d_keys_in,
                          const KeysOut& d_keys_out, const ValuesIn& d_values_in, const ValuesOut& d_values_out,
                          const SegmentSizes& segment_sizes, const K& k, const NumSegments& num_segments,
                          cudaStream_t stream) {
    return detail::batched_top_k<IsMax, Result == detail::call_result::sorted>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out, segment_sizes, k,
        num_segments, stream);
  }
};

STRATA_ARCH_NAMESPACE_END
