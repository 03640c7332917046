// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Streams, events, captures and graphs. Work is executed at once; a capture records closures.
#include <strata/simt/runtime/stream_graph.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <thread>

namespace strata {
namespace simt {
namespace engine {
namespace {

constexpr int any_device = -1;

struct work_item {
  std::function<cudaError_t()> run;
  bool waits;  // it waits for other host threads, so it must not hold api_mutex
};

// Shared by the graph, its executables and the capture that makes it.
struct recording {
  std::vector<work_item> items;
  std::vector<std::function<void()>> on_destruction;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaStream_t origin = nullptr;
  std::thread::id thread;
  bool invalidated = false;
  ~recording() {
    for (const auto& action : on_destruction) action();
  }
};
using recording_handle = std::shared_ptr<recording>;

struct stream_state {
  bool blocking;
  int device;
  recording_handle capture;
};
struct event_state {
  bool timing, recorded;
  std::chrono::steady_clock::time_point when;
  recording_handle capture;  // recorded in this capture
};

template <class Handle, class State>
class registry {
 public:
  Handle add(State state) {
    const Handle handle = reinterpret_cast<Handle>(++last_ * 16);
    add(handle, std::move(state));
    return handle;
  }
  void add(Handle handle, State state) { entries_.emplace(handle, std::move(state)); }
  State* find(Handle handle) {
    const auto found = entries_.find(handle);
    return found != entries_.end() ? &found->second : nullptr;
  }
  bool remove(Handle handle) { return entries_.erase(handle) != 0; }
  template <class Visit>
  void for_each(Visit visit) {
    for (auto& entry : entries_) visit(entry.first, entry.second);
  }

 private:
  std::map<Handle, State> entries_;
  uintptr_t last_ = 0x1000;
};

struct handle_tables {
  registry<cudaStream_t, stream_state> streams;
  registry<cudaEvent_t, event_state> events;
  registry<cudaGraph_t, recording_handle> graphs;
  registry<cudaGraphExec_t, recording_handle> executables;
  std::map<const void*, size_t> dynamic_shared_limits;  // set by cudaFuncSetAttribute
};
handle_tables& tables() {
  static handle_tables* const all = [] {
    auto* const made = new handle_tables;
    made->streams.add(cudaStreamPerThread, {true, any_device, nullptr});  // one for all threads, which take turns
    return made;
  }();
  return *all;
}

bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

bool blocking_stream_captures() {
  bool captures = false;
  tables().streams.for_each(
      [&](cudaStream_t, const stream_state& state) { captures |= state.capture != nullptr && state.blocking; });
  return captures;
}

stream_state* capturing(cudaStream_t stream) {
  stream_state* const state = is_legacy(stream) ? nullptr : tables().streams.find(stream);
  return state != nullptr && state->capture != nullptr ? state : nullptr;
}

// True if CUDA refuses work for the legacy stream, because it would wait for a blocking stream that captures.
bool legacy_stream_conflicts_with_capture(cudaStream_t stream) {
  if (!is_legacy(stream) || !blocking_stream_captures()) return false;
  tables().streams.for_each([&](cudaStream_t, stream_state& state) {
    if (state.capture != nullptr && state.blocking) state.capture->invalidated = true;
  });
  return true;
}

cudaError_t issue_item(cudaStream_t stream, work_item item) {
  if (const cudaError_t error = validate_stream(stream)) return error;
  if (stream_state* const state = capturing(stream)) {
    if (state->capture->invalidated) return set_last_error(cudaErrorStreamCaptureInvalidated);
    state->capture->items.push_back(std::move(item));
    return cudaSuccess;
  }
  if (legacy_stream_conflicts_with_capture(stream)) return set_last_error(cudaErrorStreamCaptureImplicit);
  return item.run();
}

// Carries out the items. Each takes api_mutex, except those that wait for other threads.
cudaError_t replay(const recording& work) {
  for (const work_item& item : work.items) {
    std::unique_lock<std::recursive_mutex> lock(api_mutex(), std::defer_lock);
    if (!item.waits) lock.lock();
    if (const cudaError_t error = item.run()) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t validate_stream(cudaStream_t stream) {
  if (is_legacy(stream) || tables().streams.find(stream) != nullptr) return cudaSuccess;
  return set_last_error(cudaErrorInvalidResourceHandle);
}

bool is_capturing(cudaStream_t stream) { return capturing(stream) != nullptr; }

cudaError_t issue_work(cudaStream_t stream, std::function<void()> work) {
  return issue_item(stream, {[work = std::move(work)] {
                               work();
                               return cudaSuccess;
                             },
                             false});
}

issue issue_waiting_work(cudaStream_t stream, std::function<cudaError_t()> work, cudaError_t& error) {
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  error = validate_stream(stream);
  if (error != cudaSuccess) return issue::refused;
  if (stream_state* const state = capturing(stream)) {
    if (state->capture->invalidated) {
      error = set_last_error(cudaErrorStreamCaptureInvalidated);
      return issue::refused;
    }
    state->capture->items.push_back({std::move(work), true});
    return issue::captured;
  }
  if (legacy_stream_conflicts_with_capture(stream)) {
    error = set_last_error(cudaErrorStreamCaptureImplicit);
    return issue::refused;
  }
  return issue::execute_now;
}

bool is_stream_of(cudaStream_t stream, int device) {
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  const stream_state* const state = is_legacy(stream) ? nullptr : tables().streams.find(stream);
  return state == nullptr || state->device == any_device || state->device == device;
}

cudaError_t refuse_while_capturing() {
  bool refused = false;
  tables().streams.for_each([&](cudaStream_t, stream_state& state) {
    if (state.capture == nullptr || state.capture->mode == cudaStreamCaptureModeRelaxed) return;
    if (state.capture->mode == cudaStreamCaptureModeThreadLocal &&
        state.capture->thread != std::this_thread::get_id()) {
      return;
    }
    state.capture->invalidated = true;
    refused = true;
  });
  return refused ? set_last_error(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

void keep_for_graph(cudaStream_t stream, std::function<void()> on_destruction) {
  capturing(stream)->capture->on_destruction.push_back(std::move(on_destruction));
}

issue issue_launch(const launch_parameters& parameters, const kernel_call& call, cudaError_t& error) {
  error = validate_stream(parameters.stream);
  if (error != cudaSuccess) return issue::refused;
  if (!is_stream_of(parameters.stream, current_device())) {
    error = cudaErrorInvalidResourceHandle;
    return issue::refused;
  }
  if (stream_state* const state = capturing(parameters.stream)) {
    if (state->capture->invalidated) {
      error = cudaErrorStreamCaptureInvalidated;
      return issue::refused;
    }
    const std::shared_ptr<void> arguments(call.clone(call.arguments), call.destroy);
    kernel_call copy = call;
    copy.arguments = arguments.get();
    launch_parameters again = parameters;
    again.stream = nullptr;  // the replay chooses the stream
    state->capture->items.push_back({[again, copy, arguments] { return execute_launch(again, copy); }, false});
    return issue::captured;
  }
  if (legacy_stream_conflicts_with_capture(parameters.stream)) {
    error = cudaErrorStreamCaptureImplicit;
    return issue::refused;
  }
  return issue::execute_now;
}

size_t dynamic_shared_limit(const void* kernel) {
  const auto found = tables().dynamic_shared_limits.find(kernel);
  return found != tables().dynamic_shared_limits.end() ? found->second : settings.static_shared_limit;
}

}  // namespace engine
}  // namespace simt
}  // namespace strata

using namespace strata::simt::engine;
using api_lock = std::lock_guard<std::recursive_mutex>;

// ---- streams
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const api_lock lock(api_mutex());
  if (stream == nullptr || flags > cudaStreamNonBlocking) {
    return set_last_error(cudaErrorInvalidValue);
  }
  *stream = tables().streams.add({flags != cudaStreamNonBlocking, current_device(), nullptr});
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const api_lock lock(api_mutex());
  if (is_legacy(stream) || stream == cudaStreamPerThread || !tables().streams.remove(stream)) {
    return set_last_error(cudaErrorInvalidResourceHandle);
  }
  return cudaSuccess;
}

// Also reports a failed kernel, like an asynchronous error.
static cudaError_t synchronise(cudaStream_t stream) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  if (stream_state* const state = capturing(stream)) {
    state->capture->invalidated = true;
    return set_last_error(cudaErrorStreamCaptureUnsupported);
  }
  return pending_launch_error();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronise(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return synchronise(stream); }
cudaError_t cudaDeviceSynchronize() {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = refuse_while_capturing()) return error;
  return pending_launch_error();
}

// An event of a capture pulls the waiting stream into the same capture.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  event_state* const state = tables().events.find(event);
  if (state == nullptr) return set_last_error(cudaErrorInvalidResourceHandle);
  if (state->capture == nullptr) {
    return is_capturing(stream) ? set_last_error(cudaErrorStreamCaptureIsolation) : cudaSuccess;
  }
  if (is_legacy(stream)) return set_last_error(cudaErrorStreamCaptureImplicit);
  tables().streams.find(stream)->capture = state->capture;
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  const api_lock lock(api_mutex());
  return issue_work(stream, [=] { function(user_data); });
}

// ---- events
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const api_lock lock(api_mutex());
  if (event == nullptr) return set_last_error(cudaErrorInvalidValue);
  *event = tables().events.add({(flags & cudaEventDisableTiming) == 0, false, {}, nullptr});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  event_state* const state = tables().events.find(event);
  if (state == nullptr) return set_last_error(cudaErrorInvalidResourceHandle);
  stream_state* const capture = capturing(stream);
  state->capture = capture != nullptr ? capture->capture : nullptr;
  state->recorded = capture == nullptr;
  state->when = std::chrono::steady_clock::now();
  return cudaSuccess;
}
static cudaError_t event_done(cudaEvent_t event) {
  const api_lock lock(api_mutex());
  const event_state* const state = tables().events.find(event);
  if (state == nullptr) return set_last_error(cudaErrorInvalidResourceHandle);
  if (state->capture != nullptr) return set_last_error(cudaErrorCapturedEvent);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return event_done(event); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return event_done(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  const api_lock lock(api_mutex());
  const event_state* const from = tables().events.find(start);
  const event_state* const to = tables().events.find(stop);
  if (from == nullptr || to == nullptr || !from->timing || !to->timing || !from->recorded || !to->recorded) {
    return set_last_error(cudaErrorInvalidResourceHandle);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(to->when - from->when).count();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const api_lock lock(api_mutex());
  return tables().events.remove(event) ? cudaSuccess : set_last_error(cudaErrorInvalidResourceHandle);
}

// ---- graphs
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const api_lock lock(api_mutex());
  if (const cudaError_t error = validate_stream(stream)) return error;
  if (is_legacy(stream)) return set_last_error(cudaErrorStreamCaptureUnsupported);
  if (is_capturing(stream)) return set_last_error(cudaErrorIllegalState);
  const auto capture = std::make_shared<recording>();
  capture->mode = mode;
  capture->origin = stream;
  capture->thread = std::this_thread::get_id();
  tables().streams.find(stream)->capture = capture;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const api_lock lock(api_mutex());
  if (graph == nullptr) return set_last_error(cudaErrorInvalidValue);
  *graph = nullptr;
  stream_state* const state = capturing(stream);
  if (state == nullptr) return set_last_error(cudaErrorIllegalState);
  const recording_handle capture = state->capture;
  if (capture->origin != stream) return set_last_error(cudaErrorStreamCaptureUnmatched);
  tables().streams.for_each([&](cudaStream_t, stream_state& other) {
    if (other.capture == capture) other.capture = nullptr;
  });
  if (capture->invalidated) return set_last_error(cudaErrorStreamCaptureInvalidated);
  *graph = tables().graphs.add(capture);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const api_lock lock(api_mutex());
  if (status == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (const cudaError_t error = validate_stream(stream)) return error;
  // The call reports nothing about the legacy stream then, and leaves the capture valid.
  if (is_legacy(stream) && blocking_stream_captures()) {
    return set_last_error(cudaErrorStreamCaptureImplicit);
  }
  const stream_state* const state = capturing(stream);
  *status = state == nullptr              ? cudaStreamCaptureStatusNone
            : state->capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const api_lock lock(api_mutex());
  const recording_handle* const work = tables().graphs.find(graph);
  if (work == nullptr || executable == nullptr) return set_last_error(cudaErrorInvalidValue);
  *executable = tables().executables.add(*work);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  recording_handle work;
  {
    const api_lock lock(api_mutex());
    const recording_handle* const found = tables().executables.find(executable);
    if (found == nullptr) return set_last_error(cudaErrorInvalidValue);
    work = *found;
  }
  cudaError_t error = cudaSuccess;
  const issue how = issue_waiting_work(
      stream, [work] { return replay(*work); }, error);
  return how == issue::execute_now ? replay(*work) : error;
}
// Nodes themselves are not modelled. Their number is: there is one for each launch, copy and fill.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  const api_lock lock(api_mutex());
  const recording_handle* const work = tables().graphs.find(graph);
  if (work == nullptr || count == nullptr) return set_last_error(cudaErrorInvalidValue);
  if (nodes != nullptr) return set_last_error(cudaErrorNotSupported);
  *count = (*work)->items.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const api_lock lock(api_mutex());
  return tables().graphs.remove(graph) ? cudaSuccess : set_last_error(cudaErrorInvalidValue);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const api_lock lock(api_mutex());
  return tables().executables.remove(executable) ? cudaSuccess : set_last_error(cudaErrorInvalidValue);
}

// ---- kernels
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const api_lock lock(api_mutex());
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<size_t>(value) > settings.shared_limit) {
    return set_last_error(cudaErrorInvalidValue);
  }
  tables().dynamic_shared_limits[kernel] = static_cast<size_t>(value);
  return cudaSuccess;
}
