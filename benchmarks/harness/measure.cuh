// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Measures one case: calls the peers on the same input, checks their results, then times them in turns.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/csv.hpp"
#include "harness/cuda.cuh"
#include "harness/options.hpp"
#include "harness/statistics.hpp"

namespace bench {

/// One contender: `call` enqueues the work on the stream and returns the library's error.
struct peer {
  std::string lib;
  std::function<cudaError_t(cudaStream_t)> call;
  /// Bytes read and written, if the number differs from the workload's.
  double own_bytes = 0;
  /// Compares the result of the last call with a known result. Returns an empty text if it is right. For cases that can
  /// check a result without another library's.
  std::function<std::string()> verify = {};
  /// True if the work is done on the host. Then the host's clock times the call.
  bool is_on_host = false;
  /// Returns the milliseconds of one call that it times itself, for a call on several devices. Either all peers of a
  /// case have one or none has.
  std::function<double()> timed_call = {};
  /// Milliseconds that the link between the devices takes for the bytes that must cross it. 0 if no bytes cross it.
  double link_ms = 0;
  /// Cycles in a millisecond, if `timed_call` reads the clock of a multiprocessor.
  double cycles_per_ms = 0;
  /// Resources of the kernel, if the peer is a single kernel.
  kernel_use use = {};
};

/// What a case needs while it is measured. The closures own the memory.
struct workload {
  std::vector<peer> peers;
  /// Compares the results of the peers' last calls. Returns an empty text if they agree.
  std::function<std::string()> verify;
  /// True if `verify` has a result to compare with although no rival is measured.
  bool has_reference = false;
  /// Necessary traffic: every input read once, every output written once.
  double bytes = 0;
};

enum class timing {
  batched,      ///< device time per call of back-to-back calls: throughput
  single_call,  ///< device time of one call after a synchronisation: latency
  host_call     ///< CPU time between call and return
};

struct environment {
  options settings;
  cudaStream_t stream = nullptr;
  /// A buffer of twice the size of the L2 cache; empty if the cache is not flushed.
  device_array<unsigned char> flush;
};

struct benchmark_case {
  std::string algorithm;
  std::string type;
  std::string data_case;
  std::int64_t n = 0;
  timing how = timing::batched;
  std::function<workload(const environment&)> prepare;
  /// The names of the peers other than strata and the copy.
  std::vector<std::string> rivals = {"cub"};
  /// False if a copy is no upper bound, because the traffic is not to device memory.
  bool beside_copy = true;
  /// Items of a call, if this number differs from n.
  double items = 0;
};

struct measurement {
  csv_row row;
  double spread = 0;
  int batch = 1;
};

struct case_result {
  std::vector<measurement> measurements;
  /// One text for each peer that failed or gave a wrong result. The time of such a peer is not reported.
  std::vector<std::string> failures;
  /// Why the case was skipped, if it does not fit this device. That is no failure.
  std::string skipped;
  /// True if the CUDA context is lost, so this process cannot measure any more.
  bool context_lost = false;
};

/// A device-to-device copy of `bytes` bytes, the upper bound for the others. It owns its destination, not its source.
inline peer copy_peer(const void* source, std::size_t bytes) {
  device_array<unsigned char> target(bytes);
  const auto call = [=](cudaStream_t stream) {
    return cudaMemcpyAsync(target.data(), source, bytes, cudaMemcpyDeviceToDevice, stream);
  };
  return {"copy", call, 2.0 * static_cast<double>(bytes)};
}

/// A peer that makes a call in CUB's form, `call(d_temp_storage, temp_storage_bytes, stream)`. The storage is allocated
/// here, outside of the measured time.
template <class Call>
peer storage_peer(std::string lib, Call call) {
  std::size_t bytes = 0;
  const cudaError_t error = call(nullptr, bytes, cudaStream_t{});
  if (error != cudaSuccess) {  // as a peer that fails, so that the other peers are still measured
    return {std::move(lib), [error](cudaStream_t) { return error; }};
  }
  device_array<unsigned char> storage(bytes);
  const auto call_with_storage = [=](cudaStream_t stream) {
    std::size_t capacity = bytes;
    return call(static_cast<void*>(storage.data()), capacity, stream);
  };
  return {std::move(lib), call_with_storage};
}

namespace detail {

inline void call_and_wait(const peer& contender, cudaStream_t stream) {
  check(contender.call(stream), contender.lib.c_str());
  check(cudaStreamSynchronize(stream), contender.lib.c_str());
}

/// Milliseconds of one call. With a warm cache, the same call has just run and the device is idle. With a cold cache,
/// the call waits for the flush in the stream, which hides the time to enqueue the call.
inline double device_sample(const environment& env, const peer& contender, int batch, stopwatch& watch) {
  if (env.flush.size() > 0) {
    env.flush.fill_bytes(0x5c, env.stream);
  } else {
    call_and_wait(contender, env.stream);
  }
  watch.start(env.stream);
  for (int i = 0; i < batch; ++i) check(contender.call(env.stream), contender.lib.c_str());
  return watch.stop(env.stream) / batch;
}

/// So few calls that they do not fill the launch queue of 1,024 entries, even if a call makes four launches. The wait
/// for a full queue would count as host time.
inline constexpr int host_calls_per_sample = 200;
inline constexpr int host_samples = 50;

inline double host_sample(const environment& env, const peer& contender) {
  call_and_wait(contender, env.stream);
  cudaError_t error = cudaSuccess;
  const double taken = wall_milliseconds([&] {
    for (int i = 0; i < host_calls_per_sample && error == cudaSuccess; ++i) {
      error = contender.call(env.stream);
    }
  });
  check(error, contender.lib.c_str());
  check(cudaStreamSynchronize(env.stream), contender.lib.c_str());
  return taken / host_calls_per_sample;
}

/// Milliseconds of a call that does its work on the host.
inline double host_work_sample(const environment& env, const peer& contender) {
  cudaError_t error = cudaSuccess;
  const double taken = wall_milliseconds([&] { error = contender.call(env.stream); });
  check(error, contender.lib.c_str());
  return taken;
}

inline std::vector<std::vector<double>> take_samples(const environment& env, const benchmark_case& what,
                                                     const std::vector<peer>& peers, std::vector<int>& batches) {
  stopwatch watch;
  batches.assign(peers.size(), 1);
  auto samples = static_cast<std::size_t>(env.settings.samples);
  if (!peers.empty() && peers.front().timed_call) {
    return interleave(peers.size(), samples, [&](std::size_t i) { return peers[i].timed_call(); });
  }
  if (what.how == timing::host_call) {
    batches.assign(peers.size(), host_calls_per_sample);
    return interleave(peers.size(), host_samples, [&](std::size_t i) { return host_sample(env, peers[i]); });
  }
  if (what.how == timing::single_call) {
    samples *= 5;  // single calls are short, and their times vary more
  } else if (!env.settings.cold) {
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (peers[i].is_on_host) continue;
      const double estimate_ms = device_sample(env, peers[i], 1, watch);
      batches[i] = batch_size(estimate_ms, env.settings.target_us / 1000);
    }
  }
  // Peers on the host come last, because a device that idles between its samples lowers its clocks.
  const auto on_device = static_cast<std::size_t>(
      std::count_if(peers.begin(), peers.end(), [](const peer& any) { return !any.is_on_host; }));
  auto taken =
      interleave(on_device, samples, [&](std::size_t i) { return device_sample(env, peers[i], batches[i], watch); });
  for (std::size_t i = on_device; i < peers.size(); ++i) {
    const auto take = [&](std::size_t) { return host_work_sample(env, peers[i]); };
    taken.push_back(interleave(1, samples, take).front());
  }
  return taken;
}

/// Drops the copy, because nobody compares host costs with that of a copy.
inline void drop_copy(std::vector<peer>& peers) {
  const auto is_copy = [](const peer& any) { return any.lib == "copy"; };
  peers.erase(std::remove_if(peers.begin(), peers.end(), is_copy), peers.end());
}

/// Calls each peer for the first time. A peer that fails is dropped.
inline void qualify(const environment& env, workload& work, case_result& result) {
  std::vector<peer> qualified;
  for (peer& contender : work.peers) {
    try {
      call_and_wait(contender, env.stream);
      qualified.push_back(std::move(contender));
    } catch (const cuda_error& error) {
      result.failures.push_back(error.what());
      static_cast<void>(cudaGetLastError());
      check(cudaStreamSynchronize(env.stream), "the device after this failure");
    }
  }
  std::stable_partition(qualified.begin(), qualified.end(), [](const peer& any) { return !any.is_on_host; });
  work.peers = std::move(qualified);
}

/// True if the peer's last result is right, as far as the peer can tell without the others.
inline bool is_right(const peer& contender, case_result& result) {
  const std::string wrong = contender.verify ? contender.verify() : std::string();
  if (wrong.empty()) return true;
  result.failures.push_back("the result of " + contender.lib + " is wrong: " + wrong);
  return false;
}

/// Drops each peer whose first result is wrong.
inline void drop_wrong(std::vector<peer>& peers, case_result& result) {
  const auto is_wrong = [&](const peer& any) { return !is_right(any, result); };
  peers.erase(std::remove_if(peers.begin(), peers.end(), is_wrong), peers.end());
}

/// Compares the results of the last calls. The caller does so after the first call, and again after hundreds of calls,
/// because a call that leaves a counter behind spoils only later calls.
inline std::string verdict(const workload& work) {
  const auto any_peer = [&](const auto& matches) {
    return std::any_of(work.peers.begin(), work.peers.end(), [&](const peer& any) { return matches(any.lib); });
  };
  const bool has_strata = any_peer([](const std::string& lib) { return lib == "strata"; });
  const bool has_rival = any_peer([](const std::string& lib) { return lib != "strata" && lib != "copy"; });
  return work.verify && has_strata && (has_rival || work.has_reference) ? work.verify() : std::string();
}

inline measurement to_measurement(const benchmark_case& what, const peer& contender, double bytes,
                                  const std::vector<double>& samples, int batch) {
  const summary times = summarize(samples);
  measurement taken;
  taken.spread = times.spread;
  taken.batch = batch;
  taken.row.algorithm = what.algorithm;
  taken.row.type = what.type;
  taken.row.data_case = what.data_case;
  taken.row.n = what.n;
  taken.row.lib = contender.lib;
  taken.row.ms_median = times.median;
  taken.row.ms_min = times.minimum;
  taken.row.use = contender.use;
  if (contender.cycles_per_ms > 0) taken.row.cycles = times.median * contender.cycles_per_ms;
  if (what.how != timing::host_call) {
    const double moved = contender.own_bytes > 0 ? contender.own_bytes : bytes;
    const double items = what.items > 0 ? what.items : static_cast<double>(what.n);
    taken.row.items_per_s = items / times.median * 1e3;
    taken.row.gb_per_s = moved / times.median * 1e-6;
    if (contender.link_ms > 0) taken.row.percent_of_link = 100 * contender.link_ms / times.median;
  }
  return taken;
}

inline void relate_to_copy(std::vector<measurement>& measurements) {
  for (const measurement& copy : measurements) {
    if (copy.row.lib != "copy") continue;
    for (measurement& any : measurements) {
      any.row.percent_of_copy = 100 * any.row.gb_per_s / copy.row.gb_per_s;
    }
  }
}

}  // namespace detail

/// Measures a case. It never throws: the result says what went wrong.
inline case_result measure(const environment& env, const benchmark_case& what) {
  case_result result;
  try {
    workload work = what.prepare(env);
    if (what.how == timing::host_call) detail::drop_copy(work.peers);
    detail::qualify(env, work, result);
    detail::drop_wrong(work.peers, result);
    const std::string wrong_at_first = detail::verdict(work);
    std::vector<int> batches;
    const auto samples = detail::take_samples(env, what, work.peers, batches);
    const std::string wrong = wrong_at_first.empty() ? detail::verdict(work) : wrong_at_first;
    if (!wrong.empty()) result.failures.push_back("strata's result is wrong: " + wrong);
    for (std::size_t i = 0; i < work.peers.size(); ++i) {
      if (work.peers[i].lib == "strata" && !wrong.empty()) continue;
      if (!detail::is_right(work.peers[i], result)) continue;
      result.measurements.push_back(detail::to_measurement(what, work.peers[i], work.bytes, samples[i], batches[i]));
    }
    detail::relate_to_copy(result.measurements);
  } catch (const cuda_error& error) {
    if (error.code == cudaErrorMemoryAllocation) {
      result.skipped = error.what();
    } else {
      result.failures.push_back(error.what());
    }
    static_cast<void>(cudaGetLastError());
  } catch (const std::exception& error) {
    result.failures.push_back(error.what());
  }
  // A synchronisation that fails after all errors were fetched means that the context itself is lost.
  result.context_lost = cudaDeviceSynchronize() != cudaSuccess;
  return result;
}

}  // namespace bench
