// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The primitives of distributed/, random cases: on 1, 2, 3, 4 and 8 ranks, each a thread, or on a GPU on one and on
// all. The result is that of sequential code on the items of all ranks, one after the other.
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>

#include "random/random_sorts.cuh"
#include "random/random_test.cuh"

namespace {

using namespace random_test;

// ---------------------------------------------------------------------------- ranks

struct rank_view {
  std::size_t rank;
  std::size_t ranks;
  ncclComm_t comm;
  cudaStream_t stream;
};

/// Threads with a communicator and a stream each. They are made once: that takes longer than most cases.
class team {
 public:
  explicit team(std::size_t ranks) : errors_(ranks) {
#if STRATA_HOST_SIMT
    strata::simt::config().devices = 8;
#endif
    std::vector<ncclComm_t> comms(ranks);
    must_be(ncclCommInitAll(comms.data(), static_cast<int>(ranks), nullptr) == ncclSuccess, "ncclCommInitAll");
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      threads_.emplace_back([this, me = rank_view{rank, ranks, comms[rank], nullptr}]() mutable { serve(me); });
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

  /// Runs `work` on all ranks, one such call after the other.
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
    try {
      must(cudaSetDevice(static_cast<int>(me.rank)), "cudaSetDevice");
      must(cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
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
    static_cast<void>(cudaStreamDestroy(me.stream));
    static_cast<void>(ncclCommDestroy(me.comm));
  }

  std::vector<std::thread> threads_;
  std::vector<std::string> errors_;
  std::mutex turns_, mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(const rank_view&)>* work_ = nullptr;
  std::size_t unfinished_ = 0;
  std::uint64_t number_ = 0;
  bool ends_ = false;
};

team& team_of(std::size_t ranks) {
  static std::mutex mutex;
  static std::map<std::size_t, team> teams;
  const std::lock_guard<std::mutex> lock(mutex);
  return teams.try_emplace(ranks, ranks).first->second;
}

std::size_t random_ranks(source& random) {
  int devices = 1;
  if (is_gpu) must(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (is_gpu) return random.chance(20) ? 1 : static_cast<std::size_t>(devices);
  return random.pick<std::size_t>({1, 2, 2, 3, 4, 4, 8});
}

/// How many items each rank has: alike, by chance, few ranks all of them, or few ranks none.
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

std::size_t most_of_all_ranks(source& random) { return most_items(random, 8000, 1u << 20); }

std::string description_of_ranks(const char* call, const std::string& type, const std::vector<std::size_t>& sizes) {
  std::string text = std::string(call) + " of " + type + " on " + std::to_string(sizes.size()) + " ranks:";
  for (const std::size_t size : sizes) text += " " + std::to_string(size);
  return text;
}

// ---------------------------------------------------------------------------- problems of ranks

/// Calls of one primitive, and how many of them were wrong.
struct counts {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> wrong{0};
};
std::map<std::string, counts> tallies;

counts& tally(const char* name) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return tallies[name];
}

/// What all ranks have. `State` has what one rank has: its arrays.
template <class State>
class ranks_of_case {
 public:
  explicit ranks_of_case(std::size_t ranks) : team_(team_of(ranks)), states_(ranks), statuses_(ranks) {}
  ~ranks_of_case() {
    // Where their device is current.
    try {
      team_.each([this](const rank_view& me) { states_[me.rank].reset(); });
    } catch (const std::exception&) {
    }
  }

  /// `make(rank, source)` returns a pointer to the state.
  template <class Make>
  void make_states(source& random, const Make& make) {
    each(random, [&](const rank_view& me, source& own) { states_[me.rank] = make(me.rank, own); });
  }
  /// `work(rank_view, source)` with a source of random numbers for each rank.
  template <class Work>
  void each(source& random, const Work& work) {
    std::vector<std::uint64_t> seeds;
    for (std::size_t i = 0; i < states_.size(); ++i) seeds.push_back(random());
    team_.each([&](const rank_view& me) {
      source own(seeds[me.rank]);
      work(me, own);
    });
  }
  State& operator[](std::size_t rank) { return *states_[rank]; }
  std::size_t size() const { return states_.size(); }

  /// `call(rank_view, state, storage, bytes)` in all threads, with storage of exactly the size that is asked for.
  template <class Call>
  void call(std::uint64_t seed, const Call& call) {
    source random(seed);
    each(random, [&](const rank_view& me, source& own) {
      State& state = *states_[me.rank];
      std::size_t bytes = 0;
      must(call(me, state, static_cast<void*>(nullptr), bytes), "the size query");
      must_be(bytes > 0, "the size query asks for nothing");
      const guarded storage(bytes, own.below(256));
      std::vector<std::uint64_t> garbage(bytes / 8 + 1);
      for (std::uint64_t& word : garbage) word = own();
      storage.write(garbage.data(), me.stream);
      statuses_[me.rank] = call(me, state, storage.data(), bytes);
      must(cudaStreamSynchronize(me.stream), "the call");
      storage.must_be_intact(me.stream);
    });
  }
  void must_return(cudaError_t status) const {
    for (std::size_t rank = 0; rank < statuses_.size(); ++rank) {
      must_be(statuses_[rank] == status, "rank " + std::to_string(rank) + " returned " +
                                             cudaGetErrorName(statuses_[rank]) + ", not " + cudaGetErrorName(status));
    }
  }

 private:
  team& team_;
  std::vector<std::unique_ptr<State>> states_;
  std::vector<cudaError_t> statuses_;
};

/// A problem of the call `name`. `renew(rank_view, state, source)`; `call` as above; `check(ranks)` is called when all
/// streams are done.
template <class State, class Renew, class Call, class Check>
problem problem_of_ranks(const char* name, std::string what, std::shared_ptr<ranks_of_case<State>> ranks, Renew renew,
                         Call call, Check check) {
  problem made;
  made.what = std::move(what);
  made.can_be_captured = false;
  const auto seed = std::make_shared<std::uint64_t>(0);
  made.renew = [ranks, renew, seed](source& random, cudaStream_t) {
    *seed = random();
    ranks->each(random, [&](const rank_view& me, source& own) { renew(me, (*ranks)[me.rank], own); });
  };
  made.call = [ranks, call, seed, name](void* storage, std::size_t& bytes, cudaStream_t) {
    bytes = 1;  // Each rank has its own storage.
    if (storage == nullptr) return cudaSuccess;
    tally(name).calls += 1;
    try {
      ranks->call(*seed, call);
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

/// The items of all ranks, one after the other.
template <class T, class State, class Items>
std::vector<T> all_of(ranks_of_case<State>& ranks, const Items& items) {
  std::vector<T> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<T>& own = items(ranks[rank]);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// What a rank's array holds now: read in the thread of the rank on a GPU, where its device is current.
template <class T>
std::vector<T> content(const array<T>& of) {
  return of.read(nullptr);
}

/// Rank r's part of a balanced result.
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
  const auto ranks = std::make_shared<ranks_of_case<reduced_rank<T>>>(count);
  ranks->make_states(
      random, [&](std::size_t rank, source& own) { return std::make_unique<reduced_rank<T>>(sizes[rank], 1, own); });
  const T init = item_of<T>(random());
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
      });
}

enum class scan_form { exclusive_sum, inclusive_sum, exclusive, inclusive };

template <class T, class Op, scan_form Form>
problem scan_by(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const bool in_place = random.chance(30);
  const auto ranks = std::make_shared<ranks_of_case<reduced_rank<T>>>(count);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<reduced_rank<T>>(sizes[rank], in_place ? 0 : sizes[rank], own);
  });
  const T init = item_of<T>(random());
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
      });
}

// ---------------------------------------------------------------------------- exchanges and sorts

/// Keys and values of a rank, and room for those that come. Without values, their arrays are empty.
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

/// Holds what ranks have received against what they should have. Where one has too little room, all refuse.
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

/// Which ranks get how much: alike, most the first ones, or one all.
int random_destination(source& random, std::size_t ranks, int how) {
  if (how == 0) return static_cast<int>(random.below(ranks));
  if (how == 1) return static_cast<int>(random.below(random.below(ranks) + 1));
  return static_cast<int>(how == 2 ? ranks - 1 : 0);
}

template <class K, class V, bool HasValues>
problem exchange(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t all_items = sum_of(sizes);
  // Of few cases a rank has no room for all that comes.
  const std::size_t capacity = random.chance(85) ? all_items : random.below(all_items + 1);
  const int how = static_cast<int>(random.below(4));
  const bool is_bad = all_items > 0 && random.chance(5);
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  const auto bad_rank = [sizes] {
    std::size_t rank = 0;
    while (rank + 1 < sizes.size() && sizes[rank] == 0) ++rank;
    return rank;
  }();
  return problem_of_ranks(
      "exchange",
      description_of_ranks("exchange", name_of<K>(), sizes) + ", room for " + std::to_string(capacity) +
          (is_bad ? ", a bad destination" : ""),
      ranks,
      [how, is_bad, bad_rank](const rank_view& me, moved_rank<K, V>& own, source& data) {
        own.renew(data, me.stream);
        own.host_destinations.clear();
        for (std::size_t i = 0; i < own.keys.size(); ++i) {
          own.host_destinations.push_back(random_destination(data, me.ranks, how));
        }
        if (is_bad && me.rank == bad_rank) {
          own.host_destinations[data.below(own.keys.size())] = data.chance(50) ? -1 : static_cast<int>(me.ranks);
        }
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
      [is_bad](ranks_of_case<moved_rank<K, V>>& all) {
        if (is_bad) {
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
            const auto to = static_cast<std::size_t>(own.host_destinations[i]);
            keys[to].push_back(own.host_keys[i]);
            if (HasValues) values[to].push_back(own.host_values[i]);
          }
        }
        must_have_received(all, keys, values);
      });
}

/// The items of all ranks in the order that `order_of(keys)` says, in parts of one size.
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

/// Room for a rank's part of the result, a little more, or too little.
std::size_t random_capacity(source& random, const std::vector<std::size_t>& sizes) {
  const std::size_t needed = (sum_of(sizes) + sizes.size() - 1) / sizes.size();
  if (random.chance(5)) return random.below(needed + 1);
  return needed + (random.chance(50) ? 0 : random.below(100));
}

template <class K, class V, bool HasValues>
problem radix_sort(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t capacity = random_capacity(random, sizes);
  const bool descending = random.chance(40);
  const bit_range bits = random_bit_range<K>(random);
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  return problem_of_ranks(
      "radix sort",
      description_of_ranks("radix sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), sizes) +
          (descending ? ", descending" : "") + ", bits " + std::to_string(bits.begin) + " to " +
          std::to_string(bits.end) + ", room for " + std::to_string(capacity),
      ranks, [](const rank_view& me, moved_rank<K, V>& own, source& data) { own.renew(data, me.stream); },
      [descending, bits](const rank_view& me, moved_rank<K, V>& own, void* storage, std::size_t& bytes) {
        using strata::DistributedRadixSort;
        const K* const keys = own.keys.data();
        const std::size_t size = own.keys.size(), room = own.keys_out.size();
        if constexpr (HasValues) {
          const V* const values = own.values.data();
          const auto sort = [&](const auto&... rest) {
            return descending ? DistributedRadixSort::SortPairsDescending(storage, bytes, rest...)
                              : DistributedRadixSort::SortPairs(storage, bytes, rest...);
          };
          return sort(keys, values, size, own.keys_out.data(), own.values_out.data(), room, &own.num_out, bits.begin,
                      bits.end, me.comm, me.stream);
        } else {
          const auto sort = [&](const auto&... rest) {
            return descending ? DistributedRadixSort::SortKeysDescending(storage, bytes, rest...)
                              : DistributedRadixSort::SortKeys(storage, bytes, rest...);
          };
          return sort(keys, size, own.keys_out.data(), room, &own.num_out, bits.begin, bits.end, me.comm, me.stream);
        }
      },
      [descending, bits](ranks_of_case<moved_rank<K, V>>& all) {
        must_be_sorted(
            all, [&](const std::vector<K>& keys) { return sorted_order(keys.data(), keys.size(), bits, descending); });
      });
}

/// By some bits alone, so that many keys are equal that differ.
template <class K>
struct less_in_part {
  STRATA_HD bool operator()(const K& a, const K& b) const {
    if constexpr (std::is_integral_v<K>) {
      return static_cast<K>(a & K{0x3f}) < static_cast<K>(b & K{0x3f});
    } else if constexpr (is_real<K>) {  // NaN behind all
      return b != b ? a == a : a < b;
    } else {
      return a.word[0] < b.word[0];
    }
  }
};

template <class K, class V, bool HasValues>
problem merge_sort(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> sizes = random_sizes(random, count, most_of_all_ranks(random));
  const std::size_t capacity = random_capacity(random, sizes);
  const auto ranks = std::make_shared<ranks_of_case<moved_rank<K, V>>>(count);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<moved_rank<K, V>>(sizes[rank], capacity, HasValues, own);
  });
  return problem_of_ranks(
      "merge sort",
      description_of_ranks("merge sort", name_of<K>() + (HasValues ? " with " + name_of<V>() : ""), sizes) +
          ", room for " + std::to_string(capacity),
      ranks, [](const rank_view& me, moved_rank<K, V>& own, source& data) { own.renew(data, me.stream); },
      [](const rank_view& me, moved_rank<K, V>& own, void* storage, std::size_t& bytes) {
        const K* const keys = own.keys.data();
        const std::size_t size = own.keys.size(), room = own.keys_out.size();
        if constexpr (HasValues) {
          return strata::DistributedMergeSort::SortPairs(storage, bytes, keys, static_cast<const V*>(own.values.data()),
                                                         size, own.keys_out.data(), own.values_out.data(), room,
                                                         &own.num_out, less_in_part<K>{}, me.comm, me.stream);
        } else {
          return strata::DistributedMergeSort::SortKeys(storage, bytes, keys, size, own.keys_out.data(), room,
                                                        &own.num_out, less_in_part<K>{}, me.comm, me.stream);
        }
      },
      [](ranks_of_case<moved_rank<K, V>>& all) {
        must_be_sorted(all, [](const std::vector<K>& keys) {
          std::vector<std::size_t> order(keys.size());
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(),
                           [&](std::size_t a, std::size_t b) { return less_in_part<K>{}(keys[a], keys[b]); });
          return order;
        });
      });
}


// ---------------------------------------------------------------------------- joins

/// Two sides of a rank, and room for pairs of row numbers.
template <class K>
struct joined_rank {
  joined_rank(std::size_t build_rows, std::size_t probe_rows, std::size_t capacity, source& random)
      : build(build_rows, random),
        probe(probe_rows, random),
        build_out(capacity, random),
        probe_out(capacity, random),
        num_out(1, random) {}
  array<K> build, probe;
  array<std::int64_t> build_out, probe_out, num_out;
  std::vector<K> host_build, host_probe;
};

template <class K>
problem join(source& random) {
  const std::size_t count = random_ranks(random);
  const std::vector<std::size_t> build_sizes = random_sizes(random, count, random.chance(10) ? 2000 : 200);
  const std::vector<std::size_t> probe_sizes = random_sizes(random, count, random.chance(10) ? 4000 : 400);
  const std::size_t build_rows = sum_of(build_sizes), probe_rows = sum_of(probe_sizes);
  const bool is_large = build_rows > 200 || probe_rows > 400;
  // Pairs of a large case are few.
  const std::size_t keys = is_large ? 1 + (build_rows + probe_rows) / 2 : 1 + random.below(400);
  const bool is_skewed = !is_large && random.chance(40);
  const std::size_t capacity = is_large ? 20 * (build_rows + probe_rows) : build_rows * probe_rows;
  const auto ranks = std::make_shared<ranks_of_case<joined_rank<K>>>(count);
  ranks->make_states(random, [&](std::size_t rank, source& own) {
    return std::make_unique<joined_rank<K>>(build_sizes[rank], probe_sizes[rank], capacity, own);
  });
  return problem_of_ranks(
      "join",
      description_of_ranks("inner join", name_of<K>(), build_sizes) + "; " +
          description_of_ranks("probe rows", name_of<K>(), probe_sizes) + (is_skewed ? ", skewed" : ""),
      ranks,
      [keys, is_skewed](const rank_view& me, joined_rank<K>& own, source& data) {
        const auto renew = [&](std::vector<K>& host, const array<K>& to) {
          host.clear();
          for (std::size_t i = 0; i < to.size(); ++i) {
            const std::size_t id = data.below(is_skewed ? data.below(data.below(keys) + 1) + 1 : keys);
            host.push_back(static_cast<K>(id * std::size_t{0x9e3779b1}));
          }
          to.write(host, me.stream);
        };
        renew(own.host_build, own.build);
        renew(own.host_probe, own.probe);
        own.build_out.forget(me.stream);
        own.probe_out.forget(me.stream);
        own.num_out.forget(me.stream);
      },
      [build_rows, probe_rows](const rank_view& me, joined_rank<K>& own, void* storage, std::size_t& bytes) {
        strata::DistributedJoinCapacity room;
        room.build_rows = static_cast<std::int64_t>(build_rows);
        room.probe_rows = static_cast<std::int64_t>(probe_rows);
        return strata::DistributedHashJoin::Inner(
            storage, bytes, strata::join_side(static_cast<const K*>(own.build.data()), own.build.size()),
            strata::join_side(static_cast<const K*>(own.probe.data()), own.probe.size()),
            strata::join_pairs(own.build_out.data(), own.probe_out.data(), own.build_out.size()), own.num_out.data(),
            room, strata::JoinOptions<>{}, me.comm, me.stream);
      },
      [](ranks_of_case<joined_rank<K>>& all) {
        all.must_return(cudaSuccess);
        const std::vector<K> build = all_of<K>(
            all, [](auto& own) -> auto& { return own.host_build; });
        const std::vector<K> probe = all_of<K>(
            all, [](auto& own) -> auto& { return own.host_probe; });
        std::multimap<K, std::int64_t> rows_of_key;
        for (std::size_t b = 0; b < build.size(); ++b) rows_of_key.emplace(build[b], static_cast<std::int64_t>(b));
        using row_pair = std::pair<std::int64_t, std::int64_t>;
        std::vector<row_pair> expected, found;
        for (std::size_t p = 0; p < probe.size(); ++p) {
          const auto partners = rows_of_key.equal_range(probe[p]);
          for (auto b = partners.first; b != partners.second; ++b) {
            expected.emplace_back(b->second, static_cast<std::int64_t>(p));
          }
        }
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
          const std::int64_t size = content(all[rank].num_out).front();
          const std::vector<std::int64_t> found_build = content(all[rank].build_out);
          const std::vector<std::int64_t> found_probe = content(all[rank].probe_out);
          must_be(size >= 0 && static_cast<std::size_t>(size) <= expected.size(), "a rank has too many rows");
          for (std::size_t i = 0; i < found_build.size(); ++i) {
            if (i < static_cast<std::size_t>(size)) {
              found.emplace_back(found_build[i], found_probe[i]);
            } else {
              must_be(found_build[i] == untouched<std::int64_t>() && found_probe[i] == untouched<std::int64_t>(),
                      "a row behind the last was written");
            }
          }
        }
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        must_be(expected == found, std::to_string(expected.size()) + " pairs are expected, " +
                                       std::to_string(found.size()) + " found, or others");
      });
}

const std::vector<maker> makers = {
    reduce_by<affine8, compose>,
    reduce_by<affine16, compose>,
    reduce_by<std::int32_t, wrapping_sum>,
    reduce_by<bytes3, wrapping_sum>,
    scan_by<std::uint32_t, wrapping_sum, scan_form::exclusive_sum>,
    scan_by<std::int64_t, wrapping_sum, scan_form::inclusive_sum>,
    scan_by<affine8, compose, scan_form::inclusive>,
    scan_by<affine16, compose, scan_form::exclusive>,
    exchange<std::uint32_t, char, false>,
    exchange<bytes3, char, false>,
    exchange<std::uint32_t, std::uint64_t, true>,
    join<std::int32_t>,
    join<std::uint64_t>,
    radix_sort<std::uint8_t, char, false>,
    radix_sort<std::uint32_t, char, false>,
    radix_sort<std::int64_t, char, false>,
    radix_sort<float, char, false>,
    radix_sort<std::uint32_t, std::uint32_t, true>,
    radix_sort<double, std::uint16_t, true>,
    merge_sort<std::int32_t, char, false>,
    merge_sort<bytes12, char, false>,
    merge_sort<float, std::uint32_t, true>,
    merge_sort<std::uint64_t, bytes3, true>,
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
