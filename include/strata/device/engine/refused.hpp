// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>

#if STRATA_DEBUG_LOG
#include <cstdio>
#endif

/// \file
/// Why a call is refused. Each check of an argument asks `is_refused`, which logs the reason in debug builds.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns `condition`. If it holds, the call must return `cudaErrorInvalidValue`, and debug builds
/// (`STRATA_DEBUG_LOG`) print one line: the call, the argument and the reason, at whose end `other` stands. Further
/// reasons to refuse the same call are not printed.
inline bool is_refused(bool condition, const char* argument, const char* reason, const char* other = "") {
#if STRATA_DEBUG_LOG
  nvtx_range::logged_call& call = nvtx_range::call_of_thread();
  if (condition && !call.is_refused) {
    const char* const name = call.name != nullptr ? call.name : "a call";
    std::fprintf(stderr, "strata: refused: %s: %s %s%s\n", name, argument, reason, other);
    call.is_refused = call.name != nullptr;
  }
#endif
  static_cast<void>(argument);
  static_cast<void>(reason);
  static_cast<void>(other);
  return condition;
}

}  // namespace detail
STRATA_NAMESPACE_END
