// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/host/join.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

STRATA_NAMESPACE_BEGIN

/// Sizes of the parts of a join by Metal. All are estimates: none was ever measured on an Apple GPU.
struct MetalJoinTuning {
  /// Threads of a threadgroup that joins: a power of two from 32 to 1024. If the device allows fewer, the number is
  /// halved. More threads hide the latency of memory, but leave less threadgroup memory for the table.
  std::uint32_t threads = 512;
  /// Build rows in a table in threadgroup memory; 0: as many as fit. At most 65535.
  std::uint32_t table_rows = 0;
  /// Probe rows of a task, at most 65504, because a staged match is a word of 32 bits with two row numbers.
  std::uint32_t probe_rows = 16384;
  /// Rows of one bucket that a task of the simple join looks at, at most 65535.
  std::uint32_t bucket_rows = 4096;
  /// Bits of the hash in a radix pass, at most 8.
  std::uint32_t pass_bits = 8;
  /// Tasks that are listed, and encoded, at a time.
  std::uint32_t tasks = 16384;
  /// Pairs that the tasks of a dispatch may compare, and dispatches of a command buffer. The two bound the time of a
  /// command buffer, which the system limits. A count of 32 bits holds the matches of a dispatch. If all pairs match,
  /// the GPU writes 32 GiB, which should take less than a second.
  std::uint32_t dispatch_pairs = 0xffffffffu;
  std::uint32_t dispatches = 4;
};

struct MetalJoinOptions {
  MetalJoinOptions() = default;
  MetalJoinOptions(const HostJoinOptions& of_host) : host(of_host) {}

  HostJoinOptions host;
  MetalJoinTuning metal;
  /// Overrides the choice of `choose_join_strategy` if both sides have rows and there is a GPU.
  std::optional<JoinStrategy> strategy;
};

namespace detail {
namespace metal {

constexpr bool is_valid(const MetalJoinTuning& t) {
  return t.threads >= 32 && t.threads <= 1024 && (t.threads & (t.threads - 1)) == 0 && t.table_rows <= 65535 &&
         t.probe_rows > 0 && t.probe_rows <= 65504 && t.bucket_rows > 0 && t.bucket_rows <= 65535 && t.pass_bits > 0 &&
         t.pass_bits <= 8 && t.tasks > 0 && t.dispatches > 0;
}

/// Threads of radix kernels, one for each of the 256 digits of a pass. In the scatter, each thread takes 16 rows with
/// keys of 4 bytes, or 8 rows with keys of 8 bytes. The instantiations in `radix.metal.inl` have the same numbers.
inline constexpr std::size_t radix_threads = 256;
inline constexpr unsigned radix_bits = 8;
constexpr std::size_t radix_tile_rows(std::size_t key_bytes) { return radix_threads * (key_bytes == 4 ? 16 : 8); }

/// Threadgroup memory of the partitioned join.
struct table_layout {
  std::size_t bounds;
  std::size_t hashes;
  std::size_t numbers;
  std::size_t staged;
  std::size_t sums;
};
constexpr table_layout table_layout_of(std::size_t threads, std::size_t rows) {
  return {threads * 4, rows * 4, rows * 2, threads / 32 * 64 * 4, 32 * 4};
}
/// Build rows that a table can have: what the tuning says, but no more than fit. If `table_rows` is 0, the number is a
/// multiple of 16, so that the rounding of lengths to 16 bytes adds nothing.
constexpr std::size_t table_rows_of(const MetalJoinTuning& tuning, std::size_t threads, std::size_t bytes) {
  const table_layout fixed = table_layout_of(threads, 0);
  const std::size_t taken = fixed.bounds + fixed.staged + fixed.sums;
  std::size_t fit = bytes > taken ? (bytes - taken) / 6 / 16 * 16 : 0;
  if (fit > 65520) fit = 65520;
  return tuning.table_rows != 0 && tuning.table_rows < fit ? tuning.table_rows : fit;
}

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
