// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A radix sort of 32-bit signed keys, step by step, to learn from. Each of eight passes sorts by 4 bits, from the
// lowest bits to the highest. Each pass is stable, so keys with equal bits keep the order of the passes before. The
// program shows every step for 32 keys and checks it. Then it compares the time for many keys with std::sort's and
// strata::DeviceRadixSort's.
//
// A pass is three steps:
//   rank     each warp finds which of its lanes have the same digit; a block adds up its warps
//   prefix   an exclusive prefix of the digits' counts: where the keys of each digit begin
//   scatter  each key goes to the beginning of its digit plus its rank
//
// DeviceRadixSort takes 8 bits in a pass, many keys for each thread, and does all of a pass in one kernel.
#include "../../common/device.cuh"
#include "../../common/program.hpp"

#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_scan.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace radix_steps {

using example::check;
using example::device_array;

constexpr int bits = 4;
constexpr int digits = 1 << bits;
constexpr int passes = 32 / bits;
constexpr int block_threads = 256;  // one key each
constexpr int warps = block_threads / 32;
constexpr unsigned all_lanes = 0xffffffff;
static_assert(digits * warps <= block_threads, "a thread for each count of a block");

STRATA_HD constexpr int digit_of(unsigned code, int shift) { return static_cast<int>(code >> shift & (digits - 1)); }

// ---------------------------------------------------------------------------- the steps

/// As unsigned numbers, negative keys are greater than others. With the sign bit flipped, the order of unsigned numbers
/// is the order of the keys. A second call restores the key.
STRATA_KERNEL void flip_sign(const unsigned* in, unsigned* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = in[i] ^ 0x80000000u;
}

/// Computes the rank of each key: how many keys before it in its block have its digit. Also computes the block's count
/// of each digit, at digit * (number of blocks) + block. So the prefix of the counts is in the order of digits, then of
/// blocks.
STRATA_KERNEL void rank_keys(const unsigned* code, int shift, int n, int* rank, int* count, unsigned* shown_peers) {
  using Scan = strata::BlockScan<int, block_threads>;
  STRATA_SHARED(scan_storage, Scan::TempStorage);
  STRATA_SHARED(by_digit_and_warp, int[digits * warps]);
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32, lane = thread % 32;
  const int i = static_cast<int>(blockIdx.x) * block_threads + thread;
  const bool has_key = i < n;
  const bool has_count = thread < digits * warps;

  if (has_count) by_digit_and_warp[thread] = 0;
  __syncthreads();

  // Each lane learns which lanes have its digit. The lanes below it come before it. The first of them counts for all.
  const unsigned lanes = __ballot_sync(all_lanes, has_key);
  int digit = 0, rank_in_warp = 0;
  if (has_key) {
    digit = digit_of(code[i], shift);
    const unsigned peers = __match_any_sync(lanes, digit);
    rank_in_warp = __popc(peers & ((1u << lane) - 1));
    if (rank_in_warp == 0) by_digit_and_warp[digit * warps + warp] = __popc(peers);
    if (shown_peers != nullptr) shown_peers[i] = peers;
  }
  __syncthreads();

  // Computes an exclusive prefix of these counts. Its differences tell how many keys of a digit the warps before have,
  // and how many the block has.
  int before = 0, keys_in_block = 0;
  Scan(scan_storage).ExclusiveSum(has_count ? by_digit_and_warp[thread] : 0, before, keys_in_block);
  if (has_count) by_digit_and_warp[thread] = before;
  __syncthreads();

  if (has_key) rank[i] = by_digit_and_warp[digit * warps + warp] - by_digit_and_warp[digit * warps] + rank_in_warp;
  if (thread < digits) {
    const int end = thread + 1 < digits ? by_digit_and_warp[(thread + 1) * warps] : keys_in_block;
    count[thread * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)] =
        end - by_digit_and_warp[thread * warps];
  }
}

/// Writes each key to the position where the keys of its digit and block begin, plus its rank. So keys with the same
/// digit stay neighbours, in their order.
STRATA_KERNEL void scatter(const unsigned* code, int shift, int n, const int* rank, const int* begin, unsigned* out) {
  const int i = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  if (i >= n) return;
  const int digit = digit_of(code[i], shift);
  out[begin[digit * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x)] + rank[i]] = code[i];
}

// ---------------------------------------------------------------------------- the host's part

/// The results of a pass in the device's memory.
struct sorter {
  int n;
  unsigned blocks;
  device_array<unsigned> code, other_code, peers;
  device_array<int> rank, count, begin;

  /// Peers are stored only if they are shown.
  sorter(int keys, bool keeps_peers)
      : n(keys),
        blocks(static_cast<unsigned>((n + block_threads - 1) / block_threads)),
        code(size()),
        other_code(size()),
        peers(keeps_peers ? size() : 0),
        rank(size()),
        count(counts()),
        begin(counts()) {}

  std::size_t size() const { return static_cast<std::size_t>(n); }
  std::size_t counts() const { return std::size_t{digits} * blocks; }

  template <class... Parameters, class... Arguments>
  void launch(const char* name, void (*kernel)(Parameters...), Arguments... arguments) const {
    check(name, strata::launch({name, dim3(blocks), dim3(unsigned{block_threads})}, kernel, arguments...));
  }

  void flip(const unsigned* in, unsigned* out) const { launch("flip_sign", flip_sign, in, out, n); }

  /// Sorts `code` by one digit into `other_code`.
  void pass(int shift) {
    launch("rank_keys", rank_keys, code.get(), shift, n, rank.get(), count.get(),
           peers.size() != 0 ? peers.get() : nullptr);
    example::run("DeviceScan::ExclusiveSum", [&](void* temp, std::size_t& temp_bytes) {
      return strata::DeviceScan::ExclusiveSum(temp, temp_bytes, count.get(), begin.get(), counts());
    });
    launch("scatter", scatter, code.get(), shift, n, rank.get(), begin.get(), other_code.get());
  }

  void sort(const unsigned* in, unsigned* out) {
    flip(in, code.get());
    for (int pass_index = 0; pass_index < passes; ++pass_index) {
      pass(pass_index * bits);
      std::swap(code, other_code);
    }
    flip(code.get(), out);
  }
};

std::vector<int> random_keys(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> keys(static_cast<std::size_t>(n));
  for (int& key : keys) key = static_cast<int>(random());
  return keys;
}

device_array<unsigned> upload(const std::vector<int>& keys) {
  return device_array<unsigned>(std::vector<unsigned>(keys.begin(), keys.end()));
}

/// Shows one pass over 32 keys, one for each lane of a warp.
void show_pass(const sorter& done, int pass_index) {
  const int shift = pass_index * bits;
  const std::vector<unsigned> code = done.code.download(), sorted = done.other_code.download();
  const std::vector<unsigned> peers = done.peers.download();
  const std::vector<int> rank = done.rank.download(), count = done.count.download(), begin = done.begin.download();
  std::printf("\npass %d: bits %d to %d\n", pass_index, shift, shift + bits - 1);
  std::printf("   i         key      code  digit  peers (lanes)  rank  position    sorted\n");
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto digit = static_cast<std::size_t>(digit_of(code[i], shift));
    std::printf("%4zu %11d  %08x %6zx       %08x %5d %9d  %08x\n", i, static_cast<int>(code[i] ^ 0x80000000u), code[i],
                digit, peers[i], rank[i], begin[digit] + rank[i], sorted[i]);
  }
  std::printf("digit");
  for (unsigned digit = 0; digit < digits; ++digit) std::printf("%4x", digit);
  std::printf("\ncount");
  for (const int keys : count) std::printf("%4d", keys);
  std::printf("\nbegin");
  for (const int position : begin) std::printf("%4d", position);
  std::printf("\n");
}

/// Runs all passes over 32 keys, and compares each one with a stable sort by its digit.
bool show_steps(unsigned seed, int shown_pass) {
  const std::vector<int> keys = random_keys(32, seed);
  const device_array<unsigned> in = upload(keys);
  sorter steps(32, true);
  steps.flip(in.get(), steps.code.get());
  bool is_right = true;
  for (int i = 0; i < passes; ++i) {
    std::vector<unsigned> expected = steps.code.download();
    std::stable_sort(expected.begin(), expected.end(),
                     [&](unsigned a, unsigned b) { return digit_of(a, i * bits) < digit_of(b, i * bits); });
    steps.pass(i * bits);
    is_right = is_right && steps.other_code.download() == expected;
    if (shown_pass < 0 || shown_pass == i) show_pass(steps, i);
    std::swap(steps.code, steps.other_code);
  }
  std::printf("\n32 keys: each pass %s a stable sort by its digit\n", is_right ? "as" : "NOT as");
  return is_right;
}

template <class Call>
double milliseconds(Call call) {
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  const auto start = std::chrono::steady_clock::now();
  call();
  check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The time of the second of two runs, because the first one loads kernels.
bool compare_times(example::program& running, int n, unsigned seed) {
  std::vector<int> keys = random_keys(n, seed);
  const device_array<unsigned> in = upload(keys);
  const device_array<int> signed_in(keys);
  device_array<unsigned> out(in.size());
  device_array<int> library_out(in.size());
  sorter ours(n, false);
  double our_time = 0, library_time = 0;
  for (int i = 0; i < 2; ++i) {
    running.begin("sorting by these steps");
    our_time = milliseconds([&] { ours.sort(in.get(), out.get()); });
    running.begin("sorting by strata::DeviceRadixSort");
    library_time = milliseconds([&] {
      example::run("DeviceRadixSort::SortKeys", [&](void* temp, std::size_t& temp_bytes) {
        return strata::DeviceRadixSort::SortKeys(temp, temp_bytes, signed_in.get(), library_out.get(), in.size());
      });
    });
  }
  running.begin("sorting by std::sort");
  const double host_time = milliseconds([&] { std::sort(keys.begin(), keys.end()); });
  running.hide_progress();

  const std::vector<unsigned> sorted = out.download();
  const bool is_right = std::equal(sorted.begin(), sorted.end(), keys.begin(),
                                   [](unsigned a, int b) { return static_cast<int>(a) == b; }) &&
                        library_out.download() == keys;
  std::printf("\n%d keys: %s by std::sort\n", n, is_right ? "as" : "NOT as");
  std::printf("%-32s %12.3f ms\n%-32s %12.3f ms\n%-32s %12.3f ms\n", "these steps", our_time, "strata::DeviceRadixSort",
              library_time, "std::sort", host_time);
#if STRATA_HOST_SIMT
  std::printf("The first two ran on the host SIMT back end: these are not times of a GPU.\n");
#endif
  return is_right;
}

const char help[] =
    "Usage: radix_steps [OPTION]...\n"
    "Shows how a radix sort works, step by step, for 32 keys, and times it for many keys.\n"
    "\n"
    "      --pass=N  show pass N only, of 0 to 7\n"
    "      --keys=N  time N keys (default: 2^24, on the host SIMT back end 2^16); 0: time nothing\n"
    "      --seed=N  take other keys\n"
    "      --help    print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if something is not sorted.\n";

int run(example::program& running, const std::vector<std::string>& arguments) {
  int shown_pass = -1, n = 1 << (STRATA_HOST_SIMT ? 16 : 24);
  unsigned seed = 1;
  const std::vector<std::string> operands =
      example::parse_options(running, arguments,
                             {example::number_option("pass", shown_pass, 0, passes - 1),
                              example::number_option("keys", n, 0, 1 << 28), example::number_option("seed", seed)});
  example::expect_operands(operands, 0, 0);
  running.say("running on " + example::open_device());
  const bool are_steps_right = show_steps(seed, shown_pass);
  const bool is_sorted = n == 0 || compare_times(running, n, seed);
  example::finish_output();
  return are_steps_right && is_sorted ? 0 : example::exit_check_failed;
}

}  // namespace radix_steps

int main(int argc, char** argv) {
  return example::run_program("radix_steps", radix_steps::help, argc, argv, radix_steps::run);
}
