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
  virtual ~Monitor();

  // Throws Interrupted once the user has asked to stop.
  void check();

  // The share of the work that is done, in [0, 1]; also checks for interruption.
  void progress(double share);

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
