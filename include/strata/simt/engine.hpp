// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The host SIMT engine as kernels, launchers and tests see it. The implementation is in runtime/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <strata/simt/runtime_types.hpp>

// Default arguments are evaluated at the call, so every collective knows its caller's line for free. File and line are
// two parameters. If a default argument made one struct of both, the struct would have this header's line.
#define STRATA_SIMT_CALLER const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE()
#define STRATA_SIMT_CALLER_LOCATION \
  ::strata::simt::location { file_, line_ }

// For helpers that access memory for the kernel. They are inlined, so reports show the kernel's line.
#define STRATA_SIMT_INLINE inline __attribute__((always_inline))

namespace strata {
namespace simt {

struct location {
  const char* file;
  int line;
};

// ---- control and inspection, for tests and debugging sessions
// -------------------------------------

/// The order in which blocks of a launch are started.
enum class block_order { ascending, descending, shuffled };

/// How launches are executed.
struct configuration {
  /// 0: threads run in ascending order. 1: in descending order. Any other value is the seed of a pseudo-random
  /// interleaving of lanes, warps and resident blocks, which repeats exactly. STRATA_SIMT_SEED
  uint64_t seed = 0;
  /// Maximum number of blocks that run at any one time, in a launch that is not cooperative. The next block starts when
  /// one ends. STRATA_SIMT_RESIDENT_BLOCKS
  unsigned resident_blocks = 4;
  /// Multiprocessors of each device, 1 to 132. STRATA_SIMT_MULTIPROCESSORS
  unsigned multiprocessors = 4;
  /// Multiprocessors that cooperative launches get, or 0 for all. A smaller number acts like a green context: neither
  /// the device's attributes nor the occupancy functions know of it. STRATA_SIMT_USABLE_MULTIPROCESSORS
  unsigned usable_multiprocessors = 0;
  block_order order = block_order::ascending;  ///< in which blocks start. STRATA_SIMT_BLOCK_ORDER=0|1|2
  size_t stack_bytes = 64 << 10;               ///< of each device thread. STRATA_SIMT_STACK_BYTES
  /// Number of polls without any progress before "livelock" is reported. If threads pass barriers between the polls,
  /// the limit is 64 times as high.
  uint64_t poll_limit = 4u << 20;
  bool strict_exit = true;  ///< a block barrier after some threads of the block exited is an error
  /// It is an error if threads reach a block barrier, or a collective other than __syncwarp and __activemask, from
  /// different source lines.
  bool strict_site = true;
  /// Check flavour: the average number of memory accesses from one preemption to the next; 0 is never.
  unsigned preemption = 0;  ///< STRATA_SIMT_PREEMPTION
  /// CPU time a thread may run without meeting a barrier, collective or poll. STRATA_SIMT_HANG_SECONDS
  unsigned hang_seconds = 10;
  size_t static_shared_limit = 48 << 10;
  /// Maximum of shared memory of a block. A multiprocessor has 1 KB more. STRATA_SIMT_SHARED_BYTES
  size_t shared_limit = 227 << 10;
  /// The compute capability that the device's attributes show, as 10 * major + minor. Programs whose kernels are
  /// compiled for a later one (STRATA_SIMT_PTX_VERSION) find no kernel image. 0: the attributes show 9.0, and programs
  /// of all versions run. STRATA_SIMT_COMPUTE_CAPABILITY
  unsigned compute_capability = 0;
  /// Number of devices, at most 64; all are alike. STRATA_SIMT_DEVICES
  unsigned devices = 1;
  uint64_t devices_without_peers = 0;  ///< bit d: device d and the other devices cannot address each other's memory
  uint64_t devices_without_pools = 0;  ///< bit d: cudaMemPoolCreate of device d returns cudaErrorNotSupported
  bool quiet = false;                  ///< do not print reports to stderr. STRATA_SIMT_QUIET
};
/// The configuration, which each launch reads: change it between launches. Its initial values come from the
/// environment.
configuration& config();
/// True if config() still describes the device with which the program began. Caches hold values of that device.
bool has_first_device();

/// What ended the last launch that failed. `kind` is "" if no launch has failed since clear_report().
struct report {
  const char* kind;
  const char* text;
};
/// The report of the last launch that failed.
report last_report();
/// Erases the report, and the error of the calling thread's device.
void clear_report();

/// Lets one later launch on `device` fail: it returns cudaErrorLaunchOutOfResources, and its kernel does not run.
/// `launch` is the number of that launch, counted from 0. Other work of the device goes on. One failure is armed at a
/// time; a negative device disarms it.
/// @param device the number of the device
/// @param launch how many launches come before
void fail_launch(int device, long launch);
/// True if the failure that was armed last has happened.
bool launch_has_failed();

/// What launches have done since reset_statistics().
struct statistics {
  uint64_t blocks, threads, switches, collectives, barriers, polls;
  uint64_t undefined_shuffle_reads;  ///< shuffles from lanes that did not take part
  // Check flavour only:
  uint64_t accesses;
  uint64_t shared_instructions, shared_wavefronts, shared_ideal_wavefronts;
};
/// The sums of all launches.
statistics& stats();
/// Sets all statistics to 0, and empties the bank-conflict table.
void reset_statistics();

/// Check flavour: shared-memory traffic of one instruction. Without conflicts, wavefronts == ideal; with 32-way
/// conflicts, there are 32 times as many.
struct bank_row {
  const void* pc;
  const char* where;  ///< "file.cu:12", "?" without debug information
  uint64_t instructions, wavefronts, ideal;
  unsigned access_bytes;
  bool write;
};
/// Writes the rows of all instructions, the worst first. Returns how many it has written.
int bank_rows(bank_row* rows, int capacity);

/// The flavours of the runtime.
enum class flavour { plain, check, asan };
/// The flavour that this program is linked with.
flavour runtime_flavour();

// ---- launching
// ------------------------------------------------------------------------------------

struct launch_parameters {
  const char* name = "kernel";
  dim3 grid = {};
  dim3 block = {};
  unsigned cluster_size = 1;  // blocks, along x
  size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;  // all blocks run together, whatever the configuration says
};

// A call of a kernel with its arguments, whose types are erased. clone and destroy are for streams that capture.
struct kernel_call {
  const void* kernel;
  void (*invoke)(void* arguments);
  void* arguments;
  size_t argument_bytes;
  void* (*clone)(const void* arguments);
  void (*destroy)(void* arguments);
};
cudaError_t launch_call(const launch_parameters& parameters, const kernel_call& call);

namespace detail {
// Takes the place of std::tuple, for which the compiler needs several times as long.
template <size_t Number, class T>
struct bound_argument {
  T value;
};
template <class Indices, class... P>
struct bound_arguments;
template <size_t... Number, class... P>
struct bound_arguments<std::index_sequence<Number...>, P...> : bound_argument<Number, std::decay_t<P>>... {
  // Every device thread gets its own copies of by-value parameters, as on the device.
  void call(void (*kernel)(P...)) { kernel(static_cast<bound_argument<Number, std::decay_t<P>>&>(*this).value...); }
};

template <class... P>
struct bound_call {
  void (*kernel)(P...);
  bound_arguments<std::index_sequence_for<P...>, P...> arguments;

  static void invoke(void* self) {
    auto& call = *static_cast<bound_call*>(self);
    call.arguments.call(call.kernel);
  }
  static void* clone(const void* self) { return new bound_call(*static_cast<const bound_call*>(self)); }
  static void destroy(void* self) { delete static_cast<bound_call*>(self); }
};
}  // namespace detail

template <class... P, class... A>
cudaError_t launch(const launch_parameters& parameters, void (*kernel)(P...), A&&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A),
                "strata::launch: pass exactly one argument for each parameter of the kernel");
  using call = detail::bound_call<P...>;
  call bound{kernel, {{static_cast<P>(arguments)}...}};
  return launch_call(parameters, {reinterpret_cast<const void*>(kernel), &call::invoke, &bound, sizeof bound,
                                  &call::clone, &call::destroy});
}

// ---- what device code calls
// -----------------------------------------------------------------------

// Ends the launch with a report; the calling thread does not continue.
[[noreturn]] void fail(const char* kind, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Ends the launch: an access is misaligned.
[[noreturn]] void misaligned_access(const void* address, size_t bytes);
// Ends the launch if `address` is not a multiple of `bytes`, a power of two. Copies by memcpy need this check: neither
// the processor nor the check flavour knows how wide they are on a GPU.
inline void expect_aligned(const void* address, size_t bytes) {
  if ((reinterpret_cast<uintptr_t>(address) & (bytes - 1)) != 0) misaligned_access(address, bytes);
}

// The thread has polled another thread's store and found nothing. Lets other threads run, and counts towards a
// livelock.
void spin_hint(location where);
// The thread has stored something for which another thread may poll.
void progress();

/// These bytes may hold anything, and the code that reads them copes with that. So the check flavour does not report
/// their reads as reads of uninitialised memory.
void declare_initialised(const void* address, size_t bytes);

// A declaration of a variable in shared memory. It is a static object, which each launch resolves once.
struct shared_slot {
  uint64_t launch = 0;
  size_t offset = 0;
};
namespace detail {
void* resolve_shared_variable(shared_slot& slot, size_t size, size_t align, const char* name, location where);
// State of the thread that runs now. The engine runs one device thread at a time.
extern uint64_t launch_serial;
extern char* shared_arena;
extern unsigned current_lane;
extern unsigned current_linear_thread;
}  // namespace detail

inline void* shared_variable(shared_slot& slot, size_t size, size_t align, const char* name, location where) {
  if (slot.launch == detail::launch_serial) return detail::shared_arena + slot.offset;
  return detail::resolve_shared_variable(slot, size, align, name, where);
}
void* dynamic_shared();
size_t dynamic_shared_bytes();

bool on_device();
inline unsigned lane_id() { return detail::current_lane; }
inline unsigned linear_thread_id() { return detail::current_linear_thread; }

enum class operation : uint8_t {
  none,
  sync_warp,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  match_all,
  reduce_add,
  reduce_min_unsigned,
  reduce_max_unsigned,
  reduce_min_signed,
  reduce_max_signed,
  reduce_and,
  reduce_or,
  reduce_xor,
  active_mask,
  block_sync,
  block_sync_count,
  block_sync_and,
  block_sync_or
};
uint64_t warp_collective(operation op, uint32_t mask, uint64_t value, uint64_t extra, location where);
int block_barrier(operation op, int predicate, location where);
// PTX's bar.sync and bar.arrive, with a barrier number from 1 to 15 and a number of threads.
void named_barrier(int barrier, int threads, bool wait, location where);

// How far an atomic or a fence reaches. At block scope, it orders nothing across blocks.
enum class memory_scope : uint8_t { block, cluster, device, system };
void fence(int order, memory_scope scope);  // order: __ATOMIC_*
namespace detail {
extern memory_scope current_scope;  // of the atomic access that follows
struct scoped_access {
  explicit scoped_access(memory_scope scope) { current_scope = scope; }
  ~scoped_access() { current_scope = memory_scope::device; }
};
}  // namespace detail

template <class T>
inline uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>,
                "to_bits takes trivially copyable values of at most 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
inline T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace simt
}  // namespace strata
