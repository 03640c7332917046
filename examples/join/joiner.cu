// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of join: keys of any length, which are compared where their hashes are equal.

#include "../common/device.cuh"
#include "joiner.hpp"

#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <utility>

namespace join::STRATA_EXAMPLE_BACK_END {

using example::device_array;

static_assert(no_line == strata::no_row<std::uint32_t>);

struct hash_of_key {
  STRATA_HD std::uint64_t operator()(const key& hashed) const { return hashed.hash; }
};

struct has_same_bytes {
  const char* bytes;

  STRATA_HD bool operator()(const key& a, const key& b) const {
    if (a.hash != b.hash || a.length != b.length || a.number != b.number) return false;
    for (long long i = 0; i < a.length; ++i) {
      if (bytes[a.begin + i] != bytes[b.begin + i]) return false;
    }
    return true;
  }
};

using join_options = strata::OrderedJoinOptions<hash_of_key, has_same_bytes>;

/// Keys and results of a join in the device's memory.
struct device_join {
  device_array<key> build, probe;
  device_array<std::uint32_t> build_out, probe_out;
  device_array<std::int64_t> num_out{1};
  join_options options;

  cudaError_t operator()(kind wanted, void* temp, std::size_t& temp_bytes) const {
    using strata::DeviceHashJoin;
    const auto build_side = strata::join_side(build.get(), build.size());
    const auto probe_side = strata::join_side(probe.get(), probe.size());
    const auto pairs = strata::join_pairs(build_out.get(), probe_out.get(), probe_out.size());
    switch (wanted) {
      case kind::pairs:
        return DeviceHashJoin::Inner(temp, temp_bytes, build_side, probe_side, pairs, num_out.get(), options);
      case kind::first_too:
        return DeviceHashJoin::Left(temp, temp_bytes, build_side, probe_side, pairs, num_out.get(), options);
      case kind::both_too:
        return DeviceHashJoin::Full(temp, temp_bytes, build_side, probe_side, pairs, num_out.get(), options);
      default:
        return DeviceHashJoin::Anti(temp, temp_bytes, build_side, probe_side,
                                    strata::join_pairs(nullptr, probe_out.get(), probe_out.size()), num_out.get(),
                                    options);
    }
  }

  long long run(kind wanted) const {
    example::run("DeviceHashJoin",
                 [&](void* temp, std::size_t& temp_bytes) { return (*this)(wanted, temp, temp_bytes); });
    return num_out.download()[0];
  }
};

class cuda_joiner final : public joiner {
 public:
  explicit cuda_joiner(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  /// The first text is the probe side, whose order the result has.
  std::vector<line_pair> join(kind wanted, std::string_view bytes, const std::vector<key>& first,
                              const std::vector<key>& second) const override {
    const device_array<char> text(bytes.data(), bytes.size());
    join_options options;
    options.equal = {text.get()};
    // Most often a line has one partner at most. Where there are more pairs than room, what was
    // written is useless, but it is known how many there are.
    std::size_t capacity = first.size() + second.size();
    device_join joined{device_array<key>(second),
                       device_array<key>(first),
                       device_array<std::uint32_t>(capacity),
                       device_array<std::uint32_t>(capacity),
                       device_array<std::int64_t>(1),
                       options};
    const auto count = static_cast<std::size_t>(joined.run(wanted));
    if (count > capacity) {
      joined.build_out = device_array<std::uint32_t>(count);
      joined.probe_out = device_array<std::uint32_t>(count);
      joined.run(wanted);
    }

    const std::vector<std::uint32_t> lines_of_first = joined.probe_out.download(count);
    std::vector<std::uint32_t> lines_of_second(count, no_line);
    if (wanted != kind::only_lonely) lines_of_second = joined.build_out.download(count);
    std::vector<line_pair> pairs(count);
    for (std::size_t i = 0; i < count; ++i) pairs[i] = {lines_of_first[i], lines_of_second[i]};
    return pairs;
  }

 private:
  std::string device_;
};

std::unique_ptr<joiner> make_joiner() { return std::make_unique<cuda_joiner>(example::open_device()); }

}  // namespace join::STRATA_EXAMPLE_BACK_END
