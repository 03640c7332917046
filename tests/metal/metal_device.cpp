// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before CTest's first test, prints the device that runs joins by Metal, so that a log of the double is not mistaken
// for one of a GPU. It prints to stderr, because programs read CTest's list of tests from stdout.
#include <strata/device/join/metal/context.hpp>

#include <cstdio>

int main() {
  const strata::detail::metal::objc::autorelease_pool pool;
  auto* const gpu = strata::detail::metal::context_list::of_process().find(nullptr);
  std::fprintf(stderr, "Tests of joins by Metal: %s\n",
               gpu == nullptr ? "no device of family Apple7 or later" : gpu->name());
}
