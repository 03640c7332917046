// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by tests of calls whose number of items lies in device memory: arrays, and a comparison with the same call
// whose number of items the host knows.
#pragma once

#include <strata/device/engine/future_count.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "device/device_call.cuh"

namespace device_future_count_test {

using namespace device_test;
using strata::FutureCount;

using item = std::uint32_t;

struct is_odd {
  STRATA_HD bool operator()(item x) const { return x % 2 != 0; }
};
struct is_below_3 {
  STRATA_HD bool operator()(item x) const { return x < 3; }
};

/// The arrays that the calls read and write.
struct arrays {
  explicit arrays(std::size_t n)
      : host(random_integers<item>(n + 1, 0, 9)),
        in(n + 1),
        values(n),
        out(n + 1),
        values_out(n),
        number(2),
        num_items(1) {
    in.assign(host);
    values.assign(random_integers<item>(n, 0, 1000, 1));
  }
  void reset() {
    in.assign(host);
    out.poison();
    values_out.poison();
    number.poison();
  }
  void set_count(std::int64_t count) { num_items.assign(std::vector<std::int64_t>{count}); }
  auto result() const { return std::make_tuple(in.to_host(), out.to_host(), values_out.to_host(), number.to_host()); }

  std::vector<item> host;
  device_vector<item> in, values, out, values_out;
  device_vector<std::int64_t> number, num_items;
};

/// For several numbers of items up to `n`, compares `call(arrays, number)(storage...)` with a FutureCount instead of
/// the number: as a call, and as replays of a graph that was captured once.
template <class Call>
void expect_same(const char* name, std::size_t n, const Call& call) {
  SCOPED_TRACE(std::string(name) + " of at most " + std::to_string(n));
  arrays all(n);
  const FutureCount<std::int64_t> future(all.num_items.data(), n);
  std::size_t bytes = 0, bytes_of_count = 0;
  ASSERT_CUDA_SUCCESS(call(all, future)(nullptr, bytes, nullptr));
  ASSERT_CUDA_SUCCESS(call(all, static_cast<std::int64_t>(n))(nullptr, bytes_of_count, nullptr));
  EXPECT_EQ(bytes_of_count, bytes);
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) {
    std::size_t given = bytes;
    return call(all, future)(storage.data(), given, on);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;

  std::vector<std::size_t> counts = {n, n / 300, n - n / 1000};
  if (n < 1000000) {
    for (const std::size_t count : {std::size_t{0}, n / 2, std::size_t{1}, std::size_t{3}, n}) {
      if (count <= n) counts.push_back(count);
    }
  }
  std::uint64_t run = 0;
  for (const std::size_t count : counts) {
    SCOPED_TRACE(std::to_string(count) + " items");
    // New data for each number: a block that mistakes words of an earlier replay for its own gets a wrong result.
    all.host = random_integers<item>(n + 1, 0, 9, ++run);
    all.reset();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& given) {
      return call(all, static_cast<std::int64_t>(count))(temp, given, nullptr);
    }));
    const auto expected = all.result();

    all.set_count(static_cast<std::int64_t>(count));
    all.reset();
    ASSERT_CUDA_SUCCESS(
        in_two_phases([&](void* temp, std::size_t& given) { return call(all, future)(temp, given, nullptr); }));
    ASSERT_TRUE(expected == all.result()) << "a call";
    all.reset();
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    ASSERT_TRUE(expected == all.result()) << "a replay";
  }
}

#define EXPECT_SAME(n, function, ...)                                     \
  expect_same(#function, n, [](arrays& a, auto count) {                   \
    return [&a, count](void* temp, std::size_t& bytes, cudaStream_t on) { \
      [[maybe_unused]] item* const in = a.in.data();                      \
      [[maybe_unused]] const item* const values = a.values.data();        \
      [[maybe_unused]] item* const out = a.out.data();                    \
      [[maybe_unused]] item* const values_out = a.values_out.data();      \
      [[maybe_unused]] std::int64_t* const number = a.number.data();      \
      return function(temp, bytes, __VA_ARGS__, on);                      \
    };                                                                    \
  })

/// Sizes of one block, of one round of tiles, of several rounds, and of the pipeline. On the host back end, which has
/// few multiprocessors, they are smaller.
inline std::vector<std::size_t> max_counts(std::size_t largest_on_host = 100003) {
  const bool is_few = is_small() || STRATA_HOST_SIMT;
  return {0, 1, 700, is_few ? 9000u : 60000u, is_few ? largest_on_host : 3000003u};
}

}  // namespace device_future_count_test
