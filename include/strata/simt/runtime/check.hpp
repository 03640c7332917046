// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions by which the engine reports to the check flavour. In other flavours they do nothing, and those that
// only the check flavour calls are missing.
#pragma once

#include <strata/simt/runtime/engine_state.hpp>

namespace strata {
namespace simt {
namespace engine {
namespace check {

#if defined(STRATA_SIMT_CHECK)
constexpr bool enabled = true;
void launch_begins();
void block_begins(block& which);
void block_ends(block& which);
void shared_variable_added(const shared_variable_record& variable);
void warp_synchronised(warp& mates, uint32_t lanes);
void block_synchronised(block& which);
// Synchronisation through an object that is not memory: one thread releases to it, another acquires from it.
void release_to(const void* object, const fiber& thread);
void acquire_from(const void* object, const fiber& thread);
void erase_object(const void* object);
void fenced(int order, memory_scope scope);
void bulk_copy_issued(block& which, size_t offset, size_t bytes, location where);
void bulk_copy_landed(block& which, size_t offset, size_t bytes, const void* barrier);
void device_read(const void* address, size_t bytes, location where);
void declare_initialised(const void* address, size_t bytes);
void* allocate(size_t bytes, bool host_visible);
void released(void* pointer, size_t bytes);
void written_by_host(void* pointer, size_t bytes);
// The host has copied from device memory. Bytes that were never written there count as never written in the copy, too.
void copied_by_host(void* to, const void* from, size_t bytes);
bool is_written(const void* byte);
void mark_unwritten(void* byte);
#else
constexpr bool enabled = false;
inline void launch_begins() {}
inline void block_begins(block&) {}
inline void block_ends(block&) {}
inline void shared_variable_added(const shared_variable_record&) {}
inline void warp_synchronised(warp&, uint32_t) {}
inline void block_synchronised(block&) {}
inline void release_to(const void*, const fiber&) {}
inline void acquire_from(const void*, const fiber&) {}
inline void erase_object(const void*) {}
inline void fenced(int, memory_scope) {}
inline void bulk_copy_issued(block&, size_t, size_t, location) {}
inline void bulk_copy_landed(block&, size_t, size_t, const void*) {}
inline void device_read(const void*, size_t, location) {}
inline void written_by_host(void*, size_t) {}
inline void copied_by_host(void*, const void*, size_t) {}
inline bool is_written(const void*) { return true; }
inline void mark_unwritten(void*) {}
inline void declare_initialised(const void*, size_t) {}
#endif

}  // namespace check
}  // namespace engine
}  // namespace simt
}  // namespace strata
