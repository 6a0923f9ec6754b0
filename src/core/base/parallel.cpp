#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

namespace granary {

#ifdef _WIN32
bool in_forked_child() { return false; }
#else
namespace {
const auto loaded_by = getpid();
}
bool in_forked_child() { return getpid() != loaded_by; }
#endif

void run_parallel(Index n, int threads, Monitor& monitor, void* body, void (*call)(void*, Index)) {
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
          call(body, i);
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
    call(body, i);
  }
}

}  // namespace granary
