// Progress and interruption, passed to every method that can take long.
//
// This class is the silent one, for C++ programs; the glue derives one that asks R for interrupts and feeds a progress bar.
// Any thread may call `check` and `progress`; `poll` and `show` run on the thread that made the monitor, and only every
// tenth of a second, so that calling `check` once per sweep costs nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/errors.h"

namespace granary {

class Monitor {
 public:
  virtual ~Monitor() = default;

  // Throws Interrupted once the user has asked to stop.
  void check() {
    if (stop_.load(std::memory_order_relaxed)) throw Interrupted();
    if (std::this_thread::get_id() != owner_) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(100);
    if (poll()) {
      stop_ = true;
      throw Interrupted();
    }
    show(done_.load(std::memory_order_relaxed));
  }

  // The share of the work that is done, in [0, 1]; also checks for interruption.
  void progress(double share) {
    done_.store(share, std::memory_order_relaxed);
    check();
  }

  void request_stop() { stop_ = true; }
  bool stopped() const { return stop_; }
  bool on_owner_thread() const { return std::this_thread::get_id() == owner_; }

 protected:
  virtual bool poll() { return false; }         // has the user asked to stop?
  virtual void show(double /* share_done */) {}

 private:
  using Clock = std::chrono::steady_clock;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(100);
  std::atomic<bool> stop_{false};
  std::atomic<double> done_{0};
};

}  // namespace granary
