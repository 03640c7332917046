// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/future_count.cuh>
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
    return detail::least(left, radix_bits);
  }
};

/// One of the three arrays between which the passes of a sort move items.
enum class radix_buffer : unsigned char { input, output, scratch };

/// The input, output and scratch array of a sort: one set for the keys, one for the values.
template <class InputIterator, class T>
struct radix_buffers {
  InputIterator input;
  T* output;
  T* scratch;

  /// Returns the output or the scratch array. `buffer` must not be `input`, which may be an iterator.
  STRATA_D T* at(radix_buffer buffer) const { return buffer == radix_buffer::output ? output : scratch; }
};

/// Where the scratch arrays of a sort are.
enum class radix_scratch {
  in_storage,
  double_buffer,                // output and scratch are the two arrays of a DoubleBuffer
  in_storage_with_sorted_keys,  // the sorted keys too: only the values are a result
};

/// Names of the arguments that pass these arrays, for the log of refused calls. Only a DoubleBuffer passes a scratch
/// array.
struct radix_arguments {
  const char* input;
  const char* output;
  const char* scratch;

  static constexpr radix_arguments of_keys(radix_scratch scratch) {
    if (scratch != radix_scratch::double_buffer) return {"d_keys_in", "d_keys_out", ""};
    return {"a buffer of d_keys", "a buffer of d_keys", "a buffer of d_keys"};
  }
  static constexpr radix_arguments of_values(radix_scratch scratch) {
    if (scratch == radix_scratch::in_storage_with_sorted_keys) return {"", "d_indices_out", ""};
    if (scratch != radix_scratch::double_buffer) return {"d_values_in", "d_values_out", ""};
    return {"a buffer of d_values", "a buffer of d_values", "a buffer of d_values"};
  }
};

template <class InputIterator, class T>
bool refuses_null(const radix_buffers<InputIterator, T>& buffers, const radix_arguments& names) {
  return detail::refuses_null(buffers.input, names.input) || detail::refuses_null(buffers.output, names.output) ||
         detail::refuses_null(buffers.scratch, names.scratch);
}
inline bool refuses_bits(int begin_bit, int end_bit, int key_bits) {
  return detail::is_refused(begin_bit < 0, "begin_bit", "is negative") ||
         detail::is_refused(begin_bit > end_bit, "begin_bit", "is greater than end_bit") ||
         detail::is_refused(end_bit > key_bits, "end_bit", "is greater than the number of bits of the keys");
}

/// Where the passes of a sort must leave the items.
enum class radix_result : unsigned char {
  output,
  double_buffer,  // in the output: the alternate array if the number of passes is odd, otherwise the current one
  in_place,       // in the output; for keys, values or both, the output array is also the input array
};

/// The task of one pass. It is made on the device when all digits are counted, and the host never knows it.
struct radix_pass_plan {
  radix_buffer from;
  radix_buffer to;
  bool is_skipped;
  bool is_copy;         // copies the items in their order: its digit is constant, or there are no bits to sort by
  bool is_exact;        // all keys are exact (see radix_codes)
  unsigned char order;  // among the passes that are not skipped
};

/// Plans `passes` passes. A pass whose digit is the same in all items need not move them. The last pass that is not
/// skipped writes to the output, and the passes before it alternate between scratch and output.
///
/// With `radix_result::output`, one pass copies the items if no pass moves them. In a double buffer or in place, one
/// pass copies if the moves alone would leave the items in the wrong array.
///
/// In place, the first pass must not write what it reads:
///
///     even number of digits    input   -> scratch -> output -> scratch -> output
///     odd                      scratch -> output  -> scratch -> output
///
/// With an odd number, items have been copied from the input to scratch before. With an even number, two passes copy if
/// none moves items: in a sort of pairs, only the keys or only the values may be in place, and the others must still
/// come to their output.
STRATA_D void plan_radix_passes(radix_pass_plan* plan, int passes, const bool* is_constant, bool is_exact,
                                radix_result result) {
  int moves = 0;
  STRATA_UNROLL_N(1)
  for (int i = 0; i < passes; ++i) moves += is_constant[i] ? 0 : 1;
  int copies = result == radix_result::output ? (moves == 0 ? 1 : 0) : (passes - moves) % 2;
  if (result == radix_result::in_place && moves + copies == 0) copies = 2;
  const int executed = moves + copies;
  const bool is_in_scratch = result == radix_result::in_place && executed % 2 != 0;
  int order = 0;
  STRATA_UNROLL_N(1)
  for (int i = 0; i < passes; ++i) {
    radix_pass_plan& pass = plan[i];
    pass.is_copy = is_constant[i] && copies > 0;
    pass.is_skipped = is_constant[i] && !pass.is_copy;
    pass.is_exact = is_exact;
    pass.order = static_cast<unsigned char>(order);
    if (pass.is_skipped) {
      pass.from = pass.to = radix_buffer::output;
      continue;
    }
    if (pass.is_copy) --copies;
    const bool to_output = (executed - order) % 2 == 1;  // counted from the last pass
    pass.to = to_output ? radix_buffer::output : radix_buffer::scratch;
    pass.from = order == 0 && !is_in_scratch ? radix_buffer::input
                : to_output                  ? radix_buffer::scratch
                                             : radix_buffer::output;
    ++order;
  }
}

/// What the kernels of one sort share in device memory. The host initialises none of it: kernels clear what must be 0.
struct radix_workspace {
  unsigned long long* bins;  // of each pass: how many items have each digit, later how many have a smaller digit
  unsigned* tickets;         // of each pass
  unsigned* departures;      // of the first kernel's blocks
  unsigned* inexact;         // not 0: some keys are not exact (see radix_codes)
  radix_pass_plan* plan;
  void* states[2];          // look-back states of each tile and digit; passes know their type, and use the two in turn
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
  radix_result result = radix_result::output;

  bool has_all_bits() const { return range.begin_bit == 0 && range.end_bit == Digits::key_bits; }

  launch_configuration configuration(const char* name, std::size_t blocks, int threads,
                                     std::size_t shared_bytes = 0) const {
    launch_configuration made{name, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
    made.dynamic_shared_bytes = shared_bytes;
    made.stream = stream;
    return made;
  }
  /// Lets the kernel start before the previous kernel of the stream has ended (sm_90 on).
  launch_configuration programmatic(launch_configuration made) const {
    made.programmatic = device.ptx_version >= 900;
    return made;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
