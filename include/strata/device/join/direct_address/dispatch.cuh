// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/direct_address/kernels.cuh>
#include <strata/device/join/output/chunks.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The launches of an inner or left join by an array of build rows, indexed by key, if build keys are
/// unique. If one is outside of the range, a table in global memory joins all rows.
template <class Index, class Key, class Sink, class Hash, class Equal>
class join_key_array_launches {
 public:
  static constexpr int slots = 2;

  template <class Side>
  join_key_array_launches(JoinKind kind, const Side& build, const Side& probe,
                          const OrderedJoinOptions<Hash, Equal>& options)
      : range_(build.range) {
    is_chosen_ = (kind == JoinKind::inner || kind == JoinKind::left) && build.is_unique &&
                 std::is_pointer_v<decltype(build.keys)> && is_join_sortable<Key, Equal> &&
                 options.order == JoinOrder::any && options.strategy == JoinStrategy::automatic &&
                 build.valid_mask == nullptr && probe.valid_mask == nullptr &&
                 choose_join_key_array(range_.keys, static_cast<std::uint64_t>(build.rows),
                                       static_cast<std::uint64_t>(probe.rows));
  }

  bool is_chosen() const { return is_chosen_; }

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    if (!is_chosen_) return;
    storage.template reserve<unsigned>(first + words, 2);
    storage.template reserve<unsigned>(first + rows, static_cast<std::size_t>(range_.keys));
  }

  template <class Layout>
  join_key_array map(const Layout& storage, int first) const {
    unsigned* const word = storage.template get<unsigned>(first + words);
    return {static_cast<std::uint64_t>(range_.lowest), static_cast<unsigned>(range_.keys),
            storage.template get<unsigned>(first + rows), word, word + 1};
  }

  cudaError_t run(const join_key_array& array, const Key* build_keys, unsigned build_rows,
                  const join_probe<const Key*, unsigned>& probe, launch_configuration base, int multiprocessors,
                  const Sink& sink) const {
    constexpr unsigned threads = 256;
    const auto with_grid = [&](unsigned long long blocks, unsigned block) {
      base.grid = dim3(static_cast<unsigned>(blocks + 1));
      base.block = dim3(block);
      return base;
    };
    const unsigned long long clearing = array.keys / (4 * threads);
    const auto max_blocks = static_cast<unsigned long long>(multiprocessors) * 8;
    cudaError_t status = strata::launch(with_grid(clearing < max_blocks ? clearing : max_blocks, threads),
                                        join_key_array_clear_kernel<Key>, array, probe.total);
    if (status != cudaSuccess) return status;
    status = strata::launch(with_grid(build_rows / threads, threads), join_key_array_build_kernel<Key>, array,
                            build_keys, build_rows);
    if (status != cudaSuccess) return status;
    constexpr unsigned tile = join_key_array_tuning::threads * join_key_array_tuning::items;
    return strata::launch(with_grid(probe.rows / tile, join_key_array_tuning::threads),
                          join_key_array_probe_kernel<Index, Key, Sink>, array, probe, sink);
  }

 private:
  enum slot { words, rows };

  JoinKeyRange range_;
  bool is_chosen_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
