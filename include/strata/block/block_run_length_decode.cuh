// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/companions.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>

STRATA_NAMESPACE_BEGIN

/// Decodes runs, `RunsPerThread` in each thread: run r is a value that is repeated as often as its length says. The
/// decoded items of all runs, one run after the other, are numbered from 0. A call returns a window of these items,
/// `DecodedItemsPerThread` (N) to each thread: items[i] of thread t is item from + t * N + i.
///
/// | call | effect |
/// |---|---|
/// | `BlockRunLengthDecode(temp_storage, values, lengths, total)` | keeps runs; `total` becomes the number of items |
/// | `BlockRunLengthDecode(temp_storage, values, offsets)` | keeps runs, given the number of each run's first item |
/// | `RunLengthDecode(items, from)` | a window, from item 0 by default |
/// | `RunLengthDecode(items, offsets, from)` | the same, with each item's position in its run, from 0 |
///
/// - Both constructors also take their arguments without `temp_storage`. Every thread gets the total.
/// - Runs are in blocked arrangement: run i of thread t is number t * RunsPerThread + i. Any run may have length 0.
///   Offsets of runs must not decrease. The first may be above 0, if no window begins before it.
/// - Items of a window that are behind the last run, and their positions, are unspecified. With offsets, the last run
///   has no end.
/// - Every thread of the block must construct the object, in uniform control flow. The constructor has up to 2
///   barriers, 1 with offsets. `RunLengthDecode` has none: any threads may call it, each with a `from` of its own.
/// - A thread finds the run of its first item by a binary search in shared memory. It compares its other items, up to
///   four at a time, with the begins of the runs that follow, and searches again where many runs have length 0.
/// - The storage holds the runs. The block must call `__syncthreads()` after the last `RunLengthDecode`, before the
///   storage is used for anything else, the next construction included. Objects of one type constructed without storage
///   use the same storage.
/// - Shared memory holds a value and a `DecodedOffsetT` for each run, laid out as by BlockExchange. It also has at
///   least five more `DecodedOffsetT`, and what BlockScan needs for this type. Runs are written without bank conflicts.
///   Conflicts of reads depend on the lengths.
/// - `DecodedOffsetT` is an integer type that can represent the total. Debug builds assert that the unsigned type of
///   its size can, that lengths are not negative, and that offsets do not decrease. `ItemT` must be trivially
///   relocatable.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ char letters[128], text[128 * 3];
/// __managed__ int lengths[128];
///
/// // Decodes 128 runs, 256 items at a time.
/// STRATA_KERNEL void decode(const char* values, const int* counts, char* items) {
///   using Decode = strata::BlockRunLengthDecode<char, 128, 1, 2>;
///   STRATA_SHARED(temp_storage, Decode::TempStorage);
///   const char run_values[1] = {values[threadIdx.x]};
///   const int run_lengths[1] = {counts[threadIdx.x]};
///   unsigned total;
///   Decode runs(temp_storage, run_values, run_lengths, total);
///   for (unsigned from = 0; from < total; from += 256) {
///     char window[2];
///     runs.RunLengthDecode(window, from);
///     for (unsigned i = 0, at = from + threadIdx.x * 2; i < 2 && at < total; ++i, ++at) items[at] = window[i];
///   }
/// }
///
/// int main() {
///   for (int i = 0; i < 128; ++i) lengths[i] = i % 4, letters[i] = static_cast<char>('a' + i % 26);
///   if (strata::launch({"decode", 1, 128}, decode, letters, lengths, text) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%.18s\n", text);
/// }
/// // prints: bccdddfgghhhjkklll
/// @endcode
template <class ItemT, int BlockDimX, int RunsPerThread, int DecodedItemsPerThread,
          class DecodedOffsetT = std::uint32_t, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRunLengthDecode {
  static_assert(detail::relocatable_requirements<ItemT>::check());
  static_assert(RunsPerThread > 0 && DecodedItemsPerThread > 0,
                "BlockRunLengthDecode needs at least one run and one decoded item per thread");
  static constexpr bool has_offsets = std::is_integral_v<DecodedOffsetT> && !std::is_same_v<DecodedOffsetT, bool>;
  static_assert(has_offsets,
                "BlockRunLengthDecode: DecodedOffsetT must be an integer type, because it holds indices "
                "of decoded items");
  using shape = detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>;
  static constexpr int runs = shape::threads * RunsPerThread;
  static constexpr std::size_t runs_per_thread = static_cast<std::size_t>(RunsPerThread);
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(DecodedItemsPerThread);

  // Unsigned: numbers of items behind the last run may overflow.
  using number = std::make_unsigned_t<std::conditional_t<has_offsets, DecodedOffsetT, unsigned>>;
  using scan = BlockScan<number, BlockDimX, BLOCK_SCAN_WARP_SCANS, BlockDimY, BlockDimZ>;
  using value_tile = detail::exchange_tile<ItemT, RunsPerThread, shape::threads>;
  // A thread finds the run of its first item by a search. It finds the runs of its other items in groups of items: it
  // compares a group with one run more than the group has items. Behind the last run lie guards: runs that begin at the
  // largest value of `number`. So only an item with this number can seem to be in a guard.
  static constexpr int group_items = 4;
  static constexpr int guards = group_items + 1;
  using begin_tile =
      detail::exchange_tile<number, RunsPerThread, shape::threads + detail::ceiling_divide(guards, RunsPerThread)>;
  template <class T>
  using layout = ExchangeLayout<T, RunsPerThread>;
  template <class T>
  using blocked = blocked_access<layout<T>::unit_bytes, RunsPerThread>;
  // not for users: the layout keeps this promise for every type and number of runs
  static_assert(strata::conflict_degree(layout<ItemT>{}, blocked<ItemT>{}) == 1, "values are written with conflicts");
  // not for users: as above
  static_assert(strata::conflict_degree(layout<number>{}, blocked<number>{}) == 1,
                "numbers are written with conflicts");
  // No union: the runs are written without a barrier after the scan.
  struct storage {
    typename scan::TempStorage scan_storage;
    value_tile values;
    begin_tile begins;
  };

 public:
  struct TempStorage : Uninitialized<storage> {};

  /// Keeps runs of known lengths in `temp_storage`, and returns the number of decoded items.
  template <class RunLengthT, class TotalDecodedSizeT>
  STRATA_D BlockRunLengthDecode(TempStorage& temp_storage, const ItemT (&run_values)[runs_per_thread],
                                const RunLengthT (&run_lengths)[runs_per_thread], TotalDecodedSizeT& total_decoded_size)
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockRunLengthDecode")) {
    number begins[runs_per_thread], total;
    scan_lengths(run_lengths, begins, total);
    total_decoded_size = static_cast<TotalDecodedSizeT>(total);
    keep_runs(run_values, begins);
  }
  /// Keeps runs in `temp_storage`, given the number of the first item of each run.
  template <class UserRunOffsetT>
  STRATA_D BlockRunLengthDecode(TempStorage& temp_storage, const ItemT (&run_values)[runs_per_thread],
                                const UserRunOffsetT (&run_offsets)[runs_per_thread])
      : storage_(temp_storage.Alias()), thread_(shape::thread_rank("BlockRunLengthDecode")) {
    number begins[runs_per_thread];
    STRATA_UNROLL
    for (int i = 0; i < RunsPerThread; ++i) begins[i] = static_cast<number>(run_offsets[i]);
    keep_runs(run_values, begins);
  }
  /// Keeps runs of known lengths in storage of the class's own, and returns the number of decoded items.
  template <class RunLengthT, class TotalDecodedSizeT>
  STRATA_D BlockRunLengthDecode(const ItemT (&run_values)[runs_per_thread],
                                const RunLengthT (&run_lengths)[runs_per_thread], TotalDecodedSizeT& total_decoded_size)
      : BlockRunLengthDecode(private_storage(), run_values, run_lengths, total_decoded_size) {}
  /// Keeps runs in storage of the class's own, given the number of the first item of each run.
  template <class UserRunOffsetT>
  STRATA_D BlockRunLengthDecode(const ItemT (&run_values)[runs_per_thread],
                                const UserRunOffsetT (&run_offsets)[runs_per_thread])
      : BlockRunLengthDecode(private_storage(), run_values, run_offsets) {}

  /// Decodes the window of items that begins at item `from_decoded_offset`.
  STRATA_D void RunLengthDecode(ItemT (&decoded_items)[items_per_thread], DecodedOffsetT from_decoded_offset = 0) {
    decode(decoded_items, from_decoded_offset, [](int, number) {});
  }
  /// Decodes the window of items that begins at item `from_decoded_offset`, and returns the position of each item in
  /// its run.
  template <class RelativeOffsetT>
  STRATA_D void RunLengthDecode(ItemT (&decoded_items)[items_per_thread],
                                RelativeOffsetT (&item_offsets)[items_per_thread],
                                DecodedOffsetT from_decoded_offset = 0) {
    decode(decoded_items, from_decoded_offset,
           [&](int i, number offset) { item_offsets[i] = static_cast<RelativeOffsetT>(offset); });
  }

 private:
  STRATA_D static TempStorage& private_storage() {
    STRATA_SHARED(temp_storage, TempStorage);
    return temp_storage;
  }

  template <class RunLengthT>
  STRATA_D static bool is_representable(const RunLengthT& length) {
    bool is_negative = false;
    if constexpr (std::is_signed_v<RunLengthT>) is_negative = length < 0;
    return !is_negative && static_cast<RunLengthT>(static_cast<number>(length)) == length;
  }

  template <class RunLengthT>
  STRATA_D void scan_lengths(const RunLengthT (&lengths)[runs_per_thread], number (&begins)[runs_per_thread],
                             number& total) {
    STRATA_UNROLL
    for (int i = 0; i < RunsPerThread; ++i) {
      STRATA_ASSERT(is_representable(lengths[i]),
                    "BlockRunLengthDecode: run %d has the length %lld, which DecodedOffsetT cannot represent",
                    thread_ * RunsPerThread + i, static_cast<long long>(lengths[i]));
      begins[i] = static_cast<number>(lengths[i]);
    }
    scan(storage_.scan_storage).ExclusiveSum(begins, begins, total);
    STRATA_ASSERT(begins[runs_per_thread - 1] <= total,
                  "BlockRunLengthDecode: DecodedOffsetT cannot represent the number of decoded items");
  }

  STRATA_D void keep_runs(const ItemT (&values)[runs_per_thread], const number (&begins)[runs_per_thread]) {
    const auto thread = static_cast<unsigned>(thread_);
    storage_.values.put_blocked(thread, values);
    storage_.begins.put_blocked(thread, begins);
    shape::template for_each_index<guards>(thread_, [&](int guard) {
      storage_.begins.put(begin_tile::position(static_cast<unsigned>(runs + guard)), static_cast<number>(~number{0}));
    });
    __syncthreads();
#if STRATA_DEBUG
    for (int i = 0; i < RunsPerThread; ++i) {
      const int run = thread_ * RunsPerThread + i;
      STRATA_ASSERT(run == runs - 1 || begins[i] <= begin_of(run + 1),
                    "BlockRunLengthDecode: run %d begins at item %llu, but the next run at %llu", run,
                    static_cast<unsigned long long>(begins[i]), static_cast<unsigned long long>(begin_of(run + 1)));
    }
#endif
  }

  STRATA_D number begin_of(int run) { return storage_.begins.get(begin_tile::position(static_cast<unsigned>(run))); }
  STRATA_D ItemT value_of(int run) { return storage_.values.get(value_tile::position(static_cast<unsigned>(run))); }

  /// A run, and where its begin lies.
  struct found_run {
    int run;
    const number* begin;
  };
  /// Steps from the first of `Count` runs, each `RunsApart` from the next, to the last one that begins at an item or
  /// before it. A step adds a constant to the address. This is right because the steps of a call are different powers
  /// of two, so that adding them needs no carry. So the position of their sum is the sum of their positions.
  template <int Count, int RunsApart>
  STRATA_D static void step_to_last(found_run& at, number item) {
    int steps = 0;
    STRATA_UNROLL
    for (int step = 1 << detail::log2_ceiling(Count) >> 1; step > 0; step >>= 1) {
      const number* begin = at.begin + begin_tile::position(static_cast<unsigned>(step * RunsApart));
      const bool is_run = detail::is_power_of_two(Count) || steps + step < Count;
      if (is_run && *begin <= item) {
        steps += step;
        at = {at.run + step * RunsApart, begin};
      }
    }
  }
  /// Returns the last run that begins at `item` or before it. This is the run that has the item. If no run begins so
  /// early, it returns the first run. Finds the thread of the run, then the run.
  STRATA_D int run_of(number item) {
    found_run at{0, storage_.begins.item_at(0)};
    step_to_last<shape::threads, RunsPerThread>(at, item);
    step_to_last<RunsPerThread, 1>(at, item);
    return at.run;
  }

  /// Calls `run_is(i, its run)` for each item of a thread, beginning with item `first`.
  template <class RunIs>
  STRATA_D void find_runs(number first, const RunIs& run_is) {
    const auto item = [&](int i) { return static_cast<number>(first + static_cast<number>(i)); };
    int run = run_of(first);
    run_is(0, run);
    // A thread reads the begins of the next runs, one more than the group has items, and compares them with all items.
    STRATA_UNROLL
    for (int begin = 1; begin < DecodedItemsPerThread; begin += group_items) {
      const int count = detail::least(group_items, DecodedItemsPerThread - begin);
      number begins[group_items + 1];
      int of_item[group_items];
      bool may_be_later = false;
      STRATA_UNROLL
      for (int next = 0; next <= count; ++next) begins[next] = begin_of(run + 1 + next);
      STRATA_UNROLL
      for (int i = 0; i < count; ++i) {
        of_item[i] = run;
        STRATA_UNROLL
        for (int next = 0; next <= count; ++next) of_item[i] += begins[next] <= item(begin + i) ? 1 : 0;
        may_be_later = may_be_later || of_item[i] == run + count + 1;
      }
      // A later run may have the item, if runs have length 0. Or the item has the largest value of `number`. Such an
      // item seems to be in a guard. In both cases the search finds the run.
      if (may_be_later) {
        STRATA_UNROLL_N(1)
        for (int i = 0; i < count; ++i) {
          const int found = run_of(item(begin + i));
          STRATA_UNROLL
          for (int k = 0; k < count; ++k) of_item[k] = k == i ? found : of_item[k];
        }
      }
      STRATA_UNROLL
      for (int i = 0; i < count; ++i) run_is(begin + i, of_item[i]);
      run = of_item[count - 1];
    }
  }

  /// Calls `offset_is(i, its offset)` for each item.
  template <class OffsetIs>
  STRATA_D void decode(ItemT (&items)[items_per_thread], DecodedOffsetT from, const OffsetIs& offset_is) {
    STRATA_ASSERT(begin_of(0) <= static_cast<number>(from),
                  "BlockRunLengthDecode: the window begins at item %llu, before the first run, which begins at %llu",
                  static_cast<unsigned long long>(from), static_cast<unsigned long long>(begin_of(0)));
    const auto first = static_cast<number>(static_cast<number>(from) +
                                           static_cast<number>(static_cast<unsigned>(thread_ * DecodedItemsPerThread)));
    find_runs(first, [&](int i, int run) {
      items[i] = value_of(run);
      offset_is(i, static_cast<number>(first + static_cast<number>(i) - begin_of(run)));
    });
  }

  storage& storage_;
  int thread_;
};

STRATA_NAMESPACE_END
