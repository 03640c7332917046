// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

/// \file
/// A model of shared memory, at compile time: how many wavefronts one instruction of a warp takes, for an
/// access pattern and the layout of the data.
///
/// Shared memory has 32 banks of 4 bytes. An instruction serves groups of 32 lanes that access up to 4 bytes each, of
/// 16 lanes that access 8 bytes, or of 8 lanes that access 16 bytes. Lanes that access the same word do not conflict. A
/// group takes one wavefront if no bank holds two different words of the group. Otherwise it takes as many wavefronts
/// as the fullest bank has different words. This number is the conflict degree.
///
/// A pattern is a type with
///
///     static constexpr int element_bytes;   // of one lane's access: 1, 2, 4, 8 or 16
///     static constexpr int instructions;    // that the pattern has
///     constexpr auto operator()(int instruction, int lane) const;
///
/// The call returns what a lane of the warp accesses: the index of an element, or its row and column (`element_place`).
/// A negative number says that the lane accesses nothing. A layout maps the index to a position, which counts elements:
/// see shared_layout.hpp.

STRATA_NAMESPACE_BEGIN

inline constexpr int shared_memory_banks = 32;      ///< Banks of shared memory.
inline constexpr int shared_memory_bank_bytes = 4;  ///< Bytes of a word in a bank.

/// Lanes that one wavefront can serve when each accesses `element_bytes`.
STRATA_HD constexpr int lanes_per_wavefront(int element_bytes) { return element_bytes <= 4 ? 32 : 128 / element_bytes; }

/// Row and column in a matrix.
struct element_place {
  int row;     ///< Row. If it is negative, the lane accesses nothing.
  int column;  ///< Column.
};

namespace detail {

STRATA_HD constexpr bool takes_part(int index) { return index >= 0; }
STRATA_HD constexpr bool takes_part(const element_place& element) { return element.row >= 0; }

template <class Layout>
STRATA_HD constexpr int position_of(const Layout& layout, int index) {
  return layout(index);
}
template <class Layout>
STRATA_HD constexpr int position_of(const Layout& layout, const element_place& element) {
  return layout(element.row, element.column);
}

/// The different words that a group of lanes accesses. Without conflicts, a bank has at most one word, and adding a
/// word takes one comparison. Compilers evaluate this for every layout in use.
struct words_by_bank {
  int first[shared_memory_banks] = {};  // the bank's first word, plus 1; 0: none
  int others[shared_memory_banks * 4] = {};
  int num_others = 0;
  int in_bank[shared_memory_banks] = {};
  int fullest = 0;

  STRATA_HD constexpr void add(int word) {
    const int bank = word % shared_memory_banks;
    if (first[bank] == word + 1) return;
    if (first[bank] == 0) {
      first[bank] = word + 1;
    } else {
      for (int i = 0; i < num_others; ++i) {
        if (others[i] == word) return;
      }
      others[num_others++] = word;
    }
    const int filled = ++in_bank[bank];
    fullest = filled > fullest ? filled : fullest;
  }
};

/// Wavefronts of one group of lanes, which begins with `first_lane`.
template <class Layout, class Pattern>
STRATA_HD constexpr int wavefronts_of_group(const Layout& layout, const Pattern& pattern, int instruction,
                                            int first_lane) {
  constexpr int bytes = Pattern::element_bytes;
  words_by_bank words;
  for (int lane = first_lane; lane < first_lane + lanes_per_wavefront(bytes); ++lane) {
    const auto element = pattern(instruction, lane);
    if (!detail::takes_part(element)) continue;
    const int first_byte = detail::position_of(layout, element) * bytes;
    for (int byte = 0; byte < bytes; byte += shared_memory_bank_bytes) {
      words.add((first_byte + byte) / shared_memory_bank_bytes);
    }
  }
  return words.fullest;
}

}  // namespace detail

/// The largest number of wavefronts of any group of lanes in any of the pattern's instructions: 1 if there
/// are no conflicts.
template <class Layout, class Pattern>
STRATA_HD constexpr int conflict_degree(const Layout& layout, const Pattern& pattern) {
  int degree = 1;
  for (int instruction = 0; instruction < Pattern::instructions; ++instruction) {
    for (int lane = 0; lane < 32; lane += strata::lanes_per_wavefront(Pattern::element_bytes)) {
      const int wavefronts = detail::wavefronts_of_group(layout, pattern, instruction, lane);
      degree = wavefronts > degree ? wavefronts : degree;
    }
  }
  return degree;
}

namespace detail {

/// True if `conflict_degree` is above 1. Ends at the first conflict: the search for a layout, which compilers repeat
/// for every tile, tries many layouts that have conflicts.
template <class Layout, class Pattern>
STRATA_HD constexpr bool has_conflicts(const Layout& layout, const Pattern& pattern) {
  for (int instruction = 0; instruction < Pattern::instructions; ++instruction) {
    for (int lane = 0; lane < 32; lane += strata::lanes_per_wavefront(Pattern::element_bytes)) {
      if (detail::wavefronts_of_group(layout, pattern, instruction, lane) > 1) return true;
    }
  }
  return false;
}

}  // namespace detail

/// Wavefronts of all of the pattern's instructions, and their number without conflicts.
struct wavefront_count {
  int wavefronts = 0;  ///< Number of wavefronts.
  int ideal = 0;       ///< Number of wavefronts without conflicts.

  /// Adds up the counts of two patterns.
  STRATA_HD constexpr wavefront_count operator+(const wavefront_count& other) const {
    return {wavefronts + other.wavefronts, ideal + other.ideal};
  }
};

/// Counts the wavefronts of all instructions of a pattern in a layout.
template <class Layout, class Pattern>
STRATA_HD constexpr wavefront_count count_wavefronts(const Layout& layout, const Pattern& pattern) {
  wavefront_count total;
  for (int instruction = 0; instruction < Pattern::instructions; ++instruction) {
    for (int lane = 0; lane < 32; lane += strata::lanes_per_wavefront(Pattern::element_bytes)) {
      const int wavefronts = detail::wavefronts_of_group(layout, pattern, instruction, lane);
      total.wavefronts += wavefronts;
      total.ideal += wavefronts > 0 ? 1 : 0;
    }
  }
  return total;
}

/// Serialisation factor of a kernel that executes each of these patterns equally often: its number of wavefronts
/// divided by the number without conflicts. It is 1.0 if there are no conflicts.
template <class Layout, class... Patterns>
STRATA_HD constexpr double serialization(const Layout& layout, const Patterns&... patterns) {
  const wavefront_count total = (wavefront_count{} + ... + strata::count_wavefronts(layout, patterns));
  return total.ideal == 0 ? 1.0 : static_cast<double>(total.wavefronts) / total.ideal;
}

// ------------------------------------------------------------------------------------ patterns

/// Pattern in which thread t of a block accesses its elements t * N .. t * N + N - 1 one after the other. The model
/// computes the first `Warps` warps. Choose `Warps` so that every other warp has the same conflicts as one of these.
template <int ElementBytes, int ItemsPerThread, int Warps = 1>
struct blocked_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int instructions = ItemsPerThread * Warps;
  /// Returns the index of the element that a lane accesses.
  STRATA_HD constexpr int operator()(int instruction, int lane) const {
    const int thread = instruction / ItemsPerThread * 32 + lane;
    return thread * ItemsPerThread + instruction % ItemsPerThread;
  }
};

/// Pattern in which neighbouring threads access neighbouring elements, in rows with an element for each thread of the
/// block. The number of threads must be a multiple of 32: otherwise a row does not begin where a wavefront begins.
template <int ElementBytes, int ItemsPerThread, int Warps = 1>
struct striped_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int instructions = ItemsPerThread * Warps;
  /// Returns the index of the element that a lane accesses.
  STRATA_HD constexpr int operator()(int instruction, int lane) const { return instruction * 32 + lane; }
};

/// Pattern in which lane l of the first `lanes` lanes accesses element `first + l * stride`, if that is below `end`.
template <int ElementBytes>
struct runtime_strided_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int instructions = 1;
  int first = 0;         ///< Element of lane 0.
  int stride = 1;        ///< Elements from one lane to the next.
  int end = 0x7fffffff;  ///< Elements from here on are not accessed.
  int lanes = 32;        ///< Only the first `lanes` lanes access elements.
  /// Returns the index of the element that a lane accesses, or -1 if the lane accesses nothing.
  STRATA_HD constexpr int operator()(int, int lane) const {
    const int index = first + lane * stride;
    return lane < lanes && index < end ? index : -1;
  }
};

/// runtime_strided_access with its numbers in the type, for ConflictFreeLayout, which takes patterns as types.
template <int ElementBytes, int Stride, int First = 0, int End = 0x7fffffff>
struct strided_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int instructions = 1;
  /// Returns the index of the element that a lane accesses, or -1 if the lane accesses nothing.
  STRATA_HD constexpr int operator()(int instruction, int lane) const {
    return runtime_strided_access<ElementBytes>{First, Stride, End}(instruction, lane);
  }
};

/// Pattern in which a warp accesses rows of a matrix of `Rows` rows and `Columns` columns, 32 columns at a time.
template <int ElementBytes, int Rows, int Columns>
struct row_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int pieces = (Columns + 31) / 32;
  static constexpr int instructions = Rows * pieces;
  /// Returns row and column that a lane accesses. The row is -1 if the lane accesses nothing.
  STRATA_HD constexpr element_place operator()(int instruction, int lane) const {
    const int column = instruction % pieces * 32 + lane;
    return {column < Columns ? instruction / pieces : -1, column};
  }
};

/// Pattern in which a warp accesses columns of a matrix, 32 rows at a time.
template <int ElementBytes, int Rows, int Columns>
struct column_access {
  static constexpr int element_bytes = ElementBytes;
  static constexpr int pieces = (Rows + 31) / 32;
  static constexpr int instructions = Columns * pieces;
  /// Returns row and column that a lane accesses. The row is -1 if the lane accesses nothing.
  STRATA_HD constexpr element_place operator()(int instruction, int lane) const {
    const int row = instruction % pieces * 32 + lane;
    return {row < Rows ? row : -1, instruction / pieces};
  }
};

STRATA_NAMESPACE_END
