#include "process/mds.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"

#include "process/gplvm_dual.h"

namespace granary::process {

namespace {

// The increasing sequence nearest to v, by pooling adjacent violators.
void pool_adjacent(std::vector<double>& v) {
  struct Block {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (double value : v) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  std::size_t at = 0;
  for (const Block& block : blocks)
    for (std::size_t k = 0; k < block.count; ++k) v[at++] = block.mean();
}

// The pairs i > j, column by column.
class Stress {
 public:
  Stress(ConstMatrixRef distance, bool nonmetric) : n_(distance.rows()), nonmetric_(nonmetric) {
    d_.reserve(static_cast<std::size_t>(n_ * (n_ - 1) / 2));
    for (Index j = 0; j < n_; ++j)
      for (Index i = j + 1; i < n_; ++i) d_.push_back(distance(i, j));
    total_ = std::accumulate(d_.begin(), d_.end(), 0.0);
    nearest_ = total_;
    for (double d : d_)
      if (d > 0) nearest_ = std::min(nearest_, d);
    if (!nonmetric) return;
    order_.resize(d_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return d_[a] < d_[b]; });
  }

  double operator()(const MatrixXd& x, MatrixXd* gradient) {
    e_.resize(d_.size());
    std::size_t at = 0;
    for (Index j = 0; j < n_; ++j)
      for (Index i = j + 1; i < n_; ++i) e_[at++] = (x.row(i) - x.row(j)).norm();
    slope_.resize(d_.size());
    const double value = nonmetric_ ? kruskal() : sammon();
    if (!gradient) return value;
    gradient->setZero(n_, x.cols());
    at = 0;
    for (Index j = 0; j < n_; ++j)
      for (Index i = j + 1; i < n_; ++i, ++at) {
        if (!(e_[at] > 0)) continue;
        const Eigen::RowVectorXd pull = (slope_[at] / e_[at]) * (x.row(i) - x.row(j));
        gradient->row(i) += pull;
        gradient->row(j) -= pull;
      }
    return value;
  }

  double nearest_scale() const {  // the factor of e that brings it nearest to d
    double de = 0, ee = 0;
    for (std::size_t k = 0; k < d_.size(); ++k) {
      de += d_[k] * e_[k];
      ee += e_[k] * e_[k];
    }
    return ee > 0 ? de / ee : 1;
  }

 private:
  double sammon() {
    double value = 0;
    for (std::size_t k = 0; k < d_.size(); ++k) {
      const double rest = e_[k] - d_[k], weight = 1 / (std::max(d_[k], nearest_) * total_);
      value += weight * rest * rest;
      slope_[k] = 2 * weight * rest;
    }
    return value;
  }

  double kruskal() {
    for (std::size_t from = 0, to; from < order_.size(); from = to) {  // equal d in the order of e
      to = from + 1;
      while (to < order_.size() && d_[order_[to]] == d_[order_[from]]) ++to;
      if (to > from + 1)
        std::sort(order_.begin() + static_cast<std::ptrdiff_t>(from), order_.begin() + static_cast<std::ptrdiff_t>(to),
                  [&](std::size_t a, std::size_t b) { return e_[a] != e_[b] ? e_[a] < e_[b] : a < b; });
    }
    std::vector<double> fit(order_.size());
    for (std::size_t k = 0; k < fit.size(); ++k) fit[k] = e_[order_[k]];
    pool_adjacent(fit);
    double squares = 0, rest = 0;
    for (std::size_t k = 0; k < fit.size(); ++k) {
      const double e = e_[order_[k]];
      squares += e * e;
      rest += (e - fit[k]) * (e - fit[k]);
    }
    if (!(squares > 0)) return std::numeric_limits<double>::infinity();
    const double value = rest / squares;
    for (std::size_t k = 0; k < fit.size(); ++k)
      slope_[order_[k]] = 2 * (e_[order_[k]] - fit[k] - value * e_[order_[k]]) / squares;
    return value;
  }

  Index n_;
  bool nonmetric_;
  double total_ = 0, nearest_ = 0;
  std::vector<double> d_, e_, slope_;
  std::vector<std::size_t> order_;
};

}  // namespace

MdsResult mds(ConstMatrixRef distance, ConstMatrixRef start, const MdsOptions& options, Monitor& monitor) {
  const Index n = distance.rows(), q = start.cols();
  if (n < 2 || distance.cols() != n || start.rows() != n)
    throw InputError("the distances and the start must be of the same rows.");
  const double unit = distance.sum() / static_cast<double>(n * (n - 1));
  if (!(unit > 0) || !std::isfinite(unit)) throw InputError("the distances must be finite, and not all zero.");
  const Stopwatch clock;
  Stress stress(distance / unit, options.nonmetric);
  MatrixXd x(n, q), gradient;
  int calls = 0;
  const auto objective = [&](const VectorXd& v, VectorXd& slope) {
    monitor.progress(std::min(1.0, ++calls / (1.1 * options.max_iter)));
    x = Eigen::Map<const MatrixXd>(v.data(), n, q);
    const double value = stress(x, &gradient);
    slope = Eigen::Map<const VectorXd>(gradient.data(), gradient.size());
    return value;
  };
  LbfgsOptions solver;
  solver.max_iter = options.max_iter;
  solver.value_tol = options.tol;
  const MatrixXd scaled = start / unit;
  const LbfgsResult best = lbfgs(objective, Eigen::Map<const VectorXd>(scaled.data(), scaled.size()), solver, monitor);
  MdsResult out;
  out.x = Eigen::Map<const MatrixXd>(best.x.data(), n, q);
  const double value = stress(out.x, nullptr);
  out.stress = options.nonmetric ? std::sqrt(value) : value;
  if (options.nonmetric) out.x *= stress.nearest_scale();
  out.x.rowwise() -= out.x.colwise().mean().eval();
  out.x *= unit;
  out.convergence = best.convergence;
  if (value <= 1e-20) {  // squares of rounding errors: no step can be told from another
    out.convergence.converged = true;
    out.convergence.message = "the map is exact to rounding";
  }
  out.convergence.seconds = clock.seconds();
  return out;
}

MdsResult mds_fit(ConstMatrixRef distance, ConstMatrixRef start, const MdsFitOptions& options, Monitor& monitor) {
  const double unit = distance.maxCoeff();
  MatrixXd from = start;
  if (from.rows() == 0) {
    MatrixXd similarity = -0.5 * (distance / unit).array().square().matrix();
    centre_both(similarity);
    from = unit * similarity_map(similarity, options.q, monitor).x;
  }
  if (options.method != MdsMethod::classical)
    return mds(distance, from, {options.method == MdsMethod::nonmetric, options.max_iter, options.tol}, monitor);
  const MatrixXd x = from / unit;
  double error = 0, size = 0;
  for (Index j = 0; j < x.rows(); ++j)
    for (Index i = 0; i < j; ++i) {
      const double apart = (x.row(i) - x.row(j)).norm();
      error += std::pow(apart - distance(i, j) / unit, 2);
      size += apart * apart;
    }
  MdsResult out;
  out.x = from;
  out.stress = std::sqrt(error / size);
  out.convergence.converged = true;
  return out;
}

}  // namespace granary::process
