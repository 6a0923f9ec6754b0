// parallel_for(n, threads, monitor, body): body(i) for i = 0..n-1, each exactly once, on up to `threads` threads.
//
// Deterministic by contract: body(i) writes only to places that belong to i (and draws only from a stream made for i), so the
// result does not depend on the number of threads. An exception stops the loop and reaches the caller; when several tasks
// throw, the one with the smallest index wins. The calling thread works too and, once out of work, keeps polling
// for interruption until the others are done.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary {

// True in a child that was forked off after the library was loaded (parallel::mclapply, future's multicore): threads of the
// parent do not exist there, and OpenMP would wait for them for ever.
bool in_forked_child();

template <class Body>
void parallel_for(Index n, int threads, Monitor& monitor, Body&& body) {
#ifdef _OPENMP
  threads = static_cast<int>(std::min<Index>(threads, n));
  if (threads > 1 && !omp_in_parallel() && monitor.on_owner_thread() && !in_forked_child()) {
    std::atomic<Index> next{0};
    std::atomic<int> finished{0};
    std::atomic<bool> failed{false};
    std::mutex lock;
    Index first_bad = n;
    std::exception_ptr error;

    const auto record = [&](Index i) {
      const std::lock_guard<std::mutex> guard(lock);
      if (i < first_bad) {
        first_bad = i;
        error = std::current_exception();
      }
      failed = true;
    };

#pragma omp parallel num_threads(threads)
    {
      // Indices are handed out in order, so every task before a failing one has started: the smallest failing index is found.
      for (Index i; !failed && (i = next++) < n;) {
        try {
          monitor.check();
          body(i);
        } catch (...) {
          record(i);
        }
      }
      ++finished;
      if (monitor.on_owner_thread()) {
        // The others are nearly done as a rule, so short loops would notice a sleep.
        for (int k = 0; k < 200 && finished < omp_get_num_threads(); ++k) std::this_thread::yield();
        while (finished < omp_get_num_threads()) {
          try {
            monitor.check();
          } catch (...) {
            record(-1);  // an interruption outranks everything
          }
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#else
  (void)threads;
#endif
  for (Index i = 0; i < n; ++i) {
    monitor.check();
    body(i);
  }
}

}  // namespace granary
