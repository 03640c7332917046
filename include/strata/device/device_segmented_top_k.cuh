// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/top_k/segmented_arguments.cuh>
#include <strata/device/top_k/segmented_dispatch.cuh>
#include <strata/device/top_k/segmented_fields.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Finds the `k` greatest or least keys of each segment of a sequence in device memory, for example of every row of a
/// matrix. It writes the keys alone, with values, or with their indices in the segment.
///
/// - **Segments.** `segments` is a SegmentsOfSize, a SegmentsByOffsets or a SegmentsByLengths. A segment has fewer than
///   2^32 items; a larger SegmentsOfSize is refused.
/// - **Number of results.** If `k` is an integer or a FutureCount, the results of segment `s` begin at item s * k of
///   the outputs. (For a FutureCount, k is its bound here.) If a segment has fewer than k items, nothing is written
///   behind its last result. `k` may also be a ResultRows, a PaddedResultRows or a ResultsAtOffsets. These say where
///   the results of each segment begin: at a stride (with or without padding) or at offsets. They may also have a
///   different k for each segment.
/// - **Result.** For each segment, the result is the same as that of DeviceTopK: among equal keys the first ones in the
///   segment are taken. Without `Sorted`, results are in the order of the input. The functions with `Sorted` in their
///   names write them in the order of a stable sort, descending for the greatest. -0.0 is equal to +0.0, and all NaN
///   are equal and greater than +infinity. Results are the same from run to run, and on all devices.
/// - **Functions.** `MaxKeys` writes keys, `MaxPairs` keys and their values, `ArgMax` keys and their indices in the
///   segment, in any integer type. Pass a DiscardOutputIterator for keys that you do not need.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (never 0), then with that much
///   device memory. Or once, without these two arguments: see `execution`. Inputs and outputs may be any random-access
///   iterators that can be dereferenced in device code. So keys may be computed when they are read.
/// - **Execution.** One launch if the segments have one size, otherwise up to three launches, all on `stream`. If a
///   segment may have more than 2,048 sorted results, the launches of DeviceSegmentedRadixSort and one more follow.
///   There is no host synchronisation and no allocation, so a call can be captured in a graph and replayed. Calls that
///   may run at the same time need temporary storage of their own.
/// - **Methods.** The registers of some lanes hold a short segment, the registers of a block a longer one. Such a
///   segment is mostly read once. If few results of it are wanted, a thread may keep only the first key, in the order
///   of the results, of each eight neighbours. The groups of eight that can have results are then read again. From a
///   segment that does not fit in a block, a sample is read first, then the whole segment once. The segment is read
///   several times if the sample was misleading (with random keys, once in a million segments), or if k is too large
///   for a sample (more than some thousands). If there are few long segments of one size, each has several blocks;
///   otherwise each has one. top_k/README.md has the lengths.
/// - **Storage.** 511 bytes if the host knows that no segment is longer than 8,192 keys of 4 bytes. (It does not know
///   this of segments by offsets.) Otherwise 66 KB for each of 256 blocks; for fewer than 256 segments by offsets or
///   lengths, 66 KB for each segment. If a segment may have more than 2,048 sorted results, as far as the host knows,
///   DeviceSegmentedRadixSort sorts them. The call then needs memory for three keys (with a decomposer, codes) and
///   three indices of 8 bytes for each possible result, and for the lists of that sort.
/// - **Types.** Keys are integers of up to 128 bits, enumerations, and floating-point numbers of 8 (`__nv_fp8_e4m3`,
///   `__nv_fp8_e5m2`) to 64 bits, in the order of DeviceRadixSort. Keys of other types need a decomposer. It returns
///   references to the fields to compare, the most significant first (see RadixFields), of up to 128 bits together.
///   These keys, and the values of all calls, may have any type that can be assigned.
/// - **Aliasing.** No output may overlap an input, the other output, or the offsets and lengths of segments and
///   results. If offsets or lengths say how far arrays are used, only the beginnings of the arrays are compared.
/// - **Tuning.** `TunedDeviceSegmentedTopK<Hub>` uses your hub instead of segmented_top_k_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative or too large counts, sizes
///   and strides, a null pointer if there are segments and results, arrays that overlap, storage too small. Size
///   queries check counts and types, too.
/// - **Algorithm.** Each key has a code, an unsigned integer in the order of the keys. A search narrows the range of
///   codes that contains the k-th key, by a guess from the counts on both sides or by halving. It ends when exactly k
///   keys have codes up to the end of the range, or when only one code is left in the range
///   (`warp/specializations/top_k_threshold.cuh`).
///
/// @code
/// // The two best scores of each of three rows, and where in the row they are.
/// __managed__ float scores[12] = {7, 9, 6, 8, 1, 2, 2, 0, 5, 3, 5, 5};
/// __managed__ float best[6];
/// __managed__ int places[6];
///
/// int main() {
///   const strata::SegmentsOfSize rows(3, 4);
///   if (strata::DeviceSegmentedTopK::ArgMaxSorted(scores, best, places, rows, 2) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 6; ++i) std::printf("%g at %d%s", best[i], places[i], i % 2 == 0 ? ", " : "\n");
/// }
/// // prints: 9 at 1, 8 at 3
/// // prints: 2 at 1, 2 at 2
/// // prints: 5 at 0, 5 at 2
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedTopK {
  // -------------------------------------------------------------- in the order of the input

  /// The greatest keys of each segment, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K>
  static cudaError_t MaxKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxKeys");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                             segments, k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment, in the order of the input. Compares the fields that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K, class Decomposer,
            class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MaxKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, Decomposer decomposer,
                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxKeys");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                             segments, k, decomposer, stream);
  }
  /// The least keys of each segment, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K>
  static cudaError_t MinKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinKeys");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                              segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment, in the order of the input. Compares the fields that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K, class Decomposer,
            class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MinKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, Decomposer decomposer,
                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinKeys");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                              segments, k, decomposer, stream);
  }
  /// The greatest keys of each segment and their values, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K>
  static cudaError_t MaxPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxPairs");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                             segments, k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment and their values, in the order of the input. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K, class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MaxPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentsT segments, K k, Decomposer decomposer,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxPairs");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                             segments, k, decomposer, stream);
  }
  /// The least keys of each segment and their values, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K>
  static cudaError_t MinPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinPairs");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                              segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment and their values, in the order of the input. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K, class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MinPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, SegmentsT segments, K k, Decomposer decomposer,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinPairs");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                              segments, k, decomposer, stream);
  }
  /// The greatest keys of each segment and their indices in it, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K>
  static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                            KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments, K k,
                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMax");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                             d_indices_out, segments, k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment and their indices in it, in the order of the input. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K,
            class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                            KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments, K k,
                            Decomposer decomposer, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMax");
    return call<true, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                             d_indices_out, segments, k, decomposer, stream);
  }
  /// The least keys of each segment and their indices in it, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K>
  static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                            KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments, K k,
                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMin");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                              d_indices_out, segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment and their indices in it, in the order of the input. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K,
            class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                            KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments, K k,
                            Decomposer decomposer, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMin");
    return call<false, false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                              d_indices_out, segments, k, decomposer, stream);
  }
  // -------------------------------------------------------------- sorted

  /// The greatest keys of each segment, the greatest first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K>
  static cudaError_t MaxKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxKeysSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{}, segments,
                            k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment, the greatest first. Compares the fields that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K, class Decomposer,
            class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MaxKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, Decomposer decomposer,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxKeysSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{}, segments,
                            k, decomposer, stream);
  }
  /// The least keys of each segment, the least first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K>
  static cudaError_t MinKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinKeysSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                             segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment, the least first. Compares the fields that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class SegmentsT, class K, class Decomposer,
            class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MinKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, SegmentsT segments, K k, Decomposer decomposer,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinKeysSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{}, NullType{},
                             segments, k, decomposer, stream);
  }
  /// The greatest keys of each segment and their values, the greatest first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K>
  static cudaError_t MaxPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, SegmentsT segments, K k,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxPairsSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                            segments, k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment and their values, the greatest first. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K, class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MaxPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, SegmentsT segments, K k, Decomposer decomposer,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MaxPairsSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                            segments, k, decomposer, stream);
  }
  /// The least keys of each segment and their values, the least first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K>
  static cudaError_t MinPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, SegmentsT segments, K k,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinPairsSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                             segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment and their values, the least first. Compares the fields that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class SegmentsT, class K, class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t MinPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, SegmentsT segments, K k, Decomposer decomposer,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::MinPairsSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                             segments, k, decomposer, stream);
  }
  /// The greatest keys of each segment and their indices in it, the greatest first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K>
  static cudaError_t ArgMaxSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                  KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments,
                                  K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMaxSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                            d_indices_out, segments, k, detail::identity_decomposer{}, stream);
  }
  /// The greatest keys of each segment and their indices in it, the greatest first. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K,
            class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t ArgMaxSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                  KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments,
                                  K k, Decomposer decomposer, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMaxSorted");
    return call<true, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                            d_indices_out, segments, k, decomposer, stream);
  }
  /// The least keys of each segment and their indices in it, the least first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K>
  static cudaError_t ArgMinSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                  KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments,
                                  K k, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMinSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                             d_indices_out, segments, k, detail::identity_decomposer{}, stream);
  }
  /// The least keys of each segment and their indices in it, the least first. Compares the fields
  /// that `decomposer` returns.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class IndexOutputIteratorT, class SegmentsT, class K,
            class Decomposer, class = detail::if_decomposes<Decomposer, KeyInputIteratorT>>
  static cudaError_t ArgMinSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                  KeyOutputIteratorT d_keys_out, IndexOutputIteratorT d_indices_out, SegmentsT segments,
                                  K k, Decomposer decomposer, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedTopK::ArgMinSorted");
    return call<false, true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, detail::top_k_indices{},
                             d_indices_out, segments, k, decomposer, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(MaxKeys)
  STRATA_CALL_WITHOUT_STORAGE(MinKeys)
  STRATA_CALL_WITHOUT_STORAGE(MaxPairs)
  STRATA_CALL_WITHOUT_STORAGE(MinPairs)
  STRATA_CALL_WITHOUT_STORAGE(ArgMax)
  STRATA_CALL_WITHOUT_STORAGE(ArgMin)
  STRATA_CALL_WITHOUT_STORAGE(MaxKeysSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MinKeysSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MaxPairsSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MinPairsSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(ArgMaxSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(ArgMinSorted, sorted)

 private:
  template <bool IsMax, bool IsSorted, class KeyIterator, class KeyOutputIterator, class ValueIterator,
            class ValueOutputIterator, class SegmentsT, class K, class Decomposer>
  static cudaError_t call(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                          KeyOutputIterator d_keys_out, ValueIterator d_values_in, ValueOutputIterator d_values_out,
                          const SegmentsT& segments, const K& k, const Decomposer& decomposer, cudaStream_t stream) {
    static_assert(detail::is_top_k_segments<SegmentsT>,
                  "DeviceSegmentedTopK: pass the segments as SegmentsOfSize, SegmentsByOffsets or SegmentsByLengths");
    static_assert(detail::is_top_k_results<K>,
                  "DeviceSegmentedTopK: k must be an integer, a FutureCount, ResultRows, PaddedResultRows or "
                  "ResultsAtOffsets. For a different k in each segment, pass one of the last three with an iterator");
    if constexpr (detail::is_top_k_segments<SegmentsT> && detail::is_top_k_results<K>) {
      return detail::segmented_top_k<IsMax, IsSorted, PolicyHub>(
          d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
          detail::top_k_access::of(segments), detail::top_k_results(k), decomposer, stream);
    } else {
      return cudaErrorInvalidValue;
    }
  }
};
using DeviceSegmentedTopK = TunedDeviceSegmentedTopK<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
