// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/distributed/distributed_exchange.cuh>

struct item {
  int number;
#if defined(STRATA_BAD)
  item() = default;
  item(const item& other) : number(other.number) {}
  item& operator=(const item&) = default;
#endif
};

cudaError_t send(void* temp, std::size_t& bytes, const item* in, const int* to, item* out, std::int64_t* num_out,
                 ncclComm_t comm) {
  return strata::DistributedExchange::Items(temp, bytes, in, to, 10, out, 10, num_out, comm);
}
