// Equation (9) for a similarity that the user gives, full or sparse.
#include "core/linalg/sparse_cholesky.h"

#include "core/base/errors.h"
#include "regress/mta.h"

namespace granary::regress {

namespace {

MatrixXd without_diagonal(ConstMatrixRef a) {
  MatrixXd out = a;
  out.diagonal().setZero();
  return out;
}

void add_column(ConstVectorRef column, Index j, double s_j, MeansResult& out) {
  out.variance.array() += column.array().square() * s_j;
  out.posterior[j] = column[j] * s_j;
}

// (Sigma^-1 + (gamma / T) L) m = Sigma^-1 ybar over the tasks with s > 0; tasks with s = 0 keep their means and enter on the
// right.
class SparseSystem {
 public:
  SparseSystem(const ConstSparseMap& a, ConstVectorRef s, double gamma) : s_(s), place_(s.size(), -1) {
    const double scale = gamma / static_cast<double>(s.size());
    for (Index t = 0; t < s.size(); ++t) {
      if (s[t] > 0) {
        place_[t] = static_cast<int>(free_.size());
        free_.push_back(static_cast<int>(t));
      }
    }
    std::vector<Eigen::Triplet<double>> entries, known;
    VectorXd diagonal(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k) diagonal[k] = 1 / s[free_[k]];
    for (int j = 0; j < a.outerSize(); ++j) {
      for (ConstSparseMap::InnerIterator it(a, j); it; ++it) {
        const Index i = it.row();
        const double weight = scale * it.value();
        if (i == j || place_[i] < 0 || weight == 0) continue;
        diagonal[place_[i]] += weight;
        if (place_[j] >= 0) {
          entries.emplace_back(place_[i], place_[j], -weight);
        } else {
          known.emplace_back(place_[i], j, weight);
        }
      }
    }
    for (std::size_t k = 0; k < free_.size(); ++k) entries.emplace_back(k, k, diagonal[k]);
    const Index size = static_cast<Index>(free_.size());
    SparseMatrix m(size, size);
    m.setFromTriplets(entries.begin(), entries.end());
    known_.resize(size, s.size());
    known_.setFromTriplets(known.begin(), known.end());
    if (size == 0) return;
    factor_.compute(m);
    if (factor_.info() != Eigen::Success) {
      throw NumericalError("The linear system of the means could not be factorised; rescale `A` or use a smaller `gamma`.");
    }
  }

  VectorXd solve(const VectorXd& mean) const {  // W mean
    VectorXd out = mean;
    if (free_.empty()) return out;
    VectorXd right = known_ * mean;
    for (std::size_t k = 0; k < free_.size(); ++k) right[k] += mean[free_[k]] / s_[free_[k]];
    const VectorXd solved = factor_.solve(right);
    for (std::size_t k = 0; k < free_.size(); ++k) out[free_[k]] = solved[k];
    return out;
  }

 private:
  VectorXd s_;
  std::vector<int> place_, free_;
  SparseMatrix known_;
  Eigen::SimplicialLDLT<SparseMatrix> factor_;
};

}  // namespace

MatrixXd along_weights(ConstMatrixRef a, ConstVectorRef s, double gamma, Monitor& monitor) {
  const Index tasks = s.size();
  return laplacian_solve(without_diagonal(a), s * (gamma / static_cast<double>(tasks)), MatrixXd::Identity(tasks, tasks),
                         monitor);
}

MeansResult shrink_along(ConstMatrixRef a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance,
                         Monitor& monitor) {
  MeansResult out;
  const double origin = mean[0];
  const VectorXd centred = mean.array() - origin;
  if (!with_variance) {
    const VectorXd g = s * (gamma / static_cast<double>(mean.size()));
    out.estimate = laplacian_solve(without_diagonal(a), g, centred, monitor).array() + origin;
    return out;
  }
  const MatrixXd w = along_weights(a, s, gamma, monitor);
  out.estimate = (w * centred).array() + origin;
  out.variance = VectorXd::Zero(s.size());
  out.posterior.resize(s.size());
  for (Index j = 0; j < s.size(); ++j) add_column(w.col(j), j, s[j], out);
  return out;
}

MeansResult shrink_along(const ConstSparseMap& a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance,
                         Monitor& monitor) {
  const SparseSystem system(a, s, gamma);
  MeansResult out;
  const double origin = mean[0];
  out.estimate = system.solve(mean.array() - origin).array() + origin;
  if (!with_variance) return out;
  const Index tasks = s.size();
  out.variance = VectorXd::Zero(tasks);
  out.posterior = VectorXd::Zero(tasks);
  VectorXd unit = VectorXd::Zero(tasks);
  for (Index j = 0; j < tasks; ++j) {
    monitor.progress(static_cast<double>(j) / static_cast<double>(tasks));
    unit[j] = 1;
    add_column(system.solve(unit), j, s[j], out);
    unit[j] = 0;
  }
  return out;
}

MeansResult shrink_along(const Design& a, ConstVectorRef mean, ConstVectorRef s, double gamma, bool with_variance, Monitor& monitor) {
  if (a.is_sparse()) return shrink_along(a.sparse(), mean, s, gamma, with_variance, monitor);
  return shrink_along(ConstMatrixRef(a.dense()), mean, s, gamma, with_variance, monitor);
}

}  // namespace granary::regress
