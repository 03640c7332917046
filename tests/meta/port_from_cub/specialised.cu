// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reopens namespace cub, and uses internals of CUB.
// not compiled
#include <cub/cub.cuh>
// report: <cub/agent/agent_reduce.cuh> has no counterpart: internals of CUB are not public
#include <cub/agent/agent_reduce.cuh>
struct half_type {
  unsigned short bits;
};
// report: namespace cub is reopened
namespace cub {
template <>
struct NumericTraits<half_type> : BaseTraits<FLOATING_POINT, true, unsigned short, half_type> {};
}  // namespace cub
// report: cub::detail has no counterpart: internals of CUB are not public
using word = cub::detail::unsigned_of<2>;
// report: at_cuda_detail::cub:: is a wrapped copy of CUB
using wrapped = at_cuda_detail::cub::Sum;
// report: cub::SomethingElse has no counterpart
using unknown = cub::SomethingElse;
