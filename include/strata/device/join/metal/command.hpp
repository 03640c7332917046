// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/metal/context.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// Arguments of a kernel: a position in a buffer, a constant, bytes of threadgroup memory. Buffers and constants share
/// one sequence of slots, threadgroup memory has its own. Slots are numbered in the order of the arguments.
struct buffer_view {
  objc::id buffer = nullptr;
  objc::uinteger offset = 0;
};
template <class T>
struct constant {
  const T& value;
};
template <class T>
constant<T> constant_of(const T& value) {
  return {value};
}
struct threadgroup_bytes {
  std::size_t bytes;
};

/// Metal requires lengths of threadgroup memory to be multiples of 16 bytes.
constexpr std::size_t rounded_to_16(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

/// A command buffer with one encoder. Its dispatches run one after the other, and each sees what the earlier ones
/// wrote. After the first failure, further calls do nothing and run() returns that failure.
class command {
 public:
  explicit command(objc::id queue) : buffer_(objc::command_buffer(queue)) {
    if (buffer_ != nullptr) encoder_ = objc::compute_encoder(buffer_);
    if (encoder_ == nullptr) {
      status_ = fail(MetalJoinStatus::out_of_memory, "Metal gave no command buffer or encoder");
    }
  }
  command(const command&) = delete;
  command& operator=(const command&) = delete;
  ~command() { end(); }

  /// `groups` must not be 0: Metal reports an error for an empty grid.
  template <class... Arguments>
  void dispatch(const pipeline& kernel, std::size_t groups, std::size_t threads, const Arguments&... arguments) {
    if (status_ != MetalJoinStatus::success) return;
    if (threads > kernel.max_threads) {
      status_ = fail(MetalJoinStatus::not_supported,
                     "the device allows a kernel fewer threads in a threadgroup than it needs");
      return;
    }
    objc::set_pipeline(encoder_, kernel.object.get());
    next_buffer_ = 0;
    next_threadgroup_ = 0;
    (bind(arguments), ...);
    objc::dispatch_groups(encoder_, {groups, 1, 1}, {threads, 1, 1});
  }

  /// Runs all dispatches and waits.
  [[nodiscard]] MetalJoinStatus run() {
    end();
    if (status_ != MetalJoinStatus::success) return status_;
    objc::commit(buffer_);
    objc::wait(buffer_);
    constexpr objc::uinteger completed = 4;
    if (objc::status(buffer_) != completed) {
      status_ =
          fail(MetalJoinStatus::launch_failure, "the GPU stopped with an error: ", objc::text_of(objc::error(buffer_)));
    }
    return status_;
  }

 private:
  void bind(const buffer_view& p) { objc::set_buffer(encoder_, p.buffer, p.offset, next_buffer_++); }
  void bind(threadgroup_bytes t) {
    objc::set_threadgroup_memory(encoder_, rounded_to_16(t.bytes), next_threadgroup_++);
  }
  template <class T>
  void bind(const constant<T>& c) {
    objc::set_bytes(encoder_, &c.value, sizeof(T), next_buffer_++);
  }
  void end() {
    if (encoder_ != nullptr) objc::end_encoding(encoder_);
    encoder_ = nullptr;
  }

  // The first member, so that it is constructed first and destroyed last: the other objects are autoreleased.
  objc::autorelease_pool pool_;
  objc::id buffer_;
  objc::id encoder_ = nullptr;
  objc::uinteger next_buffer_ = 0;
  objc::uinteger next_threadgroup_ = 0;
  MetalJoinStatus status_ = MetalJoinStatus::success;
};

/// Waits for all work that was committed to a queue before.
[[nodiscard]] inline MetalJoinStatus finish(objc::id queue) { return command(queue).run(); }

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
