// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>
#include <string>

// Declares structs for C++, and keeps their text as a string for the shader.
#define STRATA_DETAIL_SHARED_WITH_SHADER(name, ...) \
  __VA_ARGS__                                       \
  inline constexpr char name[] = #__VA_ARGS__ "\n";

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

// radix_tile: the rows [begin, end) that one threadgroup moves in a radix pass. radix_args: digit = hash >> shift &
// mask. Without has_rows, the number of a row is its position. join_task: the build rows (table_join: the slots of each
// bucket) and the probe rows of one threadgroup. join_args: `emit`: pairs are written. `mark`: joins set the bit of
// each probe row that has a partner; lone_rows writes ~0 as the build row of each result. `writes_found`: the rows with
// a partner are written (semi joins), else the rows without (left and anti joins). `table_mask`: the number of buckets
// minus 1.
STRATA_DETAIL_SHARED_WITH_SHADER(
    shader_args_text,
    struct radix_tile {
      uint32_t begin;
      uint32_t end;
    };
    struct radix_args {
      uint32_t shift;
      uint32_t mask;
      uint32_t has_rows;
    };
    struct join_task {
      uint32_t build_begin;
      uint32_t build_end;
      uint32_t probe_begin;
      uint32_t probe_end;
    };
    struct join_args {
      uint64_t capacity;
      uint32_t has_rows;
      uint32_t emit;
      uint32_t mark;
      uint32_t writes_found;
      uint32_t rows;
      uint32_t table_mask;
    };)

// not for users: the shader has the same layout
static_assert(sizeof(radix_tile) == 8 && sizeof(radix_args) == 12 && sizeof(join_task) == 16 && sizeof(join_args) == 32,
              "C++ and Metal must agree on the layout of arguments");

inline constexpr char radix_text[] =
#include <strata/device/join/metal/radix.metal.inl>
    ;
inline constexpr char join_text[] =
#include <strata/device/join/metal/join.metal.inl>
    ;

/// Returns the text that Metal compiles at run time. With #line, the compiler's messages name the files.
inline std::string shader_source() {
  return std::string("#include <metal_stdlib>\nusing namespace metal;\n") + shader_args_text +
         "#line 4 \"radix.metal.inl\"\n" + radix_text + "#line 4 \"join.metal.inl\"\n" + join_text;
}

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
#undef STRATA_DETAIL_SHARED_WITH_SHADER
