// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host back end only, in check mode: counts of bank conflicts in shared memory are exact.
#include "diagnosis.cuh"

using strata::launch;

namespace {

class BankConflicts : public DiagnosisTest {
 protected:
  void SetUp() override {
    if (simt::runtime_flavour() != simt::flavour::check) {
      GTEST_SKIP() << "only check mode sees each access";
    }
    DiagnosisTest::SetUp();
    simt::reset_statistics();
  }
  // Returns the counts of the loads or stores in the marked line.
  static simt::bank_row row(const std::string& fault, bool write) {
    simt::bank_row rows[64];
    const int count = simt::bank_rows(rows, 64);
    const std::string line = "bank_conflicts_test.cu:" + std::to_string(line_of_fault(__FILE__, fault));
    for (int i = 0; i < count; ++i) {
      if (rows[i].where == line && rows[i].write == write) return rows[i];
    }
    ADD_FAILURE() << "nothing counted at " << line;
    return {};
  }
};

template <int Columns>
STRATA_KERNEL void transpose(int* out) {
  STRATA_SHARED(s, int[32][Columns]);
  const unsigned x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (unsigned row = 0; row < 32; row += 8) {
    s[y + row][x] = 1;  // fault: rows
  }
  __syncthreads();
  for (unsigned row = 0; row < 32; row += 8) {
    out[(y + row) * 32 + x] = s[x][y + row];  // fault: columns
  }
}
TEST_F(BankConflicts, columns_of_32_words_conflict_32_ways) {
  expect_clean(launch({"k", 1, 256}, transpose<32>, out));
  EXPECT_EQ(row("rows", true).instructions, 32u);
  EXPECT_EQ(row("rows", true).wavefronts, 32u);
  EXPECT_EQ(row("columns", false).instructions, 32u);
  EXPECT_EQ(row("columns", false).wavefronts, 32u * 32u);
  EXPECT_EQ(row("columns", false).ideal, 32u);
}
TEST_F(BankConflicts, a_column_of_padding_removes_them) {
  expect_clean(launch({"k", 1, 256}, transpose<33>, out));
  EXPECT_EQ(row("columns", false).wavefronts, 32u);
  EXPECT_EQ(simt::stats().shared_wavefronts, simt::stats().shared_ideal_wavefronts);
}

template <class T>
STRATA_KERNEL void strided(int* out, unsigned stride) {
  STRATA_SHARED(s, T[512]);
  s[threadIdx.x * stride] = T{};  // fault: strided
  __syncwarp();
  out[threadIdx.x] = 1;
}
TEST_F(BankConflicts, eight_bytes_are_judged_by_half_warps) {
  expect_clean(launch({"k", 1, 32}, strided<double>, out, 1u));
  EXPECT_EQ(row("strided", true).wavefronts, 2u);
  EXPECT_EQ(row("strided", true).ideal, 2u);
  simt::reset_statistics();
  expect_clean(launch({"k", 1, 32}, strided<double>, out, 2u));
  EXPECT_EQ(row("strided", true).wavefronts, 4u);
}
TEST_F(BankConflicts, bytes_of_one_word_are_one_access) {
  expect_clean(launch({"k", 1, 32}, strided<char>, out, 1u));
  EXPECT_EQ(row("strided", true).wavefronts, 1u);
}

STRATA_KERNEL void broadcast(int* out) {
  STRATA_SHARED(s, int[32]);
  s[threadIdx.x] = 1;
  __syncwarp();
  out[threadIdx.x] = s[5];  // fault: broadcast
}
TEST_F(BankConflicts, one_word_for_all_is_one_wavefront) {
  expect_clean(launch({"k", 1, 32}, broadcast, out));
  EXPECT_EQ(row("broadcast", false).wavefronts, 1u);
}

}  // namespace
