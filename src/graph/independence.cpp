#include "graph/independence.h"

#include <utility>

#include "core/base/errors.h"
#include "core/graph/separation.h"

namespace granary::graph {

class SeparationSession : public TestSession {
 public:
  explicit SeparationSession(const SeparationTest& test) : test_(test), given_(test.graph_.nodes()) {}
  double evidence(int i, int j, const std::vector<int>& given) override {
    given_.clear();
    for (int v : given) given_.set(test_.observed_[v]);
    for (int node : test_.selection_) given_.set(node);
    return m_separated(test_.graph_, test_.observed_[i], test_.observed_[j], given_) ? -1 : 0;
  }

 private:
  const SeparationTest& test_;
  Bitset given_;
};

SeparationTest::SeparationTest(MixedGraph graph, std::vector<int> observed, std::vector<int> selection)
    : graph_(std::move(graph)), observed_(std::move(observed)), selection_(std::move(selection)) {
  if (graph_.has_circles()) throw InputError("an oracle needs a graph without circle marks: a DAG or an ancestral graph.");
  Bitset used(graph_.nodes());
  for (const auto* nodes : {&observed_, &selection_}) {
    for (int node : *nodes) {
      if (node < 0 || node >= graph_.nodes()) throw InputError(message("the graph has no node ", node + 1, "."));
      if (used.test(node)) throw InputError(message("node ", node + 1, " is listed more than once as observed or selected."));
      used.set(node);
    }
  }
}

std::unique_ptr<TestSession> SeparationTest::session() const { return std::make_unique<SeparationSession>(*this); }

namespace {
class CallbackSession : public TestSession {
 public:
  explicit CallbackSession(const CallbackTest::Function& function) : function_(function) {}
  double evidence(int i, int j, const std::vector<int>& given) override {
    const double p = function_(i, j, given);
    if (!(p >= 0 && p <= 1)) {
      throw InputError(message("the independence test must give a p-value in [0, 1], but for variables ", i + 1, " and ", j + 1,
                               " it gave ", p, "."));
    }
    return -p;
  }

 private:
  const CallbackTest::Function& function_;
};
}  // namespace

CallbackTest::CallbackTest(int variables, Function p_value, int largest_set)
    : variables_(variables), function_(std::move(p_value)), largest_set_(largest_set) {}

std::unique_ptr<TestSession> CallbackTest::session() const { return std::make_unique<CallbackSession>(function_); }

class CachedSession : public TestSession {
 public:
  explicit CachedSession(const CachedTest& test) : test_(test), inner_(test.test_.session()) {}
  double evidence(int i, int j, const std::vector<int>& given) override {
    std::vector<int> key{std::min(i, j), std::max(i, j)};
    key.insert(key.end(), given.begin(), given.end());
    const auto at = test_.known_.find(key);
    if (at != test_.known_.end()) return at->second;
    const double value = inner_->evidence(key[0], key[1], given);
    test_.known_.emplace(std::move(key), value);
    return value;
  }

 private:
  const CachedTest& test_;
  std::unique_ptr<TestSession> inner_;
};

std::unique_ptr<TestSession> CachedTest::session() const { return std::make_unique<CachedSession>(*this); }

std::size_t CachedTest::Hash::operator()(const std::vector<int>& key) const {
  std::uint64_t h = key.size();
  for (int v : key) h = SplitMix64::finish(h + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(v) + 1));
  return static_cast<std::size_t>(h);
}

}  // namespace granary::graph
