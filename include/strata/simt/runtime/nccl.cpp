// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stand-in for NCCL: communicators, which ranks join and leave, and the functions that describe them.
#include <strata/simt/runtime/nccl_state.hpp>

#include <algorithm>

namespace strata {
namespace simt {
namespace engine {
namespace nccl {

nccl_state& state() {
  static auto* const all = new nccl_state;
  return *all;
}
group_state& group() {
  static thread_local group_state of_thread;
  return of_thread;
}
std::string& thread_error() {
  static thread_local std::string text;
  return text;
}

const char* name_of(call_kind kind) {
  constexpr const char* names[] = {"ncclSend",   "ncclRecv",          "ncclAllGather", "ncclAllReduce",
                                   "ncclReduce", "ncclReduceScatter", "ncclBroadcast"};
  return names[static_cast<int>(kind)];
}

std::string describe(const operation& what) {
  const call_arguments& call = what.call;
  std::string text = "rank " + std::to_string(what.owner->rank) + " in " + name_of(call.kind) + " of " +
                     std::to_string(call.count) + " items of " + std::to_string(size_of(call.type)) + " bytes";
  if (call.kind == call_kind::send) text += " to rank " + std::to_string(call.peer);
  if (call.kind == call_kind::receive) text += " from rank " + std::to_string(call.peer);
  return text;
}

ncclResult_t keep_error(communicator* owner, ncclResult_t result, const std::string& text, bool is_misuse) {
  thread_error() = text;
  if (owner != nullptr) owner->last_error = text;
  if (is_misuse && !settings.quiet) std::fprintf(stderr, "SIMT ERROR [nccl] %s\n", text.c_str());
  return result;
}

ncclResult_t note(ncclResult_t result) {
  if (group().depth > 0 && group().error == ncclSuccess) group().error = result;
  return result;
}

std::shared_ptr<communicator> find_communicator(const ncclComm_t comm) {
  const auto found = state().communicators.find(comm);
  return found != state().communicators.end() ? found->second : nullptr;
}

namespace {

ncclResult_t refuse_join(clique& all, ncclResult_t result, const std::string& why) {
  all.refused = result;
  state().changed.notify_all();
  return keep_error(nullptr, result, why);
}

}  // namespace

ncclResult_t join(const std::vector<pending_join>& joins) {
  state_lock lock(state().mutex);
  std::vector<std::shared_ptr<communicator>> made;
  for (const pending_join& wanted : joins) {
    auto& forming = state().forming[wanted.id];
    if (forming == nullptr) forming = std::make_shared<clique>(wanted.ranks);
    const std::shared_ptr<clique> all = forming;
    if (all->refused != ncclSuccess) return all->refused;
    if (all->ranks != wanted.ranks) {
      return refuse_join(*all, ncclInvalidArgument, "ncclCommInitRank: ranks do not agree how many they are");
    }
    auto& member = all->members[static_cast<size_t>(wanted.rank)];
    if (member != nullptr) {
      return refuse_join(*all, ncclInvalidUsage,
                         "ncclCommInitRank: there are two ranks " + std::to_string(wanted.rank));
    }
    for (const auto& other : all->members) {
      if (other == nullptr || other->device != wanted.device) continue;
      return refuse_join(*all, ncclInvalidUsage,
                         "ncclCommInitRank: ranks " + std::to_string(other->rank) + " and " +
                             std::to_string(wanted.rank) + " have the same device");
    }
    member = std::make_shared<communicator>();
    member->all = all;
    member->rank = wanted.rank;
    member->device = wanted.device;
    made.push_back(member);
    if (++all->joined < all->ranks) continue;
    // All members are set here. If each rank set its own when it wakes up, ranks that wake up earlier would take it to
    // be gone.
    for (const auto& each : all->members) each->is_usable = true;
    state().forming.erase(wanted.id);
  }
  state().changed.notify_all();
  const auto is_complete = [&] {
    return std::all_of(made.begin(), made.end(), [](const std::shared_ptr<communicator>& member) {
      return member->all->refused != ncclSuccess || member->all->joined == member->all->ranks;
    });
  };
  if (!state().changed.wait_until(lock, end_of_wait(), is_complete)) {
    for (const auto& member : made) {
      clique& all = *member->all;
      if (all.joined == all.ranks) continue;
      std::string why = "rank " + std::to_string(member->rank) + " in ncclCommInitRank waits for rank";
      for (size_t r = 0; r < all.members.size(); ++r) {
        if (all.members[r] == nullptr) why += " " + std::to_string(r);
      }
      refuse_join(all, ncclRemoteError, why + ", for too long (STRATA_SIMT_NCCL_SECONDS)");
    }
  }
  for (const auto& refused : made) {
    if (refused->all->refused == ncclSuccess) continue;
    // The caller gets none of its communicators. Complete cliques of the same group lose this rank.
    for (const auto& member : made) {
      member->is_usable = false;
      if (member->all->joined == member->all->ranks) look_for_endless_waits(*member->all);
    }
    return refused->all->refused;
  }
  for (size_t i = 0; i < made.size(); ++i) {
    state().communicators[made[i].get()] = made[i];
    *joins[i].out = reinterpret_cast<ncclComm_t>(made[i].get());
  }
  return ncclSuccess;
}

namespace {

std::string text_of(const ncclUniqueId& id) { return std::string(id.internal, sizeof id.internal); }

ncclResult_t leave(ncclComm_t comm, bool is_destroyed, bool is_aborted) {
  const state_lock lock(state().mutex);
  const std::shared_ptr<communicator> self = find_communicator(comm);
  if (self == nullptr) return keep_error(nullptr, ncclInvalidArgument, "this is no communicator");
  self->is_usable = false;
  if (is_aborted) {
    const std::string why = "rank " + std::to_string(self->rank) + " has aborted its communicator";
    fail_clique(*self->all, {}, ncclRemoteError, ncclRemoteError, why);
  } else {
    look_for_endless_waits(*self->all);
  }
  if (is_destroyed) state().communicators.erase(comm);
  auto& members = self->all->members;  // they and the clique own each other
  if (std::all_of(members.begin(), members.end(), [](const auto& member) { return is_gone(*member); })) members.clear();
  return ncclSuccess;
}

template <class Get>
ncclResult_t ask(const ncclComm_t comm, const void* out, Get get) {
  const state_lock lock(state().mutex);
  const std::shared_ptr<communicator> self = find_communicator(comm);
  if (self == nullptr || out == nullptr) {
    return keep_error(nullptr, ncclInvalidArgument, "this is no communicator, or the pointer to the answer is null");
  }
  get(*self);
  return ncclSuccess;
}

}  // namespace
}  // namespace nccl
}  // namespace engine

void fail_nccl_call(int rank, long call) {
  const std::lock_guard<std::mutex> lock(engine::nccl::state().mutex);
  engine::nccl::state().failing_rank = rank;
  engine::nccl::state().calls_before_failure = call;
  engine::nccl::state().has_failed = false;
}
bool nccl_call_has_failed() {
  const std::lock_guard<std::mutex> lock(engine::nccl::state().mutex);
  return engine::nccl::state().has_failed;
}
double limit_nccl_waits(double seconds) {
  const std::lock_guard<std::mutex> lock(engine::nccl::state().mutex);
  return std::exchange(engine::nccl::state().wait_seconds, seconds);
}

}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine;
using namespace strata::simt::engine::nccl;

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  constexpr const char* texts[] = {"no error",
                                   "unhandled cuda error",
                                   "unhandled system error",
                                   "internal error",
                                   "invalid argument",
                                   "invalid usage",
                                   "remote process exited or there was a network error",
                                   "NCCL operation in progress"};
  return result >= ncclSuccess && result < ncclNumResults ? texts[result] : "unknown result code";
}
const char* ncclGetLastError(ncclComm_t comm) {
  static thread_local std::string text;  // lives until the thread asks again
  const state_lock lock(state().mutex);
  const std::shared_ptr<communicator> self = find_communicator(comm);
  text = self != nullptr ? self->last_error : thread_error();
  return text.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return ncclInvalidArgument;
  const state_lock lock(state().mutex);
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "strata simt %llu", static_cast<unsigned long long>(++state().ids));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) {
    return note(keep_error(nullptr, ncclInvalidArgument,
                           "ncclCommInitRank: there is no such rank, or the pointer to the communicator is null"));
  }
  *comm = nullptr;
  const pending_join wanted{comm, ranks, text_of(id), rank, current_device()};
  if (group().depth == 0) return join({wanted});
  group().joins.push_back(wanted);
  return ncclSuccess;
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ranks, const int* devices) {
  if (comms == nullptr || ranks < 1) {
    return keep_error(nullptr, ncclInvalidArgument,
                      "ncclCommInitAll: no ranks, or the pointer to the communicators is null");
  }
  ncclUniqueId id;
  if (const ncclResult_t error = ncclGetUniqueId(&id)) return error;
  std::vector<pending_join> joins;
  for (int rank = 0; rank < ranks; ++rank) {
    const int device = devices != nullptr ? devices[rank] : rank;
    if (!is_device(device)) {
      return keep_error(nullptr, devices != nullptr ? ncclUnhandledCudaError : ncclInvalidArgument,
                        "ncclCommInitAll: there is no device " + std::to_string(device) + " (STRATA_SIMT_DEVICES)");
    }
    comms[rank] = nullptr;
    joins.push_back({comms + rank, ranks, text_of(id), rank, device});
  }
  return join(joins);
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) { return leave(comm, false, false); }
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return comm == nullptr ? ncclSuccess : leave(comm, true, false); }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return comm == nullptr ? ncclSuccess : leave(comm, true, true); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return ask(comm, error, [&](const communicator& self) { *error = self.failure; });
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int* ranks) {
  return ask(comm, ranks, [&](const communicator& self) { *ranks = self.all->ranks; });
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return ask(comm, device, [&](const communicator& self) { *device = self.device; });
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return ask(comm, rank, [&](const communicator& self) { *rank = self.rank; });
}
