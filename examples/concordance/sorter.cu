// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of concordance. Compiled by nvcc for the GPU and by the host compiler for the host
// SIMT back end; both objects are linked into one program.

#include "sorter.hpp"

#include <strata/device/device_segmented_merge_sort.cuh>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The two objects have functions of the same names that call different runtimes.
#if STRATA_HOST_SIMT
namespace concordance::on_host {
#else
namespace concordance::on_gpu {
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
    check("cudaMemcpy", cudaMemcpy(get(), items.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* get() const { return items_.get(); }

  void download(std::vector<T>& items) const {
    check("cudaMemcpy", cudaMemcpy(items.data(), get(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
  }

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

struct is_earlier {
  STRATA_HD bool operator()(const occurrence& a, const occurrence& b) const {
    return a.file != b.file ? a.file < b.file : a.line < b.line;
  }
};

class cuda_sorter final : public sorter {
 public:
  explicit cuda_sorter(std::string device) : device_(std::move(device)) {}

  std::string device() const override { return device_; }

  void sort(std::vector<occurrence>& occurrences,
            const std::vector<long long>& begins) const override {
    const device_array<occurrence> items(occurrences);
    const device_array<long long> words(begins);
    run("DeviceSegmentedMergeSort::SortKeys", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceSegmentedMergeSort::SortKeys(temp, temp_bytes, items.get(),
                                                        occurrences.size(), begins.size() - 1,
                                                        words.get(), words.get() + 1, is_earlier{});
    });
    items.download(occurrences);
  }

 private:
  std::string device_;
};

}  // namespace concordance::on_host or on_gpu

namespace concordance {

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

}  // namespace concordance
