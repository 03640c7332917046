// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceSelect, DevicePartition and DeviceRunLengthEncode.
#include <strata/device/device_partition.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_select.cuh>

#include "device/test_iterators.cuh"
#include "random/random_oracles.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;
using strata::DeviceSelect;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 100000, 1u << 23)); }

/// A predicate for items of any type. A hash of all bytes decides, so about `percent` percent of items satisfy it.
struct chosen {
  unsigned percent;
  unsigned salt;

  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &item, sizeof(T));
    unsigned hash = salt;
    for (std::size_t i = 0; i < sizeof(T); ++i) hash = (hash ^ bytes[i]) * 16777619u;
    return (hash >> 8) % 100 < percent;
  }
};

chosen random_choice(source& random) {
  return {random.pick({0u, 1u, 10u, 50u, 90u, 100u}), static_cast<unsigned>(random())};
}

template <class T, class Flag>
struct arrays : memory<T, T> {
  arrays(std::size_t n, bool in_place, bool has_flags, source& from)
      : memory<T, T>(n, in_place ? 0 : n, from), flags(has_flags ? n : 0, from), count(1, from) {}
  array<Flag> flags;
  std::vector<Flag> host_flags;
  array<std::int64_t> count;

  /// Compares the result. In place, the items after the last selected one may hold anything, such as older items.
  void must_be(const std::vector<T>& expected, bool in_place, cudaStream_t stream) const {
    must_be_same<std::int64_t>({static_cast<std::int64_t>(expected.size())}, count.read(stream), "the number");
    if (in_place) {
      std::vector<T> found = this->in.read(stream);
      found.resize(expected.size());
      must_be_same(expected, found, "items in place");
    } else {
      must_be_same(and_untouched(expected, this->items.size()), this->out.read(stream), "items");
    }
  }
};

template <class T>
problem select_if(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = random.chance(40);
  const bool by_iterator = !in_place && random.chance(30);
  const chosen choice = random_choice(random);
  const auto held = std::make_shared<arrays<T, T>>(size, in_place, false, random);
  problem made;
  made.what = description("If", name_of<T>(), size) + ", " + std::to_string(choice.percent) + " %" +
              (in_place ? ", in place" : "") + (by_iterator ? ", iterator" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    held->count.forget(stream);
  };
  made.call = [held, size, in_place, by_iterator, choice](void* storage, std::size_t& bytes, cudaStream_t stream) {
    T* const in = held->in.data();
    std::int64_t* const count = held->count.data();
    return in_place      ? DeviceSelect::If(storage, bytes, in, count, size, choice, stream)
           : by_iterator ? DeviceSelect::If(storage, bytes, device_test::strided<const T>(in, 1), held->out.data(),
                                            count, size, choice, stream)
                         : DeviceSelect::If(storage, bytes, in, held->out.data(), count, size, choice, stream);
  };
  made.check = [held, in_place, choice](cudaStream_t stream) {
    std::vector<T> expected;
    for (const T& item : held->items) {
      if (choice(item)) expected.push_back(item);
    }
    held->must_be(expected, in_place, stream);
  };
  return made;
}

/// Selects by flags, or by an operator on flags of any type.
template <class T, class Flag, bool HasOperator>
problem flagged(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = random.chance(40);
  const chosen choice = random_choice(random);
  const auto held = std::make_shared<arrays<T, Flag>>(size, in_place, true, random);
  problem made;
  made.what = description(HasOperator ? "FlaggedIf" : "Flagged", name_of<T>() + " by " + name_of<Flag>(), size) +
              (in_place ? ", in place" : "");
  made.renew = [held, size, choice](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    held->count.forget(stream);
    held->host_flags = random_items<Flag>(data, size);
    if constexpr (!HasOperator) {
      for (Flag& flag : held->host_flags) {
        if (!choice(flag)) flag = Flag{};
      }
    }
    held->flags.write(held->host_flags, stream);
  };
  made.call = [held, size, in_place, choice](void* storage, std::size_t& bytes, cudaStream_t stream) {
    T* const in = held->in.data();
    T* const out = held->out.data();
    const Flag* const flags = held->flags.data();
    std::int64_t* const count = held->count.data();
    if constexpr (HasOperator) {
      return in_place ? DeviceSelect::FlaggedIf(storage, bytes, in, flags, count, size, choice, stream)
                      : DeviceSelect::FlaggedIf(storage, bytes, in, flags, out, count, size, choice, stream);
    } else {
      return in_place ? DeviceSelect::Flagged(storage, bytes, in, flags, count, size, stream)
                      : DeviceSelect::Flagged(storage, bytes, in, flags, out, count, size, stream);
    }
  };
  made.check = [held, size, in_place, choice](cudaStream_t stream) {
    std::vector<T> expected;
    for (std::size_t i = 0; i < size; ++i) {
      const Flag flag = held->host_flags[i];
      bool is_kept = false;
      if constexpr (HasOperator) {
        is_kept = choice(flag);
      } else {
        is_kept = static_cast<bool>(flag);
      }
      if (is_kept) expected.push_back(held->items[i]);
    }
    held->must_be(expected, in_place, stream);
  };
  return made;
}

template <class T>
problem unique(source& random) {
  const std::size_t size = size_of_case(random);
  const auto held = std::make_shared<arrays<T, T>>(size, false, false, random);
  problem made;
  made.what = description("Unique", name_of<T>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    held->count.forget(stream);
  };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return DeviceSelect::Unique(storage, bytes, held->in.data(), held->out.data(), held->count.data(), size, stream);
  };
  made.check = [held, size](cudaStream_t stream) {
    std::vector<T> expected;
    for (std::size_t i = 0; i < size; ++i) {
      if (i == 0 || !(held->items[i] == held->items[i - 1])) expected.push_back(held->items[i]);
    }
    held->must_be(expected, false, stream);
  };
  return made;
}

/// Tests runs of equal keys: the first value of each, or its length.
template <class K, class V, bool IsEncoding>
problem runs(source& random) {
  const std::size_t size = size_of_case(random);
  struct buffers : arrays<K, V> {
    buffers(std::size_t n, source& from) : arrays<K, V>(n, false, !IsEncoding, from), results(n, from) {}
    array<V> results;
  };
  const auto held = std::make_shared<buffers>(size, random);
  problem made;
  made.what = description(IsEncoding ? "Encode" : "UniqueByKey", name_of<K>() + " " + name_of<V>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<K>(data, size), stream);
    held->count.forget(stream);
    held->results.forget(stream);
    if constexpr (!IsEncoding) {
      held->host_flags = random_items<V>(data, size);
      held->flags.write(held->host_flags, stream);
    }
  };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const K* const keys = held->in.data();
    if constexpr (IsEncoding) {
      return strata::DeviceRunLengthEncode::Encode(storage, bytes, keys, held->out.data(), held->results.data(),
                                                   held->count.data(), size, stream);
    } else {
      const V* const values = held->flags.data();
      return DeviceSelect::UniqueByKey(storage, bytes, keys, values, held->out.data(), held->results.data(),
                                       held->count.data(), size, stream);
    }
  };
  made.check = [held, size](cudaStream_t stream) {
    std::vector<K> expected;
    std::vector<V> results;
    for (std::size_t i = 0; i < size; ++i) {
      if (i == 0 || !(held->items[i] == held->items[i - 1])) {
        expected.push_back(held->items[i]);
        if constexpr (IsEncoding) {
          results.push_back(0);
        } else {
          results.push_back(held->host_flags[i]);
        }
      }
      if constexpr (IsEncoding) ++results.back();
    }
    held->must_be(expected, false, stream);
    must_be_same(and_untouched(results, size), held->results.read(stream), IsEncoding ? "lengths" : "values");
  };
  return made;
}

/// Partitions into two parts in one array, or into three arrays.
template <class T, bool IsInThree>
problem partition(source& random) {
  const std::size_t size = size_of_case(random);
  const chosen choice = random_choice(random), other = random_choice(random);
  struct buffers : memory<T, T> {
    buffers(std::size_t n, std::size_t others, source& from)
        : memory<T, T>(n, n, from), second(others, from), rest(others, from), numbers(2, from) {}
    array<T> second, rest;
    array<std::int64_t> numbers;
  };
  const auto held = std::make_shared<buffers>(size, IsInThree ? size : 0, random);
  problem made;
  made.what = description(IsInThree ? "Partition in three" : "Partition", name_of<T>(), size) + ", " +
              std::to_string(choice.percent) + " % and " + std::to_string(other.percent) + " %";
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    held->second.forget(stream);
    held->rest.forget(stream);
    held->numbers.forget(stream);
  };
  made.call = [held, size, choice, other](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const T* const in = held->in.data();
    if constexpr (IsInThree) {
      return strata::DevicePartition::If(storage, bytes, in, held->out.data(), held->second.data(), held->rest.data(),
                                         held->numbers.data(), size, choice, other, stream);
    } else {
      return strata::DevicePartition::If(storage, bytes, in, held->out.data(), held->numbers.data(), size, choice,
                                         stream);
    }
  };
  made.check = [held, size, choice, other](cudaStream_t stream) {
    std::vector<T> first, second, rest;
    for (const T& item : held->items) {
      (choice(item) ? first : IsInThree && other(item) ? second : rest).push_back(item);
    }
    std::vector<std::int64_t> numbers = {static_cast<std::int64_t>(first.size())};
    if constexpr (IsInThree) {
      numbers.push_back(static_cast<std::int64_t>(second.size()));
      must_be_same(and_untouched(second, size), held->second.read(stream), "the second part");
      must_be_same(and_untouched(rest, size), held->rest.read(stream), "the rest");
    } else {
      first.insert(first.end(), rest.rbegin(), rest.rend());
    }
    must_be_same(and_untouched(numbers, 2), held->numbers.read(stream), "numbers");
    must_be_same(and_untouched(first, size), held->out.read(stream), "the first part");
  };
  return made;
}

/// Tests the runs of more than one item.
template <class K>
problem non_trivial_runs(source& random) {
  const std::size_t size = size_of_case(random);
  struct buffers : memory<K, std::int64_t> {
    buffers(std::size_t n, source& from) : memory<K, std::int64_t>(n, n, from), lengths(n, from), count(1, from) {}
    array<std::int32_t> lengths;
    array<std::int64_t> count;
  };
  const auto held = std::make_shared<buffers>(size, random);
  problem made;
  made.what = description("NonTrivialRuns", name_of<K>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<K>(data, size), stream);
    held->lengths.forget(stream);
    held->count.forget(stream);
  };
  made.call = [held, size](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return strata::DeviceRunLengthEncode::NonTrivialRuns(storage, bytes, held->in.data(), held->out.data(),
                                                         held->lengths.data(), held->count.data(), size, stream);
  };
  made.check = [held, size](cudaStream_t stream) {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> lengths;
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      for (end = begin + 1; end < size && held->items[end - 1] == held->items[end];) ++end;
      if (end - begin < 2) continue;
      offsets.push_back(static_cast<std::int64_t>(begin));
      lengths.push_back(static_cast<std::int32_t>(end - begin));
    }
    must_be_same<std::int64_t>({static_cast<std::int64_t>(offsets.size())}, held->count.read(stream), "the number");
    must_be_same(and_untouched(offsets, size), held->out.read(stream), "offsets");
    must_be_same(and_untouched(lengths, size), held->lengths.read(stream), "lengths");
  };
  return made;
}

const std::vector<maker> makers = {
    select_if<std::uint8_t>,
    select_if<bytes16>,
    flagged<std::uint32_t, std::uint8_t, false>,
    flagged<std::uint16_t, bytes12, true>,
    unique<float>,
    runs<bytes3, std::uint16_t, false>,
    runs<std::uint64_t, std::int64_t, true>,
    partition<std::uint32_t, false>,
    partition<bytes12, true>,
    non_trivial_runs<std::uint16_t>,
#if !defined(STRATA_TEST_FEW_TYPES)
    select_if<std::int32_t>,
    select_if<double>,
    select_if<bytes3>,
    select_if<bytes64>,
    flagged<bytes24, std::int32_t, false>,
    flagged<int128, float, true>,
    unique<std::uint32_t>,
    unique<bytes12>,
    runs<std::uint32_t, std::uint64_t, false>,
    runs<std::uint8_t, std::int32_t, true>,
    runs<bytes16, std::uint32_t, true>,
    partition<std::uint8_t, true>,
    partition<bytes16, false>,
    partition<double, true>,
    non_trivial_runs<float>,
    non_trivial_runs<bytes3>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("select", makers, count, values); }
