#include "core/optim/ridge_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/optim/lbfgs.h"

namespace granary {

namespace {

// Columns at mean 0 and variance 1.
struct Standard {
  MatrixXd z;
  VectorXd mean, scale;
};

Standard standardise(ConstMatrixRef x, ConstVectorRef w) {
  Standard out;
  const double total = w.sum();
  out.mean = x.transpose() * w / total;
  out.z = x.rowwise() - out.mean.transpose();
  out.scale.resize(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const double sd = std::sqrt(out.z.col(j).cwiseAbs2().dot(w) / total);
    const double size = std::abs(out.mean[j]) + sd;
    out.scale[j] = sd > 1e-12 * size ? 1 / sd : 0;
    out.z.col(j) *= out.scale[j];
  }
  return out;
}

class Problem {
 public:
  Problem(ConstMatrixRef x, const VectorXi& y, ConstVectorRef weights, int classes)
      : y_(y),
        w_(weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(x.rows())),
        data_(standardise(x, w_)),
        classes_(classes),
        etas_(classes == 2 ? 1 : classes),
        p_(x.cols()) {
    VectorXd cases = VectorXd::Zero(classes);
    for (Index i = 0; i < x.rows(); ++i) cases[y[i]] += w_[i];
    if (cases.minCoeff() <= 0) throw InputError("every class needs a case.");
    start_ = VectorXd::Zero(etas_ * (p_ + 1));
    for (Index c = 0; c < etas_; ++c)
      start_[c * (p_ + 1)] = std::log(cases[etas_ == 1 ? 1 : c] / (etas_ == 1 ? cases[0] : cases.sum()));
  }

  RidgeSoftmax solve(double lambda, const RidgeSoftmaxOptions& options, Monitor& monitor) {
    LbfgsOptions how;
    how.tol = options.tol * 1e-2;
    how.value_tol = 1e-16;
    how.max_iter = options.max_iter;
    const double total = w_.sum();
    const LbfgsResult found = lbfgs([&](const VectorXd& t, VectorXd& g) { return value(t, lambda, g); }, start_, how, monitor);
    start_ = found.x;
    RidgeSoftmax out;
    out.lambda = lambda;
    out.coefficients.resize(p_, etas_);
    out.intercept.resize(etas_);
    for (Index c = 0; c < etas_; ++c) {
      out.coefficients.col(c) = found.x.segment(c * (p_ + 1) + 1, p_).cwiseProduct(data_.scale);
      out.intercept[c] = found.x[c * (p_ + 1)] - out.coefficients.col(c).dot(data_.mean);
    }
    out.convergence = found.convergence;
    out.convergence.residual = found.gradient.lpNorm<Eigen::Infinity>() / total;  // a score per case, free of units
    out.convergence.converged = out.convergence.residual <= options.tol;
    out.convergence.reason = out.convergence.converged                        ? Stop::solved
                             : out.convergence.iterations >= options.max_iter ? Stop::iterations
                                                                              : Stop::stalled;
    return out;
  }

 private:
  double value(const VectorXd& t, double lambda, VectorXd& g) const {
    const Eigen::Map<const MatrixXd> theta(t.data(), p_ + 1, etas_);
    MatrixXd eta = data_.z * theta.bottomRows(p_);
    eta.rowwise() += theta.row(0);
    double loss = 0;
    if (etas_ == 1) {
      for (Index i = 0; i < eta.rows(); ++i) {
        const double e = eta(i, 0);
        loss += w_[i] * (log1pexp(e) - (y_[i] == 1 ? e : 0));
        eta(i, 0) = w_[i] * (expit(e) - y_[i]);
      }
    } else {
      for (Index i = 0; i < eta.rows(); ++i) {
        const double own = eta(i, y_[i]), top = eta.row(i).maxCoeff();
        eta.row(i) = (eta.row(i).array() - top).exp();
        const double sum = eta.row(i).sum();
        loss += w_[i] * (std::log(sum) + top - own);
        eta.row(i) *= w_[i] / sum;
        eta(i, y_[i]) -= w_[i];
      }
    }
    g.resize(t.size());
    Eigen::Map<MatrixXd> slope(g.data(), p_ + 1, etas_);
    slope.row(0) = eta.colwise().sum();
    slope.bottomRows(p_).noalias() = data_.z.transpose() * eta;
    slope.bottomRows(p_) += lambda * theta.bottomRows(p_);
    return loss + 0.5 * lambda * theta.bottomRows(p_).squaredNorm();
  }

  const VectorXi& y_;
  VectorXd w_;
  Standard data_;
  int classes_;
  Index etas_, p_;
  VectorXd start_;
};

}  // namespace

RidgeSoftmax ridge_softmax(ConstMatrixRef x, const VectorXi& y, ConstVectorRef weights, double lambda,
                           const RidgeSoftmaxOptions& options, Monitor& monitor) {
  return Problem(x, y, weights, options.classes).solve(lambda, options, monitor);
}

RidgeSoftmax ridge_softmax_cv(ConstMatrixRef x, const VectorXi& y, const std::vector<double>& lambdas, const VectorXi& fold,
                              int folds, const RidgeSoftmaxOptions& options, Monitor& monitor) {
  if (lambdas.empty()) throw InputError("there must be at least one lambda.");
  std::vector<double> grid = lambdas;
  std::sort(grid.begin(), grid.end(), [](double a, double b) { return a > b; });
  double chosen = grid[0];
  if (grid.size() > 1) {
    struct Part {
      std::vector<Index> rows;
      VectorXi y;
      MatrixXd x;
    };
    std::vector<Part> held;
    std::vector<VectorXi> labels;  // of what is fitted: the problems look at them
    std::vector<Problem> fits;
    labels.reserve(static_cast<std::size_t>(folds));
    for (int f = 0; f < folds; ++f) {
      Part out;
      std::vector<Index> in;
      for (Index i = 0; i < x.rows(); ++i) (fold[i] == f ? out.rows : in).push_back(i);
      MatrixXd inner(static_cast<Index>(in.size()), x.cols());
      VectorXi inner_y(inner.rows());
      VectorXi seen = VectorXi::Zero(options.classes);
      for (Index r = 0; r < inner.rows(); ++r) {
        inner.row(r) = x.row(in[static_cast<std::size_t>(r)]);
        inner_y[r] = y[in[static_cast<std::size_t>(r)]];
        seen[inner_y[r]] = 1;
      }
      if (seen.minCoeff() == 0 || out.rows.empty()) continue;  // a fold that cannot be fitted says nothing
      out.x.resize(static_cast<Index>(out.rows.size()), x.cols());
      out.y.resize(out.x.rows());
      for (Index r = 0; r < out.x.rows(); ++r) {
        out.x.row(r) = x.row(out.rows[static_cast<std::size_t>(r)]);
        out.y[r] = y[out.rows[static_cast<std::size_t>(r)]];
      }
      held.push_back(std::move(out));
      labels.push_back(std::move(inner_y));
      fits.emplace_back(inner, labels.back(), VectorXd(), options.classes);
    }
    double best = std::numeric_limits<double>::infinity();
    int worse = 0;
    for (const double lambda : grid) {
      if (held.empty()) break;
      double loss = 0;
      for (std::size_t f = 0; f < held.size(); ++f) {
        monitor.check();
        const MatrixXd log_p = log_softmax(held[f].x, fits[f].solve(lambda, options, monitor));
        for (Index r = 0; r < log_p.rows(); ++r) loss -= log_p(r, held[f].y[r]);
      }
      if (loss < best) {
        best = loss;
        chosen = lambda;
        worse = 0;
      } else if (++worse == 2) {
        break;
      }
    }
  }
  return ridge_softmax(x, y, VectorXd(), chosen, options, monitor);
}

MatrixXd log_softmax(ConstMatrixRef x, const RidgeSoftmax& fit) {
  MatrixXd eta = x * fit.coefficients;
  eta.rowwise() += fit.intercept.transpose();
  if (eta.cols() == 1) {
    MatrixXd out(eta.rows(), 2);
    for (Index i = 0; i < eta.rows(); ++i) {
      out(i, 0) = -log1pexp(eta(i, 0));
      out(i, 1) = -log1pexp(-eta(i, 0));
    }
    return out;
  }
  for (Index i = 0; i < eta.rows(); ++i) eta.row(i).array() -= log_sum_exp(eta.row(i).transpose());
  return eta;
}

}  // namespace granary
