// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Measures collectives of blocks, warps and threads, of both libraries, in one kernel that does little else. Each
/// block loads a tile of items into registers. In each round, it changes every item by a multiplication and an
/// addition, and the collective works on the items in place. So a round depends on the result of the round before it,
/// and the items are never in order. If the last items are right, all results were right.
///
/// There are two regimes. In `full device`, the launch has enough blocks to fill the device several times, and the
/// figure is the time of the launch. In `one block`, one block is alone on an idle device, and the figure is the number
/// of cycles of a round.

#include <strata/core/launcher.cuh>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/libraries.cuh"

namespace bench {

// ------------------------------------------------------------------ items

/// A key and a value that moves with it, 16 bytes in all. For compose: the function x -> key * x + value, modulo 2^64.
struct alignas(16) struct16 {
  std::uint64_t key;
  std::uint64_t value;
  friend __host__ __device__ bool operator==(const struct16& a, const struct16& b) {
    return a.key == b.key && a.value == b.value;
  }
};
struct has_lower_key {
  __host__ __device__ bool operator()(const struct16& a, const struct16& b) const { return a.key < b.key; }
};
/// Applies `a`, then `b`, so the order of operands matters.
struct compose {
  __host__ __device__ struct16 operator()(const struct16& a, const struct16& b) const {
    return {a.key * b.key, b.key * a.value + b.value};
  }
};
template <>
struct random_value<struct16> {
  static __device__ struct16 from(std::uint64_t bits) { return {random_bits(bits), bits}; }
};

/// Which values the items of a collective have. Integers have any bit pattern.
enum class item_kind {
  keys,    ///< floating-point numbers between -2 and 2
  numbers  ///< floating-point numbers of so few bits that the sum of a block is exact in any order
};

template <class T>
constexpr const char* type_name() {
  if (std::is_same_v<T, std::int8_t>) return "i8";
  if (std::is_same_v<T, std::uint8_t>) return "u8";
  if (std::is_same_v<T, std::uint16_t>) return "u16";
  if (std::is_same_v<T, std::int32_t>) return "i32";
  if (std::is_same_v<T, std::uint32_t>) return "u32";
  if (std::is_same_v<T, std::uint64_t>) return "u64";
  if (std::is_same_v<T, __half>) return "f16";
  if (std::is_same_v<T, float>) return "f32";
  if (std::is_same_v<T, double>) return "f64";
  if (std::is_same_v<T, struct16>) return "struct16";
  return "other";
}

namespace detail {

template <std::size_t Bytes>
using word_of_bytes = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class To, class From>
__device__ To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(To));
  return to;
}

/// The next number of a sequence. The sequence depends on `item`, so equal items of a thread do not stay equal.
__device__ inline std::uint32_t next_bits(std::uint32_t bits, std::uint32_t item, std::uint32_t salt) {
  return bits * (0x9e3779b1u * (2 * item + 1)) + salt;
}
__device__ inline std::uint64_t next_bits(std::uint64_t bits, std::uint32_t item, std::uint32_t salt) {
  const std::uint32_t low = next_bits(static_cast<std::uint32_t>(bits), item, salt);
  return std::uint64_t{next_bits(static_cast<std::uint32_t>(bits >> 32), item, low)} << 32 | low;
}

/// Converts bits to a floating-point number.
template <item_kind Kind, class Word>
__device__ Word bits_of_float(Word bits) {
  constexpr int width = 8 * sizeof(Word);
  if constexpr (Kind == item_kind::keys) {
    return static_cast<Word>(bits & ~(Word{1} << (width - 2)));  // below 2
  } else if constexpr (width == 16) {
    return static_cast<Word>((bits & 0x8000u) | 0x3c00u);  // -1 or 1
  } else if constexpr (width == 32) {
    return (bits & 0x00700000u) | 0x3f800000u;  // 1 to 1.875
  } else {
    return (bits & 0x000e000000000000u) | 0x3ff0000000000000u;
  }
}

template <item_kind Kind, class T>
__device__ T next_item(const T& item, std::uint32_t index, std::uint32_t salt) {
  if constexpr (std::is_same_v<T, struct16>) {
    return {next_bits(item.key, index, salt) | 1, next_bits(item.value, index, salt)};
  } else {
    using word = word_of_bytes<sizeof(T)>;
    using wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const word next = static_cast<word>(next_bits(static_cast<wide>(bits_as<word>(item)), index, salt));
    if constexpr (is_floating<T>) {
      return bits_as<T>(bits_of_float<Kind>(next));
    } else {
      return static_cast<T>(next);
    }
  }
}

}  // namespace detail

/// Mixes a small result of another type, such as a rank, into the lowest bits of the item, so that the last items show
/// it, too.
template <class T>
__device__ T marked(const T& item, std::uint32_t number) {
  if constexpr (std::is_same_v<T, struct16>) {
    return {item.key, item.value ^ number};
  } else {
    using word = detail::word_of_bytes<sizeof(T)>;
    return detail::bits_as<T>(static_cast<word>(detail::bits_as<word>(item) ^ number));
  }
}

/// Mixes another item of the same type into the item, so that the last items depend on both.
template <class T>
__device__ T mixed(const T& item, const T& other) {
  if constexpr (std::is_same_v<T, struct16>) {
    return {item.key ^ other.key, item.value ^ other.value};
  } else {
    using word = detail::word_of_bytes<sizeof(T)>;
    const word bits = static_cast<word>(detail::bits_as<word>(item) ^ detail::bits_as<word>(other));
    if constexpr (detail::is_floating<T>) {
      return detail::bits_as<T>(detail::bits_of_float<item_kind::keys>(bits));
    } else {
      return detail::bits_as<T>(bits);
    }
  }
}

/// Copies the items for calls that may leave their input in another order, such as CUB's stores by transposition. The
/// next round needs the items as they were.
template <class T, int Items>
__device__ void copy_items(const T (&from)[Items], T (&to)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) to[i] = from[i];
}

// ------------------------------------------------------------------ work

/// The base class of a block collective: its type, its number of items, and how threads wait before the storage is used
/// again. `given` is a number that the compiler does not know.
template <class T, int Threads, int Items, item_kind Kind = item_kind::keys>
struct block_work {
  using type = T;
  static constexpr int threads = Threads;
  /// Threads of the block in the regime `one block`.
  static constexpr int threads_alone = Threads;
  static constexpr int items = Items;
  static constexpr item_kind kind = Kind;
  static constexpr int given = 0;
  /// The launch reads only this many tiles, again and again, so that they stay in the L2 cache.
  static constexpr int tiles = 64;
  /// True if `run` also takes the address of a tile to read, another tile in each round, and the address of a tile to
  /// write.
  static constexpr bool is_transfer = false;
  /// False for a rival whose results differ because it has the items in another order.
  static constexpr bool is_compared = true;
  static constexpr const char* type_text = type_name<T>();
  static __device__ void separate() { __syncthreads(); }
};

/// The base class of collectives that read or write a tile in each round. The tiles do not fit the L1 caches.
template <class T, int Threads, int Items>
struct transfer_work : block_work<T, Threads, Items> {
  static constexpr int tiles = 1024;
  static constexpr bool is_transfer = true;
};

/// The base class of collectives of logical warps of Lanes threads. Blocks have 256 threads; in the regime `one block`,
/// one warp. `Collective` has a TempStorage.
template <class T, int Lanes, int Items, class Collective, item_kind Kind = item_kind::keys>
struct warp_work : block_work<T, 256, Items, Kind> {
  static constexpr int threads_alone = 32;
  using collective = Collective;
  struct storage {
    typename Collective::TempStorage of_warp[256 / Lanes];
  };
  static __device__ int warp() { return static_cast<int>(threadIdx.x) / Lanes; }
  static __device__ int lane() { return static_cast<int>(threadIdx.x) % Lanes; }
  static __device__ Collective in(storage& memory) { return Collective(memory.of_warp[warp()]); }
  static __device__ void separate() { __syncwarp(); }
};

struct no_storage {};

/// The base class of calls of single threads. Blocks have 256 threads; in the regime `one block`, one warp.
template <class T, int Items, item_kind Kind = item_kind::keys>
struct thread_work : block_work<T, 256, Items, Kind> {
  static constexpr int threads_alone = 32;
  using storage = no_storage;
  static __device__ void separate() {}
};

struct repetition {
  int rounds;
  /// Rounds before the clock starts.
  int untimed_rounds;
  int given;
};

template <class Work>
__global__ void __launch_bounds__(Work::threads)
    repeat_kernel(const typename Work::type* in, typename Work::type* out, repetition repeat, long long* clocks) {
  STRATA_SHARED(storage, typename Work::storage);
  typename Work::type items[Work::items];
  constexpr int items_of_tile = Work::threads * Work::items;
  const unsigned tile = blockIdx.x % unsigned{Work::tiles};
  const std::size_t first = std::size_t{tile} * items_of_tile + threadIdx.x;
  STRATA_UNROLL
  for (int i = 0; i < Work::items; ++i) items[i] = in[first + static_cast<std::size_t>(i * Work::threads)];
  auto salt = static_cast<std::uint32_t>(random_bits(threadIdx.x));
  STRATA_UNROLL_N(1)
  for (int round = -repeat.untimed_rounds; round < repeat.rounds; ++round) {
    // Stores the clock instead of keeping it in a register, which the collective would then lack.
    if (round == 0 && threadIdx.x == 0 && clocks != nullptr) clocks[0] = clock64();
    STRATA_UNROLL
    for (int i = 0; i < Work::items; ++i) {
      items[i] = detail::next_item<Work::kind>(items[i], static_cast<std::uint32_t>(i), salt);
    }
    salt = salt * 0x2c1b3c6du + 0x297a2d39u;
    if constexpr (Work::is_transfer) {
      const unsigned next = (tile + static_cast<unsigned>(round)) % unsigned{Work::tiles};
      // A store writes behind the last items of all tiles.
      Work::run(storage, items, repeat.given, in + std::size_t{next} * items_of_tile,
                out + (std::size_t{Work::tiles} + tile) * items_of_tile);
    } else {
      Work::run(storage, items, repeat.given);
    }
    Work::separate();
  }
  if (threadIdx.x == 0 && clocks != nullptr) clocks[1] = clock64();
  STRATA_UNROLL
  for (int i = 0; i < Work::items; ++i) out[first + static_cast<std::size_t>(i * Work::threads)] = items[i];
}

// ------------------------------------------------------------------ cases

/// Threads of a launch that fills the device: 16 blocks of 1,024 on each of 132 multiprocessors.
inline constexpr int threads_of_launch = 132 * 16 * 1024;
inline constexpr repetition alone = {32, 4, 0};

inline kernel_use use_of_kernel(const void* kernel, int threads) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  kernel_use use;
  use.registers = attributes.numRegs;
  use.shared_bytes = static_cast<int>(attributes.sharedSizeBytes);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&use.blocks_per_multiprocessor, kernel, threads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return use;
}

template <class Work>
kernel_use use_of() {
  return use_of_kernel(reinterpret_cast<const void*>(repeat_kernel<Work>), Work::threads);
}

template <class Work>
peer full_device_peer(const char* lib, const device_array<typename Work::type>& in,
                      const device_array<typename Work::type>& out, int rounds) {
  peer made{lib, [=](cudaStream_t stream) {
              const strata::launch_configuration full{lib, dim3(threads_of_launch / Work::threads), dim3(Work::threads),
                                                      0, stream};
              return strata::launch(full, repeat_kernel<Work>, in.data(), out.data(),
                                    repetition{rounds, 0, Work::given}, nullptr);
            }};
  made.use = use_of<Work>();
  return made;
}

template <class Work>
peer one_block_peer(const char* lib, const device_array<typename Work::type>& in,
                    const device_array<typename Work::type>& out, cudaStream_t stream) {
  const device_array<long long> clocks(2);
  repetition repeat = alone;
  repeat.given = Work::given;
  const auto call = [=](cudaStream_t on) {
    return strata::launch({lib, dim3(1), dim3(Work::threads_alone), 0, on}, repeat_kernel<Work>, in.data(), out.data(),
                          repeat, clocks.data());
  };
  peer made{lib, call};
  made.cycles_per_ms = device_attribute(cudaDevAttrClockRate);
  made.timed_call = [=] {
    check(call(stream), lib);
    check(cudaStreamSynchronize(stream), lib);
    const auto cycles = static_cast<double>(clocks.value_at(1) - clocks.value_at(0)) / alone.rounds;
    return cycles / static_cast<double>(device_attribute(cudaDevAttrClockRate));
  };
  made.use = use_of<Work>();
  return made;
}

/// Measures a collective of strata and CUB's in both regimes. `Others` are other algorithms of strata's for the same
/// results, which become further rivals, each with the name `lib`.
template <class Strata, class Cub, class... Others>
void add_work(suite& all, const std::string& shape, int rounds) {
  using T = typename Strata::type;
  static_assert(std::is_same_v<T, typename Cub::type> && Strata::threads == Cub::threads &&
                Strata::items == Cub::items);
  const auto add = [&](bool is_alone) {
    const auto prepare = [is_alone, rounds](const environment& env) {
      const std::int64_t size = std::int64_t{Strata::tiles} * Strata::threads * Strata::items;
      const auto in = random_array<T>(size, env.settings.seed, env.stream);
      const std::size_t results = in.size() * (Strata::is_transfer ? 2 : 1);
      workload work;
      std::vector<device_array<T>> found;
      const cudaStream_t stream = env.stream;
      const auto add_peer = [&](const char* lib, auto of_work) {
        using peer_work = std::decay_t<decltype(of_work)>;
        const device_array<T> out(results);
        out.fill_bytes(0, stream);
        if (peer_work::is_compared) found.push_back(out);
        work.peers.push_back(is_alone ? one_block_peer<peer_work>(lib, in, out, stream)
                                      : full_device_peer<peer_work>(lib, in, out, rounds));
      };
      add_peer("strata", Strata{});
      add_peer("cub", Cub{});
      (add_peer(Others::lib, Others{}), ...);
      work.bytes = (is_alone ? Strata::threads_alone : double{threads_of_launch} * rounds) * Strata::items * sizeof(T);
      work.verify = [=] {
        for (const device_array<T>& other : found) {
          const std::string text = difference(found[0], other, {}, stream);
          if (!text.empty()) return text;
        }
        return std::string();
      };
      return work;
    };
    const std::int64_t n = std::int64_t{Strata::threads} * Strata::items;
    benchmark_case what{
        Strata::algorithm, Strata::type_text, shape + (is_alone ? " one block" : ""), n, timing::batched, prepare};
    what.items = is_alone ? Strata::threads_alone * Strata::items : double{threads_of_launch} * Strata::items * rounds;
    what.beside_copy = false;
    (what.rivals.emplace_back(Others::lib), ...);
    all.add(std::move(what));
  };
  add(false);
  if (all.settings().latency && !all.settings().cold) add(true);
}

/// Adds a collective of Threads threads (of a block or a logical warp) with Items items each. Choose `rounds` so that a
/// launch takes a few 100 us.
template <template <class, class, int, int> class Work, class T, int Threads, int Items, class... Others>
void add_collective(suite& all, int rounds) {
  add_work<Work<on_strata, T, Threads, Items>, Work<on_cub, T, Threads, Items>, Others...>(
      all, std::to_string(Threads) + "x" + std::to_string(Items), rounds);
}

}  // namespace bench
