// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stand-in for NCCL: calls and groups of calls. It checks their arguments. Calls on a stream that captures go into
// its graph.
#include <strata/simt/runtime/nccl_state.hpp>
#include <strata/simt/runtime/stream_graph.hpp>

#include <algorithm>
#include <set>

namespace strata {
namespace simt {
namespace engine {
namespace nccl {
namespace {

bool have_common_bytes(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && x < y + b_bytes && y < x + a_bytes;
}

// True if two receives of a group write the same memory, or if a receive writes memory that is sent.
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

// The calls on one stream that captures become one item of its graph. All other calls are carried out now.
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
    return refuse(&self, call.kind, "the data to send do not lie in one allocation of the device");
  }
  if (received != 0 && !is_allocated(call.receive, received)) {
    return refuse(&self, call.kind, "the data to receive do not fit in one allocation of the device");
  }
  const size_t bytes = call.count * size, rank_offset = bytes * static_cast<size_t>(self.rank);
  const char* in_place = static_cast<const char*>(call.receive);
  if (call.kind == call_kind::all_gather) in_place += rank_offset;
  const bool is_in_place = call.kind == call_kind::reduce_scatter
                               ? static_cast<const char*>(call.send) + rank_offset == call.receive
                               : call.send == in_place;
  if (!is_in_place && have_common_bytes(call.send, sent, call.receive, received)) {
    return refuse(&self, call.kind, "the arrays overlap, but the call is not in place");
  }
  return ncclSuccess;
}

ncclResult_t issue_call(const ncclComm_t comm, const call_arguments& call, cudaStream_t stream) {
  std::shared_ptr<communicator> self;
  {
    const state_lock lock(state().mutex);
    self = find_communicator(comm);
    if (self == nullptr || is_gone(*self)) return note(refuse(nullptr, call.kind, "the communicator is not in use"));
    if (fails_now(*self)) return note(ncclSystemError);
    if (self->failure != ncclSuccess) return note(keep_error(self.get(), self->failure, self->last_error, false));
    if (const ncclResult_t error = check_arguments(*self, call, stream)) return note(error);
  }
  const bool is_pair = call.kind == call_kind::send || call.kind == call_kind::receive;
  if (call.count == 0 && !is_pair) return ncclSuccess;  // like NCCL, without the other ranks
  const group_state::entry entry{{self, call}, stream};
  if (group().depth == 0) return issue_calls({entry});
  group().calls.push_back(entry);
  return ncclSuccess;
}

}  // namespace

}  // namespace nccl
}  // namespace engine
}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine::nccl;

ncclResult_t ncclGroupStart() {
  ++group().depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (group().depth == 0) return keep_error(nullptr, ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--group().depth > 0) return ncclSuccess;
  const group_state ended = std::exchange(group(), {});
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
