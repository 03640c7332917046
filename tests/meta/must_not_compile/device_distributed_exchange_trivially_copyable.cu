// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DistributedExchange sends items as bits: they must be trivially relocatable
#include <strata/distributed/distributed_exchange.cuh>

struct counted_item {
  int value[10];
  counted_item() = default;
  STRATA_HD counted_item(const counted_item& other) : value{other.value[0] + 1} {}
  counted_item& operator=(const counted_item&) = default;
};
struct plain_item {
  int value[10];
};

#if defined(STRATA_BAD)
using item = counted_item;
#else
using item = plain_item;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const item* items, const int* destinations, item* out,
                 std::int64_t* received, ncclComm_t comm) {
  return strata::DistributedExchange::Items(storage, bytes, items, destinations, 1000, out, 1000, received, comm);
}
