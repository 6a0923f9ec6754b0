#include "eigen.h"
#include <cmath>

#include "core/base/errors.h"
#include "graph/model_distance.h"
#include "graph/model_distance_windows.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

MatrixXd random_spd(Index p, Rng& rng) {
  MatrixXd m(p, p);
  for (Index j = 0; j < p; ++j) m.col(j) = rng.normals(p);
  return m * m.transpose() / static_cast<double>(p) + 0.3 * MatrixXd::Identity(p, p);
}

}  // namespace

TEST("Gaussian divergences agree with inverses and determinants, at any scale") {
  Rng rng(1);
  for (double scale : {1e-8, 1.0, 1e8}) {
    const MatrixXd o1 = scale * random_spd(4, rng), o2 = scale * random_spd(4, rng);
    const VectorXd m = VectorXd::Zero(4);
    const double kl = 0.5 * (std::log(o1.determinant() / o2.determinant()) + (o1.inverse() * o2).trace() - 4);
    const MatrixXd s1 = o1.inverse(), s2 = o2.inverse();
    CHECK_NEAR(gaussian_kl(make_gaussian(m, o1, true), make_gaussian(m, o2, true)), kl, 1e-9);
    CHECK_NEAR(gaussian_kl(make_gaussian(m, s1, false), make_gaussian(m, o2, true)), kl, 1e-7);
    CHECK_NEAR(gaussian_kl(make_gaussian(m, s1, false), make_gaussian(m, s2, false)), kl, 1e-7);
  }
  MatrixXd bad = MatrixXd::Identity(2, 2);
  bad(1, 1) = -1;
  CHECK_THROWS(make_gaussian(VectorXd::Zero(2), bad, true), InputError);
}

TEST("marginals by elimination are sums of the joint") {
  Monitor monitor;
  Rng rng(2);
  const std::vector<int> levels{2, 3, 2, 2, 3};
  for (int round = 0; round < 5; ++round) {
    const BnStructure s = make_structure(random_dag(5, 0.6, rng), levels);
    BnTables t;
    for (int i = 0; i < 5; ++i) {
      MatrixXd m(s.patterns(i), levels[i]);
      for (Index a = 0; a < m.rows(); ++a) {
        for (Index v = 0; v < m.cols(); ++v) m(a, v) = 0.1 + rng.uniform();
        m.row(a) /= m.row(a).sum();
      }
      t.push_back(m);
    }
    const VectorXd joint = bn_log_probabilities(s, t, monitor).array().exp();
    const VectorXd found = bn_marginal(s, t, {1, 4}, monitor);
    VectorXd expected = VectorXd::Zero(9);
    for (Index k = 0; k < joint.size(); ++k) expected[k / 2 % 3 + 3 * (k / 24 % 3)] += joint[k];
    CHECK_NEAR((found - expected).cwiseAbs().maxCoeff(), 0, 1e-14);
  }
}

TEST("windows: updated inverses stay those of the windows") {
  Monitor monitor;
  Rng rng(3);
  MatrixXd x(90, 26);
  for (Index j = 0; j < 26; ++j) x.col(j) = rng.normals(90);
  std::vector<Index> starts;
  for (Index k = 0; k < 50; ++k) starts.push_back(k);
  WindowOptions options;
  options.width = 40;
  const WindowResult result = window_models(x, options, monitor);
  CHECK(result.starts.size() == 51);
  CHECK(result.updates > 30);
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const MatrixXd rows = x.middleRows(starts[k], 40);
    const MatrixXd centred = rows.rowwise() - rows.colwise().mean();
    MatrixXd s = centred.transpose() * centred / 39;
    s.diagonal().array() += options.rho;
    CHECK_NEAR((result.matrices[k] * s - MatrixXd::Identity(26, 26)).cwiseAbs().maxCoeff(), 0, 1e-8);
  }
}
