#include "kernel/sasb_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/optim/lp.h"

namespace granary::kernel {

namespace {

double log_choose(double m, double k) { return std::lgamma(m + 1) - std::lgamma(k + 1) - std::lgamma(m - k + 1); }

// log of n (m + 1)^2 C(m, M) C(m, s(M)) / 4^m, for real m and M.
struct Slack {
  double n, b0, b1;

  double operator()(double m, double ones) const {
    const double s = std::min(m, std::max(m / 2, ones * b1 + (m - ones) * (1 - b0)));
    return std::log(n) + 2 * std::log(m + 1) + log_choose(m, ones) + log_choose(m, s) - m * std::log(4.0);
  }

  // The largest over M, which is found by thirds: concave, as log C(m, .) is concave, and beyond m/2 decreasing.
  double best_real(double m) const {
    double low = 0, high = m;
    for (int step = 0; step < 200 && high - low > 1e-7 * (1 + m); ++step) {
      const double a = low + (high - low) / 3, b = high - (high - low) / 3;
      if ((*this)(m, a) < (*this)(m, b)) {
        low = a;
      } else {
        high = b;
      }
    }
    return (*this)(m, (low + high) / 2) + 1e-9;
  }
  bool holds(double m) const {  // for a whole M
    double low = 0, high = m;
    while (high - low > 2) {
      const double a = std::floor(low + (high - low) / 3), b = std::ceil(high - (high - low) / 3);
      if ((*this)(m, a) < (*this)(m, b)) {
        low = a;
      } else {
        high = b;
      }
    }
    for (double ones = low; ones <= high; ++ones) {
      if ((*this)(m, ones) >= 0) return true;
    }
    return false;
  }
};

}  // namespace

double sasb_mistake_bound(double n, double b0, double b1, Monitor& monitor) {
  const double delta = b1 - b0;
  if (!(delta > 0)) return std::numeric_limits<double>::infinity();
  const Slack slack{n, b0, b1};
  // Real M allows more than whole M, and its slack falls once it has turned negative for good: bisect, then step down to a whole
  // M.
  double high = std::ceil(50 * std::log(n / delta + 2) / (delta * delta));
  while (slack.best_real(high) >= 0) high *= 2;
  double low = 0;
  while (high - low > 1) {
    monitor.check();
    const double middle = std::floor((low + high) / 2);
    if (slack.best_real(middle) >= 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  while (low > 0 && !slack.holds(low)) {
    monitor.check();
    --low;
  }
  return low;
}

SeparationGap separation_gap(ConstMatrixRef x, const std::vector<int>& label, Monitor& monitor) {
  const Stopwatch watch;
  const Index n = x.cols(), rows = x.rows(), variables = 2 * n + 2;
  if (static_cast<Index>(label.size()) != rows) throw InputError("There must be one label per row.");
  if (std::find(label.begin(), label.end(), 0) == label.end() || std::find(label.begin(), label.end(), 1) == label.end()) {
    throw InputError("Both classes must occur.");
  }
  SeparationGap gap;
  std::vector<Index> chosen;
  std::vector<bool> in(static_cast<std::size_t>(rows), false);
  const auto choose = [&](Index i) {
    if (in[i]) return;
    in[i] = true;
    chosen.push_back(i);
  };
  for (int y = 0; y < 2; ++y) choose(std::find(label.begin(), label.end(), y) - label.begin());
  VectorXd weight = VectorXd::Zero(n);
  for (;;) {
    monitor.check();
    const Index count = static_cast<Index>(chosen.size());
    LinearProgram program;  // minimise b0 - b1
    program.c = VectorXd::Zero(variables);
    program.c[2 * n] = 1;
    program.c[2 * n + 1] = -1;
    program.a = MatrixXd::Zero(count + 1, variables);
    program.b = VectorXd::Zero(count + 1);
    program.sense.assign(static_cast<std::size_t>(count), RowSense::less_equal);
    for (Index k = 0; k < count; ++k) {
      const Index i = chosen[k];
      const double sign = label[i] == 0 ? 1 : -1;  // S - b0 <= 0, b1 - S <= 0
      program.a.row(k).head(n) = sign * x.row(i);
      program.a.row(k).segment(n, n) = sign * (1 - x.row(i).array()).matrix();
      program.a(k, 2 * n + label[i]) = -sign;
    }
    program.a.row(count).head(2 * n).setOnes();
    program.b[count] = 1;
    program.sense.push_back(RowSense::equal);
    program.lower = VectorXd::Zero(variables);
    program.upper = VectorXd::Ones(variables);
    const LpResult solved = solve_lp(program, {}, monitor);
    if (solved.status != LpStatus::optimal) throw NumericalError("The linear program of the gap could not be solved.");
    gap.gamma = solved.x.head(n);
    gap.gamma_complement = solved.x.segment(n, n);
    gap.convergence = solved.convergence;
    weight = gap.gamma - gap.gamma_complement;
    const VectorXd value = (x * weight).array() + gap.gamma_complement.sum();
    gap.b0 = -std::numeric_limits<double>::infinity();
    gap.b1 = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, Index>> violated;
    for (Index i = 0; i < rows; ++i) {
      if (label[i] == 0) gap.b0 = std::max(gap.b0, value[i]);
      if (label[i] == 1) gap.b1 = std::min(gap.b1, value[i]);
      const double by = label[i] == 0 ? value[i] - solved.x[2 * n] : solved.x[2 * n + 1] - value[i];
      if (by > 1e-9 && !in[i]) violated.emplace_back(-by, i);
    }
    gap.delta = gap.b1 - gap.b0;  // as measured on all rows
    if (violated.empty()) break;
    const std::size_t more = std::min<std::size_t>(violated.size(), 20);
    std::partial_sort(violated.begin(), violated.begin() + static_cast<std::ptrdiff_t>(more), violated.end());
    for (std::size_t k = 0; k < more; ++k) choose(violated[k].second);
  }
  gap.convergence.seconds = watch.seconds();
  return gap;
}

}  // namespace granary::kernel
