#include "core/base/parallel.h"

#include <numeric>
#include <vector>

#include "harness.h"

using namespace granary;

TEST("parallel_for visits every index once, at any number of threads") {
  for (int threads : {1, 2, 7}) {
    Monitor monitor;
    std::vector<int> visits(1000, 0);
    parallel_for(1000, threads, monitor, [&](Index i) { ++visits[i]; });
    CHECK(std::accumulate(visits.begin(), visits.end(), 0) == 1000);
    CHECK(*std::max_element(visits.begin(), visits.end()) == 1);
  }
  Monitor monitor;
  bool ran = false;
  parallel_for(0, 4, monitor, [&](Index) { ran = true; });
  CHECK(!ran);
}

TEST("parallel_for passes on the exception of the smallest index") {
  for (int threads : {1, 2, 4}) {
    Monitor monitor;
    std::string what;
    try {
      parallel_for(100, threads, monitor, [&](Index i) {
        if (i >= 13) throw InputError(message("task ", i));
      });
    } catch (const InputError& error) {
      what = error.what();
    }
    CHECK(what == "task 13");
  }
}

namespace {
struct StopsAtOnce : Monitor {
  bool poll() override { return true; }
};
}  // namespace

TEST("parallel_for stops when the monitor says so, even while workers are busy") {
  for (int threads : {1, 2}) {
    StopsAtOnce monitor;
    bool interrupted = false;
    try {
      parallel_for(4, threads, monitor, [&](Index) {
        for (int k = 0; k < 1000; ++k) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          monitor.check();
        }
      });
    } catch (const Interrupted&) {
      interrupted = true;
    }
    CHECK(interrupted);
  }
}
