// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of joins, with the CUDA back end, that must not compile. tests/README.md says how this table is read.
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_CUDA

// case: environment_of_join
// expect first: this result may change from run to run: pass OrderedJoinOptions, or groups that are sorted
#include <strata/device/device_hash_join.hpp>

#include "support/environments.hpp"
namespace environment_of_join {
namespace ex = cuda::strata_test::execution;
#if defined(STRATA_CASE_environment_of_join)
using options = strata::JoinOptions<>;
#else
using options = strata::OrderedJoinOptions<>;
#endif

cudaError_t count(void* storage, std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::DeviceHashJoin::Inner(storage, bytes, side, side, strata::join_count(), num_out, options{},
                                       ex::require(ex::determinism::run_to_run));
}
}  // namespace environment_of_join

// case: hash_join_equality
// expect first: cannot be compared for equality
#include <strata/device/device_hash_join.hpp>
namespace hash_join_equality {
struct is_equal {
#if defined(STRATA_CASE_hash_join_equality)
  STRATA_HD bool operator()(const char* a, int b) const { return *a == b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a == b; }
#endif
};

cudaError_t count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out,
                                       strata::JoinOptions<strata::JoinHash, is_equal>{});
}
}  // namespace hash_join_equality

// case: hash_join_fallback_threads
// expect: join tuning: output\.group_threads must be less than 256\. table\.fallback_threads must be less than 256,
#include <strata/device/device_hash_join.hpp>
namespace hash_join_fallback_threads {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
#ifdef STRATA_CASE_hash_join_fallback_threads
    static constexpr strata::join_table_tuning table{256, 128, 2, 4, 480};
#else
    static constexpr strata::join_table_tuning table{256, 128, 2, 4, 384};
#endif
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_fallback_threads

// case: hash_join_hash
// expect first: the hash functor cannot be called with a key
#include <strata/device/device_hash_join.hpp>
namespace hash_join_hash {
struct key_hash {
#if defined(STRATA_CASE_hash_join_hash)
  STRATA_HD unsigned operator()(const char* key) const { return static_cast<unsigned>(*key); }
#else
  STRATA_HD unsigned operator()(int key) const { return static_cast<unsigned>(key); }
#endif
};

cudaError_t count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out, strata::JoinOptions<key_hash>{});
}
}  // namespace hash_join_hash

// case: hash_join_index
// expect: the row numbers of a hash join are integers of 4 or 8 bytes: choose Index accordingly
#include <strata/device/device_hash_join.hpp>
namespace hash_join_index {
#ifdef STRATA_CASE_hash_join_index
using row_number = short;
#else
using row_number = int;
#endif

cudaError_t semi(std::size_t& bytes, const int* keys, row_number* rows, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Semi(nullptr, bytes, strata::join_side(keys, 10), strata::join_side(keys, 10),
                                      strata::join_pairs(nullptr, rows, 10), num_out);
}
}  // namespace hash_join_index

// case: hash_join_merge_tile
// expect: join_merge_tuning: the number of threads must be a multiple of 32 and at least 64; a thread has at most 31
#include <strata/device/device_hash_join.hpp>
namespace hash_join_merge_tile {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
    static constexpr strata::join_partition_tuning partition{512, {4, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#ifdef STRATA_CASE_hash_join_merge_tile
    static constexpr strata::join_merge_tuning merge{80, 4, 4, 1, 0};
#else
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
#endif
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10).sorted();
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_merge_tile

// case: hash_join_partition_bits
// expect: join_partition_tuning: min_bits must be at least 1 and at most one_pass_bits
#include <strata/device/device_hash_join.hpp>
namespace hash_join_partition_bits {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#ifdef STRATA_CASE_hash_join_partition_bits
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4,  1,
                                                             256, 500,       250,       4,   12, 4};
#else
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#endif
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_partition_bits

// case: hash_join_partition_join_items
// expect: join_partition_tuning: join_items must be at most 4
#include <strata/device/device_hash_join.hpp>
namespace hash_join_partition_join_items {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#ifdef STRATA_CASE_hash_join_partition_join_items
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 5, 1,
                                                             256, 500,       250,       4,   8, 4};
#else
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#endif
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_partition_join_items

// case: hash_join_partition_threads
// expect: join_partition_tuning: partition_threads must be a power of two
#include <strata/device/device_hash_join.hpp>
namespace hash_join_partition_threads {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#ifdef STRATA_CASE_hash_join_partition_threads
    static constexpr strata::join_partition_tuning partition{384, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#else
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#endif
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_partition_threads

// case: hash_join_partition_tile
// expect: join_partition_tuning: partition_threads \* items must be less than 65536, and items at most 32
#include <strata/device/device_hash_join.hpp>
namespace hash_join_partition_tile {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#ifdef STRATA_CASE_hash_join_partition_tile
    static constexpr strata::join_partition_tuning partition{1024, {64, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256,  500,        250,       4,   8, 4};
#else
    static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
#endif
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_partition_tile

// case: hash_join_policy_chain
// expect: join policies: tuning values that temporary storage depends on must be equal in all policies of a chain,
#include <strata/device/device_hash_join.hpp>
namespace hash_join_policy_chain {
struct rows : strata::join_common_policy {
  static constexpr strata::join_table_tuning table{256, 128, 2, 4};
  static constexpr strata::join_partition_tuning partition{512, {8, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                           256, 500,       250,       4,   8, 4};
  static constexpr std::uint64_t least_partitioned_rows = 1000;
  using strategy = strata::cuda_join_policy;
};

struct hub {
#ifdef STRATA_CASE_hash_join_policy_chain
  struct Policy700 : strata::ChainedPolicy<700, Policy700, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 3, 4, 1, 0};
  };
#else
  struct Policy700 : strata::ChainedPolicy<700, Policy700, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  };
#endif
  // Newer than every device, so the older policy is selected.
  struct Policy99990 : strata::ChainedPolicy<99990, Policy99990, Policy700>, rows {
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  };
  using MaxPolicy = Policy99990;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_policy_chain

// case: hash_join_tile
// expect: join_table_tuning: a tile must have at least 256 probe rows: increase probe_items or the threads
#include <strata/device/device_hash_join.hpp>
namespace hash_join_tile {
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
#ifdef STRATA_CASE_hash_join_tile
    static constexpr strata::join_table_tuning table{256, 64, 2, 4};
#else
    static constexpr strata::join_table_tuning table{256, 128, 2, 4};
#endif
    static constexpr strata::join_partition_tuning partition{512, {4, 2, 2}, {2, 2, 2}, 256, 4, 1,
                                                             256, 500,       250,       4,   8, 4};
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1000;
    using strategy = strata::cuda_join_policy;
  };
  using MaxPolicy = Policy;
};

cudaError_t count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  const auto side = strata::join_side(keys, 10);
  return strata::TunedDeviceHashJoin<hub>::Inner(nullptr, bytes, side, side, strata::join_count(), num_out);
}
}  // namespace hash_join_tile

// case: hash_join_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_hash_join.hpp>
namespace hash_join_trivially_copyable {
struct key {
  int id;
#ifdef STRATA_CASE_hash_join_trivially_copyable
  STRATA_HD key(const key& other) : id(other.id) {}
#endif
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.id == b.id; }
};
struct key_hash {
  STRATA_HD int operator()(const key& k) const { return k.id; }
};

cudaError_t count(std::size_t& bytes, const key* keys, std::int64_t* num_out,
                  const strata::JoinOptions<key_hash>& options) {
  return strata::DeviceHashJoin::Semi(nullptr, bytes, strata::join_side(keys, 10), strata::join_side(keys, 10),
                                      strata::join_count(), num_out, options);
}
}  // namespace hash_join_trivially_copyable
