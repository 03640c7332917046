// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSegmentedRadixSort with CUB's, which has the same calls and uses one block for each segment. The
// necessary traffic is the items, read once and written once, and the offsets.

#include <cub/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>

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
using key = std::uint32_t;

struct use_strata {
  using sort = strata::DeviceSegmentedRadixSort;
};
struct use_cub {
  using sort = cub::DeviceSegmentedRadixSort;
};

/// Ten segments with a twentieth of the items each, between segments of 1 to 200 items.
offset_list ten_long(std::int64_t n, std::uint64_t seed) {
  offset_list offsets = {0};
  for (std::int64_t i = 1; i <= 10; ++i) {
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + n / 20));
    const std::int64_t end = i == 10 ? n : n / 10 * i;
    bench::fill_until(offsets, end, [=](std::uint64_t at) { return bench::random_bits(seed + at) % 200 + 1; });
  }
  return offsets;
}
constexpr bench::named_law ten_long_law{"ten_long", ten_long, 20};

template <class Library>
bench::peer keys_peer(const char* name, const device_array<std::int32_t>& offsets, const device_array<key>& in,
                      const device_array<key>& out) {
  return bench::storage_peer(name, [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const key* keys = in.data();
    return Library::sort::SortKeys(storage, bytes, keys, out.data(), static_cast<int>(in.size()),
                                   static_cast<int>(offsets.size()) - 1, begins, begins + 1, 0, 32, stream);
  });
}

template <class Library>
bench::peer pairs_peer(const char* name, const device_array<std::int32_t>& offsets, const device_array<key>& in,
                       const device_array<key>& out, const device_array<key>& values_in,
                       const device_array<key>& values_out) {
  return bench::storage_peer(name, [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const key *keys = in.data(), *values = values_in.data();
    return Library::sort::SortPairs(storage, bytes, keys, out.data(), values, values_out.data(),
                                    static_cast<int>(in.size()), static_cast<int>(offsets.size()) - 1, begins,
                                    begins + 1, 0, 32, stream);
  });
}

template <bool HasValues>
workload sort_workload(const environment& env, const offset_list& host_offsets, bool is_rival) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const auto in = bench::random_array<key>(host_offsets.back(), env.settings.seed, env.stream);
  const std::size_t with_values = HasValues ? in.size() : 1;
  const auto values =
      bench::random_array<key>(static_cast<std::int64_t>(with_values), env.settings.seed + 1, env.stream);
  const device_array<key> ours(in.size()), theirs(in.size()), our_values(with_values), their_values(with_values);
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  our_values.fill_bytes(HasValues ? 0xa5 : 0, env.stream);
  their_values.fill_bytes(HasValues ? 0x5a : 0, env.stream);
  workload work;
  work.bytes = (HasValues ? 4 : 2) * static_cast<double>(in.bytes()) + static_cast<double>(offsets.bytes());
  if constexpr (HasValues) {
    work.peers.push_back(pairs_peer<use_strata>("strata", offsets, in, ours, values, our_values));
    bench::add_rival(work, pairs_peer<use_cub>("cub", offsets, in, theirs, values, their_values), is_rival, env);
  } else {
    work.peers.push_back(keys_peer<use_strata>("strata", offsets, in, ours));
    bench::add_rival(work, keys_peer<use_cub>("cub", offsets, in, theirs), is_rival, env);
  }
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
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
    const auto add = [&](const bench::named_law& which) {
      // CUB uses one block for each segment. Pairs in segments of 8 or 32 items take 352 and 89 ms for 2^24 items
      // (H200), and longer than a case may take for 2^27. So do pairs among many empty segments.
      const std::string length = which.name;
      const bool is_too_slow = log_size > 24 && (length == "u8" || length == "u32" || length == "many_empty");
      const bool is_rival = log_size <= which.most_of_cub && !is_too_slow;
      bench::benchmark_case what{algorithm, type, which.name, n, bench::timing::batched, [=](const environment& env) {
                                   return prepare(env, which.offsets(n, env.settings.seed), is_rival);
                                 }};
      if (!is_rival) what.rivals.clear();
      suite.add(what);
    };
    for (const bench::named_law& which : bench::sort_laws) add(which);
    add(ten_long_law);
  }
}

void add_cases(bench::suite& suite) {
  add_segments(suite, "DeviceSegmentedRadixSort::SortKeys", "u32", sort_workload<false>);
  add_segments(suite, "DeviceSegmentedRadixSort::SortPairs", "u32:u32", sort_workload<true>);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_radix_sort", argc, argv, add_cases); }
