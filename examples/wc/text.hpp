// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

namespace wc {

/// The bytes that make words. White space, as of `isspace` in the C locale, always ends a word.
enum class word_rule {
  printable,  // printable ASCII; any other byte neither begins nor ends a word
  any         // all bytes that are not white space
};

enum class byte_kind : unsigned char { neutral, space, word };

STRATA_HD byte_kind kind_of(unsigned char byte, word_rule rule) {
  if (byte == ' ' || (byte >= '\t' && byte <= '\r')) return byte_kind::space;
  if (rule == word_rule::any || (byte > ' ' && byte < 127)) return byte_kind::word;
  return byte_kind::neutral;
}

/// The summary of a piece of text, which suffices to count it whatever comes before and after it. The default is the
/// summary of no text.
struct text_summary {
  long long lines = 0;                   // newlines
  long long words = 0;                   // words that touch the piece
  long long tail = 0;                    // bytes after the last newline
  byte_kind first = byte_kind::neutral;  // of the bytes that are not neutral
  byte_kind last = byte_kind::neutral;

  STRATA_HD void append(unsigned char byte, word_rule rule) {
    const bool is_newline = byte == '\n';
    lines += is_newline;
    tail = is_newline ? 0 : tail + 1;
    const byte_kind kind = kind_of(byte, rule);
    words += kind == byte_kind::word && last != byte_kind::word;
    first = first == byte_kind::neutral ? kind : first;
    last = kind == byte_kind::neutral ? last : kind;
  }
};

/// Summarises two pieces that follow each other. It is associative, but not commutative. The device reduces the pieces
/// of a chunk with it, the host the chunks of a file.
struct concatenate {
  STRATA_HD text_summary operator()(const text_summary& a, const text_summary& b) const {
    const bool is_word_cut = a.last == byte_kind::word && b.first == byte_kind::word;
    text_summary both;
    both.lines = a.lines + b.lines;
    both.words = a.words + b.words - is_word_cut;
    both.tail = b.lines > 0 ? b.tail : a.tail + b.tail;
    both.first = a.first == byte_kind::neutral ? b.first : a.first;
    both.last = b.last == byte_kind::neutral ? a.last : b.last;
    return both;
  }
};

}  // namespace wc
