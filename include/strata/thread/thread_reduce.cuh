// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

// The number of items of an array-like type; 0 if the type does not give it.
template <class Items, class = void>
inline constexpr std::size_t tuple_size_or_zero = 0;
template <class Items>
inline constexpr std::size_t tuple_size_or_zero<Items, std::void_t<decltype(std::tuple_size<Items>::value)>> =
    std::tuple_size<Items>::value;

template <class Items, class = void>
inline constexpr std::size_t static_size = tuple_size_or_zero<Items>;
template <class Item, std::size_t Count>
inline constexpr std::size_t static_size<Item[Count], void> = Count;
// Spans. The extent is the largest size_t if the size is known at run time only.
template <class Items>
inline constexpr std::size_t static_size<Items, std::void_t<decltype(Items::extent)>> =
    Items::extent == ~std::size_t{0} ? 0 : Items::extent;

template <class Items>
struct checked_static_size {
  static_assert(static_size<Items> > 0,
                "ThreadReduce needs a type that says its number of items, 1 or more: pass an "
                "array, or call ThreadReduce<Count>(pointer, ...)");
  static constexpr std::size_t value = static_size<Items>;
};

// A class, because in an alias that a device function names, clang does not take std::declval.
template <class Items>
struct item_of {
  using type = std::decay_t<decltype(std::declval<const Items&>()[0])>;
};
template <class Items>
using item_of_t = typename item_of<Items>::type;

// The index has the type of Count: size_t for arrays, int for iterators.
template <auto Count, class Accumulator, class Items, class Operator>
STRATA_D Accumulator reduce_in_thread(Accumulator result, const Items& items, Operator& op, decltype(Count) first) {
  STRATA_UNROLL
  for (auto i = first; i < Count; ++i) result = static_cast<Accumulator>(op(result, items[i]));
  return result;
}

}  // namespace detail

/// Reduces the items of an array in one thread, in order:
/// `op(... op(op(items[0], items[1]), items[2]) ..., items[n - 1])`.
///
/// - `items`: an array `T[n]`, or a type whose size is known at compile time (std::array, cuda::std::array, a
///   span of static extent). Loops are unrolled: an array stays in registers if all other code indexes it
///   by constants, too.
/// - The result has the type that `op` returns: a sum of `short` is an `int`.
/// - Strictly sequential: floating-point results are those of the loop, and `op` need not be associative.
///   It is called exactly n - 1 times.
///
/// @code
/// #include <strata/core/launcher.cuh>
/// #include <strata/core/operators.hpp>
///
/// __managed__ int matrix[3][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}, {0, 0, 0, -1}}, sums[3];
///
/// // Each thread adds up a row.
/// STRATA_KERNEL void sum_rows(const int* in, int* out) {
///   int row[4];
///   for (unsigned i = 0; i < 4; ++i) row[i] = in[4 * threadIdx.x + i];
///   out[threadIdx.x] = strata::ThreadReduce(row, strata::Sum{});
/// }
///
/// int main() {
///   if (strata::launch({"sum_rows", 1, 3}, sum_rows, matrix[0], sums) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 10 100 -1
/// @endcode
template <class Items, class Operator>
STRATA_D auto ThreadReduce(const Items& items, Operator op) {
  constexpr std::size_t count = detail::checked_static_size<Items>::value;
  using item = detail::item_of_t<Items>;
  using accumulator = detail::accumulator_t<Operator&, item, item>;
  return detail::reduce_in_thread<count>(static_cast<accumulator>(items[0]), items, op, 1);
}

/// Reduces the items of an array, starting with `prefix`: `op(... op(op(prefix, items[0]), items[1]) ...)`, n calls of
/// `op`.
template <class Items, class Operator, class Prefix>
STRATA_D auto ThreadReduce(const Items& items, Operator op, Prefix prefix) {
  constexpr std::size_t count = detail::checked_static_size<Items>::value;
  using accumulator = detail::accumulator_t<Operator&, Prefix, detail::item_of_t<Items>>;
  return detail::reduce_in_thread<count>(static_cast<accumulator>(prefix), items, op, 0);
}

/// Reduces `Count` items behind a pointer or any random-access iterator.
template <int Count, class Iterator, class Operator>
STRATA_D auto ThreadReduce(Iterator items, Operator op) {
  static_assert(Count > 0, "ThreadReduce<Count>: there must be at least one item");
  using item = detail::item_of_t<Iterator>;
  using accumulator = detail::accumulator_t<Operator&, item, item>;
  return detail::reduce_in_thread<Count>(static_cast<accumulator>(items[0]), items, op, 1);
}

/// Reduces `Count` items behind a pointer or any random-access iterator, starting with `prefix`.
template <int Count, class Iterator, class Operator, class Prefix>
STRATA_D auto ThreadReduce(Iterator items, Operator op, Prefix prefix) {
  static_assert(Count > 0, "ThreadReduce<Count>: there must be at least one item");
  using accumulator = detail::accumulator_t<Operator&, Prefix, detail::item_of_t<Iterator>>;
  return detail::reduce_in_thread<Count>(static_cast<accumulator>(prefix), items, op, 0);
}

STRATA_NAMESPACE_END
