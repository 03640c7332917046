// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's record of shared memory. It finds races, accesses out of bounds, misaligned accesses, reads of
// bytes that were never written, and reads of a bulk copy's target before a thread has waited for the copy.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/check_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <algorithm>

namespace strata {
namespace simt {
namespace engine {
namespace check {
namespace {

// Every block of a launch has the same layout, so one map serves all blocks.
std::vector<uint8_t> valid(arena_bytes, 0);

// True for the record of a block that had the arena before.
bool is_stale(const access& record, const block_shadow& owner) {
  return record.block - owner.cluster_first >= owner.cluster_count;
}

struct shared_request {
  const fiber& thread;
  const block& owner;
  size_t offset, bytes;
  bool read, write;
  access_kind kind;
  const void* pc;
};

[[noreturn]] void report_race(const shared_request& request, const access& earlier, bool was_write) {
  fail("shared-race", "%zu-byte %s of shared %s at %s\n    races with %s", request.bytes,
       access_name(request.write, request.kind), describe_shared(request.offset).c_str(),
       source_line(request.pc).c_str(), describe_earlier(earlier, request.thread, was_write).c_str());
}

// Atomics do not race with each other, except an atomic at block scope with one of another block.
bool both_atomic(const access& earlier, const shared_request& request) {
  const auto kind = static_cast<access_kind>(earlier.kind);
  if (kind == access_kind::plain || kind == access_kind::bulk_copy || request.kind == access_kind::plain ||
      request.kind == access_kind::bulk_copy) {
    return false;
  }
  return earlier.block == shadow_of(*request.thread.home).id ||
         (kind == access_kind::device_atomic && request.kind == access_kind::device_atomic);
}

bool conflicts(const access& earlier, const shared_request& request, const block_shadow& shadow) {
  return !is_stale(earlier, shadow) && !both_atomic(earlier, request) && !ordered_before_now(earlier, request.thread);
}

void check_cell(const shared_cell& cell, const shared_request& request, const block_shadow& shadow) {
  for (const access* writer : {&cell.writes.latest, &cell.writes.latest_plain}) {
    if (conflicts(*writer, request, shadow)) report_race(request, *writer, true);
  }
  if (!request.write) return;
  for (const access* reader : {&cell.reads.first, &cell.reads.other_warp, &cell.reads.latest}) {
    if (conflicts(*reader, request, shadow)) report_race(request, *reader, false);
  }
}

void remember_read(readers& reads, const access& made, const shared_request& request, const block_shadow& shadow) {
  if (is_stale(reads.first, shadow) || ordered_before_now(reads.first, request.thread)) {
    reads.first = made;
  } else if (reads.first.block != made.block || reads.first.thread / warp_threads != made.thread / warp_threads) {
    reads.other_warp = made;
  } else {
    reads.latest = made;
  }
}

void record(shared_cell& cell, const access& made, const shared_request& request, const block_shadow& shadow) {
  if (request.write) cell.writes.remember(made);
  if (request.read) remember_read(cell.reads, made, request, shadow);
}

void check_bounds(const shared_request& request, const block_shadow& shadow) {
  for (size_t i = request.offset; i < request.offset + request.bytes; ++i) {
    if (i >= arena_bytes || valid[i] == 0) {
      fail("shared-out-of-bounds", "%zu-byte %s out of bounds in shared memory: %s, at %s", request.bytes,
           access_name(request.write, request.kind), describe_shared(i).c_str(), source_line(request.pc).c_str());
    }
    if (shadow.in_flight[i] != 0) {
      fail("bulk-copy-pending",
           "%zu-byte %s of shared %s at %s, the target of a bulk copy whose mbarrier has not been "
           "waited for",
           request.bytes, access_name(request.write, request.kind), describe_shared(i).c_str(),
           source_line(request.pc).c_str());
    }
  }
}

// A read is right if one of its bytes was written, because structs have padding, and an access may be wider than its
// item.
void check_initialised(const shared_request& request, const block_shadow& shadow) {
  const uint32_t* const written = shadow.initialised + request.offset;
  if (std::find(written, written + request.bytes, shadow.id) != written + request.bytes) return;
  fail("shared-uninitialised", "%zu-byte read of shared %s that was not written in this block, at %s", request.bytes,
       describe_shared(request.offset).c_str(), source_line(request.pc).c_str());
}

void check_order(const shared_request& request, block_shadow& shadow) {
  const access made = make_access(request.thread, request.kind, request.pc, 15);
  const size_t end = request.offset + request.bytes;
  for (size_t i = request.offset; i < end;) {
    shared_word& word = shadow.words[i / 4];
    check_cell(word.word, request, shadow);
    if (i % 4 == 0 && end - i >= 4) {
      if (word.split) {
        for (size_t byte = i; byte < i + 4; ++byte) {
          check_cell(shadow.bytes[byte], request, shadow);
        }
      }
      record(word.word, made, request, shadow);
      i += 4;
    } else {
      word.split = true;
      check_cell(shadow.bytes[i], request, shadow);
      record(shadow.bytes[i], made, request, shadow);
      ++i;
    }
  }
}

}  // namespace

std::string describe_shared(size_t offset) {
  std::string nearest = "no variable";
  for (const shared_variable_record& variable : launch_now.variables) {
    if (offset < variable.offset) continue;
    const size_t inside = offset - variable.offset;
    if (inside < variable.size) return variable.name + ("+" + std::to_string(inside));
    nearest = std::to_string(inside - variable.size) + " bytes past the end of " + variable.name + " (" +
              std::to_string(variable.size) + " bytes)";
  }
  return nearest;
}

void shared_access(const fiber& thread, const block& owner, size_t offset, size_t bytes, bool read, bool write,
                   access_kind kind, const void* pc) {
  const shared_request request{thread, owner, offset, bytes, read, write, kind, pc};
  block_shadow& shadow = shadow_of(owner);
  check_bounds(request, shadow);
  check_order(request, shadow);
  if (read) check_initialised(request, shadow);
  if (write) std::fill_n(shadow.initialised + offset, bytes, shadow.id);
}

void declare_initialised(const void* address, size_t bytes) {
  char* const begin = static_cast<char*>(const_cast<void*>(address));
  const block& home = *current->home;
  const size_t offset = static_cast<size_t>(begin - home.arena);
  if (is_global(begin)) {
    written_by_host(begin, bytes);
  } else if (offset < arena_bytes && bytes <= arena_bytes - offset) {
    std::fill_n(shadow_of(home).initialised + offset, bytes, shadow_of(home).id);
  }
}

void shared_variable_added(const shared_variable_record& variable) {
  std::fill_n(valid.begin() + static_cast<std::ptrdiff_t>(variable.offset), variable.size, uint8_t{1});
}

void block_begins(block& which) {
  if (which.shadow == nullptr) {
    auto* const made = new block_shadow{};
    made->words = static_cast<shared_word*>(reserve_shadow(arena_bytes / 4 * sizeof(shared_word)));
    made->bytes = static_cast<shared_cell*>(reserve_shadow(arena_bytes * sizeof(shared_cell)));
    made->initialised = static_cast<uint32_t*>(reserve_shadow(arena_bytes * sizeof(uint32_t)));
    made->in_flight = static_cast<uint8_t*>(reserve_shadow(arena_bytes));
    made->traces.resize(max_block_warps);
    which.shadow = made;
  }
  order_of_block_begins(which);
  for (warp_traces& traces : which.shadow->traces) traces = warp_traces{};
}

void block_ends(block& which) {
  for (uint32_t i = 0; i < which.warps; ++i) flush_traces(which, i);
}

void launch_begins() {
  refresh_modules();
  note_static_arguments();
  order_of_launch_begins();
  std::fill(valid.begin(), valid.end(), uint8_t{0});
  for (const shared_variable_record& variable : launch_now.variables) {
    shared_variable_added(variable);
  }
  for (const block* which : all_blocks()) {
    if (which->shadow != nullptr) std::memset(which->shadow->in_flight, 0, arena_bytes);
  }
}

// When a copy is issued, it counts as a write by the issuing thread, compared with earlier accesses.
void bulk_copy_issued(block& which, size_t offset, size_t bytes, location where) {
  static_cast<void>(where);
  block_shadow& shadow = shadow_of(which);
  shared_access(*current, which, offset, bytes, false, true, access_kind::plain, __builtin_return_address(0));
  std::fill_n(shadow.in_flight + offset, bytes, uint8_t{1});
}

// When it has landed, it counts as a write by no thread. Threads that have seen the mbarrier's phase complete know of
// it.
void bulk_copy_landed(block& which, size_t offset, size_t bytes, const void* barrier) {
  block_shadow& shadow = shadow_of(which);
  std::fill_n(shadow.in_flight + offset, bytes, uint8_t{0});
  access made = make_access(*which.fibers, access_kind::bulk_copy, nullptr, 15);
  made.sequence = ++shadow.bulk_serial;
  for (size_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    shadow.words[word].word.writes.remember(made);
  }
  add_to_object(barrier, bulk_copy_key(shadow.id), shadow.bulk_serial);
}

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
