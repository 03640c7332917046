// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "engine.hpp"

#include "fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace msl {
namespace {

constexpr std::size_t stack_bytes = MSL_ASAN || MSL_TSAN ? 256u << 10 : 64u << 10;

thread_local engine* current = nullptr;

void enter_lane() { current->lane_main(); }

}  // namespace

// Stacks are kept for the next dispatch, because many dispatches are short.
class stack_block {
 public:
  explicit stack_block(std::size_t stacks) : count(stacks) {
    void* const got =
        mmap(nullptr, stacks * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) throw std::runtime_error("no memory for the stacks of GPU threads");
    first = static_cast<char*>(got);
  }
  ~stack_block() { munmap(first, count * stack_bytes); }
  stack_block(const stack_block&) = delete;

  static std::unique_ptr<stack_block> take() {
    const std::lock_guard<std::mutex> guard(unused_lock());
    if (unused().empty()) return nullptr;
    std::unique_ptr<stack_block> one = std::move(unused().back());
    unused().pop_back();
    return one;
  }
  static void give_back(std::unique_ptr<stack_block> one) {
    const std::lock_guard<std::mutex> guard(unused_lock());
    if (one != nullptr) unused().push_back(std::move(one));
  }

  std::size_t count;
  char* first;

 private:
  static std::mutex& unused_lock() {
    static std::mutex lock;
    return lock;
  }
  static std::vector<std::unique_ptr<stack_block>>& unused() {
    static std::vector<std::unique_ptr<stack_block>> all;
    return all;
  }
};

engine::engine(const launch& what, unsigned worker)
    : launch_(what), stacks_(stack_block::take()), random_(what.seed + worker) {}
engine::~engine() { stack_block::give_back(std::move(stacks_)); }

void engine::reserve(std::uint32_t count) {
  if (stacks_ == nullptr || stacks_->count < count) stacks_.reset(new stack_block(count));
  lanes_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) lanes_[i].stack = stacks_->first + i * stack_bytes;
}

void engine::fail(const lane& l, const char* message) const {
  const char* const where =
      l.where == state::at_barrier ? "threadgroup_barrier" : (l.where == state::at_simd ? l.what : "return");
  char text[512];
  std::snprintf(text, sizeof text, "kernel %s: %s (%s, line %d; threadgroup %u, thread %u)", launch_.kernel->name,
                message, where, l.line, l.in.threadgroup_position[0], l.in.index_in_threadgroup);
  throw std::runtime_error(text);
}

void engine::lane_main() {
  lane& l = lanes_[running_];
#if MSL_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &own_bottom_, &own_size_);
#endif
  launch_.kernel->entry(bound_, l.in);
  l.where = state::done;
#if MSL_TSAN
  __tsan_release(&token_done_);
  __tsan_switch_to_fiber(own_tsan_, 1);
#endif
#if MSL_ASAN
  __sanitizer_start_switch_fiber(nullptr, own_bottom_, own_size_);
#endif
  void* dead;
  msl_switch(&dead, own_stack_pointer_);
  std::abort();
}

void engine::resume(std::uint32_t i) {
  running_ = i;
  lane& l = lanes_[i];
#if MSL_ASAN
  __sanitizer_start_switch_fiber(&own_fake_stack_, l.stack, stack_bytes);
#endif
#if MSL_TSAN
  __tsan_switch_to_fiber(l.tsan, 1);
#endif
  msl_switch(&own_stack_pointer_, l.stack_pointer);
#if MSL_ASAN
  __sanitizer_finish_switch_fiber(own_fake_stack_, nullptr, nullptr);
#endif
}

void engine::yield() {
  lane& l = lanes_[running_];
#if MSL_ASAN
  __sanitizer_start_switch_fiber(&l.fake_stack, own_bottom_, own_size_);
#endif
#if MSL_TSAN
  __tsan_switch_to_fiber(own_tsan_, 1);
#endif
  msl_switch(&l.stack_pointer, own_stack_pointer_);
#if MSL_ASAN
  __sanitizer_finish_switch_fiber(l.fake_stack, &own_bottom_, &own_size_);
#endif
}

void engine::make_lanes(const std::uint32_t (&position)[3], const std::uint32_t (&dim)[3]) {
  const std::uint32_t groups = static_cast<std::uint32_t>(simdgroups_.size());
  for (std::uint32_t i = 0; i < lane_count_; ++i) {
    lane& l = lanes_[i];
    builtins& b = l.in;
    const std::uint32_t p[3] = {i % dim[0], i / dim[0] % dim[1], i / (dim[0] * dim[1])};
    for (int d = 0; d < 3; ++d) {
      b.position_in_threadgroup[d] = p[d];
      b.position_in_grid[d] = position[d] * launch_.group[d] + p[d];
      b.threads_per_grid[d] = launch_.grid[d];
      b.threads_per_threadgroup[d] = dim[d];
      b.threadgroup_position[d] = position[d];
      b.threadgroups_per_grid[d] = (launch_.grid[d] + launch_.group[d] - 1) / launch_.group[d];
    }
    b.index_in_threadgroup = i;
    b.index_in_simdgroup = i % simd_width;
    b.simdgroup_index = i / simd_width;
    b.simd_width = simd_width;
    b.simdgroups_per_threadgroup = groups;
#if MSL_ASAN
    __asan_unpoison_memory_region(l.stack, stack_bytes);
#endif
    l.where = state::ready;
    l.parity = 0;
    // Stacks begin at different offsets in a page, otherwise they would compete for the same cache lines.
    l.stack_pointer = fiber_frame(l.stack + stack_bytes - i % 64 * 320, enter_lane);
#if MSL_TSAN
    l.tsan = __tsan_create_fiber(0);
#endif
  }
}

// Lets each lane run to its next meeting point. Returns true if some lanes can continue.
bool engine::run_simdgroup(std::uint32_t g) {
  const std::uint32_t first = g * simd_width;
  const std::uint32_t count = std::min(simd_width, lane_count_ - first);
  if (launch_.seed != 0) std::shuffle(lane_order_.begin(), lane_order_.end(), random_);
  for (const std::uint32_t k : lane_order_) {
    if (k >= count || lanes_[first + k].where != state::ready) continue;
    resume(first + k);
    if (lanes_[first + k].where == state::done) --live_;
  }
  std::uint32_t waiting = 0;
  bool again = false;  // a lane was preempted before its meeting point
  for (std::uint32_t k = 0; k < count; ++k) {
    again |= lanes_[first + k].where == state::ready;
    if (lanes_[first + k].where == state::at_simd) waiting |= 1u << k;
  }
  if (again) return true;
  traces_[g].end_of_step(counted);
  if (waiting == 0) return false;
  meet(g, first, count, waiting);
  return true;
}

void engine::meet(std::uint32_t g, std::uint32_t first, std::uint32_t count, std::uint32_t waiting) {
  const lane& one = lanes_[first + static_cast<std::uint32_t>(__builtin_ctz(waiting))];
  for (std::uint32_t k = 0; k < simd_width; ++k) {
    if (k >= count || lanes_[first + k].where == state::done) {
      fail(one, "simd function in a simdgroup with exited or missing lanes");
    }
    const lane& l = lanes_[first + k];
    if (l.where == state::at_barrier) {
      fail(one, "some lanes wait at threadgroup_barrier, others at a simd function");
    }
    if (l.line != one.line || l.what != one.what) {
      fail(one, "lanes of one simdgroup are at different simd functions");
    }
  }
  simdgroup& group = simdgroups_[g];
  group.active[one.parity] = waiting;
  std::uint32_t sum = 0;
  std::uint32_t nonzero = 0;
  for (std::uint32_t k = 0; k < simd_width; ++k) {
    const std::uint64_t bits = group.slot[one.parity][k];
    group.sum_before[one.parity][k] = sum;
    sum += static_cast<std::uint32_t>(bits);
    nonzero |= (bits != 0 ? 1u : 0u) << k;
  }
  group.sum_before[one.parity][simd_width] = sum;
  group.nonzero[one.parity] = nonzero;
  for (std::uint32_t k = 0; k < count; ++k) lanes_[first + k].where = state::ready;
}

void engine::release_barrier() {
  for (std::uint32_t i = 0; i < lane_count_; ++i) {
    const lane& l = lanes_[i];
    if (l.where == state::done) fail(l, "thread returned while others wait at threadgroup_barrier");
    if (l.line != lanes_[0].line) fail(l, "threads of one threadgroup wait at different barriers");
  }
  for (std::uint32_t i = 0; i < lane_count_; ++i) lanes_[i].where = state::ready;
}

void engine::run_group(const std::uint32_t (&position)[3], char* memory, std::size_t memory_bytes,
                       const std::size_t* offsets) {
  memory_ = memory;
  memory_bytes_ = memory_bytes;
  bound_ = launch_.bound;
  for (int i = 0; i < slots; ++i) {
    bound_.threadgroup[i] = launch_.threadgroup_length[i] != 0 ? memory + offsets[i] : nullptr;
  }
  std::uint32_t dim[3];  // threadgroups at the edge of a non-uniform dispatch are smaller
  for (int d = 0; d < 3; ++d) {
    dim[d] = std::min(launch_.group[d], launch_.grid[d] - position[d] * launch_.group[d]);
  }
  lane_count_ = live_ = dim[0] * dim[1] * dim[2];
  const std::uint32_t groups = (lane_count_ + simd_width - 1) / simd_width;
  reserve(lane_count_);
  simdgroups_.assign(groups, {});
  traces_.assign(groups, wavefront_trace(memory, offsets, launch_.threadgroup_length));
  lane_order_.resize(simd_width);
  simdgroup_order_.resize(groups);
  for (std::uint32_t i = 0; i < simd_width; ++i) lane_order_[i] = i;
  for (std::uint32_t i = 0; i < groups; ++i) simdgroup_order_[i] = i;
  make_lanes(position, dim);
  counted.threads += lane_count_;
  while (live_ != 0) {
    if (launch_.seed != 0) {
      std::shuffle(simdgroup_order_.begin(), simdgroup_order_.end(), random_);
    }
    bool any_ready = false;
    for (const std::uint32_t g : simdgroup_order_) any_ready |= run_simdgroup(g);
    if (!any_ready && live_ != 0) release_barrier();
  }
#if MSL_TSAN
  for (std::uint32_t i = 0; i < lane_count_; ++i) __tsan_destroy_fiber(lanes_[i].tsan);
#endif
}

void engine::begin_worker() {
  current = this;
#if MSL_TSAN
  own_tsan_ = __tsan_get_current_fiber();
  __tsan_ignore_thread_begin();  // the scheduler is not a GPU thread
#endif
}
void engine::end_worker() {
#if MSL_TSAN
  __tsan_acquire(&token_done_);
  __tsan_ignore_thread_end();
#endif
  current = nullptr;
}

simd_view engine::exchange(std::uint64_t bits, const char* what, int line) {
  lane& l = lanes_[running_];
  simdgroup& g = simdgroups_[l.in.simdgroup_index];
  l.parity ^= 1;
  const std::uint8_t parity = l.parity;
  g.slot[parity][l.in.index_in_simdgroup] = bits;
  l.what = what;
  l.line = line;
  l.where = state::at_simd;
#if MSL_TSAN
  // Among the simd functions, only simdgroup_barrier orders memory.
  char& token = tokens_[l.in.simdgroup_index];
  const bool orders = std::strcmp(what, "simdgroup_barrier") == 0;
  if (orders) __tsan_release(&token);
#endif
  yield();
#if MSL_TSAN
  if (orders) __tsan_acquire(&token);
#endif
  return {g.slot[parity], g.sum_before[parity], g.nonzero[parity], g.active[parity], l.in.index_in_simdgroup};
}

void engine::barrier(std::uint32_t flags, int line) {
  lane& l = lanes_[running_];
  l.line = line;
  l.where = state::at_barrier;
  (void)flags;
#if MSL_TSAN
  if (flags != 0) __tsan_release(&token_barrier_);
#endif
  yield();
#if MSL_TSAN
  if (flags != 0) __tsan_acquire(&token_barrier_);
#endif
}

void engine::atomic_point(const volatile void* address, bool changes, int line) {
  if (is_threadgroup_memory(address)) {
    access(address, 4, access_kind::atomic, static_cast<std::uintptr_t>(line));
  } else if (changes) {
    ++counted.device_atomics;
  }
  if (launch_.preempt != 0 && random_() % launch_.preempt == 0) yield();  // the lane stays ready
}

void engine::access(const volatile void* address, unsigned bytes, access_kind kind, std::uintptr_t where) {
  if (!watches_wavefronts() || !is_threadgroup_memory(address)) return;
  const lane& l = lanes_[running_];
  traces_[l.in.simdgroup_index].add(l.in.index_in_simdgroup, address, bytes, kind, where);
}

namespace {

simd_view simd_exchange(std::uint64_t bits, const char* what, int line) { return current->exchange(bits, what, line); }
void barrier(std::uint32_t flags, int line) { current->barrier(flags, line); }
void atomic_point(const volatile void* address, bool changes, int line) {
  current->atomic_point(address, changes, line);
}
void threadgroup_access(const volatile void* address, unsigned bytes, bool store, const void* where) {
  current->access(address, bytes, store ? access_kind::store : access_kind::load,
                  reinterpret_cast<std::uintptr_t>(where));
}

}  // namespace

const runtime& services() {
  static const runtime table{simd_exchange, barrier, atomic_point, threadgroup_access};
  return table;
}

}  // namespace msl
