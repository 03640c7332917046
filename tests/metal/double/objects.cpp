// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "objects.hpp"

#include "metal_double.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <vector>

// objc_msgSend preserves the registers of arguments, looks up the method and jumps to it. A message to nil returns 0.
#if defined(__x86_64__)
asm(R"(
.text
.globl objc_msgSend
.type objc_msgSend,@function
objc_msgSend:
  testq %rdi,%rdi
  jz 1f
  pushq %rbp; movq %rsp,%rbp; subq $192,%rsp
  movq %rdi,0(%rsp); movq %rsi,8(%rsp); movq %rdx,16(%rsp)
  movq %rcx,24(%rsp); movq %r8,32(%rsp); movq %r9,40(%rsp); movq %rax,48(%rsp)
  movdqu %xmm0,64(%rsp); movdqu %xmm1,80(%rsp); movdqu %xmm2,96(%rsp); movdqu %xmm3,112(%rsp)
  movdqu %xmm4,128(%rsp); movdqu %xmm5,144(%rsp); movdqu %xmm6,160(%rsp); movdqu %xmm7,176(%rsp)
  call metal_double_lookup@PLT
  movq %rax,%r11
  movdqu 64(%rsp),%xmm0; movdqu 80(%rsp),%xmm1; movdqu 96(%rsp),%xmm2; movdqu 112(%rsp),%xmm3
  movdqu 128(%rsp),%xmm4; movdqu 144(%rsp),%xmm5; movdqu 160(%rsp),%xmm6; movdqu 176(%rsp),%xmm7
  movq 0(%rsp),%rdi; movq 8(%rsp),%rsi; movq 16(%rsp),%rdx
  movq 24(%rsp),%rcx; movq 32(%rsp),%r8; movq 40(%rsp),%r9; movq 48(%rsp),%rax
  leave
  jmp *%r11
1: xorl %eax,%eax; xorl %edx,%edx; pxor %xmm0,%xmm0; ret
.size objc_msgSend,.-objc_msgSend
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl objc_msgSend
.type objc_msgSend,%function
objc_msgSend:
  cbz x0, 1f
  stp x29,x30,[sp,#-224]!
  mov x29,sp
  stp x0,x1,[sp,#16]; stp x2,x3,[sp,#32]; stp x4,x5,[sp,#48]; stp x6,x7,[sp,#64]; str x8,[sp,#80]
  stp q0,q1,[sp,#96]; stp q2,q3,[sp,#128]; stp q4,q5,[sp,#160]; stp q6,q7,[sp,#192]
  bl metal_double_lookup
  mov x16,x0
  ldp q0,q1,[sp,#96]; ldp q2,q3,[sp,#128]; ldp q4,q5,[sp,#160]; ldp q6,q7,[sp,#192]
  ldp x0,x1,[sp,#16]; ldp x2,x3,[sp,#32]; ldp x4,x5,[sp,#48]; ldp x6,x7,[sp,#64]; ldr x8,[sp,#80]
  ldp x29,x30,[sp],#224
  br x16
1: mov x0,#0; mov x1,#0; ret
.size objc_msgSend,.-objc_msgSend
)");
#endif

namespace metal_double {
namespace {

std::recursive_mutex& lock() {
  static std::recursive_mutex mutex;
  return mutex;
}
long live = 0;
std::map<std::string, long>& live_of_classes() {
  static auto* const counts = new std::map<std::string, long>;
  return *counts;
}
thread_local std::vector<std::vector<object*>> pools;

std::unordered_map<std::string, class_info*>& classes() {
  static auto* const all = new std::unordered_map<std::string, class_info*>;
  return *all;
}

unsigned colons(const char* text) {
  unsigned count = 0;
  for (; *text != '\0'; ++text) count += *text == ':' ? 1u : 0u;
  return count;
}

}  // namespace

void die(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "metal double: ");
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  std::abort();
}

object::object(const char* class_name) : isa(nullptr) {
  if (class_name == nullptr) return;
  const std::lock_guard<std::recursive_mutex> guard(lock());
  isa = class_of(class_name);
  ++live;
  ++live_of_classes()[class_name];
}
object::~object() {
  if (isa == nullptr) return;
  const std::lock_guard<std::recursive_mutex> guard(lock());
  --live;
  --live_of_classes()[isa->name];
}

void retain(object* o) {
  if (++o->references <= 1) die("a message to an object that was released");
}
void drop(object* o) {
  if (o->destroy == nullptr) return;  // a class
  const long left = --o->references;
  if (left < 0) die("an object of class %s was released too often", o->isa->name.c_str());
  if (left == 0) o->destroy(o);
}
void bury(object* destroyed) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  static auto* const graves = new std::deque<object*>;
  auto* const dead = ::new (static_cast<void*>(destroyed)) object(nullptr);
  dead->isa = class_of("(released)");
  dead->references = 0;
  dead->destroy = [](object*) {};
  graves->push_back(dead);
  if (graves->size() > 2000) {
    ::operator delete(graves->front());
    graves->pop_front();
  }
}
void autorelease(object* o) {
  if (pools.empty()) die("%s autoreleased without a pool: it leaks", o->isa->name.c_str());
  pools.back().push_back(o);
}

class_info* class_of(const char* name) {
  class_info*& c = classes()[name];
  if (c == nullptr) {
    c = new class_info;
    c->name = name;
    c->meta = new class_info;
    c->meta->name = std::string("+") + name;
    c->isa = c->meta;
  }
  return c;
}
selector selector_of(const char* name) {
  const std::lock_guard<std::recursive_mutex> guard(lock());
  static auto* const all = new std::set<std::string>;
  return all->insert(name).first->c_str();
}
void add_method(class_info* to, const char* name, unsigned arguments, void* implementation) {
  if (colons(name) != arguments) die("table of methods: %s takes %u", name, colons(name));
  to->methods[selector_of(name)] = implementation;
}

long live_objects() { return live; }
std::string live_report() {
  std::string text;
  for (const auto& [name, count] : live_of_classes()) {
    if (count != 0) text += name + ": " + std::to_string(count) + " ";
  }
  return text;
}
void release(void* o) { drop(static_cast<object*>(o)); }

}  // namespace metal_double

extern "C" {
const char* sel_registerName(const char* name) { return metal_double::selector_of(name); }
void* objc_lookUpClass(const char* name) {
  const std::lock_guard<std::recursive_mutex> guard(metal_double::lock());
  metal_double::install();
  const auto found = metal_double::classes().find(name);
  return found == metal_double::classes().end() ? nullptr : found->second;
}
void* metal_double_lookup(metal_double::object* self, const char* name) {
  const std::lock_guard<std::recursive_mutex> guard(metal_double::lock());
  metal_double::install();
  const auto found = self->isa->methods.find(name);
  if (found == self->isa->methods.end()) {
    metal_double::die("-[%s %s]: unrecognized selector", self->isa->name.c_str(), name);
  }
  ++metal_double::options().messages;
  return found->second;
}
void* objc_autoreleasePoolPush() {
  metal_double::pools.emplace_back();
  return reinterpret_cast<void*>(metal_double::pools.size());
}
void objc_autoreleasePoolPop(void* pool) {
  while (metal_double::pools.size() >= reinterpret_cast<std::size_t>(pool)) {
    const std::vector<metal_double::object*> all = std::move(metal_double::pools.back());
    metal_double::pools.pop_back();
    for (metal_double::object* const o : all) metal_double::drop(o);
  }
}
}
