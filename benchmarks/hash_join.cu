// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin beside a sort-merge join made of CUB's parts (`cub`), which has no join, and, where
// that ends soon, two threads of the host (`host`). The necessary traffic is the keys of both
// sides, read once, and the rows of the result, written once. A case is
// `rows of the build side x rows of the probe side`, three of which have names, then
//
//   match=M  the share of probe rows that have a partner
//   zipf=Z   probe keys follow Zipf's law of that exponent; 0: uniform
//   mult=K   build rows with the same key
//   dense    keys are numbers from 0 on, shuffled; sparse: any bit patterns
//   unique   the join is told that build keys are; table: it is told to make one table;
//   ordered  it is told to keep the order of the probe rows
//   sorted   both sides ascend, and it is told so
//   range    it is told in which range dense keys are

#include <strata/device/device_hash_join.hpp>
#include <strata/device/join/host/host_join.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/harness.cuh"
#include "harness/join_data.cuh"
#include "harness/sort_merge_join.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::join_case;
using bench::join_result;
using bench::join_sides;
using bench::workload;
using strata::JoinKind;

/// What is asked of a join besides its data.
struct request {
  JoinKind kind = JoinKind::inner;
  const char* suffix = "";
  bool is_unique = false;
  bool is_ordered = false;
  bool has_range = false;
  bool only_counts = false;
  strata::JoinStrategy strategy = strata::JoinStrategy::automatic;
  bool beside_cub = true;
  bool beside_host = false;
};

const char* name_of(const request& wanted) {
  if (wanted.only_counts) return "DeviceHashJoin::InnerCount";
  switch (wanted.kind) {
    case JoinKind::left:
      return "DeviceHashJoin::LeftPairs";
    case JoinKind::full:
      return "DeviceHashJoin::FullPairs";
    case JoinKind::semi:
      return "DeviceHashJoin::SemiPairs";
    case JoinKind::anti:
      return "DeviceHashJoin::AntiPairs";
    case JoinKind::inner:
      break;
  }
  return "DeviceHashJoin::InnerPairs";
}

std::string text_of(double number) {
  std::string text = std::to_string(number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string name_of(const join_case& what) {
  return std::string(what.name) + " match=" + text_of(what.match) + " zipf=" + text_of(what.zipf) +
         " mult=" + std::to_string(what.mult) + (what.is_sparse ? " sparse" : " dense") +
         (what.is_sorted ? " sorted" : "");
}

template <class Key>
cudaError_t join(void* storage, std::size_t& bytes, const join_case& what, const join_sides<Key>& sides,
                 const request& wanted, const join_result& out, cudaStream_t stream) {
  using joins = strata::DeviceHashJoin;
  strata::OrderedJoinOptions<> options;
  options.strategy = wanted.strategy;
  if (!wanted.is_ordered) options.order = strata::JoinOrder::any;
  // Sizes fit 4 bytes, so that no code for more rows is compiled.
  const auto side = [&](const device_array<Key>& keys) {
    return strata::join_side<Key>(keys.data(), static_cast<std::int32_t>(keys.size())).sorted(what.is_sorted);
  };
  const auto build = side(sides.build)
                         .unique(wanted.is_unique)
                         .key_range(wanted.has_range ? 0 : 1, wanted.has_range ? static_cast<Key>(what.keys() - 1) : 0);
  const auto probe = side(sides.probe);
  if (wanted.only_counts) {
    return joins::Inner(storage, bytes, build, probe, strata::join_count(), out.total.data(), options, stream);
  }
  const auto call = [&](auto kind) {
    return kind(storage, bytes, build, probe,
                strata::join_pairs(out.build_out.data(), out.probe_out.data(), out.capacity), out.total.data(), options,
                stream);
  };
  switch (wanted.kind) {
    case JoinKind::left:
      return call([](auto&&... with) { return joins::Left(with...); });
    case JoinKind::full:
      return call([](auto&&... with) { return joins::Full(with...); });
    case JoinKind::semi:
      return call([](auto&&... with) { return joins::Semi(with...); });
    case JoinKind::anti:
      return call([](auto&&... with) { return joins::Anti(with...); });
    case JoinKind::inner:
      break;
  }
  return call([](auto&&... with) { return joins::Inner(with...); });
}

/// The join of the host, in the memory of the host.
template <class Key>
class host_join {
 public:
  host_join(const join_sides<Key>& sides, const join_result& device_result, cudaStream_t stream)
      : build_(sides.build.size()),
        probe_(sides.probe.size()),
        build_out_(device_result.build_out.size()),
        probe_out_(device_result.probe_out.size()),
        device_result_(device_result) {
    options_.threads = 2;
    copy(build_.data(), sides.build.data(), sides.build.bytes(), stream);
    copy(probe_.data(), sides.probe.data(), sides.probe.bytes(), stream);
    std::size_t bytes = 0;
    bench::check(call(nullptr, bytes), "host");
    storage_.resize(bytes);
  }

  cudaError_t operator()() {
    std::size_t bytes = storage_.size();
    return call(storage_.data(), bytes);
  }

  /// To where the device can see it.
  void publish(cudaStream_t stream) const {
    copy(device_result_.build_out.data(), build_out_.data(), device_result_.build_out.bytes(), stream);
    copy(device_result_.probe_out.data(), probe_out_.data(), device_result_.probe_out.bytes(), stream);
    copy(device_result_.total.data(), &total_, sizeof total_, stream);
  }
  void spoil() {
    std::fill(probe_out_.begin(), probe_out_.end(), -2);
    total_ = -2;
  }

 private:
  static void copy(void* target, const void* source, std::size_t bytes, cudaStream_t stream) {
    bench::check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream), "copy");
    bench::check(cudaStreamSynchronize(stream), "copy");
  }

  cudaError_t call(void* storage, std::size_t& bytes) {
    const strata::HostJoinStatus status = strata::detail::host_join_pairs(
        storage, bytes, JoinKind::inner, build_.data(), static_cast<std::int64_t>(build_.size()), probe_.data(),
        static_cast<std::int64_t>(probe_.size()), build_out_.data(), probe_out_.data(), &total_,
        device_result_.capacity, options_);
    return status == strata::HostJoinStatus::success ? cudaSuccess : cudaErrorInvalidValue;
  }

  std::vector<Key> build_;
  std::vector<Key> probe_;
  std::vector<std::int32_t> build_out_;
  std::vector<std::int32_t> probe_out_;
  std::vector<unsigned char> storage_;
  std::int64_t total_ = -2;
  strata::HostJoinOptions options_;
  join_result device_result_;
};

template <class Key>
workload prepare(const join_case& what, const request& wanted, const environment& env) {
  const cudaStream_t stream = env.stream;
  const join_sides<Key> sides(what, wanted.kind, env.settings.seed, stream);
  const auto rows = static_cast<std::int64_t>(sides.expected.rows);
  const auto new_result = [&] {
    const join_result result(wanted.kind, wanted.only_counts ? 0 : rows);
    result.spoil(stream);
    return result;
  };
  const auto verified = [&](bench::peer contender, const join_result& result) {
    contender.verify = [=] { return result.difference_from(sides.expected, stream); };
    return contender;
  };

  workload work;
  const join_result ours = new_result();
  work.bytes =
      static_cast<double>(sides.build.bytes() + sides.probe.bytes() + ours.build_out.bytes() + ours.probe_out.bytes());
  work.peers.push_back(verified(bench::storage_peer("strata",
                                                    [=](void* storage, std::size_t& bytes, cudaStream_t where) {
                                                      return join<Key>(storage, bytes, what, sides, wanted, ours,
                                                                       where);
                                                    }),
                                ours));
  if (wanted.beside_cub) {
    const join_result theirs = new_result();
    const bench::sort_merge_join<Key> by_sorting(what, wanted.kind, wanted.is_unique, sides, theirs, stream);
    work.peers.push_back(verified({"cub", by_sorting}, theirs));
  }
  if (wanted.beside_host) {
    const join_result theirs = new_result();
    const auto by_host = std::make_shared<host_join<Key>>(sides, theirs, stream);
    bench::peer contender{"host", [=](cudaStream_t) { return (*by_host)(); }};
    contender.is_on_host = true;
    contender.verify = [=] {
      by_host->publish(stream);
      by_host->spoil();
      return theirs.difference_from(sides.expected, stream);
    };
    work.peers.push_back(contender);
  }
  work.peers.push_back(bench::copy_peer(sides.probe.data(), sides.probe.bytes()));
  return work;
}

template <class Key>
void add(bench::suite& suite, const join_case& what, const request& wanted) {
  bench::benchmark_case added;
  added.algorithm = name_of(wanted);
  added.type = sizeof(Key) == 4 ? "u32/u32" : "u64/u32";
  added.data_case = name_of(what) + wanted.suffix;
  added.n = what.build_rows + what.probe_rows;
  added.prepare = [what, wanted](const environment& env) { return prepare<Key>(what, wanted, env); };
  added.rivals = {};
  if (wanted.beside_cub) added.rivals.emplace_back("cub");
  if (wanted.beside_host) added.rivals.emplace_back("host");
  suite.add(added);
}

void add_both(bench::suite& suite, const join_case& what, const request& wanted) {
  add<std::uint32_t>(suite, what, wanted);
  add<std::uint64_t>(suite, what, wanted);
}

constexpr std::int64_t million = 1000000;
constexpr std::int64_t two_to(int bits) { return std::int64_t{1} << bits; }

constexpr join_case J1{"J1", million / 10, million};
constexpr join_case J2{"J2", million, million};
constexpr join_case J3{"J3", million, 10 * million};
constexpr join_case two_24{"2^24x2^24", two_to(24), two_to(24)};
constexpr join_case two_24_27{"2^24x2^27", two_to(24), two_to(27)};
constexpr join_case two_27{"2^27x2^27", two_to(27), two_to(27)};

bool has_rows_of(const join_case& a, const join_case& b) {
  return a.build_rows == b.build_rows && a.probe_rows == b.probe_rows;
}
join_case with_match(join_case what, double match) {
  what.match = match;
  return what;
}
join_case with_zipf(join_case what, double exponent) {
  what.zipf = exponent;
  return what;
}
join_case with_mult(join_case what, std::int64_t mult, double match) {
  what.mult = mult;
  what.match = match;
  return what;
}
join_case sparse(join_case what) {
  what.is_sparse = true;
  return what;
}

join_case sorted(join_case what) {
  what.is_sorted = true;
  return what;
}

request unique() {
  request wanted;
  wanted.is_unique = true;
  wanted.suffix = " unique";
  return wanted;
}
request with_range() {
  request wanted = unique();
  wanted.has_range = true;
  wanted.suffix = " unique range";
  wanted.beside_cub = false;
  return wanted;
}
request table() {
  request wanted;
  wanted.strategy = strata::JoinStrategy::simple;
  wanted.suffix = " table";
  wanted.beside_cub = false;
  return wanted;
}
request ordered() {
  request wanted;
  wanted.is_ordered = true;
  wanted.suffix = " ordered";
  wanted.beside_cub = false;
  return wanted;
}
request counted() {
  request wanted;
  wanted.only_counts = true;
  wanted.beside_cub = false;
  return wanted;
}
request of_kind(JoinKind kind) {
  request wanted;
  wanted.kind = kind;
  return wanted;
}

void add_sizes(bench::suite& suite) {
  const join_case sizes[] = {
      {"10Kx10M", 10000, 10 * million},      {"100Kx100K", 100000, 100000},          J1,     J2,        J3,
      {"2^20x2^20", two_to(20), two_to(20)}, {"2^22x40M", two_to(22), 40 * million}, two_24, two_24_27, two_27};
  for (const join_case& what : sizes) {
    request wanted;
    wanted.beside_host = has_rows_of(what, J1) || has_rows_of(what, J3);
    add<std::uint32_t>(suite, what, unique());
    add_both(suite, what, wanted);
    add<std::uint32_t>(suite, what, counted());
  }
  for (const join_case& what : {sizes[0], J1, J3, two_24}) {
    add<std::uint32_t>(suite, what, table());
  }
  for (const join_case& what : {J3, two_24}) add<std::uint32_t>(suite, what, ordered());
  for (const join_case& what : {J3, sizes[5], sizes[6]}) add_both(suite, what, with_range());
}

/// Each axis at a small, two middle and a large size.
void add_axes(bench::suite& suite) {
  for (const join_case& what : {J1, J3, two_24, two_27}) {
    // The sorts at the largest size would take as long as all else.
    request plain;
    plain.beside_cub = !has_rows_of(what, two_27);
    request promised = unique();
    promised.beside_cub = plain.beside_cub;

    add<std::uint32_t>(suite, sparse(what), promised);
    add_both(suite, sparse(what), plain);
    add_both(suite, with_match(what, 0.25), plain);
    add<std::uint32_t>(suite, with_match(what, 0.03), plain);
    add<std::uint32_t>(suite, with_zipf(what, 1), plain);
    add_both(suite, with_zipf(what, 1.5), plain);
    for (const JoinKind kind : {JoinKind::left, JoinKind::full, JoinKind::semi, JoinKind::anti}) {
      request wanted = of_kind(kind);
      wanted.beside_cub = plain.beside_cub;
      add<std::uint32_t>(suite, with_match(what, 0.25), wanted);
      const bool has_bar = kind == JoinKind::semi || kind == JoinKind::anti;
      if (has_bar && plain.beside_cub) add<std::uint32_t>(suite, what, wanted);
    }
  }
  for (const JoinKind kind : {JoinKind::left, JoinKind::full, JoinKind::semi, JoinKind::anti}) {
    add<std::uint64_t>(suite, with_match(J3, 0.25), of_kind(kind));
  }
  request alone;
  alone.beside_cub = false;
  add_both(suite, with_zipf(two_24_27, 1.5), alone);
  add<std::uint32_t>(suite, sparse(with_zipf(with_match(J3, 0.25), 1.5)), {});
}

void add_sorted(bench::suite& suite) {
  for (const join_case& what : {J1, J3, two_24, two_27}) {
    add_both(suite, sorted(what), {});
    add<std::uint32_t>(suite, sorted(with_match(what, 0.25)), {});
  }
  add<std::uint32_t>(suite, sorted(with_zipf(J3, 1.5)), {});
  add<std::uint32_t>(suite, sorted(with_mult(J3, 10, 1)), {});
  add<std::uint32_t>(suite, sorted(J3), of_kind(JoinKind::semi));
  add<std::uint32_t>(suite, sorted(J3), of_kind(JoinKind::full));
}

/// As many rows with the same key as the memory has room for the result.
void add_duplicates(bench::suite& suite) {
  add_both(suite, with_mult(J1, 10, 1), {});
  add_both(suite, with_mult(J1, 1000, 0.25), {});
  add<std::uint32_t>(suite, with_mult(J1, 50000, 0.03), {});
  add_both(suite, with_mult({"100Kx100K", 100000, 100000}, 1000, 1), {});
  add_both(suite, with_mult({"100Kx100K", 100000, 100000}, 50000, 0.3), {});
  add_both(suite, with_mult({"2^20x2^13", two_to(20), two_to(13)}, two_to(14), 1), {});
  add_both(suite, with_mult(J3, 10, 1), {});
  add<std::uint32_t>(suite, with_mult(J3, 1000, 0.03), {});
  add<std::uint32_t>(suite, with_mult(J3, 50000, 0.003), {});
  add_both(suite, with_mult(two_24, 10, 1), {});
  add<std::uint32_t>(suite, with_mult(two_24, 1000, 0.03), {});
  request alone;
  alone.beside_cub = false;
  add<std::uint32_t>(suite, with_mult(two_27, 10, 0.25), alone);
  add<std::uint32_t>(suite, with_mult(two_27, 1000, 0.01), alone);
}

void add_cases(bench::suite& suite) {
  add_sizes(suite);
  add_axes(suite);
  add_sorted(suite);
  add_duplicates(suite);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("hash_join", argc, argv, add_cases); }
