// The proximal step of a penalty with independent rows, made exact. A solver of its dual ends near the answer; which rows of R b are not zero (the kinks A) follows
// from it, and given their signs s the answer is a projection:
//
//   minimise  1/2 ||b - y||^2 + lambda s'R_A b   over  R_I b = 0,   b = P (y - lambda R_A's),  P the projection on null(R_I)
//
// With theta = R b this is a lasso whose columns are the responses g_a of R g_a = e_a, so feature-sign search (Lee, Battle, Raina and Ng, NIPS 2006) ends at the
// answer: move to the projection, but no further than the best of the points where a kink vanishes; where no kink changes sign, mu is the one solution of
// R'mu = y - b, and rows where |mu| exceeds lambda become kinks. The optimality conditions then hold to rounding, and nothing of the solver's tolerance is left.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linalg/dense.h"
#include "core/linalg/sparse_cholesky.h"
#include "regress/gen_lasso_penalty.h"

namespace granary::regress {

namespace {

// null(R_I) by its basis: the null space of R, and for each kink a the solution of R g = e_a by substitution from above. Rows of R begin one after the other.
class KinkSpace {
 public:
  KinkSpace(const GenPenalty::Rows& r, const MatrixXd& null) : r_(r), null_(null) {}

  VectorXd project(ConstVectorRef v, const std::vector<int>& kinks) const {
    const Index order = null_.cols();
    MatrixXd basis(r_.cols(), order + static_cast<Index>(kinks.size()));
    basis.leftCols(order) = null_;
    for (std::size_t k = 0; k < kinks.size(); ++k) basis.col(order + static_cast<Index>(k)) = response(kinks[k]);
    const MatrixXd q = Qr(basis).thin_q();
    VectorXd out = q * (q.transpose() * v);
    out += q * (q.transpose() * (v - out));  // what rounding left
    return out;
  }

 private:
  // R g = e_a with zeros before the last entry of row a; its part in null(R) is taken out, so that columns are not nearly alike.
  VectorXd response(int a) const {
    VectorXd g = VectorXd::Zero(r_.cols());
    for (Index j = a; j < r_.rows(); ++j) {
      double sum = j == a ? 1 : 0, last = 0;
      int at = -1;
      for (GenPenalty::Rows::InnerIterator it(r_, j); it; ++it) {
        if (it.value() == 0) continue;
        if (at >= 0) sum -= last * g[at];
        at = static_cast<int>(it.col());
        last = it.value();
      }
      g[at] = sum / last;
    }
    g -= null_ * (null_.transpose() * g);
    return g / g.norm();
  }

  const GenPenalty::Rows& r_;
  const MatrixXd& null_;
};

// The same for many kinks, by R_I R_I', whose bands are short then: x with R_I R_I'x = R_I v, as a vector over all rows.
VectorXd inside_solution(const GenPenalty::Rows& r, ConstVectorRef v, const std::vector<char>& kink) {
  std::vector<Eigen::Triplet<double>> cells;
  std::vector<Index> inside;
  for (Index j = 0; j < r.rows(); ++j) {
    if (kink[j]) continue;
    for (GenPenalty::Rows::InnerIterator it(r, j); it; ++it)
      cells.emplace_back(static_cast<int>(inside.size()), static_cast<int>(it.col()), it.value());
    inside.push_back(j);
  }
  VectorXd out = VectorXd::Zero(r.rows());
  if (inside.empty()) return out;
  SparseMatrix part(static_cast<Index>(inside.size()), r.cols());
  part.setFromTriplets(cells.begin(), cells.end());
  const SparseMatrix normal = part * SparseMatrix(part.transpose());
  const Eigen::SimplicialLDLT<SparseMatrix> factor(normal);
  if (factor.info() != Eigen::Success) return VectorXd();
  VectorXd found = factor.solve(VectorXd(part * v));
  found += factor.solve(VectorXd(part * (v - part.transpose() * found)));
  for (std::size_t k = 0; k < inside.size(); ++k) out[inside[k]] = found[static_cast<Index>(k)];
  return out;
}

}  // namespace

bool GenPenalty::settle(ConstVectorRef y, double lambda, bool near, Monitor& monitor, VectorXd& b, VectorXd& mu) const {
  if (kind_ != Kind::general || !single_rows() || !null_known_ || rows() + null_.cols() != cols() || lambda <= 0) return false;
  const Index m = rows();
  const MatrixXd basis = Qr(null_).thin_q();
  const KinkSpace space(r_, basis);
  std::vector<char> kink(static_cast<std::size_t>(m));
  auto kinks = [&] {
    std::vector<int> at;
    for (Index j = 0; j < m; ++j)
      if (kink[j]) at.push_back(static_cast<int>(j));
    return at;
  };
  auto few = [&](const std::vector<int>& at) {
    const double size = static_cast<double>(at.size()) + static_cast<double>(null_.cols());
    return size * size * static_cast<double>(cols()) <= 3e9 && size <= 0.5 * static_cast<double>(cols());
  };
  auto project = [&](const VectorXd& v, const std::vector<int>& at) -> VectorXd {
    if (few(at)) return space.project(v, at);
    const VectorXd x = inside_solution(r_, v, kink);
    return x.size() == 0 ? VectorXd() : VectorXd(v - r_transposed_ * x);
  };
  auto objective = [&](const VectorXd& x) { return 0.5 * (y - x).squaredNorm() + lambda * (r_ * x).lpNorm<1>(); };

  if (near) {
    const VectorXd first = r_ * b;
    const double large = 1e-4 * first.cwiseAbs().maxCoeff();
    for (Index j = 0; j < m; ++j) kink[j] = std::abs(mu[j]) >= lambda * (1 - 1e-6) || std::abs(first[j]) > large;
  } else {  // the kinks of another penalty are the rows where its mu is on the bound
    const double bound = dual_norm(mu);
    for (Index j = 0; j < m; ++j) kink[j] = bound > 0 && std::abs(mu[j]) >= bound * (1 - 1e-12);
  }
  VectorXd now = project(near ? b : VectorXd(y - r_transposed_ * mu), kinks());
  if (now.size() == 0) return false;
  VectorXd theta = r_ * now, sign(m);
  for (Index j = 0; j < m; ++j) sign[j] = theta[j] > 0 ? 1 : theta[j] < 0 ? -1 : mu[j] > 0 ? 1 : -1;
  double value = objective(now);
  bool one_by_one = false;  // once several new kinks at a time did not help
  double work = 0;
  for (int round = 0; round < 200 && work < 4e9; ++round) {
    monitor.check();
    const std::vector<int> at = kinks();
    work += few(at) ? 4.0 * static_cast<double>(cols()) * std::pow(static_cast<double>(at.size()) + 4, 2) : 2000.0 * static_cast<double>(cols());
    VectorXd pull = VectorXd::Zero(m);
    for (const int j : at) pull[j] = lambda * sign[j];
    const VectorXd target = project(y - r_transposed_ * pull, at);
    if (target.size() == 0) return false;
    const VectorXd bend = r_ * target;
    std::vector<double> stops{1.0};
    for (const int j : at)
      if (sign[j] * bend[j] < 0) stops.push_back(sign[j] * theta[j] > 0 ? theta[j] / (theta[j] - bend[j]) : 0.0);
    if (stops.size() > 1) {  // some kink would change its sign: the best point on the way, and kinks that vanish there are given up
      double best = value, step = 0;
      for (const double t : stops) {
        const double there = objective(now + t * (target - now));
        if (there < best) {
          best = there;
          step = t;
        }
      }
      int gone = 0;
      const VectorXd moved = theta + step * (bend - theta);
      for (const int j : at) {
        if (std::abs(moved[j]) > 1e-12 * (std::abs(theta[j]) + std::abs(bend[j])) && (step > 0 || sign[j] * bend[j] >= 0)) {
          sign[j] = moved[j] > 0 ? 1 : moved[j] < 0 ? -1 : sign[j];
          continue;
        }
        if (sign[j] * bend[j] >= 0) continue;
        kink[j] = 0;
        ++gone;
      }
      if (step == 0 && gone == 0) return false;
      if (step == 0) one_by_one = true;
      now = project(now + step * (target - now), kinks());
      if (now.size() == 0) return false;
      theta = r_ * now;
      value = objective(now);
      continue;
    }
    now = target;
    theta = bend;
    value = objective(now);
    const VectorXd dual = few(at) ? substituted(y - now) : VectorXd(pull + inside_solution(r_, y - r_transposed_ * pull, kink));
    if (dual.size() != m) return false;
    Index worst = -1, added = 0;
    for (Index j = 0; j < m;) {  // of each run of rows above the bound, its top
      if (kink[j] || std::abs(dual[j]) <= lambda * (1 + 1e-9)) {
        ++j;
        continue;
      }
      Index top = j, end = j;
      for (; end < m && !kink[end] && std::abs(dual[end]) > lambda * (1 + 1e-9) && (dual[end] > 0) == (dual[j] > 0); ++end)
        if (std::abs(dual[end]) > std::abs(dual[top])) top = end;
      if (worst < 0 || std::abs(dual[top]) > std::abs(dual[worst])) worst = top;
      if (!one_by_one) {
        kink[top] = 1;
        sign[top] = dual[top] > 0 ? 1 : -1;
      }
      ++added;
      j = end;
    }
    if (added > 0) {
      if (one_by_one) {
        kink[worst] = 1;
        sign[worst] = dual[worst] > 0 ? 1 : -1;
      }
      continue;
    }
    b = now;
    for (Index j = 0; j < m; ++j) mu[j] = kink[j] ? lambda * sign[j] : std::min(std::max(dual[j], -lambda), lambda);
    return true;
  }
  return false;
}

}  // namespace granary::regress
