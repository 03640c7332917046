// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "host_query.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace orders {

host_answer ask_host(const tables& data, const query& asked) {
  host_answer answer;
  std::unordered_map<std::uint32_t, std::uint32_t> customer_of;  // by the key of the order
  std::uint32_t customers = 0;
  for (std::size_t i = 0; i < data.order_keys.size(); ++i) {
    if (data.order_priorities[i] < 1 || data.order_priorities[i] > asked.priority) continue;
    customer_of.emplace(data.order_keys[i], data.order_customers[i]);
    customers = std::max(customers, data.order_customers[i] + 1);
    ++answer.selected_orders;
  }

  std::vector<long long> charges(customers);
  std::vector<bool> has_items(customers);
  for (std::size_t i = 0; i < data.line_keys.size(); ++i) {
    if (data.line_days[i] < asked.first_day || data.line_days[i] > asked.last_day) continue;
    ++answer.selected_lines;
    const auto found = customer_of.find(data.line_keys[i]);
    if (found == customer_of.end()) continue;
    ++answer.joined;
    has_items[found->second] = true;
    charges[found->second] += static_cast<long long>(data.line_prices[i]) * (100 - data.line_discounts[i]);
  }

  for (std::uint32_t customer = 0; customer < customers; ++customer) {
    if (has_items[customer]) answer.groups.push_back({customer, charges[customer]});
  }
  answer.top = answer.groups;
  std::stable_sort(answer.top.begin(), answer.top.end(),
                   [](const charged_customer& a, const charged_customer& b) { return a.charged > b.charged; });
  answer.top.resize(std::min(answer.top.size(), asked.top));
  return answer;
}

}  // namespace orders
