// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/group_by/agent.cuh>
#include <strata/device/group_by/agent_part_groups.cuh>
#include <strata/device/group_by/agent_parts.cuh>
#include <strata/device/group_by/agent_table.cuh>
#include <strata/device/group_by/hash_plan.cuh>
#include <strata/device/group_by/shared_table.cuh>
#include <strata/device/group_by/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Takes a sample and combines the rows in tables, or finds that rows must be partitioned.
template <class MaxPolicy, class Rows, class Types, class Aggregates, class Output, class Count,
          class NumGroupsIterator>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.hash_threads,
                  MaxPolicy::ActivePolicy::tuning.hash_blocks_per_multiprocessor)
    STRATA_KERNEL void group_table_kernel(
        const STRATA_GRID_CONSTANT Rows rows, Count num_items, const STRATA_GRID_CONSTANT Output output,
        NumGroupsIterator d_num_groups,
        const STRATA_GRID_CONSTANT group_table_arguments<typename Types::Slot, typename Types::States> arguments) {
  using Agent = AgentGroupTable<typename MaxPolicy::ActivePolicy, Types, Aggregates, Rows, Output>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), rows, output, arguments};
  agent.run(detail::number_of_items<std::size_t>(num_items));
  if (blockIdx.x == 0 && threadIdx.x == 0 && agent.has_number()) detail::store_count(d_num_groups, agent.number());
}

template <class MaxPolicy>
inline constexpr int group_partition_bits =
    static_cast<int>(detail::least_in_chain<group_by_partition_bits, MaxPolicy>());

/// Moves rows to parts, if the plan says so.
template <class MaxPolicy, class KeyIterator, class Aggregates, class Row, class Count, class Plan, class Parts,
          class States>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.partition_threads,
                  MaxPolicy::ActivePolicy::tuning.partition_blocks_per_multiprocessor)
    STRATA_KERNEL void group_first_pass_kernel(
        const STRATA_GRID_CONSTANT group_row_packs<KeyIterator, Aggregates, Row> rows, Count num_items, Plan* plan,
        const STRATA_GRID_CONSTANT Parts parts, States* frequent_states, unsigned* sketch) {
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  using Agent = AgentGroupFirstPass<typename MaxPolicy::ActivePolicy, Types, Aggregates,
                                    group_row_packs<KeyIterator, Aggregates, Row>, group_partition_bits<MaxPolicy>>;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  if (plan->is_partitioned == 0) return;
  STRATA_DYNAMIC_SHARED(shared);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), rows, plan, parts, frequent_states, sketch};
  agent.run(detail::number_of_items<std::size_t>(num_items));
}

/// Lists the chunks of parts, and moves rows to smaller parts if there are many groups.
template <class MaxPolicy, class Types, class Plan, class Parts>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.partition_threads,
                  MaxPolicy::ActivePolicy::tuning.partition_blocks_per_multiprocessor)
    STRATA_KERNEL void group_second_pass_kernel(Plan* plan, const STRATA_GRID_CONSTANT Parts from,
                                                const STRATA_GRID_CONSTANT Parts to, const unsigned* sketch,
                                                double groups_of_part, int most_bits) {
  using Agent = AgentGroupSecondPass<typename MaxPolicy::ActivePolicy, Types, group_partition_bits<MaxPolicy>>;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  if (plan->is_partitioned == 0) return;
  STRATA_DYNAMIC_SHARED(shared);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), plan, from, to, sketch};
  agent.run(groups_of_part, most_bits);
}

/// Combines the rows of each part, and writes the groups. The last block writes their number.
template <class MaxPolicy, class Types, class Aggregates, unsigned TableSlots, class Output, class Plan, class Parts,
          class States, class NumGroupsIterator>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.part_threads,
                  MaxPolicy::ActivePolicy::tuning.part_blocks_per_multiprocessor)
    STRATA_KERNEL void group_parts_kernel(const STRATA_GRID_CONSTANT Output output, Plan* plan,
                                          const STRATA_GRID_CONSTANT Parts first,
                                          const STRATA_GRID_CONSTANT Parts second, const States* frequent_states,
                                          NumGroupsIterator d_num_groups) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentPartGroups<Policy, Types, Aggregates, TableSlots, Output>;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  if (plan->is_partitioned == 0) return;
  STRATA_DYNAMIC_SHARED(shared);
  Agent agent{*reinterpret_cast<typename Agent::TempStorage*>(shared), output, plan};
  if (blockIdx.x == 0) agent.write_frequent(frequent_states);
  const int bits = static_cast<int>(plan->second_bits);
  const int part_bits = group_partition_bits<MaxPolicy> + bits;
  agent.run(bits == 0 ? first : second, 1u << part_bits, part_bits);
  if (detail::is_last_block(&plan->leaving) && threadIdx.x == 0) {
    detail::store_count(d_num_groups, platform::load_relaxed(&plan->num_written));
  }
}

/// Upper bound on the blocks of each of the two passes. On average, a block leaves half of its last chunk of each part
/// empty. So more blocks would need more memory.
inline std::size_t most_group_pass_blocks(std::size_t rows, std::size_t parts) {
  return detail::least<std::size_t>(512, detail::most<std::size_t>(rows / (parts * group_chunk_rows), 16));
}

/// The launches of a call whose groups may come in any order.
///
///     few groups:   rows -> tables in shared memory -> a table in device memory -> groups
///     many groups:  rows -> parts -> tables in shared memory -> groups
///     more:         rows -> parts -> smaller parts -> tables in shared memory -> groups
template <class MaxPolicy, class KeyIterator, class NumItemsT, class Row, class Aggregates, class KeyOutputIterator,
          class NumGroupsIterator, class Range = NullType>
struct group_hash_call {
  using Key = iterator_value_t<KeyIterator>;
  using Types = group_by_types<KeyIterator, Aggregates, Row>;
  using Slot = typename Types::Slot;
  using States = typename Types::States;
  using Payload = typename Types::Payload;
  using Count = kernel_count_t<NumItemsT>;
  using Rows = group_row_packs<KeyIterator, Aggregates, Row>;
  using Output = group_hash_output<Key, KeyOutputIterator, Aggregates>;
  using Plan = group_hash_plan<Slot>;
  using Parts = group_parts<Slot, Payload>;
  enum slot {
    plan_slot,
    flags_slot,
    sample_slot,
    cleared_slot,
    table_words_slot,
    table_states_slot,
    frequent_slot,
    first_parts_slots,
    slots_of_parts = 6,
    second_parts_slots = first_parts_slots + slots_of_parts,
    all_slots = second_parts_slots + slots_of_parts
  };
  static constexpr std::size_t most_blocks = 1024;

  Rows rows;
  NumItemsT num_items;
  Output output;
  NumGroupsIterator d_num_groups;
  cudaStream_t stream;
  Range range;
  temporary_storage::layout<all_slots> storage;
  device_properties device;

  static constexpr bool may_have_range = !std::is_same_v<Range, NullType>;
  /// Only the first kernel uses the range of keys.
  using TableRows = group_row_packs<KeyIterator, Aggregates, Row, may_have_range>;
  template <class Policy>
  using Table = AgentGroupTable<Policy, Types, Aggregates, TableRows, Output>;

  /// Minimum of `most_table_rows` over all policies of a chain, because a size query does not know the device.
  static std::size_t most_table_rows() { return detail::least_in_chain<group_by_most_table_rows, MaxPolicy>(); }
  std::size_t max_rows() const { return detail::max_items(num_items); }
  bool may_partition() const { return max_rows() > most_table_rows(); }

  static std::size_t rounded_up(std::size_t count) {
    std::size_t power = 1;
    while (power < count && power < std::size_t{1} << 63) power *= 2;
    return power;
  }
  std::size_t table_slots() const {
    const std::size_t enough = rounded_up(detail::most<std::size_t>(2 * max_rows(), 64));
    return may_partition() ? detail::least(enough, MaxPolicy::tuning.most_slots_in_memory) : enough;
  }
  static constexpr int first_bits = group_partition_bits<MaxPolicy>;
  static constexpr std::size_t first_parts = std::size_t{1} << first_bits;
  template <class Policy>
  static constexpr unsigned part_slots = static_cast<unsigned>(
      detail::group_slots_that_fit(Policy::tuning.part_table_bytes, Policy::tuning.hash_slots,
                                   static_cast<int>(sizeof(Slot) + sizeof(States)), Policy::tuning.part_threads));
  /// The number of groups that a part may have on average. A part that does not fit in the table is read more than
  /// once.
  template <class Policy>
  static constexpr double groups_of_part = double{part_slots<Policy>} * Policy::tuning.part_load_percent / 100;
  int most_second_bits() const {
    int bits = 0;
    const auto is_too_few = [&] {
      return static_cast<double>(max_rows()) > groups_of_part<MaxPolicy> * static_cast<double>(first_parts << bits);
    };
    while (bits < first_bits && is_too_few()) ++bits;
    return bits;
  }
  std::size_t pass_blocks() const { return detail::most_group_pass_blocks(max_rows(), first_parts); }
  std::size_t num_parts(int pass) const { return pass == 0 ? first_parts : first_parts << most_second_bits(); }
  std::size_t num_chunks(int pass) const {
    const std::size_t full = detail::ceiling_divide(max_rows(), std::size_t{group_chunk_rows});
    const std::size_t second_parts = std::size_t{1} << most_second_bits();
    return full + (pass == 0 ? pass_blocks() * first_parts : (pass_blocks() + first_parts) * second_parts);
  }
  bool has_pass(int pass) const { return may_partition() && (pass == 0 || most_second_bits() > 0); }
  std::size_t cleared_words() const {
    if (!may_partition()) return 0;
    return group_sketch_bits / 32 + num_parts(0) + num_parts(1);
  }

  void reserve() {
    storage.template reserve<Plan>(plan_slot, 1);
    storage.template reserve<unsigned long long>(flags_slot, most_blocks);
    storage.template reserve<unsigned long long>(sample_slot, may_partition() ? group_sample_slots : 0);
    storage.template reserve<unsigned>(cleared_slot, cleared_words());
    storage.template reserve<Slot>(table_words_slot, table_slots() + 1);
    storage.template reserve<States>(table_states_slot, table_slots() + 1);
    storage.template reserve<States>(frequent_slot, group_most_frequent);
    for (int pass = 0; pass < 2; ++pass) {
      if (!has_pass(pass)) continue;
      const int first = pass == 0 ? first_parts_slots : second_parts_slots;
      const std::size_t chunks = num_chunks(pass);
      storage.template reserve<Slot>(first, chunks * group_chunk_rows);
      if (!std::is_empty_v<Payload>) storage.template reserve<Payload>(first + 1, chunks * group_chunk_rows);
      storage.template reserve<group_chunk>(first + 2, chunks);
      storage.template reserve<unsigned>(first + 3, chunks);
      storage.template reserve<group_listed_chunk>(first + 4, chunks);
      storage.template reserve<unsigned>(first + 5, num_parts(pass));
    }
  }
  Parts parts(int pass) const {
    const int first = pass == 0 ? first_parts_slots : second_parts_slots;
    unsigned* const numbers = storage.template get<unsigned>(cleared_slot) + group_sketch_bits / 32;
    return {storage.template get<Slot>(first),
            storage.template get<Payload>(first + 1),
            storage.template get<group_chunk>(first + 2),
            storage.template get<unsigned>(first + 3),
            storage.template get<group_listed_chunk>(first + 4),
            pass == 0 ? numbers : numbers + num_parts(0),
            storage.template get<unsigned>(first + 5)};
  }

  cudaError_t launch() {
    const cudaError_t known = detail::current_device_properties(device, stream);
    if (known != cudaSuccess) return known;
    return MaxPolicy::Invoke(device.ptx_version, *this);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    static_assert(detail::is_group_by_tuning(ActivePolicy::tuning),
                  "group_by_tuning: numbers of threads must be powers of two from 32 to 1024, numbers of slots "
                  "powers of two and at least the threads, items per thread 1 to 32, partition_bits at least 1, and "
                  "partition_sector_rows a power of two up to 32, but not 2");
    cudaError_t status = launch_table<ActivePolicy>();
    if (status == cudaSuccess && may_partition()) status = launch_parts<ActivePolicy>();
    return status;
  }

 private:
  launch_configuration configuration(std::size_t blocks, int threads, std::size_t shared_bytes) const {
    const dim3 grid(static_cast<unsigned>(blocks)), block(static_cast<unsigned>(threads));
    return {"strata::DeviceGroupBy", grid, block, shared_bytes, stream, 1, device.ptx_version >= 900};
  }

  template <class ActivePolicy>
  cudaError_t launch_table() const {
    constexpr group_by_tuning tuning = ActivePolicy::tuning;
    using Agent = Table<ActivePolicy>;
    auto* const plan = storage.template get<Plan>(plan_slot);
    std::size_t slots = table_slots();
    const bool may_be_left = may_partition();
    TableRows table_rows{{}, rows.keys, rows.aggregates, rows.is_aligned};
    if constexpr (may_have_range) {
      if (range.keys > 0 && range.keys <= Agent::table_slots) {
        table_rows.lowest = static_cast<typename Types::Word>(range.lowest);
        table_rows.range = static_cast<unsigned>(range.keys);
        // With fewer slots, less of the table in device memory must be cleared and read.
        if (may_be_left) slots = detail::least<std::size_t>(slots, std::size_t{Agent::table_slots} * 2);
      }
    }
    const group_table_arguments<Slot, States> arguments{
        plan,
        {storage.template get<Slot>(table_words_slot), storage.template get<States>(table_states_slot), slots,
         may_be_left ? 64u : static_cast<unsigned>(slots)},
        storage.template get<States>(frequent_slot),
        storage.template get<unsigned long long>(sample_slot),
        storage.template get<unsigned>(cleared_slot),
        cleared_words(),
        may_be_left,
        {storage.template get<unsigned long long>(flags_slot), &plan->departures, next_epoch(),
         detail::is_replayable(stream)}};
    static kernel_property_cache cache;
    const auto kernel = group_table_kernel<MaxPolicy, TableRows, Types, Aggregates, Output, Count, NumGroupsIterator>;
    return detail::launch_resident(
        configuration(1, tuning.hash_threads, sizeof(typename Agent::TempStorage)), cache, device,
        detail::most<std::size_t>(1, detail::ceiling_divide(max_rows(), std::size_t{512})), most_blocks, kernel,
        table_rows, static_cast<Count>(num_items), output, d_num_groups, arguments);
  }

  template <class ActivePolicy>
  cudaError_t launch_parts() const {
    constexpr group_by_tuning tuning = ActivePolicy::tuning;
    auto* const plan = storage.template get<Plan>(plan_slot);
    auto* const sketch = storage.template get<unsigned>(cleared_slot);
    auto* const frequent = storage.template get<States>(frequent_slot);
    const Parts first = parts(0);
    const Parts second = parts(1);
    {
      const auto kernel = group_first_pass_kernel<MaxPolicy, KeyIterator, Aggregates, Row, Count, Plan, Parts, States>;
      constexpr std::size_t bytes =
          sizeof(typename AgentGroupFirstPass<ActivePolicy, Types, Aggregates, Rows, first_bits>::TempStorage);
      static kernel_property_cache cache;
      std::size_t blocks = 0;
      cudaError_t status = detail::resident_blocks(cache, device, kernel, tuning.partition_threads, bytes, blocks);
      if (status != cudaSuccess) return status;
      status = strata::launch(configuration(detail::least(blocks, pass_blocks()), tuning.partition_threads, bytes),
                              kernel, rows, static_cast<Count>(num_items), plan, first, frequent, sketch);
      if (status != cudaSuccess) return status;
    }
    {
      const auto kernel = group_second_pass_kernel<MaxPolicy, Types, Plan, Parts>;
      constexpr std::size_t bytes = sizeof(typename AgentGroupSecondPass<ActivePolicy, Types, first_bits>::TempStorage);
      static kernel_property_cache cache;
      const cudaError_t status = detail::launch_resident(
          configuration(1, tuning.partition_threads, bytes), cache, device, pass_blocks(), pass_blocks(), kernel, plan,
          first, second, sketch, groups_of_part<ActivePolicy>, most_second_bits());
      if (status != cudaSuccess) return status;
    }
    constexpr unsigned slots = part_slots<ActivePolicy>;
    const auto kernel =
        group_parts_kernel<MaxPolicy, Types, Aggregates, slots, Output, Plan, Parts, States, NumGroupsIterator>;
    constexpr std::size_t bytes =
        sizeof(typename AgentPartGroups<ActivePolicy, Types, Aggregates, slots, Output>::TempStorage);
    static kernel_property_cache cache;
    std::size_t blocks = 0;
    const cudaError_t status = detail::resident_blocks(cache, device, kernel, tuning.part_threads, bytes, blocks,
                                                       tuning.part_blocks_per_multiprocessor);
    if (status != cudaSuccess) return status;
    return strata::launch(configuration(blocks, tuning.part_threads, bytes), kernel, output, plan, first, second,
                          frequent, d_num_groups);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
