// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stand-in for NCCL: which calls of the ranks belong together, and waits that would never end.
#include <strata/simt/runtime/nccl_state.hpp>

#include <algorithm>

namespace strata {
namespace simt {
namespace engine {
namespace nccl {
namespace {

void finish(operation& what, ncclResult_t result) {
  what.done = true;
  what.result = result;
  auto& open = what.owner->open;
  const auto is_it = [&](const operation_handle& other) { return other.get() == &what; };
  open.erase(std::remove_if(open.begin(), open.end(), is_it), open.end());
}

void match_collective(clique& all, const std::vector<operation_handle>& calls) {
  const call_arguments& first = calls[0]->call;
  for (const operation_handle& other : calls) {
    const call_arguments& call = other->call;
    const bool is_same_kind = call.kind == first.kind;
    if (is_same_kind && call.count == first.count && call.type == first.type && call.peer == first.peer &&
        (!reduces(first.kind) || call.reduction == first.reduction)) {
      continue;
    }
    const ncclResult_t result = is_same_kind ? ncclInvalidArgument : ncclInvalidUsage;
    const std::string why = "ranks do not agree: " + describe(*calls[0]) + ", " + describe(*other) +
                            (is_same_kind ? " (or another type, root or reduction)" : "");
    keep_error(nullptr, result, why);
    return fail_clique(all, {}, result, result, why);
  }
  for (const operation_handle& call : calls) {
    if (is_memory_there(*call)) continue;
    const std::string why = describe(*call) + ": its memory has been freed";
    keep_error(nullptr, ncclUnhandledCudaError, why);
    return fail_clique(all, {call->owner->rank}, ncclUnhandledCudaError, ncclRemoteError, why);
  }
  move_bytes(calls);
  for (const operation_handle& call : calls) finish(*call, ncclSuccess);
  state().changed.notify_all();
}

void match_pair(clique& all, operation& from, operation& to) {
  if (from.call.count != to.call.count || from.call.type != to.call.type) {
    const std::string why = "ranks do not agree: " + describe(from) + ", " + describe(to) + " (or another type)";
    keep_error(nullptr, ncclInvalidArgument, why);
    return fail_clique(all, {from.owner->rank, to.owner->rank}, ncclInvalidArgument, ncclRemoteError, why);
  }
  if (!is_memory_there(from) || !is_memory_there(to)) {
    const operation& guilty = is_memory_there(from) ? to : from;
    const std::string why = describe(guilty) + ": its memory has been freed";
    keep_error(nullptr, ncclUnhandledCudaError, why);
    return fail_clique(all, {guilty.owner->rank}, ncclUnhandledCudaError, ncclRemoteError, why);
  }
  move_bytes(from, to);
  finish(from, ncclSuccess);
  finish(to, ncclSuccess);
  state().changed.notify_all();
}

void post(const operation_handle& what) {
  communicator& self = *what->owner;
  clique& all = *self.all;
  if (self.failure != ncclSuccess || is_gone(self)) {
    what->done = true;
    what->result = self.failure != ncclSuccess ? self.failure : ncclInvalidArgument;
    return;
  }
  self.open.push_back(what);
  const call_arguments& call = what->call;
  if (call.kind == call_kind::send || call.kind == call_kind::receive) {
    const bool sends = call.kind == call_kind::send;
    const std::pair<int, int> way = sends ? std::make_pair(self.rank, call.peer) : std::make_pair(call.peer, self.rank);
    auto& others = sends ? all.receives[way] : all.sends[way];
    if (others.empty()) {
      (sends ? all.sends : all.receives)[way].push_back(what);
      return;
    }
    const operation_handle other = others.front();
    others.pop_front();
    return match_pair(all, sends ? *what : *other, sends ? *other : *what);
  }
  const uint64_t number = self.collectives++;
  auto& calls = all.collectives[number];
  calls.resize(static_cast<size_t>(all.ranks));
  calls[static_cast<size_t>(self.rank)] = what;
  if (std::find(calls.begin(), calls.end(), nullptr) != calls.end()) return;
  const std::vector<operation_handle> complete = std::move(calls);
  all.collectives.erase(number);
  match_collective(all, complete);
}

// The ranks whose calls an open operation still needs.
std::vector<int> awaited(const operation& what) {
  if (what.call.kind == call_kind::send || what.call.kind == call_kind::receive) return {what.call.peer};
  std::vector<int> result;
  for (const auto& entry : what.owner->all->collectives) {
    if (entry.second[static_cast<size_t>(what.owner->rank)].get() != &what) continue;
    for (size_t r = 0; r < entry.second.size(); ++r) {
      if (entry.second[r] == nullptr) result.push_back(static_cast<int>(r));
    }
  }
  return result;
}

std::string describe_wait(const operation& what) {
  std::string text = describe(what) + " waits for rank";
  for (int rank : awaited(what)) text += " " + std::to_string(rank);
  return text;
}

}  // namespace

void fail_clique(clique& all, const std::vector<int>& culprits, ncclResult_t of_culprits, ncclResult_t of_others,
                 const std::string& why) {
  for (const auto& member : all.members) {
    if (member == nullptr) continue;
    const bool is_culprit = std::find(culprits.begin(), culprits.end(), member->rank) != culprits.end();
    const ncclResult_t result = is_culprit ? of_culprits : of_others;
    if (member->failure == ncclSuccess) {
      member->failure = result;
      member->last_error = why;
    }
    const std::vector<operation_handle> open = member->open;
    for (const operation_handle& what : open) finish(*what, result);
  }
  all.collectives.clear();
  all.sends.clear();
  all.receives.clear();
  state().changed.notify_all();
}

void look_for_endless_waits(clique& all) {
  bool all_wait = true;
  for (const auto& member : all.members) {
    all_wait = all_wait && (is_gone(*member) || (member->waits && !member->open.empty()));
    for (const operation_handle& what : member->open) {
      for (int rank : awaited(*what)) {
        if (!is_gone(*all.members[static_cast<size_t>(rank)])) continue;
        const std::string why = describe_wait(*what) + ", of which rank " + std::to_string(rank) +
                                " has finalized, destroyed or aborted its communicator";
        keep_error(nullptr, ncclRemoteError, why, false);
        return fail_clique(all, {}, ncclRemoteError, ncclRemoteError, why);
      }
    }
  }
  if (!all_wait) return;
  std::string why = "all ranks wait for each other:";
  bool any = false;
  for (const auto& member : all.members) {
    if (member->open.empty()) continue;
    why += std::string(any ? "; " : " ") + describe_wait(*member->open.front());
    any = true;
  }
  if (!any) return;
  keep_error(nullptr, ncclInvalidUsage, why);
  fail_clique(all, {}, ncclInvalidUsage, ncclInvalidUsage, why);
}

std::chrono::steady_clock::time_point end_of_wait() {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(state().wait_seconds));
}

ncclResult_t carry_out(const std::vector<bound_call>& calls) {
  state_lock lock(state().mutex);
  std::vector<operation_handle> posted;
  for (const bound_call& bound : calls) {
    posted.push_back(std::make_shared<operation>(operation{bound.call, bound.owner.get()}));
    post(posted.back());
  }
  for (const bound_call& bound : calls) bound.owner->waits = true;
  for (const bound_call& bound : calls) look_for_endless_waits(*bound.owner->all);
  const auto is_done = [&] {
    return std::all_of(posted.begin(), posted.end(), [](const operation_handle& what) { return what->done; });
  };
  if (!state().changed.wait_until(lock, end_of_wait(), is_done)) {
    for (const operation_handle& what : posted) {
      if (what->done) continue;
      const std::string why = describe_wait(*what) + ", for too long (STRATA_SIMT_NCCL_SECONDS)";
      keep_error(what->owner, ncclRemoteError, why);
      fail_clique(*what->owner->all, {}, ncclRemoteError, ncclRemoteError, why);
    }
  }
  ncclResult_t result = ncclSuccess;
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].owner->waits = false;
    if (result == ncclSuccess && posted[i]->result != ncclSuccess) {
      result = posted[i]->result;
      thread_error() = calls[i].owner->last_error;
    }
  }
  return result;
}

bool fails_now(communicator& self) {
  if (self.rank != state().failing_rank || state().has_failed) return false;
  if (state().calls_before_failure-- > 0) return false;
  state().has_failed = true;
  const std::string why = "a failure of rank " + std::to_string(self.rank) + " that was armed for a test";
  keep_error(&self, ncclSystemError, why, false);
  fail_clique(*self.all, {self.rank}, ncclSystemError, ncclRemoteError, why);
  return true;
}

}  // namespace nccl
}  // namespace engine
}  // namespace simt
}  // namespace strata
