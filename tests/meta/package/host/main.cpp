// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/types.hpp>
#include <strata/version.hpp>

int sum_on_device(const int* values, int count);

int main() {
  static_assert(STRATA_VERSION == 100, "the consumer expects strata 0.1.0");
  const strata::KeyValuePair<int, int> values{40, 2};
  const int numbers[] = {values.key, values.value};
  return sum_on_device(numbers, 2) == 42 ? 0 : 1;
}
