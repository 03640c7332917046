// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceScan.
#include <strata/device/device_scan.cuh>

#include "device/test_iterators.cuh"
#include "random/random_oracles.cuh"
#include "random/random_test.cuh"
#if !STRATA_HOST_SIMT
#include <cub/device/device_scan.cuh>
#endif

namespace {

using namespace random_test;
using strata::DeviceScan;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 100000, 1u << 23)); }

enum class form { inclusive, inclusive_init, exclusive };

/// The sums of runs. Item `i` begins a run if `begins_run(i)` is true, and item 0 always.
template <class T, class In, class Op, class BeginsRun>
std::vector<T> scanned(form what, const std::vector<In>& items, Op op, T init, const BeginsRun& begins_run) {
  std::vector<T> result(items.size());
  T sum = init;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool is_first = i == 0 || begins_run(i);
    if (is_first) sum = init;
    const T item = static_cast<T>(items[i]);
    if (what == form::exclusive) result[i] = sum;
    sum = is_first && what == form::inclusive ? item : static_cast<T>(op(sum, item));
    if (what != form::exclusive) result[i] = sum;
  }
  return result;
}
bool is_one_run(std::size_t) { return false; }

const char* name_of_form(form what) {
  return what == form::inclusive        ? "InclusiveScan"
         : what == form::inclusive_init ? "InclusiveScanInit"
                                        : "ExclusiveScan";
}

template <class T, class Op, form What>
problem scan_by(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = random.chance(40);
  const bool by_iterator = !in_place && random.chance(30);
  const auto held = std::make_shared<memory<T, T>>(size, in_place ? 0 : size, random);
  const T init = item_of<T>(random());
  problem made;
  made.what = description(name_of_form(What), name_of<T>(), size) + (in_place ? ", in place" : "") +
              (by_iterator ? ", iterator" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size, init, in_place, by_iterator](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto scan = [&](auto in, T* out) {
      if constexpr (What == form::inclusive) {
        return DeviceScan::InclusiveScan(storage, bytes, in, out, Op{}, size, stream);
      } else if constexpr (What == form::inclusive_init) {
        return DeviceScan::InclusiveScanInit(storage, bytes, in, out, Op{}, init, size, stream);
      } else {
        return DeviceScan::ExclusiveScan(storage, bytes, in, out, Op{}, init, size, stream);
      }
    };
    T* const in = held->in.data();
    T* const out = in_place ? in : held->out.data();
    return by_iterator ? scan(device_test::strided<const T>(in, 1), out) : scan(in, out);
  };
  made.check = [held, init, in_place](cudaStream_t stream) {
    must_be_same(scanned(What, held->items, Op{}, init, is_one_run), (in_place ? held->in : held->out).read(stream),
                 "the scan");
  };
  return made;
}

template <class T, class Out, bool IsInclusive>
problem sum(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = std::is_same_v<T, Out> && random.chance(40);
  const auto held = std::make_shared<memory<T, Out>>(size, in_place ? 0 : size, random);
  problem made;
  made.what =
      description(IsInclusive ? "InclusiveSum" : "ExclusiveSum", name_of<T>(), size) + (in_place ? ", in place" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_addends<T>(data, size), stream); };
  made.call = [held, size, in_place](void* storage, std::size_t& bytes, cudaStream_t stream) {
    T* const in = held->in.data();
    if (in_place) {
      return IsInclusive ? DeviceScan::InclusiveSum(storage, bytes, in, size, stream)
                         : DeviceScan::ExclusiveSum(storage, bytes, in, size, stream);
    }
    Out* const out = held->out.data();
    return IsInclusive ? DeviceScan::InclusiveSum(storage, bytes, in, out, size, stream)
                       : DeviceScan::ExclusiveSum(storage, bytes, in, out, size, stream);
  };
  made.check = [held, size, in_place](cudaStream_t stream) {
    const std::vector<Out> expected =
        scanned(IsInclusive ? form::inclusive : form::exclusive, held->items, wrapping_sum{}, Out{}, is_one_run);
    if constexpr (std::is_same_v<T, Out>) {
      if (in_place) return must_be_same(expected, held->in.read(stream), "sums in place");
    }
    const std::vector<Out> found = held->out.read(stream);
    must_be_same(expected, found, "sums");
#if !STRATA_HOST_SIMT
    if constexpr (std::is_same_v<T, std::int32_t> && std::is_same_v<Out, T> && IsInclusive) {
      const auto call = [&](void* storage, std::size_t& bytes) {
        must(cub::DeviceScan::InclusiveSum(storage, bytes, held->in.data(), held->out.data(),
                                           static_cast<std::int64_t>(size), stream),
             "CUB");
      };
      std::size_t bytes = 0;
      call(nullptr, bytes);
      const guarded storage(bytes, 0);
      if (size > 0) call(storage.data(), bytes);
      must_be_same(held->out.read(stream), found, "CUB's sums");
    }
#endif
  };
  return made;
}

/// Compares keys, or only a part of each key, so that keys with different bits are equal.
template <class K>
struct same_group {
  bool is_coarse;

  STRATA_HD bool operator()(const K& a, const K& b) const { return is_coarse ? group_of(a) == group_of(b) : a == b; }
  /// Changes the bits of a key that a coarse comparison ignores.
  static void scramble(K& key, std::uint64_t bits) {
    if constexpr (std::is_integral_v<K>) {
      key = static_cast<K>(key / 4 * 4 + static_cast<K>(bits % 4));
    } else {
      for (std::size_t i = 1; i < sizeof(key.word) / sizeof(key.word[0]); ++i) {
        key.word[i] ^= static_cast<std::remove_reference_t<decltype(key.word[i])>>(bits >> i);
      }
    }
  }

 private:
  STRATA_HD static auto group_of(const K& key) {
    if constexpr (std::is_integral_v<K>) {
      return key / 4;
    } else {
      return key.word[0];
    }
  }
};

template <class K, class T, class Op, bool IsInclusive>
problem by_key(source& random) {
  const std::size_t size = random_size(random, most_items(random, 60000, 1u << 22));
  struct arrays : memory<T, T> {
    arrays(std::size_t n, bool in_place, source& from) : memory<T, T>(n, in_place ? 0 : n, from), keys(n, from) {}
    array<K> keys;
    std::vector<K> host_keys;
  };
  const bool in_place = random.chance(30);
  const auto held = std::make_shared<arrays>(size, in_place, random);
  const T init = item_of<T>(random());
  const same_group<K> is_same{random.chance(40)};
  problem made;
  made.what =
      description(IsInclusive ? "InclusiveScanByKey" : "ExclusiveScanByKey", name_of<K>() + " " + name_of<T>(), size) +
      (in_place ? ", in place" : "") + (is_same.is_coarse ? ", equal keys differ" : "");
  made.renew = [held, size, is_same](source& data, cudaStream_t stream) {
    held->host_keys =
        random_items<K>(data, size, data.pick({law::runs, law::runs, law::few, law::equal, law::uniform}));
    if (is_same.is_coarse) {
      for (K& key : held->host_keys) same_group<K>::scramble(key, data());
    }
    held->keys.write(held->host_keys, stream);
    held->renew(random_items<T>(data, size), stream);
  };
  made.call = [held, size, init, in_place, is_same](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const K* const keys = held->keys.data();
    T* const in = held->in.data();
    T* const out = in_place ? in : held->out.data();
    return IsInclusive
               ? DeviceScan::InclusiveScanByKey(storage, bytes, keys, in, out, Op{}, size, is_same, stream)
               : DeviceScan::ExclusiveScanByKey(storage, bytes, keys, in, out, Op{}, init, size, is_same, stream);
  };
  made.check = [held, init, in_place, is_same](cudaStream_t stream) {
    const auto begins_run = [&](std::size_t i) { return !is_same(held->host_keys[i - 1], held->host_keys[i]); };
    must_be_same(scanned(IsInclusive ? form::inclusive : form::exclusive, held->items, Op{}, init, begins_run),
                 (in_place ? held->in : held->out).read(stream), "the scan");
  };
  return made;
}

const std::vector<maker> makers = {
    scan_by<affine8, strata::Sum, form::inclusive>,
    scan_by<affine16, compose, form::inclusive_init>,
    scan_by<affine16, compose, form::exclusive>,
    scan_by<bytes3, wrapping_sum, form::inclusive>,
    sum<std::int32_t, std::int32_t, true>,
    sum<std::uint8_t, std::uint32_t, true>,
    sum<double, double, false>,
    by_key<std::uint8_t, affine16, compose, true>,
    by_key<bytes12, affine8, compose, false>,
#if !defined(STRATA_TEST_FEW_TYPES)
    scan_by<affine8, compose, form::exclusive>,
    scan_by<std::uint16_t, wrapping_sum, form::inclusive>,
    scan_by<std::uint64_t, strata::BitXor, form::exclusive>,
    scan_by<bytes24, wrapping_sum, form::exclusive>,
    scan_by<bytes64, wrapping_sum, form::inclusive>,
    scan_by<uint128, wrapping_sum, form::exclusive>,
    sum<std::int32_t, std::int32_t, false>,
    sum<std::int64_t, std::int64_t, false>,
    sum<float, float, true>,
    sum<__half, __half, true>,
    by_key<std::uint32_t, std::uint32_t, wrapping_sum, true>,
    by_key<std::uint32_t, std::uint32_t, wrapping_sum, false>,
#endif
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("scan", makers, count, values); }
