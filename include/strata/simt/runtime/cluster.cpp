// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Clusters: ranks, the split barrier, and the peers' view of a block's shared memory.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {
namespace {

uint32_t alive_threads(const cluster& group) {
  uint32_t alive = 0;
  for (const block* which : group.blocks) alive += which->alive;
  return alive;
}

// The barrier completes when every thread that has not exited has arrived.
void try_complete(cluster& group) {
  if (group.arrived == 0 || group.arrived < alive_threads(group)) return;
  ++group.phase;
  group.arrived = 0;
  ++counters.barriers;
  launch_now.idle_polls = 0;
  for (block* which : group.blocks) {
    if (which->waiting_cluster == 0) continue;
    which->waiting_cluster = 0;
    for (uint32_t i = 0; i < which->threads; ++i) {
      fiber& thread = which->fibers[i];
      if (thread.state == fiber_state::at_cluster_barrier) {
        mark_ready(*which, *thread.mates, 1u << thread.lane);
      }
    }
  }
}

// Releases of odd and even phases are kept apart, because a thread that still waits in one phase may see early arrivals
// of the next.
const void* phase_object(const cluster& group, uint32_t phase) {
  return reinterpret_cast<const char*>(&group) + (phase & 1);
}

}  // namespace

void lane_leaves_cluster(fiber& thread) {
  cluster& group = *thread.home->group;
  if (thread.arrived_at_cluster && thread.cluster_phase == group.phase) --group.arrived;
  try_complete(group);
}

}  // namespace engine

unsigned cluster_rank() { return engine::current != nullptr ? engine::current->home->rank : 0; }
unsigned cluster_size() { return engine::current != nullptr ? engine::launch_now.parameters.cluster_size : 1; }
unsigned cluster_index() { return engine::current != nullptr ? engine::current->home->group->index : 0; }

void cluster_arrive(location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread("cluster_arrive", where);
  cluster& group = *self.home->group;
  if (self.arrived_at_cluster) {
    fail("barrier-divergent",
         "cluster_arrive at %s:%d, but the thread has arrived before and not "
         "waited since",
         file_name(where.file), where.line);
  }
  self.arrived_at_cluster = true;
  self.cluster_phase = group.phase;
  const void* const object = phase_object(group, group.phase);
  if (group.arrived == 0) check::erase_object(object);
  check::release_to(object, self);
  ++group.arrived;
  try_complete(group);
}

void cluster_wait(location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread("cluster_wait", where);
  cluster& group = *self.home->group;
  if (!self.arrived_at_cluster) {
    fail("barrier-divergent", "cluster_wait at %s:%d without cluster_arrive", file_name(where.file), where.line);
  }
  if (self.cluster_phase == group.phase) {
    ++self.home->waiting_cluster;
    self.state = fiber_state::at_cluster_barrier;
    to_scheduler();
  }
  self.arrived_at_cluster = false;
  check::acquire_from(phase_object(group, self.cluster_phase), self);
}

void* map_shared(const void* address, unsigned rank, const char* file, int line) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread("map_shared", {file, line});
  const block& home = *self.home;
  const size_t offset = static_cast<size_t>(static_cast<const char*>(address) - home.arena);
  if (offset >= arena_bytes) {
    fail("cluster-address",
         "map_shared at %s:%d of an address that is not in the block's own "
         "shared memory",
         file_name(file), line);
  }
  if (rank >= home.group->blocks.size()) {
    fail("cluster-address", "map_shared at %s:%d for rank %u of %zu", file_name(file), line, rank,
         home.group->blocks.size());
  }
  const block& peer = *home.group->blocks[rank];
  if (peer.alive == 0) {
    fail("cluster-exited",
         "map_shared at %s:%d: the block of rank %u has exited, and its "
         "shared memory with it; a cluster barrier must come first",
         file_name(file), line, rank);
  }
  return peer.arena_alias + offset;
}

}  // namespace simt
}  // namespace strata
