// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/device/engine/execution.cuh>
#include <strata/device/engine/stream_argument.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The rows of the result of a join of a build side and a probe side. The probe side is the left one.
///
/// | kind | rows of the result |
/// |---|---|
/// | inner | every pair of a build row and a probe row with equal keys |
/// | left | these, and each probe row without a partner, alone |
/// | full | these, and each build row without a partner, alone |
/// | semi | each probe row that has a partner, once |
/// | anti | each probe row that has none |
enum class JoinKind {
  inner,  ///< Pairs of partners.
  left,   ///< Pairs of partners, and probe rows without a partner.
  full,   ///< Pairs of partners, and rows of both sides without a partner.
  semi,   ///< Probe rows with a partner.
  anti,   ///< Probe rows without a partner.
};

/// Order of the result.
enum class JoinOrder {
  /// Any order. On the host, it does not depend on the number of threads.
  any,
  /// Ordered by probe row, then by build row. Build rows without a partner come last, ordered by build row.
  probe
};

/// A pointer to any integer of 8 bytes, where a join writes the number of rows of its result.
class JoinNumOut {
 public:
  /// Makes a null pointer, which calls refuse.
  JoinNumOut(std::nullptr_t) {}
  /// Makes a pointer to any integer type of 8 bytes.
  template <class Integer,
            class = std::enable_if_t<std::is_integral_v<Integer> && sizeof(Integer) == 8 && !std::is_const_v<Integer>>>
  JoinNumOut(Integer* num_out) : num_out_(reinterpret_cast<std::int64_t*>(num_out)) {}

  /// Returns the pointer.
  operator std::int64_t*() const { return num_out_; }

 private:
  std::int64_t* num_out_ = nullptr;
};

/// Row number of a missing row: the missing partner in a left, full or anti join, and the build row in a semi join,
/// whose result does not identify the partner.
template <class Index>
inline constexpr Index no_row = static_cast<Index>(-1);

namespace detail {

/// The kind of a join as a type: only some kinds need kernels of their own.
template <JoinKind Kind>
using join_kind = std::integral_constant<JoinKind, Kind>;

/// Kinds whose result has a row for each pair of partners.
STRATA_HD constexpr bool has_pairs(JoinKind kind) {
  return kind == JoinKind::inner || kind == JoinKind::left || kind == JoinKind::full;
}

template <JoinOrder Order>
inline constexpr call_result result_of_join = Order == JoinOrder::any ? call_result::unordered : call_result::fixed;

/// A parameter for the stream, or the environment, of a join. `Order` is deduced from the options alone. If the
/// parameter's type were written as `stream_argument`, clang 22 would also deduce `Order` from the argument for the
/// stream, and fail.
template <class Handle, JoinOrder Order>
struct stream_of_join {
  using type = stream_argument<Handle, result_of_join<Order>>;
};
template <class Handle, JoinOrder Order>
using join_stream = typename stream_of_join<Handle, Order>::type;

template <class Handle, JoinOrder Order, class Where>
decltype(auto) where_of_join(const Where& where) {
  return detail::where_of<Handle, result_of_join<Order>>(where);
}

}  // namespace detail

/// Options of a whole join. A size query needs the same options as the call that follows. The order is in the type,
/// because the two orders have kernels of their own. OrderedJoinOptions is for results in the order of the probe rows.
template <class Hash = JoinHash, class Equal = Equality, JoinOrder Order = JoinOrder::any>
struct JoinOptions {
  static constexpr JoinOrder order = JoinOrder::any;  ///< Order of the result.

  /// True if rows without a key are partners of each other.
  bool nulls_equal = false;
  /// Overrides the choice of the back end. Besides `automatic`, the host back end accepts `cpu` only, the Metal back
  /// end every strategy, the CUDA back end every strategy but `cpu`.
  JoinStrategy strategy = JoinStrategy::automatic;
  /// Threads of a join on the host, up to 256; 0: as many as the machine runs at the same time.
  unsigned threads = 0;
  /// `hash(key)` is an integer, the same for equal keys. It need not be a good hash.
  /// `equal(key, key)` compares any two keys. Both are called in device code, or by several threads
  /// of the host.
  Hash hash = {};
  Equal equal = {};  ///< Compares two keys.
};

template <class Hash, class Equal>
struct JoinOptions<Hash, Equal, JoinOrder::probe> : JoinOptions<Hash, Equal, JoinOrder::any> {
  static constexpr JoinOrder order = JoinOrder::probe;
};

/// Options of a join whose result is in the order of the probe rows.
template <class Hash = JoinHash, class Equal = Equality>
using OrderedJoinOptions = JoinOptions<Hash, Equal, JoinOrder::probe>;

STRATA_NAMESPACE_END
