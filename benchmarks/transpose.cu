// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTranspose. CUB has no transposition, so the rivals are what a first CUDA course writes:
//
//   naive       a kernel without shared memory
//   plain_tile  32 x 32 tiles without padding, whose columns lie in one bank
//
// The necessary traffic is the matrix, read once and written once.

#include <strata/block/block_transpose.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_transpose.cuh>

#include <cstdint>
#include <string>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace transpose_benchmark {

struct alignas(16) quad {
  std::uint64_t low;
  std::uint64_t high;
  friend __host__ __device__ bool operator==(const quad& a, const quad& b) {
    return a.low == b.low && a.high == b.high;
  }
};

/// A value that is no machine word, so it cannot be loaded at once.
struct triple {
  std::uint32_t word[3];
  friend __host__ __device__ bool operator==(const triple& a, const triple& b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2];
  }
};

constexpr int tile = 32;

/// Neighbouring threads read neighbouring items of one row, and write them to different rows.
template <class T>
STRATA_KERNEL void naive_kernel(const T* in, T* out, std::int64_t rows, std::int64_t columns,
                                std::int64_t tiles_across) {
  const std::int64_t column = blockIdx.x % tiles_across * tile + threadIdx.x;
  const std::int64_t first_row = blockIdx.x / tiles_across * tile;
  for (unsigned y = threadIdx.y; y < tile; y += blockDim.y) {
    const std::int64_t row = first_row + y;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
  }
}

/// Reads and writes rows of both matrices, but reads columns of shared memory in between.
template <class T>
STRATA_KERNEL void plain_tile_kernel(const T* in, T* out, std::int64_t rows, std::int64_t columns,
                                     std::int64_t tiles_across) {
  using Transpose = strata::BlockTranspose<T, tile, tile, 32, 8, 1, strata::PlainLayout, 1>;
  STRATA_SHARED(temp_storage, typename Transpose::TempStorage);
  Transpose transpose(temp_storage);
  const std::int64_t row = blockIdx.x / tiles_across * tile;
  const std::int64_t column = blockIdx.x % tiles_across * tile;
  const auto at_most_a_tile = [](std::int64_t count) { return static_cast<int>(count < tile ? count : tile); };
  const int valid_rows = at_most_a_tile(rows - row);
  const int valid_columns = at_most_a_tile(columns - column);
  T items[Transpose::items_per_thread];
  transpose.Load(in + row * columns + column, columns, items, valid_rows, valid_columns);
  transpose.Transpose(items, items);
  transpose.Store(out + column * rows + row, rows, items, valid_rows, valid_columns);
}

}  // namespace transpose_benchmark

template <>
struct bench::random_value<transpose_benchmark::quad> {
  static __device__ transpose_benchmark::quad from(std::uint64_t bits) { return {bits, bench::random_bits(bits)}; }
};
template <>
struct bench::random_value<transpose_benchmark::triple> {
  static __device__ transpose_benchmark::triple from(std::uint64_t bits) {
    return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32),
             static_cast<std::uint32_t>(bench::random_bits(bits))}};
  }
};

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using namespace transpose_benchmark;

template <class T>
using simple_kernel = void (*)(const T*, T*, std::int64_t, std::int64_t, std::int64_t);

template <class T>
bench::peer simple_peer(const char* name, simple_kernel<T> kernel, const device_array<T>& in,
                        const device_array<T>& out, std::int64_t rows, std::int64_t columns) {
  const std::int64_t tiles_across = (columns + tile - 1) / tile;
  const auto blocks = static_cast<unsigned>((rows + tile - 1) / tile * tiles_across);
  return {name, [=](cudaStream_t stream) {
            return strata::launch({name, dim3(blocks), dim3(32, 8), 0, stream}, kernel, in.data(), out.data(), rows,
                                  columns, tiles_across);
          }};
}

template <class T>
workload transposition(const environment& env, std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = rows * columns;
  const auto in = bench::random_array<T>(n, env.settings.seed + static_cast<std::uint64_t>(n), env.stream);
  const device_array<T> out(in.size()), reference(in.size()), plain(in.size());
  out.fill_bytes(0xa5, env.stream);
  for (const auto* other : {&reference, &plain}) other->fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2.0 * static_cast<double>(in.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return strata::DeviceTranspose::Transpose(storage, bytes, static_cast<const T*>(in.data()), out.data(), rows,
                                              columns, stream);
  }));
  work.peers.push_back(simple_peer<T>("naive", naive_kernel<T>, in, reference, rows, columns));
  work.peers.push_back(simple_peer<T>("plain_tile", plain_tile_kernel<T>, in, plain, rows, columns));
  const cudaStream_t stream = env.stream;
  work.peers.back().verify = [=] { return bench::difference(plain, reference, {}, stream); };
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  work.verify = [=] { return bench::difference(out, reference, {}, stream); };
  return work;
}

template <class T>
void add_shape(bench::suite& suite, const char* type, std::int64_t rows, std::int64_t columns,
               timing how = timing::batched) {
  const auto prepare = [=](const environment& env) { return transposition<T>(env, rows, columns); };
  bench::benchmark_case what{"DeviceTranspose::Transpose",
                             type,
                             std::to_string(rows) + "x" + std::to_string(columns),
                             rows * columns,
                             how,
                             prepare};
  what.rivals = {"naive", "plain_tile"};
  suite.add(what);
}

template <class T>
void add_type(bench::suite& suite, const char* type) {
  add_shape<T>(suite, type, 16384, 16384);
  add_shape<T>(suite, type, 16383, 16385);
  add_shape<T>(suite, type, 1000, 100000);
  add_shape<T>(suite, type, 3, 100000000 / 3);
  add_shape<T>(suite, type, 100000000 / 3, 3);
}

void add_cases(bench::suite& suite) {
  add_type<std::uint8_t>(suite, "u8");
  add_type<std::uint16_t>(suite, "u16");
  add_type<std::uint32_t>(suite, "u32");
  add_type<std::uint64_t>(suite, "u64");
  add_type<quad>(suite, "struct16");
  add_type<triple>(suite, "struct12");
  for (const std::int64_t side : {256, 1024, 4096}) {
    add_shape<std::uint32_t>(suite, "u32", side, side);
  }
  for (const std::int64_t side : {256, 1024}) {
    add_shape<std::uint32_t>(suite, "u32", side, side, timing::single_call);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run("transpose", argc, argv, add_cases); }
