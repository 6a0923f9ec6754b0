#include "graph/partial_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/math/special.h"

namespace granary::graph {

namespace {

constexpr double negligible = 1e-10;  // a residual variance below this share of the variance is rounding

double clamp_correlation(double r) { return std::max(-1 + 1e-15, std::min(1 - 1e-15, r)); }

double fisher_z(double r, double degrees) { return std::sqrt(degrees) * std::abs(std::atanh(clamp_correlation(r))); }

TestDetail gauss_detail(double r, double degrees) {
  return {TestDetail::Law::normal, std::copysign(fisher_z(r, degrees), r), 0, r};
}

double two_sided_cut(double alpha) {
  if (alpha >= 1) return 0;
  return alpha <= 0 ? std::numeric_limits<double>::infinity() : -normal_quantile(alpha / 2);
}

double two_sided_p(double z) { return std::min(1.0, 2 * normal_cdf(-z)); }

}  // namespace

void PartialCorrelation::reserve(std::size_t size) {
  if (static_cast<std::size_t>(v_i_.size()) >= size) return;
  const Index room = static_cast<Index>(2 * size + 4);
  factor_.conservativeResize(room, room);
  v_i_.conservativeResize(room);
  v_j_.conservativeResize(room);
}

double PartialCorrelation::operator()(int i, int j, const std::vector<int>& given) {
  dependent_.clear();
  const double c = c_(j, i);  // searches ask with j running: along a column
  if (given.empty()) return c;
  if (given.size() == 1) {
    const double a = c_(given[0], i), b = c_(given[0], j);
    const double left_i = 1 - a * a, left_j = 1 - b * b;
    if (left_i > negligible && left_j > negligible) return (c - a * b) / std::sqrt(left_i * left_j);
    if (left_i <= negligible) dependent_.push_back(i);
    if (left_j <= negligible) dependent_.push_back(j);
    return 0;
  }
  reserve(given.size());
  std::size_t same = 0;
  if (i == i_ && j == j_) {
    while (same < given.size() && same < given_.size() && given[same] == given_[same]) ++same;
  }
  i_ = i;
  j_ = j;
  given_ = given;
  used_.resize(given.size());
  double cross = 0, left_i = 1, left_j = 1;
  for (std::size_t t = 0; t < given.size(); ++t) {
    const int s = given[t];
    if (t >= same) {
      double pivot = 1;
      for (std::size_t k = 0; k < t; ++k) {
        double value = 0;
        if (used_[k]) {
          value = c_(given[k], s) - factor_.col(k).head(k).dot(factor_.col(t).head(k));
          value /= factor_(k, k);
        }
        factor_(k, t) = value;
        pivot -= value * value;
      }
      used_[t] = pivot > negligible;
      if (used_[t]) {
        factor_(t, t) = std::sqrt(pivot);
        v_i_[t] = (c_(i, s) - factor_.col(t).head(t).dot(v_i_.head(t))) / factor_(t, t);
        v_j_[t] = (c_(j, s) - factor_.col(t).head(t).dot(v_j_.head(t))) / factor_(t, t);
      } else {
        factor_(t, t) = 0;
        v_i_[t] = v_j_[t] = 0;
      }
    }
    if (!used_[t]) dependent_.push_back(s);
    cross += v_i_[t] * v_j_[t];
    left_i -= v_i_[t] * v_i_[t];
    left_j -= v_j_[t] * v_j_[t];
  }
  if (left_i <= negligible) dependent_.push_back(i);
  if (left_j <= negligible) dependent_.push_back(j);
  if (left_i <= negligible || left_j <= negligible) return 0;
  return (c - cross) / std::sqrt(left_i * left_j);
}

class GaussSession : public TestSession {
 public:
  explicit GaussSession(const GaussTest& test) : test_(test), r_(test.c_) {}
  double evidence(int i, int j, const std::vector<int>& given) override {
    const double r = r_(i, j, given);
    for (int v : r_.dependent()) test_.noted_[v].store(1, std::memory_order_relaxed);
    last_ = r;
    degrees_ = test_.n_ - static_cast<double>(given.size()) - 3;
    return fisher_z(r, degrees_);
  }
  TestDetail detail() const override { return gauss_detail(last_, degrees_); }

 private:
  const GaussTest& test_;
  PartialCorrelation r_;
  double last_ = 0, degrees_ = 0;
};

GaussTest::GaussTest(ConstMatrixRef correlation, double n)
    : c_(correlation), n_(n), noted_(std::make_unique<std::atomic<char>[]>(static_cast<std::size_t>(correlation.rows()))) {
  if (correlation.rows() != correlation.cols()) throw InputError("the correlation matrix must be square.");
  if (!(n > 3)) {
    throw InputError(message("the test of a partial correlation needs more than 3 observations, not ", n, "."));
  }
  for (Index v = 0; v < correlation.rows(); ++v) noted_[v] = 0;
}

std::unique_ptr<TestSession> GaussTest::session() const { return std::make_unique<GaussSession>(*this); }
double GaussTest::cut(double alpha) const { return two_sided_cut(alpha); }
double GaussTest::p_value(double evidence) const { return two_sided_p(evidence); }
int GaussTest::largest_set() const { return static_cast<int>(std::min(1e9, std::ceil(n_) - 4)); }

std::vector<int> GaussTest::degenerate() const {
  std::vector<int> found;
  for (int v = 0; v < variables(); ++v) {
    if (noted_[v]) found.push_back(v);
  }
  return found;
}

class GaussRowsSession : public TestSession {
 public:
  explicit GaussRowsSession(const GaussRowsTest& test) : x_(test.x_) {}
  double evidence(int i, int j, const std::vector<int>& given) override {
    std::vector<int> columns{i, j};
    columns.insert(columns.end(), given.begin(), given.end());
    const Index k = static_cast<Index>(columns.size());
    rows_.clear();
    for (Index r = 0; r < x_.rows(); ++r) {
      bool complete = true;
      for (int c : columns) complete = complete && !std::isnan(x_(r, c));
      if (complete) rows_.push_back(r);
    }
    const double n = static_cast<double>(rows_.size());
    const double degrees = n - static_cast<double>(given.size()) - 3;
    last_ = 0;
    degrees_ = std::max(degrees, 0.0);
    if (degrees <= 0) return 0;  // nothing can be said: no evidence
    MatrixXd z(rows_.size(), k);
    for (Index c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < rows_.size(); ++r) z(r, c) = x_(rows_[r], columns[c]);
      z.col(c).array() -= z.col(c).mean();
      const double norm = z.col(c).norm();
      if (norm > 0) z.col(c) /= norm;
    }
    const MatrixXd correlation = z.transpose() * z;
    std::vector<int> others(given.size());
    std::iota(others.begin(), others.end(), 2);
    PartialCorrelation r(correlation);
    last_ = r(0, 1, others);
    return fisher_z(last_, degrees);
  }
  TestDetail detail() const override { return gauss_detail(last_, degrees_); }

 private:
  ConstMatrixRef x_;
  std::vector<Index> rows_;
  double last_ = 0, degrees_ = 0;
};

std::unique_ptr<TestSession> GaussRowsTest::session() const { return std::make_unique<GaussRowsSession>(*this); }
double GaussRowsTest::cut(double alpha) const { return two_sided_cut(alpha); }
double GaussRowsTest::p_value(double evidence) const { return two_sided_p(evidence); }

MatrixXd correlation_matrix(ConstMatrixRef x, int threads, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols();
  MatrixXd z(n, p);
  for (Index j = 0; j < p; ++j) {
    z.col(j) = x.col(j).array() - x.col(j).mean();
    const double largest = z.col(j).cwiseAbs().maxCoeff();
    if (!(largest > 0)) throw InputError(message("variable ", j + 1, " is constant, so it has no correlations."));
    z.col(j) /= largest;  // squares neither overflow nor vanish
    z.col(j) /= z.col(j).norm();
  }
  MatrixXd c(p, p);
  const Index width = 128, blocks = (p + width - 1) / width;
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * width, size = std::min(width, p - from);
    c.block(from, from, p - from, size).noalias() = z.rightCols(p - from).transpose() * z.middleCols(from, size);
  });
  parallel_for(blocks, threads, monitor, [&](Index b) {
    const Index from = b * width, size = std::min(width, p - from);
    for (Index to = b; to < blocks; ++to) {
      const Index at = to * width, high = std::min(width, p - at);
      if (to == b) {
        for (Index j = from; j < from + size; ++j) {
          c(j, j) = 1;
          for (Index i = j + 1; i < from + size; ++i) c(j, i) = c(i, j);
        }
      } else {
        c.block(from, at, size, high) = c.block(at, from, high, size).transpose();
      }
    }
  });
  return c;
}

namespace {

void mid_ranks(ConstVectorRef x, VectorRef ranks) {
  std::vector<Index> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  for (std::size_t a = 0; a < order.size();) {
    std::size_t b = a;
    while (b < order.size() && x[order[b]] == x[order[a]]) ++b;
    for (std::size_t k = a; k < b; ++k) ranks[order[k]] = 0.5 * static_cast<double>(a + b - 1);
    a = b;
  }
}

constexpr double pi = 3.14159265358979323846;

}  // namespace

MatrixXd copula_correlation(ConstMatrixRef x, bool kendall, int threads, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols();
  MatrixXd ranks(n, p);
  for (Index j = 0; j < p; ++j) mid_ranks(x.col(j), ranks.col(j));
  MatrixXd c;
  if (!kendall) {
    c = correlation_matrix(ranks, threads, monitor);
    c = (c.array() * (pi / 6)).sin() * 2;
  } else {
    // tau-b is the cosine of the angle between the vectors of signs of all pairs of rows.
    MatrixXd sum = MatrixXd::Zero(p, p), sign;
    for (Index a = 0; a + 1 < n; ++a) {
      monitor.check();
      sign = (ranks.bottomRows(n - a - 1).rowwise() - ranks.row(a)).unaryExpr([](double d) {
        return d > 0 ? 1.0 : d < 0 ? -1.0 : 0.0;
      });
      sum.selfadjointView<Eigen::Lower>().rankUpdate(sign.transpose());
    }
    for (Index j = 0; j < p; ++j) {
      if (!(sum(j, j) > 0)) throw InputError(message("variable ", j + 1, " is constant, so it has no correlations."));
    }
    const VectorXd root = sum.diagonal().cwiseSqrt();
    c = sum.selfadjointView<Eigen::Lower>();
    c = (root.cwiseInverse().asDiagonal() * c * root.cwiseInverse().asDiagonal()).eval();
    c = (c.array() * (pi / 2)).sin();
  }
  c.diagonal().setOnes();
  return c;
}

}  // namespace granary::graph
