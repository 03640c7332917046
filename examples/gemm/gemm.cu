// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// C = A B, by tiles in shared memory without bank conflicts. Each block computes a tile of C, step by step. While its
// threads work on the parts of A and B for one step, the parts for the next step are on their way from memory.
//
//     gemm [SIZE [DEPTH]]     C is SIZE x SIZE, A is SIZE x DEPTH; all matrices are row-major
#include "../common/device.cuh"
#include "../common/program.hpp"

#include <strata/core/launcher.cuh>
#include <strata/core/shared_layout.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#if defined(STRATA_EXAMPLE_CUBLAS)
#include <cublas_v2.h>
#endif

namespace gemm {

/// A matrix, stored by rows, of less than 2^32 elements, so that offsets of 32 bits leave registers for sums.
template <class T>
struct matrix {
  T* items;
  int rows, columns;

  STRATA_HD bool has(int row, int column) const { return row < rows && column < columns; }
  STRATA_HD T& operator()(int row, int column) const {
    return items[static_cast<unsigned>(row) * static_cast<unsigned>(columns) + static_cast<unsigned>(column)];
  }
};

constexpr int tile = 128;      // rows and columns of a block's tile of C
constexpr int depth = 8;       // columns of A, and rows of B, in a step
constexpr int threads_x = 16;  // 16 x 16 threads, of which each computes 8 x 8 elements of C
constexpr int threads = threads_x * threads_x;
constexpr int per_thread = tile / threads_x;

// ---------------------------------------------------------------------------- shared memory
/// A vector of 16 bytes, which a thread reads from shared memory at once.
template <class T>
struct alignas(16) vector {
  static constexpr int width = 16 / sizeof(T);
  T item[width];
};

/// A tile has a row for each step in depth, so A is transposed. One vector of padding follows each row.
template <class T>
using by_item = strata::PaddedMatrixLayout<depth, tile, vector<T>::width>;
template <class T>
using by_vector = strata::PaddedMatrixLayout<depth, tile / vector<T>::width, 1>;

/// A warp stores 8 columns of 4 rows of A in the order in which it reads them, row by row.
template <class T>
struct store_a {
  static constexpr int element_bytes = sizeof(T);
  static constexpr int instructions = 1;
  STRATA_HD constexpr strata::element_place operator()(int, int lane) const { return {lane % depth, lane / depth}; }
};
/// A warp also stores 32 columns of a row of B. Then it reads for each step in depth. It has two rows of threads. All
/// threads of a row read the same vector of A, and 16 neighbouring vectors of B.
struct load_a {
  static constexpr int element_bytes = 16;
  static constexpr int instructions = 1;
  STRATA_HD constexpr strata::element_place operator()(int, int lane) const { return {0, lane / threads_x}; }
};
struct load_b {
  static constexpr int element_bytes = 16;
  static constexpr int instructions = 1;
  STRATA_HD constexpr strata::element_place operator()(int, int lane) const { return {0, lane % threads_x}; }
};

template <class T>
struct tiles {
  static_assert(strata::conflict_degree(by_item<T>{}, store_a<T>{}) == 1);
  static_assert(strata::conflict_degree(by_item<T>{}, strata::row_access<sizeof(T), depth, tile>{}) == 1);
  static_assert(strata::conflict_degree(by_vector<T>{}, load_a{}) == 1);
  static_assert(strata::conflict_degree(by_vector<T>{}, load_b{}) == 1);
  alignas(16) T a[by_item<T>::pitch * depth];
  alignas(16) T b[by_item<T>::pitch * depth];
};

// ---------------------------------------------------------------------------- the kernel
/// A thread's part of the next tiles, while it comes from memory. It has zeros for what lies outside the matrices.
template <class T>
struct items_in_flight {
  static constexpr int count = tile * depth / threads;
  T a[count], b[count];

  STRATA_D void load(matrix<const T> A, matrix<const T> B, int row, int column, int step) {
    const int thread = static_cast<int>(threadIdx.x);
    STRATA_UNROLL
    for (int i = 0; i < count; ++i) {
      const int item = i * threads + thread;
      const int a_row = row + item / depth, a_column = step + item % depth;
      const int b_row = step + item / tile, b_column = column + item % tile;
      a[i] = A.has(a_row, a_column) ? A(a_row, a_column) : T{};
      b[i] = B.has(b_row, b_column) ? B(b_row, b_column) : T{};
    }
  }
  STRATA_D void store(tiles<T>& to) const {
    const int thread = static_cast<int>(threadIdx.x);
    STRATA_UNROLL
    for (int i = 0; i < count; ++i) {
      const int item = i * threads + thread;
      to.a[by_item<T>{}(item % depth, item / depth)] = a[i];
      to.b[by_item<T>{}(item / tile, item % tile)] = b[i];
    }
  }
};

/// A thread's elements of C are at the positions of its vectors of A and B: `width` neighbours, then `width` more,
/// threads_x vectors further.
template <class T>
STRATA_D int place_in_tile(int thread, int element) {
  constexpr int width = vector<T>::width;
  return (element / width * threads_x + thread) * width + element % width;
}

/// sum += this step's part of A times this step's part of B.
template <class T>
STRATA_D void multiply_add(const tiles<T>& from, T (&sum)[per_thread][per_thread], int y, int x) {
  constexpr int width = vector<T>::width;
  const auto* const a_vectors = reinterpret_cast<const vector<T>*>(from.a);
  const auto* const b_vectors = reinterpret_cast<const vector<T>*>(from.b);
  STRATA_UNROLL
  for (int d = 0; d < depth; ++d) {
    vector<T> a[per_thread / width], b[per_thread / width];
    STRATA_UNROLL
    for (int v = 0; v < per_thread / width; ++v) {
      a[v] = a_vectors[by_vector<T>{}(d, v * threads_x + y)];
      b[v] = b_vectors[by_vector<T>{}(d, v * threads_x + x)];
    }
    STRATA_UNROLL
    for (int i = 0; i < per_thread; ++i) {
      STRATA_UNROLL
      for (int j = 0; j < per_thread; ++j) {
        sum[i][j] += a[i / width].item[i % width] * b[j / width].item[j % width];
      }
    }
  }
}

template <class T>
STRATA_KERNEL void __launch_bounds__(threads, sizeof(T) == 4 ? 2 : 1)
    multiply(matrix<const T> A, matrix<const T> B, matrix<T> C) {
  STRATA_SHARED(buffers, tiles<T>[2]);
  const int row = static_cast<int>(blockIdx.y) * tile;
  const int column = static_cast<int>(blockIdx.x) * tile;
  const int y = static_cast<int>(threadIdx.x) / threads_x;
  const int x = static_cast<int>(threadIdx.x) % threads_x;

  T sum[per_thread][per_thread] = {};
  items_in_flight<T> next;
  next.load(A, B, row, column, 0);
  next.store(buffers[0]);
  for (int step = 0, current = 0; step < A.columns; step += depth, current ^= 1) {
    __syncthreads();  // This buffer is complete, and nobody reads the other one any more.
    const bool is_last = step + depth >= A.columns;
    if (!is_last) next.load(A, B, row, column, step + depth);
    multiply_add(buffers[current], sum, y, x);
    if (!is_last) next.store(buffers[current ^ 1]);
  }

  STRATA_UNROLL
  for (int i = 0; i < per_thread; ++i) {
    STRATA_UNROLL
    for (int j = 0; j < per_thread; ++j) {
      const int c_row = row + place_in_tile<T>(y, i), c_column = column + place_in_tile<T>(x, j);
      if (C.has(c_row, c_column)) C(c_row, c_column) = sum[i][j];
    }
  }
}

// ---------------------------------------------------------------------------- the host's part
void check(cudaError_t status) { example::check("multiplying", status); }

/// The elements are small integers, so every sum is exact, in any order.
template <class T>
matrix<T> new_matrix(int rows, int columns) {
  matrix<T> result{nullptr, rows, columns};
  check(
      cudaMallocManaged(&result.items, sizeof(T) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)));
  unsigned random = 1;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      random = random * 1664525u + 1013904223u;
      result(row, column) = static_cast<T>(static_cast<int>(random >> 16) % 9 - 4);
    }
  }
  return result;
}

/// Compares all elements of a small C, or some columns of each row of a large one.
template <class T>
bool is_product(matrix<const T> A, matrix<const T> B, matrix<const T> C) {
  const int stride = C.rows > 512 ? C.columns / 3 + 1 : 1;
  for (int row = 0; row < C.rows; ++row) {
    for (int column = row % stride; column < C.columns; column += stride) {
      T sum{};
      for (int i = 0; i < A.columns; ++i) sum += A(row, i) * B(i, column);
      if (C(row, column) != sum) return false;
    }
  }
  return true;
}

/// The time of one call, after a first call that is not timed.
template <class Call>
double seconds(Call call) {
  constexpr int calls = STRATA_HOST_SIMT ? 1 : 10;
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  if (!STRATA_HOST_SIMT) call();
  check(cudaEventRecord(begin));
  for (int i = 0; i < calls; ++i) call();
  check(cudaEventRecord(end));
  check(cudaEventSynchronize(end));
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return milliseconds * 1e-3 / calls;
}

#if defined(STRATA_EXAMPLE_CUBLAS)
/// cuBLAS stores matrices by columns. So it sees these as transposed, and computes C' = B' A'.
template <class T>
double cublas_seconds(matrix<const T> A, matrix<const T> B, matrix<T> C) {
  cublasHandle_t handle{};
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) throw example::device_error("cublasCreate failed");
  const T one = 1, zero = 0;
  const double result = seconds([&] {
    const auto call = [&](auto function) {
      return function(handle, CUBLAS_OP_N, CUBLAS_OP_N, C.columns, C.rows, A.columns, &one, B.items, B.columns, A.items,
                      A.columns, &zero, C.items, C.columns);
    };
    cublasStatus_t status;
    if constexpr (sizeof(T) == 4) {
      status = call(cublasSgemm);
    } else {
      status = call(cublasDgemm);
    }
    if (status != CUBLAS_STATUS_SUCCESS) throw example::device_error("cuBLAS failed");
  });
  cublasDestroy(handle);
  return result;
}
#endif

template <class T>
bool run(example::program& running, const char* name, int size, int k) {
  const matrix<T> a = new_matrix<T>(size, k), b = new_matrix<T>(k, size);
  const matrix<T> C = new_matrix<T>(size, size);
  const matrix<const T> A{a.items, size, k}, B{b.items, k, size};
  const auto blocks = static_cast<unsigned>((size + tile - 1) / tile);
  const double ours = seconds([&] {
    check(strata::launch({"gemm::multiply", dim3(blocks, blocks), unsigned{threads}}, multiply<T>, A, B, C));
  });
  const bool right = is_product<T>(A, B, {C.items, size, size});
  running.hide_progress();
  std::printf("%s, %d x %d x %d: %s", name, size, size, k, right ? "right" : "WRONG");
  if (!STRATA_HOST_SIMT) std::printf(", %.0f GFLOP/s", 2e-9 * size * size * k / ours);
#if defined(STRATA_EXAMPLE_CUBLAS)
  std::printf(", %.2f of cuBLAS's speed", cublas_seconds<T>(A, B, C) / ours);
#endif
  std::printf("\n");
  check(cudaFree(a.items));
  check(cudaFree(b.items));
  check(cudaFree(C.items));
  return right;
}

const char help[] =
    "Usage: gemm [SIZE [DEPTH]]\n"
    "Multiplies a matrix of SIZE rows and DEPTH columns by one of DEPTH rows and SIZE columns, in fp32\n"
    "and in fp64, and checks the product. On the GPU also prints how fast that was.\n"
    "\n"
#if STRATA_HOST_SIMT
    "By default, SIZE is 200 and DEPTH is 45, because the host SIMT back end is slow.\n"
#else
    "By default, SIZE is 4096, and DEPTH is equal to SIZE.\n"
#endif
    "\n"
    "      --help  print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if a product is wrong.\n";

int parse_extent(const std::string& text) {
  int extent = 0;
  if (!example::parse_number(text, extent, 1)) throw example::wrong_call("invalid number: '" + text + "'");
  return extent;
}

int multiply_matrices(example::program& running, const std::vector<std::string>& arguments) {
  const std::vector<std::string> operands = example::parse_options(running, arguments, {});
  example::expect_operands(operands, 0, 2);
  // The host back end is slow, so this is just a tile and a half each way.
  const int size = !operands.empty() ? parse_extent(operands[0]) : STRATA_HOST_SIMT ? 200 : 4096;
  const int k = operands.size() > 1 ? parse_extent(operands[1]) : STRATA_HOST_SIMT ? 45 : size;
  running.begin("multiplying fp32");
  const bool single_right = run<float>(running, "fp32", size, k);
  running.begin("multiplying fp64");
  const bool double_right = run<double>(running, "fp64", size, k);
  return single_right && double_right ? 0 : example::exit_check_failed;
}

}  // namespace gemm

int main(int argc, char** argv) {
  return example::run_program("gemm", gemm::help, argc, argv, gemm::multiply_matrices);
}
