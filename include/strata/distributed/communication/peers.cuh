// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/peer_memory.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/distributed/communication/nccl.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>

/// \file
/// Memory of each rank that the GPUs of all ranks address, and small messages through it.
///
/// **Mailboxes.** Each rank has a mailbox with two slots for each sender. Message number e of a communicator goes to
/// slot e % 2. A word of 8 bytes holds 4 bytes of the message and the number e: one access writes and reads both, so
/// the receiver needs no other signal. A slot is written again by message e + 2. The sender has then received message
/// e + 1 of all ranks, and each of these has sent it after it had read message e.
///
/// **Forward progress.** A receiver waits for kernels of other GPUs, never for another block of its own. The wait is
/// bounded. When the host asks for its end, missing words become 0, and the message of the next rank becomes an error:
/// its first 4 bytes are cudaErrorUnknown. After `peer_wait_seconds` the kernel traps. Without the trap, the stream
/// would end without an error, and the caller would believe that the call has succeeded. All later calls of this rank
/// fail.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The largest number of ranks of a communicator that can share memory: the GPUs of one host.
inline constexpr int max_peers = 8;
/// Longer messages go through NCCL.
inline constexpr std::size_t max_peer_message_bytes = std::size_t{128} << 10;

/// How long a kernel waits for another rank.
inline constexpr unsigned long long peer_wait_seconds = 300;

/// Words in pinned host memory, through which host and kernels communicate while a kernel waits.
struct peer_host_words {
  volatile int is_aborted;  // written by the host
  volatile int has_failed;  // written by a kernel that has waited in vain
};

/// One message of a rank to all ranks, and memory for the messages of all ranks.
struct peer_message {
  const unsigned* mine;  // null if the message is only a signal
  unsigned* all;         // null, or memory for the messages of all ranks, in the order of ranks
  unsigned words;        // number of words of 4 bytes
  int rank;
  int ranks;
  unsigned long long* mailboxes[max_peers];
  unsigned* number;  // the number of the last message
  peer_host_words* host;
  unsigned long long wait_nanoseconds;

  static constexpr std::size_t slot_words = max_peer_message_bytes / sizeof(unsigned);
  static constexpr std::size_t mailbox_words = 2 * slot_words * static_cast<std::size_t>(max_peers);

  STRATA_HD unsigned long long* slot(int receiver, int sender, unsigned of_number) const {
    return mailboxes[receiver] +
           (of_number % 2 * static_cast<std::size_t>(max_peers) + static_cast<std::size_t>(sender)) * slot_words;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

inline constexpr int peer_threads = STRATA_HOST_SIMT ? 64 : 512;

/// The parts of a gather. On the host back end, kernels of two ranks never run at the same time, so each part is a
/// launch.
enum class peer_part { send, receive, both };

/// What a block does when the messages of all ranks are there: nothing.
struct no_more_steps {
  STRATA_D void operator()() const {}
};

/// Sends the message of this rank to all others and receives theirs. All threads then call `then()`. The grid has one
/// block.
template <peer_part Part, class Then = no_more_steps>
__launch_bounds__(peer_threads)
    STRATA_KERNEL void peer_gather_kernel(const STRATA_GRID_CONSTANT peer_message message, Then then) {
  const unsigned number = *message.number + 1;
  const unsigned words = message.words;
  if constexpr (Part != peer_part::receive) {
    // Data that earlier kernels have written to other ranks must arrive before the message.
    __threadfence_system();
    unsigned* const own = message.all == nullptr ? nullptr : message.all + static_cast<unsigned>(message.rank) * words;
    for (unsigned i = threadIdx.x; i < words; i += peer_threads) {
      // Messages may have padding, and room for samples that a rank does not have.
      if (message.mine != nullptr) platform::may_be_unwritten(message.mine + i, sizeof(unsigned));
      const unsigned word = message.mine == nullptr ? 0 : message.mine[i];
      for (int step = 1; step < message.ranks; ++step) {
        const int receiver = (message.rank + step) % message.ranks;
        platform::store_to_peer(message.slot(receiver, message.rank, number) + i,
                                static_cast<unsigned long long>(number) << 32 | word);
      }
      if (own != nullptr && own != message.mine) own[i] = word;
    }
  }
  if constexpr (Part != peer_part::send) {
    const unsigned long long begin = platform::nanoseconds();
    bool has_failed = false, is_late = false;
    for (int step = 1; step < message.ranks; ++step) {
      const int sender = (message.rank + step) % message.ranks;
      const unsigned long long* const slot = message.slot(message.rank, sender, number);
      for (unsigned i = threadIdx.x; i < words; i += peer_threads) {
        unsigned long long word = platform::load_from_peer(slot + i);
        for (unsigned polls = 1; static_cast<unsigned>(word >> 32) != number && !has_failed; ++polls) {
          STRATA_SPIN();
          constexpr unsigned polls_between_looks = 1024;
          if (polls % polls_between_looks == 0) {
            is_late = platform::nanoseconds() - begin > message.wait_nanoseconds;
            has_failed = is_late || message.host->is_aborted != 0 || message.host->has_failed != 0;
          }
          word = platform::load_from_peer(slot + i);
        }
        if (static_cast<unsigned>(word >> 32) != number) word = 0;
        if (message.all != nullptr) {
          message.all[static_cast<unsigned>(sender) * words + i] = static_cast<unsigned>(word);
        }
      }
    }
    if (has_failed) message.host->has_failed = 1;
    // Data that the others have written before their messages must be visible to later kernels.
    __threadfence_system();
    if (is_late) __trap();
    const bool is_error = __syncthreads_or(has_failed ? 1 : 0) != 0;
    if (threadIdx.x == 0) {
      *message.number = number;
      // If a word of any message is missing, the message of the next rank becomes an error.
      if (is_error && message.all != nullptr) {
        message.all[static_cast<unsigned>((message.rank + 1) % message.ranks) * words] =
            static_cast<unsigned>(cudaErrorUnknown);
      }
    }
    if constexpr (!std::is_same_v<Then, no_more_steps>) {
      __syncthreads();
      then();
    }
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The shared memory of all ranks of a communicator, as one rank sees it.
class peer_group {
 public:
  /// Bytes at the beginning of a rank's memory, before its mailbox: the number of the last message, and flags of the
  /// host back end.
  static constexpr std::size_t control_bytes = 4096;
  /// Behind the mailbox are two areas for the items of small calls, which are used in turn. Other ranks read an area
  /// after the message that announces it. The sort call after the next one writes it again. The message of the call in
  /// between has then shown that all ranks have read it.
  static constexpr std::size_t area_bytes = (std::size_t{4} << 20) + control_bytes;
  static constexpr std::size_t areas_begin = control_bytes + peer_message::mailbox_words * sizeof(unsigned long long);
  static constexpr std::size_t reserved_bytes = areas_begin + 2 * area_bytes;
  static constexpr std::size_t staging_bytes = std::size_t{256} << 10;

  int rank = 0;
  int ranks = 1;
  char* memory[max_peers] = {};       // memory of each rank, as this GPU addresses it: reserved, then the caller's part
  std::size_t bytes[max_peers] = {};  // size of the caller's part
  peer_host_words* host = nullptr;
  void* staging = nullptr;  // pinned memory, for copies to the host
  unsigned calls = 0;       // number of sort calls, including refused ones; it is the same on all ranks

  /// Returns the group of a communicator, or null if its ranks share no memory.
  static std::shared_ptr<peer_group> of(ncclComm_t comm) {
    const std::lock_guard<std::mutex> lock(mutex());
    const auto found = all().find(comm);
    return found == all().end() ? nullptr : found->second;
  }
  static bool add(ncclComm_t comm, const std::shared_ptr<peer_group>& group) {
    const std::lock_guard<std::mutex> lock(mutex());
    return all().emplace(comm, group).second;
  }
  static void remove(ncclComm_t comm) {
    const std::lock_guard<std::mutex> lock(mutex());
    all().erase(comm);
  }

  /// Returns the offset of an array in the caller's part of this rank's memory, or -1 if it does not lie there.
  std::int64_t offset_of(const void* array, std::size_t array_bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory[rank]) + reserved_bytes;
    const auto address = reinterpret_cast<std::uintptr_t>(array);
    const std::size_t size = bytes[rank];
    if (array == nullptr || address < begin || address - begin > size || array_bytes > size - (address - begin)) {
      return -1;
    }
    return static_cast<std::int64_t>(address - begin);
  }
  /// Returns the array at an offset of another rank's memory.
  template <class T>
  T* array_of(int of_rank, std::int64_t offset) const {
    return reinterpret_cast<T*>(memory[of_rank] + reserved_bytes + offset);
  }

  /// Returns the area of a rank in the present call.
  char* area_of(int of_rank) const { return memory[of_rank] + areas_begin + calls % 2 * area_bytes; }

  bool has_failed() const { return host->has_failed != 0 || host->is_aborted != 0; }
  /// Ends the waits of this rank's kernels with an error.
  void abort() const { host->is_aborted = 1; }

  static bool takes(std::size_t message_bytes) {
    return message_bytes > 0 && message_bytes <= max_peer_message_bytes && message_bytes % sizeof(unsigned) == 0;
  }

  /// Gathers the messages of all ranks on all ranks, like ncclAllGather. One block then calls `then()`, even after an
  /// error. `d_mine` and `d_all` may be null: then the call is a barrier. The type of `then` is in the namespace of
  /// kernels, whose name tells the architectures. So files that are compiled for different architectures instantiate
  /// different functions from this template.
  template <class Then = no_more_steps>
  cudaError_t gather(const void* d_mine, void* d_all, std::size_t message_bytes, ncclComm_t comm, cudaStream_t stream,
                     const Then& then = {}) const {
    if (has_failed()) return cudaErrorUnknown;
    peer_message message{};
    message.mine = static_cast<const unsigned*>(d_mine);
    message.all = static_cast<unsigned*>(d_all);
    message.words = d_mine == nullptr ? 1 : static_cast<unsigned>(message_bytes / sizeof(unsigned));
    message.rank = rank;
    message.ranks = ranks;
    for (int i = 0; i < ranks; ++i) {
      message.mailboxes[i] = reinterpret_cast<unsigned long long*>(memory[i] + control_bytes);
    }
    message.number = reinterpret_cast<unsigned*>(memory[rank]);
    message.host = host;
    message.wait_nanoseconds = peer_wait_seconds * 1000000000ull;
    launch_configuration configuration{"strata::DistributedMemory, messages", dim3(1), dim3(peer_threads)};
    configuration.stream = stream;
#if STRATA_HOST_SIMT
    cudaError_t status =
        strata::launch(configuration, peer_gather_kernel<peer_part::send, no_more_steps>, message, no_more_steps{});
    if (status != cudaSuccess) return status;
    char* const flags = memory[rank] + control_bytes / 2;
    if (ncclAllGather(flags + rank, flags, 1, ncclUint8, comm, stream) != ncclSuccess) return cudaErrorUnknown;
    return strata::launch(configuration, peer_gather_kernel<peer_part::receive, Then>, message, then);
#else
    static_cast<void>(comm);
    return strata::launch(configuration, peer_gather_kernel<peer_part::both, Then>, message, then);
#endif
  }
  /// A barrier of the streams of all ranks: work after it begins when all work before it is done on all ranks.
  template <class Then = no_more_steps>
  cudaError_t barrier(ncclComm_t comm, cudaStream_t stream) const {
    return gather<Then>(nullptr, nullptr, 0, comm, stream);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex made;
    return made;
  }
  /// The list of all groups. It is never destroyed, because a program may release its memory after main().
  static std::map<ncclComm_t, std::shared_ptr<peer_group>>& all() {
    static auto* const made = new std::map<ncclComm_t, std::shared_ptr<peer_group>>();
    return *made;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
