// Tests of conditional independence, as the constraint-based searches see them.
//
// A test answers "how much speaks against i _||_ j given S?" with a number, its evidence: the larger, the more. Evidence becomes
// a p-value only where one is reported, so that the Gaussian test can compare |z| with a quantile and never calls the normal
// distribution function in the loop. The pair counts as independent when p >= alpha, that is when evidence <= cut(alpha).
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"

namespace granary::graph {

// What lies behind an answer: a score that is normal under independence, with the partial correlation it comes from, or a chi-squared statistic
// with its degrees of freedom.
struct TestDetail {
  enum class Law { none, normal, chi_squared } law = Law::none;
  double statistic = 0, df = 0, correlation = 0;
};

// Working memory for one thread. Consecutive sets that share their beginning (as lexicographic enumeration makes them) are cheap.
class TestSession {
 public:
  virtual ~TestSession() = default;
  virtual double evidence(int i, int j, const std::vector<int>& given) = 0;  // `given` increasing, without i and j
  virtual TestDetail detail() const { return {}; }                           // of the last evidence()
};

class IndependenceTest {
 public:
  virtual ~IndependenceTest() = default;
  virtual int variables() const = 0;
  virtual std::unique_ptr<TestSession> session() const = 0;
  virtual double cut(double alpha) const { return -alpha; }
  virtual double p_value(double evidence) const { return -evidence; }          // evidence is -p unless a test says otherwise
  virtual int largest_set() const { return std::numeric_limits<int>::max(); }  // more variables cannot be conditioned on
  virtual bool concurrent() const { return true; }                             // may sessions run on several threads?
  // Variables that some test found to be a linear function of others, so that the test was degenerate.
  virtual std::vector<int> degenerate() const { return {}; }
};

// d- or m-separation in a known graph: the test that makes no errors. Variable v is node observed[v]; nodes that are not observed
// are latent, and those in `selection` are always conditioned on.
class SeparationTest : public IndependenceTest {
 public:
  SeparationTest(MixedGraph graph, std::vector<int> observed, std::vector<int> selection);
  int variables() const override { return static_cast<int>(observed_.size()); }
  std::unique_ptr<TestSession> session() const override;

 private:
  friend class SeparationSession;
  MixedGraph graph_;
  std::vector<int> observed_, selection_;
};

// A p-value from the caller; runs on the calling thread only.
class CallbackTest : public IndependenceTest {
 public:
  using Function = std::function<double(int i, int j, const std::vector<int>& given)>;
  CallbackTest(int variables, Function p_value, int largest_set = std::numeric_limits<int>::max());
  int variables() const override { return variables_; }
  std::unique_ptr<TestSession> session() const override;
  int largest_set() const override { return largest_set_; }
  bool concurrent() const override { return false; }

 private:
  int variables_;
  Function function_;
  int largest_set_;
};

// Remembers every answer of another test: for expensive ones, which the collider step and RFCI ask again. Single thread.
class CachedTest : public IndependenceTest {
 public:
  explicit CachedTest(const IndependenceTest& test) : test_(test) {}
  int variables() const override { return test_.variables(); }
  std::unique_ptr<TestSession> session() const override;
  double cut(double alpha) const override { return test_.cut(alpha); }
  double p_value(double evidence) const override { return test_.p_value(evidence); }
  int largest_set() const override { return test_.largest_set(); }
  bool concurrent() const override { return false; }
  std::vector<int> degenerate() const override { return test_.degenerate(); }
  std::size_t size() const { return known_.size(); }

 private:
  friend class CachedSession;
  struct Hash {
    std::size_t operator()(const std::vector<int>& key) const;
  };
  const IndependenceTest& test_;
  mutable std::unordered_map<std::vector<int>, double, Hash> known_;
};

}  // namespace granary::graph
