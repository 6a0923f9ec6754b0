// What the next point of a Bayesian optimisation is worth: criteria C(x), to be maximised, for a function to be minimised.
//
// With location m, scale s and nu degrees of freedom of the prediction at x, incumbent y_min, d = (y_min - xi - m) / s, and the
// partial moments N_g(d) = E max(d - T, 0)^g of the standard normal or t_nu law T:
//
//   ei            s^g N_g(d)             expected improvement, g = 1; other exponents g weigh large improvements more
//   pi            N_0(d)                 probability of improvement
//   lcb           -(m - kappa s)         lower confidence bound
//   lcb_annealed  the same with kappa_t = sqrt(2 log(t^2 pi^2 dim / (6 delta))), t the number of evaluations
//   return        -m                     expected return
//   uncertainty   s                      A-optimality: where the prediction is worst
//   thompson      -f(x), f one draw of the whole process; optimistic: -min(m(x), f(x))
//   distance      -|x - x_last|          the cost of moving, to be added to others
//   sum, product  of others, with weights
//   hedge         lets each of its children nominate a point and plays them as arms of a bandit (bo_suggest.h)
//
//   N_0 = cdf(d),   N_1 = d N_0 + (nu + d^2) / (nu - 1) pdf(d),
//   (nu - g) N_g = (nu + 1 - 2g) d N_(g-1) + (g - 1) (nu + d^2) N_(g-2),     normal: N_g = d N_(g-1) + (g - 1) N_(g-2)
//
// and dN_g/dd = g N_(g-1). The recursions come from integrating by parts, with d/dz [(nu + z^2) t_nu(z)] = -(nu - 1) z t_nu(z);
// N_g is infinite for nu <= g, and probability of improvement then takes the place of ei. Where s = 0 ei is the improvement of m.
#pragma once

#include <string>
#include <vector>

#include "core/random/rng.h"
#include "process/bo_surrogate.h"

namespace granary::process {

struct BoCriterion {
  enum class Type {
    ei,
    pi,
    lcb,
    lcb_annealed,
    expected_return,
    uncertainty,
    thompson,
    optimistic,
    distance,
    sum,
    product,
    hedge
  };
  Type type = Type::ei;
  double xi = 0;        // ei, pi, in units of y
  int power = 1;        // ei
  double kappa = 1;     // lcb
  double delta = 0.1;   // lcb_annealed
  double eta = 1;       // hedge
  bool bounded = true;  // hedge
  std::vector<BoCriterion> children;
  VectorXd weights;  // sum: factors; product: exponents. Empty: ones

  bool draws() const;  // needs a draw of the process
};
inline Names<BoCriterion::Type> names(BoCriterion::Type) {
  using Type = BoCriterion::Type;
  return {{Type::ei, "ei"},
          {Type::pi, "pi"},
          {Type::lcb, "lcb"},
          {Type::lcb_annealed, "lcb_annealed"},
          {Type::expected_return, "return"},
          {Type::uncertainty, "uncertainty"},
          {Type::thompson, "thompson"},
          {Type::optimistic, "optimistic"},
          {Type::distance, "distance"},
          {Type::sum, "sum"},
          {Type::product, "product"},
          {Type::hedge, "hedge"}};
}
template <class V>
void fields(V& v, BoCriterion& t) {
  v("type", t.type);
  v("xi", t.xi);
  v("power", t.power);
  v("kappa", t.kappa);
  v("delta", t.delta);
  v("eta", t.eta);
  v("bounded", t.bounded);
  v("weights", t.weights);
  v("children", t.children);
}

// What a criterion knows beside the prediction.
struct BoContext {
  double y_min = 0;
  double evaluations = 1;
  VectorXd last;  // the last point; empty: none
};

struct BoValue {
  double value = 0, d_location = 0, d_scale = 0;
  VectorXd d_x;  // direct, not through the prediction; empty: zero
};

// Moments N_0 .. N_g; nu may be infinite.
VectorXd bo_partial_moments(double d, int g, double nu);
double bo_density(double d, double nu);

// `draw` is used by the criteria that need one. Derivatives only where asked for.
BoValue bo_value(const BoCriterion& criterion, const BoContext& context, double location, double scale, double nu,
                 ConstVectorRef x, double draw, bool derivatives);

// The criterion averaged over surrogates with different kernel parameters, each with a context of its own.
class BoAcquisition {
 public:
  BoAcquisition(const BoCriterion& criterion, const std::vector<BoSurrogate>& surrogates, std::vector<BoContext> contexts);

  VectorXd values(const MatrixXd& x) const;
  // Of criteria with draws: those of one draw of one of the surrogates, at all points together.
  VectorXd sampled_values(const MatrixXd& x, Rng& rng) const;
  double value_gradient(const VectorXd& x, VectorXd& gradient) const;

 private:
  const BoCriterion& criterion_;
  const std::vector<BoSurrogate>& surrogates_;
  std::vector<BoContext> contexts_;
};

// One draw of the process at the points: the scale is drawn once, so that the values belong to one function.
VectorXd bo_draw(const BoSurrogate& surrogate, const MatrixXd& x, Rng& rng);

// The contexts of surrogates: `noisy` takes the lowest location at the data for the incumbent instead of the lowest observation.
std::vector<BoContext> bo_contexts(const std::vector<BoSurrogate>& surrogates, bool noisy);

}  // namespace granary::process
