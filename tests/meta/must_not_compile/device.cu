// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of device/, without sorts and joins, that must not compile. tests/README.md says how this table is read.

// case: adjacent_difference_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_adjacent_difference.cuh>
namespace adjacent_difference_trivially_copyable {
struct number {
  int value = 0;
#if defined(STRATA_CASE_adjacent_difference_trivially_copyable)
  number() = default;
  STRATA_HD number(const number& other) : value(other.value) {}
  STRATA_HD number& operator=(const number& other) {
    value = other.value;
    return *this;
  }
#endif
};

struct minus {
  STRATA_HD number operator()(const number& a, const number&) const { return a; }
};

cudaError_t differences(void* storage, std::size_t& bytes, number* data) {
  return strata::DeviceAdjacentDifference::SubtractLeft(storage, bytes, data, 1000, minus{});
}
}  // namespace adjacent_difference_trivially_copyable

// case: copy_arrays
// expect: DeviceCopy::Copy takes mdspans, or types that have their functions data_handle\(\), mapping\(\) and
#include <strata/device/device_copy.cuh>

#include "support/mdspan_shape.cuh"
namespace copy_arrays {
#if defined(STRATA_CASE_copy_arrays)
using destination = int*;
#else
using destination = strata_test::array_of<int, 2>;
#endif

cudaError_t copy(strata_test::array_of<int, 2> in, destination out) { return strata::DeviceCopy::Copy(in, out); }
}  // namespace copy_arrays

// case: copy_dimensions
// expect: DeviceCopy::Copy: input and output must have the same number of dimensions
#include <strata/device/device_copy.cuh>

#include "support/mdspan_shape.cuh"
namespace copy_dimensions {
#if defined(STRATA_CASE_copy_dimensions)
using destination = strata_test::array_of<int, 3>;
#else
using destination = strata_test::array_of<int, 2>;
#endif

cudaError_t copy(strata_test::array_of<int, 2> in, destination out) { return strata::DeviceCopy::Copy(in, out); }
}  // namespace copy_dimensions

// case: copy_sizes
// expect: the sizes of a batched copy must be integers
#include <strata/device/device_copy.cuh>
namespace copy_sizes {
#if defined(STRATA_CASE_copy_sizes)
using size = float;
#else
using size = short;
#endif

cudaError_t copy(const int** inputs, int** outputs, const size* sizes) {
  return strata::DeviceCopy::Batched(inputs, outputs, sizes, 10);
}
}  // namespace copy_sizes

// case: environment_determinism
// expect first: determinism::gpu_to_gpu holds for DeviceReduce::Sum, Reduce and TransformReduce, for known
// nvcc: too
#include <strata/device/device_scan.cuh>

#include "support/environments.hpp"
namespace environment_determinism {
namespace ex = cuda::strata_test::execution;
#if defined(STRATA_CASE_environment_determinism)
using item = float;
#else
using item = int;
#endif

cudaError_t sums(const item* in, item* out) {
  return strata::DeviceScan::InclusiveSum(in, out, 1000, ex::require(ex::determinism::gpu_to_gpu));
}
}  // namespace environment_determinism

// case: environment_exchange
// expect first: reproducible reductions swap operands: specialise strata::operator_traits if the operator is
#include <strata/device/device_reduce.cuh>

#include "support/environments.hpp"
namespace environment_exchange {
namespace ex = cuda::strata_test::execution;
struct own_sum {
  STRATA_HD float operator()(float a, float b) const { return a + b; }
};
#if defined(STRATA_CASE_environment_exchange)
using operation = own_sum;
#else
using operation = strata::Sum;
#endif

cudaError_t sum(const float* in, float* out) {
  return strata::DeviceReduce::Reduce(in, out, 1000, operation{}, 0.0f, ex::require(ex::determinism::gpu_to_gpu));
}
}  // namespace environment_exchange

// case: environment_memory
// expect first: a memory resource must have allocate\(bytes, stream\) and deallocate\(memory, bytes, stream\), or be a
#include <strata/device/device_reduce.cuh>

#include "support/environments.hpp"
namespace environment_memory {

#if defined(STRATA_CASE_environment_memory)
struct resource {
  void* allocate(std::size_t) { return nullptr; }
  void deallocate(void*, std::size_t, cudaStream_t) {}
};
#else
struct resource {
  void* allocate(std::size_t, cudaStream_t) { return nullptr; }
  void deallocate(void*, std::size_t, cudaStream_t) {}
};
#endif

cudaError_t sum(const int* in, int* out, resource memory) {
  using tag = cuda::strata_test::mr::get_memory_resource_t;
  return strata::DeviceReduce::Sum(in, out, 1000, cuda::strata_test::execution::prop<tag, resource>{{}, memory});
}
}  // namespace environment_memory

// case: environment_not_required
// expect first: a requirement has no effect if it is itself an element of an environment: pass it to
#include <strata/device/device_scan.cuh>

#include "support/environments.hpp"
namespace environment_not_required {
namespace ex = cuda::strata_test::execution;
#if defined(STRATA_CASE_environment_not_required)
const auto required = ex::determinism::run_to_run;
#else
const auto required = ex::require(ex::determinism::run_to_run);
#endif

cudaError_t sums(int* data) { return strata::DeviceScan::InclusiveSum(data, 1000, ex::env(required)); }
}  // namespace environment_not_required

// case: environment_order
// expect first: this result is not sorted: call the function with Sorted or Sort in its name
#include <strata/device/device_top_k.cuh>

#include "support/environments.hpp"
namespace environment_order {
namespace ex = cuda::strata_test::execution;
#if defined(STRATA_CASE_environment_order)
const auto order = ex::output_ordering::stable_sorted;
#else
const auto order = ex::output_ordering::unsorted;
#endif

cudaError_t most(void* storage, std::size_t& bytes, const float* in, float* out) {
  return strata::DeviceTopK::MaxKeys(storage, bytes, in, out, 1000, 10, ex::require(order));
}
}  // namespace environment_order

// case: environment_ties
// expect first: among equal items this call takes the first ones: require tie_break::prefer_smaller_index or
#include <strata/device/device_top_k.cuh>

#include "support/environments.hpp"
namespace environment_ties {
namespace ex = cuda::strata_test::execution;
#if defined(STRATA_CASE_environment_ties)
const auto ties = ex::tie_break::prefer_larger_index;
#else
const auto ties = ex::tie_break::prefer_smaller_index;
#endif

cudaError_t most(const float* in, float* out) {
  return strata::DeviceTopK::MaxKeys(in, out, 1000, 10, ex::require(ties));
}
}  // namespace environment_ties

// case: find_block_threads
// expect: find_tuning::block_threads must be a multiple of 32 and must not exceed max_find_blocks, because a block
// expect: search_tuning: block_threads must be a multiple of 32, at most 1024; searches and searches_per_sample must be
// errors: 4, each kernel asserts the numbers of the row that it uses, and all of them are wrong here
#include <strata/core/operators.hpp>
#include <strata/device/device_find.cuh>
namespace find_block_threads {
#if defined(STRATA_CASE_find_block_threads)
constexpr int threads = 80;
#else
constexpr int threads = 256;
#endif

struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::find_tuning find{threads, 64, 16, 2, 1024, 1024};
    static constexpr strata::search_tuning search{threads, 2, 2, 1024, 1, 2};
  };
  using MaxPolicy = Policy;
};
struct is_odd {
  STRATA_HD bool operator()(int x) const { return x % 2 != 0; }
};

void all(std::size_t& bytes, const int* in, int* out) {
  strata::TunedDeviceFind<hub>::FindIf(nullptr, bytes, in, out, is_odd{}, 10);
  strata::TunedDeviceFind<hub>::LowerBound(nullptr, bytes, in, 10, in, 10, out, strata::Less{});
}
}  // namespace find_block_threads

// case: find_comparator
// expect first: the comparator cannot be called with an item of the range and a value: LowerBound calls it as
#include <strata/device/device_find.cuh>
namespace find_comparator {
struct is_less {
#if defined(STRATA_CASE_find_comparator)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(double a, int b) const { return a < b; }
#endif
};

cudaError_t call(const double* range, const int* values, int* out) {
  return strata::DeviceFind::LowerBound(range, 1000, values, 10, out, is_less{});
}
}  // namespace find_comparator

// case: for_each_extents
// expect: ForEachInExtents takes the extents of an mdspan, or a type with index_type, rank\(\) and extent\(i\)
// expect: ForEachInLayout takes the layout mapping of an mdspan, or a type with extents_type, extents\(\) and
#include <strata/device/device_for.cuh>
namespace for_each_extents {
struct box {
#if !defined(STRATA_CASE_for_each_extents)
  using index_type = int;
#endif
  static constexpr int rank() { return 1; }
  int extent(int) const { return 9; }
};
struct mapping {
  using extents_type = box;
  box extents() const { return {}; }
  int stride(int) const { return 1; }
};
struct nothing {
  STRATA_HD void operator()(int, int) const {}
};

void call() {
  strata::DeviceFor::ForEachInExtents(box{}, nothing{});
  strata::DeviceFor::ForEachInLayout(mapping{}, nothing{});
}
}  // namespace for_each_extents

// case: future_count_type
// expect first: FutureCount reads an integer: d_num_items must be a pointer to an integer of up to 8 bytes
#include <strata/device/device_reduce.cuh>
namespace future_count_type {
#ifdef STRATA_CASE_future_count_type
using number = float;
#else
using number = int;
#endif

cudaError_t sum(const int* in, int* out, const number* num_items) {
  return strata::DeviceReduce::Sum(in, out, strata::FutureCount<number>(num_items, 1000));
}
}  // namespace future_count_type

// case: group_by_keys
// expect: DeviceGroupBy: keys must be integers, enumerations or floating-point numbers. Pass the members of a struct as columns
#include <strata/device/device_group_by.cuh>
namespace group_by_keys {
#ifdef STRATA_CASE_group_by_keys
struct key {
  int a, b;
};
#else
using key = long long;
#endif

auto keys(const key* in) { return strata::group_keys(in, 1000); }
}  // namespace group_by_keys

// case: group_by_columns
// expect: DeviceGroupBy: keys must be integers, enumerations or floating-point numbers. Pass the members of a struct as columns
// expect: group_keys: valid\(\) takes one mask for each column: pass nullptr for a column without nulls
// expect: DeviceGroupBy: group_output takes one output for each column of keys, or one DiscardOutputIterator
// expect: DeviceGroupBy: valid\(\) of group_output takes one output for each column of keys
// errors: 12, a column that is not a number has no ordered word either
#include <strata/device/device_group_by.cuh>
namespace group_by_columns {
#ifdef STRATA_CASE_group_by_columns
struct key {
  int a, b;
};
#define GROUP_BY_TWO_MASKS mask
#define GROUP_BY_TWO_OUTPUTS out, out, out
#define GROUP_BY_TWO_FLAGS flags
#else
using key = int;
#define GROUP_BY_TWO_MASKS mask, nullptr
#define GROUP_BY_TWO_OUTPUTS out, out
#define GROUP_BY_TWO_FLAGS flags, flags
#endif

auto structs(const key* in) { return strata::group_keys(in, in, 1000); }
auto masks(const int* in, const unsigned* mask) { return strata::group_keys(in, in, 1000).valid(GROUP_BY_TWO_MASKS); }
cudaError_t outputs(const int* in, int* out, int* counts, int* number) {
  return strata::DeviceGroupBy::Aggregate(strata::group_keys(in, in, 1000),
                                          strata::group_aggregates(strata::group_count(counts)),
                                          strata::group_output(GROUP_BY_TWO_OUTPUTS, 1000), number);
}
cudaError_t flags(const int* in, int* out, bool* flags, int* counts, int* number) {
  return strata::DeviceGroupBy::Aggregate(strata::group_keys(in, in, 1000),
                                          strata::group_aggregates(strata::group_count(counts)),
                                          strata::group_output(out, out, 1000).valid(GROUP_BY_TWO_FLAGS), number);
}
}  // namespace group_by_columns

// case: group_by_key_range
// expect: group_keys: key_range is for one column of keys: omit it for several columns
// expect: group_keys: key_range is for keys that are integers or enumerations of up to 64 bits: omit it for other keys
#include <strata/device/device_group_by.cuh>
namespace group_by_key_range {
#ifdef STRATA_CASE_group_by_key_range
using key = float;
#define GROUP_BY_RANGE_COLUMNS in, in
#else
using key = int;
#define GROUP_BY_RANGE_COLUMNS in
#endif

auto floats(const key* in) { return strata::group_keys(in, 1000).key_range(key{1}, key{9}); }
auto columns(const int* in) { return strata::group_keys(GROUP_BY_RANGE_COLUMNS, 1000).key_range(1, 9); }
}  // namespace group_by_key_range

// case: group_by_in_any_order
// expect first: this result may change from run to run: pass OrderedJoinOptions, or groups that are sorted
#include <strata/device/device_group_by.cuh>

#include "support/environments.hpp"
namespace group_by_in_any_order {
cudaError_t count(const int* keys, int* out, int* counts, int* num_groups) {
  const auto aggregates = strata::group_aggregates(strata::group_count(counts));
#if defined(STRATA_CASE_group_by_in_any_order)
  const auto output = strata::group_output(out, 9);
#else
  const auto output = strata::group_output(out, 9).first_occurrence();
#endif
  namespace ex = cuda::strata_test::execution;
  return strata::DeviceGroupBy::Aggregate(strata::group_keys(keys, 9), aggregates, output, num_groups,
                                          ex::require(ex::determinism::run_to_run));
}
}  // namespace group_by_in_any_order

// case: group_by_of_any_row
// expect first: this result may change from run to run: .* without group_any and unordered
#include <strata/device/device_group_by.cuh>

#include "support/environments.hpp"
namespace group_by_of_any_row {
cudaError_t items(const int* keys, const float* in, int* out, float* results, int* num_groups) {
#if defined(STRATA_CASE_group_by_of_any_row)
  const auto item = strata::group_any(in, results);
#else
  const auto item = strata::group_first(in, results);
#endif
  namespace ex = cuda::strata_test::execution;
  return strata::DeviceGroupBy::Aggregate(strata::group_keys(keys, 9), strata::group_aggregates(item),
                                          strata::group_output(out, 9).sorted(), num_groups,
                                          ex::require(ex::determinism::run_to_run));
}
}  // namespace group_by_of_any_row

// case: group_by_numbers
// expect: group_keys: the number of rows must be an integer or a FutureCount: convert the argument
// expect: group_output: the capacity must be an integer: convert the argument
#include <strata/device/device_group_by.cuh>
namespace group_by_numbers {
#ifdef STRATA_CASE_group_by_numbers
using number = double;
#else
using number = int;
#endif

auto keys(const int* in, number rows) { return strata::group_keys(in, rows); }
auto groups(int* out, number capacity) { return strata::group_output(out, capacity); }
}  // namespace group_by_numbers

// case: group_by_items
// expect: group_sum: sums must be trivially copyable, because they are kept in temporary storage: convert the items to such a type
// expect: group_min and group_max take integers, enumerations and floating-point numbers of up to 64 bits: use
// expect: group_reduce: the result of the operator must be trivially copyable, because it is kept in temporary storage: return another type
// errors: 4, the traits of a sort also assert
#include <strata/core/operators.hpp>
#include <strata/device/device_group_by.cuh>
namespace group_by_items {
#ifdef STRATA_CASE_group_by_items
struct item {
  item() = default;
  STRATA_HD item(const item& other) : value(other.value) {}
  item& operator=(const item&) = default;
  int value = 0;
  STRATA_HD friend item operator+(const item& a, const item&) { return a; }
};
#else
using item = int;
#endif

void all(const item* in, item* out) {
  static_cast<void>(decltype(strata::group_sum(in, out))::is_unordered);
  static_cast<void>(decltype(strata::group_min(in, out))::is_unordered);
  static_cast<void>(decltype(strata::group_reduce(in, out, strata::Sum{}, item{}))::is_unordered);
}
}  // namespace group_by_items

// case: group_by_unordered
// expect: group_sum: unordered\(\) adds numbers in float or double: give the sums an output of float or double
#include <strata/core/macros.hpp>
#include <strata/device/device_group_by.cuh>
namespace group_by_unordered {
#ifdef STRATA_CASE_group_by_unordered
struct number {
  float real, imaginary;
  STRATA_HD friend number operator+(const number& a, const number& b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
};
#else
using number = float;
#endif

bool adds_in_any_order(const number* in, number* out) {
  return decltype(strata::group_sum(in, out).unordered())::is_unordered;
}
}  // namespace group_by_unordered

// case: group_by_tuning_numbers
// expect: group_by_tuning: numbers of threads must be powers of two from 32 to 1024
#include <strata/device/device_group_by.cuh>
namespace group_by_tuning_numbers {
#ifdef STRATA_CASE_group_by_tuning_numbers
constexpr int items = 33;
#else
constexpr int items = 8;
#endif
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning{64, items, 2, 4096, 64, 1};
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceGroupBy<hub>::Aggregate(nullptr, bytes, strata::group_keys(in, 1000),
                                                    strata::group_aggregates(strata::group_count(out)),
                                                    strata::group_output(out, 10), out);
}
}  // namespace group_by_tuning_numbers

// case: histogram_channels
// expect: DeviceHistogram: Channels must be 1 to 4, and ActiveChannels 1 to Channels
#include <strata/device/device_histogram.cuh>
namespace histogram_channels {
#ifdef STRATA_CASE_histogram_channels
constexpr int channels = 5;
#else
constexpr int channels = 4;
#endif

cudaError_t count(const float* in, int* (&out)[1], const int (&levels)[1], const float (&bounds)[1]) {
  return strata::DeviceHistogram::MultiHistogramEven<channels, 1>(in, out, levels, bounds, bounds, 1000);
}
}  // namespace histogram_channels

// case: histogram_counter
// expect: DeviceHistogram: counters must be integers of 4 or 8 bytes, because they are added to atomically
#include <strata/device/device_histogram.cuh>
namespace histogram_counter {
#ifdef STRATA_CASE_histogram_counter
using counter = short;
#else
using counter = int;
#endif

cudaError_t count(const float* in, counter* out) {
  return strata::DeviceHistogram::HistogramEven(in, out, 11, 0.0f, 1.0f, 1000);
}
}  // namespace histogram_counter

// case: histogram_level
// expect: DeviceHistogram: the common type of samples and levels must have at most 64 bits: convert the levels
#include <strata/device/device_histogram.cuh>
namespace histogram_level {
#ifdef STRATA_CASE_histogram_level
using level = long double;
#else
using level = double;
#endif

cudaError_t count(const float* in, int* out) {
  return strata::DeviceHistogram::HistogramEven(in, out, 11, level{0}, level{1}, 1000);
}
}  // namespace histogram_level

// case: last_argument
// expect first: the last argument of a call says where the call runs: pass a cudaStream_t, a class that converts to it
#include <strata/device/device_scan.cuh>
namespace last_argument {
struct somewhere {
#if !defined(STRATA_CASE_last_argument)
  operator cudaStream_t() const { return nullptr; }
#endif
};

int main() {
  int in[3] = {1, 2, 3}, out[3] = {};
  return strata::DeviceScan::InclusiveSum(in, out, 3, somewhere{}) == cudaSuccess ? 0 : 1;
}
}  // namespace last_argument

// case: last_argument_with_storage
// expect first: the last argument of a call says where the call runs: pass a cudaStream_t, a class that converts to it
#include <strata/device/device_scan.cuh>
namespace last_argument_with_storage {
struct somewhere {
#if !defined(STRATA_CASE_last_argument_with_storage)
  cudaStream_t get() const { return nullptr; }
#endif
};

int main() {
  int in[3] = {1, 2, 3}, out[3] = {};
  std::size_t bytes = 0;
  return strata::DeviceScan::InclusiveSum(nullptr, bytes, in, out, 3, somewhere{}) == cudaSuccess ? 0 : 1;
}
}  // namespace last_argument_with_storage

// case: memcpy_const_output
// expect: DeviceMemcpy::Batched cannot write to pointers to const
#include <strata/device/device_memcpy.cuh>
namespace memcpy_const_output {
#if defined(STRATA_CASE_memcpy_const_output)
using destination = const void*;
#else
using destination = void*;
#endif

cudaError_t copy(const void** inputs, destination* outputs, const int* sizes) {
  return strata::DeviceMemcpy::Batched(inputs, outputs, sizes, 10);
}
}  // namespace memcpy_const_output

// case: memcpy_pointers
// expect: DeviceMemcpy::Batched copies bytes from pointers to pointers: call DeviceCopy::Batched
#include <strata/device/device_memcpy.cuh>
namespace memcpy_pointers {
#if defined(STRATA_CASE_memcpy_pointers)
using source = int;
#else
using source = const void*;
#endif

cudaError_t copy(const source* inputs, void** outputs, const int* sizes) {
  return strata::DeviceMemcpy::Batched(inputs, outputs, sizes, 10);
}
}  // namespace memcpy_pointers

// case: policy_hub_rows
// expect first: DeviceHashJoin, JoinTable: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceScan: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy
// expect: scans by key, selections, partitions and runs: each policy in the chain of PolicyHub::MaxPolicy must
// expect: DeviceReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedSort: each policy in the chain of PolicyHub::MaxPolicy must have, beside the members for merge
// expect: merge sorts: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceSegmentedScan: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceMerge: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceFind::FindIf: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceFind, bounds: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceFind, bounds of sorted values: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceHistogram: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceGroupBy: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy
// expect: DeviceTopK: PolicyHub must derive from top_k_policy_hub, and each policy in the chain of
// expect: DeviceSegmentedTopK: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy and have the members narrow, middle and wide
// expect: DeviceTransform, DeviceFor, DeviceAdjacentDifference: each policy in the chain of PolicyHub::MaxPolicy must
// expect: DeviceCopy, DeviceMemcpy: each policy in the chain of PolicyHub::MaxPolicy must name itself
// expect: DeviceTranspose: each policy in the chain of PolicyHub::MaxPolicy must name itself
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
namespace policy_hub_rows {
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};
struct same {
  STRATA_HD int operator()(int a) const { return a; }
};
struct is_odd {
  STRATA_HD bool operator()(int a) const { return a % 2 != 0; }
};

// Not a hub, a policy without a row, a policy whose row has the wrong type, and a policy that does not name itself.
#if defined(STRATA_CASE_policy_hub_rows)
struct no_hub {};
struct without_row {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {};
  using MaxPolicy = Policy;
};
struct other_row {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr int tuning = 0;
  };
  using MaxPolicy = Policy;
};
struct other_policy {
  struct Policy : strata::reduce_policy_hub<int>::Policy750 {};
  using MaxPolicy = Policy;
};
#else
using no_hub = strata::default_policy_hub;
using without_row = no_hub;
using other_row = no_hub;
struct other_policy {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::reduce_policy_hub<int>::Policy750> {};
  using MaxPolicy = Policy;
};
#endif

void all(std::size_t& bytes, const int* in, int* out) {
  using namespace strata;
  void* const none = nullptr;
  const auto side = join_side(in, 10);
  TunedDeviceScan<no_hub>::ExclusiveSum(none, bytes, in, out, 10);
  TunedDeviceSelect<without_row>::Unique(none, bytes, in, out, out, 10);
  TunedDeviceReduce<other_policy>::Sum(none, bytes, in, out, 10);
  TunedDeviceRadixSort<without_row>::SortKeys(none, bytes, in, out, 10);
  TunedDeviceSegmentedRadixSort<without_row>::SortKeys(none, bytes, in, out, 10, 1, in, in);
  TunedDeviceMergeSort<without_row>::SortKeys(none, bytes, out, 10, is_less{});
  TunedDeviceSegmentedSort<without_row>::SortKeys(none, bytes, in, out, 10, 1, in, in);
  TunedDeviceSegmentedReduce<other_row>::Sum(none, bytes, in, out, 1, in, in);
  static_cast<void>(TunedDeviceSegmentedScan<other_row>::InclusiveSegmentedSum(none, bytes, in, out, in, in, 1));
  TunedDeviceMerge<other_row>::MergeKeys(none, bytes, in, 10, in, 10, out);
  TunedDeviceFind<without_row>::FindIf(none, bytes, in, out, is_odd{}, 10);
  TunedDeviceFind<other_row>::LowerBoundSortedValues(none, bytes, in, 10, in, 10, out, is_less{});
  TunedDeviceHistogram<other_row>::HistogramEven(none, bytes, in, out, 10, 0, 9, 10);
  TunedDeviceGroupBy<other_row>::Aggregate(none, bytes, group_keys(in, 10), group_aggregates(group_count(out)),
                                           group_output(out, 10), out);
  TunedDeviceTopK<without_row>::MaxKeys(none, bytes, in, out, 10, 2);
  TunedDeviceSegmentedTopK<without_row>::MaxKeys(none, bytes, in, out, SegmentsOfSize(2, 5), 2);
  TunedDeviceTransform<other_row>::Transform(none, bytes, in, out, 10, same{});
  TunedDeviceCopy<without_row>::Batched(none, bytes, &in, &out, in, 1);
  static_cast<void>(TunedDeviceTranspose<without_row>::Transpose(none, bytes, in, out, 3, 3));
  TunedDeviceHashJoin<without_row>::Inner(none, bytes, side, side, join_count(), nullptr);
  TunedJoinTable<without_row, int>::MemoryBytes(side, bytes);
}
}  // namespace policy_hub_rows

// case: policy_hub_threads
// expect: histogram_tuning::block_threads must be a multiple of 32, at most 1024
// expect: histogram_tuning: table_slots must be a power of two, and bytes_in_flight 32 or more
// expect: batched_copy_tuning::block_threads must be a multiple of 32, at most 1024
// expect: tile_tuning: block_threads must be a multiple of 32, at most 1024; groups, in_place_groups,
// expect: merge_tuning::block_threads must be a multiple of 32, at most 1024
// expect: segment_tile_tuning, segment_merge_tuning: block_threads must be a multiple of 32, at most 1024
// expect: radix sort tuning: block_threads must be multiples of 32 from 256 to 1024
// expect: transpose_tuning::block_threads must be a multiple of 32, at most 1024
// expect: join tuning: all numbers of threads must be multiples of 32
// expect: join_output_tuning::select_rows must be a multiple of 32
// errors: 14, each kernel asserts the numbers of the row that it uses, and all of them are wrong here
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_copy.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
namespace policy_hub_threads {
#if defined(STRATA_CASE_policy_hub_threads)
constexpr int threads = 80, slots = 1000;
#else
constexpr int threads = 256, slots = 1024;
#endif

// A user's tunings, with one row each.
template <class Rows>
struct hub_of {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, Rows> {};
  using MaxPolicy = Policy;
};
struct histogram_row {
  static constexpr strata::histogram_tuning tuning{threads, 1, 16 * 4, 16 << 10, slots};
};
struct copy_row {
  static constexpr strata::batched_copy_tuning batched_copy{threads, 1, 512, 512, 4, 1, 2, 2};
};
struct tile_row {
  static constexpr strata::tile_tuning tuning{threads, 16, 2, 2, 2, 1, 1};
};
struct merge_row {
  static constexpr strata::merge_tuning tuning{threads, 3, 1, 4096};
};
struct merge_sort_rows : strata::segmented_merge_sort_policy_hub<4>::Policy750 {
  static constexpr strata::segment_tile_tuning few_threads{threads, 4, 1, 128};
};
struct radix_rows : strata::radix_sort_policy_hub<int, strata::NullType>::Policy750 {
  static constexpr strata::radix_block_tuning small_block{threads, 4};
};
struct transpose_rows : strata::transpose_policy_hub<4, 4>::Policy750 {
  static constexpr strata::transpose_tuning direct_tall{threads, 64, 8, 4}, tall = direct_tall;
};
struct join_rows : strata::join_policy_hub::Policy750 {
  static constexpr strata::join_table_tuning table{256, threads, 4, 1};
  static constexpr strata::join_output_tuning output{128, 4096, 4, 1024, 2, threads, 512, 2};
};

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};
struct same {
  STRATA_HD int operator()(int a) const { return a; }
};

void all(std::size_t& bytes, const int* in, int* out) {
  using namespace strata;
  void* const none = nullptr;
  const auto side = join_side(in, 10);
  TunedDeviceHistogram<hub_of<histogram_row>>::HistogramEven(none, bytes, in, out, 10, 0, 9, 10);
  TunedDeviceCopy<hub_of<copy_row>>::Batched(none, bytes, &in, &out, in, 1);
  TunedDeviceTransform<hub_of<tile_row>>::Transform(none, bytes, in, out, 10, same{});
  TunedDeviceMerge<hub_of<merge_row>>::MergeKeys(none, bytes, in, 10, in, 10, out);
  TunedDeviceMergeSort<hub_of<merge_sort_rows>>::SortKeys(none, bytes, out, 10, is_less{});
  TunedDeviceRadixSort<hub_of<radix_rows>>::SortKeys(none, bytes, in, out, 10);
  static_cast<void>(TunedDeviceTranspose<hub_of<transpose_rows>>::Transpose(none, bytes, in, out, 3, 3));
  TunedDeviceHashJoin<hub_of<join_rows>>::Inner(none, bytes, side, side, join_count(), nullptr);
}
}  // namespace policy_hub_threads

// case: reduce_block_threads
// expect: reduce_tuning::block_threads must be a multiple of 32
#include <strata/device/device_reduce.cuh>
namespace reduce_block_threads {
#if defined(STRATA_CASE_reduce_block_threads)
constexpr int block_threads = 250;
#else
constexpr int block_threads = 256;
#endif

// A user's tuning.
constexpr strata::reduce_tuning changed() {
  auto tuning = strata::reduce_policy_hub<int>::MaxPolicy::tuning;
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::reduce_tuning tuning = changed();
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceReduce<hub>::Sum(storage, bytes, in, out, 1000);
}
}  // namespace reduce_block_threads

// case: reduce_by_key_equality
// expect first: cannot be compared for equality
#include <strata/device/device_reduce.cuh>
namespace reduce_by_key_equality {
struct key {
  int value;
#if !defined(STRATA_CASE_reduce_by_key_equality)
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.value == b.value; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const key* keys, key* unique, const int* values, int* sums,
                 std::int64_t* num_runs) {
  return strata::DeviceReduce::ReduceByKey(storage, bytes, keys, unique, values, sums, num_runs, strata::Sum{}, 1000);
}
}  // namespace reduce_by_key_equality

// case: reduce_const_output
// expect first: results cannot be written to a pointer to const
#include <strata/device/device_reduce.cuh>
namespace reduce_const_output {
#if defined(STRATA_CASE_reduce_const_output)
using output = const int*;
#else
using output = int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const int* in, output out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, strata::Sum{}, 0);
}
}  // namespace reduce_const_output

// case: reduce_count
// expect: counts of items and segments must be integers: convert the argument
#include <strata/device/device_reduce.cuh>
namespace reduce_count {
cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
#if defined(STRATA_CASE_reduce_count)
  const double count = 1e6;
#else
  const int count = 1000000;
#endif
  return strata::DeviceReduce::Sum(storage, bytes, in, out, count);
}
}  // namespace reduce_count

// case: reduce_large_accumulator
// expect: blocks of a reduction exchange results in 48 KB of shared memory
#include <strata/device/device_reduce.cuh>
namespace reduce_large_accumulator {
struct record {
#if defined(STRATA_CASE_reduce_large_accumulator)
  int word[1000];
#else
  int word[25];
#endif
};
struct add {
  STRATA_HD record operator()(const record& a, const record& b) const {
    record sum = a;
    for (int i = 0; i < 25; ++i) sum.word[i] += b.word[i];
    return sum;
  }
};

cudaError_t sum(void* storage, std::size_t& bytes, const record* in, record* out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, add{}, record{});
}
}  // namespace reduce_large_accumulator

// case: reduce_min_bytes
// expect: reduce_tuning::min_bytes_per_block must be above 0
#include <strata/device/device_reduce.cuh>
namespace reduce_min_bytes {
#if defined(STRATA_CASE_reduce_min_bytes)
constexpr int min_bytes = 0;
#else
constexpr int min_bytes = 4;
#endif

// A user's tuning.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::reduce_tuning tuning{256, 64, 16, 4, min_bytes};
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceReduce<hub>::Sum(storage, bytes, in, out, 1000);
}
}  // namespace reduce_min_bytes

// case: reduce_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/device/device_reduce.cuh>
namespace reduce_operator {
struct add {
#if defined(STRATA_CASE_reduce_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, add{}, 0);
}
}  // namespace reduce_operator

// case: reduce_random_access
// expect first: pass a random-access iterator
#include <list>
#include <strata/device/device_reduce.cuh>
namespace reduce_random_access {
#if defined(STRATA_CASE_reduce_random_access)
using iterator = std::list<int>::iterator;
#else
using iterator = const int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, iterator in, int* out) {
  return strata::DeviceReduce::Sum(storage, bytes, in, out, 1000);
}
}  // namespace reduce_random_access

// case: reduce_too_many_block_threads
// expect: block_threads must not exceed max_reduce_blocks
#include <strata/device/device_reduce.cuh>
namespace reduce_too_many_block_threads {
#if defined(STRATA_CASE_reduce_too_many_block_threads)
constexpr int block_threads = 1024;
#else
constexpr int block_threads = 256;
#endif

// A user's tuning.
constexpr strata::reduce_tuning changed() {
  auto tuning = strata::reduce_policy_hub<int>::MaxPolicy::tuning;
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::reduce_tuning tuning = changed();
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceReduce<hub>::Sum(storage, bytes, in, out, 1000);
}
}  // namespace reduce_too_many_block_threads

// case: reduce_transform
// expect first: the transformation cannot be called with an item of the input
#include <strata/device/device_reduce.cuh>
namespace reduce_transform {
struct square {
#if defined(STRATA_CASE_reduce_transform)
  STRATA_HD int operator()(const char* x) const { return *x; }
#else
  STRATA_HD int operator()(int x) const { return x * x; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::DeviceReduce::TransformReduce(storage, bytes, in, out, 1000, strata::Sum{}, square{}, 0);
}
}  // namespace reduce_transform

// case: reduce_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// nvcc: too
#include <strata/device/device_reduce.cuh>
namespace reduce_trivially_copyable {
struct item {
  int value = 0;
  item() = default;
#if defined(STRATA_CASE_reduce_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
  STRATA_HD item& operator=(const item& other) { return value = other.value, *this; }
#endif
};
struct add {
  STRATA_HD item operator()(const item& a, const item& b) const {
    item sum;
    sum.value = a.value + b.value;
    return sum;
  }
};

cudaError_t sum(void* storage, std::size_t& bytes, const item* in, item* out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, add{}, item{});
}
}  // namespace reduce_trivially_copyable

// case: reduce_void
// expect first: a pointer to void does not say what type the items have: cast it to a pointer to that type
#include <strata/device/device_reduce.cuh>
namespace reduce_void {
#if defined(STRATA_CASE_reduce_void)
using item = void;
#else
using item = int;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const item* in, int* out) {
  return strata::DeviceReduce::Sum(storage, bytes, in, out, 1000);
}
}  // namespace reduce_void

// case: segmented_top_k_arguments
// expect: DeviceSegmentedTopK: pass the segments as SegmentsOfSize, SegmentsByOffsets or SegmentsByLengths
// expect: DeviceSegmentedTopK: k must be an integer, a FutureCount, ResultRows, PaddedResultRows or ResultsAtOffsets\.
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_arguments {
#if defined(STRATA_CASE_segmented_top_k_arguments)
inline const int segments = 10;
inline const double number = 3;
#else
inline const strata::SegmentsOfSize segments(10, 20);
inline const int number = 3;
#endif

cudaError_t greatest(void* storage, std::size_t& bytes, const int* in, int* out) {
  const cudaError_t status = strata::DeviceSegmentedTopK::MaxKeys(storage, bytes, in, out, segments, 3);
  if (status != cudaSuccess) return status;
  return strata::DeviceSegmentedTopK::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), number);
}
}  // namespace segmented_top_k_arguments

// case: batched_top_k_arguments
// expect: DeviceBatchedTopK: segment_sizes and k must be integers, or a constant, immediate, deferred or deferred_sequence of cuda::args
// expect: DeviceBatchedTopK: num_segments must be an integer, or a constant or immediate of cuda::args
#include <strata/device/device_batched_top_k.cuh>
namespace batched_top_k_arguments {
#if defined(STRATA_CASE_batched_top_k_arguments)
using number = const int*;
#else
using number = int;
#endif

cudaError_t greatest(void* storage, std::size_t& bytes, const int** in, int** out, number size, number segments) {
  const cudaError_t status = strata::DeviceBatchedTopK::MaxKeys(storage, bytes, in, out, size, 3, 10);
  if (status != cudaSuccess) return status;
  return strata::DeviceBatchedTopK::MaxKeys(storage, bytes, in, out, 20, 3, segments);
}
}  // namespace batched_top_k_arguments

// case: segmented_top_k_lanes
// expect: DeviceSegmentedTopK: block_threads of each tuning row must be a multiple of 32, at most 1024, and lanes a power of two
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_lanes {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::segmented_top_k_policy_hub<int>::Policy750> {
#if defined(STRATA_CASE_segmented_top_k_lanes)
    static constexpr strata::top_k_warp_tuning wide{128, 12, 8, 1};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t greatest(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceSegmentedTopK<hub>::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3);
}
}  // namespace segmented_top_k_lanes

// case: segmented_top_k_rows
// expect: DeviceSegmentedTopK: block and select of a policy must have the same block_threads
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_rows {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::segmented_top_k_policy_hub<int>::Policy750> {
#if defined(STRATA_CASE_segmented_top_k_rows)
    static constexpr strata::top_k_tuning select{256, 2};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t greatest(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceSegmentedTopK<hub>::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3);
}
}  // namespace segmented_top_k_rows

// case: segmented_top_k_fields
// expect: DeviceSegmentedTopK: the fields that a decomposer returns must have at most 128 bits together \(64 without
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_fields {
struct box {
  long long low, high;
  int depth;
};
struct by_sides {
#ifdef STRATA_CASE_segmented_top_k_fields
  STRATA_HD strata::RadixFields<long long&, long long&, int&> operator()(box& b) const {
    return {b.low, b.high, b.depth};
  }
#else
  STRATA_HD strata::RadixFields<long long&, long long&> operator()(box& b) const { return {b.low, b.high}; }
#endif
};
cudaError_t call(void* storage, std::size_t& bytes, const box* in, box* out) {
  return strata::DeviceSegmentedTopK::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3, by_sides{});
}
}  // namespace segmented_top_k_fields

// case: segmented_top_k_items_per_lane
// expect: DeviceSegmentedTopK: items_per_lane of narrow, middle and wide must be a power of two, at most 32
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_items_per_lane {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::segmented_top_k_policy_hub<int>::Policy750> {
#if defined(STRATA_CASE_segmented_top_k_items_per_lane)
    static constexpr strata::top_k_warp_tuning wide{64, 32, 18, 1};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t greatest(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceSegmentedTopK<hub>::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3);
}
}  // namespace segmented_top_k_items_per_lane

// case: segmented_top_k_items_per_thread
// expect: DeviceSegmentedTopK: block.items_per_thread must be a power of two, at most 32
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_items_per_thread {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::segmented_top_k_policy_hub<int>::Policy750> {
#if defined(STRATA_CASE_segmented_top_k_items_per_thread)
    static constexpr strata::top_k_block_tuning block{512, 20, 2};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t greatest(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceSegmentedTopK<hub>::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3);
}
}  // namespace segmented_top_k_items_per_thread

// case: segmented_top_k_key
// expect: top-k takes keys that are integers, enumerations or floating-point numbers: pass other keys as the integers
#include <strata/device/device_segmented_top_k.cuh>
namespace segmented_top_k_key {
struct version {
  unsigned short upper, lower;
};
}  // namespace segmented_top_k_key
namespace strata {
template <>
struct RadixTraits<segmented_top_k_key::version> {
  using word = unsigned;
  static constexpr int bits = 32;
  STRATA_HD static word ordered(segmented_top_k_key::version key) { return word{key.upper} << 16 | key.lower; }
};
}  // namespace strata
namespace segmented_top_k_key {
#if defined(STRATA_CASE_segmented_top_k_key)
using key = version;
#else
using key = unsigned;
#endif
cudaError_t greatest(void* storage, std::size_t& bytes, const key* in, key* out) {
  return strata::DeviceSegmentedTopK::MaxKeys(storage, bytes, in, out, strata::SegmentsOfSize(10, 20), 3);
}
}  // namespace segmented_top_k_key

// case: tile_prefix_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/device/scan_tile_state.cuh>
namespace tile_prefix_operator {
struct plus {
#ifdef STRATA_CASE_tile_prefix_operator
  STRATA_D int operator()(int a) const { return a; }
#else
  STRATA_D int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_D int prefix(strata::ScanTileState<int>& state, int aggregate) {
  using callback = strata::TilePrefixCallbackOp<int, plus>;
  STRATA_SHARED(storage, callback::TempStorage);
  return callback(state, storage, plus{})(aggregate);
}
}  // namespace tile_prefix_operator

// case: tile_prefix_state
// expect: TilePrefixCallbackOp: the third template argument must be ScanTileState<T>, where T is the first
#include <strata/device/scan_tile_state.cuh>
namespace tile_prefix_state {
#ifdef STRATA_CASE_tile_prefix_state
using number = short;
#else
using number = int;
#endif

STRATA_D int prefix(strata::ScanTileState<number>& state, int aggregate) {
  using callback = strata::TilePrefixCallbackOp<int, strata::Sum, strata::ScanTileState<number>>;
  STRATA_SHARED(storage, typename callback::TempStorage);
  return callback(state, storage, strata::Sum{})(aggregate);
}
}  // namespace tile_prefix_state

// case: tile_state_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/scan_tile_state.cuh>
namespace tile_state_trivially_copyable {
struct number {
  int value = 0;
#ifdef STRATA_CASE_tile_state_trivially_copyable
  number() = default;
  STRATA_HD number(const number& other) : value(other.value) {}
#endif
};

cudaError_t size(std::size_t& bytes) { return strata::ScanTileState<number>::AllocationSize(10, bytes); }
}  // namespace tile_state_trivially_copyable

// case: scan_block_threads
// expect: scan_tile_tuning::block_threads must be a multiple of 32
#include <strata/device/device_scan.cuh>
namespace scan_block_threads {
#if defined(STRATA_CASE_scan_block_threads)
constexpr int block_threads = 250;
#else
constexpr int block_threads = 256;
#endif

// A user's tuning.
using base = strata::scan_policy_hub<int, int>::Policy900;
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile = base::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = {block_threads, 4, strata::BLOCK_LOAD_TRANSPOSE,
                                                            strata::BLOCK_STORE_TRANSPOSE, 1};
    static constexpr strata::scan_pipeline_tuning pipeline = base::pipeline;
    static constexpr int pipeline_above = base::pipeline_above;
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceScan<hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}
}  // namespace scan_block_threads

// case: scan_by_key_equality
// expect first: cannot be compared for equality
#include <strata/device/device_scan.cuh>
namespace scan_by_key_equality {
struct key {
  int value;
#if !defined(STRATA_CASE_scan_by_key_equality)
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.value == b.value; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const key* keys, const int* in, int* out) {
  return strata::DeviceScan::InclusiveSumByKey(storage, bytes, keys, in, out, 1000);
}
}  // namespace scan_by_key_equality

// case: scan_const_output
// expect first: results cannot be written to a pointer to const
#include <strata/device/device_scan.cuh>
namespace scan_const_output {
#if defined(STRATA_CASE_scan_const_output)
using output = const int*;
#else
using output = int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const int* in, output out) {
  return strata::DeviceScan::InclusiveSum(storage, bytes, in, out, 1000);
}
}  // namespace scan_const_output

// case: scan_count
// expect: counts of items and segments must be integers: convert the argument
#include <strata/device/device_scan.cuh>
namespace scan_count {
cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
#if defined(STRATA_CASE_scan_count)
  const double count = 1e6;
#else
  const int count = 1000000;
#endif
  return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, count);
}
}  // namespace scan_count

// case: scan_operator
// expect first: the operator cannot be called with two values of these types
// nvcc: too
#include <strata/device/device_scan.cuh>
namespace scan_operator {
struct add {
#if defined(STRATA_CASE_scan_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::DeviceScan::InclusiveScan(storage, bytes, in, out, add{}, 1000);
}
}  // namespace scan_operator

// case: scan_pipeline
// expect: scan_pipeline_tuning::scanning_threads must be a multiple of 32
// expect: scan_pipeline_tuning::vectors_per_thread must be odd
// expect: scan_pipeline_tuning::lag must be 1 or 2
// errors: 6, the kernel also asserts the numbers of the row that it uses, and all of them are wrong here
#include <strata/device/device_scan.cuh>
namespace scan_pipeline {
#if defined(STRATA_CASE_scan_pipeline)
constexpr int threads = 250, vectors = 4, lag = 3;
#else
constexpr int threads = 256, vectors = 7, lag = 2;
#endif

// A user's tuning.
using base = strata::scan_policy_hub<int, int>::Policy900;
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile = base::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = base::large_tile;
    static constexpr strata::scan_pipeline_tuning pipeline{threads, vectors, 4, lag, 1};
    static constexpr int pipeline_above = base::pipeline_above;
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceScan<hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}
}  // namespace scan_pipeline

// case: scan_random_access
// expect first: pass a random-access iterator
#include <list>
#include <strata/device/device_scan.cuh>
namespace scan_random_access {
#if defined(STRATA_CASE_scan_random_access)
using iterator = std::list<int>::iterator;
#else
using iterator = const int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, iterator in, int* out) {
  return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, 1000);
}
}  // namespace scan_random_access

// case: scan_tile
// expect: a tile must have at least 128 items
#include <strata/device/device_scan.cuh>
namespace scan_tile {
#if defined(STRATA_CASE_scan_tile)
constexpr int items = 1;
#else
constexpr int items = 4;
#endif

// A user's tuning.
using base = strata::scan_policy_hub<int, int>::Policy900;
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile = base::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = {32, items, strata::BLOCK_LOAD_TRANSPOSE,
                                                            strata::BLOCK_STORE_TRANSPOSE, 1};
    static constexpr strata::scan_pipeline_tuning pipeline = base::pipeline;
    static constexpr int pipeline_above = base::pipeline_above;
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceScan<hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}
}  // namespace scan_tile

// case: segmented_reduce_block_threads
// expect: block_threads must not be below max_chunks_per_segment
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_block_threads {
#if defined(STRATA_CASE_segmented_reduce_block_threads)
constexpr int segmented_threads = 128;
constexpr int threads = 128;
#else
constexpr int segmented_threads = 256;
constexpr int threads = 256;
#endif

// A user's tuning.
template <class Tuning>
constexpr Tuning with_threads(Tuning tuning, int block_threads) {
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  using usual = strata::segmented_reduce_policy_hub<int>::MaxPolicy;
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr auto segmented = with_threads(usual::segmented, segmented_threads);
    static constexpr auto tuning = with_threads(usual::tuning, threads);
    static constexpr auto one_launch_tuning = with_threads(usual::one_launch_tuning, threads);
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedReduce<hub>::Sum(storage, bytes, in, out, 1000, offsets, offsets + 1);
}
}  // namespace segmented_reduce_block_threads

// case: segmented_reduce_count
// expect: counts of rows, columns and segments must be integers
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_count {
cudaError_t sum(const int* in, int* out) {
#if defined(STRATA_CASE_segmented_reduce_count)
  const double count = 10.5;
#else
  const int count = 10;
#endif
  return strata::DeviceSegmentedReduce::Sum(in, out, count, 3);
}
}  // namespace segmented_reduce_count

// case: segmented_reduce_groups
// expect: segmented_reduce_tuning: each lane of a group must get an item, so thread_items must be at least group_threads
// expect: DeviceSegmentedReduce: one_launch_tuning must have at least 64 block_threads, because two warps combine
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_groups {
#if defined(STRATA_CASE_segmented_reduce_groups)
constexpr int thread_items = 4, threads = 32;
#else
constexpr int thread_items = 16, threads = 64;
#endif

// A user's tuning.
using usual = strata::segmented_reduce_policy_hub<int>::MaxPolicy;
constexpr strata::segmented_reduce_tuning changed() {
  auto tuning = usual::segmented;
  tuning.thread_items = thread_items;
  return tuning;
}
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, usual> {
    static constexpr strata::segmented_reduce_tuning segmented = changed();
    static constexpr strata::reduce_tuning one_launch_tuning{threads, 128, 64, 1};
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedReduce<hub>::Sum(storage, bytes, in, out, 7, offsets, offsets + 1);
}
}  // namespace segmented_reduce_groups

// case: segmented_reduce_large_accumulator
// expect: segmented reductions keep results of up to 256 chunks in 48 KB of shared memory
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_large_accumulator {
struct record {
#if defined(STRATA_CASE_segmented_reduce_large_accumulator)
  int word[100];
#else
  int word[25];
#endif
};
struct add {
  STRATA_HD record operator()(const record& a, const record& b) const {
    record sum = a;
    for (int i = 0; i < 25; ++i) sum.word[i] += b.word[i];
    return sum;
  }
};

cudaError_t sum(void* storage, std::size_t& bytes, const record* in, record* out) {
  return strata::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, 10, 100, add{}, record{});
}
}  // namespace segmented_reduce_large_accumulator

// case: segmented_reduce_offsets
// expect: offsets of segments must be integers: convert them, for example by a TransformInputIterator
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_offsets {
#if defined(STRATA_CASE_segmented_reduce_offsets)
using offset = double;
#else
using offset = long long;
#endif

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const offset* offsets) {
  return strata::DeviceSegmentedReduce::Sum(storage, bytes, in, out, 1000, offsets, offsets + 1);
}
}  // namespace segmented_reduce_offsets

// case: segmented_reduce_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_operator {
struct add {
#if defined(STRATA_CASE_segmented_reduce_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, 10, 100, add{}, 0);
}
}  // namespace segmented_reduce_operator

// case: segmented_reduce_two_tunings
// expect: DeviceSegmentedReduce: segmented and tuning of a policy must have the same block_threads
#include <strata/device/device_segmented_reduce.cuh>
namespace segmented_reduce_two_tunings {
#if defined(STRATA_CASE_segmented_reduce_two_tunings)
constexpr int segmented_threads = 512;
constexpr int threads = 256;
#else
constexpr int segmented_threads = 256;
constexpr int threads = 256;
#endif

// A user's tuning.
template <class Tuning>
constexpr Tuning with_threads(Tuning tuning, int block_threads) {
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  using usual = strata::segmented_reduce_policy_hub<int>::MaxPolicy;
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr auto segmented = with_threads(usual::segmented, segmented_threads);
    static constexpr auto tuning = with_threads(usual::tuning, threads);
    static constexpr auto one_launch_tuning = with_threads(usual::one_launch_tuning, threads);
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedReduce<hub>::Sum(storage, bytes, in, out, 1000, offsets, offsets + 1);
}
}  // namespace segmented_reduce_two_tunings

// case: segmented_scan_offsets
// expect: offsets of segments must be integers: convert them, for example by a TransformInputIterator
#include <strata/device/device_segmented_scan.cuh>
namespace segmented_scan_offsets {
#if defined(STRATA_CASE_segmented_scan_offsets)
using offset = double;
#else
using offset = long long;
#endif

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets,
                 const offset* out_offsets) {
  return strata::DeviceSegmentedScan::InclusiveSegmentedSum(storage, bytes, in, out, offsets, offsets + 1, out_offsets,
                                                            1000);
}
}  // namespace segmented_scan_offsets

// case: segmented_scan_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/device/device_segmented_scan.cuh>
namespace segmented_scan_operator {
struct add {
#if defined(STRATA_CASE_segmented_scan_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out, const int* begins) {
  return strata::DeviceSegmentedScan::InclusiveSegmentedScan(storage, bytes, in, out, begins, begins + 1, 10, add{});
}
}  // namespace segmented_scan_operator

// case: segmented_scan_tuning
// expect: segmented_scan_tuning::block_threads must be a multiple of 32
// expect: segmented_scan_tuning::items_per_thread must be at most 32
#include <strata/device/device_segmented_scan.cuh>
namespace segmented_scan_tuning {
#if defined(STRATA_CASE_segmented_scan_tuning)
constexpr int block_threads = 80;
constexpr int contiguous_items = 33;
#else
constexpr int block_threads = 96;
constexpr int contiguous_items = 7;
#endif

// A user's tuning.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_scan_tuning tuning{block_threads, 7, 1};
    static constexpr strata::segmented_scan_tuning contiguous{96, contiguous_items, 1};
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedScan<hub>::ExclusiveSegmentedSum(storage, bytes, in, out, offsets, offsets + 1,
                                                                      1000);
}
}  // namespace segmented_scan_tuning

// case: select_equality
// expect first: cannot be compared for equality
#include <strata/device/device_select.cuh>
namespace select_equality {
struct key {
  int value;
#if !defined(STRATA_CASE_select_equality)
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.value == b.value; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const key* in, key* out, std::int64_t* num_selected) {
  return strata::DeviceSelect::Unique(storage, bytes, in, out, num_selected, 1000);
}
}  // namespace select_equality

// case: select_predicate
// expect first: the predicate cannot be called with an item
#include <strata/device/device_select.cuh>
namespace select_predicate {
struct is_odd {
#if defined(STRATA_CASE_select_predicate)
  STRATA_HD bool operator()(const char* x) const { return *x % 2 != 0; }
#else
  STRATA_HD bool operator()(int x) const { return x % 2 != 0; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t* num_selected) {
  return strata::DeviceSelect::If(storage, bytes, in, out, num_selected, 1000, is_odd{});
}
}  // namespace select_predicate

// case: transform_generator
// expect first: the generator cannot be called without arguments
#include <strata/device/device_transform.cuh>
namespace transform_generator {
struct numbers {
#if defined(STRATA_CASE_transform_generator)
  STRATA_HD int operator()(int i) const { return i; }
#else
  STRATA_HD int operator()() const { return 7; }
#endif
};

cudaError_t call(int* out) { return strata::DeviceTransform::Generate(out, 1000, numbers{}); }
}  // namespace transform_generator

// case: transform_predicate
// expect first: the predicate of TransformIf cannot be called with an item of the input
#include <strata/core/operators.hpp>
#include <strata/device/device_transform.cuh>
namespace transform_predicate {
struct is_odd {
#if defined(STRATA_CASE_transform_predicate)
  STRATA_HD bool operator()(const char* x) const { return *x % 2 != 0; }
#else
  STRATA_HD bool operator()(int x) const { return x % 2 != 0; }
#endif
};

cudaError_t call(const int* in, int* out) {
  return strata::DeviceTransform::TransformIf(in, out, 1000, is_odd{}, strata::CastOp<int>{});
}
}  // namespace transform_predicate

// case: transpose_count
// expect: counts of rows, columns and segments must be integers
#include <strata/device/device_transpose.cuh>
namespace transpose_count {
cudaError_t transpose(const int* in, int* out) {
#if defined(STRATA_CASE_transpose_count)
  const double count = 10.5;
#else
  const int count = 10;
#endif
  return strata::DeviceTranspose::Transpose(in, out, count, 3);
}
}  // namespace transpose_count

// case: transpose_tile_sides
// expect: transpose_tuning: shared memory would have bank conflicts: choose tile sides that are powers of two or multiples of 32
// errors: 6, the type of the tile does not exist, because no layout is free of conflicts
#include <strata/device/device_transpose.cuh>
namespace transpose_tile_sides {
#if defined(STRATA_CASE_transpose_tile_sides)
constexpr int columns = 24;
#else
constexpr int columns = 32;
#endif

// A user's tuning.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, strata::transpose_policy_hub<4, 4>::Policy750> {
    static constexpr strata::transpose_tuning items{/*block_threads=*/256, /*tile_rows=*/32, columns,
                                                    /*access_bytes=*/4};
  };
  using MaxPolicy = Policy;
};

cudaError_t transpose(const int* in, int* out) {
  return strata::TunedDeviceTranspose<hub>::Transpose(in, out, 100, 100);
}
}  // namespace transpose_tile_sides

// case: transpose_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_transpose.cuh>
namespace transpose_trivially_copyable {
struct owner {
  int value;
#ifdef STRATA_CASE_transpose_trivially_copyable
  ~owner() { value = 0; }
#endif
};

cudaError_t transpose(const owner* in, owner* out) { return strata::DeviceTranspose::Transpose(in, out, 10, 20); }
}  // namespace transpose_trivially_copyable
