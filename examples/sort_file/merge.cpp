// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "record.hpp"
#include "sort_job.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sort_file {
namespace {

// ------------------------------------------------------------------ where a part of the result begins

sort_key read_key(const data_file& file, long long record) {
  char bytes[key_bytes];
  file.read(bytes, key_bytes, record * record_bytes);
  return key_of(reinterpret_cast<const unsigned char*>(bytes));
}

/// The first record of [begin, end) whose key is not less than `key`, or is greater if `is_behind_equals`.
long long bound(const data_file& file, long long begin, long long end, const sort_key& key, bool is_behind_equals) {
  while (begin < end) {
    const long long middle = begin + (end - begin) / 2;
    const sort_key other = read_key(file, middle);
    if (is_behind_equals ? key < other : !(other < key)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

/// How each run is cut so that the first `position` records of the merge are those in front of the cuts. A pivot in
/// the middle of the longest range that is still open closes at least half of this range in each round.
std::vector<long long> cut_runs(const data_file& file, const std::vector<sorted_run>& runs, long long position) {
  const std::size_t count = runs.size();
  std::vector<sorted_run> open = runs;
  std::vector<long long> cuts(count);
  for (;;) {
    const auto longest = static_cast<std::size_t>(
        std::max_element(open.begin(), open.end(),
                         [](const sorted_run& a, const sorted_run& b) { return a.end - a.begin < b.end - b.begin; }) -
        open.begin());
    const sorted_run range = open[longest];
    if (range.begin == range.end) break;
    const long long pivot = range.begin + (range.end - range.begin) / 2;
    const sort_key key = read_key(file, pivot);
    long long in_front = 0;
    for (std::size_t i = 0; i < count; ++i) {
      cuts[i] = i == longest ? pivot : bound(file, open[i].begin, open[i].end, key, i < longest);
      in_front += cuts[i] - runs[i].begin;
    }
    const bool is_pivot_in_front = in_front < position;
    for (std::size_t i = 0; i < count; ++i) (is_pivot_in_front ? open[i].begin : open[i].end) = cuts[i];
    if (is_pivot_in_front) open[longest].begin = pivot + 1;
  }
  for (std::size_t i = 0; i < count; ++i) cuts[i] = open[i].begin;
  return cuts;
}

// ------------------------------------------------------------------ readers and the tree

/// Reads some records of a run one after another.
class run_reader {
 public:
  run_reader(const data_file& file, sorted_run range, std::size_t buffer_records)
      : file_(&file),
        next_(range.begin),
        end_(range.end),
        buffer_(std::min(buffer_records, static_cast<std::size_t>(range.end - range.begin)) * record_bytes) {
    advance();
  }

  bool has_record() const { return has_record_; }
  const sort_key& key() const { return key_; }
  const char* get() const { return buffer_.data() + at_; }

  void advance() {
    at_ += record_bytes;
    if (at_ >= filled_) fill();
    if (has_record_) key_ = key_of(reinterpret_cast<const unsigned char*>(get()));
  }

 private:
  void fill() {
    const long long records = std::min<long long>(end_ - next_, static_cast<long long>(buffer_.size()) / record_bytes);
    has_record_ = records > 0;
    if (!has_record_) return;
    filled_ = static_cast<std::size_t>(records) * record_bytes;
    file_->read(buffer_.data(), filled_, next_ * record_bytes);
    next_ += records;
    at_ = 0;
  }

  const data_file* file_;
  long long next_;
  long long end_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool has_record_ = true;
  sort_key key_{};
};

/// Knuth's loser tree: each inner node has the reader that lost there, and the winner of all is at the top.
class loser_tree {
 public:
  explicit loser_tree(std::vector<run_reader>& readers) : readers_(readers), losers_(readers.size()) { top_ = play(1); }

  run_reader& top() { return readers_[top_]; }

  /// The top has another record now.
  void replay() {
    for (std::size_t node = (top_ + losers_.size()) / 2; node > 0; node /= 2) {
      if (is_before(losers_[node], top_)) std::swap(losers_[node], top_);
    }
  }

 private:
  /// Nodes from the number of readers on are the readers themselves.
  std::size_t play(std::size_t node) {
    if (node >= losers_.size()) return node - losers_.size();
    const std::size_t left = play(2 * node);
    const std::size_t right = play(2 * node + 1);
    const bool is_left = is_before(left, right);
    losers_[node] = is_left ? right : left;
    return is_left ? left : right;
  }

  bool is_before(std::size_t a, std::size_t b) const {
    const run_reader& one = readers_[a];
    const run_reader& other = readers_[b];
    if (!one.has_record() || !other.has_record()) return one.has_record();
    if (one.key() == other.key()) return a < b;
    return one.key() < other.key();
  }

  std::vector<run_reader>& readers_;
  std::vector<std::size_t> losers_;
  std::size_t top_ = 0;
};

}  // namespace

void merge_runs(const data_file& file, const std::vector<sorted_run>& runs, long long begin, long long end,
                const data_file& out, std::size_t buffer_bytes, const std::function<void(std::size_t)>& progress) {
  if (begin == end) return;
  constexpr std::size_t most_bytes = std::size_t{8} << 20;
  const std::size_t each = std::min(buffer_bytes / (runs.size() + 1), most_bytes);
  const std::size_t records = std::max(each / record_bytes, std::size_t{1});
  const std::vector<long long> first = cut_runs(file, runs, begin);
  const std::vector<long long> last = cut_runs(file, runs, end);
  std::vector<run_reader> readers;
  readers.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) readers.emplace_back(file, sorted_run{first[i], last[i]}, records);
  loser_tree tree(readers);

  std::vector<char> buffer(records * record_bytes);
  std::size_t used = 0;
  long long at = begin * record_bytes;
  const auto write = [&] {
    out.write(buffer.data(), used, at);
    at += static_cast<long long>(used);
    progress(used);
    used = 0;
  };
  for (long long i = begin; i < end; ++i) {
    std::memcpy(buffer.data() + used, tree.top().get(), record_bytes);
    used += record_bytes;
    if (used == buffer.size()) write();
    tree.top().advance();
    tree.replay();
  }
  if (used > 0) write();
}

}  // namespace sort_file
