// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of core/ that must not compile. tests/README.md says how this table is read.

// case: cache_modified_load
// expect: loads with a cache modifier copy T as bits: specialise strata::is_trivially_relocatable if that is correct
#include <strata/iterator/cache_modified_input_iterator.cuh>
namespace cache_modified_load {
struct item {
  int value;
#if defined(STRATA_CASE_cache_modified_load)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_KERNEL void first(const item* in, int* out) {
  *out = strata::CacheModifiedInputIterator<strata::LOAD_CG, item>(in)[0].value;
}
}  // namespace cache_modified_load

// case: cache_modified_store
// expect: stores with a cache modifier copy T as bits: specialise strata::is_trivially_relocatable if that is correct
#include <strata/iterator/cache_modified_output_iterator.cuh>
namespace cache_modified_store {
struct item {
  int value;
#if defined(STRATA_CASE_cache_modified_store)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_KERNEL void copy(const item* in, item* out) {
  strata::CacheModifiedOutputIterator<strata::STORE_CG, item> written(out);
  *written = *in;
}
}  // namespace cache_modified_store

// case: conflict_free_layout
// expect: no plain, padded or swizzled layout is free of conflicts for these patterns: change the stride, or use
#include <strata/core/shared_layout.hpp>
namespace conflict_free_layout {
#if defined(STRATA_CASE_conflict_free_layout)
constexpr int stride = 1024;
#else
constexpr int stride = 32;
#endif

int position(int index) { return strata::ConflictFreeLayout<strata::strided_access<4, stride>>{}(index); }
}  // namespace conflict_free_layout

// case: conflict_free_layout_bytes
// expect: the patterns of one layout must have the same element_bytes
#include <strata/core/shared_layout.hpp>
namespace conflict_free_layout_bytes {
#if defined(STRATA_CASE_conflict_free_layout_bytes)
constexpr int bytes = 8;
#else
constexpr int bytes = 4;
#endif

int position(int index) {
  return strata::ConflictFreeLayout<strata::strided_access<4, 1>, strata::strided_access<bytes, 1>>{}(index);
}
}  // namespace conflict_free_layout_bytes

// case: copy_async_bytes
// expect: copy_async copies 4, 8 or 16 bytes: copy other items by assignment
#include <strata/core/platform/async_copy.cuh>
namespace copy_async_bytes {
#if defined(STRATA_CASE_copy_async_bytes)
constexpr int bytes = 2;
#else
constexpr int bytes = 8;
#endif

STRATA_KERNEL void copy(const char* in, char* out) {
  struct alignas(16) tile {
    char bytes[16];
  };
  STRATA_SHARED(storage, tile);
  strata::platform::copy_async<bytes>(storage.bytes, in);
  strata::platform::wait_for_async_copies();
  out[0] = storage.bytes[0];
}
}  // namespace copy_async_bytes

// case: exchange_layout
// expect: ExchangeLayout needs at least one item per thread
#include <strata/core/shared_layout.hpp>
namespace exchange_layout {
#if defined(STRATA_CASE_exchange_layout)
constexpr int items = 0;
#else
constexpr int items = 1;
#endif

int position(int index) { return strata::ExchangeLayout<float, items>{}(index); }
}  // namespace exchange_layout

// case: exchange_layout_group
// expect: ExchangeLayout: GroupThreads must be a power of two up to 32: pass 32 for groups of another size
#include <strata/core/shared_layout.hpp>
namespace exchange_layout_group {
#if defined(STRATA_CASE_exchange_layout_group)
constexpr int group_threads = 12;
#else
constexpr int group_threads = 8;
#endif

int position(int index) { return strata::ExchangeLayout<float, 4, group_threads>{}(index); }
}  // namespace exchange_layout_group

// case: language_version
// expect first: strata needs C\+\+17
// bad flags: -std=c++14
// The bad half is the same source with an older language level. The macro changes nothing else.
#include <strata/core/macros.hpp>
namespace language_version {
const int version = STRATA_VERSION_MAJOR;
}  // namespace language_version

// case: launch_argument_count
// expect: strata::launch: pass exactly one argument for each parameter of the kernel
#include <strata/core/launcher.cuh>
namespace launch_argument_count {
template <class T>
STRATA_KERNEL void fill_kernel(T* out, T value) {
  out[threadIdx.x] = value;
}

cudaError_t fill(int* out) {
#if defined(STRATA_CASE_launch_argument_count)
  return strata::launch({"fill", dim3(1), dim3(32)}, fill_kernel<int>, out);
#else
  return strata::launch({"fill", dim3(1), dim3(32)}, fill_kernel<int>, out, 7);
#endif
}
}  // namespace launch_argument_count

// case: layout_storage_alignment
// expect: LayoutStorage aligns items to at most 16 bytes: access an item of a larger alignment as several smaller pieces
#include <strata/core/shared_layout.hpp>
namespace layout_storage_alignment {
#if defined(STRATA_CASE_layout_storage_alignment)
constexpr int alignment = 32;
#else
constexpr int alignment = 16;
#endif

struct alignas(alignment) item {
  unsigned char bytes[32];
};

item first_of(strata::LayoutStorage<item, strata::ExchangeLayout<item, 1>, 32>& storage) { return storage[0]; }
}  // namespace layout_storage_alignment

// case: log2_of_zero
// expect: Log2<N>: N must be positive
#include <strata/core/types.hpp>
namespace log2_of_zero {
#if defined(STRATA_CASE_log2_of_zero)
constexpr int bits = strata::Log2<0>::VALUE;
#else
constexpr int bits = strata::Log2<32>::VALUE;
#endif
static_assert(bits == 5, "the good half is right");
}  // namespace log2_of_zero

// case: padded_layout
// expect: PaddedLayout: Every must be positive, and By must not be negative
#include <strata/core/shared_layout.hpp>
namespace padded_layout {
#if defined(STRATA_CASE_padded_layout)
constexpr int every = 0;
#else
constexpr int every = 32;
#endif

int position(int index) { return strata::PaddedLayout<every, 1>{}(index); }
}  // namespace padded_layout

// case: padded_matrix_layout
// expect: PaddedMatrixLayout: Rows and Columns must be positive, and Pad must not be negative
#include <strata/core/shared_layout.hpp>
namespace padded_matrix_layout {
#if defined(STRATA_CASE_padded_matrix_layout)
constexpr int columns = 0;
#else
constexpr int columns = 32;
#endif

int position(int row, int column) { return strata::PaddedMatrixLayout<32, columns, 1>{}(row, column); }
}  // namespace padded_matrix_layout

// case: radix_key
// expect: radix sorts take integers and enumerations, and floating-point numbers of 8 to 64 bits
#include <strata/core/radix_key.hpp>
namespace radix_key {
struct point {
  int x, y;
};

#if defined(STRATA_CASE_radix_key)
using key = point;
#else
using key = int;
#endif

constexpr int bits = strata::RadixTraits<key>::bits;
}  // namespace radix_key

// case: radix_bits
// expect: Traits: T must be an integer, an enumeration or a floating-point number of 8 to 64 bits
#include <strata/core/radix_key.hpp>
namespace radix_bits {
struct pair_of_words {
  unsigned first, second;
};
#if defined(STRATA_CASE_radix_bits)
using key = pair_of_words;
#else
using key = float;
#endif

inline auto code() { return strata::Traits<key>::TwiddleIn(0); }
}  // namespace radix_bits

// case: shuffle_of_non_trivial_type
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/core/platform/shuffle.cuh>
namespace shuffle_of_non_trivial_type {
struct item {
  int value;
#if defined(STRATA_CASE_shuffle_of_non_trivial_type)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

STRATA_D int neighbour(const item& mine) {
  return strata::platform::shuffle_down(strata::full_warp_mask, mine, 1).value;
}
}  // namespace shuffle_of_non_trivial_type

// case: swizzled_layout_bytes
// expect: SwizzledLayout is for elements of 4, 8 or 16 bytes: use PaddedLayout for other elements
#include <strata/core/shared_layout.hpp>
namespace swizzled_layout_bytes {
#if defined(STRATA_CASE_swizzled_layout_bytes)
constexpr int bytes = 2;
#else
constexpr int bytes = 4;
#endif

int position(int row, int column) { return strata::SwizzledLayout<bytes, 32>{}(row, column); }
}  // namespace swizzled_layout_bytes

// case: swizzled_layout_rows
// expect: SwizzledLayout: RowElements must be a power of two: use PaddedMatrixLayout for other rows
#include <strata/core/shared_layout.hpp>
namespace swizzled_layout_rows {
#if defined(STRATA_CASE_swizzled_layout_rows)
constexpr int row_elements = 24;
#else
constexpr int row_elements = 32;
#endif

int position(int row, int column) { return strata::SwizzledLayout<4, row_elements>{}(row, column); }
}  // namespace swizzled_layout_rows

// case: temporary_storage_slots
// expect: temporary_storage::layout needs at least one slot
#include <strata/core/detail/temporary_storage.hpp>
namespace temporary_storage_slots {
#if defined(STRATA_CASE_temporary_storage_slots)
strata::temporary_storage::layout<0> layout;
#else
strata::temporary_storage::layout<1> layout;
#endif
}  // namespace temporary_storage_slots

// case: util_ptx_shuffle_down
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/core/util_ptx.cuh>
namespace util_ptx_shuffle_down {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_util_ptx_shuffle_down)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
};

STRATA_KERNEL void neighbours(int* data) {
  data[threadIdx.x] = strata::ShuffleDown<32>(item(data[threadIdx.x]), 1, 31, 0xffffffff).value;
}
}  // namespace util_ptx_shuffle_down

// case: util_ptx_shuffle_up
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/core/util_ptx.cuh>
namespace util_ptx_shuffle_up {
struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_CASE_util_ptx_shuffle_up)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
};

STRATA_KERNEL void neighbours(int* data) {
  data[threadIdx.x] = strata::ShuffleUp<32>(item(data[threadIdx.x]), 1, 0, 0xffffffff).value;
}
}  // namespace util_ptx_shuffle_up

// case: util_ptx_shuffle_width
// expect: ShuffleUp, ShuffleDown, ShuffleIndex: LogicalWarpThreads must be 1, 2, 4, 8, 16 or 32
#include <strata/core/util_ptx.cuh>
namespace util_ptx_shuffle_width {
#if defined(STRATA_CASE_util_ptx_shuffle_width)
constexpr int lanes = 12;
#else
constexpr int lanes = 16;
#endif

STRATA_KERNEL void first(int* data) {
  data[threadIdx.x] = strata::ShuffleIndex<lanes>(data[threadIdx.x], 0, 0xffffffff);
}
}  // namespace util_ptx_shuffle_width

// case: util_ptx_warp_mask
// expect: WarpMask: LogicalWarpThreads must be 1 to 32
#include <strata/core/util_ptx.cuh>
namespace util_ptx_warp_mask {
#if defined(STRATA_CASE_util_ptx_warp_mask)
constexpr int lanes = 33;
#else
constexpr int lanes = 31;
#endif

STRATA_KERNEL void mask(unsigned* out) { *out = strata::WarpMask<lanes>(0); }
}  // namespace util_ptx_warp_mask

// case: value_limits
// expect: need the extremes of the type for empty inputs: specialise std::numeric_limits for it
#include <strata/core/types.hpp>
namespace value_limits {
struct price {
  int cents;
};

}  // namespace value_limits
#if !defined(STRATA_CASE_value_limits)
template <>
struct std::numeric_limits<value_limits::price> : std::numeric_limits<int> {
  static constexpr value_limits::price max() { return {1000000}; }
  static constexpr value_limits::price lowest() { return {-1000000}; }
};
#endif
namespace value_limits {

int highest_price() { return strata::detail::value_limits<price>::max().cents; }
}  // namespace value_limits
