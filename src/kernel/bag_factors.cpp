// Bags in the feature space of a base kernel: each is reduced once to a few directions of its covariance operator.
//
// With w the weights of a bag, D = diag(w), K its kernel matrix: D^1/2 (I - 1w')K(I - w1') D^1/2 = V diag(lambda) V'. The
// directions A = Phi' C, C = (I - w1') D^1/2 V, have A A' = Sigma and A'A = diag(lambda). For two bags all that is needed are
// the inner products of [A_i, m_i] with [A_j, m_j]: U_i' K_ij U_j, U = [C, w].
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "kernel/bag_kernel.h"

namespace granary::kernel {

namespace {

constexpr double dropped_share = 1e-10;  // of eta: the log determinant changes by no more
constexpr Index largest_table = 2500;    // distinct points whose kernel values are kept

struct Factor {
  MatrixXd points;             // empty where there is a table
  std::vector<Index> place;    // in the table
  MatrixXd u;                  // [C, w]
  VectorXd lambda, with_mean;  // with_mean: A'm
  double mean_square = 0;      // m'm
};

MatrixXd centred_kernel(MatrixXd k, const VectorXd& w) {
  const VectorXd row = k * w;
  const double all = w.dot(row);
  k.rowwise() -= row.transpose();
  k.colwise() -= row;
  k.array() += all;
  const VectorXd root = w.cwiseSqrt();
  return root.asDiagonal() * k * root.asDiagonal();
}

// Rows numbered by their values, equal rows alike: the distinct ones, and where each row is.
std::pair<std::vector<Index>, std::vector<Index>> distinct_rows(const MatrixXd& x) {
  std::vector<Index> order(static_cast<std::size_t>(x.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  const auto compare = [&](Index a, Index b) {
    for (Index c = 0; c < x.cols(); ++c)
      if (x(a, c) != x(b, c)) return x(a, c) < x(b, c) ? -1 : 1;
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return compare(a, b) < 0; });
  std::vector<Index> first, place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || compare(order[k - 1], order[k]) != 0) first.push_back(order[k]);
    place[static_cast<std::size_t>(order[k])] = static_cast<Index>(first.size()) - 1;
  }
  return {first, place};
}

class FactorModel : public BagModel {
 public:
  FactorModel(const std::vector<Bag>& bags, const BagOptions& o)
      : o_(o), kernel_(*o.kernel, bags.empty() ? 1 : bags[0].x.cols()) {
    if (!(o.eta > 0)) throw InputError("with a base kernel `eta` must be above 0: its covariance operators are singular.");
    if (o.reference_share > 0)
      throw InputError("a reference measure goes with the kernel of the points themselves, or with landmarks.");
    Index total = 0;
    for (const Bag& bag : bags) total += bag.x.rows();
    MatrixXd all(total, bags.empty() ? 1 : bags[0].x.cols());
    for (Index at = 0, b = 0; b < static_cast<Index>(bags.size()); ++b) {
      all.middleRows(at, bags[static_cast<std::size_t>(b)].x.rows()) = bags[static_cast<std::size_t>(b)].x;
      at += bags[static_cast<std::size_t>(b)].x.rows();
    }
    const auto [first, place] = distinct_rows(all);
    const auto n_distinct = static_cast<Index>(first.size());
    if (n_distinct <= largest_table && 2 * n_distinct <= total) {
      MatrixXd points(n_distinct, all.cols());
      for (Index i = 0; i < n_distinct; ++i) points.row(i) = all.row(first[static_cast<std::size_t>(i)]);
      table_ = kernel_.matrix(points);
    }
    std::size_t at = 0;
    for (std::size_t b = 0; b < bags.size(); ++b) {
      Factor f;
      const auto n = static_cast<std::size_t>(bags[b].x.rows());
      if (table_.size() > 0) {
        f.place.assign(place.begin() + static_cast<std::ptrdiff_t>(at), place.begin() + static_cast<std::ptrdiff_t>(at + n));
      } else {
        f.points = bags[b].x;
      }
      at += n;
      reduce(f, shares(bags[b], b));
      bags_.push_back(std::move(f));
    }
  }

  double log_value(Index a, Index b, Monitor&) const override {
    const Factor &x = bags_[static_cast<std::size_t>(a)], &y = bags_[static_cast<std::size_t>(b)];
    if (a == b) return o_.type == BagType::igv ? -own_log_det(x) : 0;
    const MatrixXd inner = x.u.transpose() * values(x, y) * y.u;  // of [A, m] with [A', m']
    const Index p = x.lambda.size(), q = y.lambda.size();
    const double gap = std::max(0.0, x.mean_square + y.mean_square - 2 * inner(p, q));  // |m - m'|^2
    if (o_.type == BagType::mean_map) return -o_.beta * gap;
    const bool igv = o_.type == BagType::igv;
    const double eta = o_.eta;
    MatrixXd g = MatrixXd::Zero(p + q + igv, p + q + igv);  // lower triangle of I + A'A / eta
    g.diagonal().setOnes();
    g.diagonal().head(p) += x.lambda / (2 * eta);
    g.diagonal().segment(p, q) += y.lambda / (2 * eta);
    g.block(p, 0, q, p) = inner.topLeftCorner(p, q).transpose() / (2 * eta);
    VectorXd along(p + q);  // A'(m - m'), A = [A, A'] / sqrt 2
    along.head(p) = (x.with_mean - inner.col(q).head(p)) / std::sqrt(2.0);
    along.tail(q) = (inner.row(p).head(q).transpose() - y.with_mean) / std::sqrt(2.0);
    if (igv) {
      g.row(p + q).head(p + q) = along.transpose() / (2 * eta);
      g(p + q, p + q) += gap / (4 * eta);
    }
    const Llt factor(g);
    if (factor.info() != Eigen::Success)
      throw NumericalError("a determinant of bags is not positive: the base kernel is not positive semidefinite.");
    const double log_det = 2 * factor.matrixLLT().diagonal().array().log().sum();
    if (igv) return -log_det;
    factor.matrixL().solveInPlace(along);
    const double distance = (gap - along.squaredNorm() / eta) / eta;
    return 0.25 * (own_log_det(x) + own_log_det(y)) - 0.5 * log_det - 0.125 * std::max(0.0, distance);
  }

  double operations() const override {
    double points = 0, directions = 0;
    for (const Factor& f : bags_) {
      points += static_cast<double>(f.u.rows());
      directions += static_cast<double>(f.lambda.size());
    }
    const double n = std::max<double>(1, static_cast<double>(bags_.size())), d = points / n, r = directions / n;
    return 100 + d * d * (20 + 2 * r) + 3 * r * r * r;
  }

 private:
  double own_log_det(const Factor& f) const { return (f.lambda.array() / o_.eta).log1p().sum(); }

  MatrixXd values(const Factor& x, const Factor& y) const {
    if (table_.size() == 0) return kernel_.cross(x.points, y.points);
    MatrixXd k(static_cast<Index>(x.place.size()), static_cast<Index>(y.place.size()));
    for (Index j = 0; j < k.cols(); ++j)
      for (Index i = 0; i < k.rows(); ++i)
        k(i, j) = table_(x.place[static_cast<std::size_t>(i)], y.place[static_cast<std::size_t>(j)]);
    return k;
  }

  void reduce(Factor& f, const VectorXd& w) const {
    const MatrixXd k = values(f, f);
    const VectorXd kw = k * w;
    f.mean_square = w.dot(kw);
    Index kept = 0;
    MatrixXd c(w.size(), 0);
    if (o_.type != BagType::mean_map) {
      const SymmetricEigen eigen(centred_kernel(k, w));
      const VectorXd d = eigen.eigenvalues().reverse().cwiseMax(0);
      double left = d.sum();
      while (kept < d.size() && left > dropped_share * o_.eta && d[kept] > 0) left -= d[kept++];
      f.lambda = d.head(kept);
      c = w.cwiseSqrt().asDiagonal() * eigen.eigenvectors().rowwise().reverse().leftCols(kept);
      c -= w * c.colwise().sum();
    }
    f.u.resize(w.size(), kept + 1);
    f.u.leftCols(kept) = c;
    f.u.col(kept) = w;
    f.with_mean = c.transpose() * kw;
  }

  BagOptions o_;
  Kernel kernel_;
  MatrixXd table_;
  std::vector<Factor> bags_;
};

}  // namespace

std::unique_ptr<BagModel> bag_factors(const std::vector<Bag>& bags, const BagOptions& o) {
  return std::make_unique<FactorModel>(bags, o);
}

BagEigen bag_eigen(const Bag& bag, const KernelSpec& spec, Index k, ConstMatrixRef at) {
  const VectorXd w = shares(bag, 0);
  const Kernel kernel(spec, bag.x.cols());
  const MatrixXd values = kernel.matrix(bag.x);
  const SymmetricEigen eigen(centred_kernel(values, w));
  BagEigen out;
  const VectorXd d = eigen.eigenvalues().reverse();
  out.trace = d.sum();
  k = std::min(k, d.size());
  while (k > 0 && !(d[k - 1] > 1e-12 * d[0])) --k;
  out.values = d.head(k);
  // The function of unit length in the feature space, at x: sum_i c_i kappa(x_i, x) / sqrt(lambda), centred by its mean over
  // the bag.
  MatrixXd c = w.cwiseSqrt().asDiagonal() * eigen.eigenvectors().rowwise().reverse().leftCols(k);
  c -= w * c.colwise().sum();
  c = c * out.values.cwiseSqrt().cwiseInverse().asDiagonal();
  out.at_bag = values * c;
  const Eigen::RowVectorXd middle = w.transpose() * out.at_bag;
  for (Index r = 0; r < k; ++r) {  // the sign: the largest value is positive
    Index top = 0;
    (out.at_bag.col(r).array() - middle[r]).cwiseAbs().maxCoeff(&top);
    if (out.at_bag(top, r) < middle[r]) {
      out.at_bag.col(r) *= -1;
      c.col(r) *= -1;
    }
  }
  const Eigen::RowVectorXd mean = w.transpose() * out.at_bag;
  out.at_bag.rowwise() -= mean;
  if (at.rows() > 0) {
    out.at_new = kernel.cross(at, bag.x) * c;
    out.at_new.rowwise() -= mean;
  }
  return out;
}

}  // namespace granary::kernel
