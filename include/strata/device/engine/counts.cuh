// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/engine/stream_argument.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// What all device-wide calls do with counts, whatever their types, and with size queries. The rules
/// are in include/strata/README.md, "Arguments".

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class Integer>
inline constexpr auto most_of = static_cast<unsigned long long>(std::numeric_limits<Integer>::max());

/// The result of an overload, for overloads that differ in whether an argument is an integer or an iterator.
template <class T>
using if_integral = std::enable_if_t<std::is_integral_v<T>, cudaError_t>;
/// True for the types that a count may have: integers and FutureCount.
template <class T>
inline constexpr bool is_count_type = std::is_integral_v<T> || is_future_count<T>;
template <class T>
using if_count = std::enable_if_t<is_count_type<T>, cudaError_t>;
/// cudaError_t, unless `T` is a pointer. It is for an overload that takes a count where another overload takes an
/// array. The type of the count is checked elsewhere.
template <class T>
using if_not_pointer = std::enable_if_t<!std::is_pointer_v<T>, cudaError_t>;
/// cudaError_t, unless `T` is a stream or an environment. It is for an overload that takes a count where another
/// overload takes a stream. The type of the count is checked elsewhere.
template <class T>
using if_no_stream = std::enable_if_t<!says_where<cudaStream_t, T>, cudaError_t>;
/// True if `Compare` compares items of `Iterator`. It is for overloads with a comparator beside overloads with a stream
/// in the same place. execution.cuh also tries whether a call with storage fits as a call without storage. `Iterator`
/// is then the type of the pointer to the storage.
template <class Compare, class Iterator>
constexpr bool compares_items_of() {
  constexpr bool is_storage = std::is_null_pointer_v<Iterator> || std::is_void_v<std::remove_pointer_t<Iterator>>;
  if constexpr (!is_storage && std::is_class_v<Compare> && !says_where<cudaStream_t, Compare>) {
    using T = const iterator_value_t<Iterator>;
    return std::is_invocable_v<Compare&, T&, T&> || is_unknown_if_callable;
  } else {
    return false;
  }
}
template <class Compare, class Iterator>
using if_compares = std::enable_if_t<detail::compares_items_of<Compare, Iterator>(), cudaError_t>;
template <class T>
using if_not_integral = std::enable_if_t<!std::is_integral_v<T>, cudaError_t>;

/// True if a number of items, segments or rows is possible: from 0 to 2^63 - 1.
template <class Integer>
constexpr bool is_count(Integer n) {
  static_assert(std::is_integral_v<Integer>, "counts of items and segments must be integers: convert the argument");
  if constexpr (std::is_signed_v<Integer>) {
    if (n < 0) return false;
  }
  return detail::count_of(n) <= most_of<long long>;
}

template <class T>
bool is_count(const FutureCount<T>& n) {
  return detail::is_count(n.max_items());
}

/// True if a call is refused for a count. `argument` is the documented name of the argument.
template <class NumItemsT>
bool refuses_count(const NumItemsT& n, const char* argument) {
  return detail::is_refused(!detail::is_count(n), argument, "is negative or larger than 2^63 - 1");
}

/// True if a count is a FutureCount with a null pointer.
template <class NumItemsT>
bool is_null_count(const NumItemsT& num_items) {
  if constexpr (is_future_count<NumItemsT>) {
    return num_items.pointer() == nullptr;
  } else {
    return false;
  }
}

template <class NumItemsT>
bool refuses_null_count(const NumItemsT& num_items) {
  return detail::is_refused(detail::is_null_count(num_items), "num_items", "is a FutureCount of a null pointer");
}

/// True if a call is refused because it would write a number of results where it reads the number of items.
template <class NumItemsT, class NumberOut>
bool overwrites_count(const NumItemsT& num_items, const NumberOut& number_out, const char* argument, int numbers = 1) {
  if constexpr (is_future_count<NumItemsT>) {
    return detail::refuses_overlap(detail::bytes_of(number_out, numbers, argument),
                                   detail::bytes_of(num_items.pointer(), 1, "the FutureCount"));
  } else {
    static_cast<void>(num_items);
    static_cast<void>(number_out);
    static_cast<void>(argument);
    static_cast<void>(numbers);
    return false;
  }
}

/// A count that is passed on with 64 bits, whatever type the argument has. A count above 2^63 - 1 becomes negative,
/// which calls refuse. Floating-point numbers do not compile. (A parameter of type `std::int64_t` would take 10.5 for
/// 10.)
class count64 {
 public:
  template <class T, class = std::enable_if_t<std::is_convertible_v<T, std::int64_t>>>
  constexpr count64(T count) : count_(in_64_bits(count)) {
    static_assert(!std::is_floating_point_v<T>,
                  "counts of rows, columns and segments must be integers: convert the argument");
  }
  constexpr operator std::int64_t() const { return count_; }

 private:
  template <class T>
  static constexpr std::int64_t in_64_bits(T count) {
    if constexpr (std::is_class_v<T> || std::is_floating_point_v<T>) {
      return static_cast<std::int64_t>(count);
    } else {
      return static_cast<std::int64_t>(detail::count_of(count));
    }
  }

  std::int64_t count_;
};

/// True if `Index` can represent the indices of `count` items. Always true for types that are not integers, of which
/// nothing is known.
template <class Index, class Integer>
STRATA_HD constexpr bool can_index(Integer count) {
  if constexpr (std::is_integral_v<Index>) {
    return count == 0 || detail::count_of(count) - 1 <= most_of<Index>;
  } else {
    static_cast<void>(count);
    return true;
  }
}

/// A count, converted to the type of an output. Debug builds assert that the type can represent it.
template <class Stored, class Count>
STRATA_HD Stored count_as(Count count) {
  STRATA_ASSERT(can_index<Stored>(count) && (count == 0 || can_index<Stored>(count + 1)),
                "a count of %llu does not fit the output's type", static_cast<unsigned long long>(count));
  return static_cast<Stored>(count);
}

// The library chooses the type of the count. So a warning that the user's proxy takes a narrower type would not help.
#if STRATA_HOST_SIMT
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#endif
template <class Iterator, class Count>
STRATA_HD void store_count(Iterator to, Count count) {
  *to = detail::count_as<output_value_t<Iterator, Count>>(count);
}
#if STRATA_HOST_SIMT
#pragma GCC diagnostic pop
#endif

/// True if an iterator has a difference type that is an integer.
template <class Iterator, class = void>
inline constexpr bool has_differences = false;
template <class Iterator>
inline constexpr bool has_differences<Iterator, std::void_t<difference_of<Iterator>>> =
    std::is_integral_v<difference_of<Iterator>>;

/// True if an iterator's difference type can represent the indices of `count` items. Always true if the type is not an
/// integer, because nothing is known of it.
template <class Iterator, class Integer>
constexpr bool can_reach(const Iterator&, Integer count) {
  if constexpr (has_differences<Iterator>) {
    return detail::can_index<difference_of<Iterator>>(count);
  } else {
    return true;
  }
}

/// True if a call is refused because an iterator cannot be advanced to each of `count` items.
template <class Iterator, class Integer>
bool refuses_reach(const Iterator& iterator, Integer count, const char* argument) {
  return detail::is_refused(!detail::can_reach(iterator, count), argument,
                            "has a difference_type that cannot represent the index of each item");
}

/// True if a call is refused for its count, or because an iterator cannot be advanced to each of `num_items` items.
template <class Iterator, class NumItemsT>
bool refuses_input(const Iterator& iterator, const NumItemsT& num_items, const char* argument) {
  return detail::refuses_count(num_items, "num_items") ||
         detail::refuses_reach(iterator, detail::max_items(num_items), argument);
}

/// True if a call is refused because an array of `Index` cannot hold the index of each of `count` items.
template <class Index, class Integer>
bool refuses_index_type(Integer count, const char* argument) {
  return detail::is_refused(!detail::can_index<Index>(count), argument,
                            "has a type that cannot represent the index of each item");
}

/// True if a call is refused because an array of `Index` cannot hold numbers from 0 to `count`.
template <class Index, class Integer>
bool refuses_count_type(Integer count, const char* argument) {
  return detail::is_refused(!detail::can_index<Index>(detail::count_of(count) + 1), argument,
                            "has a type that cannot represent the number of items");
}

/// True if a call is refused because it needs too many blocks.
inline bool refuses_blocks(bool are_too_many, const char* argument) {
  return detail::is_refused(are_too_many, argument, "needs more blocks than a grid can have");
}

/// The answer to a size query.
template <int Slots>
cudaError_t answer_size_query(const temporary_storage::layout<Slots>& storage, std::size_t& temp_storage_bytes) {
  const std::size_t bytes = storage.bytes();
  if (detail::is_refused(bytes == temporary_storage::invalid_size, "the count",
                         "needs more temporary storage than std::size_t can represent")) {
    return cudaErrorInvalidValue;
  }
  temp_storage_bytes = bytes;
  return cudaSuccess;
}

/// True if a call is refused because temporary storage has fewer bytes than the layout needs. Otherwise maps the layout
/// to the storage.
template <int Slots>
bool refuses_storage(temporary_storage::layout<Slots>& storage, void* d_temp_storage, std::size_t temp_storage_bytes) {
  return detail::is_refused(!storage.map(d_temp_storage, temp_storage_bytes), "temp_storage_bytes",
                            "is less than what the size query said");
}
/// True if a call is refused because its temporary storage has no byte, though the call keeps nothing there.
inline bool refuses_unused_storage(std::size_t temp_storage_bytes) {
  return detail::is_refused(temp_storage_bytes < 1, "temp_storage_bytes", "is less than what the size query said");
}

}  // namespace detail
STRATA_NAMESPACE_END
