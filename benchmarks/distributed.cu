// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Primitives over the GPUs of this machine: one process, one thread for each GPU. A case has a number of GPUs and a
// number of items on each; `n` counts all items. Rivals:
//
//   one_gpu  one GPU that has all items
//   plain    the sequence of calls that a program without these primitives makes
//   routed   joins only: our join with too little room for all build rows, so that it sends rows by their keys
//
// Our ranks share memory: outputs of exchanges, and temporary storage of sorts and joins. The host's clock times the
// calls, from a common start until the streams of all GPUs are done.

#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/distributed/distributed_exchange.cuh>
#include <strata/distributed/distributed_hash_join.cuh>
#include <strata/distributed/distributed_memory.cuh>
#include <strata/distributed/distributed_merge_sort.cuh>
#include <strata/distributed/distributed_radix_sort.cuh>
#include <strata/distributed/distributed_reduce.cuh>
#include <strata/distributed/distributed_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/join_data.cuh"
#include "harness/power_law.hpp"
#include "harness/ranks.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace distributed_benchmark {

/// A user's comparator, which the library does not recognise as an ascending order of numbers.
struct is_less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

enum class law { uniform, zipf, sorted };

/// Computes each item of all ranks from its number. `law::sorted` items are in order over all ranks, so a sort leaves
/// each where it is.
struct item_law {
  law how;
  std::uint64_t seed;
  std::uint64_t items;

  __host__ __device__ std::uint32_t bits(std::uint64_t i) const {
    if (how == law::sorted) return static_cast<std::uint32_t>((i << 32) / items);
    const std::uint64_t random = bench::random_bits(seed + i);
    if (how == law::uniform) return static_cast<std::uint32_t>(random);
    const std::uint64_t key = bench::power_law_rank(static_cast<double>(random >> 11) * 0x1p-53, 1, 1u << 20);
    return static_cast<std::uint32_t>(bench::random_bits(~seed + key));
  }
  /// Signed items have their sign bit flipped, so that they have the order of the bits.
  template <class T>
  __host__ __device__ T item(std::uint64_t i) const {
    return static_cast<T>(std::is_signed_v<T> ? bits(i) ^ 0x80000000u : bits(i));
  }
  /// The rank that an exchange sends the item to.
  __host__ __device__ int destination(std::uint64_t i, int ranks) const {
    const std::uint64_t part = how == law::sorted ? (i << 32) / items : bits(i);
    return static_cast<int>((part & 0xffffffffu) * static_cast<std::uint64_t>(ranks) >> 32);
  }
};

template <class F>
__global__ void for_each_index(std::uint64_t count, F f) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) f(i);
}

template <class T>
struct make_items {
  T* out;
  item_law items;
  std::uint64_t begin;
  __device__ void operator()(std::uint64_t i) const { out[i] = items.template item<T>(begin + i); }
};

struct make_destinations {
  int* out;
  item_law items;
  std::uint64_t begin;
  int ranks;
  __device__ void operator()(std::uint64_t i) const { out[i] = items.destination(begin + i, ranks); }
};

/// Writes the numbers of the items, which serve as values.
struct make_numbers {
  std::uint32_t* out;
  std::uint64_t begin;
  __device__ void operator()(std::uint64_t i) const { out[i] = static_cast<std::uint32_t>(begin + i); }
};

/// What a check finds in a result: the number of wrong items, and an order-independent sum of hashes of all items.
struct finding {
  unsigned long long wrong;
  unsigned long long sum;
};

template <class Look>
__global__ void look_at(std::uint64_t count, Look look, finding* found) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  finding own{0, 0};
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) look(i, own);
  for (int step = 16; step > 0; step /= 2) {
    own.wrong += __shfl_down_sync(~0u, own.wrong, static_cast<unsigned>(step));
    own.sum += __shfl_down_sync(~0u, own.sum, static_cast<unsigned>(step));
  }
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&found->wrong, own.wrong);
  atomicAdd(&found->sum, own.sum);
}

/// Counts a key as wrong if the next key is lower, if its value is not its own, or (`is_stable`) if the next key is
/// equal and has a lower value.
template <class Key>
struct look_at_sorted {
  const Key* keys;
  const std::uint32_t* values;
  std::uint64_t size;
  item_law items;
  bool is_stable;
  __device__ void operator()(std::uint64_t i, finding& found) const {
    const Key key = keys[i];
    found.sum += bench::random_bits(static_cast<std::uint64_t>(key));
    bool is_wrong = i + 1 < size && keys[i + 1] < key;
    if (values != nullptr) {
      is_wrong |= items.template item<Key>(values[i]) != key;
      is_wrong |= is_stable && i + 1 < size && keys[i + 1] == key && values[i + 1] < values[i];
      found.sum += bench::random_bits(~std::uint64_t{values[i]});
    }
    found.wrong += is_wrong;
  }
};

/// Computes from the input the sum that `look_at_sorted` must find in the result.
template <class Key>
struct look_at_items {
  item_law items;
  std::uint64_t begin;
  bool has_values;
  __device__ void operator()(std::uint64_t i, finding& found) const {
    found.sum += bench::random_bits(static_cast<std::uint64_t>(items.template item<Key>(begin + i)));
    if (has_values) found.sum += bench::random_bits(~static_cast<std::uint64_t>(static_cast<std::uint32_t>(begin + i)));
  }
};

/// Counts the items that go to one rank, and sums their hashes.
struct look_at_destination {
  item_law items;
  std::uint64_t begin;
  int rank, ranks;
  __device__ void operator()(std::uint64_t i, finding& found) const {
    if (items.destination(begin + i, ranks) != rank) return;
    ++found.wrong;  // here the number of items, not of wrong ones
    found.sum += bench::random_bits(items.bits(begin + i));
  }
};

struct look_at_received {
  const std::uint32_t* received;
  __device__ void operator()(std::uint64_t i, finding& found) const { found.sum += bench::random_bits(received[i]); }
};

struct look_at_sum {
  const std::int32_t* in;
  __device__ void operator()(std::uint64_t i, finding& found) const { found.sum += static_cast<std::uint32_t>(in[i]); }
};

/// Checks that each exclusive sum is the previous sum plus the previous item.
struct look_at_scan {
  const std::int32_t* in;
  const std::int32_t* out;
  std::uint64_t size;
  __device__ void operator()(std::uint64_t i, finding& found) const {
    if (i + 1 == size) return;
    const auto item = static_cast<std::uint32_t>(in[i]);
    found.wrong += static_cast<std::uint32_t>(out[i]) + item != static_cast<std::uint32_t>(out[i + 1]);
  }
};

/// Keys of the rows of a join, computed from the row numbers over all ranks. No two rows of a side have the same key.
struct join_keys {
  std::uint64_t rows;
  __device__ std::uint32_t build(std::uint64_t row) const {
    return bench::detail::join_key_of<std::uint32_t>(row, true);
  }
  __device__ std::uint32_t probe(std::uint64_t row) const { return build(bench::detail::permuted(row, rows)); }
};

struct make_join_keys {
  std::uint32_t* build;
  std::uint32_t* probe;
  join_keys keys;
  std::uint64_t begin;
  __device__ void operator()(std::uint64_t i) const {
    build[i] = keys.build(begin + i);
    probe[i] = keys.probe(begin + i);
  }
};

template <class Row>
struct look_at_joined {
  const Row* build;
  const Row* probe;
  join_keys keys;
  __device__ void operator()(std::uint64_t i, finding& found) const {
    const auto b = static_cast<std::uint64_t>(build[i]), p = static_cast<std::uint64_t>(probe[i]);
    found.wrong += b >= keys.rows || p >= keys.rows || keys.build(b) != keys.probe(p);
    found.sum += bench::random_bits(p);
  }
};

/// Computes from the probe rows the sum that `look_at_joined` must find in the result.
struct look_at_rows {
  std::uint64_t begin;
  __device__ void operator()(std::uint64_t i, finding& found) const { found.sum += bench::random_bits(begin + i); }
};

/// Counts the items of each destination by binary search. The items are sorted by their highest bits, which are the
/// destination.
template <class Key>
__global__ void find_counts(const Key* keys, std::int64_t size, int ranks, int shift, std::int64_t* counts) {
  const auto bound = [&](int destination) {
    std::int64_t low = 0, high = size;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const auto bits = static_cast<std::uint32_t>(keys[middle]) ^ (std::is_signed_v<Key> ? 0x80000000u : 0u);
      if (static_cast<int>(std::uint64_t{bits} >> shift) < destination) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const auto rank = static_cast<int>(threadIdx.x);
  if (rank < ranks) counts[rank] = bound(rank + 1) - bound(rank);
}

__global__ void exclusive_prefix(const std::int32_t* sums, int rank, std::int32_t* prefix) {
  std::uint32_t sum = 0;
  for (int i = 0; i < rank; ++i) sum += static_cast<std::uint32_t>(sums[i]);
  *prefix = static_cast<std::int32_t>(sum);
}

}  // namespace distributed_benchmark

namespace {

using bench::device_array;
using bench::environment;
using bench::of_ranks;
using bench::rank_context;
using bench::rank_group;
using bench::timing;
using bench::workload;
using namespace distributed_benchmark;

using group_pointer = std::shared_ptr<rank_group>;
/// The groups of this process by their number of GPUs. A case makes its group at its first use.
using groups = std::map<int, group_pointer>;
using groups_pointer = std::shared_ptr<groups>;

struct shape {
  int gpus;
  std::int64_t each;
  law how;

  std::int64_t total() const { return gpus * each; }
  std::string name() const {
    int log_size = 0;
    while (std::int64_t{2} << log_size <= each) ++log_size;
    const char* const laws[] = {"uniform", "zipf", "sorted"};
    return "gpus=" + std::to_string(gpus) + " each=2^" + std::to_string(log_size) + " " +
           laws[static_cast<std::size_t>(how)];
  }
};

rank_group& group_of(const groups_pointer& all, int gpus) {
  group_pointer& group = (*all)[gpus];
  if (!group) {
    group = std::make_shared<rank_group>(gpus);
    if (gpus > 1) {
      std::cerr << gpus
                << " GPUs, link in each direction, ncclSend and ncclRecv of 512 MiB, GB/s: " << group->link_gb_per_s()
                << std::endl;
    }
  }
  return *group;
}

template <class F>
void launch_for(std::uint64_t count, F f, cudaStream_t stream) {
  if (count == 0) return;
  for_each_index<<<bench::detail::blocks_for(count), 256, 0, stream>>>(count, f);
  bench::check(cudaGetLastError(), "for_each_index");
}

template <class Look>
finding look(std::uint64_t count, Look what, cudaStream_t stream) {
  const device_array<finding> found(1);
  found.fill_bytes(0, stream);
  if (count > 0) look_at<<<bench::detail::blocks_for(count), 256, 0, stream>>>(count, what, found.data());
  bench::check(cudaGetLastError(), "look_at");
  bench::check(cudaStreamSynchronize(stream), "look_at");
  return found.value_at(0);
}

std::uint64_t begin_of(const shape& what, const rank_context& me) {
  return static_cast<std::uint64_t>(me.rank) * static_cast<std::uint64_t>(what.each);
}

/// Items [begin, begin + size): the part of a rank, or all items on the one GPU that has them.
template <class T>
device_array<T> items_of(const item_law& items, std::uint64_t begin, std::int64_t size, cudaStream_t stream) {
  device_array<T> made(static_cast<std::size_t>(size));
  launch_for(made.size(), make_items<T>{made.data(), items, begin}, stream);
  return made;
}
device_array<std::uint32_t> numbers_of(std::uint64_t begin, std::int64_t size, cudaStream_t stream) {
  device_array<std::uint32_t> made(static_cast<std::size_t>(size));
  launch_for(made.size(), make_numbers{made.data(), begin}, stream);
  return made;
}

/// Keys and values of a rank. `values` is empty if a sort has only keys.
template <class Key>
struct rank_items {
  device_array<Key> keys;
  device_array<std::uint32_t> values;
  std::int64_t size = 0;
};

template <class Key>
rank_items<Key> make_rank_items(const item_law& items, std::uint64_t begin, std::int64_t size, bool has_values,
                                cudaStream_t stream) {
  rank_items<Key> made{items_of<Key>(items, begin, size, stream), {}, size};
  if (has_values) made.values = numbers_of(begin, size, stream);
  return made;
}
template <class Key>
rank_items<Key> make_room(std::int64_t size, bool has_values, cudaStream_t stream) {
  rank_items<Key> made{device_array<Key>(static_cast<std::size_t>(size)), {}, 0};
  if (has_values) made.values = device_array<std::uint32_t>(static_cast<std::size_t>(size));
  made.keys.fill_bytes(0xa5, stream);
  if (has_values) made.values.fill_bytes(0xa5, stream);
  return made;
}

/// Memory that the ranks share as long as the workload lives. `bytes(context)` is the size on each rank.
template <class Bytes>
of_ranks<strata::DistributedMemory> share_memory(const group_pointer& group, const Bytes& bytes) {
  using Memories = std::vector<strata::DistributedMemory>;
  const of_ranks<strata::DistributedMemory> made(
      new Memories(static_cast<std::size_t>(group->ranks())), [group](Memories* memories) {
        try {
          group->each([&](const rank_context& me) { static_cast<void>((*memories)[me.index()].Release()); });
        } catch (const std::exception&) {
        }
        delete memories;
      });
  group->each([&](const rank_context& me) {
    bench::check((*made)[me.index()].Allocate(bytes(me), me.comm), "DistributedMemory");
  });
  return made;
}

/// Like ranks_storage_peer(), but for a call of strata whose temporary storage the ranks share.
template <class Call>
bench::peer sharing_peer(const group_pointer& group, const Call& call) {
  const auto memories = share_memory(group, [&](const rank_context& me) {
    std::size_t bytes = 0;
    bench::check(call(me, static_cast<void*>(nullptr), bytes), "strata");
    return bytes;
  });
  return bench::ranks_peer(group, "strata", [=](const rank_context& me) {
    const strata::DistributedMemory& own = (*memories)[me.index()];
    std::size_t bytes = own.size();
    bench::check(call(me, own.data(), bytes), "strata");
  });
}

/// Returns the first text that is not empty.
std::string either(std::string first, std::string second) { return first.empty() ? std::move(second) : first; }

/// A peer that copies as many bytes as each GPU's inputs have, on all GPUs at once.
bench::peer copies(const group_pointer& group, double bytes_each) {
  struct copy {
    device_array<unsigned char> source, target;
  };
  const auto arrays = bench::on_each_rank(*group, [&](const rank_context& me) {
    const auto size = static_cast<std::size_t>(bytes_each);
    copy made{device_array<unsigned char>(size), device_array<unsigned char>(size)};
    made.source.fill_bytes(0x77, me.stream);
    return made;
  });
  bench::peer peer = bench::ranks_peer(group, "copy", [=](const rank_context& me) {
    const copy& own = (*arrays)[me.index()];
    bench::check(
        cudaMemcpyAsync(own.target.data(), own.source.data(), own.source.bytes(), cudaMemcpyDeviceToDevice, me.stream),
        "copy");
  });
  peer.own_bytes = 2 * bytes_each * group->ranks();
  return peer;
}

/// Milliseconds that the link takes for the bytes that a rank receives from others.
double link_ms(rank_group& group, double bytes) { return group.ranks() > 1 ? bytes / group.link_gb_per_s() * 1e-6 : 0; }

/// Bytes of items that a rank receives from others if each rank is an equally likely destination. Sorted items are
/// already where they belong.
double bytes_from_others(const shape& what, double item_bytes) {
  if (what.how == law::sorted) return 0;
  return item_bytes * static_cast<double>(what.each) * (what.gpus - 1) / what.gpus;
}

// ---------------------------------------------------------------------------- sequences of separate calls

/// What `plain` needs for an exchange: it sorts items by destination, sends the counts to the host, and calls ncclSend
/// and ncclRecv. The destination is the highest bits of the key, so the number of ranks must be a power of two.
template <class Key>
struct plain_exchange {
  rank_items<Key> partitioned, received;
  device_array<std::int64_t> counts;   // this rank's count for each destination, then the counts of all ranks
  std::shared_ptr<std::int64_t> host;  // the counts of all ranks, in pinned memory
  device_array<unsigned char> storage;
};

int log2_of(int power_of_two) {
  int log = 0;
  while ((1 << log) < power_of_two) ++log;
  return log;
}
bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

template <class Key>
cudaError_t sort_by_destination(void* storage, std::size_t& bytes, const rank_items<Key>& in,
                                const rank_items<Key>& out, int ranks, cudaStream_t stream) {
  const int bits = log2_of(ranks);
  if (in.values.size() == 0) {
    return strata::DeviceRadixSort::SortKeys(storage, bytes, static_cast<const Key*>(in.keys.data()), out.keys.data(),
                                             in.size, 32 - bits, 32, stream);
  }
  return strata::DeviceRadixSort::SortPairs(storage, bytes, static_cast<const Key*>(in.keys.data()), out.keys.data(),
                                            static_cast<const std::uint32_t*>(in.values.data()), out.values.data(),
                                            in.size, 32 - bits, 32, stream);
}

template <class Key>
plain_exchange<Key> make_plain_exchange(const rank_items<Key>& in, std::int64_t capacity, const rank_context& me) {
  const bool has_values = in.values.size() > 0;
  plain_exchange<Key> made;
  made.partitioned = make_room<Key>(in.size, has_values, me.stream);
  made.received = make_room<Key>(capacity, has_values, me.stream);
  const auto ranks = static_cast<std::size_t>(me.ranks);
  made.counts = device_array<std::int64_t>(ranks + ranks * ranks);
  void* memory = nullptr;
  bench::check(cudaMallocHost(&memory, ranks * ranks * sizeof(std::int64_t)), "cudaMallocHost");
  made.host = {static_cast<std::int64_t*>(memory), [](std::int64_t* p) { static_cast<void>(cudaFreeHost(p)); }};
  std::size_t bytes = 0;
  bench::check(sort_by_destination<Key>(nullptr, bytes, in, made.partitioned, me.ranks, me.stream), "storage");
  made.storage = device_array<unsigned char>(bytes);
  return made;
}

/// Exchanges the items and sets `received.size`. A peer must call it once before its storage is measured, because the
/// number of received items decides how much storage the sort or join after it needs.
template <class Key>
void exchange_plainly(const rank_items<Key>& in, plain_exchange<Key>& own, const rank_context& me) {
  std::size_t bytes = own.storage.bytes();
  bench::check(sort_by_destination(own.storage.data(), bytes, in, own.partitioned, me.ranks, me.stream), "partition");
  std::int64_t* const all_counts = own.counts.data() + me.ranks;
  find_counts<<<1, 32, 0, me.stream>>>(own.partitioned.keys.data(), in.size, me.ranks, 32 - log2_of(me.ranks),
                                       own.counts.data());
  bench::check(cudaGetLastError(), "find_counts");
  const auto ranks = static_cast<std::size_t>(me.ranks);
  bench::check(ncclAllGather(own.counts.data(), all_counts, ranks, ncclInt64, me.comm, me.stream), "ncclAllGather");
  bench::check(cudaMemcpyAsync(own.host.get(), all_counts, ranks * ranks * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                               me.stream),
               "counts");
  bench::check(cudaStreamSynchronize(me.stream), "counts");
  const auto count = [&](int from, int to) { return own.host.get()[from * me.ranks + to]; };
  std::int64_t sent = 0, received = 0;
  bench::check(ncclGroupStart(), "ncclGroupStart");
  const auto transfer = [&](auto* from, auto* to, int peer, std::int64_t out, std::int64_t in_count) {
    const std::size_t size = sizeof(*from);
    bench::check(ncclSend(from + sent, static_cast<std::size_t>(out) * size, ncclChar, peer, me.comm, me.stream),
                 "ncclSend");
    bench::check(ncclRecv(to + received, static_cast<std::size_t>(in_count) * size, ncclChar, peer, me.comm, me.stream),
                 "ncclRecv");
  };
  for (int peer = 0; peer < me.ranks; ++peer) {
    const std::int64_t out = count(me.rank, peer), in_count = count(peer, me.rank);
    if (received + in_count > static_cast<std::int64_t>(own.received.keys.size())) {
      throw bench::cuda_error(cudaErrorInvalidValue, "too many items for this rank");
    }
    transfer(own.partitioned.keys.data(), own.received.keys.data(), peer, out, in_count);
    if (in.values.size() > 0) {
      transfer(own.partitioned.values.data(), own.received.values.data(), peer, out, in_count);
    }
    sent += out;
    received += in_count;
  }
  bench::check(ncclGroupEnd(), "ncclGroupEnd");
  own.received.size = received;
}

/// The greatest number of items that a rank receives.
std::int64_t most_received(rank_group& group, const shape& what, const item_law& items) {
  std::vector<std::int64_t> received(static_cast<std::size_t>(what.gpus));
  group.each([&](const rank_context& me) {
    const look_at_destination what_comes{items, 0, me.rank, me.ranks};
    received[me.index()] =
        static_cast<std::int64_t>(look(static_cast<std::uint64_t>(what.total()), what_comes, me.stream).wrong);
  });
  return *std::max_element(received.begin(), received.end());
}

// ---------------------------------------------------------------------------- sorts

/// A sort on one GPU and on all of them. `merge_sorts` has the same signatures.
template <class Key>
struct radix_sorts {
  static cudaError_t on_one(void* storage, std::size_t& bytes, const rank_items<Key>& in, const rank_items<Key>& out,
                            std::int64_t size, cudaStream_t stream) {
    const Key* const keys = in.keys.data();
    const std::uint32_t* const values = in.values.data();
    if (values == nullptr) {
      return strata::DeviceRadixSort::SortKeys(storage, bytes, keys, out.keys.data(), size, 0, 32, stream);
    }
    return strata::DeviceRadixSort::SortPairs(storage, bytes, keys, out.keys.data(), values, out.values.data(), size, 0,
                                              32, stream);
  }
  static cudaError_t on_all(void* storage, std::size_t& bytes, const rank_items<Key>& in, const rank_items<Key>& out,
                            std::int64_t* num_out, const rank_context& me) {
    const Key* const keys = in.keys.data();
    const std::uint32_t* const values = in.values.data();
    const auto capacity = static_cast<std::int64_t>(out.keys.size());
    if (values == nullptr) {
      return strata::DistributedRadixSort::SortKeys(storage, bytes, keys, in.size, out.keys.data(), capacity, num_out,
                                                    me.comm, me.stream);
    }
    return strata::DistributedRadixSort::SortPairs(storage, bytes, keys, values, in.size, out.keys.data(),
                                                   out.values.data(), capacity, num_out, me.comm, me.stream);
  }
};

template <class Key>
struct merge_sorts {
  static cudaError_t on_one(void* storage, std::size_t& bytes, const rank_items<Key>& in, const rank_items<Key>& out,
                            std::int64_t size, cudaStream_t stream) {
    return strata::DeviceMergeSort::SortKeysCopy(storage, bytes, static_cast<const Key*>(in.keys.data()),
                                                 out.keys.data(), size, is_less{}, stream);
  }
  static cudaError_t on_all(void* storage, std::size_t& bytes, const rank_items<Key>& in, const rank_items<Key>& out,
                            std::int64_t* num_out, const rank_context& me) {
    return strata::DistributedMergeSort::SortKeys(storage, bytes, static_cast<const Key*>(in.keys.data()), in.size,
                                                  out.keys.data(), static_cast<std::int64_t>(out.keys.size()), num_out,
                                                  is_less{}, me.comm, me.stream);
  }
};

/// Returns an empty text if the outputs of all ranks, one after the other, are the sorted items, otherwise what is
/// wrong.
template <class Key>
std::string wrong_in_sorted(rank_group& group, const of_ranks<rank_items<Key>>& outputs, const item_law& items,
                            unsigned long long sum, bool is_balanced, bool is_stable) {
  std::vector<finding> found(outputs->size());
  std::vector<Key> firsts(outputs->size()), lasts(outputs->size());
  group.each([&](const rank_context& me) {
    const rank_items<Key>& own = (*outputs)[me.index()];
    const auto size = static_cast<std::uint64_t>(own.size);
    found[me.index()] =
        look(size, look_at_sorted<Key>{own.keys.data(), own.values.data(), size, items, is_stable}, me.stream);
    if (size == 0) return;
    firsts[me.index()] = own.keys.value_at(0);
    lasts[me.index()] = own.keys.value_at(static_cast<std::size_t>(size - 1));
  });
  unsigned long long all_sum = 0;
  std::uint64_t all_items = 0;
  const Key* last = nullptr;
  for (std::size_t rank = 0; rank < outputs->size(); ++rank) {
    const auto size = static_cast<std::uint64_t>((*outputs)[rank].size);
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (found[rank].wrong > 0) return who + std::to_string(found[rank].wrong) + " items are wrong";
    const std::uint64_t begin = items.items / outputs->size() * rank;
    if (is_balanced && (all_items != begin || size != items.items / outputs->size())) {
      return who + std::to_string(size) + " items";
    }
    all_sum += found[rank].sum;
    all_items += size;
    if (size == 0) continue;
    if (last != nullptr && firsts[rank] < *last) return who + "begins before the rank before it ends";
    last = &lasts[rank];
  }
  if (all_items != items.items) return std::to_string(all_items) + " items";
  return all_sum == sum ? "" : "the sum over all items differs";
}

template <class Sorts, class Key>
workload sort_workload(const environment& env, const group_pointer& group, const shape& what, bool has_values) {
  const item_law items{what.how, bench::random_bits(env.settings.seed), static_cast<std::uint64_t>(what.total())};
  const double item_bytes = sizeof(Key) + (has_values ? sizeof(std::uint32_t) : 0);
  const auto inputs = bench::on_each_rank(*group, [&](const rank_context& me) {
    return make_rank_items<Key>(items, begin_of(what, me), what.each, has_values, me.stream);
  });
  unsigned long long sum = 0;
  {
    std::vector<finding> found(inputs->size());
    group->each([&](const rank_context& me) {
      found[me.index()] = look(static_cast<std::uint64_t>(what.each),
                               look_at_items<Key>{items, begin_of(what, me), has_values}, me.stream);
    });
    for (const finding& any : found) sum += any.sum;
  }
  workload work;
  work.bytes = 2 * item_bytes * static_cast<double>(what.total());
  const double crossing_ms = link_ms(*group, bytes_from_others(what, item_bytes));
  const auto add = [&](bench::peer peer, const of_ranks<rank_items<Key>>& outputs, bool is_balanced, bool is_stable) {
    peer.verify = [=] { return wrong_in_sorted<Key>(*group, outputs, items, sum, is_balanced, is_stable); };
    work.peers.push_back(std::move(peer));
  };

  {
    const auto outputs = bench::on_each_rank(
        *group, [&](const rank_context& me) { return make_room<Key>(what.each, has_values, me.stream); });
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      rank_items<Key>& out = (*outputs)[me.index()];
      return Sorts::on_all(storage, bytes, (*inputs)[me.index()], out, &out.size, me);
    };
    bench::peer peer = sharing_peer(group, call);
    peer.link_ms = crossing_ms;
    add(std::move(peer), outputs, true, true);
  }
  {
    const auto whole = bench::on_each_rank(*group, [&](const rank_context& me) {
      if (me.rank > 0) return rank_items<Key>{};
      return make_rank_items<Key>(items, 0, what.total(), has_values, me.stream);
    });
    const auto outputs = bench::on_each_rank(*group, [&](const rank_context& me) {
      rank_items<Key> made;
      if (me.rank == 0) made = make_room<Key>(what.total(), has_values, me.stream), made.size = what.total();
      return made;
    });
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      return Sorts::on_one(storage, bytes, (*whole)[0], (*outputs)[0], what.total(), me.stream);
    };
    add(bench::ranks_storage_peer(group, "one_gpu", call, 1), outputs, false, true);
  }
  if (what.gpus > 1 && is_power_of_two(what.gpus)) {
    const std::int64_t capacity = most_received(*group, what, items);
    const auto exchanges = bench::on_each_rank(*group, [&](const rank_context& me) {
      auto made = make_plain_exchange<Key>((*inputs)[me.index()], capacity, me);
      exchange_plainly((*inputs)[me.index()], made, me);
      return made;
    });
    const auto outputs = bench::on_each_rank(
        *group, [&](const rank_context& me) { return make_room<Key>(capacity, has_values, me.stream); });
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      plain_exchange<Key>& exchange = (*exchanges)[me.index()];
      rank_items<Key>& out = (*outputs)[me.index()];
      if (storage != nullptr) exchange_plainly((*inputs)[me.index()], exchange, me);
      out.size = exchange.received.size;
      return Sorts::on_one(storage, bytes, exchange.received, out, out.size, me.stream);
    };
    bench::peer peer = bench::ranks_storage_peer(group, "plain", call, what.gpus);
    peer.link_ms = crossing_ms;
    add(std::move(peer), outputs, false, true);
  }
  work.peers.push_back(copies(group, item_bytes * static_cast<double>(what.each)));
  return work;
}

// ---------------------------------------------------------------------------- reductions and scans

/// The items of a rank, and the sum of all ranks' items, which each rank gets.
struct rank_sums {
  device_array<std::int32_t> in, out;
};

workload reduce_workload(const environment& env, const group_pointer& group, const shape& what) {
  const item_law items{what.how, bench::random_bits(env.settings.seed), static_cast<std::uint64_t>(what.total())};
  const auto make = [&](bool is_whole) {
    return bench::on_each_rank(*group, [&](const rank_context& me) {
      const std::int64_t size = !is_whole ? what.each : me.rank == 0 ? what.total() : 0;
      rank_sums made{items_of<std::int32_t>(items, is_whole ? 0 : begin_of(what, me), size, me.stream),
                     device_array<std::int32_t>(1)};
      made.out.fill_bytes(0xa5, me.stream);
      return made;
    });
  };
  const auto ours = make(false), theirs = make(false), whole = make(true);
  std::uint32_t sum = 0;
  {
    std::vector<finding> found(ours->size());
    group->each([&](const rank_context& me) {
      found[me.index()] =
          look(static_cast<std::uint64_t>(what.each), look_at_sum{(*ours)[me.index()].in.data()}, me.stream);
    });
    for (const finding& any : found) sum += static_cast<std::uint32_t>(any.sum);
  }
  workload work;
  work.bytes = sizeof(std::int32_t) * static_cast<double>(what.total());
  const auto add = [&](bench::peer peer, const of_ranks<rank_sums>& sums, int ranks) {
    peer.verify = [=] {
      for (int rank = 0; rank < ranks; ++rank) {
        const std::int32_t found = (*sums)[static_cast<std::size_t>(rank)].out.value_at(0);
        if (static_cast<std::uint32_t>(found) != sum) return "rank " + std::to_string(rank) + " has another sum";
      }
      return std::string();
    };
    work.peers.push_back(std::move(peer));
  };
  const auto memory = share_memory(group, [](const rank_context&) { return std::size_t{0}; });
  const auto on_all = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    static_cast<void>(memory);
    const rank_sums& own = (*ours)[me.index()];
    return strata::DistributedReduce::Sum(storage, bytes, static_cast<const std::int32_t*>(own.in.data()),
                                          own.out.data(), what.each, me.comm, me.stream);
  };
  const auto on_one = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    return strata::DeviceReduce::Sum(storage, bytes, static_cast<const std::int32_t*>((*whole)[0].in.data()),
                                     (*whole)[0].out.data(), what.total(), me.stream);
  };
  const auto plainly = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    const rank_sums& own = (*theirs)[me.index()];
    const cudaError_t error = strata::DeviceReduce::Sum(storage, bytes, static_cast<const std::int32_t*>(own.in.data()),
                                                        own.out.data(), what.each, me.stream);
    if (storage == nullptr || error != cudaSuccess) return error;
    bench::check(ncclAllReduce(own.out.data(), own.out.data(), 1, ncclInt32, ncclSum, me.comm, me.stream),
                 "ncclAllReduce");
    return cudaSuccess;
  };
  add(bench::ranks_storage_peer(group, "strata", on_all, what.gpus), ours, what.gpus);
  add(bench::ranks_storage_peer(group, "one_gpu", on_one, 1), whole, 1);
  if (what.gpus > 1) add(bench::ranks_storage_peer(group, "plain", plainly, what.gpus), theirs, what.gpus);
  work.peers.push_back(copies(group, sizeof(std::int32_t) * static_cast<double>(what.each)));
  return work;
}

struct rank_scan {
  device_array<std::int32_t> in, out;
  device_array<std::int32_t> sums;  // for `plain`: the sums of all ranks, the sum before this rank, this rank's sum
};

std::string wrong_in_scan(rank_group& group, const of_ranks<rank_scan>& scans) {
  std::vector<finding> found(scans->size());
  std::vector<std::uint32_t> firsts(scans->size()), behind(scans->size());
  group.each([&](const rank_context& me) {
    const rank_scan& own = (*scans)[me.index()];
    const std::size_t size = own.in.size();
    if (size == 0) return;
    found[me.index()] = look(size, look_at_scan{own.in.data(), own.out.data(), size}, me.stream);
    firsts[me.index()] = static_cast<std::uint32_t>(own.out.value_at(0));
    behind[me.index()] =
        static_cast<std::uint32_t>(own.out.value_at(size - 1)) + static_cast<std::uint32_t>(own.in.value_at(size - 1));
  });
  for (std::size_t rank = 0; rank < scans->size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (found[rank].wrong > 0) return who + std::to_string(found[rank].wrong) + " sums are wrong";
    if ((*scans)[rank].in.size() == 0) continue;
    if (firsts[rank] != (rank == 0 ? 0 : behind[rank - 1])) return who + "begins with another sum";
  }
  return "";
}

workload scan_workload(const environment& env, const group_pointer& group, const shape& what) {
  const item_law items{what.how, bench::random_bits(env.settings.seed), static_cast<std::uint64_t>(what.total())};
  const auto make = [&](bool is_whole) {
    return bench::on_each_rank(*group, [&](const rank_context& me) {
      const std::int64_t size = !is_whole ? what.each : me.rank == 0 ? what.total() : 0;
      rank_scan made{items_of<std::int32_t>(items, is_whole ? 0 : begin_of(what, me), size, me.stream),
                     device_array<std::int32_t>(static_cast<std::size_t>(size)),
                     device_array<std::int32_t>(static_cast<std::size_t>(me.ranks) + 2)};
      made.out.fill_bytes(0xa5, me.stream);
      return made;
    });
  };
  const auto ours = make(false), theirs = make(false), whole = make(true);
  workload work;
  work.bytes = 2 * sizeof(std::int32_t) * static_cast<double>(what.total());
  const auto add = [&](bench::peer peer, const of_ranks<rank_scan>& scans) {
    peer.verify = [=] { return wrong_in_scan(*group, scans); };
    work.peers.push_back(std::move(peer));
  };
  const auto memory = share_memory(group, [](const rank_context&) { return std::size_t{0}; });
  const auto on_all = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    static_cast<void>(memory);
    const rank_scan& own = (*ours)[me.index()];
    return strata::DistributedScan::ExclusiveSum(storage, bytes, static_cast<const std::int32_t*>(own.in.data()),
                                                 own.out.data(), what.each, me.comm, me.stream);
  };
  const auto on_one = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    return strata::DeviceScan::ExclusiveSum(storage, bytes, static_cast<const std::int32_t*>((*whole)[0].in.data()),
                                            (*whole)[0].out.data(), what.total(), me.stream);
  };
  // `plain` gathers the sums of all ranks on each rank. Each rank's scan begins with the sum of the ranks before it.
  const auto plainly = [=](const rank_context& me, void* storage, std::size_t& bytes) {
    const rank_scan& own = (*theirs)[me.index()];
    const std::int32_t* const in = own.in.data();
    std::int32_t* const prefix = own.sums.data() + me.ranks;
    std::int32_t* const own_sum = prefix + 1;
    const strata::FutureValue<std::int32_t> init(prefix);
    std::size_t reduce_bytes = bytes, scan_bytes = bytes;
    cudaError_t error = strata::DeviceReduce::Sum(storage, reduce_bytes, in, own_sum, what.each, me.stream);
    if (error != cudaSuccess) return error;
    if (storage != nullptr) {
      bench::check(ncclAllGather(own_sum, own.sums.data(), 1, ncclInt32, me.comm, me.stream), "ncclAllGather");
      exclusive_prefix<<<1, 1, 0, me.stream>>>(own.sums.data(), me.rank, prefix);
      bench::check(cudaGetLastError(), "exclusive_prefix");
    }
    error = strata::DeviceScan::ExclusiveScan(storage, scan_bytes, in, own.out.data(), strata::Sum{}, init, what.each,
                                              me.stream);
    bytes = std::max(reduce_bytes, scan_bytes);
    return error;
  };
  add(bench::ranks_storage_peer(group, "strata", on_all, what.gpus), ours);
  add(bench::ranks_storage_peer(group, "one_gpu", on_one, 1), whole);
  if (what.gpus > 1) add(bench::ranks_storage_peer(group, "plain", plainly, what.gpus), theirs);
  work.peers.push_back(copies(group, sizeof(std::int32_t) * static_cast<double>(what.each)));
  return work;
}

// ---------------------------------------------------------------------------- exchange

workload exchange_workload(const environment& env, const group_pointer& group, const shape& what) {
  const item_law items{what.how, bench::random_bits(env.settings.seed), static_cast<std::uint64_t>(what.total())};
  struct arrays {
    rank_items<std::uint32_t> in;
    device_array<int> destinations;
    rank_items<std::uint32_t> out;
  };
  const std::int64_t capacity = most_received(*group, what, items);
  const auto room = static_cast<std::size_t>(capacity);
  const auto memories = share_memory(group, [&](const rank_context&) { return room * sizeof(std::uint32_t); });
  const auto all = bench::on_each_rank(*group, [&](const rank_context& me) {
    const std::uint64_t begin = begin_of(what, me);
    arrays made{make_rank_items<std::uint32_t>(items, begin, what.each, false, me.stream),
                device_array<int>(static_cast<std::size_t>(what.each)),
                {device_array<std::uint32_t>(memories, (*memories)[me.index()].data(), room), {}, 0}};
    made.out.keys.fill_bytes(0xa5, me.stream);
    launch_for(made.destinations.size(), make_destinations{made.destinations.data(), items, begin, me.ranks},
               me.stream);
    return made;
  });
  // What each rank must receive, and which part of it the rank has already.
  std::vector<finding> expected(all->size()), own_part(all->size());
  group->each([&](const rank_context& me) {
    const auto total = static_cast<std::uint64_t>(what.total()), each = static_cast<std::uint64_t>(what.each);
    expected[me.index()] = look(total, look_at_destination{items, 0, me.rank, me.ranks}, me.stream);
    own_part[me.index()] = look(each, look_at_destination{items, begin_of(what, me), me.rank, me.ranks}, me.stream);
  });
  unsigned long long most_from_others = 0;
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    most_from_others = std::max(most_from_others, expected[rank].wrong - own_part[rank].wrong);
  }
  const double crossing_ms = link_ms(*group, sizeof(std::uint32_t) * static_cast<double>(most_from_others));
  const auto verify = [=](auto result_of) {
    return [=] {
      std::string wrong;
      std::vector<finding> found(expected.size());
      group->each([&](const rank_context& me) {
        const rank_items<std::uint32_t>& out = result_of(me.index());
        found[me.index()] = look(static_cast<std::uint64_t>(out.size), look_at_received{out.keys.data()}, me.stream);
      });
      for (std::size_t rank = 0; rank < expected.size(); ++rank) {
        const bool is_right = result_of(rank).size == static_cast<std::int64_t>(expected[rank].wrong) &&
                              found[rank].sum == expected[rank].sum;
        if (!is_right) wrong = either(wrong, "rank " + std::to_string(rank) + " has other items");
      }
      return wrong;
    };
  };
  workload work;
  work.bytes = 3.0 * sizeof(std::uint32_t) * static_cast<double>(what.total());
  {
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      arrays& own = (*all)[me.index()];
      return strata::DistributedExchange::Items(storage, bytes, static_cast<const std::uint32_t*>(own.in.keys.data()),
                                                static_cast<const int*>(own.destinations.data()), what.each,
                                                own.out.keys.data(), capacity, &own.out.size, me.comm, me.stream);
    };
    bench::peer peer = bench::ranks_storage_peer(group, "strata", call, what.gpus);
    peer.link_ms = crossing_ms;
    peer.verify = verify([=](std::size_t rank) -> const rank_items<std::uint32_t>& { return (*all)[rank].out; });
    work.peers.push_back(std::move(peer));
  }
  // The destination is the highest bits of the item. So the rival can sort by these bits.
  if (what.gpus > 1 && is_power_of_two(what.gpus)) {
    const auto exchanges = bench::on_each_rank(*group, [&](const rank_context& me) {
      return make_plain_exchange<std::uint32_t>((*all)[me.index()].in, capacity, me);
    });
    bench::peer peer = bench::ranks_peer(group, "plain", [=](const rank_context& me) {
      exchange_plainly((*all)[me.index()].in, (*exchanges)[me.index()], me);
    });
    peer.link_ms = crossing_ms;
    peer.verify =
        verify([=](std::size_t rank) -> const rank_items<std::uint32_t>& { return (*exchanges)[rank].received; });
    work.peers.push_back(std::move(peer));
  }
  work.peers.push_back(copies(group, sizeof(std::uint32_t) * static_cast<double>(what.each)));
  return work;
}

// ---------------------------------------------------------------------------- join

template <class Row>
struct rank_rows {
  device_array<Row> build, probe;
  device_array<std::int64_t> size;

  std::int64_t capacity() const { return static_cast<std::int64_t>(build.size()); }
};

template <class Row>
rank_rows<Row> make_rank_rows(std::int64_t capacity, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(capacity);
  rank_rows<Row> made{device_array<Row>(size), device_array<Row>(size), device_array<std::int64_t>(1)};
  made.build.fill_bytes(0xa5, stream);
  made.probe.fill_bytes(0xa5, stream);
  made.size.fill_bytes(0, stream);
  return made;
}

template <class Row>
std::string wrong_in_joined(rank_group& group, const of_ranks<rank_rows<Row>>& results, const join_keys& keys,
                            unsigned long long sum) {
  std::vector<finding> found(results->size());
  std::vector<std::int64_t> sizes(results->size());
  group.each([&](const rank_context& me) {
    const rank_rows<Row>& own = (*results)[me.index()];
    const std::int64_t size = sizes[me.index()] = own.size.value_at(0);
    if (size > own.capacity()) return;
    found[me.index()] = look(static_cast<std::uint64_t>(size),
                             look_at_joined<Row>{own.build.data(), own.probe.data(), keys}, me.stream);
  });
  unsigned long long all_sum = 0;
  std::int64_t all_rows = 0;
  for (std::size_t rank = 0; rank < results->size(); ++rank) {
    const std::string who = "rank " + std::to_string(rank) + ": ";
    if (sizes[rank] > (*results)[rank].capacity()) return who + std::to_string(sizes[rank]) + " rows, too many";
    if (found[rank].wrong > 0) return who + std::to_string(found[rank].wrong) + " pairs are wrong";
    all_sum += found[rank].sum;
    all_rows += sizes[rank];
  }
  if (static_cast<std::uint64_t>(all_rows) != keys.rows) return std::to_string(all_rows) + " rows";
  return all_sum == sum ? "" : "other probe rows";
}

/// Each rank has `what.each` build rows and as many probe rows. Each row has one partner, on any rank.
workload join_workload(const environment&, const group_pointer& group, const shape& what) {
  using Keys = rank_items<std::uint32_t>;
  struct sides {
    Keys build, probe;
  };
  const auto rows = static_cast<std::uint64_t>(what.gpus) * static_cast<std::uint64_t>(what.each);
  const join_keys keys{rows};
  const auto make_sides = [&](bool is_whole, bool has_values) {
    return bench::on_each_rank(*group, [&](const rank_context& me) {
      if (is_whole && me.rank > 0) return sides{};
      const std::uint64_t begin = is_whole ? 0 : begin_of(what, me);
      const std::int64_t size = is_whole ? static_cast<std::int64_t>(rows) : what.each;
      sides made{make_room<std::uint32_t>(size, false, me.stream), make_room<std::uint32_t>(size, false, me.stream)};
      launch_for(static_cast<std::uint64_t>(size),
                 make_join_keys{made.build.keys.data(), made.probe.keys.data(), keys, begin}, me.stream);
      made.build.size = made.probe.size = size;
      if (has_values) made.build.values = made.probe.values = numbers_of(begin, size, me.stream);
      return made;
    });
  };
  std::vector<finding> found(static_cast<std::size_t>(what.gpus));
  group->each([&](const rank_context& me) {
    found[me.index()] = look(static_cast<std::uint64_t>(what.each), look_at_rows{begin_of(what, me)}, me.stream);
  });
  unsigned long long sum = 0;
  for (const finding& any : found) sum += any.sum;
  // A hash does not spread the keys exactly evenly over the ranks.
  const std::int64_t capacity = what.gpus == 1 ? what.each : what.each + what.each / 8 + 4096;
  workload work;
  work.bytes = 2.0 * (sizeof(std::uint32_t) + sizeof(std::int64_t)) * static_cast<double>(rows);
  const auto side_of = [](const Keys& of, std::int64_t size) {
    return strata::join_side(static_cast<const std::uint32_t*>(of.keys.data()), size);
  };
  const auto call_on = [=](const sides& own, const rank_rows<std::int64_t>& out, std::int64_t build_capacity,
                           const rank_context& me, void* storage, std::size_t& bytes) {
    const strata::DistributedJoinCapacity room{build_capacity, capacity};
    return strata::DistributedHashJoin::Inner(storage, bytes, side_of(own.build, what.each).unique(),
                                              side_of(own.probe, what.each),
                                              strata::join_pairs(out.build.data(), out.probe.data(), capacity),
                                              out.size.data(), room, strata::JoinOptions<>{}, me.comm, me.stream);
  };
  const auto room_for_all = static_cast<std::int64_t>(rows);
  // All peers share this memory, because a communicator has only one. Room for all build rows needs the most bytes.
  const auto memories = share_memory(group, [&](const rank_context& me) {
    std::size_t bytes = 0;
    bench::check(call_on(sides{}, rank_rows<std::int64_t>{}, room_for_all, me, nullptr, bytes), "strata");
    return bytes;
  });
  const auto add_peer_with_room = [&](const char* name, std::int64_t build_capacity, double bytes_of_others) {
    const auto ours = make_sides(false, false);
    const auto results = bench::on_each_rank(
        *group, [&](const rank_context& me) { return make_rank_rows<std::int64_t>(capacity, me.stream); });
    bench::peer peer = bench::ranks_peer(group, name, [=](const rank_context& me) {
      const strata::DistributedMemory& own = (*memories)[me.index()];
      std::size_t bytes = own.size();
      bench::check(call_on((*ours)[me.index()], (*results)[me.index()], build_capacity, me, own.data(), bytes),
                   "strata");
    });
    peer.link_ms = link_ms(*group, bytes_of_others);
    peer.verify = [=] { return wrong_in_joined<std::int64_t>(*group, results, keys, sum); };
    work.peers.push_back(std::move(peer));
  };
  // The rival sends the keys of both sides and their 4-byte row numbers.
  const double routed_bytes = bytes_from_others(what, 2 * 8);
  // We send the keys of both sides. One more bit for each row is not counted.
  const double routed_keys = bytes_from_others(what, 2 * sizeof(std::uint32_t));
  add_peer_with_room("strata", room_for_all, routed_keys);
  if (what.gpus > 1) add_peer_with_room("routed", capacity, routed_keys);
  {
    const auto whole = make_sides(true, false);
    const auto results = bench::on_each_rank(*group, [&](const rank_context& me) {
      return make_rank_rows<std::uint32_t>(me.rank == 0 ? static_cast<std::int64_t>(rows) : 0, me.stream);
    });
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      const rank_rows<std::uint32_t>& out = (*results)[0];
      const auto size = static_cast<std::int64_t>(rows);
      return strata::DeviceHashJoin::Inner(
          storage, bytes, side_of((*whole)[0].build, size).unique(), side_of((*whole)[0].probe, size),
          strata::join_pairs(out.build.data(), out.probe.data(), size), out.size.data(), {}, me.stream);
    };
    bench::peer peer = bench::ranks_storage_peer(group, "one_gpu", call, 1);
    peer.verify = [=] { return wrong_in_joined<std::uint32_t>(*group, results, keys, sum); };
    work.peers.push_back(std::move(peer));
  }
  // The keys have random high bits. So the rival can send them by their highest bits.
  if (what.gpus > 1 && is_power_of_two(what.gpus)) {
    struct exchanges_of_sides {
      plain_exchange<std::uint32_t> build, probe;
    };
    const auto theirs = make_sides(false, true);
    const auto exchanges = bench::on_each_rank(*group, [&](const rank_context& me) {
      const sides& own = (*theirs)[me.index()];
      exchanges_of_sides made{make_plain_exchange<std::uint32_t>(own.build, capacity, me),
                              make_plain_exchange<std::uint32_t>(own.probe, capacity, me)};
      exchange_plainly(own.build, made.build, me);
      exchange_plainly(own.probe, made.probe, me);
      return made;
    });
    const auto results = bench::on_each_rank(
        *group, [&](const rank_context& me) { return make_rank_rows<std::uint32_t>(capacity, me.stream); });
    const auto call = [=](const rank_context& me, void* storage, std::size_t& bytes) {
      exchanges_of_sides& own = (*exchanges)[me.index()];
      const rank_rows<std::uint32_t>& out = (*results)[me.index()];
      if (storage != nullptr) {
        exchange_plainly((*theirs)[me.index()].build, own.build, me);
        exchange_plainly((*theirs)[me.index()].probe, own.probe, me);
      }
      const auto output = strata::join_columns<std::uint32_t>(
          capacity, strata::build_column(own.build.received.values.data(), out.build.data(), ~0u),
          strata::probe_column(own.probe.received.values.data(), out.probe.data(), ~0u));
      return strata::DeviceHashJoin::Inner(
          storage, bytes, side_of(own.build.received, own.build.received.size).unique(),
          side_of(own.probe.received, own.probe.received.size), output, out.size.data(), {}, me.stream);
    };
    bench::peer peer = bench::ranks_storage_peer(group, "plain", call, what.gpus);
    peer.link_ms = link_ms(*group, routed_bytes);
    peer.verify = [=] { return wrong_in_joined<std::uint32_t>(*group, results, keys, sum); };
    work.peers.push_back(std::move(peer));
  }
  work.peers.push_back(copies(group, 2 * sizeof(std::uint32_t) * static_cast<double>(what.each)));
  return work;
}

// ---------------------------------------------------------------------------- cases

template <class Prepare>
void add_case(bench::suite& suite, const groups_pointer& all, const char* algorithm, const char* type,
              const shape& what, std::vector<std::string> rivals, Prepare prepare, int sides = 1) {
  bench::benchmark_case made{
      algorithm, type, what.name(), sides * what.total(), timing::batched, [=](const environment& env) {
        group_of(all, what.gpus);
        return prepare(env, (*all)[what.gpus], what);
      }};
  made.rivals = std::move(rivals);
  suite.add(std::move(made));
}

void add_cases_of(bench::suite& suite, const groups_pointer& all, int gpus) {
  const bool has_plain = gpus > 1 && is_power_of_two(gpus);
  const std::vector<std::string> one_gpu = {"one_gpu"}, both = {"one_gpu", "plain"}, plain = {"plain"}, none;
  const auto at_sizes = [&](std::initializer_list<int> log_sizes, std::initializer_list<law> laws, const auto& add) {
    for (const int log_size : log_sizes) {
      for (const law how : laws) add(shape{gpus, std::int64_t{1} << log_size, how});
    }
  };
  const std::initializer_list<law> one_law = {law::uniform}, all_laws = {law::uniform, law::zipf, law::sorted};
  const std::initializer_list<int> sizes = {16, 20, 24, 28}, smaller = {16, 20, 24, 27};
  at_sizes(sizes, one_law, [&](const shape& what) {
    add_case(suite, all, "DistributedReduce::Sum", "i32", what, gpus > 1 ? both : one_gpu, reduce_workload);
  });
  at_sizes(sizes, one_law, [&](const shape& what) {
    add_case(suite, all, "DistributedScan::ExclusiveSum", "i32", what, gpus > 1 ? both : one_gpu, scan_workload);
  });
  at_sizes(sizes, all_laws, [&](const shape& what) {
    add_case(suite, all, "DistributedExchange::Items", "u32", what, has_plain ? plain : none, exchange_workload);
  });
  for (const bool has_values : {false, true}) {
    at_sizes(sizes, all_laws, [&](const shape& what) {
      add_case(suite, all, has_values ? "DistributedRadixSort::SortPairs" : "DistributedRadixSort::SortKeys",
               has_values ? "u32:u32" : "u32", what, has_plain ? both : one_gpu,
               [=](const environment& env, const group_pointer& group, const shape& how) {
                 return sort_workload<radix_sorts<std::uint32_t>, std::uint32_t>(env, group, how, has_values);
               });
    });
  }
  at_sizes(smaller, all_laws, [&](const shape& what) {
    add_case(suite, all, "DistributedMergeSort::SortKeys", "i32", what, has_plain ? both : one_gpu,
             [](const environment& env, const group_pointer& group, const shape& how) {
               return sort_workload<merge_sorts<std::int32_t>, std::int32_t>(env, group, how, false);
             });
  });
  at_sizes(smaller, one_law, [&](const shape& what) {
    std::vector<std::string> rivals = has_plain ? both : one_gpu;
    if (gpus > 1) rivals.insert(rivals.begin(), "routed");
    add_case(suite, all, "DistributedHashJoin::Inner", "u32", what, rivals, join_workload, 2);
  });
}

void add_cases(bench::suite& suite) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
  const auto all = std::make_shared<groups>();
  add_cases_of(suite, all, 1);
  if (devices == 1 && !suite.settings().list_only) {
    std::cerr << "This machine has one GPU: only cases of one GPU are measured." << std::endl;
  }
  if (devices >= 2 || suite.settings().list_only) add_cases_of(suite, all, 2);
  if (devices > 2) add_cases_of(suite, all, devices);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("distributed", argc, argv, add_cases, bench::more_columns::link); }
