#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/cluster/agreement.h"
#include "core/optim/assignment.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

double best_by_enumeration(const MatrixXd& cost) {
  const MatrixXd c = cost.rows() <= cost.cols() ? cost : MatrixXd(cost.transpose());
  std::vector<int> order(static_cast<std::size_t>(c.cols()));
  std::iota(order.begin(), order.end(), 0);
  double best = 1e300;
  do {
    double value = 0;
    for (Index i = 0; i < c.rows(); ++i) value += c(i, order[static_cast<std::size_t>(i)]);
    best = std::min(best, value);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace

TEST("assignments are those of enumeration, with duals that prove it, for squares, rectangles, ties and any scale") {
  Monitor monitor;
  Rng rng(1);
  for (int trial = 0; trial < 120; ++trial) {
    const Index n = 1 + static_cast<Index>(rng.below(6)), m = 1 + static_cast<Index>(rng.below(6));
    const double scale = trial % 3 == 0 ? 1e-8 : trial % 3 == 1 ? 1 : 1e8;
    MatrixXd cost(n, m);
    for (Index i = 0; i < cost.size(); ++i)
      cost.data()[i] = scale * (trial % 2 == 0 ? rng.normal() : static_cast<double>(rng.below(3)));
    const AssignmentResult found = assign_rows(cost, monitor);
    CHECK_NEAR(found.objective, best_by_enumeration(cost), 1e-10 * scale);
    CHECK(found.convergence.converged);
    std::vector<int> used;
    for (Index i = 0; i < n; ++i) {
      if (found.column[i] < 0) continue;
      used.push_back(found.column[i]);
      CHECK_NEAR(found.u[i] + found.v[found.column[i]], cost(i, found.column[i]), 1e-10 * scale);
    }
    std::sort(used.begin(), used.end());
    CHECK(std::adjacent_find(used.begin(), used.end()) == used.end());
    CHECK(static_cast<Index>(used.size()) == std::min(n, m));
    const AssignmentResult most = assign_rows_most(cost, monitor);
    CHECK_NEAR(most.objective, -best_by_enumeration(-cost), 1e-10 * scale);
  }
  MatrixXd bad = MatrixXd::Zero(2, 2);
  bad(0, 1) = std::nan("");
  CHECK_THROWS(assign_rows(bad, monitor), InputError);
}

TEST("agreement: equal up to names is perfect, independence is nothing, and a table worked by hand") {
  Monitor monitor;
  VectorXi a(6), b(6), c(6);
  a << 0, 0, 1, 1, 2, 2;
  b << 2, 2, 0, 0, 1, 1;
  c << 0, 1, 0, 1, 0, 1;
  const Agreement same = agreement(a, b, VectorXd(), monitor);
  CHECK_NEAR(same.nmi, 1, 1e-14);
  CHECK_NEAR(same.ari, 1, 1e-14);
  CHECK_NEAR(same.accuracy, 1, 1e-14);
  CHECK(same.match[0] == 2 && same.match[1] == 0 && same.match[2] == 1);
  const Agreement other = agreement(a, c, VectorXd(), monitor);
  CHECK_NEAR(other.mutual_information, 0, 1e-14);
  CHECK_NEAR(other.ari, (0 - 3.0 * 6 / 15) / (0.5 * (3 + 6) - 3.0 * 6 / 15), 1e-14);
  CHECK_NEAR(other.accuracy, 2.0 / 6, 1e-14);
  CHECK_NEAR(other.purity, 0.5, 1e-14);
  VectorXd w(6);
  w << 2, 0, 1, 1, 1, 1;
  CHECK_NEAR(agreement(a, c, w, monitor).table.sum(), 6, 1e-14);
  CHECK_THROWS(agreement(a, VectorXi::Zero(5), VectorXd(), monitor), InputError);
  const VectorXi one = VectorXi::Zero(6);
  CHECK_NEAR(agreement(one, one, VectorXd(), monitor).nmi, 1, 0);
  CHECK_NEAR(agreement(one, a, VectorXd(), monitor).nmi, 0, 0);
}

TEST("silhouettes are those of the definition; a cluster of one has none") {
  Monitor monitor;
  MatrixXd x(5, 1);
  x << 0, 1, 10, 12, 30;
  VectorXi z(5);
  z << 0, 0, 1, 1, 2;
  const Silhouettes s = silhouettes(DataRows(x), z, 3, SilhouetteDistance::euclidean, 1, monitor);
  CHECK_NEAR(s.width[0], (11.0 - 1) / 11, 1e-14);
  CHECK_NEAR(s.width[3], (11.5 - 2) / 11.5, 1e-14);
  CHECK(s.width[4] == 0);
  CHECK(s.neighbour[0] == 1 && s.neighbour[4] == 1);
  MatrixXd y(4, 2);
  y << 1, 0, 2, 0, 0, 3, 0, 4;
  VectorXi w(4);
  w << 0, 0, 1, 1;
  const Silhouettes cosine = silhouettes(DataRows(y), w, 2, SilhouetteDistance::cosine, 2, monitor);
  CHECK_NEAR((cosine.width.array() - 1).abs().maxCoeff(), 0, 1e-12);
}
