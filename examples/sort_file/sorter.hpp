// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace sort_file {

/// The records from number `begin` to number `end - 1`.
struct share {
  long long begin;
  long long end;

  STRATA_HD long long size() const { return end - begin; }
};

/// Part `i` of `parts` of some records. DistributedRadixSort gives each rank this part of its result.
inline share share_of(long long records, long long i, long long parts) {
  return {records * i / parts, records * (i + 1) / parts};
}

/// A device that sorts together with the others. Each rank calls it from a thread of its own. All ranks make the same
/// calls in the same order, except the calls for pieces. The rest of the program knows nothing else of GPUs, NCCL and
/// the host SIMT back end.
class sorter {
 public:
  virtual ~sorter() = default;

  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  /// How many records of a run this rank can take.
  virtual long long capacity() const = 0;
  /// The device memory that one record needs at least.
  virtual std::size_t least_memory() const = 0;

  /// Pieces 0 and 1: two buffers of pinned host memory, of `piece_bytes` each.
  virtual char* piece(int which) = 0;
  /// Begin a copy from or to byte `at` of the records in the device's memory.
  virtual void upload(int which, std::size_t bytes, std::size_t at) = 0;
  virtual void download(int which, std::size_t bytes, std::size_t at) = 0;
  /// Waits until the last copy of the piece has ended.
  virtual void wait(int which) = 0;

  /// Sorts the keys of a run, with the numbers of their records. All ranks have uploaded their shares of the run.
  virtual void sort_keys(long long records) = 0;
  /// Brings each record of the run to the rank that has its key, and into its position there.
  virtual void move_records(long long records) = 0;

  /// The least of the values of all ranks.
  virtual long long least(long long value) = 0;
};

struct sorter_settings {
  long long records = 0;  // of all ranks; no more memory is taken than they need
  long long memory = 0;   // on each device, in bytes; 0: most of what is free
  std::size_t piece_bytes = 0;
};

/// The ranks of this process.
class sorter_group {
 public:
  virtual ~sorter_group() = default;

  virtual std::string device() const = 0;
  /// How many of the ranks are in this process.
  virtual int size() const = 0;
  /// Called by the thread of rank `i` of this process; all ranks call it.
  virtual std::unique_ptr<sorter> make(int i, const sorter_settings& settings) = 0;
};

/// Which rank this process is. A process that was not started as a rank has a rank for each device.
struct process_rank {
  int rank = 0;
  int ranks = 0;  // 0: not started as a rank
  int local_rank = 0;
  /// Brings some bytes from rank 0 to this rank.
  std::function<void(char* bytes, std::size_t count)> share;
};

// One source, sorter.cu, makes both.
namespace on_gpu {
std::unique_ptr<sorter_group> make_group(const process_rank& process);
}
namespace on_host {
std::unique_ptr<sorter_group> make_group(const process_rank& process);
}

}  // namespace sort_file
