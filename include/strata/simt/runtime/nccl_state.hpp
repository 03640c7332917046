// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// What the parts of the stand-in for NCCL share. The host threads of the ranks wait for each other under one mutex. The
// last rank to arrive moves the bytes of all. A thread that holds that mutex may take api_mutex, but never the other
// way round.
//
//     nccl.cpp         communicators: how ranks come together and leave
//     nccl_calls.cpp   calls and groups: arguments, streams, graphs
//     nccl_match.cpp   which calls belong together; waits that would never end
//     nccl_data.cpp    what arrives where; reductions
#include <strata/simt/nccl.hpp>
#include <strata/simt/runtime/engine_state.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace strata {
namespace simt {
namespace engine {
namespace nccl {

enum class call_kind { send, receive, all_gather, all_reduce, reduce, reduce_scatter, broadcast };

struct communicator;

// A call as the program has made it. A graph carries it out many times.
struct call_arguments {
  call_kind kind;
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int peer;  // or the root; 0 if there is neither
};

// A call that waits for the matching calls of other ranks.
struct operation {
  call_arguments call;
  communicator* owner;
  bool done = false;
  ncclResult_t result = ncclSuccess;
};
using operation_handle = std::shared_ptr<operation>;

struct clique;

struct communicator {
  std::shared_ptr<clique> all;
  int rank = 0;
  int device = 0;
  bool is_usable = false;              // neither finalized, nor destroyed
  std::vector<operation_handle> open;  // calls that are not done
  bool waits = false;                  // its thread waits for all of them
  uint64_t collectives = 0;            // number of collectives in which it has taken part
  ncclResult_t failure = ncclSuccess;  // the answer of ncclCommGetAsyncError and, from then on, of all calls
  std::string last_error;
};

// The ranks that join one communicator.
struct clique {
  explicit clique(int count) : ranks(count), members(static_cast<size_t>(count)) {}
  int ranks;
  std::vector<std::shared_ptr<communicator>> members;  // a member is null before it joins
  ncclResult_t refused = ncclSuccess;                  // why it will never be complete
  int joined = 0;
  std::map<uint64_t, std::vector<operation_handle>> collectives;
  std::map<std::pair<int, int>, std::deque<operation_handle>> sends, receives;  // by sender and receiver
};

struct nccl_state {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::shared_ptr<clique>> forming;  // by unique id
  std::map<const void*, std::shared_ptr<communicator>> communicators;
  uint64_t ids = 0;
  double wait_seconds = 60;
  int failing_rank = -1;
  long calls_before_failure = 0;
  bool has_failed = false;

  nccl_state() {
    if (const char* const text = std::getenv("STRATA_SIMT_NCCL_SECONDS")) wait_seconds = std::strtod(text, nullptr);
    if (const char* const text = std::getenv("STRATA_SIMT_NCCL_FAIL")) {
      int rank = -1;
      long call = 0;
      if (std::sscanf(text, "%d,%ld", &rank, &call) == 2) {
        failing_rank = rank;
        calls_before_failure = call;
      }
    }
  }
};
nccl_state& state();
using state_lock = std::unique_lock<std::mutex>;

struct bound_call {
  std::shared_ptr<communicator> owner;
  call_arguments call;
};

// ---- groups of the calling thread
struct pending_join {
  ncclComm_t* out;
  int ranks;
  std::string id;
  int rank;
  int device;
};
struct group_state {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<pending_join> joins;
  struct entry {
    bound_call bound;
    cudaStream_t stream;
  };
  std::vector<entry> calls;
};
group_state& group();
std::string& thread_error();

// ---- nccl.cpp
const char* name_of(call_kind kind);
std::string describe(const operation& what);
// Prints the error if it is a misuse by the program. What other ranks or an armed failure did is only kept.
ncclResult_t keep_error(communicator* owner, ncclResult_t result, const std::string& text, bool is_misuse = true);
// Keeps the first error of a group.
ncclResult_t note(ncclResult_t result);
// Called under the mutex.
std::shared_ptr<communicator> find_communicator(ncclComm_t comm);
inline bool is_gone(const communicator& member) { return !member.is_usable; }
// Waits for the other ranks. It takes the mutex.
ncclResult_t join(const std::vector<pending_join>& joins);

// ---- nccl_match.cpp: called under the mutex, except carry_out
// Ends all waits of the clique, and all its later calls. The culprits get another error than the others.
void fail_clique(clique& all, const std::vector<int>& culprits, ncclResult_t of_culprits, ncclResult_t of_others,
                 const std::string& why);
// Finds waits that nothing will end, because a rank is gone or all ranks wait for each other.
void look_for_endless_waits(clique& all);
// True if the failure that a test has armed happens now.
bool fails_now(communicator& self);
std::chrono::steady_clock::time_point end_of_wait();
// Carries out calls together, like those of a group. It takes the mutex.
ncclResult_t carry_out(const std::vector<bound_call>& calls);

// ---- nccl_data.cpp: functions that move bytes are called under the mutex
size_t size_of(ncclDataType_t type);
size_t sent_bytes(const communicator& owner, const call_arguments& call);
size_t received_bytes(const communicator& owner, const call_arguments& call);
// Memory may have been freed since a capture.
bool is_memory_there(const operation& what);
void move_bytes(const std::vector<operation_handle>& calls);
void move_bytes(const operation& from, const operation& to);
bool reduces(call_kind kind);

}  // namespace nccl
}  // namespace engine
}  // namespace simt
}  // namespace strata
