// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mbarriers, and the bulk copies that report to them. The word in shared memory only marks where a barrier is. Its
// state is kept here, so that the use of a barrier that was never initialised is noticed.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

#include <map>

namespace strata {
namespace simt {
namespace engine {
namespace {

struct pending_copy {
  block* home;
  size_t offset;
  const void* from;
  unsigned bytes;
};

struct mbarrier {
  unsigned count, pending;  // arrivals of a phase, and arrivals that are still missing
  int64_t expected_bytes;   // minus the bytes that have come
  uint32_t phase;
  std::vector<pending_copy> copies;
};

std::map<const void*, mbarrier>& barriers() {
  static auto* const table = new std::map<const void*, mbarrier>;
  return *table;
}

mbarrier& find(const uint64_t* word, const char* what, location where) {
  const auto found = barriers().find(word);
  if (found == barriers().end()) {
    fail("mbarrier", "%s at %s:%d on an mbarrier that was not initialised", what, file_name(where.file), where.line);
  }
  return found->second;
}

void try_complete(mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.expected_bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  launch_now.idle_polls = 0;
}

// Each phase is an object of its own, so that the releases of one phase do not count in the next.
const void* phase_object(const void* word, uint32_t phase) { return static_cast<const char*>(word) + (phase & 1); }

void land(const uint64_t* word, mbarrier& barrier) {
  std::vector<pending_copy> copies;
  copies.swap(barrier.copies);
  for (const pending_copy& copy : copies) {
    std::memcpy(copy.home->arena + copy.offset, copy.from, copy.bytes);
    check::bulk_copy_landed(*copy.home, copy.offset, copy.bytes, phase_object(word, barrier.phase));
    barrier.expected_bytes -= copy.bytes;
  }
  try_complete(barrier);
}

void arrive(uint64_t* word, unsigned bytes, const char* what, location where) {
  const runtime_section section;
  fiber& self = calling_thread(what, where);
  mbarrier& barrier = find(word, what, where);
  if (barrier.pending == 0) {
    fail("mbarrier", "%s at %s:%d: more arrivals than the %u the mbarrier was initialised with", what,
         file_name(where.file), where.line, barrier.count);
  }
  const void* const object = phase_object(word, barrier.phase);
  if (barrier.pending == barrier.count && barrier.copies.empty()) check::erase_object(object);
  check::release_to(object, self);
  --barrier.pending;
  barrier.expected_bytes += bytes;
  try_complete(barrier);
}

}  // namespace

void start_bulk_copies() { barriers().clear(); }

}  // namespace engine

void mbarrier_init(uint64_t* word, unsigned count, location where) {
  using namespace engine;
  const runtime_section section;
  calling_thread("mbarrier_init", where);
  if (count == 0) fail("mbarrier", "mbarrier_init with count 0 at %s:%d", file_name(where.file), where.line);
  *word = 0;
  barriers()[word] = mbarrier{count, count, 0, 0, {}};
}

void mbarrier_invalidate(uint64_t* word, location where) {
  using namespace engine;
  const runtime_section section;
  calling_thread("mbarrier_invalidate", where);
  if (!find(word, "mbarrier_invalidate", where).copies.empty()) {
    fail("mbarrier", "mbarrier_invalidate at %s:%d while bulk copies are under way", file_name(where.file), where.line);
  }
  barriers().erase(word);
}

void mbarrier_arrive(uint64_t* word, location where) { engine::arrive(word, 0, "mbarrier_arrive", where); }

void mbarrier_arrive_expect_tx(uint64_t* word, unsigned bytes, location where) {
  engine::arrive(word, bytes, "mbarrier_arrive_expect_tx", where);
}

bool mbarrier_try_wait_parity(uint64_t* word, unsigned parity, location where) {
  using namespace engine;
  {
    const runtime_section section;
    fiber& self = calling_thread("mbarrier_try_wait_parity", where);
    mbarrier& barrier = find(word, "mbarrier_try_wait_parity", where);
    // If the phase with this parity is the current one, it is still open.
    if ((barrier.phase & 1) == (parity & 1)) land(word, barrier);
    if ((barrier.phase & 1) != (parity & 1)) {
      check::acquire_from(phase_object(word, parity), self);
      return true;
    }
  }
  spin_hint(where);
  return false;
}

void bulk_copy_global_to_shared(void* to, const void* from, unsigned bytes, uint64_t* word, location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread("bulk_copy_global_to_shared", where);
  mbarrier& barrier = find(word, "bulk_copy_global_to_shared", where);
  if (reinterpret_cast<uintptr_t>(to) % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0 || bytes % 16 != 0) {
    fail("misaligned", "bulk copy of %u bytes at %s:%d: addresses and size must be multiples of 16", bytes,
         file_name(where.file), where.line);
  }
  const size_t offset = static_cast<size_t>(static_cast<char*>(to) - self.home->arena);
  if (offset >= arena_bytes || bytes > arena_bytes - offset) {
    fail("shared-out-of-bounds", "bulk copy at %s:%d whose target is not the block's shared memory",
         file_name(where.file), where.line);
  }
  check::device_read(from, bytes, where);
  // A thread that sees the phase complete knows that the bytes have been read, too.
  check::release_to(phase_object(word, barrier.phase), self);
  check::bulk_copy_issued(*self.home, offset, bytes, where);
  std::memset(to, shared_garbage, bytes);
  barrier.copies.push_back({self.home, offset, from, bytes});
}

}  // namespace simt
}  // namespace strata
