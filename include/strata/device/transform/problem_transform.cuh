// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/transform/tile.cuh>
#include <strata/device/transform/tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Stands for the output where an operator is applied and its result ignored.
struct no_output {};

/// What DeviceTransform and DeviceFor do with a tile. What an operator returns is looked at in device code only, where
/// it is known of lambdas, too.
template <bool IsByReference, class Output, class Op, class... Inputs>
struct transform_problem {
  Output out;
  Op op;

  static constexpr bool is_by_reference = IsByReference;
  static constexpr int most_groups(const tile_tuning& tuning) { return tuning.groups; }
  static constexpr int blocks_per_multiprocessor(const tile_tuning&) { return 1; }

  template <class Tile>
  STRATA_D void process(const Tile& tile, const tile_range& range, const Inputs&... inputs) {
    if constexpr (IsByReference) {
      const auto call_for = [&](int group, int) -> decltype(auto) {
        return call(*detail::advanced(inputs, static_cast<std::size_t>(tile.index(group)))...);
      };
      // Without branches between the items, the next one can be loaded before this one is stored.
      if (tile.is_whole()) {
        apply<true>(tile, call_for);
      } else {
        apply<false>(tile, call_for);
      }
    } else {
      apply_to_copies(tile, loaded<Tile, Inputs>(tile, inputs)...);
      if constexpr (Tile::width > 1) {
        const leftover_item rest = range.leftover(tile.number);
        apply_to_copies(rest, loaded<leftover_item, Inputs>(rest, inputs)...);
      }
    }
  }

 private:
  template <class Tile, class Input>
  struct loaded : items_in<iterator_value_t<Input>, Tile> {
    STRATA_D loaded(const Tile& tile, const Input& in) { detail::load_tile(tile, in, *this); }
  };

  template <class Tile, class... Loaded>
  STRATA_D void apply_to_copies(const Tile& tile, Loaded&&... items) {
    apply<false>(tile, [&]([[maybe_unused]] int group, [[maybe_unused]] int i) -> decltype(auto) {
      return call(items.item[group][i]...);
    });
  }

  template <class... Items>
  STRATA_D decltype(auto) call(Items&&... items) {
    using requirements = transform_requirements<Op, Items...>;
    if constexpr (requirements::are_met) return op(static_cast<Items&&>(items)...);
  }

  /// Calls the operator for each item of the tile, and then writes the results. With `IsWhole` all items are there.
  template <bool IsWhole, class Tile, class CallFor>
  STRATA_D void apply(const Tile& tile, const CallFor& call_for) {
    using Result = std::decay_t<std::invoke_result_t<const CallFor&, int, int>>;
    constexpr bool has_results = !std::is_same_v<Output, no_output> && !std::is_void_v<Result>;
    using Stored = typename std::conditional_t<has_results, output_value<Output, Result>, identity_type<char>>::type;
    [[maybe_unused]] items_in<Stored, Tile> results;
    STRATA_UNROLL
    for (int group = 0; group < Tile::groups; ++group) {
      if (!IsWhole && !tile.has(group)) continue;
      STRATA_UNROLL
      for (int i = 0; i < Tile::width; ++i) {
        if constexpr (has_results) {
          results.set(group, i, static_cast<Stored>(call_for(group, i)));
        } else {
          static_cast<void>(call_for(group, i));
        }
      }
    }
    if constexpr (has_results) detail::store_tile(tile, out, results);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
