// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_options.hpp>
#include <strata/device/hash_join/join_side.hpp>
#include <strata/device/hash_join/join_types.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A JoinTable of a back end whose joins end before they return. It keeps no table: each probe joins both sides.
template <class Backend, class Key, class Index, class Hash, class Equal>
class join_table_on_host {
  using Options = JoinOptions<Hash, Equal>;

 public:
  /// The caller's memory is not used, but no call may depend on the back end.
  static cudaError_t MemoryBytes(const JoinSide<Key>& build, std::size_t& bytes, const Options&) {
    if (!is_count_of_rows(build.rows)) return cudaErrorInvalidValue;
    bytes = 1;
    return cudaSuccess;
  }

  join_table_on_host(void* memory, std::size_t memory_bytes, const JoinSide<Key>& build, const Options& options)
      : has_memory_(memory != nullptr && memory_bytes > 0), build_(build), options_(options) {}

  const JoinSide<Key>& build() const { return build_; }

  template <class Stream>
  cudaError_t Insert(std::int64_t, std::int64_t, Stream) const {
    return is_usable() ? cudaSuccess : cudaErrorInvalidValue;
  }

  template <class Output, class Stream>
  cudaError_t Probe(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind, std::int64_t num_rows,
                    const JoinSide<Key>& probe, const Output& output, std::int64_t* num_out, Stream stream) const {
    if (!is_usable() || !is_count_of_rows(probe.rows)) return cudaErrorInvalidValue;
    JoinSide<Key> build = build_;
    if (temp_storage != nullptr) build.rows = num_rows;
    return Backend::join(temp_storage, temp_storage_bytes, kind, build, probe, output, num_out, options_, stream);
  }

 private:
  static bool is_count_of_rows(std::int64_t rows) {
    return rows >= 0 &&
           static_cast<std::uint64_t>(rows) <= static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  }
  bool is_usable() const {
    return has_memory_ && is_count_of_rows(build_.rows) && (build_.rows == 0 || build_.keys != nullptr);
  }

  bool has_memory_;
  JoinSide<Key> build_;
  Options options_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
