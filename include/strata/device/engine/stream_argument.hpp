// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/engine/environment.hpp>

#include <type_traits>
#include <utility>

/// \file
/// Streams as arguments of calls. A class may stand for one, and an environment may hold one.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type that `get()` returns, or void if there is no such function.
template <class T, class = void>
struct result_of_get {
  using type = void;
};
template <class T>
struct result_of_get<T, std::void_t<decltype(std::declval<T>().get())>> {
  using type = std::decay_t<decltype(std::declval<T>().get())>;
};

/// A type that only tests classes: no handle is a pointer to it. A class that converts to a pointer to this type
/// converts to any pointer. Such a class may be an initial value, but it is no stream.
struct any_pointee;

/// True if an argument of type `T` is a stream. A class is a stream if it converts to `Handle`, like
/// rmm::cuda_stream_view and c10::cuda::CUDAStream, or returns it by `get()`, like cuda::stream_ref.
template <class Handle, class T>
inline constexpr bool is_stream = (std::is_convertible_v<T, Handle> && !(std::is_class_v<std::remove_reference_t<T>> &&
                                                                         std::is_convertible_v<T, any_pointee*>)) ||
                                  std::is_same_v<typename result_of_get<T>::type, Handle>;

/// True if an argument of type `T` is a stream, or an environment, which may hold one.
template <class Handle, class T>
inline constexpr bool says_where = is_stream<Handle, T> || is_environment<T>;

template <class Handle, class T>
Handle stream_handle(T&& stream) {
  if constexpr (std::is_convertible_v<T, Handle>) {
    return stream;
  } else {
    return stream.get();
  }
}

/// Fails to compile, with one message, unless `IsValid`: the last argument of a call must say where the call runs.
template <bool IsValid>
constexpr void check_last_argument() {
  static_assert(IsValid,
                "the last argument of a call says where the call runs: pass a cudaStream_t, a class that converts to "
                "it or returns it by get(), or an environment that holds such a stream. A call without temporary "
                "storage also takes a strata::execution");
}

/// The stream of an environment, or stream 0.
template <class Handle, class Environment>
Handle stream_of_environment([[maybe_unused]] const Environment& environment) {
  using Answer = environment_answer_t<Environment, environment_query::stream>;
  if constexpr (std::is_void_v<Answer>) {
    return Handle{};
  } else {
    detail::check_last_argument<is_stream<Handle, Answer>>();
    if constexpr (is_stream<Handle, Answer>) {
      return detail::stream_handle<Handle>(environment.query(any_tag<environment_query::stream>{}));
    } else {
      return Handle{};
    }
  }
}

/// The type of a parameter for a stream. With a `Result`, it also takes an environment: the requirements in it are
/// checked against this call_result.
template <class Handle, call_result... Result>
class stream_argument {
 public:
  stream_argument(Handle handle = nullptr) : handle_(handle) {}
  /// Integers are left to the other constructor, because a literal 0 is a null pointer.
  template <class T,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<T>, stream_argument> &&
                                     !std::is_same_v<std::decay_t<T>, Handle> && !std::is_integral_v<std::decay_t<T>>>>
  stream_argument(T&& stream) {
    constexpr bool is_handle = is_stream<Handle, T>;
    constexpr bool is_where = !is_handle && sizeof...(Result) > 0 && is_environment<T>;
    detail::check_last_argument<is_handle || is_where>();
    if constexpr (is_handle) {
      handle_ = detail::stream_handle<Handle, T>(static_cast<T&&>(stream));
    } else if constexpr (is_where) {
      (detail::check_requirements<Result, false, std::decay_t<T>>(), ...);
      handle_ = detail::stream_of_environment<Handle>(stream);
    }
  }

  operator Handle() const { return handle_; }

 private:
  Handle handle_{};
};

}  // namespace detail
STRATA_NAMESPACE_END
