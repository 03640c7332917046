// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// orders: finds the customers that were charged most, by a query over generated orders and line items, on a GPU or on
// the host SIMT back end.

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
    "Usage: orders [OPTION]...\n"
    "Prints the customers that were charged most for items of some orders, shipped on some days. The\n"
    "tables are made up.\n"
    "\n"
    "      --line-items=N  make N line items (default: 100000), a quarter as many orders, and a tenth as\n"
    "                      many customers as orders\n"
    "      --scale=F       make F times 6000000 line items\n"
    "      --seed=N        make other tables\n"
    "      --priority=N    take orders of priority 1 to N (default: 2; there are 5)\n"
    "      --first-day=N   take what was shipped from day N on (default: 700; days are 0 to 2556)\n"
    "      --last-day=N    take what was shipped up to day N (default: 1799)\n"
    "      --top=N         print N customers (default: 10)\n"
    "      --repeat=N      ask N times, and show the fastest answer\n"
    "      --check         ask the host, too, and compare\n"
    "      --device=WHERE  gpu, host (the host SIMT back end), or auto: the GPU if there is one\n"
    "      --help          print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if --check found a\n"
    "difference.\n";

struct options {
  std::string device = "auto";
  long long line_items = 100000;
  std::uint64_t seed = 20261122;
  int repeat = 1;
  bool checks = false;
  orders::query asked;
};

/// `--scale=1` makes as many line items as TPC-H's tables of 1 GB have.
bool parse_scale(const std::string& scale, long long& line_items) {
  double parsed = 0;
  int length = 0;
  const bool is_number =
      std::sscanf(scale.c_str(), "%lf%n", &parsed, &length) == 1 && static_cast<std::size_t>(length) == scale.size();
  if (!is_number || !(parsed >= 0 && parsed * 6e6 <= orders::data_set::most_line_items)) return false;
  line_items = std::llround(parsed * 6e6);
  return true;
}

options parse(const example::program& running, const std::vector<std::string>& arguments) {
  using example::number_option;
  options chosen;
  const auto use_scale = [&](const std::string& scale) { return parse_scale(scale, chosen.line_items); };
  const std::vector<std::string> operands =
      example::parse_options(running, arguments,
                             {example::device_option(chosen.device),
                              number_option("line-items", chosen.line_items, 0, orders::data_set::most_line_items),
                              {"scale", 0, true, use_scale},
                              number_option("seed", chosen.seed),
                              number_option("priority", chosen.asked.priority),
                              number_option("first-day", chosen.asked.first_day),
                              number_option("last-day", chosen.asked.last_day),
                              number_option("top", chosen.asked.top),
                              number_option("repeat", chosen.repeat, 1),
                              example::flag_option("check", chosen.checks)});
  example::expect_operands(operands, 0, 0);
  return chosen;
}

/// Writes 1234567 as 1,234,567.
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

/// Prints customers and charges. A charge has four decimal places.
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
bool check(example::program& running, const orders::database& database, const orders::answer& answer,
           const orders::query& asked) {
  running.begin("asking the host");
  const orders::host_answer expected = orders::ask_host(database.download(), asked);
  const bool are_rows = answer.stages[0].rows_out == expected.selected_orders &&
                        answer.stages[1].rows_out == expected.selected_lines &&
                        answer.stages[2].rows_out == expected.joined;
  const bool is_right = are_rows && is_same(database.groups(), expected.groups) && is_same(answer.top, expected.top);
  running.say(std::to_string(expected.groups.size()) + " customers: " + (is_right ? "as by" : "not as by") +
              " the host");
  return is_right;
}

int run(example::program& running, const std::vector<std::string>& arguments) {
  const options chosen = parse(running, arguments);
  const orders::data_set data(chosen.line_items, chosen.seed);
  const auto database = example::choose_device(
      running, chosen.device, [&] { return orders::on_gpu::make_database(data); },
      [&] { return orders::on_host::make_database(data); });
  running.begin("asking");
  orders::answer fastest = database->ask(chosen.asked);
  for (int i = 1; i < chosen.repeat; ++i) {
    orders::answer another = database->ask(chosen.asked);
    if (another.milliseconds < fastest.milliseconds) fastest = std::move(another);
  }
  running.hide_progress();
  print_times(data, *database, fastest);
  print_top(fastest.top);
  example::finish_output();
  if (chosen.checks && !check(running, *database, fastest, chosen.asked)) return example::exit_check_failed;
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::run_program("orders", help, argc, argv, run); }
