// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What algorithms require of iterators and function objects. Each class asserts its requirements when it is
/// instantiated. Algorithms instantiate it before all code that would fail without them, so that the compiler's first
/// error names the cause. If `are_met` is false, they leave that code out, so that there is no second error.

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if the compiler cannot tell in host code whether a `__device__` functor can be called. clang cannot, nvcc can.
inline constexpr bool is_unknown_if_callable = STRATA_CLANG_CUDA;

template <class Iterator, class = void>
inline constexpr bool has_plus = false;
template <class Iterator>
inline constexpr bool has_plus<Iterator, std::void_t<decltype(std::declval<Iterator&>() + std::ptrdiff_t{})>> = true;

template <class Iterator, class = void>
inline constexpr bool has_subscript = false;
template <class Iterator>
inline constexpr bool has_subscript<Iterator, std::void_t<decltype(std::declval<Iterator&>()[std::ptrdiff_t{}])>> =
    true;

template <class Iterator>
inline constexpr bool is_void_pointer = std::is_pointer_v<Iterator>&& std::is_void_v<std::remove_pointer_t<Iterator>>;

/// Requirements of iterators: their items are read or written in any order.
template <class Iterator>
struct iterator_requirements {
  static constexpr bool are_met = has_plus<Iterator> || has_subscript<Iterator>;
  static_assert(!is_void_pointer<Iterator>,
                "a pointer to void does not say what type the items have: cast it to a pointer to that type");
  static_assert(is_void_pointer<Iterator> || has_plus<Iterator> || has_subscript<Iterator>,
                "threads access items in any order: pass a random-access iterator, such as a pointer to device memory");
};

/// Requirements of output iterators.
template <class Iterator>
struct output_requirements {
  static constexpr bool are_met = !std::is_pointer_v<Iterator> || !std::is_const_v<std::remove_pointer_t<Iterator>>;
  static_assert(are_met,
                "results cannot be written to a pointer to const: pass a pointer to items that are "
                "not const");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of operators of reductions and scans.
template <class Operator, class A, class B = A>
struct operator_requirements {
  static constexpr bool is_callable = std::is_invocable_v<Operator&, A, B>;
  static constexpr bool are_met = is_callable || is_unknown_if_callable;
  static_assert(are_met,
                "the operator cannot be called with two values of these types: it must accept items, "
                "initial values and its own results, as op(a, b)");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of operators that compute the difference of neighbouring items.
template <class DifferenceOp, class Item>
struct difference_requirements {
  static constexpr bool are_met = std::is_invocable_v<DifferenceOp&, Item&, Item&> || is_unknown_if_callable;
  static_assert(are_met, "the difference operator cannot be called with two items, as op(item, neighbour)");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of operators that return true where neighbouring items differ.
template <class FlagOp, class Item>
struct flag_requirements {
  static constexpr bool has_index = std::is_invocable_v<FlagOp&, const Item&, const Item&, int>;
  static_assert(has_index || std::is_invocable_v<FlagOp&, const Item&, const Item&> || is_unknown_if_callable,
                "the flag operator can be called neither with two items, as op(a, b), nor with two items and the"
                " index of the second, as op(a, b, index)");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of transformations, which take one item of each input.
template <class Transform, class... Items>
struct transform_requirements {
  static constexpr bool is_callable = std::is_invocable_v<Transform&, Items...>;
  static constexpr bool are_met = is_callable || is_unknown_if_callable;
  static_assert(are_met,
                "the transformation cannot be called with an item of the input or, for several inputs, with one item "
                "of each");
};

/// Requirements of generators of items.
template <class Generator>
struct generator_requirements {
  static constexpr bool are_met = std::is_invocable_v<Generator&> || is_unknown_if_callable;
  static_assert(are_met, "the generator cannot be called without arguments");
};

/// Requirements of predicates of transformations.
template <class Predicate, class... Items>
struct transform_predicate_requirements {
  static constexpr bool are_met = std::is_invocable_v<Predicate&, Items...> || is_unknown_if_callable;
  static_assert(are_met,
                "the predicate of TransformIf cannot be called with an item of the input or, for several inputs, "
                "with one item of each");
};

/// Requirements of predicates of single items.
template <class Predicate, class Item>
struct predicate_requirements {
  static constexpr bool are_met =
      std::is_invocable_v<Predicate&, Item&> || std::is_invocable_v<Predicate&, Item> || is_unknown_if_callable;
  static_assert(are_met, "the predicate cannot be called with an item (or a flag) of the input");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of equality operators.
template <class Equality, class Item>
struct equality_requirements {
  static constexpr bool are_met = std::is_invocable_v<Equality&, Item&, Item&> || is_unknown_if_callable;
  static_assert(are_met,
                "keys or items cannot be compared for equality: their type needs an operator ==, or "
                "the equality operator must accept two of them");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of comparators of sorts.
template <class Compare, class Key>
struct compare_requirements {
  static constexpr bool are_met = std::is_invocable_v<Compare&, Key&, Key&> || is_unknown_if_callable;
  static_assert(are_met, "the comparator cannot be called with two keys, as compare(a, b)");
  STRATA_HD static constexpr void check() {}
};

/// Requirements of comparators of searches. They compare an item of the range and a value, in this order or the other
/// one.
template <class Compare, class First, class Second>
struct search_requirements {
  static constexpr bool are_met = std::is_invocable_v<Compare&, First&, Second&> || is_unknown_if_callable;
  static_assert(are_met,
                "the comparator cannot be called with an item of the range and a value: LowerBound calls it as "
                "compare(item, value), UpperBound as compare(value, item)");
};

/// Requirements of hash functors of joins.
template <class Hash, class Key>
struct hash_requirements {
  static constexpr bool are_met =
      std::is_invocable_r_v<unsigned long long, Hash&, const Key&> || is_unknown_if_callable;
  static_assert(are_met, "the hash functor cannot be called with a key, or returns no integer");
  STRATA_HD static constexpr void check() {}
};

}  // namespace detail
STRATA_NAMESPACE_END
