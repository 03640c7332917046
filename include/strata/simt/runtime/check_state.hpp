// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's own state. Kernel code is compiled with -fsanitize=thread, which makes every load, store and
// atomic operation call a hook (check_hooks.cpp). It is linked with this runtime instead of the sanitizer's, as the
// Linux kernel does for KCSAN.
//
// Order ("happens before") is tracked at three distances:
// - In a warp, each lane has a clock, and __syncwarp exchanges what the lanes know of the clocks.
// - In a block, a block barrier starts an epoch: everything in earlier epochs is ordered.
// - Elsewhere, a thread has a view. The view has an entry for each block, warp or thread that it has heard of through
//   releases and acquires. The entry says up to which point the accesses of that block, warp or thread are ordered
//   before what the thread does now.
#pragma once

#include <strata/simt/runtime/engine_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <memory>
#include <unordered_map>
#include <utility>

namespace strata {
namespace simt {
namespace engine {
namespace check {

// A view is sorted by key. It is immutable and shared: most threads of a block hold the same one.
using view = std::vector<std::pair<uint64_t, uint64_t>>;
using view_handle = std::shared_ptr<const view>;

enum class access_kind : uint8_t { plain = 0, block_atomic = 1, device_atomic = 2, bulk_copy = 3 };

// The thread that accessed a piece of memory. `block` is a number that no other block of the process has, or 0 if no
// thread did.
struct access {
  uint32_t block;
  uint32_t epoch;
  uint32_t sequence;  // full-warp synchronisations of the warp in this epoch; bulk copies: a serial
  uint32_t clock;     // of the lane
  uint64_t pc : 48;
  uint64_t thread : 10;
  uint64_t bytes : 4;  // which of the four bytes of the word
  uint64_t kind : 2;   // access_kind
};
static_assert(sizeof(access) == 24, "the layout of shadow memory assumes 24 bytes");

// Three reads of a piece of memory. A read replaces `first` if `first` is known to be ordered before it, or if there is
// no `first`. Otherwise it replaces `other_warp` if it is from another warp than `first`, and `latest` if it is from
// the same warp. A write that is ordered after all three is ordered after every read, except in contrived patterns.
struct readers {
  access first, other_warp, latest;
};
// The last write, and the last write that was not atomic: an atomic write of the same thread must not hide it from the
// atomic accesses of others.
struct writers {
  access latest, latest_plain;

  void remember(const access& made) {
    latest = made;
    const auto kind = static_cast<access_kind>(made.kind);
    if (kind == access_kind::plain || kind == access_kind::bulk_copy) latest_plain = made;
  }
};
struct shared_cell {
  writers writes;
  readers reads;
};
struct shared_word {
  shared_cell word;  // accesses of whole words
  bool split;        // some access was smaller: the bytes' cells count too
};

// One warp instruction: the addresses of the lanes, gathered until the warp synchronises.
struct instruction_instance {
  uint32_t lanes;
  uint32_t offsets[warp_threads];
};
struct instruction_trace {
  std::vector<instruction_instance> instances;
  uint32_t used = 0;
  uint32_t reached[warp_threads] = {};  // instances, by lane
  uint8_t bytes = 0;
  bool write = false;
};

struct warp_traces {
  std::unordered_map<uint64_t, instruction_trace> all;  // by instruction
  // The latest hits in the map, because the loop of a kernel has only a few instructions.
  static constexpr size_t ways = 16;
  uint64_t recent_key[ways] = {};
  instruction_trace* recent[ways] = {};
};

struct thread_order {
  view_handle known;
  // Views that relaxed loads have seen, from the thread's own block and from elsewhere. A fence makes them count.
  view_handle pending_home, pending_away;
  // Views at the last fence of each scope, which relaxed stores publish.
  view_handle fenced_block, fenced_device;
};

// The check flavour's part of a block.
struct block_shadow {
  uint32_t id;             // the block that has the arena now
  uint32_t cluster_first;  // the blocks of its cluster have ids from here on
  uint32_t cluster_count;
  uint32_t bulk_serial;
  shared_word* words;     // of every word of the arena
  shared_cell* bytes;     // of every byte of the arena
  uint32_t* initialised;  // of every byte of the arena: the id of the block that wrote it
  uint8_t* in_flight;     // of every byte of the arena: set while a bulk copy to it has not landed
  std::vector<thread_order> order;
  uint32_t full_sync_clock[max_block_warps][warp_threads];
  std::vector<warp_traces> traces;
};

inline block_shadow& shadow_of(const block& which) { return *which.shadow; }
void* reserve_shadow(size_t bytes);  // zeroed; pages take memory when they are touched
uint32_t first_block_of_launch();
uint3 index_of_block(uint32_t id);

// ---- check_order.cpp
void order_of_launch_begins();
void order_of_block_begins(block& which);
access make_access(const fiber& thread, access_kind kind, const void* pc, unsigned bytes);
bool ordered_before_now(const access& earlier, const fiber& thread);
void synchronise_through(uint64_t location, const fiber& thread, bool load, bool store, int order, memory_scope scope);
void add_to_object(const void* object, uint64_t key, uint64_t value);
uint64_t bulk_copy_key(uint32_t block);

// ---- check_shared.cpp, check_global.cpp
void shared_access(const fiber& thread, const block& owner, size_t offset, size_t bytes, bool read, bool write,
                   access_kind kind, const void* pc);
std::string describe_shared(size_t offset);
extern char *heap_begin, *heap_end;
inline bool is_global(const char* address) { return address >= heap_begin && address < heap_end; }
void global_access(const fiber& thread, char* address, size_t bytes, bool read, bool write, access_kind kind,
                   const void* pc);
const char* access_name(bool write, access_kind kind);
std::string describe_earlier(const access& earlier, const fiber& thread, bool was_write);

// ---- bank_conflicts.cpp
void trace_shared_access(const fiber& thread, size_t offset, size_t bytes, bool write, const void* pc);
void flush_traces(block& which, uint32_t warp_id);

// ---- check_hooks.cpp
void note_static_arguments();  // finds the launch's arguments that point to static data

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
