// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's device memory. Its heap is one reserved range whose addresses are never used twice. So a stray
// access is noticed even long after a cudaFree.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/check_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace strata {
namespace simt {
namespace engine {
namespace check {

char* heap_begin = nullptr;
char* heap_end = nullptr;

namespace {

constexpr size_t heap_bytes = size_t{32} << 30;  // of address space

// The record for 4 bytes of device memory: one writer and two readers. If different threads write bytes of one word,
// they displace each other's record. This can hide a race, but never reports a false one.
struct global_word {
  writers writes;
  access first_read, other_read;
};

struct allocation {
  char *begin, *end;
  bool live;
  bool host_visible;
};

char* heap_top = nullptr;
global_word* words = nullptr;
uint8_t* initialised = nullptr;
std::vector<allocation> allocations;  // ascending
allocation last_hit = {nullptr, nullptr, false, false};

char* page_after(char* address) {
  const size_t page = page_bytes();
  return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(address) + page - 1) / page * page);
}

// Gives whole pages back to the system.
void give_back(void* memory, size_t bytes) {
#if defined(__APPLE__)
  constexpr int advice = MADV_FREE;  // MADV_DONTNEED is only a hint there
#else
  constexpr int advice = MADV_DONTNEED;
#endif
  if (madvise(memory, bytes, advice) != 0) std::perror("strata simt: memory that is given back");
}

void reserve_heap() {
  heap_begin = heap_top = static_cast<char*>(reserve_shadow(heap_bytes));
  heap_end = heap_begin + heap_bytes;
  words = static_cast<global_word*>(reserve_shadow(heap_bytes / 4 * sizeof(global_word)));
  initialised = static_cast<uint8_t*>(reserve_shadow(heap_bytes));
}

struct global_request {
  const fiber& thread;
  size_t offset, bytes;
  bool read, write;
  access_kind kind;
  const void* pc;
};

bool is_stale(const access& record) { return record.block < first_block_of_launch(); }

bool conflicts(const access& earlier, const global_request& request, unsigned byte_mask) {
  if (is_stale(earlier) || (earlier.bytes & byte_mask) == 0) return false;
  const auto kind = static_cast<access_kind>(earlier.kind);
  const bool wide = kind == access_kind::device_atomic && request.kind == access_kind::device_atomic;
  const bool atomic = kind != access_kind::plain && request.kind != access_kind::plain;
  if (wide || (atomic && earlier.block == shadow_of(*request.thread.home).id)) return false;
  return !ordered_before_now(earlier, request.thread);
}

[[noreturn]] void report_race(const global_request& request, const access& earlier, bool was_write) {
  fail("global-race", "%zu-byte %s of device memory at %s\n    races with %s", request.bytes,
       access_name(request.write, request.kind), source_line(request.pc).c_str(),
       describe_earlier(earlier, request.thread, was_write).c_str());
}

// Called after check_bounds. Memory that the host sees counts as written: the host's code is not instrumented.
void check_initialised(const global_request& request) {
  if (last_hit.host_visible) return;
  const uint8_t* const written = initialised + request.offset;
  if (std::find(written, written + request.bytes, 1) != written + request.bytes) return;
  fail("global-uninitialised", "%zu-byte read of device memory that was never written, at %s", request.bytes,
       source_line(request.pc).c_str());
}

void remember_read(global_word& word, const access& made, const global_request& request) {
  if (is_stale(word.first_read) || ordered_before_now(word.first_read, request.thread)) {
    word.first_read = made;
  } else {
    word.other_read = made;
  }
}

void check_order(const global_request& request) {
  const size_t end = request.offset + request.bytes;
  for (size_t i = request.offset / 4; i <= (end - 1) / 4; ++i) {
    unsigned mask = 15;
    if (i * 4 < request.offset) mask &= 15u << (request.offset - i * 4);
    if (i * 4 + 4 > end) mask &= 15u >> (i * 4 + 4 - end);
    global_word& word = words[i];
    for (const access* writer : {&word.writes.latest, &word.writes.latest_plain}) {
      if (conflicts(*writer, request, mask)) report_race(request, *writer, true);
    }
    if (request.write) {
      if (conflicts(word.first_read, request, mask)) report_race(request, word.first_read, false);
      if (conflicts(word.other_read, request, mask)) report_race(request, word.other_read, false);
    }
    const access made = make_access(request.thread, request.kind, request.pc, mask);
    if (request.write) word.writes.remember(made);
    if (request.read) remember_read(word, made, request);
  }
}

// Finds the allocation of an address. Ends the launch if there is none.
void check_bounds(char* address, const global_request& request) {
  if (address >= last_hit.begin && address + request.bytes <= last_hit.end) return;
  auto next = std::upper_bound(allocations.begin(), allocations.end(), address,
                               [](const char* where, const allocation& entry) { return where < entry.begin; });
  if (next == allocations.begin()) {
    fail("global-out-of-bounds", "%zu-byte %s before the first allocation of device memory, at %s", request.bytes,
         access_name(request.write, request.kind), source_line(request.pc).c_str());
  }
  const allocation& found = *--next;
  if (address + request.bytes <= found.end && found.live) {
    last_hit = found;
    return;
  }
  // The address is nearer to the next allocation than to this one: probably the access missed the beginning of the next
  // one.
  const auto after = next + 1;
  if (address >= found.end && after != allocations.end() && after->live &&
      after->begin - address < address - found.end) {
    fail("global-out-of-bounds",
         "%zu-byte %s out of bounds in device memory: %td bytes before an allocation of %td bytes, "
         "at %s",
         request.bytes, access_name(request.write, request.kind), after->begin - address, after->end - after->begin,
         source_line(request.pc).c_str());
  }
  if (!found.live) {
    fail("use-after-free", "%zu-byte %s of freed device memory at %s", request.bytes,
         access_name(request.write, request.kind), source_line(request.pc).c_str());
  }
  fail("global-out-of-bounds",
       "%zu-byte %s out of bounds in device memory: %td bytes past the end of an allocation of %td "
       "bytes, at %s",
       request.bytes, access_name(request.write, request.kind), address - found.end, found.end - found.begin,
       source_line(request.pc).c_str());
}

}  // namespace

void* reserve_shadow(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("strata simt: addresses for the check flavour");
    std::abort();
  }
  return memory;
}

void* allocate(size_t bytes, bool host_visible) {
  if (heap_begin == nullptr) reserve_heap();
  char* const begin = heap_top + page_bytes();  // a page between allocations, for accesses with long strides
  if (bytes > static_cast<size_t>(heap_end - begin)) return nullptr;
  allocations.push_back({begin, begin + bytes, true, host_visible});
  heap_top = page_after(begin + bytes);
  return begin;
}

void released(void* pointer, size_t bytes) {
  char* const begin = static_cast<char*>(pointer);
  for (allocation& entry : allocations) {
    if (entry.begin == begin) entry.live = false;
  }
  last_hit = {nullptr, nullptr, false, false};
  const size_t mapped = static_cast<size_t>(page_after(begin + bytes) - begin);
  const size_t offset = static_cast<size_t>(begin - heap_begin);
  give_back(begin, mapped);
  give_back(words + offset / 4, mapped / 4 * sizeof(global_word));
  give_back(initialised + offset, mapped);
}

void written_by_host(void* pointer, size_t bytes) {
  std::memset(initialised + (static_cast<char*>(pointer) - heap_begin), 1, bytes);
}

void copied_by_host(void* to, const void* from, size_t bytes) {
  std::memmove(initialised + (static_cast<char*>(to) - heap_begin),
               initialised + (static_cast<const char*>(from) - heap_begin), bytes);
}

bool is_written(const void* byte) { return initialised[static_cast<const char*>(byte) - heap_begin] != 0; }

void mark_unwritten(void* byte) { initialised[static_cast<char*>(byte) - heap_begin] = 0; }

void global_access(const fiber& thread, char* address, size_t bytes, bool read, bool write, access_kind kind,
                   const void* pc) {
  const global_request request{thread, static_cast<size_t>(address - heap_begin), bytes, read, write, kind, pc};
  check_bounds(address, request);
  if (read) check_initialised(request);
  check_order(request);
  if (write) std::memset(initialised + request.offset, 1, bytes);
}

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
