// parallel_for(n, threads, monitor, body): body(i) for i = 0..n-1, each exactly once, on up to `threads` threads.
//
// Deterministic by contract: body(i) writes only to places that belong to i (and draws only from a stream made for i), so the
// result does not depend on the number of threads. An exception stops the loop and reaches the caller; when several tasks
// throw, the one with the smallest index wins. The calling thread works too and, once out of work, keeps polling
// for interruption until the others are done.
#pragma once

#include <memory>
#include <type_traits>

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// True in a child that was forked off after the library was loaded (parallel::mclapply, future's multicore): threads of the
// parent do not exist there, and OpenMP would wait for them for ever.
bool in_forked_child();

// The loop itself, compiled once: call(body, i) for every i.
void run_parallel(Index n, int threads, Monitor& monitor, void* body, void (*call)(void*, Index));

template <class Body>
void parallel_for(Index n, int threads, Monitor& monitor, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  void* address = const_cast<void*>(static_cast<const void*>(std::addressof(body)));
  run_parallel(n, threads, monitor, address, [](void* at, Index i) { (*static_cast<Plain*>(at))(i); });
}

}  // namespace granary
