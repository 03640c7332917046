// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/future_count.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// What the host and the kernels of a radix sort exchange: bits, arrays, passes.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The bits that a sort looks at: `passes` digits from `begin_bit` on. The last one may be narrower.
struct radix_bit_range {
  int begin_bit;
  int end_bit;

  STRATA_HD int passes() const { return ceiling_divide(end_bit - begin_bit, radix_bits); }
  STRATA_HD int first_bit(int pass) const { return begin_bit + pass * radix_bits; }
  STRATA_HD int bits(int pass) const {
    const int left = end_bit - first_bit(pass);
    return left < radix_bits ? left : radix_bits;
  }
};

/// One of the three arrays between which the passes of a sort move items.
enum class radix_buffer : unsigned char { input, output, scratch };

/// These arrays, for the keys or for the values.
template <class InputIterator, class T>
struct radix_buffers {
  InputIterator input;
  T* output;
  T* scratch;

  /// The output or the scratch array; the input is not written.
  STRATA_D T* at(radix_buffer buffer) const { return buffer == radix_buffer::output ? output : scratch; }
};

/// Where the scratch arrays of a sort are.
enum class radix_scratch {
  in_storage,
  double_buffer,                // output and scratch are the two arrays of a DoubleBuffer
  in_storage_with_sorted_keys,  // the sorted keys too: only the values are a result
};

/// What one pass has to do. Made on the device when all digits are counted: the host never knows.
struct radix_pass_plan {
  radix_buffer from;
  radix_buffer to;
  bool is_skipped;
  bool is_copy;         // the digit is the same in all items, or there is none
  bool is_exact;        // all keys are exact (see radix_codes)
  unsigned char order;  // among the passes that are not skipped
};

/// Plans `passes` passes. A pass whose digit is the same in all items need not move them. The last pass
/// that moves items writes to the output, and those before alternate between scratch and output.
///
/// One pass only copies where, without a double buffer, no pass moves items, or where, with one, the moves would leave
/// the items in the wrong array.
STRATA_D void plan_radix_passes(radix_pass_plan* plan, int passes, const bool* is_constant, bool is_exact,
                                 bool is_double_buffer) {
  int moves = 0;
  STRATA_UNROLL_N(1)
  for (int i = 0; i < passes; ++i) moves += is_constant[i] ? 0 : 1;
  // In a double buffer the result lies where `passes` moves would bring it.
  const bool needs_copy = is_double_buffer ? (passes - moves) % 2 != 0 : moves == 0;
  const int executed = moves + (needs_copy ? 1 : 0);
  bool may_copy = needs_copy;
  int order = 0;
  STRATA_UNROLL_N(1)
  for (int i = 0; i < passes; ++i) {
    radix_pass_plan& pass = plan[i];
    pass.is_copy = is_constant[i] && may_copy;
    pass.is_skipped = is_constant[i] && !pass.is_copy;
    pass.is_exact = is_exact;
    pass.order = static_cast<unsigned char>(order);
    if (pass.is_skipped) {
      pass.from = pass.to = radix_buffer::output;
      continue;
    }
    if (pass.is_copy) may_copy = false;
    const bool to_output = (executed - order) % 2 == 1;  // counted from the last pass
    pass.to = to_output ? radix_buffer::output : radix_buffer::scratch;
    pass.from = order == 0 ? radix_buffer::input : to_output ? radix_buffer::scratch : radix_buffer::output;
    ++order;
  }
}

/// What the kernels of one sort share in device memory. The host initialises none of it: the first kernel
/// clears it.
struct radix_workspace {
  unsigned long long* bins;  // of each pass: how many items have a digit, then how many a smaller one
  unsigned* tickets;         // of each pass
  unsigned* departures;      // of the first kernel's blocks
  unsigned* inexact;         // not 0: some keys are not exact (see radix_codes)
  radix_pass_plan* plan;
  void* states[2];          // look-back states of each tile and digit, of a type that the passes know; they alternate
  std::size_t state_bytes;  // of each of the two
  platform::tagged_word* arrivals;  // of the first kernel's blocks

  STRATA_D unsigned long long* bins_of(int pass) const { return bins + pass * radix_bins; }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// One call of a sort, as the host launches it.
template <class KeyIteratorT, class ValueIteratorT, class ValueT, class DigitsT, class CountT>
struct radix_sort_problem {
  using KeyIterator = KeyIteratorT;
  using ValueIterator = ValueIteratorT;
  using Key = iterator_value_t<KeyIterator>;
  using Value = ValueT;
  using Digits = DigitsT;
  using Count = CountT;                                                       // std::size_t, or a FutureCount
  using SmallCount = std::conditional_t<is_future_count<Count>, Count, int>;  // of kernels for few items
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;

  radix_buffers<KeyIterator, Key> keys;
  radix_buffers<ValueIterator, Value> values;
  std::size_t num_items;  // or the bound of a FutureCount
  Count count;
  radix_bit_range range;
  Digits digits;
  radix_scratch scratch;
  cudaStream_t stream;
  device_properties device;

  bool has_all_bits() const { return range.begin_bit == 0 && range.end_bit == Digits::key_bits; }
  bool is_double_buffer() const { return scratch == radix_scratch::double_buffer; }

  launch_configuration configuration(const char* name, std::size_t blocks, int threads,
                                     std::size_t shared_bytes = 0) const {
    launch_configuration result{name, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
    result.dynamic_shared_bytes = shared_bytes;
    result.stream = stream;
    return result;
  }
  /// The kernel may start before the one before it in the stream has ended.
  launch_configuration programmatic(launch_configuration result) const {
    result.programmatic = device.ptx_version >= 900;
    return result;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
