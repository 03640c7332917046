// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceMemcpy::Batched and DeviceCopy::Batched with CUB's. The necessary traffic is all buffers, read and
// written once, and the arrays of pointers and sizes.

#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/iterator/constant_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace batched_copy_benchmark {

struct constant_of {
  __host__ __device__ strata::ConstantInputIterator<std::int32_t> operator()(std::int32_t value) const {
    return strata::ConstantInputIterator<std::int32_t>(value);
  }
};

}  // namespace batched_copy_benchmark

namespace {

using batched_copy_benchmark::constant_of;
using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;

struct use_strata {
  using memcpy = strata::DeviceMemcpy;
  using copy = strata::DeviceCopy;
};
struct use_cub {
  using memcpy = cub::DeviceMemcpy;
  using copy = cub::DeviceCopy;
};

/// The sizes of the buffers in items, and where the buffers lie. Sources lie side by side, in order or (`is_gather`)
/// shuffled. Destinations lie side by side in order. The first one lies `in_offset` or `out_offset` items into its
/// array.
struct buffers {
  std::vector<std::uint32_t> sizes;
  bool is_gather = false;
  std::size_t in_offset = 0;
  std::size_t out_offset = 0;

  std::size_t items() const { return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}); }

  std::vector<std::size_t> places(bool shuffled, std::uint64_t seed) const {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    std::vector<std::size_t> begins(sizes.size());
    std::size_t next = 0;
    for (const std::size_t i : order) {
      begins[i] = next;
      next += sizes[i];
    }
    return begins;
  }
};

using make_buffers = std::function<buffers(std::uint64_t seed)>;

std::vector<std::uint32_t> uniform(std::size_t count, std::uint32_t least, std::uint32_t most, std::uint64_t seed) {
  std::mt19937_64 bits(seed);
  std::uniform_int_distribution<std::uint32_t> size(least, most);
  std::vector<std::uint32_t> sizes(count);
  for (std::uint32_t& each : sizes) each = size(bits);
  return sizes;
}

/// Sizes proportional to 1 / rank, in random order.
std::vector<std::uint32_t> zipf(std::size_t count, double largest, std::uint64_t seed) {
  std::vector<std::uint32_t> sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    sizes[i] = static_cast<std::uint32_t>(std::ceil(largest / static_cast<double>(i + 1)));
  }
  std::shuffle(sizes.begin(), sizes.end(), std::mt19937_64(seed));
  return sizes;
}

/// A workload whose peers run `call(library, storage, bytes, inputs, outputs, sizes, count, stream)`.
template <class T, class Call>
workload copy_buffers(const environment& env, const buffers& of, bool reads_items, Call call) {
  const std::size_t count = of.sizes.size(), items = of.items();
  const auto in =
      bench::random_array<T>(static_cast<std::int64_t>(items + of.in_offset), env.settings.seed, env.stream);
  const device_array<T> by_strata(items + of.out_offset), by_cub(items + of.out_offset);
  by_strata.fill_bytes(0xa5, env.stream);
  by_cub.fill_bytes(0xa5, env.stream);

  const std::vector<std::size_t> from = of.places(of.is_gather, env.settings.seed), to = of.places(false, 0);
  std::vector<const T*> host_inputs(count);
  std::vector<T*> strata_host(count), cub_host(count);
  for (std::size_t i = 0; i < count; ++i) {
    host_inputs[i] = in.data() + of.in_offset + from[i];
    strata_host[i] = by_strata.data() + of.out_offset + to[i];
    cub_host[i] = by_cub.data() + of.out_offset + to[i];
  }
  const device_array<const T*> inputs(count);
  const device_array<T*> strata_outputs(count), cub_outputs(count);
  const device_array<std::uint32_t> sizes(count);
  inputs.upload(host_inputs, env.stream);
  strata_outputs.upload(strata_host, env.stream);
  cub_outputs.upload(cub_host, env.stream);
  sizes.upload(of.sizes, env.stream);

  workload work;
  work.bytes = static_cast<double>(items * sizeof(T)) * (reads_items ? 2 : 1) +
               static_cast<double>(inputs.bytes() + strata_outputs.bytes() + sizes.bytes());
  const auto buffer_count = static_cast<std::int64_t>(count);
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    static_cast<void>(in);  // keeps the input alive as long as the peer
    return call(use_strata{}, storage, bytes, inputs.data(), strata_outputs.data(), sizes.data(), buffer_count, stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    static_cast<void>(in);
    return call(use_cub{}, storage, bytes, inputs.data(), cub_outputs.data(), sizes.data(), buffer_count, stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(by_strata, by_cub, {}, stream); };
  return work;
}

void add_memcpy(bench::suite& suite, const char* data_case, std::size_t count, const make_buffers& make,
                timing how = timing::batched) {
  const auto prepare = [make](const environment& env) {
    return copy_buffers<std::uint8_t>(env, make(env.settings.seed), true,
                                      [](auto lib, void* storage, std::size_t& bytes, auto inputs, auto outputs,
                                         auto sizes, std::int64_t n, cudaStream_t s) {
                                        using memcpy = typename decltype(lib)::memcpy;
                                        return memcpy::Batched(storage, bytes, inputs, outputs, sizes, n, s);
                                      });
  };
  suite.add({"DeviceMemcpy::Batched", "bytes", data_case, static_cast<std::int64_t>(count), how, prepare});
}

/// Copies ranges of 32-bit integers. The inputs are pointers, or iterators that repeat one value.
void add_copy(bench::suite& suite, const char* data_case, std::size_t count, const make_buffers& make) {
  const auto pointers = [make](const environment& env) {
    return copy_buffers<std::int32_t>(env, make(env.settings.seed), true,
                                      [](auto lib, void* storage, std::size_t& bytes, auto inputs, auto outputs,
                                         auto sizes, std::int64_t n, cudaStream_t s) {
                                        using copy = typename decltype(lib)::copy;
                                        return copy::Batched(storage, bytes, inputs, outputs, sizes, n, s);
                                      });
  };
  suite.add({"DeviceCopy::Batched", "i32", data_case, static_cast<std::int64_t>(count), timing::batched, pointers});
  const auto runs = [make, count](const environment& env) {
    const auto values =
        bench::random_array<std::int32_t>(static_cast<std::int64_t>(count), env.settings.seed, env.stream);
    return copy_buffers<std::int32_t>(
        env, make(env.settings.seed), false,
        [values](auto lib, void* storage, std::size_t& bytes, auto, auto outputs, auto sizes, std::int64_t n,
                 cudaStream_t s) {
          using copy = typename decltype(lib)::copy;
          const strata::TransformInputIterator<strata::ConstantInputIterator<std::int32_t>, constant_of,
                                               const std::int32_t*>
              inputs(values.data(), constant_of{});
          return copy::Batched(storage, bytes, inputs, outputs, sizes, n, s);
        });
  };
  suite.add({"DeviceCopy::Batched", "runs:i32", data_case, static_cast<std::int64_t>(count), timing::batched, runs});
}

void add_equal(bench::suite& suite, const char* name, int log_count, std::uint32_t size, std::size_t in_offset = 0,
               std::size_t out_offset = 0) {
  const std::size_t count = std::size_t{1} << log_count;
  add_memcpy(suite, name, count, [=](std::uint64_t) {
    return buffers{std::vector<std::uint32_t>(count, size), false, in_offset, out_offset};
  });
}

void add_uniform(bench::suite& suite, const char* name, int log_count, std::uint32_t least, std::uint32_t most,
                 bool is_gather = false) {
  const std::size_t count = std::size_t{1} << log_count;
  add_memcpy(suite, name, count, [=](std::uint64_t seed) {
    return buffers{uniform(count, least, most, seed), is_gather};
  });
}

void add_cases(bench::suite& suite) {
  constexpr std::size_t many = std::size_t{1} << 20;
  add_uniform(suite, "1..32 B", 22, 1, 32);
  add_uniform(suite, "1..32 B gather", 22, 1, 32, true);
  add_uniform(suite, "64..256 B", 20, 64, 256);
  add_uniform(suite, "64..256 B gather", 20, 64, 256, true);
  add_uniform(suite, "1..4 KB", 18, 1 << 10, 4 << 10);
  add_equal(suite, "64 B", 20, 64);
  add_equal(suite, "4 KB", 18, 4 << 10);
  add_equal(suite, "4 KB source + 1", 18, 4 << 10, 1);
  add_equal(suite, "16 KB", 16, 16 << 10);
  add_equal(suite, "1 MB", 10, 1 << 20);
  add_equal(suite, "1 MB source + 1", 10, 1 << 20, 1);
  add_equal(suite, "1 MB destination + 1", 10, 1 << 20, 0, 1);
  add_equal(suite, "1 MB both + 1", 10, 1 << 20, 1, 1);
  add_equal(suite, "64 MB", 4, 64 << 20);
  add_equal(suite, "64 MB", 0, 64 << 20);
  add_memcpy(suite, "zipf", many, [](std::uint64_t seed) { return buffers{zipf(many, 64e6, seed)}; });
  const auto huge_tiny = [](std::uint64_t seed) {
    std::vector<std::uint32_t> sizes = uniform(many, 1, 16, seed);
    sizes[many / 3] = 512u << 20;
    return buffers{sizes};
  };
  add_memcpy(suite, "one 512 MB others 1..16 B", many, huge_tiny);
  const auto few = [](std::uint64_t seed) { return buffers{uniform(100, 1, 1000, seed)}; };
  add_memcpy(suite, "100 of 1..1000 B", 100, few);
  add_memcpy(suite, "100 of 1..1000 B", 100, few, timing::single_call);
  add_copy(suite, "1..16", many, [](std::uint64_t seed) { return buffers{uniform(many, 1, 16, seed)}; });
  add_copy(suite, "100..1000", many / 8,
           [](std::uint64_t seed) { return buffers{uniform(many / 8, 100, 1000, seed)}; });
  add_copy(suite, "zipf", many, [](std::uint64_t seed) { return buffers{zipf(many, 16e6, seed)}; });
}

}  // namespace

int main(int argc, char** argv) { return bench::run("batched_copy", argc, argv, add_cases); }
