// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_side.hpp>
#include <strata/device/join/common/launch.cuh>
#include <strata/device/join/direct_address/kernels.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The launches of an inner or left join by an array of build rows, indexed by key, if build keys are
/// unique. If one is outside of the range, a table in global memory joins all rows.
template <class MaxPolicy, class ActivePolicy, class Index, class Key, class Sink>
class direct_address_launches {
 public:
  static constexpr join_direct_address_tuning tuning = ActivePolicy::direct_address;
  static constexpr int slots = 2;

  explicit direct_address_launches(const JoinKeyRange& range) : range_(range) {}

  template <class Layout>
  void reserve(Layout& storage, int first) const {
    storage.template reserve<unsigned>(first + words, 2);
    storage.template reserve<unsigned>(first + rows, static_cast<std::size_t>(range_.keys));
  }

  template <class Layout>
  direct_address_table map(const Layout& storage, int first) const {
    unsigned* const word = storage.template get<unsigned>(first + words);
    return {static_cast<std::uint64_t>(range_.lowest), static_cast<unsigned>(range_.keys),
            storage.template get<unsigned>(first + rows), word, word + 1};
  }

  cudaError_t run(const direct_address_table& array, const Key* build_keys, unsigned build_rows,
                  const join_probe<const Key*, unsigned>& probe, const launch_configuration& base, int multiprocessors,
                  const Sink& sink) const {
    cudaError_t status = strata::launch(clearing_join_launch<ActivePolicy>(base, multiprocessors, array.keys),
                                        join_direct_address_clear_kernel<Key>, array, probe.total);
    if (status != cudaSuccess) return status;
    constexpr unsigned build_threads = tuning.build_threads;
    status = strata::launch(join_launch(base, build_rows / build_threads + 1, tuning.build_threads),
                            join_direct_address_build_kernel<Key>, array, build_keys, build_rows);
    if (status != cudaSuccess) return status;
    constexpr unsigned tile = tuning.probe_threads * tuning.probe_items;
    return strata::launch(join_launch(base, probe.rows / tile + 1, tuning.probe_threads),
                          join_direct_address_probe_kernel<MaxPolicy, Index, Key, Sink>, array, probe, sink);
  }

 private:
  enum slot { words, rows };

  JoinKeyRange range_;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
