// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace example {

/// A file that is read and written at any position, by several threads. What fails throws, and names the file.
class data_file {
 public:
  enum class mode { read, create, change };

  data_file() = default;
  /// A name of "-" is standard input, if it is read. To create a file that is there is an error.
  data_file(const std::string& name, mode how);
  data_file(data_file&& other) noexcept;
  data_file& operator=(data_file&& other) noexcept;
  ~data_file();

  const std::string& shown_name() const { return shown_name_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// Of a regular file; anything else throws.
  long long size() const;
  bool is_same_as(const std::string& name) const;

  /// Makes the file so long, and takes the room on the disk, where the system can.
  void reserve(long long bytes) const;
  void read(char* to, std::size_t bytes, long long at) const;
  void write(const char* from, std::size_t bytes, long long at) const;
  /// Throws if an earlier write has failed.
  void close();

 private:
  std::string shown_name_;
  int descriptor_ = -1;
};

/// Removes the file of this name at the end of its life, or if a signal ends the program, unless it has been renamed.
/// Two at a time.
class unfinished_file {
 public:
  explicit unfinished_file(std::string name);
  ~unfinished_file();
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;

  void rename_to(const std::string& name);
  /// All of them, before the program ends at once.
  static void remove_now();

 private:
  std::string name_;
  int slot_;
};

/// From now on, a file that is too large for the limits of the process is an error of `write` and no signal.
void ignore_size_signal();

/// The name behind links, and checks that a file of this name can be written.
std::string output_name(const std::string& name);

void remove_file(const std::string& name);

}  // namespace example
