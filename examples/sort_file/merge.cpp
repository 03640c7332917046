// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "record.hpp"
#include "sort_job.hpp"

#include <algorithm>
#include <cstring>
#include <queue>
#include <vector>

namespace sort_file {
namespace {

using example::data_file;

sort_key read_key(const data_file& file, long long record) {
  char bytes[key_bytes];
  file.read(bytes, key_bytes, record * record_bytes);
  return key_of(bytes);
}

/// The first record of `range` whose key is not less than `key`, or is greater if `is_behind_equals`.
long long bound(const data_file& file, share range, const sort_key& key, bool is_behind_equals) {
  while (range.begin < range.end) {
    const long long middle = range.begin + range.size() / 2;
    const sort_key other = read_key(file, middle);
    if (is_behind_equals ? key < other : !(other < key)) {
      range.end = middle;
    } else {
      range.begin = middle + 1;
    }
  }
  return range.begin;
}

/// Cuts each run so that the records in front of the cuts are the first `position` records of the merge. In each round,
/// a pivot in the middle of the longest range that is still open closes at least half of this range.
std::vector<long long> cut_runs(const data_file& file, const std::vector<share>& runs, long long position) {
  const std::size_t count = runs.size();
  std::vector<share> open = runs;
  std::vector<long long> cuts(count);
  for (;;) {
    const auto longest = static_cast<std::size_t>(
        std::max_element(open.begin(), open.end(), [](share a, share b) { return a.size() < b.size(); }) -
        open.begin());
    if (open[longest].size() == 0) break;
    const long long pivot = open[longest].begin + open[longest].size() / 2;
    const sort_key key = read_key(file, pivot);
    long long in_front = 0;
    for (std::size_t i = 0; i < count; ++i) {
      cuts[i] = i == longest ? pivot : bound(file, open[i], key, i < longest);
      in_front += cuts[i] - runs[i].begin;
    }
    const bool is_pivot_in_front = in_front < position;
    for (std::size_t i = 0; i < count; ++i) (is_pivot_in_front ? open[i].begin : open[i].end) = cuts[i];
    if (is_pivot_in_front) open[longest].begin = pivot + 1;
  }
  for (std::size_t i = 0; i < count; ++i) cuts[i] = open[i].begin;
  return cuts;
}

/// Reads the records of a part of a run one after another.
class run_reader {
 public:
  run_reader(const data_file& file, share range, std::size_t buffer_records)
      : file_(&file), rest_(range), buffer_records_(static_cast<long long>(buffer_records)) {}

  /// Goes on to the next record, or returns false if there is none.
  bool advance() {
    at_ += record_bytes;
    if (at_ >= buffer_.size()) {
      const long long records = std::min(buffer_records_, rest_.size());
      if (records == 0) return false;
      buffer_.resize(static_cast<std::size_t>(records) * record_bytes);
      file_->read(buffer_.data(), buffer_.size(), rest_.begin * record_bytes);
      rest_.begin += records;
      at_ = 0;
    }
    key_ = key_of(get());
    return true;
  }

  const sort_key& key() const { return key_; }
  const char* get() const { return buffer_.data() + at_; }

 private:
  const data_file* file_;
  share rest_;
  long long buffer_records_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  sort_key key_{};
};

/// Readers lie in one array, in the order of their runs.
struct comes_later {
  bool operator()(const run_reader* a, const run_reader* b) const {
    return b->key() < a->key() || (!(a->key() < b->key()) && b < a);
  }
};

}  // namespace

void merge_runs(const data_file& file, const std::vector<share>& runs, share mine, const data_file& out,
                std::size_t buffer_bytes) {
  if (mine.size() == 0) return;
  constexpr std::size_t most_bytes = std::size_t{8} << 20;
  const std::size_t each = std::min(buffer_bytes / (runs.size() + 1), most_bytes);
  const std::size_t records = std::max(each / record_bytes, std::size_t{1});
  const std::vector<long long> first = cut_runs(file, runs, mine.begin);
  const std::vector<long long> last = cut_runs(file, runs, mine.end);
  std::vector<run_reader> readers;
  for (std::size_t i = 0; i < runs.size(); ++i) readers.emplace_back(file, share{first[i], last[i]}, records);
  std::priority_queue<run_reader*, std::vector<run_reader*>, comes_later> next;
  const auto advance = [&](run_reader& reader) {
    if (reader.advance()) next.push(&reader);
  };
  for (run_reader& reader : readers) advance(reader);

  std::vector<char> buffer(records * record_bytes);
  std::size_t used = 0;
  long long at = mine.begin * record_bytes;
  while (!next.empty()) {
    run_reader& reader = *next.top();
    next.pop();
    std::memcpy(buffer.data() + used, reader.get(), record_bytes);
    advance(reader);
    used += record_bytes;
    if (used < buffer.size() && !next.empty()) continue;
    out.write(buffer.data(), used, at);
    at += static_cast<long long>(used);
    used = 0;
  }
}

}  // namespace sort_file
