// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What all iterators have in common: member types, how they move, compare and access items.
#include <strata/core/launcher.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/iterator/constant_input_iterator.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace iterator_operators_test {

using strata_test::device_vector;
using strata_test::words;

template <class Iterator, class Value, class Reference, class Difference = std::ptrdiff_t>
constexpr bool has_traits = std::is_same_v<typename std::iterator_traits<Iterator>::value_type, Value>&&
    std::is_same_v<typename std::iterator_traits<Iterator>::reference, Reference>&&
        std::is_same_v<typename std::iterator_traits<Iterator>::difference_type, Difference>&& std::is_same_v<
            typename std::iterator_traits<Iterator>::pointer, std::conditional_t<std::is_void_v<Value>, void, Value*>>&&
            std::is_same_v<typename std::iterator_traits<Iterator>::iterator_category, std::random_access_iterator_tag>;

struct negate {
  STRATA_HD double operator()(int x) const { return -static_cast<double>(x); }
};

// Member types, and the template parameters of CUB's iterators.
static_assert(
    has_traits<strata::ArgIndexInputIterator<const double*>, strata::KeyValuePair<std::ptrdiff_t, double>,
               strata::KeyValuePair<std::ptrdiff_t, double>> &&
    has_traits<strata::ArgIndexInputIterator<const double*, int, float>, strata::KeyValuePair<int, float>,
               strata::KeyValuePair<int, float>, int> &&
    has_traits<strata::CacheModifiedInputIterator<strata::LOAD_LDG, int>, int, int> &&
    has_traits<strata::CacheModifiedInputIterator<strata::LOAD_CS, int, unsigned>, int, int, unsigned> &&
    has_traits<strata::CacheModifiedOutputIterator<strata::STORE_WT, int>, void,
               decltype(*strata::CacheModifiedOutputIterator<strata::STORE_WT, int>(nullptr))> &&
    has_traits<strata::CountingInputIterator<int>, int, int> &&
    has_traits<strata::CountingInputIterator<std::uint8_t, int>, std::uint8_t, std::uint8_t, int> &&
    has_traits<strata::ConstantInputIterator<double>, double, double> &&
    has_traits<strata::ConstantInputIterator<double, long long>, double, double, long long> &&
    has_traits<strata::TransformInputIterator<float, negate, const int*>, float, float> &&
    has_traits<strata::TransformInputIterator<float, negate, const int*, int>, float, float, int> &&
    has_traits<strata::DiscardOutputIterator<>, void, decltype(*strata::DiscardOutputIterator<>())> &&
    has_traits<strata::DiscardOutputIterator<int>, void, decltype(*strata::DiscardOutputIterator<int>()), int>);

// An iterator is as large as its members, so that it takes little space among the parameters of a kernel.
static_assert(sizeof(strata::CountingInputIterator<int>) == 4 && sizeof(strata::DiscardOutputIterator<int>) == 4 &&
              sizeof(strata::CacheModifiedInputIterator<strata::LOAD_CS, double>) == sizeof(void*) &&
              std::is_trivially_copyable_v<strata::ArgIndexInputIterator<const int*>> &&
              std::is_trivially_copyable_v<strata::TransformInputIterator<float, negate, const int*>>);

// ---------------------------------------------------------------------------- inputs
constexpr int items = 10;

template <class T>
struct counted {
  using value = T;
  static constexpr bool needs_memory = false;
  static strata::CountingInputIterator<T> make(const int*) { return strata::CountingInputIterator<T>(T{100}); }
  static T expected(int i) { return static_cast<T>(100 + i); }
};
struct constant {
  using value = words<3>;
  static strata::ConstantInputIterator<value> make(const int*) { return {value{{1, 2, 3}}}; }
  static value expected(int) { return {{1, 2, 3}}; }
};
struct transformed {
  using value = double;
  static strata::TransformInputIterator<double, negate, const int*> make(const int* in) { return {in, negate{}}; }
  static value expected(int i) { return -(i * i); }
};
// Covers a conversion to ValueType, an iterator as input, and a narrow OffsetT.
struct transformed_twice {
  using value = short;
  using inner = strata::CountingInputIterator<int>;
  static strata::TransformInputIterator<short, negate, inner, int> make(const int*) { return {inner(5), negate{}}; }
  static value expected(int i) { return static_cast<short>(-5 - i); }
};
struct with_index {
  using value = strata::KeyValuePair<std::ptrdiff_t, int>;
  static strata::ArgIndexInputIterator<const int*> make(const int* in) { return {in}; }
  static value expected(int i) { return {i, i * i}; }
};
// Covers an offset, a narrow OffsetT, a conversion to OutputValueT, and an iterator as input.
struct with_index_from_three {
  using value = strata::KeyValuePair<int, double>;
  using inner = strata::CacheModifiedInputIterator<strata::LOAD_CG, int>;
  static strata::ArgIndexInputIterator<inner, int, double> make(const int* in) { return {in - 3, 3}; }
  static value expected(int i) { return {3 + i, static_cast<double>(i * i)}; }
};
template <strata::CacheLoadModifier Modifier, class OffsetT = std::ptrdiff_t>
struct cached {
  using value = int;
  static strata::CacheModifiedInputIterator<Modifier, int, OffsetT> make(const int* in) { return in; }
  static value expected(int i) { return i * i; }
};

// 5 values that each way of access and move gives, all those at index 5, and answers of comparisons.
template <class Iterator, class Value>
STRATA_KERNEL void use_input(Iterator begin, Value* values, int* answers) {
  const Iterator end = begin + items;
  Iterator at = begin;
  for (; at != end; ++at) *values++ = *at;
  for (int i = 0; i < items; ++i) *values++ = begin[i];
  while (at > begin) *values++ = *--at;
  while (at < end) *values++ = *at++;
  at--;
  *values++ = *at;
  at -= 4u;
  *values++ = *at;
  at += -2ll;
  *values++ = *at;
  *values++ = *(begin + static_cast<std::size_t>(7));
  *values++ = *(7 + begin);
  *values++ = *(end - short{3});
  *values++ = end[-3];
  *values++ = at[-1];

  *answers++ = static_cast<int>(end - begin) == items;
  *answers++ = static_cast<int>(begin - end) == -items;
  *answers++ = begin == end - items && !(begin == end) && begin != end && !(begin != begin + 0);
  *answers++ = begin < end && !(end < begin) && !(begin < begin) && end > begin && !(begin > end);
  *answers++ = begin <= end && begin <= begin && !(end <= begin) && end >= begin && end >= end && !(begin >= end);
  *answers++ = &++at == &at && &--at == &at && &(at += 1) == &at && &(at -= 1) == &at;
}

template <class Case>
class input_iterators : public testing::Test {};
using input_cases =
    testing::Types<counted<int>, counted<std::uint8_t>, counted<std::int64_t>, counted<double>, constant, transformed,
                   transformed_twice, with_index, with_index_from_three, cached<strata::LOAD_DEFAULT>,
                   cached<strata::LOAD_CS>, cached<strata::LOAD_LDG, int>, cached<strata::LOAD_CG, unsigned>>;
TYPED_TEST_SUITE(input_iterators, input_cases);

TYPED_TEST(input_iterators, move_compare_and_read_as_pointers_do) {
  using value = typename TypeParam::value;
  std::vector<int> squares;
  for (int i = 0; i < items; ++i) squares.push_back(i * i);
  const device_vector<int> in(squares);
  std::vector<int> expected;
  for (int i = 0; i < items; ++i) expected.push_back(i);
  for (int i = 0; i < items; ++i) expected.push_back(i);
  for (int i = items; i-- > 0;) expected.push_back(i);
  for (int i = 0; i < items; ++i) expected.push_back(i);
  for (const int i : {9, 5, 3, 7, 7, 7, 7, 2}) expected.push_back(i);

  constexpr int questions = 6;
  device_vector<value> values(expected.size());
  device_vector<int> answers(questions);
  ASSERT_CUDA_SUCCESS(strata::launch({"use_input", 1, 1}, use_input<decltype(TypeParam::make(nullptr)), value>,
                                     TypeParam::make(in.data()), values.data(), answers.data()));
  const std::vector<value> got = values.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(got[i] == TypeParam::expected(expected[i])) << "access " << i << ", of item " << expected[i];
  }
  EXPECT_EQ(answers.to_host(), std::vector<int>(questions, 1));
}

STRATA_KERNEL void read_members(strata::ArgIndexInputIterator<const int*> with_index,
                                strata::CacheModifiedInputIterator<strata::LOAD_CG, words<3>> cached,
                                strata::ConstantInputIterator<words<3>> same, int* out) {
  out[0] = static_cast<int>(with_index->key);
  out[1] = with_index->value;
  out[2] = static_cast<int>(cached->word[1]);
  out[3] = static_cast<int>(same->word[2]);
}

TEST(iterators, arrow_reads_a_member) {
  const device_vector<int> in(std::vector<int>{7, 8, 9});
  const device_vector<words<3>> structs(std::vector<words<3>>{{{4, 5, 6}}});
  device_vector<int> out(4);
  const strata::ArgIndexInputIterator<const int*> with_index(in.data());
  ASSERT_CUDA_SUCCESS(strata::launch({"read_members", 1, 1}, read_members, with_index + 2,
                                     strata::CacheModifiedInputIterator<strata::LOAD_CG, words<3>>(structs.data()),
                                     strata::ConstantInputIterator<words<3>>(words<3>{{1, 2, 3}}), out.data()));
  EXPECT_EQ(out.to_host(), (std::vector<int>{2, 9, 5, 3}));
}

// ---------------------------------------------------------------------------- on the host
TEST(iterators, standard_algorithms_of_the_host_take_them) {
  const strata::CountingInputIterator<int> count(1);
  EXPECT_EQ(std::accumulate(count, count + 100, 0), 5050);
  EXPECT_EQ(*std::lower_bound(count, count + 1000, 77), 77);
  EXPECT_EQ(std::distance(count, count + 12), 12);
  EXPECT_EQ(*std::next(count, 5), 6);

  const std::vector<int> in{3, 1, 4, 1, 5, 9, 2, 6};
  const strata::TransformInputIterator<double, negate, const int*> negated(in.data(), negate{});
  EXPECT_EQ(std::min_element(negated, negated + 8) - negated, 5);
  const strata::ArgIndexInputIterator<const int*> with_index(in.data());
  EXPECT_EQ(std::find(with_index, with_index + 8, strata::KeyValuePair<std::ptrdiff_t, int>(3, 1)) - with_index, 3);
  EXPECT_EQ(with_index[5].key, 5);
  EXPECT_EQ(with_index[5].value, 9);
  const strata::ConstantInputIterator<int> two(2);
  EXPECT_EQ(std::inner_product(in.begin(), in.end(), two, 0), 62);

  const strata::DiscardOutputIterator<> none;
  EXPECT_EQ(std::copy(in.begin(), in.end(), none) - none, 8);
}

TEST(iterators, equality_looks_at_all_that_an_iterator_has) {
  const int in[4] = {};
  using arg_index = strata::ArgIndexInputIterator<const int*>;
  EXPECT_TRUE(arg_index(in, 2) == arg_index(in, 2));
  EXPECT_FALSE(arg_index(in, 2) == arg_index(in, 1));
  EXPECT_FALSE(arg_index(in + 1, 2) == arg_index(in, 2));
  EXPECT_TRUE(arg_index(in + 1, 2) != arg_index(in, 2));
  using constant_int = strata::ConstantInputIterator<int>;
  EXPECT_TRUE(constant_int(7, 2) == constant_int(7) + 2);
  EXPECT_FALSE(constant_int(7, 2) == constant_int(7));
  EXPECT_FALSE(constant_int(8, 2) == constant_int(7, 2));
}

TEST(iterators, normalize_counts_indices_from_here) {
  const std::vector<int> in{3, 1, 4, 1, 5};
  strata::ArgIndexInputIterator<const int*> with_index(in.data());
  with_index += 2;
  with_index.normalize();
  EXPECT_EQ(with_index->key, 0);
  EXPECT_EQ(with_index->value, 4);
  EXPECT_EQ(with_index[2].key, 2);
  EXPECT_EQ(with_index[2].value, 5);
}

TEST(iterators, counting_in_an_unsigned_type_begins_again_with_0) {
  const strata::CountingInputIterator<std::uint8_t> from(std::uint8_t{250});
  EXPECT_EQ(from[5], 255);
  EXPECT_EQ(from[6], 0);
  EXPECT_EQ(*(from + 263), 1);
}

// A distance of 64 bits must not be truncated to the iterator's narrow difference type.
TEST(iterators, narrow_offsets_do_not_cut_distances) {
  const std::ptrdiff_t far = 5'000'000'000;
  char item = 0;
  const strata::CacheModifiedOutputIterator<strata::STORE_CG, char, int> out(&item);
  EXPECT_TRUE((out + far) - far == out);
  EXPECT_FALSE(out + far == out + static_cast<int>(far - (std::ptrdiff_t{1} << 32)));
  const strata::CountingInputIterator<std::int64_t, int> count(0);
  EXPECT_EQ(count[far], far);
}

// ---------------------------------------------------------------------------- outputs
template <class Iterator>
STRATA_KERNEL void write_in_all_ways(Iterator out) {
  *out = 10;
  out[1] = 11;
  Iterator at = out + 2;
  *at++ = 12;
  *at = 13;
  *++at = 14;
  at += 2;
  at[-1] = 15;
  *(1 + at - 1) = 16;
}

TEST(iterators, cache_modified_output_writes_its_items_and_no_others) {
  device_vector<int> out(7);
  device_vector<short> shorts(7);
  ASSERT_CUDA_SUCCESS(strata::launch({"write", 1, 1},
                                     write_in_all_ways<strata::CacheModifiedOutputIterator<strata::STORE_CG, int>>,
                                     strata::CacheModifiedOutputIterator<strata::STORE_CG, int>(out.data())));
  ASSERT_CUDA_SUCCESS(strata::launch({"write", 1, 1},
                                     write_in_all_ways<strata::CacheModifiedOutputIterator<strata::STORE_WT, short>>,
                                     strata::CacheModifiedOutputIterator<strata::STORE_WT, short>(shorts.data())));
  EXPECT_EQ(out.to_host(), (std::vector<int>{10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(shorts.to_host(), (std::vector<short>{10, 11, 12, 13, 14, 15, 16}));
}

STRATA_KERNEL void assign_and_return(strata::CacheModifiedOutputIterator<strata::STORE_CS, int> out, int* value) {
  *value = (*out = 5);
}

TEST(iterators, assignment_to_a_cache_modified_output_gives_the_item) {
  device_vector<int> out(1), value(1);
  ASSERT_CUDA_SUCCESS(strata::launch({"assign", 1, 1}, assign_and_return,
                                     strata::CacheModifiedOutputIterator<strata::STORE_CS, int>(out.data()),
                                     value.data()));
  EXPECT_EQ(out.to_host()[0], 5);
  EXPECT_EQ(value.to_host()[0], 5);
}

TEST(iterators, discard_takes_any_type) {
  ASSERT_CUDA_SUCCESS(strata::launch({"write", 1, 1}, write_in_all_ways<strata::DiscardOutputIterator<>>,
                                     strata::DiscardOutputIterator<>(3)));
  const strata::DiscardOutputIterator<> none;
  *none = words<3>{{1, 2, 3}};
  none[5] = "text";
  EXPECT_EQ((none + 3) - strata::DiscardOutputIterator<>(1), 2);
}

}  // namespace iterator_operators_test
