// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

/// An initial value that lies in device memory and is read when the scan runs: a kernel before it
/// in the stream may write it.
template <class T, class Iterator = T*>
class FutureValue {
 public:
  using value_type = T;            ///< Type of the value.
  using iterator_type = Iterator;  ///< Type of the iterator.

  /// Makes an initial value that is read from `iterator`.
  STRATA_HD explicit FutureValue(Iterator iterator) : iterator_(iterator) {}
  /// Reads the value, in a kernel.
  STRATA_HD operator T() const { return *iterator_; }

  /// Returns the iterator of the value.
  STRATA_HD const Iterator& iterator() const { return iterator_; }

 private:
  Iterator iterator_;
};

template <class Iterator>
FutureValue(Iterator) -> FutureValue<std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>, Iterator>;

namespace detail {

/// Type of the value that a scan begins with: `InitT` itself, or the `T` of a `FutureValue`.
template <class InitT>
struct initial_value_of {
  using type = InitT;
};
template <class T, class Iterator>
struct initial_value_of<FutureValue<T, Iterator>> {
  using type = T;
};

/// The accumulator of a scan. Without an initial value (NullType), a scan begins with an item.
template <class InputIterator, class ScanOp, class InitT>
using scan_accumulator_t =
    accumulator_t<ScanOp,
                  std::conditional_t<std::is_same_v<InitT, NullType>, iterator_value_t<InputIterator>,
                                     typename initial_value_of<InitT>::type>,
                  iterator_value_t<InputIterator>>;

template <class AccumT, class InitT>
STRATA_D AccumT initial_value(const InitT& init) {
  return static_cast<AccumT>(static_cast<typename initial_value_of<InitT>::type>(init));
}

/// True if a call is refused because its `FutureValue` is null or lies where results are written.
template <class InitT>
bool refuses_initial_value(const InitT&, const argument_bytes&) {
  return false;
}
template <class T, class Iterator>
bool refuses_initial_value(const FutureValue<T, Iterator>& init, const argument_bytes& results) {
  return detail::refuses_null(init.iterator(), "the FutureValue") ||
         detail::refuses_overlap(results, detail::bytes_of(init.iterator(), 1, "the FutureValue"));
}

}  // namespace detail
STRATA_NAMESPACE_END
