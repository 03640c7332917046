// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/detail/standard.hpp>
#include <strata/core/detail/type_name.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `Iterator` is an iterator of a vector of Thrust, libstdc++ or libc++, or a `thrust::device_ptr`. Its items
/// lie side by side.
template <class Iterator>
constexpr bool is_vector_iterator() {
  const char* text = detail::type_name<Iterator>();
  if (detail::skips(text, "thrust::")) {
    text = detail::without_namespaces(text);
    return detail::is_name(text, "normal_iterator") || detail::is_name(text, "device_ptr");
  }
  return detail::skips(text, "__gnu_cxx::__normal_iterator<") || detail::skips(text, "std::__1::__wrap_iter<");
}

/// Returns the pointer to the items if `items` is an iterator of a vector, otherwise `items` itself.
template <class Iterator>
auto pointer_or_iterator(const Iterator& items) {
  if constexpr (detail::is_vector_iterator<Iterator>()) {
    auto address = &*items;
    if constexpr (std::is_pointer_v<decltype(address)>) {
      return address;
    } else {
      return address.get();
    }
  } else {
    return items;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END

#endif  // !STRATA_NVRTC
