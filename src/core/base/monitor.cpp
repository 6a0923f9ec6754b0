#include "core/base/monitor.h"

namespace granary {

Monitor::~Monitor() = default;

void Monitor::check() {
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

void Monitor::progress(double share) {
  done_.store(share, std::memory_order_relaxed);
  check();
}

}  // namespace granary
