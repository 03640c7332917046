// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// Where a device call without temporary storage works: a stream, and a memory resource for its storage.
///
/// Every device function can be called without its first two arguments, `d_temp_storage` and `temp_storage_bytes`.
/// The other arguments are the same. The last of them is a `cudaStream_t`, an `execution`, or left out; what stands
/// before it must be given. The call takes its storage from the stream-ordered allocator (`cudaMallocAsync`), or
/// from the resource of the `execution`, and gives it back on the same stream. It does not wait for the device, and
/// can be captured in a graph if the resource can. An error of the allocator is returned, and nothing is launched.
///
/// A resource has `void* allocate(std::size_t bytes, cudaStream_t stream)`, which returns device memory that the
/// stream may use, or a null pointer (the call then returns `cudaErrorMemoryAllocation`), and
/// `void deallocate(void* memory, std::size_t bytes, cudaStream_t stream)`. A call calls each once, in its own
/// thread. It deallocates when its kernels are in the stream, before they have run. If `allocate` throws, nothing
/// was launched. The resource must outlive the call.
///
/// @code
/// #include <strata/device/device_scan.cuh>
///
/// // Storage comes from this pool, on the stream of the call.
/// struct counting_pool {
///   int in_use = 0, calls = 0;
///   void* allocate(std::size_t bytes, cudaStream_t stream) {
///     ++in_use, ++calls;
///     void* memory = nullptr;
///     return cudaMallocAsync(&memory, bytes, stream) == cudaSuccess ? memory : nullptr;
///   }
///   void deallocate(void* memory, std::size_t, cudaStream_t stream) {
///     --in_use;
///     cudaFreeAsync(memory, stream);
///   }
/// };
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5}, sums[5];
///
/// int main() {
///   cudaStream_t stream = nullptr;
///   counting_pool pool;
///   if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
///   const strata::execution where(stream, pool);
///   if (strata::DeviceScan::InclusiveSum(numbers, sums, 5, where) != cudaSuccess) return 1;
///   if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
///   std::printf("%d; %d call, %d in use\n", sums[4], pool.calls, pool.in_use);
/// }
/// // prints: 14; 1 call, 0 in use
/// @endcode
template <class MemoryResource>
class execution {
 public:
  execution(cudaStream_t stream, MemoryResource& memory) : stream_(stream), memory_(&memory) {}

  cudaStream_t stream() const { return stream_; }
  MemoryResource& memory() const { return *memory_; }

 private:
  cudaStream_t stream_;
  MemoryResource* memory_;
};

namespace detail {

/// What a call without storage passes on to the call with storage: its arguments, and of an execution the stream.
template <class T>
T& call_argument(T& argument) {
  return argument;
}
template <class MemoryResource>
cudaStream_t call_argument(const execution<MemoryResource>& where) {
  return where.stream();
}
template <class MemoryResource>
cudaStream_t call_argument(execution<MemoryResource>& where) {
  return where.stream();
}

/// Stands for temporary storage where a declaration asks whether a call with storage exists. nvcc finds the declaration
/// itself, too, which therefore takes no such argument.
struct any_storage {
  operator void*() const;
};
template <class T>
using if_not_any_storage = std::enable_if_t<!std::is_same_v<std::decay_t<T>, any_storage>>;

/// The stream-ordered allocator of CUDA.
inline cudaError_t allocate_storage(void*& storage, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(&storage, bytes, stream);
}
inline cudaError_t deallocate_storage(void* storage, std::size_t, cudaStream_t stream) {
  return cudaFreeAsync(storage, stream);
}
template <class MemoryResource>
cudaError_t allocate_storage(void*& storage, std::size_t bytes, const execution<MemoryResource>& where) {
  storage = where.memory().allocate(bytes, where.stream());
  return storage != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class MemoryResource>
cudaError_t deallocate_storage(void* storage, std::size_t bytes, const execution<MemoryResource>& where) {
  where.memory().deallocate(storage, bytes, where.stream());
  return cudaSuccess;
}

/// The last argument of a call if it says where the call works, and stream 0 otherwise.
inline cudaStream_t execution_of(cudaStream_t stream) { return stream; }
template <class MemoryResource>
const execution<MemoryResource>& execution_of(const execution<MemoryResource>& where) {
  return where;
}
template <class T>
cudaStream_t execution_of(const T&) {
  return nullptr;
}
template <class First, class Second, class... Rest>
decltype(auto) execution_of(First&, Second& second, Rest&... rest) {
  return detail::execution_of(second, rest...);
}

/// Makes a two-phase call with storage that it gives back on the same stream: neither waits for the device. `call`
/// captures nothing: g++ warns if a lambda captures an object of a type with hidden visibility, which types in unnamed
/// namespaces have.
template <class Call, class... Arguments>
cudaError_t with_storage(Call call, Arguments&... arguments) {
  auto&& where = detail::execution_of(arguments...);
  void* storage = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = call(storage, bytes, detail::call_argument(arguments)...);
  if (status != cudaSuccess) return status;
  status = detail::allocate_storage(storage, bytes, where);
  if (status != cudaSuccess) return status;
  status = call(storage, bytes, detail::call_argument(arguments)...);
  const cudaError_t freed = detail::deallocate_storage(storage, bytes, where);
  return status != cudaSuccess ? status : freed;
}

}  // namespace detail
STRATA_NAMESPACE_END

/// Declares the overload of the static member function `function` that takes no temporary storage, for the overloads
/// that stand before it: their arguments from the third on, with an `execution` or a stream as the last, or none.
#define STRATA_CALL_WITHOUT_STORAGE(function)                                                                \
  template <class First, class... Rest, class = detail::if_not_any_storage<First>>                           \
  static auto function(First&& first, Rest&&... rest)                                                        \
      ->decltype(function(detail::any_storage{}, std::declval<std::size_t&>(), detail::call_argument(first), \
                          detail::call_argument(rest)...)) {                                                 \
    return detail::with_storage(                                                                             \
        [](void* d_temp_storage, std::size_t& temp_storage_bytes, auto&&... arguments) {                     \
          return function(d_temp_storage, temp_storage_bytes, arguments...);                                 \
        },                                                                                                   \
        first, rest...);                                                                                     \
  }

/// The same for functions that keep nothing in temporary storage: nothing is allocated.
#define STRATA_CALL_WITH_UNUSED_STORAGE(function)                                                            \
  template <class First, class... Rest, class = detail::if_not_any_storage<First>>                           \
  static auto function(First&& first, Rest&&... rest)                                                        \
      ->decltype(function(detail::any_storage{}, std::declval<std::size_t&>(), detail::call_argument(first), \
                          detail::call_argument(rest)...)) {                                                 \
    unsigned char storage = 0;                                                                               \
    std::size_t bytes = sizeof(storage);                                                                     \
    return function(static_cast<void*>(&storage), bytes, detail::call_argument(first),                       \
                    detail::call_argument(rest)...);                                                         \
  }
