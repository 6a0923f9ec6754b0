#include "ensemble/boost_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/kernel/kernel_rows.h"
#include "core/linalg/dense.h"
#include "core/optim/lp.h"
#include "core/optim/smo.h"

namespace granary::ensemble {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), most_target = 1 - 1e-12;

class KernelBooster {
 public:
  KernelBooster(ConstMatrixRef kernels, ConstVectorRef y, const KernelBoostOptions& options, Monitor& monitor)
      : kernels_(kernels), y_(y), options_(options), monitor_(monitor), n_(y.size()), count_(n_ > 0 ? kernels.cols() / n_ : 0) {
    if (n_ < 2 || count_ < 1 || kernels.rows() != n_ || kernels.cols() != n_ * count_)
      throw InputError("kernels need one row and column per response.");
    if (!(options.cost > 0)) throw InputError("`cost` must be positive.");
    if ((y_.array() == 1).count() == 0 || (y_.array() == -1).count() == 0) throw InputError("a machine needs both classes.");
  }

  KernelBoostResult run() {
    Stopwatch watch;
    out_.single.resize(count_);
    for (Index j = 0; j < count_; ++j) {
      const VectorXd scores = machine(VectorXd::Unit(count_, j));
      out_.single[j] = scores[j];
      if (options_.method == KernelBoost::lp) remember(scores);  // a start for the programs; star has no use for them
    }
    out_.upper = infinite;
    out_.lower = -infinite;
    if (options_.method == KernelBoost::lp)
      by_programs();
    else
      by_boosting();
    if (best_.size() == 0) best_ = VectorXd::Constant(count_, 1.0 / static_cast<double>(count_));
    const VectorXd scores = machine(best_);
    out_.beta = best_;
    out_.objective = best_.dot(scores);
    out_.coefficients = b_;
    out_.intercept = intercept_;
    out_.decision = mixed_ * b_;
    out_.decision.array() += intercept_;
    Convergence& c = out_.convergence;
    c.iterations = static_cast<int>(out_.path.size());
    c.gap = std::max(0.0, out_.upper - out_.lower);
    c.converged = c.gap <= wanted();
    c.seconds = watch.seconds();
    return std::move(out_);
  }

 private:
  auto kernel(Index j) const { return kernels_.middleCols(j * n_, n_); }
  double wanted() const {
    const double by_tol = options_.tol * std::max(std::abs(out_.upper), 1e-300);
    return options_.method == KernelBoost::star ? std::max(by_tol, options_.nu * size_) : by_tol;
  }

  // The machine of a mixture: S_j at its a, for all j. What it falls short of its own maximum is in slack_.
  VectorXd machine(const VectorXd& beta) {
    monitor_.check();
    mixed_.setZero(n_, n_);
    for (Index j = 0; j < count_; ++j)
      if (beta[j] > 0) mixed_ += beta[j] * kernel(j);
    SmoProblem problem;
    SmoSheet sheet;
    sheet.linear = y_;
    sheet.lower = (options_.cost * y_.array()).min(0);
    sheet.upper = (options_.cost * y_.array()).max(0);
    if (b_.size() == n_) sheet.start = b_;  // feasible for every mixture
    problem.sheets = {sheet};
    SmoOptions how;
    how.tol = 1e-6;
    how.single_precision = false;
    how.max_iter = 1e6;
    KernelRows rows{Eigen::Map<const MatrixXd>(mixed_.data(), n_, n_)};
    const SmoResult solved = solve_smo(problem, rows, how, monitor_);
    b_ = solved.beta[0];
    intercept_ = solved.multiplier[0];
    slack_ = std::isfinite(solved.convergence.gap) ? std::max(0.0, solved.convergence.gap) : 0;
    VectorXd out(count_);
    const double sum = b_.dot(y_);
    for (Index j = 0; j < count_; ++j) out[j] = sum - 0.5 * b_.dot(kernel(j) * b_);
    return out;
  }

  void remember(const VectorXd& scores) {
    all_.push_back(scores);
    size_ = std::max(size_, scores.cwiseAbs().maxCoeff());
  }

  // One round at beta: the machine, and the upper end.
  VectorXd look(const VectorXd& beta) {
    const VectorXd scores = machine(beta);
    const double edge = beta.dot(scores) + slack_;
    if (edge < out_.upper) {
      out_.upper = edge;
      best_ = beta;
    }
    remember(scores);
    KernelBoostRound at;
    at.edge = edge;
    at.upper = out_.upper;
    at.lower = out_.lower;
    out_.path.push_back(at);
    return scores;
  }

  void by_programs() {
    for (int t = 0; t < options_.max_iter; ++t) {
      monitor_.progress(static_cast<double>(t) / options_.max_iter);
      MatrixXd payoff(static_cast<Index>(all_.size()), count_);
      for (std::size_t i = 0; i < all_.size(); ++i) payoff.row(static_cast<Index>(i)) = all_[i].transpose();
      const GameSolution game = solve_matrix_game(payoff, {}, monitor_);  // rows, the machines, are paid
      out_.lower = std::max(out_.lower, (payoff.transpose() * game.row).minCoeff());
      VectorXd beta = game.column;
      look(beta);
      if (out_.upper - out_.lower <= wanted()) return;
    }
  }

  void by_boosting() {
    VectorXd f = VectorXd::Zero(count_), raw = VectorXd::Zero(count_);
    double sum = 0, least = infinite;
    for (int t = 0; t < options_.max_iter; ++t) {
      monitor_.progress(static_cast<double>(t) / options_.max_iter);
      VectorXd beta = (-(f.array() - f.minCoeff())).exp();
      beta /= beta.sum();
      const VectorXd scores = look(beta);
      least = std::min(least, beta.dot(scores));
      const double gamma = std::min(most_target, std::max(-most_target, beta.dot(scores) / size_));
      const double target = std::min(most_target, std::max(-most_target, least / size_ - options_.nu));
      const double alpha = std::max(0.0, std::atanh(gamma) - std::atanh(target));
      f += alpha * scores / size_;
      raw += alpha * scores;
      sum += alpha;
      if (sum > 0) out_.lower = std::max(out_.lower, raw.minCoeff() / sum);
      out_.path.back().lower = out_.lower;
      if (out_.upper - out_.lower <= wanted()) return;
    }
  }

  ConstMatrixRef kernels_;
  VectorXd y_;
  KernelBoostOptions options_;
  Monitor& monitor_;
  Index n_, count_;
  MatrixXd mixed_;
  VectorXd b_, best_;
  double intercept_ = 0, slack_ = 0, size_ = 0;
  std::vector<VectorXd> all_;
  KernelBoostResult out_;
};

}  // namespace

KernelBoostResult boost_kernels(ConstMatrixRef kernels, ConstVectorRef y, const KernelBoostOptions& options, Monitor& monitor) {
  return KernelBooster(kernels, y, options, monitor).run();
}

double smallest_share(ConstMatrixRef k) {
  const VectorXd values = SymmetricEigen(k, EigenParts::values).eigenvalues();
  const double most = values.cwiseAbs().maxCoeff();
  return most > 0 ? values.minCoeff() / most : 0;
}

}  // namespace granary::ensemble
