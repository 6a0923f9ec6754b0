#include "regress/decorrelate_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/linalg/spd.h"

namespace granary::regress {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The columns with |c_j| = mu, in the order they came, with the factor of their block of S.
struct ActiveSet {
  const ConstMatrixRef& x;
  double scale;
  std::vector<Index> index;
  std::vector<double> sign, v;
  std::vector<char> member;
  MatrixXd columns;  // of x, side by side: the products with a new column are then one pass
  Cholesky factor;

  explicit ActiveSet(const ConstMatrixRef& design)
      : x(design),
        scale(1 / static_cast<double>(design.rows())),
        member(static_cast<std::size_t>(design.cols()), 0),
        columns(design.rows(), 16) {}

  Index size() const { return static_cast<Index>(index.size()); }
  VectorXd signs() const { return Eigen::Map<const VectorXd>(sign.data(), size()); }
  VectorXd values() const { return Eigen::Map<const VectorXd>(v.data(), size()); }
  VectorXd products(Index j) const { return scale * (columns.leftCols(size()).transpose() * x.col(j)); }

  // The coordinates of column j in the span of the others, and its distance from it relative to its length. One step of
  // refinement on the columns
  // themselves: whether the distance is zero decides between a pivot and a step, and the factor alone is too coarse for that.
  VectorXd coordinates(Index j, const VectorXd& with, double& distance) const {
    const auto block = columns.leftCols(size());
    VectorXd weights = factor.solve(with), rest = x.col(j) - block * weights;
    for (int round = 0; round < 2; ++round) {
      weights += factor.solve(VectorXd(scale * (block.transpose() * rest)));
      rest = x.col(j) - block * weights;
    }
    distance = rest.norm() / x.col(j).norm();
    return weights;
  }

  // Factor and values afresh, v_A = S_AA^-1 (e_i - mu s)_A, and with them c: steps pile up rounding. False when the block is
  // singular.
  bool refresh(Index i, double mu, VectorXd& c) {
    const auto block = columns.leftCols(size());
    const MatrixXd s = scale * (block.transpose() * block);
    VectorXd right = -mu * signs();
    for (Index k = 0; k < size(); ++k)
      if (index[static_cast<std::size_t>(k)] == i) right[k] += 1;
    try {
      factor = Cholesky(s);
    } catch (const NumericalError&) {
      return false;
    }
    const VectorXd fresh = factor.solve(right);
    if (!fresh.allFinite()) return false;
    std::copy(fresh.data(), fresh.data() + size(), v.begin());
    c = scale * (x.transpose() * (block * fresh));
    c[i] -= 1;
    return true;
  }

  bool add(Index j, double its_sign, double value, const VectorXd& with_active) {
    try {
      factor.append(with_active, scale * x.col(j).squaredNorm());
    } catch (const NumericalError&) {
      return false;
    }
    if (size() == columns.cols()) columns.conservativeResize(Eigen::NoChange, 2 * columns.cols());
    columns.col(size()) = x.col(j);
    index.push_back(j);
    sign.push_back(its_sign);
    v.push_back(value);
    member[static_cast<std::size_t>(j)] = 1;
    return true;
  }
  void drop(Index k) {
    factor.erase(k);
    for (Index b = k; b + 1 < size(); ++b) columns.col(b) = columns.col(b + 1);
    member[static_cast<std::size_t>(index[static_cast<std::size_t>(k)])] = 0;
    index.erase(index.begin() + k);
    sign.erase(sign.begin() + k);
    v.erase(v.begin() + k);
  }
};

// How far along `direction` until a value reaches zero, and which.
double until_zero(const ActiveSet& active, const VectorXd& direction, Index& which) {
  double step = infinity;
  which = -1;
  for (Index k = 0; k < active.size(); ++k) {
    const std::size_t at = static_cast<std::size_t>(k);
    if (active.sign[at] * direction[k] >= 0) continue;
    const double t = std::max(0.0, -active.v[at] / direction[k]);
    if (t < step) {
      step = t;
      which = k;
    }
  }
  return step;
}

}  // namespace

RowPath::RowPath(ConstMatrixRef x, Index i, double target, Monitor& monitor) : x_(x) {
  const Index n = x_.rows(), p = x_.cols();
  ActiveSet active(x_);
  active.add(i, 1, 0, VectorXd());
  VectorXd c = VectorXd::Zero(p);
  c[i] = -1;
  Index left = -1;  // who left last sits at its bound still and must not come back at once
  const int most = static_cast<int>(1000 + 50 * std::min(n, p));
  for (int count = 0; count < most; ++count) {
    monitor.check();
    if (count % 25 == 24 && !active.refresh(i, mu_, c)) return;
    const VectorXd slope = active.factor.solve(active.signs());
    if (!slope.allFinite()) return;
    const VectorXd fitted = active.columns.leftCols(active.size()) * slope;
    const VectorXd change = active.scale * (x_.transpose() * fitted);
    pieces_.push_back({mu_, active.index, active.values(), slope});
    Index leaves;
    double step = until_zero(active, slope, leaves);
    Index joins = -1;
    double side = 0;
    for (Index j = 0; j < p; ++j) {
      if (active.member[static_cast<std::size_t>(j)]) continue;
      const double a = change[j];
      // c_j + t a_j = mu - t, or -(mu - t)
      if (1 + a > 1e-12) {
        const double t = std::max(0.0, (mu_ - c[j]) / (1 + a));
        if (t < step && !(j == left && t < 1e-10)) step = t, joins = j, side = -1;
      }
      if (1 - a > 1e-12) {
        const double t = std::max(0.0, (mu_ + c[j]) / (1 - a));
        if (t < step && !(j == left && t < 1e-10)) step = t, joins = j, side = 1;
      }
    }
    const bool last = step >= mu_ - target;
    if (last) step = std::max(0.0, mu_ - target);
    for (Index k = 0; k < active.size(); ++k) active.v[static_cast<std::size_t>(k)] += step * slope[k];
    c += step * change;
    mu_ -= step;
    if (last) {
      mu_ = std::min(mu_, target);
      end_ = End::reached;
      return;
    }
    left = -1;
    if (joins < 0) {
      if (active.size() == 1) return;
      left = active.index[static_cast<std::size_t>(leaves)];
      active.drop(leaves);
      continue;
    }
    double distance;
    const VectorXd with = active.products(joins), weights = active.coordinates(joins, with, distance);
    if (distance > 1e-6) {
      if (!active.add(joins, side, 0, with)) return;
      continue;
    }
    const VectorXd back = -side * weights;  // nu on the active columns; side on the new one
    Index out;
    const double along = until_zero(active, back, out);
    if (out < 0) {
      ray_ = VectorXd::Zero(p);
      for (Index k = 0; k < active.size(); ++k) ray_[active.index[static_cast<std::size_t>(k)]] = back[k];
      ray_[joins] = side;
      ray_ /= ray_.cwiseAbs().sum();
      // What the ray proves, from the ray: X nu is zero up to rounding, or this is no ray.
      const bool holds = (x_ * ray_).norm() <= 1e-6 * x_.col(joins).norm() && std::abs(ray_[i] - mu_) <= 1e-6;
      end_ = holds ? End::ray : End::stopped;
      if (holds) mu_ = std::max(mu_, ray_[i]);
      return;
    }
    for (Index k = 0; k < active.size(); ++k) active.v[static_cast<std::size_t>(k)] += along * back[k];
    left = active.index[static_cast<std::size_t>(out)];
    active.drop(out);
    if (!active.add(joins, side, along * side, active.products(joins))) return;
  }
}

VectorXd RowPath::at(double mu) const {
  VectorXd v = VectorXd::Zero(x_.cols());
  std::size_t k = pieces_.size();
  while (k > 1 && pieces_[k - 1].mu < mu) --k;
  if (k == 0) return v;
  const Piece& piece = pieces_[k - 1];
  const double t = std::max(0.0, piece.mu - mu);
  const VectorXd values = piece.v + t * piece.slope;
  for (std::size_t b = 0; b < piece.active.size(); ++b) v[piece.active[b]] = values[static_cast<Index>(b)];
  return v;
}

}  // namespace granary::regress
