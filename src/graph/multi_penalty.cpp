#include "graph/multi_penalty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/prox/proximal.h"

namespace granary::graph {

namespace {

double norm_value(MultiNorm norm, const double* x, int tasks) {
  double sum = 0;
  switch (norm) {
    case MultiNorm::l2:
      for (int k = 0; k < tasks; ++k) sum += x[k] * x[k];
      return std::sqrt(sum);
    case MultiNorm::linf:
      for (int k = 0; k < tasks; ++k) sum = std::max(sum, std::abs(x[k]));
      return sum;
    case MultiNorm::fused:
      for (int k = 0; k < tasks; ++k) {
        for (int l = 0; l < k; ++l) sum += std::abs(x[k] - x[l]);
      }
      return sum;
  }
  return sum;
}

// The root of sum c^2 / (1 + lambda q)^2 = rho^2, for ||c|| > rho > 0. With 1/||r|| concave in lambda, Newton's steps from the
// left of the root stay there and rise; the solution for constant q = max q is to its left.
double trust_region_multiplier(const double* q, const double* c, int tasks, double rho) {
  double squares = 0, largest = 0;
  for (int k = 0; k < tasks; ++k) {
    squares += c[k] * c[k];
    if (c[k] != 0) largest = std::max(largest, q[k]);
  }
  double lambda = (std::sqrt(squares) / rho - 1) / largest;
  for (int step = 0; step < 60; ++step) {
    double r2 = 0, slope = 0;
    for (int k = 0; k < tasks; ++k) {
      const double scale = 1 / (1 + lambda * q[k]), r = c[k] * scale;
      r2 += r * r;
      slope += r * r * q[k] * scale;
    }
    const double r = std::sqrt(r2);
    const double change = (r / rho - 1) * r2 / slope;  // (1/rho - 1/||r||) / (slope / ||r||^3)
    if (!(change > 0)) break;
    lambda += change;
    if (change <= 1e-15 * lambda) break;
  }
  return lambda;
}

// nu with sum (|c| - q nu)_+ = rho, sorted: (4.18).
double knapsack_level_sorted(const double* q, const double* c, double rho, std::vector<int>& order, int tasks) {
  order.resize(tasks);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return std::abs(c[a]) * q[b] > std::abs(c[b]) * q[a]; });
  double sum_c = 0, sum_q = 0, nu = 0;
  for (int m = 0; m < tasks; ++m) {
    const int k = order[m];
    if (m > 0 && std::abs(c[k]) <= nu * q[k]) break;
    sum_c += std::abs(c[k]);
    sum_q += q[k];
    nu = (sum_c - rho) / sum_q;
  }
  return std::max(nu, 0.0);
}

// The same by splitting at the median ratio: those above the root are settled, and half of the rest is dropped in each round.
double knapsack_level_median(const double* q, const double* c, double rho, std::vector<int>& open, int tasks) {
  open.resize(tasks);
  std::iota(open.begin(), open.end(), 0);
  const auto ratio = [&](int k) { return std::abs(c[k]) / q[k]; };
  double sum_c = 0, sum_q = 0;  // of the entries known to lie above nu
  while (!open.empty()) {
    const auto middle = open.begin() + static_cast<long>(open.size() / 2);
    std::nth_element(open.begin(), middle, open.end(), [&](int a, int b) { return ratio(a) > ratio(b); });
    const double pivot = ratio(*middle);
    double above_c = sum_c, above_q = sum_q;
    for (auto k = open.begin(); k != middle; ++k) {
      above_c += std::abs(c[*k]);
      above_q += q[*k];
    }
    if (above_c - pivot * above_q >= rho) {  // nu is at or above the pivot: it and all below are free
      open.erase(middle, open.end());
    } else {
      sum_c = above_c + std::abs(c[*middle]);
      sum_q = above_q + q[*middle];
      open.erase(open.begin(), middle + 1);
    }
  }
  return std::max((sum_c - rho) / sum_q, 0.0);
}

void check_diagonal_step(const ConstVectorRef& q, const ConstVectorRef& c, const ConstVectorRef& b, double rho) {
  if (q.size() != c.size() || q.size() != b.size()) throw InputError("q, c and b must have one entry per task.");
  if (!(q.minCoeff() > 0) || !(c.minCoeff() >= 0) || !(b.minCoeff() >= 0) || !(rho > 0)) {
    throw InputError("the diagonal step needs q > 0, c >= 0, b >= 0 and rho > 0.");
  }
}

}  // namespace

double penalty_value(const MultiPenalty& penalty, const double* x, int tasks) {
  double value = penalty.l2 > 0 ? penalty.l2 * norm_value(penalty.norm, x, tasks) : 0;
  if (penalty.l1 > 0) {
    for (int k = 0; k < tasks; ++k) value += penalty.l1 * std::abs(x[k]);
  }
  return value;
}

BlockSolver::BlockSolver(const MultiPenalty& penalty, int tasks)
    : penalty_(penalty), tasks_(tasks), shrunk_(tasks), key_(tasks), order_(tasks) {}

// max over sets A of tasks of  sum_A c - |A| l1 - l2 |A| (K - |A|)  with both penalties multiplied by t: x > 0 somewhere if
// positive. The best set of each size takes the largest c. order_ is left sorted.
double BlockSolver::largest_cut_excess(double t) {
  std::sort(key_.begin(), key_.end(), std::greater<double>());
  double sum = 0, most = 0;
  for (int m = 1; m <= tasks_; ++m) {
    sum += key_[m - 1];
    most = std::max(most, sum - t * m * (penalty_.l1 + penalty_.l2 * (tasks_ - m)));
  }
  return most;
}

bool BlockSolver::is_zero(const double* c) {
  const double l1 = penalty_.l1, l2 = penalty_.l2;
  if (l2 == 0) {
    for (int k = 0; k < tasks_; ++k) {
      if (std::abs(c[k]) > l1) return false;
    }
    return true;
  }
  double sum = 0;
  switch (penalty_.norm) {
    case MultiNorm::l2:
      for (int k = 0; k < tasks_; ++k) {
        const double excess = std::max(std::abs(c[k]) - l1, 0.0);
        sum += excess * excess;
      }
      return sum <= l2 * l2;
    case MultiNorm::linf:
      for (int k = 0; k < tasks_; ++k) sum += std::max(std::abs(c[k]) - l1, 0.0);
      return sum <= l2;
    case MultiNorm::fused:
      key_.assign(c, c + tasks_);
      if (largest_cut_excess(1) > 0) return false;
      for (int k = 0; k < tasks_; ++k) key_[k] = -c[k];
      return !(largest_cut_excess(1) > 0);
  }
  return true;
}

double BlockSolver::entry_weight(const double* c) {
  const double l1 = penalty_.l1, l2 = penalty_.l2;
  double low = 0, high = 0;
  for (int k = 0; k < tasks_; ++k) high += std::abs(c[k]);
  if (high == 0) return 0;
  if (l1 == 0 && penalty_.norm != MultiNorm::fused) {
    for (int k = 0; k < tasks_; ++k) low += c[k] * c[k];
    return (penalty_.norm == MultiNorm::l2 ? std::sqrt(low) : high) / l2;
  }
  if (penalty_.norm == MultiNorm::fused) {  // a ratio for every size of set
    for (const double sign : {1.0, -1.0}) {
      for (int k = 0; k < tasks_; ++k) key_[k] = sign * c[k];
      std::sort(key_.begin(), key_.end(), std::greater<double>());
      double sum = 0;
      for (int m = 1; m <= tasks_; ++m) {
        sum += key_[m - 1];
        const double charge = m * (l1 + l2 * (tasks_ - m));
        if (sum > 0) low = std::max(low, charge > 0 ? sum / charge : std::numeric_limits<double>::infinity());
      }
    }
    return low;
  }
  // l1 and l2 both count: whether x = 0 solves is monotone in t.
  high /= std::max(l1, l2);
  const MultiPenalty base = penalty_;
  for (int step = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    const double t = 0.5 * (low + high);
    penalty_ = base.scaled(t);
    (is_zero(c) ? high : low) = t;
  }
  penalty_ = base;
  return high;
}

void BlockSolver::solve(const double* q, const double* c, double* x) {
  const double l1 = penalty_.l1, l2 = penalty_.l2;
  if (l2 > 0 && penalty_.norm == MultiNorm::fused) {
    std::iota(order_.begin(), order_.end(), 0);
    solve_fused(q, c, x, 0, tasks_, 0);
    return;
  }
  for (int k = 0; k < tasks_; ++k) shrunk_[k] = soft_threshold(c[k], l1);
  if (l2 == 0) {
    for (int k = 0; k < tasks_; ++k) x[k] = shrunk_[k] / q[k];
  } else if (penalty_.norm == MultiNorm::l2) {
    solve_l2(q, x);
  } else {
    solve_linf(q, x);
  }
}

void BlockSolver::solve_l2(const double* q, double* x) {
  double squares = 0;
  for (int k = 0; k < tasks_; ++k) squares += shrunk_[k] * shrunk_[k];
  if (!(squares > penalty_.l2 * penalty_.l2)) {
    std::fill(x, x + tasks_, squares == squares ? 0.0 : squares);
    return;
  }
  const double lambda = trust_region_multiplier(q, shrunk_.data(), tasks_, penalty_.l2);
  for (int k = 0; k < tasks_; ++k) x[k] = shrunk_[k] / (q[k] + 1 / lambda);
}

void BlockSolver::solve_linf(const double* q, double* x) {
  double sum = 0;
  for (int k = 0; k < tasks_; ++k) sum += std::abs(shrunk_[k]);
  if (!(sum > penalty_.l2)) {
    std::fill(x, x + tasks_, sum == sum ? 0.0 : sum);
    return;
  }
  const double nu = tasks_ <= 50 ? knapsack_level_sorted(q, shrunk_.data(), penalty_.l2, order_, tasks_)
                                 : knapsack_level_median(q, shrunk_.data(), penalty_.l2, order_, tasks_);
  order_.resize(tasks_);
  for (int k = 0; k < tasks_; ++k) x[k] = std::copysign(std::min(std::abs(shrunk_[k]) / q[k], nu), shrunk_[k]);
}

// The tasks V = order_[begin, end), whose differences to all others have known signs: those enter as the slope `shift`. At the
// level t that would be right if all of V were fused, {x > t} is the smallest set A that minimises sum_A f'(t+) + l2 |A| (|V| -
// |A|), a cut of the complete graph, so for every size the tasks with the smallest slopes are taken; {x < t} likewise from the
// other end. The three parts are solved in turn. (Sorting by c/q is not enough: with unequal q the order of x can differ from
// it.)
void BlockSolver::solve_fused(const double* q, const double* c, double* x, int begin, int end, double shift) {
  const double l1 = penalty_.l1, l2 = penalty_.l2;
  const int n = end - begin;
  double sum_c = 0, sum_q = 0;
  for (int r = begin; r < end; ++r) {
    sum_c += c[order_[r]] - shift;
    sum_q += q[order_[r]];
  }
  const double t = soft_threshold(sum_c, n * l1) / sum_q;
  int upper = 0, lower = 0;
  if (n > 1) {
    std::sort(order_.begin() + begin, order_.begin() + end, [&](int a, int b) {
      const double fa = q[a] * t - c[a], fb = q[b] * t - c[b];
      return fa < fb || (fa == fb && a < b);
    });
    double size = l2 * n;
    for (int r = begin; r < end; ++r) size = std::max(size, std::abs(c[order_[r]]) + q[order_[r]] * std::abs(t));
    const double rounding = -1e-14 * n * size;
    double sum = 0, best = rounding;
    for (int m = 1; m < n; ++m) {
      const int k = order_[begin + m - 1];
      sum += q[k] * t - c[k] + shift + (t >= 0 ? l1 : -l1);
      const double cost = sum + l2 * m * (n - m);
      if (cost < best) {
        best = cost;
        upper = m;
      }
    }
    sum = 0;
    best = rounding;
    for (int m = 1; m + upper <= n && m < n; ++m) {
      const int k = order_[end - m];
      sum -= q[k] * t - c[k] + shift + (t > 0 ? l1 : -l1);
      const double cost = sum + l2 * m * (n - m);
      if (cost < best) {
        best = cost;
        lower = m;
      }
    }
  }
  for (int r = begin + upper; r < end - lower; ++r) x[order_[r]] = t;
  if (upper > 0) solve_fused(q, c, x, begin, begin + upper, shift + l2 * (n - upper));
  if (lower > 0) solve_fused(q, c, x, end - lower, end, shift - l2 * (n - lower));
}

VectorXd knapsack_prox(const ConstVectorRef& q, const ConstVectorRef& c, double rho, int sort_up_to) {
  if (q.size() != c.size() || !(q.minCoeff() > 0) || !(rho >= 0))
    throw InputError("the knapsack needs q > 0, one per c, and rho >= 0.");
  if (c.lpNorm<1>() <= rho) return VectorXd::Zero(c.size());
  const int tasks = static_cast<int>(c.size());
  const VectorXd own_q = q, own_c = c;
  std::vector<int> scratch;
  const double nu = tasks <= sort_up_to ? knapsack_level_sorted(own_q.data(), own_c.data(), rho, scratch, tasks)
                                        : knapsack_level_median(own_q.data(), own_c.data(), rho, scratch, tasks);
  return c.binaryExpr(q, [nu](double ck, double qk) { return std::copysign(std::min(std::abs(ck) / qk, nu), ck); });
}

VectorXd trust_region_prox(const ConstVectorRef& q, const ConstVectorRef& c, double rho) {
  if (q.size() != c.size() || !(q.minCoeff() > 0) || !(rho >= 0))
    throw InputError("the trust region needs q > 0, one per c, and rho >= 0.");
  const VectorXd own_q = q, own_c = c;
  VectorXd x(c.size());
  BlockSolver solver({MultiNorm::l2, 0, rho}, static_cast<int>(c.size()));
  solver.solve(own_q.data(), own_c.data(), x.data());
  return x;
}

DiagonalStep log_knapsack(const ConstVectorRef& q, const ConstVectorRef& c, const ConstVectorRef& b, double rho) {
  check_diagonal_step(q, c, b, rho);
  // sum_k r_k(nu) is convex and decreasing, and at this nu one r_k alone is rho: Newton's steps rise to the root.
  double nu = (b.array() + q.array() / (c.array() + rho)).maxCoeff();
  DiagonalStep out{VectorXd(q.size()), VectorXd(q.size())};
  for (int step = 0;; ++step) {
    double sum = 0, slope = 0;
    for (Index k = 0; k < q.size(); ++k) {
      const double r = q[k] / (nu - b[k]) - c[k];
      out.r[k] = nu > b[k] && r > 0 ? r : 0;
      if (out.r[k] > 0) slope += q[k] / ((nu - b[k]) * (nu - b[k]));
      sum += out.r[k];
    }
    const double change = slope > 0 ? (sum - rho) / slope : 0;
    if (!(change > 1e-15 * nu) || step == 100) break;
    nu += change;
  }
  out.z = b.array() + q.array() / (c + out.r).array();
  return out;
}

DiagonalStep log_trust_region(const ConstVectorRef& q, const ConstVectorRef& c, const ConstVectorRef& b, double rho) {
  check_diagonal_step(q, c, b, rho);
  DiagonalStep out{VectorXd(q.size()), VectorXd(q.size())};
  double slope = 0;
  // r_k is the positive root of lambda r^2 + (lambda c - b) r - (q + b c) = 0, in the form without cancellation.
  const auto norm_at = [&](double lambda) {
    slope = 0;
    for (Index k = 0; k < q.size(); ++k) {
      const double linear = lambda * c[k] - b[k], constant = q[k] + b[k] * c[k];
      const double root = std::sqrt(linear * linear + 4 * lambda * constant);
      const double r = linear > 0 ? 2 * constant / (linear + root) : (root - linear) / (2 * lambda);
      out.r[k] = r;
      slope -= r * r * (r + c[k]) / root;
    }
    const double norm = out.r.norm();
    slope /= norm;
    return norm;
  };
  double lambda = ((q.array() + b.array() * (c.array() + rho)) / (rho * (c.array() + rho))).mean();
  double low = lambda, high = lambda;
  while (norm_at(low) < rho) low /= 2;
  while (norm_at(high) > rho) high *= 2;
  for (int step = 0; step < 200; ++step) {
    const double excess = norm_at(lambda) - rho;
    if (std::abs(excess) <= 1e-15 * rho || high - low <= 1e-15 * high) break;
    (excess > 0 ? low : high) = lambda;
    const double next = lambda - excess / slope;
    lambda = next > low && next < high ? next : 0.5 * (low + high);
  }
  norm_at(lambda);
  out.z = b.array() + q.array() / (c + out.r).array();
  return out;
}

std::vector<double> solve_block(const MultiBlock& block) {
  if (block.q.size() != block.c.size()) throw InputError("q and c must have one entry per task.");
  std::vector<double> x(block.q.size());
  BlockSolver(block.penalty, static_cast<int>(x.size())).solve(block.q.data(), block.c.data(), x.data());
  return x;
}

DiagonalStep solve_diagonal(const DiagonalBlock& block) {
  return block.norm == MultiNorm::l2 ? log_trust_region(block.q, block.c, block.b, block.rho)
                                     : log_knapsack(block.q, block.c, block.b, block.rho);
}

}  // namespace granary::graph
