// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segmented merge sorts of very many segments, and of more items than 30, 31 and 32 bits can count, checked
// on the device.
#include <strata/core/launcher.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"

namespace {

using namespace device_test;
using strata::DeviceMergeSort;
using strata::DeviceSegmentedMergeSort;
using offset = std::int64_t;

constexpr std::size_t beyond_31_bits = (std::size_t{1} << 31) + 3;

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

// ------------------------------------------------------------------ kernels

/// Writes `segments` + 1 borders, `length` items apart.
STRATA_KERNEL void fill_borders(offset* borders, std::size_t segments, offset length) {
  for_all(segments + 1, [&](std::size_t i) { borders[i] = static_cast<offset>(i) * length; });
}
/// Writes the borders of segments of 1 to 1999 items, which have `items` items in all. There must be more than 1000
/// items for each segment.
STRATA_KERNEL void fill_uneven_borders(offset* borders, std::size_t segments, offset items) {
  for_all(segments + 1, [&](std::size_t i) {
    const auto noise = static_cast<offset>(static_cast<std::uint32_t>(i) * factor >> 8) % 1000;
    borders[i] = i == 0 ? 0 : i == segments ? items : static_cast<offset>(i) * 1000 + noise;
  });
}

STRATA_KERNEL void count_moved(const std::uint32_t* keys, std::size_t count, unsigned long long* wrong) {
  for_all(count, [&](std::size_t i) {
    if (keys[i] != key_of_item<std::uint32_t>(i)) atomicAdd(wrong, 1ull);
  });
}
/// Counts wrong keys if all keys differ: neighbours in the wrong order, and keys that no item has.
STRATA_KERNEL void count_wrong_keys(const std::uint32_t* keys, std::size_t count, unsigned long long* wrong) {
  for_all(count, [&](std::size_t i) {
    const bool is_right = (i == 0 || keys[i - 1] < keys[i]) && keys[i] * inverse < count;
    if (!is_right) atomicAdd(wrong, 1ull);
  });
}
/// A warp checks a segment. It counts neighbours in the wrong order, and compares checksums of the segment's items in
/// the input and in the output.
STRATA_KERNEL void count_wrong_segments(const std::uint8_t* in, const std::uint8_t* out, const offset* begins,
                                        const offset* ends, std::size_t segments, unsigned long long* wrong) {
  for_all(segments * 32, [&](std::size_t i) {
    const offset end = ends[i / 32];
    unsigned long long sum = 0;
    for (offset at = begins[i / 32] + static_cast<offset>(i % 32); at < end; at += 32) {
      if (at > begins[i / 32] && out[at] < out[at - 1]) atomicAdd(wrong, 1ull);
      sum += (in[at] + 1ull) * (in[at] + 1ull) * 0x9e3779b97f4a7c15ull;
      sum -= (out[at] + 1ull) * (out[at] + 1ull) * 0x9e3779b97f4a7c15ull;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (sum != 0) atomicAdd(wrong, 1ull);
  });
}
/// Counts bytes outside of segments that were written.
STRATA_KERNEL void count_written(const std::uint8_t* out, offset from, offset to, unsigned was,
                                 unsigned long long* wrong) {
  for_all(static_cast<std::size_t>(to - from), [&](std::size_t i) {
    if (out[static_cast<std::size_t>(from) + i] != was) atomicAdd(wrong, 1ull);
  });
}

// ------------------------------------------------------------------ tests

constexpr std::size_t very_many = 226000000;

TEST(device_segmented_merge_sort_large, very_many_segments_of_one_item) {
  using Key = std::uint32_t;
  const array<Key> in(very_many), out(very_many);
  const array<offset> borders(very_many + 1);
  SKIP_UNLESS(in.data() != nullptr && out.data() != nullptr && borders.data() != nullptr);
  run(fill_keys<Key>, in.data(), very_many);
  run(fill_borders, borders.data(), very_many, offset{1});
  for (const bool is_fixed : {false, true}) {
    SCOPED_TRACE(is_fixed ? "of one size" : "by offsets");
    ASSERT_CUDA_SUCCESS(cudaMemset(out.data(), 0, very_many * sizeof(Key)));
    SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
      const Key* const keys = in.data();
      const offset* const begins = borders.data();
      return is_fixed
                 ? DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, out.data(), very_many, 1, is_less{})
                 : DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, out.data(), very_many, very_many,
                                                          begins, begins + 1, is_less{});
    }));
    counter wrong;
    run(count_moved, static_cast<const Key*>(out.data()), very_many, wrong.data());
    EXPECT_EQ(0u, wrong.get());
  }
}

TEST(device_segmented_merge_sort_large, one_segment_of_30_bits) {
  using Key = std::uint32_t;
  const std::size_t count = std::size_t{1} << 30;
  const array<Key> in(count), out(count);
  SKIP_UNLESS(in.data() != nullptr && out.data() != nullptr);
  run(fill_keys<Key>, in.data(), count);
  const device_vector<offset> borders(std::vector<offset>{0, static_cast<offset>(count)});
  SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
    const Key* const keys = in.data();
    const offset* const begins = borders.data();
    return DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, out.data(), count, 1, begins, begins + 1,
                                                  is_less{});
  }));
  counter wrong;
  run(count_wrong_keys, static_cast<const Key*>(out.data()), count, wrong.data());
  EXPECT_EQ(0u, wrong.get());
}

TEST(device_segmented_merge_sort_large, one_segment_beyond_31_bits_is_stable) {
  using Key = std::uint8_t;
  const std::size_t count = beyond_31_bits;
  const array<Key> keys(count);
  const array<std::uint32_t> values(count);
  SKIP_UNLESS(keys.data() != nullptr && values.data() != nullptr);
  run(fill_keys<Key>, keys.data(), count);
  run(fill_places, values.data(), count);
  SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
    return DeviceMergeSort::SortPairs(storage, bytes, keys.data(), values.data(), count, is_less{});
  }));
  counter wrong;
  run(count_wrong_pairs, static_cast<const Key*>(keys.data()), static_cast<const std::uint32_t*>(values.data()),
      std::size_t{0}, count, wrong.data());
  EXPECT_EQ(0u, wrong.get());
}

TEST(device_segmented_merge_sort_large, segments_beyond_31_bits) {
  using Key = std::uint8_t;
  const std::size_t count = beyond_31_bits, segments = count / 1000;
  const array<Key> in(count), out(count);
  const array<offset> borders(segments + 1);
  SKIP_UNLESS(in.data() != nullptr && out.data() != nullptr && borders.data() != nullptr);
  run(fill_keys<Key>, in.data(), count);
  run(fill_uneven_borders, borders.data(), segments, static_cast<offset>(count));
  SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
    const Key* const keys = in.data();
    const offset* const begins = borders.data();
    return DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, out.data(), count, segments, begins, begins + 1,
                                                  is_less{});
  }));
  counter wrong;
  run(count_wrong_segments, static_cast<const Key*>(in.data()), static_cast<const Key*>(out.data()),
      static_cast<const offset*>(borders.data()), static_cast<const offset*>(borders.data() + 1), segments,
      wrong.data());
  EXPECT_EQ(0u, wrong.get());
}

// Segments lie across 2^31, across 2^32 and behind it, and most of the memory belongs to no segment. If an offset were
// cut to 32 bits, other items would be sorted.
TEST(device_segmented_merge_sort_large, offsets_beyond_32_bits) {
  using Key = std::uint8_t;
  const offset two31 = offset{1} << 31, two32 = offset{1} << 32;
  const offset count = two32 + (offset{1} << 24);
  const std::vector<offset> first = {3, two31 - 40, two31 + 5000, two32 - 4000000, two32 + 500000, two32 + 7000000};
  const std::vector<offset> last = {1000, two31 + 60, two31 + 15000, two32 + 400000, two32 + 500001, two32 + 7020000};
  const array<Key> in(static_cast<std::size_t>(count)), out(static_cast<std::size_t>(count));
  SKIP_UNLESS(in.data() != nullptr && out.data() != nullptr);
  run(fill_keys<Key>, in.data(), static_cast<std::size_t>(count));
  constexpr int untouched = 0xa5;
  ASSERT_CUDA_SUCCESS(cudaMemset(out.data(), untouched, static_cast<std::size_t>(count)));
  const device_vector<offset> begins(first), ends(last);
  offset items = 0;
  for (std::size_t s = 0; s < first.size(); ++s) items += last[s] - first[s];
  SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
    const Key* const keys = in.data();
    return DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, out.data(), items, first.size(), begins.data(),
                                                  ends.data(), is_less{});
  }));
  counter wrong;
  run(count_wrong_segments, static_cast<const Key*>(in.data()), static_cast<const Key*>(out.data()), begins.data(),
      ends.data(), first.size(), wrong.data());
  EXPECT_EQ(0u, wrong.get());
  for (std::size_t s = 0; s <= first.size(); ++s) {
    counter written;
    run(count_written, static_cast<const Key*>(out.data()), s == 0 ? 0 : last[s - 1],
        s == first.size() ? count : first[s], unsigned{untouched}, written.data());
    EXPECT_EQ(0u, written.get()) << "before segment " << s;
  }
}

}  // namespace
