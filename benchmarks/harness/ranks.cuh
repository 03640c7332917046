// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Several GPUs of this process: each has a thread, a stream and an NCCL communicator. Times calls that all of them
/// make.

#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/cuda.cuh"
#include "harness/inputs.cuh"
#include "harness/measure.cuh"
#include "harness/statistics.hpp"

namespace bench {

inline void check(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  throw cuda_error(cudaErrorUnknown, std::string(what) + ": " + ncclGetErrorString(result));
}

/// The data of a rank's thread.
struct rank_context {
  int rank = 0;
  int ranks = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  std::size_t index() const { return static_cast<std::size_t>(rank); }
};

using rank_work = std::function<void(const rank_context&)>;

namespace detail {

/// A barrier at which threads spin, so that they go on within less than a microsecond of each other.
class spin_barrier {
 public:
  explicit spin_barrier(int threads) : threads_(threads) {}

  void arrive_and_wait() {
    ++arrived_;
    while (arrived_ < threads_) {
      if (given_up_) throw cuda_error(cudaErrorUnknown, "another rank failed");
    }
  }
  /// Call it instead of arriving. Then the other threads fail, too.
  void give_up() { given_up_ = true; }

 private:
  const int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<bool> given_up_{false};
};

}  // namespace detail

/// Ranks 0, 1, ...: rank r is a thread that has device r. The threads sleep between the calls of `each` and `sample`.
class rank_group {
 public:
  explicit rank_group(int ranks) {
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks));
    check(ncclCommInitAll(comms.data(), ranks, nullptr), "ncclCommInitAll");
    contexts_.resize(comms.size());
    for (int rank = 0; rank < ranks; ++rank) {
      contexts_[static_cast<std::size_t>(rank)] = {rank, ranks, comms[static_cast<std::size_t>(rank)], nullptr};
    }
    for (rank_context& context : contexts_) {
      threads_.emplace_back([this, &context] { serve(context); });
    }
    each([this](const rank_context& me) {
      check(cudaSetDevice(me.rank), "cudaSetDevice");
      check(cudaStreamCreateWithFlags(&contexts_[me.index()].stream, cudaStreamNonBlocking), "cudaStreamCreate");
    });
  }
  /// Not reached after a failure that leaves a rank inside of NCCL: the supervisor then ends the process.
  ~rank_group() {
    try {
      each([](const rank_context& me) {
        static_cast<void>(ncclCommDestroy(me.comm));
        static_cast<void>(cudaStreamDestroy(me.stream));
      });
    } catch (const std::exception&) {
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  rank_group(const rank_group&) = delete;
  rank_group& operator=(const rank_group&) = delete;

  int ranks() const { return static_cast<int>(contexts_.size()); }

  /// Runs `work` in the threads of all ranks. Throws the exception of the lowest rank that failed.
  void each(const rank_work& work) {
    std::vector<std::exception_ptr> thrown(contexts_.size());
    {
      std::unique_lock<std::mutex> lock(mutex_);
      work_ = &work;
      thrown_ = thrown.data();
      unfinished_ = ranks();
      ++number_;
      wake_.notify_all();
      done_.wait(lock, [this] { return unfinished_ == 0; });
    }
    for (const std::exception_ptr& error : thrown) {
      if (error) std::rethrow_exception(error);
    }
  }

  /// Runs `work` in the threads of all ranks, then waits for their streams.
  void each_and_wait(const rank_work& work) {
    each([&work](const rank_context& me) {
      work(me);
      check(cudaStreamSynchronize(me.stream), "cudaStreamSynchronize");
    });
  }

  /// Calls `work` twice on all ranks and times the second call. Returns the milliseconds from a common start until the
  /// streams of all ranks are done.
  double sample(const rank_work& work) {
    using clock = std::chrono::steady_clock;
    std::vector<clock::time_point> begins(contexts_.size()), ends(contexts_.size());
    detail::spin_barrier barrier(ranks());
    each([&](const rank_context& me) {
      try {
        work(me);
        check(cudaStreamSynchronize(me.stream), "cudaStreamSynchronize");
      } catch (...) {
        barrier.give_up();
        throw;
      }
      barrier.arrive_and_wait();
      begins[me.index()] = clock::now();
      work(me);
      check(cudaStreamSynchronize(me.stream), "cudaStreamSynchronize");
      ends[me.index()] = clock::now();
    });
    const std::chrono::duration<double, std::milli> taken =
        *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
    return taken.count();
  }

  /// GB/s that each rank sends to the next one while it receives as many. The median of 15 transfers of 512 MiB; 0 for
  /// one rank.
  double link_gb_per_s() {
    if (ranks() > 1 && link_gb_per_s_ == 0) link_gb_per_s_ = measure_link();
    return link_gb_per_s_;
  }

 private:
  void serve(const rank_context& context) {
    int seen = 0;
    for (;;) {
      const rank_work* work = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return ends_ || number_ != seen; });
        if (number_ == seen) return;
        seen = number_;
        work = work_;
      }
      try {
        (*work)(context);
      } catch (...) {
        thrown_[context.index()] = std::current_exception();
      }
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--unfinished_ == 0) done_.notify_one();
    }
  }

  double measure_link() {
    const std::size_t bytes = std::size_t{512} << 20;
    std::vector<device_array<std::uint64_t>> sent(contexts_.size()), received(contexts_.size());
    each_and_wait([&](const rank_context& me) {
      const auto words = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
      sent[me.index()] = random_array<std::uint64_t>(words, 1 + me.index(), me.stream);
      received[me.index()] = device_array<std::uint64_t>(static_cast<std::size_t>(words));
    });
    const rank_work exchange = [&](const rank_context& me) {
      check(ncclGroupStart(), "ncclGroupStart");
      check(ncclSend(sent[me.index()].data(), bytes, ncclChar, (me.rank + 1) % me.ranks, me.comm, me.stream),
            "ncclSend");
      check(ncclRecv(received[me.index()].data(), bytes, ncclChar, (me.rank + me.ranks - 1) % me.ranks, me.comm,
                     me.stream),
            "ncclRecv");
      check(ncclGroupEnd(), "ncclGroupEnd");
    };
    std::vector<double> samples;
    for (int i = 0; i < 15; ++i) samples.push_back(sample(exchange));
    return static_cast<double>(bytes) / summarize(samples).median * 1e-6;
  }

  std::vector<rank_context> contexts_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const rank_work* work_ = nullptr;
  std::exception_ptr* thrown_ = nullptr;
  int unfinished_ = 0, number_ = 0;
  bool ends_ = false;
  double link_gb_per_s_ = 0;
};

/// One object per rank, shared by the closures that use it.
template <class T>
using of_ranks = std::shared_ptr<std::vector<T>>;

/// Calls `make(context)` on each rank's thread, and waits for the streams.
template <class Make>
auto on_each_rank(rank_group& group, Make&& make) {
  using T = decltype(make(std::declval<const rank_context&>()));
  auto made = std::make_shared<std::vector<T>>(static_cast<std::size_t>(group.ranks()));
  group.each_and_wait([&](const rank_context& me) { (*made)[me.index()] = make(me); });
  return made;
}

/// A peer on several GPUs. `work(context)` enqueues the work of a rank, and throws if it fails.
inline peer ranks_peer(std::shared_ptr<rank_group> group, std::string lib, const rank_work& work) {
  peer made;
  made.lib = std::move(lib);
  made.is_on_host = true;
  made.call = [group, work](cudaStream_t) {
    group->each_and_wait(work);
    return cudaSuccess;
  };
  made.timed_call = [group, work] { return group->sample(work); };
  return made;
}

/// A peer whose ranks below `active_ranks` make a call in CUB's form, `call(context, d_temp_storage,
/// temp_storage_bytes)`. Their storage is allocated here.
template <class Call>
peer ranks_storage_peer(std::shared_ptr<rank_group> group, std::string lib, Call call, int active_ranks) {
  const auto storage = on_each_rank(*group, [&](const rank_context& me) {
    std::size_t bytes = 0;
    if (me.rank < active_ranks) check(call(me, static_cast<void*>(nullptr), bytes), lib.c_str());
    return device_array<unsigned char>(bytes);
  });
  const std::string name = lib;
  return ranks_peer(std::move(group), std::move(lib), [=](const rank_context& me) {
    if (me.rank >= active_ranks) return;
    const device_array<unsigned char>& own = (*storage)[me.index()];
    std::size_t bytes = own.bytes();
    check(call(me, static_cast<void*>(own.data()), bytes), name.c_str());
  });
}

}  // namespace bench
