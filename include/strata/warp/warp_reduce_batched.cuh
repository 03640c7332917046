// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/specializations/warp_reduce_in_hardware.cuh>

STRATA_NAMESPACE_BEGIN

/// Reduces several batches over the lanes of a logical warp at once: batch b has item b of each lane.
///
///     result[b] = op(... op(op(lane 0's inputs[b], lane 1's inputs[b]), lane 2's inputs[b]) ...), in any association
///
/// - **Results** are spread over the lanes. If there are no more batches than lanes, `Reduce` and `Sum` return the
///   result of batch i in lane i. With any number, `ReduceToStriped` writes the results of batches i, i +
///   LogicalWarpThreads, ... to `outputs` of lane i. `ReduceToBlocked` writes the results of the M neighbouring batches
///   from batch i * M on, where M is the size of `outputs`. Results for which there is no batch are unspecified.
/// - `inputs` has `Batches` items, `outputs` has Batches / LogicalWarpThreads, rounded up: arrays, `cuda::std::array`,
///   or spans of a fixed length.
/// - A logical warp has 1 to 32 threads, a power of two. All lanes of a logical warp must call together, and with
///   `SyncPhysicalWarp` all lanes of the warp.
/// - The operator need only be associative: operands keep the order of lanes, unless `operator_traits` says that the
///   operator commutes. The order is also not kept for minima and maxima of floating-point numbers by function objects
///   of other libraries: which of two zeros is returned, and what NaNs lead to, may depend on the lanes. Results repeat
///   bit for bit.
/// - Storage and barriers: items move by shuffles. `TempStorage` exists for the sake of a uniform interface, is empty,
///   and no barrier is needed between uses.
/// - **Work.** In each step a lane gives half of its batches to a neighbour and receives the neighbour's items of the
///   other half. So all steps together take at most `Batches` + log2(LogicalWarpThreads) shuffles for each 4 bytes of
///   `T`, and as many calls of the operator. In `ReduceToBlocked` and `SumToBlocked`, `Batches` is first rounded up to
///   a multiple of LogicalWarpThreads. A `WarpReduce` for each batch takes `Batches` * log2(LogicalWarpThreads) of
///   both. A shuffle moves two items of 16 bits if `Batches` is a power of two from 2 to LogicalWarpThreads, or a
///   multiple of LogicalWarpThreads. From sm_80 on, up to 8 batches of integers of up to 32 bits are reduced by
///   instructions over a whole warp, if the `operator_traits` of the operator name one.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int sums[3];
///
/// // The sums of the numbers of all lanes, of their squares and of their cubes.
/// STRATA_KERNEL void three_sums(int* out) {
///   using WarpReduce = strata::WarpReduceBatched<int, 3>;
///   STRATA_SHARED(temp_storage, WarpReduce::TempStorage);
///   const int lane = static_cast<int>(threadIdx.x);
///   const int numbers[3] = {lane, lane * lane, lane * lane * lane};
///   const int sum = WarpReduce(temp_storage).Sum(numbers);
///   if (lane < 3) out[lane] = sum;  // Lane i has the result of batch i.
/// }
///
/// int main() {
///   if (strata::launch({"three_sums", 1, 32}, three_sums, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d\n", sums[0], sums[1], sums[2]);
/// }
/// // prints: 496 10416 246016
/// @endcode
template <class T, int Batches, int LogicalWarpThreads = warp_threads, bool SyncPhysicalWarp = false>
class WarpReduceBatched {
  static_assert(detail::relocatable_requirements<T>::check());
  static_assert(LogicalWarpThreads >= 1 && LogicalWarpThreads <= warp_threads &&
                    detail::is_power_of_two(LogicalWarpThreads),
                "WarpReduceBatched: LogicalWarpThreads must be a power of two from 1 to 32");
  static_assert(Batches >= 0, "WarpReduceBatched: Batches must not be negative");

  static constexpr int outputs_per_thread = detail::ceiling_divide(Batches, LogicalWarpThreads);
  /// With few batches, one instruction for each of them takes less time than the steps.
  static constexpr int most_in_hardware = 8;
  template <class Operator>
  static constexpr bool in_hardware = platform::has_redux&& LogicalWarpThreads == warp_threads&& Batches > 0 &&
                                      Batches <= most_in_hardware&& detail::is_word_operation<Operator, T>;

 public:
  struct TempStorage : Uninitialized<NullType> {};

  /// Takes `TempStorage` for a uniform interface, and does not use it.
  STRATA_D explicit WarpReduceBatched(TempStorage&) {}

  /// Returns the result of batch i in lane i.
  template <class Inputs, class Operator>
  STRATA_D T Reduce(const Inputs& inputs, Operator reduction_op) {
    static_assert(
        outputs_per_thread == 1,
        "WarpReduceBatched::Reduce and Sum return the result of one batch: with more batches than threads, or "
        "none, call ReduceToStriped or ReduceToBlocked");
    T output[1];
    reduce<false>(inputs, output, reduction_op);
    return output[0];
  }

  /// Writes the results of batches i, i + LogicalWarpThreads, ... in lane i.
  template <class Inputs, class Outputs, class Operator>
  STRATA_D void ReduceToStriped(const Inputs& inputs, Outputs& outputs, Operator reduction_op) {
    reduce<false>(inputs, outputs, reduction_op);
  }

  /// Writes the results of batches i * M to i * M + M - 1 in lane i, where M is the size of `outputs`.
  template <class Inputs, class Outputs, class Operator>
  STRATA_D void ReduceToBlocked(const Inputs& inputs, Outputs& outputs, Operator reduction_op) {
    reduce<true>(inputs, outputs, reduction_op);
  }

  /// Returns the sum of batch i in lane i.
  template <class Inputs>
  STRATA_D T Sum(const Inputs& inputs) {
    return Reduce(inputs, strata::Sum{});
  }

  /// Writes the sums of batches i, i + LogicalWarpThreads, ... in lane i.
  template <class Inputs, class Outputs>
  STRATA_D void SumToStriped(const Inputs& inputs, Outputs& outputs) {
    reduce<false>(inputs, outputs, strata::Sum{});
  }

  /// Writes the sums of batches i * M to i * M + M - 1 in lane i, where M is the size of `outputs`.
  template <class Inputs, class Outputs>
  STRATA_D void SumToBlocked(const Inputs& inputs, Outputs& outputs) {
    reduce<true>(inputs, outputs, strata::Sum{});
  }

 private:
  template <bool IsBlocked, class Inputs, class Outputs, class Operator>
  STRATA_D void reduce(const Inputs& inputs, Outputs& outputs, Operator op) {
    static_assert(detail::static_size<Inputs> == Batches,
                  "WarpReduceBatched: inputs must have as many items as batches");
    static_assert(detail::static_size<Outputs> == outputs_per_thread,
                  "WarpReduceBatched: outputs must have Batches / LogicalWarpThreads items, rounded up");
    detail::operator_requirements<Operator, T>::check();
    if constexpr (in_hardware<Operator>) {
      // Striped and blocked results are the same here: lane i has the result of batch i, and no other.
      T result = inputs[0];
      STRATA_UNROLL
      for (int i = 0; i < Batches; ++i) {
        const T reduced =
            detail::reduce_words<operator_traits<Operator, T>::hardware>(inputs[static_cast<std::size_t>(i)]);
        result = warp_.lane() == i ? reduced : result;
      }
      outputs[0] = result;
    } else if constexpr (Batches > 0) {
      // Lane i gets the results of items i, i + LogicalWarpThreads, ... of `values`.
      constexpr int count = IsBlocked ? outputs_per_thread * LogicalWarpThreads : Batches;
      T values[static_cast<std::size_t>(count)];
      STRATA_UNROLL
      for (int i = 0; i < count; ++i) {
        const int batch = IsBlocked ? i % LogicalWarpThreads * outputs_per_thread + i / LogicalWarpThreads : i;
        values[i] = inputs[static_cast<std::size_t>(batch < Batches ? batch : Batches - 1)];
      }
      if constexpr (pairs_distance(count) > 0) {
        combine_pairs<count>(values, op);
      } else {
        combine_neighbours<count, 1>(values, op);
      }
      STRATA_UNROLL
      for (int i = 0; i < outputs_per_thread; ++i) outputs[static_cast<std::size_t>(i)] = values[i];
    }
  }

  /// Each lane has `Count` values, combined from `Distance` neighbouring lanes, itself among them. It keeps the values
  /// of even or of odd number, by the bit `Distance` of its lane. It gives the others to its neighbour, and combines
  /// its own with those that it gets. If `Count` is odd, the last value has no partner: both lanes keep it.
  template <int Count, int Distance, class Operator>
  STRATA_D void combine_neighbours(T* values, Operator& op) {
    if constexpr (Distance < LogicalWarpThreads) {
      const auto upper = static_cast<unsigned>(warp_.lane() & Distance);
      constexpr int left = (Count + 1) / 2;
      STRATA_UNROLL
      for (int i = 0; i < left; ++i) {
        const int even = 2 * i, odd = even + 1 < Count ? even + 1 : even;
        const T kept = either(upper, values[odd], values[even]);
        const T given = either(upper, values[even], values[odd]);
        const T other = platform::shuffle_xor(mask(), given, Distance);
        values[i] = combine(upper, kept, other, op);
      }
      combine_neighbours<left, Distance * 2>(values, op);
    }
  }

  /// Returns how far apart two 16-bit items are that share a word, or 0 if not all items can be paired.
  STRATA_HD static constexpr int pairs_distance(int count) {
    int distance = LogicalWarpThreads / 2;
    while (distance > 0 && count % (2 * distance) != 0) distance /= 2;
    const bool are_all = distance == LogicalWarpThreads / 2 || count == 2 * distance;
    return sizeof(T) == 2 && are_all ? distance : 0;
  }

  /// combine_neighbours for two items of 16 bits at a time, which one shuffle moves.
  template <int Count, class Operator>
  STRATA_D void combine_pairs(T* values, Operator& op) {
    constexpr int distance = pairs_distance(Count);
    constexpr int groups = Count / 2 / distance;
    unsigned words[static_cast<std::size_t>(Count / 2)];
    STRATA_UNROLL
    for (int i = 0; i < Count / 2; ++i) {
      const int item = i / distance * 2 * distance + i % distance;
      words[i] = word_of(values[item], values[item + distance]);
    }
    combine_words<Count / 2, 1, distance>(words, op);
    const auto upper = static_cast<unsigned>(warp_.lane() & distance);
    STRATA_UNROLL
    for (int i = 0; i < groups; ++i) {
      const T first = item_of<0>(words[i]), second = item_of<1>(words[i]);
      const T other = platform::shuffle_xor(mask(), either(upper, first, second), distance);
      values[i] = combine(upper, either(upper, second, first), other, op);
    }
    combine_neighbours<groups, 2 * distance>(values, op);
  }
  template <int Count, int Distance, int End, class Operator>
  STRATA_D void combine_words(unsigned* words, Operator& op) {
    if constexpr (Distance < End) {
      const auto upper = static_cast<unsigned>(warp_.lane() & Distance);
      STRATA_UNROLL
      for (int i = 0; i < Count / 2; ++i) {
        const unsigned even = words[2 * i], odd = words[2 * i + 1];
        const unsigned kept = platform::select_word(upper, odd, even);
        const unsigned other = platform::shuffle_xor(mask(), platform::select_word(upper, even, odd), Distance);
        words[i] = word_of(combine(upper, item_of<0>(kept), item_of<0>(other), op),
                           combine(upper, item_of<1>(kept), item_of<1>(other), op));
      }
      combine_words<Count / 2, Distance * 2, End>(words, op);
    }
  }
  STRATA_D static unsigned word_of(const T& first, const T& second) {
    return detail::item_words<T, unsigned>(first).word[0] | detail::item_words<T, unsigned>(second).word[0] << 16;
  }
  template <int Half>
  STRATA_D static T item_of(unsigned word) {
    detail::item_words<T, unsigned> words;
    words.word[0] = Half == 0 ? word & 0xffff : word >> 16;
    return words.value();
  }

  /// Combines a lane's value and its neighbour's. `upper` is not 0 if the neighbour comes before.
  template <class Operator>
  STRATA_D static T combine(unsigned upper, const T& kept, const T& other, Operator& op) {
    if constexpr (takes_any_order<Operator>) {
      return static_cast<T>(op(kept, other));
    } else {
      return static_cast<T>(op(either(upper, other, kept), either(upper, kept, other)));
    }
  }
  /// True if the operands of a call may change places: for commutative operators, and for minima and maxima of
  /// floating-point numbers. Lanes always combine in the same order, so results repeat.
  template <class Operator>
  static constexpr bool takes_any_order = operator_traits<Operator, T>::commutative ||
                                          (std::is_floating_point_v<T> &&
                                           (detail::operation_by_name<Operator>() == hardware_reduction::min ||
                                            detail::operation_by_name<Operator>() == hardware_reduction::max));

  STRATA_D unsigned mask() const { return SyncPhysicalWarp ? full_warp_mask : warp_.mask(); }

  /// `a` if a bit of `bits` is set, else `b`: one instruction for each 4 bytes.
  STRATA_D static T either(unsigned bits, const T& a, const T& b) {
    using words_of = detail::item_words<T, unsigned>;
    words_of words(a);
    const words_of others(b);
    STRATA_UNROLL
    for (std::size_t i = 0; i < words_of::count; ++i) {
      words.word[i] = platform::select_word(bits, words.word[i], others.word[i]);
    }
    return words.value();
  }

  detail::logical_warp<LogicalWarpThreads> warp_;
};

STRATA_NAMESPACE_END
