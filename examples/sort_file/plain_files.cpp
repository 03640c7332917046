// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "plain_files.hpp"

#include "record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace sort_file {
namespace {

constexpr long long chunk_records = 10000;
constexpr std::size_t chunk_bytes = chunk_records * record_bytes;

/// The finalizer of SplitMix64.
std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// The sum of these over all records of a file does not depend on their order.
std::uint64_t hash_of(const unsigned char* bytes) {
  std::uint64_t hash = record_bytes;
  for (int i = 0; i < record_bytes; i += 8) {
    const int taken = record_bytes - i < 8 ? record_bytes - i : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, static_cast<std::size_t>(taken));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

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

void make(const generator& made, std::uint64_t number, unsigned char* bytes) {
  random_words random(made.seed ^ mix(number));
  random_words of_key(made.is_skewed ? made.seed + skewed_number(random) : random.next());
  if (!made.is_ascii) {
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

}  // namespace

void generate(example::program& running, const generator& made, long long records, const std::string& name) {
  const bool is_standard = name == "-";
  const std::string shown = is_standard ? "standard output" : name;
  std::FILE* const file = is_standard ? stdout : std::fopen(name.c_str(), "wb");
  if (file == nullptr) example::fail(shown);
  running.begin("generating " + shown);
  std::vector<unsigned char> chunk(chunk_bytes);
  bool is_written = true;
  for (long long begin = 0; is_written && begin < records; begin += chunk_records) {
    const long long count = std::min(chunk_records, records - begin);
    for (long long i = 0; i < count; ++i) {
      make(made, static_cast<std::uint64_t>(begin + i), chunk.data() + i * record_bytes);
    }
    const auto bytes = static_cast<std::size_t>(count) * record_bytes;
    is_written = std::fwrite(chunk.data(), 1, bytes, file) == bytes;
    running.set_bytes((begin + count) * record_bytes, records * record_bytes);
  }
  is_written = std::fflush(file) == 0 && is_written;
  const int error = errno;
  if (!is_standard) is_written = std::fclose(file) == 0 && is_written;
  running.hide_progress();
  if (is_standard) example::finish_output();
  if (is_written) return;
  errno = error;
  example::fail(shown);
}

file_summary summarize(example::program& running, const std::string& name) {
  example::input_file file(name);
  running.begin("reading " + file.shown_name());
  file_summary found;
  std::vector<char> chunk(chunk_bytes);
  long long bytes = 0;
  sort_key last{};
  while (const std::size_t got = file.read(chunk.data(), chunk.size())) {
    bytes += static_cast<long long>(got);
    for (std::size_t at = 0; at + record_bytes <= got; at += record_bytes) {
      const auto* const record = reinterpret_cast<const unsigned char*>(chunk.data() + at);
      const sort_key key = key_of(record);
      if (found.records > 0 && key < last) {
        if (found.descents == 0) found.first_descent = found.records;
        ++found.descents;
      }
      if (found.records > 0 && key == last) ++found.equal_keys;
      found.checksum += hash_of(record);
      last = key;
      ++found.records;
    }
    running.set_bytes(bytes, file.size());
    if (got < chunk.size()) break;
  }
  running.hide_progress();
  if (file.error() != 0) throw std::system_error(file.error(), std::generic_category(), file.shown_name());
  if (bytes % record_bytes != 0) {
    throw std::runtime_error(file.shown_name() + ": " + std::to_string(bytes) + " bytes are not a multiple of " +
                             std::to_string(record_bytes));
  }
  return found;
}

}  // namespace sort_file
