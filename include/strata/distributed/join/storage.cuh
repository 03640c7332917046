// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/distributed/exchange/group.cuh>
#include <strata/distributed/exchange/messages.cuh>
#include <strata/distributed/exchange/plan.cuh>
#include <strata/distributed/join/columns.cuh>
#include <strata/distributed/join/destinations.hpp>
#include <strata/distributed/join/marks.cuh>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The parts of a rank's message of counts: one for each side.
inline constexpr int build_counts_part = 0;
inline constexpr int probe_counts_part = 1;
inline exchange_messages join_count_messages(int ranks) {
  return {ranks, 2, static_cast<int>(join_classes{static_cast<unsigned>(ranks)}.count())};
}

/// Temporary storage of a join on one rank.
template <class Call>
class distributed_join_storage {
  using Key = typename Call::Key;

  /// The arrays of one side. Each side has a slot for each of them, and reserves those that it needs.
  enum side_slot { keys_sent_slot, keys_received_slot, rows_sent_slot, rows_received_slot, mask_slot, pieces_slot };
  static constexpr int side_slots = pieces_slot + 1;
  enum slot {
    message_slot,
    messages_slot,
    counts_slot,
    classes_slot,
    sorted_classes_slot,
    work_slot,
    build_slots,
    probe_slots = build_slots + side_slots,
    column_slots = probe_slots + side_slots,
    slots = column_slots + 2 * Call::columns_of_output
  };

 public:
  /// Reserves the storage. `work_bytes` is the maximum of what grouping, the exchange and the local join need, because
  /// they follow each other.
  void reserve(const Call& call, std::size_t work_bytes) {
    work_bytes_ = work_bytes;
    all_.template reserve<unsigned char>(work_slot, work_bytes);
    if (call.position.ranks > 1) {
      const auto ranks = static_cast<std::size_t>(call.position.ranks);
      const std::int64_t rows = detail::most(call.build.rows, call.probe.rows);
      all_.template reserve<join_message>(message_slot, 1);
      all_.template reserve<join_message>(messages_slot, ranks);
      all_.template reserve<unsigned char>(counts_slot, detail::join_count_messages(call.position.ranks).bytes());
      all_.template reserve<join_class_t>(classes_slot, static_cast<std::size_t>(rows));
      all_.template reserve<join_class_t>(sorted_classes_slot, static_cast<std::size_t>(rows));
    }
    reserve_side<true>(call);
    reserve_side<false>(call);
  }

  const auto& all() const { return all_; }
  bool map(void* d_temp_storage, std::size_t temp_storage_bytes) {
    return all_.map(d_temp_storage, temp_storage_bytes);
  }

  join_message* message() const { return all_.template get<join_message>(message_slot); }
  join_message* messages() const { return all_.template get<join_message>(messages_slot); }
  unsigned char* counts() const { return all_.template get<unsigned char>(counts_slot); }
  join_class_t* classes() const { return all_.template get<join_class_t>(classes_slot); }
  join_class_t* sorted_classes() const { return all_.template get<join_class_t>(sorted_classes_slot); }
  unsigned char* work() const { return all_.template get<unsigned char>(work_slot); }
  std::size_t work_bytes() const { return work_bytes_; }

  /// The keys in the order of classes. kept_join_side() does not sort: it copies keys that come from an iterator to
  /// this array, in the order of rows, and leaves an array of keys where it is.
  template <bool IsBuild>
  Key* keys_sent() const {
    return all_.template get<Key>(first_slot<IsBuild> + keys_sent_slot);
  }
  template <bool IsBuild>
  Key* keys_received() const {
    return all_.template get<Key>(first_slot<IsBuild> + keys_received_slot);
  }
  /// The numbers of this rank's rows in the order of classes, if Call::sorts_rows.
  template <bool IsBuild>
  unsigned* rows_sent() const {
    return all_.template get<unsigned>(first_slot<IsBuild> + rows_sent_slot);
  }
  /// The marks of all ranks, if rows go straight to their ranks and are numbered (Call::is_numbered). Marks lie in the
  /// memory of rows_sent().
  template <bool IsBuild>
  unsigned* marks() const {
    return rows_sent<IsBuild>();
  }
  template <bool IsBuild>
  static std::size_t bytes_of_marks(const Call& call) {
    if (!Call::template is_numbered<IsBuild>) return 0;
    return join_marks_layout<Key>::room_for(call.template side<IsBuild>().rows, call.position.ranks) * sizeof(unsigned);
  }
  template <bool IsBuild>
  unsigned* rows_received() const {
    return all_.template get<unsigned>(first_slot<IsBuild> + rows_received_slot);
  }
  template <bool IsBuild>
  std::uint32_t* mask() const {
    return all_.template get<std::uint32_t>(first_slot<IsBuild> + mask_slot);
  }
  template <bool IsBuild>
  join_piece* pieces() const {
    return all_.template get<join_piece>(first_slot<IsBuild> + pieces_slot);
  }
  /// The values of a column, in the same order and cases as keys_sent().
  template <class Value>
  Value* values_sent(int column) const {
    return all_.template get<Value>(column_slots + 2 * column);
  }
  template <class Value>
  Value* values_received(int column) const {
    return all_.template get<Value>(column_slots + 2 * column + 1);
  }

 private:
  template <bool IsBuild>
  static constexpr int first_slot = IsBuild ? build_slots : probe_slots;

  template <bool IsBuild>
  void reserve_side(const Call& call) {
    constexpr int first = first_slot<IsBuild>;
    const bool is_alone = call.position.ranks == 1;
    const auto rows = static_cast<std::size_t>(call.template side<IsBuild>().rows);
    const std::size_t received = is_alone ? 0 : call.template receivable_rows<IsBuild>();
    if (!is_alone || !Call::has_array_of_keys) all_.template reserve<Key>(first + keys_sent_slot, rows);
    call.template for_each_moved_column<IsBuild>([&](const auto& column, auto value, int index) {
      using Value = typename decltype(value)::type;
      all_.template reserve<Value>(column_slots + 2 * index + 1, received);
      if (!is_alone || !std::is_pointer_v<decltype(column.in)>) {
        all_.template reserve<Value>(column_slots + 2 * index, rows);
      }
    });
    if (is_alone) return;
    const auto ranks = static_cast<std::size_t>(call.position.ranks);
    all_.template reserve<Key>(first + keys_received_slot, received);
    if (Call::template sorts_rows<IsBuild>) {
      std::size_t words = rows;
      if (Call::may_move_directly) words = detail::most(words, bytes_of_marks<IsBuild>(call) / sizeof(unsigned));
      all_.template reserve<unsigned>(first + rows_sent_slot, words);
    }
    if (Call::template is_numbered<IsBuild>) all_.template reserve<unsigned>(first + rows_received_slot, received);
    all_.template reserve<std::uint32_t>(first + mask_slot, received / 32 + 1);
    all_.template reserve<join_piece>(first + pieces_slot, join_side_plan::sections * ranks);
  }

  temporary_storage::layout<slots> all_;
  std::size_t work_bytes_ = 0;
};

/// Where the rows of a side lie: those that this rank sends, and those that it receives.
struct join_side_pieces {
  exchange_pieces sent;
  exchange_pieces received;
  exchange_pieces at_sender;  // the received pieces in the arrays of their senders

  bool allocate(int ranks) {
    constexpr int sections = join_side_plan::sections;
    return sent.allocate(ranks, sections) && received.allocate(ranks, sections) && at_sender.allocate(ranks, sections);
  }
};

/// Host memory for one call. A failed allocation is an error of the call.
class join_host_memory {
 public:
  explicit join_host_memory(int ranks) : counts(detail::join_count_messages(ranks)) {
    const auto count = static_cast<std::size_t>(ranks);
    constexpr int sections = join_side_plan::sections;
    is_complete_ = messages.allocate(count) && samples.allocate(count * join_message::max_samples) &&
                   counts.allocate() && build_pieces.allocate(count * sections) &&
                   probe_pieces.allocate(count * sections) && build.allocate(ranks) && probe.allocate(ranks);
  }
  bool is_complete() const { return is_complete_; }

  host_array<join_message> messages;
  host_array<join_sample> samples;
  exchange_messages counts;
  host_array<join_piece> build_pieces, probe_pieces;
  join_side_pieces build, probe;

 private:
  bool is_complete_ = false;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
