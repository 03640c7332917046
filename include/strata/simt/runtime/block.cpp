// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks: their threads, their turn on the scheduler, their shared memory.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#if defined(STRATA_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace strata {
namespace simt {
namespace engine {
namespace {

// Room around each variable, in the flavours that notice an access to it.
#if defined(STRATA_SIMT_CHECK) || defined(STRATA_SIMT_ASAN)
constexpr size_t red_zone = 64;
#else
constexpr size_t red_zone = 0;
#endif

struct block_lists {
  std::vector<block*> idle, all;
};
block_lists& lists() {
  static auto* const both = new block_lists;  // is never destroyed, because static destructors may use it
  return *both;
}

// Opens a file in memory that ends with its last mapping. Returns a negative number if there is none.
int unnamed_file() {
#if defined(__APPLE__)  // which has no memfd_create
  const std::string name = "/strata-simt-" + std::to_string(getpid());
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file >= 0) shm_unlink(name.c_str());
  return file;
#else
  return memfd_create("strata-simt-shared", 0);
#endif
}

// The arena is mapped twice. A block uses the first mapping, the other blocks of its cluster the second one. So a plain
// address of shared memory that is used in another block differs from a mapped one.
void map_arena(block& which) {
  const int file = unnamed_file();
  if (file < 0 || ftruncate(file, arena_bytes) != 0) {
    std::perror("strata simt: shared memory");
    std::abort();
  }
  char** const views[] = {&which.arena, &which.arena_alias};
  for (char** view : views) {
    void* const memory = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
      std::perror("strata simt: shared memory");
      std::abort();
    }
    *view = static_cast<char*>(memory);
  }
  close(file);
  std::memset(which.arena, shared_garbage, arena_bytes);
}

void poison(block& which, size_t offset, size_t bytes, bool accessible) {
#if defined(STRATA_SIMT_ASAN)
  for (char* view : {which.arena, which.arena_alias}) {
    if (accessible) {
      ASAN_UNPOISON_MEMORY_REGION(view + offset, bytes);
    } else {
      ASAN_POISON_MEMORY_REGION(view + offset, bytes);
    }
  }
#else
  static_cast<void>(which), static_cast<void>(offset), static_cast<void>(bytes), static_cast<void>(accessible);
#endif
}

// Shared memory starts as garbage. So it never has what the last block left, nor zeros by luck.
void reset_arena(block& which) {
  poison(which, 0, arena_bytes, true);
  std::memset(which.arena, shared_garbage, std::min(launch_now.shared_used, arena_bytes));
  poison(which, 0, arena_bytes, false);
  for (const shared_variable_record& variable : launch_now.variables) {
    poison(which, variable.offset, variable.size, true);
  }
}

void start_warps(block& which) {
  for (uint32_t i = 0; i < which.warps; ++i) {
    warp& mates = which.warp_list[i];
    const uint32_t lanes = std::min(warp_threads, which.threads - i * warp_threads);
    mates.id = i;
    mates.fibers = which.fibers + i * warp_threads;
    mates.alive = mates.ready = lanes == warp_threads ? ~0u : (1u << lanes) - 1;
    mates.in_collective = mates.at_block_barrier = mates.polling = mates.at_active_mask = 0;
    which.ready_warps |= uint64_t{1} << i;
  }
}

void start_threads(block& which) {
  const dim3 shape = launch_now.parameters.block;
  uint3 index = {0, 0, 0};
  for (uint32_t i = 0; i < which.threads; ++i) {
    fiber& thread = which.fibers[i];
    thread.home = &which;
    thread.mates = &which.warp_list[i / warp_threads];
    thread.lane = i % warp_threads;
    thread.linear = i;
    thread.index = index;
    thread.state = fiber_state::fresh;
    thread.arrived_at_cluster = false;
    thread.where = {nullptr, 0};
    prepare_stack(thread);
    if (++index.x == shape.x) {
      index.x = 0;
      if (++index.y == shape.y) {
        index.y = 0;
        ++index.z;
      }
    }
  }
}

uint32_t random_bit(uint64_t set) {
  for (uint64_t skip = next_random() % static_cast<unsigned>(__builtin_popcountll(set)); skip != 0; --skip) {
    set &= set - 1;
  }
  return static_cast<uint32_t>(__builtin_ctzll(set));
}

// Picks the next element of a set, by the schedule of the seed.
uint32_t pick(uint64_t set) {
  if (settings.seed == 0) return static_cast<uint32_t>(__builtin_ctzll(set));
  if (settings.seed == 1) return 63 - static_cast<uint32_t>(__builtin_clzll(set));
  return random_bit(set);
}

}  // namespace

const std::vector<block*>& all_blocks() { return lists().all; }

block* acquire_block() {
  std::vector<block*>& idle = lists().idle;
  if (!idle.empty()) {
    block* const which = idle.back();
    idle.pop_back();
    return which;
  }
  block* const which = new block();
  which->fibers = static_cast<fiber*>(std::calloc(max_block_threads, sizeof(fiber)));
  which->warp_list = static_cast<warp*>(std::calloc(max_block_warps, sizeof(warp)));
  if (which->fibers == nullptr || which->warp_list == nullptr) std::abort();
  map_arena(*which);
  lists().all.push_back(which);
  return which;
}

void release_block(block* which) { lists().idle.push_back(which); }

void start_block(block& which, cluster& group, uint32_t rank, uint3 index) {
  const dim3 grid = launch_now.parameters.grid, shape = launch_now.parameters.block;
  which.index = index;
  which.linear = index.x + grid.x * (index.y + grid.y * index.z);
  which.group = &group;
  which.rank = rank;
  which.threads = which.alive = shape.x * shape.y * shape.z;
  which.warps = (which.threads + warp_threads - 1) / warp_threads;
  which.ready_warps = 0;
  which.epoch = 0;
  which.at_barrier = 0;
  which.true_count = 0;
  which.waiting_named = which.waiting_cluster = 0;
  for (named_barrier_state& barrier : which.named) {
    barrier.arrived = 0;
    barrier.waiting.clear();
  }
  start_warps(which);
  start_threads(which);
  reset_arena(which);
  check::block_begins(which);
  ++counters.blocks;
  counters.threads += which.threads;
  note_progress();
}

void lane_exits(fiber& thread) {
  thread.mates->alive &= ~(1u << thread.lane);
  --thread.home->alive;
  note_progress();
  lane_leaves_collectives(thread);
  lane_leaves_block_barrier(thread);
  lane_leaves_cluster(thread);
}

void run_block(block& which) {
  blockIdx = which.index;
  detail::shared_arena = which.arena;
  const bool random = settings.seed > 1;
  // A random schedule also interleaves the blocks, so a turn ends early in it.
  uint64_t turns = random ? 1 + next_random() % 32 : ~uint64_t{0};
  for (;;) {
    while (which.ready_warps != 0) {
      if (turns-- == 0) return;
      warp& mates = which.warp_list[pick(which.ready_warps)];
      uint64_t steps = random ? 1 + next_random() % 64 : ~uint64_t{0};
      while (mates.ready != 0 && steps-- != 0) {
        const uint32_t lane = pick(mates.ready);
        mates.ready &= ~(1u << lane);
        resume(mates.fibers[lane]);
        if (launch_now.failed) return;
      }
      if (mates.ready == 0) which.ready_warps &= ~(uint64_t{1} << mates.id);
    }
    resolve_active_mask(which);
    if (which.ready_warps == 0) return;
  }
}

size_t start_of_static_shared(size_t dynamic_bytes) { return (dynamic_bytes + red_zone + 127) / 128 * 128; }

}  // namespace engine

// The first thread of a launch that reaches a declaration fixes the offset of the variable for every block.
void* detail::resolve_shared_variable(shared_slot& slot, size_t size, size_t align, const char* name, location where) {
  using namespace engine;
  const runtime_section section;
  calling_thread("a shared variable", where);
  const size_t alignment = std::max<size_t>(align, 16);
  const size_t offset = (launch_now.shared_used + alignment - 1) / alignment * alignment;
  const size_t static_bytes = launch_now.static_shared + size;
  const size_t total = static_bytes + launch_now.parameters.dynamic_shared_bytes;
  if (static_bytes > settings.static_shared_limit || total > settings.shared_limit) {
    fail("shared-limit",
         "%s (%s:%d): %zu bytes bring the block's shared memory to %zu static (limit %zu) and %zu "
         "in all (limit %zu)",
         name, file_name(where.file), where.line, size, static_bytes, settings.static_shared_limit, total,
         settings.shared_limit);
  }
  launch_now.static_shared = static_bytes;
  launch_now.shared_used = offset + size + red_zone;
  launch_now.variables.push_back({offset, size, name});
  for (cluster* group : launch_now.resident) {
    for (block* which : group->blocks) {
      poison(*which, offset, size, true);
      std::memset(which->arena + offset, shared_garbage, size);
    }
  }
  check::shared_variable_added(launch_now.variables.back());
  slot.launch = launch_serial;
  slot.offset = offset;
  return shared_arena + offset;
}

void* dynamic_shared() { return detail::shared_arena; }
size_t dynamic_shared_bytes() { return engine::launch_now.parameters.dynamic_shared_bytes; }

}  // namespace simt
}  // namespace strata
