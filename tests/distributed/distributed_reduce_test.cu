// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/distributed/distributed_reduce.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "distributed/distributions.hpp"
#include "distributed/ranks.hpp"
#include "support/own_operators.cuh"
#include "support/test_support.cuh"

namespace {

using namespace distributed_test;
using strata::DistributedReduce;
using strata_test::call_with_temp_storage;
using strata_test::is_poison;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;
using strata_test::runs;
using strata_test::tagged;

const std::size_t about = strata_test::is_small() ? 300 : 3000;

template <class Item>
const std::vector<Item>& items_here(const std::vector<std::vector<Item>>& items, const rank_context& rank) {
  return items[static_cast<std::size_t>(rank.rank)];
}

std::int64_t count_of(std::size_t size) { return static_cast<std::int64_t>(size); }

TEST(distributed_reduce, sums_of_all_distributions) {
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      const auto items = make_items<int>(how, ranks, about, [](int rank, std::size_t i) {
        return 2000000000 - 10 * rank - static_cast<int>(i % 1000);
      });
      std::int64_t sum = 0;
      for (const int item : joined(items)) sum += item;
      on_ranks(ranks, [&](const rank_context& rank) {
        const device_vector<int> in(items_here(items, rank));
        device_vector<std::int64_t> out(1);
        EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedReduce::Sum(storage, bytes, in.data(), out.data(), count_of(in.size()), rank.comm,
                                        rank.stream);
        }));
        EXPECT_EQ(sum, out.to_host()[0]) << ranks << " ranks, rank " << rank.rank;
      });
    }
  }
}

// The result depends on the order of items and ranks, and on whether the initial value was used exactly once.
TEST(distributed_reduce, operators_need_not_commute) {
  const affine_map init{3, 5};
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      const auto items = make_items<affine_map>(how, ranks, about, some_map);
      affine_map expected = init;
      for (const affine_map& map : joined(items)) expected = apply_in_order{}(expected, map);
      on_ranks(ranks, [&](const rank_context& rank) {
        const device_vector<affine_map> in(items_here(items, rank));
        device_vector<affine_map> out(1);
        EXPECT_CUDA_SUCCESS(call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          return DistributedReduce::Reduce(storage, bytes, in.data(), out.data(), count_of(in.size()), apply_in_order{},
                                           init, rank.comm, rank.stream);
        }));
        EXPECT_TRUE(expected == out.to_host()[0]) << ranks << " ranks, rank " << rank.rank;
      });
    }
  }
}

// For this type, + joins strings, and < compares a part of an item. Sums must keep the order, and Min must return the
// first of equal items.
TEST(distributed_reduce, operators_of_the_type_itself_need_not_commute) {
  for (const int ranks : rank_counts()) {
    const auto strings = make_items<runs>(distribution::uneven, ranks, 7000, [](int rank, std::size_t i) {
      return runs::of((i * i / 7 + static_cast<std::size_t>(rank)) % 3);
    });
    const auto items = make_items<tagged>(distribution::uneven, ranks, 7000, [](int rank, std::size_t i) {
      return tagged{static_cast<std::int32_t>(1000 - i) % 5, 10000 * rank + static_cast<std::int32_t>(i)};
    });
    runs whole{};
    for (const runs& string : joined(strings)) whole = whole + string;
    tagged least = joined(items)[0];
    for (const tagged& item : joined(items)) least = item < least ? item : least;
    on_ranks(ranks, [&](const rank_context& rank) {
      const device_vector<runs> strings_in(items_here(strings, rank));
      const device_vector<tagged> items_in(items_here(items, rank));
      device_vector<runs> sum(1);
      device_vector<tagged> first(1);
      const std::int64_t count = count_of(items_in.size());
      EXPECT_CUDA_SUCCESS(DistributedReduce::Sum(strings_in.data(), sum.data(), count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(DistributedReduce::Min(items_in.data(), first.data(), count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      EXPECT_EQ(whole, sum.to_host()[0]) << ranks << " ranks, rank " << rank.rank;
      EXPECT_EQ(least, first.to_host()[0]) << ranks << " ranks, rank " << rank.rank;
    });
  }
}

TEST(distributed_reduce, extremes_and_their_first_index) {
  for (const int ranks : rank_counts()) {
    for (const distribution how : all_distributions) {
      // Each extreme occurs on several ranks, and the first one counts.
      const auto items = make_items<std::int16_t>(how, ranks, about, [](int rank, std::size_t i) {
        return static_cast<std::int16_t>((i * 37 + static_cast<std::size_t>(rank) * 11) % 101);
      });
      const std::vector<std::int16_t> all = joined(items);
      std::int16_t least = std::numeric_limits<std::int16_t>::max();
      std::int16_t most = std::numeric_limits<std::int16_t>::lowest();
      std::int64_t least_at = 1;
      std::int64_t most_at = 1;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] < least) least = all[i], least_at = count_of(i);
        if (all[i] > most) most = all[i], most_at = count_of(i);
      }
      on_ranks(ranks, [&](const rank_context& rank) {
        const device_vector<std::int16_t> in(items_here(items, rank));
        const std::int64_t count = count_of(in.size());
        device_vector<std::int16_t> values(4);
        device_vector<std::int64_t> indices(2);
        std::int16_t* const out = values.data();
        std::int64_t* const index = indices.data();
        EXPECT_CUDA_SUCCESS(DistributedReduce::Min(in.data(), out, count, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(DistributedReduce::Max(in.data(), out + 1, count, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(DistributedReduce::ArgMin(in.data(), out + 2, index, count, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(DistributedReduce::ArgMax(in.data(), out + 3, index + 1, count, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_EQ((std::vector<std::int16_t>{least, most, least, most}), values.to_host());
        EXPECT_EQ((std::vector<std::int64_t>{least_at, most_at}), indices.to_host());
      });
    }
  }
}

TEST(distributed_reduce, nan_is_ignored_unless_there_is_nothing_else) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> mixed = {{nan, nan}, {}, {nan, 2, -0.0f, 0.0f}, {2, nan, -0.0f}};
  const std::vector<std::vector<float>> nothing = {{}, {nan, nan}, {nan}, {}};
  const int ranks = rank_counts().back() < 4 ? rank_counts().back() : 4;
  for (const bool is_mixed : {true, false}) {
    std::vector<std::vector<float>> items = is_mixed ? mixed : nothing;
    for (std::size_t i = items.size() - 1; i >= static_cast<std::size_t>(ranks); --i) {
      items[i - 1].insert(items[i - 1].end(), items[i].begin(), items[i].end());
    }
    on_ranks(ranks, [&](const rank_context& rank) {
      const device_vector<float> in(items_here(items, rank));
      const std::int64_t count = count_of(in.size());
      device_vector<float> values(4);
      device_vector<std::int64_t> indices(2);
      float* const out = values.data();
      EXPECT_CUDA_SUCCESS(DistributedReduce::Min(in.data(), out, count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(DistributedReduce::Max(in.data(), out + 1, count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(DistributedReduce::ArgMin(in.data(), out + 2, indices.data(), count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(
          DistributedReduce::ArgMax(in.data(), out + 3, indices.data() + 1, count, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
      const std::vector<float> found = values.to_host();
      if (is_mixed) {
        EXPECT_EQ((std::vector<float>{-0.0f, 2, -0.0f, 2}), found);
        EXPECT_TRUE(std::signbit(found[0]));
        // The call compares zeros of both signs as equal, and returns the first.
        EXPECT_EQ((std::vector<std::int64_t>{4, 3}), indices.to_host());
      } else {
        for (const float value : found) EXPECT_TRUE(std::isnan(value)) << value;
        EXPECT_EQ((std::vector<std::int64_t>{0, 0}), indices.to_host());
      }
    });
  }
}

TEST(distributed_reduce, sums_of_floats_have_the_same_bits_everywhere) {
  for (const int ranks : rank_counts()) {
    const auto items = make_items<float>(distribution::uneven, ranks, about, [](int rank, std::size_t i) {
      return std::ldexp(1.0f + static_cast<float>(i % 7) / 7.0f, static_cast<int>(i % 23) - rank);
    });
    std::vector<std::vector<float>> sums(static_cast<std::size_t>(ranks));
    for (int run = 0; run < 2; ++run) {
      on_ranks(ranks, [&](const rank_context& rank) {
        const device_vector<float> in(items_here(items, rank));
        device_vector<float> out(1);
        EXPECT_CUDA_SUCCESS(DistributedReduce::Sum(in.data(), out.data(), count_of(in.size()), rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        sums[static_cast<std::size_t>(rank.rank)].push_back(out.to_host()[0]);
      });
    }
    for (const auto& of_rank : sums) EXPECT_EQ(std::vector<float>(2, sums[0][0]), of_rank);
    double sum = 0;
    for (const float item : joined(items)) sum += static_cast<double>(item);
    EXPECT_NEAR(sum, static_cast<double>(sums[0][0]), sum * 1e-5);
  }
}

struct totals {
  double sum;
  std::int64_t count;
  std::int32_t most;
};
struct to_totals {
  STRATA_HD totals operator()(std::int64_t i) const {
    return {static_cast<double>(i), 1, static_cast<std::int32_t>(i % 1000)};
  }
};
struct add_totals {
  STRATA_HD totals operator()(const totals& a, const totals& b) const {
    return {a.sum + b.sum, a.count + b.count, a.most < b.most ? b.most : a.most};
  }
};

TEST(distributed_reduce, iterators_and_structures) {
  const int ranks = rank_counts().back();
  const auto each = count_of(about);
  on_ranks(ranks, [&](const rank_context& rank) {
    using Numbers = strata::CountingInputIterator<std::int64_t>;
    const strata::TransformInputIterator<totals, to_totals, Numbers> in(Numbers(rank.rank * each), to_totals{});
    device_vector<totals> out(1);
    EXPECT_CUDA_SUCCESS(
        DistributedReduce::Reduce(in, out.data(), each, add_totals{}, totals{0.5, 10, -1}, rank.comm, rank.stream));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    const totals found = out.to_host()[0];
    const std::int64_t all = each * ranks;
    EXPECT_EQ(static_cast<double>(all * (all - 1) / 2) + 0.5, found.sum);
    EXPECT_EQ(all + 10, found.count);
    EXPECT_EQ(all > 999 ? 999 : all - 1, found.most);
  });
}

// A rank that refuses its arguments tells the others. All ranks continue, and none writes a result.
TEST(distributed_reduce, refused_arguments_stop_no_rank) {
  enum class fault { null_in, null_out, negative_count, little_storage, overlap };
  for (const int ranks : rank_counts()) {
    for (const fault what :
         {fault::null_in, fault::null_out, fault::negative_count, fault::little_storage, fault::overlap}) {
      const int refusing = ranks / 2;
      on_ranks(ranks, [&](const rank_context& rank) {
        const bool refuses = rank.rank == refusing;
        const auto is = [&](fault other) { return refuses && what == other; };
        const device_vector<std::int64_t> in(std::vector<std::int64_t>(10, 1));
        device_vector<std::int64_t> out(2);
        const std::int64_t* const d_in = is(fault::null_in) ? nullptr : in.data();
        std::int64_t* const d_out = is(fault::null_out) ? nullptr : out.data();
        const cudaError_t status = call_with_temp_storage([&](void* storage, std::size_t& bytes) {
          std::size_t given = bytes - (storage != nullptr && is(fault::little_storage) ? 1 : 0);
          const std::int64_t count = is(fault::negative_count) ? -1 : 10;
          const cudaError_t answer =
              what == fault::overlap
                  ? DistributedReduce::ArgMax(storage, given, d_in, d_out, d_out + (refuses ? 0 : 1), count, rank.comm,
                                              rank.stream)
                  : DistributedReduce::Sum(storage, given, d_in, d_out, count, rank.comm, rank.stream);
          if (storage == nullptr) bytes = given;
          return answer;
        });
        EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess, status);
        for (const std::int64_t item : out.to_host()) EXPECT_TRUE(is_poison(item)) << item;
      });
      // The calls without storage of the caller must do the same.
      on_ranks(ranks, [&](const rank_context& rank) {
        const bool refuses = rank.rank == refusing;
        const device_vector<std::int64_t> in(std::vector<std::int64_t>(10, 1));
        device_vector<std::int64_t> out(1);
        EXPECT_EQ(refuses ? cudaErrorInvalidValue : cudaSuccess,
                  DistributedReduce::Sum(in.data(), out.data(), refuses ? -1 : 10, rank.comm, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_TRUE(is_poison(out.to_host()[0]));
      });
    }
  }
}

TEST(distributed_reduce, a_rank_without_memory_stops_no_rank) {
  on_ranks(rank_counts().back(), [&](const rank_context& rank) {
    const bool has_none = rank.rank == rank.ranks / 2;
    const device_vector<int> in(std::vector<int>(10, 1));
    device_vector<int> out(1);
    memory_of_rank memory{has_none};
    EXPECT_EQ(has_none ? cudaErrorMemoryAllocation : cudaSuccess,
              DistributedReduce::Sum(in.data(), out.data(), 10, rank.comm, strata::execution(rank.stream, memory)));
    EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
    EXPECT_TRUE(is_poison(out.to_host()[0]));
  });
}

TEST(distributed_reduce, no_communicator_is_refused) {
  const device_vector<int> in(std::vector<int>{1});
  device_vector<int> out(1);
  EXPECT_EQ(cudaErrorInvalidValue, DistributedReduce::Sum(in.data(), out.data(), 1, ncclComm_t{nullptr}));
  EXPECT_TRUE(is_poison(out.to_host()[0]));
}

TEST(distributed_reduce, graphs_are_replayed_with_other_items) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [&](const rank_context& rank) {
      device_vector<int> in(std::vector<int>(100, 1));
      device_vector<int> out(1);
      std::size_t bytes = 0;
      EXPECT_CUDA_SUCCESS(DistributedReduce::Sum(nullptr, bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      const strata_test::guarded_memory storage(bytes);
      // NCCL connects the ranks in their first call, which cannot be captured.
      EXPECT_CUDA_SUCCESS(
          DistributedReduce::Sum(storage.data(), bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t replay = nullptr;
      EXPECT_CUDA_SUCCESS(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal));
      EXPECT_CUDA_SUCCESS(
          DistributedReduce::Sum(storage.data(), bytes, in.data(), out.data(), 100, rank.comm, rank.stream));
      EXPECT_CUDA_SUCCESS(cudaStreamEndCapture(rank.stream, &graph));
      EXPECT_CUDA_SUCCESS(cudaGraphInstantiate(&replay, graph, 0));
      for (int factor = 1; factor <= 3; ++factor) {
        in.assign(std::vector<int>(100, factor * (rank.rank + 1)));
        EXPECT_CUDA_SUCCESS(cudaGraphLaunch(replay, rank.stream));
        EXPECT_CUDA_SUCCESS(cudaStreamSynchronize(rank.stream));
        EXPECT_EQ(100 * factor * ranks * (ranks + 1) / 2, out.to_host()[0]);
      }
      EXPECT_CUDA_SUCCESS(cudaGraphExecDestroy(replay));
      EXPECT_CUDA_SUCCESS(cudaGraphDestroy(graph));
    });
  }
}

}  // namespace
