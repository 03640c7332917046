// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The workloads of joins: calls of DeviceHashJoin and JoinTable, their rivals, and the check of their results.

#include <strata/device/device_hash_join.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/cuda.cuh"
#include "harness/host_join.cuh"
#include "harness/join_data.cuh"
#include "harness/measure.cuh"
#include "harness/sort_merge_join.cuh"

namespace bench {

/// The options of a join besides its data.
struct join_request {
  strata::JoinKind kind = strata::JoinKind::inner;
  const char* suffix = "";
  bool is_unique = false;
  bool is_ordered = false;
  bool has_range = false;
  /// Possible for inner and semi joins in any order.
  bool has_match_ratio = false;
  /// Possible for inner joins in any order if no side has nulls.
  bool has_future_counts = false;
  bool only_counts = false;
  strata::JoinStrategy strategy = strata::JoinStrategy::automatic;
  bool beside_cub = true;
  bool beside_host = false;
};

namespace detail {

/// A side with a 4-byte size, so that the benchmark need not compile the code for more rows.
template <class Key>
auto join_side_of(const device_array<Key>& keys, const device_array<std::uint32_t>& valid) {
  return strata::join_side<Key>(keys.data(), static_cast<std::int32_t>(keys.size())).valid(valid.data());
}

template <class Key>
auto build_side_of(const join_sides<Key>& sides, bool is_unique) {
  return join_side_of(sides.build, sides.build_valid).unique(is_unique);
}
template <class Key>
auto probe_side_of(const join_sides<Key>& sides) {
  return join_side_of(sides.probe, sides.probe_valid);
}

inline auto join_pairs_of(const join_result& out) {
  return strata::join_pairs(out.build_or_null(), out.probe_out.data(), out.capacity);
}

/// Calls the join that the case wants. For keys of two columns, only inner joins in any order are compiled.
template <class Key>
cudaError_t join(void* storage, std::size_t& bytes, const join_case& what, const join_sides<Key>& sides,
                 const join_request& wanted, const join_result& out, cudaStream_t stream) {
  using strata::JoinKind;
  using joins = strata::DeviceHashJoin;
  const auto build_keys = build_side_of(sides, wanted.is_unique);
  const auto probe_keys = probe_side_of(sides);
  if constexpr (!std::is_integral_v<Key>) {
    return joins::Inner(storage, bytes, build_keys, probe_keys, join_pairs_of(out), out.total.data(),
                        strata::JoinOptions<>{}, stream);
  } else {
    strata::JoinOptions<> options;
    options.strategy = wanted.strategy;
    if (wanted.has_match_ratio) {
      const auto few = probe_keys.match_ratio(what.match);
      return wanted.kind == JoinKind::semi
                 ? joins::Semi(storage, bytes, build_keys, few, join_pairs_of(out), out.total.data(), options, stream)
                 : joins::Inner(storage, bytes, build_keys, few, join_pairs_of(out), out.total.data(), options, stream);
    }
    if (wanted.has_future_counts) {
      const auto side_of = [&](const device_array<Key>& keys, const std::int32_t* count) {
        return strata::join_side<Key>(keys.data(), strata::FutureCount<std::int32_t>(count, keys.size()));
      };
      return joins::Inner(storage, bytes, side_of(sides.build, sides.counts.data()),
                          side_of(sides.probe, sides.counts.data() + 1), join_pairs_of(out), out.total.data(), options,
                          stream);
    }
    const auto build =
        build_keys.sorted(what.is_sorted)
            .key_range(wanted.has_range ? 0 : 1, wanted.has_range ? static_cast<Key>(what.keys() - 1) : 0);
    const auto probe = probe_keys.sorted(what.is_sorted);
    if (wanted.only_counts) {
      return joins::Inner(storage, bytes, build, probe, strata::join_count(), out.total.data(), options, stream);
    }
    const auto call = [&](auto kind) {
      const auto join_with = [&](const auto& of_order) {
        return kind(storage, bytes, build, probe, join_pairs_of(out), out.total.data(), of_order, stream);
      };
      return wanted.is_ordered ? join_with(strata::OrderedJoinOptions<>{options}) : join_with(options);
    };
    switch (wanted.kind) {
      case JoinKind::left:
        return call([](auto&&... with) { return joins::Left(with...); });
      case JoinKind::full:
        return call([](auto&&... with) { return joins::Full(with...); });
      case JoinKind::semi:
        return call([](auto&&... with) { return joins::Semi(with...); });
      case JoinKind::anti:
        return call([](auto&&... with) { return joins::Anti(with...); });
      case JoinKind::inner:
        break;
    }
    return call([](auto&&... with) { return joins::Inner(with...); });
  }
}

}  // namespace detail

/// A join that writes pairs of rows, or only counts them. Keys of two columns have no rivals.
template <class Key>
workload join_workload(const join_case& what, const join_request& wanted, const environment& env) {
  const cudaStream_t stream = env.stream;
  const join_sides<Key> sides(what, wanted.kind, env.settings.seed, stream);
  const auto rows = static_cast<std::int64_t>(sides.expected.rows);
  const auto new_result = [&] {
    const join_result result(wanted.kind, wanted.only_counts ? 0 : rows);
    result.spoil(stream);
    return result;
  };
  const auto verified = [&](peer contender, const join_result& result) {
    contender.verify = [=] { return result.difference_from(sides.expected, stream); };
    return contender;
  };

  workload work;
  const join_result ours = new_result();
  work.bytes = static_cast<double>(sides.bytes() + ours.build_out.bytes() + ours.probe_out.bytes());
  const auto call = [=](void* storage, std::size_t& bytes, cudaStream_t where) {
    return detail::join<Key>(storage, bytes, what, sides, wanted, ours, where);
  };
  work.peers.push_back(verified(storage_peer("strata", call), ours));
  if constexpr (std::is_integral_v<Key>) {
    if (wanted.beside_cub) {
      const join_result theirs = new_result();
      const sort_merge_join<Key> by_sorting(what, wanted.kind, wanted.is_unique, sides, theirs, stream);
      work.peers.push_back(verified({"cub", by_sorting}, theirs));
    }
    if (wanted.beside_host) {
      const join_result theirs = new_result();
      const auto by_host = std::make_shared<host_join<Key>>(sides, theirs, stream);
      peer contender{"host", [=](cudaStream_t) { return (*by_host)(); }};
      contender.is_on_host = true;
      contender.verify = [=] {
        by_host->publish(stream);
        by_host->spoil();
        return theirs.difference_from(sides.expected, stream);
      };
      work.peers.push_back(contender);
    }
  }
  work.peers.push_back(copy_peer(sides.probe.data(), sides.probe.bytes()));
  return work;
}

/// Columns that an inner join gathers, half of them from each side; a single one comes from the build side. The input
/// columns hold row numbers, so two columns of the result are pairs of rows that can be checked.
template <class Value, int Columns>
class gathered_columns {
 public:
  gathered_columns(const join_case& what, std::int64_t rows, cudaStream_t stream) : rows_(rows) {
    for (std::size_t i = 0; i < Columns; ++i) {
      const bool of_build = i < build_columns;
      const std::int64_t side_rows = of_build ? what.build_rows : what.probe_rows;
      in_.emplace_back(static_cast<std::size_t>(side_rows));
      detail::number_rows<<<static_cast<unsigned>((side_rows + 255) / 256), 256, 0, stream>>>(in_.back().data(),
                                                                                              side_rows);
      check(cudaGetLastError(), "number_rows");
      out_.emplace_back(static_cast<std::size_t>(rows));
    }
    spoil(stream);
  }

  auto output() const {
    return output(std::make_index_sequence<build_columns>{}, std::make_index_sequence<Columns - build_columns>{});
  }
  std::int64_t* total() const { return total_.data(); }
  /// Bytes of all columns of the result, read and written.
  double bytes() const { return 2.0 * Columns * static_cast<double>(out_.front().bytes()); }

  /// Returns an empty text if all columns are as expected. Then overwrites them.
  std::string difference_from(const join_checksum& expected, cudaStream_t stream) const {
    bool are_right = true;
    for (std::size_t i = 0; i < build_columns; ++i) {
      const Value* const probe_rows = i + build_columns < Columns ? out_[i + build_columns].data() : nullptr;
      const unsigned long long sum = sum_of_join_rows<Value>(out_[i].data(), probe_rows, rows_, stream);
      are_right = are_right && sum == (probe_rows != nullptr ? expected.sum : expected.build_sum);
    }
    const std::int64_t rows = total_.value_at(0);
    spoil(stream);
    return join_difference(rows, are_right, expected);
  }

 private:
  static constexpr std::size_t build_columns = (Columns + 1) / 2;

  template <std::size_t... Build, std::size_t... Probe>
  auto output(std::index_sequence<Build...>, std::index_sequence<Probe...>) const {
    return strata::join_columns<std::int32_t>(
        rows_, strata::build_column(in_[Build].data(), out_[Build].data(), Value{-1})...,
        strata::probe_column(in_[build_columns + Probe].data(), out_[build_columns + Probe].data(), Value{-1})...);
  }

  void spoil(cudaStream_t stream) const {
    for (const device_array<Value>& column : out_) column.fill_bytes(0xa5, stream);
    total_.fill_bytes(0xa5, stream);
    check(cudaStreamSynchronize(stream), "spoil");
  }

  std::int64_t rows_;
  /// Columns of the build side come first.
  std::vector<device_array<Value>> in_;
  std::vector<device_array<Value>> out_;
  device_array<std::int64_t> total_{1};
};

/// A join that gathers columns. With `HasMatchRatio`, the call passes the match ratio, for which other kernels are
/// compiled.
template <class Value, int Columns, bool HasMatchRatio>
workload columns_workload(const join_case& what, const join_request& wanted, const environment& env) {
  const cudaStream_t stream = env.stream;
  const join_sides<std::uint32_t> sides(what, strata::JoinKind::inner, env.settings.seed, stream);
  const gathered_columns<Value, Columns> columns(what, static_cast<std::int64_t>(sides.expected.rows), stream);
  const auto call = [=](void* storage, std::size_t& bytes, cudaStream_t where) {
    const auto join_with = [&](const auto& probe) {
      return strata::DeviceHashJoin::Inner(storage, bytes, detail::build_side_of(sides, wanted.is_unique), probe,
                                           columns.output(), columns.total(), strata::JoinOptions<>{}, where);
    };
    const auto probe = detail::probe_side_of(sides);
    if constexpr (HasMatchRatio) {
      return join_with(probe.match_ratio(what.match));
    } else {
      return join_with(probe);
    }
  };
  workload work;
  work.bytes = static_cast<double>(sides.bytes()) + columns.bytes();
  work.peers.push_back(storage_peer("strata", call));
  work.peers.back().verify = [=] { return columns.difference_from(sides.expected, stream); };
  work.peers.push_back(copy_peer(sides.probe.data(), sides.probe.bytes()));
  return work;
}

/// A join table, the sides and the memory that it points to.
struct table_with_sides {
  join_sides<std::uint32_t> sides;
  device_array<unsigned char> memory;
  strata::JoinTable<std::uint32_t> table;

  table_with_sides(const join_case& what, bool is_unique, std::uint64_t seed, cudaStream_t stream)
      : sides(what, strata::JoinKind::inner, seed, stream),
        memory(memory_bytes(detail::build_side_of(sides, is_unique))),
        table(memory.data(), memory.bytes(), detail::build_side_of(sides, is_unique)) {}

  cudaError_t build(cudaStream_t stream) { return table.Build(sides.build.size(), stream); }
  cudaError_t probe(void* storage, std::size_t& bytes, const join_result& out, cudaStream_t stream) const {
    return table.Inner(storage, bytes, detail::probe_side_of(sides), detail::join_pairs_of(out), out.total.data(),
                       stream);
  }

 private:
  template <class Side>
  static std::size_t memory_bytes(const Side& side) {
    std::size_t bytes = 0;
    check(strata::JoinTable<std::uint32_t>::MemoryBytes(side, bytes), "JoinTable::MemoryBytes");
    return bytes;
  }
};

/// Builds a table, or (`is_probed`) probes one that exists.
inline workload table_workload(const join_case& what, const join_request& wanted, bool is_probed,
                               const environment& env) {
  const cudaStream_t stream = env.stream;
  const auto table = std::make_shared<table_with_sides>(what, wanted.is_unique, env.settings.seed, stream);
  check(table->build(stream), "JoinTable::Build");
  const join_checksum expected = table->sides.expected;
  const join_result ours(strata::JoinKind::inner, static_cast<std::int64_t>(expected.rows));
  ours.spoil(stream);

  const auto call = [=](void* storage, std::size_t& bytes, cudaStream_t where) {
    return table->probe(storage, bytes, ours, where);
  };
  const peer probe = storage_peer("strata", call);
  peer contender = probe;
  if (!is_probed) contender.call = [=](cudaStream_t where) { return table->build(where); };
  contender.verify = [=] {
    // A table cannot be checked itself. If it is right, a probe of it gives the right result.
    if (!is_probed) check(probe.call(stream), "JoinTable::Inner");
    return ours.difference_from(expected, stream);
  };
  const device_array<std::uint32_t>& keys = is_probed ? table->sides.probe : table->sides.build;
  workload work;
  work.bytes = static_cast<double>(keys.bytes() + (is_probed ? ours.build_out.bytes() + ours.probe_out.bytes() : 0));
  work.peers = {contender, copy_peer(keys.data(), keys.bytes())};
  return work;
}

}  // namespace bench
