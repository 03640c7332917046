// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceSegmentedScan.
#include <strata/device/device_segmented_scan.cuh>

#include "random/random_oracles.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;
using strata::DeviceSegmentedScan;

enum class form { inclusive_sum, exclusive_sum, inclusive, inclusive_init, exclusive };

/// If outputs have offsets of their own, segments may overlap in the input.
template <class T, class Out, class Op, form What>
problem scan_segments(source& random) {
  const std::size_t most = most_items(random, 80000, 1u << 22);
  const std::size_t size = random_size(random, most);
  const std::size_t count = random_number_of_segments(random, is_gpu ? 200000 : 8000);
  const bool moves = random.chance(40);
  const bool in_place = !moves && std::is_same_v<T, Out> && random.chance(40);
  struct arrays : memory<T, Out> {
    arrays(std::size_t n, std::size_t outputs, std::size_t segments, source& from)
        : memory<T, Out>(n, outputs, from), begins(segments, from), ends(segments, from), out_begins(segments, from) {}
    array<std::int64_t> begins;
    array<std::int64_t> ends;
    array<std::int64_t> out_begins;
    segment_list list;
    std::vector<std::int64_t> host_out_begins;
  };
  const auto held = std::make_shared<arrays>(size, in_place ? 0 : size, count, random);
  const T init = item_of<T>(random());
  problem made;
  made.what = description("segmented scan", name_of<T>(), size) + ", form " + std::to_string(static_cast<int>(What)) +
              ", " + std::to_string(count) + " segments" + (in_place ? ", in place" : "") +
              (moves ? ", output offsets" : "");
  made.renew = [held, size, count, moves](source& data, cudaStream_t stream) {
    constexpr bool is_sum = What == form::inclusive_sum || What == form::exclusive_sum;
    held->renew(is_sum ? random_addends<T>(data, size) : random_items<T>(data, size), stream);
    held->list = random_segments(data, count, size);
    held->host_out_begins = held->list.begins;
    if (moves) {
      // Outputs lie one after the other, in random order.
      std::vector<std::size_t> order(count);
      for (std::size_t s = 0; s < count; ++s) order[s] = s;
      std::shuffle(order.begin(), order.end(), data);
      std::size_t next = 0;
      for (const std::size_t s : order) {
        held->host_out_begins[s] = static_cast<std::int64_t>(next);
        next += held->list.length(s);
      }
      // The input of a segment may begin anywhere.
      for (std::size_t s = 0; s < count; ++s) {
        const std::size_t length = held->list.length(s);
        held->list.begins[s] = static_cast<std::int64_t>(data.below(size - length + 1));
        held->list.ends[s] = held->list.begins[s] + static_cast<std::int64_t>(length);
      }
    }
    held->begins.write(held->list.begins, stream);
    held->ends.write(held->list.ends, stream);
    held->out_begins.write(held->host_out_begins, stream);
  };
  made.call = [held, count, in_place, moves, init](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    const std::int64_t* const begins = held->begins.data();
    const std::int64_t* const ends = held->ends.data();
    const std::int64_t* const to = held->out_begins.data();
    const auto scan = [&](auto* out) {
      using all = DeviceSegmentedScan;
      if constexpr (What == form::inclusive_sum) {
        return moves ? all::InclusiveSegmentedSum(storage, bytes, in, out, begins, ends, to, count, stream)
                     : all::InclusiveSegmentedSum(storage, bytes, in, out, begins, ends, count, stream);
      } else if constexpr (What == form::exclusive_sum) {
        return moves ? all::ExclusiveSegmentedSum(storage, bytes, in, out, begins, ends, to, count, stream)
                     : all::ExclusiveSegmentedSum(storage, bytes, in, out, begins, ends, count, stream);
      } else if constexpr (What == form::inclusive) {
        return moves ? all::InclusiveSegmentedScan(storage, bytes, in, out, begins, ends, to, count, Op{}, stream)
                     : all::InclusiveSegmentedScan(storage, bytes, in, out, begins, ends, count, Op{}, stream);
      } else if constexpr (What == form::inclusive_init) {
        return moves
                   ? all::InclusiveSegmentedScanInit(storage, bytes, in, out, begins, ends, to, count, Op{}, init,
                                                     stream)
                   : all::InclusiveSegmentedScanInit(storage, bytes, in, out, begins, ends, count, Op{}, init, stream);
      } else {
        return moves ? all::ExclusiveSegmentedScan(storage, bytes, in, out, begins, ends, to, count, Op{}, init, stream)
                     : all::ExclusiveSegmentedScan(storage, bytes, in, out, begins, ends, count, Op{}, init, stream);
      }
    };
    if constexpr (std::is_same_v<T, Out>) {
      if (in_place) return scan(held->in.data());
    }
    return scan(held->out.data());
  };
  made.check = [held, size, count, in_place, init](cudaStream_t stream) {
    std::vector<Out> expected(size, untouched<Out>());
    if constexpr (std::is_same_v<T, Out>) {
      if (in_place) expected = held->items;
    }
    for (std::size_t s = 0; s < count; ++s) {
      Out sum{};
      if constexpr (What == form::inclusive_init || What == form::exclusive) {
        sum = static_cast<Out>(init);
      }
      for (std::size_t i = 0; i < held->list.length(s); ++i) {
        const auto from = static_cast<std::size_t>(held->list.begins[s]) + i;
        Out& to = expected[static_cast<std::size_t>(held->host_out_begins[s]) + i];
        const Out item = static_cast<Out>(held->items[from]);
        if (What == form::exclusive || What == form::exclusive_sum) to = sum;
        sum = i == 0 && What == form::inclusive ? item : static_cast<Out>(Op{}(sum, item));
        if (What != form::exclusive && What != form::exclusive_sum) to = sum;
      }
    }
    if constexpr (std::is_same_v<T, Out>) {
      if (in_place) return must_be_same(expected, held->in.read(stream), "scans in place");
    }
    must_be_same(expected, held->out.read(stream), "scans");
  };
  return made;
}

const std::vector<maker> makers = {
    scan_segments<std::int32_t, std::int32_t, wrapping_sum, form::inclusive_sum>,
    scan_segments<std::uint8_t, std::uint32_t, wrapping_sum, form::exclusive_sum>,
    scan_segments<float, float, wrapping_sum, form::inclusive_sum>,
    scan_segments<__nv_bfloat16, __nv_bfloat16, wrapping_sum, form::exclusive_sum>,
    scan_segments<affine8, affine8, strata::Sum, form::inclusive>,
    scan_segments<affine16, affine16, compose, form::exclusive>,
    scan_segments<affine16, affine16, compose, form::inclusive_init>,
    scan_segments<bytes3, bytes3, wrapping_sum, form::inclusive>,
    scan_segments<bytes64, bytes64, wrapping_sum, form::exclusive>,
    scan_segments<std::uint64_t, std::uint64_t, strata::BitXor, form::inclusive_init>,
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("segmented", makers, count, values); }
