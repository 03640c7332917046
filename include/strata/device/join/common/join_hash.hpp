// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A bijection in which every bit of the result depends on every bit of `x`: the finalizer of
/// MurmurHash3. Joins may then use any bits of it, however poor the hash was.
STRATA_HD constexpr std::uint64_t mixed_hash(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

}  // namespace detail

/// Hash of a key for joins: of integers, enumerations and pointers, of `float` and `double`, and of
/// trivially copyable types whose equal values have equal bytes. Any functor may replace it that returns
/// an integer, the same for equal keys. It need not be a good hash, because joins mix it.
///
/// -0.0 and 0.0 have one hash, because they are equal. A NaN equals nothing by `==`, so it has no
/// partner. For another rule pass an equality and a hash.
struct JoinHash {
  template <class Key>
  STRATA_HD std::uint64_t operator()(const Key& key) const {
    if constexpr (sizeof(Key) <= 8 && (std::is_integral_v<Key> || std::is_enum_v<Key>)) {
      return static_cast<std::uint64_t>(key);
    } else if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, double>) {
      const Key value = key == Key{0} ? Key{0} : key;
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(Key));
      return bits;
    } else {
      static_assert(std::has_unique_object_representations_v<Key>,
                    "JoinHash hashes bytes, but equal keys of this type may differ in theirs "
                    "(padding, floating point): give the join a hash functor of your own");
      std::uint64_t hash = 0;
      for (std::size_t first = 0; first < sizeof(Key); first += 8) {
        const std::size_t bytes = sizeof(Key) - first < 8 ? sizeof(Key) - first : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const unsigned char*>(&key) + first, bytes);
        // An odd factor: words in another order give another hash.
        hash = detail::mixed_hash(hash * 0x9e3779b97f4a7c15u + word);
      }
      return hash;
    }
  }
};

STRATA_NAMESPACE_END
