// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NCCL's stand-in: ranks are host threads, which wait for each other under one mutex. The last that arrives moves the
// bytes of all. api_mutex may be taken under that mutex, never the other way round.
#include <strata/simt/half.hpp>
#include <strata/simt/nccl.hpp>
#include <strata/simt/runtime/engine_state.hpp>
#include <strata/simt/runtime/stream_graph.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace strata {
namespace simt {
namespace engine {
namespace {

enum class call_kind { send, receive, all_gather, all_reduce, reduce, reduce_scatter, broadcast };

const char* name_of(call_kind kind) {
  constexpr const char* names[] = {"ncclSend",   "ncclRecv",          "ncclAllGather", "ncclAllReduce",
                                   "ncclReduce", "ncclReduceScatter", "ncclBroadcast"};
  return names[static_cast<int>(kind)];
}

struct communicator;

// A call as it was made; a graph makes it many times.
struct call_arguments {
  call_kind kind;
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int peer;  // or the root; 0 where there is neither
};

// A call that waits to be matched by those of other ranks.
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
  std::vector<operation_handle> open;  // that are not done
  bool waits = false;                  // its thread waits for all of them
  uint64_t collectives = 0;            // it has taken part in
  ncclResult_t failure = ncclSuccess;  // what ncclCommGetAsyncError says, and all calls return from then on
  std::string last_error;
};

struct clique {
  explicit clique(int count) : ranks(count), members(static_cast<size_t>(count)) {}
  int ranks;
  std::vector<std::shared_ptr<communicator>> members;  // null before it joins
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
nccl_state& state() {
  static auto* const all = new nccl_state;
  return *all;
}
using state_lock = std::unique_lock<std::mutex>;

thread_local std::string thread_error;

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

// Prints what a program did wrong; what other ranks or an armed failure did is only kept.
ncclResult_t keep_error(communicator* owner, ncclResult_t result, const std::string& text, bool is_misuse = true) {
  thread_error = text;
  if (owner != nullptr) owner->last_error = text;
  if (is_misuse && !settings.quiet) std::fprintf(stderr, "SIMT ERROR [nccl] %s\n", text.c_str());
  return result;
}

std::string describe(const operation& what) {
  const call_arguments& call = what.call;
  std::string text = "rank " + std::to_string(what.owner->rank) + " in " + name_of(call.kind) + " of " +
                     std::to_string(call.count) + " items of " + std::to_string(size_of(call.type)) + " bytes";
  if (call.kind == call_kind::send) text += " to rank " + std::to_string(call.peer);
  if (call.kind == call_kind::receive) text += " from rank " + std::to_string(call.peer);
  return text;
}

// ---- ends of operations, under the mutex
void finish(operation& what, ncclResult_t result) {
  what.done = true;
  what.result = result;
  auto& open = what.owner->open;
  const auto is_it = [&](const operation_handle& other) { return other.get() == &what; };
  open.erase(std::remove_if(open.begin(), open.end(), is_it), open.end());
}

// Ends all waits of the clique, and all its later calls. The culprits get another error than the others.
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

// ---- reductions
template <class T>
struct plain_number {
  static constexpr size_t bytes = sizeof(T);
  static T load(const char* from) {
    T value;
    std::memcpy(&value, from, bytes);
    return value;
  }
  static void store(char* to, T value) { std::memcpy(to, &value, bytes); }
};
template <int MantissaBits, int ExponentBits>
struct narrow_number {
  static constexpr size_t bytes = 2;
  static float load(const char* from) {
    return detail::widen<MantissaBits, ExponentBits>(plain_number<uint16_t>::load(from));
  }
  static void store(char* to, float value) {
    plain_number<uint16_t>::store(to, detail::narrow<MantissaBits, ExponentBits>(value));
  }
};

// Integers wrap around, as on the device.
template <class T>
T apply(ncclRedOp_t reduction, T a, T b) {
  switch (reduction) {
    case ncclMax:
      return a < b ? b : a;
    case ncclMin:
      return b < a ? b : a;
    case ncclProd:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      } else {
        return a * b;
      }
    default:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      } else {
        return a + b;
      }
  }
}

// In the order of ranks, so that all ranks and all runs get the same bits.
template <class Number>
void reduce_as(ncclRedOp_t reduction, const std::vector<operation_handle>& calls, size_t first, size_t count,
               char* result) {
  constexpr size_t bytes = Number::bytes;
  for (size_t i = 0; i < count; ++i) {
    auto sum = Number::load(static_cast<const char*>(calls[0]->call.send) + (first + i) * bytes);
    for (size_t r = 1; r < calls.size(); ++r) {
      sum = apply(reduction, sum, Number::load(static_cast<const char*>(calls[r]->call.send) + (first + i) * bytes));
    }
    if (reduction == ncclAvg) sum = static_cast<decltype(sum)>(sum / static_cast<decltype(sum)>(calls.size()));
    Number::store(result + i * bytes, sum);
  }
}

std::vector<char> reduce(const std::vector<operation_handle>& calls, size_t first, size_t count) {
  const ncclDataType_t type = calls[0]->call.type;
  const ncclRedOp_t reduction = calls[0]->call.reduction;
  std::vector<char> result(count * size_of(type));
  const auto as = [&](auto number) { reduce_as<decltype(number)>(reduction, calls, first, count, result.data()); };
  switch (type) {
    case ncclInt8:
      as(plain_number<int8_t>{});
      break;
    case ncclUint8:
      as(plain_number<uint8_t>{});
      break;
    case ncclInt32:
      as(plain_number<int32_t>{});
      break;
    case ncclUint32:
      as(plain_number<uint32_t>{});
      break;
    case ncclInt64:
      as(plain_number<int64_t>{});
      break;
    case ncclUint64:
      as(plain_number<uint64_t>{});
      break;
    case ncclFloat16:
      as(narrow_number<10, 5>{});
      break;
    case ncclBfloat16:
      as(narrow_number<7, 8>{});
      break;
    case ncclFloat32:
      as(plain_number<float>{});
      break;
    default:
      as(plain_number<double>{});
  }
  return result;
}

// ---- what arrives where
size_t sent_bytes(const communicator& owner, const call_arguments& call) {
  const size_t bytes = call.count * size_of(call.type);
  switch (call.kind) {
    case call_kind::receive:
      return 0;
    case call_kind::reduce_scatter:
      return bytes * static_cast<size_t>(owner.all->ranks);
    case call_kind::broadcast:
      return call.peer == owner.rank ? bytes : 0;
    default:
      return bytes;
  }
}
size_t received_bytes(const communicator& owner, const call_arguments& call) {
  const size_t bytes = call.count * size_of(call.type);
  switch (call.kind) {
    case call_kind::send:
      return 0;
    case call_kind::all_gather:
      return bytes * static_cast<size_t>(owner.all->ranks);
    case call_kind::reduce:
      return call.peer == owner.rank ? bytes : 0;
    default:
      return bytes;
  }
}

void store_result(const std::vector<char>& bytes, const std::vector<operation_handle>& calls, size_t first_byte,
                  const std::vector<void*>& targets) {
  std::vector<const void*> sources;
  for (const operation_handle& call : calls) {
    sources.push_back(static_cast<const char*>(call->call.send) + first_byte);
  }
  for (void* const to : targets) store_allocated(to, bytes.data(), bytes.size(), sources);
}

void move_bytes_of(const std::vector<operation_handle>& calls) {
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  const call_arguments& first = calls[0]->call;
  const size_t bytes = first.count * size_of(first.type);
  switch (first.kind) {
    case call_kind::all_gather:
      for (const operation_handle& to : calls) {
        char* target = static_cast<char*>(to->call.receive);
        for (const operation_handle& from : calls) {
          copy_allocated(target, from->call.send, bytes);
          target += bytes;
        }
      }
      break;
    case call_kind::broadcast: {
      const operation& from = *calls[static_cast<size_t>(first.peer)];
      for (const operation_handle& to : calls) copy_allocated(to->call.receive, from.call.send, bytes);
      break;
    }
    case call_kind::all_reduce: {
      std::vector<void*> targets;
      for (const operation_handle& to : calls) targets.push_back(to->call.receive);
      store_result(reduce(calls, 0, first.count), calls, 0, targets);
      break;
    }
    case call_kind::reduce:
      store_result(reduce(calls, 0, first.count), calls, 0, {calls[static_cast<size_t>(first.peer)]->call.receive});
      break;
    default: {  // reduce_scatter; all are reduced before the first is stored, which may be in place
      std::vector<std::vector<char>> parts;
      for (size_t r = 0; r < calls.size(); ++r) parts.push_back(reduce(calls, r * first.count, first.count));
      for (size_t r = 0; r < calls.size(); ++r) store_result(parts[r], calls, r * bytes, {calls[r]->call.receive});
    }
  }
}

// Memory may have been freed since a capture.
bool is_memory_there(const operation& what) {
  const size_t sent = sent_bytes(*what.owner, what.call), received = received_bytes(*what.owner, what.call);
  return (sent == 0 || is_allocated(what.call.send, sent)) &&
         (received == 0 || is_allocated(what.call.receive, received));
}

void match_collective(clique& all, const std::vector<operation_handle>& calls) {
  const call_arguments& first = calls[0]->call;
  for (const operation_handle& other : calls) {
    const call_arguments& call = other->call;
    const bool is_same_kind = call.kind == first.kind;
    const bool reduces = first.kind == call_kind::all_reduce || first.kind == call_kind::reduce ||
                         first.kind == call_kind::reduce_scatter;
    if (is_same_kind && call.count == first.count && call.type == first.type && call.peer == first.peer &&
        (!reduces || call.reduction == first.reduction)) {
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
  move_bytes_of(calls);
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
  if (const size_t bytes = from.call.count * size_of(from.call.type)) {
    const std::lock_guard<std::recursive_mutex> lock(api_mutex());
    copy_allocated(to.call.receive, from.call.send, bytes);
  }
  finish(from, ncclSuccess);
  finish(to, ncclSuccess);
  state().changed.notify_all();
}

bool is_gone(const communicator& member) { return !member.is_usable; }

// ---- issue, under the mutex
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

// A rank that is gone, or all that wait for each other: nothing will end that wait.
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

struct bound_call {
  std::shared_ptr<communicator> owner;
  call_arguments call;
};

// All calls go on together, as those of a group do.
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
      thread_error = calls[i].owner->last_error;
    }
  }
  return result;
}

// Whether the failure that a test has armed happens now. Under the mutex.
bool fails_now(communicator& self) {
  if (self.rank != state().failing_rank || state().has_failed) return false;
  if (state().calls_before_failure-- > 0) return false;
  state().has_failed = true;
  const std::string why = "a failure of rank " + std::to_string(self.rank) + " that was armed for a test";
  keep_error(&self, ncclSystemError, why, false);
  fail_clique(*self.all, {self.rank}, ncclSystemError, ncclRemoteError, why);
  return true;
}

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
thread_local group_state group;

ncclResult_t note(ncclResult_t result) {
  if (group.depth > 0 && group.error == ncclSuccess) group.error = result;
  return result;
}

bool have_common_bytes(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

// What one rank receives in a group must not be where it sends from or receives something else.
bool overlap(const std::vector<group_state::entry>& entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    const communicator& owner = *entries[i].bound.owner;
    const call_arguments& one = entries[i].bound.call;
    for (size_t j = 0; j < entries.size(); ++j) {
      if (i == j || entries[j].bound.owner.get() != &owner) continue;
      const call_arguments& other = entries[j].bound.call;
      if (have_common_bytes(one.receive, received_bytes(owner, one), other.receive, received_bytes(owner, other)) ||
          have_common_bytes(one.receive, received_bytes(owner, one), other.send, sent_bytes(owner, other))) {
        return true;
      }
    }
  }
  return false;
}

cudaError_t as_graph_error(ncclResult_t result) { return result == ncclSuccess ? cudaSuccess : cudaErrorUnknown; }

// Calls of one stream that captures become one item of its graph; all others are carried out now.
ncclResult_t issue_calls(const std::vector<group_state::entry>& entries) {
  std::vector<cudaStream_t> streams;
  for (const auto& entry : entries) {
    if (std::find(streams.begin(), streams.end(), entry.stream) == streams.end()) streams.push_back(entry.stream);
  }
  if (overlap(entries)) {
    const state_lock lock(state().mutex);
    return keep_error(entries[0].bound.owner.get(), ncclInvalidUsage,
                      "calls of a group receive into memory that others of it use");
  }
  std::vector<bound_call> now;
  for (cudaStream_t stream : streams) {
    std::vector<bound_call> calls;
    for (const auto& entry : entries) {
      if (entry.stream == stream) calls.push_back(entry.bound);
    }
    cudaError_t error = cudaSuccess;
    const issue how = issue_waiting_work(
        stream, [calls] { return as_graph_error(carry_out(calls)); }, error);
    if (how == issue::refused) {
      const state_lock lock(state().mutex);
      return keep_error(calls[0].owner.get(), ncclUnhandledCudaError,
                        std::string("the stream refuses work: ") + cudaGetErrorString(error));
    }
    if (how == issue::execute_now) now.insert(now.end(), calls.begin(), calls.end());
  }
  return now.empty() ? ncclSuccess : carry_out(now);
}

std::shared_ptr<communicator> find_communicator(const ncclComm_t comm) {
  const auto found = state().communicators.find(comm);
  return found != state().communicators.end() ? found->second : nullptr;
}

bool reduces(call_kind kind) {
  return kind == call_kind::all_reduce || kind == call_kind::reduce || kind == call_kind::reduce_scatter;
}

ncclResult_t refuse(communicator* owner, call_kind kind, const char* what) {
  return keep_error(owner, ncclInvalidArgument, std::string(name_of(kind)) + ": " + what);
}

ncclResult_t check_arguments(communicator& self, const call_arguments& call, cudaStream_t stream) {
  const size_t size = size_of(call.type);
  if (size == 0) return refuse(&self, call.kind, "there is no such type");
  if (reduces(call.kind)) {
    if (call.reduction < ncclSum || call.reduction > ncclAvg) {
      return refuse(&self, call.kind, "there is no such reduction");
    }
    if (size == 1 && call.type != ncclInt8 && call.type != ncclUint8) {
      return refuse(&self, call.kind, "8-bit floating point is not reduced here");
    }
  }
  if (call.peer < 0 || call.peer >= self.all->ranks) return refuse(&self, call.kind, "there is no such rank");
  if (call.count > ~size_t{0} / size / static_cast<size_t>(self.all->ranks)) {
    return refuse(&self, call.kind, "the count is too large");
  }
  if (!is_stream_of(stream, self.device)) {
    return keep_error(&self, ncclUnhandledCudaError,
                      std::string(name_of(call.kind)) + ": the stream is of another device than the communicator");
  }
  const size_t sent = sent_bytes(self, call), received = received_bytes(self, call);
  if (sent != 0 && !is_allocated(call.send, sent)) {
    return refuse(&self, call.kind, "what is sent does not lie in one allocation of the device");
  }
  if (received != 0 && !is_allocated(call.receive, received)) {
    return refuse(&self, call.kind, "what is received does not fit into one allocation of the device");
  }
  const size_t bytes = call.count * size, rank_offset = bytes * static_cast<size_t>(self.rank);
  const char* in_place = static_cast<const char*>(call.receive);
  if (call.kind == call_kind::all_gather) in_place += rank_offset;
  const bool is_in_place = call.kind == call_kind::reduce_scatter
                               ? static_cast<const char*>(call.send) + rank_offset == call.receive
                               : call.send == in_place;
  if (!is_in_place && have_common_bytes(call.send, sent, call.receive, received)) {
    return refuse(&self, call.kind, "the arrays overlap, and not as a call in place has them");
  }
  return ncclSuccess;
}

ncclResult_t issue_call(const ncclComm_t comm, const call_arguments& call, cudaStream_t stream) {
  std::shared_ptr<communicator> self;
  {
    const state_lock lock(state().mutex);
    self = find_communicator(comm);
    if (self == nullptr || is_gone(*self)) return note(refuse(nullptr, call.kind, "this is no communicator in use"));
    if (fails_now(*self)) return note(ncclSystemError);
    if (self->failure != ncclSuccess) return note(keep_error(self.get(), self->failure, self->last_error, false));
    if (const ncclResult_t error = check_arguments(*self, call, stream)) return note(error);
  }
  const bool is_pair = call.kind == call_kind::send || call.kind == call_kind::receive;
  if (call.count == 0 && !is_pair) return ncclSuccess;  // as NCCL: without the other ranks
  const group_state::entry entry{{self, call}, stream};
  if (group.depth == 0) return issue_calls({entry});
  group.calls.push_back(entry);
  return ncclSuccess;
}

// ---- communicators
ncclResult_t refuse_join(clique& all, ncclResult_t result, const std::string& why) {
  all.refused = result;
  state().changed.notify_all();
  return keep_error(nullptr, result, why);
}

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
    // Here and not by each rank when it wakes up: until then, those that are awake would take it to be gone.
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
    // The caller gets none of its communicators: those of the same group that are complete lose this rank.
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
  auto& members = self->all->members;  // which have the clique in turn
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
}  // namespace engine

void fail_nccl_call(int rank, long call) {
  const std::lock_guard<std::mutex> lock(engine::state().mutex);
  engine::state().failing_rank = rank;
  engine::state().calls_before_failure = call;
  engine::state().has_failed = false;
}
bool nccl_call_has_failed() {
  const std::lock_guard<std::mutex> lock(engine::state().mutex);
  return engine::state().has_failed;
}
double limit_nccl_waits(double seconds) {
  const std::lock_guard<std::mutex> lock(engine::state().mutex);
  return std::exchange(engine::state().wait_seconds, seconds);
}

}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine;

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
  text = self != nullptr ? self->last_error : thread_error;
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
  if (group.depth == 0) return join({wanted});
  group.joins.push_back(wanted);
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

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return keep_error(nullptr, ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--group.depth > 0) return ncclSuccess;
  const group_state ended = std::exchange(group, {});
  ncclResult_t result = ended.error;
  {
    const state_lock lock(state().mutex);
    std::set<communicator*> owners;
    for (const auto& entry : ended.calls) owners.insert(entry.bound.owner.get());
    for (communicator* owner : owners) {
      if (fails_now(*owner) && result == ncclSuccess) result = ncclSystemError;
    }
  }
  if (result == ncclSuccess && !ended.joins.empty()) result = join(ended.joins);
  if (result == ncclSuccess && !ended.calls.empty()) result = issue_calls(ended.calls);
  return result;
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return issue_call(comm, {call_kind::send, send, nullptr, count, type, ncclSum, peer}, stream);
}
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return issue_call(comm, {call_kind::receive, nullptr, receive, count, type, ncclSum, peer}, stream);
}
ncclResult_t ncclAllGather(const void* send, void* receive, size_t send_count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return issue_call(comm, {call_kind::all_gather, send, receive, send_count, type, ncclSum, 0}, stream);
}
ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t comm, cudaStream_t stream) {
  return issue_call(comm, {call_kind::all_reduce, send, receive, count, type, operation, 0}, stream);
}
ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return issue_call(comm, {call_kind::reduce, send, receive, count, type, operation, root}, stream);
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t receive_count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return issue_call(comm, {call_kind::reduce_scatter, send, receive, receive_count, type, operation, 0}, stream);
}
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return issue_call(comm, {call_kind::broadcast, send, receive, count, type, ncclSum, root}, stream);
}
