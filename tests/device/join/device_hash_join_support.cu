// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device/join/device_hash_join_support.cuh"

namespace device_join_test {

template class device_joiner<std::uint32_t, std::int32_t>;
template class device_joiner<std::int64_t, std::int32_t>;

}  // namespace device_join_test
