// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of thread/ that must not compile. tests/README.md says how this table is read.

// case: load_pointer
// expect: ThreadLoad: a cache modifier needs an address: pass a pointer, or use the modifier LOAD_DEFAULT
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>
namespace load_pointer {
#if defined(STRATA_CASE_load_pointer)
constexpr strata::CacheLoadModifier modifier = strata::LOAD_CG;
#else
constexpr strata::CacheLoadModifier modifier = strata::LOAD_DEFAULT;
#endif

STRATA_KERNEL void load(int* out) { *out = strata::ThreadLoad<modifier>(strata::CountingInputIterator<int>(1)); }
}  // namespace load_pointer

// case: merge_path_offsets
// expect: MergePath: offsets and counts must be integers
#include <strata/thread/thread_merge.cuh>
namespace merge_path_offsets {
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_CASE_merge_path_offsets)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void cut(const int* a, const int* b, offset* out) {
  *out = strata::MergePath(a, b, offset{5}, offset{7}, offset{6}, is_less{});
}
}  // namespace merge_path_offsets

// case: reduce_count
// expect: ThreadReduce<Count>: there must be at least one item
#include <strata/core/operators.hpp>
#include <strata/thread/thread_reduce.cuh>
namespace reduce_count {
#if defined(STRATA_CASE_reduce_count)
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

STRATA_KERNEL void sums(const int* in, int* out) { *out = strata::ThreadReduce<count>(in, strata::Sum{}, 7); }
}  // namespace reduce_count

// case: reduce_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/thread/thread_reduce.cuh>
namespace reduce_operator {
struct add {
#if defined(STRATA_CASE_reduce_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  const int row[2] = {in[0], in[1]};
  out[0] = strata::ThreadReduce(row, add{});
}
}  // namespace reduce_operator

// case: reduce_size
// expect: ThreadReduce needs a type with a constant number of items, at least 1: pass an array, or call
#include <strata/core/operators.hpp>
#include <strata/thread/thread_reduce.cuh>
namespace reduce_size {
STRATA_KERNEL void sum_of_four(const int* in, int* out) {
#if defined(STRATA_CASE_reduce_size)
  *out = strata::ThreadReduce(in, strata::Sum{});
#else
  *out = strata::ThreadReduce<4>(in, strata::Sum{});
#endif
}
}  // namespace reduce_size

// case: scan_length
// expect: ThreadScan(In|Ex)clusive<Length>: there must be at least one item
#include <strata/core/operators.hpp>
#include <strata/thread/thread_scan.cuh>
namespace scan_length {
STRATA_KERNEL void running_sums(const int* in, int* out) {
#if defined(STRATA_CASE_scan_length)
  strata::ThreadScanInclusive<0>(in, out, strata::Sum{});
#else
  strata::ThreadScanInclusive<1>(in, out, strata::Sum{});
#endif
}
}  // namespace scan_length

// case: scan_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/thread/thread_scan.cuh>
namespace scan_operator {
struct add {
#if defined(STRATA_CASE_scan_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  int row[2] = {in[0], in[1]};
  out[0] = strata::ThreadScanInclusive(row, row, add{});
}
}  // namespace scan_operator

// case: search_lower_bound
// expect: LowerBound: the number of items must be an integer
#include <strata/thread/thread_search.cuh>
namespace search_lower_bound {
#if defined(STRATA_CASE_search_lower_bound)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void find(const int* in, offset* out) { *out = strata::LowerBound(in, offset{7}, 3); }
}  // namespace search_lower_bound

// case: search_merge_path
// expect: MergePathSearch: the diagonal and the lengths must be integers
#include <strata/thread/thread_search.cuh>
namespace search_merge_path {
#if defined(STRATA_CASE_search_merge_path)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void cut(const int* a, const int* b, int2* out) {
  strata::MergePathSearch(offset{6}, a, b, offset{5}, offset{7}, *out);
}
}  // namespace search_merge_path

// case: search_upper_bound
// expect: UpperBound: the number of items must be an integer
#include <strata/thread/thread_search.cuh>
namespace search_upper_bound {
#if defined(STRATA_CASE_search_upper_bound)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void find(const int* in, offset* out) { *out = strata::UpperBound(in, offset{7}, 3); }
}  // namespace search_upper_bound

// case: store_pointer
// expect: ThreadStore: a cache modifier needs an address: pass a pointer, or use the modifier STORE_DEFAULT
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/thread/thread_store.cuh>
namespace store_pointer {
#if defined(STRATA_CASE_store_pointer)
constexpr strata::CacheStoreModifier modifier = strata::STORE_CG;
#else
constexpr strata::CacheStoreModifier modifier = strata::STORE_DEFAULT;
#endif

STRATA_KERNEL void store(int item) { strata::ThreadStore<modifier>(strata::DiscardOutputIterator<>(), item); }
}  // namespace store_pointer
