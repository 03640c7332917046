// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the API functions give work to a stream. The work is executed at once, or recorded if the stream captures.
#pragma once

#include <functional>

#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {

cudaError_t validate_stream(cudaStream_t stream);
bool is_capturing(cudaStream_t stream);
cudaError_t issue_work(cudaStream_t stream, std::function<void()> work);
// For work that waits for other host threads. Such work must run without api_mutex. If the stream captures, this
// records the work. Otherwise it returns `execute_now`, and the caller must execute the work without holding api_mutex.
issue issue_waiting_work(cudaStream_t stream, std::function<cudaError_t()> work, cudaError_t& error);
// True if the stream was made for this device. The legacy stream belongs to every device.
bool is_stream_of(cudaStream_t stream, int device);
// For functions that CUDA forbids during captures. This function looks for captures in global mode, and for captures in
// thread-local mode that the calling thread began. If there are any, it invalidates them and returns an error.
cudaError_t refuse_while_capturing();
// Calls `on_destruction` when the graph that is being captured is no longer needed.
void keep_for_graph(cudaStream_t stream, std::function<void()> on_destruction);

}  // namespace engine
}  // namespace simt
}  // namespace strata
