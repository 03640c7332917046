// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stand-in for NCCL: where data arrives, and reductions.
#include <strata/simt/half.hpp>
#include <strata/simt/runtime/nccl_state.hpp>

#include <cstring>
#include <type_traits>

namespace strata {
namespace simt {
namespace engine {
namespace nccl {
namespace {

template <class T>
struct plain_number {
  static constexpr size_t bytes = sizeof(T);
  static T load(const char* from) {
    T value;
    std::memcpy(&value, from, bytes);
    return value;
  }
  static void store(char* to, T value) { std::memcpy(to, &value, bytes); }
};
template <int MantissaBits, int ExponentBits>
struct narrow_number {
  static constexpr size_t bytes = 2;
  static float load(const char* from) {
    return detail::widen<MantissaBits, ExponentBits>(plain_number<uint16_t>::load(from));
  }
  static void store(char* to, float value) {
    plain_number<uint16_t>::store(to, detail::narrow<MantissaBits, ExponentBits>(value));
  }
};

// Integers wrap around, as on the device.
template <class T>
T apply(ncclRedOp_t reduction, T a, T b) {
  switch (reduction) {
    case ncclMax:
      return a < b ? b : a;
    case ncclMin:
      return b < a ? b : a;
    case ncclProd:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      } else {
        return a * b;
      }
    default:
      if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      } else {
        return a + b;
      }
  }
}

// Values are combined in the order of ranks, so that all ranks and all runs get the same bits.
template <class Number>
void reduce_as(ncclRedOp_t reduction, const std::vector<operation_handle>& calls, size_t first, size_t count,
               char* result) {
  constexpr size_t bytes = Number::bytes;
  for (size_t i = 0; i < count; ++i) {
    auto sum = Number::load(static_cast<const char*>(calls[0]->call.send) + (first + i) * bytes);
    for (size_t r = 1; r < calls.size(); ++r) {
      sum = apply(reduction, sum, Number::load(static_cast<const char*>(calls[r]->call.send) + (first + i) * bytes));
    }
    if (reduction == ncclAvg) sum = static_cast<decltype(sum)>(sum / static_cast<decltype(sum)>(calls.size()));
    Number::store(result + i * bytes, sum);
  }
}

std::vector<char> reduce(const std::vector<operation_handle>& calls, size_t first, size_t count) {
  const ncclDataType_t type = calls[0]->call.type;
  const ncclRedOp_t reduction = calls[0]->call.reduction;
  std::vector<char> result(count * size_of(type));
  const auto as = [&](auto number) { reduce_as<decltype(number)>(reduction, calls, first, count, result.data()); };
  switch (type) {
    case ncclInt8:
      as(plain_number<int8_t>{});
      break;
    case ncclUint8:
      as(plain_number<uint8_t>{});
      break;
    case ncclInt32:
      as(plain_number<int32_t>{});
      break;
    case ncclUint32:
      as(plain_number<uint32_t>{});
      break;
    case ncclInt64:
      as(plain_number<int64_t>{});
      break;
    case ncclUint64:
      as(plain_number<uint64_t>{});
      break;
    case ncclFloat16:
      as(narrow_number<10, 5>{});
      break;
    case ncclBfloat16:
      as(narrow_number<7, 8>{});
      break;
    case ncclFloat32:
      as(plain_number<float>{});
      break;
    default:
      as(plain_number<double>{});
  }
  return result;
}

void store_result(const std::vector<char>& bytes, const std::vector<operation_handle>& calls, size_t first_byte,
                  const std::vector<void*>& targets) {
  std::vector<const void*> sources;
  for (const operation_handle& call : calls) {
    sources.push_back(static_cast<const char*>(call->call.send) + first_byte);
  }
  for (void* const to : targets) store_allocated(to, bytes.data(), bytes.size(), sources);
}

}  // namespace

size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 0;
  }
}

bool reduces(call_kind kind) {
  return kind == call_kind::all_reduce || kind == call_kind::reduce || kind == call_kind::reduce_scatter;
}

size_t sent_bytes(const communicator& owner, const call_arguments& call) {
  const size_t bytes = call.count * size_of(call.type);
  switch (call.kind) {
    case call_kind::receive:
      return 0;
    case call_kind::reduce_scatter:
      return bytes * static_cast<size_t>(owner.all->ranks);
    case call_kind::broadcast:
      return call.peer == owner.rank ? bytes : 0;
    default:
      return bytes;
  }
}
size_t received_bytes(const communicator& owner, const call_arguments& call) {
  const size_t bytes = call.count * size_of(call.type);
  switch (call.kind) {
    case call_kind::send:
      return 0;
    case call_kind::all_gather:
      return bytes * static_cast<size_t>(owner.all->ranks);
    case call_kind::reduce:
      return call.peer == owner.rank ? bytes : 0;
    default:
      return bytes;
  }
}

void move_bytes(const std::vector<operation_handle>& calls) {
  const std::lock_guard<std::recursive_mutex> lock(api_mutex());
  const call_arguments& first = calls[0]->call;
  const size_t bytes = first.count * size_of(first.type);
  switch (first.kind) {
    case call_kind::all_gather:
      for (const operation_handle& to : calls) {
        char* target = static_cast<char*>(to->call.receive);
        for (const operation_handle& from : calls) {
          copy_allocated(target, from->call.send, bytes);
          target += bytes;
        }
      }
      break;
    case call_kind::broadcast: {
      const operation& from = *calls[static_cast<size_t>(first.peer)];
      for (const operation_handle& to : calls) copy_allocated(to->call.receive, from.call.send, bytes);
      break;
    }
    case call_kind::all_reduce: {
      std::vector<void*> targets;
      for (const operation_handle& to : calls) targets.push_back(to->call.receive);
      store_result(reduce(calls, 0, first.count), calls, 0, targets);
      break;
    }
    case call_kind::reduce:
      store_result(reduce(calls, 0, first.count), calls, 0, {calls[static_cast<size_t>(first.peer)]->call.receive});
      break;
    default: {  // reduce_scatter; all are reduced before the first is stored, which may be in place
      std::vector<std::vector<char>> parts;
      for (size_t r = 0; r < calls.size(); ++r) parts.push_back(reduce(calls, r * first.count, first.count));
      for (size_t r = 0; r < calls.size(); ++r) store_result(parts[r], calls, r * bytes, {calls[r]->call.receive});
    }
  }
}

void move_bytes(const operation& from, const operation& to) {
  if (const size_t bytes = from.call.count * size_of(from.call.type)) {
    const std::lock_guard<std::recursive_mutex> lock(api_mutex());
    copy_allocated(to.call.receive, from.call.send, bytes);
  }
}

bool is_memory_there(const operation& what) {
  const size_t sent = sent_bytes(*what.owner, what.call), received = received_bytes(*what.owner, what.call);
  return (sent == 0 || is_allocated(what.call.send, sent)) &&
         (received == 0 || is_allocated(what.call.receive, received));
}

}  // namespace nccl
}  // namespace engine
}  // namespace simt
}  // namespace strata
