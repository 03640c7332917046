// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Linked to a program that is compiled with -finstrument-functions. When a function is first called, writes its address
// to the file that the environment variable FIRST_CALLS names. Must be compiled without that option, and supports one
// thread at a time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" void __cyg_profile_func_enter(void* function, void*) {
  constexpr unsigned slots = 1u << 16;
  static void* seen[slots];
  static unsigned number = 0;
  static std::FILE* const file = std::fopen(std::getenv("FIRST_CALLS"), "w");
  auto slot = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(function) * 0x9e3779b97f4a7c15ull >> 48);
  while (seen[slot] != nullptr) {
    if (seen[slot] == function) return;
    slot = (slot + 1) % slots;
  }
  if (file == nullptr || ++number == slots) std::abort();
  seen[slot] = function;
  std::fprintf(file, "%p\n", function);
}

extern "C" void __cyg_profile_func_exit(void*, void*) {}
