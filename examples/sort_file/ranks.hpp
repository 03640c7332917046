// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "sorter.hpp"

#include <string>

namespace sort_file {

/// Which rank the environment says that this process is: as torchrun (RANK, WORLD_SIZE, LOCAL_RANK) or Open MPI
/// (OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK) starts it. Rank 0 brings bytes to the others by a file of the name
/// `id_file`, which must not be there before; without such a name the process has all ranks.
process_rank rank_of_process(const std::string& id_file);

}  // namespace sort_file
