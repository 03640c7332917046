// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/join/dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Equi-joins of two sides, each of which has rows on all ranks of a communicator. Every rank gets a part of the
/// result. DeviceHashJoin describes the sides, the kinds of joins, the outputs and the options.
///
/// - **Call.** All ranks call it, with the same kind, options, types and columns. `build` and `probe` are the rows of
///   the rank itself. Call it twice, as with DeviceHashJoin, or once without the first two arguments. A size query
///   communicates nothing. `d_temp_storage` has room for the rank's rows and for those that it can receive
///   (DistributedJoinCapacity). If it lies in a DistributedMemory on all ranks, and no column has values, ranks can
///   write rows straight into the storage of their receivers.
/// - **Result.** `*d_num_out` is the number of rows of this rank's part, in any order. Rows at positions from the
///   capacity of the output on are not written; that is no error. Row numbers (long long or `std::int64_t`) count the
///   rows of all ranks: those of a rank come after those of all lower ranks. Values of `build_column` and
///   `probe_column` are read on the rank that has the row, and sent with its key. Other columns are called with the
///   numbers of rows.
/// - **Sides.** `rows` are integers below 2^32 - 15. `.valid()` describes the rank's own rows. `.unique()` promises
///   that no two rows of all ranks have equal keys. `.key_range()` must hold for the rows of all ranks; `.sorted()` and
///   `.match_ratio()` have no effect. Keys and values of columns are sent as bits: a key must not refer to memory of
///   its rank. Keys and values of all rows are read, even if a row has no key.
/// - **Execution.** Ranks exchange messages twice before rows move, or once if the first messages already tell that all
///   ranks get the build side as it is. The host waits for each exchange, but with one rank there is none. All other
///   work is in `stream`, or in a stream that the call forks from it and joins again. For each of P ranks, the host
///   allocates a few hundred bytes, 16 P bytes for counts, and room for 256 samples.
/// - **Where rows go.** A hash of the key chooses the rank. (DeviceHashJoin partitions by another hash.) There are
///   three exceptions, of which the last two do not apply to full joins:
///   - Rows that can have no partner, whatever rows the other side has, do not move. If the result has such rows, it
///     has them on their own rank.
///   - With P ranks, if (P - 1) x all build rows are fewer than all probe rows, all ranks get all build rows, and no
///     probe row moves. A rank's capacity of build rows must then hold those of all ranks. The same is done if (P - 1)
///     x all build rows are fewer than twice all probe rows, all capacities hold all build rows, and no build side has
///     a mask. In this second case, rows go to the ranks of their keys instead if four conditions are met. The ranks
///     can store rows straight to these ranks. A rank has on average 2^27 rows or more, counting both sides. Each
///     rank's capacity of probe rows is at least the average number of probe rows. No key is frequent. If the counts
///     then show that a rank has too little room, all ranks get all build rows after all.
///   - A key is frequent if, by samples, more than 1/(4 P) of the probe rows have it, and 8 samples or more have it.
///     (If more than 64 keys are frequent, only the most frequent ones count.) Probe rows with frequent keys stay, and
///     take a part of the capacity. Build rows with these keys go to all ranks.
/// - **Capacity.** Where a rank would receive more rows than its capacity, nothing is written on any rank and all
///   return `cudaErrorInvalidValue`. After this error, and also after success, `*capacity.required_capacity` says what
///   the rank requires. A second call with these capacities, or larger ones, has room. With one rank nothing is
///   received: capacities may be 0.
/// - **Aliasing.** As in DeviceHashJoin, on each rank.
/// - **Errors.** All ranks return alike. `cudaErrorInvalidValue`, before anything is written: what DeviceHashJoin
///   refuses, on any rank; ranks that differ in kind, nulls_equal or sizes of keys and columns; capacities that are
///   negative, above 2^32 - 16 or too small. Else the error of the lowest rank that has one, or of NCCL. After the
///   exchange of messages, a rank with an error returns it alone. Abort the communicator then, because other ranks may
///   wait for this one.
/// - **When it pays.** On two H200 with NVLink, two GPUs were no faster than one. With 2^27 rows of each side on each
///   GPU, two GPUs take 8.1 ms in shared memory, or 8.5 ms by NCCL if capacities hold all build rows. One GPU that has
///   all these rows takes 8.1 ms. With fewer rows one GPU is faster. More GPUs were not measured. By the cost model in
///   the README of this folder, four or more are faster.
/// - **Algorithm.** Barthels et al., "Distributed join algorithms on thousands of cores" (VLDB 2017); skew as in
///   Roediger et al., "Flow-Join: adaptive skew handling for distributed joins over high-speed networks" (ICDE 2016).
///
/// @code
/// #include <cstdlib>
/// #include <numeric>
/// #include <thread>
/// #include <vector>
///
/// __managed__ long long customers[6] = {10, 20, 30, 40, 50, 60}, orders[6] = {20, 50, 20, 70, 50, 10}, matches[64];
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, int ranks, ncclComm_t comm) {
///   must(cudaSetDevice(rank) == cudaSuccess);
///   const int begin = 6 * rank / ranks, size = 6 * (rank + 1) / ranks - begin;
///   const auto build = strata::join_side(customers + begin, size).unique();
///   must(strata::DistributedHashJoin::Inner(build, strata::join_side(orders + begin, size), strata::join_count(),
///            matches + rank, strata::DistributedJoinCapacity{6, 6}, strata::JoinOptions<>{}, comm) == cudaSuccess);
///   must(cudaDeviceSynchronize() == cudaSuccess && ncclCommDestroy(comm) == ncclSuccess);
/// }
///
/// int main() {
///   int ranks = 0;
///   if (cudaGetDeviceCount(&ranks) != cudaSuccess || ranks > 64) return 1;
///   std::vector<ncclComm_t> comms(ranks);
///   if (ncclCommInitAll(comms.data(), ranks, nullptr) != ncclSuccess) return 1;
///   std::vector<std::thread> threads;
///   for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_main, rank, ranks, comms[rank]);
///   for (std::thread& thread : threads) thread.join();
///   std::printf("%lld\n", std::accumulate(matches, matches + ranks, 0ll));  // orders that have a customer
/// }
/// // prints: 5
/// @endcode
struct DistributedHashJoin {
  /// Finds every pair of a build row and a probe row with equal keys.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Inner(void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const JoinSide<BuildKeys, BuildPromises>& build,
                           const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                           const DistributedJoinCapacity& capacity, const JoinOptions<Hash, Equal, Order>& options,
                           ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Inner");
    return detail::distributed_join<JoinKind::inner>(d_temp_storage, temp_storage_bytes, build, probe, output,
                                                     d_num_out, capacity, options, comm, stream);
  }
  /// Finds every pair of rows with equal keys, and each probe row without a partner. Such a row has no build row in the
  /// result.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Left(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const DistributedJoinCapacity& capacity, const JoinOptions<Hash, Equal, Order>& options,
                          ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Left");
    return detail::distributed_join<JoinKind::left>(d_temp_storage, temp_storage_bytes, build, probe, output, d_num_out,
                                                    capacity, options, comm, stream);
  }
  /// Finds every pair of rows with equal keys, and each row of either side without a partner.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Full(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const DistributedJoinCapacity& capacity, const JoinOptions<Hash, Equal, Order>& options,
                          ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Full");
    return detail::distributed_join<JoinKind::full>(d_temp_storage, temp_storage_bytes, build, probe, output, d_num_out,
                                                    capacity, options, comm, stream);
  }
  /// Finds each probe row that has a partner, once. Rows of the result have no build row.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Semi(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const DistributedJoinCapacity& capacity, const JoinOptions<Hash, Equal, Order>& options,
                          ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Semi");
    return detail::distributed_join<JoinKind::semi>(d_temp_storage, temp_storage_bytes, build, probe, output, d_num_out,
                                                    capacity, options, comm, stream);
  }
  /// Finds each probe row that has no partner. Rows of the result have no build row.
  template <class BuildKeys, class BuildPromises, class ProbeKeys, class ProbePromises, class Output,
            class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
  static cudaError_t Anti(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const JoinSide<BuildKeys, BuildPromises>& build,
                          const JoinSide<ProbeKeys, ProbePromises>& probe, const Output& output, JoinNumOut d_num_out,
                          const DistributedJoinCapacity& capacity, const JoinOptions<Hash, Equal, Order>& options,
                          ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedHashJoin::Anti");
    return detail::distributed_join<JoinKind::anti>(d_temp_storage, temp_storage_bytes, build, probe, output, d_num_out,
                                                    capacity, options, comm, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Inner, unordered)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Left, unordered)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Full, unordered)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Semi, unordered)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Anti, unordered)
};

STRATA_ARCH_NAMESPACE_END
