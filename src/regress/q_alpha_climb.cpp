#include <algorithm>
#include <cmath>

#include "core/optim/anderson.h"
#include "core/linalg/leading_eigenpair.h"
#include "core/base/parallel.h"
#include "core/linalg/spectral.h"
#include "regress/q_alpha_problem.h"
#include "core/linalg/dense.h"

namespace granary::regress {

namespace {

struct Climb {
  VectorXd alpha;
  MatrixXd basis;  // where `alpha` is the leading eigenvector of G
  std::vector<double> path;
  int rounds = 0;
  bool converged = false;
};

LinearOperator product_of(const QAlphaProblem& problem) {
  return [&problem](ConstVectorRef a, VectorRef y) { problem.product(a, y); };
}

// The sign of an eigenvector is free; weights add up to something positive.
void turn_positive(VectorXd& alpha) {
  if (alpha.sum() < 0) alpha = -alpha;
}

// Only the span of a basis counts: the columns of `basis` turned to be as close as can be to those of `to`.
MatrixXd aligned(const MatrixXd& basis, const MatrixXd& to) {
  const Svd svd(basis.transpose() * to, SvdParts::full);
  return basis * (svd.matrixU() * svd.matrixV().transpose());
}

// Rounds of "alpha <- leading eigenvector of G(Q); Q <- next basis". The eigenvector is found only as well as the progress of the
// rounds deserves: the objective rises with every round whatever the accuracy, as Lanczos starts from the last alpha. Where the
// rounds converge slowly the last few bases are extrapolated; a basis so found that is worse is taken back. That happens near
// saddles, which draw the extrapolation though the rounds lead away from them, slowly: there momentum takes over (as in FISTA)
// until it overshoots.
Climb rounds(QAlphaProblem& problem, MatrixXd basis, VectorXd alpha, bool exact_basis, double tol, int max_iter,
             Monitor& monitor) {
  Climb state;
  LeadingEigenOptions inner;
  inner.max_products = 40;
  Anderson anderson(problem.orthonormal() ? 5 : 0);
  MatrixXd plain;        // the basis to go back to
  VectorXd plain_alpha;  // and the weights it was made from
  MatrixXd last;         // the plain basis of the round before, for momentum
  VectorXd best_alpha;   // the best point met
  MatrixXd best_basis;
  double best_value = 0;
  double change = 1, speed = 0;
  // A problem that moves with alpha is followed in stages: at rest, moved, at rest again, the more exactly the less it moves.
  double stage_tol = problem.moves() ? std::max(tol, 1e-4) : tol;
  for (int round = 1; round <= max_iter; ++round) {
    state.rounds = round;
    problem.set_basis(basis);
    inner.tol = std::max(std::min(1e-3, 0.03 * change), 1e-2 * tol);
    LeadingEigenpair pair = leading_eigenpair(product_of(problem), alpha, inner, monitor);
    const double before = state.path.empty() ? 0 : state.path.back();
    if (plain.size() > 0 && pair.value < before * (1 - 1e-14)) {
      anderson.clear();
      last.resize(0, 0);
      speed = speed > 0 ? 0 : 1;
      basis.swap(plain);
      plain.resize(0, 0);
      alpha = plain_alpha;
      continue;
    }
    change = (pair.vector - alpha).norm();
    alpha.swap(pair.vector);
    state.path.push_back(pair.value);
    if (best_alpha.size() == 0 || pair.value > best_value) {
      best_value = pair.value;
      best_alpha = alpha;
      best_basis = basis;
    }
    const double gain = std::abs(pair.value - before);
    // At rest, and not only because Lanczos was content with its start: the next round then asks for more digits.
    const bool at_rest = round > 1 && (change < stage_tol || gain < 1e-2 * stage_tol * std::abs(pair.value));
    state.converged = at_rest && (pair.residual <= 0.1 * stage_tol || pair.products >= inner.max_products);
    if (at_rest) change = 0;
    if (round == max_iter) {
      state.converged = state.converged && stage_tol <= tol && !problem.moves();
      break;
    }
    if (state.converged) {
      turn_positive(alpha);
      const double moved = problem.resume(alpha);
      if (moved <= tol && stage_tol <= tol) break;
      stage_tol = std::max(tol, std::min(stage_tol, 0.1 * moved));
      state.converged = false;
      if (moved > tol) {  // values before and after cannot be compared
        state.path.clear();
        best_alpha.resize(0);
      }
      anderson.clear();
      plain.resize(0, 0);
      last.resize(0, 0);
      speed = 0;
      change = std::max(moved, tol);
      continue;
    }
    turn_positive(alpha);
    MatrixXd next = exact_basis ? problem.leading_basis(alpha) : problem.next_basis(alpha);
    plain.resize(0, 0);
    if (problem.orthonormal() && round > 3) {
      plain = aligned(next, basis);
      plain_alpha = alpha;
      if (speed > 0) {
        const double faster = 0.5 * (1 + std::sqrt(1 + 4 * speed * speed));
        next = last.size() > 0 ? orthonormal_columns(plain + (speed - 1) / faster * (plain - aligned(last, plain))) : plain;
        last = plain;
        speed = faster;
      } else {
        next = orthonormal_columns(anderson.next(basis, plain));
      }
    }
    basis.swap(next);
  }
  // Never end below the best point met.
  if (best_alpha.size() > 0 && state.path.back() < best_value * (1 - 1e-9)) {
    alpha = best_alpha;
    basis = best_basis;
    state.path.push_back(best_value);
  }
  turn_positive(alpha);
  state.alpha = std::move(alpha);
  state.basis = std::move(basis);
  return state;
}

// Goes on with `rest`: the values of a problem that moved cannot be compared with earlier ones.
void join(Climb& climb, Climb rest, bool moved) {
  if (!moved) rest.path.insert(rest.path.begin(), climb.path.begin(), climb.path.end());
  rest.rounds += climb.rounds;
  climb = std::move(rest);
}

MatrixXd start_basis(QAlphaProblem& problem, int start, const Rng& rng) {
  const Index n = problem.features();
  if (start == 0) return problem.leading_basis(VectorXd::Constant(n, 1 / std::sqrt(static_cast<double>(n))));
  Rng mine = rng.stream(static_cast<std::uint64_t>(start));
  if (start % 2 == 1) return problem.leading_basis(problem.seeded_weights(static_cast<Index>(mine.below(n))));
  return problem.random_basis(mine);
}

}  // namespace

MatrixXd orthonormal_columns(const MatrixXd& z) {
  return Qr(z).thin_q(z.cols());
}

QAlphaResult climb(const ProblemMaker& make, const QAlphaOptions& options, const Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const bool exact = options.method == QAlphaMethod::basic;
  const Index n = make()->features();
  const VectorXd equal = VectorXd::Constant(n, 1 / std::sqrt(static_cast<double>(n)));

  // Halving: all starts go a few rounds, the best third some more, the best one to the end. Most of what a start can reach is
  // decided early.
  const int starts = std::max(1, options.n_start);
  std::vector<Climb> climbs(starts);
  std::vector<Index> order(starts);
  for (int s = 0; s < starts; ++s) order[s] = s;
  const auto follow = [&](Index count, int max_rounds, double tol) {
    parallel_for(count, options.threads, monitor, [&](Index place) {
      const std::unique_ptr<QAlphaProblem> problem = make();
      Climb& mine = climbs[order[place]];
      if (mine.path.empty()) {
        const MatrixXd basis = start_basis(*problem, static_cast<int>(order[place]), rng);
        mine = rounds(*problem, basis, equal, exact, tol, max_rounds, monitor);
        return;
      }
      const bool moved = problem->resume(mine.alpha) > tol;
      join(mine, rounds(*problem, mine.basis, mine.alpha, exact, tol, max_rounds, monitor), moved);
    });
    const auto value = [&](Index s) { return climbs[s].path.back(); };
    std::stable_sort(order.begin(), order.begin() + count, [&](Index a, Index b) { return value(a) > value(b); });
    // Starts that meet at one summit differ by rounding: the first of them leads, on every machine.
    auto lead = order.begin();
    for (auto s = order.begin(); s != order.begin() + count; ++s) {
      if (*s < *lead && value(*s) >= value(order[0]) * (1 - 1e-6)) lead = s;
    }
    std::rotate(order.begin(), lead, lead + 1);
    monitor.progress(static_cast<double>(starts - count + 1) / (starts + 1));
  };
  int done = 0;
  if (starts > 1) {
    follow(starts, done = std::min(8, options.max_iter), options.tol);
    const int more = std::min(24, options.max_iter - done);
    if (starts > 3 && more > 0) {
      follow((starts + 2) / 3, more, options.tol);
      done += more;
    }
  }
  if (done < options.max_iter) follow(1, options.max_iter - done, options.tol);

  const Index best = order[0];
  QAlphaResult result;
  result.start_objectives.resize(starts);
  for (int s = 0; s < starts; ++s) result.start_objectives[s] = climbs[s].path.back();

  // The last alpha may be an eigenvector that is no longer the leading one; a start that knows nothing of it finds out, and how
  // close the second is.
  const std::unique_ptr<QAlphaProblem> problem = make();
  Climb& top = climbs[best];
  result.eigen_gap = 1;
  for (int again = 0; again < 3; ++again) {
    const bool moved = problem->resume(top.alpha) > options.tol;
    problem->set_basis(top.basis);
    if (n == 1) break;
    EigenOptions eigen;
    eigen.tol = 1e-8;
    const EigenPairs two = top_eigenpairs(product_of(*problem), n, 2, Which::largest, eigen, monitor);
    result.eigen_gap = two.values[0] > 0 ? 1 - std::max(0.0, two.values[1]) / two.values[0] : 0;
    if (two.values[0] <= top.path.back() * (1 + 1e-6)) break;
    VectorXd from = two.vectors.col(0);
    turn_positive(from);
    join(top, rounds(*problem, top.basis, from, exact, options.tol, options.max_iter, monitor), moved);
  }
  VectorXd image(n);
  problem->resume(top.alpha);
  problem->set_basis(top.basis);
  problem->product(top.alpha, image);
  const double value = top.alpha.dot(image);
  result.convergence.residual = value > 0 ? (image - value * top.alpha).norm() / value : 0;
  result.alpha = std::move(top.alpha);
  result.basis = std::move(top.basis);
  result.path = std::move(top.path);
  result.objective = value;
  result.start_objectives[best] = value;
  // A statement about the answer, besides the course of the rounds.
  result.convergence.converged = top.converged && result.convergence.residual <= std::sqrt(options.tol);
  if (top.converged && !result.convergence.converged) result.convergence.reason = Stop::stalled;
  result.convergence.iterations = top.rounds;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary::regress
