#include "eigen.h"
#include <algorithm>
#include <vector>

#include "core/base/errors.h"
#include "graph/sim_ggm.h"
#include "harness.h"

using namespace granary;
using namespace granary::graph;

namespace {

constexpr GgmType all_types[] = {GgmType::chain, GgmType::band,    GgmType::random,     GgmType::block,
                                 GgmType::hub,   GgmType::cluster, GgmType::scale_free, GgmType::grid};

MatrixXd draw(GgmType type, int p, std::uint64_t seed, bool unit_variance = false) {
  SimGgmOptions options;
  options.type = type;
  options.p = p;
  options.block = p;
  options.groups = std::min(3, p);
  options.rows = 4;
  options.unit_variance = unit_variance;
  Rng rng(seed);
  return MatrixXd(sim_ggm_precision(options, rng));
}

double smallest_eigenvalue(const MatrixXd& x) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(x).eigenvalues()[0]; }

}  // namespace

TEST("sim_ggm: symmetric, positive definite, reproducible, at any size") {
  for (const GgmType type : all_types) {
    for (int p : {1, 2, 3, 4, 9, 40}) {
      const MatrixXd x = draw(type, p, 7);
      CHECK((x - x.transpose()).cwiseAbs().maxCoeff() == 0);
      CHECK(smallest_eigenvalue(x) > 0.2);
      CHECK(x == draw(type, p, 7));
      const MatrixXd unit = draw(type, p, 7, true);
      CHECK_NEAR((unit.inverse().diagonal().array() - 1).abs().maxCoeff(), 0, 1e-10);
      CHECK(((unit.array() != 0) == (x.array() != 0)).all());
    }
  }
  CHECK(draw(GgmType::cluster, 20, 1) != draw(GgmType::cluster, 20, 2));
}

TEST("sim_ggm: lifted patterns have the smallest eigenvalue asked for, also where Lanczos finds it") {
  SimGgmOptions options;
  options.p = 300;
  options.shift = 0.9;
  for (const GgmType type : {GgmType::band, GgmType::hub, GgmType::cluster, GgmType::scale_free, GgmType::grid}) {
    options.type = type;
    Rng rng(3);
    CHECK_NEAR(smallest_eigenvalue(MatrixXd(sim_ggm_precision(options, rng))), 0.9, 1e-6);
  }
}

TEST("sim_ggm: hubs and clusters cover all variables, also when the groups are of unequal size") {
  for (int p : {7, 10, 11, 23}) {
    for (int groups : {1, 2, 3, 5, 7}) {
      SimGgmOptions options;
      options.p = p;
      options.groups = groups;
      options.type = GgmType::hub;
      Rng rng(1);
      const MatrixXd x(sim_ggm_precision(options, rng));
      // stars: p - groups edges, every variable but the hubs has one of them
      CHECK(((x.array() != 0).count() - p) / 2 == p - groups);
      options.type = GgmType::cluster;
      options.density = 1;
      const MatrixXd y(sim_ggm_precision(options, rng));
      std::vector<int> sizes;
      for (int i = 0; i < p; i += sizes.back()) sizes.push_back(static_cast<int>((y.row(i).array() != 0).count()));
      CHECK(static_cast<int>(sizes.size()) == groups);
      CHECK(*std::max_element(sizes.begin(), sizes.end()) - *std::min_element(sizes.begin(), sizes.end()) <= 1);
    }
  }
}

TEST("sample_from_precision: moments, and the first rows do not depend on how many are drawn") {
  Rng graph_rng(5);
  SimGgmOptions options;
  options.type = GgmType::scale_free;
  options.p = 6;
  const SparseMatrix x = sim_ggm_precision(options, graph_rng);
  const MatrixXd sigma = MatrixXd(x).inverse();
  Rng rng(6), again(6);
  const Index n = 40000;
  const MatrixXd data = sample_from_precision(x, n, rng);
  CHECK(sample_from_precision(x, 10, again) == data.topRows(10));
  const MatrixXd second = data.transpose() * data / static_cast<double>(n);
  for (Index i = 0; i < 6; ++i) {
    CHECK_NEAR(data.col(i).mean(), 0, 4.5 * std::sqrt(sigma(i, i) / n));
    for (Index j = 0; j < 6; ++j) {
      CHECK_NEAR(second(i, j), sigma(i, j), 4.5 * std::sqrt((sigma(i, i) * sigma(j, j) + sigma(i, j) * sigma(i, j)) / n));
    }
  }
}

TEST("sample_from_precision refuses a matrix that is no precision") {
  SparseMatrix x(2, 2);
  x.insert(0, 0) = 1;
  x.insert(1, 1) = -1;
  Rng rng(1);
  CHECK_THROWS(sample_from_precision(x, 3, rng), NumericalError);
}
