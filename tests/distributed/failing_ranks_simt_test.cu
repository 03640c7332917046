// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One rank's calls of NCCL fail, each in turn, or the rank aborts instead of its call. All ranks must return soon, and
// must not write out of bounds: temporary storage has exactly the size that was asked for, and lies between guard bands
// like all arrays. Then one rank's launches fail, each in turn, and no rank may have a wrong result.
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <support/test_types.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "distributed/ranks.hpp"

namespace failing_ranks_test {

using strata_test::device_vector;
using strata_test::rank_context;

constexpr int items = 300;
constexpr int capacity = 8 * items;

/// The arrays that a rank's calls read and write.
struct arrays {
  explicit arrays(const rank_context& of_rank)
      : context(of_rank), keys(numbers(of_rank.rank, 1000)), destinations(numbers(of_rank.rank, of_rank.ranks)) {}

  static std::vector<int> numbers(int rank, int end) {
    return strata_test::random_integers(items, 0, end - 1, static_cast<std::uint64_t>(rank));
  }

  const rank_context& context;
  device_vector<int> keys, destinations;
  device_vector<int> out{capacity}, values_out{capacity};
  device_vector<std::int64_t> counts{8}, left_rows{capacity}, right_rows{capacity};
  device_vector<unsigned long long> total{1};
  std::int64_t num_out = 0;
  strata::DistributedMemory memory;
};

/// Makes a call in shared memory: `call(pointer to the memory)`.
template <class Call>
cudaError_t in_shared_memory(arrays& a, const void* d_temp, const Call& call) {
  if (d_temp == nullptr) {
    const cudaError_t status = a.memory.Allocate(std::size_t{1} << 20, a.context.comm);
    if (status != cudaSuccess) return status;
    if (!a.memory.is_shared()) return cudaErrorNotSupported;
  }
  const cudaError_t status = call(static_cast<char*>(a.memory.data()));
  return d_temp == nullptr || status != cudaSuccess ? status : a.memory.Release();
}

enum class fault { of_a_call, abort };

/// Makes `call(arrays, d_temp_storage, bytes)` on all ranks, and returns their results, within a time limit. With
/// fault::abort, the failing rank aborts instead of its call.
template <class Call>
std::vector<cudaError_t> results_of(int ranks, int failing, fault kind, const Call& call) {
  std::vector<cudaError_t> results(static_cast<std::size_t>(ranks), cudaSuccess);
  const auto begin = std::chrono::steady_clock::now();
  strata_test::on_ranks(ranks, [&](const rank_context& context) {
    arrays of_rank(context);
    if (kind == fault::abort && context.rank == failing) throw strata_test::abort_rank{};
    cudaError_t& status = results[static_cast<std::size_t>(context.rank)];
    status = strata_test::call_with_temp_storage(
        [&](void* d_temp_storage, std::size_t& bytes) { return call(of_rank, d_temp_storage, bytes); });
    // After an error of this rank, the other ranks cannot use the communicator any more.
    if (status != cudaSuccess) throw strata_test::abort_rank{};
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(100)) << "no wait ends by its limit alone";
  static_cast<void>(cudaGetLastError());
  return results;
}

template <class Call>
void expect_errors(const char* name, const Call& call) {
  SCOPED_TRACE(name);
  const double limit = strata::simt::limit_nccl_waits(120);
  for (const int ranks : {2, 3}) {
    for (int failing = 0; failing < ranks; failing += ranks - 1) {
      SCOPED_TRACE("rank " + std::to_string(failing) + " of " + std::to_string(ranks) + " fails");
      int failures = 0;
      for (;; ++failures) {
        ASSERT_LT(failures, 200) << "the call does not end";
        strata::simt::fail_nccl_call(failing, failures);
        const std::vector<cudaError_t> results = results_of(ranks, failing, fault::of_a_call, call);
        if (!strata::simt::nccl_call_has_failed()) {
          for (const cudaError_t result : results) EXPECT_CUDA_SUCCESS(result);
          break;
        }
        EXPECT_NE(cudaSuccess, results[static_cast<std::size_t>(failing)]) << "failure " << failures;
        // The first call is a gather that all ranks need. After it, a rank may already have all that it needs.
        if (failures > 0) continue;
        for (const cudaError_t result : results) EXPECT_NE(cudaSuccess, result);
      }
      EXPECT_GT(failures, 0) << "no call of NCCL has failed";
      strata::simt::fail_nccl_call(-1, 0);

      const std::vector<cudaError_t> results = results_of(ranks, failing, fault::abort, call);
      for (int rank = 0; rank < ranks; ++rank) {
        if (rank == failing) continue;
        EXPECT_NE(cudaSuccess, results[static_cast<std::size_t>(rank)]) << "rank " << rank;
      }
    }
  }
  strata::simt::limit_nccl_waits(limit);
}

TEST(FailingRanks, EndReductionsAndScans) {
  expect_errors("Sum", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedReduce::Sum(d_temp, bytes, a.keys.data(), a.out.data(), items, a.context.comm,
                                          a.context.stream);
  });
  expect_errors("ArgMin", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedReduce::ArgMin(d_temp, bytes, a.keys.data(), a.out.data(), a.counts.data(), items,
                                             a.context.comm, a.context.stream);
  });
  expect_errors("InclusiveSum", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedScan::InclusiveSum(d_temp, bytes, a.keys.data(), a.out.data(), items, a.context.comm,
                                                 a.context.stream);
  });
}

TEST(FailingRanks, EndExchanges) {
  expect_errors("Items", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedExchange::Items(d_temp, bytes, a.keys.data(), a.destinations.data(), items, a.out.data(),
                                              capacity, &a.num_out, a.context.comm, a.context.stream);
  });
  expect_errors("Pairs", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedExchange::Pairs(d_temp, bytes, a.keys.data(), a.keys.data(), a.destinations.data(), items,
                                              a.out.data(), a.values_out.data(), capacity, &a.num_out, a.context.comm,
                                              a.context.stream);
  });
  expect_errors("PairsFixed", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedExchange::PairsFixed(d_temp, bytes, a.keys.data(), a.keys.data(), a.destinations.data(),
                                                   items, a.out.data(), a.values_out.data(), items, a.counts.data(),
                                                   a.context.comm, a.context.stream);
  });
}

TEST(FailingRanks, EndCallsInSharedMemory) {
  expect_errors("Sum", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return in_shared_memory(a, d_temp, [&](char*) {
      return strata::DistributedReduce::Sum(d_temp, bytes, a.keys.data(), a.out.data(), items, a.context.comm,
                                            a.context.stream);
    });
  });
  expect_errors("Items", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return in_shared_memory(a, d_temp, [&](char* memory) {
      return strata::DistributedExchange::Items(d_temp, bytes, a.keys.data(), a.destinations.data(), items,
                                                reinterpret_cast<int*>(memory), capacity, &a.num_out, a.context.comm,
                                                a.context.stream);
    });
  });
  expect_errors("small radix sort", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return in_shared_memory(a, d_temp, [&](char*) {
      return strata::DistributedRadixSort::SortPairs(d_temp, bytes, a.keys.data(), a.destinations.data(), items,
                                                     a.out.data(), a.values_out.data(), capacity, &a.num_out,
                                                     a.context.comm, a.context.stream);
    });
  });
}

TEST(FailingRanks, EndJoinsInSharedMemory) {
  // Rows are sent directly to the rank of their key, or all build rows to all ranks.
  for (const int room : {items * 3 / 2, capacity}) {
    expect_errors("Inner", [room](arrays& a, void* d_temp, std::size_t& bytes) {
      const auto side = strata::join_side(a.keys.data(), items);
      return in_shared_memory(a, d_temp, [&](char* memory) {
        std::size_t bytes_of_memory = a.memory.size();
        return strata::DistributedHashJoin::Inner(
            d_temp == nullptr ? nullptr : memory, d_temp == nullptr ? bytes : bytes_of_memory, side, side,
            strata::join_pairs(a.left_rows.data(), a.right_rows.data(), capacity), a.total.data(),
            strata::DistributedJoinCapacity{room, capacity}, strata::JoinOptions<>{}, a.context.comm, a.context.stream);
      });
    });
  }
}

TEST(FailingRanks, EndSorts) {
  expect_errors("radix sort", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedRadixSort::SortPairs(d_temp, bytes, a.keys.data(), a.destinations.data(), items,
                                                   a.out.data(), a.values_out.data(), capacity, &a.num_out,
                                                   a.context.comm, a.context.stream);
  });
  expect_errors("merge sort", [](arrays& a, void* d_temp, std::size_t& bytes) {
    return strata::DistributedMergeSort::SortKeys(d_temp, bytes, a.keys.data(), items, a.out.data(), capacity,
                                                  &a.num_out, strata::Less{}, a.context.comm, a.context.stream);
  });
}

TEST(FailingRanks, EndJoins) {
  expect_errors("Full", [](arrays& a, void* d_temp, std::size_t& bytes) {
    const auto build = strata::join_side(a.keys.data(), 100), probe = strata::join_side(a.destinations.data(), items);
    return strata::DistributedHashJoin::Full(d_temp, bytes, build, probe,
                                             strata::join_pairs(a.left_rows.data(), a.right_rows.data(), capacity),
                                             a.total.data(), strata::DistributedJoinCapacity{capacity, capacity},
                                             strata::JoinOptions<>{}, a.context.comm, a.context.stream);
  });
}

// ---------------------------------------------------------------------------- launches

/// Makes `call(arrays, count, d_temp_storage, bytes)` twice in the same temporary storage, with 300 items and then with
/// `second_count` others. What the first call leaves in the storage must not be taken for messages of the second.
/// `check(arrays)` follows if the second call has returned success.
template <class Call, class Check>
void expect_no_wrong_results(const char* name, bool is_shared, int second_count, const Call& call, const Check& check) {
  SCOPED_TRACE(name);
  const double limit = strata::simt::limit_nccl_waits(120);
  constexpr int ranks = 2;
  for (int failing = 0; failing < ranks; ++failing) {
    int launches = 0;
    for (bool has_failed = true; has_failed; ++launches) {
      SCOPED_TRACE("launch " + std::to_string(launches) + " of rank " + std::to_string(failing) + " fails");
      ASSERT_LT(launches, 200) << "the call does not end";
      std::vector<cudaError_t> results(ranks, cudaSuccess);
      std::atomic<int> after_first_call{0};
      strata_test::on_ranks(ranks, [&](const rank_context& context) {
        arrays of_rank(context);
        cudaError_t& status = results[static_cast<std::size_t>(context.rank)];
        if (is_shared) {
          ASSERT_CUDA_SUCCESS(of_rank.memory.Allocate(1 << 20, context.comm));
        }
        std::size_t bytes = 0;
        ASSERT_CUDA_SUCCESS(call(of_rank, items, nullptr, bytes));
        device_vector<unsigned char> storage(bytes);
        status = call(of_rank, items, storage.data(), bytes);
        ASSERT_CUDA_SUCCESS(status);
        // Waits for the first call of all ranks, which an abort in the second call must not end.
        ++after_first_call;
        while (after_first_call < ranks && !testing::Test::HasFatalFailure()) std::this_thread::yield();
        const std::vector<int> other_keys = arrays::numbers(context.rank + 5, 1000);
        EXPECT_CUDA_SUCCESS(
            cudaMemcpy(of_rank.keys.data(), other_keys.data(), items * sizeof(int), cudaMemcpyHostToDevice));
        EXPECT_CUDA_SUCCESS(cudaMemset(of_rank.out.data(), 0x7f, capacity * sizeof(int)));
        if (context.rank == failing) strata::simt::fail_launch(failing, launches);
        status = call(of_rank, second_count, storage.data(), bytes);
        if (context.rank == failing) {
          has_failed = strata::simt::launch_has_failed();
          strata::simt::fail_launch(-1, 0);
        }
        // After an error of this rank, the other ranks cannot use the communicator any more.
        if (status != cudaSuccess) throw strata_test::abort_rank{};
        context.wait();
        check(of_rank);
        if (is_shared) static_cast<void>(of_rank.memory.Release());
      });
      static_cast<void>(cudaGetLastError());
      if (has_failed) {
        EXPECT_NE(cudaSuccess, results[static_cast<std::size_t>(failing)]);
      } else {
        for (const cudaError_t result : results) EXPECT_CUDA_SUCCESS(result);
      }
    }
    EXPECT_GT(launches, 1) << "no launch has failed";
  }
  strata::simt::limit_nccl_waits(limit);
}

std::vector<int> keys_of_second_call(int rank, int count) {
  std::vector<int> keys = arrays::numbers(rank + 5, 1000);
  keys.resize(static_cast<std::size_t>(count));
  return keys;
}
std::vector<int> all_keys_of_second_call(int count) {
  std::vector<int> keys = keys_of_second_call(0, count);
  const std::vector<int> others = keys_of_second_call(1, count);
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

void expect_sorted(const arrays& a) {
  std::vector<int> expected = all_keys_of_second_call(items);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(items, a.num_out);
  const std::vector<int> out = a.out.to_host();
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + items, expected.begin() + a.context.rank * items));
}

TEST(RanksWhoseLaunchesFail, AreNoWrongResultOfSorts) {
  const auto sort = [](arrays& a, int count, void* d_temp, std::size_t& bytes) {
    return strata::DistributedRadixSort::SortKeys(d_temp, bytes, a.keys.data(), count, a.out.data(), items, &a.num_out,
                                                  a.context.comm, a.context.stream);
  };
  expect_no_wrong_results("by NCCL", false, items, sort, expect_sorted);
  expect_no_wrong_results("in shared memory", true, items, sort, expect_sorted);
}

void expect_exchanged(const arrays& a, const int* d_out) {
  std::vector<int> expected;
  for (int rank = 0; rank < a.context.ranks; ++rank) {
    const std::vector<int> keys = keys_of_second_call(rank, items);
    const std::vector<int> destinations = arrays::numbers(rank, a.context.ranks);
    for (std::size_t i = 0; i < items; ++i) {
      if (destinations[i] == a.context.rank) expected.push_back(keys[i]);
    }
  }
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), a.num_out);
  std::vector<int> out(expected.size());
  EXPECT_CUDA_SUCCESS(cudaMemcpy(out.data(), d_out, out.size() * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_TRUE(expected == out);
}

TEST(RanksWhoseLaunchesFail, AreNoWrongResultOfExchanges) {
  const auto exchange = [](arrays& a, int count, int* d_out, void* d_temp, std::size_t& bytes) {
    return strata::DistributedExchange::Items(d_temp, bytes, a.keys.data(), a.destinations.data(), count, d_out,
                                              2 * items, &a.num_out, a.context.comm, a.context.stream);
  };
  expect_no_wrong_results(
      "by NCCL", false, items,
      [&](arrays& a, int count, void* d_temp, std::size_t& bytes) {
        return exchange(a, count, a.out.data(), d_temp, bytes);
      },
      [](const arrays& a) { expect_exchanged(a, a.out.data()); });
  expect_no_wrong_results(
      "in shared memory", true, items,
      [&](arrays& a, int count, void* d_temp, std::size_t& bytes) {
        return exchange(a, count, static_cast<int*>(a.memory.data()), d_temp, bytes);
      },
      [](const arrays& a) { expect_exchanged(a, static_cast<const int*>(a.memory.data())); });
}

TEST(RanksWhoseLaunchesFail, AreNoWrongResultOfJoins) {
  const auto join = [](arrays& a, int count, void* d_temp, std::size_t& bytes) {
    const auto build = strata::join_side(a.keys.data(), count), probe = strata::join_side(a.keys.data(), count);
    return strata::DistributedHashJoin::Inner(d_temp, bytes, build, probe, strata::join_count(), a.total.data(),
                                              strata::DistributedJoinCapacity{capacity, capacity},
                                              strata::JoinOptions<>{}, a.context.comm, a.context.stream);
  };
  constexpr int fewer = 110;
  const auto check = [](const arrays& a) {
    const std::vector<int> all = all_keys_of_second_call(fewer);
    unsigned long long own = 0;
    for (const int key : keys_of_second_call(a.context.rank, fewer)) {
      own += static_cast<unsigned long long>(std::count(all.begin(), all.end(), key));
    }
    // All ranks get all build rows, and probe rows stay where they are.
    EXPECT_EQ(own, a.total.to_host()[0]);
  };
  expect_no_wrong_results("Inner", false, fewer, join, check);

  // In shared memory, build rows go to all ranks, or rows go to the ranks of their keys.
  const auto join_there = [](arrays& a, int count, int room, void* d_temp, std::size_t& bytes) {
    const auto build = strata::join_side(a.keys.data(), count), probe = strata::join_side(a.keys.data(), count);
    std::size_t bytes_of_memory = a.memory.size();
    return strata::DistributedHashJoin::Inner(
        d_temp == nullptr ? nullptr : a.memory.data(), d_temp == nullptr ? bytes : bytes_of_memory, build, probe,
        strata::join_count(), a.total.data(), strata::DistributedJoinCapacity{room, capacity}, strata::JoinOptions<>{},
        a.context.comm, a.context.stream);
  };
  expect_no_wrong_results(
      "all build rows to all", true, fewer,
      [&](arrays& a, int count, void* d_temp, std::size_t& bytes) {
        return join_there(a, count, capacity, d_temp, bytes);
      },
      check);
  expect_no_wrong_results(
      "by the ranks of keys", true, fewer,
      [&](arrays& a, int count, void* d_temp, std::size_t& bytes) {
        return join_there(a, count, count * 3 / 2, d_temp, bytes);
      },
      [](const arrays& a) {
        const std::vector<int> all = all_keys_of_second_call(fewer);
        unsigned long long own = 0;
        for (const int key : all) {
          const std::uint64_t hash = strata::detail::join_route_hash(strata::JoinHash{}, key);
          if (strata::detail::join_rank_of(hash, 2) != static_cast<unsigned>(a.context.rank)) continue;
          own += static_cast<unsigned long long>(std::count(all.begin(), all.end(), key));
        }
        EXPECT_EQ(own, a.total.to_host()[0]);
      });
}

}  // namespace failing_ranks_test
