// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceMerge with CUB's. The necessary traffic is the items, read once and written once.

#include <cub/device/device_merge.cuh>
#include <strata/device/device_merge.cuh>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace merge_benchmark {

/// A user's comparator, which neither library recognises as an ascending order of numbers.
struct is_less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// The keys of a range lie in [low, low + span). Each of `size` equal parts has one key, at its start (`is_even`) or at
/// a random place.
struct key_law {
  std::uint64_t low, span;
  bool is_even;
};

template <class Key>
__global__ void generate_sorted(Key* keys, std::size_t size, key_law law, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const std::uint64_t begin = law.span * i / size, end = law.span * (i + 1) / size;
    const std::uint64_t place = law.is_even || end == begin ? 0 : bench::random_bits(seed + i) % (end - begin);
    // 8-byte integers differ in their high halves, too.
    const std::uint64_t key = (law.low + begin + place) << (std::is_integral_v<Key> && sizeof(Key) == 8 ? 30 : 0);
    keys[i] = static_cast<Key>(key);
  }
}

}  // namespace merge_benchmark

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using merge_benchmark::is_less;
using merge_benchmark::key_law;

/// How the two ranges of a merge interleave.
struct shape {
  const char* name;
  double share1;  // fraction of the items that is in the first range
  key_law law1, law2;
};

constexpr std::uint64_t half = std::uint64_t{1} << 30, all = 2 * half;
constexpr shape uniform{"50:50", 0.5, {0, all, false}, {0, all, false}};
constexpr shape shapes[] = {uniform,
                            {"99:1", 0.99, {0, all, false}, {0, all, false}},
                            {"first_before_second", 0.5, {0, half, false}, {half, half, false}},
                            {"interleaved", 0.5, {0, all, true}, {1, all, true}},
                            {"equal", 0.5, {7, 0, true}, {7, 0, true}}};

template <class Key>
device_array<Key> sorted_array(std::int64_t size, const key_law& law, std::uint64_t seed, cudaStream_t stream) {
  device_array<Key> keys(static_cast<std::size_t>(size));
  merge_benchmark::generate_sorted<<<bench::detail::blocks_for(keys.size()), 256, 0, stream>>>(
      keys.data(), keys.size(), law, bench::random_bits(seed));
  bench::check(cudaGetLastError(), "generate_sorted");
  return keys;
}

/// A workload whose peers run `call(library, storage, bytes, keys_out, values_out, stream)`.
template <class Key, class Value, class Call>
workload merge_workload(const environment& env, std::int64_t n, double item_bytes, Call call) {
  const bool has_values = !std::is_same_v<Value, char>;
  const auto keys = static_cast<std::size_t>(n), values = has_values ? keys : 1;
  const device_array<Key> ours(keys), theirs(keys);
  const device_array<Value> our_values(values), their_values(values);
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  our_values.fill_bytes(0xa5, env.stream);
  their_values.fill_bytes(has_values ? 0x5a : 0xa5, env.stream);
  workload work;
  work.bytes = 2 * item_bytes * static_cast<double>(n);
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(strata::DeviceMerge{}, storage, bytes, ours.data(), our_values.data(), stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return call(cub::DeviceMerge{}, storage, bytes, theirs.data(), their_values.data(), stream);
  }));
  // The copy moves as many bytes as the merge reads.
  const device_array<char> source(static_cast<std::size_t>(item_bytes) * keys);
  source.fill_bytes(0x77, env.stream);
  work.peers.push_back(bench::copy_peer(source.data(), source.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=, source_of_copies = source] {
    const std::string text = bench::difference(ours, theirs, {}, stream);
    return text.empty() ? bench::difference(our_values, their_values, {}, stream) : text;
  };
  return work;
}

template <class Key>
void add_keys(bench::suite& suite, const char* type, const shape& how, std::int64_t n, timing timed) {
  const auto prepare = [n, how](const environment& env) {
    const auto n1 = static_cast<std::int64_t>(static_cast<double>(n) * how.share1), n2 = n - n1;
    const auto keys1 = sorted_array<Key>(n1, how.law1, env.settings.seed + 1, env.stream);
    const auto keys2 = sorted_array<Key>(n2, how.law2, env.settings.seed + 2, env.stream);
    return merge_workload<Key, char>(
        env, n, sizeof(Key),
        [=](auto library, void* storage, std::size_t& bytes, Key* keys_out, char*, cudaStream_t stream) {
          return decltype(library)::MergeKeys(storage, bytes, static_cast<const Key*>(keys1.data()), n1,
                                              static_cast<const Key*>(keys2.data()), n2, keys_out, is_less{}, stream);
        });
  };
  suite.add({"DeviceMerge::MergeKeys", type, how.name, n, timed, prepare});
}

template <class Key, class Value>
void add_pairs(bench::suite& suite, const char* type, const shape& how, std::int64_t n, timing timed) {
  const auto prepare = [n, how](const environment& env) {
    const auto n1 = static_cast<std::int64_t>(static_cast<double>(n) * how.share1), n2 = n - n1;
    const auto keys1 = sorted_array<Key>(n1, how.law1, env.settings.seed + 1, env.stream);
    const auto keys2 = sorted_array<Key>(n2, how.law2, env.settings.seed + 2, env.stream);
    const auto values1 = bench::random_array<Value>(n1, env.settings.seed + 3, env.stream);
    const auto values2 = bench::random_array<Value>(n2, env.settings.seed + 4, env.stream);
    return merge_workload<Key, Value>(
        env, n, sizeof(Key) + sizeof(Value),
        [=](auto library, void* storage, std::size_t& bytes, Key* keys_out, Value* values_out, cudaStream_t stream) {
          return decltype(library)::MergePairs(
              storage, bytes, static_cast<const Key*>(keys1.data()), static_cast<const Value*>(values1.data()), n1,
              static_cast<const Key*>(keys2.data()), static_cast<const Value*>(values2.data()), n2, keys_out,
              values_out, is_less{}, stream);
        });
  };
  suite.add({"DeviceMerge::MergePairs", type, how.name, n, timed, prepare});
}

/// Calls `add(shape, n, timing)` for two uniform ranges of all sizes, and for other shapes of a few sizes.
template <class Add>
void add_cases_of(const Add& add) {
  for (const int log_size : {12, 14, 16, 18, 20, 22, 24, 26, 28}) {
    add(uniform, std::int64_t{1} << log_size, timing::batched);
  }
  for (const shape& how : shapes) {
    if (how.name == uniform.name) continue;
    for (const int log_size : {16, 22, 28}) add(how, std::int64_t{1} << log_size, timing::batched);
  }
  for (const int log_size : {12, 20}) add(uniform, std::int64_t{1} << log_size, timing::single_call);
}

void add_cases(bench::suite& suite) {
  const auto keys = [&suite](auto key, const char* type) {
    add_cases_of(
        [&](const shape& how, std::int64_t n, timing timed) { add_keys<decltype(key)>(suite, type, how, n, timed); });
  };
  keys(std::int32_t{}, "i32");
  keys(std::int64_t{}, "i64");
  keys(double{}, "f64");
  add_cases_of([&suite](const shape& how, std::int64_t n, timing timed) {
    add_pairs<std::int32_t, std::int32_t>(suite, "i32:i32", how, n, timed);
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::run("merge", argc, argv, add_cases); }
