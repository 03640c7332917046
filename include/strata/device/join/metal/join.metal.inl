// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
R"MSL(

// True if two keys with equal hashes are equal, so that the keys need not be compared.
template <typename K>
inline bool hash_is_key() { return sizeof(K) == sizeof(uint); }

// ---------------------------------------------------------------- output
// A simdgroup stages matches in a circular buffer of 64 rows. It writes 32 of them at a time to neighbouring
// positions, which one atomic addition reserves. `count` is the number of matches of this dispatch, less than 2^32.
// `total` is the number of matches of all earlier dispatches. It has 64 bits, and only advance_total writes it, in a
// dispatch of its own.
constant constexpr uint staged_rows = 64;

inline ulong claim(device atomic_uint* count, device const ulong* total, uint lane, uint items) {
  uint first = 0u;
  if (lane == 0u) first = atomic_fetch_add_explicit(count, items, memory_order_relaxed);
  return total[0] + simd_broadcast_first(first);
}

template <typename Total>
[[kernel]] void advance_total(
    device uint*  count [[buffer(0)]],
    device Total* total [[buffer(1)]],
    uint thread_id [[thread_position_in_grid]])
{
  if (thread_id == 0u) {
    total[0] += count[0];
    count[0] = 0u;
  }
}
STRATA_INSTANTIATE("strata_advance_total", advance_total<ulong>)

// ---------------------------------------------------------------- partitioned join
// The build rows of a task become a table in threadgroup memory: hashes grouped by bucket, each with the number of its
// row in the task. A bucket is a range of the table. A word of `bounds` holds the bounds of two buckets, of 16 bits
// each. So a lookup follows no chain, and a row takes 6 bytes. Each simdgroup then reads blocks of 32 probe rows.
// Blocks begin at multiples of 32, so that a block has one word of `found`.
template <typename K, typename Row>
[[kernel]] void partition_join(
    device const K*          build_keys [[buffer(0)]],
    device const uint*       build_rows [[buffer(1)]],
    device const K*          probe_keys [[buffer(2)]],
    device const uint*       probe_rows [[buffer(3)]],
    device const join_task*  tasks      [[buffer(4)]],
    device Row*              build_out  [[buffer(5)]],
    device Row*              probe_out  [[buffer(6)]],
    device atomic_uint*      count      [[buffer(7)]],
    device const ulong*      total      [[buffer(8)]],
    device atomic_uint*      found      [[buffer(9)]],
    constant join_args&      args       [[buffer(10)]],
    threadgroup atomic_uint* bounds     [[threadgroup(0)]],
    threadgroup uint*        hashes     [[threadgroup(1)]],
    threadgroup ushort*      numbers    [[threadgroup(2)]],
    threadgroup uint*        staged     [[threadgroup(3)]],   // [simdgroup][staged_rows]
    threadgroup uint*        sums       [[threadgroup(4)]],
    uint group     [[threadgroup_position_in_grid]],
    uint tid       [[thread_index_in_threadgroup]],
    uint threads   [[threads_per_threadgroup]],
    uint lane      [[thread_index_in_simdgroup]],
    uint simd_index [[simdgroup_index_in_threadgroup]])
{
  const uint build_begin = tasks[group].build_begin;
  const uint build_count = tasks[group].build_end - build_begin;
  const uint last_bucket = 2u * threads - 1u;   // a mask, because the number of threads is a power of two

  atomic_store_explicit(&bounds[tid], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = tid; e < build_count; e += threads) {
    const uint b = hash_key(build_keys[build_begin + e]) & last_bucket;
    atomic_fetch_add_explicit(&bounds[b >> 1], 1u << (b & 1u) * 16u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint counts = atomic_load_explicit(&bounds[tid], memory_order_relaxed);
  const uint both = (counts & 0xffffu) + (counts >> 16);
  const uint before = simd_prefix_exclusive_sum(both);
  if (lane == 31u) sums[simd_index] = before + both;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint start = 0u;
  if (lane < simd_index) start = sums[lane];
  start = simd_sum(start) + before;
  atomic_store_explicit(&bounds[tid], start | (start + (counts & 0xffffu)) << 16, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  // Each inserted row advances the bound of its bucket. So the bound moves from the begin of the bucket to its end.
  for (uint e = tid; e < build_count; e += threads) {
    const uint h = hash_key(build_keys[build_begin + e]);
    const uint b = h & last_bucket, in_word = (b & 1u) * 16u;
    const uint old = atomic_fetch_add_explicit(&bounds[b >> 1], 1u << in_word, memory_order_relaxed);
    const uint p = old >> in_word & 0xffffu;
    hashes[p] = h;
    numbers[p] = ushort(e);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint probe_begin = tasks[group].probe_begin, probe_end = tasks[group].probe_end;
  const uint first_block = probe_begin & ~31u;
  const uint mine = simd_index * staged_rows;
  uint head = 0u, waiting = 0u;   // state of the simdgroup's circular buffer: the same in all lanes
  for (uint block = first_block + simd_index * 32u; block < probe_end; block += threads) {
    const uint s = block + lane;
    const bool live = s >= probe_begin && s < probe_end;
    const K key = live ? probe_keys[s] : K(0);
    const uint h = hash_key(key), b = h & last_bucket;
    uint at = 0u, end = 0u;
    if (live) {
      end = atomic_load_explicit(&bounds[b >> 1], memory_order_relaxed) >> (b & 1u) * 16u & 0xffffu;
      if (b != 0u) {
        const uint a = b - 1u;
        at = atomic_load_explicit(&bounds[a >> 1], memory_order_relaxed) >> (a & 1u) * 16u & 0xffffu;
      }
    }
    bool matched = false;
    while (true) {
      while (at < end && !(hashes[at] == h &&
                           (hash_is_key<K>() || build_keys[build_begin + numbers[at]] == key))) ++at;
      const bool hit = at < end;
      const uint hits = simd_sum(hit ? 1u : 0u);
      if (hits == 0u) break;                              // the same decision in all lanes
      matched = matched || hit;
      if (args.emit == 0u) break;
      const uint lower = simd_prefix_exclusive_sum(hit ? 1u : 0u);
      if (hit) {
        staged[mine + ((head + waiting + lower) & (staged_rows - 1u))] = uint(numbers[at]) << 16 | (s - first_block);
        ++at;
      }
      waiting += hits;
      simdgroup_barrier(mem_flags::mem_threadgroup);
      if (waiting >= 32u) {
        const uint match = staged[mine + head + lane];
        const ulong position = claim(count, total, lane, 32u) + lane;
        if (position < args.capacity) {
          build_out[position] = Row(build_rows[build_begin + (match >> 16)]);
          probe_out[position] = Row(probe_rows[first_block + (match & 0xffffu)]);
        }
        head ^= 32u;
        waiting -= 32u;
        simdgroup_barrier(mem_flags::mem_threadgroup);
      }
    }
    if (args.mark != 0u) {
      const uint bits = ballot(matched);
      if (lane == 0u && bits != 0u) atomic_fetch_or_explicit(&found[block >> 5], bits, memory_order_relaxed);
    }
  }
  if (waiting != 0u) {
    const ulong position = claim(count, total, lane, waiting) + lane;
    if (lane < waiting && position < args.capacity) {
      const uint match = staged[mine + head + lane];
      build_out[position] = Row(build_rows[build_begin + (match >> 16)]);
      probe_out[position] = Row(probe_rows[first_block + (match & 0xffffu)]);
    }
  }
}

// ---------------------------------------------------------------- join without partitions
// The table lies in device memory, and its buckets are ranges of `slots`. Three dispatches follow each other:
// table_count counts the rows of each bucket, from which the CPU computes where buckets begin. table_fill inserts the
// rows and advances each begin to the end of its bucket. table_join looks up the probe rows.
template <typename K>
[[kernel]] void table_count(
    device const K*      keys   [[buffer(0)]],
    device atomic_uint*  counts [[buffer(1)]],
    constant join_args&  args   [[buffer(2)]],
    uint row [[thread_position_in_grid]])
{
  if (row < args.rows)
    atomic_fetch_add_explicit(&counts[hash_key(keys[row]) & args.table_mask], 1u, memory_order_relaxed);
}

template <typename K>
[[kernel]] void table_fill(
    device const K*      keys   [[buffer(0)]],
    device atomic_uint*  bounds [[buffer(1)]],
    device uint*         slots  [[buffer(2)]],
    constant join_args&  args   [[buffer(3)]],
    uint row [[thread_position_in_grid]])
{
  if (row < args.rows) {
    const uint b = hash_key(keys[row]) & args.table_mask;
    slots[atomic_fetch_add_explicit(&bounds[b], 1u, memory_order_relaxed)] = row;
  }
}

// A task compares probe rows with only a slice of each bucket, so that a frequent key is shared by several
// threadgroups.
template <typename K, typename Row>
[[kernel]] void table_join(
    device const K*         build_keys [[buffer(0)]],
    device const uint*      bounds     [[buffer(1)]],
    device const K*         probe_keys [[buffer(2)]],
    device const uint*      slots      [[buffer(3)]],
    device const join_task* tasks      [[buffer(4)]],
    device Row*             build_out  [[buffer(5)]],
    device Row*             probe_out  [[buffer(6)]],
    device atomic_uint*     count      [[buffer(7)]],
    device const ulong*     total      [[buffer(8)]],
    device atomic_uint*     found      [[buffer(9)]],
    constant join_args&     args       [[buffer(10)]],
    threadgroup uint*       staged_build [[threadgroup(0)]],   // [simdgroup][staged_rows]
    threadgroup uint*       staged_probe [[threadgroup(1)]],
    uint group     [[threadgroup_position_in_grid]],
    uint threads   [[threads_per_threadgroup]],
    uint lane      [[thread_index_in_simdgroup]],
    uint simd_index [[simdgroup_index_in_threadgroup]])
{
  const uint slice_begin = tasks[group].build_begin, slice_end = tasks[group].build_end;
  const uint probe_begin = tasks[group].probe_begin, probe_end = tasks[group].probe_end;
  const uint mine = simd_index * staged_rows;
  uint head = 0u, waiting = 0u;
  for (uint block = (probe_begin & ~31u) + simd_index * 32u; block < probe_end; block += threads) {
    const uint s = block + lane;
    const bool live = s >= probe_begin && s < probe_end;
    const K key = live ? probe_keys[s] : K(0);
    uint at = 0u, end = 0u;
    if (live) {
      const uint b = hash_key(key) & args.table_mask;
      const uint first = b != 0u ? bounds[b - 1u] : 0u;
      const uint size = bounds[b] - first;
      at = first + min(slice_begin, size);
      end = first + min(slice_end, size);
    }
    bool matched = false;
    while (true) {
      while (at < end && build_keys[slots[at]] != key) ++at;
      const bool hit = at < end;
      const uint hits = simd_sum(hit ? 1u : 0u);
      if (hits == 0u) break;
      matched = matched || hit;
      if (args.emit == 0u) break;
      const uint lower = simd_prefix_exclusive_sum(hit ? 1u : 0u);
      if (hit) {
        const uint slot = mine + ((head + waiting + lower) & (staged_rows - 1u));
        staged_build[slot] = slots[at];
        staged_probe[slot] = s;
        ++at;
      }
      waiting += hits;
      simdgroup_barrier(mem_flags::mem_threadgroup);
      if (waiting >= 32u) {
        const ulong position = claim(count, total, lane, 32u) + lane;
        if (position < args.capacity) {
          build_out[position] = Row(staged_build[mine + head + lane]);
          probe_out[position] = Row(staged_probe[mine + head + lane]);
        }
        head ^= 32u;
        waiting -= 32u;
        simdgroup_barrier(mem_flags::mem_threadgroup);
      }
    }
    if (args.mark != 0u) {
      const uint bits = ballot(matched);
      if (lane == 0u && bits != 0u) atomic_fetch_or_explicit(&found[block >> 5], bits, memory_order_relaxed);
    }
  }
  if (waiting != 0u) {
    const ulong position = claim(count, total, lane, waiting) + lane;
    if (lane < waiting && position < args.capacity) {
      build_out[position] = Row(staged_build[mine + head + lane]);
      probe_out[position] = Row(staged_probe[mine + head + lane]);
    }
  }
}

// ---------------------------------------------------------------- result rows without a build row
// Writes the probe rows that have a partner (semi joins), or those that have none (left and anti joins). Each lane
// counts the rows of one word of `found`. One atomic addition reserves positions for the rows of all lanes. Then all
// lanes together write the rows of one word after another.
template <typename Row>
[[kernel]] void lone_rows(
    device const uint*  found      [[buffer(0)]],
    device const uint*  probe_rows [[buffer(1)]],
    device Row*         build_out  [[buffer(2)]],
    device Row*         probe_out  [[buffer(3)]],
    device atomic_uint* count      [[buffer(4)]],
    device const ulong* total      [[buffer(5)]],
    constant join_args& args       [[buffer(6)]],
    uint position [[thread_position_in_grid]],
    uint lane     [[thread_index_in_simdgroup]])
{
  const uint flip = args.writes_found != 0u ? 0u : ~0u;
  const uint words = args.rows / 32u + (args.rows % 32u != 0u ? 1u : 0u);
  const uint first = position - lane;
  const uint in_last = args.rows % 32u != 0u ? (1u << args.rows % 32u) - 1u : ~0u;
  uint bits = 0u;
  if (position < words) bits = (found[position] ^ flip) & (position == words - 1u ? in_last : ~0u);
  const uint all = simd_sum(popcount(bits));
  if (all == 0u) return;                                  // the same decision in all lanes
  ulong offset = claim(count, total, lane, all);
  const uint stop = min(words - first, 32u);
  for (uint w = 0u; w < stop; ++w) {
    const uint word = (found[first + w] ^ flip) & (first + w == words - 1u ? in_last : ~0u);
    const ulong at = offset + popcount(word & ((1u << lane) - 1u));
    if ((word >> lane & 1u) != 0u && at < args.capacity) {
      const uint s = (first + w) * 32u + lane;
      if (args.mark != 0u) build_out[at] = Row(~0ul);
      probe_out[at] = Row(args.has_rows != 0u ? probe_rows[s] : s);
    }
    offset += popcount(word);
  }
}

#define STRATA_INSTANTIATE_TABLE(K, suffix)                     \
  STRATA_INSTANTIATE("strata_table_count_" suffix, table_count<K>) \
  STRATA_INSTANTIATE("strata_table_fill_" suffix, table_fill<K>)
#define STRATA_INSTANTIATE_JOINS(K, Row, suffix)                       \
  STRATA_INSTANTIATE("strata_partition_join_" suffix, partition_join<K, Row>) \
  STRATA_INSTANTIATE("strata_table_join_" suffix, table_join<K, Row>)
STRATA_INSTANTIATE_TABLE(uint, "u32")
STRATA_INSTANTIATE_TABLE(ulong, "u64")
STRATA_INSTANTIATE_JOINS(uint, uint, "u32_r32")
STRATA_INSTANTIATE_JOINS(uint, ulong, "u32_r64")
STRATA_INSTANTIATE_JOINS(ulong, uint, "u64_r32")
STRATA_INSTANTIATE_JOINS(ulong, ulong, "u64_r64")
STRATA_INSTANTIATE("strata_lone_rows_r32", lone_rows<uint>)
STRATA_INSTANTIATE("strata_lone_rows_r64", lone_rows<ulong>)
)MSL"
