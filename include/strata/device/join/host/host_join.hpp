// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/host/groups.hpp>
#include <strata/device/join/host/join.hpp>
#include <strata/device/join/output/outputs.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// Equi-join of two arrays of keys in host memory, by threads of the host: the fallback of hash joins on a
/// device, and their reference in tests. Not for users: the back ends of DeviceHashJoin, tests and benchmarks call
/// these functions. Each has the form of a device call.
///
///     for (b = 0; b < build_rows; ++b)
///       for (p = 0; p < probe_rows; ++p)
///         if (build_keys[b] == probe_keys[p]) ++num_out;  // or: write (b, p)
///
/// - **Kinds and order.** See JoinKind and JoinOrder.
/// - **Call.** Call a function twice: with `temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic;
///   never 0; never smaller for more rows), then with that much memory, whose contents and alignment do not matter. The
///   size does not depend on the number of threads. Nothing else is allocated, except by the system for threads. A
///   program links the system's threads library.
/// - **Capacity.** Rows of the result at positions from `capacity` on are not written, but counted, which is no error:
///   `*num_out` is always the size of the whole result. Which row has which position does not depend on the capacity. A
///   second call with room for all rows writes all of them.
/// - **Keys.** Trivially copyable, of any size; no value is reserved. `hash` must be the same for
///   keys that `equal` takes for equal; both are called by several threads at once and must not
///   throw. Composite keys are structs, or row numbers with functors that look at columns.
/// - **Nulls.** Rows whose bit is missing in `options.build_valid` or `probe_valid` have no key.
///   They are without a partner, or, with `nulls_equal`, partners of each other.
/// - **Row numbers** have type `Index`, a signed or unsigned integer of 4 or 8 bytes. It bounds the number
///   of rows of a side, not that of the result.
/// - **Complexity.** Linear in both sides and the result, if the hash spreads different keys: a key
///   that many rows have is in a table once. Two passes read each key, to hash it. The second pass reads a key of up to
///   8 bytes once more, to copy it. A key of more than 8 bytes is also read for each comparison with another key.
/// - **Determinism.** The result does not depend on the number of threads, nor on time.
/// - **Errors.** `HostJoinStatus::invalid_value`, before anything is written: a negative number of rows or capacity,
///   more rows than `Index` can number, a size of `options.tuning` that is not allowed, null keys if there are rows, a
///   null `num_out`, a null output that the join writes if the capacity is not 0, pairs that overlap each other,
///   `num_out` or a side's keys, temporary storage that is too small.
///
/// Algorithm: both sides are partitioned by the hash, so that the table of a partition stays in a
/// core's cache; see host/partition.hpp, host/groups.hpp and host/matcher.hpp.
namespace detail {

/// Gives each row of the result to `sink(std::int64_t position, Index build_row, Index probe_row)`.
/// Several threads call it at once, once for each position below `*num_out` and `capacity`.
/// Outputs of join_columns have such sinks. Keys are read through random-access iterators.
template <class Index, class Keys, class Sink, class Hash = JoinHash, class Equal = host_equality>
[[nodiscard]] HostJoinStatus host_join_rows(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                            Keys build_keys, std::int64_t build_rows, Keys probe_keys,
                                            std::int64_t probe_rows, const Sink& sink, std::int64_t* num_out,
                                            std::int64_t capacity, const HostJoinOptions& options = {},
                                            const Hash& hash = {}, const Equal& equal = {}) {
  host_join<Index, Keys, Hash, Equal> join(kind, build_keys, build_rows, probe_keys, probe_rows, options, hash, equal);
  if (detail::is_refused(!join.counts_are_valid(), "the number of rows of a side",
                         "is negative or more than the type of row numbers can represent") ||
      detail::refuses_join_capacity(capacity)) {
    return HostJoinStatus::invalid_value;
  }
  if (temp_storage == nullptr) {
    const std::size_t bytes = join.bytes();
    if (detail::is_refused(bytes == temporary_storage::invalid_size, "the number of rows of a side",
                           "needs more temporary storage than std::size_t can represent")) {
      return HostJoinStatus::invalid_value;
    }
    temp_storage_bytes = bytes;
    return HostJoinStatus::success;
  }
  if (detail::is_refused(!join.pointers_are_valid(), "an array of keys", "is null") ||
      detail::refuses_null(num_out, "num_out") ||
      detail::is_refused(!join.map(temp_storage, temp_storage_bytes), "temp_storage_bytes",
                         "is less than what the size query said")) {
    return HostJoinStatus::invalid_value;
  }
  join.match();
  *num_out = join.total();
  join.write(capacity, sink);
  return HostJoinStatus::success;
}

/// A join of arrays of keys.
template <class Index, class Key, class Sink, class Hash = JoinHash, class Equal = host_equality>
[[nodiscard]] HostJoinStatus host_join_gather(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                              const Key* build_keys, std::int64_t build_rows, const Key* probe_keys,
                                              std::int64_t probe_rows, const Sink& sink, std::int64_t* num_out,
                                              std::int64_t capacity, const HostJoinOptions& options = {},
                                              const Hash& hash = {}, const Equal& equal = {}) {
  return detail::host_join_rows<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                       probe_rows, sink, num_out, capacity, options, hash, equal);
}

/// Writes pairs of rows. `build_out` may be null in semi and anti joins, where it would hold
/// `no_row<Index>` only.
template <class Index, class Key, class Hash = JoinHash, class Equal = host_equality>
[[nodiscard]] HostJoinStatus host_join_pairs(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                             const Key* build_keys, std::int64_t build_rows, const Key* probe_keys,
                                             std::int64_t probe_rows, Index* build_out, Index* probe_out,
                                             std::int64_t* num_out, std::int64_t capacity,
                                             const HostJoinOptions& options = {}, const Hash& hash = {},
                                             const Equal& equal = {}) {
  if (temp_storage != nullptr && !detail::are_join_outputs_valid(kind, build_out, probe_out, num_out, capacity,
                                                                 build_keys, build_rows, probe_keys, probe_rows)) {
    return HostJoinStatus::invalid_value;
  }
  const join_pairs_sink<Index> sink{build_out, probe_out};
  return detail::host_join_gather<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                         probe_rows, sink, num_out, capacity, options, hash, equal);
}

/// Only counts the rows of the result.
template <class Index = std::int64_t, class Key, class Hash = JoinHash, class Equal = host_equality>
[[nodiscard]] HostJoinStatus host_join_count(void* temp_storage, std::size_t& temp_storage_bytes, JoinKind kind,
                                             const Key* build_keys, std::int64_t build_rows, const Key* probe_keys,
                                             std::int64_t probe_rows, std::int64_t* num_out,
                                             const HostJoinOptions& options = {}, const Hash& hash = {},
                                             const Equal& equal = {}) {
  const auto nowhere = [](std::int64_t, Index, Index) {};
  return detail::host_join_gather<Index>(temp_storage, temp_storage_bytes, kind, build_keys, build_rows, probe_keys,
                                         probe_rows, nowhere, num_out, 0, options, hash, equal);
}

}  // namespace detail
STRATA_NAMESPACE_END
