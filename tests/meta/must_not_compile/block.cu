// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of block/ that must not compile. tests/README.md says how this table is read.

// case: adjacent_difference_operator
// expect first: the difference operator cannot be called with two items, as op\(item, neighbour\)
#include <strata/block/block_adjacent_difference.cuh>
namespace adjacent_difference_operator {
struct subtract {
#if defined(STRATA_CASE_adjacent_difference_operator)
  STRATA_D int operator()(const char* a, int b) const { return *a - b; }
#else
  STRATA_D int operator()(int a, int b) const { return a - b; }
#endif
};

STRATA_KERNEL void differences(const int* in, int* out) {
  int items[1] = {in[threadIdx.x]};
  strata::BlockAdjacentDifference<int, 64>().SubtractLeft(items, items, subtract{});
  out[threadIdx.x] = items[0];
}
}  // namespace adjacent_difference_operator

// case: adjacent_difference_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_adjacent_difference.cuh>
namespace adjacent_difference_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_adjacent_difference_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

struct subtract {
  STRATA_D item operator()(const item& a, const item& b) const { return item(a.value - b.value); }
};

STRATA_KERNEL void differences(const int* in, int* out) {
  item items[1] = {item(in[threadIdx.x])};
  strata::BlockAdjacentDifference<item, 64>().SubtractLeft(items, items, subtract{});
  out[threadIdx.x] = items[0].value;
}
}  // namespace adjacent_difference_trivially_copyable

// case: blelloch_scan_elements
// expect: BlockBlellochScan: ElementsPerBlock must be a power of two and a multiple of BlockThreads: fill up shorter
#include <strata/block/classic/block_blelloch_scan.cuh>
namespace blelloch_scan_elements {
using good = strata::BlockBlellochScan<int, 64, 256>::TempStorage;
#ifdef STRATA_CASE_blelloch_scan_elements
using bad = strata::BlockBlellochScan<int, 96, 192>::TempStorage;
#endif
}  // namespace blelloch_scan_elements

// case: blelloch_scan_layout
// expect: BlockBlellochScan has bank conflicts in this layout: omit the argument Layout for a padded layout, or pass
#include <strata/block/classic/block_blelloch_scan.cuh>
namespace blelloch_scan_layout {
// In the good half, one level of padding is enough for 1,024 elements.
#ifdef STRATA_CASE_blelloch_scan_layout
inline constexpr int elements = 2048;
#else
inline constexpr int elements = 1024;
#endif

using instantiated = strata::BlockBlellochScan<int, 512, elements, strata::PaddedLayout<32, 1>>::TempStorage;
}  // namespace blelloch_scan_layout

// case: blelloch_scan_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/classic/block_blelloch_scan.cuh>
namespace blelloch_scan_trivially_copyable {
struct counted {
  int value;
#ifdef STRATA_CASE_blelloch_scan_trivially_copyable
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockBlellochScan<counted, 128>::TempStorage;
}  // namespace blelloch_scan_trivially_copyable

// case: discontinuity_operator
// expect first: the flag operator can be called neither with two items
#include <strata/block/block_discontinuity.cuh>
namespace discontinuity_operator {
struct differ {
#if defined(STRATA_CASE_discontinuity_operator)
  STRATA_D bool operator()(int a) const { return a != 0; }
#else
  STRATA_D bool operator()(int a, int b) const { return a != b; }
#endif
};

STRATA_KERNEL void heads(const int* in, int* out) {
  const int items[1] = {in[threadIdx.x]};
  int flags[1];
  strata::BlockDiscontinuity<int, 64>().FlagHeads(flags, items, differ{});
  out[threadIdx.x] = flags[0];
}
}  // namespace discontinuity_operator

// case: discontinuity_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_discontinuity.cuh>
namespace discontinuity_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_discontinuity_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

struct differ {
  STRATA_D bool operator()(const item& a, const item& b) const { return a.value != b.value; }
};

STRATA_KERNEL void heads(const int* in, int* out) {
  const item items[1] = {item(in[threadIdx.x])};
  int flags[1];
  strata::BlockDiscontinuity<item, 64>().FlagHeads(flags, items, differ{});
  out[threadIdx.x] = flags[0];
}
}  // namespace discontinuity_trivially_copyable

// case: exchange_items
// expect: BlockExchange needs at least one item per thread
#include <strata/block/block_exchange.cuh>
namespace exchange_items {
#if defined(STRATA_CASE_exchange_items)
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

STRATA_KERNEL void bytes(int* out) {
  *out = static_cast<int>(sizeof(typename strata::BlockExchange<int, 64, count>::TempStorage));
}
}  // namespace exchange_items

// case: exchange_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_exchange.cuh>
namespace exchange_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_exchange_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
  STRATA_HD item& operator=(const item& other) {
    value = other.value;
    return *this;
  }
#endif
};

STRATA_KERNEL void exchange(int* out) {
  item items[2] = {item(1), item(2)};
  strata::BlockExchange<item, 64, 2>().StripedToBlocked(items);
  *out = items[0].value;
}
}  // namespace exchange_trivially_copyable

// case: exchange_whole_warps
// expect: a warp-striped arrangement needs whole warps: choose a block of a multiple of 32 threads or of at most 32, or the striped arrangement
#include <strata/block/block_exchange.cuh>
namespace exchange_whole_warps {
STRATA_KERNEL void exchange(int* out) {
  int items[2] = {1, 2};
  strata::BlockExchange<int, 48, 2>().StripedToBlocked(items);
#ifdef STRATA_CASE_exchange_whole_warps
  strata::BlockExchange<int, 48, 2>().WarpStripedToBlocked(items);
#endif
  *out = items[0];
}
}  // namespace exchange_whole_warps

// case: hillis_steele_scan_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/classic/block_hillis_steele_scan.cuh>
namespace hillis_steele_scan_trivially_copyable {
struct counted {
  int value;
#ifdef STRATA_CASE_hillis_steele_scan_trivially_copyable
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockHillisSteeleScan<counted, 128>::TempStorage;
}  // namespace hillis_steele_scan_trivially_copyable

// case: histogram_atomic_counters
// expect first: BLOCK_HISTO_ATOMIC counts by atomicAdd: counters must be integers of 4 or 8 bytes, float, double
#include <strata/block/block_histogram.cuh>
namespace histogram_atomic_counters {
#if defined(STRATA_CASE_histogram_atomic_counters)
constexpr strata::BlockHistogramAlgorithm algorithm = strata::BLOCK_HISTO_ATOMIC;
#else
constexpr strata::BlockHistogramAlgorithm algorithm = strata::BLOCK_HISTO_SORT;
#endif

STRATA_KERNEL void count(short* out) {
  const int items[1] = {0};
  strata::BlockHistogram<int, 64, 1, 8, algorithm>().Histogram(items, out);
}
}  // namespace histogram_atomic_counters

// case: histogram_items
// expect first: BlockHistogram needs at least one item per thread and one bin
#include <strata/block/block_histogram.cuh>
namespace histogram_items {
#if defined(STRATA_CASE_histogram_items)
constexpr int bins = 0;
#else
constexpr int bins = 1;
#endif

STRATA_KERNEL void count(unsigned* out) {
  const int items[1] = {0};
  strata::BlockHistogram<int, 64, 1, bins>().Histogram(items, out);
}
}  // namespace histogram_items

// case: histogram_samples
// expect first: BlockHistogram takes the index of a bin as a sample: T must convert implicitly to an integer and must
#include <strata/block/block_histogram.cuh>
namespace histogram_samples {
#if defined(STRATA_CASE_histogram_samples)
using sample = float;
#else
using sample = int;
#endif

STRATA_KERNEL void count(unsigned* out) {
  const sample items[1] = {0};
  strata::BlockHistogram<sample, 64, 1, 8>().Histogram(items, out);
}
}  // namespace histogram_samples

// case: load_warp_transpose
// expect: BLOCK_LOAD_WARP_TRANSPOSE and BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED need whole warps: choose a block of a multiple of 32 threads
#include <strata/block/block_load.cuh>
namespace load_warp_transpose {
STRATA_KERNEL void load(const int* in) {
  int items[4];
  strata::BlockLoad<int, 33, 4, strata::BLOCK_LOAD_TRANSPOSE>().Load(in, items);
#ifdef STRATA_CASE_load_warp_transpose
  strata::BlockLoad<int, 33, 4, strata::BLOCK_LOAD_WARP_TRANSPOSE>().Load(in, items);
#endif
}
}  // namespace load_warp_transpose

// case: merge_sort_comparator
// expect first: the comparator cannot be called with two keys
#include <strata/block/block_merge_sort.cuh>
namespace merge_sort_comparator {
struct is_less {
#if defined(STRATA_CASE_merge_sort_comparator)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using Sort = strata::BlockMergeSort<int, 128, 1>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  int row[1] = {in[threadIdx.x]};
  Sort(temp_storage).Sort(row, is_less{});
  out[threadIdx.x] = row[0];
}
}  // namespace merge_sort_comparator

// case: merge_sort_strategy_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_merge_sort.cuh>
namespace merge_sort_strategy_trivially_copyable {
struct counted {
  int value;
  counted() = default;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_CASE_merge_sort_strategy_trivially_copyable)
using value = counted;
#else
using value = plain;
#endif

class block_sort : public strata::BlockMergeSortStrategy<int, value, 64, 1, block_sort> {
 public:
  STRATA_D explicit block_sort(TempStorage& temp_storage) : BlockMergeSortStrategy(temp_storage, threadIdx.x) {}
  STRATA_D void SyncImplementation() const { __syncthreads(); }
};

STRATA_KERNEL void sort(int* out) {
  STRATA_SHARED(temp_storage, block_sort::TempStorage);
  int keys[1] = {static_cast<int>(threadIdx.x) % 3};
  value values[1];
  values[0].value = 0;
  block_sort(temp_storage).Sort(keys, values, is_less{});
  out[threadIdx.x] = values[0].value;
}
}  // namespace merge_sort_strategy_trivially_copyable

// case: merge_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_merge_sort.cuh>
namespace merge_sort_trivially_copyable {
struct counted {
  int value;
  counted() = default;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_CASE_merge_sort_trivially_copyable)
using value = counted;
#else
using value = plain;
#endif

STRATA_KERNEL void sort(int* out) {
  int keys[1] = {static_cast<int>(threadIdx.x) % 3};
  value values[1];
  values[0].value = 0;
  strata::BlockMergeSort<int, 64, 1, value>().Sort(keys, values, is_less{});
  out[threadIdx.x] = values[0].value;
}
}  // namespace merge_sort_trivially_copyable

// case: radix_rank_bits
// expect: the digits of BlockRadixRank and BlockRadixSort have 1 to 16 bits
#include <strata/block/block_radix_rank.cuh>
namespace radix_rank_bits {
struct low_bit {
  STRATA_D unsigned Digit(unsigned key) const { return key & 1; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankMatch<64, 1, false>().RankKeys(keys, ranks, low_bit{});
#ifdef STRATA_CASE_radix_rank_bits
  strata::BlockRadixRankMatch<64, 0, false>().RankKeys(keys, ranks, low_bit{});
#endif
  out[threadIdx.x] = ranks[0];
}
}  // namespace radix_rank_bits

// case: radix_rank_shuffle_bits
// expect: BlockRadixRankShuffle keeps the counter of each digit in a lane of its own: digits have at most 5 bits; take BlockRadixRankMatch for more
#include <strata/block/classic/block_radix_rank_shuffle.cuh>
namespace radix_rank_shuffle_bits {
struct low_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key & 31; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankShuffle<64, 5>().RankKeys(keys, ranks, low_bits{});
#ifdef STRATA_CASE_radix_rank_shuffle_bits
  strata::BlockRadixRankShuffle<64, 6>().RankKeys(keys, ranks, low_bits{});
#endif
  out[threadIdx.x] = ranks[0];
}
}  // namespace radix_rank_shuffle_bits

// case: radix_rank_shuffle_warps
// expect: BlockRadixRankShuffle needs whole warps: choose a block of a multiple of 32 threads, or BlockRadixRankMatch
#include <strata/block/classic/block_radix_rank_shuffle.cuh>
namespace radix_rank_shuffle_warps {
struct low_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key & 15; }
};

STRATA_KERNEL void rank(unsigned key, int* out) {
  const unsigned keys[1] = {key};
  int ranks[1];
  strata::BlockRadixRankMatch<48, 4, false>().RankKeys(keys, ranks, low_bits{});
#ifdef STRATA_CASE_radix_rank_shuffle_warps
  strata::BlockRadixRankShuffle<48>().RankKeys(keys, ranks, low_bits{});
#endif
  out[threadIdx.x] = ranks[0];
}
}  // namespace radix_rank_shuffle_warps

// case: radix_rank_tile
// expect: BlockRadixRank and BlockRadixSort count in 16 bits: a tile has at most 65,535 items; choose fewer threads or fewer items per thread
#include <strata/block/block_radix_rank.cuh>
namespace radix_rank_tile {
struct low_bit {
  STRATA_D unsigned Digit(unsigned key) const { return key & 1; }
};

template <int Items>
STRATA_D int rank_of_first(unsigned key) {
  unsigned keys[Items];
  int ranks[Items];
  for (unsigned& k : keys) k = key;
  strata::BlockRadixRank<1024, 1, false>().RankKeys(keys, ranks, low_bit{});
  return ranks[0];
}

STRATA_KERNEL void rank(unsigned key, int* out) {
  out[threadIdx.x] = rank_of_first<63>(key);
#ifdef STRATA_CASE_radix_rank_tile
  out[threadIdx.x] = rank_of_first<64>(key);
#endif
}
}  // namespace radix_rank_tile

// case: radix_sort_algorithm_warps
// expect: BLOCK_RADIX_SORT_MATCH and BLOCK_RADIX_SORT_MERGE need blocks of whole warps; choose a multiple of 32 threads, or BLOCK_RADIX_SORT_DEFAULT
#include <strata/block/block_radix_sort.cuh>
namespace radix_sort_algorithm_warps {
template <int Threads>
using block_sort =
    strata::BlockRadixSort<unsigned, Threads, 1, strata::NullType, 4, true, strata::BLOCK_SCAN_WARP_SCANS,
                           cudaSharedMemBankSizeFourByte, 1, 1, strata::BLOCK_RADIX_SORT_MATCH>;

STRATA_KERNEL void sort(unsigned* out) {
  unsigned keys[1] = {out[threadIdx.x]};
#if defined(STRATA_CASE_radix_sort_algorithm_warps)
  block_sort<48>().Sort(keys);
#else
  block_sort<64>().Sort(keys);
#endif
  out[threadIdx.x] = keys[0];
}
}  // namespace radix_sort_algorithm_warps

// case: radix_sort_algorithm_merge
// expect: BLOCK_RADIX_SORT_MERGE merges integers and floating-point numbers of up to 64 bits; choose BLOCK_RADIX_SORT_DEFAULT for other keys
#include <strata/block/block_radix_sort.cuh>
namespace radix_sort_algorithm_merge {
enum class color : short { red };
template <class Key>
using block_sort = strata::BlockRadixSort<Key, 64, 1, strata::NullType, 4, true, strata::BLOCK_SCAN_WARP_SCANS,
                                          cudaSharedMemBankSizeFourByte, 1, 1, strata::BLOCK_RADIX_SORT_MERGE>;

STRATA_KERNEL void sort(short* out) {
#if defined(STRATA_CASE_radix_sort_algorithm_merge)
  color keys[1] = {static_cast<color>(out[threadIdx.x])};
  block_sort<color>().Sort(keys);
#else
  short keys[1] = {out[threadIdx.x]};
  block_sort<short>().Sort(keys);
#endif
  out[threadIdx.x] = static_cast<short>(keys[0]);
}
}  // namespace radix_sort_algorithm_merge

// case: radix_sort_decomposer
// expect: radix sorts take integers and enumerations, and floating-point numbers of 8 to 64 bits; give them a decomposer for other types
#include <strata/block/block_radix_sort.cuh>
namespace radix_sort_decomposer {
struct point {
  int x, y;
};
struct by_y {
  STRATA_HD strata::RadixFields<int&> operator()(point& p) const { return {p.y}; }
};

STRATA_KERNEL void sort(point* out) {
  point keys[1] = {out[threadIdx.x]};
  strata::BlockRadixSort<point, 64, 1> block_sort;
  block_sort.Sort(keys, by_y{});
#ifdef STRATA_CASE_radix_sort_decomposer
  __syncthreads();
  block_sort.Sort(keys);
#endif
  out[threadIdx.x] = keys[0];
}
}  // namespace radix_sort_decomposer

// case: radix_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_radix_sort.cuh>
namespace radix_sort_trivially_copyable {
struct counted {
  int value;
  counted() = default;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};

#if defined(STRATA_CASE_radix_sort_trivially_copyable)
using value = counted;
#else
using value = plain;
#endif

STRATA_KERNEL void sort(int* out) {
  int keys[1] = {static_cast<int>(threadIdx.x) % 3};
  value values[1];
  values[0].value = 0;
  strata::BlockRadixSort<int, 64, 1, value>().Sort(keys, values);
  out[threadIdx.x] = values[0].value;
}
}  // namespace radix_sort_trivially_copyable

// case: reduce_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/block/block_reduce.cuh>
namespace reduce_operator {
struct add {
#if defined(STRATA_CASE_reduce_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using BlockReduce = strata::BlockReduce<int, 128>;
  STRATA_SHARED(temp_storage, BlockReduce::TempStorage);
  out[threadIdx.x] = BlockReduce(temp_storage).Reduce(in[threadIdx.x], add{});
}
}  // namespace reduce_operator

// case: reduce_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_reduce.cuh>
namespace reduce_trivially_copyable {
struct plain {
  int value;
};

struct counted {
  int value;
  STRATA_HD counted(const counted& other) : value(other.value) {}
};

STRATA_KERNEL void storages() {
  STRATA_SHARED(good, strata::BlockReduce<plain, 64>::TempStorage);
  static_cast<void>(good);
#ifdef STRATA_CASE_reduce_trivially_copyable
  STRATA_SHARED(bad, strata::BlockReduce<counted, 64>::TempStorage);
  static_cast<void>(bad);
#endif
}
}  // namespace reduce_trivially_copyable

// case: run_length_decode_items
// expect first: BlockRunLengthDecode needs at least one run and one decoded item per thread
#include <strata/block/block_run_length_decode.cuh>
namespace run_length_decode_items {
#if defined(STRATA_CASE_run_length_decode_items)
constexpr int items = 0;
#else
constexpr int items = 1;
#endif

STRATA_KERNEL void decode(const int* in, int* out) {
  const int values[1] = {in[threadIdx.x]};
  strata::BlockRunLengthDecode<int, 64, 1, items>(values, values, *out);
}
}  // namespace run_length_decode_items

// case: run_length_decode_offsets
// expect first: BlockRunLengthDecode: DecodedOffsetT must be an integer type, because it holds indices of decoded items
#include <strata/block/block_run_length_decode.cuh>
namespace run_length_decode_offsets {
#if defined(STRATA_CASE_run_length_decode_offsets)
using offset = double;
#else
using offset = long long;
#endif

STRATA_KERNEL void decode(const int* in, int* out) {
  const int values[1] = {in[threadIdx.x]};
  int items[1];
  strata::BlockRunLengthDecode<int, 64, 1, 1, offset>(values, values, *out).RunLengthDecode(items);
  *out = items[0];
}
}  // namespace run_length_decode_offsets

// case: run_length_decode_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_run_length_decode.cuh>
namespace run_length_decode_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_run_length_decode_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

STRATA_KERNEL void decode(const int* in, int* out) {
  const item values[1] = {item(in[threadIdx.x])};
  const int lengths[1] = {1};
  int total;
  item items[1] = {item(0)};
  strata::BlockRunLengthDecode<item, 64, 1, 1>(values, lengths, total).RunLengthDecode(items);
  out[threadIdx.x] = items[0].value;
}
}  // namespace run_length_decode_trivially_copyable

// case: scan_operator
// expect first: the operator cannot be called with two values of these types
#include <strata/block/block_scan.cuh>
namespace scan_operator {
struct add {
#if defined(STRATA_CASE_scan_operator)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using BlockScan = strata::BlockScan<int, 128>;
  STRATA_SHARED(temp_storage, BlockScan::TempStorage);
  int sum;
  BlockScan(temp_storage).InclusiveScan(in[threadIdx.x], sum, add{});
  out[threadIdx.x] = sum;
}
}  // namespace scan_operator

// case: scan_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_scan.cuh>
namespace scan_trivially_copyable {
struct plain {
  int value;
};

struct counted {
  int value;
  STRATA_HD counted(const counted& other) : value(other.value) {}
};

STRATA_KERNEL void storages() {
  STRATA_SHARED(good, strata::BlockScan<plain, 64>::TempStorage);
  static_cast<void>(good);
#ifdef STRATA_CASE_scan_trivially_copyable
  STRATA_SHARED(bad, strata::BlockScan<counted, 64>::TempStorage);
  static_cast<void>(bad);
#endif
}
}  // namespace scan_trivially_copyable

// case: segmented_merge_sort_items
// expect: BlockSegmentedMergeSort: ItemsPerThread must be odd, or a power of two up to 32
// expect: BlockSegmentedMergeSort: items of this size have bank conflicts: choose another ItemsPerThread
#include <strata/block/block_segmented_merge_sort.cuh>
namespace segmented_merge_sort_items {
using value = strata::NullType;
#if defined(STRATA_CASE_segmented_merge_sort_items)
constexpr int threads = 64, items = 24;
#else
constexpr int threads = 64, items = 25;
#endif

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
}  // namespace segmented_merge_sort_items

// case: segmented_merge_sort_threads
// expect: BlockSegmentedMergeSort needs whole warps: BlockDimX must be a multiple of 32
#include <strata/block/block_segmented_merge_sort.cuh>
namespace segmented_merge_sort_threads {
using value = strata::NullType;
#if defined(STRATA_CASE_segmented_merge_sort_threads)
constexpr int threads = 80, items = 3;
#else
constexpr int threads = 96, items = 3;
#endif

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
}  // namespace segmented_merge_sort_threads

// case: segmented_merge_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: BlockSegmentedMergeSort keeps keys and values in shared memory: both types must be default constructible
#include <strata/block/block_segmented_merge_sort.cuh>
namespace segmented_merge_sort_trivially_copyable {
struct value {
  int number;
#if defined(STRATA_CASE_segmented_merge_sort_trivially_copyable)
  STRATA_HD value(const value& other) : number(other.number + 1) {}
  value& operator=(const value&) = default;
#endif
};
constexpr int threads = 64, items = 3;

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
}  // namespace segmented_merge_sort_trivially_copyable

// case: shape
// expect: the dimensions of a block must be positive and multiply to at most 1024 threads
#include <strata/block/block_reduce.cuh>
namespace shape {
STRATA_KERNEL void sum_of_a_block(int* out) {
  *out = strata::BlockReduce<int, 16, strata::BLOCK_REDUCE_RAKING, 16, 4>().Sum(1);
#ifdef STRATA_CASE_shape
  __syncthreads();
  *out = strata::BlockReduce<int, 16, strata::BLOCK_REDUCE_RAKING, 16, 5>().Sum(1);
#endif
}
}  // namespace shape

// case: shuffle_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_shuffle.cuh>
namespace shuffle_trivially_copyable {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_shuffle_trivially_copyable)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

STRATA_KERNEL void neighbours(const int* in, int* out) {
  item got(0);
  strata::BlockShuffle<item, 64>().Offset(item(in[threadIdx.x]), got);
  out[threadIdx.x] = got.value;
}
}  // namespace shuffle_trivially_copyable

// case: store_warp_transpose
// expect: BLOCK_STORE_WARP_TRANSPOSE and BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED need whole warps: choose a block of a multiple of 32 threads
#include <strata/block/block_store.cuh>
namespace store_warp_transpose {
STRATA_KERNEL void store(int* out) {
  const int items[4] = {1, 2, 3, 4};
  using all_warps = strata::BlockStore<int, 64, 4, strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>;
  all_warps().Store(out, items);
#ifdef STRATA_CASE_store_warp_transpose
  using no_warp = strata::BlockStore<int, 16, 4, strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>;
  no_warp().Store(out, items);
#endif
}
}  // namespace store_warp_transpose

// case: top_k_items
// expect: BlockTopK: a block has at most 32,768 items
#include <strata/block/block_top_k.cuh>
namespace top_k_items {
#if defined(STRATA_CASE_top_k_items)
using instantiated = strata::BlockTopK<unsigned char, 1024, 40>::TempStorage;
#else
using instantiated = strata::BlockTopK<unsigned char, 1024, 32>::TempStorage;
#endif
}  // namespace top_k_items

// case: top_k_whole_warps
// expect: BlockTopK needs blocks of whole warps: choose a multiple of 32 threads
#include <strata/block/block_top_k.cuh>
namespace top_k_whole_warps {
#if defined(STRATA_CASE_top_k_whole_warps)
using instantiated = strata::BlockTopK<float, 48, 4>::TempStorage;
#else
using instantiated = strata::BlockTopK<float, 64, 4>::TempStorage;
#endif
}  // namespace top_k_whole_warps

// case: transpose_conflicts
// expect: BlockTranspose: no padding of this tile is free of bank conflicts: choose sides that are powers of two or multiples of 32
#include <strata/block/block_transpose.cuh>
namespace transpose_conflicts {
#ifdef STRATA_CASE_transpose_conflicts
using layout = strata::ChosenLayout;
#else
using layout = strata::PlainLayout;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, 48, 40, 128, 1, 1, layout>;
  int items[Transpose::items_per_thread] = {};
  Transpose().Transpose(items, items);
}
}  // namespace transpose_conflicts

// case: transpose_square_side
// expect: BlockTranspose: SquareSide must be 1, or it must divide TileRows and TileColumns, and SquareSide items of 1,
// errors: 4, the layout of the tile also asserts
#include <strata/block/block_transpose.cuh>
namespace transpose_square_side {
#ifdef STRATA_CASE_transpose_square_side
constexpr int side = 8;
#else
constexpr int side = 4;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, 32, 32, 64, 1, 1, strata::ChosenLayout, side>;
  int items[Transpose::items_per_thread] = {};
  Transpose().Transpose(items, items);
}
}  // namespace transpose_square_side

// case: transpose_tile
// expect: BlockTranspose: TileRows and TileColumns must be positive
// errors: 4, the layout of the tile also asserts
#include <strata/block/block_transpose.cuh>
namespace transpose_tile {
#ifdef STRATA_CASE_transpose_tile
constexpr int rows = 0;
#else
constexpr int rows = 16;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, rows, 16, 64>;
  int items[16] = {};
  Transpose().Transpose(*reinterpret_cast<int(*)[Transpose::items_per_thread]>(&items),
                        *reinterpret_cast<int(*)[Transpose::items_per_thread]>(&items));
}
}  // namespace transpose_tile

// case: transpose_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_transpose.cuh>
namespace transpose_trivially_copyable {
struct owner {
  int value;
#ifdef STRATA_CASE_transpose_trivially_copyable
  ~owner() { value = 0; }
#endif
};

STRATA_KERNEL void transpose() {
  owner items[1] = {};
  strata::BlockTranspose<owner, 8, 8, 64>().Transpose(items, items);
}
}  // namespace transpose_trivially_copyable

// case: tree_reduce_layout
// expect: BlockTreeReduce has bank conflicts in this layout: omit the argument Layout for a padded layout, or pass
#include <strata/block/classic/block_tree_reduce.cuh>
namespace tree_reduce_layout {
// This padding is right for items of 4 bytes. For items of 8 bytes it is not, because a wavefront has 16 lanes.
#ifdef STRATA_CASE_tree_reduce_layout
using item = double;
#else
using item = float;
#endif

using instantiated = strata::BlockTreeReduce<item, 1024, strata::PaddedLayout<32, 1>>::TempStorage;
}  // namespace tree_reduce_layout

// case: tree_reduce_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/classic/block_tree_reduce.cuh>
namespace tree_reduce_trivially_copyable {
struct counted {
  int value;
#ifdef STRATA_CASE_tree_reduce_trivially_copyable
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
#endif
};

using instantiated = strata::BlockTreeReduce<counted, 128>::TempStorage;
}  // namespace tree_reduce_trivially_copyable
