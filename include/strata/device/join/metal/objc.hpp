// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <utility>

// Declares the part of the Objective-C runtime that Metal needs, for plain C++: no header of Apple's and no .mm file is
// needed. The functions have names of our own, which asm labels bind to the real symbols. So nothing clashes with
// <objc/...>, <Metal/Metal.h> or metal-cpp in the same file. Objects are void*, because ARC does not manage these.
#define STRATA_DETAIL_TEXT2(x) #x
#define STRATA_DETAIL_TEXT(x) STRATA_DETAIL_TEXT2(x)
#define STRATA_DETAIL_SYMBOL(name) __asm__(STRATA_DETAIL_TEXT(__USER_LABEL_PREFIX__) name)
extern "C" {
void strata_objc_send(void) STRATA_DETAIL_SYMBOL("objc_msgSend");
void* strata_objc_selector(const char* name) STRATA_DETAIL_SYMBOL("sel_registerName");
void* strata_objc_class(const char* name) STRATA_DETAIL_SYMBOL("objc_lookUpClass");
void* strata_objc_pool_push(void) STRATA_DETAIL_SYMBOL("objc_autoreleasePoolPush");
void strata_objc_pool_pop(void* pool) STRATA_DETAIL_SYMBOL("objc_autoreleasePoolPop");
// nil in a program that is not linked to CoreGraphics.
void* strata_metal_default_device(void) STRATA_DETAIL_SYMBOL("MTLCreateSystemDefaultDevice");
void* strata_metal_all_devices(void) STRATA_DETAIL_SYMBOL("MTLCopyAllDevices");
}
#undef STRATA_DETAIL_SYMBOL
#undef STRATA_DETAIL_TEXT
#undef STRATA_DETAIL_TEXT2

STRATA_NAMESPACE_BEGIN
namespace detail {
namespace metal {
namespace objc {

using uinteger = unsigned long;  // NSUInteger
using integer = long;            // NSInteger
using id = void*;
struct mtl_size {
  uinteger width;
  uinteger height;
  uinteger depth;
};

/// A selector with its signature. There is one constant for each selector, so that no call passes an int where an
/// NSUInteger is wanted. No selector may return a structure, because x86-64 has another function for such selectors.
template <class Signature>
class message;

template <class Result, class... Arguments>
class message<Result(Arguments...)> {
 public:
  constexpr explicit message(const char* name)
      : name_(colons(name) == sizeof...(Arguments) ? name : selector_and_signature_disagree(name)) {}

  Result operator()(id self, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(id, void*, Arguments...)>(&strata_objc_send)(self, strata_objc_selector(name_),
                                                                                    arguments...);
  }

 private:
  // Not constexpr, so that a constant with a wrong name does not compile.
  static const char* selector_and_signature_disagree(const char* name) { return name; }

  static constexpr unsigned colons(const char* text) {
    unsigned count = 0;
    for (; *text != '\0'; ++text) count += *text == ':' ? 1u : 0u;
    return count;
  }

  const char* name_;
};

inline constexpr message<void()> release{"release"};
inline constexpr message<id()> retain{"retain"};
inline constexpr message<uinteger()> count{"count"};
inline constexpr message<id(uinteger)> object_at{"objectAtIndex:"};
inline constexpr message<id(const char*)> string_with_utf8{"stringWithUTF8String:"};
inline constexpr message<const char*()> utf8{"UTF8String"};
inline constexpr message<id()> description{"localizedDescription"};
// MTLDevice
inline constexpr message<id()> name{"name"};
inline constexpr message<bool(integer)> supports_family{"supportsFamily:"};
inline constexpr message<uinteger()> max_threadgroup_memory{"maxThreadgroupMemoryLength"};
inline constexpr message<uinteger()> max_buffer_length{"maxBufferLength"};
inline constexpr message<id()> new_command_queue{"newCommandQueue"};
inline constexpr message<id(uinteger, uinteger)> new_buffer{"newBufferWithLength:options:"};
inline constexpr message<id(void*, uinteger, uinteger, void*)> new_buffer_no_copy{
    "newBufferWithBytesNoCopy:length:options:deallocator:"};
inline constexpr message<id(id, id, id*)> new_library{"newLibraryWithSource:options:error:"};
inline constexpr message<id(id)> new_function{"newFunctionWithName:"};
inline constexpr message<id(id, id*)> new_pipeline{"newComputePipelineStateWithFunction:error:"};
// MTLComputePipelineState, MTLBuffer
inline constexpr message<uinteger()> max_threads{"maxTotalThreadsPerThreadgroup"};
inline constexpr message<uinteger()> simd_width{"threadExecutionWidth"};
inline constexpr message<void*()> contents{"contents"};
// MTLCommandQueue, MTLCommandBuffer, MTLComputeCommandEncoder
inline constexpr message<id()> device{"device"};
inline constexpr message<id()> command_buffer{"commandBuffer"};
inline constexpr message<id()> compute_encoder{"computeCommandEncoder"};
inline constexpr message<void(id)> set_pipeline{"setComputePipelineState:"};
inline constexpr message<void(id, uinteger, uinteger)> set_buffer{"setBuffer:offset:atIndex:"};
inline constexpr message<void(const void*, uinteger, uinteger)> set_bytes{"setBytes:length:atIndex:"};
inline constexpr message<void(uinteger, uinteger)> set_threadgroup_memory{"setThreadgroupMemoryLength:atIndex:"};
inline constexpr message<void(mtl_size, mtl_size)> dispatch_groups{"dispatchThreadgroups:threadsPerThreadgroup:"};
inline constexpr message<void()> end_encoding{"endEncoding"};
inline constexpr message<void()> commit{"commit"};
inline constexpr message<void()> wait{"waitUntilCompleted"};
inline constexpr message<uinteger()> status{"status"};
inline constexpr message<id()> error{"error"};

/// Owns a reference to an object: releases it once.
class ref {
 public:
  ref() = default;
  explicit ref(id object) : object_(object) {}
  ref(ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ref& operator=(ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ref() {
    if (object_ != nullptr) release(object_);
  }
  id get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  id object_ = nullptr;
};

class autorelease_pool {
 public:
  autorelease_pool() = default;
  autorelease_pool(const autorelease_pool&) = delete;
  autorelease_pool& operator=(const autorelease_pool&) = delete;
  ~autorelease_pool() { strata_objc_pool_pop(pool_); }

 private:
  void* pool_ = strata_objc_pool_push();
};

/// Returns an NSString, which lives until the surrounding autorelease pool ends. So do the characters that text_of
/// returns.
inline id string_of(const char* text) { return string_with_utf8(strata_objc_class("NSString"), text); }
inline const char* text_of(id ns_error) {
  const char* text = ns_error == nullptr ? nullptr : utf8(description(ns_error));
  return text == nullptr ? "unknown error" : text;
}

}  // namespace objc
}  // namespace metal
}  // namespace detail
STRATA_NAMESPACE_END
