// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceRadixSort with CUB's. The necessary traffic is the input, read once, and the output, written once. No
// sort gets near this bound.

#include <cub/device/device_radix_sort.cuh>
#include <strata/device/device_radix_sort.cuh>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using sort = strata::DeviceRadixSort;
};
struct use_cub {
  using sort = cub::DeviceRadixSort;
};

/// Distributions of keys.
enum class keys_are { uniform, low_byte, equal, sorted, reversed, mostly_one, and3, and5 };

const char* name_of(keys_are which) {
  switch (which) {
    case keys_are::uniform:
      return "uniform";
    case keys_are::low_byte:
      return "8 bits";
    case keys_are::equal:
      return "equal";
    case keys_are::sorted:
      return "sorted";
    case keys_are::reversed:
      return "reversed";
    case keys_are::mostly_one:
      return "90% one";
    case keys_are::and3:
      return "and of 3";
    case keys_are::and5:
      return "and of 5";
  }
  return "";
}

template <class Key>
__global__ void shape_keys(Key* keys, std::size_t size, keys_are which, std::uint64_t seed) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    const std::uint64_t any = bench::random_bits(seed + i);
    // As in CUB's own benchmark, keys with a lower entropy are the bitwise and of 3 or 5 random words.
    std::uint64_t both = any;
    const int words = which == keys_are::and3 ? 3 : which == keys_are::and5 ? 5 : 1;
    for (int w = 1; w < words; ++w) {
      both &= bench::random_bits(seed * 3 + static_cast<std::uint64_t>(w) * size + i);
    }
    switch (which) {
      case keys_are::uniform:
        break;
      case keys_are::low_byte:
        keys[i] = static_cast<Key>(any & 255);
        break;
      case keys_are::equal:
        keys[i] = static_cast<Key>(42);
        break;
      case keys_are::sorted:
        keys[i] = static_cast<Key>(i * 16);
        break;
      case keys_are::reversed:
        keys[i] = static_cast<Key>((size - i) * 16);
        break;
      case keys_are::mostly_one:
        if (any % 10 != 0) keys[i] = static_cast<Key>(42);
        break;
      case keys_are::and3:
      case keys_are::and5:
        keys[i] = static_cast<Key>(both);
        break;
    }
  }
}

template <class Key>
device_array<Key> make_keys(const environment& env, std::int64_t n, keys_are which) {
  const std::uint64_t seed = env.settings.seed + static_cast<std::uint64_t>(n);
  auto keys = bench::random_array<Key>(n, seed, env.stream);
  if (which != keys_are::uniform) {
    if constexpr (std::is_integral_v<Key>) {
      shape_keys<<<1024, 256, 0, env.stream>>>(keys.data(), keys.size(), which, seed);
      bench::check(cudaGetLastError(), "shape_keys");
    }
  }
  return keys;
}

template <class Key>
void add_keys(bench::suite& suite, const char* type, std::initializer_list<std::int64_t> sizes,
              keys_are which = keys_are::uniform, timing how = timing::batched) {
  for (const std::int64_t size : sizes) {
    const int n = static_cast<int>(size);
    const auto prepare = [n, which](const environment& env) {
      const auto in = make_keys<Key>(env, n, which);
      const device_array<Key> ours(static_cast<std::size_t>(n)), theirs(static_cast<std::size_t>(n));
      ours.fill_bytes(0xa5, env.stream);
      theirs.fill_bytes(0x5a, env.stream);
      workload work;
      work.bytes = 2 * static_cast<double>(in.bytes());
      const auto call = [n, in](auto lib, const device_array<Key>& out, void* storage, std::size_t& bytes,
                                cudaStream_t s) {
        using sort = typename decltype(lib)::sort;
        return sort::SortKeys(storage, bytes, in.data(), out.data(), n, 0, 8 * int{sizeof(Key)}, s);
      };
      work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
        return call(use_strata{}, ours, storage, bytes, s);
      }));
      work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
        return call(use_cub{}, theirs, storage, bytes, s);
      }));
      work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
      const cudaStream_t stream = env.stream;
      work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
      return work;
    };
    suite.add({"DeviceRadixSort::SortKeys", type, name_of(which), n, how, prepare});
  }
}

template <class Key, class Value>
void add_pairs(bench::suite& suite, const char* type, std::initializer_list<std::int64_t> sizes,
               keys_are which = keys_are::uniform) {
  for (const std::int64_t size : sizes) {
    const int n = static_cast<int>(size);
    const auto prepare = [n, which](const environment& env) {
      const auto count = static_cast<std::size_t>(n);
      const auto in = make_keys<Key>(env, n, which);
      const auto values = bench::random_array<Value>(n, env.settings.seed, env.stream);
      const device_array<Key> ours(count), theirs(count);
      const device_array<Value> our_values(count), their_values(count);
      our_values.fill_bytes(0xa5, env.stream);
      their_values.fill_bytes(0x5a, env.stream);
      workload work;
      work.bytes = 2 * static_cast<double>(in.bytes() + values.bytes());
      const auto call = [n, in, values](auto lib, const device_array<Key>& out, const device_array<Value>& values_out,
                                        void* storage, std::size_t& bytes, cudaStream_t s) {
        using sort = typename decltype(lib)::sort;
        return sort::SortPairs(storage, bytes, in.data(), out.data(), values.data(), values_out.data(), n, 0,
                               8 * int{sizeof(Key)}, s);
      };
      work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
        return call(use_strata{}, ours, our_values, storage, bytes, s);
      }));
      work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
        return call(use_cub{}, theirs, their_values, storage, bytes, s);
      }));
      work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
      const cudaStream_t stream = env.stream;
      work.verify = [=] {
        const std::string text = bench::difference(ours, theirs, {}, stream);
        return text.empty() ? bench::difference(our_values, their_values, {}, stream) : text;
      };
      return work;
    };
    suite.add({"DeviceRadixSort::SortPairs", type, name_of(which), n, timing::batched, prepare});
  }
}

constexpr std::int64_t operator""_bits(unsigned long long log_size) { return std::int64_t{1} << log_size; }

void add_cases(bench::suite& suite) {
  add_keys<std::uint32_t>(suite, "u32",
                          {10_bits, 13_bits, 14_bits, 16_bits, 18_bits, 20_bits, 22_bits, 24_bits, 26_bits, 28_bits});
  add_keys<std::int32_t>(suite, "i32", {1000000, 16_bits, 20_bits, 24_bits, 26_bits, 28_bits});
  add_keys<float>(suite, "f32", {16_bits, 20_bits, 24_bits, 26_bits, 28_bits});
  add_keys<std::uint8_t>(suite, "u8", {16_bits, 20_bits, 24_bits, 28_bits});
  add_keys<std::uint16_t>(suite, "u16", {16_bits, 20_bits, 24_bits, 28_bits});
  add_keys<std::uint64_t>(suite, "u64", {16_bits, 20_bits, 24_bits, 28_bits});
  add_keys<double>(suite, "f64", {16_bits, 20_bits, 24_bits, 28_bits});
  add_pairs<std::uint32_t, std::uint32_t>(suite, "u32:u32", {16_bits, 20_bits, 24_bits, 28_bits});
  add_pairs<std::uint64_t, std::uint32_t>(suite, "u64:u32", {16_bits, 20_bits, 24_bits, 28_bits});
  add_pairs<std::uint64_t, std::uint64_t>(suite, "u64:u64", {16_bits, 20_bits, 24_bits, 28_bits});
  for (const keys_are which : {keys_are::low_byte, keys_are::equal, keys_are::sorted, keys_are::reversed,
                               keys_are::mostly_one, keys_are::and3, keys_are::and5}) {
    add_keys<std::uint32_t>(suite, "u32", {16_bits, 20_bits, 24_bits, 28_bits}, which);
  }
  add_keys<std::uint32_t>(suite, "u32", {10_bits, 14_bits, 18_bits, 20_bits}, keys_are::uniform, timing::single_call);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("radix_sort", argc, argv, add_cases); }
