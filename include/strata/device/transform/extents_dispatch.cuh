// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/type_name.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/transform/dispatch.cuh>
#include <strata/device/transform/extents.hpp>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

/// \file
/// Calls with the indices of an array of several dimensions, and copies of such arrays.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True for types that have the members of an mdspan.
template <class T, class = void>
inline constexpr bool is_mdspan = false;
template <class T>
inline constexpr bool is_mdspan<
    T, std::void_t<decltype(std::declval<const T&>().accessor().access(std::declval<const T&>().data_handle(), 0)),
                   decltype(std::declval<const T&>().mapping().required_span_size()), typename T::element_type,
                   typename T::accessor_type>> = is_layout_mapping<typename T::mapping_type>;

/// True for an mdspan whose elements lie in an array: neither the elements nor their addresses are computed by an
/// accessor.
template <class Mdspan>
constexpr bool is_of_array() {
  if constexpr (std::is_pointer_v<typename Mdspan::data_handle_type>) {
    return detail::is_name(detail::without_namespaces(detail::type_name<typename Mdspan::accessor_type>()),
                           "default_accessor");
  } else {
    return false;
  }
}

/// Copies the element at the given indices from `in` to `out`.
template <class MdspanIn, class MdspanOut>
struct copy_element {
  MdspanIn in;
  MdspanOut out;
  template <class Number, class... Indices>
  STRATA_D void operator()(Number, Indices... indices) const {
    out.accessor().access(out.data_handle(), static_cast<std::size_t>(out.mapping()(indices...))) =
        in.accessor().access(in.data_handle(), static_cast<std::size_t>(in.mapping()(indices...)));
  }
};

struct copy_item {
  template <class T>
  STRATA_HD const T& operator()(const T& item) const {
    return item;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Calls an operator with the index of each element, and its index in each dimension. Calls of fewer than 2^31 elements
/// compute the latter by divisions of 32 bits.
template <class PolicyHub, class Index, bool IsLeft, int Rank, class Op>
cudaError_t for_each_index(const char* name, void* d_temp_storage, std::size_t& temp_storage_bytes,
                           const extent_values<Rank>& values, const Op& op, cudaStream_t stream) {
  constexpr std::uint64_t most_in_32_bits = 0x7fffffff;
  if constexpr (static_cast<std::uint64_t>(std::numeric_limits<Index>::max()) > most_in_32_bits) {
    if (values.size > most_in_32_bits) {
      using Call = call_with_indices<Index, unsigned long long, Rank, IsLeft, Op>;
      const CountingInputIterator<unsigned long long> first(0);
      return detail::dispatch_transform<true, PolicyHub>(name, d_temp_storage, temp_storage_bytes, first, no_output{},
                                                         values.size, Call(values, op), stream, first);
    }
  }
  using Call = call_with_indices<Index, unsigned, Rank, IsLeft, Op>;
  const CountingInputIterator<unsigned> first(0);
  return detail::dispatch_transform<true, PolicyHub>(name, d_temp_storage, temp_storage_bytes, first, no_output{},
                                                     values.size, Call(values, op), stream, first);
}

/// One call of DeviceCopy::Copy. If both arrays have their elements side by side in the same order, they are copied as
/// one array. If not, they are copied element by element. In a copy by elements, the first index changes fastest if the
/// first stride of the output is less than its last one. Otherwise the last index does.
template <class MdspanIn, class MdspanOut>
cudaError_t dispatch_mdspan_copy(void* d_temp_storage, std::size_t& temp_storage_bytes, const MdspanIn& in,
                                 const MdspanOut& out, cudaStream_t stream) {
  using Index = typename MdspanOut::index_type;
  constexpr int rank = static_cast<int>(MdspanOut::rank());
  const char* const name = "strata::DeviceCopy::Copy";
  extent_values<rank> values, of_input;
  if (detail::is_refused(!values.template read<Index>(out.extents()), "mdspan_out",
                         "has a negative extent, or more elements than its index_type can represent") ||
      detail::is_refused(!of_input.template read<typename MdspanIn::index_type>(in.extents()), "mdspan_in",
                         "has a negative extent, or more elements than its index_type can represent")) {
    return cudaErrorInvalidValue;
  }
  bool is_same = true;
  for (int r = 0; r < rank; ++r) is_same = is_same && values.extent[r] == of_input.extent[r];
  if (detail::is_refused(!is_same, "mdspan_out", "has other extents than mdspan_in")) return cudaErrorInvalidValue;
  if (d_temp_storage != nullptr && values.size > 0) {
    if constexpr (std::is_pointer_v<typename MdspanIn::data_handle_type> &&
                  std::is_pointer_v<typename MdspanOut::data_handle_type>) {
      if (detail::refuses_null(in.data_handle(), "mdspan_in") ||
          detail::refuses_null(out.data_handle(), "mdspan_out") ||
          detail::outputs_overlap(
              {detail::bytes_of(out.data_handle(), static_cast<std::size_t>(out.mapping().required_span_size()),
                                "mdspan_out")},
              {detail::bytes_of(in.data_handle(), static_cast<std::size_t>(in.mapping().required_span_size()),
                                "mdspan_in")})) {
        return cudaErrorInvalidValue;
      }
    }
  }
  if constexpr (detail::is_of_array<MdspanIn>() && detail::is_of_array<MdspanOut>()) {
    for (const bool is_left : {false, true}) {
      if (values.size == 0 ||
          (values.has_strides_of(in.mapping(), is_left) && values.has_strides_of(out.mapping(), is_left))) {
        return detail::dispatch_transform<false>(name, d_temp_storage, temp_storage_bytes, out.data_handle(),
                                                 out.data_handle(), values.size, copy_item{}, stream, in.data_handle());
      }
    }
  }
  const copy_element<MdspanIn, MdspanOut> copy{in, out};
  if constexpr (rank > 1) {
    if (mapping_strides<std::decay_t<decltype(out.mapping())>>::exist(out.mapping()) &&
        out.mapping().stride(0) < out.mapping().stride(static_cast<std::size_t>(rank - 1))) {
      return detail::for_each_index<default_policy_hub, Index, true>(name, d_temp_storage, temp_storage_bytes, values,
                                                                     copy, stream);
    }
  }
  return detail::for_each_index<default_policy_hub, Index, false>(name, d_temp_storage, temp_storage_bytes, values,
                                                                  copy, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
