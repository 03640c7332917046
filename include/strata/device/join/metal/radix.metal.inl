// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
R"MSL(

#ifndef STRATA_INSTANTIATE
#define STRATA_INSTANTIATE(name, ...) \
  template [[host_name(name)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;
#endif

// Finalisers of MurmurHash3. The finaliser of 32 bits is a permutation: if two hashes are equal, so are the keys.
inline uint hash_key(uint k) {
  k ^= k >> 16; k *= 0x85ebca6bu;
  k ^= k >> 13; k *= 0xc2b2ae35u;
  return k ^ (k >> 16);
}
inline uint hash_key(ulong k) {
  k ^= k >> 33; k *= 0xff51afd7ed558ccdul;
  k ^= k >> 33; k *= 0xc4ceb9fe1a85ec53ul;
  return uint(k ^ (k >> 33));
}
inline uint ballot(bool vote) { return uint(ulong(simd_ballot(vote))); }

constant constexpr uint radix_bins = 256;

// ---------------------------------------------------------------- histogram
// Writes counts[tile][digit]. The CPU scans the counts: for each tile and digit, it gets the offset of the first row.
template <typename K>
[[kernel]] void radix_histogram(
    device const K*          keys    [[buffer(0)]],
    device const radix_tile* tiles   [[buffer(1)]],
    device uint*             counts  [[buffer(2)]],
    constant radix_args&     args    [[buffer(3)]],
    threadgroup atomic_uint* bins    [[threadgroup(0)]],
    uint group   [[threadgroup_position_in_grid]],
    uint tid     [[thread_index_in_threadgroup]],
    uint threads [[threads_per_threadgroup]])
{
  for (uint b = tid; b < radix_bins; b += threads)
    atomic_store_explicit(&bins[b], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint end = tiles[group].end;
  for (uint i = tiles[group].begin + tid; i < end; i += threads) {
    const uint d = hash_key(keys[i]) >> args.shift & args.mask;
    atomic_fetch_add_explicit(&bins[d], 1u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint b = tid; b < radix_bins; b += threads)
    counts[group * radix_bins + b] = atomic_load_explicit(&bins[b], memory_order_relaxed);
}

// ---------------------------------------------------------------- scatter
// Moves the rows of a tile to their digits, stably. A simdgroup ranks its rows 32 at a time: lanes with the same digit
// find each other by votes. The tile is first sorted in threadgroup memory, so that neighbouring threads write
// neighbouring rows of a digit. There are as many threads as bins: thread d scans the counters of digit d.
template <typename K, uint Items>
[[kernel]] void radix_scatter(
    device const K*          keys     [[buffer(0)]],
    device const uint*       rows     [[buffer(1)]],
    device const radix_tile* tiles    [[buffer(2)]],
    device const uint*       offsets   [[buffer(3)]],
    device K*                out_keys [[buffer(4)]],
    device uint*             out_rows [[buffer(5)]],
    constant radix_args&     args     [[buffer(6)]],
    threadgroup K*           sorted   [[threadgroup(0)]],
    threadgroup uint*        counters [[threadgroup(1)]],   // [simdgroup][digit]
    threadgroup uint*        moves    [[threadgroup(2)]],   // [digit]: its offset minus its first position in the tile
    threadgroup uint*        sums     [[threadgroup(3)]],   // [simdgroup]: rows of the digits of its threads
    uint group      [[threadgroup_position_in_grid]],
    uint tid        [[thread_index_in_threadgroup]],
    uint threads    [[threads_per_threadgroup]],
    uint lane       [[thread_index_in_simdgroup]],
    uint simd_index  [[simdgroup_index_in_threadgroup]],
    uint simd_count [[simdgroups_per_threadgroup]])
{
  const uint begin = tiles[group].begin, end = tiles[group].end;
  const uint first = begin + simd_index * 32u * Items + lane;
  const uint mine = simd_index * radix_bins;

  for (uint g = 0; g < simd_count; ++g) counters[g * radix_bins + tid] = 0u;
  threadgroup_barrier(mem_flags::mem_threadgroup);

  K key[Items];
  uint rank[Items];
  for (uint i = 0; i < Items && first - lane + i * 32u < end; ++i) {   // the same decision in all lanes
    const uint at = first + i * 32u;
    const bool live = at < end;
    key[i] = live ? keys[at] : K(0);
    const uint d = hash_key(key[i]) >> args.shift & args.mask;
    uint peers = ballot(live);
    for (uint bit = 1u; bit <= args.mask; bit <<= 1) {
      const uint votes = ballot((d & bit) != 0u);
      peers &= (d & bit) != 0u ? votes : ~votes;
    }
    const uint lower = popcount(peers & ((1u << lane) - 1u));
    const uint before = counters[mine + d];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    rank[i] = before + lower;
    if (live && lower == 0u) counters[mine + d] = before + popcount(peers);
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  uint total = 0u;
  for (uint g = 0; g < simd_count; ++g) {
    const uint count = counters[g * radix_bins + tid];
    counters[g * radix_bins + tid] = total;
    total += count;
  }
  const uint lower_digits = simd_prefix_exclusive_sum(total);
  if (lane == 31u) sums[simd_index] = lower_digits + total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint start = 0u;
  if (lane < simd_index) start = sums[lane];
  start = simd_sum(start) + lower_digits;
  moves[tid] = offsets[group * radix_bins + tid] - start;
  for (uint g = 0; g < simd_count; ++g) counters[g * radix_bins + tid] += start;
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = 0; i < Items; ++i) {
    if (first + i * 32u < end) {
      rank[i] += counters[mine + (hash_key(key[i]) >> args.shift & args.mask)];
      sorted[rank[i]] = key[i];
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  uint position[Items];
  for (uint i = 0; i < Items; ++i) {
    const uint p = i * threads + tid;
    if (p < end - begin) {
      const K k = sorted[p];
      position[i] = p + moves[hash_key(k) >> args.shift & args.mask];
      out_keys[position[i]] = k;
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < Items; ++i) {
    const uint at = first + i * 32u;
    if (at < end) sorted[rank[i]] = K(args.has_rows != 0u ? rows[at] : at);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < Items; ++i) {
    const uint p = i * threads + tid;
    if (p < end - begin) out_rows[position[i]] = uint(sorted[p]);
  }
}

STRATA_INSTANTIATE("strata_radix_histogram_u32", radix_histogram<uint>)
STRATA_INSTANTIATE("strata_radix_histogram_u64", radix_histogram<ulong>)
STRATA_INSTANTIATE("strata_radix_scatter_u32", radix_scatter<uint, 16>)
STRATA_INSTANTIATE("strata_radix_scatter_u64", radix_scatter<ulong, 8>)
)MSL"
