// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/metal/command.hpp>
#include <strata/device/join/metal/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {

/// Counters of a join, which CPU and GPU see: the rows of the result that the current dispatch has found (`count`), and
/// those that all dispatches before it have found (`total`). Rows beyond the capacity count, too.
struct join_counters {
  std::uint32_t count;
  std::uint32_t unused;
  std::uint64_t total;
};

/// Lists the tasks of a join and runs them, several in a dispatch. Skew on either side makes more tasks, not larger
/// ones. `Kernel` encodes the dispatch of `count` tasks: `kernel(command&, buffer_view first_task, std::size_t count)`.
template <class Kernel>
class task_runner {
 public:
  task_runner(const MetalJoinTuning& tuning, bool counts, objc::id queue, join_task* tasks, buffer_view tasks_view,
              const pipeline& advance, buffer_view count, buffer_view total, const Kernel& kernel)
      : tuning_(tuning),
        counts_(counts),
        queue_(queue),
        tasks_(tasks),
        tasks_view_(tasks_view),
        advance_(advance),
        count_(count),
        total_(total),
        kernel_(kernel) {}

  /// Lists tasks that together compare each build row of a range with each probe row of a range. A task has at most
  /// `build_each` build rows and `tuning.probe_rows` probe rows. Runs the tasks when the list is full.
  [[nodiscard]] MetalJoinStatus add(std::uint32_t build_begin, std::uint32_t build_end, std::uint32_t build_each,
                                    std::uint32_t probe_begin, std::uint32_t probe_end) {
    for (std::uint32_t b = build_begin; b < build_end;) {
      const std::uint32_t b_end = build_end - b < build_each ? build_end : b + build_each;
      for (std::uint32_t p = probe_begin; p < probe_end;) {
        const std::uint32_t p_end = probe_end - p < tuning_.probe_rows ? probe_end : p + tuning_.probe_rows;
        if (listed_ == tuning_.tasks) {
          const MetalJoinStatus status = run();
          if (status != MetalJoinStatus::success) return status;
        }
        tasks_[listed_++] = {b, b_end, p, p_end};
        p = p_end;
      }
      b = b_end;
    }
    return MetalJoinStatus::success;
  }

  /// Runs the listed tasks.
  [[nodiscard]] MetalJoinStatus run() {
    std::uint32_t next = 0;
    while (next < listed_) {
      command some(queue_);
      for (std::uint32_t d = 0; d < tuning_.dispatches && next < listed_; ++d) {
        const std::uint32_t first = next;
        std::uint64_t pairs = pairs_of(tasks_[next++]);
        while (next < listed_ && pairs + pairs_of(tasks_[next]) <= tuning_.dispatch_pairs) {
          pairs += pairs_of(tasks_[next++]);
        }
        kernel_(some, buffer_view{tasks_view_.buffer, tasks_view_.offset + first * sizeof(join_task)},
                std::size_t{next - first});
        if (counts_) some.dispatch(advance_, 1, simd_lanes, count_, total_);
      }
      const MetalJoinStatus status = some.run();
      if (status != MetalJoinStatus::success) return status;
    }
    listed_ = 0;
    return MetalJoinStatus::success;
  }

 private:
  static std::uint64_t pairs_of(const join_task& task) {
    return std::uint64_t{task.build_end - task.build_begin} * (task.probe_end - task.probe_begin);
  }

  const MetalJoinTuning& tuning_;
  bool counts_;
  objc::id queue_;
  join_task* tasks_;
  buffer_view tasks_view_;
  const pipeline& advance_;
  buffer_view count_;
  buffer_view total_;
  const Kernel& kernel_;
  std::uint32_t listed_ = 0;
};

}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
