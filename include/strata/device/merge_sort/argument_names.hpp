// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arguments that the arrays of a call are.
struct merge_sort_arguments {
  const char* keys;
  const char* values;
  const char* keys_out;
  const char* values_out;
  const char* keys_buffer = "a buffer of d_keys";
  const char* values_buffer = "a buffer of d_values";

  template <bool HasOneSegment>
  static constexpr merge_sort_arguments of(bool is_in_place) {
    if (HasOneSegment) {
      return is_in_place ? merge_sort_arguments{"d_keys", "d_items", "d_keys", "d_items"}
                         : merge_sort_arguments{"d_input_keys", "d_input_items", "d_output_keys", "d_output_items"};
    }
    return is_in_place ? merge_sort_arguments{"d_keys", "d_values", "d_keys", "d_values"}
                       : merge_sort_arguments{"d_keys_in", "d_values_in", "d_keys_out", "d_values_out"};
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
