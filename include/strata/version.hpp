// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The version. CMake, the Conan recipe and the namespaces read these three lines. vcpkg.json repeats the version, and a
// test compares it with them.
#define STRATA_VERSION_MAJOR 0
#define STRATA_VERSION_MINOR 1
#define STRATA_VERSION_PATCH 0

// One number for `#if`: 0.1.0 is 100, 1.2.3 is 10203.
#define STRATA_VERSION (STRATA_VERSION_MAJOR * 10000 + STRATA_VERSION_MINOR * 100 + STRATA_VERSION_PATCH)
