// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The check flavour's record of what happens before what. See check_state.hpp.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/check_state.hpp>

#if defined(STRATA_SIMT_CHECK)

#include <algorithm>

namespace strata {
namespace simt {
namespace engine {
namespace check {
namespace {

// What threads learn when they read an atomic location. A release at block scope reaches only its own block.
// `device_block` is the block that made the releases at device scope, or `mixed` if there are several.
constexpr uint32_t mixed = ~0u;
struct released_views {
  view_handle device;
  uint32_t device_block = 0;
  view_handle block;
  uint32_t block_id = 0;
};

std::unordered_map<uint64_t, released_views> locations;
std::unordered_map<const void*, view_handle> objects;
view_handle sequentially_consistent;  // each such fence joins it, in the order of execution

uint32_t first_block = 1;
uint32_t next_block = 1;
std::vector<uint3> block_indices;  // of this launch

// The keys of a view. Each block has a key for its barriers, one for bulk copies, then keys of warps, then of threads.
constexpr uint64_t keys_per_block = 2048;
constexpr uint64_t first_warp_key = 2, first_thread_key = 1024;
uint64_t barrier_key(uint32_t block) { return block * keys_per_block; }
uint64_t warp_key(uint32_t block, uint32_t warp_id) { return block * keys_per_block + first_warp_key + warp_id; }
uint64_t thread_key(uint32_t block, uint32_t thread) { return block * keys_per_block + first_thread_key + thread; }
uint64_t in_epoch(uint32_t epoch, uint32_t count) { return uint64_t{epoch} << 32 | count; }

uint64_t look_up(const view_handle& where, uint64_t key) {
  if (where == nullptr) return 0;
  const auto found = std::lower_bound(where->begin(), where->end(), std::make_pair(key, uint64_t{0}));
  return found != where->end() && found->first == key ? found->second : 0;
}

view_handle join(const view_handle& a, const view_handle& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  auto result = std::make_shared<view>();
  result->reserve(a->size() + b->size());
  auto i = a->begin(), j = b->begin();
  while (i != a->end() || j != b->end()) {
    if (j == b->end() || (i != a->end() && i->first < j->first)) {
      result->push_back(*i++);
    } else if (i == a->end() || j->first < i->first) {
      result->push_back(*j++);
    } else {
      result->push_back({i->first, std::max(i->second, j->second)});
      ++i, ++j;
    }
  }
  return result;
}

thread_order& order_of(const fiber& thread) { return shadow_of(*thread.home).order[thread.linear]; }

// Returns what the thread releases: all that it knows, and its own past. Its clock ticks, so that what it does next is
// not part of the release.
view_handle release_view(const fiber& thread) {
  const block& home = *thread.home;
  const block_shadow& shadow = shadow_of(home);
  warp& mates = *thread.mates;
  auto past = std::make_shared<view>();
  if (home.epoch != 0) past->push_back({barrier_key(shadow.id), home.epoch});
  if (mates.sequence > 1) {
    past->push_back({warp_key(shadow.id, mates.id), in_epoch(home.epoch, mates.sequence - 1)});
  }
  // Lanes with which this lane has synchronised in __syncwarp of a part of the warp, and itself.
  const uint32_t* const covered = shadow.full_sync_clock[mates.id];
  for (uint32_t lane = 0; lane < warp_threads; ++lane) {
    const uint32_t clock = mates.known[thread.lane][lane];
    if (clock <= covered[lane]) continue;
    past->push_back({thread_key(shadow.id, mates.id * warp_threads + lane), in_epoch(home.epoch, clock)});
  }
  ++mates.known[thread.lane][thread.lane];
  return join(order_of(thread).known, past);
}

void restart_clocks(block& which) {
  block_shadow& shadow = shadow_of(which);
  for (uint32_t i = 0; i < which.warps; ++i) {
    warp& mates = which.warp_list[i];
    mates.sequence = 1;
    std::memset(mates.known, 0, sizeof mates.known);
    for (uint32_t lane = 0; lane < warp_threads; ++lane) mates.known[lane][lane] = 1;
    std::memset(shadow.full_sync_clock[i], 0, sizeof shadow.full_sync_clock[i]);
  }
}

}  // namespace

uint32_t first_block_of_launch() { return first_block; }
uint3 index_of_block(uint32_t id) { return block_indices[id - first_block]; }
uint64_t bulk_copy_key(uint32_t block) { return block * keys_per_block + 1; }

void order_of_launch_begins() {
  first_block = next_block;
  block_indices.clear();
  locations.clear();
  objects.clear();
  sequentially_consistent = nullptr;
}

void order_of_block_begins(block& which) {
  block_shadow& shadow = shadow_of(which);
  shadow.id = next_block++;
  shadow.cluster_first = shadow.id - which.rank;
  shadow.cluster_count = launch_now.parameters.cluster_size;
  shadow.bulk_serial = 0;
  block_indices.push_back(which.index);
  shadow.order.assign(which.threads, thread_order{});
  restart_clocks(which);
}

access make_access(const fiber& thread, access_kind kind, const void* pc, unsigned bytes) {
  const warp& mates = *thread.mates;
  access made;
  made.block = shadow_of(*thread.home).id;
  made.epoch = thread.home->epoch;
  made.sequence = mates.sequence;
  made.clock = mates.known[thread.lane][thread.lane];
  made.pc = reinterpret_cast<uintptr_t>(pc) & 0xffffffffffffu;
  made.thread = thread.linear & 1023;
  made.bytes = bytes & 15;
  made.kind = static_cast<uint64_t>(kind) & 3;
  return made;
}

bool ordered_before_now(const access& earlier, const fiber& thread) {
  const block& home = *thread.home;
  const block_shadow& shadow = shadow_of(home);
  const view_handle& known = shadow.order[thread.linear].known;
  if (static_cast<access_kind>(earlier.kind) == access_kind::bulk_copy) {
    return look_up(known, bulk_copy_key(earlier.block)) >= earlier.sequence;
  }
  const uint32_t other = static_cast<uint32_t>(earlier.thread);
  if (earlier.block == shadow.id) {
    if (other == thread.linear || earlier.epoch < home.epoch) return true;
    if (other / warp_threads == thread.mates->id &&
        thread.mates->known[thread.lane][other % warp_threads] >= earlier.clock) {
      return true;
    }
  }
  if (known == nullptr) return false;
  return look_up(known, barrier_key(earlier.block)) > earlier.epoch ||
         look_up(known, warp_key(earlier.block, other / warp_threads)) >= in_epoch(earlier.epoch, earlier.sequence) ||
         look_up(known, thread_key(earlier.block, other)) >= in_epoch(earlier.epoch, earlier.clock);
}

// Records an atomic access. Relaxed accesses take part too: with fences around them they synchronise.
void synchronise_through(uint64_t location, const fiber& thread, bool load, bool store, int order, memory_scope scope) {
  thread_order& mine = order_of(thread);
  const uint32_t home = shadow_of(*thread.home).id;
  const bool wide = scope != memory_scope::block;
  released_views& there = locations[location];
  if (load) {
    const bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
    const bool from_home = there.device_block == home;
    if (there.device != nullptr && (wide || from_home)) {
      view_handle& into = acquires ? mine.known : from_home ? mine.pending_home : mine.pending_away;
      into = join(into, there.device);
    }
    if (there.block != nullptr && there.block_id == home) {
      view_handle& into = acquires ? mine.known : mine.pending_home;
      into = join(into, there.block);
    }
  }
  if (!store) return;
  const bool releases = order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  const view_handle released = releases ? release_view(thread) : nullptr;
  view_handle device = wide ? (releases ? released : mine.fenced_device) : nullptr;
  view_handle in_block = releases ? released : mine.fenced_block;
  uint32_t device_block = home;
  if (load) {  // a read-modify-write continues the release sequence it found
    if (there.device != nullptr && there.device_block != home) device_block = mixed;
    device = join(there.device, device);
    if (there.block_id == home) in_block = join(there.block, in_block);
  }
  there = {device, device_block, in_block, home};
}

void fenced(int order, memory_scope scope) {
  if (current == nullptr) return;
  const fiber& thread = *current;
  thread_order& mine = order_of(thread);
  const bool wide = scope != memory_scope::block;
  mine.known = join(mine.known, mine.pending_home);
  mine.pending_home = nullptr;
  if (wide) {
    mine.known = join(mine.known, mine.pending_away);
    mine.pending_away = nullptr;
  }
  // Sequentially consistent fences have one order. An earlier fence synchronises with a later one.
  if (wide && order == __ATOMIC_SEQ_CST) mine.known = join(mine.known, sequentially_consistent);
  mine.fenced_block = release_view(thread);
  if (!wide) return;
  mine.fenced_device = mine.fenced_block;
  if (order == __ATOMIC_SEQ_CST) {
    sequentially_consistent = join(sequentially_consistent, mine.fenced_block);
  }
}

void warp_synchronised(warp& mates, uint32_t lanes) {
  block& home = *mates.fibers->home;
  block_shadow& shadow = shadow_of(home);
  uint32_t joined[warp_threads] = {};
  view_handle together;
  for_each_lane(lanes, [&](uint32_t lane) {
    for (uint32_t other = 0; other < warp_threads; ++other) {
      joined[other] = std::max(joined[other], mates.known[lane][other]);
    }
    together = join(together, shadow.order[mates.fibers[lane].linear].known);
  });
  for_each_lane(lanes, [&](uint32_t lane) {
    std::memcpy(mates.known[lane], joined, sizeof joined);
    ++mates.known[lane][lane];
    shadow.order[mates.fibers[lane].linear].known = together;
  });
  if (lanes == mates.alive) flush_traces(home, mates.id);
  // Lanes that have exited did not take part, so this barrier does not order what they did.
  const uint32_t lanes_of_warp = std::min(warp_threads, home.threads - mates.id * warp_threads);
  if (static_cast<uint32_t>(__builtin_popcount(lanes)) != lanes_of_warp) return;
  ++mates.sequence;
  std::memcpy(shadow.full_sync_clock[mates.id], joined, sizeof joined);
}

// When the barrier is complete, all threads know what any of them knew.
void block_synchronised(block& which) {
  block_shadow& shadow = shadow_of(which);
  view_handle together;
  for (const thread_order& order : shadow.order) together = join(together, order.known);
  for (thread_order& order : shadow.order) order.known = together;
  for (uint32_t i = 0; i < which.warps; ++i) flush_traces(which, i);
  restart_clocks(which);
}

void release_to(const void* object, const fiber& thread) {
  view_handle& there = objects[object];
  there = join(there, release_view(thread));
}
void acquire_from(const void* object, const fiber& thread) {
  const auto found = objects.find(object);
  if (found == objects.end()) return;
  view_handle& known = order_of(thread).known;
  known = join(known, found->second);
}
void erase_object(const void* object) { objects.erase(object); }
void add_to_object(const void* object, uint64_t key, uint64_t value) {
  view_handle& there = objects[object];
  there = join(there, std::make_shared<const view>(view{{key, value}}));
}

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata

#endif
