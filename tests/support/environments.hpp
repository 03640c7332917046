// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stand-in for libcu++'s environments, which only libcu++ 3.1 and newer has. Types have the names of libcu++ in
// another namespace, so that both can be used in one program.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "support/stream_classes.hpp"

namespace cuda {
namespace strata_test {

struct get_stream_t {};
namespace mr {
struct __get_memory_resource_t {};
using get_memory_resource_t = __get_memory_resource_t;
}  // namespace mr

template <class Environment, class Query, class = void>
inline constexpr bool can_query = false;
template <class Environment, class Query>
inline constexpr bool
    can_query<Environment, Query, std::void_t<decltype(std::declval<const Environment&>().query(Query()))>> = true;

namespace execution {

/// An environment that answers one query.
template <class Query, class Value>
struct prop {
  template <class... Arguments>
  constexpr const Value& query(Query, Arguments&&...) const noexcept {
    return value;
  }

  Query tag;
  Value value;
};
template <class Query, class Value>
prop(Query, Value) -> prop<Query, Value>;

/// Combines environments: the first one that can answer a query does.
template <class... Environments>
struct env {
  template <class Query, std::size_t I = 0>
  static constexpr std::size_t first() {
    if constexpr (I == sizeof...(Environments)) {
      return I;
    } else if constexpr (can_query<std::tuple_element_t<I, std::tuple<Environments...>>, Query>) {
      return I;
    } else {
      return first<Query, I + 1>();
    }
  }
  template <class Query, std::size_t I = first<Query>(), std::enable_if_t<I != sizeof...(Environments), int> = 0>
  constexpr decltype(auto) query(Query query) const noexcept {
    return std::get<I>(all).query(query);
  }

  explicit env(Environments... environments) : all(environments...) {}

  std::tuple<Environments...> all;
};
template <>
struct env<> {
  void query() const = delete;
};

struct __get_requirements_t {};

/// A requirement is also an environment: it answers its own query.
template <class Query, class Enumeration, Enumeration Value>
struct requirement {
  static constexpr Enumeration value = Value;
  constexpr requirement query(const Query&) const noexcept { return *this; }
};
template <class... Requirements>
auto require(Requirements... all) {
  return prop<__get_requirements_t, env<Requirements...>>{{}, env<Requirements...>(all...)};
}

namespace determinism {
struct __get_determinism_t {};
enum class __determinism_t { __not_guaranteed, __run_to_run, __gpu_to_gpu };
template <__determinism_t Value>
using holder = requirement<__get_determinism_t, __determinism_t, Value>;
inline constexpr holder<__determinism_t::__not_guaranteed> not_guaranteed{};
inline constexpr holder<__determinism_t::__run_to_run> run_to_run{};
inline constexpr holder<__determinism_t::__gpu_to_gpu> gpu_to_gpu{};
}  // namespace determinism

namespace output_ordering {
struct __get_output_ordering_t {};
enum class __output_ordering_t { __sorted, __unsorted, __stable_sorted };
template <__output_ordering_t Value>
using holder = requirement<__get_output_ordering_t, __output_ordering_t, Value>;
inline constexpr holder<__output_ordering_t::__sorted> sorted{};
inline constexpr holder<__output_ordering_t::__unsorted> unsorted{};
inline constexpr holder<__output_ordering_t::__stable_sorted> stable_sorted{};
}  // namespace output_ordering

namespace tie_break {
struct __get_tie_break_t {};
enum class __tie_break_t { __unspecified, __prefer_smaller_index, __prefer_larger_index };
template <__tie_break_t Value>
using holder = requirement<__get_tie_break_t, __tie_break_t, Value>;
inline constexpr holder<__tie_break_t::__unspecified> unspecified{};
inline constexpr holder<__tie_break_t::__prefer_smaller_index> prefer_smaller_index{};
inline constexpr holder<__tie_break_t::__prefer_larger_index> prefer_larger_index{};
}  // namespace tie_break

}  // namespace execution

/// Operators that strata recognises by their names, which are libcu++'s.
template <class T = void>
struct minimum {};
template <class T = void>
struct maximum {};

/// Like libcu++'s stream_ref, it is also an environment: asked for a stream, it returns itself.
class stream_ref : public ::strata_test::stream_ref {
 public:
  using ::strata_test::stream_ref::stream_ref;
  constexpr stream_ref query(const get_stream_t&) const noexcept { return *this; }
};

/// A stand-in for libcu++'s memory resource reference. It allocates from a `Memory` that it refers to.
template <class Memory>
class resource_ref {
 public:
  explicit resource_ref(Memory& memory) : memory_(&memory) {}
  void* allocate(stream_ref stream, std::size_t bytes, std::size_t /*alignment*/) {
    return memory_->allocate(bytes, stream.get());
  }
  void deallocate(stream_ref stream, void* memory, std::size_t bytes, std::size_t /*alignment*/) {
    memory_->deallocate(memory, bytes, stream.get());
  }
  constexpr const resource_ref& query(const mr::__get_memory_resource_t&) const noexcept { return *this; }

 private:
  Memory* memory_;
};

}  // namespace strata_test
}  // namespace cuda
