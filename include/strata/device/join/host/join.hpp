// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/host/options.hpp>
#include <strata/device/join/host/prober.hpp>
#include <strata/device/join/host/table.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A join on the host in steps: `bytes`, `map`, `match`, then `total` and `write`. These two may be called
/// again while the storage is not changed. So a caller can count, allocate the result, and write it
/// without looking rows up a second time.
template <class Index, class Keys, class Hash, class Equal>
class host_join {
  using Table = host_join_table<Index, Keys, Hash, Equal>;
  using Prober = host_join_prober<Index, Keys, Hash, Equal>;
  static constexpr int prober_slot = Table::slots;

 public:
  host_join(JoinKind kind, const Keys& build_keys, std::int64_t build_rows, const Keys& probe_keys,
            std::int64_t probe_rows, const HostJoinOptions& options, const Hash& hash, const Equal& equal)
      : are_counts_valid_(Table::can_number(build_rows) && Table::can_number(probe_rows) && options.tuning.is_valid()),
        has_pointers_((build_rows == 0 || !detail::is_null(build_keys)) &&
                      (probe_rows == 0 || !detail::is_null(probe_keys))),
        table_(build_keys, options.build_valid, static_cast<std::size_t>(build_rows),
               static_cast<std::size_t>(build_rows), options.tuning, hash, equal),
        prober_(kind, probe_keys, static_cast<std::size_t>(probe_rows), options) {
    if (!are_counts_valid_) return;
    table_.reserve(storage_, 0);
    prober_.reserve(storage_, prober_slot, table_);
    // The build and the look-up use these slots one after the other, so each slot is as large as the larger use needs.
    storage_.template reserve<std::size_t>(prober_slot + Prober::slice_counts, table_.slice_counts(table_.rows()));
    storage_.template reserve<typename Table::Row>(prober_slot + Prober::matches, table_.rows());
  }

  bool counts_are_valid() const { return are_counts_valid_; }
  bool pointers_are_valid() const { return has_pointers_; }

  std::size_t bytes() const { return storage_.bytes(); }

  bool map(void* temp_storage, std::size_t temp_storage_bytes) {
    if (!storage_.map(temp_storage, temp_storage_bytes)) return false;
    table_.map(storage_, 0);
    prober_.map(storage_, prober_slot);
    return true;
  }

  void match() const {
    table_.build(prober_.team(), storage_.template get<std::size_t>(prober_slot + Prober::slice_counts),
                 storage_.template get<typename Table::Row>(prober_slot + Prober::matches));
    prober_.match(table_);
  }

  std::int64_t total() const { return prober_.total(); }
  template <class Sink>
  void write(std::int64_t capacity, const Sink& sink) const {
    prober_.write(table_, capacity, sink);
  }

 private:
  bool are_counts_valid_;
  bool has_pointers_;
  Table table_;
  Prober prober_;
  temporary_storage::layout<prober_slot + Prober::slots> storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END
