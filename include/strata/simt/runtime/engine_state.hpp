// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The engine's own view of a launch: fibers as threads, warps, blocks, clusters. Private to runtime/.
//
// One host thread at a time runs a launch (api_mutex), so that a seed gives the same run each time. So everything here
// is plain static state.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <strata/simt/simt.hpp>

#if defined(STRATA_SIMT_CHECK) && defined(STRATA_SIMT_ASAN)
#error "choose one flavour: STRATA_SIMT_CHECK or STRATA_SIMT_ASAN"
#endif

namespace strata {
namespace simt {
namespace engine {

namespace check {
struct block_shadow;
}

constexpr uint32_t warp_threads = 32;
constexpr uint32_t max_block_threads = 1024;
constexpr uint32_t max_block_warps = max_block_threads / warp_threads;
constexpr uint32_t named_barriers = 16;
constexpr size_t arena_bytes = 256 << 10;  // more shared memory than any limit that the engine enforces
constexpr unsigned char shared_garbage = 0xDB;
constexpr unsigned char global_garbage = 0xCD;

enum class fiber_state : uint8_t {
  fresh,
  ready,
  running,
  in_warp_collective,
  at_block_barrier,
  at_named_barrier,
  at_cluster_barrier,
  polling,
  exited
};

struct warp;
struct block;
struct cluster;

// A device thread.
struct fiber {
  void* stack_pointer;
  char* stack;
  size_t stack_bytes;
  block* home;
  warp* mates;
  uint32_t lane, linear;
  uint3 index;
  fiber_state state;
  uint8_t barrier_number;   // of the named barrier at which it waits
  bool arrived_at_cluster;  // between cluster_arrive and cluster_wait
  uint32_t cluster_phase;   // to which the arrival belongs
  location where;           // of the last collective, barrier or poll
  void* sanitizer_stack;
};

// What a lane brings to a warp collective.
struct collective_slot {
  operation op;
  uint32_t mask;
  uint64_t value, extra;
  location where;
};

// Lane sets are bit masks.
struct warp {
  uint32_t id;
  fiber* fibers;
  uint32_t alive, ready;
  uint32_t in_collective, at_block_barrier, polling, at_active_mask;
  collective_slot slots[warp_threads];
  uint64_t results[warp_threads];
#if defined(STRATA_SIMT_CHECK)
  uint32_t sequence;                           // 1 + number of synchronisations of the whole warp in this epoch
  uint32_t known[warp_threads][warp_threads];  // known[a][b]: the clock of lane b that lane a knows
#endif
};

struct named_barrier_state {
  uint32_t expected, arrived;
  std::vector<fiber*> waiting;
  location where;
};

struct block {
  uint3 index;
  uint32_t linear;  // in the grid
  cluster* group;
  uint32_t rank;  // in the cluster
  uint32_t threads, warps, alive;
  uint64_t ready_warps;
  uint32_t epoch;  // number of block barriers that the block has passed
  // The block barrier at which threads arrive.
  uint32_t at_barrier;
  operation barrier_op;
  location barrier_where;
  int true_count;
  int barrier_results[2];  // by parity of the epoch
  named_barrier_state named[named_barriers];
  uint32_t waiting_named, waiting_cluster;  // numbers of threads
  fiber* fibers;
  warp* warp_list;
  char* arena;  // this block's shared memory at its own address
#if defined(STRATA_SIMT_CHECK)
  check::block_shadow* shadow;  // null until the check flavour has met the block
#endif
  char* arena_alias;  // the same memory at the address for other blocks of the cluster
};

struct cluster {
  uint32_t index;
  std::vector<block*> blocks;
  uint32_t alive_blocks;
  uint32_t phase, arrived;  // of the cluster barrier
};

struct shared_variable_record {
  size_t offset, size;
  const char* name;
};

// The launch in progress.
struct launch_state {
  launch_parameters parameters;
  kernel_call call;
  std::vector<cluster*> resident;
  std::vector<shared_variable_record> variables;  // the same layout in every block, as on the device
  size_t shared_used;
  size_t static_shared;
  uint64_t idle_polls;    // since a thread has last made progress
  uint64_t barren_polls;  // like idle_polls, but a barrier is no progress: it may be a part of the poll
  uint64_t events;        // steps of progress in all launches, without barriers
  fiber* running;         // `current` of the host thread that launches: a timer's signal may reach another
  bool failed;
};

extern launch_state launch_now;
// Null while the scheduler or host code runs, and in host threads other than the one that launches. It is __thread, not
// thread_local, because each access to the latter would check whether it must be initialised.
extern __thread fiber* current;
extern configuration settings;
extern statistics counters;

std::recursive_mutex& api_mutex();

// Marks engine code that runs on the stack of a device thread, because its accesses are not the kernel's. This is
// necessary although runtime/ is not instrumented: the linker may pick an instrumented copy of a template of the
// standard library.
#if defined(STRATA_SIMT_CHECK)
extern __thread int runtime_depth;
struct runtime_section {
  runtime_section() { ++runtime_depth; }
  ~runtime_section() { --runtime_depth; }
};
#else
struct runtime_section {
  runtime_section() {}
};
#endif

// ---- random numbers of the schedule
uint64_t next_random();
void seed_random(uint64_t seed);

// ---- report.cpp
void set_report(const char* kind, const std::string& text);
const char* file_name(const char* path);
const char* operation_name(operation op);
std::string describe_thread(const fiber& thread);
std::string describe_block(const block& which);
cudaError_t set_last_error(cudaError_t error);  // returns its argument
cudaError_t pending_launch_error();

// ---- fiber.cpp
void to_scheduler();         // from a device thread; returns when it is resumed
void resume(fiber& thread);  // from the scheduler; returns when it yields
void prepare_stack(fiber& thread);
size_t page_bytes();  // a page of the operating system: 4, 16 or 64 KiB

// ---- block.cpp
const std::vector<block*>& all_blocks();  // all that were ever made, in use or not
block* acquire_block();
void release_block(block* which);
void start_block(block& which, cluster& group, uint32_t rank, uint3 index);
void run_block(block& which);  // until none of its threads can go on, or its turn is over
void lane_exits(fiber& thread);
size_t start_of_static_shared(size_t dynamic_bytes);
template <class Visit>
inline void for_each_lane(uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<uint32_t>(__builtin_ctz(lanes)));
}
inline void mark_ready(block& which, warp& lanes_of, uint32_t lanes) {
  if (lanes == 0) return;
  for_each_lane(lanes, [&](uint32_t lane) { lanes_of.fibers[lane].state = fiber_state::ready; });
  lanes_of.ready |= lanes;
  which.ready_warps |= uint64_t{1} << lanes_of.id;
}
inline bool same_site(const location& a, const location& b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}
inline void note_progress() {
  launch_now.idle_polls = launch_now.barren_polls = 0;
  ++launch_now.events;
}
[[noreturn]] void outside_kernel(const char* what, location where);
inline fiber& calling_thread(const char* what, location where) {
  if (current == nullptr) outside_kernel(what, where);
  current->where = where;
  return *current;
}
inline fiber& calling_thread(operation op, location where) {
  if (current == nullptr) outside_kernel(operation_name(op), where);
  current->where = where;
  return *current;
}

// ---- collectives.cpp, barriers.cpp, cluster.cpp, bulk_copy.cpp
void lane_leaves_collectives(fiber& thread);
void lane_leaves_block_barrier(fiber& thread);
void lane_leaves_cluster(fiber& thread);
void start_bulk_copies();  // of a launch
void resolve_active_mask(block& which);
std::string describe_named_barrier(const block& which, unsigned number);

// ---- signals.cpp
void install_signal_handlers();

// ---- stream_graph.cpp
// Records the work if the stream captures, or tells the caller to execute it.
enum class issue { execute_now, captured, refused };
issue issue_launch(const launch_parameters& parameters, const kernel_call& call, cudaError_t& error);
size_t dynamic_shared_limit(const void* kernel);

// ---- launch.cpp
cudaError_t execute_launch(const launch_parameters& parameters, const kernel_call& call);

// ---- device.cpp
constexpr unsigned max_devices = 64;
constexpr unsigned max_multiprocessors = 132;
int current_device();  // of the calling host thread
bool is_device(int device);
// Returns how many blocks of a cooperative launch fit the part of the device that launches may use.
uint64_t max_cooperative_blocks(const void* kernel, int block_threads, size_t dynamic_shared_bytes);

// ---- symbolize.cpp
struct program_segment {
  const char *begin, *end;
  bool is_code;
};
struct static_variable {
  const char *begin, *end;
  std::string name;
  bool is_managed;
};
void refresh_modules();  // updates what the functions below know of the program
const program_segment* program_segment_of(const char* address);
// Returns the static variable at an address. If the symbol table has no variable there, the result is the byte at the
// address, without a name. Without a symbol table, the result has no bytes.
static_variable static_variable_at(const char* address);
std::string source_line(const void* pc);  // of a return address; the function if there is no line; "?" if unknown
// For a signal handler: the line of the kernel that led to the instruction at `pc`.
std::string interrupted_line(const void* pc);

// ---- memory.cpp
// True if the range lies in one allocation of any kind, or in managed variables. Takes api_mutex.
bool is_allocated(const void* pointer, size_t bytes);
// Copies between two such ranges. Bytes that were never written count as never written in the copy, too.
void copy_allocated(void* to, const void* from, size_t bytes);
// Stores bytes that were computed from the bytes of `sources`. A byte counts as written if all its sources are.
void store_allocated(void* to, const void* made, size_t bytes, const std::vector<const void*>& sources);

}  // namespace engine
}  // namespace simt
}  // namespace strata
