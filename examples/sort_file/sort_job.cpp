// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sort_job.hpp"

#include "record.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace sort_file {
namespace {

using example::data_file;
using example::unfinished_file;
using clock = std::chrono::steady_clock;
using step = std::function<void()>;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// All ranks throw this together. Its message is empty where another rank has failed.
struct failed_together : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum phase_name { reading, sorting, moving, writing, merging, all };

/// What the ranks of one process share.
class job {
 public:
  job(example::program& running, sorter_group& group, const sort_options& chosen)
      : running_(running), group_(group), chosen_(chosen), in_(chosen.in, data_file::mode::read) {
    const long long bytes = in_.size();
    if (bytes % record_bytes != 0) throw wrong_size(in_.shown_name(), bytes);
    out_name_ = example::output_name(chosen.out);
    if (in_.is_same_as(out_name_)) throw std::runtime_error(chosen.out + ": is the input, too");
    report_.records = bytes / record_bytes;
    const auto buffers = static_cast<long long>(chosen.buffer_bytes) / group.size();
    piece_bytes_ = std::max(std::min({buffers / 2, bytes, 32LL << 20}) / record_bytes, 1LL) * record_bytes;
    report_.phases = {{"read and upload"},    {"sort keys"},  {"move records"},
                      {"download and write"}, {"merge runs"}, {"all"}};
  }

  sort_report run() {
    const auto begin = clock::now();
    std::vector<std::thread> threads;
    for (int i = 0; i < group_.size(); ++i) threads.emplace_back([this, i] { run_rank(i); });
    for (std::thread& thread : threads) thread.join();
    running_.hide_progress();
    if (failure_) throw std::runtime_error(failure_->empty() ? "another rank has failed" : *failure_);
    report_.phases[all].seconds = seconds_since(begin);
    return report_;
  }

 private:
  /// A rank that fails outside of `together`, in a call of the device or of NCCL, leaves others in calls that do not
  /// end. So it ends the program.
  void run_rank(int i) {
    try {
      const std::unique_ptr<sorter> self =
          group_.make(i, {report_.records, chosen_.memory, static_cast<std::size_t>(piece_bytes_)});
      wait_until_all_are_made();
      const bool is_first = self->rank() == 0;
      if (is_first) report_.is_first = true;
      sort(*self, i == 0, is_first);
    } catch (const failed_together& failure) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_ || failure_->empty()) failure_ = failure.what();
    } catch (const std::exception& error) {
      const std::lock_guard<std::mutex> lock(mutex_);
      running_.say(error.what());
      unfinished_file::remove_now();
      std::_Exit(dynamic_cast<const example::device_error*>(&error) != nullptr ? example::exit_device_failed
                                                                               : example::exit_file_failed);
    }
  }

  /// Memory is allocated before a rank communicates: an allocation may wait for kernels on other devices, which wait
  /// for this rank.
  void wait_until_all_are_made() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (++made_ == group_.size()) all_are_made_.notify_all();
    all_are_made_.wait(lock, [this] { return made_ == group_.size(); });
  }

  /// All ranks call this. If the step fails on one of them, all throw.
  static void together(sorter& self, const step& work) {
    std::optional<std::string> failure;
    try {
      work();
    } catch (const example::device_error&) {
      throw;  // Messages between ranks need the devices.
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (self.least(failure ? 0 : 1) == 0) throw failed_together(failure.value_or(""));
  }

  void timed(sorter& self, phase_name name, const std::string& what, const step& work) {
    const bool is_first = self.rank() == 0;
    phase& its = report_.phases[name];
    if (is_first) running_.begin(its.name + what);
    const auto begin = clock::now();
    together(self, work);
    if (is_first) its.seconds += seconds_since(begin);
  }

  void sort(sorter& self, bool is_first_here, bool is_first) {
    // All ranks must make the same runs.
    const long long records = report_.records;
    const long long capacity = self.least(self.capacity());
    const bool is_same = self.least(records) == records && -self.least(-records) == records;
    together(self, [&] {
      if (!is_same) throw std::runtime_error(in_.shown_name() + ": ranks do not see the same file");
      if (capacity > 0) return;
      throw std::runtime_error("too little memory: one record takes " + std::to_string(self.least_memory()) + " bytes");
    });
    const auto quotient = [](long long a, long long b) { return a / b + (a % b > 0); };
    const long long least_runs = std::max(quotient(records, capacity * self.ranks()), 1LL);
    const long long run_records = std::max(quotient(records, least_runs), 1LL);
    const long long runs = quotient(records, run_records);
    if (is_first) {
      report_.runs = runs;
      report_.ranks = self.ranks();
    }
    open_files(self, is_first_here, is_first, runs > 1);
    const data_file& sorted_file = runs > 1 ? runs_file_ : out_;

    std::vector<share> bounds;
    for (long long i = 0; i < runs; ++i) {
      const share run{i * run_records, std::min((i + 1) * run_records, records)};
      bounds.push_back(run);
      const share mine = share_of(run.size(), self.rank(), self.ranks());
      const std::string what = ", run " + std::to_string(i + 1) + " of " + std::to_string(runs);
      const long long at = (run.begin + mine.begin) * record_bytes;
      timed(self, reading, what, [&] { read(self, at, mine.size() * record_bytes); });
      timed(self, sorting, what, [&] { self.sort_keys(run.size()); });
      timed(self, moving, what, [&] { self.move_records(run.size()); });
      timed(self, writing, what, [&] { write(self, sorted_file, at, mine.size() * record_bytes); });
    }
    if (runs > 1) timed(self, merging, "", [&] { merge(self, bounds); });
    // The name that the user has given comes last, when all bytes are there.
    together(self, [&] {
      if (is_first_here) out_.close();
    });
    together(self, [&] {
      if (is_first) unfinished_->rename_to(out_name_);
    });
  }

  void open_files(sorter& self, bool is_first_here, bool is_first, bool has_runs) {
    const auto open = [&](data_file::mode how) {
      // A rank that ends the program at the same time must find and remove all files.
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto open_one = [&](const std::string& name, data_file& file, std::optional<unfinished_file>& unfinished) {
        file = data_file(name, how);
        if (how != data_file::mode::create) return;
        unfinished.emplace(name);
        file.reserve(report_.records * record_bytes);
      };
      open_one(out_name_ + ".partial", out_, unfinished_);
      if (has_runs) open_one(out_name_ + ".runs", runs_file_, unfinished_runs_);
    };
    together(self, [&] {
      if (is_first) open(data_file::mode::create);
    });
    together(self, [&] {
      if (is_first_here && !is_first) open(data_file::mode::change);
    });
    // All processes have opened the file of the runs. It loses its name here, and is gone when the last process ends.
    if (is_first) unfinished_runs_.reset();
  }

  std::size_t piece_size(long long rest) const { return static_cast<std::size_t>(std::min(rest, piece_bytes_)); }

  /// Two pieces take turns: while the device gets one, the other is read.
  void read(sorter& self, long long at, long long bytes) const {
    int which = 0;
    for (long long done = 0; done < bytes; which ^= 1) {
      const std::size_t size = piece_size(bytes - done);
      self.wait(which);
      in_.read(self.piece(which), size, at + done);
      self.upload(which, size, static_cast<std::size_t>(done));
      done += static_cast<long long>(size);
    }
    self.wait(0);
    self.wait(1);
  }

  void write(sorter& self, const data_file& file, long long at, long long bytes) const {
    int which = 0;
    if (bytes > 0) self.download(which, piece_size(bytes), 0);
    for (long long done = 0; done < bytes; which ^= 1) {
      const std::size_t size = piece_size(bytes - done);
      const long long next = done + static_cast<long long>(size);
      self.wait(which);
      if (next < bytes) self.download(which ^ 1, piece_size(bytes - next), static_cast<std::size_t>(next));
      file.write(self.piece(which), size, at + done);
      done = next;
    }
  }

  /// Each rank writes its share of the result, by several threads.
  void merge(const sorter& self, const std::vector<share>& runs) const {
    const share mine = share_of(report_.records, self.rank(), self.ranks());
    constexpr long long least_records = 1 << 16;  // with fewer records, a thread does not pay
    constexpr long long most_threads = 16;
    const long long cores = std::thread::hardware_concurrency() / static_cast<unsigned>(group_.size());
    const long long count = std::max(1LL, std::min({cores, most_threads, mine.size() / least_records}));
    const std::size_t buffers = chosen_.buffer_bytes / static_cast<std::size_t>(group_.size() * count);
    std::vector<std::future<void>> parts;
    for (long long i = 0; i < count; ++i) {
      parts.push_back(std::async(std::launch::async, [&, i] {
        const share part = share_of(mine.size(), i, count);
        merge_runs(runs_file_, runs, {mine.begin + part.begin, mine.begin + part.end}, out_, buffers);
      }));
    }
    for (std::future<void>& part : parts) part.get();  // throws what the part has thrown
  }

  example::program& running_;
  sorter_group& group_;
  const sort_options& chosen_;
  data_file in_;
  long long piece_bytes_;
  std::string out_name_;
  data_file out_;        // the result, by another name until it is complete
  data_file runs_file_;  // all sorted runs, one behind the other
  std::optional<unfinished_file> unfinished_;
  std::optional<unfinished_file> unfinished_runs_;
  sort_report report_;
  std::mutex mutex_;
  std::condition_variable all_are_made_;
  int made_ = 0;
  std::optional<std::string> failure_;  // why the ranks failed; empty if another process knows it
};

}  // namespace

sort_report sort_by_ranks(example::program& running, sorter_group& group, const sort_options& chosen) {
  return job(running, group, chosen).run();
}

}  // namespace sort_file
