// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/requirements.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/host/matcher.hpp>
#include <strata/device/join/host/partition.hpp>
#include <strata/device/join/host/thread_team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The status of a join on the host. The values are those of cudaError_t, so that a caller may cast. A
/// program without a CUDA toolkit does not need that type.
enum class HostJoinStatus { success = 0, invalid_value = 1 };

/// Sizes of the parts of a join on the host; none may be 0. Not measured: estimates for 1 MB of L2 cache
/// of each core.
struct HostJoinTuning {
  /// Build rows of a partition, on average: their table takes some 50 bytes a row.
  std::size_t partition_rows = 8192;
  /// With more partitions, stores would not fill whole cache lines.
  unsigned most_partition_bits = 12;
  /// Rows that a thread partitions at a time; more if there are many rows.
  std::size_t slice_rows = std::size_t{1} << 16;
  /// Rows that a thread looks up at a time.
  std::size_t chunk_rows = 4096;
  /// Rows of the result that a thread writes at a time.
  std::uint64_t task_results = 1 << 14;
};

struct HostJoinOptions {
  JoinOrder order = JoinOrder::any;
  /// Bit i % 32 of word i / 32 is set if row i has a key. Null: all rows have keys.
  const std::uint32_t* build_valid = nullptr;
  const std::uint32_t* probe_valid = nullptr;
  /// Whether rows without a key are partners of each other.
  bool nulls_equal = false;
  /// The number of threads, up to 256; 0: as many as the machine runs at the same time.
  unsigned threads = 0;
  HostJoinTuning tuning = {};
};

namespace detail {

/// A join on the host in steps: `bytes`, `map`, `match`, then `total` and `write`. These two may be called
/// again while the storage is not changed. So a caller can count, allocate the result, and write it
/// without looking rows up a second time.
template <class Index, class Keys, class Hash, class Equal>
class host_join {
  using Key = iterator_value_t<Keys>;
  static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                "the row numbers of a join are integers of 4 or 8 bytes: choose such an Index");
  static_assert(is_trivially_relocatable_v<Key>, "a join copies keys: Key must be trivially relocatable");

  using Row = std::make_unsigned_t<Index>;
  using side = host_join_side<Keys, Row, Hash>;
  using groups = join_groups<Keys, Row, Hash, Equal>;
  using matcher = join_matcher<Keys, Row, Hash, Equal>;
  using partitioner = join_partitioner<Keys, Row, Hash>;

 public:
  host_join(JoinKind kind, const Keys& build_keys, std::int64_t build_rows, const Keys& probe_keys,
            std::int64_t probe_rows, const HostJoinOptions& options, const Hash& hash, const Equal& equal)
      : kind_(kind), options_(options), hash_(hash), equal_(equal), build_rows_(build_rows), probe_rows_(probe_rows) {
    hash_requirements<Hash, Key>::check();
    equality_requirements<Equal, const Key>::check();
    build_.keys = build_keys;
    build_.valid = options.build_valid;
    build_.rows = build_rows > 0 ? static_cast<std::size_t>(build_rows) : 0;
    probe_.keys = probe_keys;
    probe_.valid = options.probe_valid;
    probe_.rows = probe_rows > 0 ? static_cast<std::size_t>(probe_rows) : 0;
    if (counts_are_valid()) reserve();
  }

  bool counts_are_valid() const {
    // -1 stands for no row.
    constexpr Row all_ones = static_cast<Row>(-1);
    constexpr Row most_rows = std::is_signed_v<Index> ? all_ones >> 1 : all_ones;
    const HostJoinTuning& tuning = options_.tuning;
    return build_rows_ >= 0 && probe_rows_ >= 0 && build_.rows <= most_rows && probe_.rows <= most_rows &&
           tuning.partition_rows > 0 && tuning.slice_rows > 0 && tuning.chunk_rows > 0 && tuning.task_results > 0 &&
           tuning.most_partition_bits < 32;
  }
  bool pointers_are_valid() const {
    return (build_.rows == 0 || !detail::is_null(build_.keys)) && (probe_.rows == 0 || !detail::is_null(probe_.keys));
  }

  std::size_t bytes() const { return storage_.bytes(); }

  bool map(void* temp_storage, std::size_t temp_storage_bytes) {
    if (!storage_.map(temp_storage, temp_storage_bytes)) return false;
    build_.entries = storage_.template get<typename side::entry>(build_entries);
    build_.begins = storage_.template get<std::size_t>(build_begins);
    probe_.entries = storage_.template get<typename side::entry>(probe_entries);
    probe_.begins = storage_.template get<std::size_t>(probe_begins);
    return true;
  }

  void match() const {
    const thread_team team = threads();
    const partitioner by_hash(bits(), options_.tuning.slice_rows, hash_);
    auto* const counts = storage_.template get<std::size_t>(slice_counts);
    by_hash.run(team, build_, counts);
    by_hash.run(team, probe_, counts);
    const matcher found = results();
    // No probe row has been looked up yet, so `matches` is free.
    team.run(by_hash.partitions(), [&found](std::uint64_t partition) {
      found.table.build(partition, partition + 1 == found.partitions, found.matches);
    });
    found.match(team);
  }

  /// Rows of the whole result.
  std::int64_t total() const { return static_cast<std::int64_t>(*storage_.template get<std::uint64_t>(sum)); }

  /// Gives the rows at positions below `capacity` to the sink.
  template <class Sink>
  void write(std::int64_t capacity, const Sink& sink) const {
    const std::int64_t limit = capacity < total() ? capacity : total();
    results().template write<Index>(threads(), static_cast<std::uint64_t>(limit), sink);
  }

 private:
  enum slot {
    team_threads,
    slice_counts,
    build_begins,
    probe_begins,
    build_entries,
    probe_entries,
    group_buckets,
    group_list,
    group_rows,
    group_matched,
    matches,
    chunk_begins,
    build_chunk_begins,
    unmatched,
    sum,
    slots
  };

  unsigned bits() const {
    const HostJoinTuning& tuning = options_.tuning;
    const unsigned wanted = detail::partition_bits(build_.rows, tuning.partition_rows);
    return wanted < tuning.most_partition_bits ? wanted : tuning.most_partition_bits;
  }

  void reserve() {
    const HostJoinTuning& tuning = options_.tuning;
    const std::size_t partitions = (std::size_t{1} << bits()) + 1;
    const std::size_t most_rows = build_.rows > probe_.rows ? build_.rows : probe_.rows;
    const auto chunks = matcher::chunks_of;
    storage_.template reserve<std::thread>(team_threads, thread_team::most_threads);
    storage_.template reserve<std::size_t>(slice_counts,
                                           partitioner::slices(most_rows, tuning.slice_rows) * partitions);
    storage_.template reserve<std::size_t>(build_begins, partitions + 1);
    storage_.template reserve<std::size_t>(probe_begins, partitions + 1);
    storage_.template reserve<typename side::entry>(build_entries, build_.rows);
    storage_.template reserve<typename side::entry>(probe_entries, probe_.rows);
    storage_.template reserve<Row>(group_buckets, groups::buckets_each * build_.rows);
    storage_.template reserve<typename groups::group>(group_list, build_.rows);
    storage_.template reserve<Row>(group_rows, build_.rows);
    storage_.template reserve<Row>(matches, most_rows);
    storage_.template reserve<std::uint64_t>(chunk_begins, chunks(probe_.rows, tuning.chunk_rows) + 1);
    storage_.template reserve<std::uint64_t>(sum, 1);
    if (kind_ != JoinKind::full) return;
    storage_.template reserve<std::atomic<bool>>(group_matched, build_.rows);
    storage_.template reserve<std::uint64_t>(build_chunk_begins, chunks(build_.rows, tuning.chunk_rows) + 1);
    storage_.template reserve<unsigned char>(unmatched, build_.rows);
  }

  thread_team threads() const { return {storage_.template get<std::thread>(team_threads), options_.threads}; }

  matcher results() const {
    const bool all_build_rows = kind_ == JoinKind::full;
    return {kind_,
            options_.order,
            options_.nulls_equal,
            options_.tuning.chunk_rows,
            options_.tuning.task_results,
            (std::size_t{1} << bits()) + 1,
            build_.rows,
            probe_,
            groups{build_, hash_, equal_, storage_.template get<Row>(group_buckets),
                   storage_.template get<typename groups::group>(group_list), storage_.template get<Row>(group_rows),
                   all_build_rows ? storage_.template get<std::atomic<bool>>(group_matched) : nullptr},
            storage_.template get<Row>(matches),
            storage_.template get<std::uint64_t>(chunk_begins),
            storage_.template get<std::uint64_t>(build_chunk_begins),
            storage_.template get<unsigned char>(unmatched),
            storage_.template get<std::uint64_t>(sum)};
  }

  JoinKind kind_;
  HostJoinOptions options_;
  Hash hash_;
  Equal equal_;
  std::int64_t build_rows_;
  std::int64_t probe_rows_;
  side build_;
  side probe_;
  temporary_storage::layout<slots> storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END
