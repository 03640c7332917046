// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/requirements.hpp>
#include <strata/core/types.hpp>
#include <strata/device/transform/tile.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class T, class = void>
inline constexpr bool is_tuple = false;
template <class T>
inline constexpr bool is_tuple<T, std::void_t<decltype(std::tuple_size<T>::value)>> = true;

/// Stands for the output where an operator is applied and its result ignored.
struct no_output {};

template <class... Iterators>
inline constexpr bool are_copied_as_bits = (is_trivially_relocatable_v<iterator_value_t<Iterators>> && ...);

/// Groups of a thread in a tile, as many as bring `Tuning.bytes_in_flight` if a group has so many bytes.
constexpr int groups_in_flight(int bytes_in_flight, int most_groups, int group_bytes) {
  const int groups = bytes_in_flight / group_bytes;
  return groups < 1 ? 1 : groups < most_groups ? groups : most_groups;
}

/// What DeviceTransform and DeviceFor do with a tile. What an operator returns is looked at in device code only, where
/// it is known of lambdas, too.
template <bool IsByReference, class Output, class Op, class... Inputs>
struct transform_problem {
  static constexpr bool has_output = !std::is_same_v<Output, no_output>;

  Output out;
  Op op;

  /// The sequence that decides where groups of items begin.
  template <class First, class...>
  struct first_of {
    using type = First;
  };
  using anchor = std::conditional_t<has_output, Output, typename first_of<Inputs..., no_output>::type>;

  template <class ActivePolicy>
  static constexpr auto make_tile() {
    constexpr auto tuning = ActivePolicy::tuning;
    if constexpr (IsByReference) {
      return item_tile<tuning.block_threads, tuning.references, 1>{};
    } else {
      constexpr int width = group_width<anchor, Inputs...>();
      constexpr int item_bytes = (0 + ... + static_cast<int>(sizeof(iterator_value_t<Inputs>)));
      constexpr int groups = groups_in_flight(tuning.bytes_in_flight, tuning.most_groups,
                                              item_bytes == 0 ? vector_bytes : width * item_bytes);
      return item_tile<tuning.block_threads, groups, width>{};
    }
  }
  template <class ActivePolicy>
  using tile = decltype(make_tile<ActivePolicy>());

  template <class Tile, class... In>
  static int shift(const Output& output, const In&... inputs) {
    if constexpr (has_output) {
      return items_behind_boundary<Tile::width>(output);
    } else {
      return (items_behind_boundary<Tile::width>(inputs), ...);
    }
  }

  template <bool IsWhole, class Tile>
  STRATA_D void process(const Tile& where, const Inputs&... inputs) {
    if constexpr (IsByReference) {
      apply<IsWhole>(where, [&](int group, int) -> decltype(auto) {
        return call_with(*detail::advanced(inputs, static_cast<std::size_t>(where.index(group)))...);
      });
    } else {
      process_copies<IsWhole>(where, loaded<IsWhole, Tile, Inputs>(where, inputs)...);
    }
  }

 private:
  template <bool IsWhole, class Tile, class Input>
  struct loaded : tile_items<iterator_value_t<Input>, Tile> {
    STRATA_D loaded(const Tile& where, const Input& in) { detail::load_tile<IsWhole>(where, in, *this); }
  };

  // All items are loaded before the operator is called.
  template <bool IsWhole, class Tile, class... Loaded>
  STRATA_D void process_copies(const Tile& where, Loaded&&... items) {
    apply<IsWhole>(where,
                   [&]([[maybe_unused]] int group, [[maybe_unused]] int i) -> decltype(auto) { return call_with(items.item[group][i]...); });
  }

  template <class... Items>
  STRATA_D decltype(auto) call_with(Items&&... items) {
    using requirements = transform_requirements<Op, Items...>;
    if constexpr (requirements::are_met) return op(static_cast<Items&&>(items)...);
  }

  /// Calls the operator for each item of the tile that exists, and then writes the results.
  template <bool IsWhole, class Tile, class Call>
  STRATA_D void apply(const Tile& where, const Call& call) {
    using Result = std::decay_t<std::invoke_result_t<const Call&, int, int>>;
    const auto for_each_item = [&](const auto& use) {
      STRATA_UNROLL
      for (int group = 0; group < Tile::groups; ++group) {
        STRATA_UNROLL
        for (int i = 0; i < Tile::width; ++i) {
          if (IsWhole || where.has(where.index(group) + i)) use(group, i);
        }
      }
    };
    if constexpr (has_output && !std::is_void_v<Result>) {
      using Stored = output_value_t<Output, Result>;
      tile_items<Stored, Tile> results;
      for_each_item([&](int group, int i) { results.set(group, i, static_cast<Stored>(call(group, i))); });
      detail::store_tile<IsWhole>(where, out, results);
    } else {
      for_each_item([&](int group, int i) { static_cast<void>(call(group, i)); });
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
