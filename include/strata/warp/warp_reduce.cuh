// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>
#include <strata/warp/specializations/warp_reduce_in_hardware.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `Operator` may also combine items in lanes whose results are not used, where an item may be added several
/// times. Sums of signed integers might overflow there, so these are added as unsigned words. A user's function object
/// is not called there: it might assert something on its operands. The `+` or `<` of a user's type is called there, if
/// operator_traits says that Sum, Min or Max commutes on this type.
template <class Operator, class T>
inline constexpr bool takes_any_operands =
    operator_traits<Operator, T>::commutative &&
    (adds_as_words<Operator, T> || std::is_same_v<Operator, Min> || std::is_same_v<Operator, Max> ||
     std::is_same_v<Operator, BitAnd> || std::is_same_v<Operator, BitOr> || std::is_same_v<Operator, BitXor> ||
     std::is_same_v<Operator, ArgMin> || std::is_same_v<Operator, ArgMax> ||
     (!is_integer<T> &&
      (std::is_same_v<Operator, Sum> || detail::known_operation<Operator, T>() == hardware_reduction::add)));

}  // namespace detail

/// Reduces one item, or a few, of every lane of a logical warp to one value:
/// `op(... op(op(item[0], item[1]), item[2]) ..., item[n - 1])`, in any association.
///
/// - A logical warp has 1 to 32 threads. A power of two divides each warp into 32 / LogicalWarpThreads logical warps,
///   side by side. With another width, the first lanes of each warp are its only logical warp, and the other lanes must
///   not call.
/// - All lanes of a logical warp must call together. Those of other logical warps need not: they may be elsewhere, or
///   call with other arguments.
/// - Several items of a lane are an array. `Reduce`, `Sum`, `Min` and `Max` also take a `cuda::std::array` or a span of
///   a fixed length.
/// - Items are numbered by lane, and within a lane by index. Operands keep that order, so the operator need only be
///   associative. It is called with items and with its own results, never with the input of a lane at or past
///   `valid_items`.
/// - `Reduce`, `Sum`, `Min` and `Max` return the result in lane 0 of each logical warp, the
///   segmented forms in the first lane of each segment; the value in other lanes is unspecified.
///   `AllReduce` and `AllSum` return it, the same bits, in every lane of the logical warp.
/// - `Min` and `Max` are `strata::Min` and `strata::Max`; their contracts define the results for NaNs.
/// - `valid_items`: lanes 0 .. valid_items - 1 hold an item. It is 1 to LogicalWarpThreads, and the same in the whole
///   logical warp. Only debug builds check it.
/// - Segments: a flag that is not 0 marks the first (Head) or last (Tail) lane of a segment. The logical warp's first
///   lane always starts a segment and its last lane always ends one.
/// - Determinism: the association depends on the types, `valid_items` and the flags alone, so
///   floating-point results repeat bit for bit.
/// - Storage and barriers: items move by shuffles. `TempStorage` exists for the sake of a uniform
///   interface, is empty, and no barrier is needed between uses.
/// - On sm_80 and newer, instructions reduce over a whole warp of 32 lanes in these cases. In all others, each step has
///   a shuffle for each 4 bytes of `T`.
///   - integers of up to 32 bits, if `operator_traits` of the operator name an instruction
///   - integers of 64 bits, by `Min` and `Max`
///   - floats of 16 to 64 bits, by `Min` and `Max`; also by `cuda::maximum` and the like, unless an item is a NaN or
///     the result is 0 or denormal
///   - pairs, by `ArgMin` and `ArgMax`, if the index is a 32-bit integer and the value a 32-bit integer or a float of
///     up to 32 bits
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[128], sums[8];
///
/// // The sum of each 16 numbers, by a logical warp.
/// STRATA_KERNEL void sums_of_16(const int* in, int* out) {
///   using WarpReduce = strata::WarpReduce<int, 16>;
///   STRATA_SHARED(temp_storage, WarpReduce::TempStorage[128 / 16]);
///   const unsigned logical_warp = threadIdx.x / 16;
///   const int sum = WarpReduce(temp_storage[logical_warp]).Sum(in[threadIdx.x]);
///   if (threadIdx.x % 16 == 0) out[logical_warp] = sum;  // The first lane has the result.
/// }
///
/// int main() {
///   for (int i = 0; i < 128; ++i) numbers[i] = i;
///   if (strata::launch({"sums_of_16", 1, 128}, sums_of_16, numbers, sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 120 376 632 888 1144 1400 1656 1912
/// @endcode
template <class T, int LogicalWarpThreads = warp_threads>
class WarpReduce {
  static_assert(detail::relocatable_requirements<T>::check());
  using logical_warp = detail::logical_warp<LogicalWarpThreads>;
  /// `T`, for types that say how many items they have, other than arrays: cuda::std::array, spans of a fixed length.
  template <class Inputs>
  using if_items =
      std::enable_if_t<!std::is_array_v<Inputs> && !std::is_same_v<Inputs, T> && (detail::static_size<Inputs> > 0), T>;

 public:
  struct TempStorage : Uninitialized<NullType> {};

  /// Takes `TempStorage` for a uniform interface, and does not use it.
  STRATA_D explicit WarpReduce(TempStorage&) {}

  /// Reduces one item per lane. The result is in lane 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op) {
    return reduce_all(input, reduction_op);
  }
  /// Reduces an array of items per lane. The result is in lane 0.
  template <std::size_t ItemsPerThread, class Operator>
  STRATA_D T Reduce(const T (&inputs)[ItemsPerThread], Operator reduction_op) {
    return Reduce(static_cast<T>(detail::reduce_in_order(inputs, reduction_op)), reduction_op);
  }
  /// Reduces a `cuda::std::array` or fixed-length span of items per lane. The result is in lane 0.
  template <class Inputs, class Operator>
  STRATA_D if_items<Inputs> Reduce(const Inputs& inputs, Operator reduction_op) {
    return Reduce(static_cast<T>(detail::reduce_in_order(inputs, reduction_op)), reduction_op);
  }
  /// Reduces the items of the first `valid_items` lanes. The result is in lane 0.
  template <class Operator>
  STRATA_D T Reduce(T input, Operator reduction_op, int valid_items) {
    return reduce_valid(input, reduction_op, valid_items);
  }

  /// Adds up one item per lane. The result is in lane 0.
  STRATA_D T Sum(T input) { return Reduce(input, strata::Sum{}); }
  /// Adds up an array of items per lane. The result is in lane 0.
  template <std::size_t ItemsPerThread>
  STRATA_D T Sum(const T (&inputs)[ItemsPerThread]) {
    return Reduce(inputs, strata::Sum{});
  }
  /// Adds up a `cuda::std::array` or fixed-length span of items per lane. The result is in lane 0.
  template <class Inputs>
  STRATA_D if_items<Inputs> Sum(const Inputs& inputs) {
    return Reduce(inputs, strata::Sum{});
  }
  /// Adds up the items of the first `valid_items` lanes. The result is in lane 0.
  STRATA_D T Sum(T input, int valid_items) { return Reduce(input, strata::Sum{}, valid_items); }

  /// Finds the minimum of one item per lane. The result is in lane 0.
  STRATA_D T Min(T input) { return Reduce(input, strata::Min{}); }
  /// Finds the minimum of an array of items per lane. The result is in lane 0.
  template <std::size_t ItemsPerThread>
  STRATA_D T Min(const T (&inputs)[ItemsPerThread]) {
    return Reduce(inputs, strata::Min{});
  }
  /// Finds the minimum of a `cuda::std::array` or fixed-length span of items per lane. The result is in lane 0.
  template <class Inputs>
  STRATA_D if_items<Inputs> Min(const Inputs& inputs) {
    return Reduce(inputs, strata::Min{});
  }
  /// Finds the minimum of the items of the first `valid_items` lanes. The result is in lane 0.
  STRATA_D T Min(T input, int valid_items) { return Reduce(input, strata::Min{}, valid_items); }

  /// Finds the maximum of one item per lane. The result is in lane 0.
  STRATA_D T Max(T input) { return Reduce(input, strata::Max{}); }
  /// Finds the maximum of an array of items per lane. The result is in lane 0.
  template <std::size_t ItemsPerThread>
  STRATA_D T Max(const T (&inputs)[ItemsPerThread]) {
    return Reduce(inputs, strata::Max{});
  }
  /// Finds the maximum of a `cuda::std::array` or fixed-length span of items per lane. The result is in lane 0.
  template <class Inputs>
  STRATA_D if_items<Inputs> Max(const Inputs& inputs) {
    return Reduce(inputs, strata::Max{});
  }
  /// Finds the maximum of the items of the first `valid_items` lanes. The result is in lane 0.
  STRATA_D T Max(T input, int valid_items) { return Reduce(input, strata::Max{}, valid_items); }

  /// Reduces the items of each segment. A set `head_flag` begins a segment, and its first lane has the result.
  template <class Operator, class Flag>
  STRATA_D T HeadSegmentedReduce(T input, Flag head_flag, Operator reduction_op) {
    // A segment ends where the next lane is a head.
    const unsigned heads = warp_.ballot(static_cast<bool>(head_flag));
    return reduce_segment(input, reduction_op, heads >> 1);
  }
  /// Adds up the items of each segment. A set `head_flag` begins a segment, and its first lane has the result.
  template <class Flag>
  STRATA_D T HeadSegmentedSum(T input, Flag head_flag) {
    return HeadSegmentedReduce(input, head_flag, strata::Sum{});
  }

  /// Reduces the items of each segment. A set `tail_flag` ends a segment, and its first lane has the result.
  template <class Operator, class Flag>
  STRATA_D T TailSegmentedReduce(T input, Flag tail_flag, Operator reduction_op) {
    const unsigned tails = warp_.ballot(static_cast<bool>(tail_flag));
    return reduce_segment(input, reduction_op, tails);
  }
  /// Adds up the items of each segment. A set `tail_flag` ends a segment, and its first lane has the result.
  template <class Flag>
  STRATA_D T TailSegmentedSum(T input, Flag tail_flag) {
    return TailSegmentedReduce(input, tail_flag, strata::Sum{});
  }

  /// Reduces one item per lane. The result is in every lane.
  template <class Operator>
  STRATA_D T AllReduce(T input, Operator reduction_op) {
    return in_all_lanes<Operator>(Reduce(input, reduction_op));
  }
  /// Reduces an array of items per lane. The result is in every lane.
  template <std::size_t ItemsPerThread, class Operator>
  STRATA_D T AllReduce(const T (&inputs)[ItemsPerThread], Operator reduction_op) {
    return in_all_lanes<Operator>(Reduce(inputs, reduction_op));
  }
  /// Reduces the items of the first `valid_items` lanes. The result is in every lane.
  template <class Operator>
  STRATA_D T AllReduce(T input, Operator reduction_op, int valid_items) {
    return in_all_lanes<Operator>(Reduce(input, reduction_op, valid_items));
  }

  /// Adds up one item per lane. The result is in every lane.
  STRATA_D T AllSum(T input) { return AllReduce(input, strata::Sum{}); }
  /// Adds up an array of items per lane. The result is in every lane.
  template <std::size_t ItemsPerThread>
  STRATA_D T AllSum(const T (&inputs)[ItemsPerThread]) {
    return AllReduce(inputs, strata::Sum{});
  }
  /// Adds up the items of the first `valid_items` lanes. The result is in every lane.
  STRATA_D T AllSum(T input, int valid_items) { return AllReduce(input, strata::Sum{}, valid_items); }

 private:
  template <class Operator>
  static constexpr bool in_hardware =
      (LogicalWarpThreads == warp_threads) && detail::warp_reduces_in_hardware<Operator, T>;

  template <class Operator>
  STRATA_D T reduce_valid(const T& input, Operator& op, int valid_items) {
    detail::operator_requirements<Operator, T>::check();
    STRATA_ASSERT(valid_items >= 1 && valid_items <= LogicalWarpThreads,
                  "WarpReduce: valid_items is %d, must be 1 to %d", valid_items, LogicalWarpThreads);
    if constexpr (in_hardware<Operator>) {
      return detail::reduce_warp_in_hardware<Operator>(input, warp_.lane() < valid_items);
    } else {
      constexpr hardware_reduction named = detail::named_extreme<Operator, T>();
      if constexpr (LogicalWarpThreads == warp_threads && named != hardware_reduction::none) {
        T extreme;
        if (detail::normal_extreme<named>(input, warp_.lane() < valid_items, extreme)) return extreme;
      }
      return reduce_to(input, op, valid_items);
    }
  }

  // Reduces the items of all lanes. If the operator takes any operands, no lane checks that there is a lane `distance`
  // above it: a wrong operand does not reach lane 0.
  template <class Operator>
  STRATA_D T reduce_all(const T& input, Operator& op) {
    if constexpr (in_hardware<Operator> || !detail::takes_any_operands<Operator, T> ||
                  !detail::is_power_of_two(LogicalWarpThreads)) {
      return reduce_valid(input, op, LogicalWarpThreads);
    } else if constexpr (detail::adds_as_words<Operator, T>) {
      return static_cast<T>(reduce_any(static_cast<detail::word_of_t<T>>(input), op));
    } else {
      detail::operator_requirements<Operator, T>::check();
      return reduce_any(input, op);
    }
  }
  template <class Value, class Operator>
  STRATA_D Value reduce_any(Value value, Operator& op) {
    STRATA_UNROLL
    for (int distance = 1; distance < LogicalWarpThreads; distance *= 2) {
      value = static_cast<Value>(op(value, warp_.from_above(value, distance)));
    }
    return value;
  }

  // In a whole warp, warp_.lane() would mask the number with 31: an instruction that is not needed here.
  STRATA_D int this_lane() const {
    return LogicalWarpThreads == warp_threads ? static_cast<int>(platform::lane_id()) : warp_.lane();
  }

  // Afterwards lane i has reduced the items of lanes i .. end - 1.
  template <class Operator>
  STRATA_D T reduce_to(const T& input, Operator& op, int end) {
    const int lane = this_lane();
    return reduce_where(input, op, [&](int distance) { return lane < end - distance; });
  }

  // Before step k, a lane has the result of 2^k items. The step appends the result of the lane 2^k above, whose items
  // follow, if `is_followed(2^k)`: so the order is kept.
  template <class Operator, class IsFollowed>
  STRATA_D T reduce_where(T value, Operator& op, const IsFollowed& is_followed) {
    detail::operator_requirements<Operator, T>::check();
    STRATA_UNROLL
    for (int distance = 1; distance < LogicalWarpThreads; distance *= 2) {
      const T above = warp_.from_above(value, distance);
      const T kept = platform::opaque_if_wide(value);
      value = is_followed(distance) ? static_cast<T>(op(value, above)) : kept;
    }
    return value;
  }

  // Reduces the rest of this lane's segment. `tails` has a bit for the last lane of each segment. The lane `distance`
  // above belongs to the segment if no segment ends before it: a test of some bits, which waits for no other step.
  template <class Operator>
  STRATA_D T reduce_segment(const T& input, Operator& op, unsigned tails) {
    const unsigned ends = (tails | 1u << (LogicalWarpThreads - 1)) >> this_lane();
    return reduce_where(input, op, [&](int distance) { return (ends & ((1u << distance) - 1)) == 0; });
  }

  template <class Operator>
  STRATA_D T in_all_lanes(const T& value) {
    if constexpr (in_hardware<Operator>) {
      return value;
    } else {
      return warp_.from_lane(value, 0);
    }
  }

  logical_warp warp_;
};

namespace detail {

/// Reduces over a logical warp of `Lanes` lanes; the result is in its lane 0. Unless `Full`, only the first `valid`
/// lanes (1 .. Lanes) hold an item.
template <int Lanes, bool Full, class T, class Operator>
STRATA_D T reduce_lanes(const T& value, Operator op, int valid) {
  using warp_reduce = WarpReduce<T, Lanes>;
  typename warp_reduce::TempStorage temp_storage;
  if constexpr (Full) {
    static_cast<void>(valid);
    return warp_reduce(temp_storage).Reduce(value, op);
  } else {
    return warp_reduce(temp_storage).Reduce(value, op, valid);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
