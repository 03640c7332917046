// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSegmentedSort with CUB's, which has the same calls: segments of many distributions of length, and rows
// as inference engines sort them (`rows=256 x 4096`). The necessary traffic is the items, read once and written once,
// and the offsets.

#include <cub/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>

#include <cstdint>
#include <string>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/segments.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::offset_list;
using bench::workload;

struct use_strata {
  using sort = strata::DeviceSegmentedSort;
};
struct use_cub {
  using sort = cub::DeviceSegmentedSort;
};

/// Keys, and the offsets of their segments, which follow each other without gaps.
template <class Key>
struct input {
  device_array<std::int32_t> offsets;
  device_array<Key> keys;
  int items;
  int segments;

  input(const environment& env, const offset_list& host_offsets)
      : offsets(host_offsets.size()),
        keys(bench::random_array<Key>(host_offsets.back(), env.settings.seed, env.stream)),
        items(host_offsets.back()),
        segments(static_cast<int>(host_offsets.size()) - 1) {
    offsets.upload(host_offsets, env.stream);
  }
};

enum class direction { ascending, descending };

template <class Library, direction Order, class Key>
bench::peer keys_peer(const char* name, const input<Key>& in, const device_array<Key>& out) {
  return bench::storage_peer(name, [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = in.offsets.data();
    const Key* keys = in.keys.data();
    if constexpr (Order == direction::ascending) {
      return Library::sort::StableSortKeys(storage, bytes, keys, out.data(), in.items, in.segments, begins, begins + 1,
                                           stream);
    } else {
      return Library::sort::StableSortKeysDescending(storage, bytes, keys, out.data(), in.items, in.segments, begins,
                                                     begins + 1, stream);
    }
  });
}

template <direction Order, class Key>
workload keys_workload(const environment& env, const offset_list& offsets, bool is_rival) {
  const input<Key> in(env, offsets);
  const device_array<Key> ours(in.keys.size()), theirs(in.keys.size());
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.keys.bytes()) + static_cast<double>(in.offsets.bytes());
  work.peers.push_back(keys_peer<use_strata, Order>("strata", in, ours));
  bench::add_rival(work, keys_peer<use_cub, Order>("cub", in, theirs), is_rival, env);
  work.peers.push_back(bench::copy_peer(in.keys.data(), in.keys.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
  return work;
}

template <class Library, direction Order, class Key, class Value>
bench::peer pairs_peer(const char* name, const input<Key>& in, const device_array<Value>& values,
                       const device_array<Key>& keys_out, const device_array<Value>& values_out) {
  return bench::storage_peer(name, [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = in.offsets.data();
    const Key* keys = in.keys.data();
    const Value* with = values.data();
    if constexpr (Order == direction::ascending) {
      return Library::sort::StableSortPairs(storage, bytes, keys, keys_out.data(), with, values_out.data(), in.items,
                                            in.segments, begins, begins + 1, stream);
    } else {
      return Library::sort::StableSortPairsDescending(storage, bytes, keys, keys_out.data(), with, values_out.data(),
                                                      in.items, in.segments, begins, begins + 1, stream);
    }
  });
}

template <direction Order, class Key, class Value>
workload pairs_workload(const environment& env, const offset_list& offsets, bool is_rival) {
  const input<Key> in(env, offsets);
  const std::size_t count = in.keys.size();
  const auto values = bench::random_array<Value>(in.items, env.settings.seed + 1, env.stream);
  const device_array<Key> ours(count), theirs(count);
  const device_array<Value> our_values(count), their_values(count);
  our_values.fill_bytes(0xa5, env.stream);
  their_values.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.keys.bytes() + values.bytes()) + static_cast<double>(in.offsets.bytes());
  work.peers.push_back(pairs_peer<use_strata, Order>("strata", in, values, ours, our_values));
  bench::add_rival(work, pairs_peer<use_cub, Order>("cub", in, values, theirs, their_values), is_rival, env);
  work.peers.push_back(bench::copy_peer(in.keys.data(), in.keys.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] {
    const std::string text = bench::difference(ours, theirs, {}, stream);
    return text.empty() ? bench::difference(our_values, their_values, {}, stream) : text;
  };
  return work;
}

void add_segments(bench::suite& suite, const char* algorithm, const char* type,
                  workload (*prepare)(const environment&, const offset_list&, bool)) {
  for (const int log_size : {20, 24, 27}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    for (const bench::named_law& which : bench::sort_laws) {
      const bool is_rival = log_size <= which.most_of_cub;
      bench::benchmark_case what{algorithm, type, which.name, n, bench::timing::batched, [=](const environment& env) {
                                   return prepare(env, which.offsets(n, env.settings.seed), is_rival);
                                 }};
      if (!is_rival) what.rivals.clear();
      suite.add(what);
    }
  }
}

/// Rows of a matrix: scores of batches of sequences or of experts, with their indices.
struct row_shape {
  int rows;
  int items;
};
constexpr row_shape shapes_of_pairs[] = {{1, 512},     {1, 131072},  {16, 32768},    {64, 131072}, {256, 4096},
                                         {256, 32768}, {1024, 1024}, {1024, 131072}, {4096, 512},  {4096, 4096}};
constexpr row_shape some_shapes[] = {{256, 4096}, {4096, 4096}};

template <std::size_t Count>
void add_rows(bench::suite& suite, const char* algorithm, const char* type, const row_shape (&shapes)[Count],
              workload (*prepare)(const environment&, const offset_list&, bool)) {
  for (const row_shape shape : shapes) {
    suite.add({algorithm, type, "rows=" + std::to_string(shape.rows) + " x " + std::to_string(shape.items),
               std::int64_t{shape.rows} * shape.items, bench::timing::batched, [=](const environment& env) {
                 return prepare(env, bench::equal_segments(shape.rows, shape.items), true);
               }});
  }
}

void add_cases(bench::suite& suite) {
  using i32 = std::int32_t;
  constexpr direction up = direction::ascending;
  constexpr direction down = direction::descending;
  add_segments(suite, "DeviceSegmentedSort::StableSortKeys", "i32", keys_workload<up, i32>);
  add_segments(suite, "DeviceSegmentedSort::StableSortKeys", "f32", keys_workload<up, float>);
  add_segments(suite, "DeviceSegmentedSort::StableSortPairs", "i32:i32", pairs_workload<up, i32, i32>);
  add_rows(suite, "DeviceSegmentedSort::StableSortPairsDescending", "f32:i32", shapes_of_pairs,
           pairs_workload<down, float, i32>);
  add_rows(suite, "DeviceSegmentedSort::StableSortPairs", "f32:i32", some_shapes, pairs_workload<up, float, i32>);
  add_rows(suite, "DeviceSegmentedSort::StableSortKeysDescending", "f32", some_shapes, keys_workload<down, float>);
  add_rows(suite, "DeviceSegmentedSort::StableSortKeys", "f32", some_shapes, keys_workload<up, float>);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_sort_numbers", argc, argv, add_cases); }
