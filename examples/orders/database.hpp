// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "tables.hpp"

#include <memory>
#include <string>
#include <vector>

namespace orders {

/// A step of a query: how many rows go in and come out, and how long it takes.
struct stage {
  std::string name;
  long long rows_in;
  long long rows_out;
  double milliseconds;
};

struct answer {
  std::vector<charged_customer> top;
  std::vector<stage> stages;
  double milliseconds;  // from the first stage to the answer
};

/// Tables in the memory of a device. The rest of the program knows nothing else of the GPU and of the host SIMT back
/// end.
class database {
 public:
  virtual ~database() = default;

  virtual std::string device() const = 0;
  virtual double milliseconds_to_make() const = 0;
  virtual tables download() const = 0;

  virtual answer ask(const query& asked) = 0;
  /// All groups of the last answer, ordered by customer number.
  virtual std::vector<charged_customer> groups() const = 0;
};

// One source, database.cu, makes both.
namespace on_gpu {
std::unique_ptr<database> make_database(const data_set& data);
}
namespace on_host {
std::unique_ptr<database> make_database(const data_set& data);
}

}  // namespace orders
