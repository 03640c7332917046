// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the programs of this folder: differential tests with random cases. A seed of 64 bits determines the whole
// case: the call, its types, sizes, data, memory and streams and, on the host back end, the schedule. Results are
// compared with those of sequential code on the host.
//
//   <program> [--seconds N] [--cases N]   runs cases until a limit, with other seeds each time
//   <program> --seed S                    runs the case of this seed only
//   <program> --seed S --cases N          runs this case and those that follow it
//
// Exits with 0 after success, with 1 after a failure, and with 77 if it was built for a GPU and there is none.
#pragma once

#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace random_test {

inline constexpr bool is_gpu = STRATA_HOST_SIMT == 0;

// ---------------------------------------------------------------------------- failures

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void must(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw failure(std::string(what) + " returned " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

inline void must_be(bool condition, const std::string& what) {
  if (!condition) throw failure(what);
}

// ---------------------------------------------------------------------------- randomness

inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// Splitmix64, which gives the same numbers with every standard library.
class source {
 public:
  using result_type = std::uint64_t;
  explicit source(std::uint64_t seed) : state_(seed) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~result_type{0}; }
  result_type operator()() {
    state_ += 0x9e3779b97f4a7c15u;
    return mixed(state_);
  }
  /// A number in [0, n), or 0 if n is 0.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>((*this)() % n); }
  /// A number in [low, high].
  std::int64_t in(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + (*this)() % range);
  }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[below(from.size())];
  }

 private:
  std::uint64_t state_;
};

/// A random size up to `most`. Half of the sizes are neighbours of powers of two, of three times powers of two, and of
/// multiples of tiles, or tiny. The others are spread over all orders of magnitude.
inline std::size_t random_size(source& random, std::size_t most) {
  std::size_t size = 0;
  const std::size_t bits = 1 + static_cast<std::size_t>(std::log2(static_cast<double>(most)));
  switch (random.below(8)) {
    case 0:
      size = random.below(5);
      break;
    case 1:
    case 2:
      size = (std::size_t{1} << random.below(bits)) + random.below(3) - 1;
      break;
    case 3:
      size = (std::size_t{3} << random.below(bits)) + random.below(3) - 1;
      break;
    case 4:
      size = (random.below(40) + 1) * 32 * (random.below(24) + 1) * (std::size_t{1} << random.below(5)) +
             random.below(3) - 1;
      break;
    default:
      size = random.below((std::size_t{1} << random.below(bits)) + 1);
      break;
  }
  return size <= most ? size : random.below(most + 1);
}

/// The most items of a case. Only one case in ten may have the largest sizes.
inline std::size_t most_items(source& random, std::size_t on_host, std::size_t on_gpu) {
#if defined(STRATA_TEST_SMALL)
  on_host /= 8;
#endif
  const std::size_t most = is_gpu ? on_gpu : on_host;
  return random.chance(10) ? most : random.chance(50) ? most / 8 : most / 64;
}

// ---------------------------------------------------------------------------- items

using int128 = __int128;
using uint128 = unsigned __int128;

/// `Count` words. They are added word by word, and compared lexicographically.
template <std::size_t Count, class Word>
struct record {
  Word word[Count];

  STRATA_HD friend record operator+(const record& a, const record& b) {
    record sum{};
    for (std::size_t i = 0; i < Count; ++i) sum.word[i] = static_cast<Word>(a.word[i] + b.word[i]);
    return sum;
  }
  STRATA_HD friend bool operator==(const record& a, const record& b) {
    for (std::size_t i = 0; i < Count; ++i) {
      if (a.word[i] != b.word[i]) return false;
    }
    return true;
  }
  STRATA_HD friend bool operator!=(const record& a, const record& b) { return !(a == b); }
  STRATA_HD friend bool operator<(const record& a, const record& b) {
    for (std::size_t i = 0; i < Count; ++i) {
      if (a.word[i] != b.word[i]) return a.word[i] < b.word[i];
    }
    return false;
  }
};
using byte1 = record<1, std::uint8_t>;
using bytes3 = record<3, std::uint8_t>;
using bytes12 = record<3, std::uint32_t>;
using bytes16 = record<4, std::uint32_t>;
using bytes24 = record<3, std::uint64_t>;
using bytes64 = record<16, std::uint32_t>;

/// The map x -> a x + b, modulo 2^32 or 2^64. `+` composes maps, which is associative and not commutative.
template <class Word>
struct affine {
  Word a;
  Word b;
  STRATA_HD friend affine operator+(const affine& x, const affine& y) { return {x.a * y.a, x.b * y.a + y.b}; }
  STRATA_HD friend bool operator==(const affine& x, const affine& y) { return x.a == y.a && x.b == y.b; }
};
using affine8 = affine<std::uint32_t>;
using affine16 = affine<std::uint64_t>;

struct compose {
  template <class Word>
  STRATA_HD affine<Word> operator()(const affine<Word>& x, const affine<Word>& y) const {
    return x + y;
  }
};

/// Sums in the type of the items. Integers wrap around without undefined behaviour.
struct wrapping_sum {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

template <class T>
inline constexpr bool is_half = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T> || is_half<T>;
template <class T>
inline constexpr bool is_int128 = std::is_same_v<T, int128> || std::is_same_v<T, uint128>;

template <class T>
double as_double(const T& x) {
  if constexpr (is_half<T>) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<double>(x);
  }
}

template <class T>
std::string name_of() {
  if constexpr (std::is_same_v<T, __half>) {
    return "half";
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return "bfloat16";
  } else {
    const std::string kind = std::is_floating_point_v<T>             ? "float"
                             : is_int128<T> || std::is_integral_v<T> ? "integer"
                                                                     : "struct";
    return kind + std::to_string(8 * sizeof(T));
  }
}

template <class T>
std::string text_of(const T& x) {
  std::string text;
  if constexpr (is_real<T>) {
    char number[40];
    std::snprintf(number, sizeof(number), "%.9g ", as_double(x));
    text = number;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    text = std::to_string(x) + " ";
  }
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &x, sizeof(T));
  text += "0x";
  for (std::size_t i = sizeof(T); i-- > 0;) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

/// True if the bits are equal, or if both are NaN.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (is_real<T>) {
    if (std::isnan(as_double(a)) && std::isnan(as_double(b))) return true;
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <class Key, class Value>
bool same(const strata::KeyValuePair<Key, Value>& a, const strata::KeyValuePair<Key, Value>& b) {
  return random_test::same(a.key, b.key) && random_test::same(a.value, b.value);
}

template <class T>
void must_be_same(const std::vector<T>& expected, const std::vector<T>& found, const char* what) {
  must_be(expected.size() == found.size(),
          std::string(what) + ": " + std::to_string(expected.size()) + " items, not " + std::to_string(found.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same(expected[i], found[i])) continue;
    std::size_t others = 0;
    for (std::size_t j = i; j < expected.size(); ++j) others += !same(expected[j], found[j]);
    throw failure(std::string(what) + ": item " + std::to_string(i) + " of " + std::to_string(expected.size()) +
                  ": expected " + text_of(expected[i]) + ", found " + text_of(found[i]) + "; " +
                  std::to_string(others) + " differ");
  }
}

// ---------------------------------------------------------------------------- data

enum class law { uniform, few, equal, ascending, descending, zipf, runs };

/// The numbers from which items are made, by a distribution.
inline std::vector<std::uint64_t> random_codes(source& random, std::size_t count, law distribution) {
  std::vector<std::uint64_t> codes(count);
  const std::uint64_t first = random();
  const std::size_t few = 1 + random.below(random.chance(50) ? 4 : 300);
  const std::size_t mean_run = 1 + random.below(random.chance(50) ? 10 : 3000);
  std::uint64_t now = first;
  for (std::size_t i = 0; i < count; ++i) {
    switch (distribution) {
      case law::few:
        codes[i] = mixed(first + random.below(few));
        break;
      case law::equal:
        codes[i] = first;
        break;
      case law::zipf: {  // rank r has a frequency proportional to 1 / r
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        codes[i] = mixed(first + static_cast<std::uint64_t>(std::exp2(u * 20)));
        break;
      }
      case law::runs:
        if (random.below(mean_run) == 0) now = random();
        codes[i] = now;
        break;
      default:
        codes[i] = random();
    }
  }
  return codes;
}

inline law random_law(source& random) {
  return random.pick(
      {law::uniform, law::uniform, law::few, law::equal, law::ascending, law::descending, law::zipf, law::runs});
}

/// The item for a code. One float in 16 is special: a NaN, a zero of either sign, infinite, or 1.
template <class T>
T item_of(std::uint64_t code) {
  if constexpr (is_real<T>) {
    float value = static_cast<float>(static_cast<std::int32_t>(code >> 32)) * 0x1p-20f;
    if (code % 16 == 0) {
      const float special[] = {
          std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(), 0.0f, -0.0f, -0.0f,
          std::numeric_limits<float>::infinity(),  -std::numeric_limits<float>::infinity(),  1.0f};
      value = special[code / 16 % 8];
    }
    if constexpr (is_half<T>) {
      return T(value);
    } else {
      return static_cast<T>(value);
    }
  } else if constexpr (is_int128<T>) {
    return static_cast<T>(static_cast<uint128>(mixed(code)) << 64 | code);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(code);
  } else {
    // Words are often equal in several items, so that comparisons reach the later words.
    T item{};
    unsigned char bytes[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes[i] = static_cast<unsigned char>(mixed(code + i / 8 % 3) >> (i % 8 * 8));
    }
    for (std::size_t i = 0; i < sizeof(T) && i < code % 4; ++i) bytes[i] = 0;
    std::memcpy(static_cast<void*>(&item), bytes, sizeof(T));
    return item;
  }
}

template <class T>
struct plain_less {
  bool operator()(const T& a, const T& b) const {
    if constexpr (is_real<T>) {  // NaNs are the greatest
      const double x = as_double(a);
      const double y = as_double(b);
      return std::isnan(y) ? !std::isnan(x) : x < y;
    } else {
      return a < b;
    }
  }
};
template <class Word>
struct plain_less<affine<Word>> {
  bool operator()(const affine<Word>& a, const affine<Word>& b) const { return a.a < b.a; }
};

template <class T>
std::vector<T> random_items(source& random, std::size_t count, law distribution) {
  std::vector<T> items;
  items.reserve(count);
  for (const std::uint64_t code : random_codes(random, count, distribution)) {
    items.push_back(item_of<T>(code));
  }
  if (distribution == law::ascending) std::sort(items.begin(), items.end(), plain_less<T>{});
  if (distribution == law::descending) {
    std::sort(items.begin(), items.end(), [](const T& a, const T& b) { return plain_less<T>{}(b, a); });
  }
  return items;
}
template <class T>
std::vector<T> random_items(source& random, std::size_t count) {
  return random_items<T>(random, count, random_law(random));
}

/// Items whose sums are exact in any order. Floats are small integers, most of them 0 if there are many.
template <class T>
std::vector<T> random_addends(source& random, std::size_t count) {
  if constexpr (!is_real<T>) {
    return random_items<T>(random, count);
  } else {
    const std::size_t others = is_half<T> ? 100 : 1u << 20;
    std::vector<T> items(count, T(0.0f));
    for (std::size_t i = 0; i < count; ++i) {
      if (count <= others || random.below(count) < others) {
        items[i] = T(static_cast<float>(random.in(-1, is_half<T> ? 1 : 7)));
      }
    }
    return items;
  }
}

// ---------------------------------------------------------------------------- memory

/// Allocates arrays instead of cudaMalloc, aligned to 256 bytes.
class array_source {
 public:
  virtual ~array_source() = default;
  /// Returns null if the array should use cudaMalloc.
  virtual void* take(std::size_t bytes) = 0;
  virtual void give_back(void* memory) = 0;
};
/// Allocates the arrays that this thread makes now, or null.
inline thread_local array_source* source_of_arrays = nullptr;

/// Device memory between guard bands. It begins `offset` bytes after a multiple of 256.
class guarded {
 public:
  guarded(std::size_t bytes, std::size_t offset) : bytes_(bytes), lead_(band + offset) {
    if (source_of_arrays != nullptr) base_ = static_cast<unsigned char*>(source_of_arrays->take(lead_ + bytes_ + band));
    if (base_ != nullptr) {
      from_ = source_of_arrays;
    } else {
      must(cudaMalloc(reinterpret_cast<void**>(&base_), lead_ + bytes_ + band), "cudaMalloc");
    }
    must(cudaMemset(base_, guard, lead_ + bytes_ + band), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  ~guarded() {
    if (from_ != nullptr) {
      from_->give_back(base_);
    } else {
      static_cast<void>(cudaFree(base_));
    }
  }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  void* data() const { return base_ + lead_; }
  std::size_t bytes() const { return bytes_; }

  void fill(unsigned char byte, cudaStream_t stream) const {
    if (bytes_ == 0) return;
    must(cudaMemsetAsync(data(), byte, bytes_, stream), "cudaMemsetAsync");
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  void write(const void* from, cudaStream_t stream) const {
    if (bytes_ == 0) return;
    must(cudaMemcpyAsync(data(), from, bytes_, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  void read(void* to, cudaStream_t stream) const {
    if (bytes_ != 0) {
      must(cudaMemcpyAsync(to, data(), bytes_, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    }
    must(cudaStreamSynchronize(stream), "the call");
    must_be_intact(stream);
  }
  void must_be_intact(cudaStream_t stream) const {
    std::vector<unsigned char> bands(lead_ + band);
    must(cudaMemcpyAsync(bands.data(), base_, lead_, cudaMemcpyDeviceToHost, stream), "a copy");
    must(cudaMemcpyAsync(bands.data() + lead_, base_ + lead_ + bytes_, band, cudaMemcpyDeviceToHost, stream), "a copy");
    must(cudaStreamSynchronize(stream), "the call");
    for (std::size_t i = 0; i < bands.size(); ++i) {
      if (bands[i] == guard) continue;
      const std::int64_t at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(lead_);
      throw failure("byte " + std::to_string(at < 0 ? at : at + static_cast<std::int64_t>(bytes_)) + " of " +
                    std::to_string(bytes_) + " bytes was written");
    }
  }

 private:
  static constexpr std::size_t band = 512;
  static constexpr unsigned char guard = 0x5a;
  std::size_t bytes_;
  std::size_t lead_;
  unsigned char* base_ = nullptr;
  array_source* from_ = nullptr;
};

inline constexpr unsigned char poison = 0xcd;

/// An array in device memory. Its alignment is at least that of its items, and often no more.
template <class T>
class array {
 public:
  array(std::size_t size, source& random)
      : memory_(size * sizeof(T), random.chance(50) ? 0 : random.below(40) * alignof(T)), size_(size) {}

  T* data() const { return static_cast<T*>(memory_.data()); }
  std::size_t size() const { return size_; }
  void write(const std::vector<T>& items, cudaStream_t stream) const {
    must_be(items.size() == size_, "as many items as the array has");
    memory_.write(items.data(), stream);
  }
  void forget(cudaStream_t stream) const { memory_.fill(poison, stream); }
  /// Waits for the stream.
  std::vector<T> read(cudaStream_t stream) const {
    std::vector<T> items(size_);
    memory_.read(static_cast<void*>(items.data()), stream);
    return items;
  }

 private:
  guarded memory_;
  std::size_t size_;
};

/// An item that nothing was written to since `forget`.
template <class T>
T untouched() {
  T item;
  std::memset(static_cast<void*>(&item), poison, sizeof(T));
  return item;
}

/// `items`, followed by untouched ones up to `size`.
template <class T>
std::vector<T> and_untouched(std::vector<T> items, std::size_t size) {
  items.resize(size, untouched<T>());
  return items;
}

/// The data of most problems: an input array, its content on the host, and an output array.
template <class In, class Out>
struct memory {
  memory(std::size_t inputs, std::size_t outputs, source& random) : in(inputs, random), out(outputs, random) {}
  array<In> in;
  array<Out> out;
  std::vector<In> items;

  void renew(std::vector<In> with, cudaStream_t stream) {
    items = std::move(with);
    in.write(items, stream);
    out.forget(stream);
  }
};

inline std::string description(const char* call, const std::string& type, std::size_t size) {
  return std::string(call) + " of " + std::to_string(size) + " " + type;
}

// ---------------------------------------------------------------------------- cases

/// A call with its arguments and outputs. Shapes are chosen when a problem is made, data by `renew`.
struct problem {
  std::string what;
  /// Makes new inputs, and marks outputs as untouched.
  std::function<void(source&, cudaStream_t)> renew;
  std::function<cudaError_t(void*, std::size_t&, cudaStream_t)> call;
  /// Throws `failure` if an output is wrong.
  std::function<void(cudaStream_t)> check;
  /// True if calls may be captured and replayed.
  bool can_be_captured = true;
  /// True if other threads may make calls, and allocate and free memory, at the same time.
  bool can_be_beside_others = true;
};

using maker = problem (*)(source&);

class stream_of_case {
 public:
  stream_of_case() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~stream_of_case() { static_cast<void>(cudaStreamDestroy(stream_)); }
  stream_of_case(const stream_of_case&) = delete;
  stream_of_case& operator=(const stream_of_case&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Temporary storage of exactly the size that a problem asks for.
class scratch {
 public:
  scratch(const problem& of, source& random) : memory_(asked(of), random.below(256)) {}

  void fill_with_garbage(source& random, cudaStream_t stream) const {
    switch (random.below(4)) {
      case 0:
        memory_.fill(0, stream);
        break;
      case 1:
        memory_.fill(0xff, stream);
        break;
      default: {
        std::vector<std::uint64_t> words(memory_.bytes() / 8 + 1);
        for (std::uint64_t& word : words) word = random();
        memory_.write(words.data(), stream);
      }
    }
  }
  void call(const problem& of, cudaStream_t stream) const {
    std::size_t bytes = memory_.bytes();
    must(of.call(memory_.data(), bytes, stream), "the call");
    must_be(bytes == memory_.bytes(), "the call changed temp_storage_bytes");
  }
  void must_be_intact(cudaStream_t stream) const { memory_.must_be_intact(stream); }

 private:
  static std::size_t asked(const problem& of) {
    std::size_t bytes = 0;
    must(of.call(nullptr, bytes, nullptr), "the size query");
    must_be(bytes > 0, "the size query asks for nothing");
    return bytes;
  }
  guarded memory_;
};

/// Makes several calls with new data in the same temporary storage, as the previous call left it.
inline void run_calls(const problem& of, source& random, std::size_t calls) {
  const stream_of_case stream;
  const scratch storage(of, random);
  storage.fill_with_garbage(random, stream);
  for (std::size_t i = 0; i < calls; ++i) {
    of.renew(random, stream);
    storage.call(of, stream);
    of.check(stream);
    storage.must_be_intact(stream);
  }
}

class recorded_call {
 public:
  /// Captures `call(stream)`, which throws `failure` if it fails.
  template <class Call>
  explicit recorded_call(const Call& call) {
    const stream_of_case recorder;
    must(cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    std::string error;
    try {
      call(static_cast<cudaStream_t>(recorder));
    } catch (const failure& found) {
      error = found.what();
    }
    must(cudaStreamEndCapture(recorder, &graph_), "cudaStreamEndCapture");
    if (!error.empty()) throw failure("while it is captured: " + error);
    must(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  ~recorded_call() {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
  }
  recorded_call(const recorded_call&) = delete;
  recorded_call& operator=(const recorded_call&) = delete;

  void replay(cudaStream_t stream) const { must(cudaGraphLaunch(executable_, stream), "a replay"); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

inline void run_replays(const problem& of, source& random) {
  const stream_of_case stream;
  const scratch storage(of, random);
  const recorded_call recorded([&](cudaStream_t recorder) { storage.call(of, recorder); });
  const std::size_t replays = 1 + random.below(4);
  for (std::size_t i = 0; i < replays; ++i) {
    of.renew(random, stream);
    if (i == 0 || random.chance(30)) storage.fill_with_garbage(random, stream);
    recorded.replay(stream);
    of.check(stream);
    storage.must_be_intact(stream);
  }
}

/// Runs each problem in a thread with a stream of its own, all at the same time. A problem that cannot run beside
/// others ends before the next thread starts.
inline void run_threads(const std::vector<problem>& problems, source& random) {
  std::vector<std::string> errors(problems.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    threads.emplace_back([&problems, &errors, i, seed = random()] {
      try {
        source own(seed);
        run_calls(problems[i], own, 1 + own.below(3));
      } catch (const std::exception& found) {
        errors[i] = found.what();
      }
    });
    if (!problems[i].can_be_beside_others) threads.back().join();
  }
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!errors[i].empty()) throw failure("thread " + std::to_string(i) + ": " + errors[i]);
  }
}

/// On the host back end, chooses the number of multiprocessors, and the order in which threads, warps and blocks run.
/// Returns a description of the device.
inline std::string draw_device(source& random) {
  source own(random());
  std::string device;
#if STRATA_HOST_SIMT
  strata::simt::configuration& config = strata::simt::config();
  config.seed = own.chance(40) ? own.below(2) : own();
  config.order = own.pick({strata::simt::block_order::ascending, strata::simt::block_order::descending,
                           strata::simt::block_order::shuffled});
  config.resident_blocks = own.pick({1u, 2u, 4u, 16u, 64u});
  config.preemption = own.chance(50) ? 0 : 100;
  config.multiprocessors = own.chance(50) ? 4 : own.pick({1u, 2u, 3u, 7u, 16u, 40u, 64u, 132u});
  device = "with " + std::to_string(config.multiprocessors) + " multiprocessors: ";
#endif
  return device;
}

/// Throws if the case fails. `what` receives as much of the case's description as is known by then.
inline void run_case(std::uint64_t seed, const std::vector<maker>& makers, std::string& what) {
  source random(seed);
  const std::string device = draw_device(random);
  what = device + what;
  const std::size_t mode = random.below(100);
  if (mode < 10) {
    const std::size_t threads = is_gpu ? 8 : 2;
    std::vector<problem> problems;
    std::string all = device + "threads";
    for (std::size_t i = 0; i < threads; ++i) {
      problems.push_back(makers[random.below(makers.size())](random));
      all += (i == 0 ? ": " : "; ") + problems.back().what;
    }
    what = all;
    run_threads(problems, random);
    return;
  }
  const problem made = makers[random.below(makers.size())](random);
  what = device + made.what;
  if (mode < 25 && made.can_be_captured) {
    what += ", captured";
    run_replays(made, random);
  } else {
    run_calls(made, random, mode < 35 ? 3 : 1);
  }
}

// ---------------------------------------------------------------------------- the program

struct arguments {
  std::uint64_t seed = 0;
  double seconds = 10;
  std::uint64_t cases = ~std::uint64_t{0};
};

inline bool read_arguments(int count, char** values, arguments& read) {
  bool has_seed = false;
  bool has_end = false;
  for (int i = 1; i < count; i += 2) {
    const std::string name = values[i];
    if (i + 1 == count) return false;
    if (name == "--seed") {
      read.seed = std::strtoull(values[i + 1], nullptr, 0);
      has_seed = true;
    } else if (name == "--seconds") {
      read.seconds = std::strtod(values[i + 1], nullptr);
      has_end = true;
    } else if (name == "--cases") {
      read.cases = std::strtoull(values[i + 1], nullptr, 0);
      if (!has_end) read.seconds = 1e9;
      has_end = true;
    } else {
      return false;
    }
  }
  if (has_seed && !has_end) {
    read.cases = 1;
    read.seconds = 1e9;
  }
  if (!has_seed) {
    std::random_device device;
    read.seed = mixed(std::uint64_t{device()} << 32 | device());
  }
  return true;
}

/// CPU seconds of all threads of this process.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Ends a program that hangs, and prints the seed. A case may take ten minutes of CPU time, so that a busy machine does
/// not fail it, and twenty minutes of wall-clock time, which is less than CTest's limit.
class watchdog {
 public:
  explicit watchdog(const char* family)
      : thread_([this, family] {
          double waited = 0, begin = 0;
          std::uint64_t last = 0;
          while (!ends_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            waited += 0.2;
            if (now_ != last) {
              waited = 0;
              begin = cpu_seconds();
            }
            last = now_;
            if (waited < 1200 && cpu_seconds() - begin < 600) continue;
            std::printf("%s: a case hangs\n  to repeat: --seed 0x%016llx\n", family,
                        static_cast<unsigned long long>(seed_));
            std::fflush(stdout);
            std::_Exit(1);
          }
        }) {}
  ~watchdog() {
    ends_ = true;
    thread_.join();
  }
  void begins(std::uint64_t seed) {
    seed_ = seed;
    ++now_;
  }

 private:
  std::atomic<bool> ends_{false};
  std::atomic<std::uint64_t> now_{0};
  std::atomic<std::uint64_t> seed_{0};
  std::thread thread_;
};

inline int run_family(const char* family, const std::vector<maker>& makers, int count, char** values) {
  arguments asked;
  if (!read_arguments(count, values, asked)) {
    std::fprintf(stderr, "usage: %s [--seed S] [--seconds N] [--cases N]\n", values[0]);
    return 1;
  }
#if !STRATA_HOST_SIMT
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("%s: skipped, no CUDA device\n", family);
    return 77;
  }
#else
  strata::simt::config().quiet = true;
#endif
  using clock = std::chrono::steady_clock;
  const clock::time_point start = clock::now();
  const auto elapsed = [start] { return std::chrono::duration<double>(clock::now() - start).count(); };
  constexpr std::uint64_t most_failures = 10;
  const bool tells_progress = isatty(2) != 0;
  double told = 0;
  std::uint64_t cases = 0;
  std::uint64_t failed = 0;
  bool is_usable = true;
  watchdog dog(family);
  // The first case has the seed that was asked for.
  for (std::uint64_t seed = asked.seed;
       is_usable && failed < most_failures && cases < asked.cases && elapsed() < asked.seconds;
       seed = mixed(seed), ++cases) {
    dog.begins(seed);
    std::string what = "while it is made";
    try {
      run_case(seed, makers, what);
    } catch (const std::exception& found) {
      ++failed;
      std::printf("%s: FAILED\n  to repeat: %s --seed 0x%016llx\n  %s\n  %s\n", family, values[0],
                  static_cast<unsigned long long>(seed), what.c_str(), found.what());
#if STRATA_HOST_SIMT
      if (strata::simt::last_report().kind[0] != 0) {
        std::printf("  %s\n", strata::simt::last_report().text);
        strata::simt::clear_report();
      }
#endif
      std::fflush(stdout);
      static_cast<void>(cudaGetLastError());
      // After a fault, the device cannot be used any more.
      is_usable = cudaDeviceSynchronize() == cudaSuccess;
    }
    if (tells_progress && elapsed() > told + 3) {
      told = elapsed();
      std::fprintf(stderr, "%s: %llu cases, %llu failed, %.0f s\n", family, static_cast<unsigned long long>(cases + 1),
                   static_cast<unsigned long long>(failed), told);
    }
  }
  std::printf("%s: %llu cases, %llu failed, %.1f s, first seed 0x%016llx%s\n", family,
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(failed), elapsed(),
              static_cast<unsigned long long>(asked.seed),
              is_usable ? "" : ", ended because the device is not usable any more");
  return failed == 0 ? 0 : 1;
}

}  // namespace random_test
