// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "record.hpp"

namespace sort_file {
namespace {

/// Pseudo-random words of a seed.
class random_words {
 public:
  explicit random_words(std::uint64_t seed) : state_(mix(seed + step)) {}
  std::uint64_t next() { return mix(state_ += step); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

constexpr int skewed_keys_log2 = 20;

/// A number below 2^20. Those from 2^e on to the next power are together as frequent for each e: the number i has a
/// frequency of about 1/i, as by Zipf's law.
std::uint64_t skewed_number(random_words& random) {
  const std::uint64_t exponent = random.next() % skewed_keys_log2;
  const std::uint64_t power = std::uint64_t{1} << exponent;
  return power + random.next() % power;
}

}  // namespace

void generator::make(std::uint64_t number, unsigned char* bytes) const {
  random_words random(seed ^ mix(number));
  random_words of_key(is_skewed ? seed + skewed_number(random) : random.next());
  if (!is_ascii) {
    for (int i = 0; i < record_bytes; ++i) bytes[i] = static_cast<unsigned char>(random.next() >> 56);
    for (int i = 0; i < key_bytes; ++i) bytes[i] = static_cast<unsigned char>(of_key.next() >> 56);
    return;
  }
  // Key, number in hexadecimal digits, letters; blanks between.
  std::memset(bytes, ' ', record_bytes);
  for (int i = 0; i < key_bytes; ++i) bytes[i] = static_cast<unsigned char>('!' + of_key.next() % ('~' - '!' + 1));
  constexpr int number_begin = key_bytes + 2;
  constexpr int digits = 32;
  for (int i = 0; i < digits; ++i) {
    const int shift = 4 * (digits - 1 - i);
    bytes[number_begin + i] = static_cast<unsigned char>("0123456789ABCDEF"[shift < 64 ? number >> shift & 15 : 0]);
  }
  constexpr int letters_begin = number_begin + digits + 2;
  for (int i = letters_begin; i < record_bytes - 2; ++i) {
    bytes[i] = static_cast<unsigned char>('A' + random.next() % 26);
  }
  bytes[record_bytes - 2] = '\r';
  bytes[record_bytes - 1] = '\n';
}

}  // namespace sort_file
