// Bags by their means and covariances: in their own coordinates, or in features that landmarks give through a base kernel.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "kernel/bag_kernel.h"

namespace granary::kernel {

namespace {

constexpr double log_2pi_e = 2.8378770664093453;

struct Moments {
  VectorXd mean;
  MatrixXd covariance;
  double mass = 1;
};

// share of a and 1 - share of b
Moments mix(const Moments& a, const Moments& b, double share) {
  Moments m;
  const VectorXd gap = a.mean - b.mean;
  m.mean = share * a.mean + (1 - share) * b.mean;
  m.covariance = share * a.covariance + (1 - share) * b.covariance + share * (1 - share) * gap * gap.transpose();
  m.mass = a.mass + b.mass;
  return m;
}

Moments moments(ConstMatrixRef x, const VectorXd& share, double mass) {
  Moments m;
  m.mean = x.transpose() * share;
  const MatrixXd centred = x.rowwise() - m.mean.transpose();
  m.covariance = centred.transpose() * share.asDiagonal() * centred;
  m.mass = mass;
  return m;
}

// Features whose inner product is the kernel on the landmarks, and its projection elsewhere.
class LandmarkFeatures {
 public:
  LandmarkFeatures(const KernelSpec& spec, const MatrixXd& landmarks) : kernel_(spec, landmarks.cols()), landmarks_(landmarks) {
    const SymmetricEigen eigen(kernel_.matrix(landmarks));
    const VectorXd& d = eigen.eigenvalues();
    const double least = 1e-12 * std::max(0.0, d.maxCoeff());
    Index kept = 0;
    while (kept < d.size() && d[d.size() - 1 - kept] > least) ++kept;
    if (kept == 0) throw InputError("the kernel is zero on the landmarks.");
    map_ = eigen.eigenvectors().rightCols(kept) * d.tail(kept).cwiseSqrt().cwiseInverse().asDiagonal();
  }
  MatrixXd operator()(ConstMatrixRef x) const { return kernel_.cross(x, landmarks_) * map_; }

 private:
  Kernel kernel_;
  MatrixXd landmarks_, map_;
};

class MomentModel : public BagModel {
 public:
  MomentModel(const std::vector<Bag>& bags, const BagOptions& o) : o_(o) {
    const bool landmarks = o.landmarks.rows() > 0 && o.kernel.has_value();
    std::optional<LandmarkFeatures> features;
    if (landmarks) features.emplace(*o.kernel, o.landmarks);
    const auto of = [&](const MatrixXd& x) -> MatrixXd { return landmarks ? (*features)(x) : x; };
    for (std::size_t b = 0; b < bags.size(); ++b) {
      const VectorXd share = shares(bags[b], b);
      if (family(BagFamily::exponential) && !(bags[b].x.minCoeff() > 0))
        throw InputError(message("bag ", b + 1, " has points that are not above 0, which exponential laws need."));
      bags_.push_back(moments(of(bags[b].x), share, bags[b].weights.sum()));
    }
    if (o.reference_share > 0) {
      if (o.reference.rows() == 0) throw InputError("the reference measure has no points.");
      if (!bags.empty() && o.reference.cols() != bags[0].x.cols())
        throw InputError("the reference measure must have the coordinates of the bags.");
      const double n = static_cast<double>(o.reference.rows());
      reference_ = moments(of(o.reference), VectorXd::Constant(o.reference.rows(), 1 / n), 1);
    }
    // The log determinants (entropies) of the bags themselves, for the kernels that need them.
    if (o.type == BagType::bhattacharyya || o.type == BagType::laplace)
      for (std::size_t b = 0; b < bags_.size(); ++b)
        own_.push_back(o.type == BagType::laplace ? entropy(bags_[b], b, b) : log_det(bags_[b].covariance, b, b));
  }

  double log_value(Index a, Index b, Monitor&) const override {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    const Moments &x = bags_[i], &y = bags_[j];
    switch (o_.type) {
      case BagType::mean_map:
        return -o_.beta * (x.mean - y.mean).squaredNorm();
      case BagType::bhattacharyya: {
        const MatrixXd middle = 0.5 * (x.covariance + y.covariance);
        const Llt factor = factored(middle, i, j);
        VectorXd gap = x.mean - y.mean;
        factor.matrixL().solveInPlace(gap);
        const double scale = o_.eta > 0 ? o_.eta : 1;
        return 0.25 * (own_[i] + own_[j]) - 0.5 * log_det_of(factor) - 0.125 * gap.squaredNorm() / scale;
      }
      case BagType::laplace: {
        const double total = o_.masses ? x.mass + y.mass : 2, mx = o_.masses ? x.mass : 1, my = o_.masses ? y.mass : 1;
        if (a == b && !o_.masses) return 0;
        const double h = a == b ? own_[i] : entropy(mix(x, y, mx / total), i, j);
        if (!o_.masses) return -2 * o_.beta * (h - 0.5 * (own_[i] + own_[j]));
        return -total * h + mx * own_[i] + my * own_[j] + 0.5 * statistics() * std::log(2 * std::sqrt(mx * my) / total);
      }
      default: {
        const Moments both = a == b ? x : mix(x, y, 0.5);
        return -log_det((o_.reference_share > 0 ? mix(both, reference_, 1 - o_.reference_share) : both).covariance, i, j);
      }
    }
  }
  double operations() const override {
    const double d = bags_.empty() ? 1 : static_cast<double>(bags_[0].mean.size());
    return 100 + (o_.type == BagType::mean_map ? 3 * d : d * d * d + 10 * d * d);
  }

 private:
  bool family(BagFamily f) const { return o_.type == BagType::laplace && o_.family == f; }

  // Of S / eta + I; of S itself for eta = 0.
  Llt factored(MatrixXd s, std::size_t i, std::size_t j) const {
    if (o_.eta > 0) {
      s /= o_.eta;
      s.diagonal().array() += 1;
    }
    Llt factor(s);
    if (factor.info() != Eigen::Success ||
        !(factor.matrixLLT().diagonal().minCoeff() > 1e-8 * factor.matrixLLT().diagonal().maxCoeff()))
      throw InputError(message("the covariance of bags ", i + 1, " and ", j + 1,
                               " is singular: they have too few points, or all in a plane. Give an `eta` above 0."));
    return factor;
  }
  static double log_det_of(const Llt& factor) { return 2 * factor.matrixLLT().diagonal().array().log().sum(); }
  double log_det(const MatrixXd& s, std::size_t i, std::size_t j) const { return log_det_of(factored(s, i, j)); }

  double statistics() const {
    const double d = bags_.empty() ? 1 : static_cast<double>(bags_[0].mean.size());
    return family(BagFamily::gaussian) ? d * (d + 3) / 2 : family(BagFamily::diagonal) ? 2 * d : d;
  }
  double entropy(const Moments& m, std::size_t i, std::size_t j) const {
    const double d = static_cast<double>(m.mean.size());
    if (family(BagFamily::exponential)) return d + m.mean.array().log().sum();
    const double floor = d * (o_.eta > 0 ? std::log(o_.eta) : 0);
    if (family(BagFamily::diagonal))
      return 0.5 * (d * log_2pi_e + floor + log_det(MatrixXd(m.covariance.diagonal().asDiagonal()), i, j));
    return 0.5 * (d * log_2pi_e + floor + log_det(m.covariance, i, j));
  }

  BagOptions o_;
  std::vector<Moments> bags_;
  Moments reference_;
  std::vector<double> own_;
};

}  // namespace

std::unique_ptr<BagModel> bag_moments(const std::vector<Bag>& bags, const BagOptions& o) {
  return std::make_unique<MomentModel>(bags, o);
}

}  // namespace granary::kernel
