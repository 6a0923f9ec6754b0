// The monitor of one part of a larger task: it can be interrupted like the whole, but its progress is not shown, for each part
// would begin at 0 again. Whoever runs the parts counts them. Made on the thread that works on the part.
#pragma once

#include "core/base/monitor.h"

namespace granary {

class QuietMonitor : public Monitor {
 public:
  explicit QuietMonitor(Monitor& outer) : outer_(outer) {}

 protected:
  bool poll() override {
    outer_.check();
    return outer_.stopped();
  }

 private:
  Monitor& outer_;
};

}  // namespace granary
