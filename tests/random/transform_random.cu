// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of DeviceTransform, DeviceFor, DeviceAdjacentDifference, DeviceCopy, DeviceMemcpy, DeviceTranspose and
// DeviceFind.
#include <strata/core/operators.hpp>
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>

#include <tuple>

#include "device/test_iterators.cuh"
#include "random/random_oracles.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;
using strata::DeviceAdjacentDifference;
using strata::DeviceFor;
using strata::DeviceTransform;

std::size_t size_of_case(source& random) { return random_size(random, most_items(random, 200000, 1u << 23)); }

/// Returns an item of type Out that depends on all bytes of its operands, and on their order.
template <class Out>
struct hashed {
  template <class... In>
  STRATA_HD Out operator()(const In&... items) const {
    std::uint64_t hash = 14695981039346656037u;
    (add(hash, items), ...);
    std::uint64_t words[(sizeof(Out) + 7) / 8];
    for (std::uint64_t& word : words) {
      word = hash ^ hash >> 29;
      hash = hash * 0xbf58476d1ce4e5b9u + 1;
    }
    Out out;
    std::memcpy(static_cast<void*>(&out), words, sizeof(Out));
    return out;
  }

 private:
  template <class In>
  STRATA_HD static void add(std::uint64_t& hash, const In& item) {
    unsigned char bytes[sizeof(In)];
    std::memcpy(bytes, static_cast<const void*>(&item), sizeof(In));
    for (std::size_t i = 0; i < sizeof(In); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  }
};

/// Tests transformations. In place, the output is the first input.
template <class Out, class First, class... Rest>
problem transform(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = std::is_same_v<Out, First> && random.chance(30);
  const bool by_iterator = !in_place && random.chance(20);
  const bool is_stable = random.chance(30);
  struct arrays : memory<First, Out> {
    arrays(std::size_t n, bool is_in_place, source& from)
        : memory<First, Out>(n, is_in_place ? 0 : n, from), rest(std::make_unique<array<Rest>>(n, from)...) {}
    std::tuple<std::unique_ptr<array<Rest>>...> rest;
    std::tuple<std::vector<Rest>...> rest_items;
  };
  const auto held = std::make_shared<arrays>(size, in_place, random);
  problem made;
  made.what = description("Transform", name_of<First>(), size) + " and " + std::to_string(sizeof...(Rest)) +
              " more to " + name_of<Out>() + (in_place ? ", in place" : "") + (by_iterator ? ", iterator" : "") +
              (is_stable ? ", stable addresses" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<First>(data, size), stream);
    held->rest_items = std::tuple<std::vector<Rest>...>{random_items<Rest>(data, size)...};
    ((std::get<std::unique_ptr<array<Rest>>>(held->rest)->write(std::get<std::vector<Rest>>(held->rest_items), stream)),
     ...);
  };
  made.call = [held, size, in_place, by_iterator, is_stable](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const First* const first = held->in.data();
    const auto call = [&](const auto& in, auto* out) {
      const auto inputs =
          std::make_tuple(in, static_cast<const Rest*>(std::get<std::unique_ptr<array<Rest>>>(held->rest)->data())...);
      return is_stable ? DeviceTransform::TransformStableArgumentAddresses(storage, bytes, inputs, out, size,
                                                                           hashed<Out>{}, stream)
                       : DeviceTransform::Transform(storage, bytes, inputs, out, size, hashed<Out>{}, stream);
    };
    if constexpr (std::is_same_v<Out, First>) {
      if (in_place) return call(first, held->in.data());
    }
    return by_iterator ? call(device_test::strided<const First>(first, 1), held->out.data())
                       : call(first, held->out.data());
  };
  made.check = [held, size, in_place](cudaStream_t stream) {
    std::vector<Out> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      expected[i] = hashed<Out>{}(held->items[i], std::get<std::vector<Rest>>(held->rest_items)[i]...);
    }
    if constexpr (std::is_same_v<Out, First>) {
      if (in_place) return must_be_same(expected, held->in.read(stream), "items in place");
    }
    must_be_same(expected, held->out.read(stream), "items");
  };
  return made;
}

/// A predicate that is true for about one item in `divisor`, by a hash of all its bytes.
struct is_one_in {
  std::uint32_t divisor;
  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    return hashed<std::uint32_t>{}(item) % divisor == 0;
  }
};

template <class Out, class First>
problem transform_if(source& random) {
  const std::size_t size = size_of_case(random);
  const bool is_stable = random.chance(30);
  const is_one_in predicate{random.pick<std::uint32_t>({1, 2, 2, 17, 1000})};
  const auto held = std::make_shared<memory<First, Out>>(size, size, random);
  problem made;
  made.what = description("TransformIf", name_of<First>(), size) + " to " + name_of<Out>() + ", one in " +
              std::to_string(predicate.divisor) + (is_stable ? ", stable addresses" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) {
    held->renew(random_items<First>(data, size), stream);
  };
  made.call = [held, size, predicate, is_stable](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const First* const in = held->in.data();
    Out* const out = held->out.data();
    return is_stable ? DeviceTransform::TransformIfStableArgumentAddresses(storage, bytes, in, out, size, predicate,
                                                                           hashed<Out>{}, stream)
                     : DeviceTransform::TransformIf(storage, bytes, in, out, size, predicate, hashed<Out>{}, stream);
  };
  made.check = [held, size, predicate](cudaStream_t stream) {
    std::vector<Out> expected(size, untouched<Out>());
    for (std::size_t i = 0; i < size; ++i) {
      if (predicate(held->items[i])) expected[i] = hashed<Out>{}(held->items[i]);
    }
    must_be_same(expected, held->out.read(stream), "items");
  };
  return made;
}

template <class T>
problem find_if(source& random) {
  const std::size_t size = size_of_case(random);
  const is_one_in predicate{random.pick<std::uint32_t>({1, 20, 5000, 100000, 4000000000u})};
  const auto held = std::make_shared<memory<T, std::uint64_t>>(size, 1, random);
  problem made;
  made.what = description("FindIf", name_of<T>(), size) + ", one in " + std::to_string(predicate.divisor);
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size, predicate](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return strata::DeviceFind::FindIf(storage, bytes, held->in.data(), held->out.data(), predicate, size, stream);
  };
  made.check = [held, predicate](cudaStream_t stream) {
    const auto first = std::find_if(held->items.begin(), held->items.end(), predicate);
    const std::vector<std::uint64_t> expected{static_cast<std::uint64_t>(first - held->items.begin())};
    must_be_same(expected, held->out.read(stream), "match");
  };
  return made;
}

/// Tests bounds of values, which are sorted or not.
template <class T>
problem bounds(source& random) {
  const std::size_t size = size_of_case(random), count = random.chance(50) ? size_of_case(random) : random.below(3000);
  const bool is_upper = random.chance(50), are_sorted = random.chance(60);
  struct arrays : memory<T, std::uint32_t> {
    arrays(std::size_t range, std::size_t values_count, source& from)
        : memory<T, std::uint32_t>(range, values_count, from), values(values_count, from) {}
    array<T> values;
    std::vector<T> value_items;
  };
  const auto held = std::make_shared<arrays>(size, count, random);
  problem made;
  made.what = description(is_upper ? "UpperBound" : "LowerBound", name_of<T>(), size) + " and " +
              std::to_string(count) + " values" + (are_sorted ? ", sorted" : "");
  made.renew = [held, size, count, are_sorted](source& data, cudaStream_t stream) {
    std::vector<T> range = random_items<T>(data, size);
    std::sort(range.begin(), range.end());
    held->value_items = random_items<T>(data, count);
    for (T& value : held->value_items) {
      if (size > 0 && data.chance(50)) value = range[data.below(size)];
    }
    if (are_sorted) std::sort(held->value_items.begin(), held->value_items.end());
    held->renew(std::move(range), stream);
    held->values.write(held->value_items, stream);
  };
  made.call = [held, size, count, is_upper, are_sorted](void* storage, std::size_t& bytes, cudaStream_t stream) {
    using strata::DeviceFind;
    const strata::Less less;
    const T* const range = held->in.data();
    const T* const values = held->values.data();
    std::uint32_t* const out = held->out.data();
    if (are_sorted) {
      return is_upper
                 ? DeviceFind::UpperBoundSortedValues(storage, bytes, range, size, values, count, out, less, stream)
                 : DeviceFind::LowerBoundSortedValues(storage, bytes, range, size, values, count, out, less, stream);
    }
    return is_upper ? DeviceFind::UpperBound(storage, bytes, range, size, values, count, out, less, stream)
                    : DeviceFind::LowerBound(storage, bytes, range, size, values, count, out, less, stream);
  };
  made.check = [held, is_upper](cudaStream_t stream) {
    std::vector<std::uint32_t> expected;
    const auto begin = held->items.begin(), end = held->items.end();
    for (const T& value : held->value_items) {
      const auto bound = is_upper ? std::upper_bound(begin, end, value) : std::lower_bound(begin, end, value);
      expected.push_back(static_cast<std::uint32_t>(bound - begin));
    }
    must_be_same(expected, held->out.read(stream), "bounds");
  };
  return made;
}

/// Tests differences. The operator is not commutative, so exchanged operands or a wrong neighbour change the result.
template <class T, class Out, bool IsLeft>
problem differences(source& random) {
  const std::size_t size = size_of_case(random);
  const bool in_place = std::is_same_v<T, Out> && random.chance(50);
  const bool by_iterator = !in_place && random.chance(20);
  const auto held = std::make_shared<memory<T, Out>>(size, in_place ? 0 : size, random);
  problem made;
  made.what = description(IsLeft ? "SubtractLeft" : "SubtractRight", name_of<T>(), size) + " to " + name_of<Out>() +
              (in_place ? ", in place" : "") + (by_iterator ? ", iterator" : "");
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size, in_place, by_iterator](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const hashed<Out> op{};
    const auto copy = [&](const auto& in) {
      Out* const out = held->out.data();
      return IsLeft ? DeviceAdjacentDifference::SubtractLeftCopy(storage, bytes, in, out, size, op, stream)
                    : DeviceAdjacentDifference::SubtractRightCopy(storage, bytes, in, out, size, op, stream);
    };
    const T* const in = held->in.data();
    if constexpr (std::is_same_v<T, Out>) {
      T* const data = held->in.data();
      if (in_place) {
        return IsLeft ? DeviceAdjacentDifference::SubtractLeft(storage, bytes, data, size, op, stream)
                      : DeviceAdjacentDifference::SubtractRight(storage, bytes, data, size, op, stream);
      }
    }
    return by_iterator ? copy(device_test::strided<const T>(in, 1)) : copy(in);
  };
  made.check = [held, size, in_place](cudaStream_t stream) {
    std::vector<Out> expected(size);
    for (std::size_t i = 0; i < size; ++i) {
      const bool is_end = IsLeft ? i == 0 : i + 1 == size;
      expected[i] = is_end ? static_cast<Out>(held->items[i])
                           : hashed<Out>{}(held->items[i], held->items[IsLeft ? i - 1 : i + 1]);
    }
    if constexpr (std::is_same_v<T, Out>) {
      if (in_place) return must_be_same(expected, held->in.read(stream), "differences in place");
    }
    must_be_same(expected, held->out.read(stream), "differences");
  };
  return made;
}

/// Changes the item that it is called with.
template <class T>
struct rehash {
  STRATA_D void operator()(T& item) const { item = hashed<T>{}(item); }
};
/// Changes item `i` of an array.
template <class T>
struct rehash_at {
  T* items;
  STRATA_D void operator()(std::uint64_t i) const { items[i] = hashed<T>{}(items[i]); }
};

template <class T>
problem for_each(source& random) {
  const std::size_t size = size_of_case(random);
  const bool is_bulk = random.chance(40);
  const auto held = std::make_shared<memory<T, T>>(size, 0, random);
  problem made;
  made.what = description(is_bulk ? "Bulk" : "ForEachN", name_of<T>(), size);
  made.renew = [held, size](source& data, cudaStream_t stream) { held->renew(random_items<T>(data, size), stream); };
  made.call = [held, size, is_bulk](void* storage, std::size_t& bytes, cudaStream_t stream) {
    T* const items = held->in.data();
    return is_bulk ? DeviceFor::Bulk(storage, bytes, std::uint64_t{size}, rehash_at<T>{items}, stream)
                   : DeviceFor::ForEachN(storage, bytes, items, size, rehash<T>{}, stream);
  };
  made.check = [held](cudaStream_t stream) {
    std::vector<T> expected = held->items;
    for (T& item : expected) item = hashed<T>{}(item);
    must_be_same(expected, held->in.read(stream), "items");
  };
  return made;
}

/// Copies ranges of one array to other places in a second one. Ranges of bytes are copied by DeviceMemcpy.
template <class T>
problem copy_ranges(source& random) {
  const std::size_t size = size_of_case(random);
  const std::size_t count = random_number_of_segments(random, is_gpu ? 100000 : 4000);
  struct arrays : memory<T, T> {
    arrays(std::size_t n, std::size_t ranges, source& from)
        : memory<T, T>(n, n, from), inputs(ranges, from), outputs(ranges, from), sizes(ranges, from) {}
    array<const T*> inputs;
    array<T*> outputs;
    array<std::uint32_t> sizes;
    segment_list list;
  };
  const auto held = std::make_shared<arrays>(size, count, random);
  problem made;
  made.what = description("Batched", name_of<T>(), size) + ", " + std::to_string(count) + " ranges";
  made.renew = [held, size, count](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, size), stream);
    held->list = random_segments(data, count, size);
    std::vector<const T*> inputs(count);
    std::vector<T*> outputs(count);
    std::vector<std::uint32_t> sizes(count);
    for (std::size_t r = 0; r < count; ++r) {
      inputs[r] = held->in.data() + held->list.begins[r];
      outputs[r] = held->out.data() + held->list.begins[r];
      sizes[r] = static_cast<std::uint32_t>(held->list.length(r));
    }
    held->inputs.write(inputs, stream);
    held->outputs.write(outputs, stream);
    held->sizes.write(sizes, stream);
  };
  made.call = [held, count](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const auto* const inputs = held->inputs.data();
    auto* const outputs = held->outputs.data();
    const std::uint32_t* const sizes = held->sizes.data();
    if constexpr (sizeof(T) == 1) {
      return strata::DeviceMemcpy::Batched(storage, bytes, inputs, outputs, sizes, count, stream);
    } else {
      return strata::DeviceCopy::Batched(storage, bytes, inputs, outputs, sizes, count, stream);
    }
  };
  made.check = [held, size, count](cudaStream_t stream) {
    std::vector<T> expected(size, untouched<T>());
    for (std::size_t r = 0; r < count; ++r) {
      const auto begin = static_cast<std::ptrdiff_t>(held->list.begins[r]);
      std::copy_n(held->items.begin() + begin, held->list.length(r), expected.begin() + begin);
    }
    must_be_same(expected, held->out.read(stream), "ranges");
  };
  return made;
}

/// Tests transpositions. Rows may be longer than the part that is transposed.
template <class T>
problem transpose(source& random) {
  const std::size_t size = size_of_case(random);
  const std::size_t rows = random_size(random, random.chance(50) ? 70 : 2000);
  const std::size_t columns = rows == 0 ? random.below(5) : size / rows;
  const std::size_t in_row = columns + (random.chance(50) ? 0 : random.below(40));
  const std::size_t out_row = rows + (random.chance(50) ? 0 : random.below(40));
  const auto held = std::make_shared<memory<T, T>>(rows * in_row, columns * out_row, random);
  problem made;
  made.what = description("Transpose", name_of<T>(), rows * columns) + ", " + std::to_string(rows) + " x " +
              std::to_string(columns) + ", rows of " + std::to_string(in_row) + " and " + std::to_string(out_row);
  made.renew = [held, rows, in_row](source& data, cudaStream_t stream) {
    held->renew(random_items<T>(data, rows * in_row), stream);
  };
  made.call = [held, rows, columns, in_row, out_row](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return strata::DeviceTranspose::Transpose(storage, bytes, held->in.data(), held->out.data(), rows, columns, in_row,
                                              out_row, stream);
  };
  made.check = [held, rows, columns, in_row, out_row](cudaStream_t stream) {
    std::vector<T> expected(columns * out_row, untouched<T>());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) expected[c * out_row + r] = held->items[r * in_row + c];
    }
    must_be_same(expected, held->out.read(stream), "columns");
  };
  return made;
}

const std::vector<maker> makers = {
    transform<std::uint8_t, std::uint8_t>,
    transform<std::int32_t, std::int32_t>,
    transform<bytes12, bytes12>,
    transform<bytes24, bytes24>,
    transform<bytes16, std::uint64_t>,
    transform<std::uint8_t, bytes64>,
    transform<std::uint64_t, std::uint64_t, std::uint8_t>,
    transform<std::int32_t, std::int32_t, std::uint64_t>,
    transform<std::uint16_t, std::uint8_t, bytes3>,
    transform<bytes16, bytes16, std::int32_t, std::uint8_t>,
    transform_if<std::uint8_t, std::uint8_t>,
    transform_if<std::int32_t, std::int32_t>,
    transform_if<std::uint64_t, std::uint16_t>,
    transform_if<bytes12, std::int32_t>,
    find_if<std::uint8_t>,
    find_if<std::int32_t>,
    find_if<bytes12>,
    bounds<std::uint8_t>,
    bounds<std::int32_t>,
    bounds<std::int64_t>,
    differences<std::uint8_t, std::uint8_t, true>,
    differences<std::int32_t, std::int32_t, true>,
    differences<std::uint64_t, std::uint64_t, false>,
    differences<bytes3, bytes3, true>,
    differences<bytes16, bytes16, false>,
    differences<bytes64, bytes64, true>,
    differences<std::uint8_t, std::uint64_t, false>,
    differences<std::uint64_t, std::uint16_t, true>,
    for_each<std::uint8_t>,
    for_each<std::uint64_t>,
    for_each<bytes12>,
    copy_ranges<unsigned char>,
    copy_ranges<std::int32_t>,
    copy_ranges<bytes12>,
    transpose<std::uint8_t>,
    transpose<float>,
    transpose<bytes12>,
    transpose<bytes16>,
};

}  // namespace

int main(int count, char** values) { return random_test::run_family("transform", makers, count, values); }
