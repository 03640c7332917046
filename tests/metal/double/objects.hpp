// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Objective-C side of the double: classes, reference counts, autorelease pools.
#pragma once

#include <atomic>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace metal_double {

struct class_info;
using selector = const char*;  // equal names have the same address

// The object that an `id` points to. It has no vtable, because the class must be the first word.
struct object {
  class_info* isa;
  std::atomic<long> references{1};
  void (*destroy)(object*) = nullptr;

  explicit object(const char* class_name);
  ~object();
};
struct class_info : object {
  class_info() : object(nullptr) {}
  std::string name;
  class_info* meta = nullptr;
  std::unordered_map<selector, void*> methods;
};

[[noreturn]] void die(const char* format, ...);

void retain(object* o);
void drop(object* o);
void autorelease(object* o);
// Keeps the memory of a destroyed object, so that a later message to it is noticed.
void bury(object* destroyed);
class_info* class_of(const char* name);
selector selector_of(const char* name);
// Adds all methods to their classes, once.
void install();

template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  auto* const made = new T(std::forward<Arguments>(arguments)...);
  made->destroy = [](object* o) {
    static_cast<T*>(o)->~T();
    bury(o);
  };
  return made;
}
template <class T>
T* autoreleased(T* o) {
  autorelease(o);
  return o;
}

// A strong reference.
template <class T>
class hold {
 public:
  hold() = default;
  explicit hold(T* o) : object_(o) {
    if (o != nullptr) retain(o);
  }
  hold(const hold& other) : hold(other.object_) {}
  hold& operator=(hold other) {
    std::swap(object_, other.object_);
    return *this;
  }
  ~hold() {
    if (object_ != nullptr) drop(object_);
  }
  T* operator->() const { return object_; }
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

void add_method(class_info* to, const char* name, unsigned arguments, void* implementation);

// Adds a method. Its name has one colon for each argument. "+Class" adds a class method.
template <class Result, class Self, class... Arguments>
void add(const char* class_name, const char* name, Result (*implementation)(Self, selector, Arguments...)) {
  class_info* const c = class_of(class_name[0] == '+' ? class_name + 1 : class_name);
  add_method(class_name[0] == '+' ? c->meta : c, name, sizeof...(Arguments), reinterpret_cast<void*>(implementation));
}

}  // namespace metal_double
