// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all calls of BlockExchange, and BlockShuffle, with CUB's.

#include <cstdint>

#include "harness/collectives.cuh"

// Not an anonymous namespace: a kernel instantiated with a type without linkage would have no linkage either.
namespace block_exchange_benchmark {

using bench::block_work;
using bench::struct16;

template <class Library, class T, int Threads, int Items>
struct exchange_work : block_work<T, Threads, Items> {
  using exchange = typename Library::template BlockExchange<T, Threads, Items>;
  using storage = typename exchange::TempStorage;
};

#define BENCH_EXCHANGE(work, name)                                                       \
  template <class Library, class T, int Threads, int Items>                              \
  struct work : exchange_work<Library, T, Threads, Items> {                              \
    static constexpr const char* algorithm = "BlockExchange::" #name;                    \
    using base = exchange_work<Library, T, Threads, Items>;                              \
    static __device__ void run(typename base::storage& memory, T (&items)[Items], int) { \
      typename base::exchange(memory).name(items, items);                                \
    }                                                                                    \
  }
BENCH_EXCHANGE(striped_to_blocked, StripedToBlocked);
BENCH_EXCHANGE(blocked_to_striped, BlockedToStriped);
BENCH_EXCHANGE(warp_striped_to_blocked, WarpStripedToBlocked);
BENCH_EXCHANGE(blocked_to_warp_striped, BlockedToWarpStriped);
#undef BENCH_EXCHANGE

/// A pseudo-random permutation of `Places` places, a power of two. The lanes of a warp hit random banks.
template <int Places>
__device__ int scattered(int place) {
  static_assert((Places & (Places - 1)) == 0);
  auto bits = static_cast<unsigned>(place) * 0x2c1b3c6du % Places;
  bits ^= bits >> 5;
  bits = bits * 0x297a2d39u % Places;
  return static_cast<int>(bits ^ bits >> 4);
}

#define BENCH_SCATTER(work, name)                                                              \
  template <class Library, class T, int Threads, int Items>                                    \
  struct work : exchange_work<Library, T, Threads, Items> {                                    \
    static constexpr const char* algorithm = "BlockExchange::" #name;                          \
    static constexpr int given = 1;                                                            \
    using base = exchange_work<Library, T, Threads, Items>;                                    \
    static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) { \
      int ranks[Items];                                                                        \
      STRATA_UNROLL                                                                            \
      for (int i = 0; i < Items; ++i) {                                                        \
        const int place = static_cast<int>(threadIdx.x) * Items + i;                           \
        ranks[i] = scattered<Threads * Items>(place * given);                                  \
      }                                                                                        \
      typename base::exchange(memory).name(items, ranks);                                      \
    }                                                                                          \
  }
BENCH_SCATTER(scatter_to_blocked, ScatterToBlocked);
BENCH_SCATTER(scatter_to_striped, ScatterToStriped);
#undef BENCH_SCATTER

/// Scatters three of four items. The result is a second array, because CUB 3.0.1 does not compile the in-place overload
/// with flags.
template <class Library, class T, int Threads, int Items, bool HasFlags>
struct scatter_some : exchange_work<Library, T, Threads, Items> {
  static constexpr int given = 1;
  using base = exchange_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    constexpr int valid = Threads * Items / 4 * 3;
    int ranks[Items];
    bool is_valid[Items];
    T results[Items];
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const int rank = scattered<Threads * Items>((static_cast<int>(threadIdx.x) * Items + i) * given);
      is_valid[i] = rank < valid;
      ranks[i] = is_valid[i] ? rank : -1;
    }
    if constexpr (HasFlags) {
      typename base::exchange(memory).ScatterToStripedFlagged(items, results, ranks, is_valid);
    } else {
      typename base::exchange(memory).ScatterToStripedGuarded(items, results, ranks);
    }
    // The result is unspecified at the other places.
    STRATA_UNROLL
    for (int i = 0; i < Items / 4 * 3; ++i) items[i] = results[i];
  }
};
template <class Library, class T, int Threads, int Items>
struct scatter_guarded : scatter_some<Library, T, Threads, Items, false> {
  static constexpr const char* algorithm = "BlockExchange::ScatterToStripedGuarded";
};
template <class Library, class T, int Threads, int Items>
struct scatter_flagged : scatter_some<Library, T, Threads, Items, true> {
  static constexpr const char* algorithm = "BlockExchange::ScatterToStripedFlagged";
};

// ------------------------------------------------------------------ shuffles

template <class Library, class T, int Threads, int Items>
struct shuffle_work : block_work<T, Threads, Items> {
  using shuffle = typename Library::template BlockShuffle<T, Threads>;
  using storage = typename shuffle::TempStorage;
};

template <class Library, class T, int Threads, int Items>
struct shuffle_offset : shuffle_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockShuffle::Offset";
  static constexpr int given = 33;
  using base = shuffle_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    T other = items[0];
    typename base::shuffle(memory).Offset(items[0], other, given);
    if (static_cast<int>(threadIdx.x) + given < Threads) items[0] = other;
  }
};

template <class Library, class T, int Threads, int Items>
struct shuffle_rotate : shuffle_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockShuffle::Rotate";
  static constexpr int given = 33;
  using base = shuffle_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int given) {
    typename base::shuffle(memory).Rotate(items[0], items[0], static_cast<unsigned>(given));
  }
};

template <class Library, class T, int Threads, int Items>
struct shuffle_up : shuffle_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockShuffle::Up";
  using base = shuffle_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    T others[Items];
    typename base::shuffle(memory).Up(items, others);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if (i > 0 || threadIdx.x > 0) items[i] = others[i];
    }
  }
};

template <class Library, class T, int Threads, int Items>
struct shuffle_down : shuffle_work<Library, T, Threads, Items> {
  static constexpr const char* algorithm = "BlockShuffle::Down";
  using base = shuffle_work<Library, T, Threads, Items>;
  static __device__ void run(typename base::storage& memory, T (&items)[Items], int) {
    T others[Items];
    typename base::shuffle(memory).Down(items, others);
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      if (i + 1 < Items || threadIdx.x + 1 < Threads) items[i] = others[i];
    }
  }
};

void add_cases(bench::suite& all) {
  using bench::add_collective;
  add_collective<striped_to_blocked, std::int32_t, 256, 8>(all, 16);
  add_collective<striped_to_blocked, std::int32_t, 128, 15>(all, 8);
  add_collective<striped_to_blocked, std::int8_t, 256, 16>(all, 8);
  add_collective<striped_to_blocked, double, 256, 8>(all, 8);
  add_collective<striped_to_blocked, struct16, 128, 4>(all, 8);
  add_collective<blocked_to_striped, std::int32_t, 256, 8>(all, 16);
  add_collective<blocked_to_striped, __half, 512, 8>(all, 16);
  add_collective<blocked_to_striped, std::uint64_t, 64, 23>(all, 4);
  add_collective<blocked_to_striped, std::int32_t, 1024, 4>(all, 16);
  add_collective<warp_striped_to_blocked, std::int32_t, 256, 8>(all, 16);
  add_collective<blocked_to_warp_striped, float, 256, 8>(all, 16);
  add_collective<scatter_to_blocked, std::int32_t, 256, 8>(all, 8);
  add_collective<scatter_to_striped, std::int32_t, 256, 8>(all, 8);
  add_collective<scatter_guarded, std::int32_t, 256, 8>(all, 8);
  add_collective<scatter_flagged, std::int32_t, 256, 8>(all, 8);
  add_collective<shuffle_offset, std::int32_t, 256, 1>(all, 32);
  add_collective<shuffle_rotate, float, 256, 1>(all, 32);
  add_collective<shuffle_up, std::int32_t, 256, 8>(all, 24);
  add_collective<shuffle_down, double, 128, 4>(all, 24);
}

}  // namespace block_exchange_benchmark

int main(int argc, char** argv) {
  return bench::run("block_exchange", argc, argv, block_exchange_benchmark::add_cases, bench::more_columns::kernel);
}
