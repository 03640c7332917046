// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Converts a count of any integer type. If 64 bits cannot hold a count of 128 bits, the result is a count that calls
/// refuse.
template <class Integer>
STRATA_HD constexpr std::size_t count_of(Integer n) {
  const auto count = static_cast<std::size_t>(n);
  if constexpr (sizeof(Integer) > sizeof(std::size_t)) {
    if (static_cast<Integer>(count) != n) return ~std::size_t{0};
  }
  return count;
}

}  // namespace detail

/// A number of items that lies in device memory, such as the `*d_num_selected_out` of an earlier call on the stream. It
/// takes the place of `num_items` in the calls of DeviceReduce, DeviceScan, DeviceSelect, DevicePartition and
/// DeviceRadixSort, and in DeviceRunLengthEncode::Encode. It takes the place of the number of rows in `join_side` for
/// DeviceHashJoin and in `group_keys` for DeviceGroupBy, and of `k` in DeviceSegmentedTopK. The kernels read it when
/// they run: the host does not wait for it, and a graph may be replayed with another number.
///
/// `max_items` bounds the number. Temporary storage and launches are for `max_items` items, so a bound that is far too
/// large costs time. A negative number counts as 0, a larger one as `max_items`; debug builds (`STRATA_DEBUG`) stop.
/// `d_num_items` must not overlap outputs: a call that writes the number of its results there is refused.
/// A scan by key with a FutureCount must not write its results over its keys: such a call is refused.
///
/// @code
/// #include <strata/device/device_reduce.cuh>
/// #include <strata/device/device_select.cuh>
///
/// // The sum of the items that are kept. Only the device knows how many these are.
/// struct is_positive {
///   STRATA_HD bool operator()(int number) const { return number > 0; }
/// };
/// __managed__ int numbers[6] = {5, -2, 7, -9, 1, 0};
/// __managed__ int kept[6], num_kept, sum;
///
/// int main() {
///   if (strata::DeviceSelect::If(numbers, kept, &num_kept, 6, is_positive{}) != cudaSuccess) return 1;
///   if (strata::DeviceReduce::Sum(kept, &sum, strata::FutureCount(&num_kept, 6)) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d items, sum %d\n", num_kept, sum);
/// }
/// // prints: 3 items, sum 13
/// @endcode
template <class T>
class FutureCount {
  static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                "FutureCount reads an integer: d_num_items must be a pointer to an integer of up to 8 bytes");

 public:
  using value_type = T;  ///< Type of the number in device memory.

  /// `max_items` may have any integer type.
  template <class Integer>
  STRATA_HD FutureCount(const T* d_num_items, Integer max_items)
      : num_items_(d_num_items), max_items_(bound_of(max_items)) {
    static_assert(std::is_integral_v<Integer>, "counts of items and segments must be integers: convert the argument");
  }

  /// Returns the address of the number.
  STRATA_HD const T* pointer() const { return num_items_; }
  /// Returns the bound of the number.
  STRATA_HD std::size_t max_items() const { return max_items_; }

  /// Returns the number, in a kernel. On the host, only joins on the CPU and HostGroupBy call it: the number is in host
  /// memory.
  STRATA_HD std::size_t get() const {
    const T number = *num_items_;
    bool is_negative = false;
    if constexpr (std::is_signed_v<T>) is_negative = number < 0;
    const std::size_t count = is_negative ? 0 : static_cast<std::size_t>(number);
    STRATA_ASSERT(!is_negative && count <= max_items_,
                  "a FutureCount has a negative number of items, or more than its bound of %llu",
                  static_cast<unsigned long long>(max_items_));
    return detail::least(max_items_, count);
  }

 private:
  // The bound as std::size_t. A negative bound becomes one that calls refuse.
  template <class Integer>
  STRATA_HD static std::size_t bound_of(Integer max_items) {
    if constexpr (std::is_signed_v<Integer>) {
      if (max_items < 0) return ~std::size_t{0};
    }
    return detail::count_of(max_items);
  }

  const T* num_items_;
  std::size_t max_items_;
};

namespace detail {

template <class T>
inline constexpr bool is_future_count = false;
template <class T>
inline constexpr bool is_future_count<FutureCount<T>> = true;

/// The type of a number of items.
template <class NumItemsT>
struct count_value {
  using type = NumItemsT;
};
template <class T>
struct count_value<FutureCount<T>> {
  using type = T;
};
template <class NumItemsT>
using count_value_t = typename count_value<NumItemsT>::type;

/// The unsigned type in which items are counted, with 32 or 64 bits, if `num_items` has type `NumItemsT`.
template <class NumItemsT>
using item_count_t = std::conditional_t<(sizeof(count_value_t<NumItemsT>) <= 4), unsigned, unsigned long long>;

/// The largest number of items that a call may have.
template <class NumItemsT>
STRATA_HD constexpr std::size_t max_items(const NumItemsT& num_items) {
  if constexpr (is_future_count<NumItemsT>) {
    return num_items.max_items();
  } else {
    return detail::count_of(num_items);
  }
}

/// The type in which kernels take the number of items: a FutureCount, which they read, or `std::size_t`.
template <class NumItemsT>
using kernel_count_t = std::conditional_t<is_future_count<NumItemsT>, NumItemsT, std::size_t>;

/// The number of items, which a kernel gets as an argument or reads.
template <class Integer>
STRATA_HD Integer number_of_items(Integer num_items) {
  return num_items;
}
template <class Integer, class T>
STRATA_HD Integer number_of_items(const FutureCount<T>& num_items) {
  return static_cast<Integer>(num_items.get());
}

}  // namespace detail
STRATA_NAMESPACE_END
