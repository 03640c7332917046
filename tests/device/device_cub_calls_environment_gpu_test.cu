// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares calls of CUB in environments with strata's: see meta/cub_calls/calls.cuh. Nothing is compared with CUB
// before 3.5, because not all older versions have environments.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_topk.cuh>
#include <strata/device/device_transform.cuh>

#include <cub/version.cuh>

#include "meta/cub_calls/calls.cuh"

#if CUB_VERSION >= 300500

#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/device/device_topk.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/devices>
#include <cuda/execution>
#include <cuda/functional>
#include <cuda/iterator>
#include <cuda/memory_pool>
#include <cuda/memory_resource>
#include <cuda/std/execution>
#include <cuda/std/functional>
#include <cuda/stream_ref>

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_environment.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_environment.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_environment)
STRATA_COMPARE_CUB_CALLS(device_environment_top_k)

namespace shape_of_environments {

// strata reads the numbers of libcu++'s enumerators, so its own enumerators must have the same numbers.
namespace ex = cuda::execution;
namespace ours = strata::detail;
template <class Requirement, class Ours>
constexpr bool has_number_of(Requirement requirement, Ours number) {
  static_cast<void>(requirement);
  return static_cast<int>(Requirement::value) == static_cast<int>(number);
}
static_assert(has_number_of(ex::determinism::not_guaranteed_t{}, ours::determinism::not_guaranteed));
static_assert(has_number_of(ex::determinism::run_to_run_t{}, ours::determinism::run_to_run));
static_assert(has_number_of(ex::determinism::gpu_to_gpu_t{}, ours::determinism::gpu_to_gpu));
static_assert(has_number_of(ex::output_ordering::sorted_t{}, ours::output_ordering::sorted));
static_assert(has_number_of(ex::output_ordering::unsorted_t{}, ours::output_ordering::unsorted));
static_assert(has_number_of(ex::output_ordering::stable_sorted_t{}, ours::output_ordering::stable_sorted));
static_assert(has_number_of(ex::tie_break::unspecified_t{}, ours::tie_break::unspecified));
static_assert(has_number_of(ex::tie_break::prefer_smaller_index_t{}, ours::tie_break::prefer_smaller_index));
static_assert(has_number_of(ex::tie_break::prefer_larger_index_t{}, ours::tie_break::prefer_larger_index));

// Environments may also hold memory resources and tunings. Iterators and operators are not environments.
using resource = cuda::mr::any_resource<cuda::mr::device_accessible>;
using memory = cuda::std::execution::prop<cuda::mr::get_memory_resource_t, resource>;
using tuning = decltype(cuda::execution::tune());
static_assert(ours::is_environment<cuda::std::execution::env<>> && ours::is_environment<tuning>);
static_assert(ours::is_environment<memory> && ours::is_environment<cuda::device_memory_pool_ref>);
static_assert(ours::kind_of_resource<resource> == ours::resource_kind::stream_first);
static_assert(!ours::is_environment<cuda::counting_iterator<int>> && !ours::is_environment<cuda::std::plus<>>);

}  // namespace shape_of_environments

#else

TEST(cub_calls, environments_need_a_newer_cub) { GTEST_SKIP() << "CUB " << CUB_VERSION; }

#endif
