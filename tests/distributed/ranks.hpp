// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks for tests of the distributed layer: host threads, each with its device, communicator and stream.
#pragma once

#include <strata/distributed/communication/nccl.hpp>

#include <support/test_support.cuh>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Expects that a call of NCCL succeeds. A failure shows the error's text. ASSERT returns from the (void) function,
/// EXPECT continues.
#define ASSERT_NCCL_SUCCESS(...) ASSERT_PRED_FORMAT1(::strata_test::is_nccl_success, (__VA_ARGS__))
#define EXPECT_NCCL_SUCCESS(...) EXPECT_PRED_FORMAT1(::strata_test::is_nccl_success, (__VA_ARGS__))

namespace strata_test {

inline testing::AssertionResult is_nccl_success(const char* expression, ncclResult_t result) {
  if (result == ncclSuccess) return testing::AssertionSuccess();
  return testing::AssertionFailure() << expression << "\n  returned " << ncclGetErrorString(result) << ": "
                                     << ncclGetLastError(nullptr);
}

/// The identity of one rank, with its communicator and stream.
struct rank_context {
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  /// Waits for the stream. Copies and fills in other streams, such as those of device_vector, have ended already.
  void wait() const { ASSERT_CUDA_SUCCESS(cudaStreamSynchronize(stream)); }
};

/// The largest number of ranks: eight on the host back end, one for each device on GPUs.
inline int max_ranks() {
#if STRATA_HOST_SIMT
  return 8;
#else
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? std::min(devices, 8) : 0;
#endif
}

/// `wanted` ranks, or fewer if there are fewer GPUs.
inline int ranks_up_to(int wanted) { return std::min(wanted, max_ranks()); }

/// The numbers of ranks that tests run with. In check mode there are fewer.
inline std::vector<int> rank_counts() {
  std::vector<int> counts;
#if STRATA_SIMT_CHECK
  const int most = 3;
#else
  const int most = max_ranks();
#endif
  for (int count : {1, 2, 3, 4, 8}) {
    if (count <= most && count <= max_ranks() && !(strata_test::is_small() && count == 4)) counts.push_back(count);
  }
#if !STRATA_HOST_SIMT
  // On GPUs, only one rank and all ranks.
  if (counts.size() > 2) counts = {1, max_ranks()};
#endif
  return counts;
}

/// A rank throws this to abort its communicator on purpose.
struct abort_rank {};

/// Communicators whose ranks have ended without an error, by the number of ranks. They are kept, because making one
/// takes half a second on GPUs.
inline std::map<int, std::vector<ncclComm_t>>& kept_communicators() {
  static std::map<int, std::vector<ncclComm_t>> kept;
  return kept;
}

/// Runs `f(rank_context)` for each rank in a thread of its own, and returns when all threads have ended. A rank that
/// has thrown, or that has a fatal failure, aborts its communicator, so that no other rank waits for it. Assertions
/// count in all threads.
template <class F>
void on_ranks(int ranks, F&& f) {
#if STRATA_HOST_SIMT
  strata::simt::config().devices = std::max(strata::simt::config().devices, static_cast<unsigned>(ranks));
#endif
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<ncclComm_t> comms;
  std::swap(comms, kept_communicators()[ranks]);
  if (comms.empty()) {
    comms.resize(size, nullptr);
    ASSERT_NCCL_SUCCESS(ncclCommInitAll(comms.data(), ranks, nullptr));
  }
  std::vector<char> is_aborted(size, 0);
  const auto run = [&](int rank) {
    const testing::ScopedTrace trace(__FILE__, __LINE__,
                                     "rank " + std::to_string(rank) + " of " + std::to_string(ranks));
    rank_context self{rank, ranks, comms[static_cast<std::size_t>(rank)], nullptr};
    bool has_thrown = false;
    EXPECT_CUDA_SUCCESS(cudaSetDevice(rank));
    EXPECT_CUDA_SUCCESS(cudaStreamCreateWithFlags(&self.stream, cudaStreamNonBlocking));
    try {
      f(static_cast<const rank_context&>(self));
    } catch (const abort_rank&) {
      has_thrown = true;
    } catch (const std::exception& error) {
      has_thrown = true;
      ADD_FAILURE() << "a rank has thrown: " << error.what();
    }
    ncclResult_t of_comm = ncclSuccess;
    static_cast<void>(ncclCommGetAsyncError(self.comm, &of_comm));
    if (has_thrown || of_comm != ncclSuccess || testing::Test::HasFatalFailure()) {
      is_aborted[static_cast<std::size_t>(rank)] = 1;
      static_cast<void>(ncclCommAbort(self.comm));
    } else {
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(self.stream));
#if STRATA_HOST_SIMT
      EXPECT_NCCL_SUCCESS(ncclCommDestroy(self.comm));
#endif
    }
    EXPECT_CUDA_SUCCESS(cudaStreamDestroy(self.stream));
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
#if !STRATA_HOST_SIMT
  const bool is_any_aborted = std::find(is_aborted.begin(), is_aborted.end(), 1) != is_aborted.end();
  for (std::size_t rank = 0; rank < size && is_any_aborted; ++rank) {
    if (is_aborted[rank] == 0) static_cast<void>(ncclCommAbort(comms[rank]));
  }
  if (!is_any_aborted) std::swap(comms, kept_communicators()[ranks]);
#endif
}

}  // namespace strata_test
