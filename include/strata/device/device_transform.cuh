// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/transform/dispatch.cuh>

#include <cstddef>
#include <utility>

STRATA_ARCH_NAMESPACE_BEGIN

/// Applies an operator to the items of one or several sequences in device memory:
///
///     for (i = 0; i < num_items; ++i) output[i] = transform_op(input[i]);
///     for (i = 0; i < num_items; ++i) output[i] = transform_op(get<0>(inputs)[i], get<1>(inputs)[i], ...);
///
/// Several inputs are a tuple of iterators: `std::tuple`, `cuda::std::tuple`, or another type with `std::tuple_size`
/// and `get`. Without inputs, `transform_op()` returns each result. `TransformStableArgumentAddresses` calls the
/// operator with references to the items of the inputs, `Transform` with items that may be copies.
///
/// `TransformIf(inputs, output, num_items, predicate, transform_op)` writes only the results of items for which the
/// predicate is true. It does not call the operator for other items. `Fill(output, num_items, value)` writes a value
/// everywhere. `Generate(output, num_items, generator)` writes what `generator()` returns.
///
/// - **Call.** `Transform(input, output, num_items, transform_op, stream)`; `stream` may be an `execution`, or left
///   out. Or pass `d_temp_storage` and `temp_storage_bytes` first, as to other device functions: a size query answers
///   1, and nothing is kept there. Inputs and output may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type.
/// - **In place.** The output may be one of the inputs, if its items have the same size. Otherwise it must not overlap
///   an input.
/// - **Execution.** One kernel launch, none without items, on `stream`; no host synchronisation and no allocation, so a
///   call can be captured in a graph and replayed. The order of the calls of the operator is not defined.
/// - **Types.** Each item is read once, and each result is written once. Items and results of 1, 2, 4, 8 and 16 bytes
///   are accessed up to 16 bytes at a time, if results go to a pointer and all pointers allow it. Others are accessed
///   one by one, and so are all items of `TransformIf` and of the functions with `StableArgumentAddresses`. Items that
///   are not trivially relocatable are not copied: the operator gets references. Results are moved as bits. Items are
///   counted in 64 bits, whatever the type of `num_items`.
/// - **Tuning.** `TunedDeviceTransform<Hub>` uses your hub instead of tile_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, in a size query
///   too; a null pointer, if there are items; an output that overlaps an input; temporary storage too small. Otherwise
///   a call returns what the launch returns. An older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** Each block has one tile. A thread loads its items of all inputs before it uses the first of them.
///   If the operator gets references, items are read one after another, and a block of a large call has several tiles.
///
/// @code
/// #include <tuple>
///
/// // What each item of an order costs, from two arrays.
/// struct cost {
///   STRATA_HD double operator()(double price, int number) const { return price * number; }
/// };
/// __managed__ double prices[4] = {2.5, 10, 0.75, 4};
/// __managed__ int numbers[4] = {4, 1, 8, 0};
/// __managed__ double costs[4];
///
/// int main() {
///   const auto items = std::make_tuple(prices, numbers);
///   if (strata::DeviceTransform::Transform(items, costs, 4, cost{}) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const double item : costs) std::printf("%g ", item);
/// }
/// // prints: 10 10 6 0
/// @endcode
template <class PolicyHub>
struct TunedDeviceTransform {
  /// Writes what the operator returns for each item.
  template <class Inputs, class OutputIterator, class NumItemsT, class TransformOp>
  static cudaError_t Transform(void* d_temp_storage, std::size_t& temp_storage_bytes, Inputs inputs,
                               OutputIterator output, NumItemsT num_items, TransformOp transform_op,
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::Transform");
    return transform<false>(d_temp_storage, temp_storage_bytes, inputs, output, num_items, transform_op, stream);
  }

  /// Writes what the operator returns for each item. The operator may rely on the addresses of items that it gets by
  /// reference.
  template <class Inputs, class OutputIterator, class NumItemsT, class TransformOp>
  static cudaError_t TransformStableArgumentAddresses(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      Inputs inputs, OutputIterator output, NumItemsT num_items,
                                                      TransformOp transform_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::TransformStableArgumentAddresses");
    return transform<true>(d_temp_storage, temp_storage_bytes, inputs, output, num_items, transform_op, stream);
  }

  /// Writes what `transform_op` returns for the items for which `predicate` is true. Other results stay as they are.
  template <class Inputs, class OutputIterator, class NumItemsT, class Predicate, class TransformOp>
  static cudaError_t TransformIf(void* d_temp_storage, std::size_t& temp_storage_bytes, Inputs inputs,
                                 OutputIterator output, NumItemsT num_items, Predicate predicate,
                                 TransformOp transform_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::TransformIf");
    return unpack<false>(inputs, 0, d_temp_storage, temp_storage_bytes, output, num_items,
                         detail::with_predicate<Predicate, TransformOp>{predicate, transform_op}, stream);
  }

  /// Writes what `transform_op` returns for the items for which `predicate` is true. Both operators get references to
  /// the items of the inputs.
  template <class Inputs, class OutputIterator, class NumItemsT, class Predicate, class TransformOp>
  static cudaError_t TransformIfStableArgumentAddresses(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                        Inputs inputs, OutputIterator output, NumItemsT num_items,
                                                        Predicate predicate, TransformOp transform_op,
                                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::TransformIfStableArgumentAddresses");
    return unpack<true>(inputs, 0, d_temp_storage, temp_storage_bytes, output, num_items,
                        detail::with_predicate<Predicate, TransformOp>{predicate, transform_op}, stream);
  }

  /// Writes `value` to each of `num_items` items of the output.
  template <class OutputIterator, class NumItemsT, class Value>
  static cudaError_t Fill(void* d_temp_storage, std::size_t& temp_storage_bytes, OutputIterator output,
                          NumItemsT num_items, Value value, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::Fill");
    return dispatch<false>(d_temp_storage, temp_storage_bytes, output, num_items, detail::always<Value>{value}, stream);
  }

  /// Writes what `generator()` returns. It is called once for each result, in any order.
  template <class OutputIterator, class NumItemsT, class Generator>
  static cudaError_t Generate(void* d_temp_storage, std::size_t& temp_storage_bytes, OutputIterator output,
                              NumItemsT num_items, Generator generator, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTransform::Generate");
    return dispatch<false>(d_temp_storage, temp_storage_bytes, output, num_items, generator, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITH_UNUSED_STORAGE(Transform)
  STRATA_CALL_WITH_UNUSED_STORAGE(TransformStableArgumentAddresses)
  STRATA_CALL_WITH_UNUSED_STORAGE(TransformIf)
  STRATA_CALL_WITH_UNUSED_STORAGE(TransformIfStableArgumentAddresses)
  STRATA_CALL_WITH_UNUSED_STORAGE(Fill)
  STRATA_CALL_WITH_UNUSED_STORAGE(Generate)

 private:
  template <bool IsStable, class Inputs, class OutputIterator, class NumItemsT, class TransformOp>
  static cudaError_t transform(void* d_temp_storage, std::size_t& temp_storage_bytes, const Inputs& inputs,
                               const OutputIterator& output, NumItemsT num_items, const TransformOp& transform_op,
                               cudaStream_t stream) {
    return unpack<IsStable>(inputs, 0, d_temp_storage, temp_storage_bytes, output, num_items, transform_op, stream);
  }

  // One input, or a tuple of them. No lambda: g++ warns if one captures an operator of an unnamed namespace.
  template <bool IsStable, class Input, class... Rest>
  static cudaError_t unpack(const Input& input, long, void* d_temp_storage, std::size_t& temp_storage_bytes,
                            const Rest&... rest) {
    return dispatch<IsStable>(d_temp_storage, temp_storage_bytes, rest..., input);
  }
  template <bool IsStable, class Inputs, std::size_t Count = std::tuple_size<Inputs>::value, class... Rest>
  static cudaError_t unpack(const Inputs& inputs, int, void* d_temp_storage, std::size_t& temp_storage_bytes,
                            const Rest&... rest) {
    return unpack<IsStable>(inputs, std::make_index_sequence<Count>{}, d_temp_storage, temp_storage_bytes, rest...);
  }
  template <bool IsStable, class Inputs, std::size_t... Index, class... Rest>
  static cudaError_t unpack([[maybe_unused]] const Inputs& inputs, std::index_sequence<Index...>, void* d_temp_storage,
                            std::size_t& temp_storage_bytes, const Rest&... rest) {
    using std::get;  // or that of the tuple's namespace
    return dispatch<IsStable>(d_temp_storage, temp_storage_bytes, rest..., get<Index>(inputs)...);
  }
  template <bool IsStable, class OutputIterator, class NumItemsT, class TransformOp, class... Inputs>
  static cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const OutputIterator& output,
                              NumItemsT num_items, const TransformOp& transform_op, cudaStream_t stream,
                              const Inputs&... inputs) {
    const auto out = detail::pointer_or_iterator(output);
    return detail::dispatch_transform<IsStable, PolicyHub>("strata::DeviceTransform", d_temp_storage,
                                                           temp_storage_bytes, out, out, num_items, transform_op,
                                                           stream, detail::pointer_or_iterator(inputs)...);
  }
  template <bool IsStable, class OutputIterator, class NumItemsT, class Predicate, class TransformOp, class... Inputs>
  static cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const OutputIterator& output,
                              NumItemsT num_items, const detail::with_predicate<Predicate, TransformOp>& ops,
                              cudaStream_t stream, const Inputs&... inputs) {
    return detail::dispatch_transform_if<IsStable, PolicyHub>(
        "strata::DeviceTransform", d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(output), num_items,
        ops.predicate, ops.transform_op, stream, detail::pointer_or_iterator(inputs)...);
  }
};
using DeviceTransform = TunedDeviceTransform<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
