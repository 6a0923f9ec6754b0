#include <cstring>
#include <exception>

#include "harness.h"

int main(int argc, char** argv) {
  for (const auto& test : harness::cases()) {
    if (argc > 1 && !std::strstr(test.name, argv[1]) && !std::strstr(test.file, argv[1])) continue;
    try {
      test.run();
    } catch (const std::exception& error) {
      harness::report(false, test.file, 0, std::string(test.name) + " threw: " + error.what());
    }
  }
  std::printf("%d passed, %d failed\n", harness::passed(), harness::failed());
  return harness::failed() > 0 || harness::passed() == 0;
}
