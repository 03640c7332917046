// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/detail/standard.hpp>

STRATA_NAMESPACE_BEGIN

/// The list of arrays that an algorithm keeps in temporary storage. The same list gives the size and, from
/// the caller's pointer, the arrays.
///
///     temporary_storage::layout<2> storage;
///     storage.reserve<int>(0, num_tiles);
///     storage.reserve<Key>(1, num_items);
///     storage.reserve<Pair>(1, num_pairs);  // an alias: the same slot, used at another time
///     if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
///     if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
///     int* counts = storage.get<int>(0);
///
/// Each slot is an array's place in the storage. It starts on a 256-byte boundary, whatever the alignment of the
/// caller's pointer. The size is never 0, so that the pointer alone distinguishes a size query from a call. It never
/// decreases when a count increases, and it is `invalid_size` if it does not fit `size_t`.
namespace temporary_storage {

inline constexpr std::size_t alignment = 256;
inline constexpr std::size_t invalid_size = ~std::size_t{0};

template <int Slots>
class layout {
  static_assert(Slots > 0, "temporary_storage::layout needs at least one slot");

 public:
  /// Reserves `count` objects of type `T` in `slot`. A second call for a slot makes an alias: the slot
  /// becomes as large as its largest array.
  template <class T>
  void reserve(int slot, std::size_t count) {
    const bool overflow = count > (invalid_size - 2 * alignment) / sizeof(T);
    const std::size_t size = overflow ? invalid_size : count * sizeof(T);
    if (size > sizes_[slot]) sizes_[slot] = size;
  }

  std::size_t bytes() const {
    std::size_t total = 0;
    for (std::size_t size : sizes_) {
      constexpr std::size_t most = invalid_size - 2 * alignment;
      if (size > most || padded(size) > most - total) return invalid_size;
      total += padded(size);
    }
    // The caller's pointer may have a smaller alignment than a slot.
    return total + alignment - 1;
  }

  /// Assigns addresses in the caller's storage to the slots; false if the storage is too small.
  bool map(void* storage, std::size_t storage_bytes) {
    const std::size_t needed = bytes();
    if (needed == invalid_size || storage_bytes < needed) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(storage);
    base_ = static_cast<unsigned char*>(storage) + (padded(address) - address);
    return true;
  }

  template <class T>
  T* get(int slot) const {
    std::size_t offset = 0;
    for (int i = 0; i < slot; ++i) offset += padded(sizes_[i]);
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  static std::size_t padded(std::size_t size) { return (size + (alignment - 1)) / alignment * alignment; }

  std::size_t sizes_[static_cast<std::size_t>(Slots)]{};
  unsigned char* base_ = nullptr;
};

}  // namespace temporary_storage

STRATA_NAMESPACE_END

#endif  // !STRATA_NVRTC
