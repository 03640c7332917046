// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

namespace example {

/// A file that several threads read and write at any position. If a function fails, it throws an error that names the
/// file.
class data_file {
 public:
  enum class mode { read, create, change };

  data_file() = default;
  /// A name of "-" is standard input, if the file is read. To create a file that exists is an error.
  data_file(const std::string& name, mode how);
  data_file(data_file&& other) noexcept;
  data_file& operator=(data_file&& other) noexcept;
  ~data_file();

  const std::string& shown_name() const { return shown_name_; }
  bool is_open() const { return descriptor_ >= 0; }
  /// The size of a regular file. Throws for any other file.
  long long size() const;
  bool is_same_as(const std::string& name) const;

  /// Sets the length of the file, and reserves room on the disk if the system can.
  void reserve(long long bytes) const;
  void read(char* to, std::size_t bytes, long long at) const;
  void write(const char* from, std::size_t bytes, long long at) const;
  /// Throws if an earlier write has failed.
  void close();

 private:
  std::string shown_name_;
  int descriptor_ = -1;
};

/// Removes the file of this name in its destructor, or if a signal ends the program, unless the file has been renamed.
/// There may be two objects at a time.
class unfinished_file {
 public:
  explicit unfinished_file(std::string name);
  ~unfinished_file();
  unfinished_file(const unfinished_file&) = delete;
  unfinished_file& operator=(const unfinished_file&) = delete;

  void rename_to(const std::string& name);
  /// Removes the files of all objects, for a program that is about to end without destructors.
  static void remove_now();

 private:
  std::string name_;
  int slot_;
};

/// From now on, `write` returns an error if a file gets too large for the limits of the process, and no signal is
/// raised.
void ignore_size_signal();

/// Returns the name to which links lead, and checks that a file of this name can be written.
std::string output_name(const std::string& name);

void remove_file(const std::string& name);

}  // namespace example
