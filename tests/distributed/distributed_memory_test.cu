// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Calls whose arrays lie in memory that ranks share give the results of all other calls. So do calls with some arrays
// elsewhere, and with a device that cannot access the memory of the others.
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <support/test_types.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <numeric>
#include <vector>

#include "distributed/ranks.hpp"

namespace distributed_memory_test {

using strata::DistributedExchange;
using strata::DistributedMemory;
using strata::NullType;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

/// Arrays in the shared memory of a rank, one after the other, with poison between them.
class shared_arrays {
 public:
  explicit shared_arrays(DistributedMemory& memory) : memory_(memory) {
    EXPECT_CUDA_SUCCESS(cudaMemset(memory.data(), strata_test_poison, memory.size()));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  template <class T>
  T* take(std::size_t count) {
    const std::size_t begin = (used_ + gap + 255) / 256 * 256;
    used_ = begin + count * sizeof(T);
    EXPECT_LE(used_, memory_.size());
    return reinterpret_cast<T*>(static_cast<unsigned char*>(memory_.data()) + begin);
  }
  template <class T>
  void poison(T* array, std::size_t count) const {
    EXPECT_CUDA_SUCCESS(cudaMemset(array, strata_test_poison, count * sizeof(T)));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  /// True if `count` items, and the bytes after them, are unchanged.
  template <class T>
  bool is_untouched(const T* array, std::size_t count = 0) const {
    std::vector<unsigned char> bytes(count * sizeof(T) + gap);
    EXPECT_CUDA_SUCCESS(cudaMemcpy(bytes.data(), array, bytes.size(), cudaMemcpyDeviceToHost));
    return std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == strata_test_poison; });
  }

 private:
  static constexpr unsigned char strata_test_poison = 0xa5;
  static constexpr std::size_t gap = 64;
  DistributedMemory& memory_;
  std::size_t used_ = 0;
};

template <class T>
std::vector<T> host_copy(const T* from, std::size_t count) {
  std::vector<T> to(count);
  EXPECT_CUDA_SUCCESS(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return to;
}

/// A poisoned output of a call, in shared memory or elsewhere.
template <class T>
class output {
 public:
  output(shared_arrays& arrays, bool is_shared, std::size_t count)
      : arrays_(arrays),
        count_(count),
        other_(is_shared ? 0 : count),
        shared_(is_shared ? arrays.take<T>(count) : nullptr) {}

  T* data() { return shared_ != nullptr ? shared_ : other_.data(); }
  std::vector<T> to_host() const { return shared_ != nullptr ? host_copy(shared_, count_) : other_.to_host(); }
  void poison() {
    if (shared_ != nullptr) {
      arrays_.poison(shared_, count_);
    } else {
      other_.poison();
    }
  }
  /// Expects that nothing was written after the first `written` items.
  void expect_untouched_after(std::size_t written) const {
    if (shared_ != nullptr) {
      EXPECT_TRUE(arrays_.is_untouched(shared_ + written, count_ - written));
      return;
    }
    const std::vector<T> items = other_.to_host();
    EXPECT_TRUE(std::all_of(items.begin() + static_cast<std::ptrdiff_t>(written), items.end(),
                            [](const T& item) { return strata_test::is_poison(item); }));
  }

 private:
  shared_arrays& arrays_;
  std::size_t count_;
  device_vector<T> other_;
  T* shared_;
};

/// An item of any size. The tests use sizes up to 64 bytes, and one above.
template <int Bytes>
struct wide_item {
  std::int32_t words[Bytes / 4];
  friend bool operator==(const wide_item& a, const wide_item& b) {
    return std::equal(a.words, a.words + Bytes / 4, b.words);
  }
};
template <class Item>
Item item_of(int rank, std::size_t i) {
  if constexpr (std::is_arithmetic_v<Item>) {
    return static_cast<Item>(i * 2654435761u + static_cast<unsigned>(rank) * 97u);
  } else {
    Item item{};
    for (std::int32_t& word : item.words) word = static_cast<std::int32_t>(i * 31 + static_cast<unsigned>(rank));
    return item;
  }
}

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

/// Where the arrays of a call lie. With `mixed`, only even ranks have them in shared memory. With `keys_only`, values
/// lie elsewhere.
enum class place { shared, mixed, keys_only, elsewhere };

int target_of(std::size_t i, int rank, int ranks) {
  // Random destinations, with long runs for one rank among them.
  if (i / 700 % 3 == 1) return static_cast<int>(i / 700) % ranks;
  return static_cast<int>((i * 2654435761u >> 9) % 1000 + static_cast<unsigned>(rank)) % ranks;
}

/// Exchanges pairs, then items without values. Before each exchange, the rank in the middle has too little capacity:
/// then nothing may be written on any rank.
template <class Item>
void expect_exchanged(const rank_context& context, const std::vector<std::size_t>& sizes, place where,
                      bool is_shared = true) {
  DistributedMemory memory;
  ASSERT_CUDA_SUCCESS(memory.Allocate(std::size_t{4} << 20, context.comm));
  ASSERT_EQ(is_shared, memory.is_shared());
  shared_arrays arrays(memory);
  const auto rank = static_cast<std::size_t>(context.rank);
  const int short_rank = context.ranks / 2;
  std::vector<Item> expected, items;
  std::vector<int> numbers, expected_numbers, destinations;
  std::int64_t needed_by_short_rank = 0;
  for (std::size_t from = 0; from < sizes.size(); ++from) {
    for (std::size_t i = 0; i < sizes[from]; ++i) {
      const Item item = item_of<Item>(static_cast<int>(from), i);
      const int target = target_of(i, static_cast<int>(from), context.ranks);
      const auto number = static_cast<int>(from << 24 | i);
      if (target == short_rank) ++needed_by_short_rank;
      if (target == context.rank) expected.push_back(item), expected_numbers.push_back(number);
      if (from == rank) items.push_back(item), numbers.push_back(number), destinations.push_back(target);
    }
  }
  const device_vector<Item> in(items);
  const device_vector<int> values_in(numbers), to(destinations);
  const bool is_here = where != place::elsewhere && (where != place::mixed || context.rank % 2 == 0);
  output<Item> out(arrays, is_here, expected.size());
  output<int> values_out(arrays, is_here && where != place::keys_only, expected.size());
  const auto count = static_cast<std::int64_t>(items.size()), needed = static_cast<std::int64_t>(expected.size());
  for (const bool has_values : {true, false}) {
    SCOPED_TRACE(has_values);
    out.poison();
    values_out.poison();
    for (const std::int64_t missing : {1, 0}) {
      if (missing > needed_by_short_rank) continue;
      const std::int64_t capacity = needed - (context.rank == short_rank ? missing : 0);
      std::int64_t num_out = -1;
      const cudaError_t found = strata_test::call_with_temp_storage([&](void* storage, std::size_t& bytes) {
        const cudaError_t status =
            has_values
                ? DistributedExchange::Pairs(storage, bytes, in.data(), values_in.data(), to.data(), count, out.data(),
                                             values_out.data(), capacity, &num_out, context.comm, context.stream)
                : DistributedExchange::Items(storage, bytes, in.data(), to.data(), count, out.data(), capacity,
                                             &num_out, context.comm, context.stream);
        return status != cudaSuccess || storage == nullptr ? status : cudaStreamSynchronize(context.stream);
      });
      ASSERT_EQ(missing == 0 ? cudaSuccess : cudaErrorInvalidValue, found);
      ASSERT_EQ(needed, num_out);
      out.expect_untouched_after(missing == 0 ? expected.size() : 0);
      values_out.expect_untouched_after(missing == 0 && has_values ? expected.size() : 0);
    }
    EXPECT_TRUE(expected == out.to_host());
    if (has_values) {
      EXPECT_EQ(expected_numbers, values_out.to_host());
    }
  }
  EXPECT_CUDA_SUCCESS(memory.Release());
}

std::vector<std::size_t> sizes_of(int ranks, std::size_t most) {
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < ranks; ++rank) sizes.push_back(rank % 3 == 1 ? 0 : most - static_cast<std::size_t>(rank));
  return sizes;
}

TEST(DistributedMemory, ExchangesAreDirect) {
  for (const int ranks : rank_counts()) {
    for (const place where : {place::shared, place::mixed, place::keys_only, place::elsewhere}) {
      SCOPED_TRACE(static_cast<int>(where));
      on_ranks(ranks, [&](const rank_context& context) {
        expect_exchanged<int>(context, sizes_of(context.ranks, 300), where);
        expect_exchanged<wide_item<64>>(context, sizes_of(context.ranks, 300), where);
      });
    }
  }
}

TEST(DistributedMemory, ExchangesOfAllSizes) {
  const int ranks = strata_test::ranks_up_to(3);
  for (const std::size_t size : {0, 1, 255, 4095, 4096, 4097, 9000}) {
    if (strata_test::is_small() && size > 5000) continue;
    SCOPED_TRACE(size);
    on_ranks(ranks, [&](const rank_context& context) {
      const std::vector<std::size_t> equal(static_cast<std::size_t>(context.ranks), size);
      expect_exchanged<int>(context, equal, place::shared);
    });
  }
  on_ranks(ranks, [&](const rank_context& context) {
    expect_exchanged<unsigned char>(context, sizes_of(context.ranks, 5000), place::shared);
#if STRATA_HOST_SIMT || !STRATA_TEST_FEW_TYPES
    expect_exchanged<double>(context, sizes_of(context.ranks, 5000), place::shared);
    expect_exchanged<wide_item<12>>(context, sizes_of(context.ranks, 2100), place::shared);
    expect_exchanged<wide_item<28>>(context, sizes_of(context.ranks, 1100), place::shared);
    expect_exchanged<wide_item<64>>(context, sizes_of(context.ranks, 520), place::shared);
#endif
    expect_exchanged<wide_item<68>>(context, sizes_of(context.ranks, 520), place::shared);
  });
}

/// Makes several calls, so that slots of mailboxes are used again.
void expect_sums(const rank_context& context) {
  for (int call = 0; call < 5; ++call) {
    const std::vector<int> items(static_cast<std::size_t>(100 + context.rank), call + context.rank);
    int total = 0, before = 0;
    for (int rank = 0; rank < context.ranks; ++rank) {
      total += (100 + rank) * (call + rank);
      if (rank < context.rank) before += (100 + rank) * (call + rank);
    }
    const device_vector<int> in(items);
    device_vector<int> sum(1), sums(items.size());
    const auto count = static_cast<std::int64_t>(items.size());
    ASSERT_CUDA_SUCCESS(strata::DistributedReduce::Sum(in.data(), sum.data(), count, context.comm, context.stream));
    ASSERT_CUDA_SUCCESS(
        strata::DistributedScan::InclusiveSum(in.data(), sums.data(), count, context.comm, context.stream));
    context.wait();
    EXPECT_EQ(total, sum.to_host()[0]);
    const std::vector<int> found = sums.to_host();
    for (std::size_t i = 0; i < items.size(); ++i) {
      ASSERT_EQ(before + static_cast<int>(i + 1) * items[0], found[i]) << i;
    }
  }
}

TEST(DistributedMemory, CarriesSmallMessages) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [](const rank_context& context) {
      DistributedMemory memory;
      ASSERT_CUDA_SUCCESS(memory.Allocate(0, context.comm));
      expect_sums(context);
      EXPECT_CUDA_SUCCESS(memory.Release());
      expect_sums(context);
      EXPECT_CUDA_SUCCESS(memory.Allocate(100, context.comm));
      EXPECT_EQ(100u, memory.size());
      expect_sums(context);
      EXPECT_CUDA_SUCCESS(memory.Release());
      EXPECT_EQ(nullptr, memory.data());
    });
  }
}

TEST(DistributedMemory, MessagesAreReplayed) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& context) {
    DistributedMemory memory;
    ASSERT_CUDA_SUCCESS(memory.Allocate(0, context.comm));
    const device_vector<int> in(std::vector<int>(1000, context.rank + 1));
    device_vector<int> sum(1);
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      return strata::DistributedReduce::Sum(storage, bytes, in.data(), sum.data(), 1000, context.comm, context.stream);
    };
    ASSERT_CUDA_SUCCESS(call(nullptr));
    device_vector<unsigned char> storage(bytes);
    ASSERT_CUDA_SUCCESS(call(storage.data()));
    context.wait();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_CUDA_SUCCESS(cudaStreamBeginCapture(context.stream, cudaStreamCaptureModeThreadLocal));
    ASSERT_CUDA_SUCCESS(call(storage.data()));
    ASSERT_CUDA_SUCCESS(cudaStreamEndCapture(context.stream, &graph));
    ASSERT_CUDA_SUCCESS(cudaGraphInstantiate(&executable, graph));
    for (int replay = 0; replay < 5; ++replay) {
      ASSERT_CUDA_SUCCESS(cudaMemsetAsync(sum.data(), 0xff, sizeof(int), context.stream));
      ASSERT_CUDA_SUCCESS(cudaGraphLaunch(executable, context.stream));
      context.wait();
      EXPECT_EQ(1000 * context.ranks * (context.ranks + 1) / 2, sum.to_host()[0]);
    }
    EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(executable));
    EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_CUDA_SUCCESS(memory.Release());
  });
}

/// Limits so low that small cases take several rounds of samples, and several chunks. Up to 100 items, a rank counts as
/// small.
struct small_policy {
  static constexpr strata::distributed_sort_tuning tuning{/*first_samples=*/8,
                                                          /*samples=*/16,
                                                          /*sample_bytes=*/1 << 16,
                                                          /*max_items_without_chunks=*/50,
                                                          /*chunks=*/3,
                                                          /*max_gathered_items=*/100};
};

/// Sorts with temporary storage in shared memory, or with that of some ranks elsewhere.
void expect_sorted(const rank_context& context, const std::vector<std::size_t>& sizes, place where, int range) {
  DistributedMemory memory;
  ASSERT_CUDA_SUCCESS(memory.Allocate(std::size_t{4} << 20, context.comm));
  std::vector<std::pair<int, int>> all;
  std::vector<int> keys, values;
  for (std::size_t from = 0; from < sizes.size(); ++from) {
    const std::vector<int> random = strata_test::random_integers(sizes[from], 0, range, from);
    for (const int key : random) {
      if (from == static_cast<std::size_t>(context.rank)) {
        keys.push_back(key);
        values.push_back(static_cast<int>(all.size()));
      }
      all.emplace_back(key, static_cast<int>(all.size()));
    }
  }
  std::sort(all.begin(), all.end());
  const auto rank = static_cast<std::size_t>(context.rank), ranks = static_cast<std::size_t>(context.ranks);
  const std::size_t first = rank * all.size() / ranks, share = (rank + 1) * all.size() / ranks - first;
  const device_vector<int> keys_in(keys), values_in(values);
  const auto check = [&](const auto& call) {
    shared_arrays arrays(memory);
    device_vector<int> keys_out(share), values_out(share);
    std::int64_t num_out = -1;
    std::size_t bytes = 0;
    const auto made = [&](void* storage, std::size_t capacity) {
      return call(storage, bytes, keys_in.data(), values_in.data(), static_cast<std::int64_t>(keys.size()),
                  keys_out.data(), values_out.data(), static_cast<std::int64_t>(capacity), &num_out);
    };
    ASSERT_CUDA_SUCCESS(made(nullptr, share));
    const bool is_here = where == place::shared || context.rank != 0;
    output<unsigned char> storage(arrays, is_here, bytes);
    // First, the last rank, which always gets an item, has no room for one. Then nothing may be written.
    EXPECT_EQ(cudaErrorInvalidValue, made(storage.data(), context.rank + 1 == context.ranks ? share - 1 : share));
    context.wait();
    ASSERT_EQ(static_cast<std::int64_t>(share), num_out);
    for (const device_vector<int>* const out : {&keys_out, &values_out}) {
      for (const int item : out->to_host()) ASSERT_TRUE(strata_test::is_poison(item)) << item;
    }
    num_out = -1;
    ASSERT_CUDA_SUCCESS(made(storage.data(), share));
    context.wait();
    ASSERT_EQ(static_cast<std::int64_t>(share), num_out);
    storage.expect_untouched_after(bytes);
    const std::vector<int> sorted = keys_out.to_host(), places = values_out.to_host();
    for (std::size_t i = 0; i < share; ++i) {
      ASSERT_EQ(all[first + i].first, sorted[i]) << i;
      ASSERT_EQ(all[first + i].second, places[i]) << i;
    }
  };
  check([&](void* storage, std::size_t& bytes, const int* in, const int* in_values, std::int64_t count, int* out,
            int* out_values, std::int64_t capacity, std::int64_t* num_out) {
    return strata::detail::distributed_radix_sort<false, small_policy>(
        storage, bytes, in, in_values, count, out, out_values, capacity, num_out, strata::detail::identity_decomposer{},
        0, 32, context.comm, context.stream);
  });
  check([&](void* storage, std::size_t& bytes, const int* in, const int* in_values, std::int64_t count, int* out,
            int* out_values, std::int64_t capacity, std::int64_t* num_out) {
    return strata::DistributedMergeSort::SortPairs(storage, bytes, in, in_values, count, out, out_values, capacity,
                                                   num_out, is_less{}, context.comm, context.stream);
  });
  EXPECT_CUDA_SUCCESS(memory.Release());
}

TEST(DistributedMemory, SortsReadFromOtherRanks) {
  for (const int ranks : rank_counts()) {
    for (const place where : {place::shared, place::mixed}) {
      on_ranks(ranks, [&](const rank_context& context) {
        expect_sorted(context, sizes_of(context.ranks, 700), where, 1 << 20);
        expect_sorted(context, sizes_of(context.ranks, 300), where, 2);
        // Sizes that are small on all ranks, or on some, and the largest small size.
        const auto ranks_of = static_cast<std::size_t>(context.ranks);
        expect_sorted(context, std::vector<std::size_t>(ranks_of, 1), where, 5);
        expect_sorted(context, std::vector<std::size_t>(ranks_of, 100), where, 50);
        std::vector<std::size_t> unequal(ranks_of, 100);
        unequal[0] = 101;
        expect_sorted(context, unequal, where, 1000);
        unequal.assign(ranks_of, 0);
        unequal.back() = 77;
        expect_sorted(context, unequal, where, 1000);
        unequal.back() = 700;
        expect_sorted(context, unequal, where, 1000);
      });
    }
  }
}

/// In every second call, one rank has too little temporary storage. All ranks must still use the same areas afterwards.
TEST(DistributedMemory, SortsAfterOneThatARankHasRefused) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& context) {
    DistributedMemory memory;
    ASSERT_CUDA_SUCCESS(memory.Allocate(0, context.comm));
    for (int call = 0; call < 4; ++call) {
      const std::vector<int> items(50, call * 10 + context.ranks - context.rank);
      const device_vector<int> in(items);
      device_vector<int> out(items.size());
      std::int64_t num_out = -1;
      std::size_t bytes = 0;
      const auto sort = [&](void* storage) {
        return strata::DistributedRadixSort::SortKeys(storage, bytes, in.data(), 50, out.data(), 50, &num_out,
                                                      context.comm, context.stream);
      };
      ASSERT_CUDA_SUCCESS(sort(nullptr));
      device_vector<unsigned char> storage(bytes);
      const bool is_refused = call % 2 == 1;
      if (is_refused && context.rank == 0) bytes = 1;
      EXPECT_EQ(is_refused ? cudaErrorInvalidValue : cudaSuccess, sort(storage.data()));
      context.wait();
      if (!is_refused) {
        EXPECT_EQ(std::vector<int>(items.size(), call * 10 + context.rank + 1), out.to_host());
      }
    }
    EXPECT_CUDA_SUCCESS(memory.Release());
  });
}

/// A late rank may read the areas of the others after these have begun the next call.
TEST(DistributedMemory, AreasHoldTheirItemsDuringTheNextCall) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& context) {
    if (context.ranks < 2) return;
    DistributedMemory memory;
    ASSERT_CUDA_SUCCESS(memory.Allocate(0, context.comm));
    const auto peers = strata::detail::peer_group::of(context.comm);
    std::vector<int> items_before;
    const char* area_before = nullptr;
    for (int call = 0; call < 4; ++call) {
      const std::vector<int> items(50, call * 10 + context.rank);
      const device_vector<int> in(items);
      device_vector<int> out(items.size());
      std::int64_t num_out = -1;
      ASSERT_CUDA_SUCCESS(strata::DistributedRadixSort::SortKeys(in.data(), 50, out.data(), 50, &num_out, context.comm,
                                                                 context.stream));
      context.wait();
      const char* const area = peers->area_of(context.rank);
      EXPECT_EQ(items, host_copy(reinterpret_cast<const int*>(area), items.size()));
      if (area_before != nullptr) {
        EXPECT_EQ(items_before, host_copy(reinterpret_cast<const int*>(area_before), items.size()));
      }
      items_before = items;
      area_before = area;
    }
    EXPECT_CUDA_SUCCESS(memory.Release());
  });
}

/// A large key, so that few fill an area.
struct large_key {
  int number;
  int rest[63];
};
struct has_smaller_number {
  STRATA_HD bool operator()(const large_key& a, const large_key& b) const { return a.number < b.number; }
};

TEST(DistributedMemory, SortsAsManyItemsAsAnAreaHasRoomFor) {
  for (const int ranks : {2, 3}) {
    if (ranks > strata_test::ranks_up_to(3)) continue;
    on_ranks(ranks, [](const rank_context& context) {
      const strata::detail::distributed_sort_storage<large_key, NullType> sizes(
          context.ranks, strata::detail::distributed_sort_policy::tuning);
      const auto most = static_cast<std::size_t>(sizes.most_in_area());
      // What all ranks sort does not grow with their number.
      EXPECT_NEAR(2.0 * (std::size_t{4} << 20) / sizeof(large_key), static_cast<double>(most) * context.ranks, 64);
      DistributedMemory memory;
      ASSERT_CUDA_SUCCESS(memory.Allocate(4096, context.comm));
      const shared_arrays arrays(memory);
      for (const std::size_t more : {0, 1}) {
        const std::size_t count = most + (context.rank == 0 ? more : 0);
        std::vector<large_key> keys(count);
        for (std::size_t i = 0; i < count; ++i) {
          keys[i].number = static_cast<int>((i * 7919) % most) * context.ranks + context.rank;
          for (int& other : keys[i].rest) other = keys[i].number;
        }
        const std::size_t all = most * static_cast<std::size_t>(context.ranks) + more;
        const auto rank = static_cast<std::size_t>(context.rank), size = static_cast<std::size_t>(context.ranks);
        const std::size_t first = rank * all / size, share = (rank + 1) * all / size - first;
        const device_vector<large_key> in(keys);
        device_vector<large_key> out(share);
        std::int64_t num_out = -1;
        ASSERT_CUDA_SUCCESS(strata::DistributedMergeSort::SortKeys(
            in.data(), static_cast<std::int64_t>(count), out.data(), static_cast<std::int64_t>(share), &num_out,
            has_smaller_number{}, context.comm, context.stream));
        context.wait();
        ASSERT_EQ(static_cast<std::int64_t>(share), num_out);
        const std::vector<large_key> sorted = out.to_host();
        for (std::size_t i = 0; i < share; ++i) {
          // The key that rank 0 has in addition is another 0.
          const int expected = static_cast<int>(first + i - (first + i < more ? first + i : more));
          ASSERT_EQ(expected, sorted[i].number) << i;
          ASSERT_TRUE(std::all_of(std::begin(sorted[i].rest), std::end(sorted[i].rest),
                                  [&](int other) { return other == expected; }));
        }
      }
      EXPECT_TRUE(arrays.is_untouched(static_cast<unsigned char*>(memory.data()), 4000));
      EXPECT_CUDA_SUCCESS(memory.Release());
    });
  }
}

TEST(DistributedMemory, KnowsWhichArraysLieInIt) {
  constexpr std::size_t reserved = strata::detail::peer_group::reserved_bytes;
  char* const begin = reinterpret_cast<char*>(std::uintptr_t{1} << 40);
  strata::detail::peer_group group;
  group.memory[0] = begin;
  group.bytes[0] = std::size_t{5} << 30;  // more than 32 bits can count
  char* const data = begin + reserved;
  EXPECT_EQ(0, group.offset_of(data, group.bytes[0]));
  EXPECT_EQ(std::int64_t{3} << 30, group.offset_of(data + (std::size_t{3} << 30), std::size_t{2} << 30));
  EXPECT_EQ(std::int64_t{5} << 30, group.offset_of(data + group.bytes[0], 0));
  EXPECT_EQ(-1, group.offset_of(data, group.bytes[0] + 1));
  EXPECT_EQ(-1, group.offset_of(data + 1, group.bytes[0]));
  EXPECT_EQ(-1, group.offset_of(data + 8, ~std::size_t{0}));
  EXPECT_EQ(-1, group.offset_of(data - 1, 1));
  EXPECT_EQ(-1, group.offset_of(data + group.bytes[0] + 1, 0));
  EXPECT_EQ(-1, group.offset_of(nullptr, 1));
}

TEST(DistributedMemory, IsRefused) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& context) {
    DistributedMemory memory, second;
    EXPECT_EQ(cudaErrorInvalidValue, memory.Allocate(1, nullptr));
    EXPECT_CUDA_SUCCESS(memory.Allocate(1, context.comm));
    EXPECT_EQ(cudaErrorInvalidValue, memory.Allocate(1, context.comm));
    EXPECT_EQ(cudaErrorInvalidValue, second.Allocate(1, context.comm));
    EXPECT_CUDA_SUCCESS(second.Release());
    expect_sums(context);
    EXPECT_CUDA_SUCCESS(memory.Release());
    // One rank asks for too much, so no rank gets memory.
    EXPECT_NE(cudaSuccess, memory.Allocate(context.rank == 0 ? ~std::size_t{0} / 2 : 1, context.comm));
    static_cast<void>(cudaGetLastError());
    EXPECT_EQ(nullptr, memory.data());
    expect_sums(context);
  });
}

/// The mailbox of rank 0 of two, with the words that rank 1 has sent.
class received_message {
 public:
  static constexpr unsigned words = 4;

  explicit received_message(unsigned of_number) : number_(of_number), mailbox_(peer_message::mailbox_words) {
    EXPECT_CUDA_SUCCESS(cudaMemset(mailbox_.data(), 0, peer_message::mailbox_words * sizeof(unsigned long long)));
    EXPECT_CUDA_SUCCESS(cudaHostAlloc(&pinned_, sizeof(strata::detail::peer_host_words), cudaHostAllocPortable));
    host_ = new (pinned_) strata::detail::peer_host_words{0, 0};
  }
  ~received_message() { EXPECT_CUDA_SUCCESS(cudaFreeHost(pinned_)); }
  received_message(const received_message&) = delete;
  received_message& operator=(const received_message&) = delete;

  void send(unsigned word, unsigned of_number, unsigned value) {
    const unsigned long long tagged = static_cast<unsigned long long>(of_number) << 32 | value;
    EXPECT_CUDA_SUCCESS(
        cudaMemcpy(message().slot(0, 1, of_number) + word, &tagged, sizeof tagged, cudaMemcpyHostToDevice));
  }
  void abort() { host_->is_aborted = 1; }
  bool has_failed() const { return host_->has_failed != 0; }

  /// Receives, and returns the words of both ranks.
  std::vector<unsigned> receive() {
    using strata::detail::no_more_steps;
    const device_vector<unsigned> last(std::vector<unsigned>{number_ - 1});
    device_vector<unsigned> all(2 * words);
    EXPECT_CUDA_SUCCESS(cudaMemset(all.data(), 0x11, 2 * words * sizeof(unsigned)));
    peer_message made = message();
    made.all = all.data();
    made.number = const_cast<unsigned*>(last.data());
    made.host = host_;
    made.wait_nanoseconds = 60ull * 1000 * 1000 * 1000;
    const strata::launch_configuration launch{"message", dim3(1), dim3(strata::detail::peer_threads)};
    EXPECT_CUDA_SUCCESS(
        strata::launch(launch, strata::detail::peer_gather_kernel<strata::detail::peer_part::receive, no_more_steps>,
                       made, no_more_steps{}));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(number_, last.to_host()[0]);
    return all.to_host();
  }

 private:
  using peer_message = strata::detail::peer_message;

  peer_message message() {
    peer_message made{};
    made.words = words;
    made.rank = 0;
    made.ranks = 2;
    made.mailboxes[0] = made.mailboxes[1] = mailbox_.data();
    return made;
  }

  unsigned number_;
  device_vector<unsigned long long> mailbox_;
  void* pinned_ = nullptr;
  strata::detail::peer_host_words* host_ = nullptr;
};

TEST(DistributedMemory, MessagesOfTwoCallsBeforeAreNotTaken) {
  if (strata_test::max_ranks() == 0) GTEST_SKIP();
  constexpr unsigned untouched = 0x11111111, error = cudaErrorUnknown;
  const auto of_both = [&](std::vector<unsigned> theirs) {
    theirs.insert(theirs.begin(), received_message::words, untouched);
    return theirs;
  };
  received_message whole(7);
  for (unsigned i = 0; i < received_message::words; ++i) whole.send(i, 5, 500 + i), whole.send(i, 7, 700 + i);
  EXPECT_EQ(of_both({700, 701, 702, 703}), whole.receive());
  EXPECT_FALSE(whole.has_failed());
  // Word 2 is still that of message 5, so message 7 is incomplete, and the receiver waits. The abort ends its wait.
  received_message part(7);
  for (unsigned i = 0; i < received_message::words; ++i) part.send(i, i == 2 ? 5 : 7, 700 + i);
  part.abort();
  EXPECT_EQ(of_both({error, 701, 0, 703}), part.receive());
  EXPECT_TRUE(part.has_failed());
  // Message 0 follows the largest number.
  received_message wrapped(0);
  for (unsigned i = 0; i < received_message::words; ++i) {
    wrapped.send(i, ~1u, 1);
    if (i != 3) wrapped.send(i, 0, 700 + i);
  }
  wrapped.abort();
  EXPECT_EQ(of_both({error, 701, 702, 0}), wrapped.receive());
}

/// Another rank may still read the areas of a rank, so no call after an error may write to them.
TEST(DistributedMemory, AbortEndsAllLaterCalls) {
  on_ranks(strata_test::ranks_up_to(2), [](const rank_context& context) {
    if (context.ranks < 2) return;
    DistributedMemory memory;
    ASSERT_CUDA_SUCCESS(memory.Allocate(std::size_t{1} << 20, context.comm));
    const device_vector<int> in(std::vector<int>(50, context.rank)), to(std::vector<int>(50, 0));
    device_vector<int> out(200);
    std::int64_t num_out = -1;
    const auto sort = [&] {
      return strata::DistributedRadixSort::SortKeys(in.data(), 50, out.data(), 50, &num_out, context.comm,
                                                    context.stream);
    };
    for (int call = 0; call < 2; ++call) ASSERT_CUDA_SUCCESS(sort());
    context.wait();
    const auto peers = strata::detail::peer_group::of(context.comm);
    const auto areas = [&] {
      constexpr std::size_t bytes = 2 * strata::detail::peer_group::area_bytes;
      return host_copy<char>(peers->memory[context.rank] + strata::detail::peer_group::areas_begin, bytes);
    };
    const std::vector<char> before = areas();
    memory.Abort();
    ASSERT_CUDA_SUCCESS(cudaMemset(const_cast<int*>(in.data()), 0x77, 50 * sizeof(int)));
    for (int call = 0; call < 2; ++call) EXPECT_EQ(cudaErrorUnknown, sort());
    EXPECT_TRUE(before == areas());
    EXPECT_EQ(cudaErrorUnknown,
              strata::DistributedReduce::Sum(in.data(), out.data(), 50, context.comm, context.stream));
    EXPECT_EQ(cudaErrorUnknown, strata::DistributedExchange::Items(in.data(), to.data(), 50, out.data(), 200, &num_out,
                                                                   context.comm, context.stream));
    EXPECT_NE(cudaSuccess, memory.Release());
    static_cast<void>(cudaGetLastError());
    throw strata_test::abort_rank{};
  });
}

#if STRATA_HOST_SIMT

/// Makes all calls on three ranks whose memory cannot be shared.
void expect_calls_without_sharing() {
  on_ranks(3, [](const rank_context& context) {
    DistributedMemory memory;
    EXPECT_CUDA_SUCCESS(memory.Allocate(1000, context.comm));
    EXPECT_FALSE(memory.is_shared());
    EXPECT_EQ(1000u, memory.size());
    EXPECT_CUDA_SUCCESS(cudaMemset(memory.data(), 0, memory.size()));
    expect_sums(context);
    EXPECT_CUDA_SUCCESS(memory.Release());
    for (const place where : {place::shared, place::mixed}) {
      expect_exchanged<int>(context, sizes_of(context.ranks, 300), where, false);
      expect_sorted(context, sizes_of(context.ranks, 300), where, 1000);
    }
  });
}

TEST(DistributedMemory, IsNotSharedWithoutPeerAccess) {
  for (const unsigned devices : {2u, 4u, 7u}) {
    strata::simt::config().devices_without_peers = devices;
    expect_calls_without_sharing();
  }
  strata::simt::config().devices_without_peers = 0;
}

TEST(DistributedMemory, IsNotSharedWhereADeviceRefusesAPool) {
  for (const unsigned devices : {1u, 4u, 7u}) {
    strata::simt::config().devices_without_pools = devices;
    expect_calls_without_sharing();
  }
  strata::simt::config().devices_without_pools = 0;
}

#endif

}  // namespace distributed_memory_test
