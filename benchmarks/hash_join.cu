// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin beside a copy of its input; no other library of the toolkit joins. The necessary
// traffic is the keys of both sides, read once, and the pairs of rows, written once. A case is
// `rows of the build side x rows of the probe side`, then
//
//   match=M  the share of probe rows that have a partner
//   zipf=Z   1: probe keys are log-uniform, as a Zipf law of exponent 1 is; 0: uniform
//   mult=K   build rows with the same key
//   dense    keys are numbers from 0 on, shuffled; sparse: any bit patterns

#include <strata/device/device_hash_join.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

namespace hash_join_benchmark {

struct join_case {
  const char* name;
  std::int64_t build_rows;
  std::int64_t probe_rows;
  double match;
  int zipf;
  std::int64_t mult;
  bool is_sparse;

  __host__ __device__ std::int64_t keys() const { return build_rows / mult; }
};

/// A permutation of [0, size): of the next power of two, walked along until it is inside.
__host__ __device__ inline std::uint64_t permuted(std::uint64_t x, std::uint64_t size) {
  int bits = 1;
  while ((std::uint64_t{1} << bits) < size) ++bits;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  do {
    for (int round = 0; round < 3; ++round) {
      x = (x * 0x9e3779b97f4a7c15u + 0x1234567u) & mask;
      x ^= x >> (bits / 2 > 0 ? bits / 2 : 1);
    }
  } while (x >= size);
  return x;
}

template <class Key>
__device__ Key key_of(std::uint64_t id, bool is_sparse) {
  if (!is_sparse) return static_cast<Key>(id);
  if (sizeof(Key) == 8) return static_cast<Key>(bench::random_bits(id));
  // No two ids have the same.
  auto word = static_cast<std::uint32_t>(id);
  word = (word ^ (word >> 16)) * 0x85ebca6bu;
  word = (word ^ (word >> 13)) * 0xc2b2ae35u;
  return static_cast<Key>(word ^ (word >> 16));
}

__device__ inline std::uint64_t probe_id(const join_case& what, std::uint64_t row,
                                         std::uint64_t seed) {
  const double u = static_cast<double>(bench::random_bits(seed + row) >> 11) * 0x1p-53;
  const auto keys = static_cast<double>(what.keys());
  if (what.zipf == 0) return static_cast<std::uint64_t>(u * keys / what.match);
  return permuted(static_cast<std::uint64_t>(pow(keys, u) - 0.5), what.keys());
}

__device__ inline std::uint64_t pair_bits(std::int64_t build_row, std::int64_t probe_row) {
  return bench::random_bits(static_cast<std::uint64_t>(build_row) << 32 ^
                            static_cast<std::uint64_t>(probe_row));
}

/// Number of pairs and a sum over them that does not depend on their order.
struct checksum {
  unsigned long long pairs;
  unsigned long long sum;
};

template <class Key>
__global__ void make_build(join_case what, Key* keys, std::int32_t* row_of) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       row < what.build_rows; row += stride) {
    const std::uint64_t place = permuted(row, what.build_rows);
    keys[row] = key_of<Key>(place % what.keys(), what.is_sparse);
    row_of[place] = static_cast<std::int32_t>(row);
  }
}

template <class Key>
__global__ void make_probe(join_case what, std::uint64_t seed, const std::int32_t* row_of,
                           Key* keys, checksum* expected) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  checksum mine{0, 0};
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       row < what.probe_rows; row += stride) {
    const std::uint64_t id = probe_id(what, row, seed);
    keys[row] = key_of<Key>(id, what.is_sparse);
    if (id >= static_cast<std::uint64_t>(what.keys())) continue;
    for (std::int64_t place = id; place < what.build_rows; place += what.keys()) {
      ++mine.pairs;
      mine.sum += pair_bits(row_of[place], row);
    }
  }
  atomicAdd(&expected->pairs, mine.pairs);
  atomicAdd(&expected->sum, mine.sum);
}

__global__ void sum_pairs(const std::int32_t* build_rows, const std::int32_t* probe_rows,
                          std::int64_t capacity, const std::int64_t* total, checksum* found) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t count = *total < capacity ? *total : capacity;
  unsigned long long sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    sum += pair_bits(build_rows[i], probe_rows[i]);
  }
  atomicAdd(&found->sum, sum);
  if (blockIdx.x == 0 && threadIdx.x == 0) found->pairs = static_cast<unsigned long long>(*total);
}

}  // namespace hash_join_benchmark

namespace {

using namespace hash_join_benchmark;
using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

template <class Key>
struct sides {
  device_array<Key> build;
  device_array<Key> probe;
  checksum expected;

  sides(const join_case& what, const environment& env)
      : build(static_cast<std::size_t>(what.build_rows)),
        probe(static_cast<std::size_t>(what.probe_rows)) {
    const device_array<std::int32_t> row_of(build.size());
    const device_array<checksum> sum(1);
    sum.fill_bytes(0, env.stream);
    make_build<<<4096, 256, 0, env.stream>>>(what, build.data(), row_of.data());
    make_probe<<<4096, 256, 0, env.stream>>>(what, bench::random_bits(env.settings.seed),
                                             row_of.data(), probe.data(), sum.data());
    bench::check(cudaGetLastError(), "make_probe");
    bench::check(cudaStreamSynchronize(env.stream), "make_probe");
    expected = sum.value_at(0);
  }
};

enum class call_kind { unique_pairs, pairs, ordered_pairs, count };

template <class Key>
workload prepare(const join_case& what, call_kind kind, strata::JoinStrategy strategy,
                 const environment& env) {
  const sides<Key> keys(what, env);
  const auto capacity = static_cast<std::int64_t>(keys.expected.pairs);
  const bool has_pairs = kind != call_kind::count;
  const std::size_t room = has_pairs ? static_cast<std::size_t>(capacity) : 0;
  const device_array<std::int32_t> build_out(room);
  const device_array<std::int32_t> probe_out(room);
  const device_array<std::int64_t> total(1);
  total.fill_bytes(0xa5, env.stream);
  strata::JoinOptions<> options;
  options.strategy = strategy;
  options.build_unique = kind == call_kind::unique_pairs;
  if (kind == call_kind::ordered_pairs) options.order = strata::JoinOrder::probe;

  workload work;
  work.bytes = static_cast<double>(keys.build.bytes() + keys.probe.bytes()) +
               (has_pairs ? 8.0 * static_cast<double>(capacity) : 0.0);
  work.peers.push_back(
      bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
        if (!has_pairs) {
          return strata::DeviceHashJoin::InnerCount<std::int32_t>(
              storage, bytes, keys.build.data(), what.build_rows, keys.probe.data(),
              what.probe_rows, total.data(), options, stream);
        }
        return strata::DeviceHashJoin::InnerPairs(
            storage, bytes, keys.build.data(), what.build_rows, keys.probe.data(), what.probe_rows,
            build_out.data(), probe_out.data(), total.data(), capacity, options, stream);
      }));
  work.peers.push_back(bench::copy_peer(keys.probe.data(), keys.probe.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=]() -> std::string {
    const device_array<checksum> sum(1);
    sum.fill_bytes(0, stream);
    sum_pairs<<<4096, 256, 0, stream>>>(build_out.data(), probe_out.data(),
                                        has_pairs ? capacity : 0, total.data(), sum.data());
    bench::check(cudaGetLastError(), "sum_pairs");
    bench::check(cudaStreamSynchronize(stream), "sum_pairs");
    const checksum found = sum.value_at(0);
    if (found.pairs != keys.expected.pairs) {
      return std::to_string(found.pairs) + " pairs, expected " +
             std::to_string(keys.expected.pairs);
    }
    return has_pairs && found.sum != keys.expected.sum ? "other pairs than expected" : "";
  };
  return work;
}

std::string name_of(const join_case& what) {
  std::string match = std::to_string(what.match);
  while (match.back() == '0') match.pop_back();
  if (match.back() == '.') match.pop_back();
  return std::string(what.name) + " match=" + match + " zipf=" + std::to_string(what.zipf) +
         " mult=" + std::to_string(what.mult) + (what.is_sparse ? " sparse" : " dense");
}

template <class Key>
void add(bench::suite& suite, const char* type, const join_case& what, call_kind kind,
         const char* suffix = "", strata::JoinStrategy strategy = strata::JoinStrategy::automatic) {
  bench::benchmark_case added;
  added.algorithm =
      kind == call_kind::count ? "DeviceHashJoin::InnerCount" : "DeviceHashJoin::InnerPairs";
  added.type = type;
  added.data_case = name_of(what) + suffix;
  added.n = what.build_rows + what.probe_rows;
  added.prepare = [what, kind, strategy](const environment& env) {
    return prepare<Key>(what, kind, strategy, env);
  };
  added.rivals = {};
  suite.add(added);
}

constexpr std::int64_t million = 1000000;
constexpr std::int64_t two_to(int bits) { return std::int64_t{1} << bits; }

void add_cases(bench::suite& suite) {
  constexpr join_case uniform[] = {
      {"10Kx10M", 10000, 10 * million, 1, 0, 1, false},
      {"100Kx100K", 100000, 100000, 1, 0, 1, false},
      {"J1", million, 10 * million, 1, 0, 1, false},
      {"2^20x2^20", two_to(20), two_to(20), 1, 0, 1, false},
      {"2^22x40M", two_to(22), 40 * million, 1, 0, 1, false},
      {"2^24x2^24", two_to(24), two_to(24), 1, 0, 1, false},
      {"2^24x2^27", two_to(24), two_to(27), 1, 0, 1, false},
      {"2^27x2^27", two_to(27), two_to(27), 1, 0, 1, false},
  };
  for (const join_case& what : uniform) {
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::unique_pairs, " unique");
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::pairs);
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::pairs, " table",
                       strata::JoinStrategy::simple);
    add<std::uint64_t>(suite, "u64/u32", what, call_kind::pairs);
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::count);
  }
  constexpr join_case others[] = {
      {"J1", million, 10 * million, 0.25, 0, 1, false},
      {"J1", million, 10 * million, 1, 1, 1, false},
      {"J1", million, 10 * million, 1, 0, 1, true},
      {"J1", million, 10 * million, 1, 0, 10, false},
      {"2^24x2^24", two_to(24), two_to(24), 0.25, 0, 1, false},
      {"2^24x2^24", two_to(24), two_to(24), 1, 1, 1, false},
      {"2^24x2^24", two_to(24), two_to(24), 1, 0, 1, true},
      {"2^24x2^24", two_to(24), two_to(24), 1, 0, 4, false},
      {"100Kx100K", 100000, 100000, 1, 0, 1000, false},
      {"100Kx100K", 100000, 100000, 0.3, 0, 50000, false},
      {"2^20x2^13", two_to(20), two_to(13), 1, 0, two_to(14), false},
      {"2^27x2^27", two_to(27), two_to(27), 0.25, 0, 1, false},
      {"2^27x2^27", two_to(27), two_to(27), 1, 0, 1, true},
  };
  for (const join_case& what : others) {
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::pairs);
    add<std::uint64_t>(suite, "u64/u32", what, call_kind::pairs);
  }
  for (const join_case& what : {uniform[2], uniform[5]}) {
    add<std::uint32_t>(suite, "u32/u32", what, call_kind::ordered_pairs, " ordered");
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run("hash_join", argc, argv, add_cases); }
