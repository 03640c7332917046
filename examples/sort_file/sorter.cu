// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The device side of sort_file: the calls of the library and of NCCL.

#include "../common/device.cuh"
#include "record.hpp"
#include "sorter.hpp"

#include <strata/core/launcher.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace sort_file::STRATA_EXAMPLE_BACK_END {

using example::check;
using example::computed;
using example::device_array;

static void check(const char* function, ncclResult_t result) {
  if (result == ncclSuccess) return;
  throw example::device_error(std::string(function) + ": " + ncclGetErrorString(result));
}

// ------------------------------------------------------------------ what is computed where it is read

struct read_key {
  const record* records;
  STRATA_HD sort_key operator()(long long i) const { return key_of(records[i].bytes); }
};
struct fields_of_key {
  STRATA_HD strata::RadixFields<std::uint64_t&, std::uint16_t&> operator()(sort_key& key) const {
    return {key.first, key.last};
  }
};
struct count_from {
  long long first;
  STRATA_HD std::int64_t operator()(long long i) const { return first + i; }
};
/// Returns the rank whose share has the record with the number numbers[i].
struct owner_of {
  const std::int64_t* numbers;
  long long records;
  int ranks;
  STRATA_HD int operator()(long long i) const { return static_cast<int>(((numbers[i] + 1) * ranks - 1) / records); }
};
struct read_record {
  const record* records;
  const std::int64_t* numbers;
  long long first;
  STRATA_HD record operator()(long long i) const { return records[numbers[i] - first]; }
};

constexpr int block_threads = 256;
constexpr int record_words = record_bytes / 4;

/// Each thread copies one word, so neighbouring threads access neighbouring words.
STRATA_KERNEL void __launch_bounds__(block_threads)
    place_records(const record* from, const std::int64_t* numbers, long long first, record* to, long long words) {
  const long long i = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= words) return;
  const long long to_word = (numbers[i / record_words] - first) * record_words + i % record_words;
  reinterpret_cast<std::uint32_t*>(to)[to_word] = reinterpret_cast<const std::uint32_t*>(from)[i];
}

// ------------------------------------------------------------------ memory

/// The arrays of a rank with some records.
struct buffers {
  record* records;          // first those that were read, then the sorted ones
  sort_key* keys;           // sorted
  std::int64_t* numbers;    // of the records of `keys`
  std::int64_t* wanted;     // numbers of this rank's records, in the order of the ranks that get them
  std::int64_t* targets;    // positions of the `wanted` records in the sorted run
  record* received;         // from all ranks
  std::int64_t* positions;  // of the `received` records
  char* temp;               // storage that the calls take in turn
  std::size_t temp_bytes;
};

/// The calls of one rank. Without storage they are size queries.
struct calls {
  ncclComm_t comm;
  cudaStream_t stream;
  int ranks;

  void sort(buffers& use, long long first, long long count) const {
    std::int64_t got = 0;
    check("DistributedRadixSort::SortPairs",
          strata::DistributedRadixSort::SortPairs(use.temp, use.temp_bytes, computed<read_key>{{use.records}},
                                                  computed<count_from>{{first}}, count, use.keys, use.numbers, count,
                                                  &got, fields_of_key{}, comm, stream));
  }
  /// Tells the rank that has a record where the record must go.
  void request(buffers& use, long long first, long long count, long long records) const {
    std::int64_t got = 0;
    check("DistributedExchange::Pairs",
          strata::DistributedExchange::Pairs(use.temp, use.temp_bytes, use.numbers, computed<count_from>{{first}},
                                             computed<owner_of>{{use.numbers, records, ranks}}, count, use.wanted,
                                             use.targets, count, &got, comm, stream));
  }
  void send(buffers& use, long long first, long long count, long long records) const {
    std::int64_t got = 0;
    check("DistributedExchange::Pairs",
          strata::DistributedExchange::Pairs(use.temp, use.temp_bytes,
                                             computed<read_record>{{use.records, use.wanted, first}}, use.targets,
                                             computed<owner_of>{{use.targets, records, ranks}}, count, use.received,
                                             use.positions, count, &got, comm, stream));
  }

  /// Places the arrays for `count` records one after another, and returns how many bytes they take.
  std::size_t place(long long count, char* base, buffers& use) const {
    use = {};
    sort(use, 0, count);
    std::size_t temp_bytes = use.temp_bytes;
    request(use, 0, count, 1);
    temp_bytes = std::max(temp_bytes, use.temp_bytes);
    send(use, 0, count, 1);
    use.temp_bytes = std::max(temp_bytes, use.temp_bytes);
    std::size_t used = 0;
    const auto take = [&](auto*& array, std::size_t items) {
      constexpr std::size_t alignment = 256;
      if (base != nullptr) array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(base + used);
      used += (items * sizeof *array + alignment - 1) / alignment * alignment;
    };
    const auto items = static_cast<std::size_t>(count);
    take(use.records, items);  // They begin at `base`, however many they are.
    take(use.keys, items);
    take(use.numbers, items);
    take(use.wanted, items);
    take(use.targets, items);
    take(use.received, items);
    take(use.positions, items);
    take(use.temp, use.temp_bytes);
    return used;
  }
  std::size_t bytes_of(long long count) const {
    buffers use;
    return place(count, nullptr, use);
  }
  /// The bytes for any number of records up to `count`. Fewer may need more: a sort takes large shares in parts.
  std::size_t bytes_up_to(long long count) const {
    std::size_t bytes = bytes_of(count);
    for (long long power = 2; power - 1 < count; power *= 2) bytes = std::max(bytes, bytes_of(power - 1));
    return bytes;
  }
  long long capacity(std::size_t bytes) const {
    long long fits = 0;
    long long fails = static_cast<long long>(bytes / record_bytes) + 1;
    while (fits + 1 < fails) {
      const long long middle = fits + (fails - fits) / 2;
      (bytes_up_to(middle) <= bytes ? fits : fails) = middle;
    }
    return fits;
  }
};

struct destroy {
  void operator()(char* pinned) const { static_cast<void>(cudaFreeHost(pinned)); }
  void operator()(cudaStream_t stream) const { static_cast<void>(cudaStreamDestroy(stream)); }
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
template <class Handle>
using owned = std::unique_ptr<std::remove_pointer_t<Handle>, destroy>;

/// A buffer of pinned memory, and the event of its last copy.
struct pinned_piece {
  explicit pinned_piece(std::size_t bytes) {
    void* pointer = nullptr;
    check("cudaMallocHost", cudaMallocHost(&pointer, bytes));
    memory.reset(static_cast<char*>(pointer));
    cudaEvent_t event = nullptr;
    check("cudaEventCreate", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    copied.reset(event);
  }
  owned<char*> memory;
  owned<cudaEvent_t> copied;
};

// ------------------------------------------------------------------ a rank

class cuda_sorter final : public sorter {
 public:
  /// The device is the thread's current one.
  cuda_sorter(ncclComm_t comm, const sorter_settings& settings)
      : comm_(comm), word_(1), pieces_{pinned_piece(settings.piece_bytes), pinned_piece(settings.piece_bytes)} {
    check("cudaStreamCreate", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    owned_stream_.reset(stream_);
    check("ncclCommUserRank", ncclCommUserRank(comm, &rank_));
    check("ncclCommCount", ncclCommCount(comm, &ranks_));
    auto bytes = static_cast<std::size_t>(settings.memory);
    if (settings.memory == 0) {
      std::size_t free_bytes = 0;
      std::size_t all_bytes = 0;
      check("cudaMemGetInfo", cudaMemGetInfo(&free_bytes, &all_bytes));
      bytes = free_bytes / 10 * 9;
#if STRATA_HOST_SIMT
      bytes = std::min(bytes, std::size_t{1} << 30);  // It is memory of the host, which all ranks share.
#endif
    }
    const long long enough = std::max(settings.records / ranks_ + 1, 1LL);
    bytes_ = std::min(bytes, calls_().bytes_up_to(enough));
    capacity_ = std::min(calls_().capacity(bytes_), enough);
    if (capacity_ > 0) memory_.emplace(bytes_);
  }

  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  long long capacity() const override { return capacity_; }
  std::size_t least_memory() const override { return calls_().bytes_up_to(1); }

  char* piece(int which) override { return pieces_[which].memory.get(); }
  void upload(int which, std::size_t bytes, std::size_t at) override {
    copy(which, memory_->get() + at, pieces_[which].memory.get(), bytes, cudaMemcpyHostToDevice);
  }
  void download(int which, std::size_t bytes, std::size_t at) override {
    copy(which, pieces_[which].memory.get(), memory_->get() + at, bytes, cudaMemcpyDeviceToHost);
  }
  void wait(int which) override { check("cudaEventSynchronize", cudaEventSynchronize(pieces_[which].copied.get())); }

  void sort_keys(long long records) override {
    const share mine = share_of(records, rank_, ranks_);
    buffers use = place(mine.size());
    calls_().sort(use, mine.begin, mine.size());
    synchronize();
  }

  void move_records(long long records) override {
    const share mine = share_of(records, rank_, ranks_);
    buffers use = place(mine.size());
    calls_().request(use, mine.begin, mine.size(), records);
    calls_().send(use, mine.begin, mine.size(), records);
    const long long words = mine.size() * record_words;
    if (words > 0) {
      const auto blocks = static_cast<unsigned>((words + block_threads - 1) / block_threads);
      check("sort_file::place_records",
            strata::launch({"sort_file::place_records", dim3(blocks), dim3(block_threads), 0, stream_}, place_records,
                           static_cast<const record*>(use.received), static_cast<const std::int64_t*>(use.positions),
                           mine.begin, use.records, words));
    }
    synchronize();
  }

  long long least(long long value) override {
    std::int64_t word = value;
    std::int64_t* const d_word = word_.get();
    check("cudaMemcpyAsync", cudaMemcpyAsync(d_word, &word, sizeof word, cudaMemcpyHostToDevice, stream_));
    check("ncclAllReduce", ncclAllReduce(d_word, d_word, 1, ncclInt64, ncclMin, comm_, stream_));
    check("cudaMemcpyAsync", cudaMemcpyAsync(&word, d_word, sizeof word, cudaMemcpyDeviceToHost, stream_));
    synchronize();
    return word;
  }

 private:
  calls calls_() const { return {comm_, stream_, ranks_}; }

  buffers place(long long count) const {
    buffers use;
    if (calls_().place(count, memory_->get(), use) > bytes_)
      throw example::device_error("a run needs more memory than was planned");
    return use;
  }
  void copy(int which, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, kind, stream_));
    check("cudaEventRecord", cudaEventRecord(pieces_[which].copied.get(), stream_));
  }
  void synchronize() { check("cudaStreamSynchronize", cudaStreamSynchronize(stream_)); }

  ncclComm_t comm_;
  int rank_ = 0;
  int ranks_ = 1;
  owned<cudaStream_t> owned_stream_;
  cudaStream_t stream_ = nullptr;
  device_array<std::int64_t> word_;
  pinned_piece pieces_[2];
  std::size_t bytes_ = 0;
  long long capacity_ = 0;
  std::optional<device_array<char>> memory_;
};

// ------------------------------------------------------------------ the ranks of a process

class cuda_group final : public sorter_group {
 public:
  explicit cuda_group(const process_rank& process) : device_(example::open_device()) {
    int devices = 0;
    check("cudaGetDeviceCount", cudaGetDeviceCount(&devices));
    if (process.ranks == 0) {
      comms_.resize(static_cast<std::size_t>(devices));
      check("ncclCommInitAll", ncclCommInitAll(comms_.data(), devices, nullptr));
      if (devices > 1) device_ = std::to_string(devices) + " devices, each " + device_;
      return;
    }
#if STRATA_HOST_SIMT
    if (process.ranks > 1) throw example::device_error("the host SIMT back end has all ranks in one process");
#endif
    comms_.resize(1);
    first_device_ = process.local_rank % devices;  // One device may be all that this process sees.
    check("cudaSetDevice", cudaSetDevice(first_device_));
    device_ =
        example::open_device() + ", rank " + std::to_string(process.rank) + " of " + std::to_string(process.ranks);
    ncclUniqueId id{};
    if (process.rank == 0) check("ncclGetUniqueId", ncclGetUniqueId(&id));
    process.share(id.internal, sizeof id.internal);
    check("ncclCommInitRank", ncclCommInitRank(comms_.data(), process.ranks, id, process.rank));
  }
  ~cuda_group() override {
    for (ncclComm_t comm : comms_) static_cast<void>(ncclCommDestroy(comm));
  }
  cuda_group(const cuda_group&) = delete;
  cuda_group& operator=(const cuda_group&) = delete;

  std::string device() const override { return device_; }
  int size() const override { return static_cast<int>(comms_.size()); }

  std::unique_ptr<sorter> make(int i, const sorter_settings& settings) override {
    check("cudaSetDevice", cudaSetDevice(first_device_ + i));
    return std::make_unique<cuda_sorter>(comms_[static_cast<std::size_t>(i)], settings);
  }

 private:
  std::string device_;
  int first_device_ = 0;
  std::vector<ncclComm_t> comms_;
};

std::unique_ptr<sorter_group> make_group(const process_rank& process) { return std::make_unique<cuda_group>(process); }

}  // namespace sort_file::STRATA_EXAMPLE_BACK_END
