// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The host back end's stand-in for NCCL: what it moves, what it refuses, and how waits end.
#include <support/test_types.cuh>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "distributed/ranks.hpp"

namespace nccl_simt_test {

using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

/// Waits of other ranks end soon, for as long as this lives.
class short_waits {
 public:
  explicit short_waits(double seconds) : before_(strata::simt::limit_nccl_waits(seconds)) {}
  ~short_waits() { strata::simt::limit_nccl_waits(before_); }

 private:
  double before_;
};

TEST(Nccl, GathersReducesAndBroadcasts) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& context) {
      const int rank = context.rank;
      const device_vector<int> in(std::vector<int>{rank, 10 * rank, -rank});
      device_vector<int> all(static_cast<std::size_t>(3 * ranks)), sums(3), most(3), root(3);
      ASSERT_NCCL_SUCCESS(ncclAllGather(in.data(), all.data(), 3, ncclInt32, context.comm, context.stream));
      ASSERT_NCCL_SUCCESS(ncclAllReduce(in.data(), sums.data(), 3, ncclInt32, ncclSum, context.comm, context.stream));
      ASSERT_NCCL_SUCCESS(ncclAllReduce(in.data(), most.data(), 3, ncclInt32, ncclMax, context.comm, context.stream));
      ASSERT_NCCL_SUCCESS(
          ncclBroadcast(in.data(), root.data(), 3, ncclInt32, ranks - 1, context.comm, context.stream));
      context.wait();
      const std::vector<int> found = all.to_host();
      for (int other = 0; other < ranks; ++other) {
        const auto at = static_cast<std::size_t>(3 * other);
        EXPECT_EQ(other, found[at]);
        EXPECT_EQ(10 * other, found[at + 1]);
        EXPECT_EQ(-other, found[at + 2]);
      }
      const int sum = ranks * (ranks - 1) / 2;
      EXPECT_EQ((std::vector<int>{sum, 10 * sum, -sum}), sums.to_host());
      EXPECT_EQ((std::vector<int>{ranks - 1, 10 * (ranks - 1), 0}), most.to_host());
      EXPECT_EQ((std::vector<int>{ranks - 1, 10 * (ranks - 1), 1 - ranks}), root.to_host());
    });
  }
}

TEST(Nccl, SendsToAllInAGroup) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& context) {
      // Rank a sends rank b a + 1 items; this one, too.
      const std::vector<int> numbers(static_cast<std::size_t>(context.rank + 1), 100 + context.rank);
      const device_vector<int> in(numbers);
      device_vector<int> out(static_cast<std::size_t>(ranks * (ranks + 1) / 2));
      ASSERT_NCCL_SUCCESS(ncclGroupStart());
      for (int peer = 0, at = 0; peer < ranks; at += ++peer) {
        EXPECT_NCCL_SUCCESS(ncclSend(in.data(), in.size(), ncclInt32, peer, context.comm, context.stream));
        EXPECT_NCCL_SUCCESS(ncclRecv(out.data() + at, static_cast<std::size_t>(peer) + 1, ncclInt32, peer,
                                     context.comm, context.stream));
      }
      ASSERT_NCCL_SUCCESS(ncclGroupEnd());
      context.wait();
      const std::vector<int> found = out.to_host();
      std::size_t at = 0;
      for (int peer = 0; peer < ranks; ++peer) {
        for (int i = 0; i <= peer; ++i) EXPECT_EQ(100 + peer, found[at++]);
      }
    });
  }
}

TEST(Nccl, MakesCommunicatorsByAnId) {
  ncclUniqueId id;
  ASSERT_NCCL_SUCCESS(ncclGetUniqueId(&id));
  strata::simt::config().devices = 4;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      ASSERT_CUDA_SUCCESS(cudaSetDevice(rank));
      ncclComm_t comm = nullptr;
      ASSERT_NCCL_SUCCESS(ncclCommInitRank(&comm, 4, id, rank));
      int number = -1, count = -1, device = -1;
      EXPECT_NCCL_SUCCESS(ncclCommUserRank(comm, &number));
      EXPECT_NCCL_SUCCESS(ncclCommCount(comm, &count));
      EXPECT_NCCL_SUCCESS(ncclCommCuDevice(comm, &device));
      EXPECT_EQ(rank, number);
      EXPECT_EQ(4, count);
      EXPECT_EQ(rank, device);
      EXPECT_NCCL_SUCCESS(ncclCommFinalize(comm));
      EXPECT_NCCL_SUCCESS(ncclCommDestroy(comm));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Ranks that do not agree: an error on all of them, and nothing is written.
TEST(Nccl, RefusesCallsThatDoNotMatch) {
  const short_waits waits(20);
  for (int fault = 0; fault < 4; ++fault) {
    on_ranks(2, [&](const rank_context& context) {
      const device_vector<int> in(std::vector<int>(8, 1));
      device_vector<int> out(16);
      const bool is_odd = context.rank == 1;
      ncclResult_t result = ncclSuccess;
      if (fault == 0) {  // sizes
        result = ncclAllGather(in.data(), out.data(), is_odd ? 4 : 8, ncclInt32, context.comm, context.stream);
      } else if (fault == 1) {  // kinds
        result = is_odd ? ncclAllGather(in.data(), out.data(), 4, ncclInt32, context.comm, context.stream)
                        : ncclAllReduce(in.data(), out.data(), 4, ncclInt32, ncclSum, context.comm, context.stream);
      } else if (fault == 2) {  // operators
        result = ncclAllReduce(in.data(), out.data(), 4, ncclInt32, is_odd ? ncclMin : ncclMax, context.comm,
                               context.stream);
      } else {  // what is sent is longer than what is received
        result = is_odd ? ncclSend(in.data(), 8, ncclInt32, 0, context.comm, context.stream)
                        : ncclRecv(out.data(), 4, ncclInt32, 1, context.comm, context.stream);
      }
      EXPECT_NE(ncclSuccess, result) << "fault " << fault;
      for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
    });
  }
}

TEST(Nccl, EndsWaitsWhenARankAborts) {
  for (const int ranks : {2, 3, 8}) {
    on_ranks(ranks, [&](const rank_context& context) {
      const device_vector<int> in(std::vector<int>(8, 1));
      device_vector<int> out(static_cast<std::size_t>(8 * ranks));
      if (context.rank == 0) throw strata_test::abort_rank{};
      EXPECT_NE(ncclSuccess, ncclAllGather(in.data(), out.data(), 8, ncclInt32, context.comm, context.stream));
    });
  }
}

TEST(Nccl, EndsWaitsAfterTheirLimit) {
  const short_waits waits(0.2);
  std::atomic<bool> has_ended{false};
  on_ranks(2, [&](const rank_context& context) {
    device_vector<int> out(8);
    const auto begin = std::chrono::steady_clock::now();
    if (context.rank == 0) {
      EXPECT_EQ(ncclRemoteError, ncclRecv(out.data(), 8, ncclInt32, 1, context.comm, context.stream));
      has_ended = true;
    }
    // The other rank makes no call.
    while (!has_ended && std::chrono::steady_clock::now() - begin < std::chrono::seconds(30)) std::this_thread::yield();
    EXPECT_TRUE(has_ended);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
  });
}

TEST(Nccl, ReplaysInGraphs) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& context) {
      device_vector<int> in(std::vector<int>(5, 0)), out(5);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_NCCL_SUCCESS(ncclAllReduce(in.data(), out.data(), 5, ncclInt32, ncclSum, context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
      for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
      for (int run = 1; run < 4; ++run) {
        in.assign(std::vector<int>(5, run));
        ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
        context.wait();
        EXPECT_EQ(std::vector<int>(5, run * ranks), out.to_host());
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

}  // namespace nccl_simt_test
