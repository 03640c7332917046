// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/environment.hpp>
#include <strata/device/engine/stream_argument.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// Where a device call without temporary storage works: a stream, and a memory resource for its storage.
///
/// Every device function can be called without its first two arguments, `d_temp_storage` and `temp_storage_bytes`. The
/// other arguments are the same. The last of them is a stream, an `execution`, an environment, or left out; all
/// arguments before it must be given. A stream is a `cudaStream_t`, or a class that converts to it
/// (`rmm::cuda_stream_view`, `c10::cuda::CUDAStream`) or returns it by `get()` (`cuda::stream_ref`). The same holds in
/// calls with temporary storage, and in an `execution`. Anything else does not compile.
///
/// An environment is what calls of CUB take from version 3.1 on: `cuda::std::execution::env`, `prop`, or another class
/// that answers the same queries. No header of libcu++ is included for it. Of what it holds, a call uses
/// - the stream (`cuda::get_stream`), else stream 0;
/// - the memory resource (`cuda::mr::get_memory_resource`), copied; if it throws, the call returns
///   `cudaErrorMemoryAllocation`. A call with temporary storage needs none;
/// - the requirements (`cuda::execution::require`). A call that cannot keep one does not compile. Two kinds of calls do
///   not keep `determinism::run_to_run`: joins whose results may have any order, and DeviceGroupBy::Aggregate if groups
///   may have any order, or if an aggregate is `group_any` or `unordered()`. DeviceReduce::Sum, Reduce and
///   TransformReduce keep `gpu_to_gpu` (see ReproducibleSum). So does each other call that keeps `run_to_run`, if its
///   result does not depend on association: with known operators on integers, and with Min and Max.
///   `output_ordering::sorted` and `stable_sorted` are kept by sorts, merges and the top-k functions with `Sorted` in
///   their names. All calls keep `tie_break::prefer_smaller_index`.
///
/// A call ignores the rest: `cuda::execution::tune` is for kernels of CUB.
///
/// The call takes its storage from the stream-ordered allocator (`cudaMallocAsync`), or from the resource of the
/// `execution`, and gives it back on the same stream. It does not wait for the device, and can be captured in a graph
/// if the resource can. An error of the allocator is returned, and nothing is launched.
///
/// A resource has `void* allocate(std::size_t bytes, cudaStream_t stream)` and
/// `void deallocate(void* memory, std::size_t bytes, cudaStream_t stream)`. `allocate` returns device memory that the
/// stream may use. If it returns a null pointer, the call returns `cudaErrorMemoryAllocation`. Resources of libcu++
/// (`cuda::mr`) are taken too: `allocate(stream, bytes, alignment)` and
/// `deallocate(stream, memory, bytes, alignment)`, or, up to CUDA 13.0,
/// `allocate_async(bytes, alignment, stream)` and `deallocate_async(memory, bytes, alignment, stream)`. A call of
/// strata allocates once and deallocates once, in the host thread that makes the call. It deallocates when its kernels
/// are in the stream, before they have run. If `allocate` throws, nothing was launched. The resource must outlive the
/// call.
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
  /// Describes calls that work on `stream` and take temporary storage from `memory`.
  execution(detail::stream_argument<cudaStream_t> stream, MemoryResource& memory) : stream_(stream), memory_(&memory) {}

  /// Returns the stream.
  cudaStream_t stream() const { return stream_; }
  /// Returns the memory resource.
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

/// An environment with a copy of its memory resource, as in calls of CUB.
template <class MemoryResource>
class environment_execution {
 public:
  template <class Environment>
  explicit environment_execution(const Environment& environment)
      : stream_(detail::stream_of_environment<cudaStream_t>(environment)),
        memory_(environment.query(any_tag<environment_query::memory>{})) {}

  cudaStream_t stream() const { return stream_; }
  MemoryResource& memory() const { return memory_; }

 private:
  cudaStream_t stream_;
  mutable MemoryResource memory_;
};
template <class MemoryResource>
inline constexpr bool is_execution<environment_execution<MemoryResource>> = true;
template <class MemoryResource>
inline constexpr bool is_execution<const environment_execution<MemoryResource>> = true;

/// An environment's stream, or, if the environment holds a memory resource, an execution.
template <class Handle, class Environment>
auto execution_of_environment(const Environment& environment) {
  using Answer = environment_answer_t<Environment, environment_query::memory>;
  if constexpr (std::is_void_v<Answer>) {
    return detail::stream_of_environment<Handle>(environment);
  } else {
    return environment_execution<std::decay_t<Answer>>(environment);
  }
}

/// True if `T` is a class that is a stream or an environment.
template <class T>
inline constexpr bool is_stream_class = std::is_class_v<std::remove_reference_t<T>> &&
                                        (is_stream<cudaStream_t, T&> || is_environment<T>);

/// Returns what is passed on to a call with storage: the stream of an execution or an environment, the stream that a
/// class stands for, and any other argument as it is. So no more is compiled than for a stream.
template <class T>
decltype(auto) call_argument(T& argument) {
  if constexpr (is_execution<T>) {
    return argument.stream();
  } else if constexpr (std::is_class_v<T> && is_stream<cudaStream_t, T&>) {
    return detail::stream_handle<cudaStream_t>(argument);
  } else if constexpr (is_environment<T>) {
    return detail::stream_of_environment<cudaStream_t>(argument);
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
/// How a memory resource is called.
enum class resource_kind {
  stream_last,      ///< allocate(bytes, stream)
  stream_first,     ///< allocate(stream, bytes, alignment): libcu++ from 3.1 on
  async_functions,  ///< allocate_async(bytes, alignment, stream)
  none
};
template <class Memory, class = void>
inline constexpr bool is_older_cuda_resource = false;
template <class Memory>
inline constexpr bool
    is_older_cuda_resource<Memory, std::void_t<decltype(std::declval<Memory&>().allocate_async(
                                       std::size_t{}, std::size_t{}, std::declval<cudaStream_t&>()))>> = true;
template <class Memory, class = void>
inline constexpr resource_kind cuda_resource_kind =
    is_older_cuda_resource<Memory> ? resource_kind::async_functions : resource_kind::none;
template <class Memory>
inline constexpr resource_kind
    cuda_resource_kind<Memory, std::void_t<decltype(std::declval<Memory&>().allocate(std::declval<cudaStream_t&>(),
                                                                                     std::size_t{}, std::size_t{}))>> =
        resource_kind::stream_first;
template <class Memory, class = void>
inline constexpr resource_kind kind_of_resource = cuda_resource_kind<Memory>;
template <class Memory>
inline constexpr resource_kind kind_of_resource<
    Memory, std::void_t<decltype(std::declval<Memory&>().allocate(std::size_t{}, std::declval<cudaStream_t&>()))>> =
    resource_kind::stream_last;

/// Fails to compile, with one sentence, if `Memory` is no resource.
template <class Memory>
constexpr void check_resource() {
  static_assert(kind_of_resource<Memory> != resource_kind::none,
                "a memory resource must have allocate(bytes, stream) and deallocate(memory, bytes, stream), or be a "
                "resource of cuda::mr");
}
/// Temporary storage may have any alignment.
inline constexpr std::size_t resource_alignment = alignof(std::max_align_t);

template <class MemoryResource>
cudaError_t allocate_storage(void*& storage, std::size_t bytes, const execution<MemoryResource>& where) {
  auto& memory = where.memory();
  using Memory = std::remove_reference_t<decltype(memory)>;
  constexpr resource_kind kind = kind_of_resource<Memory>;
  detail::check_resource<Memory>();
  if constexpr (kind == resource_kind::stream_last) {
    storage = memory.allocate(bytes, where.stream());
  } else if constexpr (kind == resource_kind::stream_first) {
    storage = memory.allocate(where.stream(), bytes, resource_alignment);
  } else if constexpr (kind == resource_kind::async_functions) {
    storage = memory.allocate_async(bytes, resource_alignment, where.stream());
  }
  return storage != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class MemoryResource>
cudaError_t deallocate_storage(void* storage, std::size_t bytes, const execution<MemoryResource>& where) {
  auto& memory = where.memory();
  constexpr resource_kind kind = kind_of_resource<std::remove_reference_t<decltype(memory)>>;
  if constexpr (kind == resource_kind::stream_last) {
    memory.deallocate(storage, bytes, where.stream());
  } else if constexpr (kind == resource_kind::stream_first) {
    memory.deallocate(where.stream(), storage, bytes, resource_alignment);
  } else if constexpr (kind == resource_kind::async_functions) {
    memory.deallocate_async(storage, bytes, resource_alignment, where.stream());
  }
  return cudaSuccess;
}

/// Returns what `call` returns. If `call` throws, returns what calls of CUB return then.
template <class Call>
cudaError_t without_exceptions(Call call) {
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  try {
    return call();
  } catch (...) {
    return cudaErrorMemoryAllocation;
  }
#else
  return call();
#endif
}
template <class MemoryResource>
cudaError_t allocate_storage(void*& storage, std::size_t bytes, const environment_execution<MemoryResource>& where) {
  const execution<MemoryResource> memory(where.stream(), where.memory());
  return detail::without_exceptions([&] { return detail::allocate_storage(storage, bytes, memory); });
}
template <class MemoryResource>
cudaError_t deallocate_storage(void* storage, std::size_t bytes, const environment_execution<MemoryResource>& where) {
  const execution<MemoryResource> memory(where.stream(), where.memory());
  return detail::without_exceptions([&] { return detail::deallocate_storage(storage, bytes, memory); });
}

/// Returns the last argument of a call if it says where the call works, and stream 0 otherwise.
template <class T>
decltype(auto) execution_of(T& last) {
  if constexpr (is_execution<T>) {
    return static_cast<const T&>(last);
  } else if constexpr (is_stream<cudaStream_t, T&>) {
    return detail::stream_handle<cudaStream_t>(last);
  } else if constexpr (is_environment<T>) {
    return detail::execution_of_environment<cudaStream_t>(last);
  } else {
    return cudaStream_t{};
  }
}
template <class First, class Second, class... Rest>
decltype(auto) execution_of(First&, Second& second, Rest&... rest) {
  return detail::execution_of(second, rest...);
}

/// Converts `where` to an execution or a `Handle`. An `execution` stays as it is, and a stream becomes a `Handle`. An
/// environment becomes its stream, or an execution if it holds a memory resource. For calls whose arguments are not
/// forwarding references.
template <class Handle, call_result Result, class Where>
decltype(auto) where_of(const Where& where) {
  constexpr bool is_handle = is_stream<Handle, const Where&>;
  detail::check_last_argument<is_handle || is_execution<Where> || is_environment<Where>>();
  if constexpr (is_execution<Where>) {
    return (where);
  } else if constexpr (is_handle) {
    return detail::stream_handle<Handle>(where);
  } else if constexpr (is_environment<Where>) {
    detail::check_requirements<Result, false, Where>();
    return detail::execution_of_environment<Handle>(where);
  } else {
    return Handle{};
  }
}

/// Makes a two-phase call with storage that it allocates and frees on the stream. It does not wait for the device.
/// `call` captures nothing: g++ warns if a lambda captures an object of a type with hidden visibility, which types in
/// unnamed namespaces have.
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

/// Makes a call that keeps nothing in storage, so nothing is allocated.
template <class Call, class... Arguments>
cudaError_t with_unused_storage(Call call, Arguments&... arguments) {
  unsigned char storage = 0;
  std::size_t bytes = sizeof(storage);
  return call(static_cast<void*>(&storage), bytes, detail::call_argument(arguments)...);
}

// ------------------------------------------------------------------ results that do not depend on association

/// The type to which an iterator, or a value that only the device knows, refers.
template <class T, class = void>
struct referred_type {
  using type = T;
};
template <class T>
struct referred_type<T, std::void_t<typename T::value_type>> {
  using type = typename T::value_type;
};
template <class T>
struct referred_type<T*> {
  using type = std::remove_cv_t<T>;
};

/// True for numbers whose sums are exact. `IsOrdered` says that only Min and Max are applied to the numbers. Then the
/// variable is also true for the floating-point numbers that Min and Max order totally.
template <class T, bool IsOrdered>
inline constexpr bool is_exact_number = is_integer<T> || (IsOrdered && is_device_real<T>);

/// True for operators that return the smaller or the greater operand: strata's Min and Max, and operators of other
/// libraries that are known by name.
template <class Operator>
constexpr bool is_extremum() {
  if constexpr (std::is_class_v<Operator>) {
    constexpr hardware_reduction operation = detail::operation_by_name<Operator>();
    return std::is_same_v<Operator, Min> || std::is_same_v<Operator, Max> || operation == hardware_reduction::min ||
           operation == hardware_reduction::max;
  } else {
    return false;
  }
}

/// True for an argument that does not let the result depend on association: an exact number (is_exact_number), an
/// iterator or pointer to such numbers, a known operator on integers, Min, Max, or an argument that is no operand (a
/// stream, storage, Equality).
template <class T, bool IsOrdered>
constexpr bool is_exact_argument() {
  using Item = typename referred_type<T>::type;
  if constexpr (is_stream_class<T> || std::is_void_v<Item> || std::is_null_pointer_v<T> ||
                std::is_same_v<T, Equality>) {
    return true;
  } else if constexpr (!std::is_class_v<T> || !std::is_same_v<T, Item>) {
    return is_exact_number<Item, IsOrdered>;
  } else {
    using Operand = std::conditional_t<std::is_void_v<typename operand<T>::type>, int, typename operand<T>::type>;
    return is_exact_number<T, IsOrdered> || operator_traits<T, Operand>::has_identity ||
           (detail::is_extremum<T>() && is_exact_number<Operand, IsOrdered>);
  }
}

/// True if the types of the arguments show that the result is the same for each association of operands.
template <class... Arguments>
constexpr bool is_exact() {
  constexpr bool is_ordered = (detail::is_extremum<std::decay_t<Arguments>>() || ...);
  return (detail::is_exact_argument<std::decay_t<Arguments>, is_ordered>() && ...);
}

// ------------------------------------------------------------------ forms of a call

/// SFINAE probe in place of temporary storage: does a call with storage exist? The overload that
/// STRATA_CALL_WITHOUT_STORAGE declares asks this. nvcc also considers this overload itself, so this overload does not
/// accept a probe.
struct any_storage {
  operator void*() const;
};

/// `Overloads` calls the overloads of a function that take storage. `Arguments` are the types that forwarding
/// references deduce.
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

/// The form in which a call gives its arguments, for a function whose overloads take storage.
enum class call_form {
  none,             // an overload takes the arguments as they are, or no form fits
  without_storage,  // without storage
  on_stream_class,  // with storage, and a class that is a stream or an environment
  nowhere           // one of the other forms fits, except for the last argument
};

/// Returns the form of a call with these arguments, none of which is storage: `none`, `without_storage` or `nowhere`.
template <class Overloads, class... Arguments>
constexpr call_form form_without_storage() {
  if constexpr (sizeof...(Arguments) == 0) {
    return call_form::none;
  } else if constexpr (is_call_with_storage<Overloads, Arguments...>) {
    return call_form::without_storage;
  } else {
    using Last = typename last_of<Arguments...>::type;
    constexpr bool is_where = says_where<cudaStream_t, Last&> || is_execution<std::remove_reference_t<Last>>;
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
    return is_stream_class<Last> ? call_form::on_stream_class : call_form::none;
  } else {
    // A literal 0 is a null pointer, so it may stand for a stream.
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

/// `Overloads::reproducible`, or void.
template <class Overloads, class = void>
struct reproducible_overloads {
  using type = void;
};
template <class Overloads>
struct reproducible_overloads<Overloads, std::void_t<typename Overloads::reproducible>> {
  using type = typename Overloads::reproducible;
};

/// The overloads that make a call. They are the reproducible ones if these exist, an environment requires the same
/// result on every GPU, and the result depends on how operands are associated.
template <class Overloads, class Last, bool IsExact>
constexpr auto chosen_overloads() {
  using Reproducible = typename reproducible_overloads<Overloads>::type;
  if constexpr (!IsExact && !std::is_void_v<Reproducible> && !is_stream<cudaStream_t, Last&> && is_environment<Last>) {
    if constexpr (requirements_of<Last>::how_often == determinism::gpu_to_gpu) {
      return Reproducible{};
    } else {
      return Overloads{};
    }
  } else {
    return Overloads{};
  }
}

/// Makes a call of the given form. `with_storage` makes it if the form has no storage.
template <class Overloads, call_form form, class WithStorage, class... Arguments>
cudaError_t make_call(WithStorage with_storage, Arguments&... arguments) {
  using Last = std::remove_cv_t<typename last_of<Arguments...>::type>;
  constexpr bool is_exact = detail::is_exact<Arguments...>();
  using Chosen = decltype(detail::chosen_overloads<Overloads, Last, is_exact>());
  detail::check_last_argument<form != call_form::nowhere>();
  if constexpr (form != call_form::nowhere && !is_stream<cudaStream_t, Last&> && is_environment<Last>) {
    detail::check_requirements<result_of_arguments<Chosen::result, std::remove_cv_t<Arguments>...>, is_exact, Last>();
  }
  if constexpr (form == call_form::without_storage) {
    return with_storage(Chosen{}, arguments...);
  } else if constexpr (form == call_form::on_stream_class) {
    return detail::call_on_stream_class<Chosen>(arguments...);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

/// Declares the overload of the static member function `function` that takes no temporary storage, for the overloads
/// before it. It takes their arguments from the third on. The last may be an `execution`, an environment or a stream,
/// or is left out. The overload also takes calls with storage if their last argument is an environment, or a class that
/// is a stream. A second macro argument is the call_result of the function, unless it is `fixed`.
#define STRATA_CALL_WITHOUT_STORAGE(...) STRATA_DETAIL_CALL_FORMS(with_storage, __VA_ARGS__, fixed, )

/// STRATA_CALL_WITHOUT_STORAGE for a function with a counterpart `reproducible`. Environments that require the same
/// result on every GPU choose the counterpart, which must be declared before.
#define STRATA_CALL_WITHOUT_STORAGE_OR(function, result_of_call, reproducible) \
  STRATA_DETAIL_CALL_FORMS_OR(with_storage, function, result_of_call, reproducible##_overloads)

/// STRATA_CALL_WITHOUT_STORAGE for functions that keep nothing in temporary storage: nothing is allocated.
#define STRATA_CALL_WITH_UNUSED_STORAGE(...) STRATA_DETAIL_CALL_FORMS(with_unused_storage, __VA_ARGS__, fixed, )

#define STRATA_DETAIL_CALL_FORMS(with, function, result_of_call, ...) \
  STRATA_DETAIL_CALL_FORMS_OR(with, function, result_of_call, void)

#define STRATA_DETAIL_CALL_FORMS_OR(with, function, result_of_call, for_all_gpus)                                    \
  struct function##_overloads {                                                                                      \
    static constexpr detail::call_result result = detail::call_result::result_of_call;                               \
    using reproducible = for_all_gpus;                                                                               \
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
