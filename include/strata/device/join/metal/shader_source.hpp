// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/metal/shader_args.hpp>

#include <string>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

inline constexpr char radix_text[] =
#include <strata/device/join/metal/radix.metal.inl>
    ;
inline constexpr char join_text[] =
#include <strata/device/join/metal/join.metal.inl>
    ;

/// The text that Metal compiles, at run time: there is no build step. #line lets its messages name
/// the files.
inline std::string shader_source() {
  return std::string("#include <metal_stdlib>\nusing namespace metal;\n") + shader_args_text +
         "#line 4 \"radix.metal.inl\"\n" + radix_text + "#line 4 \"join.metal.inl\"\n" + join_text;
}

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
