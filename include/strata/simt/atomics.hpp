// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUDA's atomics. They have relaxed order. Those with `_block` in the name have block scope. All others, also those
// with `_system`, have device scope.
#pragma once

#include <strata/simt/engine.hpp>

namespace strata {
namespace simt {

// Atomic accesses with an order (__ATOMIC_*) and a scope, for the host side of core/platform.cuh.
template <class T>
STRATA_SIMT_INLINE T atomic_load(const T* address, int order, memory_scope scope = memory_scope::device) {
  const detail::scoped_access access(scope);
  switch (order) {
    case __ATOMIC_RELAXED:
      return __atomic_load_n(address, __ATOMIC_RELAXED);
    case __ATOMIC_ACQUIRE:
      return __atomic_load_n(address, __ATOMIC_ACQUIRE);
    default:
      return __atomic_load_n(address, __ATOMIC_SEQ_CST);
  }
}
template <class T>
STRATA_SIMT_INLINE void atomic_store(T* address, T value, int order, memory_scope scope = memory_scope::device) {
  const detail::scoped_access access(scope);
  switch (order) {
    case __ATOMIC_RELAXED:
      __atomic_store_n(address, value, __ATOMIC_RELAXED);
      break;
    case __ATOMIC_RELEASE:
      __atomic_store_n(address, value, __ATOMIC_RELEASE);
      break;
    default:
      __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
  }
  progress();
}

namespace detail {

// may_alias: a float or a struct in memory is updated as an integer of the same size.
using word16 [[gnu::may_alias]] = uint16_t;
using word32 [[gnu::may_alias]] = uint32_t;
using word64 [[gnu::may_alias]] = uint64_t;

template <size_t Bytes>
struct atomic_word;
template <>
struct atomic_word<2> {
  using type = word16;
};
template <>
struct atomic_word<4> {
  using type = word32;
};
template <>
struct atomic_word<8> {
  using type = word64;
};

template <class T, class Update>
STRATA_SIMT_INLINE T atomic_update(T* address, memory_scope scope, Update update) {
  using word = typename atomic_word<sizeof(T)>::type;
  const scoped_access access(scope);
  word* const target = reinterpret_cast<word*>(address);
  word seen = __atomic_load_n(target, __ATOMIC_RELAXED);
  for (;;) {
    const T old = from_bits<T>(seen);
    const word next = static_cast<word>(to_bits<T>(update(old)));
    if (__atomic_compare_exchange_n(target, &seen, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      // An operation that changes nothing may be a poll, such as atomicAdd(p, 0) or the atomicExch of a lock.
      if (next != seen) progress();
      return old;
    }
  }
}

template <class T, class V>
STRATA_SIMT_INLINE T atomic_compare_and_swap(T* address, V expected, V desired, memory_scope scope, location where) {
  using word = typename atomic_word<sizeof(T)>::type;
  word seen = static_cast<word>(to_bits(static_cast<T>(expected)));
  const word next = static_cast<word>(to_bits(static_cast<T>(desired)));
  bool swapped;
  {
    const scoped_access access(scope);
    swapped = __atomic_compare_exchange_n(reinterpret_cast<word*>(address), &seen, next, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED);
  }
  // An exchange fails most often because a lock is taken: then its holder should run. If `expected` and `desired` are
  // equal, the exchange changes nothing. It may be a poll, as a load may.
  if (swapped && next != seen) {
    progress();
  } else {
    spin_hint(where);
  }
  return from_bits<T>(seen);
}

// Signed integers wrap around, as on a GPU.
template <class T>
T wrapped_sum(T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(a) + static_cast<word>(b));
  } else {
    return static_cast<T>(a + b);
  }
}
template <class T>
T wrapped_difference(T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(a) - static_cast<word>(b));
  } else {
    return static_cast<T>(a - b);
  }
}

}  // namespace detail
}  // namespace simt
}  // namespace strata

// The value is converted to the pointee's type, as overload resolution does in CUDA.
#define STRATA_SIMT_ATOMIC(name, expression)                                                       \
  template <class T, class V>                                                                      \
  STRATA_SIMT_INLINE T name(T* address, V operand) {                                               \
    const T value = static_cast<T>(operand);                                                       \
    return strata::simt::detail::atomic_update(address, strata::simt::memory_scope::device,        \
                                               [=](T old) { return static_cast<T>(expression); }); \
  }                                                                                                \
  template <class T, class V>                                                                      \
  STRATA_SIMT_INLINE T name##_block(T* address, V operand) {                                       \
    const T value = static_cast<T>(operand);                                                       \
    return strata::simt::detail::atomic_update(address, strata::simt::memory_scope::block,         \
                                               [=](T old) { return static_cast<T>(expression); }); \
  }                                                                                                \
  template <class T, class V>                                                                      \
  STRATA_SIMT_INLINE T name##_system(T* address, V operand) {                                      \
    return name(address, operand);                                                                 \
  }
STRATA_SIMT_ATOMIC(atomicAdd, strata::simt::detail::wrapped_sum(old, value))
STRATA_SIMT_ATOMIC(atomicSub, strata::simt::detail::wrapped_difference(old, value))
STRATA_SIMT_ATOMIC(atomicAnd, old& value)
STRATA_SIMT_ATOMIC(atomicOr, old | value)
STRATA_SIMT_ATOMIC(atomicXor, old ^ value)
STRATA_SIMT_ATOMIC(atomicMin, value < old ? value : old)
STRATA_SIMT_ATOMIC(atomicMax, old < value ? value : old)
STRATA_SIMT_ATOMIC(atomicExch, (static_cast<void>(old), value))
STRATA_SIMT_ATOMIC(atomicInc, old >= value ? T(0) : old + 1)
STRATA_SIMT_ATOMIC(atomicDec, (old == 0 || old > value) ? value : old - 1)
#undef STRATA_SIMT_ATOMIC

template <class T, class C, class V>
STRATA_SIMT_INLINE T atomicCAS(T* address, C expected, V desired, STRATA_SIMT_CALLER) {
  return strata::simt::detail::atomic_compare_and_swap(address, static_cast<T>(expected), static_cast<T>(desired),
                                                       strata::simt::memory_scope::device, STRATA_SIMT_CALLER_LOCATION);
}
template <class T, class C, class V>
STRATA_SIMT_INLINE T atomicCAS_block(T* address, C expected, V desired, STRATA_SIMT_CALLER) {
  return strata::simt::detail::atomic_compare_and_swap(address, static_cast<T>(expected), static_cast<T>(desired),
                                                       strata::simt::memory_scope::block, STRATA_SIMT_CALLER_LOCATION);
}
