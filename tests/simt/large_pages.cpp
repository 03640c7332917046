// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library for LD_PRELOAD. It makes system calls behave as with pages of 64 KiB, which many kernels for aarch64 use:
// addresses must be multiples of a page, and lengths are rounded up to whole pages.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace {

constexpr std::size_t page = 65536;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

long refused() {
  errno = EINVAL;
  return -1;
}

long if_page(long call, void* address, std::size_t bytes, int option) {
  if (reinterpret_cast<std::uintptr_t>(address) % page != 0) return refused();
  return syscall(call, address, whole_pages(bytes), option);
}

}  // namespace

extern "C" {

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  const auto map = [=](void* where, std::size_t length, int how) {
    return reinterpret_cast<char*>(syscall(SYS_mmap, where, length, protection, how, file, offset));
  };
  if ((flags & MAP_FIXED) != 0) return map(address, whole_pages(bytes), flags);
  const std::size_t length = whole_pages(bytes);
  auto* const room = reinterpret_cast<char*>(
      syscall(SYS_mmap, nullptr, length + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (room == MAP_FAILED) return MAP_FAILED;
  char* const first = room + (page - reinterpret_cast<std::uintptr_t>(room) % page) % page;
  if (first != room) syscall(SYS_munmap, room, first - room);
  if (first != room + page) syscall(SYS_munmap, first + length, room + page - first);
  return map(first, length, flags | MAP_FIXED);
}

int munmap(void* address, std::size_t bytes) noexcept {
  return static_cast<int>(if_page(SYS_munmap, address, bytes, 0));
}

int mprotect(void* address, std::size_t bytes, int protection) noexcept {
  return static_cast<int>(if_page(SYS_mprotect, address, bytes, protection));
}

int madvise(void* address, std::size_t bytes, int advice) noexcept {
  return static_cast<int>(if_page(SYS_madvise, address, bytes, advice));
}

int getpagesize() noexcept { return page; }

long sysconf(int name) noexcept {
  static const auto real = reinterpret_cast<long (*)(int)>(dlsym(RTLD_NEXT, "sysconf"));
  return name == _SC_PAGESIZE ? static_cast<long>(page) : real(name);
}
}
