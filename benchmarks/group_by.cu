// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceGroupBy::Aggregate, with groups in any order and in the order of their keys (`ordered`). Rivals:
//
//   cub    a sort by key and a reduction by key, both CUB's
//   sort   a sort by key and a reduction by key, both ours
//   table  one table in global memory, to which every row is added by atomic operations
//
// The necessary traffic is the rows, read once, and the groups, written once.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/iterator/discard_output_iterator.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/power_law.hpp"

namespace group_by_benchmark {

using u32 = std::uint32_t;
using u64 = unsigned long long;

/// An iterator over 32-bit values, which are summed in 64 bits. It is not an iterator of strata, because calls of CUB
/// with one would find functions of both libraries.
struct widened_values {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = u64;
  using difference_type = std::ptrdiff_t;
  using pointer = const u64*;
  using reference = u64;

  const u32* values;

  __host__ __device__ u64 operator*() const { return *values; }
  __host__ __device__ u64 operator[](difference_type i) const { return values[i]; }
  __host__ __device__ widened_values operator+(difference_type n) const { return {values + n}; }
  __host__ __device__ widened_values operator-(difference_type n) const { return {values - n}; }
  __host__ __device__ widened_values& operator+=(difference_type n) { return values += n, *this; }
  __host__ __device__ difference_type operator-(const widened_values& other) const { return values - other.values; }
};

/// Keys are multiplied by this number, so a frequent key need not be a small number.
constexpr u64 spread = 0x9e3779b1u;

/// Gives each row one of `groups` keys, uniformly (exponent 0) or by Zipf's law. Keys are multiples of `factor`.
template <class Key>
__global__ void make_keys(Key* keys, std::size_t rows, u64 groups, double exponent, u64 seed, u64 factor) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
    const u64 bits = bench::random_bits(seed + i);
    const double fraction = static_cast<double>(bits >> 11) * 0x1p-53;
    const u64 rank = exponent == 0 ? static_cast<u64>(fraction * static_cast<double>(groups))
                                   : bench::power_law_rank(fraction, exponent, groups);
    keys[i] = static_cast<Key>(rank * factor);
  }
}

/// Adds each row to an open-addressing table of `slots` slots, a power of two. Key 0 marks a free slot.
template <class Key>
__global__ void add_to_table(const Key* keys, const u32* values, std::size_t rows, Key* table_keys, u64* table_sums,
                             std::size_t slots) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
    const Key key = keys[i] == 0 ? ~Key{0} : keys[i];
    std::size_t slot = bench::random_bits(key) & (slots - 1);
    for (;;) {
      Key there = table_keys[slot];
      if (there == 0) there = atomicCAS(table_keys + slot, Key{0}, key);
      if (there == 0 || there == key) break;
      slot = (slot + 1) & (slots - 1);
    }
    atomicAdd(table_sums + slot, static_cast<u64>(values[i]));
  }
}

/// Adds up items: all `size` of them, or up to `*count`. With a mask, only those whose bit is set.
template <class T, class Sum>
__global__ void add_all(const T* items, std::size_t size, const u64* count, const u32* mask, Sum* total) {
  const std::size_t end = count != nullptr && *count < size ? static_cast<std::size_t>(*count) : size;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  Sum sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < end; i += stride) {
    if (mask == nullptr || (mask[i / 32] >> i % 32 & 1) != 0) sum += static_cast<Sum>(items[i]);
  }
  atomicAdd(total, sum);
}

/// Counts rows whose group has another key, and groups whose key is not greater than that of the group before.
__global__ void count_wrong_groups(const u32* keys, const u32* group_of_row, std::size_t rows, const u32* keys_out,
                                   u64 groups, u64* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  u64 found = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < rows; i += stride) {
    if (group_of_row[i] >= groups || keys_out[group_of_row[i]] != keys[i]) ++found;
    if (i > 0 && i < groups && keys_out[i] <= keys_out[i - 1]) ++found;
  }
  if (found != 0) atomicAdd(wrong, found);
}

template <class Key>
__global__ void list_table(const Key* table_keys, const u64* table_sums, std::size_t slots, Key* keys, u64* sums,
                           u64* number) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slots; i += stride) {
    if (table_keys[i] == 0) continue;
    const u64 group = atomicAdd(number, 1ull);
    keys[group] = table_keys[i] == static_cast<Key>(~Key{0}) ? Key{0} : table_keys[i];
    sums[group] = table_sums[i];
  }
}

}  // namespace group_by_benchmark

namespace {

using bench::device_array;
using bench::environment;
using bench::timing;
using bench::workload;
using group_by_benchmark::u32;
using group_by_benchmark::u64;
using group_by_benchmark::widened_values;

struct data_shape {
  std::int64_t rows;
  u64 groups;
  double exponent;

  std::string name() const { return (exponent == 0 ? "uniform groups=" : "zipf groups=") + std::to_string(groups); }
};

/// Keys, values and results.
template <class Key>
struct tables {
  device_array<Key> keys;
  device_array<u32> values;
  device_array<Key> keys_out;
  device_array<u64> sums;
  device_array<u64> number;
};

template <class Key>
tables<Key> make_tables(const environment& env, const data_shape& shape, u64 factor = group_by_benchmark::spread) {
  const auto rows = static_cast<std::size_t>(shape.rows);
  tables<Key> result{device_array<Key>(rows), bench::random_array<u32>(shape.rows, env.settings.seed, env.stream),
                     device_array<Key>(rows), device_array<u64>(rows), device_array<u64>(1)};
  group_by_benchmark::make_keys<<<2048, 256, 0, env.stream>>>(result.keys.data(), rows, shape.groups, shape.exponent,
                                                              env.settings.seed, factor);
  bench::check(cudaGetLastError(), "make_keys");
  return result;
}

/// Sorts by key, then reduces by key. The storage holds the sorted rows and what both calls need.
template <class Key, class SortCall, class ReduceCall>
cudaError_t sort_and_reduce(void* storage, std::size_t& bytes, std::size_t rows, SortCall sort, ReduceCall reduce) {
  std::size_t sort_bytes = 0, reduce_bytes = 0;
  cudaError_t status = sort(nullptr, sort_bytes, static_cast<Key*>(nullptr), static_cast<u32*>(nullptr));
  if (status == cudaSuccess) {
    status = reduce(nullptr, reduce_bytes, static_cast<Key*>(nullptr), static_cast<u32*>(nullptr));
  }
  if (status != cudaSuccess) return status;
  constexpr std::size_t line = 256;
  const std::size_t key_bytes = (rows * sizeof(Key) + line - 1) / line * line;
  const std::size_t value_bytes = (rows * sizeof(u32) + line - 1) / line * line;
  const std::size_t phase_bytes = std::max(sort_bytes, reduce_bytes);
  if (storage == nullptr) {
    bytes = key_bytes + value_bytes + phase_bytes;
    return cudaSuccess;
  }
  auto* const begin = static_cast<unsigned char*>(storage);
  auto* const keys = reinterpret_cast<Key*>(begin);
  auto* const values = reinterpret_cast<u32*>(begin + key_bytes);
  unsigned char* const phase = begin + key_bytes + value_bytes;
  status = sort(phase, sort_bytes, keys, values);
  if (status != cudaSuccess) return status;
  return reduce(phase, reduce_bytes, keys, values);
}

/// Returns the groups in ascending order of their keys.
template <class Key>
tables<Key> in_order_of_keys(const tables<Key>& groups, cudaStream_t stream) {
  u64 number = 0;
  bench::check(cudaMemcpyAsync(&number, groups.number.data(), sizeof(u64), cudaMemcpyDeviceToHost, stream),
               "the number of groups");
  bench::check(cudaStreamSynchronize(stream), "the number of groups");
  tables<Key> sorted{groups.keys, groups.values, device_array<Key>(groups.keys.size()),
                     device_array<u64>(groups.keys.size()), groups.number};
  sorted.keys_out.fill_bytes(0xa5, stream);
  sorted.sums.fill_bytes(0xa5, stream);
  std::size_t bytes = 0;
  const auto sort = [&](void* storage) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, groups.keys_out.data(), sorted.keys_out.data(),
                                           groups.sums.data(), sorted.sums.data(), number, 0, 8 * int{sizeof(Key)},
                                           stream);
  };
  bench::check(sort(nullptr), "the order of groups");
  const device_array<unsigned char> storage(bytes);
  bench::check(sort(storage.data()), "the order of groups");
  bench::check(cudaStreamSynchronize(stream), "the order of groups");
  return sorted;
}

template <class Key>
workload sums(const environment& env, const data_shape& shape, bool has_table) {
  const auto ours = make_tables<Key>(env, shape);
  const cudaStream_t stream = env.stream;
  const int n = static_cast<int>(shape.rows);
  const auto others = [&] {
    return tables<Key>{ours.keys, ours.values, device_array<Key>(ours.keys.size()), device_array<u64>(ours.keys.size()),
                       device_array<u64>(1)};
  };
  const tables<Key> ordered = others(), by_cub = others(), by_sort = others();
  for (const auto* all : {&ours, &ordered, &by_cub, &by_sort}) {
    all->keys_out.fill_bytes(0xa5, stream);
    all->sums.fill_bytes(0xa5, stream);
  }
  // The groups of `found` are in order. CUB's are the reference.
  const auto compared = [=](const tables<Key>& found) {
    std::string text = bench::difference(found.number, by_cub.number, {}, stream);
    if (text.empty()) text = bench::difference(found.keys_out, by_cub.keys_out, {}, stream);
    if (text.empty()) text = bench::difference(found.sums, by_cub.sums, {}, stream);
    return text;
  };
  const auto written = static_cast<double>(std::min<u64>(shape.groups, static_cast<u64>(n)));
  workload work;
  work.bytes = static_cast<double>(ours.keys.bytes()) + static_cast<double>(ours.values.bytes()) +
               written * static_cast<double>(sizeof(Key) + sizeof(u64));
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return strata::DeviceGroupBy::Aggregate(
        storage, bytes, strata::group_keys(ours.keys.data(), n),
        strata::group_aggregates(strata::group_sum(ours.values.data(), ours.sums.data())),
        strata::group_output(ours.keys_out.data(), n), ours.number.data(), s);
  }));
  work.peers.push_back(bench::storage_peer("ordered", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return strata::DeviceGroupBy::Aggregate(
        storage, bytes, strata::group_keys(ordered.keys.data(), n),
        strata::group_aggregates(strata::group_sum(ordered.values.data(), ordered.sums.data())),
        strata::group_output(ordered.keys_out.data(), n).sorted(), ordered.number.data(), s);
  }));
  work.peers.back().verify = [=] { return compared(ordered); };
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return sort_and_reduce<Key>(
        storage, bytes, by_cub.keys.size(),
        [&](void* phase, std::size_t& phase_bytes, Key* keys, u32* values) {
          return cub::DeviceRadixSort::SortPairs(phase, phase_bytes, by_cub.keys.data(), keys, by_cub.values.data(),
                                                 values, n, 0, 8 * int{sizeof(Key)}, s);
        },
        [&](void* phase, std::size_t& phase_bytes, Key* keys, u32* values) {
          return cub::DeviceReduce::ReduceByKey(phase, phase_bytes, keys, by_cub.keys_out.data(),
                                                widened_values{values}, by_cub.sums.data(), by_cub.number.data(),
                                                strata::Sum{}, n, s);
        });
  }));
  work.peers.push_back(bench::storage_peer("sort", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return sort_and_reduce<Key>(
        storage, bytes, by_sort.keys.size(),
        [&](void* phase, std::size_t& phase_bytes, Key* keys, u32* values) {
          return strata::DeviceRadixSort::SortPairs(phase, phase_bytes, by_sort.keys.data(), keys,
                                                    by_sort.values.data(), values, n, 0, 8 * int{sizeof(Key)}, s);
        },
        [&](void* phase, std::size_t& phase_bytes, Key* keys, u32* values) {
          return strata::DeviceReduce::ReduceByKey(phase, phase_bytes, keys, by_sort.keys_out.data(),
                                                   widened_values{values}, by_sort.sums.data(), by_sort.number.data(),
                                                   strata::Sum{}, n, s);
        });
  }));
  work.peers.back().verify = [=] { return compared(by_sort); };
  if constexpr (sizeof(Key) == 4) {
    if (has_table) {
      std::size_t slots = 1024;
      while (slots < 2 * shape.groups) slots *= 2;
      const device_array<Key> table_keys(slots), keys_out(slots);
      const device_array<u64> table_sums(slots), sums_out(slots), number(1);
      work.peers.push_back(
          {"table", [=](cudaStream_t s) {
             cudaMemsetAsync(table_keys.data(), 0, table_keys.bytes(), s);
             cudaMemsetAsync(table_sums.data(), 0, table_sums.bytes(), s);
             cudaMemsetAsync(number.data(), 0, sizeof(u64), s);
             group_by_benchmark::add_to_table<<<132 * 8, 256, 0, s>>>(
                 ours.keys.data(), ours.values.data(), ours.keys.size(), table_keys.data(), table_sums.data(), slots);
             group_by_benchmark::list_table<<<132 * 8, 256, 0, s>>>(table_keys.data(), table_sums.data(), slots,
                                                                    keys_out.data(), sums_out.data(), number.data());
             return cudaGetLastError();
           }});
      work.peers.back().verify = [=] { return bench::difference(number, by_cub.number, {}, stream); };
    }
  }
  work.peers.push_back(bench::copy_peer(ours.keys.data(), ours.keys.bytes()));
  work.verify = [=] {
    const std::string text = bench::difference(ours.number, by_cub.number, {}, stream);
    return text.empty() ? compared(in_order_of_keys(ours, stream)) : text;
  };
  return work;
}

/// Compares the sum of all groups with that of all rows, or of those whose bit in `mask` is set.
template <class Sum, class GroupItem, class RowItem>
std::string difference_of_totals(const device_array<GroupItem>& groups, const device_array<u64>& number,
                                 const device_array<RowItem>& rows, const u32* mask, cudaStream_t stream) {
  const device_array<Sum> totals(2);
  totals.fill_bytes(0, stream);
  group_by_benchmark::add_all<<<1024, 256, 0, stream>>>(groups.data(), groups.size(), number.data(), nullptr,
                                                        totals.data());
  group_by_benchmark::add_all<<<1024, 256, 0, stream>>>(rows.data(), rows.size(), nullptr, mask, totals.data() + 1);
  bench::check(cudaGetLastError(), "add_all");
  bench::check(cudaStreamSynchronize(stream), "add_all");
  const Sum found = totals.value_at(0), expected = totals.value_at(1);
  const double error = std::abs(static_cast<double>(found) - static_cast<double>(expected));
  const bool is_right = std::is_integral_v<Sum> ? found == expected : error <= 1e-5 * static_cast<double>(expected);
  return is_right ? "" : "the groups add up to " + std::to_string(found) + ", the rows to " + std::to_string(expected);
}

/// Five aggregates in one call. It has no rival here.
workload five_aggregates(const environment& env, const data_shape& shape) {
  const auto in = make_tables<u32>(env, shape);
  const std::size_t capacity = std::min<std::size_t>(in.keys.size(), static_cast<std::size_t>(2 * shape.groups + 2));
  const device_array<u32> least(capacity), greatest(capacity), counts(capacity);
  const device_array<double> means(capacity);
  const int n = static_cast<int>(shape.rows);
  workload work;
  work.bytes = static_cast<double>(in.keys.bytes()) + static_cast<double>(in.values.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return strata::DeviceGroupBy::Aggregate(
        storage, bytes, strata::group_keys(in.keys.data(), n),
        strata::group_aggregates(strata::group_sum(in.values.data(), in.sums.data()),
                                 strata::group_count(counts.data()), strata::group_min(in.values.data(), least.data()),
                                 strata::group_max(in.values.data(), greatest.data()),
                                 strata::group_mean(in.values.data(), means.data())),
        strata::group_output(in.keys_out.data(), capacity), in.number.data(), s);
  }));
  const cudaStream_t stream = env.stream;
  work.peers.back().verify = [=] { return difference_of_totals<u64>(in.sums, in.number, in.values, nullptr, stream); };
  work.peers.push_back(bench::copy_peer(in.keys.data(), in.keys.bytes()));
  return work;
}

/// The group of each row, and the number of rows of each group. It has no rival here.
workload groups_of_rows(const environment& env, const data_shape& shape) {
  const auto in = make_tables<u32>(env, shape);
  const std::size_t rows = in.keys.size();
  const std::size_t capacity = std::min<std::size_t>(rows, static_cast<std::size_t>(2 * shape.groups + 2));
  const device_array<u32> counts(capacity), group_of_row(rows);
  const device_array<u64> found(1);
  const int n = static_cast<int>(shape.rows);
  workload work;
  work.bytes = static_cast<double>(in.keys.bytes()) + static_cast<double>(group_of_row.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    return strata::DeviceGroupBy::Groups(storage, bytes, strata::group_keys(in.keys.data(), n), group_of_row.data(),
                                         strata::group_aggregates(strata::group_count(counts.data())),
                                         strata::group_output(in.keys_out.data(), capacity), in.number.data(), s);
  }));
  const cudaStream_t stream = env.stream;
  work.peers.back().verify = [=]() -> std::string {
    const u64 groups = in.number.value_at(0);
    if (groups > capacity) return "there are more groups than keys";
    found.fill_bytes(0, stream);
    group_by_benchmark::count_wrong_groups<<<1024, 256, 0, stream>>>(in.keys.data(), group_of_row.data(), rows,
                                                                     in.keys_out.data(), groups, found.data());
    bench::check(cudaGetLastError(), "count_wrong_groups");
    bench::check(cudaStreamSynchronize(stream), "count_wrong_groups");
    if (found.value_at(0) != 0) return std::to_string(found.value_at(0)) + " rows or groups are wrong";
    found.fill_bytes(0, stream);
    group_by_benchmark::add_all<<<1024, 256, 0, stream>>>(counts.data(), counts.size(), in.number.data(), nullptr,
                                                          found.data());
    bench::check(cudaGetLastError(), "add_all");
    bench::check(cudaStreamSynchronize(stream), "add_all");
    return found.value_at(0) == rows ? "" : "the counts of groups do not add up to the number of rows";
  };
  work.peers.push_back(bench::copy_peer(in.keys.data(), in.keys.bytes()));
  return work;
}

/// Forms of a call that have no rival of their own.
enum class form {
  key_range,
  first_occurrence,
  two_columns,
  three_columns,
  nulls_dropped,
  nulls_as_group,
  unordered_floats
};
constexpr std::pair<form, const char*> forms[] = {
    {form::key_range, "key_range"},           {form::first_occurrence, "first_occurrence"},
    {form::two_columns, "two columns"},       {form::three_columns, "three columns"},
    {form::nulls_dropped, "nulls_dropped"},   {form::nulls_as_group, "nulls_as_group"},
    {form::unordered_floats, "unordered f32"}};

/// Sums in one of these forms. Keys are the numbers from 0 on. Half of the rows have keys where there are nulls.
workload sums_in_form(const environment& env, const data_shape& shape, form what) {
  const auto in = make_tables<u32>(env, shape, 1);
  const std::size_t capacity = std::min<std::size_t>(in.keys.size(), static_cast<std::size_t>(2 * shape.groups + 2));
  const auto mask = bench::random_array<u32>(shape.rows / 32 + 1, env.settings.seed + 1, env.stream);
  const device_array<float> floats(in.keys.size()), float_sums(capacity);
  group_by_benchmark::make_keys<<<2048, 256, 0, env.stream>>>(floats.data(), floats.size(), 1000, 0,
                                                              env.settings.seed + 2, 1);
  // The second column has one key, so that there are as many groups as in the other forms.
  const device_array<std::uint8_t> second(in.keys.size()), second_out(capacity);
  second.fill_bytes(7, env.stream);
  // The first and the third column, which are equal where the second one is. The three have 160 bits.
  const std::size_t wide_rows = what == form::three_columns ? in.keys.size() : 1;
  const device_array<u64> wide(wide_rows), wide_out(capacity);
  group_by_benchmark::make_keys<<<2048, 256, 0, env.stream>>>(wide.data(), wide_rows, shape.groups, 0,
                                                              env.settings.seed, group_by_benchmark::spread);
  bench::check(cudaGetLastError(), "make_keys");
  const int n = static_cast<int>(shape.rows);
  workload work;
  work.bytes = static_cast<double>(in.keys.bytes()) + static_cast<double>(in.values.bytes());
  if (what == form::three_columns) work.bytes += static_cast<double>(wide.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t s) {
    const auto keys = strata::group_keys(in.keys.data(), n);
    const auto groups = strata::group_output(in.keys_out.data(), capacity);
    const auto aggregates = strata::group_aggregates(strata::group_sum(in.values.data(), in.sums.data()));
    const auto call = [&](const auto& rows, const auto& all, const auto& output) {
      return strata::DeviceGroupBy::Aggregate(storage, bytes, rows, all, output, in.number.data(), s);
    };
    switch (what) {
      case form::key_range:
        return call(keys.key_range(0u, static_cast<u32>(shape.groups - 1)), aggregates, groups);
      case form::first_occurrence:
        return call(keys, aggregates, groups.first_occurrence());
      case form::two_columns:
        return call(strata::group_keys(in.keys.data(), second.data(), n), aggregates,
                    strata::group_output(in.keys_out.data(), second_out.data(), capacity));
      case form::three_columns:
        return call(
            strata::group_keys(wide.data(), in.keys.data(), wide.data(), n), aggregates,
            strata::group_output(wide_out.data(), in.keys_out.data(), strata::DiscardOutputIterator<>(), capacity));
      case form::nulls_dropped:
        return call(keys.valid(mask.data()), aggregates, groups);
      case form::nulls_as_group:
        return call(keys.valid(mask.data()).nulls_as_group(), aggregates, groups);
      default:
        return call(keys, strata::group_aggregates(strata::group_sum(floats.data(), float_sums.data()).unordered()),
                    groups);
    }
  }));
  const cudaStream_t stream = env.stream;
  work.peers.back().verify = [=] {
    if (what == form::unordered_floats) {
      return difference_of_totals<double>(float_sums, in.number, floats, nullptr, stream);
    }
    const u32* const valid = what == form::nulls_dropped ? mask.data() : nullptr;
    return difference_of_totals<u64>(in.sums, in.number, in.values, valid, stream);
  };
  work.peers.push_back(bench::copy_peer(in.keys.data(), in.keys.bytes()));
  return work;
}

template <class Key>
void add_sums(bench::suite& suite, const char* type, const data_shape& shape) {
  bench::benchmark_case what{
      "DeviceGroupBy::Aggregate", type, shape.name(), shape.rows, timing::batched, [=](const environment& env) {
        return sums<Key>(env, shape, true);
      }};
  what.rivals = sizeof(Key) == 4 ? std::vector<std::string>{"ordered", "cub", "sort", "table"}
                                 : std::vector<std::string>{"ordered", "cub", "sort"};
  suite.add(what);
}

constexpr std::int64_t many_rows = std::int64_t{1} << 27;

void add_cases(bench::suite& suite) {
  for (const std::int64_t rows : {std::int64_t{1} << 16, std::int64_t{1} << 20, std::int64_t{20000000}, many_rows}) {
    for (const u64 groups : {1ull, 10ull, 1000ull, 100000ull, 10000000ull}) {
      if (groups > static_cast<u64>(rows)) continue;
      add_sums<u32>(suite, "u32:u32", {rows, groups, 0});
      if (rows >= 20000000) add_sums<u32>(suite, "u32:u32", {rows, groups, 1});
      if (rows == many_rows) add_sums<u64>(suite, "u64:u32", {rows, groups, 0});
    }
  }
  // The number of groups varies, the number of rows does not.
  for (int log_groups = 0; log_groups <= 27; ++log_groups) {
    add_sums<u32>(suite, "u32:u32", {many_rows, 1ull << log_groups, 0});
  }
  for (const u64 groups : {1ull, 1000ull, 100000ull}) {
    const data_shape shape{many_rows, groups, 0};
    bench::benchmark_case what{"DeviceGroupBy::Aggregate of five",
                               "u32:u32",
                               shape.name(),
                               shape.rows,
                               timing::batched,
                               [=](const environment& env) { return five_aggregates(env, shape); }};
    what.rivals = {};
    suite.add(what);
  }
  for (const std::int64_t rows : {std::int64_t{1} << 20, std::int64_t{1} << 24, std::int64_t{1} << 28}) {
    bench::benchmark_case what{
        "DeviceGroupBy::Groups", "u32", "16 rows a group", rows, timing::batched, [=](const environment& env) {
          return groups_of_rows(env, {rows, static_cast<u64>(rows / 16), 0});
        }};
    what.rivals = {};
    suite.add(what);
  }
  for (const auto& [kind, name] : forms) {
    for (const data_shape& shape :
         {data_shape{std::int64_t{1} << 16, 1000, 0}, data_shape{std::int64_t{1} << 22, 1000, 0},
          data_shape{20000000, 1000, 0}, data_shape{many_rows, 10, 0}, data_shape{many_rows, 1000, 0},
          data_shape{many_rows, 5000, 0}, data_shape{many_rows, 100000, 0}}) {
      bench::benchmark_case what{std::string("DeviceGroupBy::Aggregate ") + name,
                                 "u32:u32",
                                 shape.name(),
                                 shape.rows,
                                 timing::batched,
                                 [=, kind = kind](const environment& env) { return sums_in_form(env, shape, kind); }};
      what.rivals = {};
      suite.add(what);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run("group_by", argc, argv, add_cases); }
