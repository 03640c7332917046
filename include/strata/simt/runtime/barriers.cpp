// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// __syncthreads and its relatives, and PTX's numbered barriers.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {
namespace {

void release_block_barrier(block& which, const fiber* me) {
  const int arrived = static_cast<int>(which.at_barrier);
  const int trues = which.true_count;
  int result = 0;
  if (which.barrier_op == operation::block_sync_count) result = trues;
  if (which.barrier_op == operation::block_sync_and) result = trues == arrived;
  if (which.barrier_op == operation::block_sync_or) result = trues != 0;
  which.barrier_results[which.epoch & 1] = result;
  check::block_synchronised(which);
  ++which.epoch;
  which.at_barrier = 0;
  which.true_count = 0;
  ++counters.barriers;
  launch_now.idle_polls = 0;
  for (uint32_t i = 0; i < which.warps; ++i) {
    warp& mates = which.warp_list[i];
    uint32_t lanes = mates.at_block_barrier;
    mates.at_block_barrier = 0;
    if (me != nullptr && me->mates == &mates) lanes &= ~(1u << me->lane);
    mark_ready(which, mates, lanes);
  }
}

void complete_named_barrier(block& which, named_barrier_state& barrier) {
  launch_now.idle_polls = 0;
  ++counters.barriers;
  for (fiber* waiting : barrier.waiting) {
    check::acquire_from(&barrier, *waiting);
    --which.waiting_named;
    if (waiting != current) mark_ready(which, *waiting->mates, 1u << waiting->lane);
  }
  check::erase_object(&barrier);
  barrier.waiting.clear();
  barrier.arrived = 0;
}

}  // namespace

void lane_leaves_block_barrier(fiber& thread) {
  block& which = *thread.home;
  if (which.at_barrier == 0) return;
  if (which.alive != 0 && settings.strict_exit) {
    fail("barrier-after-exit", "a thread exits while %u threads of its block wait at %s (%s:%d)", which.at_barrier,
         operation_name(which.barrier_op), file_name(which.barrier_where.file), which.barrier_where.line);
  }
  if (which.at_barrier == which.alive) release_block_barrier(which, nullptr);
}

std::string describe_named_barrier(const block& which, unsigned number) {
  const named_barrier_state& barrier = which.named[number];
  return "waits at barrier " + std::to_string(number) + " for " + std::to_string(barrier.expected - barrier.arrived) +
         " of " + std::to_string(barrier.expected) + " threads";
}

}  // namespace engine

int block_barrier(operation op, int predicate, location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread(op, where);
  block& which = *self.home;
  if (which.at_barrier == 0) {
    which.barrier_op = op;
    which.barrier_where = where;
  } else if (settings.strict_site && (which.barrier_op != op || !same_site(which.barrier_where, where))) {
    fail("barrier-divergent", "threads of one block wait at different barriers: %s (%s:%d) and %s (%s:%d)",
         operation_name(which.barrier_op), file_name(which.barrier_where.file), which.barrier_where.line,
         operation_name(op), file_name(where.file), where.line);
  }
  if (settings.strict_exit && which.alive != which.threads) {
    fail("barrier-after-exit", "%s (%s:%d) reached after %u of the block's %u threads have exited", operation_name(op),
         file_name(where.file), where.line, which.threads - which.alive, which.threads);
  }
  which.true_count += predicate != 0;
  ++which.at_barrier;
  self.mates->at_block_barrier |= 1u << self.lane;
  const uint32_t epoch = which.epoch;
  if (which.at_barrier == which.alive) {
    release_block_barrier(which, &self);
  } else {
    self.state = fiber_state::at_block_barrier;
    to_scheduler();
  }
  return which.barrier_results[epoch & 1];
}

void named_barrier(int number, int threads, bool wait, location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread("a numbered barrier", where);
  block& which = *self.home;
  if (number < 1 || number >= static_cast<int>(named_barriers) || threads < 1 ||
      threads % static_cast<int>(warp_threads) != 0 || threads > static_cast<int>(max_block_threads)) {
    fail("barrier-arguments", "barrier %d for %d threads at %s:%d: numbers are 1 to 15, threads a multiple of 32",
         number, threads, file_name(where.file), where.line);
  }
  named_barrier_state& barrier = which.named[number];
  if (barrier.arrived == 0) {
    barrier.expected = static_cast<uint32_t>(threads);
    barrier.where = where;
  } else if (barrier.expected != static_cast<uint32_t>(threads)) {
    fail("barrier-divergent", "barrier %d is for %u threads at %s:%d and for %d at %s:%d", number, barrier.expected,
         file_name(barrier.where.file), barrier.where.line, threads, file_name(where.file), where.line);
  }
  ++barrier.arrived;
  check::release_to(&barrier, self);
  if (wait) {
    barrier.waiting.push_back(&self);
    ++which.waiting_named;
    self.barrier_number = static_cast<uint8_t>(number);
  }
  if (barrier.arrived == barrier.expected) {
    complete_named_barrier(which, barrier);
  } else if (wait) {
    self.state = fiber_state::at_named_barrier;
    to_scheduler();
  }
}

}  // namespace simt
}  // namespace strata
