// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace words_in_common {

/// Items with equal hashes: places `begin` to `begin + length - 1` of their set's order.
struct run_of_items {
  std::size_t begin;
  std::size_t length;
};

/// Items of two sets, by number, in an order in which those with equal hashes are neighbours; and the
/// runs of hashes that come in both sets, in any order.
struct matching {
  std::vector<std::uint32_t> first_order, second_order;
  struct pair {
    run_of_items first, second;
  };
  std::vector<pair> pairs;
};

/// What a device does for the program, which knows no more of the GPU and of the host SIMT back
/// end.
class matcher {
 public:
  virtual ~matcher() = default;

  virtual std::string device() const = 0;
  virtual matching match(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second) const = 0;
};

// One source, matcher.cu, makes both.
namespace on_gpu {
std::unique_ptr<matcher> make_matcher();
}
namespace on_host {
std::unique_ptr<matcher> make_matcher();
}

}  // namespace words_in_common
