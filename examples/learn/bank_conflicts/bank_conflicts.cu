// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Bank conflicts in shared memory, measured: reads with strides of 1 to 64 words, reductions by interleaved and by
// sequential addressing, Blelloch's scan with and without padding, and 32 x 32 transpositions of several pitches. The
// program shows the cycles of the device's clock beside a model: the conflict degree of strata/core/bank_conflicts.hpp,
// and the cost a + b (degree - 1). It fits a and b to the measured cycles by least squares.
//
// The host SIMT back end has no time. In check mode it counts wavefronts, and the program compares them with the model.
// Otherwise only the model is shown.
#include "../../common/device.cuh"
#include "../../common/program.hpp"

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/shared_layout.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bank_conflicts {

using example::check;
using example::device_array;

// ---------------------------------------------------------------------------- the kernels
// Each kernel is one block. It does `steps` steps, and reads the clock before the first and after each step.

STRATA_D void stamp(long long* stamps, int step) {
  const long long now = clock64();
  if (threadIdx.x == 0) stamps[step] = now;
  __syncwarp();  // so that the whole warp makes the next access together
}

constexpr int reads = 64;            // in a step
constexpr int strided_bytes = 8192;  // 32 lanes, 64 words apart

/// Lane l of a warp reads item l * stride. The item is the index of the lane's next read, which is the same item. So
/// each read waits for the one before.
template <class T>
STRATA_KERNEL void read_strided(int steps, int stride, long long* stamps, int* result) {
  constexpr int size = strided_bytes / static_cast<int>(sizeof(T));
  STRATA_SHARED(items, T[size]);
  const int lane = static_cast<int>(threadIdx.x);
  for (int i = lane; i < size; i += 32) items[i] = static_cast<T>(i);
  __syncwarp();
  int index = lane * stride;
  stamp(stamps, 0);
  for (int step = 0; step < steps; ++step) {
    STRATA_UNROLL
    for (int i = 0; i < reads; ++i) index = static_cast<int>(items[index]);
    if (__any_sync(0xffffffff, index < 0)) break;  // is never true, but waits for the last read
    stamp(stamps, step + 1);
  }
  result[lane] = index;
}

constexpr int elements = 1024;
constexpr int threads = elements / 2;
constexpr int levels = 10;
static_assert(1 << levels == elements, "a level for each halving");

/// Thread i adds two elements. With interleaved addressing they are 2 s i and 2 s i + s, for s = 1, 2, 4 ... With
/// sequential addressing they are i and i + s, for s = 512, 256, 128 ...
template <bool Interleaved>
STRATA_KERNEL void reduce(int steps, int, long long* stamps, int* result) {
  STRATA_SHARED(items, int[elements]);
  const int thread = static_cast<int>(threadIdx.x);
  items[thread] = thread;
  items[thread + threads] = thread + threads;
  __syncthreads();
  stamp(stamps, 0);
  for (int step = 0; step < steps; ++step) {
    const int s = Interleaved ? 1 << step : threads >> step;
    const int i = Interleaved ? 2 * s * thread : thread;
    if (thread < threads >> step) items[i] += items[i + s];
    __syncthreads();
    stamp(stamps, step + 1);
  }
  if (thread == 0) *result = items[0];
}

/// Blelloch's exclusive scan: upsweep for s = 1, 2, 4 ... 512, downsweep for s = 512 ... 1.
template <class Layout>
STRATA_KERNEL void scan(int steps, int, long long* stamps, int* result) {
  STRATA_SHARED(items, int[Layout::storage_elements(elements)]);
  constexpr Layout at{};
  const int thread = static_cast<int>(threadIdx.x);
  items[at(thread)] = thread;
  items[at(thread + threads)] = thread + threads;
  __syncthreads();
  stamp(stamps, 0);
  for (int step = 0; step < steps; ++step) {
    const bool is_up = step < levels;
    const int s = is_up ? 1 << step : threads >> (step - levels);
    const int right = 2 * s * (thread + 1) - 1, left = right - s;
    if (right < elements) {
      const int left_sum = items[at(left)], right_sum = items[at(right)];
      if (!is_up) items[at(left)] = right_sum;
      // The last sum of the upsweep is the sum of all elements. The downsweep begins with 0 instead.
      items[at(right)] = step == levels - 1 ? 0 : left_sum + right_sum;
    }
    __syncthreads();
    stamp(stamps, step + 1);
  }
  result[thread] = items[at(thread)];
  result[thread + threads] = items[at(thread + threads)];
}

constexpr int rounds = 15;  // in a step; odd, so that the result is transposed

/// A warp for each row. It reads a column, and stores that as its row.
template <class Layout>
STRATA_KERNEL void transpose(int steps, int, long long* stamps, int* result) {
  STRATA_SHARED(tile, int[Layout::storage]);
  constexpr Layout at{};
  const int row = static_cast<int>(threadIdx.x) / 32, column = static_cast<int>(threadIdx.x) % 32;
  tile[at(row, column)] = static_cast<int>(threadIdx.x);
  __syncthreads();
  stamp(stamps, 0);
  for (int step = 0; step < steps; ++step) {
    for (int round = 0; round < rounds; ++round) {
      const int item = tile[at(column, row)];
      __syncthreads();
      tile[at(row, column)] = item;
      __syncthreads();
    }
    stamp(stamps, step + 1);
  }
  result[threadIdx.x] = tile[at(row, column)];
}

// ---------------------------------------------------------------------------- the model

/// One step of a kernel.
struct row {
  std::string name;
  int degree;
  int wavefronts;        // of one access by all of its warps
  double x;              // the cost is linear in it
  double measured = -1;  // cycles on a GPU, wavefronts in check mode
};

/// Thread i of the first `count` accesses element first + i * stride.
template <class Layout>
row model_of(std::string name, const Layout& layout, int first, int stride, int count) {
  row found{std::move(name), 1, 0, 0};
  for (int warp = 0; warp * 32 < count; ++warp) {
    const strata::runtime_strided_access<4> access{first + warp * 32 * stride, stride, 0x7fffffff,
                                                   std::min(32, count - warp * 32)};
    found.degree = std::max(found.degree, strata::conflict_degree(layout, access));
    found.wavefronts += strata::count_wavefronts(layout, access).wavefronts;
  }
  found.x = found.wavefronts;  // each level has fewer warps than the one before
  return found;
}

struct point {
  double x, y;
};
struct line {
  double at_one, slope;
};

/// y = at_one + slope (x - 1), by least squares.
constexpr line fit(const point* points, std::size_t count) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = points[i].x - 1, y = points[i].y;
    sum_x += x;
    sum_y += y;
    sum_xx += x * x;
    sum_xy += x * y;
  }
  const auto n = static_cast<double>(count);
  const double slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
  return {(sum_y - slope * sum_x) / n, slope};
}

// A test: three points on a line, then one point above the line and one below.
constexpr point on_a_line[] = {{1, 20}, {2, 23}, {5, 32}};
static_assert(fit(on_a_line, 3).at_one == 20 && fit(on_a_line, 3).slope == 3);
constexpr point near_a_line[] = {{1, 21}, {2, 19}, {3, 21}, {2, 23}};
static_assert(fit(near_a_line, 4).at_one == 21 && fit(near_a_line, 4).slope == 0);

// ---------------------------------------------------------------------------- measuring

bool counts_wavefronts() {
#if STRATA_HOST_SIMT
  return strata::simt::runtime_flavour() == strata::simt::flavour::check;
#else
  return false;
#endif
}

using kernel = void (*)(int steps, int stride, long long* stamps, int* result);

/// The fewest cycles of each step in several launches; or its wavefronts; or -1 if neither is known.
std::vector<double> measure(kernel measured, unsigned block_threads, int steps, int stride, std::vector<int>& result) {
  const device_array<long long> stamps(static_cast<std::size_t>(steps) + 1);
  const device_array<int> output(result.size());
  const auto launch = [&](int steps_now) {
    check("launch", strata::launch({"bank_conflicts", dim3(1), dim3(block_threads)}, measured, steps_now, stride,
                                   stamps.get(), output.get()));
    check("cudaDeviceSynchronize", cudaDeviceSynchronize());
  };
  std::vector<double> found(static_cast<std::size_t>(steps), -1);
#if STRATA_HOST_SIMT
  // The difference that one more step makes.
  double before = 0;
  for (int steps_now = 0; steps_now <= steps; ++steps_now) {
    strata::simt::reset_statistics();
    launch(steps_now);
    const auto wavefronts = static_cast<double>(strata::simt::stats().shared_wavefronts);
    if (steps_now > 0 && counts_wavefronts()) found[static_cast<std::size_t>(steps_now) - 1] = wavefronts - before;
    before = wavefronts;
  }
#else
  for (int run = 0; run < 10; ++run) {
    launch(steps);
    const std::vector<long long> at = stamps.download();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto cycles = static_cast<double>(at[i + 1] - at[i]);
      found[i] = run == 0 ? cycles : std::min(found[i], cycles);
    }
  }
#endif
  result = output.download();
  return found;
}

/// Prints a table and a chart. Returns true if the counted numbers equal the model's.
bool show(const char* title, const char* step, const char* x, const std::vector<row>& rows) {
  const bool is_timed = !STRATA_HOST_SIMT;
  const char* const columns = is_timed ? "    cycles     model" : counts_wavefronts() ? "   counted" : "";
  std::printf("\n%s\n%-16s %6s %10s%s\n", title, step, "degree", "wavefronts", columns);
  std::vector<point> points;
  for (const row& r : rows) points.push_back({r.x, r.measured});
  const line model = is_timed ? fit(points.data(), points.size()) : line{1, 1};
  const auto modelled = [&](const row& r) { return model.at_one + model.slope * (r.x - 1); };
  double longest = 0;
  for (const row& r : rows) longest = std::max({longest, is_timed ? r.measured : 0.0, modelled(r)});
  bool is_right = true;
  for (const row& r : rows) {
    std::printf("%-16s %6d %10d", r.name.c_str(), r.degree, r.wavefronts);
    if (is_timed) std::printf(" %9.1f %9.1f", r.measured, modelled(r));
    if (counts_wavefronts()) std::printf(" %9g", r.measured);
    is_right = is_right && (!counts_wavefronts() || r.measured == r.wavefronts);
    const auto place = [&](double y) { return static_cast<std::size_t>(std::lround(std::max(0.0, y) / longest * 40)); };
    std::string bar(place(is_timed ? r.measured : modelled(r)), '#');
    bar.resize(std::max(bar.size(), place(modelled(r)) + 1), ' ');
    if (is_timed) bar[place(modelled(r))] = 'o';
    bar.erase(bar.find_last_not_of(' ') + 1);
    std::printf("  %s\n", bar.c_str());
  }
  // The sum of all steps of one kernel.
  std::vector<std::pair<std::string, double>> totals;
  for (const row& r : rows) {
    const std::string which = r.name.substr(0, r.name.find(' '));
    if (totals.empty() || totals.back().first != which) totals.emplace_back(which, 0);
    totals.back().second += is_timed ? r.measured : r.wavefronts;
  }
  if (totals.size() == 2) {
    std::printf("in all: %s %.0f, %s %.0f %s\n", totals[0].first.c_str(), totals[0].second, totals[1].first.c_str(),
                totals[1].second, is_timed ? "cycles" : "wavefronts");
  }
  if (is_timed) {
    std::printf("model (o): %.1f + %.2f (%s - 1) cycles, by least squares\n", model.at_one, model.slope, x);
  }
  if (!is_right) std::printf("counted is NOT the model\n");
  return is_right;
}

// ---------------------------------------------------------------------------- the experiments

template <class T>
bool show_reads(const char* title) {
  constexpr int words = sizeof(T) / 4;
  std::vector<row> rows;
  bool is_right = true;
  for (int stride = 1; stride * words <= 64; ++stride) {
    const strata::runtime_strided_access<sizeof(T)> access{0, stride};
    row found{std::to_string(stride * words), strata::conflict_degree(strata::PlainLayout{}, access),
              strata::count_wavefronts(strata::PlainLayout{}, access).wavefronts, 0};
    found.x = found.degree;
    std::vector<int> result(32);
    found.measured = measure(read_strided<T>, 32, 1, stride, result)[0] / reads;
    for (int lane = 0; lane < 32; ++lane)
      is_right = is_right && result[static_cast<std::size_t>(lane)] == lane * stride;
    rows.push_back(found);
  }
  return show(title, "stride, words", "degree", rows) && is_right;
}

/// Puts the measured numbers into the rows of a kernel with this many steps.
void add(std::vector<row>& all, std::vector<row> rows, kernel measured, int accesses, std::vector<int>& result) {
  const std::vector<double> found = measure(measured, threads, static_cast<int>(rows.size()), 0, result);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The downsweep stores twice.
    rows[i].measured = counts_wavefronts() ? found[i] / (i < levels ? accesses : accesses + 1) : found[i];
    all.push_back(rows[i]);
  }
}

bool show_reductions() {
  std::vector<row> rows, interleaved, sequential;
  for (int s = 1; s <= threads; s *= 2) {
    interleaved.push_back(model_of("interleaved " + std::to_string(s), strata::PlainLayout{}, 0, 2 * s, threads / s));
  }
  for (int s = threads; s > 0; s /= 2) {
    sequential.push_back(model_of("sequential " + std::to_string(s), strata::PlainLayout{}, 0, 1, s));
  }
  std::vector<int> first(1), second(1);
  add(rows, interleaved, reduce<true>, 3, first);
  add(rows, sequential, reduce<false>, 3, second);
  const int sum = elements * (elements - 1) / 2;
  return show("sum of 1,024 elements, level by level", "s", "wavefronts", rows) && first[0] == sum && second[0] == sum;
}

template <class Layout>
bool add_scan(std::vector<row>& rows, const std::string& name) {
  std::vector<row> steps;
  for (int step = 0; step < 2 * levels; ++step) {
    const int s = step < levels ? 1 << step : threads >> (step - levels);
    steps.push_back(model_of(name + (step < levels ? " up " : " down ") + std::to_string(s), Layout{}, 2 * s - 1, 2 * s,
                             threads / s));
  }
  std::vector<int> result(elements);
  add(rows, steps, scan<Layout>, 3, result);
  bool is_right = true;
  for (int i = 0; i < elements; ++i) is_right = is_right && result[static_cast<std::size_t>(i)] == i * (i - 1) / 2;
  return is_right;
}

bool show_scans() {
  std::vector<row> rows;
  const bool is_plain_right = add_scan<strata::PlainLayout>(rows, "plain");
  const bool is_padded_right = add_scan<strata::PaddedLayout<32>>(rows, "padded");
  return show("scan of 1,024 elements, level by level", "s", "wavefronts", rows) && is_plain_right && is_padded_right;
}

template <int Pad>
bool add_transposition(std::vector<row>& rows) {
  using layout = strata::PaddedMatrixLayout<32, 32, Pad>;
  const strata::column_access<4, 32, 32> columns{};
  row found{"32 x " + std::to_string(32 + Pad), strata::conflict_degree(layout{}, columns),
            strata::count_wavefronts(layout{}, columns).wavefronts, 0};
  found.x = found.degree;
  std::vector<int> result(elements);
  found.measured = measure(transpose<layout>, elements, 1, 0, result)[0] / rounds;
  if (counts_wavefronts()) found.measured -= 32;  // rows are stored without conflicts
  rows.push_back(found);
  bool is_right = true;
  for (int i = 0; i < elements; ++i) is_right = is_right && result[static_cast<std::size_t>(i)] == i % 32 * 32 + i / 32;
  return is_right;
}

bool show_transpositions() {
  std::vector<row> rows;
  const bool is_right = add_transposition<0>(rows) && add_transposition<1>(rows) && add_transposition<2>(rows) &&
                        add_transposition<4>(rows) && add_transposition<8>(rows) && add_transposition<16>(rows);
  return show("transposition of 32 x 32 items, by the pitch of rows", "pitch", "degree", rows) && is_right;
}

const char help[] =
    "Usage: bank_conflicts [OPTION]...\n"
    "Measures bank conflicts of shared memory by the GPU's clock, beside a model. The host SIMT back\n"
    "end has no time: there, the program shows the model, and in check mode compares it with the\n"
    "wavefronts that were counted.\n"
    "\n"
    "      --help  print this help\n"
    "\n"
    "Exit status: 0, 1 if the call is wrong, 2 if the device failed, 3 if a result or a count is wrong.\n";

int run(example::program& running, const std::vector<std::string>& arguments) {
  example::expect_operands(example::parse_options(running, arguments, {}), 0, 0);
  running.say("running on " + example::open_device());
#if STRATA_HOST_SIMT
  std::printf("%s\n", counts_wavefronts() ? "No times, but wavefronts: counted by the host SIMT back end in check mode."
                                          : "No times: the model alone, on the host SIMT back end.");
#endif
  const bool is_right = show_reads<int>("reads of 4-byte items by a warp") &&
                        show_reads<long long>("reads of 8-byte items by a warp") && show_reductions() && show_scans() &&
                        show_transpositions();
  example::finish_output();
  return is_right ? 0 : example::exit_check_failed;
}

}  // namespace bank_conflicts

int main(int argc, char** argv) {
  return example::run_program("bank_conflicts", bank_conflicts::help, argc, argv, bank_conflicts::run);
}
