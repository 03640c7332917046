// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of wordcount. Compiled by nvcc for the GPU and by the host compiler for the host
// SIMT back end; both objects are linked into one program.

#include "sorter.hpp"

#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_run_length_encode.cuh>

#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

// The two objects have functions of the same names that call different runtimes.
#if STRATA_HOST_SIMT
namespace wordcount::on_host {
#else
namespace wordcount::on_gpu {
#endif

static void check(const char* function, cudaError_t status) {
  if (status == cudaSuccess) return;
  throw device_error(std::string(function) + ": " + cudaGetErrorString(status));
}

template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    void* pointer = nullptr;
    check("cudaMalloc", cudaMalloc(&pointer, size * sizeof(T)));
    items_.reset(static_cast<T*>(pointer));
  }
  explicit device_array(const std::vector<T>& items) : device_array(items.size()) {
    check("cudaMemcpy",
          cudaMemcpy(get(), items.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* get() const { return items_.get(); }
  std::size_t size() const { return size_; }

  std::vector<T> download(std::size_t count) const {
    std::vector<T> items(count);
    check("cudaMemcpy",
          cudaMemcpy(items.data(), get(), count * sizeof(T), cudaMemcpyDeviceToHost));
    return items;
  }
  std::vector<T> download() const { return download(size_); }

 private:
  struct free_device {
    void operator()(T* pointer) const { static_cast<void>(cudaFree(pointer)); }
  };

  std::size_t size_;
  std::unique_ptr<T[], free_device> items_;
};

/// Makes a call of the library twice: to learn how much temporary storage it needs, and with it.
template <class Call>
void run(const char* function, Call call) {
  std::size_t temp_bytes = 0;
  check(function, call(nullptr, temp_bytes));
  const device_array<unsigned char> temp(temp_bytes);
  check(function, call(temp.get(), temp_bytes));
}

/// 0, 1, 2, ...
static device_array<long long> indices(std::size_t size) {
  std::vector<long long> items(size);
  std::iota(items.begin(), items.end(), 0LL);
  return device_array<long long>(items);
}

class cuda_sorter final : public sorter {
 public:
  explicit cuda_sorter(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  grouping group(const std::vector<std::uint64_t>& keys) const override {
    const device_array<std::uint64_t> unsorted(keys);
    const device_array<long long> places = indices(keys.size());
    const device_array<std::uint64_t> sorted(keys.size());
    const device_array<long long> order(keys.size());
    run("DeviceRadixSort::SortPairs", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairs(temp, temp_bytes, unsorted.get(), sorted.get(),
                                                places.get(), order.get(), keys.size());
    });
    // What has been sorted makes room for the keys of the runs, of which nothing is wanted, and for
    // their lengths.
    const device_array<long long> runs(1);
    run("DeviceRunLengthEncode::Encode", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRunLengthEncode::Encode(temp, temp_bytes, sorted.get(), unsorted.get(),
                                                   places.get(), runs.get(), keys.size());
    });
    return {order.download(), places.download(static_cast<std::size_t>(runs.download()[0]))};
  }

  std::vector<long long> descending(const std::vector<long long>& counts) const override {
    const device_array<long long> unsorted(counts);
    const device_array<long long> places = indices(counts.size());
    const device_array<long long> sorted(counts.size());
    const device_array<long long> order(counts.size());
    run("DeviceRadixSort::SortPairsDescending", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceRadixSort::SortPairsDescending(temp, temp_bytes, unsorted.get(),
                                                          sorted.get(), places.get(), order.get(),
                                                          counts.size());
    });
    return order.download();
  }

 private:
  std::string device_;
};

}  // namespace wordcount::on_host or on_gpu

namespace wordcount {

#if STRATA_HOST_SIMT
std::unique_ptr<sorter> sorter_on_host() {
  return std::make_unique<on_host::cuda_sorter>("the host SIMT back end");
}
#else
std::unique_ptr<sorter> sorter_on_gpu() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    throw no_device(std::string("cudaGetDeviceCount: ") + cudaGetErrorString(status));
  }
  int device = 0;
  cudaDeviceProp properties;
  on_gpu::check("cudaGetDevice", cudaGetDevice(&device));
  on_gpu::check("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, device));
  return std::make_unique<on_gpu::cuda_sorter>(properties.name);
}
#endif

}  // namespace wordcount
