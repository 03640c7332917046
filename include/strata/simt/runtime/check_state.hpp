// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's own state. Kernel code is compiled with -fsanitize=thread, which makes every
// load, store and atomic call a hook, and linked with this runtime in place of the sanitizer's
// (as the Linux kernel does for KCSAN); check_hooks.cpp has the hooks.
//
// Order ("happens before") is tracked at three distances:
//   in a warp    each lane has a clock, and __syncwarp exchanges what the lanes know of the
//   others'; in a block   a block barrier starts an epoch: everything of earlier epochs is ordered;
//   elsewhere    a thread has a view: for each block, warp or thread it has heard of through
//   releases
//                and acquires, up to where it is ordered before the present.
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

// Sorted by key. Immutable and shared: most threads of a block hold the same one.
using view = std::vector<std::pair<uint64_t, uint64_t>>;
using view_handle = std::shared_ptr<const view>;

enum class access_kind : uint8_t { plain = 0, block_atomic = 1, device_atomic = 2, bulk_copy = 3 };

// The thread that accessed a piece of memory. `block` is a number no other block of the process has; 0: no
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
static_assert(sizeof(access) == 24, "shadow memory is a multiple of this");

// first: the first reader that no access is known to follow; other_warp: the latest from another warp than
// that one; latest: the latest from the same warp. A write that is ordered after all three is, but
// for contrived patterns, ordered after every read.
struct readers {
  access first, other_warp, latest;
};
struct shared_cell {
  access write;
  readers reads;
};
struct shared_word {
  shared_cell word;  // accesses of whole words
  bool split;        // some access was smaller: the bytes' cells count too
};

// One warp instruction: the lanes' addresses, gathered until the warp synchronises.
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
  // The map's latest hits; a kernel's loop touches a handful of instructions.
  static constexpr size_t ways = 16;
  uint64_t recent_key[ways] = {};
  instruction_trace* recent[ways] = {};
};

struct thread_order {
  view_handle known;
  // Seen by relaxed loads, in force after a fence; from the own block, and from elsewhere.
  view_handle pending_home, pending_away;
  // What relaxed stores publish: the view at the last fence, by the fence's scope.
  view_handle fenced_block, fenced_device;
};

// The check flavour's part of a block.
struct block_shadow {
  uint32_t id;             // of the block that has the arena now
  uint32_t cluster_first;  // ids of its cluster are contiguous
  uint32_t cluster_count;
  uint32_t bulk_serial;
  shared_word* words;     // arena_bytes / 4
  shared_cell* bytes;     // arena_bytes
  uint32_t* initialised;  // arena_bytes: the id of the block in whose time the byte was written
  uint8_t* in_flight;     // arena_bytes: target of a bulk copy that has not landed
  std::vector<thread_order> order;
  uint32_t full_sync_clock[max_block_warps][warp_threads];
  std::vector<warp_traces> traces;
};

inline block_shadow& shadow_of(const block& which) { return *which.shadow; }
void* reserve_shadow(size_t bytes);  // zeroed, and taking memory only where it is touched
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
void note_static_arguments();  // of the launch

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
