// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/common/rows.cuh>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

struct alignas(8) join_partner {
  unsigned build_row;
  unsigned probe_row;
};

/// The output of a join whose result has at most one row for each probe row: the partners of probe rows, for
/// join_select_kernel. Inner and left joins run as a left join, semi and anti joins as an anti join. A left join writes
/// the number of the partner, or `no_join_row`. After an anti join, an element says only whether there is a partner: it
/// is `no_join_row` if there is none, otherwise any other number.
struct join_partner_sink {
  /// Partners by the number of the probe row. Before an anti join, they are cleared to 0.
  unsigned* by_row;
  /// Partners by the position of the probe row among the partitions, except in overflowing ones: neighbouring threads
  /// write neighbouring elements. Null if there are no partitions, if two passes have made them, or if the tiles of the
  /// pass have fewer rows than `join_output_tuning::select_rows`.
  join_partner* by_position;

  STRATA_HD void operator()(std::int64_t, unsigned build_row, unsigned probe_row) const {
    by_row[probe_row] = build_row;
  }

  /// Writes the partner of a probe row with a known position. An anti join has no result for rows with a partner.
  STRATA_D void write(std::size_t position, unsigned probe_row, bool has_result, unsigned build_row) const {
    const unsigned partner = has_result ? build_row : 0;
    if (by_position != nullptr) {
      by_position[position] = {partner, probe_row};
    } else {
      by_row[probe_row] = partner;
    }
  }
};

/// A list has the build rows of a key in ascending order.
struct alignas(8) join_list_element {
  unsigned row;
  /// In the first element, the number of rows.
  unsigned count;
};

/// The output of a join whose result may have several rows for a probe row. An element is the only partner of its probe
/// row, or `no_join_row`, or, if there are several partners, the index of the first element of their list, with
/// `join_list_bit`. Neither rows nor indices have that bit: all partitions together have at most 2^29 build rows.
struct join_list_sink : join_partner_sink {
  join_list_element* lists;
};
inline constexpr unsigned join_list_bit = 1u << 31;
STRATA_HD constexpr bool is_join_list(unsigned partner) {
  return partner >= join_list_bit && partner != no_join_row<unsigned>;
}

/// Returns the number of results of a probe row with this partner. In a `left` join, a probe row without a partner has
/// one result.
STRATA_D unsigned number_of_results(unsigned partner, const join_list_element* lists, bool left) {
  if (is_join_list(partner)) return lists[partner - join_list_bit].count;
  return left || partner != no_join_row<unsigned> ? 1 : 0;
}

/// Where the probe rows of each tile of the partition pass are: `counts[t * partitions + p]` rows of tile t are in
/// partition p, from position `begins[t * partitions + p]` on.
struct join_tile_runs {
  unsigned* begins;
  unsigned* counts;
  /// Number of partitions, including the partition of the rows without a key.
  unsigned partitions;
  unsigned tile_rows;
};

/// Everything that says where the partners are.
struct join_partners {
  join_partner_sink sink;
  /// Needed if there are partners by position.
  join_tile_runs runs;
  /// Records of the probe rows of overflowing partitions, by position.
  const join_record* records;
  const unsigned* is_overflowing;
};

}  // namespace detail
STRATA_NAMESPACE_END
