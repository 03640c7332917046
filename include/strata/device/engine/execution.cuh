// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/stream_argument.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// Where a device call without temporary storage works: a stream, and a memory resource for its storage.
///
/// Every device function can be called without its first two arguments, `d_temp_storage` and `temp_storage_bytes`.
/// The other arguments are the same. The last of them is a stream, an `execution`, or left out; what stands before it
/// must be given. A stream is a `cudaStream_t`, or a class that converts to it (`rmm::cuda_stream_view`,
/// `c10::cuda::CUDAStream`) or returns it by `get()` (`cuda::stream_ref`). So it is in calls with temporary storage,
/// and in an `execution`. Anything else does not compile.
///
/// The call takes its storage from the stream-ordered allocator (`cudaMallocAsync`), or from the resource of the
/// `execution`, and gives it back on the same stream. It does not wait for the device, and can be captured in a graph
/// if the resource can. An error of the allocator is returned, and nothing is launched.
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
  execution(detail::stream_argument<cudaStream_t> stream, MemoryResource& memory) : stream_(stream), memory_(&memory) {}

  cudaStream_t stream() const { return stream_; }
  MemoryResource& memory() const { return *memory_; }

 private:
  cudaStream_t stream_;
  MemoryResource* memory_;
};

namespace detail {

template <class T>
inline constexpr bool is_execution = false;
template <class MemoryResource>
inline constexpr bool is_execution<execution<MemoryResource>> = true;
template <class MemoryResource>
inline constexpr bool is_execution<const execution<MemoryResource>> = true;

/// What is passed on to a call with storage: of an execution and of a class its stream, so that no more is compiled
/// than for a stream, and all else as it is.
template <class T>
decltype(auto) call_argument(T& argument) {
  if constexpr (is_execution<T>) {
    return argument.stream();
  } else if constexpr (std::is_class_v<T> && is_stream<cudaStream_t, T&>) {
    return detail::stream_handle<cudaStream_t>(argument);
  } else {
    return (argument);
  }
}
template <class T>
using call_argument_t = decltype(detail::call_argument(std::declval<T&>()));

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
template <class T>
decltype(auto) execution_of(T& last) {
  if constexpr (is_execution<T>) {
    return static_cast<const T&>(last);
  } else if constexpr (is_stream<cudaStream_t, T&>) {
    return detail::stream_handle<cudaStream_t>(last);
  } else {
    return cudaStream_t{};
  }
}
template <class First, class Second, class... Rest>
decltype(auto) execution_of(First&, Second& second, Rest&... rest) {
  return detail::execution_of(second, rest...);
}

/// An `execution` or a `Handle`, whichever `where` is. For calls whose arguments are no forwarding references.
template <class Handle, class Where>
decltype(auto) where_of(const Where& where) {
  constexpr bool is_handle = is_stream<Handle, const Where&>;
  detail::check_last_argument<is_handle || is_execution<Where>>();
  if constexpr (is_execution<Where>) {
    return (where);
  } else if constexpr (is_handle) {
    return detail::stream_handle<Handle>(where);
  } else {
    return Handle{};
  }
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

/// Makes a call that keeps nothing in storage: nothing is allocated.
template <class Call, class... Arguments>
cudaError_t with_unused_storage(Call call, Arguments&... arguments) {
  unsigned char storage = 0;
  std::size_t bytes = sizeof(storage);
  return call(static_cast<void*>(&storage), bytes, detail::call_argument(arguments)...);
}

// ------------------------------------------------------------------ forms of a call

/// Stands for temporary storage where it is asked whether a call with storage exists. nvcc also finds the function that
/// asks, which therefore is none for such an argument.
struct any_storage {
  operator void*() const;
};

/// `Overloads` calls the overloads of a function that take storage. The types of arguments are as forwarding references
/// deduce them.
template <class Overloads, class... Arguments>
inline constexpr bool is_call_with_storage =
    std::is_invocable_v<Overloads, any_storage, std::size_t&, call_argument_t<Arguments>...>;

/// True if a call with storage exists that takes a stream instead of the last argument.
template <class Overloads, class... Arguments, std::size_t... Index>
constexpr bool is_call_but_for_last(std::index_sequence<Index...>) {
  return std::is_invocable_v<
      Overloads, any_storage, std::size_t&,
      std::conditional_t<Index + 1 == sizeof...(Arguments), cudaStream_t, call_argument_t<Arguments>>...>;
}

template <class...>
inline constexpr bool has_storage = false;
template <class First, class... Rest>
inline constexpr bool has_storage<First, std::size_t&, Rest...> = std::is_convertible_v<First, void*>;

template <class First, class... Rest>
struct last_of : last_of<Rest...> {};
template <class Last>
struct last_of<Last> {
  using type = Last;
};

/// How a function whose overloads take storage takes its arguments.
enum class call_form {
  none,             // one of the overloads takes them, or nothing does
  without_storage,  // without storage
  on_stream_class,  // with storage, and a class that is a stream
  nowhere           // as one of these, but for the last argument
};

/// `none`, `without_storage` or `nowhere`, for the arguments behind the storage.
template <class Overloads, class... Arguments>
constexpr call_form form_without_storage() {
  if constexpr (sizeof...(Arguments) == 0) {
    return call_form::none;
  } else if constexpr (is_call_with_storage<Overloads, Arguments...>) {
    return call_form::without_storage;
  } else {
    using Last = typename last_of<Arguments...>::type;
    constexpr bool is_where = is_stream<cudaStream_t, Last&> || is_execution<std::remove_reference_t<Last>>;
    return !is_where && detail::is_call_but_for_last<Overloads, Arguments...>(std::index_sequence_for<Arguments...>{})
               ? call_form::nowhere
               : call_form::none;
  }
}

template <class Overloads, class First, class Second, class... Rest>
constexpr call_form form_with_storage() {
  using Last = typename last_of<First, Second, Rest...>::type;
  constexpr call_form behind = detail::form_without_storage<Overloads, Rest...>();
  if constexpr (behind == call_form::without_storage) {
    if (is_execution<std::remove_reference_t<Last>>) return call_form::nowhere;
    return std::is_class_v<std::remove_reference_t<Last>> && is_stream<cudaStream_t, Last&> ? call_form::on_stream_class
                                                                                            : call_form::none;
  } else {
    // A literal 0 is a null pointer.
    return behind == call_form::nowhere && std::is_integral_v<Last> ? call_form::none : behind;
  }
}

template <class Overloads, class First, class... Rest>
constexpr call_form form_of_call() {
  if constexpr (std::is_same_v<std::decay_t<First>, any_storage>) {
    return call_form::none;
  } else {
    constexpr call_form form = detail::form_without_storage<Overloads, First, Rest...>();
    if constexpr (form != call_form::without_storage && has_storage<First, Rest...>) {
      return detail::form_with_storage<Overloads, First, Rest...>();
    } else {
      return form;
    }
  }
}

template <class Overloads, class... Arguments>
using if_call = std::enable_if_t<detail::form_of_call<Overloads, Arguments...>() != call_form::none, cudaError_t>;

template <class Overloads, class First, class Second, class... Rest>
cudaError_t call_on_stream_class(First& d_temp_storage, Second& temp_storage_bytes, Rest&... rest) {
  return Overloads{}(static_cast<void*>(d_temp_storage), temp_storage_bytes, detail::call_argument(rest)...);
}

/// Makes a call of this form. `with_storage` makes it without storage.
template <class Overloads, call_form form, class WithStorage, class... Arguments>
cudaError_t make_call(WithStorage with_storage, Arguments&... arguments) {
  detail::check_last_argument<form != call_form::nowhere>();
  if constexpr (form == call_form::without_storage) {
    return with_storage(Overloads{}, arguments...);
  } else if constexpr (form == call_form::on_stream_class) {
    return detail::call_on_stream_class<Overloads>(arguments...);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

/// Declares the overload of the static member function `function` that takes no temporary storage, for the overloads
/// that stand before it: their arguments from the third on, with an `execution` or a stream as the last, or none. It
/// also takes a class that is a stream with storage.
#define STRATA_CALL_WITHOUT_STORAGE(function) STRATA_DETAIL_CALL_FORMS(function, with_storage)

/// The same for functions that keep nothing in temporary storage: nothing is allocated.
#define STRATA_CALL_WITH_UNUSED_STORAGE(function) STRATA_DETAIL_CALL_FORMS(function, with_unused_storage)

#define STRATA_DETAIL_CALL_FORMS(function, with)                                                                     \
  struct function##_overloads {                                                                                      \
    template <class... Arguments>                                                                                    \
    auto operator()(Arguments&&... arguments) const -> decltype((function)(std::forward<Arguments>(arguments)...)) { \
      return (function)(std::forward<Arguments>(arguments)...);                                                      \
    }                                                                                                                \
  };                                                                                                                 \
  template <class First, class... Rest>                                                                              \
  static detail::if_call<function##_overloads, First, Rest...> function(First&& first, Rest&&... rest) {             \
    return detail::make_call<function##_overloads, detail::form_of_call<function##_overloads, First, Rest...>()>(    \
        [](auto overloads, auto&... arguments) { return detail::with(overloads, arguments...); }, first, rest...);   \
  }
