// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/environment.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// \file
/// The aggregates that DeviceGroupBy computes for each group. An aggregate has
///
/// - `item<Row>`, the result of `read(row)`, unless `has_item` is false. `Row` is the type of row numbers;
/// - `state<Row>`, which describes some rows of a group. `state_of<Row>(item)` is the state of one row;
/// - `combine(a, b)`, the state of the rows of both, where the rows of b come after the rows of a;
/// - `store(group, state)`, which writes the result of a group;
/// - `is_unordered`: states may be combined in any order by atomic operations on words of 4 or 8 bytes. Then it also
///   has `identity<Row>()`, `add(to, state)` for a state in shared memory, `add_in_memory(to, state)` for one in device
///   memory, and `set_at`, `add_at` and `state_at` for one in columns in shared memory. `keeps_items` is true if an
///   item has the type and the value of the input.

STRATA_NAMESPACE_BEGIN
namespace detail {

// ------------------------------------------------------------------ words in shared memory

STRATA_D void add_in_shared(unsigned* to, unsigned value) { atomicAdd(to, value); }
// Shared memory has an instruction for 32-bit additions, but none for 64-bit additions. One atomicAdd of 64 bits would
// be a loop, so two additions of 32 bits replace it.
STRATA_D void add_in_shared(unsigned long long* to, unsigned long long value) {
#if STRATA_DEVICE_PASS
  auto* const halves = reinterpret_cast<unsigned*>(to);
  const auto low = static_cast<unsigned>(value);
  const unsigned before = low == 0 ? 0 : atomicAdd(halves, low);
  const unsigned carry = before + low < low ? 1 : 0;
  const unsigned high = static_cast<unsigned>(value >> 32) + carry;
  if (high != 0) atomicAdd(halves + 1, high);
#else
  atomicAdd(to, value);
#endif
}

// A plain read comes first, because most values change nothing: after the first few, new extremes are rare.
template <bool IsMax, class Word>
STRATA_D void extreme_in_shared(Word* to, Word value) {
  const Word there = *static_cast<volatile Word*>(to);
  if constexpr (IsMax) {
    if (there < value) atomicMax(to, value);
  } else {
    if (value < there) atomicMin(to, value);
  }
}

// ------------------------------------------------------------------ words in device memory

template <class Word>
STRATA_D void add_in_memory(Word* to, Word value) {
  atomicAdd(to, value);
}
template <bool IsMax, class Word>
STRATA_D void extreme_in_memory(Word* to, Word value) {
  const Word there = platform::load_relaxed(to);
  if constexpr (IsMax) {
    if (there < value) atomicMax(to, value);
  } else {
    if (value < there) atomicMin(to, value);
  }
}

// ------------------------------------------------------------------ words that are written once

// Keeps the first value. A plain read comes first, because most values come after the first one. A value that equals
// `none` changes nothing.
template <class Word>
STRATA_D void set_once_in_shared(Word* to, Word none, Word value) {
  if (*static_cast<volatile Word*>(to) == none) atomicCAS(to, none, value);
}
template <class Word>
STRATA_D void set_once_in_memory(Word* to, Word none, Word value) {
  if (platform::load_relaxed(to) == none) atomicCAS(to, none, value);
}

// ------------------------------------------------------------------ columns of words in shared memory

/// A column of states in shared memory: `stride` words. Integer sums and counts of 8 bytes are kept as two columns of
/// halves, so that neighbouring halves lie in neighbouring banks.
template <class Word>
struct group_column {
  static constexpr bool is_split = sizeof(Word) == 8;

  STRATA_D static void set_sum(void* column, unsigned stride, unsigned at, Word value) {
    auto* const words = static_cast<unsigned*>(column);
    words[at] = static_cast<unsigned>(value);
    if constexpr (is_split) words[stride + at] = static_cast<unsigned>(value >> 32);
  }
  STRATA_D static Word sum(const void* column, [[maybe_unused]] unsigned stride, unsigned at) {
    const auto* const words = static_cast<const unsigned*>(column);
    if constexpr (is_split) return static_cast<Word>(words[stride + at]) << 32 | words[at];
    return words[at];
  }
  STRATA_D static void add(void* column, [[maybe_unused]] unsigned stride, unsigned at, Word value) {
    auto* const words = static_cast<unsigned*>(column);
    const auto low = static_cast<unsigned>(value);
    if constexpr (is_split) {
      const unsigned before = atomicAdd(words + at, low);
      const unsigned high = static_cast<unsigned>(value >> 32) + (before + low < low ? 1 : 0);
      if (high != 0) atomicAdd(words + stride + at, high);
    } else {
      atomicAdd(words + at, low);
    }
  }
};

// ------------------------------------------------------------------ aggregates

template <class T>
inline constexpr bool is_group_word = std::is_integral_v<T> && sizeof(T) <= 8;

template <class InputIterator, class OutputIterator>
struct group_unordered_sum_aggregate;
template <class InputIterator, class OutputIterator>
struct group_unordered_mean_aggregate;

/// Sums. Integers of up to 64 bits are added as words, which wrap around.
template <class InputIterator, class OutputIterator>
struct group_sum_aggregate {
  using Item = iterator_value_t<InputIterator>;
  using Accum = accumulator_t<Sum, initial_value_t<OutputIterator, Item>, Item>;
  static constexpr bool is_unordered = is_group_word<Accum>;
  static_assert(std::is_trivially_copyable_v<Accum>,
                "group_sum: sums must be trivially copyable, because they are kept in temporary storage: convert the "
                "items to such a type");
  static constexpr bool has_item = true;
  // Items are moved instead of sums, because they take less memory.
  using Kept = std::conditional_t<std::is_trivially_copyable_v<Item>, Item, Accum>;
  static constexpr bool keeps_items = std::is_same_v<Kept, Item>;
  using Stored = std::conditional_t<is_unordered, word_of_t<Accum>, Accum>;
  template <class Row>
  using item = Kept;
  template <class Row>
  using state = Stored;

  InputIterator in;
  OutputIterator out;

  /// Returns this sum with rows added in any order. Then a call need not sort its rows to add floating-point numbers,
  /// but the last bits of a sum may differ from run to run.
  auto unordered() const {
    if constexpr (is_unordered) {
      return *this;
    } else {
      return group_unordered_sum_aggregate<InputIterator, OutputIterator>{*this};
    }
  }

  template <class Row>
  STRATA_HD Kept read(Row row) const {
    return static_cast<Kept>(detail::item_at(in, static_cast<std::size_t>(row)));
  }
  template <class Row>
  STRATA_HD static Stored state_of(const Kept& kept) {
    return static_cast<Stored>(static_cast<Accum>(kept));
  }
  template <class State>
  STRATA_HD State combine(const State& a, const State& b) const {
    return static_cast<State>(a + b);
  }
  template <class State>
  STRATA_HD void store(std::size_t group, const State& sum) const {
    *detail::advanced(out, group) = static_cast<output_value_t<OutputIterator, Accum>>(static_cast<Accum>(sum));
  }
  template <class Row>
  STRATA_D static state<Row> identity() {
    return 0;
  }
  template <class State>
  STRATA_D static void add(State* to, const State& value) {
    detail::add_in_shared(to, value);
  }
  template <class State>
  STRATA_D static void add_in_memory(State* to, const State& value) {
    detail::add_in_memory(to, value);
  }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned stride, unsigned at) {
    group_column<Stored>::set_sum(column, stride, at, 0);
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned stride, unsigned at, const Stored& value) {
    group_column<Stored>::add(column, stride, at, value);
  }
  template <class Row>
  STRATA_D static Stored state_at(const void* column, unsigned stride, unsigned at) {
    return group_column<Stored>::sum(column, stride, at);
  }
};

/// The number of rows.
template <class OutputIterator>
struct group_count_aggregate {
  static constexpr bool is_unordered = true;
  static constexpr bool has_item = false;
  template <class Row>
  using state = Row;

  OutputIterator out;

  template <class Row>
  STRATA_HD static Row state_of() {
    return 1;
  }
  template <class Row>
  STRATA_HD Row combine(Row a, Row b) const {
    return a + b;
  }
  template <class Row>
  STRATA_HD void store(std::size_t group, Row count) const {
    detail::store_count(detail::advanced(out, group), count);
  }
  template <class Row>
  STRATA_D static Row identity() {
    return 0;
  }
  template <class Row>
  STRATA_D static void add(Row* to, Row value) {
    detail::add_in_shared(to, value);
  }
  template <class Row>
  STRATA_D static void add_in_memory(Row* to, Row value) {
    detail::add_in_memory(to, value);
  }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned stride, unsigned at) {
    group_column<Row>::set_sum(column, stride, at, 0);
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned stride, unsigned at, Row value) {
    group_column<Row>::add(column, stride, at, value);
  }
  template <class Row>
  STRATA_D static Row state_at(const void* column, unsigned stride, unsigned at) {
    return group_column<Row>::sum(column, stride, at);
  }
};

/// Minimum or maximum. States are words in the order of `Min` and `Max`: -0.0 is less than 0.0, and the result is NaN
/// only if all items are NaN.
template <bool IsMax, class InputIterator, class OutputIterator>
struct group_extreme_aggregate {
  using Item = iterator_value_t<InputIterator>;
  static_assert(is_radix_key<Item> && sizeof(Item) <= 8,
                "group_min and group_max take integers, enumerations and floating-point numbers of up to 64 bits: "
                "use group_reduce with an operator for other types");
  using Word = typename RadixTraits<Item>::word;
  using Order = radix_bit_order<Item, Word>;
  static constexpr bool is_unordered = true;
  static constexpr bool has_item = true;
  static constexpr bool keeps_items = true;
  template <class Row>
  using item = Item;
  template <class Row>
  using state = word_of_t<Word>;

  InputIterator in;
  OutputIterator out;

  template <class Row>
  STRATA_HD Item read(Row row) const {
    return detail::item_at(in, static_cast<std::size_t>(row));
  }
  template <class Row>
  STRATA_HD static state<Row> state_of(const Item& kept) {
    Word bits;
    std::memcpy(&bits, &kept, sizeof(Item));
    if constexpr (radix_mantissa_bits<Item> != 0) {
      const bool is_nan = static_cast<Word>(bits & static_cast<Word>(~Order::sign)) > radix_greatest_magnitude<Item>;
      if (is_nan) return static_cast<Word>(IsMax ? Word{0} : static_cast<Word>(~Word{0}));
    }
    return static_cast<Word>(bits ^ Order::flipped(bits));
  }
  template <class State>
  STRATA_HD State combine(State a, State b) const {
    return (IsMax ? a < b : b < a) ? b : a;
  }
  template <class State>
  STRATA_HD void store(std::size_t group, State extreme) const {
    const auto word = static_cast<Word>(extreme);
    const auto bits = static_cast<Word>(word ^ Order::flipped_back(word));
    Item result;
    std::memcpy(static_cast<void*>(&result), &bits, sizeof(Item));
    *detail::advanced(out, group) = static_cast<output_value_t<OutputIterator, Item>>(result);
  }
  template <class Row>
  STRATA_D static state<Row> identity() {
    return IsMax ? state<Row>{0} : static_cast<state<Row>>(~state<Row>{0});
  }
  template <class State>
  STRATA_D static void add(State* to, State value) {
    detail::extreme_in_shared<IsMax>(to, value);
  }
  template <class State>
  STRATA_D static void add_in_memory(State* to, State value) {
    detail::extreme_in_memory<IsMax>(to, value);
  }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned, unsigned at) {
    static_cast<state<Row>*>(column)[at] = identity<Row>();
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned, unsigned at, state<Row> value) {
    detail::extreme_in_shared<IsMax>(static_cast<state<Row>*>(column) + at, value);
  }
  template <class Row>
  STRATA_D static state<Row> state_at(const void* column, unsigned, unsigned at) {
    return static_cast<const state<Row>*>(column)[at];
  }
};

/// The sum and the number of items.
template <class Sum, class Row>
struct group_mean_state {
  Sum sum;
  Row count;
};

/// Arithmetic mean. Integers of up to 64 bits are added in 64 bits, all other numbers in double, and the division is in
/// double.
template <class InputIterator, class OutputIterator>
struct group_mean_aggregate {
  using Item = iterator_value_t<InputIterator>;
  static constexpr bool is_unordered = is_group_word<Item>;
  using Accum = std::conditional_t<is_unordered,
                                   std::conditional_t<std::is_signed_v<Item>, long long, unsigned long long>, double>;
  using Stored = std::conditional_t<is_unordered, unsigned long long, double>;
  static constexpr bool has_item = true;
  static constexpr bool keeps_items = true;
  template <class Row>
  using item = Item;
  // A state has two words of 8 bytes, so that there is no padding.
  template <class Row>
  using state = group_mean_state<Stored, unsigned long long>;

  InputIterator in;
  OutputIterator out;

  /// Returns this mean with rows added in any order: see group_sum_aggregate.
  auto unordered() const {
    if constexpr (is_unordered) {
      return *this;
    } else {
      return group_unordered_mean_aggregate<InputIterator, OutputIterator>{*this};
    }
  }

  template <class Row>
  STRATA_HD Item read(Row row) const {
    return detail::item_at(in, static_cast<std::size_t>(row));
  }
  template <class Row>
  STRATA_HD static state<Row> state_of(const Item& kept) {
    return {static_cast<Stored>(static_cast<Accum>(kept)), 1};
  }
  template <class State>
  STRATA_HD State combine(const State& a, const State& b) const {
    return {a.sum + b.sum, a.count + b.count};
  }
  template <class State>
  STRATA_HD void store(std::size_t group, const State& all) const {
    const double mean = static_cast<double>(static_cast<Accum>(all.sum)) / static_cast<double>(all.count);
    *detail::advanced(out, group) = static_cast<output_value_t<OutputIterator, double>>(mean);
  }
  template <class Row>
  STRATA_D static state<Row> identity() {
    return {0, 0};
  }
  template <class State>
  STRATA_D static void add(State* to, const State& value) {
    detail::add_in_shared(&to->sum, value.sum);
    detail::add_in_shared(&to->count, value.count);
  }
  template <class State>
  STRATA_D static void add_in_memory(State* to, const State& value) {
    detail::add_in_memory(&to->sum, value.sum);
    detail::add_in_memory(&to->count, value.count);
  }
  using Column = group_column<unsigned long long>;
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned stride, unsigned at) {
    Column::set_sum(column, stride, at, 0);
    Column::set_sum(counts_of(column, stride), stride, at, 0);
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned stride, unsigned at, const state<Row>& value) {
    Column::add(column, stride, at, value.sum);
    Column::add(counts_of(column, stride), stride, at, value.count);
  }
  template <class Row>
  STRATA_D static state<Row> state_at(const void* column, unsigned stride, unsigned at) {
    const auto* const counts = static_cast<const unsigned long long*>(column) + stride;
    return {Column::sum(column, stride, at), Column::sum(counts, stride, at)};
  }

 protected:
  STRATA_D static void* counts_of(void* column, unsigned stride) {
    return static_cast<unsigned long long*>(column) + stride;
  }
};

/// Sums of floating-point numbers in any order begin with -0.0, because -0.0 + x has the bits of x.
template <class T>
struct group_unordered_column {
  static constexpr T zero = static_cast<T>(-0.0);
  STRATA_D static void set(void* column, unsigned at) { static_cast<T*>(column)[at] = zero; }
  STRATA_D static void add(void* column, unsigned at, T value) { atomicAdd(static_cast<T*>(column) + at, value); }
  STRATA_D static T sum(const void* column, unsigned at) { return static_cast<const T*>(column)[at]; }
};

/// Sums of floating-point numbers in any order.
template <class InputIterator, class OutputIterator>
struct group_unordered_sum_aggregate : group_sum_aggregate<InputIterator, OutputIterator> {
  using Accum = typename group_sum_aggregate<InputIterator, OutputIterator>::Accum;
  static_assert(std::is_same_v<Accum, float> || std::is_same_v<Accum, double>,
                "group_sum: unordered() adds numbers in float or double: give the sums an output of float or double");
  static constexpr bool is_unordered = true;
  static constexpr bool may_change_results = true;
  using Column = group_unordered_column<Accum>;

  template <class Row>
  STRATA_D static Accum identity() {
    return Column::zero;
  }
  STRATA_D static void add(Accum* to, Accum value) { atomicAdd(to, value); }
  STRATA_D static void add_in_memory(Accum* to, Accum value) { atomicAdd(to, value); }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned, unsigned at) {
    Column::set(column, at);
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned, unsigned at, Accum value) {
    Column::add(column, at, value);
  }
  template <class Row>
  STRATA_D static Accum state_at(const void* column, unsigned, unsigned at) {
    return Column::sum(column, at);
  }
};

/// Means of floating-point numbers, which are added in any order.
template <class InputIterator, class OutputIterator>
struct group_unordered_mean_aggregate : group_mean_aggregate<InputIterator, OutputIterator> {
  using Mean = group_mean_aggregate<InputIterator, OutputIterator>;
  static constexpr bool is_unordered = true;
  static constexpr bool may_change_results = true;
  using Sums = group_unordered_column<double>;
  using Counts = typename Mean::Column;

  template <class Row>
  STRATA_D static typename Mean::template state<Row> identity() {
    return {Sums::zero, 0};
  }
  template <class State>
  STRATA_D static void add(State* to, const State& value) {
    atomicAdd(&to->sum, value.sum);
    detail::add_in_shared(&to->count, value.count);
  }
  template <class State>
  STRATA_D static void add_in_memory(State* to, const State& value) {
    atomicAdd(&to->sum, value.sum);
    detail::add_in_memory(&to->count, value.count);
  }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned stride, unsigned at) {
    Sums::set(column, at);
    Counts::set_sum(Mean::counts_of(column, stride), stride, at, 0);
  }
  template <class Row, class State>
  STRATA_D static void add_at(void* column, unsigned stride, unsigned at, const State& value) {
    Sums::add(column, at, value.sum);
    Counts::add(Mean::counts_of(column, stride), stride, at, value.count);
  }
  template <class Row>
  STRATA_D static typename Mean::template state<Row> state_at(const void* column, unsigned stride, unsigned at) {
    const auto* const counts = static_cast<const unsigned long long*>(column) + stride;
    return {Sums::sum(column, at), Counts::sum(counts, stride, at)};
  }
};

/// The item of the first row of each group. The state is the number of that row.
template <class InputIterator, class OutputIterator>
struct group_first_aggregate {
  static constexpr bool is_unordered = true;
  static constexpr bool has_item = true;
  template <class Row>
  using item = Row;
  static constexpr bool keeps_items = false;
  template <class Row>
  using state = Row;

  InputIterator in;
  OutputIterator out;

  template <class Row>
  STRATA_HD Row read(Row row) const {
    return row;
  }
  template <class Row>
  STRATA_HD static Row state_of(Row row) {
    return row;
  }
  template <class Row>
  STRATA_HD Row combine(Row a, Row b) const {
    return detail::least(a, b);
  }
  template <class Row>
  STRATA_HD void store(std::size_t group, Row row) const {
    using Item = iterator_value_t<InputIterator>;
    *detail::advanced(out, group) =
        static_cast<output_value_t<OutputIterator, Item>>(detail::item_at(in, static_cast<std::size_t>(row)));
  }
  template <class Row>
  STRATA_D static Row identity() {
    return static_cast<Row>(~Row{0});
  }
  template <class Row>
  STRATA_D static void add(Row* to, Row value) {
    detail::extreme_in_shared<false>(to, value);
  }
  template <class Row>
  STRATA_D static void add_in_memory(Row* to, Row value) {
    detail::extreme_in_memory<false>(to, value);
  }
  template <class Row>
  STRATA_D static void set_at(void* column, unsigned, unsigned at) {
    static_cast<Row*>(column)[at] = identity<Row>();
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned, unsigned at, Row value) {
    detail::extreme_in_shared<false>(static_cast<Row*>(column) + at, value);
  }
  template <class Row>
  STRATA_D static Row state_at(const void* column, unsigned, unsigned at) {
    return static_cast<const Row*>(column)[at];
  }
};

/// The item of any row of each group. The state is the number of the row that is added first, so it is written once.
template <class InputIterator, class OutputIterator>
struct group_any_aggregate : group_first_aggregate<InputIterator, OutputIterator> {
  static constexpr bool may_change_results = true;
  using First = group_first_aggregate<InputIterator, OutputIterator>;

  template <class Row>
  STRATA_D static void add(Row* to, Row value) {
    detail::set_once_in_shared(to, First::template identity<Row>(), value);
  }
  template <class Row>
  STRATA_D static void add_in_memory(Row* to, Row value) {
    detail::set_once_in_memory(to, First::template identity<Row>(), value);
  }
  template <class Row>
  STRATA_D static void add_at(void* column, unsigned, unsigned at, Row value) {
    detail::set_once_in_shared(static_cast<Row*>(column) + at, First::template identity<Row>(), value);
  }
};

/// The reduction of the items of each group by an operator, in the order of the rows, with an initial value.
template <class InputIterator, class OutputIterator, class ReductionOp, class T>
struct group_reduce_aggregate {
  using Item = iterator_value_t<InputIterator>;
  using Accum = accumulator_t<ReductionOp, T, Item>;
  static_assert(std::is_trivially_copyable_v<Accum>,
                "group_reduce: the result of the operator must be trivially copyable, because it is kept in "
                "temporary storage: return another type");
  static constexpr bool is_unordered = false;
  static constexpr bool has_item = true;
  template <class Row>
  using item = Accum;
  template <class Row>
  using state = Accum;

  InputIterator in;
  OutputIterator out;
  mutable ReductionOp op;
  T init;

  template <class Row>
  STRATA_HD Accum read(Row row) const {
    return static_cast<Accum>(detail::item_at(in, static_cast<std::size_t>(row)));
  }
  template <class Row>
  STRATA_HD static Accum state_of(const Accum& kept) {
    return kept;
  }
  STRATA_HD Accum combine(const Accum& a, const Accum& b) const { return static_cast<Accum>(op(a, b)); }
  STRATA_HD void store(std::size_t group, const Accum& result) const {
    *detail::advanced(out, group) =
        static_cast<output_value_t<OutputIterator, Accum>>(static_cast<Accum>(op(static_cast<Accum>(init), result)));
  }
};

// ------------------------------------------------------------------ the aggregates of a call

/// A list: the states of all aggregates of a call. The items that the aggregates read are such a list, too.
template <class... States>
struct group_states {};
template <class First>
struct group_states<First> {
  First first;
};
template <class First, class Second, class... Rest>
struct group_states<First, Second, Rest...> {
  First first;
  group_states<Second, Rest...> rest;
};

template <class First, class States>
struct group_states_with;
template <class First, class... Rest>
struct group_states_with<First, group_states<Rest...>> {
  using type = group_states<First, Rest...>;
};

/// The list of items: one for each aggregate that reads an item.
template <class Row, class... Aggregates>
struct group_item_list {
  using type = group_states<>;
};
template <class Row, class Aggregate, bool HasItem = Aggregate::has_item>
struct group_item {
  template <class Rest>
  using with = typename group_states_with<typename Aggregate::template item<Row>, Rest>::type;
};
template <class Row, class Aggregate>
struct group_item<Row, Aggregate, false> {
  template <class Rest>
  using with = Rest;
};
template <class Row, class First, class... Rest>
struct group_item_list<Row, First, Rest...> {
  using type = typename group_item<Row, First>::template with<typename group_item_list<Row, Rest...>::type>;
};

/// The arrays of a call with the names of their arguments, for checks.
struct group_arrays {
  argument_bytes* outputs;
  argument_bytes* inputs;
};

/// Rows that a thread reads at a time.
inline constexpr int group_pack_rows = 4;

/// True for arrays whose items are read `group_pack_rows` at a time, by one or two accesses.
template <class Iterator>
inline constexpr bool is_group_pack_array = is_bulk_array<Iterator> && sizeof(iterator_value_t<Iterator>) <= 8;

template <class Aggregate, class = void>
inline constexpr bool has_group_pack = false;
template <class Aggregate>
inline constexpr bool has_group_pack<Aggregate, std::enable_if_t<Aggregate::keeps_items>> =
    is_group_pack_array<decltype(std::declval<const Aggregate&>().in)>;

/// Loads neighbouring items from an aligned address.
template <class T, class Item>
STRATA_D void load_group_pack(const T* from, Item (&items)[group_pack_rows]) {
  constexpr int width = sizeof(T) <= 4 ? group_pack_rows : group_pack_rows / 2;
  STRATA_UNROLL
  for (int first = 0; first < group_pack_rows; first += width) {
    item_vector<T, width> vector;
    vector.load(from + first);
    T part[width];
    vector.get(part);
    STRATA_UNROLL
    for (int i = 0; i < width; ++i) items[first + i] = part[i];
  }
}
template <class T>
bool is_group_pack_aligned(const T* items) {
  return reinterpret_cast<std::uintptr_t>(items) % least<std::size_t>(vector_bytes, sizeof(T) * group_pack_rows) == 0;
}

/// `shares_group_item` is true for aggregates that use the item of an earlier aggregate, and `takes_group_sum` for
/// aggregates that use the sum of an earlier one: see shared_items.cuh.
template <class Aggregate, class = void>
inline constexpr bool shares_group_item = false;
template <class Aggregate>
inline constexpr bool shares_group_item<Aggregate, std::enable_if_t<Aggregate::shares_item>> = true;
template <class Aggregate, class = void>
inline constexpr bool takes_group_sum = false;
template <class Aggregate>
inline constexpr bool takes_group_sum<Aggregate, std::enable_if_t<Aggregate::takes_sum>> = true;

template <class Aggregate, class = void>
inline constexpr bool has_group_input = false;
template <class Aggregate>
inline constexpr bool has_group_input<Aggregate, std::void_t<decltype(std::declval<Aggregate&>().in)>> = true;

}  // namespace detail

/// The aggregates that one call of DeviceGroupBy computes. `group_aggregates` makes this object.
template <class... Aggregates>
struct GroupAggregates;

template <>
struct GroupAggregates<> {
  static constexpr bool are_unordered = true;
  static constexpr bool have_items = false;
  static constexpr bool may_change_results = false;
  static constexpr std::size_t size = 0;
};

template <class First, class... Rest>
struct GroupAggregates<First, Rest...> {
  static constexpr std::size_t size = 1 + sizeof...(Rest);
  static constexpr bool are_unordered = First::is_unordered && GroupAggregates<Rest...>::are_unordered;
  static constexpr bool have_items = First::has_item || GroupAggregates<Rest...>::have_items;
  /// True if an aggregate may change from run to run: `group_any`, or a sum or mean that is `unordered()`.
  static constexpr bool may_change_results =
      detail::may_change_results<First> || GroupAggregates<Rest...>::may_change_results;
  template <class Row>
  using items_type = typename detail::group_item_list<Row, First, Rest...>::type;
  template <class Row>
  using states_type = detail::group_states<typename First::template state<Row>, typename Rest::template state<Row>...>;

  First first;
  GroupAggregates<Rest...> rest;

  /// Reads what the aggregates need of a row.
  template <class Row, class Items>
  STRATA_HD void read([[maybe_unused]] Row row, [[maybe_unused]] Items& items) const {
    if constexpr (First::has_item) {
      items.first = first.read(row);
      if constexpr (GroupAggregates<Rest...>::have_items) rest.read(row, items.rest);
    } else if constexpr (GroupAggregates<Rest...>::have_items) {
      rest.read(row, items);
    }
  }
  /// Makes the states of one row from its items.
  template <class Row, class Items, class States>
  STRATA_HD static void make_states(const Items& items, States& states) {
    make_states_sharing<Row>(items, items, states);
  }
  /// Makes the states of the last aggregates of a call. `items` has their items, `all_items` the items of all
  /// aggregates.
  template <class Row, class Items, class AllItems, class States>
  STRATA_HD static void make_states_sharing([[maybe_unused]] const Items& items,
                                            [[maybe_unused]] const AllItems& all_items, States& states) {
    if constexpr (detail::shares_group_item<First>) {
      states.first = First::template state_of<Row>(all_items.first);
    } else if constexpr (First::has_item) {
      states.first = First::template state_of<Row>(items.first);
    } else {
      states.first = First::template state_of<Row>();
    }
    if constexpr (size > 1) {
      using Others = GroupAggregates<Rest...>;
      if constexpr (First::has_item && Others::have_items) {
        Others::template make_states_sharing<Row>(items.rest, all_items, states.rest);
      } else {
        Others::template make_states_sharing<Row>(items, all_items, states.rest);
      }
    }
  }
  /// Combines the states `a` of earlier rows with the states `b` of later rows. The result is in `a`.
  template <class States>
  STRATA_HD void combine(States& a, const States& b) const {
    a.first = first.combine(a.first, b.first);
    if constexpr (size > 1) rest.combine(a.rest, b.rest);
  }
  template <class States>
  STRATA_HD void store(std::size_t group, const States& states) const {
    store_with_sum(group, states, NullType{});
  }
  /// Stores the results of the last aggregates of a call. `sum` is the state of the first aggregate before them that
  /// has an item.
  template <class States, class Sum>
  STRATA_HD void store_with_sum(std::size_t group, const States& states, [[maybe_unused]] const Sum& sum) const {
    if constexpr (detail::takes_group_sum<First>) {
      first.store_with_sum(group, states.first, sum);
    } else {
      first.store(group, states.first);
    }
    if constexpr (size > 1) {
      if constexpr (First::has_item && std::is_same_v<Sum, NullType>) {
        rest.store_with_sum(group, states.rest, states.first);
      } else {
        rest.store_with_sum(group, states.rest, sum);
      }
    }
  }
  template <class Row, class States>
  STRATA_D static void set_identity(States& states) {
    states.first = First::template identity<Row>();
    if constexpr (size > 1) GroupAggregates<Rest...>::template set_identity<Row>(states.rest);
  }
  /// Combines the states in shared memory that `to` points to with `states`.
  template <class States>
  STRATA_D static void add(States* to, const States& states) {
    First::add(&to->first, states.first);
    if constexpr (size > 1) GroupAggregates<Rest...>::add(&to->rest, states.rest);
  }

  /// Combines the states in device memory that `to` points to with `states`.
  template <class States>
  STRATA_D static void add_in_memory(States* to, const States& states) {
    First::add_in_memory(&to->first, states.first);
    if constexpr (size > 1) GroupAggregates<Rest...>::add_in_memory(&to->rest, states.rest);
  }

  /// Sets a state of each aggregate to the identity. States in shared memory lie in columns: `stride` states of the
  /// first aggregate, then `stride` states of the next.
  template <class Row>
  STRATA_D static void set_at(unsigned char* columns, unsigned stride, unsigned at) {
    First::template set_at<Row>(columns, stride, at);
    if constexpr (size > 1)
      GroupAggregates<Rest...>::template set_at<Row>(after_first<Row>(columns, stride), stride, at);
  }
  template <class Row, class States>
  STRATA_D static void add_at(unsigned char* columns, unsigned stride, unsigned at, const States& states) {
    First::template add_at<Row>(columns, stride, at, states.first);
    if constexpr (size > 1) {
      GroupAggregates<Rest...>::template add_at<Row>(after_first<Row>(columns, stride), stride, at, states.rest);
    }
  }
  template <class Row, class States>
  STRATA_D static void get_at(unsigned char* columns, unsigned stride, unsigned at, States& states) {
    states.first = First::template state_at<Row>(columns, stride, at);
    if constexpr (size > 1) {
      GroupAggregates<Rest...>::template get_at<Row>(after_first<Row>(columns, stride), stride, at, states.rest);
    }
  }
  template <class Row>
  STRATA_D static unsigned char* after_first(unsigned char* columns, unsigned stride) {
    return columns + stride * static_cast<unsigned>(sizeof(typename First::template state<Row>));
  }

  /// Reads the items of the rows `row` to `row` + 3. Row `row` is at an aligned address in all arrays. The items of row
  /// k go to `items_of(k)`.
  template <class Row, class ItemsOf>
  STRATA_D void read_pack([[maybe_unused]] Row row, [[maybe_unused]] const ItemsOf& items_of) const {
    if constexpr (First::has_item) {
      typename First::template item<Row> pack[detail::group_pack_rows];
      if constexpr (detail::has_group_pack<First>) {
        detail::load_group_pack(first.in + static_cast<std::size_t>(row), pack);
      } else {
        STRATA_UNROLL
        for (int k = 0; k < detail::group_pack_rows; ++k)
          pack[k] = first.read(static_cast<Row>(row + static_cast<Row>(k)));
      }
      STRATA_UNROLL
      for (int k = 0; k < detail::group_pack_rows; ++k) items_of(k).first = pack[k];
      if constexpr (GroupAggregates<Rest...>::have_items) {
        rest.read_pack(
            row, [&](int k) -> auto& { return items_of(k).rest; });
      }
    } else if constexpr (GroupAggregates<Rest...>::have_items) {
      rest.read_pack(row, items_of);
    }
  }
  /// True if read_pack may read vectors of all inputs.
  bool has_aligned_packs() const {
    if constexpr (detail::has_group_pack<First>) {
      if (!detail::is_group_pack_aligned(first.in)) return false;
    }
    if constexpr (size > 1) return rest.has_aligned_packs();
    return true;
  }

  bool can_reach(std::size_t rows) const {
    if constexpr (detail::has_group_input<First>) {
      if (detail::refuses_reach(first.in, rows, "d_in")) return false;
    }
    if constexpr (size > 1) return rest.can_reach(rows);
    return true;
  }
  bool has_null(std::size_t rows, std::size_t groups) const {
    if constexpr (detail::has_group_input<First>) {
      if (rows > 0 && detail::refuses_null(first.in, "d_in")) return true;
    }
    if (groups > 0 && detail::refuses_null(first.out, "d_out")) return true;
    if constexpr (size > 1) return rest.has_null(rows, groups);
    return false;
  }
  void list_arrays(std::size_t rows, std::size_t groups, detail::group_arrays arrays) const {
    *arrays.outputs = detail::bytes_of(first.out, groups, "d_out");
    *arrays.inputs = {{}, "d_in"};
    if constexpr (detail::has_group_input<First>) *arrays.inputs = detail::bytes_of(first.in, rows, "d_in");
    if constexpr (size > 1) rest.list_arrays(rows, groups, {arrays.outputs + 1, arrays.inputs + 1});
  }
};

/// All aggregates of one call, which reads the keys once for all of them.
template <class First, class... Rest>
GroupAggregates<First, Rest...> group_aggregates(First first, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return {first, {}};
  } else {
    return {first, strata::group_aggregates(rest...)};
  }
}

/// `d_out[g]` is the sum of `d_in[i]` over the rows i of group g. Sums are computed in the type of
/// `d_out[0] + d_in[0]`, as by DeviceReduce::Sum: with an output of 64 bits, sums have 64 bits.
///
/// Floating-point numbers, integers of 128 bits and items of class types are added in the order of the rows, so the
/// call sorts the rows. `group_sum(...).unordered()` adds them in any order, in tables, and computes sums in float or
/// double. The last bits of a sum may then differ from run to run.
template <class InputIterator, class OutputIterator>
auto group_sum(InputIterator d_in, OutputIterator d_out) {
  return detail::group_sum_aggregate<InputIterator, OutputIterator>{d_in, d_out};
}

/// `d_out[g]` is the number of rows of group g.
template <class OutputIterator>
auto group_count(OutputIterator d_out) {
  return detail::group_count_aggregate<OutputIterator>{d_out};
}

/// `d_out[g]` is the minimum of `d_in[i]` over the rows i of group g, as by `Min`: it is NaN only if all items are NaN.
template <class InputIterator, class OutputIterator>
auto group_min(InputIterator d_in, OutputIterator d_out) {
  return detail::group_extreme_aggregate<false, InputIterator, OutputIterator>{d_in, d_out};
}

/// `d_out[g]` is the maximum of `d_in[i]` over the rows i of group g, as by `Max`: it is NaN only if all items are NaN.
template <class InputIterator, class OutputIterator>
auto group_max(InputIterator d_in, OutputIterator d_out) {
  return detail::group_extreme_aggregate<true, InputIterator, OutputIterator>{d_in, d_out};
}

/// `d_out[g]` is the arithmetic mean of `d_in[i]` over the rows i of group g. Integers of up to 64 bits are added in 64
/// bits, all other numbers in double, and the division is in double. `group_mean(...).unordered()` adds floating-point
/// numbers in any order, as `group_sum(...).unordered()` does.
template <class InputIterator, class OutputIterator>
auto group_mean(InputIterator d_in, OutputIterator d_out) {
  return detail::group_mean_aggregate<InputIterator, OutputIterator>{d_in, d_out};
}

/// `d_out[g]` is `d_in[i]` of the first row i of group g. Items may have any type.
template <class InputIterator, class OutputIterator>
auto group_first(InputIterator d_in, OutputIterator d_out) {
  return detail::group_first_aggregate<InputIterator, OutputIterator>{d_in, d_out};
}

/// `d_out[g]` is `d_in[i]` of any row i of group g. The next call may take another row. This aggregate costs less than
/// `group_first`. It is for items that all rows of a group share, such as the name that belongs to a number. Items may
/// have any type.
template <class InputIterator, class OutputIterator>
auto group_any(InputIterator d_in, OutputIterator d_out) {
  return detail::group_any_aggregate<InputIterator, OutputIterator>{{d_in, d_out}};
}

/// `d_out[g]` is `reduction_op(init, x)`, where x is the reduction of `d_in[i]` over the rows i of group g, in the
/// order of the rows. The operator must be associative. For sums, minima and maxima of integers, the functions above
/// are faster.
template <class InputIterator, class OutputIterator, class ReductionOp, class T>
auto group_reduce(InputIterator d_in, OutputIterator d_out, ReductionOp reduction_op, T init) {
  return detail::group_reduce_aggregate<InputIterator, OutputIterator, ReductionOp, T>{d_in, d_out, reduction_op, init};
}

STRATA_NAMESPACE_END
