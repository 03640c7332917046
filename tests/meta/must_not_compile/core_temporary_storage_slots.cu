// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: temporary_storage::layout needs at least one slot
#include <strata/core/detail/temporary_storage.hpp>

#if defined(STRATA_BAD)
strata::temporary_storage::layout<0> layout;
#else
strata::temporary_storage::layout<1> layout;
#endif
