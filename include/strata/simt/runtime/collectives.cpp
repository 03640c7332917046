// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Warp collectives. All lanes of the mask that are still alive meet in the call.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {
namespace {

void check_agreement(const warp& mates, uint32_t lanes, uint32_t me) {
  const collective_slot& mine = mates.slots[me];
  for_each_lane(lanes, [&](uint32_t lane) {
    const collective_slot& other = mates.slots[lane];
    if (other.op != mine.op || other.mask != mine.mask) {
      fail("collective-mismatch",
           "lanes of one warp wait at different collectives: lane %u at %s(mask=%08x) (%s:%d), "
           "lane %u at %s(mask=%08x) (%s:%d)",
           me, operation_name(mine.op), mine.mask, file_name(mine.where.file), mine.where.line, lane,
           operation_name(other.op), other.mask, file_name(other.where.file), other.where.line);
    }
    // __syncwarp moves no data, so it may stand in both arms of a branch.
    if (mine.op != operation::sync_warp && settings.strict_site && !same_site(other.where, mine.where)) {
      fail("collective-divergent",
           "lanes of one warp reach %s(mask=%08x) from different source lines: lane %u from "
           "%s:%d, lane %u from %s:%d",
           operation_name(mine.op), mine.mask, me, file_name(mine.where.file), mine.where.line, lane,
           file_name(other.where.file), other.where.line);
    }
  });
}

// Returns the lane that a shuffle reads from, by CUDA's rules for width and clamping.
uint32_t source_lane(operation op, uint32_t lane, uint32_t operand, uint32_t width) {
  const uint32_t first = lane & ~(width - 1), last = first + width - 1;
  switch (op) {
    case operation::shuffle_index:
      return first + (operand & (width - 1));
    case operation::shuffle_up:
      return operand <= lane - first ? lane - operand : lane;
    case operation::shuffle_down:
      return operand <= last - lane ? lane + operand : lane;
    default: {
      const uint32_t source = lane ^ operand;
      return source > last ? lane : source;
    }
  }
}

void shuffle(warp& mates, uint32_t lanes, operation op) {
  for_each_lane(lanes, [&](uint32_t lane) {
    const collective_slot& slot = mates.slots[lane];
    const uint32_t width = static_cast<uint32_t>(slot.extra >> 32);
    if (width == 0 || width > warp_threads || (width & (width - 1)) != 0) {
      fail("collective-width", "%s (%s:%d) with width %u: it must be 1, 2, 4, 8, 16 or 32", operation_name(op),
           file_name(slot.where.file), slot.where.line, width);
    }
    const uint32_t source = source_lane(op, lane, static_cast<uint32_t>(slot.extra), width);
    if ((lanes >> source & 1) != 0) {
      mates.results[lane] = mates.slots[source].value;
    } else {
      mates.results[lane] = 0xD15EA5EDD15EA5EDull ^ next_random();  // undefined on the device
      ++counters.undefined_shuffle_reads;
    }
  });
}

uint32_t reduce_two(operation op, uint32_t a, uint32_t b) {
  const auto is_less = [](uint32_t x, uint32_t y) { return static_cast<int32_t>(x) < static_cast<int32_t>(y); };
  switch (op) {
    case operation::reduce_add:
      return a + b;
    case operation::reduce_min_unsigned:
      return b < a ? b : a;
    case operation::reduce_max_unsigned:
      return a < b ? b : a;
    case operation::reduce_min_signed:
      return is_less(b, a) ? b : a;
    case operation::reduce_max_signed:
      return is_less(a, b) ? b : a;
    case operation::reduce_and:
      return a & b;
    case operation::reduce_or:
      return a | b;
    default:
      return a ^ b;
  }
}

// Votes, matches and reductions.
void combine(warp& mates, uint32_t lanes, operation op) {
  const collective_slot* const slots = mates.slots;
  const uint32_t first = static_cast<uint32_t>(__builtin_ctz(lanes));
  uint64_t result = 0;
  switch (op) {
    case operation::ballot:
      for_each_lane(lanes, [&](uint32_t lane) { result |= slots[lane].value << lane; });
      break;
    case operation::any:
      for_each_lane(lanes, [&](uint32_t lane) { result |= slots[lane].value; });
      break;
    case operation::all:
      result = 1;
      for_each_lane(lanes, [&](uint32_t lane) { result &= slots[lane].value; });
      break;
    case operation::match_all:
      result = lanes;
      for_each_lane(lanes, [&](uint32_t lane) {
        if (slots[lane].value != slots[first].value) result = 0;
      });
      break;
    case operation::match_any:
      for_each_lane(lanes, [&](uint32_t lane) {
        uint32_t equal = 0;
        for_each_lane(lanes, [&](uint32_t other) {
          if (slots[other].value == slots[lane].value) equal |= 1u << other;
        });
        mates.results[lane] = equal;
      });
      return;
    default: {
      uint32_t total = static_cast<uint32_t>(slots[first].value);
      for_each_lane(lanes & (lanes - 1),
                    [&](uint32_t lane) { total = reduce_two(op, total, static_cast<uint32_t>(slots[lane].value)); });
      result = total;
    }
  }
  for_each_lane(lanes, [&](uint32_t lane) { mates.results[lane] = result; });
}

// All of `lanes` have arrived; `me` is one of them.
void complete(warp& mates, uint32_t lanes, uint32_t me) {
  ++counters.collectives;
  check_agreement(mates, lanes, me);
  const operation op = mates.slots[me].op;
  switch (op) {
    case operation::sync_warp:
      check::warp_synchronised(mates, lanes);
      break;
    case operation::shuffle_index:
    case operation::shuffle_up:
    case operation::shuffle_down:
    case operation::shuffle_xor:
      shuffle(mates, lanes, op);
      break;
    default:
      combine(mates, lanes, op);
  }
  mates.in_collective &= ~lanes;
}

uint64_t wait_for_active_mask(fiber& self) {
  warp& mates = *self.mates;
  mates.slots[self.lane] = {operation::active_mask, 0, 0, 0, self.where};
  mates.at_active_mask |= 1u << self.lane;
  self.state = fiber_state::in_warp_collective;
  to_scheduler();
  return mates.results[self.lane];
}

}  // namespace

// Other lanes may have waited for the exit of this one.
void lane_leaves_collectives(fiber& thread) {
  warp& mates = *thread.mates;
  for_each_lane(mates.in_collective, [&](uint32_t lane) {
    if ((mates.in_collective >> lane & 1) == 0) return;  // completed a moment ago, with another
    const uint32_t needed = mates.slots[lane].mask & mates.alive;
    if ((mates.in_collective & needed) != needed) return;
    complete(mates, needed, lane);
    mark_ready(*thread.home, mates, needed);
  });
}

// __activemask has no mask of lanes to wait for. When no other thread of the block can run, it joins the lanes that
// wait at the same line.
void resolve_active_mask(block& which) {
  for (uint32_t i = 0; i < which.warps; ++i) {
    warp& mates = which.warp_list[i];
    while (mates.at_active_mask != 0) {
      const uint32_t first = static_cast<uint32_t>(__builtin_ctz(mates.at_active_mask));
      uint32_t together = 0;
      for_each_lane(mates.at_active_mask, [&](uint32_t lane) {
        if (same_site(mates.slots[lane].where, mates.slots[first].where)) together |= 1u << lane;
      });
      for_each_lane(together, [&](uint32_t lane) { mates.results[lane] = together; });
      mates.at_active_mask &= ~together;
      mark_ready(which, mates, together);
    }
  }
}

}  // namespace engine

uint64_t warp_collective(operation op, uint32_t mask, uint64_t value, uint64_t extra, location where) {
  using namespace engine;
  const runtime_section section;
  fiber& self = calling_thread(op, where);
  if (op == operation::active_mask) return wait_for_active_mask(self);
  warp& mates = *self.mates;
  const uint32_t me = 1u << self.lane;
  if ((mask & me) == 0) {
    fail("collective-mask", "%s(mask=%08x) at %s:%d: the calling lane %u is not in the mask", operation_name(op), mask,
         file_name(where.file), where.line, self.lane);
  }
  mates.slots[self.lane] = {op, mask, value, extra, where};
  mates.in_collective |= me;
  const uint32_t needed = mask & mates.alive;
  if ((mates.in_collective & needed) == needed) {
    complete(mates, needed, self.lane);
    mark_ready(*self.home, mates, needed & ~me);
  } else {
    self.state = fiber_state::in_warp_collective;
    to_scheduler();
  }
  return mates.results[self.lane];
}

}  // namespace simt
}  // namespace strata
