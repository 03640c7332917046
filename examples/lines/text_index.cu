// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of lines.

#include "../common/device.cuh"
#include "text_index.hpp"

#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lines::STRATA_EXAMPLE_BACK_END {

using example::computed;
using example::device_array;
using example::run;

// ------------------------------------------------------------------ what is computed and selected

struct itself {
  STRATA_HD long long operator()(long long i) const { return i; }
};
using positions = computed<itself>;

struct text_view {
  const char* bytes;
  long long size;

  /// Before and after the text there is nothing, which is no word.
  STRATA_HD bool is_word(long long i) const {
    return i >= 0 && i < size && bytes[i] != ' ' && (bytes[i] < '\t' || bytes[i] > '\r');
  }
};

/// The end of the text counts as a beginning, so that a line ends where the next one begins.
struct begins_line {
  text_view text;
  STRATA_HD bool operator()(long long i) const { return i == 0 || i == text.size || text.bytes[i - 1] == '\n'; }
};

struct begins_word {
  text_view text;
  STRATA_HD bool operator()(long long i) const { return text.is_word(i) && !text.is_word(i - 1); }
};

/// In order these positions are begin, end, begin, end, ...
struct bounds_word {
  text_view text;
  STRATA_HD bool operator()(long long i) const { return text.is_word(i) != text.is_word(i - 1); }
};

struct word_between {
  const long long* bounds;
  STRATA_HD word operator()(long long i) const { return {bounds[2 * i], bounds[2 * i + 1] - bounds[2 * i]}; }
};

struct length_of {
  STRATA_HD long long operator()(const word& counted) const { return counted.length; }
};

struct is_as_long {
  long long length;
  STRATA_HD bool operator()(const word& candidate) const { return candidate.length >= length; }
};

// ------------------------------------------------------------------ the index

/// What the items are transformed to, all together; 0 is what there is without any.
template <class Items, class Operator, class Transform>
long long reduce(Items items, long long size, Operator op, Transform transform) {
  const device_array<long long> result(1);
  run("DeviceReduce::TransformReduce", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceReduce::TransformReduce(temp, temp_bytes, items, result.get(), size, op, transform, 0LL);
  });
  return result.download()[0];
}

template <class Items, class Predicate>
long long count_if(Items items, long long size, Predicate is_wanted) {
  return reduce(items, size, strata::Sum{}, is_wanted);
}

/// Counts first, so that the result has room for what is selected and for nothing else.
template <class Items, class Predicate>
device_array<typename Items::value_type> select_if(Items items, long long size, Predicate is_wanted) {
  const long long room = count_if(items, size, is_wanted);
  device_array<typename Items::value_type> selected(static_cast<std::size_t>(room));
  if (selected.size() == 0) return selected;
  const device_array<long long> count(1);
  run("DeviceSelect::If", [&](void* temp, std::size_t& temp_bytes) {
    return strata::DeviceSelect::If(temp, temp_bytes, items, selected.get(), count.get(), size, is_wanted);
  });
  return selected;
}

class cuda_text_index final : public text_index {
 public:
  cuda_text_index(std::string device, const std::string& text)
      : device_(std::move(device)), bytes_(text.data(), text.size()) {}

  std::string device() const override { return device_; }

  std::vector<long long> line_offsets() const override {
    std::vector<long long> offsets = line_bounds().download();
    offsets.pop_back();
    return offsets;
  }

  std::vector<long long> words_of_lines() const override { return count_words().download(); }

  std::vector<long long> running_totals() const override {
    const device_array<long long> words = count_words();
    run("DeviceScan::InclusiveSum", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceScan::InclusiveSum(temp, temp_bytes, words.get(), words.size());
    });
    return words.download();
  }

  std::vector<word> longest_words(long long wanted) const override {
    const device_array<long long> bounds = select_if(positions{}, text().size + 1, bounds_word{text()});
    const computed<word_between> all_words{{bounds.get()}};
    const auto size = static_cast<long long>(bounds.size() / 2);

    // A word that is shorter than `wanted` others is none of the longest. What is left is little,
    // unless many words are equally long.
    long long length = 1;
    long long too_long = reduce(all_words, size, strata::Max{}, length_of{}) + 1;
    while (length + 1 < too_long) {
      const long long middle = length + (too_long - length) / 2;
      if (count_if(all_words, size, is_as_long{middle}) >= wanted) {
        length = middle;
      } else {
        too_long = middle;
      }
    }
    std::vector<word> longest = select_if(all_words, size, is_as_long{length}).download();
    std::stable_sort(longest.begin(), longest.end(), [](const word& a, const word& b) { return a.length > b.length; });
    if (static_cast<long long>(longest.size()) > wanted) {
      longest.resize(static_cast<std::size_t>(wanted));
    }
    return longest;
  }

 private:
  text_view text() const { return {bytes_.get(), static_cast<long long>(bytes_.size())}; }

  /// Where the lines begin, and where the last one ends.
  device_array<long long> line_bounds() const { return select_if(positions{}, text().size + 1, begins_line{text()}); }

  /// Per line. A line is a segment of the text, in which beginnings of words are added up.
  device_array<long long> count_words() const {
    const device_array<long long> bounds = line_bounds();
    device_array<long long> words(bounds.size() - 1);
    run("DeviceSegmentedReduce::Sum", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceSegmentedReduce::Sum(temp, temp_bytes, computed<begins_word>{{text()}}, words.get(),
                                                static_cast<std::int64_t>(words.size()), bounds.get(),
                                                bounds.get() + 1);
    });
    return words;
  }

  std::string device_;
  device_array<char> bytes_;
};

std::unique_ptr<text_index> make_index(const std::string& text) {
  return std::make_unique<cuda_text_index>(example::open_device(), text);
}

}  // namespace lines::STRATA_EXAMPLE_BACK_END
