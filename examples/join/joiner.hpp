// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace join {

/// What a line is joined by: some of its bytes, and a number, so that lines with the same bytes can be
/// told apart. Equal keys have equal hashes; keys with equal hashes are compared.
struct key {
  std::uint64_t hash;
  long long begin;  // of the bytes, from the beginning of both texts
  long long length;
  long long number;
};

/// A line of either text, by its number, or of one of them.
constexpr std::uint32_t no_line = 0xffffffff;
struct line_pair {
  std::uint32_t first;
  std::uint32_t second;
};

enum class kind {
  pairs,        // of lines with equal keys
  first_too,    // these, and lines of the first text without a partner
  both_too,     // these, and those of the second one
  only_lonely,  // lines of the first text without a partner
};

/// What a device does for the program, which knows no more of the GPU and of the host SIMT back
/// end.
class joiner {
 public:
  virtual ~joiner() = default;

  virtual std::string device() const = 0;

  /// By the lines of the first text, then by those of the second one; those of the second text that
  /// have no partner come last. `bytes` are those of both texts.
  virtual std::vector<line_pair> join(kind wanted, std::string_view bytes, const std::vector<key>& first,
                                      const std::vector<key>& second) const = 0;
};

// One source, joiner.cu, makes both.
namespace on_gpu {
std::unique_ptr<joiner> make_joiner();
}
namespace on_host {
std::unique_ptr<joiner> make_joiner();
}

}  // namespace join
