// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

/// `STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Sum")` marks the enclosing scope for profilers, unless the
/// pointer is null, as in size queries. It does nothing, and includes nothing, if NVTX_DISABLE is defined or the NVTX
/// header is absent.
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
#if STRATA_DETAIL_NVTX
  nvtx_range(const void* object, const char* name) : is_marked_(object != nullptr) {
    if (is_marked_) nvtxRangePushA(name);
  }
  ~nvtx_range() {
    if (is_marked_) nvtxRangePop();
  }
#else
  nvtx_range(const void*, const char*) {}
  ~nvtx_range() {}
#endif
  nvtx_range(const nvtx_range&) = delete;
  nvtx_range& operator=(const nvtx_range&) = delete;

#if STRATA_DETAIL_NVTX
 private:
  const bool is_marked_;
#endif
};

}  // namespace detail
STRATA_NAMESPACE_END

#define STRATA_NVTX_RANGE(object, name) \
  const STRATA_DETAIL_ROOT::detail::nvtx_range strata_nvtx_range_ { object, name }

#endif  // !STRATA_NVRTC
