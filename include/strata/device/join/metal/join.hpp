// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/metal/command.hpp>
#include <strata/device/join/metal/memory.hpp>
#include <strata/device/join/metal/radix.hpp>
#include <strata/device/join/metal/tasks.hpp>
#include <strata/device/join/metal/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// a * percent / 100, or the largest value if that does not fit.
constexpr std::uint64_t percent_of(std::uint64_t a, std::uint64_t percent) {
  if (percent > 0 && a / 100 > ~std::uint64_t{0} / percent - 1) return ~std::uint64_t{0};
  return a / 100 * percent + a % 100 * percent / 100;
}

/// A join without types: it has only the sizes of keys and row numbers in bytes.
struct join_request {
  JoinKind kind;
  std::size_t key_bytes;
  std::size_t row_bytes;
  const void* build_keys;
  std::size_t build_rows;
  const void* probe_keys;
  std::size_t probe_rows;
  void* build_out;
  void* probe_out;
  std::uint64_t capacity;
};

/// A join on the device, by any plan but `JoinStrategy::cpu`. Both sides must have rows.
class join {
 public:
  join(context& gpu, JoinStrategy strategy, const join_request& request, const MetalJoinTuning& tuning)
      : gpu_(gpu), strategy_(strategy), request_(request), tuning_(tuning) {
    reserve();
  }

  /// Bytes of temporary storage. One page more than needed, so that whole pages fit wherever the caller's memory
  /// begins.
  std::size_t bytes() const {
    const std::size_t page = page_bytes();
    const std::size_t needed = storage_.bytes();
    constexpr std::size_t most = temporary_storage::invalid_size;
    return needed > most - 2 * page ? most : (needed + page - 1) / page * page + page;
  }

  /// Runs the join. `total` becomes the number of rows of the whole result, also of those beyond the capacity.
  [[nodiscard]] MetalJoinStatus run(objc::id queue, void* temp_storage, std::uint64_t& total) {
    queue_ = queue;
    const std::size_t page = page_bytes();
    const auto address = reinterpret_cast<std::uintptr_t>(temp_storage);
    char* const first = static_cast<char*>(temp_storage) + (page - address % page) % page;
    MetalJoinStatus status = workspace_.map(gpu_, first, bytes() - page, access::scratch);
    if (status != MetalJoinStatus::success) return status;
    if (!storage_.map(workspace_.base(), bytes() - page)) return MetalJoinStatus::invalid_value;

    status = map_arrays();
    if (status == MetalJoinStatus::success) {
      *storage_.get<join_counters>(counters) = join_counters{};
      if (marks()) std::memset(storage_.get<char>(found), 0, words() * 4);
      status = strategy_ == JoinStrategy::simple ? run_simple() : run_radix();
    }
    if (status == MetalJoinStatus::success && marks()) status = put_lone_rows();
    if (status != MetalJoinStatus::success) return status;

    total = storage_.get<join_counters>(counters)->total;
    const std::size_t written = static_cast<std::size_t>(detail::least(total, request_.capacity));
    build_out_.copy_back(written * request_.row_bytes);
    probe_out_.copy_back(written * request_.row_bytes);
    return status;
  }

 private:
  enum slot {
    counters,
    tasks,
    found,
    tiles,
    counts,
    begins,
    next_begins,
    probe_begins,
    next_probe_begins,
    build_a,
    build_b,
    build_numbers_a,
    build_numbers_b,
    probe_a,
    probe_b,
    probe_numbers_a,
    probe_numbers_b,
    slots
  };

  bool marks() const { return request_.kind != JoinKind::inner; }
  bool emits() const { return request_.kind == JoinKind::inner || request_.kind == JoinKind::left; }
  std::size_t words() const { return request_.probe_rows / 32 + 1; }

  /// Bits of the hash by which both sides are partitioned, in passes of `pass_bits`.
  unsigned bits() const {
    if (strategy_ != JoinStrategy::radix_multi) return tuning_.pass_bits;
    const std::size_t rows = table_rows_of(tuning_, tuning_.threads, gpu_.threadgroup_bytes());
    // Partitions differ in size. With 85 % of a table's rows on average, most of them fit in a table.
    const unsigned wanted = partition_bits(request_.build_rows, percent_of(rows, 85));
    constexpr unsigned most = 24;
    const unsigned least = tuning_.pass_bits + 1;
    return wanted < least ? least : detail::least(wanted, most);
  }
  /// Buckets of the simple plan: a power of two, at least as many as build rows.
  std::size_t buckets() const { return std::size_t{1} << partition_bits(request_.build_rows, 1); }

  void reserve() {
    const std::size_t build_rows = request_.build_rows;
    const std::size_t probe_rows = request_.probe_rows;
    storage_.reserve<join_counters>(counters, 1);
    storage_.reserve<join_task>(tasks, tuning_.tasks);
    if (marks()) storage_.reserve<std::uint32_t>(found, words());
    if (strategy_ == JoinStrategy::simple) {
      storage_.reserve<std::uint32_t>(counts, buckets());
      storage_.reserve<std::uint32_t>(build_numbers_a, build_rows);
      return;
    }
    const std::size_t partitions = std::size_t{1} << bits();
    const std::size_t most_rows = detail::most(build_rows, probe_rows);
    const std::size_t tile_count =
        most_tiles(most_rows, partitions >> ((bits() - 1) % tuning_.pass_bits + 1), request_.key_bytes);
    storage_.reserve<radix_tile>(tiles, tile_count);
    storage_.reserve<std::uint32_t>(counts, tile_count << radix_bits);
    for (const slot s : {begins, next_begins, probe_begins, next_probe_begins}) {
      storage_.reserve<std::uint32_t>(s, partitions + 1);
    }
    reserve_side(build_a, build_numbers_a, build_rows);
    reserve_side(probe_a, probe_numbers_a, probe_rows);
    if (strategy_ != JoinStrategy::radix_multi) return;
    reserve_side(build_b, build_numbers_b, build_rows);
    reserve_side(probe_b, probe_numbers_b, probe_rows);
  }
  void reserve_side(slot keys, slot numbers, std::size_t rows) {
    if (request_.key_bytes == 8) {
      storage_.reserve<std::uint64_t>(keys, rows);
    } else {
      storage_.reserve<std::uint32_t>(keys, rows);
    }
    storage_.reserve<std::uint32_t>(numbers, rows);
  }

  buffer_view at(slot s) const { return workspace_.at(storage_.get<char>(s)); }

  [[nodiscard]] MetalJoinStatus map_arrays() {
    const auto map = [this](mapped& what, const void* data, std::uint64_t bytes, access how) {
      return what.map(gpu_, const_cast<void*>(data), static_cast<std::size_t>(bytes), how);
    };
    MetalJoinStatus status =
        map(build_keys_, request_.build_keys, request_.build_rows * request_.key_bytes, access::read);
    if (status == MetalJoinStatus::success) {
      status = map(probe_keys_, request_.probe_keys, request_.probe_rows * request_.key_bytes, access::read);
    }
    const std::uint64_t out_bytes = request_.capacity * request_.row_bytes;
    if (status == MetalJoinStatus::success) {
      status = map(build_out_, request_.build_out, request_.build_out == nullptr ? 0 : out_bytes, access::write);
    }
    if (status == MetalJoinStatus::success) {
      status = map(probe_out_, request_.probe_out, out_bytes, access::write);
    }
    return status;
  }

  join_args arguments() const {
    join_args result{};
    result.capacity = request_.capacity;
    result.has_rows = strategy_ == JoinStrategy::simple ? 0 : 1;
    result.emit = emits() ? 1 : 0;
    result.mark = marks() ? 1 : 0;
    return result;
  }

  /// Runs `kernel` for all tasks that `list(runner)` adds.
  template <class Kernel, class List>
  [[nodiscard]] MetalJoinStatus run_tasks(const Kernel& kernel, const List& list) {
    const pipeline* advance = nullptr;
    MetalJoinStatus status = gpu_.get(function::advance_total, 0, 0, advance);
    if (status != MetalJoinStatus::success) return status;
    task_runner<Kernel> runner(tuning_, emits(), queue_, storage_.get<join_task>(tasks), at(tasks), *advance, count(),
                               total(), kernel);
    status = list(runner);
    return status == MetalJoinStatus::success ? runner.run() : status;
  }
  buffer_view count() const { return workspace_.at(&storage_.get<join_counters>(counters)->count); }
  buffer_view total() const { return workspace_.at(&storage_.get<join_counters>(counters)->total); }
  buffer_view found_or_any() const { return marks() ? at(found) : at(counters); }

  [[nodiscard]] MetalJoinStatus run_simple() {
    const pipeline* counting = nullptr;
    const pipeline* filling = nullptr;
    const pipeline* joining = nullptr;
    const std::size_t key_bytes = request_.key_bytes;
    MetalJoinStatus status = gpu_.get(function::table_count, key_bytes, 0, counting);
    if (status == MetalJoinStatus::success) {
      status = gpu_.get(function::table_fill, key_bytes, 0, filling);
    }
    if (status == MetalJoinStatus::success) {
      status = gpu_.get(function::table_join, key_bytes, request_.row_bytes, joining);
    }
    if (status != MetalJoinStatus::success) return status;

    join_args args = arguments();
    args.rows = static_cast<std::uint32_t>(request_.build_rows);
    args.table_mask = static_cast<std::uint32_t>(buckets() - 1);
    constexpr std::size_t threads = radix_threads;
    const std::size_t groups = (request_.build_rows + threads - 1) / threads;
    auto* const bounds = storage_.get<std::uint32_t>(counts);
    std::memset(bounds, 0, buckets() * 4);
    {
      command c(queue_);
      c.dispatch(*counting, groups, threads, build_keys_.begin(), at(counts), constant_of(args));
      status = c.run();
    }
    if (status != MetalJoinStatus::success) return status;
    std::uint32_t sum = 0;
    std::uint32_t longest = 0;
    for (std::size_t b = 0; b < buckets(); ++b) {
      const std::uint32_t rows = bounds[b];
      bounds[b] = sum;
      sum += rows;
      if (rows > longest) longest = rows;
    }
    if (sum != request_.build_rows) {
      return fail(MetalJoinStatus::launch_failure, "a table does not have all rows");
    }
    {
      command c(queue_);
      c.dispatch(*filling, groups, threads, build_keys_.begin(), at(counts), at(build_numbers_a), constant_of(args));
      status = c.run();
    }
    if (status != MetalJoinStatus::success) return status;

    const std::size_t join_threads = threads_for(*joining);
    const threadgroup_bytes staged{join_threads / simd_lanes * 64 * 4};
    const auto kernel = [&](command& c, buffer_view first, std::size_t tasks_count) {
      c.dispatch(*joining, tasks_count, join_threads, build_keys_.begin(), at(counts), probe_keys_.begin(),
                 at(build_numbers_a), first, build_out_.begin(), probe_out_.begin(), count(), total(), found_or_any(),
                 constant_of(args), staged, staged);
    };
    return run_tasks(kernel, [&](auto& runner) {
      return runner.add(0, longest, tuning_.bucket_rows, 0, static_cast<std::uint32_t>(request_.probe_rows));
    });
  }

  std::size_t threads_for(const pipeline& kernel) const {
    std::size_t threads = tuning_.threads;
    while (threads > simd_lanes && threads > kernel.max_threads) threads /= 2;
    return threads;
  }

  [[nodiscard]] MetalJoinStatus partition() {
    build_.begins = storage_.get<std::uint32_t>(begins);
    build_.next_begins = storage_.get<std::uint32_t>(next_begins);
    build_.rows = request_.build_rows;
    build_.keys = build_keys_.begin();
    probe_.begins = storage_.get<std::uint32_t>(probe_begins);
    probe_.next_begins = storage_.get<std::uint32_t>(next_probe_begins);
    probe_.rows = request_.probe_rows;
    probe_.keys = probe_keys_.begin();
    build_.free_keys[0] = at(build_a);
    build_.free_keys[1] = at(build_b);
    build_.free_numbers[0] = at(build_numbers_a);
    build_.free_numbers[1] = at(build_numbers_b);
    probe_.free_keys[0] = at(probe_a);
    probe_.free_keys[1] = at(probe_b);
    probe_.free_numbers[0] = at(probe_numbers_a);
    probe_.free_numbers[1] = at(probe_numbers_b);
    const radix_workspace workspace{storage_.get<radix_tile>(tiles), storage_.get<std::uint32_t>(counts), at(tiles),
                                    at(counts)};
    for (radix_side* side : {&build_, &probe_}) {
      side->begins[0] = 0;
      side->begins[1] = static_cast<std::uint32_t>(side->rows);
      for (unsigned done = 0; done < bits();) {
        const unsigned left = bits() - done;
        const unsigned now = detail::least(left, tuning_.pass_bits);
        const MetalJoinStatus status =
            radix_pass(gpu_, queue_, request_.key_bytes, 32 - done - now, now, workspace, *side);
        if (status != MetalJoinStatus::success) return status;
        done += now;
      }
    }
    return MetalJoinStatus::success;
  }

  [[nodiscard]] MetalJoinStatus run_radix() {
    const pipeline* joining = nullptr;
    MetalJoinStatus status = gpu_.get(function::partition_join, request_.key_bytes, request_.row_bytes, joining);
    if (status != MetalJoinStatus::success) return status;
    const std::size_t threads = threads_for(*joining);
    const std::size_t rows = table_rows_of(tuning_, threads, gpu_.threadgroup_bytes());
    if (rows == 0) {
      return fail(MetalJoinStatus::not_supported, "a table does not fit the threadgroup memory");
    }
    status = partition();
    if (status != MetalJoinStatus::success) return status;
    const table_layout table = table_layout_of(threads, rows);
    const join_args args = arguments();
    const auto kernel = [&](command& c, buffer_view first, std::size_t tasks_count) {
      c.dispatch(*joining, tasks_count, threads, build_.keys, build_.numbers, probe_.keys, probe_.numbers, first,
                 build_out_.begin(), probe_out_.begin(), count(), total(), found_or_any(), constant_of(args),
                 threadgroup_bytes{table.bounds}, threadgroup_bytes{table.hashes}, threadgroup_bytes{table.numbers},
                 threadgroup_bytes{table.staged}, threadgroup_bytes{table.sums});
    };
    return run_tasks(kernel, [&](auto& runner) {
      for (std::size_t p = 0; p < build_.partitions; ++p) {
        const MetalJoinStatus added =
            runner.add(build_.begins[p], build_.begins[p + 1], static_cast<std::uint32_t>(rows), probe_.begins[p],
                       probe_.begins[p + 1]);
        if (added != MetalJoinStatus::success) return added;
      }
      return MetalJoinStatus::success;
    });
  }

  [[nodiscard]] MetalJoinStatus put_lone_rows() {
    const pipeline* putting = nullptr;
    const pipeline* advance = nullptr;
    MetalJoinStatus status = gpu_.get(function::lone_rows, 0, request_.row_bytes, putting);
    if (status == MetalJoinStatus::success) {
      status = gpu_.get(function::advance_total, 0, 0, advance);
    }
    if (status != MetalJoinStatus::success) return status;
    join_args args = arguments();
    args.rows = static_cast<std::uint32_t>(request_.probe_rows);
    args.mark = request_.build_out == nullptr ? 0 : 1;
    args.writes_found = request_.kind == JoinKind::semi ? 1 : 0;
    constexpr std::size_t threads = radix_threads;
    command c(queue_);
    c.dispatch(*putting, (words() + threads - 1) / threads, threads, at(found),
               strategy_ == JoinStrategy::simple ? at(found) : probe_.numbers, build_out_.begin(), probe_out_.begin(),
               count(), total(), constant_of(args));
    c.dispatch(*advance, 1, simd_lanes, count(), total());
    return c.run();
  }

  context& gpu_;
  objc::id queue_ = nullptr;
  JoinStrategy strategy_;
  const join_request& request_;
  const MetalJoinTuning& tuning_;
  temporary_storage::layout<slots> storage_;
  mapped workspace_;
  mapped build_keys_;
  mapped probe_keys_;
  mapped build_out_;
  mapped probe_out_;
  radix_side build_;
  radix_side probe_;
};

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
