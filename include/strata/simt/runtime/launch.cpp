// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Launches of kernels: which blocks run at the same time, which thread runs next, and what an endless wait means.
#include <strata/simt/runtime/check.hpp>
#include <strata/simt/runtime/engine_state.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace strata {
namespace simt {

namespace detail {
uint64_t launch_serial = 0;
char* shared_arena = nullptr;
unsigned current_lane = 0;
unsigned current_linear_thread = 0;
memory_scope current_scope = memory_scope::device;
}  // namespace detail

namespace engine {

launch_state launch_now;
__thread fiber* current = nullptr;
statistics counters;

std::recursive_mutex& api_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

namespace {

uint64_t random_state = 1;

// Reads a number from the environment. A text that is no number, or a number out of range, ends the program.
template <class T>
void read_environment(const char* name, T& value, uint64_t least, uint64_t most) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  char* end = nullptr;
  const uint64_t number = std::strtoull(text, &end, 0);
  const bool is_number = *text >= '0' && *text <= '9' && *end == '\0';
  if (!is_number || number < least || number > most) {
    std::fprintf(stderr, "strata simt: %s is \"%s\", must be a number from %llu to %llu\n", name, text,
                 static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
    std::_Exit(EXIT_FAILURE);
  }
  value = static_cast<T>(number);
}

configuration from_environment() {
  configuration c;
  constexpr uint64_t any = ~uint64_t{0}, any_unsigned = ~0u;
  read_environment("STRATA_SIMT_SEED", c.seed, 0, any);
  read_environment("STRATA_SIMT_RESIDENT_BLOCKS", c.resident_blocks, 1, any_unsigned);
  read_environment("STRATA_SIMT_MULTIPROCESSORS", c.multiprocessors, 1, max_multiprocessors);
  read_environment("STRATA_SIMT_USABLE_MULTIPROCESSORS", c.usable_multiprocessors, 1, max_multiprocessors);
  read_environment("STRATA_SIMT_SHARED_BYTES", c.shared_limit, c.static_shared_limit, c.shared_limit);
  read_environment("STRATA_SIMT_COMPUTE_CAPABILITY", c.compute_capability, 75, 129);
  read_environment("STRATA_SIMT_BLOCK_ORDER", c.order, 0, 2);
#if defined(STRATA_SIMT_ASAN)
  c.stack_bytes = 256 << 10;  // ASan pads every local variable
#endif
  read_environment("STRATA_SIMT_STACK_BYTES", c.stack_bytes, 8 << 10, uint64_t{1} << 40);
  read_environment("STRATA_SIMT_PREEMPTION", c.preemption, 0, any_unsigned);
  read_environment("STRATA_SIMT_HANG_SECONDS", c.hang_seconds, 1, any_unsigned);
  read_environment("STRATA_SIMT_DEVICES", c.devices, 1, max_devices);
  read_environment("STRATA_SIMT_QUIET", c.quiet, 0, 1);
  return c;
}

uint64_t volume(dim3 shape) { return uint64_t{shape.x} * shape.y * shape.z; }

cudaError_t validate(const launch_parameters& p, const kernel_call& call) {
  const uint64_t threads = volume(p.block);
  if (volume(p.grid) == 0 || threads == 0 || threads > max_block_threads || p.block.z > 64 || p.grid.x > 0x7fffffffu ||
      p.grid.y > 65535 || p.grid.z > 65535) {
    return cudaErrorInvalidConfiguration;
  }
  if (p.cluster_size == 0 || p.cluster_size > 16) return cudaErrorInvalidClusterSize;
  if (p.grid.x % p.cluster_size != 0) return cudaErrorInvalidConfiguration;
  if (p.dynamic_shared_bytes > dynamic_shared_limit(call.kernel)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

// Asked only when a kernel starts, as on a GPU: a stream capture takes a cooperative launch of any size.
bool is_too_large(const launch_parameters& p, const kernel_call& call) {
  return p.cooperative && volume(p.grid) > max_cooperative_blocks(call.kernel, static_cast<int>(volume(p.block)),
                                                                  p.dynamic_shared_bytes);
}

// Hands out the clusters of a launch in the order of its schedule. A block without a cluster is a cluster of one.
class dispatcher {
 public:
  dispatcher() : count_(volume(launch_now.parameters.grid) / launch_now.parameters.cluster_size) {
    if (settings.order != block_order::shuffled) return;
    shuffled_.resize(count_);
    for (uint64_t i = 0; i < count_; ++i) shuffled_[i] = static_cast<uint32_t>(i);
    for (uint64_t i = count_; i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[next_random() % i]);
  }
  uint64_t left() const { return count_ - next_; }

  void admit() {
    const uint64_t limit =
        launch_now.parameters.cooperative ? volume(launch_now.parameters.grid) : std::max(1u, settings.resident_blocks);
    const uint64_t size = launch_now.parameters.cluster_size;
    while (left() != 0 && (launch_now.resident.empty() || (launch_now.resident.size() + 1) * size <= limit)) {
      start_cluster(take());
    }
  }

 private:
  uint32_t take() {
    const uint64_t i = next_++;
    switch (settings.order) {
      case block_order::ascending:
        return static_cast<uint32_t>(i);
      case block_order::descending:
        return static_cast<uint32_t>(count_ - 1 - i);
      default:
        return shuffled_[i];
    }
  }

  static void start_cluster(uint32_t index) {
    const dim3 grid = launch_now.parameters.grid;
    const uint32_t size = launch_now.parameters.cluster_size;
    const uint32_t columns = grid.x / size;
    cluster* const group = new cluster{index, {}, size, 0, 0};
    launch_now.resident.push_back(group);
    for (uint32_t rank = 0; rank < size; ++rank) group->blocks.push_back(acquire_block());
    for (uint32_t rank = 0; rank < size; ++rank) {
      start_block(*group->blocks[rank], *group, rank,
                  {index % columns * size + rank, index / columns % grid.y, index / columns / grid.y});
    }
  }

  uint64_t count_, next_ = 0;
  std::vector<uint32_t> shuffled_;
};

void retire(cluster* group) {
  for (block* which : group->blocks) release_block(which);
  delete group;
}

void wake_pollers(block& which) {
  for (uint32_t i = 0; i < which.warps; ++i) {
    warp& mates = which.warp_list[i];
    const uint32_t lanes = mates.polling;
    mates.polling = 0;
    mark_ready(which, mates, lanes);
  }
}

bool has_pollers(const block& which) {
  for (uint32_t i = 0; i < which.warps; ++i) {
    if (which.warp_list[i].polling != 0) return true;
  }
  return false;
}

bool can_go_on(const block& which) { return which.ready_warps != 0 || has_pollers(which); }

// If all threads of a block wait for each other, the block is stuck. In a cluster, they may wait for another block.
void look_for_deadlock(const cluster& group) {
  bool peers_run = false;
  for (const block* which : group.blocks) peers_run |= can_go_on(*which);
  if (peers_run) {
    for (const block* which : group.blocks) {
      if (which->alive == 0 || can_go_on(*which) || which->waiting_cluster != 0) continue;
      set_report("deadlock", "no thread of a block can ever run again" + describe_block(*which));
      return;
    }
    return;
  }
  std::string text = "no thread of a block can ever run again";
  for (const block* which : group.blocks) {
    if (which->alive != 0) text += describe_block(*which);
  }
  set_report("deadlock", text);
}

void run_cluster(cluster& group) {
  for (block* which : group.blocks) {
    if (which->alive == 0) continue;
    wake_pollers(*which);
    run_block(*which);
    if (launch_now.failed) return;
    if (which->alive == 0) {
      check::block_ends(*which);
      --group.alive_blocks;
    }
  }
  if (group.alive_blocks != 0) look_for_deadlock(group);
}

void look_for_livelock(const dispatcher& dispatch) {
  constexpr uint64_t barrier_factor = 64;  // Blocks that work pass barriers, too, so a barrier counts less than a poll.
  const bool idle = launch_now.idle_polls > settings.poll_limit;
  const bool barren = launch_now.barren_polls / barrier_factor > settings.poll_limit;
  if (launch_now.failed || !(idle || barren)) return;
  constexpr size_t shown = 4;
  std::string text = "every resident block only polls: " + std::to_string(launch_now.barren_polls) +
                     " polls without a start or exit, a store for others or an atomic that changes something; " +
                     std::to_string(launch_now.resident.size() * launch_now.parameters.cluster_size) +
                     " blocks resident, " + std::to_string(dispatch.left() * launch_now.parameters.cluster_size) +
                     " not yet started";
  if (dispatch.left() != 0) text += ", which start when one of these ends";
  for (size_t i = 0; i < launch_now.resident.size() && i < shown; ++i) {
    for (const block* which : launch_now.resident[i]->blocks) text += describe_block(*which);
  }
  set_report("livelock", text);
}

void run_to_completion() {
  dispatcher dispatch;
  std::vector<cluster*>& resident = launch_now.resident;
  while (!launch_now.failed && (dispatch.left() != 0 || !resident.empty())) {
    dispatch.admit();
    if (settings.seed > 1) std::swap(resident[0], resident[next_random() % resident.size()]);
    for (size_t i = 0; i < resident.size() && !launch_now.failed;) {
      cluster* const group = resident[i];
      run_cluster(*group);
      if (launch_now.failed || group->alive_blocks != 0) {
        ++i;
        continue;
      }
      resident.erase(resident.begin() + static_cast<std::ptrdiff_t>(i));
      retire(group);
      if (dispatch.left() != 0) break;  // start the next block at once, as the hardware does
    }
    look_for_livelock(dispatch);
  }
  for (cluster* group : resident) retire(group);  // the blocks that a failure has left; their stacks are used again
  resident.clear();
}

}  // namespace

configuration settings = from_environment();
const configuration first_settings = settings;

uint64_t next_random() {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

void seed_random(uint64_t seed) {
  random_state = seed * 0x9E3779B97F4A7C15ull + 0x123456789ull;
  for (int i = 0; i < 4; ++i) next_random();
}

}  // namespace engine

configuration& config() { return engine::settings; }
bool has_first_device() {
  using engine::first_settings, engine::settings;
  return settings.multiprocessors == first_settings.multiprocessors &&
         settings.static_shared_limit == first_settings.static_shared_limit &&
         settings.shared_limit == first_settings.shared_limit &&
         settings.compute_capability == first_settings.compute_capability;
}
statistics& stats() { return engine::counters; }
bool on_device() { return engine::current != nullptr; }

flavour runtime_flavour() {
#if defined(STRATA_SIMT_CHECK)
  return flavour::check;
#elif defined(STRATA_SIMT_ASAN)
  return flavour::asan;
#else
  return flavour::plain;
#endif
}

// One thread runs at a time, so only the compiler could reorder accesses. A call of this function keeps it from that.
void fence(int order, memory_scope scope) {
  const engine::runtime_section section;
  engine::check::fenced(order, scope);
}

void declare_initialised(const void* address, size_t bytes) {
  if (engine::current == nullptr) return;
  const engine::runtime_section section;
  engine::check::declare_initialised(address, bytes);
}

void progress() { engine::note_progress(); }

void spin_hint(location where) {
  using namespace engine;
  if (current == nullptr) return;
  const runtime_section section;
  fiber& self = calling_thread("a poll", where);
  ++counters.polls;
  ++launch_now.idle_polls;
  ++launch_now.barren_polls;
  self.mates->polling |= 1u << self.lane;
  self.state = fiber_state::polling;
  to_scheduler();
}

namespace {

/// The failure that fail_launch() asks for. api_mutex() protects it.
struct {
  int device = -1;
  long launches_before = 0;
  bool has_failed = false;
} failing_launch;

}  // namespace

void fail_launch(int device, long launch) {
  const std::lock_guard<std::recursive_mutex> lock(engine::api_mutex());
  failing_launch.device = device;
  failing_launch.launches_before = launch;
  failing_launch.has_failed = false;
}
bool launch_has_failed() {
  const std::lock_guard<std::recursive_mutex> lock(engine::api_mutex());
  return failing_launch.has_failed;
}

cudaError_t launch_call(const launch_parameters& parameters, const kernel_call& call) {
  using namespace engine;
  if (current != nullptr) {  // before the lock, which a thread that fails here would never release
    const runtime_section section;
    fail("nested-launch", "device code launches %s; there is no dynamic parallelism here", parameters.name);
  }
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  if (const cudaError_t error = validate(parameters, call)) return set_last_error(error);
  if (failing_launch.device >= 0 && failing_launch.device == current_device() &&
      failing_launch.launches_before-- == 0) {
    failing_launch.has_failed = true;
    return set_last_error(cudaErrorLaunchOutOfResources);
  }
  cudaError_t error = cudaSuccess;
  switch (issue_launch(parameters, call, error)) {
    case issue::captured:
      return cudaSuccess;
    case issue::refused:
      return set_last_error(error);
    case issue::execute_now:
      break;
  }
  if (is_too_large(parameters, call)) return set_last_error(cudaErrorCooperativeLaunchTooLarge);
  return execute_launch(parameters, call);
}

cudaError_t engine::execute_launch(const launch_parameters& parameters, const kernel_call& call) {
  install_signal_handlers();
  ++detail::launch_serial;
  launch_now.parameters = parameters;
  launch_now.call = call;
  launch_now.variables.clear();
  launch_now.shared_used = start_of_static_shared(parameters.dynamic_shared_bytes);
  launch_now.static_shared = 0;
  note_progress();
  launch_now.failed = false;
  if (is_too_large(parameters, call)) {
    set_report("cooperative-too-large",
               "a captured cooperative launch of " + std::to_string(volume(parameters.grid)) + " blocks, of which " +
                   std::to_string(max_cooperative_blocks(call.kernel, static_cast<int>(volume(parameters.block)),
                                                         parameters.dynamic_shared_bytes)) +
                   " fit at a time: a GPU starts these, and they wait for the others for ever");
    return pending_launch_error();
  }
  if (parameters.dynamic_shared_bytes != 0) {
    launch_now.variables.push_back({0, parameters.dynamic_shared_bytes, "dynamic shared memory"});
  }
  gridDim = parameters.grid;
  blockDim = parameters.block;
  seed_random(settings.seed);
  start_bulk_copies();
  check::launch_begins();
  run_to_completion();
  current = nullptr;
  launch_now.running = nullptr;
  return launch_now.failed ? pending_launch_error() : cudaSuccess;
}

}  // namespace simt
}  // namespace strata
