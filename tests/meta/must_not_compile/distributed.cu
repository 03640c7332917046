// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of distributed/ that must not compile. tests/README.md says how this table is read.

// case: exchange_trivially_relocatable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/distributed/distributed_exchange.cuh>
namespace exchange_trivially_relocatable {
struct item {
  int number;
#if defined(STRATA_CASE_exchange_trivially_relocatable)
  item() = default;
  item(const item& other) : number(other.number) {}
  item& operator=(const item&) = default;
#endif
};

cudaError_t send(void* temp, std::size_t& bytes, const item* in, const int* to, item* out, std::int64_t* num_out,
                 ncclComm_t comm) {
  return strata::DistributedExchange::Items(temp, bytes, in, to, 10, out, 10, num_out, comm);
}
}  // namespace exchange_trivially_relocatable

// case: join_columns_trivially_relocatable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_columns_trivially_relocatable {
struct item {
  int number;
#if defined(STRATA_CASE_join_columns_trivially_relocatable)
  item() = default;
  item(const item& other) : number(other.number) {}
  item& operator=(const item&) = default;
#endif
};

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, const item* in, item* out, long long* total,
                 ncclComm_t comm) {
  const auto side = strata::join_side(keys, 10);
  const auto output = strata::join_columns<std::int64_t>(10, strata::probe_column(in, out, item{}));
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, output, total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
}  // namespace join_columns_trivially_relocatable

// case: join_future_count
// expect: DistributedHashJoin takes no FutureCount: copy the number of rows to the host
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_future_count {
cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm, const int* count) {
#if defined(STRATA_CASE_join_future_count)
  const auto side = strata::join_side(keys, strata::FutureCount(count, 10));
#else
  static_cast<void>(count);
  const auto side = strata::join_side(keys, 10);
#endif
  return strata::DistributedHashJoin::Inner(temp, bytes, side, strata::join_side(keys, 10), strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
}  // namespace join_future_count

// case: join_index
// expect: row numbers of all ranks have 8 bytes: choose an Index of 8 bytes
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_index {
cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm, void* rows) {
#if defined(STRATA_CASE_join_index)
  using Index = int;
#else
  using Index = long long;
#endif
  Index* const rows_out = static_cast<Index*>(rows);
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_pairs(rows_out, rows_out, 10), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<>{}, comm);
}
}  // namespace join_index

// case: join_key_types
// expect: both sides of a join must have the same type of keys and the same type of key iterator: copy the keys of one
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_key_types {
#if defined(STRATA_CASE_join_key_types)
using probe_key = unsigned;
#else
using probe_key = int;
#endif

cudaError_t join(void* temp, std::size_t& bytes, const int* keys, const probe_key* probe, long long* total,
                 ncclComm_t comm) {
  return strata::DistributedHashJoin::Inner(temp, bytes, strata::join_side(keys, 10), strata::join_side(probe, 10),
                                            strata::join_count(), total, strata::DistributedJoinCapacity{10, 10},
                                            strata::JoinOptions<>{}, comm);
}
}  // namespace join_key_types

// case: join_keys_trivially_relocatable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_keys_trivially_relocatable {
struct item {
  int number;
#if defined(STRATA_CASE_join_keys_trivially_relocatable)
  item() = default;
  item(const item& other) : number(other.number) {}
  item& operator=(const item&) = default;
#endif
  friend STRATA_HD bool operator==(const item& a, const item& b) { return a.number == b.number; }
};
struct hash {
  STRATA_HD unsigned operator()(const item& a) const { return static_cast<unsigned>(a.number); }
};

cudaError_t join(void* temp, std::size_t& bytes, const item* keys, long long* total, ncclComm_t comm) {
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, strata::JoinOptions<hash>{}, comm);
}
}  // namespace join_keys_trivially_relocatable

// case: join_order
// expect: DistributedHashJoin does not order its result: pass JoinOptions, not OrderedJoinOptions
#include <strata/distributed/distributed_hash_join.cuh>
namespace join_order {
cudaError_t join(void* temp, std::size_t& bytes, const int* keys, long long* total, ncclComm_t comm) {
#if defined(STRATA_CASE_join_order)
  const strata::OrderedJoinOptions<> options;
#else
  const strata::JoinOptions<> options;
#endif
  const auto side = strata::join_side(keys, 10);
  return strata::DistributedHashJoin::Inner(temp, bytes, side, side, strata::join_count(), total,
                                            strata::DistributedJoinCapacity{10, 10}, options, comm);
}
}  // namespace join_order
