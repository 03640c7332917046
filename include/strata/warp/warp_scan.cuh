// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/platform/shuffle_ptx.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/logical_warp.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type of an argument that is absent: a result or an initial value.
struct not_given {};
template <class Argument>
inline constexpr bool is_given = !std::is_same_v<std::decay_t<Argument>, not_given>;

/// The `width` of a shuffle, for logical warps of `Lanes` lanes. A power of two divides each warp. Otherwise the
/// logical warp is the first lanes of the warp, and no lane reads from one above it.
template <int Lanes>
inline constexpr int scan_width = is_power_of_two(Lanes) ? Lanes : warp_threads;

/// Inclusive scan over the lanes of `mask`, in logical warps of `Lanes` lanes: a lane gets the sum of the items of all
/// lanes up to its own. Before step k a lane has the sum of 2^k items; the step adds the sum of the 2^k items before
/// these, which the lane 2^k below has. Operands are neighbours, so order is kept. (Kogge and Stone, "A Parallel
/// Algorithm for the Efficient Solution of a General Class of Recurrence Equations", 1973.)
///
/// Unless `Full`, lanes with `is_valid` false have no item, and `op` is not called there. They must be the
/// last ones.
template <int Lanes, bool Full, class T, class Operator>
STRATA_D T scan_lanes(unsigned mask, const T& item, Operator& op, [[maybe_unused]] bool is_valid) {
  constexpr int width = scan_width<Lanes>;
  if constexpr (adds_as_words<Operator, T>) {
    auto sum = static_cast<word_of_t<T>>(item);
    STRATA_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      sum = platform::add_from_below(mask, sum, distance, width);
    }
    return static_cast<T>(sum);
  } else if constexpr (Full && detail::is_idempotent<Operator, T>()) {
    // Where there is no source, the shuffle returns the lane's own value, so lane numbers need not be compared.
    T sum = item;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      sum = static_cast<T>(op(platform::shuffle_up(mask, sum, distance, width), sum));
    }
    return sum;
  } else {
    T sum = item;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      bool has_source;
      const T below = platform::shuffle_up(mask, sum, distance, width, has_source);
      const T kept = platform::opaque_if_wide(sum);
      sum = has_source && (Full || is_valid) ? static_cast<T>(op(below, sum)) : kept;
    }
    return sum;
  }
}

/// Returns the sum of the items of the lanes below; `inclusive` is what scan_lanes returned for `item`. Lane 0 gets 0
/// if `adds_as_words` is true, and an unspecified value otherwise.
template <int Lanes, class Operator, class T>
STRATA_D T sum_of_lanes_below(unsigned mask, const T& item, const T& inclusive) {
  if constexpr (adds_as_words<Operator, T>) {
    static_cast<void>(mask);
    using word = word_of_t<T>;
    return static_cast<T>(static_cast<word>(inclusive) - static_cast<word>(item));
  } else {
    static_cast<void>(item);
    return platform::shuffle_up(mask, inclusive, 1, scan_width<Lanes>);
  }
}

}  // namespace detail

/// Scans one item of every lane of a logical warp, in any association:
///
///     inclusive: op(... op(op(initial_value, item[0]), item[1]) ..., item[lane])
///     exclusive: op(... op(op(initial_value, item[0]), item[1]) ..., item[lane - 1])
///
/// - A logical warp has 1 to 32 threads. A power of two divides each warp into 32 / LogicalWarpThreads logical warps,
///   side by side. With another width, the first lanes of each warp are its only logical warp, and the other lanes must
///   not call.
/// - All lanes of a logical warp must call together, with the same initial value. Those of other logical
///   warps may diverge, or call with other arguments.
/// - Without an initial value, the exclusive result of lane 0 is unspecified. `ExclusiveSum` begins with `T{}`.
/// - Operands keep their order, so the operator need only be associative. It is called only with items, the initial
///   value and results of such calls.
/// - `warp_aggregate` is the sum of all items, without the initial value: the same bits in every lane.
/// - The Partial overloads scan lanes 0 .. valid_items - 1. The operator is not called with the input of
///   other lanes, and they get no result but `warp_aggregate`. `valid_items` must be the same in the whole logical
///   warp; above LogicalWarpThreads it means all lanes. If it is 0 or less, nothing is written.
/// - An output may be the input's variable.
/// - Determinism: the association depends on the types and the width alone, so floating-point results repeat
///   bit for bit. A result does not depend on `valid_items`.
/// - Storage and barriers: items move by shuffles. `TempStorage` makes the interface uniform and is empty. No
///   barrier is needed between uses.
/// - Cost: log2(LogicalWarpThreads) steps, rounded up. Each is one shuffle for every 4 bytes of `T` and one
///   conditional call of the operator. An exclusive result takes one more shuffle, or one subtraction for
///   sums of integers. For items of up to 4 bytes, the steps do not compare lane numbers: the shuffle returns whether
///   there is a source.
/// - `T` must be trivially relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int counts[64], offsets[64], totals[2];
///
/// // In each warp: the sum of the counts before each count, and the sum of all counts.
/// STRATA_KERNEL void scan_warps(const int* in, int* out, int* sums) {
///   using WarpScan = strata::WarpScan<int>;
///   STRATA_SHARED(temp_storage, WarpScan::TempStorage[64 / 32]);
///   const unsigned warp = threadIdx.x / 32;
///   int offset, total;
///   WarpScan(temp_storage[warp]).ExclusiveSum(in[threadIdx.x], offset, total);
///   out[threadIdx.x] = offset;
///   if (threadIdx.x % 32 == 0) sums[warp] = total;
/// }
///
/// int main() {
///   for (int i = 0; i < 64; ++i) counts[i] = 1 + i % 3;
///   if (strata::launch({"scan_warps", 1, 64}, scan_warps, counts, offsets, totals) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d %d %d %d ... of %d\n", offsets[0], offsets[1], offsets[2], offsets[3], totals[0]);
///   std::printf("%d %d %d %d ... of %d\n", offsets[32], offsets[33], offsets[34], offsets[35], totals[1]);
/// }
/// // prints: 0 1 3 6 ... of 63
/// // prints: 0 3 4 6 ... of 64
/// @endcode
template <class T, int LogicalWarpThreads = warp_threads>
class WarpScan {
  static_assert(detail::relocatable_requirements<T>::check());

 public:
  struct TempStorage : Uninitialized<NullType> {};

  /// Takes `TempStorage` for a uniform interface, and does not use it.
  STRATA_D explicit WarpScan(TempStorage&) {}

  /// Inclusive sum of one item per lane.
  STRATA_D void InclusiveSum(T input, T& inclusive_output) { InclusiveScan(input, inclusive_output, strata::Sum{}); }
  /// Inclusive sum of one item per lane. `warp_aggregate` receives the sum of all items.
  STRATA_D void InclusiveSum(T input, T& inclusive_output, T& warp_aggregate) {
    InclusiveScan(input, inclusive_output, strata::Sum{}, warp_aggregate);
  }
  /// Exclusive sum of one item per lane.
  STRATA_D void ExclusiveSum(T input, T& exclusive_output) {
    ExclusiveScan(input, exclusive_output, T{}, strata::Sum{});
  }
  /// Exclusive sum of one item per lane. `warp_aggregate` receives the sum of all items.
  STRATA_D void ExclusiveSum(T input, T& exclusive_output, T& warp_aggregate) {
    ExclusiveScan(input, exclusive_output, T{}, strata::Sum{}, warp_aggregate);
  }

  /// Inclusive scan of one item per lane.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& inclusive_output, Operator scan_op) {
    scan<all>(input, inclusive_output, none{}, none{}, scan_op, none{});
  }
  /// Inclusive scan of one item per lane. `warp_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& inclusive_output, Operator scan_op, T& warp_aggregate) {
    scan<all>(input, inclusive_output, none{}, none{}, scan_op, warp_aggregate);
  }
  /// Inclusive scan of one item per lane, after `initial_value`.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& inclusive_output, T initial_value, Operator scan_op) {
    scan<all>(input, inclusive_output, none{}, initial_value, scan_op, none{});
  }
  /// Inclusive scan of one item per lane, after `initial_value`. `warp_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void InclusiveScan(T input, T& inclusive_output, T initial_value, Operator scan_op, T& warp_aggregate) {
    scan<all>(input, inclusive_output, none{}, initial_value, scan_op, warp_aggregate);
  }

  /// Exclusive scan of one item per lane, with an unspecified first output.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& exclusive_output, Operator scan_op) {
    scan<all>(input, none{}, exclusive_output, none{}, scan_op, none{});
  }
  /// Exclusive scan of one item per lane, with an unspecified first output. `warp_aggregate` receives the sum of all
  /// items.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& exclusive_output, Operator scan_op, T& warp_aggregate) {
    scan<all>(input, none{}, exclusive_output, none{}, scan_op, warp_aggregate);
  }
  /// Exclusive scan of one item per lane, after `initial_value`.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& exclusive_output, T initial_value, Operator scan_op) {
    scan<all>(input, none{}, exclusive_output, initial_value, scan_op, none{});
  }
  /// Exclusive scan of one item per lane, after `initial_value`. `warp_aggregate` receives the sum of all items.
  template <class Operator>
  STRATA_D void ExclusiveScan(T input, T& exclusive_output, T initial_value, Operator scan_op, T& warp_aggregate) {
    scan<all>(input, none{}, exclusive_output, initial_value, scan_op, warp_aggregate);
  }

  /// Inclusive and exclusive scan of one item per lane.
  template <class Operator>
  STRATA_D void Scan(T input, T& inclusive_output, T& exclusive_output, Operator scan_op) {
    scan<all>(input, inclusive_output, exclusive_output, none{}, scan_op, none{});
  }
  /// Inclusive and exclusive scan of one item per lane, after `initial_value`.
  template <class Operator>
  STRATA_D void Scan(T input, T& inclusive_output, T& exclusive_output, T initial_value, Operator scan_op) {
    scan<all>(input, inclusive_output, exclusive_output, initial_value, scan_op, none{});
  }

  /// Returns the input of lane `src_lane` of the logical warp.
  STRATA_D T Broadcast(T input, unsigned src_lane) { return warp_.from_lane(input, static_cast<int>(src_lane)); }

  /// Inclusive scan of the items of the first `valid_items` lanes.
  template <class Operator>
  STRATA_D void InclusiveScanPartial(T input, T& inclusive_output, Operator scan_op, int valid_items) {
    scan<valid>(input, inclusive_output, none{}, none{}, scan_op, none{}, valid_items);
  }
  /// Inclusive scan of the items of the first `valid_items` lanes. `warp_aggregate` receives the sum of these items.
  template <class Operator>
  STRATA_D void InclusiveScanPartial(T input, T& inclusive_output, Operator scan_op, int valid_items,
                                     T& warp_aggregate) {
    scan<valid>(input, inclusive_output, none{}, none{}, scan_op, warp_aggregate, valid_items);
  }
  /// Inclusive scan of the items of the first `valid_items` lanes, after `initial_value`.
  template <class Operator>
  STRATA_D void InclusiveScanPartial(T input, T& inclusive_output, T initial_value, Operator scan_op, int valid_items) {
    scan<valid>(input, inclusive_output, none{}, initial_value, scan_op, none{}, valid_items);
  }
  /// Inclusive scan of the items of the first `valid_items` lanes, after `initial_value`. `warp_aggregate` receives the
  /// sum of these items.
  template <class Operator>
  STRATA_D void InclusiveScanPartial(T input, T& inclusive_output, T initial_value, Operator scan_op, int valid_items,
                                     T& warp_aggregate) {
    scan<valid>(input, inclusive_output, none{}, initial_value, scan_op, warp_aggregate, valid_items);
  }

  /// Exclusive scan of the items of the first `valid_items` lanes, with an unspecified first output.
  template <class Operator>
  STRATA_D void ExclusiveScanPartial(T input, T& exclusive_output, Operator scan_op, int valid_items) {
    scan<valid>(input, none{}, exclusive_output, none{}, scan_op, none{}, valid_items);
  }
  /// Exclusive scan of the items of the first `valid_items` lanes, with an unspecified first output. `warp_aggregate`
  /// receives the sum of these items.
  template <class Operator>
  STRATA_D void ExclusiveScanPartial(T input, T& exclusive_output, Operator scan_op, int valid_items,
                                     T& warp_aggregate) {
    scan<valid>(input, none{}, exclusive_output, none{}, scan_op, warp_aggregate, valid_items);
  }
  /// Exclusive scan of the items of the first `valid_items` lanes, after `initial_value`.
  template <class Operator>
  STRATA_D void ExclusiveScanPartial(T input, T& exclusive_output, T initial_value, Operator scan_op, int valid_items) {
    scan<valid>(input, none{}, exclusive_output, initial_value, scan_op, none{}, valid_items);
  }
  /// Exclusive scan of the items of the first `valid_items` lanes, after `initial_value`. `warp_aggregate` receives the
  /// sum of these items.
  template <class Operator>
  STRATA_D void ExclusiveScanPartial(T input, T& exclusive_output, T initial_value, Operator scan_op, int valid_items,
                                     T& warp_aggregate) {
    scan<valid>(input, none{}, exclusive_output, initial_value, scan_op, warp_aggregate, valid_items);
  }

  /// Inclusive and exclusive scan of the items of the first `valid_items` lanes. The exclusive result of lane 0 is
  /// unspecified.
  template <class Operator>
  STRATA_D void ScanPartial(T input, T& inclusive_output, T& exclusive_output, Operator scan_op, int valid_items) {
    scan<valid>(input, inclusive_output, exclusive_output, none{}, scan_op, none{}, valid_items);
  }
  /// Inclusive and exclusive scan of the items of the first `valid_items` lanes, after `initial_value`.
  template <class Operator>
  STRATA_D void ScanPartial(T input, T& inclusive_output, T& exclusive_output, T initial_value, Operator scan_op,
                            int valid_items) {
    scan<valid>(input, inclusive_output, exclusive_output, initial_value, scan_op, none{}, valid_items);
  }

 private:
  enum lanes { all, valid };
  using none = detail::not_given;

  template <lanes Lanes, class Inclusive, class Exclusive, class Initial, class Operator, class Aggregate>
  STRATA_D void scan(const T& item, Inclusive&& inclusive, Exclusive&& exclusive, const Initial& initial, Operator& op,
                     Aggregate&& aggregate, [[maybe_unused]] int valid_items = LogicalWarpThreads) {
    detail::operator_requirements<Operator, T>::check();
    constexpr bool full = Lanes == all;
    if (!full && valid_items < 1) return;
    const bool is_valid = full || warp_.lane() < valid_items;
    const unsigned mask = warp_.mask();
    const T sum = detail::scan_lanes<LogicalWarpThreads, full>(mask, item, op, is_valid);
    if constexpr (detail::is_given<Aggregate>) {
      const bool to_the_end = full || valid_items > LogicalWarpThreads;
      aggregate = warp_.from_lane(sum, (to_the_end ? LogicalWarpThreads : valid_items) - 1);
    }
    if constexpr (detail::is_given<Exclusive>) {
      const T below = detail::sum_of_lanes_below<LogicalWarpThreads, Operator>(mask, item, sum);
      if (is_valid) {
        if constexpr (!detail::is_given<Initial>) {
          exclusive = below;
        } else if constexpr (detail::adds_as_words<Operator, T>) {
          exclusive = static_cast<T>(op(initial, below));  // `below` is 0 in lane 0
        } else {
          exclusive = warp_.lane() == 0 ? initial : static_cast<T>(op(initial, below));
        }
      }
    }
    if constexpr (detail::is_given<Inclusive>) {
      if (is_valid) {
        if constexpr (detail::is_given<Initial>) {
          inclusive = static_cast<T>(op(initial, sum));
        } else {
          inclusive = sum;
        }
      }
    }
  }

  detail::logical_warp<LogicalWarpThreads> warp_;
};

STRATA_NAMESPACE_END
