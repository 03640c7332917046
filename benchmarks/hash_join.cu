// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin, and a JoinTable that is built or probed. Rivals:
//
//   cub   a sort-merge join made of CUB's parts, because CUB has no join
//   host  two threads of the host, for cases that they finish soon
//
// A JoinTable has no rival. The necessary traffic is the keys of both sides, with null masks, read once, and the rows
// of the result, written once. For columns, it is each value of the result, read and written. For a table, only the
// side that is built or probed counts.
//
// A type is `key:row number`; u32x2 and u64x2 are structs of two integers. The name of a case is
// `rows of the build side x rows of the probe side` (J1, J2 and J3 stand for three such pairs), then
//
//   match=M    the fraction of probe rows that have a partner
//   zipf=Z     probe keys follow Zipf's law with this exponent; 0: uniform
//   mult=K     number of build rows with the same key
//   dense      keys are the numbers from 0 on, shuffled; sparse: any bit patterns
//   sorted     the keys of both sides ascend, and the call promises it
//   nulls=N    the fraction of rows on both sides that have no key, and so no partner
//   unique     the call promises that build keys are unique
//   table      the call asks for a single table
//   ordered    the call asks for the order of the probe rows
//   range      the call gives the range of the dense keys
//   filter     the call gives the match ratio M
//   future     only the device knows the numbers of rows (FutureCount)
//   count      the call only counts the rows of the result
//   columns=K  the call gathers K columns, half of them from each side; a single one comes from the build side
//   bytes=B    values of these columns have B bytes

#include <strata/device/device_hash_join.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "harness/harness.cuh"
#include "harness/join_data.cuh"
#include "harness/join_workloads.cuh"

namespace {

using bench::environment;
using bench::join_case;
using bench::pair_key;
using bench::timing;
using request = bench::join_request;
using strata::JoinKind;

const char* name_of(JoinKind kind) {
  switch (kind) {
    case JoinKind::left:
      return "DeviceHashJoin::Left";
    case JoinKind::full:
      return "DeviceHashJoin::Full";
    case JoinKind::semi:
      return "DeviceHashJoin::Semi";
    case JoinKind::anti:
      return "DeviceHashJoin::Anti";
    case JoinKind::inner:
      break;
  }
  return "DeviceHashJoin::Inner";
}

template <class Key>
constexpr const char* type_name = "u32:u32";
template <>
constexpr const char* type_name<std::uint64_t> = "u64:u32";
template <>
constexpr const char* type_name<pair_key<std::uint32_t>> = "u32x2:u32";
template <>
constexpr const char* type_name<pair_key<std::uint64_t>> = "u64x2:u32";

std::string text_of(double number) {
  std::string text = std::to_string(number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string name_of(const join_case& what) {
  return std::string(what.name) + " match=" + text_of(what.match) + " zipf=" + text_of(what.zipf) +
         " mult=" + std::to_string(what.mult) + (what.is_sparse ? " sparse" : " dense") +
         (what.is_sorted ? " sorted" : "") + (what.nulls > 0 ? " nulls=" + text_of(what.nulls) : "");
}

template <class Key>
void add(bench::suite& suite, const join_case& what, const request& wanted) {
  std::vector<std::string> rivals;
  if (wanted.beside_cub) rivals.emplace_back("cub");
  if (wanted.beside_host) rivals.emplace_back("host");
  suite.add({name_of(wanted.kind), type_name<Key>, name_of(what) + wanted.suffix, what.build_rows + what.probe_rows,
             timing::batched, [=](const environment& env) { return bench::join_workload<Key>(what, wanted, env); },
             rivals});
}

void add_both(bench::suite& suite, const join_case& what, const request& wanted) {
  add<std::uint32_t>(suite, what, wanted);
  add<std::uint64_t>(suite, what, wanted);
}

template <class Value, int Columns, bool HasMatchRatio = false>
void add_with_columns(bench::suite& suite, const join_case& what, const request& wanted) {
  const std::string suffix =
      wanted.suffix + (" columns=" + std::to_string(Columns)) + " bytes=" + std::to_string(sizeof(Value));
  const auto make = [=](const environment& env) {
    return bench::columns_workload<Value, Columns, HasMatchRatio>(what, wanted, env);
  };
  suite.add({"DeviceHashJoin::Inner",
             "u32:u32",
             name_of(what) + suffix,
             what.build_rows + what.probe_rows,
             timing::batched,
             make,
             {}});
}

void add_table(bench::suite& suite, const join_case& what, const request& wanted, bool is_probed) {
  suite.add({is_probed ? "JoinTable::Inner" : "JoinTable::Build",
             "u32:u32",
             name_of(what) + wanted.suffix,
             is_probed ? what.probe_rows : what.build_rows,
             timing::batched,
             [=](const environment& env) { return bench::table_workload(what, wanted, is_probed, env); },
             {}});
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

join_case with_nulls(join_case what, double share) {
  what.nulls = share;
  return what;
}

request alone(const char* suffix = "") {
  request wanted;
  wanted.suffix = suffix;
  wanted.beside_cub = false;
  return wanted;
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
request filtered(JoinKind kind) {
  request wanted = alone(" filter");
  wanted.kind = kind;
  wanted.has_match_ratio = true;
  return wanted;
}
request with_future_counts() {
  request wanted = alone(" future");
  wanted.has_future_counts = true;
  return wanted;
}
request table() {
  request wanted = alone(" table");
  wanted.strategy = strata::JoinStrategy::simple;
  return wanted;
}
request ordered() {
  request wanted = alone(" ordered");
  wanted.is_ordered = true;
  return wanted;
}
request unique_ordered() {
  request wanted = ordered();
  wanted.is_unique = true;
  wanted.suffix = " unique ordered";
  return wanted;
}
request counted() {
  request wanted;
  wanted.only_counts = true;
  wanted.suffix = " count";
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
    wanted.beside_host = has_rows_of(what, J1) || has_rows_of(what, J2) || has_rows_of(what, J3);
    add<std::uint32_t>(suite, what, unique());
    add_both(suite, what, wanted);
    add<std::uint32_t>(suite, what, counted());
  }
  for (const join_case& what : {sizes[0], J1, J3, two_24}) {
    add<std::uint32_t>(suite, what, table());
  }
  for (const join_case& what : {J3, two_24}) {
    add_both(suite, what, ordered());
    add_both(suite, what, unique_ordered());
    for (const JoinKind kind : {JoinKind::semi, JoinKind::anti}) {
      request wanted = ordered();
      wanted.kind = kind;
      add<std::uint32_t>(suite, with_match(what, 0.25), wanted);
    }
  }
  add<std::uint32_t>(suite, J1, unique_ordered());
  add<std::uint32_t>(suite, two_27, unique_ordered());
  for (const join_case& what : {J3, sizes[5], sizes[6]}) add_both(suite, what, with_range());
}

/// Each property of the data, at a small, two middle and a large size.
void add_axes(bench::suite& suite) {
  for (const join_case& what : {J1, J3, two_24, two_27}) {
    // Sorts of the largest size would take as long as everything else together.
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
  request full = of_kind(JoinKind::full);
  full.beside_cub = false;
  for (const join_case& what : {J1, J3}) add<std::uint32_t>(suite, what, full);
  add_both(suite, with_zipf(two_24_27, 1.5), alone());
  add<std::uint32_t>(suite, sparse(with_zipf(with_match(J3, 0.25), 1.5)), {});
  const join_case two_19_22{"2^19x2^22", two_to(19), two_to(22)};
  for (const double match : {0.03, 0.003}) {
    for (const join_case& what : {J3, two_24_27, two_19_22}) {
      add_both(suite, with_match(what, match), filtered(JoinKind::inner));
      // The plain join of J3 with 0.03 is among the cases above, which have a rival.
      if (!has_rows_of(what, J3) || match != 0.03) add<std::uint32_t>(suite, with_match(what, match), alone());
      add<std::uint64_t>(suite, with_match(what, match), alone());
    }
  }
  for (const join_case& what : {J3, two_24}) add<std::uint32_t>(suite, what, with_future_counts());
  request semi = of_kind(JoinKind::semi);
  semi.beside_cub = false;
  add<std::uint32_t>(suite, with_match(J3, 0.03), semi);
  add<std::uint32_t>(suite, with_match(J3, 0.03), filtered(JoinKind::semi));
  add<std::uint32_t>(suite, with_nulls(J3, 0.1), alone());
  add<pair_key<std::uint32_t>>(suite, J3, alone());
  add<pair_key<std::uint64_t>>(suite, J3, alone());
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

/// Many build rows with the same key: as many as the result fits the memory.
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
  add<std::uint32_t>(suite, with_mult(two_27, 10, 0.25), alone());
  add<std::uint32_t>(suite, with_mult(two_27, 1000, 0.01), alone());
}

template <class Value>
void add_columns(bench::suite& suite) {
  for (const join_case& what : {J3, two_24}) {
    for (const request& wanted : {alone(), unique()}) {
      add_with_columns<Value, 1>(suite, what, wanted);
      add_with_columns<Value, 2>(suite, what, wanted);
      add_with_columns<Value, 4>(suite, what, wanted);
      add_with_columns<Value, 8>(suite, what, wanted);
    }
  }
}

void add_columns_of_few_matches(bench::suite& suite) {
  for (const join_case& what : {J3, two_24}) {
    for (const double match : {0.3, 0.03}) {
      add_with_columns<std::int32_t, 4>(suite, with_match(what, match), alone());
      add_with_columns<std::int32_t, 4, true>(suite, with_match(what, match), filtered(JoinKind::inner));
    }
  }
}

void add_tables(bench::suite& suite) {
  for (const join_case& what : {J3, two_24}) {
    for (const bool is_probed : {false, true}) {
      add_table(suite, what, alone(), is_probed);
      add_table(suite, what, unique(), is_probed);
    }
  }
  // A table that is probed again and again by few rows.
  constexpr join_case of_few_rows[] = {{"2^20x2^10", two_to(20), two_to(10)},
                                       {"2^20x2^12", two_to(20), two_to(12)},
                                       {"2^20x2^14", two_to(20), two_to(14)},
                                       {"2^20x2^16", two_to(20), two_to(16)},
                                       {"2^16x2^12", two_to(16), two_to(12)}};
  for (const join_case& what : of_few_rows) {
    add_table(suite, what, alone(), true);
    add_table(suite, what, unique(), true);
  }
}

void add_cases(bench::suite& suite) {
  add_sizes(suite);
  add_axes(suite);
  add_sorted(suite);
  add_duplicates(suite);
  add_columns<std::int32_t>(suite);
  add_columns<std::int64_t>(suite);
  add_columns_of_few_matches(suite);
  add_tables(suite);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("hash_join", argc, argv, add_cases); }
