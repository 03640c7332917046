// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdio>

STRATA_NAMESPACE_BEGIN

/// The result of a join by Metal. The values equal the corresponding cudaError_t, so a cast converts them.
enum class MetalJoinStatus {
  success = 0,
  invalid_value = 1,
  /// Metal gave no buffer, queue or command buffer.
  out_of_memory = 2,
  /// Metal's compiler rejected the shader text.
  invalid_source = 300,
  /// The compiled text has no function with the name of a kernel, or Metal could not make a pipeline from that
  /// function.
  no_function = 500,
  /// A command buffer ended with an error (a fault, or the watchdog), or counts of the GPU do not add up to the number
  /// of rows.
  launch_failure = 719,
  /// The device allows fewer threads in a threadgroup, or less memory, than a kernel needs.
  not_supported = 801
};

namespace detail {
namespace metal {

inline constexpr std::size_t error_text_bytes = 4096;

inline char* error_text_storage() {
  static thread_local char text[error_text_bytes] = "";
  return text;
}

/// Stores the error text of this thread and returns the status.
inline MetalJoinStatus fail(MetalJoinStatus status, const char* what, const char* detail = "") {
  std::snprintf(error_text_storage(), error_text_bytes, "%s%s", what, detail);
  return status;
}

}  // namespace metal
}  // namespace detail

/// Describes the last error of a join in this thread that was not `invalid_value`, with what Metal's compiler said.
inline const char* metal_join_error_text() { return detail::metal::error_text_storage(); }

STRATA_NAMESPACE_END
