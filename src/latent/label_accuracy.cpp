#include "latent/label_accuracy.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"
#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

constexpr double log_two_pi = 1.8378770664093454836;
constexpr Index groups = 16;

Index components(const LabelModel& m) { return m.parameters.share.size(); }
Index columns(const LabelModel& m) {
  if (m.family == LabelLaw::gaussian) return m.parameters.gaussian.means.cols();
  if (m.family == LabelLaw::categorical) return static_cast<Index>(m.levels.size());
  return m.parameters.table.cols();
}

Index covariance_entries(const LabelModel& m) {
  const Index p = columns(m);
  switch (m.covariance) {
    case CovarianceKind::diagonal: return p;
    case CovarianceKind::spherical: return 1;
    default: return p * (p + 1) / 2;
  }
}

// Log joint probabilities and scores of one point, label by label.
class Scores {
 public:
  explicit Scores(const LabelModel& m) : m_(m), k_(components(m)), p_(columns(m)) {
    if (m_.parameters.share.minCoeff() <= 0) throw InputError("every share must be positive: a label that never occurs has no score.");
    gaussian_ = m.family == LabelLaw::gaussian;
    shares_ = m.share_known ? 0 : k_ - 1;
    own_means_ = m.means_known ? 0 : gaussian_ ? p_ : m.family == LabelLaw::categorical ? m.parameters.table.cols() - p_ : p_;
    tied_ = gaussian_ && m.covariance == CovarianceKind::tied;
    second_ = gaussian_ && !m.covariance_known ? covariance_entries(m) : 0;
    own_ = own_means_ + (tied_ ? 0 : second_);
    if (gaussian_) {
      for (const MatrixXd& c : m.parameters.gaussian.covariance) {
        const Llt llt(c);
        if (llt.info() != Eigen::Success) throw InputError("the covariance of a component is not positive definite.");
        inverse_.push_back(llt.solve(MatrixXd(MatrixXd::Identity(p_, p_))));  // the score is made of it
        MatrixXd l = llt.matrixL();
        half_log_det_.push_back(l.diagonal().array().log().sum());
      }
    } else {
      const bool category = m.family == LabelLaw::categorical;
      const MatrixXd& t = m.parameters.table;
      if (t.minCoeff() <= 0) throw InputError("a rate or probability of zero has an infinite score: leave that column or level out, or use a prior.");
      if (category && (t.array() >= 1).any()) throw InputError("a probability of one has an infinite score: leave that item out, or use a prior.");
    }
  }

  Index labels() const { return k_; }
  Index size() const { return shares_ + k_ * own_ + (tied_ ? second_ : 0); }

  void at(ConstVectorRef x, VectorXd& log_joint, MatrixXd& s) const {
    s.setZero(k_, size());
    log_joint.resize(k_);
    for (Index k = 0; k < k_; ++k) {
      double value = std::log(m_.parameters.share[k]);
      if (shares_ > 0) {  // 1{y = j} / w_j - 1{y = K} / w_K
        if (k < k_ - 1) {
          s(k, k) = 1 / m_.parameters.share[k];
        } else {
          s.row(k).head(shares_).setConstant(-1 / m_.parameters.share[k]);
        }
      }
      const Index at = shares_ + k * own_;
      value += gaussian_ ? gaussian(x, k, s, at) : counts(x, k, s, at);
      log_joint[k] = value;
    }
  }

 private:
  double gaussian(ConstVectorRef x, Index k, MatrixXd& s, Index at) const {
    const MatrixXd& inverse = inverse_[static_cast<std::size_t>(k)];
    const VectorXd off = x - m_.parameters.gaussian.means.row(k).transpose();
    const VectorXd u = inverse * off;
    if (own_means_ > 0) s.row(k).segment(at, p_) = u.transpose();
    if (second_ > 0) {
      const Index from = tied_ ? shares_ + k_ * own_ : at + own_means_;
      const MatrixXd g = 0.5 * (u * u.transpose() - inverse);  // derivative in Sigma, each off-diagonal entry once
      Index c = from;
      switch (m_.covariance) {
        case CovarianceKind::diagonal: s.row(k).segment(from, p_) = g.diagonal().transpose(); break;
        case CovarianceKind::spherical: s(k, from) = g.trace(); break;
        default:
          for (Index i = 0; i < p_; ++i)
            for (Index j = 0; j <= i; ++j) s(k, c++) = i == j ? g(i, i) : 2 * g(i, j);
      }
    }
    return -0.5 * (off.dot(u) + static_cast<double>(p_) * log_two_pi) - half_log_det_[static_cast<std::size_t>(k)];
  }

  double counts(ConstVectorRef x, Index k, MatrixXd& s, Index at) const {
    const MatrixXd& t = m_.parameters.table;
    double value = 0;
    if (m_.family == LabelLaw::categorical) {
      Index from = 0, c = at;
      for (Index j = 0; j < p_; ++j) {
        const Index levels = m_.levels[static_cast<std::size_t>(j)], v = static_cast<Index>(x[j]) - 1;
        if (v >= 0) value += std::log(t(k, from + v));
        if (own_means_ > 0) {
          for (Index l = 0; l + 1 < levels; ++l, ++c) {
            if (v == l) s(k, c) = 1 / t(k, from + l);
            if (v == levels - 1) s(k, c) = -1 / t(k, from + levels - 1);
          }
        }
        from += levels;
      }
      return value;
    }
    for (Index j = 0; j < p_; ++j) {
      const double rate = t(k, j);
      if (m_.family == LabelLaw::poisson) {
        value += x[j] * std::log(rate) - rate - log_gamma(x[j] + 1);
        if (own_means_ > 0) s(k, at + j) = x[j] / rate - 1;
      } else {
        value += std::log(rate) - rate * x[j];
        if (own_means_ > 0) s(k, at + j) = 1 / rate - x[j];
      }
    }
    return value;
  }

  const LabelModel& m_;
  Index k_, p_;
  bool gaussian_ = false, tied_ = false;
  Index shares_ = 0, own_means_ = 0, second_ = 0, own_ = 0;
  std::vector<MatrixXd> inverse_;
  std::vector<double> half_log_det_;
};

struct Sums {
  MatrixXd observed, hidden;
  double entropy = 0, uncertainty = 0;

  explicit Sums(Index d) : observed(MatrixXd::Zero(d, d)), hidden(MatrixXd::Zero(d, d)) {}

  void add(double w, const VectorXd& log_joint, const MatrixXd& s) {
    const VectorXd r = softmax(log_joint);
    const VectorXd mean = s.transpose() * r;
    observed.selfadjointView<Eigen::Lower>().rankUpdate(mean, w);
    for (Index k = 0; k < r.size(); ++k) {
      if (r[k] <= 0) continue;
      entropy -= w * r[k] * std::log(r[k]);
      hidden.selfadjointView<Eigen::Lower>().rankUpdate(VectorXd(s.row(k).transpose() - mean), w * r[k]);
    }
    uncertainty += w * (1 - r.maxCoeff());
  }
};

LabelFisher solve(const Sums& sums) {
  LabelFisher out;
  out.observed = sums.observed.selfadjointView<Eigen::Lower>();
  out.hidden = sums.hidden.selfadjointView<Eigen::Lower>();
  out.entropy = sums.entropy;
  out.uncertainty = sums.uncertainty;
  const Index d = out.observed.rows();
  if (d == 0) throw InputError("no parameter is unknown, so nothing is to be estimated.");
  // Scaled to ones on the diagonal, so that units do not decide what is singular.
  VectorXd scale = out.observed.diagonal().cwiseSqrt();
  for (Index i = 0; i < d; ++i)
    if (!(scale[i] > 0)) scale[i] = 1;
  const MatrixXd scaled = scale.cwiseInverse().asDiagonal() * out.observed * scale.cwiseInverse().asDiagonal();
  const SymmetricEigen eigen(scaled);
  out.rcond = std::max(0.0, eigen.eigenvalues()[0]) / std::max(eigen.eigenvalues()[d - 1], 1e-300);
  out.null = eigen.eigenvectors().col(0);
  if (!(out.rcond > 1e-12)) return out;  // the caller says which direction
  const Llt llt(scaled);
  if (llt.info() != Eigen::Success) {
    out.rcond = 0;
    return out;
  }
  MatrixXd m = scale.cwiseInverse().asDiagonal() * out.hidden * scale.cwiseInverse().asDiagonal();
  llt.matrixL().solveInPlace(m);
  MatrixXd n = m.transpose();
  llt.matrixL().solveInPlace(n);
  const SymmetricEigen joint(0.5 * (n + n.transpose()));
  out.lambda = (joint.eigenvalues().cwiseMax(0.0).array() + 1).reverse().matrix();
  MatrixXd v = joint.eigenvectors().rowwise().reverse();
  llt.matrixU().solveInPlace(v);
  out.vectors = scale.cwiseInverse().asDiagonal() * v;
  return out;
}

LabelFisher over(const LabelModel& model, const LabelPoints& points, int threads, Monitor& monitor) {
  const Scores scores(model);
  const Index m = points.x.rows(), parts = std::min(groups, m);
  std::vector<Sums> sums(static_cast<std::size_t>(parts), Sums(scores.size()));
  parallel_for(parts, threads, monitor, [&](Index g) {
    VectorXd log_joint;
    MatrixXd s;
    for (Index i = g * m / parts; i < (g + 1) * m / parts; ++i) {
      if (i % 256 == 0) monitor.check();
      scores.at(points.x.row(i).transpose(), log_joint, s);
      sums[static_cast<std::size_t>(g)].add(points.weight[i], log_joint, s);
    }
  });
  Sums all(scores.size());
  for (const Sums& one : sums) {
    all.observed += one.observed;
    all.hidden += one.hidden;
    all.entropy += one.entropy;
    all.uncertainty += one.uncertainty;
  }
  return solve(all);
}

}  // namespace

Index label_parameters(const LabelModel& model) { return Scores(model).size(); }

namespace {

struct Rule {
  VectorXd nodes, weights;
};

// Equally spaced nodes under the normal density. Memberships have poles at a distance of pi / separation from the real line, and the trapezoidal error
// falls as exp(-2 pi^2 / (separation step)): 1e-17 at a separation of 5 with 240 nodes, where as many Gauss-Hermite nodes still err by 1e-8.
Rule normal_trapezoid(int nodes) {
  require(nodes >= 10, "quadrature needs at least 10 nodes.");
  Rule rule;
  rule.nodes = VectorXd::LinSpaced(nodes, -11, 11);
  rule.weights = (-0.5 * rule.nodes.array().square()).exp().matrix();
  rule.weights /= rule.weights.sum();
  return rule;
}

}  // namespace

LabelPoints quadrature_points(const LabelModel& model, int nodes) {
  const Index p = columns(model), k = components(model);
  if (model.family != LabelLaw::gaussian || p > 2) throw InputError("quadrature is for Gaussian components in one or two columns.");
  const Rule rule = normal_trapezoid(nodes);
  const Index per = p == 1 ? nodes : static_cast<Index>(nodes) * nodes;
  LabelPoints out;
  out.x.resize(k * per, p);
  out.weight.resize(k * per);
  Index i = 0;
  for (Index h = 0; h < k; ++h) {
    const Llt llt(model.parameters.gaussian.covariance[static_cast<std::size_t>(h)]);
    if (llt.info() != Eigen::Success) throw InputError("the covariance of a component is not positive definite.");
    const MatrixXd l = llt.matrixL();
    for (Index c = 0; c < per; ++c, ++i) {
      VectorXd z(p);
      z[0] = rule.nodes[c % nodes];
      double w = rule.weights[c % nodes];
      if (p == 2) {
        z[1] = rule.nodes[c / nodes];
        w *= rule.weights[c / nodes];
      }
      out.x.row(i) = (model.parameters.gaussian.means.row(h).transpose() + l * z).transpose();
      out.weight[i] = model.parameters.share[h] * w;
    }
  }
  return out;
}

LabelPoints all_cells(const LabelModel& model) {
  if (model.family != LabelLaw::categorical) throw InputError("only categorical rows can be listed cell by cell.");
  double cells = 1;
  for (const int l : model.levels) cells *= l;
  if (cells > 2e6) throw InputError(message("there are ", cells, " cells, too many to list; use draws instead."));
  const Index m = static_cast<Index>(cells), p = columns(model);
  LabelPoints out;
  out.x.resize(m, p);
  out.weight = VectorXd::Zero(m);
  for (Index i = 0; i < m; ++i) {
    Index rest = i;
    for (Index j = 0; j < p; ++j) {
      out.x(i, j) = static_cast<double>(1 + rest % model.levels[static_cast<std::size_t>(j)]);
      rest /= model.levels[static_cast<std::size_t>(j)];
    }
    for (Index h = 0; h < components(model); ++h) {
      double value = model.parameters.share[h];
      Index from = 0;
      for (Index j = 0; j < p; ++j) {
        value *= model.parameters.table(h, from + static_cast<Index>(out.x(i, j)) - 1);
        from += model.levels[static_cast<std::size_t>(j)];
      }
      out.weight[i] += value;
    }
  }
  return out;
}

LabelPoints drawn_points(const LabelModel& model, Index n, Rng& rng, Monitor& monitor) {
  LabelPoints out;
  out.weight = VectorXd::Constant(n, 1.0 / static_cast<double>(n));
  if (model.family == LabelLaw::exponential) {
    out.x.resize(n, columns(model));
    for (Index i = 0; i < n; ++i) {
      const int z = rng.categorical(model.parameters.share);
      for (Index j = 0; j < out.x.cols(); ++j) out.x(i, j) = rng.exponential(model.parameters.table(z, j));
    }
    return out;
  }
  EmDrawPlan plan;
  plan.family = model.family == LabelLaw::gaussian ? EmFamily::gaussian : model.family == LabelLaw::poisson ? EmFamily::poisson : EmFamily::categorical;
  plan.parameters = model.parameters;
  plan.levels = model.levels;
  plan.lengths = {n};
  out.x = em_draws(plan, rng, monitor).x;
  return out;
}

LabelFisher label_fisher(const LabelModel& model, ConstMatrixRef x, ConstVectorRef weights, const LabelOptions& options, Rng& rng, Monitor& monitor) {
  switch (options.engine) {
    case LabelEngine::monte_carlo: return over(model, drawn_points(model, options.n_draws, rng, monitor), 1, monitor);
    case LabelEngine::quadrature: return over(model, quadrature_points(model, options.nodes), 1, monitor);
    case LabelEngine::exact: return over(model, all_cells(model), 1, monitor);
    case LabelEngine::empirical: break;
  }
  require(x.cols() == columns(model), message("the rows must have ", columns(model), " columns."));
  LabelPoints points;
  points.x = x;
  points.weight = weights.size() > 0 ? VectorXd(weights / weights.sum()) : VectorXd::Constant(x.rows(), 1.0 / static_cast<double>(x.rows()));
  return over(model, points, 1, monitor);
}

MatrixXd label_memberships(const LabelModel& model, ConstMatrixRef x) {
  require(x.cols() == columns(model), message("the rows must have ", columns(model), " columns."));
  const Scores scores(model);
  MatrixXd out(x.rows(), components(model)), s;
  VectorXd log_joint;
  for (Index i = 0; i < x.rows(); ++i) {
    scores.at(x.row(i).transpose(), log_joint, s);
    out.row(i) = softmax(log_joint).transpose();
  }
  return out;
}

LabelFisher label_fisher_given(const GivenScores& given, Monitor& monitor) {
  const Index m = given.log_joint.rows(), k = given.log_joint.cols();
  require(static_cast<Index>(given.score.size()) == k && k > 0, "one matrix of scores per label is needed.");
  const Index d = given.score[0].cols();
  for (const MatrixXd& s : given.score) require(s.rows() == m && s.cols() == d, "the scores must have one row per point and the same parameters for every label.");
  Sums sums(d);
  MatrixXd s(k, d);
  for (Index i = 0; i < m; ++i) {
    if (i % 256 == 0) monitor.check();
    for (Index h = 0; h < k; ++h) s.row(h) = given.score[static_cast<std::size_t>(h)].row(i);
    sums.add(given.weight[i] / given.weight.sum(), given.log_joint.row(i).transpose(), s);
  }
  return solve(sums);
}

double label_coefficient(ConstVectorRef lambda, bool bayes, double alpha) {
  double sum = 0;
  for (Index i = 0; i < lambda.size(); ++i) sum += bayes ? std::log1p(alpha * (lambda[i] - 1)) / alpha : lambda[i] - 1;
  return 0.5 * sum;
}

// n [a log a + ...] - n [q log q + ...] - E_K log{B(K + b1, n - K + b2) / B(b1, b2)} + E_m log int q(u)^m (1 - q(u))^(n - m) Beta(u) du; the terms of the known
// laws cancel. The integrand, log-concave in u, is summed by Gauss-Legendre panels around its mode.
double binary_label_error(int n, double a, double p1, double p0, double b1, double b2) {
  require(a > 0 && a < 1 && p1 >= 0 && p1 <= 1 && p0 >= 0 && p0 <= 1 && p1 != p0, "shares and probabilities must lie in (0, 1), and the two laws must differ.");
  require(b1 > 0 && b2 > 0 && n >= 1, "the prior's parameters must be positive, and there must be a row.");
  const double q = a * p1 + (1 - a) * p0, rows = n;
  const auto entropy = [](double p) { return p * std::log(p) + (1 - p) * std::log1p(-p); };
  double expected = 0;
  for (int k = 0; k <= n; ++k) {
    const double p = std::exp(log_choose(rows, k) + k * std::log(a) + (n - k) * std::log1p(-a));
    expected += p * (log_beta(k + b1, n - k + b2) - log_beta(b1, b2));
  }
  // 8-point Gauss-Legendre on panels graded towards both ends, where a Beta density may be steep.
  static const double node[4] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  static const double weight[4] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  std::vector<double> at, log_weight;
  const int panels = std::max(200, 4 * static_cast<int>(std::sqrt(rows)));
  for (int c = 0; c < panels; ++c) {
    const auto grade = [&](double t) { return t * t * t * (10 + t * (-15 + 6 * t)); };
    const double low = grade(static_cast<double>(c) / panels), high = grade(static_cast<double>(c + 1) / panels);
    for (int g = 0; g < 8; ++g) {
      const double z = (g % 2 == 0 ? 1 : -1) * node[g / 2], u = 0.5 * (low + high) + 0.5 * (high - low) * z;
      if (!(u > 0 && u < 1)) continue;
      at.push_back(u);
      log_weight.push_back(std::log(0.5 * (high - low) * weight[g / 2]) + (b1 - 1) * std::log(u) + (b2 - 1) * std::log1p(-u) - log_beta(b1, b2));
    }
  }
  double evidence = 0;
  for (int m = 0; m <= n; ++m) {
    const double log_p = log_choose(rows, m) + m * std::log(q) + (n - m) * std::log1p(-q);
    if (log_p < -60) continue;
    LogSumExp sum;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double mix = at[i] * p1 + (1 - at[i]) * p0;
      sum.add(log_weight[i] + (m > 0 ? m * std::log(mix) : 0) + (m < n ? (n - m) * std::log1p(-mix) : 0));
    }
    evidence += std::exp(log_p) * sum.value();
  }
  return rows * entropy(a) - rows * entropy(q) - expected + evidence;
}

LabelSimulation label_simulate(const LabelModel& model, Index n, int reps, int threads, Rng& rng, Monitor& monitor) {
  require(model.family != LabelLaw::exponential, "the simulation fits by em_fit(), which has no exponential rows.");
  require(!model.share_known && !model.means_known && !model.covariance_known, "the simulation estimates all parameters: none may be known.");
  LabelSimulation out;
  out.error.resize(reps);
  VectorXi failed = VectorXi::Zero(reps);
  const Scores truth(model);
  const Rng base = rng.stream(0);
  parallel_for(reps, threads, monitor, [&](Index r) {
    Rng draws = base.stream(static_cast<std::uint64_t>(r));
    Monitor quiet;
    const LabelPoints points = drawn_points(model, n, draws, quiet);
    EmData data;
    data.x = Design(MatrixView(points.x.data(), points.x.rows(), points.x.cols()));
    data.levels = model.levels;
    EmFitOptions options;
    options.family = model.family == LabelLaw::gaussian ? EmFamily::gaussian : model.family == LabelLaw::poisson ? EmFamily::poisson : EmFamily::categorical;
    options.covariance = model.covariance;
    options.k = static_cast<int>(components(model));
    options.start = EmStart::parameters;
    options.parameters = model.parameters;
    options.em.tol = 1e-10;
    options.em.max_iter = 5000;
    const EmFit fit = em_fit(data, options, draws, quiet);
    failed[r] = !fit.convergence.converged;
    VectorXd log_joint;
    MatrixXd s;
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      truth.at(points.x.row(i).transpose(), log_joint, s);
      const VectorXd p = softmax(log_joint);
      for (Index h = 0; h < p.size(); ++h)
        if (p[h] > 1e-300) sum += p[h] * std::log(p[h] / std::max(fit.membership(i, h), 1e-300));
    }
    out.error[r] = sum;
  });
  out.failed = failed.sum();
  return out;
}

}  // namespace granary::latent
