// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

/// `STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Sum")` marks the enclosing scope for profilers, unless the
/// pointer is null, as in size queries. It marks nothing, and includes nothing, if NVTX_DISABLE is defined or the NVTX
/// header is absent. Debug builds log refused calls by the name of the outermost range, even if the pointer is null.
#if !STRATA_HOST_SIMT && !defined(NVTX_DISABLE) && defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define STRATA_DETAIL_NVTX 1
#endif
#endif
#ifndef STRATA_DETAIL_NVTX
#define STRATA_DETAIL_NVTX 0
#endif

STRATA_NAMESPACE_BEGIN
namespace detail {

class nvtx_range {
 public:
  nvtx_range([[maybe_unused]] const void* object, [[maybe_unused]] const char* name) {
#if STRATA_DETAIL_NVTX
    is_marked_ = object != nullptr;
    if (is_marked_) nvtxRangePushA(name);
#endif
#if STRATA_DEBUG_LOG
    is_outermost_ = call_of_thread().name == nullptr;
    if (is_outermost_) call_of_thread() = {name, false};
#endif
  }
  ~nvtx_range() {
#if STRATA_DETAIL_NVTX
    if (is_marked_) nvtxRangePop();
#endif
#if STRATA_DEBUG_LOG
    if (is_outermost_) call_of_thread() = {};
#endif
  }
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;

#if STRATA_DEBUG_LOG
  struct logged_call {
    const char* name = nullptr;
    bool is_refused = false;
  };
  /// Returns the public call that this thread is executing.
  static logged_call& call_of_thread() {
    static thread_local logged_call call;
    return call;
  }
#endif

 private:
#if STRATA_DETAIL_NVTX
  bool is_marked_ = false;
#endif
#if STRATA_DEBUG_LOG
  bool is_outermost_ = false;
#endif
};

}  // namespace detail
STRATA_NAMESPACE_END

#define STRATA_NVTX_RANGE(object, name) \
  const STRATA_DETAIL_ROOT::detail::nvtx_range strata_nvtx_range_ { object, name }

#endif  // !STRATA_NVRTC
