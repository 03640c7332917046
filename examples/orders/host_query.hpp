// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tables.hpp"

#include <vector>

namespace orders {

/// What a query gives, by one pass over the line items: what a device's answer is checked against.
struct host_answer {
  long long selected_orders = 0;
  long long selected_lines = 0;
  long long joined = 0;
  std::vector<charged_customer> groups;  // by customer
  std::vector<charged_customer> top;
};

host_answer ask_host(const tables& data, const query& asked);

}  // namespace orders
