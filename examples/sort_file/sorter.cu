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
/// The rank in whose share item numbers[i] is.
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

/// A thread for each word: neighbours read side by side.
STRATA_KERNEL void __launch_bounds__(block_threads)
    place_records(const record* from, const std::int64_t* numbers, long long first, record* to, long long words) {
  const long long i = static_cast<long long>(blockIdx.x) * block_threads + threadIdx.x;
  if (i >= words) return;
  const long long to_word = (numbers[i / record_words] - first) * record_words + i % record_words;
  reinterpret_cast<std::uint32_t*>(to)[to_word] = reinterpret_cast<const std::uint32_t*>(from)[i];
}

// ------------------------------------------------------------------ memory

/// Hands out arrays one behind the other, or only counts what they need.
class arena {
 public:
  explicit arena(char* base = nullptr) : base_(base) {}

  template <class T>
  T* take(std::size_t count) {
    constexpr std::size_t alignment = 256;
    const std::size_t at = used_;
    used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    most_ = std::max(most_, used_);
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }
  void go_back(std::size_t used) { used_ = used; }

 private:
  char* base_;
  std::size_t used_ = 0;
  std::size_t most_ = 0;
};

struct storage {
  void* memory = nullptr;
  std::size_t bytes = 0;
};

/// The arrays of a rank with `count` records. What comes first stays; then the three steps use the same memory.
struct buffers {
  record* records;        // first those that were read, then the sorted ones
  std::int64_t* numbers;  // of records, in the order of the keys
  std::int64_t* wanted;   // numbers of this rank's records, in the order of those who get them
  std::int64_t* targets;  // their positions in the sorted run

  sort_key* keys;
  storage sort;
  storage request;
  record* received;
  std::int64_t* positions;  // of what was received
  storage send;
};

/// The calls of one rank. Without storage they are size queries.
struct calls {
  ncclComm_t comm;
  cudaStream_t stream;
  int ranks;

  cudaError_t sort(const buffers& use, storage& temp, long long first, long long count, std::int64_t& got) const {
    return strata::DistributedRadixSort::SortPairs(temp.memory, temp.bytes, computed<read_key>{{use.records}},
                                                   computed<count_from>{{first}}, count, use.keys, use.numbers, count,
                                                   &got, fields_of_key{}, comm, stream);
  }
  /// Tells the rank that has a record where it must go.
  cudaError_t request(const buffers& use, storage& temp, long long first, long long count, long long records,
                      std::int64_t& got) const {
    return strata::DistributedExchange::Pairs(temp.memory, temp.bytes, use.numbers, computed<count_from>{{first}},
                                              computed<owner_of>{{use.numbers, records, ranks}}, count, use.wanted,
                                              use.targets, count, &got, comm, stream);
  }
  cudaError_t send(const buffers& use, storage& temp, long long first, long long count, long long records,
                   std::int64_t& got) const {
    return strata::DistributedExchange::Pairs(temp.memory, temp.bytes,
                                              computed<read_record>{{use.records, use.wanted, first}}, use.targets,
                                              computed<owner_of>{{use.targets, records, ranks}}, count, use.received,
                                              use.positions, count, &got, comm, stream);
  }

  buffers plan(arena& memory, long long count) const {
    const auto size = static_cast<std::size_t>(count);
    std::int64_t none = 0;
    buffers use{};
    check("DistributedRadixSort::SortPairs", sort(use, use.sort, 0, count, none));
    check("DistributedExchange::Pairs", request(use, use.request, 0, count, 1, none));
    check("DistributedExchange::Pairs", send(use, use.send, 0, count, 1, none));
    use.records = memory.take<record>(size);
    use.numbers = memory.take<std::int64_t>(size);
    use.wanted = memory.take<std::int64_t>(size);
    use.targets = memory.take<std::int64_t>(size);
    const std::size_t common = memory.used();
    use.keys = memory.take<sort_key>(size);
    use.sort.memory = memory.take<char>(use.sort.bytes);
    memory.go_back(common);
    use.request.memory = memory.take<char>(use.request.bytes);
    memory.go_back(common);
    use.received = memory.take<record>(size);
    use.positions = memory.take<std::int64_t>(size);
    use.send.memory = memory.take<char>(use.send.bytes);
    return use;
  }

  std::size_t bytes_of(long long count) const {
    arena counts;
    plan(counts, count);
    return counts.most();
  }
  /// What up to `count` records need. Fewer may need more storage: a sort takes large shares in parts.
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

struct free_pinned {
  void operator()(char* pointer) const { static_cast<void>(cudaFreeHost(pointer)); }
};

class stream_and_events {
 public:
  stream_and_events() {
    check("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaEvent_t& event : copied)
      check("cudaEventCreate", cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  ~stream_and_events() {
    for (cudaEvent_t event : copied) {
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    }
    static_cast<void>(cudaStreamDestroy(stream));
  }
  stream_and_events(const stream_and_events&) = delete;
  stream_and_events& operator=(const stream_and_events&) = delete;

  cudaStream_t stream = nullptr;
  cudaEvent_t copied[2]{};
};

// ------------------------------------------------------------------ a rank

class cuda_sorter final : public sorter {
 public:
  /// The device is the thread's current one.
  cuda_sorter(ncclComm_t comm, const sorter_settings& settings)
      : comm_(comm), word_(1), piece_bytes_(settings.piece_bytes) {
    check("ncclCommUserRank", ncclCommUserRank(comm, &rank_));
    check("ncclCommCount", ncclCommCount(comm, &ranks_));
    for (auto& piece : pieces_) {
      void* pointer = nullptr;
      check("cudaMallocHost", cudaMallocHost(&pointer, piece_bytes_));
      piece.reset(static_cast<char*>(pointer));
    }
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

  char* piece(int which) override { return pieces_[which].get(); }
  std::size_t piece_bytes() const override { return piece_bytes_; }
  // Records lie at the begin of the memory, however many they are.
  void upload(int which, std::size_t bytes, std::size_t at) override {
    copy(which, memory_->get() + at, pieces_[which].get(), bytes, cudaMemcpyHostToDevice);
  }
  void download(int which, std::size_t bytes, std::size_t at) override {
    copy(which, pieces_[which].get(), memory_->get() + at, bytes, cudaMemcpyDeviceToHost);
  }
  void wait(int which) override { check("cudaEventSynchronize", cudaEventSynchronize(queue_.copied[which])); }

  void sort_keys(long long records) override {
    const share mine = share_of(records, rank_, ranks_);
    buffers use = place(mine.size());
    std::int64_t got = 0;
    check("DistributedRadixSort::SortPairs", calls_().sort(use, use.sort, mine.begin, mine.size(), got));
    synchronize();
  }

  void move_records(long long records) override {
    const share mine = share_of(records, rank_, ranks_);
    buffers use = place(mine.size());
    std::int64_t got = 0;
    const calls call = calls_();
    check("DistributedExchange::Pairs", call.request(use, use.request, mine.begin, mine.size(), records, got));
    check("DistributedExchange::Pairs", call.send(use, use.send, mine.begin, mine.size(), records, got));
    const long long words = mine.size() * record_words;
    if (words > 0) {
      const auto blocks = static_cast<unsigned>((words + block_threads - 1) / block_threads);
      check("sort_file::place_records",
            strata::launch({"sort_file::place_records", dim3(blocks), dim3(block_threads), 0, queue_.stream},
                           place_records, static_cast<const record*>(use.received),
                           static_cast<const std::int64_t*>(use.positions), mine.begin, use.records, words));
    }
    synchronize();
  }

  long long least(long long value) override {
    std::int64_t word = value;
    std::int64_t* const d_word = word_.get();
    check("cudaMemcpyAsync", cudaMemcpyAsync(d_word, &word, sizeof word, cudaMemcpyHostToDevice, queue_.stream));
    check("ncclAllReduce", ncclAllReduce(d_word, d_word, 1, ncclInt64, ncclMin, comm_, queue_.stream));
    check("cudaMemcpyAsync", cudaMemcpyAsync(&word, d_word, sizeof word, cudaMemcpyDeviceToHost, queue_.stream));
    synchronize();
    return word;
  }

 private:
  calls calls_() const { return {comm_, queue_.stream, ranks_}; }

  buffers place(long long count) const {
    if (calls_().bytes_of(count) > bytes_) throw example::device_error("a run needs more memory than was planned");
    arena memory(memory_->get());
    return calls_().plan(memory, count);
  }
  void copy(int which, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    check("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, kind, queue_.stream));
    check("cudaEventRecord", cudaEventRecord(queue_.copied[which], queue_.stream));
  }
  void synchronize() { check("cudaStreamSynchronize", cudaStreamSynchronize(queue_.stream)); }

  ncclComm_t comm_;
  int rank_ = 0;
  int ranks_ = 1;
  stream_and_events queue_;
  device_array<std::int64_t> word_;
  std::unique_ptr<char[], free_pinned> pieces_[2];
  std::size_t piece_bytes_;
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
