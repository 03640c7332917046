// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Three operators for PyTorch: a sort of segments, a join, running sums. They use only PyTorch's stable ABI, which
// later versions promise to keep.

#define TORCH_TARGET_VERSION 0x020b000000000000ull  // 2.11: nothing newer is declared
#define USE_CUDA                                    // declares the functions for streams and memory of CUDA

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/macros.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>

namespace strata_torch {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;
using torch::stable::accelerator::DeviceGuard;

// ------------------------------------------------------------------ memory, streams, arguments

/// Temporary storage from the caching allocator of torch, for the current device and stream.
struct torch_memory {
  void* allocate(std::size_t bytes, cudaStream_t) {
    void* memory = nullptr;
    return aoti_torch_cuda_caching_allocator_raw_alloc(bytes, &memory) == TORCH_SUCCESS ? memory : nullptr;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t) { aoti_torch_cuda_caching_allocator_raw_delete(memory); }
};

cudaStream_t current_stream(const Tensor& x) {
  void* stream = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_current_cuda_stream(x.get_device_index(), &stream));
  return static_cast<cudaStream_t>(stream);
}

/// A one-dimensional tensor on the device of `first`, whose items lie side by side: `x`, or a copy of it.
Tensor array(const char* name, const Tensor& x, const Tensor& first) {
  STD_TORCH_CHECK(x.is_cuda(), name, " must be on a CUDA device");
  STD_TORCH_CHECK(x.get_device_index() == first.get_device_index(), name, " is on device ", x.get_device_index(),
                  ", but the first tensor on device ", first.get_device_index());
  STD_TORCH_CHECK(x.dim() == 1, name, " must have one dimension, but has ", x.dim());
  return torch::stable::contiguous(x);
}

template <class T>
const T* input_of(const Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}
template <class T>
T* output_of(const Tensor& x) {
  return static_cast<T*>(x.mutable_data_ptr());
}

// ------------------------------------------------------------------ segmented_sort

struct same_index {
  STRATA_HD std::int64_t operator()(std::int64_t i) const { return i; }
};

template <class Key>
void sort_segments(const Tensor& values, const Tensor& offsets, bool descending, const Tensor& sorted,
                   const Tensor& indices) {
  torch_memory memory;
  const strata::execution where(current_stream(values), memory);
  const std::int64_t items = values.numel();
  const std::int64_t segments = offsets.numel() - 1;
  const auto* begins = input_of<std::int64_t>(offsets);

  const Tensor unsorted = torch::stable::empty_like(indices);
  STD_CUDA_CHECK(strata::DeviceTransform::Transform(strata::CountingInputIterator<std::int64_t>(0),
                                                    output_of<std::int64_t>(unsorted), items, same_index{}, where));
  const auto sort = [&](auto call) {
    STD_CUDA_CHECK(call(input_of<Key>(values), output_of<Key>(sorted), input_of<std::int64_t>(unsorted),
                        output_of<std::int64_t>(indices), items, segments, begins, begins + 1, where));
  };
  if (descending) {
    sort([](const auto&... arguments) { return strata::DeviceSegmentedSort::SortPairsDescending(arguments...); });
  } else {
    sort([](const auto&... arguments) { return strata::DeviceSegmentedSort::SortPairs(arguments...); });
  }
}

/// Sorts each segment [offsets[s], offsets[s + 1]) of `values`. Returns the sorted values and the indices of their
/// items in `values`.
std::tuple<Tensor, Tensor> segmented_sort(const Tensor& values_in, const Tensor& offsets_in, bool descending) {
  const Tensor values = array("values", values_in, values_in);
  STD_TORCH_CHECK(offsets_in.scalar_type() == ScalarType::Int || offsets_in.scalar_type() == ScalarType::Long,
                  "offsets must have one of the types int32 and int64, but has ", toString(offsets_in.scalar_type()));
  STD_TORCH_CHECK(offsets_in.numel() > 0, "offsets must have one item more than there are segments, but has none");
  const DeviceGuard guard(values.get_device_index());
  const Tensor offsets = torch::stable::to(array("offsets", offsets_in, values), ScalarType::Long);
  const Tensor sorted = torch::stable::empty_like(values);
  const Tensor indices = torch::stable::new_empty(values, values.sizes(), ScalarType::Long);
  switch (values.scalar_type()) {
    case ScalarType::Int:
      sort_segments<std::int32_t>(values, offsets, descending, sorted, indices);
      break;
    case ScalarType::Long:
      sort_segments<std::int64_t>(values, offsets, descending, sorted, indices);
      break;
    case ScalarType::Half:
      sort_segments<__half>(values, offsets, descending, sorted, indices);
      break;
    case ScalarType::Float:
      sort_segments<float>(values, offsets, descending, sorted, indices);
      break;
    case ScalarType::Double:
      sort_segments<double>(values, offsets, descending, sorted, indices);
      break;
    default:
      STD_TORCH_CHECK(false, "values must have one of the types int32, int64, float16, float32 and float64, but has ",
                      toString(values.scalar_type()));
  }
  return {sorted, indices};
}

// ------------------------------------------------------------------ join

/// Stores the rows of a join. They have 32 bits in the join, and 64 in torch's tensors.
struct row_writer {
  std::int64_t* build_rows;
  std::int64_t* probe_rows;
  STRATA_D void operator()(std::int64_t position, std::int32_t build_row, std::int32_t probe_row) const {
    build_rows[position] = build_row;
    probe_rows[position] = probe_row;
  }
};

/// Writes as many rows of the result as fit. Waits for the device, and returns how many rows there are.
template <class Key>
std::int64_t join_keys(const Tensor& build_keys, const Tensor& probe_keys, const Tensor& build_rows,
                       const Tensor& probe_rows) {
  torch_memory memory;
  const strata::execution where(current_stream(build_keys), memory);
  const Tensor count = torch::stable::new_empty(build_rows, {1});
  const auto build = strata::join_side(input_of<Key>(build_keys), build_keys.numel());
  const auto probe = strata::join_side(input_of<Key>(probe_keys), probe_keys.numel());
  const row_writer writer{output_of<std::int64_t>(build_rows), output_of<std::int64_t>(probe_rows)};
  const auto output = strata::join_columns<std::int32_t>(build_rows.numel(), writer);
  const strata::JoinOptions<> in_any_order;
  STD_CUDA_CHECK(
      strata::DeviceHashJoin::Inner(build, probe, output, output_of<std::int64_t>(count), in_any_order, where));
  std::int64_t rows = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(count.get(), &rows));
  return rows;
}

/// All pairs of rows with equal keys, in any order: build_keys[build_rows] == probe_keys[probe_rows].
std::tuple<Tensor, Tensor> join(const Tensor& build_keys_in, const Tensor& probe_keys_in) {
  const Tensor build_keys = array("build_keys", build_keys_in, build_keys_in);
  const Tensor probe_keys = array("probe_keys", probe_keys_in, build_keys_in);
  const ScalarType type = build_keys.scalar_type();
  STD_TORCH_CHECK(probe_keys.scalar_type() == type, "build_keys and probe_keys must have one type, but have ",
                  toString(type), " and ", toString(probe_keys.scalar_type()));
  for (const Tensor* keys : {&build_keys, &probe_keys}) {
    STD_TORCH_CHECK(keys->numel() <= std::numeric_limits<std::int32_t>::max(), "join takes at most 2^31 - 1 keys of a ",
                    "side, but there are ", keys->numel());
  }
  const DeviceGuard guard(build_keys.get_device_index());
  // Room for one partner of each probe row. If there are more, the first call says how many.
  std::int64_t room = probe_keys.numel();
  while (true) {
    Tensor build_rows = torch::stable::new_empty(build_keys, {room}, ScalarType::Long);
    Tensor probe_rows = torch::stable::new_empty(build_keys, {room}, ScalarType::Long);
    std::int64_t rows = 0;
    switch (type) {
      case ScalarType::Int:
        rows = join_keys<std::int32_t>(build_keys, probe_keys, build_rows, probe_rows);
        break;
      case ScalarType::Long:
        rows = join_keys<std::int64_t>(build_keys, probe_keys, build_rows, probe_rows);
        break;
      default:
        STD_TORCH_CHECK(false, "build_keys must have one of the types int32 and int64, but has ", toString(type));
    }
    if (rows <= room) {
      return {torch::stable::narrow(build_rows, 0, 0, rows), torch::stable::narrow(probe_rows, 0, 0, rows)};
    }
    room = rows;
  }
}

// ------------------------------------------------------------------ cumsum

template <class T>
void add_up(const Tensor& x, const Tensor& sums) {
  torch_memory memory;
  const strata::execution where(current_stream(x), memory);
  STD_CUDA_CHECK(strata::DeviceScan::InclusiveSum(input_of<T>(x), output_of<T>(sums), x.numel(), where));
}

/// Running sums, in the type of `x`.
Tensor cumsum(const Tensor& x_in) {
  const Tensor x = array("x", x_in, x_in);
  const DeviceGuard guard(x.get_device_index());
  const Tensor sums = torch::stable::empty_like(x);
  switch (x.scalar_type()) {
    case ScalarType::Int:
      add_up<std::int32_t>(x, sums);
      break;
    case ScalarType::Long:
      add_up<std::int64_t>(x, sums);
      break;
    case ScalarType::Float:
      add_up<float>(x, sums);
      break;
    case ScalarType::Double:
      add_up<double>(x, sums);
      break;
    default:
      STD_TORCH_CHECK(false, "x must have one of the types int32, int64, float32 and float64, but has ",
                      toString(x.scalar_type()));
  }
  return sums;
}

STABLE_TORCH_LIBRARY(strata, library) {
  library.def("segmented_sort(Tensor values, Tensor offsets, bool descending=False) -> (Tensor, Tensor)");
  library.def("join(Tensor build_keys, Tensor probe_keys) -> (Tensor, Tensor)");
  library.def("cumsum(Tensor x) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(strata, CUDA, library) {
  library.impl("segmented_sort", TORCH_BOX(&segmented_sort));
  library.impl("join", TORCH_BOX(&join));
  library.impl("cumsum", TORCH_BOX(&cumsum));
}

}  // namespace strata_torch
