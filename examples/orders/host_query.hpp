// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tables.hpp"

#include <vector>

namespace orders {

/// The answer of a query, by one pass over the line items. The device's answer is compared with it.
struct host_answer {
  long long selected_orders = 0;
  long long selected_lines = 0;
  long long joined = 0;
  std::vector<charged_customer> groups;  // by customer
  std::vector<charged_customer> top;
};

host_answer ask_host(const tables& data, const query& asked);

}  // namespace orders
