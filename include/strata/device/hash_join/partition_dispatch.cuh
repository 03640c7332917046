// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_join_repeated.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#include <strata/device/hash_join/partition_kernels.cuh>
#include <strata/device/hash_join/partition_plan.hpp>
#include <strata/device/hash_join/probe_dispatch.cuh>
#include <strata/device/hash_join/set_kernels.cuh>
#include <strata/device/hash_join/set_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The launches that partition both sides and join what fits; the table in global memory then does
/// what does not.
template <class MaxPolicy, class Index, class Key, class Sink, class Hash, class Equal>
class join_partition_launches {
 public:
  using Partitions = join_partitions<Key, Hash, Equal>;
  static constexpr join_partition_tuning tuning = MaxPolicy::partition;
  static constexpr bool is_wide = is_join_double_word<Key, Hash, Equal>;
  static constexpr bool may_have_sets = is_join_word<Key, Hash, Equal>;
  template <join_pass Pass>
  using Mover = join_mover<MaxPolicy, Key, Hash, Equal, Pass, false>;

  using Repeated = AgentJoinRepeated<Key, Hash, Equal, Index, Sink, MaxPolicy::table.rest_threads>;
  using Counter = AgentJoinCount<Key, Hash, Equal, tuning.partition_threads>;

  static constexpr int slots = 7;

  join_partition_launches(JoinKind kind, std::uint64_t build_rows, std::uint64_t probe_rows,
                          bool two_passes, bool is_direct)
      : plan_(is_direct
                  ? plan_direct_join(build_rows, is_wide)
                  : plan_join_partitions(build_rows, probe_rows, tuning, is_wide, two_passes)),
        set_plan_(plan_join_set(plan_.bits, plan_.rows_each(build_rows))),
        table_bytes_(plan_.table_bytes(kind == JoinKind::full)) {}

  /// Build rows of a table that each block may have.
  static constexpr std::int64_t most_direct_rows =
      is_wide ? tuning.wide_partition_rows : tuning.partition_rows;
  bool is_direct() const { return plan_.bits == 0; }

  bool fits(std::size_t shared_bytes) const {
    if (is_direct()) return plan_.is_possible && table_bytes_ + others <= shared_bytes;
    const std::size_t tile_bytes = plan_.has_two_passes()
                                       ? larger(Mover<join_pass::first>::tile_bytes(plan_),
                                                Mover<join_pass::second>::tile_bytes(plan_))
                                       : larger(Mover<join_pass::first>::tile_bytes(plan_),
                                                Mover<join_pass::only>::tile_bytes(plan_));
    return plan_.is_possible && table_bytes_ + others <= shared_bytes &&
           repeated_bytes() + others <= shared_bytes && tile_bytes + others <= shared_bytes &&
           join_count_bytes(plan_.bits) + others <= shared_bytes;
  }

  template <class Layout>
  void reserve(Layout& storage, int first, std::size_t build_rows, std::size_t probe_rows) const {
    storage.template reserve<unsigned>(first + words, 8 * words_each() + single_words);
    if (is_direct()) return;
    const std::size_t rows = build_rows + probe_rows;
    storage.template reserve<join_record>(first + records, rows);
    if (is_wide) storage.template reserve<unsigned>(first + lower, rows);
    if (plan_.has_two_passes()) {
      storage.template reserve<join_record>(first + passing, rows);
      if (is_wide) storage.template reserve<unsigned>(first + passing_lower, rows);
    }
    storage.template reserve<join_partition_unit>(first + units, plan_.most_units());
    storage.template reserve<unsigned>(first + repeated, plan_.most_units());
  }

  template <class Layout>
  static void reserve_least(Layout& storage, int first) {
    constexpr std::size_t direct_words = 8 * 3 + single_words;
    storage.template reserve<unsigned>(first + words, direct_words);
  }

  /// Of sides of which only keys, null masks and numbers of rows are known.
  template <class Options>
  static Partitions unmapped(JoinKind kind, const join_side_records<Key>& build,
                             const join_side_records<Key>& probe, unsigned long long* total,
                             std::int64_t capacity, const Options& options) {
    Partitions join{{},           kind,         build,   probe,   nullptr,  nullptr,
                    nullptr,      nullptr,      nullptr, nullptr, nullptr,  nullptr,
                    nullptr,      nullptr,      nullptr, total,   capacity, options.build_unique,
                    options.hash, options.equal};
    return join;
  }

  template <class Layout>
  Partitions map(const Layout& storage, int first, std::size_t shared_bytes,
                 Partitions join) const {
    join.plan = plan_;
    const unsigned build_rows = join.build.rows;
    join.build.done = {storage.template get<join_record>(first + records),
                       storage.template get<unsigned>(first + lower)};
    join.build.passing = {storage.template get<join_record>(first + passing),
                          storage.template get<unsigned>(first + passing_lower)};
    join.probe.done = behind(join.build.done, build_rows);
    join.probe.passing = behind(join.build.passing, build_rows);
    auto* word = storage.template get<unsigned>(first + words);
    for (unsigned** part :
         {&join.build.cursors, &join.build.begins, &join.probe.cursors, &join.probe.begins,
          &join.is_heavy, &join.build.pass_cursors, &join.probe.pass_cursors, &join.pass_tiles}) {
      *part = word;
      word += words_each();
    }
    for (unsigned** single : {&join.any_is_heavy, &join.num_units, &join.num_pieces,
                              &join.num_repeated, &join.taken, &join.arrivals, &join.counted}) {
      *single = word++;
    }
    join.units = storage.template get<join_partition_unit>(first + units);
    join.repeated = storage.template get<unsigned>(first + repeated);
    join.build.tells_rows = !has_sets(join, shared_bytes);
    join.probe.tells_rows = join.build.tells_rows || !std::is_same_v<Sink, NullType>;
    return join;
  }

  cudaError_t run(const Partitions& join, launch_configuration like,
                  const device_properties& device, const Sink& sink) const {
    const auto multiprocessors = static_cast<unsigned>(device.multiprocessors);
    const auto configure = [&](unsigned long long blocks, int threads, std::size_t bytes) {
      like.grid = dim3(static_cast<unsigned>(blocks > 0 ? blocks : 1));
      like.block = dim3(static_cast<unsigned>(threads));
      like.dynamic_shared_bytes = bytes;
    };
    configure(plan_.partitions() / 256 + 1, 256, 0);
    cudaError_t status = strata::launch(like, join_partitions_clear_kernel<Partitions>, join);
    if (status != cudaSuccess) return status;
    if (is_direct()) {
      // As many blocks as there is room for, but rather fewer where builds are most of the work.
      constexpr unsigned blocks_each = tuning.join_blocks_per_multiprocessor;
      const unsigned even = join.probe.rows / (multiprocessors * blocks_each) + 1;
      const unsigned least = join.build.rows / 2 + 1024;
      Partitions cut = join;
      cut.plan.unit_rows = even > least ? even : least;
      configure(join.probe.rows / cut.plan.unit_rows + 1, tuning.join_threads, table_bytes_);
      return start(like, device, join_direct_kernel<MaxPolicy, Index, Key, Hash, Equal, Sink>, cut,
                   sink);
    }

    // Each block adds all its counters to those of all.
    const unsigned most_counting = multiprocessors * (plan_.bits > most_join_pass_bits ? 1 : 2);
    const unsigned build_blocks = share_of(join.build.rows, join.probe.rows, most_counting);
    const unsigned probe_blocks = share_of(join.probe.rows, join.build.rows, most_counting);
    constexpr auto count_kernel = join_partitions_count_kernel<MaxPolicy, Key, Hash, Equal>;
    configure(build_blocks + probe_blocks, tuning.partition_threads, join_count_bytes(plan_.bits));
    status =
        start(like, device, count_kernel, join, build_blocks, Mover<join_pass::second>::tile_items);
    if (status != cudaSuccess) return status;

    if (plan_.has_two_passes()) {
      status = move<join_pass::first>(join, like, device);
      if (status == cudaSuccess) status = move<join_pass::second>(join, like, device);
    } else if (plan_.bits <= tuning.short_tile_bits) {
      // The first one of two, whose records are done.
      Partitions only = join;
      for (auto* const side : {&only.build, &only.probe}) {
        side->passing = side->done;
        side->pass_cursors = side->cursors;
      }
      status = move<join_pass::first>(only, like, device);
    } else {
      status = move<join_pass::only>(join, like, device);
    }
    if (status != cudaSuccess) return status;

    // No unit is without a row.
    const unsigned long long rows =
        join.build.rows + static_cast<unsigned long long>(join.probe.rows);
    const unsigned long long most_units = plan_.most_units();
    const auto start_units = [&](std::size_t bytes, auto* large_kernel, auto* kernel,
                                 const auto&... arguments) {
      // Whether as many tables fit as registers allow blocks: what a multiprocessor has for them is
      // about what a block may have.
      const auto shared_bytes = static_cast<std::size_t>(device.shared_bytes_of_block);
      const bool is_large = (bytes + others) * tuning.join_blocks_per_multiprocessor > shared_bytes;
      configure(rows < most_units ? rows : most_units, tuning.threads_of_join(is_large), bytes);
      return start(like, device, is_large ? large_kernel : kernel, arguments...);
    };
    if constexpr (may_have_sets) {
      if (!join.build.tells_rows) {
        return start_units(
            set_plan_.bytes(),
            join_partitions_set_kernel<MaxPolicy, true, Index, Key, Hash, Equal, Sink>,
            join_partitions_set_kernel<MaxPolicy, false, Index, Key, Hash, Equal, Sink>, join,
            set_plan_, sink);
      }
    }
    return start_units(
        table_bytes_, join_partitions_join_kernel<MaxPolicy, true, Index, Key, Hash, Equal, Sink>,
        join_partitions_join_kernel<MaxPolicy, false, Index, Key, Hash, Equal, Sink>, join, sink);
  }

  /// Dynamic shared memory for the units that are left to AgentJoinRepeated.
  std::size_t repeated_bytes() const {
    if (is_direct() || !Partitions::hash_is_key) return 0;
    return table_bytes_ + Repeated::list_bytes;
  }

 private:
  static constexpr std::size_t others = join_static_shared_bytes;
  static constexpr std::size_t single_words = 7;
  enum slot { records, lower, passing, passing_lower, words, units, repeated };

  // Whether nobody asks for build rows. Rows without a key, which the table in global memory has, it
  // finds among the records.
  bool has_sets(const Partitions& join, std::size_t shared_bytes) const {
    return may_have_sets && !is_direct() && !detail::has_pairs(join.kind) &&
           join.build.valid == nullptr && join.probe.valid == nullptr &&
           set_plan_.bytes() + others <= shared_bytes;
  }

  // Counts of the partitions, of the rows without a key, and one more.
  std::size_t words_each() const { return static_cast<std::size_t>(plan_.partitions()) + 2; }

  template <join_pass Pass>
  cudaError_t move(const Partitions& join, launch_configuration like,
                   const device_properties& device) const {
    const auto multiprocessors = static_cast<unsigned>(device.multiprocessors);
    using Agent = Mover<Pass>;
    const unsigned long long rows =
        join.build.rows + static_cast<unsigned long long>(join.probe.rows);
    constexpr unsigned long long largest = Agent::tile_items;
    unsigned long long tile = largest;
    unsigned long long tiles = rows / largest + 2;
    if (Pass == join_pass::second) {
      // The last tile of each partition of the first pass may be short.
      tiles += 2u << plan_.first_bits;
    } else {
      // Each block shall have as many tiles as the others: rather a few rows less in each. The last
      // tile of each side may be short.
      const unsigned long long turns = (tiles + multiprocessors - 1) / multiprocessors;
      const unsigned long long even = rows / (turns * multiprocessors - 1) + 1;
      const unsigned long long whole = (even + warp_threads - 1) / warp_threads * warp_threads;
      if (whole < tile) tile = whole;
      tiles = rows / tile + 2;
    }
    like.grid = dim3(tiles < multiprocessors ? static_cast<unsigned>(tiles) : multiprocessors);
    like.block = dim3(static_cast<unsigned>(tuning.partition_threads));
    like.dynamic_shared_bytes = Agent::tile_bytes(plan_);
    const auto rows_of_tile = static_cast<unsigned>(tile);
    if constexpr (may_have_sets) {
      if (!join.build.tells_rows) {
        return start(like, device,
                     join_partitions_move_kernel<MaxPolicy, Pass, true, Key, Hash, Equal>, join,
                     rows_of_tile);
      }
    }
    return start(like, device,
                 join_partitions_move_kernel<MaxPolicy, Pass, false, Key, Hash, Equal>, join,
                 rows_of_tile);
  }

  static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a < b ? b : a; }

  // Blocks that count the rows of a side, at least one.
  static unsigned share_of(unsigned rows, unsigned other_rows, unsigned blocks) {
    const unsigned long long tiles = rows / Counter::tile_items + 1ull;
    const unsigned long long share =
        static_cast<unsigned long long>(blocks) * rows / (1ull + rows + other_rows) + 1;
    return static_cast<unsigned>(tiles < share ? tiles : share);
  }

  static join_records behind(const join_records& side, unsigned rows) {
    return {side.records + rows, side.lower + rows};
  }

  template <class... Parameters, class... Arguments>
  static cudaError_t start(const launch_configuration& configuration,
                           const device_properties& device, void (*kernel)(Parameters...),
                           const Arguments&... arguments) {
    const cudaError_t status = detail::allow_join_tables(configuration, device, kernel);
    if (status != cudaSuccess) return status;
    return strata::launch(configuration, kernel, arguments...);
  }

  join_partition_plan plan_;
  join_set_plan set_plan_;
  std::size_t table_bytes_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
