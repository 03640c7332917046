// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arguments of every function of DeviceSelect: storage, counts, pointers, streams, earlier errors. Replays of a call in
// a graph depend on nothing but their input. device_arguments.cuh tests what all device calls have in common.
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_select_support.cuh"

namespace device_select_arguments_test {

using namespace device_test;
using strata::DeviceSelect;

constexpr int untouched = -77;

/// The arrays of a call: up to two inputs, and outputs. In a call in place, `first` is an output, too.
struct arrays {
  int* first;
  int* second;
  int* first_out;
  int* second_out;
  std::int64_t* num_selected;
};
// Which arrays a function has, and what its selection depends on.
constexpr unsigned has_second = 1, has_first_out = 2, has_second_out = 4, by_difference = 8, by_second = 16;

struct is_even {
  STRATA_HD bool operator()(int n) const { return n % 2 == 0; }
};

struct function {
  std::string name;
  std::function<cudaError_t(void*, std::size_t&, const arrays&, std::int64_t, cudaStream_t)> call;
  unsigned has;
  bool is_in_place() const { return (has & has_first_out) == 0; }
};
std::ostream& operator<<(std::ostream& os, const function& f) { return os << f.name; }

#define STRATA_CALL(...) \
  [](void* storage, std::size_t& bytes, const arrays& a, std::int64_t n, cudaStream_t on) { return __VA_ARGS__; }
std::vector<function> functions() {
  return {
      {"If", STRATA_CALL(DeviceSelect::If(storage, bytes, a.first, a.first_out, a.num_selected, n, is_even{}, on)),
       has_first_out},
      {"IfInPlace", STRATA_CALL(DeviceSelect::If(storage, bytes, a.first, a.num_selected, n, is_even{}, on)), 0},
      {"Flagged",
       STRATA_CALL(DeviceSelect::Flagged(storage, bytes, a.first, a.second, a.first_out, a.num_selected, n, on)),
       has_second | has_first_out | by_second},
      {"FlaggedInPlace", STRATA_CALL(DeviceSelect::Flagged(storage, bytes, a.first, a.second, a.num_selected, n, on)),
       has_second | by_second},
      {"FlaggedIf",
       STRATA_CALL(DeviceSelect::FlaggedIf(storage, bytes, a.first, a.second, a.first_out, a.num_selected, n,
                                           strata::detail::is_set{}, on)),
       has_second | has_first_out | by_second},
      {"FlaggedIfInPlace",
       STRATA_CALL(
           DeviceSelect::FlaggedIf(storage, bytes, a.first, a.second, a.num_selected, n, strata::detail::is_set{}, on)),
       has_second | by_second},
      {"Unique", STRATA_CALL(DeviceSelect::Unique(storage, bytes, a.first, a.first_out, a.num_selected, n, on)),
       has_first_out | by_difference},
      {"UniqueByKey",
       STRATA_CALL(DeviceSelect::UniqueByKey(storage, bytes, a.first, a.second, a.first_out, a.second_out,
                                             a.num_selected, n, on)),
       has_second | has_first_out | has_second_out | by_difference},
      {"UniqueByKeyWithEquality",
       STRATA_CALL(DeviceSelect::UniqueByKey(storage, bytes, a.first, a.second, a.first_out, a.second_out,
                                             a.num_selected, n, strata::Equality{}, on)),
       has_second | has_first_out | has_second_out | by_difference},
  };
}
#undef STRATA_CALL

/// The arrays of a call and their contents.
class scene {
 public:
  scene(const function& f, std::size_t size, std::uint64_t stream = 0)
      : f_(f), first_(size), second_(size), first_out_(size), second_out_(size), num_(1) {
    renew(stream);
  }
  /// New input, and outputs to which nothing was written.
  void renew(std::uint64_t stream) {
    const std::size_t size = first_.size();
    first_before_ = random_integers<int>(size, 0, 3, stream);
    second_before_ = random_integers<int>(size, -1, 1, stream + 1000);
    first_.assign(first_before_);
    second_.assign(second_before_);
    first_out_.assign(std::vector<int>(size, untouched));
    second_out_.assign(std::vector<int>(size, untouched));
    num_.assign({untouched});
  }
  arrays of_call() { return {first_.data(), second_.data(), first_out_.data(), second_out_.data(), num_.data()}; }

  const std::vector<int>& items_of(bool second) const { return second ? second_before_ : first_before_; }
  /// What a call with all items selects.
  std::vector<int> selected(bool of_second) const {
    return only_kept(items_of(of_second), kept(first_before_, second_before_));
  }

  /// Expects the results of a call with the first `size` items.
  void expect_selected(std::size_t size) const {
    const auto end = static_cast<std::ptrdiff_t>(size);
    const std::vector<int> first(first_before_.begin(), first_before_.begin() + end);
    const std::vector<int> second(second_before_.begin(), second_before_.begin() + end);
    const std::vector<char> keeps = kept(first, second);
    const std::vector<int> nothing(first_before_.size(), untouched);
    const std::vector<int> front = only_kept(first, keeps);
    ASSERT_EQ(static_cast<std::int64_t>(front.size()), num_.to_host()[0]);
    ASSERT_SAME_BYTES(f_.is_in_place() ? with_front(front, first_before_) : first_before_, first_.to_host());
    ASSERT_SAME_BYTES(second_before_, second_.to_host());
    ASSERT_SAME_BYTES(f_.is_in_place() ? nothing : with_front(front, nothing), first_out_.to_host());
    ASSERT_SAME_BYTES((f_.has & has_second_out) != 0 ? with_front(only_kept(second, keeps), nothing) : nothing,
                      second_out_.to_host());
  }
  void expect_untouched() const {
    const std::vector<int> nothing(first_before_.size(), untouched);
    EXPECT_EQ(untouched, num_.to_host()[0]);
    EXPECT_SAME_BYTES(first_before_, first_.to_host());
    EXPECT_SAME_BYTES(second_before_, second_.to_host());
    EXPECT_SAME_BYTES(nothing, first_out_.to_host());
    EXPECT_SAME_BYTES(nothing, second_out_.to_host());
  }

 private:
  std::vector<char> kept(const std::vector<int>& first, const std::vector<int>& second) const {
    if ((f_.has & by_difference) != 0) {
      return kept_by_difference(first, [](int a, int b) { return a == b; });
    }
    if ((f_.has & by_second) != 0) {
      return kept_by_items(second, [](int flag) { return flag != 0; });
    }
    return kept_by_items(first, is_even{});
  }

  const function& f_;
  std::vector<int> first_before_, second_before_;
  device_vector<int> first_, second_, first_out_, second_out_;
  device_vector<std::int64_t> num_;
};

class DeviceSelectArguments : public ::testing::TestWithParam<function> {
 protected:
  static const function& f() { return GetParam(); }
  static std::size_t storage_bytes(std::int64_t n) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(f().call(nullptr, bytes, arrays{}, n, nullptr));
    return bytes;
  }

  // Expects that a call is refused and launches nothing.
  static void expect_refused(void* storage, std::size_t bytes, const arrays& a, std::int64_t n) {
    const graph recorded([&](cudaStream_t on) { return f().call(storage, bytes, a, n, on); });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";

    std::size_t given = bytes;
    EXPECT_EQ(cudaErrorInvalidValue, f().call(storage, given, a, n, nullptr));
    EXPECT_EQ(bytes, given);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
  }
};

INSTANTIATE_TEST_SUITE_P(all, DeviceSelectArguments, ::testing::ValuesIn(functions()),
                         [](const auto& instance) { return instance.param.name; });

// ------------------------------------------------------------------ the size of temporary storage

TEST_P(DeviceSelectArguments, size_is_never_0_and_never_shrinks_as_the_count_grows) {
  std::size_t before = 1;
  for (std::int64_t n = 0; n < std::int64_t{1} << 62; n += n / 2 + 1) {
    const std::size_t bytes = storage_bytes(n);
    EXPECT_GE(bytes, before) << n;
    before = bytes;
  }
  EXPECT_LE(before, std::size_t{1} << 20) << "temporary storage does not grow with the input";
}

TEST_P(DeviceSelectArguments, refuses_storage_that_is_too_small) {
  scene s(f(), 12000);
  for (const std::int64_t n : {0, 1, 12000}) {
    const std::size_t needed = storage_bytes(n);
    for (const std::size_t bytes : sizes{needed - 1, needed / 2, std::size_t{1}, std::size_t{0}}) {
      const scratch storage(needed);
      const auto before = storage.read();
      expect_refused(storage.data(), bytes, s.of_call(), n);
      s.expect_untouched();
      EXPECT_EQ(before, storage.read());
    }
  }
}

TEST_P(DeviceSelectArguments, storage_may_have_any_alignment_and_contents_and_be_larger) {
  const std::size_t size = 12000;
  scene s(f(), size);
  const std::size_t needed = storage_bytes(static_cast<std::int64_t>(size));
  for (const std::size_t misalignment : sizes{0, 1, 8, 128, 255}) {
    for (const contents garbage : all_contents) {
      s.renew(misalignment);
      std::size_t bytes = needed + (misalignment == 8 ? 12345 : 0);
      const scratch storage(bytes, misalignment);
      storage.fill(garbage);
      ASSERT_CUDA_SUCCESS(f().call(storage.data(), bytes, s.of_call(), static_cast<std::int64_t>(size), nullptr));
      ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
      ASSERT_NO_FATAL_FAILURE(s.expect_selected(size));
    }
  }
}

// ------------------------------------------------------------------ counts and pointers

TEST_P(DeviceSelectArguments, refuses_outputs_that_begin_within_inputs) {
  constexpr int n = 100;
  scene s(f(), 3 * n);
  const scratch storage(storage_bytes(n));
  // The input is the middle third.
  const auto expect_apart = [&](int* arrays::*in, int* arrays::*out) {
    for (const int distance : {0, 1, n - 1}) {
      // In place, items may be their own flags.
      if (distance == 0 && f().is_in_place()) continue;
      arrays a = s.of_call();
      a.*in += n;
      a.*out = a.*in + distance;
      expect_refused(storage.data(), storage.bytes(), a, n);
      s.expect_untouched();
    }
    // An output may begin where an input ends.
    arrays a = s.of_call();
    a.*in += n;
    a.*out = a.*in + n;
    std::size_t bytes = storage.bytes();
    EXPECT_CUDA_SUCCESS(f().call(storage.data(), bytes, a, n, nullptr));
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    s.renew(0);
  };
  const unsigned has = f().has;
  if ((has & has_first_out) != 0) expect_apart(&arrays::first, &arrays::first_out);
  if ((has & has_second_out) != 0) {
    expect_apart(&arrays::first, &arrays::second_out);
    expect_apart(&arrays::second, &arrays::second_out);
  }
  if ((has & has_second) != 0) {
    // In place, `first` is an output, too.
    expect_apart(&arrays::second, f().is_in_place() ? &arrays::first : &arrays::first_out);
  }
}

// An output needs room only for the selected items, so it may end where an input begins.
TEST_P(DeviceSelectArguments, outputs_need_room_for_what_is_selected_only) {
  const std::size_t n = if_small<std::size_t>(3000, 30000);
  scene s(f(), n);
  // This type has a name, because g++ warns of the parentheses with which nvcc writes the type itself.
  using array_of = int* arrays::*;
  const array_of outs[] = {&arrays::first_out, &arrays::second_out};
  const array_of ins[] = {&arrays::first, &arrays::second};
  for (const array_of& out : outs) {
    const bool is_second = out == &arrays::second_out;
    if ((f().has & (is_second ? has_second_out : has_first_out)) == 0) continue;
    for (const array_of& in : ins) {
      if (in == &arrays::second && (f().has & has_second) == 0) continue;
      s.renew(n);
      const std::vector<int> items = s.items_of(in == &arrays::second);
      const std::vector<int> kept = s.selected(is_second);
      ASSERT_LT(kept.size(), n);
      std::vector<int> both(kept.size(), untouched);
      both.insert(both.end(), items.begin(), items.end());
      device_vector<int> memory(both);
      arrays a = s.of_call();
      a.*out = memory.data();
      a.*in = memory.data() + kept.size();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return f().call(storage, bytes, a, static_cast<std::int64_t>(n), nullptr);
      }));
      std::copy(kept.begin(), kept.end(), both.begin());
      ASSERT_SAME_BYTES(both, memory.to_host());
    }
  }
}

TEST_P(DeviceSelectArguments, of_no_items_none_is_selected) {
  scene s(f(), 3);
  const scratch storage(storage_bytes(0));
  const auto before = storage.read();
  std::size_t bytes = storage.bytes();
  arrays only_num{};
  only_num.num_selected = s.of_call().num_selected;
  graph recorded([&](cudaStream_t on) { return f().call(storage.data(), bytes, only_num, 0, on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(1u, recorded.nodes());
  s.expect_untouched();
  const stream on;
  ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
  on.synchronize();
  s.expect_selected(0);
  EXPECT_EQ(before, storage.read());
  expect_refused(storage.data(), storage.bytes(), arrays{}, 0);
}

// ------------------------------------------------------------------ errors of others

TEST_P(DeviceSelectArguments, an_older_error_is_neither_returned_nor_cleared) {
  scene s(f(), 3);
  const scratch storage(storage_bytes(3));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaSetDevice(9999));
  ASSERT_EQ(cudaErrorInvalidDevice, cudaPeekAtLastError());

  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(f().call(nullptr, bytes, s.of_call(), 3, nullptr));
  bytes = storage.bytes();
  EXPECT_EQ(cudaErrorInvalidValue, f().call(storage.data(), bytes, s.of_call(), -3, nullptr));
  EXPECT_CUDA_SUCCESS(f().call(storage.data(), bytes, s.of_call(), 0, nullptr));
  EXPECT_CUDA_SUCCESS(f().call(storage.data(), bytes, s.of_call(), 3, nullptr));

  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_CUDA_SUCCESS(cudaGetLastError());
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  s.expect_selected(3);
}

// ------------------------------------------------------------------ streams and graphs

// Lengths of one tile, of one tile for each of some blocks, and of several rounds.
const sizes lengths = {1, 3000, if_small<std::size_t>(12000, 60000)};

#if STRATA_HOST_SIMT
// Blocks start in another order each time. A block that starts before its turn finds only what earlier calls have left.
struct schedule {
  strata::simt::configuration before = strata::simt::config();
  explicit schedule(int i) {
    constexpr strata::simt::block_order orders[] = {strata::simt::block_order::descending,
                                                    strata::simt::block_order::ascending,
                                                    strata::simt::block_order::shuffled};
    strata::simt::config().seed = static_cast<std::uint64_t>(i);
    strata::simt::config().order = orders[i % 3];
    strata::simt::config().resident_blocks = i % 2 == 0 ? 4 : 16;
  }
  ~schedule() { strata::simt::config() = before; }
  schedule(const schedule&) = delete;
  schedule& operator=(const schedule&) = delete;
};
#else
struct schedule {
  explicit schedule(int) {}
};
#endif

// Each replay gets new input. Before it, the storage may be used by another call, be filled with garbage, or get what
// it held after an earlier replay or call.
TEST_P(DeviceSelectArguments, a_graph_may_be_replayed) {
  for (const std::size_t size : lengths) {
    SCOPED_TRACE(size);
    const auto count = static_cast<std::int64_t>(size);
    scene s(f(), size);
    std::size_t bytes = storage_bytes(count);
    const scratch storage(bytes);
    const stream on;
    graph recorded(
        [&](cudaStream_t recorder) { return f().call(storage.data(), bytes, s.of_call(), count, recorder); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    EXPECT_EQ(1u, recorded.nodes()) << "one launch at every size";
    s.expect_untouched();
    std::vector<unsigned char> earlier = storage.read();
    std::vector<unsigned char> other = earlier;
    for (int i = 0; i < if_small(6, 18); ++i) {
      SCOPED_TRACE(testing::Message() << "replay " << i);
      const schedule another(i);
      switch (i % 6) {
        case 1:
          storage.fill(all_contents[i / 6 % 3]);
          break;
        case 2:
          ASSERT_CUDA_SUCCESS(f().call(storage.data(), bytes, s.of_call(), count / 2, on));
          on.synchronize();
          other = storage.read();
          break;
        case 3:
          storage.write(earlier.data());
          break;
        case 4:
          storage.write(other.data());
          break;
        default:
          break;
      }
      s.renew(static_cast<std::uint64_t>(i));
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      ASSERT_NO_FATAL_FAILURE(s.expect_selected(size));
      if (i % 6 == 0) earlier = storage.read();
    }
  }
}

// Calls of all lengths, without a graph, take turns in the same storage. Each finds there what the others left.
TEST_P(DeviceSelectArguments, storage_may_hold_leftovers_of_other_calls) {
  const std::size_t most = *(lengths.end() - 1);
  scene s(f(), most);
  std::size_t bytes = storage_bytes(static_cast<std::int64_t>(most));
  const scratch storage(bytes);
  std::mt19937_64 random = strata_test::random_bits(5);
  for (int i = 0; i < if_small(6, 20); ++i) {
    const std::size_t size = i % 4 == 0 ? most : 1 + random() % (i % 4 == 1 ? 3000 : most);
    SCOPED_TRACE(testing::Message() << size << " items in call " << i);
    const schedule another(i);
    s.renew(static_cast<std::uint64_t>(i));
    ASSERT_CUDA_SUCCESS(f().call(storage.data(), bytes, s.of_call(), static_cast<std::int64_t>(size), nullptr));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_NO_FATAL_FAILURE(s.expect_selected(size));
  }
}

TEST_P(DeviceSelectArguments, streams_do_not_disturb_each_other) {
  struct lane {
    lane(std::size_t items, std::uint64_t which)
        : size(items), s(f(), items, which), bytes(storage_bytes(static_cast<std::int64_t>(items))), storage(bytes) {}
    std::size_t size;
    scene s;
    std::size_t bytes;
    scratch storage;
    stream on;
  };
  const std::size_t most = *(lengths.end() - 1);
  for (int i = 0; i < (STRATA_HOST_SIMT ? 2 : 50); ++i) {
    const auto number = static_cast<std::uint64_t>(i);
    lane lanes[] = {lane(most, 2 * number), lane(most / 2 + 7, 2 * number + 1)};
    for (lane& l : lanes) {
      ASSERT_CUDA_SUCCESS(f().call(l.storage.data(), l.bytes, l.s.of_call(), static_cast<std::int64_t>(l.size), l.on));
    }
    for (lane& l : lanes) {
      l.on.synchronize();
      ASSERT_NO_FATAL_FAILURE(l.s.expect_selected(l.size));
    }
  }
}

// ------------------------------------------------------------------ types

template <class Count, class Num>
Num number_of_even(Count count) {
  const device_vector<int> in(std::vector<int>(1000, 2));
  device_vector<int> out(1000);
  device_vector<Num> num(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSelect::If(storage..., in.data(), out.data(), num.data(), count, is_even{});
  }));
  EXPECT_EQ(2, out.to_host()[0]);
  return num.to_host()[0];
}

TEST(device_select_arguments, counts_and_numbers_of_selected_items_may_have_any_type) {
  EXPECT_EQ(100, (number_of_even<signed char, int>(100)));
  EXPECT_EQ(200u, (number_of_even<unsigned char, unsigned char>(200)));
#if !STRATA_TEST_FEW_TYPES
  EXPECT_EQ(1000, (number_of_even<short, std::int64_t>(1000)));
  EXPECT_EQ(1000u, (number_of_even<unsigned, std::size_t>(1000u)));
  EXPECT_EQ(1000.0, (number_of_even<std::size_t, double>(1000)));
#endif
}

}  // namespace device_select_arguments_test
