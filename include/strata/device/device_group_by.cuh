// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/call.hpp>
#include <strata/device/group_by/dispatch.cuh>
#include <strata/device/group_by/first_row_dispatch.cuh>
#include <strata/device/group_by/group_keys.hpp>
#include <strata/iterator/discard_output_iterator.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Groups rows by their keys, and computes aggregates of each group: sums, numbers of rows, extremes, means.
///
///     for (key : the different keys)
///       d_keys_out[g] = key;
///       d_out[g] = aggregate of d_in[i] over all rows i with d_keys[i] == key;  // of each aggregate
///       ++g;
///     *d_num_groups = g;
///
/// - **Arguments.** `group_keys(d_keys, num_items)` describes the rows, or `group_keys(d_first, d_second, num_items)`
///   for two columns of keys, and so on. `.valid(d_mask)` says which rows have keys. `.key_range(lowest, highest)` is a
///   hint that saves time if keys are dense. `group_aggregates(...)` has one or more of `group_sum`, `group_count`,
///   `group_min`, `group_max`, `group_mean`, `group_first`, `group_any` and `group_reduce`. `group_output(d_keys_out,
///   capacity)` says where the keys of the groups are written, and in which order.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never 0), then
///   with that much device memory, whose contents and alignment do not matter. Or once, without these two arguments:
///   see `execution`. Inputs and outputs may be any random-access iterators that can be dereferenced in device code;
///   `num_items` may have any integer type, or be a FutureCount.
/// - **Result.** `*d_num_groups` is always the number of all groups. Groups beyond the capacity are not written, and
///   that is no error. Without rows there are no groups.
/// - **Order.** Groups come in any order, which may differ from run to run and from device to device. All outputs of a
///   call have the same order. If there are more groups than the capacity, another run may write other groups. With
///   `group_output(...).sorted()`, groups are in ascending order of their keys. With `.first_occurrence()`, they are in
///   the order of their first rows, as dataframes have them: pandas with `sort=False`, Polars with `maintain_order`,
///   data.table. In both of these orders, all results repeat from run to run. If there are more groups than the
///   capacity, the first groups in the order are written.
/// - **Results repeat.** The aggregates of a group do not depend on the order of groups, and repeat from run to run.
///   Sums of floating-point numbers have the same bits, too, unless they are `unordered()`. Only `group_any` may take
///   another row in another run.
/// - **Keys** are integers of up to 128 bits, enumerations, and floating-point numbers of 8 to 64 bits. -0.0 and 0.0
///   are one group, whose key is 0.0. All NaNs are one group, which comes after all numbers in order of the keys. Its
///   key is a NaN. Rows may have keys in any number of columns. Rows of one group have the same keys in all columns.
/// - **Rows without a key** are in no group: `Groups` does not write `d_group_of_row` for them. With
///   `nulls_as_group()` of GroupKeys, they are a group, the last one in order of the keys, and
///   `group_output(...).valid(d_valid_out)` tells which group it is.
/// - **Tuning.** `TunedDeviceGroupBy<Hub>` uses your hub instead of group_by_policy_hub: see
///   default_policy_hub.
/// - **Host.** HostGroupBy does the same by threads of the host, for rows in host memory.
/// - **Execution.** One to four kernel launches on `stream`, more if rows or groups are sorted, and three more for
///   `first_occurrence()`; no host synchronisation and no allocation, so a call can be captured in a graph and
///   replayed. Calls that may run at the same time need temporary storage of their own. From sm_90 on, kernels start
///   early by programmatic dependent launch, but touch memory only after the previous kernel of the stream has ended.
/// - **Temporary storage.** A little more than two copies of each row, that is of its key and of the items that the
///   aggregates read: 19 bytes a row for the sum of 2^27 values of 4 bytes by keys of 4 bytes. If the items have more
///   than 16 bytes, a row number replaces them. Up to 2^20 rows that are combined in tables: for each row, two to four
///   slots of a table, each with a key and the states of a group. `Groups`: for each row, two keys and two row numbers,
///   or a key and six row numbers if there are more than 2^23 rows. `first_occurrence()` needs in addition, for each
///   row, a key, the states of a group and a row number, because there may be as many groups as rows, whatever the
///   capacity is. `Groups` then needs another row number for each row. If the keys of a row have more than 128 bits:
///   three row numbers and 16 bytes for each row, or in `Groups` with more than 2^23 rows, seven row numbers and 8
///   bytes.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count or capacity, in a
///   size query too; a null pointer; an output that has a byte in common with an input or another output; temporary
///   storage too small. Otherwise what a launch returns. An older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** With few groups, blocks combine rows in tables in shared memory, and then add these tables to one
///   in device memory. With more groups, rows are first moved to parts by a hash of their keys, and blocks combine the
///   rows of a part. A sample of the keys chooses the method, and a wrong choice is found and corrected on the device.
///   For groups in any order, up to 2^20 rows are combined in tables without a sample. From there on, fewer than 2^23
///   rows are sorted and reduced, unless `key_range` is small. With `sorted()`, fewer than 2^23 rows are always sorted.
///   With `sorted()` and at least 2^23 rows, either blocks combine rows in tables, whose entries are sorted, or the
///   rows are sorted. With `first_occurrence()`, groups are found in any order and then written to their places. Rows
///   are always sorted for keys of more than 64 bits, and for `sorted()` groups if rows without a key are dropped. They
///   are also sorted for `group_reduce`, and for sums and means of floating-point numbers that are not `unordered()`,
///   which combine rows in their order. group_by/README.md says more.
///
/// @code
/// // What each customer has spent.
/// __managed__ int customers[6] = {7, 3, 7, 5, 3, 7};
/// __managed__ int amounts[6] = {10, 20, 30, 40, 50, 60};
/// __managed__ int ids[6], orders[6], groups;
/// __managed__ long long spent[6];
///
/// int main() {
///   const auto aggregates = strata::group_aggregates(strata::group_sum(amounts, spent), strata::group_count(orders));
///   const auto output = strata::group_output(ids, 6).sorted();
///   if (strata::DeviceGroupBy::Aggregate(strata::group_keys(customers, 6), aggregates, output, &groups) !=
///       cudaSuccess) {
///     return 1;
///   }
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int g = 0; g < groups; ++g) std::printf("%d: %lld in %d orders\n", ids[g], spent[g], orders[g]);
/// }
/// // prints: 3: 70 in 2 orders
/// // prints: 5: 40 in 1 orders
/// // prints: 7: 100 in 3 orders
/// @endcode
template <class PolicyHub>
struct TunedDeviceGroupBy {
  /// Writes the key and the aggregates of each group, and the number of groups to `*d_num_groups`.
  template <class KeyIterator, class NumItemsT, bool HasRange, class... Aggregates, class KeyOutputIterator,
            GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Aggregate(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                               const GroupAggregates<Aggregates...>& aggregates,
                               const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator d_num_groups,
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceGroupBy::Aggregate");
    return run(d_temp_storage, temp_storage_bytes, keys, NullType{}, aggregates, groups, d_num_groups, stream);
  }

  /// Like Aggregate; it also writes the group of each row. Row i is in group `d_group_of_row[i]`, even if that group is
  /// beyond the capacity. Rows are always sorted, however few groups there are. Groups are in ascending order of their
  /// keys, unless `group_output(...).first_occurrence()` asks for the order of their first rows.
  template <class KeyIterator, class NumItemsT, bool HasRange, class GroupOfRowIterator, class... Aggregates,
            class KeyOutputIterator, GroupOrder Order, class NumGroupsIterator>
  static cudaError_t Groups(void* d_temp_storage, std::size_t& temp_storage_bytes,
                            const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys, GroupOfRowIterator d_group_of_row,
                            const GroupAggregates<Aggregates...>& aggregates,
                            const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator d_num_groups,
                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceGroupBy::Groups");
    return run(d_temp_storage, temp_storage_bytes, keys, d_group_of_row, aggregates, groups, d_num_groups, stream);
  }

  /// Writes the number of different keys to `*d_num_groups`, and nothing else.
  template <class KeyIterator, class NumItemsT, bool HasRange, class NumGroupsIterator>
  static cudaError_t CountDistinct(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys,
                                   NumGroupsIterator d_num_groups, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceGroupBy::CountDistinct");
    const DiscardOutputIterator<> none;
    return run(d_temp_storage, temp_storage_bytes, keys, NullType{},
               strata::group_aggregates(strata::group_count(none)), strata::group_output(none, 0), d_num_groups,
               stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Aggregate, as_asked)
  STRATA_CALL_WITHOUT_STORAGE(Groups, associated)
  STRATA_CALL_WITHOUT_STORAGE(CountDistinct)

 private:
  template <class KeyIterator, class NumItemsT, bool HasRange, class GroupOfRowIterator, class... Aggregates,
            class KeyOutputIterator, GroupOrder Order, class NumGroupsIterator>
  static cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes,
                         const GroupKeys<KeyIterator, NumItemsT, HasRange>& keys, GroupOfRowIterator d_group_of_row,
                         const GroupAggregates<Aggregates...>& aggregates,
                         const GroupOutput<KeyOutputIterator, Order>& groups, NumGroupsIterator d_num_groups,
                         cudaStream_t stream) {
    const auto call = detail::make_group_by_call(keys, d_group_of_row, aggregates, groups, d_num_groups);
    const detail::DispatchGroupBy<PolicyHub, std::decay_t<decltype(call)>> dispatch{call, stream};
    if constexpr (Order == GroupOrder::by_first_row) {
      const detail::DispatchGroupsByFirstRow<PolicyHub, std::decay_t<decltype(dispatch)>> in_order{dispatch};
      return in_order.run(d_temp_storage, temp_storage_bytes);
    } else {
      return dispatch.run(d_temp_storage, temp_storage_bytes);
    }
  }
};
using DeviceGroupBy = TunedDeviceGroupBy<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
