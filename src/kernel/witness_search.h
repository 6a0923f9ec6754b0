// Witness direction search for the dual of a support vector machine: climbs by exact line searches along few directions.
//
//   maximise  W(a) = y'a - 1/2 a'Ka   over  A <= a <= B  and, with a bias, 1'a = 0
//
// The directions are {e_i - e_j} with the sum fixed and {+e_i, -e_i} without; a feasible point that no direction of its
// family improves is optimal (Theorem 6). One that can be followed further than `kappa` and has slope above `tau` is followed to
// the maximum or to the box, whichever comes first.
//
// Bordes, Ertekin, Weston, Bottou (2005), Fast kernel classifiers with online and active learning, JMLR 6: appendix A; the
// step is that of PROCESS and REPROCESS. Only the places of S are held; g_s = y_s - f_s with f = Ka.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/optim/smo.h"
#include "core/base/types.h"

namespace granary::kernel {

class WitnessSearch {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  WitnessSearch(Index capacity, bool bias)
      : bias_(bias),
        y_(VectorXd::Zero(capacity)),
        bound_(VectorXd::Zero(capacity)),
        alpha_(VectorXd::Zero(capacity)),
        f_(VectorXd::Zero(capacity)),
        grow_(VectorXd::Constant(capacity, -infinity)),
        shrink_(VectorXd::Constant(capacity, infinity)),
        member_(static_cast<std::size_t>(capacity), 0) {}

  // A place gets a row with a = 0, outside S. `bound` is C, the width of its box.
  void put(Index s, double y, double bound, double f, double alpha = 0) {
    y_[s] = y;
    bound_[s] = bound;
    f_[s] = f;
    alpha_[s] = alpha;
    set_member(s, false);
  }
  void set_member(Index s, bool member) {
    member_[static_cast<std::size_t>(s)] = member;
    refresh(s);
  }
  void set_solution(Index s, double alpha, double f) {
    alpha_[s] = alpha;
    f_[s] = f;
    refresh(s);
  }

  bool member(Index s) const { return member_[static_cast<std::size_t>(s)] != 0; }
  double y(Index s) const { return y_[s]; }
  double lower(Index s) const { return y_[s] > 0 ? 0 : -bound_[s]; }
  double upper(Index s) const { return y_[s] > 0 ? bound_[s] : 0; }
  double alpha(Index s) const { return alpha_[s]; }
  double f(Index s) const { return f_[s]; }
  double gradient(Index s) const { return y_[s] - f_[s]; }
  const VectorXd& alpha() const { return alpha_; }
  const VectorXd& f() const { return f_; }
  Index largest_at() const { return i_; }  // of the largest g that can grow
  Index least_at() const { return j_; }    // of the least g that can shrink
  double largest() const { return largest_; }
  double least() const { return least_; }
  // The largest slope of a direction of the family.
  double violation() const { return bias_ ? largest_ - least_ : std::max(largest_, -least_); }
  double steps() const { return steps_; }

  double objective(Index size) const { return y_.head(size).dot(alpha_.head(size)) - 0.5 * alpha_.head(size).dot(f_.head(size)); }

  // (6)-(8) along e_i - e_j. Returns the gain in W. Rows are of K on the places of S, `size` of them.
  template <class Real>
  double step_pair(Index i, Index j, const Real* ki, const Real* kj, double kii, double kjj, Index size) {
    const double slope = gradient(i) - gradient(j);
    const double curvature = kii + kjj - 2 * static_cast<double>(ki[j]), bend = std::max(curvature, floor(std::max(kii, kjj)));
    const double up = upper(i) - alpha_[i], down = alpha_[j] - lower(j);
    const double lambda = std::min({slope / bend, up, down});
    alpha_[i] = snapped(i, lambda >= up ? upper(i) : alpha_[i] + lambda);
    alpha_[j] = snapped(j, lambda >= down ? lower(j) : alpha_[j] - lambda);
    refresh(i);
    refresh(j);
    tie_ = lambda < up && lambda < down && bend == curvature;
    if (tie_) settle_tie(i, j, gradient(i) - lambda * (static_cast<double>(ki[i]) - static_cast<double>(kj[i])));
    scan(lambda, ki, kj, size);
    tie_ = false;
    ++steps_;
    return lambda * slope - 0.5 * lambda * lambda * bend;
  }

  // The same along e_i or -e_i, whichever climbs.
  template <class Real>
  double step_single(Index i, const Real* ki, double kii, Index size) {
    const double slope = gradient(i), bend = std::max(kii, floor(kii));
    const double target = snapped(i, std::min(std::max(alpha_[i] + slope / bend, lower(i)), upper(i)));
    const double lambda = target - alpha_[i];
    alpha_[i] = target;
    refresh(i);
    scan(lambda, ki, static_cast<const Real*>(nullptr), size);
    ++steps_;
    return lambda * slope - 0.5 * lambda * lambda * bend;
  }

  // f <- f + lambda (k_i - k_j), and the extremes of g; panel by panel, so that what is read once is still there.
  template <class Real>
  void scan(double lambda, const Real* ki, const Real* kj, Index size) {
    constexpr Index panel = 256;
    largest_ = -infinity;
    least_ = infinity;
    Index grow_panel = 0, shrink_panel = 0;
    double* f = f_.data();
    for (Index from = 0; from < size; from += panel) {
      const Index length = std::min(panel, size - from), to = from + length;
      if (lambda != 0 && kj) {
#pragma omp simd
        for (Index t = from; t < to; ++t) f[t] += lambda * (static_cast<double>(ki[t]) - static_cast<double>(kj[t]));
      } else if (lambda != 0) {
#pragma omp simd
        for (Index t = from; t < to; ++t) f[t] += lambda * static_cast<double>(ki[t]);
      }
      if (tie_) {
        if (tie_i_ >= from && tie_i_ < to) f[tie_i_] = tie_fi_;
        if (tie_j_ >= from && tie_j_ < to) f[tie_j_] = tie_fj_;
      }
      const double largest = (grow_.segment(from, length) - f_.segment(from, length)).maxCoeff();
      const double least = (shrink_.segment(from, length) - f_.segment(from, length)).minCoeff();
      if (largest > largest_) {
        largest_ = largest;
        grow_panel = from;
      }
      if (least < least_) {
        least_ = least;
        shrink_panel = from;
      }
    }
    i_ = j_ = -1;
    if (largest_ > -infinity)
      for (i_ = grow_panel; grow_[i_] - f[i_] != largest_;) ++i_;
    if (least_ < infinity)
      for (j_ = shrink_panel; shrink_[j_] - f[j_] != least_;) ++j_;
  }
  void scan(Index size) { scan<double>(0, nullptr, nullptr, size); }

  // The same when only place s is new in S.
  void include(Index s) {
    if (grow_[s] - f_[s] > largest_) {
      largest_ = grow_[s] - f_[s];
      i_ = s;
    }
    if (shrink_[s] - f_[s] < least_) {
      least_ = shrink_[s] - f_[s];
      j_ = s;
    }
  }

  // Place order[k] becomes place k.
  void reorder(const std::vector<Index>& order) {
    const auto permute = [&](auto& values) {
      const auto old = values;
      for (std::size_t k = 0; k < order.size(); ++k) values[k] = old[static_cast<std::size_t>(order[k])];
    };
    for (VectorXd* v : {&y_, &bound_, &alpha_, &f_, &grow_, &shrink_}) permute(*v);
    permute(member_);
  }

  static constexpr double kappa = 1e-13;  // of the width of the box

 private:
  // What stands for a curvature that is not positive, in the units of the kernel.
  static double floor(double diagonal) { return smo_curvature_floor * (diagonal > 0 ? diagonal : 1); }
  void refresh(Index s) {
    const bool in = member(s);
    grow_[s] = in && alpha_[s] < upper(s) ? y_[s] : -infinity;
    shrink_[s] = in && alpha_[s] > lower(s) ? y_[s] : infinity;
  }
  // A step that ends inside the box makes g_i and g_j equal. They are made so exactly, or rounding would decide which of them
  // comes first next time, and a run cut in two would not be the run in one.
  void settle_tie(Index i, Index j, double g) {
    int exponent = 0;
    std::frexp(std::max(std::abs(g), 2.0), &exponent);
    const double unit = std::ldexp(1.0, exponent - 50);
    g = std::nearbyint(g / unit) * unit;  // y - g and y - (y - g) are now without rounding
    tie_i_ = i;
    tie_j_ = j;
    tie_fj_ = y_[j] - g;
    tie_fi_ = y_[i] - g;
  }
  // On the box a coefficient is put there exactly, so that what can move is decided without tolerances. Where two coefficients
  // reach their ends together, rounding leaves one of them a hair away, and a direction open that leads nowhere.
  double snapped(Index s, double alpha) const {
    const double hair = kappa * (std::isfinite(bound_[s]) ? bound_[s] : std::abs(alpha_[s]));
    if (alpha - lower(s) <= hair) return lower(s);
    return upper(s) - alpha <= hair ? upper(s) : alpha;
  }

  bool bias_;
  VectorXd y_, bound_, alpha_, f_;
  VectorXd grow_, shrink_;  // y where the coefficient can grow (shrink), else -inf (inf): the index sets are in the numbers
  std::vector<char> member_;
  bool tie_ = false;
  Index tie_i_ = -1, tie_j_ = -1;
  double tie_fi_ = 0, tie_fj_ = 0;
  Index i_ = -1, j_ = -1;
  double largest_ = -infinity, least_ = infinity, steps_ = 0;
};

}  // namespace granary::kernel
