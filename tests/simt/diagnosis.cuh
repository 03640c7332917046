// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

/// Runs kernels that are broken on purpose, and checks the reports of the host back end. Only for tests in this folder,
/// because a GPU would hang, crash or return garbage.

#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace simt = strata::simt;

// The number of the line of `file` that ends in the comment "// fault: <name>".
inline int line_of_fault(const char* file, const std::string& name) {
  std::ifstream source(file);
  std::string line;
  const std::string tag = "// fault: " + name;
  for (int number = 1; std::getline(source, line); ++number) {
    const size_t at = line.find(tag);
    if (at != std::string::npos && at + tag.size() == line.size()) return number;
  }
  return -1;
}

class DiagnosisTest : public testing::Test {
 protected:
  void SetUp() override {
    saved_ = simt::config();
    simt::config() = simt::configuration{};
    simt::config().quiet = true;
    simt::config().stack_bytes = saved_.stack_bytes;
    simt::clear_report();
    ASSERT_EQ(cudaMalloc(&out, out_count * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMemset(out, 0, out_count * sizeof(int)), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&flags, out_count * sizeof(unsigned)), cudaSuccess);
    ASSERT_EQ(cudaMemset(flags, 0, out_count * sizeof(unsigned)), cudaSuccess);
  }
  void TearDown() override {
    cudaFree(out);
    cudaFree(flags);
    simt::clear_report();
    simt::config() = saved_;
  }

  static constexpr size_t out_count = 4096;
  int* out = nullptr;
  unsigned* flags = nullptr;

 private:
  simt::configuration saved_;
};

// `thread` is the text of the report, e.g. "block (0,0,0) thread (5,0,0)", or "" if the report names no thread.
inline void expect_diagnosis(cudaError_t status, const char* kind, const char* file, const std::string& fault,
                             const std::string& thread) {
  const std::string text = simt::last_report().text;
  EXPECT_NE(status, cudaSuccess);
  EXPECT_STREQ(simt::last_report().kind, kind) << text;
  if (!fault.empty()) {
    const int line = line_of_fault(file, fault);
    ASSERT_GT(line, 0) << "no line is marked " << fault;
    const char* const slash = std::strrchr(file, '/');
    const std::string where = std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(line);
    EXPECT_NE(text.find(where), std::string::npos) << "not at " << where << ": " << text;
  }
  EXPECT_NE(text.find(thread), std::string::npos) << "not " << thread << ": " << text;
  simt::clear_report();
}

inline void expect_clean(cudaError_t status) {
  EXPECT_EQ(status, cudaSuccess);
  EXPECT_STREQ(simt::last_report().kind, "") << simt::last_report().text;
}

#define EXPECT_DIAGNOSIS(status, kind, fault, thread) expect_diagnosis(status, kind, __FILE__, fault, thread)

#define SKIP_UNLESS_CHECKED()                            \
  if (simt::runtime_flavour() != simt::flavour::check) { \
    GTEST_SKIP() << "only check mode sees each access";  \
  }                                                      \
  static_assert(true, "")
