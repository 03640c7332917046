// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls for tests of what all device calls promise: one for each kernel whose blocks wait for each other, and some
// others.
#pragma once

#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_find.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

/// A two-phase call with its arrays.
class operation {
 public:
  using call_type = std::function<cudaError_t(void*, std::size_t&, cudaStream_t)>;

  /// `reset` restores what the call overwrites; `result` reads what the call has written.
  operation(std::string name, call_type call, std::function<void()> reset,
            std::function<std::vector<std::uint64_t>()> result)
      : name_(std::move(name)), call_(std::move(call)), reset_(std::move(reset)), result_(std::move(result)) {}

  const std::string& name() const { return name_; }

  /// Returns the temporary storage. The first call allocates it.
  void* storage() {
    if (storage_ == nullptr) {
      EXPECT_CUDA_SUCCESS(call_(nullptr, bytes_, nullptr));
      storage_ = std::make_unique<scratch>(bytes_);
    }
    return storage_->data();
  }
  void reset() {
    storage();
    storage_->fill(contents::random);
    reset_();
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  }
  cudaError_t run(cudaStream_t on) {
    void* const temp = storage();
    return call_(temp, bytes_, on);
  }
  std::vector<std::uint64_t> result() const { return result_(); }

 private:
  std::string name_;
  call_type call_;
  std::function<void()> reset_;
  std::function<std::vector<std::uint64_t>()> result_;
  std::unique_ptr<scratch> storage_;
  std::size_t bytes_ = 0;
};

template <class T>
void append(std::vector<std::uint64_t>& all, const std::vector<T>& items) {
  for (const T& item : items) all.push_back(static_cast<std::uint64_t>(item));
}

struct ascending {
  STRATA_HD bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};

struct is_rare {
  STRATA_HD bool operator()(std::uint32_t x) const { return x % 4096 == 17; }
};
struct is_odd {
  STRATA_HD bool operator()(std::uint32_t x) const { return x % 2 != 0; }
};

/// Arrays of `n` items. Each operation has its own.
struct operation_arrays {
  explicit operation_arrays(std::size_t n, std::uint32_t most_key = 0xffffffffu)
      : host(random_integers<std::uint32_t>(n, 0, most_key)),
        in(host),
        values_in(random_integers<std::uint32_t>(n, 0, 1000, 1)),
        out(n),
        values_out(n),
        count(1) {}
  void reset() {
    in.assign(host);
    out.poison();
    values_out.poison();
    count.poison();
  }
  std::vector<std::uint64_t> read(bool has_values, bool has_count) const {
    std::vector<std::uint64_t> all;
    append(all, out.to_host());
    if (has_values) append(all, values_out.to_host());
    if (has_count) append(all, count.to_host());
    return all;
  }

  std::vector<std::uint32_t> host;
  device_vector<std::uint32_t> in, values_in, out, values_out;
  device_vector<std::int64_t> count;
};

/// Segments of many lengths, from 0 to a quarter of `n`.
inline std::vector<std::int64_t> operation_segments(std::size_t n) {
  std::vector<std::int64_t> begins{0};
  const auto end = static_cast<std::int64_t>(n);
  for (std::int64_t i = 0, length = 0; begins.back() < end; ++i) {
    length = i % 100 == 7 ? end / 4 : (i * 37) % 300;
    begins.push_back(std::min(end, begins.back() + length));
  }
  return begins;
}

template <class Call>
operation array_operation(const char* name, std::size_t n, std::uint32_t most_key, bool has_values, bool has_count,
                          const Call& call) {
  const auto arrays = std::make_shared<operation_arrays>(n, most_key);
  return operation(
      std::string(name) + " of " + std::to_string(n),
      [=](void* temp, std::size_t& bytes, cudaStream_t on) {
        return call(*arrays, temp, bytes, static_cast<int>(n), on);
      },
      [=] { arrays->reset(); }, [=] { return arrays->read(has_values, has_count); });
}

template <class Call>
operation segment_operation(const char* name, std::size_t n, const Call& call) {
  const auto begins = std::make_shared<device_vector<std::int64_t>>(operation_segments(n));
  return array_operation(name, n, 0xffffffffu, false, false,
                         [=](operation_arrays& a, void* temp, std::size_t& bytes, int items, cudaStream_t on) {
                           return call(a, begins->data(), static_cast<std::int64_t>(begins->size() - 1), temp, bytes,
                                       items, on);
                         });
}

/// A join of n rows with n rows. Each key is in about `n / most_key` rows of a side. The first `frequent_rows` rows of
/// both sides have the same key.
inline operation join_operation(const char* name, std::size_t n, std::uint32_t most_key, std::size_t frequent_rows) {
  struct sides {
    sides(std::size_t rows, std::uint32_t most, std::size_t frequent)
        : build(keys(rows, most, frequent, 1)),
          probe(keys(rows, most, frequent, 2)),
          build_out(capacity(rows, frequent)),
          probe_out(capacity(rows, frequent)),
          total(1) {}
    static std::size_t capacity(std::size_t rows, std::size_t frequent) { return 3 * rows + 2 * frequent * frequent; }
    static std::vector<std::uint32_t> keys(std::size_t rows, std::uint32_t most, std::size_t frequent,
                                           std::uint64_t stream) {
      std::vector<std::uint32_t> all = random_integers<std::uint32_t>(rows, 1, most, stream);
      std::fill_n(all.begin(), frequent, 0u);
      return all;
    }
    device_vector<std::uint32_t> build, probe;
    device_vector<std::int32_t> build_out, probe_out;
    device_vector<std::int64_t> total;
  };
  const auto s = std::make_shared<sides>(n, most_key, frequent_rows);
  return operation(
      std::string(name) + " of " + std::to_string(n),
      [=](void* temp, std::size_t& bytes, cudaStream_t on) {
        const auto rows = static_cast<std::int64_t>(n);
        return strata::DeviceHashJoin::Inner(temp, bytes, strata::join_side(s->build.data(), rows),
                                             strata::join_side(s->probe.data(), rows),
                                             strata::join_pairs(s->build_out.data(), s->probe_out.data(),
                                                                static_cast<std::int64_t>(s->build_out.size())),
                                             s->total.data(), strata::JoinOptions<>{}, on);
      },
      [=] { s->total.poison(); },
      [=] {
        // The order of the rows may change from run to run.
        const auto total = static_cast<std::size_t>(s->total.to_host()[0]);
        EXPECT_LE(total, s->build_out.size());
        const std::vector<std::int32_t> b = s->build_out.to_host(), p = s->probe_out.to_host();
        std::vector<std::uint64_t> pairs(std::min(total, b.size()));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          pairs[i] = static_cast<std::uint64_t>(b[i]) << 32 | static_cast<std::uint32_t>(p[i]);
        }
        std::sort(pairs.begin(), pairs.end());
        return pairs;
      });
}

/// Each call once with `small` and once with `large` items. These sizes lead to all paths: `small` to few blocks,
/// `large` to many.
inline std::vector<operation> all_operations(std::size_t small, std::size_t large) {
  std::vector<operation> all;
  constexpr std::uint32_t any = 0xffffffffu;
  for (const std::size_t n : {small, large}) {
    all.push_back(array_operation("reduce", n, any, false, true,
                                  [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
                                    return strata::DeviceReduce::Sum(t, b, a.in.data(), a.count.data(), size, on);
                                  }));
    all.push_back(array_operation(
        "find", n, any, false, true, [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
          return strata::DeviceFind::FindIf(t, b, a.in.data(), a.count.data(), is_rare{}, size, on);
        }));
    all.push_back(array_operation("scan", n, any, false, false,
                                  [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
                                    return strata::DeviceScan::InclusiveSum(t, b, a.in.data(), a.out.data(), size, on);
                                  }));
    all.push_back(array_operation(
        "scan by key", n, 5, false, false, [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
          return strata::DeviceScan::ExclusiveSumByKey(t, b, a.in.data(), a.values_in.data(), a.out.data(), size,
                                                       strata::Equality{}, on);
        }));
    all.push_back(array_operation(
        "select", n, any, false, true, [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
          return strata::DeviceSelect::If(t, b, a.in.data(), a.out.data(), a.count.data(), size, is_odd{}, on);
        }));
    all.push_back(array_operation(
        "reduce by key", n, 2, true, true, [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
          return strata::DeviceReduce::ReduceByKey(t, b, a.in.data(), a.out.data(), a.values_in.data(),
                                                   a.values_out.data(), a.count.data(), strata::Sum{}, size, on);
        }));
    all.push_back(array_operation("radix sort", n, any, false, false,
                                  [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
                                    return strata::DeviceRadixSort::SortKeys(t, b, a.in.data(), a.out.data(), size, 0,
                                                                             32, on);
                                  }));
    all.push_back(array_operation(
        "top k", n, any, false, false, [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
          return strata::DeviceTopK::MaxKeys(t, b, a.in.data(), a.out.data(), size, size / 9, on);
        }));
    all.push_back(array_operation("radix sort of pairs", n, any, true, false,
                                  [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
                                    return strata::DeviceRadixSort::SortPairs(t, b, a.in.data(), a.out.data(),
                                                                              a.values_in.data(), a.values_out.data(),
                                                                              size, 0, 32, on);
                                  }));
    all.push_back(array_operation("merge sort", n, any, false, false,
                                  [](operation_arrays& a, void* t, std::size_t& b, int size, cudaStream_t on) {
                                    return strata::DeviceMergeSort::SortKeysCopy(t, b, a.in.data(), a.out.data(), size,
                                                                                 ascending{}, on);
                                  }));
    all.push_back(segment_operation("segmented merge sort", n,
                                    [](operation_arrays& a, const std::int64_t* begins, std::int64_t segments, void* t,
                                       std::size_t& b, int size, cudaStream_t on) {
                                      return strata::DeviceSegmentedMergeSort::SortKeysCopy(
                                          t, b, a.in.data(), a.out.data(), size, segments, begins, begins + 1,
                                          ascending{}, on);
                                    }));
    all.push_back(segment_operation("segmented radix sort", n,
                                    [](operation_arrays& a, const std::int64_t* begins, std::int64_t segments, void* t,
                                       std::size_t& b, int size, cudaStream_t on) {
                                      return strata::DeviceSegmentedRadixSort::SortKeys(t, b, a.in.data(), a.out.data(),
                                                                                        size, segments, begins,
                                                                                        begins + 1, 0, 32, on);
                                    }));
    all.push_back(segment_operation("segmented scan", n,
                                    [](operation_arrays& a, const std::int64_t* begins, std::int64_t segments, void* t,
                                       std::size_t& b, int, cudaStream_t on) {
                                      return strata::DeviceSegmentedScan::ExclusiveSegmentedSum(
                                          t, b, a.in.data(), a.out.data(), begins, begins + 1, segments, on);
                                    }));
    all.push_back(segment_operation("segmented reduce", n,
                                    [](operation_arrays& a, const std::int64_t* begins, std::int64_t segments, void* t,
                                       std::size_t& b, int, cudaStream_t on) {
                                      return strata::DeviceSegmentedReduce::Sum(t, b, a.in.data(), a.out.data(),
                                                                                segments, begins, begins + 1, on);
                                    }));
    const std::size_t rows = std::min<std::size_t>(n, 1000000);
    all.push_back(join_operation("join", rows, static_cast<std::uint32_t>(rows), 0));
    all.push_back(join_operation("join with a frequent key", rows, static_cast<std::uint32_t>(rows),
                                 std::min<std::size_t>(rows / 8, 1000)));
  }
  return all;
}

}  // namespace device_test
