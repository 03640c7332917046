// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// The host back end's stand-in for NCCL: what it transfers, what it refuses, and how waits end.
#include <strata/core/launcher.cuh>

#include <support/test_types.cuh>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "distributed/ranks.hpp"

namespace nccl_simt_test {

using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

/// Limits how long ranks wait for others, during its lifetime.
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
      ASSERT_NCCL_SUCCESS(ncclBroadcast(in.data(), root.data(), 3, ncclInt32, ranks - 1, context.comm, context.stream));
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

__managed__ int managed_ranks[8];
TEST(Nccl, MovesManagedVariables) {
  on_ranks(2, [](const rank_context& context) {
    managed_ranks[context.rank] = 10 + context.rank;
    int* const all = managed_ranks + 4 + 2 * context.rank;
    ASSERT_NCCL_SUCCESS(ncclAllGather(managed_ranks + context.rank, all, 1, ncclInt32, context.comm, context.stream));
    context.wait();
    EXPECT_EQ(all[0], 10);
    EXPECT_EQ(all[1], 11);
  });
}

TEST(Nccl, SendsToAllInAGroup) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& context) {
      // Rank a sends each rank a + 1 items, itself included.
      const std::vector<int> numbers(static_cast<std::size_t>(context.rank + 1), 100 + context.rank);
      const device_vector<int> in(numbers);
      device_vector<int> out(static_cast<std::size_t>(ranks * (ranks + 1) / 2));
      ASSERT_NCCL_SUCCESS(ncclGroupStart());
      for (int peer = 0, at = 0; peer < ranks; at += ++peer) {
        EXPECT_NCCL_SUCCESS(ncclSend(in.data(), in.size(), ncclInt32, peer, context.comm, context.stream));
        EXPECT_NCCL_SUCCESS(ncclRecv(out.data() + at, static_cast<std::size_t>(peer) + 1, ncclInt32, peer, context.comm,
                                     context.stream));
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

/// Calls of ranks that do not match. All ranks return an error, and nothing is written.
TEST(Nccl, RefusesCallsThatDoNotMatch) {
  const short_waits waits(120);
  for (int fault = 0; fault < 7; ++fault) {
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
      } else if (fault == 3) {  // what is sent is longer than what is received
        result = is_odd ? ncclSend(in.data(), 8, ncclInt32, 0, context.comm, context.stream)
                        : ncclRecv(out.data(), 4, ncclInt32, 1, context.comm, context.stream);
      } else if (fault == 4) {  // roots
        result = ncclBroadcast(in.data(), out.data(), 4, ncclInt32, context.rank, context.comm, context.stream);
      } else if (fault == 5) {  // types
        result = ncclAllReduce(in.data(), out.data(), 4, is_odd ? ncclInt32 : ncclFloat32, ncclSum, context.comm,
                               context.stream);
      } else {  // both ranks send, and none receives, so they wait for each other
        result = ncclSend(in.data(), 4, ncclInt32, 1 - context.rank, context.comm, context.stream);
      }
      EXPECT_EQ(fault == 1 || fault == 6 ? ncclInvalidUsage : ncclInvalidArgument, result) << "fault " << fault;
      // The communicator stays in error.
      EXPECT_NE(ncclSuccess, ncclAllGather(in.data(), out.data(), 8, ncclInt32, context.comm, context.stream));
      ncclResult_t of_comm = ncclSuccess;
      EXPECT_NCCL_SUCCESS(ncclCommGetAsyncError(context.comm, &of_comm));
      EXPECT_EQ(result, of_comm);
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
      EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
      has_ended = true;
    }
    // The other rank makes no call until the first one has ended.
    while (!has_ended && std::chrono::steady_clock::now() - begin < std::chrono::minutes(20)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(has_ended);
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

/// Calls that a rank refuses alone. They write nothing, and the communicator stays usable.
TEST(Nccl, RefusesArguments) {
  on_ranks(1, [](const rank_context& context) {
    device_vector<int> in(std::vector<int>(8, 1)), out(8);
    const ncclComm_t comm = context.comm;
    const cudaStream_t stream = context.stream;
    const std::vector<int> on_host(8);
    const auto no_type = static_cast<ncclDataType_t>(ncclNumTypes);
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), out.data(), 8, no_type, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), out.data(), 8, ncclInt32, nullptr, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(on_host.data(), out.data(), 8, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), nullptr, 8, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), out.data(), 1 << 20, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), out.data(), ~std::size_t{0}, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllGather(in.data(), in.data() + 1, 7, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclAllReduce(in.data(), out.data(), 8, ncclInt32, ncclNumOps, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclBroadcast(in.data(), out.data(), 8, ncclInt32, 1, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclSend(in.data(), 8, ncclInt32, -1, comm, stream));
    // Two calls of a group receive into the same memory, which is an error.
    EXPECT_NCCL_SUCCESS(ncclGroupStart());
    for (int i = 0; i < 2; ++i) {
      EXPECT_NCCL_SUCCESS(ncclSend(in.data(), 8, ncclInt32, 0, comm, stream));
      EXPECT_NCCL_SUCCESS(ncclRecv(out.data(), 8, ncclInt32, 0, comm, stream));
    }
    EXPECT_EQ(ncclInvalidUsage, ncclGroupEnd());
    // If one call of a group is refused, no call of the group is made.
    EXPECT_NCCL_SUCCESS(ncclGroupStart());
    EXPECT_NCCL_SUCCESS(ncclAllGather(in.data(), out.data(), 8, ncclInt32, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclSend(in.data(), 8, ncclInt32, 1, comm, stream));
    EXPECT_EQ(ncclInvalidArgument, ncclGroupEnd());
    EXPECT_EQ(ncclInvalidUsage, ncclGroupEnd());
    for (const int item : out.to_host()) ASSERT_TRUE(strata_test::is_poison(item));
    EXPECT_NCCL_SUCCESS(ncclAllGather(in.data(), out.data(), 8, ncclInt32, comm, stream));
    EXPECT_EQ(in.to_host(), out.to_host());
    EXPECT_NE(std::string(), ncclGetLastError(comm));
  });
}

template <class T>
void expect_reductions(const rank_context& context, ncclDataType_t type) {
  // Numbers whose sums and products fit into 8 bits.
  const int ranks = context.ranks;
  const device_vector<T> in(std::vector<T>(3, static_cast<T>(1 + context.rank % 2)));
  device_vector<T> out(3);
  const int twos = ranks / 2;
  const int expected[] = {ranks + twos, 1 << twos, ranks > 1 ? 2 : 1, 1};
  for (int op = ncclSum; op <= ncclMin; ++op) {
    out.poison();
    ASSERT_NCCL_SUCCESS(
        ncclAllReduce(in.data(), out.data(), 3, type, static_cast<ncclRedOp_t>(op), context.comm, context.stream));
    context.wait();
    EXPECT_EQ(std::vector<T>(3, static_cast<T>(expected[op])), out.to_host()) << "type " << type << ", operator " << op;
  }
}

TEST(Nccl, ReducesAllTypes) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [](const rank_context& context) {
      expect_reductions<std::int8_t>(context, ncclInt8);
      expect_reductions<std::uint8_t>(context, ncclUint8);
      expect_reductions<std::int32_t>(context, ncclInt32);
      expect_reductions<std::uint32_t>(context, ncclUint32);
      expect_reductions<std::int64_t>(context, ncclInt64);
      expect_reductions<std::uint64_t>(context, ncclUint64);
      expect_reductions<float>(context, ncclFloat32);
      expect_reductions<double>(context, ncclFloat64);
    });
  }
}

TEST(Nccl, ReducesToOneRankAndInParts) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      const auto count = static_cast<std::size_t>(ranks);
      std::vector<double> numbers(count);
      for (std::size_t i = 0; i < count; ++i) numbers[i] = context.rank + 100.0 * static_cast<double>(i);
      const device_vector<double> in(numbers);
      device_vector<double> at_root(count), part(1);
      const int root = ranks - 1;
      ASSERT_NCCL_SUCCESS(
          ncclReduce(in.data(), at_root.data(), count, ncclFloat64, ncclAvg, root, context.comm, context.stream));
      ASSERT_NCCL_SUCCESS(
          ncclReduceScatter(in.data(), part.data(), 1, ncclFloat64, ncclSum, context.comm, context.stream));
      context.wait();
      const double sum_of_ranks = ranks * (ranks - 1) / 2;
      const std::vector<double> averages = at_root.to_host();
      for (std::size_t i = 0; i < count; ++i) {
        if (context.rank == root) {
          EXPECT_EQ(sum_of_ranks / ranks + 100.0 * static_cast<double>(i), averages[i]);
        } else {
          EXPECT_TRUE(strata_test::is_poison(averages[i]));
        }
      }
      EXPECT_EQ(sum_of_ranks + 100.0 * context.rank * ranks, part.to_host()[0]);
    });
  }
}

TEST(Nccl, WorksInPlace) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      std::vector<int> numbers(static_cast<std::size_t>(ranks), -1);
      numbers[static_cast<std::size_t>(context.rank)] = context.rank;
      device_vector<int> all(numbers);
      ASSERT_NCCL_SUCCESS(
          ncclAllGather(all.data() + context.rank, all.data(), 1, ncclInt32, context.comm, context.stream));
      context.wait();
      std::iota(numbers.begin(), numbers.end(), 0);
      EXPECT_EQ(numbers, all.to_host());
      ASSERT_NCCL_SUCCESS(
          ncclAllReduce(all.data(), all.data(), numbers.size(), ncclInt32, ncclSum, context.comm, context.stream));
      context.wait();
      for (int& number : numbers) number *= ranks;
      EXPECT_EQ(numbers, all.to_host());
    });
  }
}

TEST(Nccl, RefusesCommunicators) {
  const short_waits waits(120);
  strata::simt::config().devices = 4;
  ncclComm_t comms[8] = {};
  EXPECT_EQ(ncclInvalidArgument, ncclCommInitAll(comms, 0, nullptr));
  strata::simt::config().devices = 2;
  EXPECT_EQ(ncclInvalidArgument, ncclCommInitAll(comms, 3, nullptr)) << "more ranks than devices";
  strata::simt::config().devices = 8;
  ncclUniqueId id;
  ASSERT_NCCL_SUCCESS(ncclGetUniqueId(&id));
  EXPECT_EQ(ncclInvalidArgument, ncclCommInitRank(comms, 2, id, 2));
  // Two threads that disagree: about the number of ranks, about the rank, about the device.
  for (int fault = 0; fault < 3; ++fault) {
    ASSERT_NCCL_SUCCESS(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
      threads.emplace_back([&, rank] {
        ASSERT_CUDA_SUCCESS(cudaSetDevice(fault == 2 ? 1 : rank));
        ncclComm_t comm = nullptr;
        EXPECT_NE(ncclSuccess, ncclCommInitRank(&comm, fault == 0 ? 2 + rank : 2, id, fault == 1 ? 1 : rank));
        EXPECT_EQ(nullptr, comm);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // The second rank never calls.
  const short_waits shorter(0.1);
  ASSERT_NCCL_SUCCESS(ncclGetUniqueId(&id));
  EXPECT_EQ(ncclRemoteError, ncclCommInitRank(comms, 2, id, 0));
}

/// Makes and destroys communicators often. A rank that has not returned yet must not be counted as gone.
TEST(Nccl, BeginsAtOnce) {
  strata::simt::config().devices = 4;
  for (int run = 0; run < 50; ++run) {
    ncclUniqueId id;
    ASSERT_NCCL_SUCCESS(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank) {
      threads.emplace_back([&, rank] {
        ASSERT_CUDA_SUCCESS(cudaSetDevice(rank));
        const device_vector<int> in(std::vector<int>{rank});
        device_vector<int> sum(1);
        ncclComm_t comm = nullptr;
        ASSERT_NCCL_SUCCESS(ncclCommInitRank(&comm, 4, id, rank));
        EXPECT_NCCL_SUCCESS(ncclAllReduce(in.data(), sum.data(), 1, ncclInt32, ncclSum, comm, nullptr));
        EXPECT_EQ(6, sum.to_host()[0]);
        EXPECT_NCCL_SUCCESS(ncclCommDestroy(comm));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(Nccl, MakesCallsOfSeveralRanksInOneThread) {
  strata::simt::config().devices = 3;
  ncclComm_t comms[3] = {};
  ASSERT_NCCL_SUCCESS(ncclCommInitAll(comms, 3, nullptr));
  const device_vector<int> in(std::vector<int>{1, 2, 3});
  device_vector<int> out(9);
  ASSERT_NCCL_SUCCESS(ncclGroupStart());
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_NCCL_SUCCESS(ncclAllGather(in.data() + rank, out.data() + 3 * rank, 1, ncclInt32, comms[rank], nullptr));
  }
  ASSERT_NCCL_SUCCESS(ncclGroupEnd());
  EXPECT_EQ((std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3}), out.to_host());
  for (const ncclComm_t comm : comms) EXPECT_NCCL_SUCCESS(ncclCommDestroy(comm));
}

TEST(Nccl, KnowsTheDeviceOfEachThread) {
  strata::simt::config().devices = 3;
  int count = 0;
  EXPECT_CUDA_SUCCESS(cudaGetDeviceCount(&count));
  EXPECT_EQ(3, count);
  EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(3));
  static_cast<void>(cudaGetLastError());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([rank] {
      ASSERT_CUDA_SUCCESS(cudaSetDevice(rank));
      const device_vector<int> memory(1);
      cudaPointerAttributes attributes{};
      ASSERT_CUDA_SUCCESS(cudaPointerGetAttributes(&attributes, memory.data()));
      EXPECT_EQ(rank, attributes.device);
      int device = -1;
      EXPECT_CUDA_SUCCESS(cudaGetDevice(&device));
      EXPECT_EQ(rank, device);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Each call of one rank fails in turn. This rank gets ncclSystemError, all others get ncclRemoteError, and no later
/// call succeeds.
TEST(Nccl, FailsAtEachCall) {
  const short_waits waits(120);
  for (const int ranks : {1, 2, 4}) {
    const int failing = ranks / 2;
    int failures = 0;
    for (;; ++failures) {
      ASSERT_LT(failures, 20);
      strata::simt::fail_nccl_call(failing, failures);
      on_ranks(ranks, [&](const rank_context& context) {
        const device_vector<int> in(std::vector<int>(4, 1));
        device_vector<int> all(static_cast<std::size_t>(4 * ranks)), one(4);
        ncclResult_t result = ncclSuccess;
        const auto step = [&](ncclResult_t next) {
          if (result == ncclSuccess) {
            result = next;
          } else {
            EXPECT_NE(ncclSuccess, next);
          }
        };
        step(ncclAllGather(in.data(), all.data(), 4, ncclInt32, context.comm, context.stream));
        EXPECT_NCCL_SUCCESS(ncclGroupStart());
        step(ncclSend(in.data(), 4, ncclInt32, (context.rank + 1) % ranks, context.comm, context.stream));
        step(ncclRecv(one.data(), 4, ncclInt32, (context.rank + ranks - 1) % ranks, context.comm, context.stream));
        const ncclResult_t ended = ncclGroupEnd();
        if (result == ncclSuccess) result = ended;
        step(ncclAllReduce(in.data(), one.data(), 4, ncclInt32, ncclSum, context.comm, context.stream));
        if (strata::simt::nccl_call_has_failed()) {
          EXPECT_EQ(context.rank == failing ? ncclSystemError : ncclRemoteError, result) << "failure " << failures;
        } else {
          EXPECT_EQ(ncclSuccess, result);
        }
      });
      if (!strata::simt::nccl_call_has_failed()) break;
    }
    EXPECT_EQ(5, failures) << "calls of each rank";
  }
  strata::simt::fail_nccl_call(-1, 0);
}

TEST(Nccl, EndsWaitsWhenARankDestroysItsCommunicator) {
  on_ranks(3, [](const rank_context& context) {
    device_vector<int> out(8);
    if (context.rank == 0) return;
    // Ranks 1 and 2 communicate with each other, until they need rank 0.
    const device_vector<int> in(std::vector<int>(8, context.rank));
    EXPECT_NCCL_SUCCESS(ncclGroupStart());
    EXPECT_NCCL_SUCCESS(ncclSend(in.data(), 8, ncclInt32, 3 - context.rank, context.comm, context.stream));
    EXPECT_NCCL_SUCCESS(ncclRecv(out.data(), 8, ncclInt32, 3 - context.rank, context.comm, context.stream));
    EXPECT_NCCL_SUCCESS(ncclGroupEnd());
    EXPECT_EQ(std::vector<int>(8, 3 - context.rank), out.to_host());
    EXPECT_EQ(ncclRemoteError, ncclRecv(out.data(), 8, ncclInt32, 0, context.comm, context.stream));
  });
}

/// In a stream that is captured, the calls of a group are one node of the graph, between kernels.
TEST(Nccl, ReplaysGroupsBetweenOtherWork) {
  for (const int ranks : {1, 3}) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      device_vector<int> in(std::vector<int>(5, 0)), sent(5), received(5), out(5);
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
      const auto copy = [&](device_vector<int>& to, const device_vector<int>& from) {
        EXPECT_CUDA_SUCCESS(
            cudaMemcpyAsync(to.data(), from.data(), 5 * sizeof(int), cudaMemcpyDeviceToDevice, context.stream));
      };
      ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
      copy(sent, in);
      EXPECT_NCCL_SUCCESS(ncclGroupStart());
      EXPECT_NCCL_SUCCESS(
          ncclSend(sent.data(), 5, ncclInt32, (context.rank + 1) % ranks, context.comm, context.stream));
      EXPECT_NCCL_SUCCESS(
          ncclRecv(received.data(), 5, ncclInt32, (context.rank + ranks - 1) % ranks, context.comm, context.stream));
      EXPECT_NCCL_SUCCESS(ncclGroupEnd());
      copy(out, received);
      ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
      ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph, 0));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
      for (int run = 1; run < 3; ++run) {
        in.assign(std::vector<int>(5, 10 * run + context.rank));
        ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
        context.wait();
        EXPECT_EQ(std::vector<int>(5, 10 * run + (context.rank + ranks - 1) % ranks), out.to_host());
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
    });
  }
}

STRATA_KERNEL void first_item(const int* in, int* out) { out[0] = in[0]; }

/// Uninitialised memory may be sent. It stays uninitialised at the receiver, and check mode reports a read of it.
TEST(Nccl, SendsWhatNobodyHasWritten) {
  if (strata::simt::runtime_flavour() != strata::simt::flavour::check) GTEST_SKIP() << "only check mode sees it";
  strata::simt::config().quiet = true;
  on_ranks(2, [](const rank_context& context) {
    int *sent = nullptr, *received = nullptr;
    ASSERT_CUDA_SUCCESS(cudaMalloc(&sent, 2 * sizeof(int)));
    ASSERT_CUDA_SUCCESS(cudaMalloc(&received, 4 * sizeof(int)));
    ASSERT_CUDA_SUCCESS(cudaMemset(sent, 0, sizeof(int)));
    ASSERT_CUDA_SUCCESS(cudaMemset(received, 0, 4 * sizeof(int)));
    device_vector<int> out(1);
    const auto read = [&](int item) {
      return strata::launch({"first_item", 1, 1, 0, context.stream}, first_item, received + item, out.data());
    };
    ASSERT_NCCL_SUCCESS(ncclAllGather(sent, received, 2, ncclInt32, context.comm, context.stream));
    // Each rank's second item was not written. Only one rank reads, because an error of a kernel stays.
    if (context.rank == 1) {
      EXPECT_CUDA_SUCCESS(read(0));
      EXPECT_CUDA_SUCCESS(read(2));
      EXPECT_NE(cudaSuccess, read(1));
      EXPECT_STREQ("global-uninitialised", strata::simt::last_report().kind);
      static_cast<void>(cudaGetLastError());
      ASSERT_NCCL_SUCCESS(ncclAllReduce(sent, received, 2, ncclInt32, ncclSum, context.comm, context.stream));
      EXPECT_CUDA_SUCCESS(read(0));
      EXPECT_NE(cudaSuccess, read(1)) << "a sum of what was not written";
      static_cast<void>(cudaGetLastError());
    } else {
      ASSERT_NCCL_SUCCESS(ncclAllReduce(sent, received, 2, ncclInt32, ncclSum, context.comm, context.stream));
    }
    EXPECT_CUDA_SUCCESS(cudaFree(sent));
    EXPECT_CUDA_SUCCESS(cudaFree(received));
  });
  strata::simt::config().quiet = false;
  strata::simt::clear_report();
}

}  // namespace nccl_simt_test
