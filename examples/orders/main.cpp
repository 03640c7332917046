// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// orders: the customers that were charged most, by a query over generated orders and line items; on a
// GPU or on the host SIMT back end.

#include "../common/program.hpp"
#include "database.hpp"
#include "host_query.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

const char help[] =
    "Usage: orders [--device=WHERE] [--line-items=N | --scale=F] [--seed=N] [--priority=N]\n"
    "              [--first-day=N] [--last-day=N] [--top=N] [--repeat=N] [--check]\n"
    "\n"
    "Prints the 10 or N customers that were charged most for items of orders of priority 1 to N\n"
    "(of 5; 2 if nothing is said), shipped from day to day (0 to 2556; 700 to 1799).\n"
    "The tables are made up: 100000 or N line items, or F times 6000000, a quarter of that in\n"
    "orders, and a tenth of those in customers.\n"
    "WHERE is gpu, host (the host SIMT back end), or auto: the GPU if there is one.\n"
    "--repeat=N asks N times, of which the fastest is shown; --check asks the host, too.\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if --check found a "
    "difference.\n";

struct options {
  std::string device = "auto";
  long long line_items = 100000;
  std::uint64_t seed = 20261122;
  int repeat = 1;
  bool checks = false;
  orders::query asked;
};

/// `--scale=1` is as many as in TPC-H's tables of 1 GB.
long long line_items_of(const std::string& scale) {
  double parsed = 0;
  int length = 0;
  const bool is_number =
      std::sscanf(scale.c_str(), "%lf%n", &parsed, &length) == 1 && static_cast<std::size_t>(length) == scale.size();
  if (!is_number || !(parsed >= 0 && parsed <= 1000)) throw example::wrong_call();
  return std::llround(parsed * 6e6);
}

options parse(const std::vector<std::string>& arguments) {
  options chosen;
  for (const std::string& argument : arguments) {
    const example::option given(argument);
    if (given.name == "--device") {
      chosen.device = example::parse_device(given);
    } else if (given.name == "--line-items") {
      chosen.line_items = example::parse_number<long long>(given.value);
    } else if (given.name == "--scale") {
      chosen.line_items = line_items_of(given.value);
    } else if (given.name == "--seed") {
      chosen.seed = example::parse_number<std::uint64_t>(given.value);
    } else if (given.name == "--priority") {
      chosen.asked.priority = example::parse_number<int>(given.value);
    } else if (given.name == "--first-day") {
      chosen.asked.first_day = example::parse_number<int>(given.value);
    } else if (given.name == "--last-day") {
      chosen.asked.last_day = example::parse_number<int>(given.value);
    } else if (given.name == "--top") {
      chosen.asked.top = example::parse_number<std::size_t>(given.value);
    } else if (given.name == "--repeat") {
      chosen.repeat = example::parse_number<int>(given.value);
    } else if (argument == "--check") {
      chosen.checks = true;
    } else {
      throw example::wrong_call();
    }
  }
  const bool are_rows = 0 <= chosen.line_items && chosen.line_items <= orders::data_set::most_line_items;
  if (!are_rows || chosen.repeat < 1) throw example::wrong_call();
  return chosen;
}

/// 1234567 as 1,234,567.
std::string with_commas(long long number) {
  std::string text = std::to_string(number);
  for (int place = static_cast<int>(text.size()) - 3; place > 0; place -= 3) {
    text.insert(static_cast<std::size_t>(place), ",");
  }
  return text;
}

void print_times(const orders::data_set& data, const orders::database& database, const orders::answer& answer) {
  std::fprintf(stderr, "orders: made %s orders and %s line items in %.3f ms\n", with_commas(data.orders()).c_str(),
               with_commas(data.line_items()).c_str(), database.milliseconds_to_make());
  double longest = 0;
  double sum = 0;
  for (const orders::stage& stage : answer.stages) {
    longest = std::max(longest, stage.milliseconds);
    sum += stage.milliseconds;
  }
  constexpr double bar_width = 30;
  const std::string full_bar(static_cast<std::size_t>(bar_width), '#');
  std::fprintf(stderr, "%-18s %13s %13s %10s\n", "", "rows in", "rows out", "ms");
  for (const orders::stage& stage : answer.stages) {
    const int bar = longest > 0 ? static_cast<int>(std::lround(bar_width * stage.milliseconds / longest)) : 0;
    std::fprintf(stderr, "%-18s %13s %13s %10.3f %.*s\n", stage.name.c_str(), with_commas(stage.rows_in).c_str(),
                 with_commas(stage.rows_out).c_str(), stage.milliseconds, bar, full_bar.c_str());
  }
  std::fprintf(stderr, "%-18s %13s %13s %10.3f, and %.3f until the answer was on the host\n", "all of these", "", "",
               sum, answer.milliseconds);
}

/// Customer and charge, which has four places behind the point.
void print_top(const std::vector<orders::charged_customer>& top) {
  for (const orders::charged_customer& row : top) {
    std::printf("%10u %12lld.%04lld\n", row.customer, row.charged / 10000, row.charged % 10000);
  }
}

bool is_same(const std::vector<orders::charged_customer>& some, const std::vector<orders::charged_customer>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const orders::charged_customer& a, const orders::charged_customer& b) {
                      return a.customer == b.customer && a.charged == b.charged;
                    });
}

/// Compares numbers of rows, all groups and the answer.
bool check(const orders::database& database, const orders::answer& answer, const orders::query& asked) {
  const orders::host_answer expected = orders::ask_host(database.download(), asked);
  const bool are_rows = answer.stages[0].rows_out == expected.selected_orders &&
                        answer.stages[1].rows_out == expected.selected_lines &&
                        answer.stages[2].rows_out == expected.joined;
  const bool is_right = are_rows && is_same(database.groups(), expected.groups) && is_same(answer.top, expected.top);
  std::fprintf(stderr, "orders: %zu customers: %s the host\n", expected.groups.size(),
               is_right ? "as by" : "not as by");
  return is_right;
}

int run(const std::vector<std::string>& arguments) {
  const options chosen = parse(arguments);
  const orders::data_set data(chosen.line_items, chosen.seed);
  const auto database = example::choose_device(
      "orders", chosen.device, [&] { return orders::on_gpu::make_database(data); },
      [&] { return orders::on_host::make_database(data); });
  orders::answer fastest = database->ask(chosen.asked);
  for (int i = 1; i < chosen.repeat; ++i) {
    orders::answer another = database->ask(chosen.asked);
    if (another.milliseconds < fastest.milliseconds) fastest = std::move(another);
  }
  print_times(data, *database, fastest);
  print_top(fastest.top);
  example::finish_output();
  if (chosen.checks && !check(*database, fastest, chosen.asked)) return example::exit_check_failed;
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("orders", help, argc, argv, run); }
