// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Where the items of a sort are between two passes. A sort into a given output has a buffer of its
/// own in temporary storage; one between two buffers of the caller has their input for it.
enum class radix_place : unsigned char { input, output, buffer };

/// What one pass has to do. Made on the device, when all digits are counted: the host does not
/// know.
struct radix_pass_plan {
  radix_place from;
  radix_place to;
  bool is_skipped;
  bool is_copy;  // the digit is the same everywhere, or there is none
  bool is_exact;  // all keys are (see radix_codes)
  unsigned char order;  // among the passes that are not skipped
};

/// Plans `passes` passes, of which those whose digit is the same everywhere need not move anything.
/// The last pass that does writes to the output, and those before take turns with the other place.
/// A pass must be there to take items out of the input: with none left, or where the input is
/// itself the other place and the number of moves would leave them there, a pass only copies.
STRATA_HD void plan_radix_passes(radix_pass_plan* plan, int passes, const bool* is_constant,
                                 bool is_exact, bool between_two_buffers) {
  int moves = 0;
  for (int i = 0; i < passes; ++i) moves += is_constant[i] ? 0 : 1;
  // Between two buffers the result is where `passes` moves would bring it.
  const bool needs_copy = between_two_buffers ? (passes - moves) % 2 != 0 : moves == 0;
  int executed = moves + (needs_copy ? 1 : 0);
  bool may_copy = needs_copy;
  const int last = executed;
  int order = 0;
  for (int i = 0; i < passes; ++i) {
    radix_pass_plan& pass = plan[i];
    pass.is_copy = is_constant[i] && may_copy;
    pass.is_skipped = is_constant[i] && !pass.is_copy;
    pass.is_exact = is_exact;
    pass.order = static_cast<unsigned char>(order);
    if (pass.is_skipped) {
      pass.from = pass.to = radix_place::output;
      continue;
    }
    if (pass.is_copy) may_copy = false;
    // Counted from the end.
    const bool to_output = (last - order) % 2 == 1;
    pass.to = to_output ? radix_place::output : radix_place::buffer;
    pass.from = order == 0   ? radix_place::input
                : to_output  ? radix_place::buffer
                             : radix_place::output;
    ++order;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
