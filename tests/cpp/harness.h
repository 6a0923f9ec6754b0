// A test program in a page: TEST("name") { CHECK(...); CHECK_NEAR(a, b, tol); CHECK_THROWS(expression, Type); }
//
// Every tests/cpp/test_*.cpp is linked into one program; `./granary_tests [part of a name]` runs them and ends with the counts.
#pragma once

#include <cmath>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace harness {

struct Case {
  const char* file;
  const char* name;
  std::function<void()> run;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& passed() {
  static int count = 0;
  return count;
}
inline int& failed() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* file, const char* name, std::function<void()> run) { cases().push_back({file, name, std::move(run)}); }
};

inline void report(bool ok, const char* file, int line, const std::string& what) {
  if (ok) {
    ++passed();
  } else {
    ++failed();
    std::printf("%s:%d: FAILED %s\n", file, line, what.c_str());
  }
}

template <class A, class B>
void near(const A& a, const B& b, double tol, const char* file, int line, const char* what) {
  std::ostringstream text;
  text.precision(17);
  text << what << ": " << a << " against " << b << ", tolerance " << tol;
  const double gap = std::abs(static_cast<double>(a) - static_cast<double>(b));
  report(gap <= tol || a == b, file, line, text.str());  // a NaN on either side fails; equal infinities pass
}

}  // namespace harness

#define GRANARY_JOIN_(a, b) a##b
#define GRANARY_JOIN(a, b) GRANARY_JOIN_(a, b)
#define TEST(name)                                                                                            \
  static void GRANARY_JOIN(test_, __LINE__)();                                                                \
  static const harness::Register GRANARY_JOIN(register_, __LINE__){__FILE__, name, GRANARY_JOIN(test_, __LINE__)}; \
  static void GRANARY_JOIN(test_, __LINE__)()
#define CHECK(condition) harness::report(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define CHECK_NEAR(a, b, tol) harness::near((a), (b), (tol), __FILE__, __LINE__, #a " near " #b)
#define CHECK_THROWS(expression, Type)                                                  \
  do {                                                                                  \
    bool caught = false;                                                                \
    try {                                                                               \
      (void)(expression);                                                               \
    } catch (const Type&) {                                                             \
      caught = true;                                                                    \
    }                                                                                   \
    harness::report(caught, __FILE__, __LINE__, #expression " throws " #Type);          \
  } while (false)
