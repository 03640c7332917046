// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of words_in_common: a join of what has been grouped before, so that a word that comes
// a thousand times in both sets makes one pair and not a million.

#include "../common/device.cuh"
#include "matcher.hpp"

#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_run_length_encode.cuh>

#include <numeric>
#include <utility>

namespace words_in_common::STRATA_EXAMPLE_BACK_END {

using example::device_array;
using example::run;

struct item_number {
  STRATA_HD std::uint32_t operator()(long long i) const { return static_cast<std::uint32_t>(i); }
};

/// A set's hashes, each once, on the device; and where the items with each hash are.
struct grouped_hashes {
  device_array<std::uint64_t> hashes;
  long long runs;
  std::vector<std::uint32_t> order;
  std::vector<std::size_t> begins;  // and the end of the last one

  run_of_items run(std::uint32_t number) const { return {begins[number], begins[number + 1] - begins[number]}; }
};

static grouped_hashes group(const std::vector<std::uint64_t>& hashes) {
  const auto size = static_cast<long long>(hashes.size());
  if (size > 0xffffffff) throw example::device_error("more than 2^32 - 1 words");
  device_array<std::uint64_t> unsorted(hashes);
  const device_array<std::uint64_t> sorted(hashes.size());
  const device_array<std::uint32_t> order(hashes.size());
  run("DeviceRadixSort::SortPairs", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceRadixSort::SortPairs(temp, temp_bytes, unsorted.get(), sorted.get(),
                                              example::computed<item_number>{}, order.get(), size);
  });
  // What has been sorted makes room for the hashes of the runs.
  const device_array<std::uint32_t> lengths(hashes.size());
  const device_array<std::int64_t> num_runs(1);
  run("DeviceRunLengthEncode::Encode", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceRunLengthEncode::Encode(temp, temp_bytes, sorted.get(), unsorted.get(), lengths.get(),
                                                 num_runs.get(), size);
  });
  const long long runs = num_runs.download()[0];
  const std::vector<std::uint32_t> all_lengths = lengths.download(static_cast<std::size_t>(runs));
  std::vector<std::size_t> begins(all_lengths.size() + 1);
  std::partial_sum(all_lengths.begin(), all_lengths.end(), begins.begin() + 1,
                   [](std::size_t sum, std::size_t length) { return sum + length; });
  return {std::move(unsorted), runs, order.download(), std::move(begins)};
}

class cuda_matcher final : public matcher {
 public:
  explicit cuda_matcher(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  matching match(const std::vector<std::uint64_t>& first_hashes,
                 const std::vector<std::uint64_t>& second_hashes) const override {
    grouped_hashes first = group(first_hashes);
    grouped_hashes second = group(second_hashes);

    // Each hash comes once on either side.
    const auto build = strata::join_side(second.hashes.get(), second.runs).unique();
    const auto probe = strata::join_side(first.hashes.get(), first.runs);
    const device_array<std::uint32_t> first_runs(static_cast<std::size_t>(first.runs));
    const device_array<std::uint32_t> second_runs(static_cast<std::size_t>(first.runs));
    const device_array<std::int64_t> num_pairs(1);
    const auto pairs = strata::join_pairs(second_runs.get(), first_runs.get(), first.runs);
    run("DeviceHashJoin::Inner", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceHashJoin::Inner(temp, temp_bytes, build, probe, pairs, num_pairs.get());
    });
    const auto count = static_cast<std::size_t>(num_pairs.download()[0]);
    const std::vector<std::uint32_t> of_first = first_runs.download(count);
    const std::vector<std::uint32_t> of_second = second_runs.download(count);

    matching found;
    for (std::size_t i = 0; i < count; ++i) {
      found.pairs.push_back({first.run(of_first[i]), second.run(of_second[i])});
    }
    found.first_order = std::move(first.order);
    found.second_order = std::move(second.order);
    return found;
  }

 private:
  std::string device_;
};

std::unique_ptr<matcher> make_matcher() { return std::make_unique<cuda_matcher>(example::open_device()); }

}  // namespace words_in_common::STRATA_EXAMPLE_BACK_END
