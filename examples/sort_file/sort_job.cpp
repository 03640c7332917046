// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sort_job.hpp"

#include "record.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace sort_file {
namespace {

using example::unfinished_file;
using clock = std::chrono::steady_clock;

/// Another rank has failed, and says why.
struct other_rank_failed : std::runtime_error {
  other_rank_failed() : std::runtime_error("another rank has failed") {}
};

enum phase_name { reading, sorting, moving, writing, merging };

/// What the ranks of one process share.
class job {
 public:
  job(example::program& running, sorter_group& group, const sort_options& chosen)
      : running_(running), group_(group), chosen_(chosen), in_(chosen.in, data_file::mode::read) {
    const long long bytes = in_.size();
    if (bytes % record_bytes != 0) {
      throw std::runtime_error(in_.shown_name() + ": " + std::to_string(bytes) + " bytes are not a multiple of " +
                               std::to_string(record_bytes));
    }
    out_name_ = example::output_name(chosen.out);
    if (in_.is_same_as(out_name_)) throw std::runtime_error(chosen.out + ": is the input, too");
    report_.records = bytes / record_bytes;
    report_.phases = {{"read and upload"}, {"sort keys"}, {"move records"}, {"download and write"}, {"merge runs"}};
  }

  sort_report run() {
    const clock::time_point begin = clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < group_.size(); ++i) threads.emplace_back([this, i] { run_rank(i); });
    for (std::thread& thread : threads) thread.join();
    running_.hide_progress();
    if (failure_) std::rethrow_exception(failure_);
    report_.seconds = std::chrono::duration<double>(clock::now() - begin).count();
    return report_;
  }

 private:
  /// Ranks fail together: `together` sees to that. A rank that fails anywhere else, in a call of the device or of
  /// NCCL, leaves others in calls that do not end.
  void run_rank(int i) {
    bool is_together = false;
    try {
      const std::size_t piece = chosen_.buffer_bytes / 2 / static_cast<std::size_t>(group_.size());
      const std::size_t most = std::min<std::size_t>(most_piece_bytes, static_cast<std::size_t>(in_.size()));
      const std::size_t records = std::max(std::min(piece, most) / record_bytes, std::size_t{1});
      const std::unique_ptr<sorter> self = group_.make(i, {report_.records, chosen_.memory, records * record_bytes});
      wait_until_all_are_made();
      sort(*self, i == 0, is_together);
      if (i == 0) report_.is_first = self->rank() == 0;
    } catch (const std::exception& error) {
      if (!is_together) end_program(error);
      const std::lock_guard<std::mutex> lock(mutex_);
      const bool is_reason = dynamic_cast<const other_rank_failed*>(&error) == nullptr;
      if (!failure_ || (is_reason && !has_reason_)) failure_ = std::current_exception();
      has_reason_ = has_reason_ || is_reason;
    }
  }

  /// Memory is allocated before a rank communicates: an allocation may wait for kernels on other devices, which wait
  /// for this rank.
  void wait_until_all_are_made() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (++made_ == group_.size()) all_are_made_.notify_all();
    all_are_made_.wait(lock, [this] { return made_ == group_.size(); });
  }

  [[noreturn]] void end_program(const std::exception& error) {
    const std::lock_guard<std::mutex> lock(mutex_);
    running_.say(error.what());
    unfinished_file::remove_now();
    std::_Exit(dynamic_cast<const example::device_error*>(&error) != nullptr ? example::exit_device_failed
                                                                             : example::exit_file_failed);
  }

  void sort(sorter& self, bool is_first_here, bool& is_together) {
    const bool is_first = self.rank() == 0;
    /// All ranks call this. If one fails, all throw.
    const auto together = [&](const std::function<void()>& step) {
      std::exception_ptr failure;
      try {
        step();
      } catch (const example::device_error&) {
        throw;  // Messages between ranks need the devices.
      } catch (...) {
        failure = std::current_exception();
      }
      const bool is_well = self.least(failure ? 0 : 1) == 1;
      is_together = !is_well;
      if (failure) std::rethrow_exception(failure);
      if (!is_well) throw other_rank_failed();
    };
    const auto timed = [&](phase_name name, long long bytes, const std::function<void()>& step) {
      const clock::time_point begin = clock::now();
      together(step);
      if (!is_first_here) return;
      report_.phases[name].bytes += bytes;
      report_.phases[name].seconds += std::chrono::duration<double>(clock::now() - begin).count();
    };
    const auto show = [&](const std::string& step, long long bytes) {
      if (!is_first_here) return;
      done_ = 0;
      if (is_first) running_.begin(step);
      all_ = bytes / self.ranks() * group_.size();
    };
    const auto progress = [&](std::size_t bytes) {
      done_ += static_cast<long long>(bytes);
      if (is_first_here && is_first) running_.set_bytes(done_, all_);
    };

    // All ranks must make the same runs.
    const long long records = report_.records;
    const long long capacity = self.least(self.capacity());
    if (self.least(records) != records || -self.least(-records) != records) {
      together([&] { throw std::runtime_error(in_.shown_name() + ": ranks do not see the same file"); });
    }
    together([&] {
      if (is_first && !chosen_.id_file.empty()) example::remove_file(chosen_.id_file);
      if (capacity > 0) return;
      throw std::runtime_error("too little memory: one record takes " + std::to_string(self.least_memory()) + " bytes");
    });
    const long long most = capacity * self.ranks();
    const long long runs = records / most + (records % most > 0);
    if (is_first_here) {
      report_.runs = runs;
      report_.records_of_run = runs == 0 ? 0 : (records + runs - 1) / runs;
      report_.ranks = self.ranks();
    }
    open_files(together, is_first_here, is_first, runs > 1);
    const data_file& sorted_file = runs > 1 ? runs_file_ : out_;

    std::vector<sorted_run> bounds;
    for (long long i = 0; i < runs; ++i) {
      const share run = share_of_run(records, i, runs);
      bounds.push_back({run.begin, run.end});
      const share mine = share_of(run.size(), self.rank(), self.ranks());
      const long long bytes = run.size() * record_bytes;
      const std::string name = "run " + std::to_string(i + 1) + " of " + std::to_string(runs);
      const long long at = (run.begin + mine.begin) * record_bytes;
      show("reading " + name, bytes);
      timed(reading, bytes, [&] { read(self, at, mine.size() * record_bytes, progress); });
      show("sorting " + name, bytes);
      timed(sorting, bytes, [&] { self.sort_keys(run.size()); });
      timed(moving, bytes, [&] { self.move_records(run.size()); });
      show("writing " + name, bytes);
      timed(writing, bytes, [&] { write(self, sorted_file, at, mine.size() * record_bytes, progress); });
    }
    if (runs > 1) {
      show("merging " + std::to_string(runs) + " runs", records * record_bytes);
      timed(merging, records * record_bytes, [&] { merge(self, bounds, progress); });
    }
    // The name that the user has given comes last, when all bytes are there.
    together([&] {
      if (is_first_here) out_.close();
    });
    together([&] {
      if (is_first) unfinished_->rename_to(out_name_);
    });
  }

  static share share_of_run(long long records, long long run, long long runs) {
    // Without a product that might overflow: the first runs have one record more.
    const long long each = records / runs;
    const long long more = records % runs;
    const long long begin = run * each + std::min(run, more);
    return {begin, begin + each + (run < more ? 1 : 0)};
  }

  template <class Together>
  void open_files(const Together& together, bool is_first_here, bool is_first, bool has_runs) {
    const std::string partial = out_name_ + ".partial";
    const std::string runs = out_name_ + ".runs";
    const long long bytes = report_.records * record_bytes;
    together([&] {
      if (!is_first) return;
      // A rank that ends the program meanwhile must not miss a file.
      const std::lock_guard<std::mutex> lock(mutex_);
      out_ = data_file(partial, data_file::mode::create);
      unfinished_.emplace(partial);
      out_.reserve(bytes);
      if (!has_runs) return;
      runs_file_ = data_file(runs, data_file::mode::create);
      unfinished_runs_.emplace(runs);
      runs_file_.reserve(bytes);
    });
    together([&] {
      if (!is_first_here || is_first) return;
      out_ = data_file(partial, data_file::mode::change);
      if (has_runs) runs_file_ = data_file(runs, data_file::mode::change);
    });
    // All have opened it: without a name, it is gone when the last process ends.
    if (is_first) unfinished_runs_.reset();
  }

  /// Two pieces take turns: while the device gets one, the other is read.
  template <class Progress>
  void read(sorter& self, long long at, long long bytes, const Progress& progress) const {
    int which = 0;
    for (long long done = 0; done < bytes; which ^= 1) {
      const auto size = static_cast<std::size_t>(std::min<long long>(bytes - done, piece_bytes(self)));
      self.wait(which);
      in_.read(self.piece(which), size, at + done);
      self.upload(which, size, static_cast<std::size_t>(done));
      done += static_cast<long long>(size);
      progress(size);
    }
    self.wait(0);
    self.wait(1);
  }

  template <class Progress>
  void write(sorter& self, const data_file& file, long long at, long long bytes, const Progress& progress) const {
    const auto size_at = [&](long long done) {
      return static_cast<std::size_t>(std::clamp<long long>(bytes - done, 0, piece_bytes(self)));
    };
    int which = 0;
    if (bytes > 0) self.download(which, size_at(0), 0);
    for (long long done = 0; done < bytes; which ^= 1) {
      const std::size_t size = size_at(done);
      const long long next = done + static_cast<long long>(size);
      self.wait(which);
      if (next < bytes) self.download(which ^ 1, size_at(next), static_cast<std::size_t>(next));
      file.write(self.piece(which), size, at + done);
      done = next;
      progress(size);
    }
  }

  /// Each rank writes its share of the result, by several threads.
  template <class Progress>
  void merge(const sorter& self, const std::vector<sorted_run>& runs, const Progress& progress) const {
    const share mine = share_of(report_.records, self.rank(), self.ranks());
    int threads = chosen_.merge_threads;
    if (threads == 0) {
      const int cores = static_cast<int>(std::thread::hardware_concurrency());
      constexpr long long least_records = 1 << 20;  // for which a thread is worth while
      threads = std::max(1, std::min({cores / group_.size(), most_merge_threads,
                                      static_cast<int>(std::min<long long>(mine.size() / least_records, 1 << 20))}));
    }
    const std::size_t buffers =
        chosen_.buffer_bytes / static_cast<std::size_t>(group_.size()) / static_cast<std::size_t>(threads);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(threads));
    std::vector<std::thread> others;
    const auto work = [&](int i) {
      try {
        const share part = share_of(mine.size(), i, threads);
        merge_runs(runs_file_, runs, mine.begin + part.begin, mine.begin + part.end, out_, buffers, progress);
      } catch (...) {
        failures[static_cast<std::size_t>(i)] = std::current_exception();
      }
    };
    for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& thread : others) thread.join();
    for (const std::exception_ptr& failure : failures) {
      if (failure) std::rethrow_exception(failure);
    }
  }

  static long long piece_bytes(const sorter& self) { return static_cast<long long>(self.piece_bytes()); }

  static constexpr std::size_t most_piece_bytes = std::size_t{32} << 20;
  static constexpr int most_merge_threads = 16;

  example::program& running_;
  sorter_group& group_;
  const sort_options& chosen_;
  data_file in_;
  std::string out_name_;
  data_file out_;        // the result, by another name until it is complete
  data_file runs_file_;  // all sorted runs, one behind the other
  std::optional<unfinished_file> unfinished_;
  std::optional<unfinished_file> unfinished_runs_;
  sort_report report_;
  std::atomic<long long> done_{0};
  std::atomic<long long> all_{0};
  std::mutex mutex_;
  std::condition_variable all_are_made_;
  int made_ = 0;
  std::exception_ptr failure_;
  bool has_reason_ = false;
};

}  // namespace

sort_report sort_by_ranks(example::program& running, sorter_group& group, const sort_options& chosen) {
  job work(running, group, chosen);
  return work.run();
}

}  // namespace sort_file
