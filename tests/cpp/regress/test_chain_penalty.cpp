// Differences with uneven positions, and the exact step on them.
#include <cmath>

#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "harness.h"
#include "regress/chain_penalty.h"
#include "regress/debiased_power.h"
#include "regress/gen_lasso_penalty.h"

using namespace granary;
using namespace granary::regress;

namespace {

GenPenalty penalty_of(const ChainPenalty& chain) { return GenPenalty(GenPenalty::Rows(chain.matrix), {}, chain.null); }

}  // namespace

TEST("chain penalty: even positions give binomial coefficients, uneven ones do not see polynomials") {
  const ChainPenalty even = chain_penalty(VectorXd(), {7, 3});
  CHECK(even.matrix.rows() == 4);
  const double expected[] = {-1, 3, -3, 1};
  for (int k = 0; k < 4; ++k) CHECK_NEAR(even.matrix.coeff(2, 2 + k), expected[k], 0);
  VectorXd t(7);
  t << -3, -2.5, 0, 0.1, 4, 9, 9.5;
  const ChainPenalty uneven = chain_penalty(t, {7, 3});
  for (int power = 0; power < 3; ++power) CHECK((uneven.matrix * VectorXd(t.array().pow(power))).cwiseAbs().maxCoeff() < 1e-10);
  CHECK((uneven.matrix * uneven.null).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((uneven.null.transpose() * uneven.null - MatrixXd::Identity(3, 3)).cwiseAbs().maxCoeff() < 1e-12);
  CHECK((uneven.matrix * VectorXd(t.array().pow(3))).cwiseAbs().minCoeff() > 0.1);
  CHECK_THROWS(chain_penalty(VectorXd(), {3, 3}), InputError);
  CHECK_THROWS(chain_penalty(t, {6, 2}), InputError);
}

TEST("settle: the optimality conditions of trend filtering hold to rounding, from a rough start") {
  Rng rng(5);
  Monitor monitor;
  for (int order = 2; order <= 4; ++order) {
    const int n = 80;
    VectorXd y(n);
    for (int i = 0; i < n; ++i) y[i] = std::abs(i - 30) * 0.2 + std::sin(i / 9.0) + 0.5 * rng.normal();
    GenPenalty penalty = penalty_of(chain_penalty(VectorXd(), {n, order}));
    for (const double lambda : {0.05, 1.0, 20.0}) {
      VectorXd b, mu;
      penalty.prox(y, VectorXd::Ones(n), lambda, 1e-4, true, monitor, b, mu);
      CHECK(penalty.settle(y, lambda, true, monitor, b, mu));
      VectorXd cold, dual = VectorXd::Zero(penalty.rows());
      CHECK(penalty.settle(y, lambda, false, monitor, cold, dual));
      CHECK((cold - b).cwiseAbs().maxCoeff() < 1e-8);
      CHECK(penalty.dual_norm(mu) <= lambda);
      CHECK((y - b - penalty.transpose(mu)).cwiseAbs().maxCoeff() < 1e-7);
      const VectorXd bend = penalty.matrix() * b;
      double kinks = 0;
      for (Index j = 0; j < bend.size(); ++j) {
        if (std::abs(mu[j]) == lambda) {
          kinks += 1;
          CHECK(bend[j] * mu[j] > 0);
        } else {
          CHECK(std::abs(bend[j]) < 1e-10);
        }
      }
      CHECK_NEAR(penalty.degrees_of_freedom(b, mu, lambda, 0, true), kinks + order, 0);
    }
  }
}

TEST("debiased power: level at zero, inverses, and the bound of Theorem 17 above the power") {
  CHECK_NEAR(two_sided_power(0.05, 0), 0.05, 1e-14);
  CHECK_NEAR(two_sided_power(0.01, needed_shift(0.01, 0.8)), 0.8, 1e-12);
  CHECK_NEAR(two_sided_power(0.05, 40), 1, 1e-14);
  PowerOptions o;
  o.n = {50, 400, 400};
  o.gamma = {0.02, 0.1, 0.3};
  const PowerTable table = debiased_power(o);
  for (std::size_t i = 0; i < 3; ++i) CHECK(table.upper[i] >= table.power[i] - 1e-12 && table.upper[i] <= 1);
  PowerOptions back;
  back.n = o.n;
  back.power = table.power;
  const PowerTable again = debiased_power(back);
  CHECK_NEAR(again.gamma[1], 0.1, 1e-10);
  back.gamma = o.gamma;
  CHECK_THROWS(debiased_power(back), InputError);
}
