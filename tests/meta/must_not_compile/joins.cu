// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What joins of device/ refuses. tests/README.md says how this is read.
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_CUDA

// case: hash_join_count
// expect: counts of rows, columns and segments must be integers
#include <strata/device/device_hash_join.hpp>
namespace hash_join_count {

cudaError_t count_pairs(void* temp, std::size_t& bytes, const int* keys, long long* total) {
#if defined(STRATA_CASE_hash_join_count)
  const double count = 10.5;
#else
  const int count = 10;
#endif
  return strata::DeviceHashJoin::Inner(temp, bytes, strata::join_side(keys, count), strata::join_side(keys, 10),
                                       strata::join_count(), total);
}

}  // namespace hash_join_count

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

// case: hash_join_equality_host
// expect first: cannot be compared for equality
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>
namespace hash_join_equality_host {

struct is_equal {
#if defined(STRATA_CASE_hash_join_equality_host)
  STRATA_HD bool operator()(const char* a, int b) const { return *a == b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a == b; }
#endif
};

auto count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out,
                                       strata::JoinOptions<strata::JoinHash, is_equal>{});
}

}  // namespace hash_join_equality_host

// case: hash_join_fallback_threads
// expect: join tuning: table.fallback_threads must be a multiple of output.group_threads
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

// case: hash_join_future_count_metal
// expect: joins by Metal take numbers of rows that the host knows
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_METAL
#include <strata/device/device_hash_join.hpp>
namespace hash_join_future_count_metal {

cudaError_t count_pairs(const int* keys, const int* d_rows, long long* total) {
#if defined(STRATA_CASE_hash_join_future_count_metal)
  const strata::FutureCount<int> rows(d_rows, 10);
#else
  static_cast<void>(d_rows);
  const int rows = 10;
#endif
  return strata::DeviceHashJoin::Inner(strata::join_side(keys, rows), strata::join_side(keys, 10), strata::join_count(),
                                       total);
}

}  // namespace hash_join_future_count_metal

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

// case: hash_join_hash_host
// expect first: the hash functor cannot be called with a key
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>
namespace hash_join_hash_host {

struct key_hash {
#if defined(STRATA_CASE_hash_join_hash_host)
  STRATA_HD unsigned operator()(const char* key) const { return static_cast<unsigned>(*key); }
#else
  STRATA_HD unsigned operator()(int key) const { return static_cast<unsigned>(key); }
#endif
};

auto count(void* storage, std::size_t& bytes, const int* build, const int* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build, 1000), strata::join_side(probe, 1000),
                                       strata::join_count(), num_out, strata::JoinOptions<key_hash>{});
}

}  // namespace hash_join_hash_host

// case: hash_join_index
// expect: the row numbers of a hash join are integers of 4 or 8 bytes: choose such an Index
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

// case: hash_join_last_argument
// expect first: the last argument of a call says where it works: pass a cudaStream_t, a class that converts to it or
#include <cstdint>
#include <strata/device/device_hash_join.hpp>
namespace hash_join_last_argument {

int main() {
  int keys[3] = {1, 2, 3};
  std::int64_t count = 0;
  const auto side = strata::join_side(keys, 3);
#if defined(STRATA_CASE_hash_join_last_argument)
  const int where = 5;
#else
  const cudaStream_t where = nullptr;
#endif
  const strata::JoinOptions<> options;
  return strata::DeviceHashJoin::Inner(side, side, strata::join_count(), &count, options, where) == cudaSuccess ? 0 : 1;
}

}  // namespace hash_join_last_argument

// case: hash_join_merge_tile
// expect: join_merge_tuning: whole warps, two or more, at most 31 rows of a thread and 65,000 of a tile
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
// expect: all policies of a chain must have the same numbers where temporary storage depends on them
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
  // Newer than every device: the older policy is the active one.
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
// expect: join_table_tuning: a tile of probe rows must have at least 256
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

// case: join_hash_bytes
// expect: JoinHash hashes bytes, but equal keys of this type may differ in theirs
#include <strata/device/join/common/join_hash.hpp>
namespace join_hash_bytes {

#ifdef STRATA_CASE_join_hash_bytes
using kind = char;  // and three bytes of padding
#else
using kind = int;
#endif

std::uint64_t hash_of(const strata::KeyValuePair<kind, int>& key) { return strata::JoinHash{}(key); }

}  // namespace join_hash_bytes

// case: join_hash_class
// expect first: JoinHash does not know whether equal keys of this type have equal bytes
#include <strata/device/join/common/join_hash.hpp>
namespace join_hash_class {

// Equal if both are odd, or both even. What the compiler sees of it may as well be compared byte by byte.
struct parity {
  unsigned short number;
  friend bool operator==(parity a, parity b) { return a.number % 2 == b.number % 2; }
};
struct hash_of_parity {
  int operator()(parity key) const { return key.number % 2; }
};

#ifdef STRATA_CASE_join_hash_class
using hash = strata::JoinHash;
#else
using hash = hash_of_parity;
#endif

std::uint64_t hash_of(parity key) { return static_cast<std::uint64_t>(hash{}(key)); }

}  // namespace join_hash_class

// case: join_hash_enumeration
// expect first: JoinHash does not know whether equal keys of this type have equal bytes
#include <strata/device/join/common/join_hash.hpp>
namespace join_hash_enumeration {

enum class letter : char {};
#ifdef STRATA_CASE_join_hash_enumeration
inline bool operator==(letter a, letter b) { return (static_cast<char>(a) | 32) == (static_cast<char>(b) | 32); }
#endif

std::uint64_t hash_of(letter key) { return strata::JoinHash{}(key); }

}  // namespace join_hash_enumeration

// case: join_index
// expect: the row numbers of a join are integers of 4 or 8 bytes: choose such an Index
#include <strata/device/join/host/host_join.hpp>
namespace join_index {

#ifdef STRATA_CASE_join_index
using row_number = short;
#else
using row_number = int;
#endif

strata::HostJoinStatus count(std::size_t& bytes, const int* keys, std::int64_t* num_out) {
  return strata::detail::host_join_count<row_number>(nullptr, bytes, strata::JoinKind::inner, keys, 10, keys, 10,
                                                     num_out);
}

}  // namespace join_index

// case: join_key_range
// expect: only integers and enumerations have a range of keys
#include <strata/device/join/common/join_side.hpp>
namespace join_key_range {

#if defined(STRATA_CASE_join_key_range)
using key = float;
#else
using key = int;
#endif

auto side_of(const key* keys) { return strata::join_side(keys, 10).key_range(key(0), key(9)); }

}  // namespace join_key_range

// case: join_key_types
// expect first: both sides of a join have keys of one type, read by one type of iterator
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>
namespace join_key_types {

#if defined(STRATA_CASE_join_key_types)
using probe_key = long long;
#else
using probe_key = int;
#endif

cudaError_t join(const int* build, const probe_key* probe, std::int64_t* num_out) {
  return strata::DeviceHashJoin::Inner(strata::join_side(build, 10), strata::join_side(probe, 10), strata::join_count(),
                                       num_out);
}

}  // namespace join_key_types

// case: join_table_future_count
// expect: a JoinTable takes numbers of rows that the host knows
#include <strata/device/device_hash_join.hpp>
namespace join_table_future_count {

cudaError_t count_pairs(const strata::JoinTable<int>& table, const int* keys, const int* d_rows, long long* total) {
#if defined(STRATA_CASE_join_table_future_count)
  const strata::FutureCount<int> rows(d_rows, 10);
#else
  static_cast<void>(d_rows);
  const int rows = 10;
#endif
  return table.Inner(strata::join_side(keys, rows), strata::join_count(), total);
}

}  // namespace join_table_future_count

// case: join_table_index
// expect: row numbers of a join with a table have the type Index of the table
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>
namespace join_table_index {

#if defined(STRATA_CASE_join_table_index)
using row_number = long long;
#else
using row_number = int;
#endif

auto probe(const strata::JoinTable<int, int>& table, const int* keys, row_number* rows, std::int64_t* num_out) {
  return table.Inner(strata::join_side(keys, 10), strata::join_pairs(rows, rows + 10, 10), num_out);
}

}  // namespace join_table_index

// case: join_table_key_types
// expect first: both sides of a join have keys of one type, read by one type of iterator
// flags: -DSTRATA_JOIN_BACKEND=STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>
namespace join_table_key_types {

#if defined(STRATA_CASE_join_table_key_types)
using probe_key = short;
#else
using probe_key = int;
#endif

cudaError_t join(const strata::JoinTable<int>& table, const probe_key* keys, std::int64_t* num_out) {
  return table.Semi(strata::join_side(keys, 10), strata::join_count(), num_out);
}

}  // namespace join_table_key_types

// case: join_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/join/host/host_join.hpp>
namespace join_trivially_copyable {

struct owner {
  int value;
  bool operator==(const owner& other) const { return value == other.value; }
#ifdef STRATA_CASE_join_trivially_copyable
  ~owner() { value = 0; }
#endif
};

struct hash_of_owner {
  int operator()(const owner& key) const { return key.value; }
};

strata::HostJoinStatus count(std::size_t& bytes, const owner* keys, std::int64_t* num_out) {
  return strata::detail::host_join_count(nullptr, bytes, strata::JoinKind::inner, keys, 10, keys, 10, num_out, {},
                                         hash_of_owner{});
}

}  // namespace join_trivially_copyable
