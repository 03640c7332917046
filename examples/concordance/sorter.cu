// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of concordance.

#include "../common/device.cuh"
#include "sorter.hpp"

#include <strata/device/device_segmented_merge_sort.cuh>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace concordance::STRATA_EXAMPLE_BACK_END {

using example::device_array;
using example::run;

struct is_earlier {
  STRATA_HD bool operator()(const occurrence& a, const occurrence& b) const {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  }
};

class cuda_sorter final : public sorter {
 public:
  explicit cuda_sorter(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  void sort(std::vector<occurrence>& occurrences, const std::vector<long long>& begins) const override {
    const device_array<occurrence> items(occurrences);
    const device_array<long long> words(begins);
    run("DeviceSegmentedMergeSort::SortKeys", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceSegmentedMergeSort::SortKeys(temp, temp_bytes, items.get(), occurrences.size(),
                                                        begins.size() - 1, words.get(), words.get() + 1, is_earlier{});
    });
    occurrences = items.download();
  }

 private:
  std::string device_;
};

std::unique_ptr<sorter> make_sorter() { return std::make_unique<cuda_sorter>(example::open_device()); }

}  // namespace concordance::STRATA_EXAMPLE_BACK_END
