// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of wordcount.

#include "../common/device.cuh"
#include "sorter.hpp"

#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_run_length_encode.cuh>

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace wordcount::STRATA_EXAMPLE_BACK_END {

using example::device_array;
using example::run;

/// 0, 1, 2, ...
static device_array<long long> indices(std::size_t size) {
  std::vector<long long> items(size);
  std::iota(items.begin(), items.end(), 0LL);
  return device_array<long long>(items);
}

class cuda_sorter final : public sorter {
 public:
  explicit cuda_sorter(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  grouping group(const std::vector<std::uint64_t>& keys) const override {
    const device_array<std::uint64_t> unsorted(keys);
    const device_array<long long> places = indices(keys.size());
    const device_array<std::uint64_t> sorted(keys.size());
    const device_array<long long> order(keys.size());
    run("DeviceRadixSort::SortPairs", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairs(temp, temp_bytes, unsorted.get(), sorted.get(), places.get(),
                                                order.get(), keys.size());
    });
    // The sorted hashes are not needed any more. The keys of the runs, which nobody reads, and their lengths overwrite
    // them.
    const device_array<long long> runs(1);
    run("DeviceRunLengthEncode::Encode", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRunLengthEncode::Encode(temp, temp_bytes, sorted.get(), unsorted.get(), places.get(),
                                                   runs.get(), keys.size());
    });
    return {order.download(), places.download(static_cast<std::size_t>(runs.download()[0]))};
  }

  std::vector<long long> descending(const std::vector<long long>& counts) const override {
    const device_array<long long> unsorted(counts);
    const device_array<long long> places = indices(counts.size());
    const device_array<long long> sorted(counts.size());
    const device_array<long long> order(counts.size());
    run("DeviceRadixSort::SortPairsDescending", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairsDescending(temp, temp_bytes, unsorted.get(), sorted.get(), places.get(),
                                                          order.get(), counts.size());
    });
    return order.download();
  }

 private:
  std::string device_;
};

std::unique_ptr<sorter> make_sorter() { return std::make_unique<cuda_sorter>(example::open_device()); }

}  // namespace wordcount::STRATA_EXAMPLE_BACK_END
