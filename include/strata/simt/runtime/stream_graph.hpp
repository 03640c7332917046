// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How the API functions hand work to a stream: executed at once, or recorded if the stream
// captures.
#pragma once

#include <functional>

#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {

cudaError_t validate_stream(cudaStream_t stream);
bool is_capturing(cudaStream_t stream);
cudaError_t issue_work(cudaStream_t stream, std::function<void()> work);
// For work that waits for other host threads: it runs without api_mutex. What executes at once is left to
// the caller, which must not hold api_mutex either.
issue issue_waiting_work(cudaStream_t stream, std::function<cudaError_t()> work, cudaError_t& error);
// The device of a stream that was made; the legacy stream is of every device.
bool is_stream_of(cudaStream_t stream, int device);
// For calls that CUDA forbids while any stream captures in global mode; they spoil the capture.
cudaError_t refuse_while_capturing();
// Runs when the graph being captured is no longer needed.
void keep_for_graph(cudaStream_t stream, std::function<void()> on_destruction);

}  // namespace engine
}  // namespace simt
}  // namespace strata
