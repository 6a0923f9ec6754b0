#include "ensemble/cv_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/special.h"
#include "core/math/student_t.h"

namespace granary::ensemble {

namespace {

const double none = std::numeric_limits<double>::quiet_NaN();

struct Value {
  double at, slope, curvature;
};

Value squared(double z) { return {z * z, 2 * z, 2}; }

Value absolute(double z, double d) {
  const double root = std::sqrt(z * z + d);
  return {root, z / root, d / (root * root * root)};
}

// 0 below 0, 1 above h, -2 (z/h)^3 + 3 (z/h)^2 between.
Value step(double z, double h) {
  if (z < 0) return {0, 0, 0};
  if (z >= h) return {1, 0, 0};
  const double u = z / h;
  return {u * u * (3 - 2 * u), 6 * u * (1 - u) / h, (6 - 12 * u) / (h * h)};
}

Value smooth(double z, double h, double group) {
  if (group > 0) return step(z, h);
  const Value mirrored = step(-z, h);
  return {mirrored.at, -mirrored.slope, mirrored.curvature};
}

LossMoments moments_of(const VectorXd& at, const VectorXd& slope, const VectorXd& curvature) {
  const double n = static_cast<double>(at.size());
  if (n < 2) throw InputError("moments of a loss need at least two rows.");
  LossMoments m;
  m.mean = at.mean();
  m.var = (at.array() - m.mean).square().sum() / (n - 1);
  m.slope = slope.mean();
  m.slope_square = slope.squaredNorm() / n;
  m.curvature = curvature.mean();
  m.curvature_var = (curvature.array() - m.curvature).square().sum() / (n - 1);
  m.cov_curvature = ((at.array() - m.mean) * (curvature.array() - m.curvature)).sum() / (n - 1);
  return m;
}

void check_plan(const CvPlan& plan) {
  require(plan.n >= 2 && plan.n1 >= 1 && plan.n1 < plan.n, "a plan needs training rows and test rows.");
  require(plan.splits >= 1 && plan.repeats >= 1, "a plan needs at least one split.");
  require(plan.scheme == CvScheme::random || plan.splits >= 2, "a partition needs at least two folds.");
}

// Variance of a mean over J splits of `repeats` partitions from that of one split, of two of a partition, and of two of different
// ones.
double total_variance(const CvPlan& plan, double split, double within, double between) {
  const double once = split / plan.splits + (plan.splits - 1) / plan.splits * (plan.splits > 1 ? within : 0.0);
  return once / plan.repeats + (plan.repeats - 1) / plan.repeats * (plan.repeats > 1 ? between : 0.0);
}

double moment_cov(const LossMoments& m, double n1, double n2, double shared_train, double shared_test) {
  const double s2 = m.noise_var, share = shared_test / (n2 * n2), joint = s2 * shared_train / (n1 * n1),
               bend = s2 * s2 / (4 * n1 * n1) * m.curvature * m.curvature;
  return (1 - share) * (joint * m.slope * m.slope - bend) +
         share * (m.var + s2 / n1 * m.cov_curvature + joint * m.slope_square - bend);
}

double fold_overlap(const CvPlan& plan) { return plan.n * (plan.splits - 2) / plan.splits; }

// 2 tr(A_j A_j') averaged over the law of Y, and E sum_i A_j,ii A_j',ii.
double exact_cov(double n, double n1, double kurtosis) {
  const double n2 = n - n1;
  const VectorXd law = overlap_law(static_cast<Index>(std::lround(n)), static_cast<Index>(std::lround(n1)));
  const double first = std::max(0.0, 2 * n1 - n);
  double sum = 0;
  for (Index k = 0; k < law.size(); ++k) {
    const double y = first + static_cast<double>(k), star = n - 2 * n1 + y, z = n1 - y, q = y / (n1 * n1);
    sum += law[k] * (star * (1 + q) * (1 + q) + star * (star - 1) * q * q + 2 * z * star * (q - 1 / n1) * (q - 1 / n1) +
                     z * z * (q - 2 / n1) * (q - 2 / n1));
  }
  return 2 / (n2 * n2) * sum + kurtosis * (1 + 1 / n1) * (1 + 1 / n1) / n;
}

}  // namespace

LossMoments loss_moments(ConstVectorRef mean, ConstVectorRef x, ConstVectorRef group, const LossOptions& options) {
  const Index n = x.size();
  require(mean.size() == n, "there must be one prediction per row.");
  require(options.loss == CvLoss::squared || options.width > 0, "the width of a smoothed loss must be above 0.");
  require(options.loss != CvLoss::smooth || group.size() == n, "there must be one group per row.");
  VectorXd at(n), slope(n), curvature(n);
  for (Index i = 0; i < n; ++i) {
    const double z = mean[i] - x[i];
    const Value v = options.loss == CvLoss::squared    ? squared(z)
                    : options.loss == CvLoss::absolute ? absolute(z, options.width)
                                                       : smooth(z, options.width, group[i]);
    at[i] = v.at;
    slope[i] = v.slope;
    curvature[i] = v.curvature;
  }
  return moments_of(at, slope, curvature);
}

LossMoments loss_moments_from(ConstVectorRef below, ConstVectorRef at, ConstVectorRef above, double h) {
  require(below.size() == at.size() && above.size() == at.size() && h > 0, "a loss must give one number per row.");
  return moments_of(at, (above - below) / (2 * h), (above - 2 * at + below) / (h * h));
}

MomentParts mean_moment(const LossMoments& m, const CvPlan& plan) {
  check_plan(plan);
  const double n = plan.n, n1 = plan.n1, n2 = n - n1, s2 = m.noise_var;
  MomentParts out;
  out.split = (m.var + s2 / n1 * (m.slope_square + m.cov_curvature)) / n2 + (n2 - 1) / n2 * s2 / n1 * m.slope * m.slope;
  const double random = moment_cov(m, n1, n2, n1 * n1 / n, n2 * n2 / n);
  out.pair = plan.splits * plan.repeats < 2    ? none
             : plan.scheme == CvScheme::random ? random
                                               : moment_cov(m, n1, n2, fold_overlap(plan), 0);
  out.total = total_variance(plan, out.split, out.pair, random);
  return out;
}

MomentParts mean_normal(const CvPlan& plan) {
  LossMoments normal;  // (x - mean)^2 for x ~ N(0, 1)
  normal.var = 2;
  normal.slope_square = 4;
  normal.curvature = 2;
  normal.noise_var = 1;
  return mean_moment(normal, plan);
}

MomentParts mean_exact(const CvPlan& plan) {
  check_plan(plan);
  const double n = plan.n, n1 = plan.n1, n2 = n - n1, k = plan.splits;
  MomentParts out;
  out.split = 2 / n2 * (1 + 2 / n1 + n2 / (n1 * n1)) + plan.kurtosis * (1 / n2 + 1 / (n1 * n1 * n1));
  const double random = exact_cov(n, n1, plan.kurtosis);
  if (plan.scheme == CvScheme::random) {
    out.pair = random;
  } else {  // the diagonal of the mean over folds is (1 + 1/n1)/n throughout
    const double diagonal = (1 + 1 / n1) * (1 + 1 / n1) / n, own = 1 / n2 + 1 / (n1 * n1 * n1);
    out.pair = 2 * std::pow(k, 4) / (n * n * std::pow(k - 1, 4)) + plan.kurtosis * (diagonal - own / k) * k / (k - 1);
  }
  out.total = total_variance(plan, out.split, out.pair, random);
  return out;
}

std::vector<PlanRow> plan_table(const std::vector<CvPlan>& plans) {
  std::vector<PlanRow> out;
  for (const CvPlan& plan : plans) {
    const MomentParts exact = mean_exact(plan);
    PlanRow row;
    row.n1 = plan.n1;
    row.n2 = plan.n - plan.n1;
    row.splits = plan.splits;
    row.repeats = plan.repeats;
    row.split_var = exact.split;
    row.pair_cov = exact.pair;
    row.variance = exact.total;
    LossMoments loss;
    loss.var = 2 + plan.kurtosis;
    loss.slope_square = 4;
    loss.curvature = 2;
    loss.noise_var = 1;
    row.moment = mean_moment(loss, plan).total;
    row.limit = exact_cov(plan.n, plan.n1, plan.kurtosis);
    row.cost = plan.splits * plan.repeats * plan.n1 / plan.n;
    out.push_back(row);
  }
  return out;
}

VectorXd overlap_law(Index n, Index n1) {
  require(n >= 1 && n1 >= 0 && n1 <= n, "the training rows must be between 0 and all.");
  const Index first = std::max<Index>(0, 2 * n1 - n);
  VectorXd law(n1 - first + 1);
  const double rows = static_cast<double>(n), train = static_cast<double>(n1);
  for (Index k = 0; k < law.size(); ++k) {
    const double y = static_cast<double>(first + k);
    law[k] = std::exp(log_choose(train, y) + log_choose(rows - train, train - y) - log_choose(rows, train));
  }
  return law / law.sum();
}

double nadeau_bengio(ConstVectorRef mu, double n1, double n2, double rho) {
  const double splits = static_cast<double>(mu.size());
  if (splits < 2) return none;
  const double s2 = (mu.array() - mu.mean()).square().sum() / (splits - 1);
  const double odds = std::isnan(rho) ? n2 / n1 : rho / (1 - rho);
  return (1 / splits + odds) * s2;
}

double conservative_variance(ConstVectorRef first, ConstVectorRef second) {
  require(first.size() == second.size() && first.size() > 0, "the halves must have one mean each per repetition.");
  return (first - second).squaredNorm() / (2 * static_cast<double>(first.size()));
}

CvTest t_test(double estimate, double variance, double df, double rope, double level) {
  CvTest out;
  out.estimate = estimate;
  out.variance = variance;
  out.df = df;
  if (!(variance >= 0)) {
    out.statistic = out.p_value = out.low = out.high = out.below = out.inside = out.above = none;
    return out;
  }
  const double se = std::sqrt(variance);
  if (se == 0) {  // equal in every split, or different by the same in all
    out.statistic = estimate == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), estimate);
    out.p_value = estimate == 0 ? 1 : 0;
    out.low = out.high = estimate;
    out.below = estimate < -rope;
    out.above = estimate > rope;
    out.inside = 1 - out.below - out.above;
    return out;
  }
  out.statistic = estimate / se;
  out.p_value = 2 * student_t_cdf(-std::abs(out.statistic), df);
  const double q = student_t_quantile(0.5 + level / 2, df);
  out.low = estimate - q * se;
  out.high = estimate + q * se;
  out.below = student_t_cdf((-rope - estimate) / se, df);
  out.above = student_t_cdf((estimate - rope) / se, df);
  out.inside = std::max(0.0, 1 - out.below - out.above);
  return out;
}

CvTest corrected_t(ConstVectorRef difference, const CvCompareOptions& o) {
  if (difference.size() < 2) throw InputError("the corrected t test needs at least two splits.");
  const double variance = nadeau_bengio(difference, o.n1, o.n2, o.rho);
  return t_test(difference.mean(), variance, static_cast<double>(difference.size() - 1), o.rope, o.level);
}

CvTest five_by_two(ConstMatrixRef d, double level) {
  require(d.rows() >= 1 && d.cols() == 2, "the 5 x 2 test takes differences of two folds.");
  double sum = 0;
  for (Index r = 0; r < d.rows(); ++r) {
    const double middle = (d(r, 0) + d(r, 1)) / 2;
    sum += (d(r, 0) - middle) * (d(r, 0) - middle) + (d(r, 1) - middle) * (d(r, 1) - middle);
  }
  const double rounds = static_cast<double>(d.rows());
  return t_test(d(0, 0), sum / rounds, rounds, 0, level);
}

}  // namespace granary::ensemble
