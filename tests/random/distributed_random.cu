// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random cases of the primitives of distributed/. The host back end runs 1, 2, 3, 4 and 8 ranks, each in a thread. GPUs
// run one rank, and one for each GPU. Results are compared with sequential code on the items of all ranks.
#define STRATA_JOIN_BACKEND CUDA
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>

#include "device/join/device_hash_join_kinds.hpp"
#include "distributed/join_calls.cuh"
#include "random/random_joins.cuh"
#include "random/random_sorts.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;

// ---------------------------------------------------------------------------- ranks

/// Which arrays of a case lie in memory that ranks share. With `none`, the communicator has no such memory. With
/// `elsewhere`, only small messages use it.
enum class placement { none, elsewhere, some, all };

/// The memory that a rank shares with others. Some of the rank's arrays are allocated in it.
class shared_source final : public array_source {
 public:
  explicit shared_source(ncclComm_t comm) { must(memory_.Allocate(all_bytes, comm), "Allocate"); }
  void release() { must(memory_.Release(), "Release"); }

  /// Sets which of the following arrays are allocated here.
  void place(placement where, std::uint64_t seed) {
    percent_ = where == placement::all ? 100 : where == placement::some ? 60 : 0;
    random_ = source(seed);
  }

  /// Allocates the first gap that is large enough.
  void* take(std::size_t bytes) override {
    if (!random_.chance(percent_)) return nullptr;
    std::size_t begin = 0;
    for (const auto& [used, size] : taken_) {
      if (used - begin >= bytes) break;
      begin = (used + size + alignment - 1) / alignment * alignment;
    }
    if (begin + bytes > all_bytes) return nullptr;
    taken_[begin] = bytes;
    return static_cast<unsigned char*>(memory_.data()) + begin;
  }
  void give_back(void* memory) override {
    taken_.erase(
        static_cast<std::size_t>(static_cast<unsigned char*>(memory) - static_cast<unsigned char*>(memory_.data())));
  }

 private:
  static constexpr std::size_t all_bytes = std::size_t{is_gpu ? 512 : 8} << 20;
  static constexpr std::size_t alignment = 256;
  strata::DistributedMemory memory_;
  std::map<std::size_t, std::size_t> taken_;  // offset and size of each array
  unsigned percent_ = 0;
  source random_{0};
};

struct rank_view {
  std::size_t rank;
  std::size_t ranks;
  ncclComm_t comm;
  cudaStream_t stream;
  shared_source* shared;  // or null
};

/// One thread for each rank, with a communicator and a stream. Teams are kept, because making one takes longer than
/// most cases.
class team {
 public:
  team(std::size_t ranks, bool is_shared) : is_shared_(is_shared), errors_(ranks) {
#if STRATA_HOST_SIMT
    strata::simt::config().devices = 8;
#endif
    std::vector<ncclComm_t> comms(ranks);
    must_be(ncclCommInitAll(comms.data(), static_cast<int>(ranks), nullptr) == ncclSuccess, "ncclCommInitAll");
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      threads_.emplace_back(
          [this, me = rank_view{rank, ranks, comms[rank], nullptr, nullptr}]() mutable { serve(me); });
    }
  }
  ~team() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  /// Runs `work` on all ranks. Calls of this function wait for each other.
  void each(const std::function<void(const rank_view&)>& work) {
    const std::lock_guard<std::mutex> turn(turns_);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      work_ = &work;
      unfinished_ = threads_.size();
      ++number_;
      wake_.notify_all();
      done_.wait(lock, [this] { return unfinished_ == 0; });
    }
    for (std::size_t rank = 0; rank < errors_.size(); ++rank) {
      if (!errors_[rank].empty()) throw failure("rank " + std::to_string(rank) + ": " + errors_[rank]);
    }
  }

 private:
  void serve(rank_view& me) {
    std::string start_error;
    std::unique_ptr<shared_source> shared;
    try {
      must(cudaSetDevice(static_cast<int>(me.rank)), "cudaSetDevice");
      must(cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      if (is_shared_) shared = std::make_unique<shared_source>(me.comm);
      me.shared = shared.get();
    } catch (const std::exception& found) {
      start_error = found.what();
    }
    std::uint64_t seen = 0;
    for (;;) {
      const std::function<void(const rank_view&)>* work = nullptr;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return ends_ || number_ != seen; });
        if (number_ == seen) break;
        seen = number_;
        work = work_;
      }
      std::string error = start_error;
      if (error.empty()) {
        try {
          (*work)(me);
        } catch (const std::exception& found) {
          error = found.what();
        }
      }
      errors_[me.rank] = error;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--unfinished_ == 0) done_.notify_one();
    }
    try {
      if (shared != nullptr) shared->release();
    } catch (const std::exception& found) {
      std::fprintf(stderr, "rank %zu: %s\n", me.rank, found.what());
      std::abort();
    }
    static_cast<void>(cudaStreamDestroy(me.stream));
    static_cast<void>(ncclCommDestroy(me.comm));
  }

  const bool is_shared_;
  std::vector<std::thread> threads_;
  std::vector<std::string> errors_;
  std::mutex turns_, mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(const rank_view&)>* work_ = nullptr;
  std::size_t unfinished_ = 0;
  std::uint64_t number_ = 0;
  bool ends_ = false;
};

team& team_of(std::size_t ranks, bool is_shared) {
  static std::mutex mutex;
  static std::map<std::pair<std::size_t, bool>, team> teams;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = teams.find({ranks, is_shared});
  if (found != teams.end()) return found->second;
  return teams
      .emplace(std::piecewise_construct, std::forward_as_tuple(ranks, is_shared),
               std::forward_as_tuple(ranks, is_shared))
      .first->second;
}

std::size_t random_ranks(source& random) {
  int devices = 1;
  if (is_gpu) must(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (is_gpu) return random.chance(20) ? 1 : static_cast<std::size_t>(devices);
  return random.pick<std::size_t>({1, 2, 2, 3, 4, 4, 8});
}

/// The number of items of each rank: equal, random, all on few ranks, or none on few ranks.
std::vector<std::size_t> random_sizes(source& random, std::size_t ranks, std::size_t most) {
  const std::size_t all = random_size(random, most);
  std::vector<std::size_t> sizes(ranks);
  switch (random.below(5)) {
    case 0:
      for (std::size_t rank = 0; rank < ranks; ++rank) sizes[rank] = (rank + 1) * all / ranks - rank * all / ranks;
      break;
    case 1:
      sizes[random.below(ranks)] = all;
      break;
    case 2:
      for (std::size_t& size : sizes) size = random.chance(50) ? 0 : all / ranks;
      break;
    default: {
      std::vector<std::size_t> cuts(ranks + 1, all);
      cuts[0] = 0;
      for (std::size_t rank = 1; rank < ranks; ++rank) cuts[rank] = random.below(all + 1);
      std::sort(cuts.begin(), cuts.end());
      for (std::size_t rank = 0; rank < ranks; ++rank) sizes[rank] = cuts[rank + 1] - cuts[rank];
    }
  }
  return sizes;
}

std::size_t sum_of(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// The most items of a case. On the host, few cases have more items than a rank's first samples, or than a tile.
std::size_t most_of_all_ranks(source& random) {
  if (is_gpu) return most_items(random, 0, 1u << 20);
  return random.chance(1) ? 20000 : random.chance(10) ? 2000 : random.chance(50) ? 300 : 40;
}

std::string description_of_ranks(const char* call, const std::string& type, const std::vector<std::size_t>& sizes) {
  std::string text = std::string(call) + " of " + type + " on " + std::to_string(sizes.size()) + " ranks:";
  for (const std::size_t size : sizes) text += " " + std::to_string(size);
  return text;
}

// ---------------------------------------------------------------------------- problems of ranks

/// How often a primitive was called, and how many of its calls were wrong.
struct counts {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> wrong{0};
};
std::map<std::string, counts> tallies;

counts& tally(const std::string& name) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return tallies[name];
}

/// The states of all ranks of a case. A `State` has one rank's arrays.
template <class State>
class ranks_of_case {
 public:
  ranks_of_case(std::size_t ranks, source& random)
      : placement_(random.pick(
            {placement::none, placement::none, placement::elsewhere, placement::some, placement::all, placement::all})),
        team_(team_of(ranks, placement_ != placement::none)),
        states_(ranks),
        statuses_(ranks) {}
  ~ranks_of_case() {
    // In the threads of the ranks, where their devices are current.
    try {
      team_.each([this](const rank_view& me) {
        if (!recorded_.empty()) recorded_[me.rank].reset();
        states_[me.rank].reset();
      });
    } catch (const std::exception&) {
    }
  }

  /// Makes each rank's state by `make(rank, source)`, which returns a pointer.
  template <class Make>
  void make_states(source& random, const Make& make) {
    each(random, [&](const rank_view& me, source& own) { states_[me.rank] = make(me.rank, own); });
  }
  /// Runs `work(rank_view, source)` on all ranks. Each rank has its own source of random numbers.
  template <class Work>
  void each(source& random, const Work& work) {
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < states_.size(); ++i) seeds.push_back(random());
    team_.each([&](const rank_view& me) {
      source own(seeds[me.rank]);
      if (me.shared != nullptr) me.shared->place(placement_, own());
      source_of_arrays = me.shared;
      work(me, own);
    });
  }
  std::string name_of_placement() const {
    constexpr const char* names[] = {"", ", shared messages", ", some arrays shared", ", shared arrays"};
    return names[static_cast<int>(placement_)];
  }
  State& operator[](std::size_t rank) { return *states_[rank]; }
  std::size_t size() const { return states_.size(); }

  /// Makes `call(rank_view, state, storage, bytes)` on all ranks, with storage of exactly the size that it asks for.
  template <class Call>
  void call(std::uint64_t seed, const Call& call) {
    source random(seed);
    each(random, [&](const rank_view& me, source& own) {
      State& state = *states_[me.rank];
      const std::unique_ptr<guarded> storage = storage_of(me, own, call);
      std::size_t bytes = storage->bytes();
      statuses_[me.rank] = call(me, state, storage->data(), bytes);
      must(cudaStreamSynchronize(me.stream), "the call");
      storage->must_be_intact(me.stream);
    });
  }

  /// Makes the call by a graph. The first such call records the graph. Before recording, it makes the call directly,
  /// because NCCL connects the ranks in their first call, which cannot be captured. `renew(source)` then makes new
  /// data.
  template <class Call, class Renew>
  void replay(std::uint64_t seed, const Call& call, const Renew& renew) {
    source random(seed);
    if (recorded_.empty()) {
      this->call(random(), call);
      recorded_.resize(states_.size());
      each(random, [&](const rank_view& me, source& own) {
        recorded_[me.rank] = std::make_unique<recorded>();
        recorded_[me.rank]->storage = storage_of(me, own, call);
      });
      each(random, [&](const rank_view& me, source&) {
        const guarded& storage = *recorded_[me.rank]->storage;
        recorded_[me.rank]->graph = std::make_unique<recorded_call>([&](cudaStream_t recorder) {
          std::size_t bytes = storage.bytes();
          rank_view of_recorder = me;
          of_recorder.stream = recorder;
          statuses_[me.rank] = call(of_recorder, *states_[me.rank], storage.data(), bytes);
        });
      });
      renew(random);
    }
    each(random, [&](const rank_view& me, source&) {
      recorded_[me.rank]->graph->replay(me.stream);
      must(cudaStreamSynchronize(me.stream), "the replay");
      recorded_[me.rank]->storage->must_be_intact(me.stream);
    });
  }
  void must_return(cudaError_t status) const {
    for (std::size_t rank = 0; rank < statuses_.size(); ++rank) {
      must_be(statuses_[rank] == status, "rank " + std::to_string(rank) + " returned " +
                                             cudaGetErrorName(statuses_[rank]) + ", not " + cudaGetErrorName(status));
    }
  }

 private:
  struct recorded {
    std::unique_ptr<guarded> storage;
    std::unique_ptr<recorded_call> graph;
  };

  /// Storage of exactly the size that the call asks for, filled with garbage.
  template <class Call>
  std::unique_ptr<guarded> storage_of(const rank_view& me, source& random, const Call& call) {
    std::size_t bytes = 0;
    must(call(me, *states_[me.rank], static_cast<void*>(nullptr), bytes), "the size query");
    must_be(bytes > 0, "the size query asks for nothing");
    auto storage = std::make_unique<guarded>(bytes, random.below(256));
    std::vector<std::uint64_t> garbage(bytes / 8 + 1);
    for (std::uint64_t& word : garbage) word = random();
    storage->write(garbage.data(), me.stream);
    return storage;
  }

  const placement placement_;
  team& team_;
  std::vector<std::unique_ptr<State>> states_;
  std::vector<cudaError_t> statuses_;
  std::vector<std::unique_ptr<recorded>> recorded_;
};

/// Default of `problem_of_ranks`: one call for each check.
struct once {
  template <class State>
  bool operator()(ranks_of_case<State>&) const {
    return false;
  }
};

/// A problem that makes `call(rank_view, state, storage, bytes)` of the primitive `name`. `renew(rank_view, state,
/// source)` makes new data, and `check(ranks)` is called when all streams have ended. If `is_captured`, calls are
/// replays of a graph. If `again(ranks)` returns true after a call, the call is made once more.
template <class State, class Renew, class Call, class Check, class Again = once>
problem problem_of_ranks(std::string name, std::string what, std::shared_ptr<ranks_of_case<State>> ranks, Renew renew,
                         Call call, Check check, bool is_captured = false, Again again = {}) {
  problem made;
  made.what = std::move(what) + ranks->name_of_placement() + (is_captured ? ", captured" : "");
  made.can_be_captured = false;  // a capture has one stream, but each rank has its own
  // On GPUs, kernels of two communicators may wait for each other, because ranks start them in different orders (NCCL's
  // documentation, "Using multiple NCCL communicators concurrently"). Also, cudaFree of another problem waits for the
  // kernels of all GPUs, because NCCL enables peer access between the GPUs of a process. Until cudaFree returns, a rank
  // cannot start the kernel for which the kernels of other ranks wait.
  made.can_be_beside_others = !is_gpu;
  const auto seed = std::make_shared<std::uint64_t>(0);
  const auto renew_all = [ranks, renew](source& random) {
    ranks->each(random, [&](const rank_view& me, source& own) { renew(me, (*ranks)[me.rank], own); });
  };
  made.renew = [renew_all, seed](source& random, cudaStream_t) {
    *seed = random();
    renew_all(random);
  };
  made.call = [ranks, call, renew_all, seed, name, is_captured, again](void* storage, std::size_t& bytes,
                                                                       cudaStream_t) {
    bytes = 1;  // Each rank has its own storage.
    if (storage == nullptr) return cudaSuccess;
    tally(name).calls += 1;
    try {
      if (is_captured) {
        ranks->replay(*seed, call, renew_all);
      } else {
        ranks->call(*seed, call);
        if (again(*ranks)) ranks->call(*seed, call);
      }
    } catch (const std::exception&) {
      tally(name).wrong += 1;
      throw;
    }
    return cudaSuccess;
  };
  made.check = [ranks, check, name](cudaStream_t) {
    try {
      check(*ranks);
    } catch (const std::exception&) {
      tally(name).wrong += 1;
      throw;
    }
  };
  return made;
}

/// Concatenates the items of all ranks.
template <class T, class State, class Items>
std::vector<T> all_of(ranks_of_case<State>& ranks, const Items& items) {
  std::vector<T> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<T>& own = items(ranks[rank]);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Reads a rank's array. On a GPU, the thread of the rank reads it, because its device is current there.
template <class T>
std::vector<T> content(const array<T>& of) {
  return of.read(nullptr);
}

/// Where rank r's part of a balanced result begins.
std::size_t balanced_begin(std::size_t size, std::size_t ranks, std::size_t rank) { return size * rank / ranks; }

template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t begin, std::size_t end) {
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

// ---------------------------------------------------------------------------- reductions and scans

template <class T>
struct reduced_rank : memory<T, T> {
  reduced_rank(std::size_t num_in, std::size_t num_out, source& random) : memory<T, T>(num_in, num_out, random) {}
};

template <class T, class Op>
problem reduce_by(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const auto ranks = std::make_shared<ranks_of_case<reduced_rank<T>>>(count, random);
  ranks->make_states(
      random, [&](std::size_t rank, source& own) { return std::make_unique<reduced_rank<T>>(sizes[rank], 1, own); });
  const T init = item_of<T>(random());
  const bool is_captured = random.chance(20);
  return problem_of_ranks(
      "reduce", description_of_ranks("Reduce", name_of<T>(), sizes), ranks,
      [](const rank_view& me, reduced_rank<T>& own, source& data) {
        own.renew(random_items<T>(data, own.in.size()), me.stream);
      },
      [init](const rank_view& me, reduced_rank<T>& own, void* storage, std::size_t& bytes) {
        return strata::DistributedReduce::Reduce(storage, bytes, static_cast<const T*>(own.in.data()), own.out.data(),
                                                 own.in.size(), Op{}, init, me.comm, me.stream);
      },
      [init](ranks_of_case<reduced_rank<T>>& all) {
        all.must_return(cudaSuccess);
        T expected = init;
        for (const T& item : all_of<T>(
                 all, [](auto& own) -> auto& { return own.items; })) {
          expected = Op{}(expected, item);
        }
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          must_be_same(std::vector<T>{expected}, content(all[rank].out), "the result");
        }
      },
      is_captured);
}

/// Sum, Min and Max, then ArgMin and ArgMax, which return the first of several equal items.
template <class T>
problem reduce_to_extremum(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  enum class form { sum, min, max, arg_min, arg_max };
  const form how = random.pick({form::sum, form::min, form::max, form::arg_min, form::arg_max});
  struct state : reduced_rank<T> {
    state(std::size_t size, source& own) : reduced_rank<T>(size, 1, own), index(1, own) {}
    array<std::int64_t> index;
  };
  const auto ranks = std::make_shared<ranks_of_case<state>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) { return std::make_unique<state>(sizes[rank], own); });
  return problem_of_ranks(
      "reduce",
      description_of_ranks("Sum, Min, Max, ArgMin, ArgMax", name_of<T>(), sizes) + ": " +
          std::to_string(static_cast<int>(how)),
      ranks,
      [how](const rank_view& me, state& own, source& data) {
        std::vector<T> items = random_items<T>(data, own.in.size());
        if (how != form::sum) {
          for (T& item : items) item = static_cast<T>(item & T{0x3f});
        }
        own.renew(items, me.stream);
        own.index.forget(me.stream);
      },
      [how](const rank_view& me, state& own, void* storage, std::size_t& bytes) {
        using strata::DistributedReduce;
        const T* const in = own.in.data();
        T* const out = own.out.data();
        const std::size_t size = own.in.size();
        if (how == form::sum) return DistributedReduce::Sum(storage, bytes, in, out, size, me.comm, me.stream);
        if (how == form::min) return DistributedReduce::Min(storage, bytes, in, out, size, me.comm, me.stream);
        if (how == form::max) return DistributedReduce::Max(storage, bytes, in, out, size, me.comm, me.stream);
        std::int64_t* const index = own.index.data();
        return how == form::arg_min
                   ? DistributedReduce::ArgMin(storage, bytes, in, out, index, size, me.comm, me.stream)
                   : DistributedReduce::ArgMax(storage, bytes, in, out, index, size, me.comm, me.stream);
      },
      [how](ranks_of_case<state>& all) {
        all.must_return(cudaSuccess);
        const bool is_min = how == form::min || how == form::arg_min;
        T expected = how == form::sum ? T{} : is_min ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
        std::int64_t index = 1;
        const std::vector<T> items = all_of<T>(
            all, [](auto& own) -> auto& { return own.items; });
        for (std::size_t i = 0; i < items.size(); ++i) {
          if (how == form::sum) {
            expected = wrapping_sum{}(expected, items[i]);
          } else if (i == 0 || (is_min ? items[i] < expected : expected < items[i])) {
            expected = items[i];
            index = static_cast<std::int64_t>(i);
          }
        }
        const bool has_index = how == form::arg_min || how == form::arg_max;
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          must_be_same(std::vector<T>{expected}, content(all[rank].out), "the result");
          must_be_same(std::vector<std::int64_t>{has_index ? index : untouched<std::int64_t>()},
                       content(all[rank].index), "the index");
        }
      });
}

enum class scan_form { exclusive_sum, inclusive_sum, exclusive, inclusive };

template <class T, class Op, scan_form Form>
problem scan_by(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const bool in_place = random.chance(30);
  const auto ranks = std::make_shared<ranks_of_case<reduced_rank<T>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<reduced_rank<T>>(sizes[rank], in_place ? 0 : sizes[rank], own);
  });
  const T init = item_of<T>(random());
  const bool is_captured = random.chance(20);
  constexpr bool is_exclusive = Form == scan_form::exclusive || Form == scan_form::exclusive_sum;
  return problem_of_ranks(
      "scan",
      description_of_ranks(is_exclusive ? "exclusive scan" : "inclusive scan", name_of<T>(), sizes) +
          (in_place ? ", in place" : ""),
      ranks,
      [](const rank_view& me, reduced_rank<T>& own, source& data) {
        own.renew(random_items<T>(data, own.in.size()), me.stream);
      },
      [init, in_place](const rank_view& me, reduced_rank<T>& own, void* storage, std::size_t& bytes) {
        T* const in = own.in.data();
        T* const out = in_place ? in : own.out.data();
        const std::size_t size = own.in.size();
        if constexpr (Form == scan_form::exclusive_sum) {
          return strata::DistributedScan::ExclusiveSum(storage, bytes, in, out, size, me.comm, me.stream);
        } else if constexpr (Form == scan_form::inclusive_sum) {
          return strata::DistributedScan::InclusiveSum(storage, bytes, in, out, size, me.comm, me.stream);
        } else if constexpr (Form == scan_form::exclusive) {
          return strata::DistributedScan::ExclusiveScan(storage, bytes, in, out, Op{}, init, size, me.comm, me.stream);
        } else {
          return strata::DistributedScan::InclusiveScan(storage, bytes, in, out, Op{}, size, me.comm, me.stream);
        }
      },
      [init, in_place](ranks_of_case<reduced_rank<T>>& all) {
        all.must_return(cudaSuccess);
        T now = Form == scan_form::exclusive ? init : T{};
        bool is_first = !is_exclusive;
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          std::vector<T> expected;
          for (const T& item : all[rank].items) {
            if (is_exclusive) expected.push_back(now);
            now = is_first ? item : Op{}(now, item);
            is_first = false;
            if (!is_exclusive) expected.push_back(now);
          }
          const std::string who = "rank " + std::to_string(rank);
          must_be_same(expected, content(in_place ? all[rank].in : all[rank].out), who.c_str());
        }
      },
      is_captured);
}

// ---------------------------------------------------------------------------- exchanges and sorts

/// Keys and values of a rank, and room for those that it receives. Without values, their arrays are empty.
template <class K, class V>
struct moved_rank {
  moved_rank(std::size_t in, std::size_t capacity, bool has_values, source& random)
      : keys(in, random),
        keys_out(capacity, random),
        values(has_values ? in : 0, random),
        values_out(has_values ? capacity : 0, random),
        destinations(in, random) {}
  array<K> keys, keys_out;
  array<V> values, values_out;
  array<int> destinations;
  std::vector<K> host_keys;
  std::vector<V> host_values;
  std::vector<int> host_destinations;
  std::int64_t num_out = -1;

  void renew(source& data, cudaStream_t stream) {
    host_keys = random_items<K>(data, keys.size());
    host_values = random_items<V>(data, values.size());
    keys.write(host_keys, stream);
    values.write(host_values, stream);
    keys_out.forget(stream);
    values_out.forget(stream);
    num_out = -1;
  }
};

/// Compares what ranks have received with what they should have received. If one of them has too little room, all must
/// refuse the call.
template <class K, class V>
void must_have_received(ranks_of_case<moved_rank<K, V>>& all, const std::vector<std::vector<K>>& keys,
                        const std::vector<std::vector<V>>& values) {
  bool has_room = true;
  for (std::size_t rank = 0; rank < all.size(); ++rank) has_room &= keys[rank].size() <= all[rank].keys_out.size();
  all.must_return(has_room ? cudaSuccess : cudaErrorInvalidValue);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    moved_rank<K, V>& own = all[rank];
    const std::string who = "of rank " + std::to_string(rank);
    must_be(own.num_out == static_cast<std::int64_t>(keys[rank].size()),
            std::to_string(keys[rank].size()) + " items come, " + who + " num_out says " + std::to_string(own.num_out));
    must_be_same(and_untouched(has_room ? keys[rank] : std::vector<K>(), own.keys_out.size()), content(own.keys_out),
                 ("keys " + who).c_str());
    if (own.values_out.size() > 0) {
      must_be_same(and_untouched(has_room ? values[rank] : std::vector<V>(), own.values_out.size()),
                   content(own.values_out), ("values " + who).c_str());
    }
    must_be_same(own.host_keys, content(own.keys), "keys of the input");
    must_be_same(own.host_values, content(own.values), "values of the input");
  }
}

/// A destination: any rank, a low rank more often, or always the same rank.
int random_destination(source& random, std::size_t ranks, int how) {
  if (how == 0) return static_cast<int>(random.below(ranks));
  if (how == 1) return static_cast<int>(random.below(random.below(ranks) + 1));
  return static_cast<int>(how == 2 ? ranks - 1 : 0);
}

/// The destinations of a case. One of them may be a rank that does not exist.
struct destinations_of_case {
  destinations_of_case(source& random, const std::vector<std::size_t>& sizes)
      : how(static_cast<int>(random.below(4))), is_bad(sum_of(sizes) > 0 && random.chance(5)) {
    while (bad_rank + 1 < sizes.size() && sizes[bad_rank] == 0) ++bad_rank;
  }

  bool is_bad_rank(std::size_t rank) const { return is_bad && rank == bad_rank; }

  std::vector<int> of_rank(const rank_view& me, std::size_t size, source& data) const {
    std::vector<int> made;
    for (std::size_t i = 0; i < size; ++i) made.push_back(random_destination(data, me.ranks, how));
    if (is_bad_rank(me.rank)) made[data.below(size)] = data.chance(50) ? -1 : static_cast<int>(me.ranks);
    return made;
  }

  int how;
  bool is_bad;
  std::size_t bad_rank = 0;
};

template <class K, class V, bool HasValues>
problem exchange(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t all_items = sum_of(sizes);
  // In some cases, a rank may have too little room for what it receives.
  const std::size_t capacity = random.chance(85) ? all_items : random.below(all_items + 1);
  const destinations_of_case to(random, sizes);
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  return problem_of_ranks(
      "exchange",
      description_of_ranks("exchange", name_of<K>(), sizes) + ", room for " + std::to_string(capacity) +
          (to.is_bad ? ", a bad destination" : ""),
      ranks,
      [to](const rank_view& me, moved_rank<K, V>& own, source& data) {
        own.renew(data, me.stream);
        own.host_destinations = to.of_rank(me, own.keys.size(), data);
        own.destinations.write(own.host_destinations, me.stream);
      },
      [](const rank_view& me, moved_rank<K, V>& own, void* storage, std::size_t& bytes) {
        const K* const keys = own.keys.data();
        const int* const destinations = own.destinations.data();
        if constexpr (HasValues) {
          return strata::DistributedExchange::Pairs(
              storage, bytes, keys, static_cast<const V*>(own.values.data()), destinations, own.keys.size(),
              own.keys_out.data(), own.values_out.data(), own.keys_out.size(), &own.num_out, me.comm, me.stream);
        } else {
          return strata::DistributedExchange::Items(storage, bytes, keys, destinations, own.keys.size(),
                                                    own.keys_out.data(), own.keys_out.size(), &own.num_out, me.comm,
                                                    me.stream);
        }
      },
      [to](ranks_of_case<moved_rank<K, V>>& all) {
        if (to.is_bad) {
          all.must_return(cudaErrorInvalidValue);
          for (std::size_t rank = 0; rank < all.size(); ++rank) {
            must_be_same(and_untouched(std::vector<K>(), all[rank].keys_out.size()), content(all[rank].keys_out),
                         "keys after a refusal");
          }
          return;
        }
        std::vector<std::vector<K>> keys(all.size());
        std::vector<std::vector<V>> values(all.size());
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          moved_rank<K, V>& own = all[rank];
          for (std::size_t i = 0; i < own.keys.size(); ++i) {
            const auto target = static_cast<std::size_t>(own.host_destinations[i]);
            keys[target].push_back(own.host_keys[i]);
            if (HasValues) values[target].push_back(own.host_values[i]);
          }
        }
        must_have_received(all, keys, values);
      });
}

/// The further array of a fixed exchange: how many items each rank has sent to this one.
template <class K, class V>
struct fixed_rank : moved_rank<K, V> {
  fixed_rank(std::size_t in, std::size_t ranks, std::size_t chunk_capacity, bool has_values, source& random)
      : moved_rank<K, V>(in, ranks * chunk_capacity, has_values, random), counts(ranks, random) {}
  array<std::int64_t> counts;
};

template <class K, class V, bool HasValues>
problem exchange_fixed(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t all_items = sum_of(sizes);
  const std::size_t chunk_capacity = random.chance(50) ? all_items : random.below(all_items / count + 2);
  const destinations_of_case to(random, sizes);
  const bool is_captured = random.chance(30);
  const auto ranks = std::make_shared<ranks_of_case<fixed_rank<K, V>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<fixed_rank<K, V>>(sizes[rank], count, chunk_capacity, HasValues, own);
  });
  return problem_of_ranks(
      "fixed exchange",
      description_of_ranks("fixed exchange", name_of<K>(), sizes) + ", chunks of " + std::to_string(chunk_capacity) +
          (to.is_bad ? ", a bad destination" : ""),
      ranks,
      [to](const rank_view& me, fixed_rank<K, V>& own, source& data) {
        own.renew(data, me.stream);
        own.counts.forget(me.stream);
        own.host_destinations = to.of_rank(me, own.keys.size(), data);
        own.destinations.write(own.host_destinations, me.stream);
      },
      [chunk_capacity](const rank_view& me, fixed_rank<K, V>& own, void* storage, std::size_t& bytes) {
        const K* const keys = own.keys.data();
        const int* const destinations = own.destinations.data();
        if constexpr (HasValues) {
          return strata::DistributedExchange::PairsFixed(
              storage, bytes, keys, static_cast<const V*>(own.values.data()), destinations, own.keys.size(),
              own.keys_out.data(), own.values_out.data(), chunk_capacity, own.counts.data(), me.comm, me.stream);
        } else {
          return strata::DistributedExchange::ItemsFixed(storage, bytes, keys, destinations, own.keys.size(),
                                                         own.keys_out.data(), chunk_capacity, own.counts.data(),
                                                         me.comm, me.stream);
        }
      },
      [to, chunk_capacity](ranks_of_case<fixed_rank<K, V>>& all) {
        all.must_return(cudaSuccess);
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          const std::vector<std::int64_t> counts = content(all[rank].counts);
          const std::vector<K> keys = content(all[rank].keys_out);
          const std::vector<V> values = content(all[rank].values_out);
          std::vector<std::int64_t> expected;
          for (std::size_t from = 0; from < all.size(); ++from) {
            // The rest of a chunk may hold anything, and so may a whole chunk whose count is -1.
            std::vector<K> expected_keys;
            std::vector<V> expected_values;
            const fixed_rank<K, V>& sender = all[from];
            for (std::size_t i = 0; i < sender.keys.size(); ++i) {
              if (sender.host_destinations[i] != static_cast<int>(rank)) continue;
              expected_keys.push_back(sender.host_keys[i]);
              if (HasValues) expected_values.push_back(sender.host_values[i]);
            }
            expected.push_back(to.is_bad_rank(from) ? -1 : static_cast<std::int64_t>(expected_keys.size()));
            if (to.is_bad_rank(from)) continue;
            const std::size_t sent = std::min(expected_keys.size(), chunk_capacity), begin = from * chunk_capacity;
            const std::string who = "of rank " + std::to_string(rank) + " from " + std::to_string(from);
            must_be_same(part(expected_keys, 0, sent), part(keys, begin, begin + sent), ("keys " + who).c_str());
            if (HasValues) {
              must_be_same(part(expected_values, 0, sent), part(values, begin, begin + sent),
                           ("values " + who).c_str());
            }
          }
          must_be_same(expected, counts, ("counts of rank " + std::to_string(rank)).c_str());
          must_be_same(all[rank].host_keys, content(all[rank].keys), "keys of the input");
        }
      },
      is_captured);
}

/// Expects the items of all ranks in the order that `order_of(keys)` returns, in parts of equal size.
template <class K, class V, class OrderOf>
void must_be_sorted(ranks_of_case<moved_rank<K, V>>& all, const OrderOf& order_of) {
  const std::vector<K> keys = all_of<K>(
      all, [](auto& own) -> auto& { return own.host_keys; });
  const std::vector<V> values = all_of<V>(
      all, [](auto& own) -> auto& { return own.host_values; });
  const std::vector<std::size_t> order = order_of(keys);
  const std::vector<K> sorted = in_order(keys, order);
  std::vector<V> moved;
  if (!values.empty()) moved = in_order(values, order);
  std::vector<std::vector<K>> key_parts;
  std::vector<std::vector<V>> value_parts;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t begin = balanced_begin(sorted.size(), all.size(), rank);
    const std::size_t end = balanced_begin(sorted.size(), all.size(), rank + 1);
    key_parts.push_back(part(sorted, begin, end));
    value_parts.push_back(moved.empty() ? std::vector<V>() : part(moved, begin, end));
  }
  must_have_received(all, key_parts, value_parts);
}

/// Room for a rank's part of the result: enough, more than enough, or too little.
std::size_t random_capacity(source& random, const std::vector<std::size_t>& sizes) {
  const std::size_t needed = (sum_of(sizes) + sizes.size() - 1) / sizes.size();
  if (random.chance(5)) return random.below(needed + 1);
  return needed + (random.chance(50) ? 0 : random.below(100));
}

/// Limits so low that small cases take several rounds of samples, and several chunks.
struct small_policy {
  static constexpr strata::distributed_sort_tuning tuning{/*first_samples=*/8,
                                                          /*samples=*/16,
                                                          /*sample_bytes=*/1 << 16,
                                                          /*max_items_without_chunks=*/20,
                                                          /*chunks=*/3,
                                                          /*max_gathered_items=*/10};
};
using usual_policy = strata::detail::distributed_sort_policy;

/// Calls the public class, or with another policy the function below it.
template <class Policy, bool HasValues, bool IsDescending, class K, class V, class... Bits>
cudaError_t radix_sort_of(void* storage, std::size_t& bytes, const rank_view& me, moved_rank<K, V>& own,
                          const Bits&... bits) {
  using strata::DistributedRadixSort;
  const K* const keys = own.keys.data();
  const V* const values = own.values.data();
  const std::size_t size = own.keys.size(), room = own.keys_out.size();
  K* const keys_out = own.keys_out.data();
  V* const values_out = own.values_out.data();
  const auto sort = [&](const auto&... rest) {
    if constexpr (HasValues) {
      return IsDescending ? DistributedRadixSort::SortPairsDescending(storage, bytes, keys, values, size, keys_out,
                                                                      values_out, room, &own.num_out, rest...)
                          : DistributedRadixSort::SortPairs(storage, bytes, keys, values, size, keys_out, values_out,
                                                            room, &own.num_out, rest...);
    } else {
      return IsDescending
                 ? DistributedRadixSort::SortKeysDescending(storage, bytes, keys, size, keys_out, room, &own.num_out,
                                                            rest...)
                 : DistributedRadixSort::SortKeys(storage, bytes, keys, size, keys_out, room, &own.num_out, rest...);
    }
  };
  if constexpr (std::is_same_v<Policy, usual_policy>) {
    return sort(bits..., me.comm, me.stream);
  } else if constexpr (HasValues) {
    return strata::detail::distributed_radix_sort<IsDescending, Policy>(
        storage, bytes, keys, values, size, keys_out, values_out, room, &own.num_out, bits..., me.comm, me.stream);
  } else {
    return strata::detail::distributed_radix_sort<IsDescending, Policy>(
        storage, bytes, keys, strata::NullType{}, size, keys_out, static_cast<strata::NullType*>(nullptr), room,
        &own.num_out, bits..., me.comm, me.stream);
  }
}

template <class K, class V, bool HasValues, class Policy = usual_policy>
problem radix_sort(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t capacity = random_capacity(random, sizes);
  const bool descending = random.chance(40);
  const bit_range bits = random_bit_range<K>(random);
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  return problem_of_ranks(
      "radix sort",
      description_of_ranks("radix sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), sizes) +
          (descending ? ", descending" : "") + ", bits " + std::to_string(bits.begin) + " to " +
          std::to_string(bits.end) + ", room for " + std::to_string(capacity) +
          (std::is_same_v<Policy, usual_policy> ? "" : ", few samples"),
      ranks, [](const rank_view& me, moved_rank<K, V>& own, source& data) { own.renew(data, me.stream); },
      [descending, bits](const rank_view& me, moved_rank<K, V>& own, void* storage, std::size_t& bytes) {
        const auto sort = [&](const auto&... rest) {
          return descending ? radix_sort_of<Policy, HasValues, true>(storage, bytes, me, own, rest...)
                            : radix_sort_of<Policy, HasValues, false>(storage, bytes, me, own, rest...);
        };
        const bool are_all = bits.begin == 0 && bits.end == bits_of_key<K>;
        if constexpr (std::is_same_v<K, event>) {
          return are_all ? sort(decompose_event{}) : sort(decompose_event{}, bits.begin, bits.end);
        } else if constexpr (!std::is_same_v<Policy, usual_policy>) {
          return sort(strata::detail::identity_decomposer{}, bits.begin, bits.end);
        } else {
          return are_all ? sort() : sort(bits.begin, bits.end);
        }
      },
      [descending, bits](ranks_of_case<moved_rank<K, V>>& all) {
        must_be_sorted(
            all, [&](const std::vector<K>& keys) { return sorted_order(keys.data(), keys.size(), bits, descending); });
      });
}

/// An order that is chosen at run time.
enum class order_of_keys { by_part, by_part_downwards, whole, none };
template <class K>
struct any_less {
  order_of_keys how;

  STRATA_HD bool operator()(const K& a, const K& b) const {
    if (how == order_of_keys::by_part) return by_part(a, b);
    if (how == order_of_keys::by_part_downwards) return by_part(b, a);
    return how == order_of_keys::whole && whole(a, b);
  }

 private:
  /// Compares only some bits, so that many different keys are equal.
  STRATA_HD static bool by_part(const K& a, const K& b) {
    if constexpr (std::is_integral_v<K>) {
      return static_cast<K>(a & K{0x3f}) < static_cast<K>(b & K{0x3f});
    } else if constexpr (is_real<K>) {
      return whole(a, b);
    } else {
      return a.word[0] < b.word[0];
    }
  }
  STRATA_HD static bool whole(const K& a, const K& b) {
    if constexpr (is_real<K>) {  // NaNs are the greatest
      return b != b ? a == a : a < b;
    } else {
      return a < b;
    }
  }
};

template <class K, class V, bool HasValues, class Policy = usual_policy>
problem merge_sort(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t capacity = random_capacity(random, sizes);
  const any_less<K> less{random.pick({order_of_keys::by_part, order_of_keys::by_part_downwards, order_of_keys::whole,
                                      order_of_keys::whole, order_of_keys::none})};
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  return problem_of_ranks(
      "merge sort",
      description_of_ranks("merge sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), sizes) +
          ", order " + std::to_string(static_cast<int>(less.how)) + ", room for " + std::to_string(capacity) +
          (std::is_same_v<Policy, usual_policy> ? "" : ", few samples"),
      ranks, [](const rank_view& me, moved_rank<K, V>& own, source& data) { own.renew(data, me.stream); },
      [less](const rank_view& me, moved_rank<K, V>& own, void* storage, std::size_t& bytes) {
        const K* const keys = own.keys.data();
        const V* const values = own.values.data();
        const std::size_t size = own.keys.size(), room = own.keys_out.size();
        if constexpr (!std::is_same_v<Policy, usual_policy>) {
          static_assert(HasValues);
          return strata::detail::distributed_merge_sort<Policy>(storage, bytes, keys, values, size, own.keys_out.data(),
                                                                own.values_out.data(), room, &own.num_out, less,
                                                                me.comm, me.stream);
        } else if constexpr (HasValues) {
          return strata::DistributedMergeSort::SortPairs(storage, bytes, keys, values, size, own.keys_out.data(),
                                                         own.values_out.data(), room, &own.num_out, less, me.comm,
                                                         me.stream);
        } else {
          return strata::DistributedMergeSort::SortKeys(storage, bytes, keys, size, own.keys_out.data(), room,
                                                        &own.num_out, less, me.comm, me.stream);
        }
      },
      [less](ranks_of_case<moved_rank<K, V>>& all) {
        must_be_sorted(all, [less](const std::vector<K>& keys) {
          std::vector<std::size_t> order(keys.size());
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(),
                           [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
          return order;
        });
      });
}

// ---------------------------------------------------------------------------- joins

/// The settings of a case, which are chosen before its data.
struct join_shape {
  strata::JoinKind kind;
  std::vector<std::size_t> build_sizes, probe_sizes;
  std::uint64_t keys;  // number of different ones
  std::int64_t lowest = 0;
  bool has_nulls, is_skewed;
  std::size_t capacity;  // of the output, on each rank
  /// True if the first call may have too little room for the rows that ranks receive.
  bool has_little_room;
  join_kinds::join_settings<> options;
};

template <class K>
join_shape random_join_shape(source& random, std::size_t ranks) {
  join_shape s;
  s.kind = random.pick({strata::JoinKind::inner, strata::JoinKind::left, strata::JoinKind::full, strata::JoinKind::semi,
                        strata::JoinKind::anti});
  s.build_sizes = random_sizes(random, ranks, most_of_all_ranks(random));
  s.probe_sizes = random_sizes(random, ranks, most_of_all_ranks(random));
  const std::size_t build_rows = sum_of(s.build_sizes), probe_rows = sum_of(s.probe_sizes);
  const std::size_t more = std::max(build_rows, probe_rows);
  // Limits the number of results, which is large if there are few different keys.
  const double most_results = is_gpu ? 1e6 : 3000;
  const double pairs = static_cast<double>(build_rows) * static_cast<double>(probe_rows);
  s.keys = std::max(static_cast<std::uint64_t>(pairs / most_results) + 1,
                    random.pick({std::uint64_t{1}, std::uint64_t{more / 20 + 1}, std::uint64_t{more / 3 + 1},
                                 std::uint64_t{2 * more + 1}}));
  s.is_skewed = pairs < most_results && random.chance(50);
  s.has_nulls = random.chance(30);
  s.options.nulls_equal = s.has_nulls && random.chance(50) && pairs < 10 * most_results;
  s.options.build_unique = random.chance(25);
  if (s.options.build_unique) s.keys = std::max<std::uint64_t>(s.keys, build_rows + 3);
  if constexpr (std::is_integral_v<K>) {
    if (random.chance(50)) s.lowest = random.in(-1000000, 1000000);
    // In some cases, the range does not include all keys.
    if (random.chance(20)) s.options.key_range = {s.lowest + (random.chance(20) ? 5 : 0), s.keys};
  }
  s.capacity = random.chance(10) ? random.below(more + 1) : more + static_cast<std::size_t>(most_results);
  s.has_little_room = random.chance(40);
  return s;
}

/// A side on one rank. If keys are unique, they differ from those of all other ranks.
template <class K>
struct joined_side : side_rows {
  joined_side(std::size_t rows, source& random)
      : keys(rows, random), valid(rows / 32 + 1, random), row_numbers(rows, random) {}
  array<K> keys;
  array<std::uint32_t> valid;
  array<std::int64_t> row_numbers;

  void renew(source& data, const join_shape& s, bool is_unique, std::size_t first_row, cudaStream_t stream) {
    const std::size_t rows = keys.size();
    codes.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      codes[i] = is_unique ? 2 + first_row + i : s.is_skewed && data.chance(60) ? 3 % s.keys : data() % s.keys;
    }
    std::shuffle(codes.begin(), codes.end(), data);
    host_valid.assign(valid.size(), ~0u);
    if (s.has_nulls && is_unique && s.options.nulls_equal) {  // equal nulls: only one row may be null
      if (first_row == 0) host_valid[0] = ~(1u << data.below(32));
    } else if (s.has_nulls) {
      for (std::uint32_t& word : host_valid) word = static_cast<std::uint32_t>(data() | data());
    }
    std::vector<K> made;
    for (const std::uint64_t code : codes) made.push_back(key_of_code<K>::make(code, s.lowest));
    keys.write(made, stream);
    valid.write(host_valid, stream);
    std::vector<std::int64_t> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int64_t>(first_row));
    row_numbers.write(numbers, stream);
  }
};

template <class K>
struct joined_rank {
  joined_rank(std::size_t build_rows, std::size_t probe_rows, std::size_t capacity, source& random)
      : build(build_rows, random),
        probe(probe_rows, random),
        build_out(capacity, random),
        probe_out(capacity, random),
        num_out(1, random) {}
  joined_side<K> build, probe;
  array<std::int64_t> build_out, probe_out, num_out;
  strata::DistributedJoinCapacity room, required;
};

/// Concatenates the rows of all ranks.
template <class K, class Side>
side_rows all_rows(ranks_of_case<joined_rank<K>>& all, Side side) {
  side_rows rows;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const joined_side<K>& own = all[rank].*side;
    for (std::size_t i = 0; i < own.codes.size(); ++i) {
      const std::size_t at = rows.codes.size();
      if (at % 32 == 0) rows.host_valid.push_back(0);
      if (own.has_key(i)) rows.host_valid.back() |= 1u << at % 32;
      rows.codes.push_back(own.codes[i]);
    }
  }
  return rows;
}

enum class join_output { count, pairs, columns };

template <class K, join_output Output>
void must_be_joined(ranks_of_case<joined_rank<K>>& all, const join_shape& s) {
  all.must_return(cudaSuccess);
  const std::vector<row_pair> expected =
      joined<K>(s.kind, s.options.nulls_equal, all_rows<K>(all, &joined_rank<K>::build),
                all_rows<K>(all, &joined_rank<K>::probe));
  const bool has_build = has_build_rows(s.kind);
  std::int64_t size = 0;
  std::vector<row_pair> found;
  bool are_all = true;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::int64_t own_size = content(all[rank].num_out).front();
    must_be(own_size >= 0, "a rank has less than no rows");
    size += own_size;
    std::size_t written = 0;
    if constexpr (Output != join_output::count) written = std::min(static_cast<std::size_t>(own_size), s.capacity);
    are_all &= written == static_cast<std::size_t>(own_size);
    const std::vector<std::int64_t> builds = content(all[rank].build_out);
    const std::vector<std::int64_t> probes = content(all[rank].probe_out);
    for (std::size_t i = 0; i < s.capacity; ++i) {
      const bool is_row = i < written;
      if (is_row) found.push_back({has_build ? builds[i] : -1, probes[i]});
      // If a row has no build row, columns hold a default there, but pairs are not written.
      const bool is_build = is_row && (has_build || Output == join_output::columns);
      must_be(is_build ? has_build || builds[i] == -1 : builds[i] == untouched<std::int64_t>(),
              "row " + std::to_string(i) + " of the build side");
      must_be(is_row || probes[i] == untouched<std::int64_t>(), "a row behind the last was written");
    }
  }
  must_be(size == static_cast<std::int64_t>(expected.size()),
          std::to_string(expected.size()) + " rows are expected, ranks have " + std::to_string(size));
  if (Output == join_output::count) return;
  must_be(!are_all || found.size() == expected.size(), "rows are missing");
  must_be_of_join(expected, found);
}

/// Checks a call that may have had too little room. Returns true if so: then nothing was written, and the room that the
/// call has asked for is set.
template <class K>
bool needs_more_room(ranks_of_case<joined_rank<K>>& all) {
  bool has_room = true;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const joined_rank<K>& own = all[rank];
    must_be(own.required.build_rows >= 0 && own.required.probe_rows >= 0, "the required capacity is not known");
    has_room &= own.required.build_rows <= own.room.build_rows && own.required.probe_rows <= own.room.probe_rows;
  }
  all.must_return(has_room ? cudaSuccess : cudaErrorInvalidValue);
  if (has_room) return false;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    joined_rank<K>& own = all[rank];
    for (const array<std::int64_t>* written : {&own.num_out, &own.build_out, &own.probe_out}) {
      must_be_same(and_untouched(std::vector<std::int64_t>(), written->size()), content(*written), "after a refusal");
    }
    own.room = own.required;
  }
  return true;
}

template <class K, join_output Output>
problem join(source& random) {
  const std::size_t count = random_ranks(random);
  const auto s = std::make_shared<const join_shape>(random_join_shape<K>(random, count));
  const auto ranks = std::make_shared<ranks_of_case<joined_rank<K>>>(count, random);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<joined_rank<K>>(s->build_sizes[rank], s->probe_sizes[rank], s->capacity, own);
  });
  const auto call = [s](const rank_view& me, joined_rank<K>& own, void* storage, std::size_t& bytes) {
    join_kinds::join_settings<> options = s->options;
    if (s->has_nulls) {
      options.build_valid = own.build.valid.data();
      options.probe_valid = own.probe.valid.data();
    }
    const strata::DistributedJoinCapacity room{own.room.build_rows, own.room.probe_rows, &own.required};
    const auto join = [&](const auto& output) {
      return join_kinds::call_of(s->kind, strata_test::SmallDistributedHashJoin{}, storage, bytes,
                                 options.build_side(static_cast<const K*>(own.build.keys.data()),
                                                    static_cast<std::int64_t>(own.build.keys.size())),
                                 options.probe_side(static_cast<const K*>(own.probe.keys.data()),
                                                    static_cast<std::int64_t>(own.probe.keys.size())),
                                 output, own.num_out.data(), room, static_cast<const strata::JoinOptions<>&>(options),
                                 me.comm, me.stream);
    };
    std::int64_t* const build_out = own.build_out.data();
    std::int64_t* const probe_out = own.probe_out.data();
    if constexpr (Output == join_output::count) {
      return join(strata::join_count());
    } else if constexpr (Output == join_output::columns) {
      const std::int64_t none = -1;
      return join(strata::join_columns(s->capacity, strata::build_column(own.build.row_numbers.data(), build_out, none),
                                       strata::probe_column(own.probe.row_numbers.data(), probe_out, none)));
    } else {
      return join(strata::join_pairs(has_build_rows(s->kind) ? build_out : nullptr, probe_out, s->capacity));
    }
  };
  return problem_of_ranks(
      std::string(name_of_kind(s->kind)) + " join",
      description_of_ranks((std::string(name_of_kind(s->kind)) + " join").c_str(), name_of<K>(), s->build_sizes) +
          "; " + description_of_ranks("probe rows", name_of<K>(), s->probe_sizes) + ", " + std::to_string(s->keys) +
          " keys" + (s->is_skewed ? ", skewed" : "") +
          (s->has_nulls ? s->options.nulls_equal ? ", nulls are equal" : ", nulls" : "") +
          (s->options.build_unique ? ", unique" : "") + (s->options.key_range.keys > 0 ? ", range" : "") +
          (s->has_little_room ? ", little room" : "") + ", output " + std::to_string(static_cast<int>(Output)) +
          ", capacity " + std::to_string(s->capacity),
      ranks,
      [s](const rank_view& me, joined_rank<K>& own, source& data) {
        const auto first_row = [&](const std::vector<std::size_t>& sizes) {
          return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(me.rank), std::size_t{0});
        };
        own.build.renew(data, *s, s->options.build_unique, first_row(s->build_sizes), me.stream);
        own.probe.renew(data, *s, false, first_row(s->probe_sizes), me.stream);
        own.build_out.forget(me.stream);
        own.probe_out.forget(me.stream);
        own.num_out.forget(me.stream);
        const auto room_of = [&](const std::vector<std::size_t>& sizes) {
          return static_cast<std::int64_t>(s->has_little_room ? data.below(sum_of(sizes) + 1) : sum_of(sizes));
        };
        own.room = {room_of(s->build_sizes), room_of(s->probe_sizes)};
        own.required = {-1, -1};
      },
      call, [s](ranks_of_case<joined_rank<K>>& all) { must_be_joined<K, Output>(all, *s); }, false,
      [](ranks_of_case<joined_rank<K>>& all) { return needs_more_room<K>(all); });
}

const std::vector<maker> makers = {
    reduce_by<affine8, strata::Sum>,
    reduce_by<bytes3, wrapping_sum>,
    reduce_to_extremum<std::int32_t>,
    scan_by<std::uint32_t, wrapping_sum, scan_form::exclusive_sum>,
    scan_by<affine8, strata::Sum, scan_form::inclusive>,
    exchange<bytes3, char, false>,
    exchange<std::uint32_t, std::uint64_t, true>,
    exchange_fixed<bytes64, char, false>,
    exchange_fixed<std::uint32_t, bytes12, true>,
    join<std::int32_t, join_output::pairs>,
    join<std::int32_t, join_output::columns>,
    radix_sort<std::uint8_t, char, false>,
    radix_sort<std::int64_t, std::uint16_t, true, small_policy>,
    radix_sort<event, std::uint32_t, true>,
    merge_sort<std::int32_t, char, false>,
    merge_sort<bytes12, std::uint16_t, true, small_policy>,
#if !defined(STRATA_TEST_FEW_TYPES)
    reduce_by<affine16, compose>,
    reduce_by<std::int32_t, wrapping_sum>,
    scan_by<std::int64_t, wrapping_sum, scan_form::inclusive_sum>,
    scan_by<affine16, compose, scan_form::exclusive>,
    exchange<std::uint32_t, char, false>,
    exchange_fixed<std::uint16_t, char, false>,
    join<std::int32_t, join_output::count>,
    join<float, join_output::pairs>,
    join<bytes12, join_output::pairs>,
    radix_sort<std::uint32_t, char, false>,
    radix_sort<float, char, false, small_policy>,
    merge_sort<float, std::uint32_t, true>,
    merge_sort<std::uint64_t, bytes3, true, small_policy>,
#endif
};

}  // namespace

int main(int count, char** values) {
  const int result = random_test::run_family("distributed", makers, count, values);
  for (const auto& [name, counted] : tallies) {
    std::printf("%s: %llu calls, %llu wrong\n", name.c_str(), static_cast<unsigned long long>(counted.calls),
                static_cast<unsigned long long>(counted.wrong));
  }
  return result;
}
