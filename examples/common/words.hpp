// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace example {

/// A word is a longest run of other bytes.
constexpr std::string_view white_space = " \t\n\v\f\r";

/// All words of all texts, in their order.
std::vector<std::string_view> split_into_words(const std::vector<std::string_view>& texts);

/// Equal words have equal hashes; different ones may have, if only so many of 64 bits are taken. Words
/// that meet under one seed do not meet under another.
std::uint64_t hash_word(std::string_view word, std::uint64_t seed = 0, int bits = 64);

}  // namespace example
