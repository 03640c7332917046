// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program of the host back end without GoogleTest, for compilers that do not compile the tests. It moves items of
// several words between threads word by word, which type-based alias analysis must not break.
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

struct item {
  std::uint64_t key, square, number;
  friend bool operator==(const item& a, const item& b) {
    return a.key == b.key && a.square == b.square && a.number == b.number;
  }
};
struct add_items {
  STRATA_HD item operator()(const item& a, const item& b) const {
    return {a.key + b.key, a.square + b.square, a.number + b.number};
  }
};
struct by_key {
  STRATA_HD bool operator()(const item& a, const item& b) const { return a.key < b.key; }
};
struct is_third {
  STRATA_HD bool operator()(const int flag) const { return flag % 3 == 0; }
};

template <class T>
class array {
 public:
  explicit array(std::size_t size) : size_(size) { cudaMalloc(&data, size * sizeof(T)); }
  explicit array(const std::vector<T>& items) : array(items.size()) {
    cudaMemcpy(data, items.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  array(const array&) = delete;
  ~array() { cudaFree(data); }
  std::vector<T> host() const {
    std::vector<T> items(size_);
    cudaMemcpy(items.data(), data, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return items;
  }
  T* data = nullptr;

 private:
  std::size_t size_;
};

int failures = 0;

template <class Call, class Holds>
void check(const char* what, std::size_t size, const Call& call, const Holds& holds) {
  std::size_t bytes = 0;
  cudaError_t status = call(nullptr, bytes);
  const array<unsigned char> storage(bytes);
  if (status == cudaSuccess) status = call(storage.data, bytes);
  if (status == cudaSuccess && holds()) return;
  std::printf("%s of %zu items: %s\n", what, size, status == cudaSuccess ? "wrong" : cudaGetErrorString(status));
  ++failures;
}

void check_all(std::size_t size) {
  std::vector<item> items(size);
  std::vector<int> flags(size);
  for (std::size_t i = 0; i < size; ++i) {
    flags[i] = static_cast<int>(i * 7919 % 1000);
    items[i] = {static_cast<std::uint64_t>(flags[i] % 50), i * i, i};
  }
  const array<item> in(items);
  const array<int> d_flags(flags);
  array<item> out(size);
  array<std::int64_t> count(1);

  std::vector<item> kept;
  for (std::size_t i = 0; i < size; ++i) {
    if (is_third{}(flags[i])) kept.push_back(items[i]);
  }
  const array<item> own(items);
  check(
      "Select::FlaggedIf in place", size,
      [&](void* storage, std::size_t& bytes) {
        return strata::DeviceSelect::FlaggedIf(storage, bytes, own.data, d_flags.data, count.data, size, is_third{});
      },
      [&] {
        const std::vector<item> result = own.host();
        return count.host()[0] == static_cast<std::int64_t>(kept.size()) &&
               std::equal(kept.begin(), kept.end(), result.begin());
      });

  std::vector<item> sums(size);
  std::partial_sum(items.begin(), items.end(), sums.begin(), add_items{});
  check(
      "InclusiveScan", size,
      [&](void* storage, std::size_t& bytes) {
        return strata::DeviceScan::InclusiveScan(storage, bytes, in.data, out.data, add_items{}, size);
      },
      [&] { return out.host() == sums; });
  check(
      "Reduce", size,
      [&](void* storage, std::size_t& bytes) {
        return strata::DeviceReduce::Reduce(storage, bytes, in.data, out.data, size, add_items{}, item{});
      },
      [&] { return out.host()[0] == sums.back(); });

  std::vector<item> sorted = items;
  std::stable_sort(sorted.begin(), sorted.end(), by_key{});
  check(
      "StableSortKeys", size,
      [&](void* storage, std::size_t& bytes) {
        return strata::DeviceMergeSort::StableSortKeysCopy(storage, bytes, in.data, out.data, size, by_key{});
      },
      [&] { return out.host() == sorted; });
  std::vector<unsigned> keys(size);
  std::transform(items.begin(), items.end(), keys.begin(), [](const item& i) { return static_cast<unsigned>(i.key); });
  const array<unsigned> d_keys(keys);
  array<unsigned> keys_out(size);
  check(
      "SortPairs", size,
      [&](void* storage, std::size_t& bytes) {
        return strata::DeviceRadixSort::SortPairs(storage, bytes, d_keys.data, keys_out.data, in.data, out.data, size);
      },
      [&] { return out.host() == sorted; });
}

}  // namespace

int main() {
  for (const std::size_t size : {1u, 33u, 600u, 2047u, 9001u}) check_all(size);
  return failures == 0 ? 0 : 1;
}
