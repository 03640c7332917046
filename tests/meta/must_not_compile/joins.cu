// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of joins, with every back end, that must not compile. tests/README.md says how this table is read.

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

// case: hash_join_future_count_metal
// expect: joins by Metal take no FutureCount: wait until the number of rows is written, read it, and pass it to
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

// case: hash_join_last_argument
// expect first: the last argument of a call says where the call runs: pass a cudaStream_t, a class that converts to it
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

// case: join_hash_bytes
// expect: JoinHash hashes bytes, but equal keys of this type may have different bytes \(padding, floating point\):
#include <strata/device/join/common/join_hash.hpp>
namespace join_hash_bytes {
#ifdef STRATA_CASE_join_hash_bytes
using kind = char;  // with three bytes of padding
#else
using kind = int;
#endif

std::uint64_t hash_of(const strata::KeyValuePair<kind, int>& key) { return strata::JoinHash{}(key); }
}  // namespace join_hash_bytes

// case: join_hash_class
// expect first: JoinHash does not know whether equal keys of this type have equal bytes
#include <strata/device/join/common/join_hash.hpp>
namespace join_hash_class {
// Two keys are equal if both are odd, or both even. Compilers cannot see that their bytes may differ.
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
// expect: the row numbers of a join are integers of 4 or 8 bytes: choose Index accordingly
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
// expect: key_range is for keys that are integers or enumerations: omit it for other keys
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
// expect first: both sides of a join must have the same type of keys and the same type of key iterator: copy the keys
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
// expect: a JoinTable takes no FutureCount: copy the number of rows to the host, or call DeviceHashJoin, which takes a
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
// expect: row numbers of a join with a JoinTable must have the type Index of the table: pass this type to join_pairs
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
// expect first: both sides of a join must have the same type of keys and the same type of key iterator: copy the keys
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
