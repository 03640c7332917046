// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wordcount {

/// Items in an order in which equal keys are neighbours. Run r is the next `lengths[r]` items of `order`. Within a run,
/// items keep their order.
struct grouping {
  std::vector<long long> order;
  std::vector<long long> lengths;
};

/// The calls of a device. The rest of the program knows nothing else of the GPU and of the host SIMT back end.
class sorter {
 public:
  virtual ~sorter() = default;

  virtual std::string device() const = 0;

  virtual grouping group(const std::vector<std::uint64_t>& keys) const = 0;
  /// The indices of the counts in descending order of the counts.
  virtual std::vector<long long> descending(const std::vector<long long>& counts) const = 0;
};

// One source, sorter.cu, makes both.
namespace on_gpu {
std::unique_ptr<sorter> make_sorter();
}
namespace on_host {
std::unique_ptr<sorter> make_sorter();
}

}  // namespace wordcount
