// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
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
                "ThreadReduce needs a type with a constant number of items, at least 1: pass an array, or call "
                "ThreadReduce<Count>(pointer, ...)");
  static constexpr std::size_t value = static_size<Items>;
};

// A class, because clang refuses std::declval in an alias that a device function names.
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

/// Reduces the items of an array in order.
template <class Items, class Operator>
STRATA_D auto reduce_in_order(const Items& items, Operator& op) {
  constexpr std::size_t count = checked_static_size<Items>::value;
  using item = item_of_t<Items>;
  using accumulator = accumulator_t<Operator&, item, item>;
  return detail::reduce_in_thread<count>(static_cast<accumulator>(items[0]), items, op, 1);
}

/// How ThreadReduce combines floating-point numbers by known operators. The compiler reorders additions of integers,
/// but not additions of floating-point numbers. On an H200 with CUDA 13.0, times divided by those of CUB 3.5, one block
/// (full device):
///
/// | items of a thread | in order | as a tree | as two trees, in pairs |
/// |---|---|---|---|
/// | sum of 16 floats | 1.08 (1.00) | 1.00 (1.01) | |
/// | maximum of 23 floats | 1.11 (1.00) | 0.99 (0.99) | |
/// | sum of 8 doubles | 1.00 (1.00) | 0.98 (1.03) | |
/// | sum of 16 halves | 0.93 (1.03) | 1.06 (1.20) | 1.00 (1.00) |
/// | maximum of 8 halves | 0.86 (0.84) | 0.95 (0.97) | |
enum class thread_reduction { in_order, tree, pairs };
template <class Operator, class Item, class Accumulator>
STRATA_HD constexpr thread_reduction thread_reduction_of() {
  constexpr hardware_reduction operation = detail::operation_on_numbers<Operator, Item>();
  if (!std::is_same_v<Item, Accumulator> || operation == hardware_reduction::none) return thread_reduction::in_order;
  if (std::is_same_v<Item, float>) return thread_reduction::tree;
  if (sizeof(Item) == 2 && is_device_real<Item> && operation == hardware_reduction::add) return thread_reduction::pairs;
  return thread_reduction::in_order;
}

/// Reduces items First to First + Count - 1 as a tree.
template <std::size_t First, std::size_t Count, class Item, class Items, class Operator>
STRATA_D Item reduce_tree(const Items& items, Operator& op) {
  if constexpr (Count == 1) {
    return items[First];
  } else {
    constexpr std::size_t half = std::size_t{1} << (log2_ceiling(Count) - 1);
    const Item first = detail::reduce_tree<First, half, Item>(items, op);
    return static_cast<Item>(op(first, detail::reduce_tree<First + half, Count - half, Item>(items, op)));
  }
}

/// Two 16-bit numbers, which one instruction adds to two others.
template <class T>
struct pair_of_halves {};
template <>
struct pair_of_halves<__half> {
  using type = __half2;
};
template <>
struct pair_of_halves<__nv_bfloat16> {
  using type = __nv_bfloat162;
};

// Not operator +, which programs may disable for CUDA's pairs.
struct add_pairs {
  template <class Pair>
  STRATA_D Pair operator()(const Pair& a, const Pair& b) const {
    return __hadd2(a, b);
  }
};

/// Adds up four or more 16-bit numbers in pairs.
template <std::size_t Count, class Item, class Items, class Operator>
STRATA_D Item add_in_pairs(const Items& items, Operator& op) {
  using pair = typename pair_of_halves<Item>::type;
  constexpr std::size_t pairs = Count / 2;
  pair added[pairs];
  STRATA_UNROLL
  for (std::size_t i = 0; i < pairs; ++i) {
    const Item both[2] = {items[2 * i], items[2 * i + 1]};
    std::memcpy(&added[i], both, sizeof(pair));
  }
  add_pairs add;
  const pair sums = detail::reduce_tree<0, pairs, pair>(added, add);
  Item both[2];
  std::memcpy(both, &sums, sizeof(pair));
  const Item sum = static_cast<Item>(op(both[0], both[1]));
  if constexpr (Count % 2 == 0) {
    return sum;
  } else {
    return static_cast<Item>(op(sum, items[Count - 1]));
  }
}

}  // namespace detail

/// Reduces the items of an array in one thread: `op(... op(op(items[0], items[1]), items[2]) ..., items[n - 1])`.
///
/// - `items`: an array `T[n]`, or a type whose size is known at compile time (std::array, cuda::std::array, a span of
///   static extent). Loops are unrolled: an array stays in registers if all other code indexes it by constants, too.
/// - The result has the type that `op` returns: a sum of `short` is an `int`.
/// - `op` is called exactly n - 1 times, in order, and need not be associative. There are exceptions for arrays without
///   a prefix, if `op` is a function object of strata, libcu++, Thrust, CUB or the standard library. Then fewer
///   operations wait for each other:
///   - Sums, minima and maxima of `float` are trees. Let h be the largest power of two below n. The first h items and
///     the other n - h items are each reduced in this way. Then `op` combines both results.
///   - Sums of four or more `__half` or `__nv_bfloat16` add pairs: the items of even and of odd index are two such
///     trees, then `op` adds both results, and the last item if n is odd.
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
  constexpr detail::thread_reduction reduction = detail::thread_reduction_of<Operator, item, accumulator>();
  if constexpr (reduction == detail::thread_reduction::tree) {
    return detail::reduce_tree<0, count, item>(items, op);
  } else if constexpr (reduction == detail::thread_reduction::pairs && count >= 4) {
    return detail::add_in_pairs<count, item>(items, op);
  } else {
    return detail::reduce_in_order(items, op);
  }
}

/// Reduces the items of an array in order, starting with `prefix`: `op(... op(op(prefix, items[0]), items[1]) ...)`, n
/// calls of `op`.
template <class Items, class Operator, class Prefix>
STRATA_D auto ThreadReduce(const Items& items, Operator op, Prefix prefix) {
  constexpr std::size_t count = detail::checked_static_size<Items>::value;
  using accumulator = detail::accumulator_t<Operator&, Prefix, detail::item_of_t<Items>>;
  return detail::reduce_in_thread<count>(static_cast<accumulator>(prefix), items, op, 0);
}

/// Reduces `Count` items behind a pointer or any random-access iterator, in order.
template <int Count, class Iterator, class Operator>
STRATA_D auto ThreadReduce(Iterator items, Operator op) {
  static_assert(Count > 0, "ThreadReduce<Count>: there must be at least one item");
  using item = detail::item_of_t<Iterator>;
  using accumulator = detail::accumulator_t<Operator&, item, item>;
  return detail::reduce_in_thread<Count>(static_cast<accumulator>(items[0]), items, op, 1);
}

/// Reduces `Count` items behind a pointer or any random-access iterator, in order, starting with `prefix`.
template <int Count, class Iterator, class Operator, class Prefix>
STRATA_D auto ThreadReduce(Iterator items, Operator op, Prefix prefix) {
  static_assert(Count > 0, "ThreadReduce<Count>: there must be at least one item");
  using accumulator = detail::accumulator_t<Operator&, Prefix, detail::item_of_t<Iterator>>;
  return detail::reduce_in_thread<Count>(static_cast<accumulator>(prefix), items, op, 0);
}

STRATA_NAMESPACE_END
