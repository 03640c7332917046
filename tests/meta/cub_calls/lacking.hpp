// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What strata does not have yet: its calls are compiled and run with CUB alone. Delete the line of what has been added.
#pragma once

