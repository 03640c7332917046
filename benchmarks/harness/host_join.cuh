// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A join by two threads of the host, as a user without a GPU would do it.

#include <strata/device/join/host/host_join.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/cuda.cuh"
#include "harness/join_data.cuh"

namespace bench {

/// Host copies of the two sides, and the join of them.
template <class Key>
class host_join {
 public:
  host_join(const join_sides<Key>& sides, const join_result& device_result, cudaStream_t stream)
      : build_(sides.build.size()),
        probe_(sides.probe.size()),
        build_out_(device_result.build_out.size()),
        probe_out_(device_result.probe_out.size()),
        device_result_(device_result) {
    options_.threads = 2;
    copy(build_.data(), sides.build.data(), sides.build.bytes(), stream);
    copy(probe_.data(), sides.probe.data(), sides.probe.bytes(), stream);
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "host");
    storage_.resize(bytes);
  }

  cudaError_t operator()() {
    std::size_t bytes = storage_.size();
    return call(storage_.data(), bytes);
  }

  /// Copies the result to the device, where it is checked.
  void publish(cudaStream_t stream) const {
    copy(device_result_.build_out.data(), build_out_.data(), device_result_.build_out.bytes(), stream);
    copy(device_result_.probe_out.data(), probe_out_.data(), device_result_.probe_out.bytes(), stream);
    copy(device_result_.total.data(), &total_, sizeof total_, stream);
  }
  void spoil() {
    std::fill(probe_out_.begin(), probe_out_.end(), -2);
    total_ = -2;
  }

 private:
  static void copy(void* target, const void* source, std::size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream), "copy");
    check(cudaStreamSynchronize(stream), "copy");
  }

  cudaError_t call(void* storage, std::size_t& bytes) {
    const strata::HostJoinStatus status = strata::detail::host_join_pairs(
        storage, bytes, strata::JoinKind::inner, build_.data(), static_cast<std::int64_t>(build_.size()), probe_.data(),
        static_cast<std::int64_t>(probe_.size()), build_out_.data(), probe_out_.data(), &total_,
        device_result_.capacity, options_);
    return status == strata::HostJoinStatus::success ? cudaSuccess : cudaErrorInvalidValue;
  }

  std::vector<Key> build_;
  std::vector<Key> probe_;
  std::vector<std::int32_t> build_out_;
  std::vector<std::int32_t> probe_out_;
  std::vector<unsigned char> storage_;
  std::int64_t total_ = -2;
  strata::HostJoinOptions options_;
  join_result device_result_;
};

}  // namespace bench
