#include "graph/mixed_test.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/math/special.h"
#include "graph/contingency.h"

namespace granary::graph {

class MixedSession : public TestSession {
 public:
  explicit MixedSession(const MixedTest& test) : test_(test), strata_(test.codes_, test.levels_) {}

  double evidence(int i, int j, const std::vector<int>& given) override {
    Fit sum;
    const auto add = [&](bool with_i, bool with_j, double sign) {
      const Fit fit = likelihood(given, with_i ? i : -1, with_j ? j : -1);
      sum.loglik += sign * fit.loglik;
      sum.parameters += sign * fit.parameters;
    };
    add(true, true, 1);
    add(true, false, -1);
    add(false, true, -1);
    add(false, false, 1);
    last_ = {TestDetail::Law::chi_squared, 2 * std::max(0.0, sum.loglik), std::max(0.0, sum.parameters), 0};
    if (sum.parameters <= 0) return -1;
    return -gamma_q(sum.parameters / 2, std::max(0.0, sum.loglik));
  }
  TestDetail detail() const override { return last_; }

 private:
  TestDetail last_;
  struct Fit {
    double loglik = 0, parameters = 0;
  };

  Fit likelihood(const std::vector<int>& given, int i, int j) {
    discrete_.clear();
    continuous_.clear();
    const auto put = [&](int v) {
      if (v >= 0) (test_.levels_[v] > 0 ? discrete_ : continuous_).push_back(v);
    };
    for (int v : given) put(v);
    put(i);
    put(j);
    const Index n = test_.x_.rows(), k = static_cast<Index>(continuous_.size());
    const std::vector<int>& stratum = strata_.of(discrete_);
    const int cells = strata_.count();
    VectorXd size = VectorXd::Zero(cells);
    MatrixXd mean = MatrixXd::Zero(cells, k);
    for (Index r = 0; r < n; ++r) {
      size[stratum[r]] += 1;
      for (Index c = 0; c < k; ++c) mean(stratum[r], c) += test_.x_(r, continuous_[c]);
    }
    Fit fit;
    for (int s = 0; s < cells; ++s) {
      fit.loglik += size[s] * std::log(size[s] / static_cast<double>(n));
      mean.row(s) /= size[s];
    }
    MatrixXd centred(n, k);
    for (Index c = 0; c < k; ++c) {
      for (Index r = 0; r < n; ++r) centred(r, c) = test_.x_(r, continuous_[c]) - mean(stratum[r], c);
    }
    MatrixXd s = centred.transpose() * centred / static_cast<double>(n);
    double kept = 0;
    for (Index c = 0; c < k; ++c) {  // LDL' in place; a pivot that is rounding only is a variable without a law of its own
      if (s(c, c) <= 1e-10) continue;
      kept += 1;
      fit.loglik -= 0.5 * static_cast<double>(n) * std::log(s(c, c));
      const Index rest = k - c - 1;
      const VectorXd column = s.col(c).tail(rest);
      s.bottomRightCorner(rest, rest) -= column * column.transpose() / s(c, c);
    }
    fit.parameters = cells - 1 + cells * kept + kept * (kept + 1) / 2;
    return fit;
  }

  const MixedTest& test_;
  Strata strata_;
  std::vector<int> discrete_, continuous_;
};

MixedTest::MixedTest(ConstMatrixRef x, std::vector<int> levels) : x_(x), levels_(std::move(levels)), codes_(levels_.size()) {
  if (static_cast<Index>(levels_.size()) != x.cols()) throw InputError("there must be one number of levels per variable.");
  for (Index v = 0; v < x.cols(); ++v) {
    if (levels_[v] > 0) {
      for (Index r = 0; r < x.rows(); ++r) {
        if (!(x(r, v) >= 0 && x(r, v) < levels_[v]))
          throw InputError(message("variable ", v + 1, " has a code outside its levels."));
        codes_[v].push_back(static_cast<int>(x(r, v)));
      }
    } else {
      codes_[v].assign(static_cast<std::size_t>(x.rows()), 0);  // never used; gives Strata the number of rows
      x_.col(v).array() -= x_.col(v).mean();
      const double largest = x_.col(v).cwiseAbs().maxCoeff();
      if (!(largest > 0)) throw InputError(message("variable ", v + 1, " is constant, so it cannot be tested."));
      x_.col(v) /= largest;
      x_.col(v) *= std::sqrt(static_cast<double>(x.rows())) / x_.col(v).norm();
    }
  }
}

std::unique_ptr<TestSession> MixedTest::session() const { return std::make_unique<MixedSession>(*this); }

}  // namespace granary::graph
