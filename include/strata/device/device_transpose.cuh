// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/transform/transpose_dispatch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Transposes a matrix in device memory:
///
///     for (row = 0; row < rows; ++row)
///       for (column = 0; column < columns; ++column)
///         d_out[column * out_leading_dimension + row] = d_in[row * in_leading_dimension + column];
///
/// Both matrices lie in memory row by row. A leading dimension is the number of items from one row to the next. Without
/// leading dimensions there are no gaps: they are `columns` for the input and `rows` for the output. Gaps are neither
/// read nor written.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (1: nothing is kept
///   there), then with that much device memory. Or call it once, by the overloads without these two arguments.
/// - **Execution.** One kernel launch. If the input is one row and becomes a column without gaps, or is one column
///   without gaps, one copy takes its place. A matrix without items launches nothing. Kernels run on `stream`, with no
///   host synchronisation and no allocation, so a call can be captured in a graph. From sm_90 on, kernels start early
///   by programmatic dependent launch, but touch memory only after the previous kernel of the stream has ended.
/// - **Types.** Any trivially relocatable type. Each item is read and written once. Items of 2 and 4 bytes are accessed
///   16 bytes at a time, and items of 1 byte 8 bytes at a time, if both pointers and both leading dimensions, in bytes,
///   are multiples of that, and the matrix has more than 8 rows and more than 8 columns. Otherwise these items are
///   accessed one by one, as are items of 8 bytes. An item of another size is accessed in pieces, whose size is the
///   largest power of two up to 16 bytes that divides the size of the item. If a pointer or a leading dimension, in
///   bytes, is not a multiple of that, a piece has as many bytes as the alignment of `T`.
/// - **Tuning.** `TunedDeviceTranspose<Hub>` uses your hub instead of transpose_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative sizes, a leading dimension
///   below the length of a row, null pointers if there are items, pointers that are not aligned for `T`, temporary
///   storage too small, matrices that have memory in common. (Parts of one larger matrix may lie in each other's gaps.
///   If both have gaps, and their leading dimensions differ in bytes, only the first row of each matrix is compared
///   with the other matrix.) Otherwise a call returns what the launch returns; an older error of the runtime is neither
///   returned nor cleared.
/// - **Algorithm.** A block loads a tile, reorders its items in shared memory without
///   bank conflicts (block/block_transpose.cuh) and stores it; tiles are numbered down the rows, so blocks that run at
///   the same time write long parts of few output rows. Matrices of few rows or columns have tiles of their own shape.
///
/// @code
/// __managed__ int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
/// __managed__ int transposed[3][2];
///
/// int main() {
///   if (strata::DeviceTranspose::Transpose(matrix[0], transposed[0], 2, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const auto& row : transposed) std::printf("%d %d\n", row[0], row[1]);
/// }
/// // prints: 1 4
/// // prints: 2 5
/// // prints: 3 6
/// @endcode
template <class PolicyHub>
struct TunedDeviceTranspose {
  /// Transposes a matrix whose rows have a leading dimension.
  template <class T>
  [[nodiscard]] static cudaError_t Transpose(void* d_temp_storage, std::size_t& temp_storage_bytes, const T* d_in,
                                             T* d_out, detail::count64 rows, detail::count64 columns,
                                             detail::count64 in_leading_dimension,
                                             detail::count64 out_leading_dimension, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTranspose::Transpose");
    static_assert(detail::relocatable_requirements<T>::check());
    return detail::DispatchTranspose<static_cast<int>(sizeof(T)), static_cast<int>(alignof(T)), PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, d_in, d_out, rows, columns, in_leading_dimension, out_leading_dimension,
        stream);
  }

  /// Transposes a matrix whose rows lie side by side.
  template <class T>
  [[nodiscard]] static cudaError_t Transpose(void* d_temp_storage, std::size_t& temp_storage_bytes, const T* d_in,
                                             T* d_out, detail::count64 rows, detail::count64 columns,
                                             cudaStream_t stream = 0) {
    return Transpose(d_temp_storage, temp_storage_bytes, d_in, d_out, rows, columns, columns, rows, stream);
  }

  // -------------------------------------------------------------- without temporary storage

  STRATA_CALL_WITH_UNUSED_STORAGE(Transpose)
};
using DeviceTranspose = TunedDeviceTranspose<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
