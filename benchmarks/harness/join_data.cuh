// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Makes the two sides of a join on the device, and the expected result.

#include <strata/device/join/common/join_options.hpp>

#include <cub/device/device_radix_sort.cuh>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/cuda.cuh"
#include "harness/inputs.cuh"
#include "harness/power_law.hpp"

namespace bench {

/// A key of two columns.
template <class Word>
struct pair_key {
  Word first;
  Word second;

  __host__ __device__ friend bool operator==(const pair_key& a, const pair_key& b) {
    return a.first == b.first && a.second == b.second;
  }
};

}  // namespace bench

template <class Word>
struct strata::is_bitwise_comparable<bench::pair_key<Word>> : std::true_type {};

namespace bench {

struct join_case {
  const char* name;
  std::int64_t build_rows;
  std::int64_t probe_rows;
  /// Fraction of the probe rows that have a partner.
  double match = 1;
  /// Exponent of Zipf's law of the probe rows' keys. With 0, all keys are equally frequent.
  double zipf = 0;
  /// Number of build rows with the same key.
  std::int64_t mult = 1;
  /// True if keys are any bit patterns, false if they are the numbers from 0 on. Keys of two columns are always dense
  /// and never sorted.
  bool is_sparse = false;
  /// True if the keys of both sides ascend. Then keys must be dense, and `mult` must divide the number of build rows.
  bool is_sorted = false;
  /// Fraction of the rows of both sides that have no key.
  double nulls = 0;

  __host__ __device__ std::uint64_t keys() const { return static_cast<std::uint64_t>(build_rows / mult); }
  /// Number of different ids. Ids of keys without a partner follow those with one.
  std::uint64_t most_ids() const { return match < 1 ? 2 * keys() : keys(); }
};

/// The number of rows of a result, and an order-independent sum of their hashes.
struct join_checksum {
  unsigned long long rows;
  unsigned long long sum;
  /// An order-independent sum of hashes of the build rows alone, for inner joins.
  unsigned long long build_sum;
};

namespace detail {

/// A permutation of [0, size): applies a permutation of the next power of two until the number is below `size`.
__device__ inline std::uint64_t permuted(std::uint64_t x, std::uint64_t size) {
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

/// Dense keys of two columns: number of values of the second column for each value of the first.
inline constexpr std::uint64_t second_values = 1024;

/// The key with this id. Different ids have different keys.
template <class Key>
__device__ Key join_key_of(std::uint64_t id, bool is_sparse) {
  if constexpr (std::is_integral_v<Key>) {
    if (!is_sparse) return static_cast<Key>(id);
    if (sizeof(Key) == 8) return static_cast<Key>(random_bits(id));
    auto word = static_cast<std::uint32_t>(id);
    word = (word ^ (word >> 16)) * 0x85ebca6bu;
    word = (word ^ (word >> 13)) * 0xc2b2ae35u;
    return static_cast<Key>(word ^ (word >> 16));
  } else {
    using Word = decltype(Key::first);
    return {static_cast<Word>(id / second_values), static_cast<Word>(id % second_values)};
  }
}

/// The id of a dense key.
template <class Key>
__device__ std::uint64_t join_id_of(const Key& key) {
  if constexpr (std::is_integral_v<Key>) {
    return static_cast<std::uint64_t>(key);
  } else {
    return std::uint64_t{key.first} * second_values + key.second;
  }
}

/// True if a row has a key.
__device__ inline bool has_join_key(const join_case& what, bool of_build, std::int64_t row) {
  if (what.nulls == 0) return true;
  const std::uint64_t bits = random_bits(2 * static_cast<std::uint64_t>(row) + (of_build ? 1 : 0));
  return static_cast<double>(bits >> 11) * 0x1p-53 >= what.nulls;
}

static __global__ void make_valid(join_case what, bool of_build, std::int64_t rows, std::uint32_t* valid) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t word = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; 32 * word < rows; word += stride) {
    std::uint32_t bits = 0;
    for (int bit = 0; bit < 32; ++bit) {
      if (has_join_key(what, of_build, 32 * word + bit)) bits |= std::uint32_t{1} << bit;
    }
    valid[word] = bits;
  }
}

__device__ inline std::uint64_t probe_id(const join_case& what, std::uint64_t row, std::uint64_t seed) {
  const double u = static_cast<double>(random_bits(seed + row) >> 11) * 0x1p-53;
  if (u >= what.match) {
    const double unmatched = (u - what.match) / (1 - what.match);
    return what.keys() + static_cast<std::uint64_t>(unmatched * static_cast<double>(what.keys()));
  }
  // Frequent keys must not be neighbours.
  return permuted(power_law_rank(u / what.match, what.zipf, what.keys()), what.keys());
}

__device__ inline unsigned long long pair_bits(std::int64_t build_row, std::int64_t probe_row) {
  return random_bits(static_cast<std::uint64_t>(build_row) << 32 ^ static_cast<std::uint64_t>(probe_row));
}

template <class Key>
__global__ void make_build(join_case what, Key* keys, std::int32_t* row_of) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < what.build_rows; row += stride) {
    const std::uint64_t place =
        what.is_sorted ? row / what.mult + row % what.mult * what.keys() : permuted(row, what.build_rows);
    keys[row] = join_key_of<Key>(place % what.keys(), what.is_sparse);
    row_of[place] = static_cast<std::int32_t>(row);
  }
}

/// Makes the probe rows, and adds the rows that they contribute to the expected result. Sets `is_found` for each build
/// key that a probe row has. If `are_made`, the probe keys exist already and are dense.
template <class Key>
__global__ void make_probe(join_case what, strata::JoinKind kind, std::uint64_t seed, bool are_made,
                           const std::int32_t* row_of, Key* keys, unsigned char* is_found, join_checksum* expected) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const bool has_pairs = kind != strata::JoinKind::semi && kind != strata::JoinKind::anti;
  join_checksum mine{0, 0, 0};
  for (std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; row < what.probe_rows; row += stride) {
    const std::uint64_t id = are_made ? join_id_of(keys[row]) : probe_id(what, row, seed);
    if (!are_made) keys[row] = join_key_of<Key>(id, what.is_sparse);
    bool has_partner = false;
    if (id < what.keys() && has_join_key(what, false, row)) {
      is_found[id] = 1;
      for (std::int64_t place = id; place < what.build_rows; place += what.keys()) {
        const std::int32_t build_row = row_of[place];
        if (!has_join_key(what, true, build_row)) continue;
        has_partner = true;
        if (!has_pairs) break;
        ++mine.rows;
        mine.sum += pair_bits(build_row, row);
        mine.build_sum += pair_bits(build_row, -1);
      }
    }
    const bool is_semi = kind == strata::JoinKind::semi;
    if (kind != strata::JoinKind::inner && has_partner == is_semi) {
      ++mine.rows;
      mine.sum += pair_bits(-1, row);
    }
  }
  atomicAdd(&expected->rows, mine.rows);
  atomicAdd(&expected->sum, mine.sum);
  atomicAdd(&expected->build_sum, mine.build_sum);
}

static __global__ void expect_lonely_build_rows(join_case what, const std::int32_t* row_of,
                                                const unsigned char* is_found, join_checksum* expected) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  join_checksum mine{0, 0, 0};
  for (std::int64_t place = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; place < what.build_rows;
       place += stride) {
    if (is_found[place % what.keys()] != 0 && has_join_key(what, true, row_of[place])) continue;
    ++mine.rows;
    mine.sum += pair_bits(row_of[place], -1);
  }
  atomicAdd(&expected->rows, mine.rows);
  atomicAdd(&expected->sum, mine.sum);
}

/// Sums hashes of the rows of a result. A null array stands for a side whose rows the result does not have.
template <class Row>
__global__ void sum_join_rows(const Row* build_rows, const Row* probe_rows, std::int64_t count,
                              unsigned long long* sum) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    mine += pair_bits(build_rows == nullptr ? -1 : build_rows[i], probe_rows == nullptr ? -1 : probe_rows[i]);
  }
  atomicAdd(sum, mine);
}

}  // namespace detail

template <class Row>
unsigned long long sum_of_join_rows(const Row* build_rows, const Row* probe_rows, std::int64_t count,
                                    cudaStream_t stream) {
  const device_array<unsigned long long> sum(1);
  sum.fill_bytes(0, stream);
  detail::sum_join_rows<<<4096, 256, 0, stream>>>(build_rows, probe_rows, count, sum.data());
  check(cudaGetLastError(), "sum_join_rows");
  check(cudaStreamSynchronize(stream), "sum_join_rows");
  return sum.value_at(0);
}

/// Returns an empty text if a result is as expected. `are_right`: the sum of its rows is the expected one.
inline std::string join_difference(std::int64_t rows, bool are_right, const join_checksum& expected) {
  if (static_cast<unsigned long long>(rows) != expected.rows) {
    return std::to_string(rows) + " rows, expected " + std::to_string(expected.rows);
  }
  return are_right ? "" : "other rows than expected";
}

template <class Key>
struct join_sides {
  device_array<Key> build;
  device_array<Key> probe;
  /// Null masks; empty if all rows have keys.
  device_array<std::uint32_t> build_valid;
  device_array<std::uint32_t> probe_valid;
  /// The numbers of rows of both sides, on the device.
  device_array<std::int32_t> counts{2};
  join_checksum expected;

  join_sides(const join_case& what, strata::JoinKind kind, std::uint64_t seed, cudaStream_t stream)
      : build(static_cast<std::size_t>(what.build_rows)), probe(static_cast<std::size_t>(what.probe_rows)) {
    counts.upload({static_cast<std::int32_t>(what.build_rows), static_cast<std::int32_t>(what.probe_rows)}, stream);
    const device_array<std::int32_t> row_of(build.size());
    const device_array<unsigned char> is_found(what.keys());
    const device_array<join_checksum> sum(1);
    detail::make_build<<<4096, 256, 0, stream>>>(what, build.data(), row_of.data());
    const auto make_probe = [&](bool are_made) {
      is_found.fill_bytes(0, stream);
      sum.fill_bytes(0, stream);
      detail::make_probe<<<4096, 256, 0, stream>>>(what, kind, random_bits(seed), are_made, row_of.data(), probe.data(),
                                                   is_found.data(), sum.data());
    };
    make_probe(false);
    if constexpr (std::is_integral_v<Key>) {
      if (what.is_sorted) {
        sort(probe, stream);
        make_probe(true);
      }
    }
    if (what.nulls > 0) {
      build_valid = valid_mask(what, true, what.build_rows, stream);
      probe_valid = valid_mask(what, false, what.probe_rows, stream);
    }
    if (kind == strata::JoinKind::full) {
      detail::expect_lonely_build_rows<<<4096, 256, 0, stream>>>(what, row_of.data(), is_found.data(), sum.data());
    }
    check(cudaGetLastError(), "make_probe");
    check(cudaStreamSynchronize(stream), "make_probe");
    expected = sum.value_at(0);
  }

  /// Bytes that a join has to read.
  std::size_t bytes() const { return build.bytes() + probe.bytes() + build_valid.bytes() + probe_valid.bytes(); }

 private:
  static device_array<std::uint32_t> valid_mask(const join_case& what, bool of_build, std::int64_t rows,
                                                cudaStream_t stream) {
    const device_array<std::uint32_t> valid(static_cast<std::size_t>((rows + 31) / 32));
    detail::make_valid<<<4096, 256, 0, stream>>>(what, of_build, rows, valid.data());
    check(cudaGetLastError(), "make_valid");
    return valid;
  }

  static void sort(device_array<Key>& keys, cudaStream_t stream) {
    const device_array<Key> sorted(keys.size());
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      check(cub::DeviceRadixSort::SortKeys(storage, bytes, keys.data(), sorted.data(),
                                           static_cast<std::int64_t>(keys.size()), 0, static_cast<int>(8 * sizeof(Key)),
                                           stream),
            "sort");
    };
    call(nullptr);
    const device_array<unsigned char> storage(bytes);
    call(storage.data());
    check(cudaStreamSynchronize(stream), "sort");
    keys = sorted;
  }
};

/// The result of one contender.
struct join_result {
  /// The arrays are empty if only the number of rows is wanted. Semi and anti joins have no build rows.
  device_array<std::int32_t> build_out;
  device_array<std::int32_t> probe_out;
  device_array<std::int64_t> total{1};
  std::int64_t capacity = 0;

  join_result() = default;
  join_result(strata::JoinKind kind, std::int64_t rows)
      : build_out(static_cast<std::size_t>(has_build_rows(kind) ? rows : 0)),
        probe_out(static_cast<std::size_t>(rows)),
        capacity(rows) {}

  static bool has_build_rows(strata::JoinKind kind) {
    return kind != strata::JoinKind::semi && kind != strata::JoinKind::anti;
  }
  std::int32_t* build_or_null() const { return build_out.size() > 0 ? build_out.data() : nullptr; }

  /// Overwrites the result, so that it is not mistaken for the result of a later call.
  void spoil(cudaStream_t stream) const {
    build_out.fill_bytes(0xa5, stream);
    probe_out.fill_bytes(0xa5, stream);
    total.fill_bytes(0xa5, stream);
    check(cudaStreamSynchronize(stream), "spoil");
  }

  /// Returns an empty text if the result is as expected. Then overwrites the result.
  std::string difference_from(const join_checksum& expected, cudaStream_t stream) const {
    const unsigned long long sum = sum_of_join_rows<std::int32_t>(build_or_null(), probe_out.data(), capacity, stream);
    const std::int64_t rows = total.value_at(0);
    spoil(stream);
    return join_difference(rows, capacity == 0 || sum == expected.sum, expected);
  }
};

}  // namespace bench
