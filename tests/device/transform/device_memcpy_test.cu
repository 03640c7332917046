// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceMemcpy: batches of buffers of any length and alignment.
#include <strata/device/device_memcpy.cuh>

#include <cstdint>
#include <vector>

#include "device/test_iterators.cuh"
#include "device/transform/device_batched_copy_support.cuh"

namespace device_memcpy_test {

using namespace device_test;
using strata::DeviceMemcpy;

using byte = unsigned char;

void test_batch(const buffer_places& places) {
  SCOPED_TRACE(places.name);
  buffer_pools<byte> pools(places);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMemcpy::Batched(storage..., pools.inputs.data(), pools.outputs.data(), pools.sizes.data(),
                                 pools.count());
  }));
  pools.expect_copied();
}

TEST(device_memcpy, no_buffers) {
  test_batch({"none", {}, {}, {}});
  EXPECT_CUDA_SUCCESS(in_two_phases([](auto&&... storage) {
    return DeviceMemcpy::Batched(storage..., static_cast<void**>(nullptr), static_cast<void**>(nullptr),
                                 static_cast<int*>(nullptr), 0);
  }));
}

TEST(device_memcpy, buffers_side_by_side) {
  for (const buffer_places& places : buffer_batches(0)) test_batch(places);
}

TEST(device_memcpy, buffers_with_gaps_which_stay_untouched) {
  for (const buffer_places& places : buffer_batches(40)) test_batch(places);
}

TEST(device_memcpy, all_alignments) {
  for (const std::size_t size : if_small<std::vector<std::size_t>>(
           {1, 15, 31, 46, 62, 100, 3000, 9000},
           {1, 2, 7, 15, 16, 17, 31, 32, 33, 46, 47, 48, 61, 62, 63, 64, 100, 1000, 3000, 8192, 8300, 9000, 50000})) {
    buffer_places places{"of " + std::to_string(size), {}, {}, {}};
    for (std::size_t in = 0; in < 16; in += if_small<std::size_t>(3, 1)) {
      for (std::size_t out = 0; out < 16; ++out) {
        // Pools begin at a multiple of 16 bytes. So these gaps give each buffer its alignment.
        const auto gap = [](std::size_t end, std::size_t offset) { return (offset - end) % 16; };
        places.add(size, gap(places.in_items, in), gap(places.out_items, out));
      }
    }
    test_batch(places);
  }
}

// Destinations that other warps write lie beside each source. In check mode, a read of their bytes is reported as a
// race, and a read behind the last source as one behind the allocation.
TEST(device_memcpy, reads_nothing_but_the_sources) {
  std::vector<std::size_t> lengths;
  for (std::size_t size = 0; size < 100; ++size) {
    for (std::size_t i = 0; i < if_small<std::size_t>(4, 16); ++i) lengths.push_back(size);
  }
  for (std::size_t size = 8000; size < 8600; size += if_small<std::size_t>(37, 1)) lengths.push_back(size);
  const std::size_t count = lengths.size();
  std::shuffle(lengths.begin(), lengths.end(), strata_test::random_bits(5));
  std::vector<std::size_t> in(count), out(count);
  std::size_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t other = (i + 101) % count;
    out[other] = end;
    in[i] = end + lengths[other];
    end = in[i] + lengths[i];
  }
  std::vector<byte> items(end);
  for (std::size_t i = 0; i < end; ++i) items[i] = static_cast<byte>(i * 37 % 251);
  byte* pool = nullptr;
  ASSERT_CUDA_SUCCESS(cudaMalloc(&pool, end));
  ASSERT_CUDA_SUCCESS(cudaMemcpy(pool, items.data(), end, cudaMemcpyHostToDevice));
  std::vector<const void*> from;
  std::vector<void*> to;
  for (std::size_t i = 0; i < count; ++i) {
    from.push_back(pool + in[i]);
    to.push_back(pool + out[i]);
    std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(in[i]), lengths[i],
                items.begin() + static_cast<std::ptrdiff_t>(out[i]));
  }
  const device_vector<const void*> inputs(from);
  const device_vector<void*> outputs(to);
  const device_vector<std::size_t> sizes(lengths);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMemcpy::Batched(storage..., inputs.data(), outputs.data(), sizes.data(), count);
  }));
  std::vector<byte> results(end);
  ASSERT_CUDA_SUCCESS(cudaMemcpy(results.data(), pool, end, cudaMemcpyDeviceToHost));
  EXPECT_EQ(results, items);
  EXPECT_CUDA_SUCCESS(cudaFree(pool));
}

TEST(device_memcpy, inputs_may_overlap) {
  buffer_places places = scattered_buffers("one source", std::vector<std::size_t>(100, 700), 5);
  for (std::size_t i = 0; i < places.count(); ++i) places.in[i] = i % 7;
  test_batch(places);
}

TEST(device_memcpy, empty_and_negative_sizes_use_no_pointers) {
  const device_vector<const void*> inputs(std::vector<const void*>(50, nullptr));
  const device_vector<void*> outputs(std::vector<void*>(50, nullptr));
  std::vector<int> none(50, 0);
  none[7] = -1;
  none[49] = -100000;
  const device_vector<int> sizes(none);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMemcpy::Batched(storage..., inputs.data(), outputs.data(), sizes.data(), 50);
  }));
}

struct address_in {
  const byte* pool;
  std::size_t pitch;
  STRATA_HD const void* operator()(int i) const { return pool + static_cast<std::size_t>(i) * pitch; }
};
struct address_out {
  byte* pool;
  std::size_t pitch;
  STRATA_HD void* operator()(int i) const { return pool + static_cast<std::size_t>(i) * pitch; }
};

TEST(device_memcpy, iterators_that_are_no_pointers) {
  const std::size_t pitch = 101;
  buffer_places places{"rows", {}, {}, {}};
  for (std::size_t i = 0; i < 300; ++i) places.add(pitch, 0, 0);
  buffer_pools<byte> pools(places);
  const counting<int> rows(0);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceMemcpy::Batched(storage..., transforming<counting<int>, address_in>(rows, {pools.in.data(), pitch}),
                                 transforming<counting<int>, address_out>(rows, {pools.out.data(), pitch}),
                                 constant<std::uint8_t>(pitch), 300);
  }));
  pools.expect_copied();
}

TEST(device_memcpy, without_temporary_storage) {
  buffer_pools<byte> pools(scattered_buffers("some", sizes_of_all_scales(100, 20000, 5), 9));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceMemcpy::Batched(pools.inputs.data(), pools.outputs.data(), pools.sizes.data(), pools.count());
  }));
  pools.expect_copied();
}

TEST(device_memcpy, storage_of_any_contents_and_alignment) {
  const buffer_places places = scattered_buffers("some", sizes_of_all_scales(100, 20000, 6), 9);
  for (const contents garbage : all_contents) {
    for (const std::size_t misalignment : sizes{0, 1, 255}) {
      buffer_pools<byte> pools(places);
      ASSERT_CUDA_SUCCESS(in_two_phases(
          [&](auto&&... storage) {
            return DeviceMemcpy::Batched(storage..., pools.inputs.data(), pools.outputs.data(), pools.sizes.data(),
                                         pools.count());
          },
          garbage, misalignment));
      pools.expect_copied();
    }
  }
}

TEST(device_memcpy, a_graph_may_be_replayed_with_other_buffers) {
  // The other buffers are in the same pools, with their sizes in another order.
  std::vector<std::size_t> sizes = sizes_of_all_scales(60, 30000, 7);
  buffer_places places = scattered_buffers("first", sizes, 5);
  buffer_pools<byte> pools(places);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceMemcpy::Batched(nullptr, bytes, pools.inputs.data(), pools.outputs.data(),
                                            pools.sizes.data(), pools.count()));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    return DeviceMemcpy::Batched(storage.data(), bytes, pools.inputs.data(), pools.outputs.data(), pools.sizes.data(),
                                 pools.count(), on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (std::uint64_t replay = 0; replay < 4; ++replay) {
    if (replay > 0) {
      places = scattered_buffers("next", replay == 2 ? std::vector<std::size_t>(60, 1) : sizes, 0, replay);
      pools.assign(places, replay);
    }
    recorded.replay(where);
    where.synchronize();
    pools.expect_copied();
  }
}

TEST(device_memcpy, streams_at_the_same_time) {
  const buffer_places places = scattered_buffers("some", sizes_of_all_scales(100, 20000, 8), 9);
  buffer_pools<byte> a(places, 1), b(places, 2);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(
      DeviceMemcpy::Batched(nullptr, bytes, a.inputs.data(), a.outputs.data(), a.sizes.data(), a.count()));
  const scratch a_storage(bytes), b_storage(bytes);
  const stream a_stream, b_stream;
  ASSERT_CUDA_SUCCESS(DeviceMemcpy::Batched(a_storage.data(), bytes, a.inputs.data(), a.outputs.data(), a.sizes.data(),
                                            a.count(), a_stream));
  ASSERT_CUDA_SUCCESS(DeviceMemcpy::Batched(b_storage.data(), bytes, b.inputs.data(), b.outputs.data(), b.sizes.data(),
                                            b.count(), b_stream));
  a_stream.synchronize();
  b_stream.synchronize();
  a.expect_copied();
  b.expect_copied();
}

TEST(device_memcpy, refuses_what_cannot_be) {
  const buffer_places places = scattered_buffers("some", {3, 50, 20000}, 1);
  buffer_pools<byte> pools(places);
  const byte* const* const in = pools.inputs.data();
  byte* const* const out = pools.outputs.data();
  const std::int64_t* const lengths = pools.sizes.data();
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceMemcpy::Batched(nullptr, bytes, in, out, lengths, 3));
  const scratch storage(bytes);
  const auto call = [&](auto from, auto to, auto of, int count, std::size_t given) {
    const graph recorded(
        [&](cudaStream_t on) { return DeviceMemcpy::Batched(storage.data(), given, from, to, of, count, on); });
    EXPECT_EQ(recorded.status() == cudaSuccess, recorded.nodes() > 0);
    return recorded.status();
  };
  EXPECT_CUDA_SUCCESS(call(in, out, lengths, 3, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(decltype(in){nullptr}, out, lengths, 3, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(in, decltype(out){nullptr}, lengths, 3, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(in, out, decltype(lengths){nullptr}, 3, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(in, out, lengths, -1, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, call(in, out, lengths, 3, bytes - 1));
  const with_difference<int, signed char> hundred(nullptr);
  EXPECT_CUDA_SUCCESS(DeviceMemcpy::Batched(nullptr, bytes, in, out, hundred, 128));
  EXPECT_EQ(cudaErrorInvalidValue, DeviceMemcpy::Batched(nullptr, bytes, in, out, hundred, 129));
}

// ---------------------------------------------------------------------------- tuning

/// Warps take full batches of up to 32 buffers, however few buffers there are. Buffers of more than 600 bytes are
/// queued.
template <int Rows, int StridePieces>
struct eager_hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::batched_copy_tuning batched_copy{/*block_threads=*/64,
                                                              /*blocks_per_multiprocessor=*/1,
                                                              /*warp_bytes=*/600,
                                                              /*piece_bytes=*/700,
                                                              /*max_pieces=*/3,
                                                              /*batches_per_warp=*/0,
                                                              Rows,
                                                              /*edge_rows=*/Rows,
                                                              /*queued_array_blocks=*/1,
                                                              StridePieces};
  };
  using MaxPolicy = Policy;
};

template <int Rows, int StridePieces>
void test_eager(const buffer_places& places) {
  SCOPED_TRACE(places.name);
  buffer_pools<byte> pools(places);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::TunedDeviceMemcpy<eager_hub<Rows, StridePieces>>::Batched(
        storage, bytes, pools.inputs.data(), pools.outputs.data(), pools.sizes.data(), pools.count());
  }));
  pools.expect_copied();
}

TEST(device_memcpy, full_batches_and_a_long_queue) {
  for (const buffer_places& places : buffer_batches(40)) test_eager<4, 1024>(places);
}

TEST(device_memcpy, full_batches_and_a_long_queue_in_strides) {
  for (const buffer_places& places : buffer_batches(40)) test_eager<4, 0>(places);
}

TEST(device_memcpy, full_batches_and_a_long_queue_row_by_row) {
  for (const buffer_places& places : buffer_batches(0)) test_eager<1, 2>(places);
}

TEST(device_memcpy, twelve_bytes_of_storage_for_a_buffer) {
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceMemcpy::Batched(nullptr, bytes, static_cast<void**>(nullptr), static_cast<void**>(nullptr),
                                            static_cast<int*>(nullptr), 1 << 20));
  EXPECT_GE(bytes, std::size_t{12} << 20);
  EXPECT_LE(bytes, (std::size_t{12} << 20) + 1300);
}

}  // namespace device_memcpy_test
