// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by all calls of the distributed layer: errors, positions of ranks, transfers of bytes, and the wait of the
// host.
#include <strata/distributed/communication/all_to_all.cuh>
#include <strata/distributed/communication/communicator.cuh>

#include <support/test_types.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/ranks.hpp"

namespace communicator_test {

using strata::detail::call_header;
using strata::detail::rank_position;
using strata_test::device_vector;
using strata_test::on_ranks;
using strata_test::rank_context;
using strata_test::rank_counts;

TEST(Communicator, KnowsErrors) {
  EXPECT_EQ(cudaSuccess, strata::detail::as_cuda_error(ncclSuccess));
  EXPECT_EQ(cudaErrorInvalidValue, strata::detail::as_cuda_error(ncclInvalidArgument));
  EXPECT_EQ(cudaErrorInvalidValue, strata::detail::as_cuda_error(ncclInvalidUsage));
  EXPECT_EQ(cudaErrorNotReady, strata::detail::as_cuda_error(ncclInProgress));
  for (const ncclResult_t result : {ncclSystemError, ncclInternalError, ncclRemoteError, ncclUnhandledCudaError}) {
    EXPECT_EQ(cudaErrorUnknown, strata::detail::as_cuda_error(result));
  }
  // After ncclUnhandledCudaError, the error of the CUDA runtime is returned, because it says more.
  EXPECT_EQ(cudaErrorInvalidDevice, cudaSetDevice(-1));
  EXPECT_EQ(cudaErrorInvalidDevice, strata::detail::as_cuda_error(ncclUnhandledCudaError));
  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError()) << "only peeked at";

  rank_position position;
  EXPECT_EQ(cudaErrorInvalidValue, strata::detail::position_of(nullptr, position));

  call_header headers[3];
  EXPECT_EQ(cudaSuccess, strata::detail::common_status(headers, 3));
  headers[2].status = cudaErrorInvalidValue;
  EXPECT_EQ(cudaErrorInvalidValue, strata::detail::common_status(headers, 3));
  headers[1].status = cudaErrorMemoryAllocation;
  EXPECT_EQ(cudaErrorMemoryAllocation, strata::detail::common_status(headers, 3));
}

TEST(Communicator, GathersBytes) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      rank_position position;
      ASSERT_CUDA_SUCCESS(strata::detail::position_of(context.comm, position));
      EXPECT_EQ(context.rank, position.rank);
      EXPECT_EQ(ranks, position.ranks);

      // Includes sizes that are not a multiple of any type's.
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof(call_header), std::size_t{1003}}) {
        const device_vector<unsigned char> mine(
            std::vector<unsigned char>(bytes, static_cast<unsigned char>(context.rank + 1)));
        device_vector<unsigned char> all(bytes * static_cast<std::size_t>(ranks));
        ASSERT_CUDA_SUCCESS(strata::detail::all_gather(mine.data(), all.data(), bytes, context.comm, context.stream));
        ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
        const std::vector<unsigned char> found = all.to_host();
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(i / bytes + 1, found[i]);
      }

      // A rank that could not get temporary storage takes part with this memory.
      strata::detail::scratch_memory scratch(context.stream);
      ASSERT_CUDA_SUCCESS(scratch.allocate(static_cast<std::size_t>(ranks) * sizeof(call_header)));
      auto* const d_headers = static_cast<call_header*>(scratch.data());
      call_header header;
      header.num_items = 100 + context.rank;
      if (context.rank == ranks - 1) header.status = cudaErrorInvalidValue;
      ASSERT_CUDA_SUCCESS(
          cudaMemcpyAsync(d_headers + context.rank, &header, sizeof header, cudaMemcpyHostToDevice, context.stream));
      ASSERT_CUDA_SUCCESS(
          strata::detail::all_gather(d_headers + context.rank, d_headers, sizeof header, context.comm, context.stream));
      std::vector<call_header> headers(static_cast<std::size_t>(ranks));
      ASSERT_CUDA_SUCCESS(cudaMemcpyAsync(headers.data(), d_headers, headers.size() * sizeof header,
                                          cudaMemcpyDeviceToHost, context.stream));
      ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(100 + rank, headers[static_cast<std::size_t>(rank)].num_items);
      }
      EXPECT_EQ(cudaErrorInvalidValue, strata::detail::common_status(headers.data(), ranks));
    });
  }
}

/// The number of items that rank `from` sends to rank `to`: none, few, or some hundreds.
std::size_t sent_count(int from, int to) {
  return static_cast<std::size_t>((from * 3 + to * 2 + 1) % 4 * (from * 50 + to + 1));
}

/// An item that shows its sender, its receiver and its index.
std::int64_t item(int from, int to, std::size_t i) { return from * 1000000 + to * 10000 + static_cast<int>(i); }

TEST(Communicator, ExchangesArraysOfAllRanks) {
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      const auto count = static_cast<std::size_t>(ranks);
      std::vector<std::size_t> send_offsets(count), send_counts(count), receive_offsets(count), receive_counts(count);
      std::vector<std::int64_t> keys, expected_keys;
      std::vector<std::int16_t> values, expected_values;
      for (int peer = 0; peer < ranks; ++peer) {
        const auto p = static_cast<std::size_t>(peer);
        send_offsets[p] = keys.size();
        send_counts[p] = sent_count(context.rank, peer);
        receive_offsets[p] = expected_keys.size();
        receive_counts[p] = sent_count(peer, context.rank);
        for (std::size_t i = 0; i < send_counts[p]; ++i) {
          keys.push_back(item(context.rank, peer, i));
          values.push_back(static_cast<std::int16_t>(keys.back() % 32000));
        }
        for (std::size_t i = 0; i < receive_counts[p]; ++i) {
          expected_keys.push_back(item(peer, context.rank, i));
          expected_values.push_back(static_cast<std::int16_t>(expected_keys.back() % 32000));
        }
      }
      const device_vector<std::int64_t> d_keys(keys);
      const device_vector<std::int16_t> d_values(values);
      device_vector<std::int64_t> d_keys_out(expected_keys.size());
      device_vector<std::int16_t> d_values_out(expected_values.size());
      const strata::detail::exchanged_array arrays[] = {{d_keys.data(), d_keys_out.data(), sizeof(std::int64_t)},
                                                        {d_values.data(), d_values_out.data(), sizeof(std::int16_t)}};
      const rank_position position{context.rank, ranks};
      ASSERT_CUDA_SUCCESS(strata::detail::all_to_all(arrays, 2, send_offsets.data(), send_counts.data(),
                                                     receive_offsets.data(), receive_counts.data(), position,
                                                     context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
      EXPECT_EQ(expected_keys, d_keys_out.to_host());
      EXPECT_EQ(expected_values, d_values_out.to_host());

      // Repeated with staging memory, through which each piece goes with its lead.
      std::vector<std::size_t> sender_offsets(count);
      for (int peer = 0; peer < ranks; ++peer) {
        for (int before = 0; before < context.rank; ++before) {
          sender_offsets[static_cast<std::size_t>(peer)] += sent_count(peer, before);
        }
      }
      using strata::detail::piece_staging;
      const strata_test::guarded_memory staging(
          piece_staging::bytes(expected_keys.size(), count, sizeof(std::int64_t)) +
          piece_staging::bytes(expected_keys.size(), count, sizeof(std::int16_t)));
      const strata::detail::array_transfer transfer{arrays,
                                                    2,
                                                    {send_offsets.data(), send_counts.data()},
                                                    {receive_offsets.data(), receive_counts.data()},
                                                    1,
                                                    sender_offsets.data()};
      // The pieces that a rank sends to itself are first copied in the stream of the transfers, then in another stream.
      for (const std::size_t bytes_copied_beside : {strata::detail::never_copied_beside, std::size_t{1}}) {
        d_keys_out.poison();
        d_values_out.poison();
        ASSERT_CUDA_SUCCESS(strata::detail::all_to_all(&transfer, 1, position, context.comm, context.stream,
                                                       staging.data(), bytes_copied_beside));
        ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
        EXPECT_EQ(expected_keys, d_keys_out.to_host());
        EXPECT_EQ(expected_values, d_values_out.to_host());
      }

      // One array, with offsets and counts in bytes.
      d_keys_out.poison();
      for (auto* numbers : {&send_offsets, &send_counts, &receive_offsets, &receive_counts}) {
        for (std::size_t& number : *numbers) number *= sizeof(std::int64_t);
      }
      ASSERT_CUDA_SUCCESS(strata::detail::all_to_all(d_keys.data(), send_offsets.data(), send_counts.data(),
                                                     d_keys_out.data(), receive_offsets.data(), receive_counts.data(),
                                                     position, context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
      EXPECT_EQ(expected_keys, d_keys_out.to_host());

      // This rank's counts contradict each other: the call fails, but items between ranks have been sent before.
      d_keys_out.poison();
      ++receive_counts[static_cast<std::size_t>(context.rank)];
      EXPECT_EQ(cudaErrorInvalidValue,
                strata::detail::all_to_all(d_keys.data(), send_offsets.data(), send_counts.data(), d_keys_out.data(),
                                           receive_offsets.data(), receive_counts.data(), position, context.comm,
                                           context.stream));
      ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
      const std::vector<std::int64_t> found = d_keys_out.to_host();
      for (int peer = 0; peer < ranks; ++peer) {
        const auto p = static_cast<std::size_t>(peer);
        const std::size_t begin = receive_offsets[p] / sizeof(std::int64_t);
        for (std::size_t i = 0; i < sent_count(peer, context.rank) && peer != context.rank; ++i) {
          EXPECT_EQ(expected_keys[begin + i], found[begin + i]) << "item " << i << " from rank " << peer;
        }
      }
    });
  }
}

// Two transfers in one group: two arrays with three pieces for each rank, and one array with one piece. Pieces are
// received one after the other, each sorted by rank. The second piece is the same for all receivers.
TEST(Communicator, ExchangesSeveralPiecesAndTransfersAtOnce) {
  constexpr int pieces = 3;
  for (const int ranks : rank_counts()) {
    on_ranks(ranks, [ranks](const rank_context& context) {
      const auto entries = static_cast<std::size_t>(ranks * pieces);
      std::vector<std::size_t> send_offsets(entries), send_counts(entries), receive_offsets(entries),
          receive_counts(entries);
      std::vector<std::int64_t> sent, expected;
      for (int piece = 0; piece < pieces; ++piece) {
        const bool is_for_all = piece == 1;
        // The number of items of this piece that rank `from` has for `to`.
        const auto count = [&](int from, int to) { return sent_count(from, is_for_all ? 0 : to + piece); };
        const auto content = [&](int from, int to, std::size_t i) {
          return item(from, is_for_all ? 0 : to, i) + piece;
        };
        const std::size_t begin_for_all = sent.size();
        for (int peer = 0; peer < ranks; ++peer) {
          const auto p = static_cast<std::size_t>(peer * pieces + piece);
          send_counts[p] = count(context.rank, peer);
          send_offsets[p] = is_for_all ? begin_for_all : sent.size();
          for (std::size_t i = 0; i < send_counts[p] && (!is_for_all || peer == 0); ++i) {
            sent.push_back(content(context.rank, peer, i));
          }
          receive_counts[p] = count(peer, context.rank);
          receive_offsets[p] = expected.size();
          for (std::size_t i = 0; i < receive_counts[p]; ++i) expected.push_back(content(peer, context.rank, i));
        }
      }
      const auto narrow = [](const std::vector<std::int64_t>& items) {
        std::vector<std::int16_t> result;
        for (const std::int64_t one : items) result.push_back(static_cast<std::int16_t>(one % 32000));
        return result;
      };
      const device_vector<std::int64_t> d_sent(sent);
      const device_vector<std::int16_t> d_narrow(narrow(sent));
      device_vector<std::int64_t> d_received(expected.size());
      device_vector<std::int16_t> d_narrow_received(expected.size());
      // The second transfer: each rank sends its number to all ranks.
      const auto count = static_cast<std::size_t>(ranks);
      std::vector<std::size_t> each(count, 1), first(count, 0), by_rank(count);
      std::vector<int> all(count);
      for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<int>(by_rank[i] = i);
      const device_vector<int> d_rank(std::vector<int>{context.rank});
      device_vector<int> d_ranks(count);

      const strata::detail::exchanged_array arrays[] = {{d_sent.data(), d_received.data(), sizeof(std::int64_t)},
                                                        {d_narrow.data(), d_narrow_received.data(), 2}};
      const strata::detail::exchanged_array other{d_rank.data(), d_ranks.data(), sizeof(int)};
      const strata::detail::array_transfer transfers[] = {
          {arrays,
           2,
           {send_offsets.data(), send_counts.data()},
           {receive_offsets.data(), receive_counts.data()},
           pieces},
          {&other, 1, {first.data(), each.data()}, {by_rank.data(), each.data()}}};
      ASSERT_CUDA_SUCCESS(
          strata::detail::all_to_all(transfers, 2, {context.rank, ranks}, context.comm, context.stream));
      ASSERT_CUDA_SUCCESS(strata::detail::wait_for(context.stream, context.comm));
      EXPECT_EQ(expected, d_received.to_host());
      EXPECT_EQ(narrow(expected), d_narrow_received.to_host());
      EXPECT_EQ(all, d_ranks.to_host());
    });
  }
}

#if STRATA_HOST_SIMT
TEST(Communicator, EndsTheWaitWhenARankAborts) {
  on_ranks(3, [](const rank_context& context) {
    if (context.rank == 1) throw strata_test::abort_rank{};
    const device_vector<int> mine(std::vector<int>{1});
    device_vector<int> all(3);
    EXPECT_EQ(cudaErrorUnknown, strata::detail::all_gather(mine.data(), all.data(), 4, context.comm, context.stream));
    EXPECT_EQ(cudaErrorUnknown, strata::detail::wait_for(context.stream, context.comm)) << "the stream has no work";
    for (const int item : all.to_host()) EXPECT_TRUE(strata_test::is_poison(item));
  });
}
#endif

}  // namespace communicator_test
