// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/metal/objc.hpp>
#include <strata/device/join/metal/shader_source.hpp>
#include <strata/device/join/metal/status.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// The oldest GPU family that has simd_sum, simd_prefix_exclusive_sum and similar functions: Apple7 (A14, M1).
inline constexpr objc::integer least_family = 1007;
inline constexpr objc::uinteger simd_lanes = 32;
/// MTLResourceStorageModeShared: CPU and GPU see the same memory.
inline constexpr objc::uinteger storage_shared = 0;

struct pipeline {
  objc::ref object;
  objc::uinteger max_threads = 0;
};

enum class function {
  radix_histogram,
  radix_scatter,
  table_count,
  table_fill,
  partition_join,
  table_join,
  lone_rows,
  advance_total
};
inline constexpr int functions = 8;

/// A device, its compiled kernels, and a queue for callers that have none. Compiling the source of the kernels takes
/// tenths of a second, so only the first join that needs a kernel compiles it.
class context {
 public:
  explicit context(objc::ref device) : device_(std::move(device)) {
    threadgroup_bytes_ = objc::max_threadgroup_memory(device_.get());
    buffer_bytes_ = objc::max_buffer_length(device_.get());
  }

  objc::id device() const { return device_.get(); }
  std::size_t threadgroup_bytes() const { return threadgroup_bytes_; }
  /// Bytes of the longest buffer.
  std::size_t buffer_bytes() const { return buffer_bytes_; }

  /// The text lives until the surrounding autorelease pool ends.
  const char* name() const { return objc::utf8(objc::name(device_.get())); }

  [[nodiscard]] MetalJoinStatus queue(objc::id& out) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!queue_) queue_ = objc::ref(objc::new_command_queue(device_.get()));
    out = queue_.get();
    return queue_ ? MetalJoinStatus::success : fail(MetalJoinStatus::out_of_memory, "Metal gave no command queue");
  }

  /// Finds the pipeline of a kernel for keys and row numbers of 4 or 8 bytes. If a kernel does not depend on one of
  /// these sizes, callers pass 0.
  [[nodiscard]] MetalJoinStatus get(function which, std::size_t key_bytes, std::size_t row_bytes,
                                    const pipeline*& out) {
    const std::lock_guard<std::mutex> lock(mutex_);
    pipeline& cached = pipelines_[static_cast<int>(which)][key_bytes == 8 ? 1 : 0][row_bytes == 8 ? 1 : 0];
    out = &cached;
    if (cached.object) return MetalJoinStatus::success;
    const objc::autorelease_pool pool;
    const MetalJoinStatus status = compile();
    if (status != MetalJoinStatus::success) return status;
    static constexpr const char* names[functions] = {"radix_histogram", "radix_scatter",  "table_count",
                                                     "table_fill",      "partition_join", "table_join",
                                                     "lone_rows",       "advance_total"};
    char full_name[64];
    std::snprintf(full_name, sizeof(full_name), "strata_%s%s%s", names[static_cast<int>(which)],
                  key_bytes == 0 ? "" : (key_bytes == 8 ? "_u64" : "_u32"),
                  row_bytes == 0 ? "" : (row_bytes == 8 ? "_r64" : "_r32"));
    const objc::ref made(objc::new_function(library_.get(), objc::string_of(full_name)));
    if (!made) return fail(MetalJoinStatus::no_function, "no shader function ", full_name);
    objc::id error = nullptr;
    objc::ref object(objc::new_pipeline(device_.get(), made.get(), &error));
    if (!object) {
      return fail(MetalJoinStatus::no_function, "no pipeline of a shader function: ", objc::text_of(error));
    }
    if (objc::simd_width(object.get()) != simd_lanes) {
      return fail(MetalJoinStatus::not_supported, "simdgroups of the device do not have 32 threads");
    }
    cached.max_threads = objc::max_threads(object.get());
    cached.object = std::move(object);
    return MetalJoinStatus::success;
  }

 private:
  MetalJoinStatus compile() {
    if (library_) return MetalJoinStatus::success;
    const std::string source = shader_source();
    objc::id error = nullptr;
    library_ = objc::ref(objc::new_library(device_.get(), objc::string_of(source.c_str()), nullptr, &error));
    return library_
               ? MetalJoinStatus::success
               : fail(MetalJoinStatus::invalid_source, "Metal does not compile the shaders: ", objc::text_of(error));
  }

  objc::ref device_;
  objc::ref queue_;
  objc::ref library_;
  std::size_t threadgroup_bytes_ = 0;
  std::size_t buffer_bytes_ = 0;
  pipeline pipelines_[functions][2][2];
  std::mutex mutex_;
};

/// The contexts of a process, one for each device, kept until the process ends or `clear` is called.
class context_list {
 public:
  static context_list& of_process() {
    static context_list list;
    return list;
  }

  /// Returns the context of the queue's device or, without a queue, the context of the system's default device. Returns
  /// null if there is no such device, if the kernels cannot run on it, or if memory is exhausted.
  context* find(objc::id queue) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (queue == nullptr && default_ != nullptr) return default_;
    const objc::autorelease_pool pool;
    objc::ref device = queue == nullptr ? default_device() : retained(objc::device(queue));
    if (!device || !objc::supports_family(device.get(), least_family)) return nullptr;
    context* found = nullptr;
    for (node* n = first_.get(); n != nullptr; n = n->next.get()) {
      if (n->item.device() == device.get()) found = &n->item;
    }
    if (found == nullptr) {
      std::unique_ptr<node> added(new (std::nothrow) node(std::move(device)));
      if (added == nullptr) return nullptr;
      found = &added->item;
      added->next = std::move(first_);
      first_ = std::move(added);
    }
    if (queue == nullptr) default_ = found;
    return found;
  }

  /// Releases all contexts. None may be in use.
  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    default_ = nullptr;
    while (first_ != nullptr) first_ = std::move(first_->next);
  }

 private:
  struct node {
    explicit node(objc::ref device) : item(std::move(device)) {}
    context item;
    std::unique_ptr<node> next;
  };

  static objc::ref retained(objc::id object) { return objc::ref(object == nullptr ? nullptr : objc::retain(object)); }
  static objc::ref default_device() {
    objc::ref device(strata_metal_default_device());
    if (device) return device;
    // Without a window server there is no default device, but the list of all devices may have one.
    const objc::ref all(strata_metal_all_devices());
    return all && objc::count(all.get()) > 0 ? retained(objc::object_at(all.get(), 0)) : objc::ref();
  }

  std::mutex mutex_;
  std::unique_ptr<node> first_;
  context* default_ = nullptr;
};

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
