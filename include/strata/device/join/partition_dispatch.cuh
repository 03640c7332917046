// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/key_set.cuh>
#include <strata/device/join/output/outputs.hpp>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/agent_count.cuh>
#include <strata/device/join/radix_partition/agent_partition.cuh>
#include <strata/device/join/radix_partition/match_sample.cuh>
#include <strata/device/join/radix_partition/partitioned_columns.cuh>
#include <strata/device/join/radix_partition/plan.hpp>
#include <strata/device/join/shared_table/agent_duplicates.cuh>
#include <strata/device/join/shared_table/agent_join.cuh>
#include <strata/device/join/shared_table/agent_row_lists.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Clears the counters and the marks of overflowing partitions.
template <class Partitions, class Sample>
STRATA_KERNEL void join_partitions_clear_kernel(Partitions join, [[maybe_unused]] Sample sample) {
  begin_join_kernel();
  if constexpr (!std::is_same_v<Sample, NullType>) {
    for (unsigned long long i = join_thread(); sample.is_taken() && i < 2 * Sample::counters; i += join_threads()) {
      sample.counts[i] = 0;
    }
  }
  for (unsigned long long p = join_thread(); p <= join.plan.partitions(); p += join_threads()) {
    join.build.cursors[p] = 0;
    join.probe.cursors[p] = 0;
    join.is_overflowing[p] = 0;
  }
  if (join_thread() != 0) return;
  *join.any_is_overflowing = 0;
  *join.num_deferred = 0;
  *join.next_deferred = 0;
  *join.arrivals = 0;
  *join.counted = 0;
  *join.total = 0;
}

/// Counts the rows of partitions. `build_blocks` blocks count the build side, the others the probe side. The last block
/// then computes the begins of partitions, the work items, which partitions overflow, and the tiles of a second pass.
/// `Sample` is join_match_sample, or NullType.
template <class MaxPolicy, class Keys, class Hash, class Equal, class Sample>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partitions_count_kernel(join_partitions<Keys, Hash, Equal> join, unsigned build_blocks,
                                                    unsigned pass_tile, Sample sample) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  constexpr bool takes_sample = !std::is_same_v<Sample, NullType>;
  using Sampling = std::conditional_t<takes_sample, AgentJoinSample<tuning.partition_threads>, NullType>;
  using Agent = AgentJoinCount<typename MaxPolicy::ActivePolicy, Keys, Hash, Equal, Sampling>;
  using Offsets = AgentJoinOffsets<join_partitions<Keys, Hash, Equal>, tuning.partition_threads, tuning.offset_items>;
  STRATA_SHARED(storage, Uninitialized<typename Offsets::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  begin_join_kernel();
  auto* const counts = reinterpret_cast<unsigned*>(shared);
  const auto sampling = [&] {
    if constexpr (takes_sample) {
      return Sampling(sample, counts + detail::join_count_bytes(join.plan.bits) / sizeof(unsigned));
    } else {
      return sample;
    }
  }();
  const Agent agent{counts, join.plan.partitions(), join.plan.bits, join.hash, sampling};
  if constexpr (are_counted_keys<Keys>) {
    build_blocks = Agent::blocks_of(detail::rows_of(join.build), detail::rows_of(join.probe), gridDim.x - 1);
  }
  // One call, with the side that the block counts as its argument, is less code, but 2 to 5 % slower for keys of 8
  // bytes.
  if (blockIdx.x < build_blocks) {
    agent.run(join.build, false, blockIdx.x, build_blocks);
  } else {
    agent.run(join.probe, true, blockIdx.x - build_blocks, gridDim.x - build_blocks);
  }
  if (!detail::is_last_block(join.counted)) return;
  const Offsets offsets{storage.Alias(), join};
  if constexpr (takes_sample) {
    sample.template decide<tuning.partition_threads>(
        [&](unsigned long long number, bool slot) { return offsets.sum_of_block(number, slot); });
  }
  offsets.run();
  if (join.plan.has_two_passes()) offsets.cut_second_pass(pass_tile);
}

/// The tuning row of a pass, and its agent. `PassOutput`: see AgentJoinPartition.
template <class Policy, class PassOutput>
inline constexpr join_partition_tuning join_pass_tuning = partitions_columns<PassOutput>
                                                              ? detail::with_columns(Policy::partition)
                                                              : Policy::partition;
template <class Policy, class Keys, class Hash, class Equal, join_pass Pass, bool KeySets, class PassOutput>
using join_partition_agent = AgentJoinPartition<Keys, Hash, Equal, Policy::partition.partition_threads,
                                                join_pass_tuning<Policy, PassOutput>.items(
                                                    Pass, is_join_double_word<iterator_value_t<Keys>, Hash, Equal>),
                                                Pass, KeySets>;

/// Writes the rows of both sides to their partitions, by tiles of `tile_rows` rows, at most the agent's
/// `tile_items`.
template <class MaxPolicy, join_pass Pass, bool KeySets, class Keys, class Hash, class Equal, class PassOutput>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.partition_threads)
    STRATA_KERNEL void join_partition_kernel(join_partitions<Keys, Hash, Equal> join, unsigned tile_rows,
                                             PassOutput output) {
  using Agent = join_partition_agent<typename MaxPolicy::ActivePolicy, Keys, Hash, Equal, Pass, KeySets, PassOutput>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  detail::begin_join_kernel<Agent>();
  // The host knew only upper bounds of the numbers of rows. The tile size is computed again from the numbers.
  if constexpr (are_counted_keys<Keys> && !Agent::is_second && !std::is_same_v<PassOutput, join_tile_runs>) {
    tile_rows =
        detail::even_join_tile(0ull + detail::rows_of(join.build) + detail::rows_of(join.probe), gridDim.x, tile_rows);
  }
  const bool has_indices = *join.any_is_overflowing != 0 && (Agent::numbers_rows || partitions_columns<PassOutput>);
  Agent(storage.Alias(), shared, join.plan, join.pass_tiles, tile_rows, join.hash,
        has_indices ? join.is_overflowing : nullptr)
      .run(join.build, join.probe, output);
}

/// Joins the work items, one by each block, and defers those whose keys have many build rows. With
/// `IsLarge` the shared memory of a multiprocessor holds one table only.
template <class MaxPolicy, bool IsLarge, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_join_kernel(join_partitions<Keys, Hash, Equal> join, Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent =
      AgentJoinTables<Keys, Hash, Equal, Index, typename chosen_sink<Sink>::type, tuning.threads_of_join(IsLarge),
                      MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items, false>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  detail::begin_join_kernel<Agent>();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  chosen_sink<Sink>::use(sink, [&](const auto& output) {
    typename Agent::template with_sink<std::decay_t<decltype(output)>> agent(storage.Alias(), shared, join, output);
    agent.run(join.work_items[at], at, tuning.min_deferred_rows);
  });
}

/// Joins work items as join_partitions_join_kernel does, with several partners of a probe row in ascending order. No
/// work item is deferred.
template <class MaxPolicy, bool IsLarge, class Keys, class Hash, class Equal>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.threads_of_join(IsLarge),
                  MaxPolicy::ActivePolicy::partition.blocks_of_join(IsLarge))
    STRATA_KERNEL void join_partitions_list_kernel(join_partitions<Keys, Hash, Equal> join, join_list_sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinRowLists<Keys, Hash, Equal, tuning.threads_of_join(IsLarge),
                                  MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  detail::begin_join_kernel<Agent>();
  unsigned at = 0;
  if (!join.find_work_item(at)) return;
  Agent(storage.Alias(), shared, join, sink).run(join.work_items[at]);
}

/// Joins a build side that fits one table: each block builds the table, and joins `work_item_rows` probe rows.
template <class MaxPolicy, class Index, class Keys, class Hash, class Equal, class Sink>
__launch_bounds__(MaxPolicy::ActivePolicy::partition.join_threads,
                  MaxPolicy::ActivePolicy::partition.join_blocks_per_multiprocessor)
    STRATA_KERNEL void join_one_table_kernel(join_partitions<Keys, Hash, Equal> join, Sink sink) {
  constexpr join_partition_tuning tuning = MaxPolicy::ActivePolicy::partition;
  using Agent = AgentJoinTables<Keys, Hash, Equal, Index, Sink, tuning.join_threads,
                                MaxPolicy::ActivePolicy::output.group_threads, tuning.join_items, true>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(shared);
  detail::begin_join_kernel<Agent>();
  const unsigned each = join.plan.work_item_rows;
  const unsigned long long begin = static_cast<unsigned long long>(blockIdx.x) * each;
  if (begin >= detail::rows_of(join.probe)) return;
  const auto first = static_cast<unsigned>(begin);
  const unsigned left = detail::rows_of(join.probe) - first;
  Agent(storage.Alias(), shared, join, sink).run({0, first, detail::least(left, each)}, 0, 0);
}

/// The launches that partition both sides and join the partitions that fit tables in shared memory. The
/// table in global memory then joins the others.
template <class MaxPolicy, class ActivePolicy, class Index, class Keys, class Sink, class Hash, class Equal,
          bool MayHaveSets>
class join_partition_launches {
 public:
  using Partitions = join_partitions<Keys, Hash, Equal>;
  static constexpr join_partition_tuning tuning = join_pass_tuning<ActivePolicy, Sink>;
  static constexpr bool is_wide = is_join_double_word<iterator_value_t<Keys>, Hash, Equal>;
  static constexpr bool may_have_sets = MayHaveSets && is_join_word<iterator_value_t<Keys>, Hash, Equal>;
  template <join_pass Pass>
  using PassAgent = join_partition_agent<ActivePolicy, Keys, Hash, Equal, Pass, may_have_sets, Sink>;

  using RecordSink = record_sink_t<Sink>;
  using Duplicates = AgentJoinDuplicates<Keys, Hash, Equal, Index, typename chosen_sink<RecordSink>::type,
                                         ActivePolicy::table.fallback_threads, ActivePolicy::output.group_threads>;
  using Counter = AgentJoinCount<ActivePolicy, Keys, Hash, Equal>;

  /// `writes_partners`: the join writes partners of probe rows, and a selection kernel then reads them tile by tile.
  /// `lists_rows`: a probe row may have several partners.
  static constexpr bool lists_rows = std::is_same_v<Sink, join_list_sink>;
  static constexpr bool writes_partners = lists_rows || std::is_same_v<Sink, join_partner_sink>;
  /// What the passes write besides records.
  using PassOutput =
      std::conditional_t<writes_partners, join_tile_runs, std::conditional_t<partitions_columns<Sink>, Sink, NullType>>;

  using Sample = std::conditional_t<partitions_columns<Sink>, join_match_sample, NullType>;

  static constexpr int slots = 9;
  static_assert(tuning.min_bits >= 1 && tuning.min_bits <= tuning.one_pass_bits &&
                    tuning.one_pass_bits <= max_join_pass_bits,
                "join_partition_tuning: min_bits must be at least 1 and at most one_pass_bits, and one_pass_bits at "
                "most 11");

  join_partition_launches(JoinKind kind, std::uint64_t build_rows, std::uint64_t probe_rows, bool two_passes,
                          bool is_one_table)
      : plan_(is_one_table ? plan_one_join_table(build_rows, is_wide)
                           : detail::plan_join_partitions(build_rows, probe_rows, tuning, is_wide, two_passes,
                                                          are_numbered_keys<Keys>)),
        set_plan_(plan_join_set(plan_.bits, plan_.rows_each(build_rows))),
        table_bytes_(plan_.table_bytes(kind == JoinKind::full)) {}

  bool is_one_table() const { return plan_.bits == 0; }

  bool fits(std::size_t shared_bytes) const {
    const auto fit = [&](std::size_t bytes) { return bytes + static_bytes <= shared_bytes; };
    if (is_one_table()) return plan_.is_possible && fit(table_bytes_);
    const std::size_t tile_bytes = plan_.has_two_passes() ? PassAgent<join_pass::second>::tile_bytes(plan_)
                                                          : PassAgent<join_pass::only>::tile_bytes(plan_);
    return plan_.is_possible && fit(table_bytes_) && fit(duplicates_bytes()) && fit(tile_bytes) &&
           fit(PassAgent<join_pass::first>::tile_bytes(plan_)) && fit(count_bytes());
  }

  /// False if one table in global memory joins instead.
  template <class Call>
  bool are_used(const Call& call) const {
    const auto shared_bytes = static_cast<std::size_t>(call.device.shared_bytes_of_block);
    if (!fits(shared_bytes)) return false;
    if (is_one_table() || call.options.strategy != JoinStrategy::automatic) return true;
    const JoinStrategy strategy = strata::choose_join_strategy(static_cast<std::uint64_t>(call.build.rows),
                                                               static_cast<std::uint64_t>(call.probe.rows),
                                                               sizeof(iterator_value_t<Keys>), shared_bytes);
    return strategy == JoinStrategy::radix_single || strategy == JoinStrategy::radix_multi;
  }

  template <class Layout>
  void reserve(Layout& storage, int first, std::size_t build_rows, std::size_t probe_rows) const {
    storage.template reserve<unsigned>(first + words, 8 * words_each() + single_words);
    if (is_one_table()) return;
    const std::size_t rows = build_rows + probe_rows;
    storage.template reserve<join_record>(first + records, rows);
    if (is_wide) storage.template reserve<unsigned>(first + lower, rows);
    if (plan_.has_two_passes()) {
      storage.template reserve<join_record>(first + first_pass_records, rows);
      if (is_wide) storage.template reserve<unsigned>(first + first_pass_lower, rows);
    }
    if (writes_partners && !plan_.has_two_passes()) {
      storage.template reserve<unsigned>(first + run_ranges, 2 * number_of_runs(probe_rows));
      storage.template reserve<join_partner>(first + partners, probe_rows);
    }
    storage.template reserve<join_work_item>(first + work_items, plan_.max_work_items());
    storage.template reserve<unsigned>(first + deferred, plan_.max_work_items());
  }

  template <class Layout>
  static void reserve_min(Layout& storage, int first) {
    constexpr std::size_t one_table_words = 8 * 3 + single_words;
    storage.template reserve<unsigned>(first + words, one_table_words);
  }

  /// Arguments of the kernels, with no pointers to temporary storage.
  template <class Call>
  static Partitions arguments(const Call& call) {
    Partitions join(call.options.hash, call.options.equal);
    join.kind = call.kind;
    join.build = {call.build.keys, call.build.valid_mask, static_cast<unsigned>(call.build.rows)};
    join.probe = {call.probe.keys, call.probe.valid_mask, static_cast<unsigned>(call.probe.rows)};
    join.total = call.total;
    join.capacity = call.capacity;
    join.promised_unique = call.build.is_unique;
    join.build.drops_nulls = !call.options.nulls_equal && call.kind != JoinKind::full;
    join.probe.drops_nulls = !call.options.nulls_equal && (call.kind == JoinKind::inner || call.kind == JoinKind::semi);
    return join;
  }

  template <class Layout, class Call>
  Partitions map(const Layout& storage, int first, const Call& call) const {
    Partitions join = arguments(call);
    join.plan = plan_;
    const unsigned build_rows = join.build.rows;
    join.build.partitioned = {storage.template get<join_record>(first + records),
                              storage.template get<unsigned>(first + lower)};
    join.build.first_pass = {storage.template get<join_record>(first + first_pass_records),
                             storage.template get<unsigned>(first + first_pass_lower)};
    join.probe.partitioned = behind(join.build.partitioned, build_rows);
    join.probe.first_pass = behind(join.build.first_pass, build_rows);
    auto* word = storage.template get<unsigned>(first + words);
    for (unsigned** part :
         {&join.build.cursors, &join.build.begins, &join.probe.cursors, &join.probe.begins, &join.is_overflowing,
          &join.build.pass_cursors, &join.probe.pass_cursors, &join.pass_tiles}) {
      *part = word;
      word += words_each();
    }
    for (unsigned** single : {&join.any_is_overflowing, &join.num_work_items, &join.num_pieces, &join.num_deferred,
                              &join.next_deferred, &join.arrivals, &join.counted}) {
      *single = word++;
    }
    join.work_items = storage.template get<join_work_item>(first + work_items);
    join.deferred = storage.template get<unsigned>(first + deferred);
    join.build.has_row_ids = !has_sets(join, static_cast<std::size_t>(call.device.shared_bytes_of_block));
    join.probe.has_row_ids = join.build.has_row_ids || !std::is_same_v<Sink, NullType>;
    return join;
  }

  /// Returns where the join writes partners.
  template <class Layout>
  join_partners partners_of(const Partitions& join, const Layout& storage, int first,
                            const join_partner_sink& sink) const {
    if (is_one_table() || plan_.has_two_passes() || tile_of_one_pass() < ActivePolicy::output.select_rows) {
      return {sink, {}, nullptr, nullptr};
    }
    unsigned* const begins = storage.template get<unsigned>(first + run_ranges);
    return {{sink.by_row, storage.template get<join_partner>(first + partners)},
            {begins, begins + number_of_runs(join.probe.rows), plan_.partitions() + 1, tile_of_one_pass()},
            join.probe.partitioned.records,
            join.is_overflowing};
  }

  cudaError_t run(const Partitions& join, const PassOutput& pass_output, launch_configuration base,
                  const device_properties& device, const Sink& sink) const {
    const auto multiprocessors = static_cast<unsigned>(device.multiprocessors);
    const auto configure = [&](unsigned long long blocks, int threads, std::size_t bytes) {
      base.grid = dim3(static_cast<unsigned>(blocks > 0 ? blocks : 1));
      base.block = dim3(static_cast<unsigned>(threads));
      base.dynamic_shared_bytes = bytes;
    };
    const Sample sample = detail::match_sample_of(sink);
    configure(plan_.partitions() / ActivePolicy::clear.threads + 1, ActivePolicy::clear.threads, 0);
    cudaError_t status = strata::launch(base, join_partitions_clear_kernel<Partitions, Sample>, join, sample);
    if (status != cudaSuccess) return status;
    if constexpr (!lists_rows && !partitions_columns<Sink>) {
      if (is_one_table()) {
        // The launch has as many blocks as are resident, but fewer if building tables would be most of the work.
        constexpr unsigned blocks_each = tuning.join_blocks_per_multiprocessor;
        const unsigned even = join.probe.rows / (multiprocessors * blocks_each) + 1;
        const unsigned least = join.build.rows / 2 + 1024;
        Partitions cut = join;
        cut.plan.work_item_rows = detail::most(even, least);
        configure(join.probe.rows / cut.plan.work_item_rows + 1, tuning.join_threads, table_bytes_);
        constexpr auto kernel = join_one_table_kernel<MaxPolicy, Index, Keys, Hash, Equal, Sink>;
        return detail::launch_join_kernel(base, device, kernel, cut, sink);
      }
    }

    const unsigned max_counting =
        multiprocessors * (plan_.bits > max_join_pass_bits ? 1 : tuning.count_blocks_per_multiprocessor);
    const unsigned build_blocks = Counter::blocks_of(join.build.rows, join.probe.rows, max_counting);
    const unsigned probe_blocks = Counter::blocks_of(join.probe.rows, join.build.rows, max_counting);
    constexpr auto count_kernel = join_partitions_count_kernel<MaxPolicy, Keys, Hash, Equal, Sample>;
    configure(build_blocks + probe_blocks, tuning.partition_threads, count_bytes());
    status = detail::launch_join_kernel(base, device, count_kernel, join, build_blocks,
                                        PassAgent<join_pass::second>::tile_items, sample);
    if (status != cudaSuccess) return status;

    if (plan_.has_two_passes()) {
      // Columns are moved in one pass only. Joins that move columns have one pass. They do not reach this branch, and
      // compile no kernel of a second pass.
      constexpr join_pass second = partitions_columns<Sink> ? join_pass::first : join_pass::second;
      status = run_pass<join_pass::first>(join, pass_output, base, device);
      if (status == cudaSuccess) status = run_pass<second>(join, pass_output, base, device);
    } else if (has_short_tiles()) {
      // With few bits, the only pass uses the tiles of the first of two passes, and writes the final output.
      Partitions only = join;
      for (auto* const side : {&only.build, &only.probe}) {
        side->first_pass = side->partitioned;
        side->pass_cursors = side->cursors;
      }
      status = run_pass<join_pass::first>(only, pass_output, base, device);
    } else {
      status = run_pass<join_pass::only>(join, pass_output, base, device);
    }
    if (status != cudaSuccess) return status;

    // There are no more work items than rows.
    const unsigned long long rows = join.build.rows + static_cast<unsigned long long>(join.probe.rows);
    const unsigned long long max_work_items = plan_.max_work_items();
    const auto start_join_kernel = [&](std::size_t bytes, auto* large_kernel, auto* kernel, const auto&... arguments) {
      // A join is large if fewer tables fit a multiprocessor than registers allow blocks. A multiprocessor has about as
      // much shared memory for all blocks as one block may have.
      const auto shared_bytes = static_cast<std::size_t>(device.shared_bytes_of_block);
      const bool is_large = (bytes + static_bytes) * tuning.join_blocks_per_multiprocessor > shared_bytes;
      configure(detail::least(rows, max_work_items), tuning.threads_of_join(is_large), bytes);
      return detail::launch_join_kernel(base, device, is_large ? large_kernel : kernel, arguments...);
    };
    if constexpr (lists_rows) {
      return start_join_kernel(table_bytes_, join_partitions_list_kernel<MaxPolicy, true, Keys, Hash, Equal>,
                               join_partitions_list_kernel<MaxPolicy, false, Keys, Hash, Equal>, join, sink);
    } else {
      if constexpr (may_have_sets) {
        if (!join.build.has_row_ids) {
          return start_join_kernel(set_plan_.bytes(),
                                   join_partitions_set_kernel<MaxPolicy, true, Index, Keys, Hash, Equal, RecordSink>,
                                   join_partitions_set_kernel<MaxPolicy, false, Index, Keys, Hash, Equal, RecordSink>,
                                   join, set_plan_, detail::record_sink_of(sink));
        }
      }
      return start_join_kernel(table_bytes_,
                               join_partitions_join_kernel<MaxPolicy, true, Index, Keys, Hash, Equal, RecordSink>,
                               join_partitions_join_kernel<MaxPolicy, false, Index, Keys, Hash, Equal, RecordSink>,
                               join, detail::record_sink_of(sink));
    }
  }

  /// Dynamic shared memory of AgentJoinDuplicates.
  std::size_t duplicates_bytes() const {
    if (is_one_table() || !Partitions::hash_is_key || lists_rows) return 0;
    return table_bytes_ + Duplicates::list_bytes;
  }

 private:
  static constexpr std::size_t static_bytes = join_static_shared_bytes;
  static constexpr std::size_t single_words = 7;
  enum slot { records, lower, first_pass_records, first_pass_lower, words, work_items, deferred, run_ranges, partners };

  std::size_t count_bytes() const {
    return join_count_bytes(plan_.bits) + (partitions_columns<Sink> ? join_match_sample::shared_bytes : 0);
  }

  // Maximum number of runs of the probe side's tiles, with those of rows without a key.
  std::size_t number_of_runs(std::size_t probe_rows) const {
    return (probe_rows / ActivePolicy::output.select_rows + 1) * (plan_.partitions() + std::size_t{1});
  }
  // With few bits, the single pass uses the tile size of the first of two passes.
  bool has_short_tiles() const { return plan_.bits <= tuning.short_tile_bits; }
  unsigned tile_of_one_pass() const {
    return has_short_tiles() ? PassAgent<join_pass::first>::tile_items : PassAgent<join_pass::only>::tile_items;
  }

  // True if sets replace tables: the result has no build rows. Rows without a key must be dropped. Otherwise the table
  // in global memory would join them. It reads them from records, and with sets the build side has no records.
  bool has_sets(const Partitions& join, std::size_t shared_bytes) const {
    const auto has_nulls = [](const auto& side) { return side.valid != nullptr && !side.drops_nulls; };
    return may_have_sets && !is_one_table() && !detail::has_pairs(join.kind) && !has_nulls(join.build) &&
           !has_nulls(join.probe) && set_plan_.bytes() + static_bytes <= shared_bytes;
  }

  // A word for each partition, one for the rows without a key, and one more.
  std::size_t words_each() const { return static_cast<std::size_t>(plan_.partitions()) + 2; }

  template <join_pass Pass>
  cudaError_t run_pass(const Partitions& join, const PassOutput& pass_output, launch_configuration base,
                       const device_properties& device) const {
    const auto multiprocessors = static_cast<unsigned>(device.multiprocessors);
    using Agent = PassAgent<Pass>;
    const unsigned long long rows = join.build.rows + static_cast<unsigned long long>(join.probe.rows);
    unsigned tile = Agent::tile_items;
    // With `writes_partners`, the size of a tile must not depend on the device, because the storage of runs does not.
    if (Pass != join_pass::second && !writes_partners) tile = even_join_tile(rows, multiprocessors, tile);
    // The last tile of each side, or of each partition of the first pass, may be short.
    const unsigned long long tiles = rows / tile + 2 + (Pass == join_pass::second ? 2u << plan_.first_bits : 0);
    base.grid = dim3(tiles < multiprocessors ? static_cast<unsigned>(tiles) : multiprocessors);
    base.block = dim3(static_cast<unsigned>(tuning.partition_threads));
    base.dynamic_shared_bytes = Agent::tile_bytes(plan_);
    constexpr auto kernel = join_partition_kernel<MaxPolicy, Pass, may_have_sets, Keys, Hash, Equal, PassOutput>;
    return detail::launch_join_kernel(base, device, kernel, join, tile, pass_output);
  }

  static join_records behind(const join_records& side, unsigned rows) {
    return {side.records + rows, side.lower + rows};
  }

  join_partition_plan plan_;
  join_set_plan set_plan_;
  std::size_t table_bytes_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
