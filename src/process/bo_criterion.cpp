#include "process/bo_criterion.h"

#include <cmath>
#include <utility>

#include "core/base/errors.h"
#include "core/math/special.h"

namespace granary::process {

namespace {

using Type = BoCriterion::Type;

constexpr double pi_constant = 3.14159265358979323846;
constexpr double smallest_scale = 1e-12;
constexpr Index points_at_once = 256;

double cumulative(double d, double nu) {
  if (!(nu < 1e9)) return normal_cdf(d);
  if (d == 0) return 0.5;
  const double tail = 0.5 * beta_p(0.5 * nu, 0.5, nu / (nu + d * d));
  return d < 0 ? tail : 1 - tail;
}

BoValue improvement(const BoCriterion& criterion, const BoContext& context, double m, double s, double nu, bool derivatives) {
  BoValue out;
  const bool probability = criterion.type == Type::pi || nu <= criterion.power;
  const int g = probability ? 0 : criterion.power;
  const double gain = context.y_min - criterion.xi - m;
  if (s < smallest_scale) {
    out.value = gain > 0 ? std::pow(gain, g) : 0;
    if (derivatives && gain > 0 && g > 0) out.d_location = -g * std::pow(gain, g - 1);
    return out;
  }
  const double d = gain / s;
  const VectorXd moments = bo_partial_moments(d, g, nu);
  if (g == 0) {
    out.value = moments[0];
    if (derivatives) {
      const double density = bo_density(d, nu);
      out.d_location = -density / s;
      out.d_scale = -d * density / s;
    }
    return out;
  }
  const double power = std::pow(s, g - 1);
  out.value = std::max(s * power * moments[g], 0.0);
  out.d_location = -g * power * moments[g - 1];
  out.d_scale = g * power * (moments[g] - d * moments[g - 1]);
  return out;
}

double annealed_kappa(const BoCriterion& criterion, const BoContext& context, double dimension) {
  const double t = std::max(context.evaluations, 1.0);
  return std::sqrt(2 * std::log(std::max(t * t * pi_constant * pi_constant * dimension / (6 * criterion.delta), 1.0)));
}

void add_scaled(VectorXd& to, const VectorXd& from, double factor) {
  if (from.size() == 0) return;
  if (to.size() == 0) to = VectorXd::Zero(from.size());
  to += factor * from;
}

}  // namespace

bool BoCriterion::draws() const {
  if (type == Type::thompson || type == Type::optimistic) return true;
  for (const BoCriterion& child : children)
    if (child.draws()) return true;
  return false;
}

double bo_density(double d, double nu) {
  if (!(nu < 1e9)) return normal_pdf(d);
  return std::exp(-log_beta(0.5 * nu, 0.5) - 0.5 * std::log(nu) - 0.5 * (nu + 1) * std::log1p(d * d / nu));
}

VectorXd bo_partial_moments(double d, int g, double nu) {
  VectorXd n(g + 1);
  const bool normal = !(nu < 1e9);
  n[0] = cumulative(d, nu);
  if (g > 0) {
    const double density = bo_density(d, nu);
    n[1] = d * n[0] + (normal ? density : (nu + d * d) / (nu - 1) * density);
    if (n[1] < 0) n[1] = 0;  // rounding, far in the tail
  }
  for (int k = 2; k <= g; ++k) {
    n[k] = normal ? d * n[k - 1] + (k - 1) * n[k - 2]
                  : ((nu + 1 - 2 * k) * d * n[k - 1] + (k - 1) * (nu + d * d) * n[k - 2]) / (nu - k);
    if (n[k] < 0) n[k] = 0;
  }
  return n;
}

BoValue bo_value(const BoCriterion& criterion, const BoContext& context, double m, double s, double nu, ConstVectorRef x,
                 double draw, bool derivatives) {
  BoValue out;
  switch (criterion.type) {
    case Type::ei:
    case Type::pi:
      return improvement(criterion, context, m, s, nu, derivatives);
    case Type::lcb:
    case Type::lcb_annealed: {
      const double kappa =
          criterion.type == Type::lcb ? criterion.kappa : annealed_kappa(criterion, context, static_cast<double>(x.size()));
      out.value = -(m - kappa * s);
      out.d_location = -1;
      out.d_scale = kappa;
      return out;
    }
    case Type::expected_return:
      out.value = -m;
      out.d_location = -1;
      return out;
    case Type::uncertainty:
      out.value = s;
      out.d_scale = 1;
      return out;
    case Type::thompson:
      out.value = -draw;
      return out;
    case Type::optimistic:
      out.value = -std::min(m, draw);
      return out;
    case Type::distance: {
      if (context.last.size() == 0) return out;
      const VectorXd away = x - context.last;
      const double distance = away.norm();
      out.value = -distance;
      if (derivatives && distance > 0) out.d_x = -away / distance;
      return out;
    }
    case Type::sum:
    case Type::product:
      break;
    case Type::hedge:
      throw InputError("a hedge plays its criteria against each other: it has no value of its own, and stands outermost only.");
  }
  const bool product = criterion.type == Type::product;
  out.value = product ? 1 : 0;
  for (std::size_t j = 0; j < criterion.children.size(); ++j) {
    const double weight = criterion.weights.size() > 0 ? criterion.weights[j] : 1;
    BoValue part = bo_value(criterion.children[j], context, m, s, nu, x, draw, derivatives);
    if (!product) {
      out.value += weight * part.value;
      out.d_location += weight * part.d_location;
      out.d_scale += weight * part.d_scale;
      add_scaled(out.d_x, part.d_x, weight);
      continue;
    }
    if (weight != 1) {  // sign(v) |v|^weight keeps the order of negative values
      const double size = std::abs(part.value), slope = size > 0 ? weight * std::pow(size, weight - 1) : 0;
      part.value = (part.value < 0 ? -1 : 1) * std::pow(size, weight);
      part.d_location *= slope;
      part.d_scale *= slope;
      part.d_x *= slope;
    }
    const double before = out.value;
    out.value *= part.value;
    out.d_location = out.d_location * part.value + before * part.d_location;
    out.d_scale = out.d_scale * part.value + before * part.d_scale;
    out.d_x *= part.value;
    add_scaled(out.d_x, part.d_x, before);
  }
  return out;
}

BoAcquisition::BoAcquisition(const BoCriterion& criterion, const std::vector<BoSurrogate>& surrogates,
                             std::vector<BoContext> contexts)
    : criterion_(criterion), surrogates_(surrogates), contexts_(std::move(contexts)) {}

VectorXd BoAcquisition::values(const MatrixXd& x) const {
  VectorXd total = VectorXd::Zero(x.rows());
  for (Index from = 0; from < x.rows(); from += points_at_once) {
    const Index count = std::min(points_at_once, x.rows() - from);
    for (std::size_t k = 0; k < surrogates_.size(); ++k) {
      const BoPrediction p = surrogates_[k].predict(x.middleRows(from, count));
      for (Index i = 0; i < count; ++i)
        total[from + i] += bo_value(criterion_, contexts_[k], p.location[i], p.scale[i], surrogates_[k].nu(),
                                    x.row(from + i).transpose(), 0, false)
                               .value;
    }
  }
  return total / static_cast<double>(surrogates_.size());
}

VectorXd BoAcquisition::sampled_values(const MatrixXd& x, Rng& rng) const {
  const std::size_t k = rng.below(surrogates_.size());
  const VectorXd draw = bo_draw(surrogates_[k], x, rng);
  const BoPrediction p = surrogates_[k].predict(x);
  VectorXd values(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    values[i] =
        bo_value(criterion_, contexts_[k], p.location[i], p.scale[i], surrogates_[k].nu(), x.row(i).transpose(), draw[i], false)
            .value;
  return values;
}

double BoAcquisition::value_gradient(const VectorXd& x, VectorXd& gradient) const {
  gradient = VectorXd::Zero(x.size());
  double value = 0, location, scale;
  VectorXd d_location, d_scale;
  for (std::size_t k = 0; k < surrogates_.size(); ++k) {
    surrogates_[k].predict_gradient(x, location, scale, d_location, d_scale);
    const BoValue part = bo_value(criterion_, contexts_[k], location, scale, surrogates_[k].nu(), x, 0, true);
    value += part.value;
    gradient += part.d_location * d_location + part.d_scale * d_scale;
    if (part.d_x.size() > 0) gradient += part.d_x;
  }
  gradient /= static_cast<double>(surrogates_.size());
  return value / static_cast<double>(surrogates_.size());
}

VectorXd bo_draw(const BoSurrogate& surrogate, const MatrixXd& x, Rng& rng) {
  const Cholesky root = cholesky_with_jitter(surrogate.covariance(x), {1e-12, 1e-2});
  const double nu = surrogate.nu();
  const double stretch = nu < 1e9 ? std::sqrt(nu / rng.chi_square(nu)) : 1;
  const VectorXd white = rng.normals(x.rows());
  const VectorXd coloured = root.lower().triangularView<Eigen::Lower>() * white;
  return surrogate.predict(x).location + stretch * coloured;
}

std::vector<BoContext> bo_contexts(const std::vector<BoSurrogate>& surrogates, bool noisy) {
  std::vector<BoContext> contexts;
  for (const BoSurrogate& surrogate : surrogates) {
    BoContext context;
    context.y_min = noisy ? surrogate.predict(surrogate.x()).location.minCoeff() : surrogate.y().minCoeff();
    context.evaluations = static_cast<double>(surrogate.size());
    context.last = surrogate.x().row(surrogate.size() - 1).transpose();
    contexts.push_back(std::move(context));
  }
  return contexts;
}

}  // namespace granary::process
