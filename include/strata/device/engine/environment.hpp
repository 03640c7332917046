// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/type_name.hpp>
#include <strata/core/macros.hpp>

#include <type_traits>
#include <utility>

/// \file
/// Environments of libcu++ (`cuda::std::execution::env`), without its headers. An environment answers queries: it has a
/// function `query(tag)` for each thing that it holds. Tags are recognised by their names.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The queries that a call makes to an environment, and to the requirements in it.
enum class environment_query { stream, memory, requirements, determinism, output_ordering, tie_break };

template <environment_query Query, class Tag>
constexpr bool is_tag_of() {
  const char* text = detail::type_name<Tag>();
  if (!detail::skips(text, "cuda::")) return false;
  text = detail::without_namespaces(text);
  switch (Query) {
    case environment_query::stream:
      return detail::is_name(text, "get_stream_t");
    case environment_query::memory:
      return detail::is_name(text, "__get_memory_resource_t") || detail::is_name(text, "get_memory_resource_t");
    case environment_query::requirements:
      return detail::is_name(text, "__get_requirements_t");
    case environment_query::determinism:
      return detail::is_name(text, "__get_determinism_t");
    case environment_query::output_ordering:
      return detail::is_name(text, "__get_output_ordering_t");
    case environment_query::tie_break:
      return detail::is_name(text, "__get_tie_break_t");
  }
  return false;
}

template <environment_query Query, class Tag>
inline constexpr bool is_tag = detail::is_tag_of<Query, Tag>();

/// Takes the place of the tag of a query, and converts to nothing but that tag. So an environment chooses the same
/// function as for the tag.
template <environment_query Query>
struct any_tag {
  // The condition is the variable `is_tag`, not the function `is_tag_of()`. Templates of libcu++ that are declared
  // earlier use this conversion, and there nvcc does not find the function by its qualified name.
  template <class Tag, class = std::enable_if_t<is_tag<Query, Tag>>>
  constexpr operator Tag() const noexcept {
    return Tag{};
  }
};

/// The type of an environment's answer to a query, or void if it has none.
template <class Environment, environment_query Query, class = void>
struct environment_answer {
  using type = void;
};
template <class Environment, environment_query Query>
struct environment_answer<Environment, Query,
                          std::void_t<decltype(std::declval<const Environment&>().query(any_tag<Query>{}))>> {
  using type = decltype(std::declval<const Environment&>().query(any_tag<Query>{}));
};
template <class Environment, environment_query Query>
using environment_answer_t = typename environment_answer<Environment, Query>::type;
template <class Environment, environment_query Query>
inline constexpr bool answers = !std::is_void_v<environment_answer_t<Environment, Query>>;

/// True for `cuda::std::execution::env` and `prop`, even if they hold nothing that a call asks for.
template <class T>
constexpr bool is_named_environment() {
  const char* text = detail::type_name<T>();
  if (!detail::skips(text, "cuda::")) return false;
  text = detail::without_namespaces(text);
  return detail::is_name(text, "env") || detail::is_name(text, "prop");
}

template <class T>
constexpr bool is_environment_class() {
  if constexpr (!std::is_class_v<T>) {
    return false;
  } else {
    return answers<T, environment_query::stream> || answers<T, environment_query::memory> ||
           answers<T, environment_query::requirements> || detail::is_named_environment<T>();
  }
}
template <class T>
inline constexpr bool is_environment = detail::is_environment_class<std::remove_cv_t<std::remove_reference_t<T>>>();

// ------------------------------------------------------------------ requirements

/// Degrees of determinism that can be required, with the numbers of libcu++'s enumerators.
enum class determinism { not_guaranteed, run_to_run, gpu_to_gpu };
enum class output_ordering { sorted, unsorted, stable_sorted };
enum class tie_break { unspecified, prefer_smaller_index, prefer_larger_index };

/// Returns the number of the requirement, or `otherwise` if there is none.
template <class Requirements, environment_query Query>
constexpr int required_number(int otherwise) {
  using Answer = std::decay_t<environment_answer_t<Requirements, Query>>;
  if constexpr (std::is_void_v<Answer>) {
    return otherwise;
  } else {
    return static_cast<int>(Answer::value);
  }
}

/// What `cuda::execution::require` in an environment requires of a call.
template <class Environment>
struct requirements_of {
  using all = std::decay_t<environment_answer_t<Environment, environment_query::requirements>>;

  static constexpr auto how_often = static_cast<determinism>(
      detail::required_number<all, environment_query::determinism>(static_cast<int>(determinism::not_guaranteed)));
  static constexpr auto order = static_cast<output_ordering>(
      detail::required_number<all, environment_query::output_ordering>(static_cast<int>(output_ordering::unsorted)));
  static constexpr auto ties = static_cast<tie_break>(
      detail::required_number<all, environment_query::tie_break>(static_cast<int>(tie_break::unspecified)));
  static constexpr bool are_required = !answers<Environment, environment_query::determinism> &&
                                       !answers<Environment, environment_query::output_ordering> &&
                                       !answers<Environment, environment_query::tie_break>;
};

/// Properties of the result of a call.
enum class call_result {
  fixed,       ///< The same on every GPU. Among equal items, the first ones are taken.
  sorted,      ///< The same on every GPU, in the order of the keys; equal keys keep their order.
  associated,  ///< The same from run to run. How operands are associated depends on the GPU.
  unordered,   ///< It may change from run to run, for example its order.
  as_asked     ///< Like `unordered` if an argument may change results, else like `associated`.
};

/// True for the type of an argument with which the result may change from run to run: its member of this name says so.
template <class Argument, class = void>
inline constexpr bool may_change_results = false;
template <class Argument>
inline constexpr bool may_change_results<Argument, std::enable_if_t<Argument::may_change_results>> = true;

/// The properties of the result of a call with arguments of these types.
template <call_result Result, class... Arguments>
inline constexpr call_result result_of_arguments = Result != call_result::as_asked          ? Result
                                                   : (may_change_results<Arguments> || ...) ? call_result::unordered
                                                                                            : call_result::associated;

/// Fails to compile, with one sentence, if a call cannot keep what an environment requires. `IsExact` says that the
/// result is the same for each association of operands.
template <call_result Result, bool IsExact, class Environment>
constexpr void check_requirements() {
  using required = requirements_of<Environment>;
  static_assert(required::are_required,
                "a requirement has no effect if it is itself an element of an environment: pass it to "
                "cuda::execution::require");
  static_assert(required::how_often == determinism::not_guaranteed || Result != call_result::unordered,
                "this result may change from run to run: pass OrderedJoinOptions, or groups that are sorted() or in "
                "first_occurrence(), without group_any and unordered(), or require determinism::not_guaranteed");
  static_assert(
      required::how_often != determinism::gpu_to_gpu || Result != call_result::associated || IsExact,
      "determinism::gpu_to_gpu holds for DeviceReduce::Sum, Reduce and TransformReduce, for known operators of "
      "integers, and for Min and Max: this result depends on how a GPU associates its operands, so require "
      "determinism::run_to_run");
  static_assert(required::order == output_ordering::unsorted || Result == call_result::sorted,
                "this result is not sorted: call the function with Sorted or Sort in its name, or require "
                "output_ordering::unsorted");
  static_assert(required::ties != tie_break::prefer_larger_index,
                "among equal items this call takes the first ones: require tie_break::prefer_smaller_index or "
                "unspecified");
}

}  // namespace detail
STRATA_NAMESPACE_END
