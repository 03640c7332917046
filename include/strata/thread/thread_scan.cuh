// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

// A parameter of this type is converted, not deduced: 0 is a prefix of any arithmetic type.
template <class T>
using not_deduced_t = typename identity_type<T>::type;

/// Scans the first `valid` of `Length` items (all if `Full`), after `prefix` if `apply_prefix`. Returns the
/// sum of all, with the prefix if that is applied. If `Total` is false, an exclusive scan saves the operator call for
/// that sum, and the returned value is unspecified.
///
/// The loop has `Length` iterations known at compile time, whatever `valid` is: arrays stay in registers.
template <bool Inclusive, bool Total, bool Full, int Length, class T, class Operator>
STRATA_D T scan_in_thread(const T* input, T* output, Operator& op, const T& prefix, bool apply_prefix,
                          [[maybe_unused]] int valid = Length) {
  operator_requirements<Operator, T>::check();
  T sum = prefix;
  STRATA_UNROLL
  for (int i = 0; i < Length; ++i) {
    if (!Full && i >= valid) break;
    const T item = input[i];
    if constexpr (!Inclusive) output[i] = sum;
    if (Inclusive || Total || i < Length - 1) {
      sum = i > 0 || apply_prefix ? static_cast<T>(op(sum, item)) : item;
      if (i == 0) sum = platform::opaque_first_sum(sum);
    }
    if constexpr (Inclusive) output[i] = sum;
  }
  return sum;
}

}  // namespace detail

/// Scans the items of an array in one thread, in order, and returns the sum of all:
///
///     ThreadScanInclusive: output[i] = op(... op(op(prefix, input[0]), input[1]) ..., input[i])
///     ThreadScanExclusive: output[0] = prefix, output[i] = op(output[i - 1], input[i - 1])
///
/// - Without a prefix, or if `apply_prefix` is false, the scan begins with input[0]. output[0] of the
///   exclusive scan is then the unused prefix. (The first thread of a block has no prefix. It can still run the same
///   code as the others, with `apply_prefix` false.)
/// - The returned sum contains all items, and the prefix if that is applied.
/// - Strictly sequential: floating-point results are those of the loop, and `scan_op` need not be
///   associative. It is called once for each item, except for the first one if there is no prefix.
/// - `output` may be `input`. Loops are unrolled: arrays stay in registers if all other code indexes them by
///   constants, too.
///
/// @code
/// #include <strata/core/launcher.cuh>
/// #include <strata/core/operators.hpp>
///
/// __managed__ int counts[2][4] = {{3, 1, 4, 1}, {10, 0, 20, 5}}, offsets[2][4], totals[2];
///
/// // Each thread has a row: the sum of the counts before each count, and the sum of all counts.
/// STRATA_KERNEL void scan_rows(const int* in, int* out, int* sums) {
///   int row[4];
///   for (unsigned i = 0; i < 4; ++i) row[i] = in[4 * threadIdx.x + i];
///   sums[threadIdx.x] = strata::ThreadScanExclusive(row, row, strata::Sum{}, 0);
///   for (unsigned i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = row[i];
/// }
///
/// int main() {
///   if (strata::launch({"scan_rows", 1, 2}, scan_rows, counts[0], offsets[0], totals) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 2; ++i) {
///     std::printf("%d %d %d %d of %d\n", offsets[i][0], offsets[i][1], offsets[i][2], offsets[i][3], totals[i]);
///   }
/// }
/// // prints: 0 3 4 8 of 9
/// // prints: 0 10 10 30 of 35
/// @endcode
template <std::size_t Length, class T, class Operator>
STRATA_D T ThreadScanInclusive(const T (&input)[Length], T (&output)[Length], Operator scan_op) {
  return detail::scan_in_thread<true, true, true, static_cast<int>(Length)>(+input, +output, scan_op, input[0], false);
}
/// Inclusive scan of an array, after `prefix` if `apply_prefix`. Returns the sum of all.
template <std::size_t Length, class T, class Operator>
STRATA_D T ThreadScanInclusive(const T (&input)[Length], T (&output)[Length], Operator scan_op,
                               detail::not_deduced_t<T> prefix, bool apply_prefix = true) {
  return detail::scan_in_thread<true, true, true, static_cast<int>(Length)>(+input, +output, scan_op, prefix,
                                                                            apply_prefix);
}

/// Exclusive scan of an array, after `prefix` if `apply_prefix`. Returns the sum of all.
template <std::size_t Length, class T, class Operator>
STRATA_D T ThreadScanExclusive(const T (&input)[Length], T (&output)[Length], Operator scan_op,
                               detail::not_deduced_t<T> prefix, bool apply_prefix = true) {
  return detail::scan_in_thread<false, true, true, static_cast<int>(Length)>(+input, +output, scan_op, prefix,
                                                                             apply_prefix);
}

/// Inclusive scan of `Length` items behind pointers. Returns the sum of all.
template <int Length, class T, class Operator>
STRATA_D T ThreadScanInclusive(const T* input, T* output, Operator scan_op) {
  static_assert(Length > 0, "ThreadScanInclusive<Length>: there must be at least one item");
  return detail::scan_in_thread<true, true, true, Length>(input, output, scan_op, input[0], false);
}
/// Inclusive scan of `Length` items behind pointers, after `prefix` if `apply_prefix`. Returns the sum of all.
template <int Length, class T, class Operator>
STRATA_D T ThreadScanInclusive(const T* input, T* output, Operator scan_op, detail::not_deduced_t<T> prefix,
                               bool apply_prefix = true) {
  static_assert(Length > 0, "ThreadScanInclusive<Length>: there must be at least one item");
  return detail::scan_in_thread<true, true, true, Length>(input, output, scan_op, prefix, apply_prefix);
}

/// Exclusive scan of `Length` items behind pointers, after `prefix` if `apply_prefix`. Returns the sum of all.
template <int Length, class T, class Operator>
STRATA_D T ThreadScanExclusive(const T* input, T* output, Operator scan_op, detail::not_deduced_t<T> prefix,
                               bool apply_prefix = true) {
  static_assert(Length > 0, "ThreadScanExclusive<Length>: there must be at least one item");
  return detail::scan_in_thread<false, true, true, Length>(input, output, scan_op, prefix, apply_prefix);
}

STRATA_NAMESPACE_END
