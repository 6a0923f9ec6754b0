// The monitor of a part of a larger task: its progress from 0 to 1 is that of the whole from one share to another.
#pragma once

#include "core/base/monitor.h"

namespace granary {

class PartMonitor : public Monitor {
 public:
  PartMonitor(Monitor& whole, double from, double to) : whole_(whole), from_(from), to_(to) {}

 protected:
  bool poll() override {
    whole_.check();  // throws when the user has asked to stop
    return false;
  }
  void show(double share) override { whole_.progress(from_ + share * (to_ - from_)); }

 private:
  Monitor& whole_;
  double from_, to_;
};

}  // namespace granary
