// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/metal/command.hpp>
#include <strata/device/join/metal/context.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// Returns the size of a page, but at least 16 KiB, as on Apple silicon. A process may see smaller pages, and sizes
/// must not depend on that.
inline std::size_t page_bytes() {
  constexpr std::size_t apple_page = 16384;
  const long page = sysconf(_SC_PAGESIZE);
  return page > static_cast<long>(apple_page) ? static_cast<std::size_t>(page) : apple_page;
}

/// What a kernel does with memory of the caller. This value decides which copies are made.
enum class access { read, write, scratch };

/// Memory of the caller as the device sees it: the same memory if it begins at a page boundary, else a copy in a buffer
/// of Metal's. Metal maps whole pages, so the device also sees what follows the memory on its last page. No kernel
/// accesses that.
class mapped {
 public:
  [[nodiscard]] MetalJoinStatus map(context& gpu, void* data, std::size_t bytes, access what) {
    const std::size_t page = page_bytes();
    const std::size_t whole = (bytes + page - 1) / page * page;
    if (bytes > gpu.buffer_bytes()) {
      return fail(MetalJoinStatus::not_supported, "the device allows no buffer of this length");
    }
    if (data != nullptr && bytes > 0 && whole <= gpu.buffer_bytes() &&
        reinterpret_cast<std::uintptr_t>(data) % page == 0) {
      buffer_ = objc::ref(objc::new_buffer_no_copy(gpu.device(), data, whole, storage_shared, nullptr));
      base_ = data;
    }
    if (!buffer_) {
      // Metal refuses a length of 0. So an empty or unused argument gets a buffer of 16 bytes.
      buffer_ = objc::ref(objc::new_buffer(gpu.device(), detail::most(bytes, 16), storage_shared));
      if (!buffer_) return fail(MetalJoinStatus::out_of_memory, "Metal gave no buffer");
      base_ = objc::contents(buffer_.get());
      if (what == access::read && bytes > 0) std::memcpy(base_, data, bytes);
      if (what == access::write) copy_to_ = data;
    }
    return MetalJoinStatus::success;
  }

  /// Returns the memory's address on the host.
  void* base() const { return base_; }
  buffer_view at(const void* inside) const {
    return {buffer_.get(),
            static_cast<objc::uinteger>(static_cast<const char*>(inside) - static_cast<const char*>(base_))};
  }
  buffer_view begin() const { return {buffer_.get(), 0}; }

  void copy_back(std::size_t bytes) const {
    if (copy_to_ != nullptr && bytes > 0) std::memcpy(copy_to_, base_, bytes);
  }

 private:
  objc::ref buffer_;
  void* base_ = nullptr;
  void* copy_to_ = nullptr;
};

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
