#include <algorithm>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "harness.h"

using namespace granary;

namespace {

MatrixXd three_groups(Index each, Rng& rng) {
  MatrixXd x(3 * each, 2);
  for (Index i = 0; i < 3 * each; ++i) {
    x(i, 0) = 20 * static_cast<double>(i % 3) + rng.normal();
    x(i, 1) = -5 * static_cast<double>(i % 3) + rng.normal();
  }
  return x;
}

// Smallest objective over all assignments of few points.
double brute_force(const MatrixXd& x, int k, bool balanced) {
  const Index n = x.rows();
  Index total = 1;
  for (Index i = 0; i < n; ++i) total *= k;
  double best = 1e300;
  for (Index code = 0; code < total; ++code) {
    std::vector<Index> label(n), size(k, 0);
    for (Index i = 0, rest = code; i < n; ++i, rest /= k) ++size[label[i] = rest % k];
    if (*std::min_element(size.begin(), size.end()) == 0) continue;
    if (balanced && *std::max_element(size.begin(), size.end()) - *std::min_element(size.begin(), size.end()) > 1) continue;
    MatrixXd centre = MatrixXd::Zero(k, x.cols());
    for (Index i = 0; i < n; ++i) centre.row(label[i]) += x.row(i) / static_cast<double>(size[label[i]]);
    double value = 0;
    for (Index i = 0; i < n; ++i) value += (x.row(i) - centre.row(label[i])).squaredNorm();
    best = std::min(best, value);
  }
  return best;
}

}  // namespace

TEST("kmeans finds well separated groups, at any scale and far from zero") {
  Monitor monitor;
  Rng rng(3);
  const MatrixXd base = three_groups(40, rng);
  for (const double scale : {1.0, 1e-8, 1e8}) {
    MatrixXd x = scale * (base.array() + 1e5);
    KMeansOptions options;
    options.k = 3;
    options.n_starts = 3;
    Rng draw(1);
    const KMeansResult fit = kmeans(x, options, draw, monitor);
    CHECK(fit.convergence.converged);
    CHECK((fit.sizes.array() == 40).all());
    for (Index i = 0; i < x.rows(); ++i) CHECK(fit.cluster[i] == fit.cluster[i % 3]);
    for (Index c = 0; c < 3; ++c) {
      Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(2);
      for (Index i = 0; i < x.rows(); ++i)
        if (fit.cluster[i] == c) mean += x.row(i) / 40;
      CHECK_NEAR((mean - fit.centres.row(c)).norm(), 0, 1e-9 * scale * 1e5);
    }
  }
}

TEST("kmeans of few points reaches the best of all assignments") {
  Monitor monitor;
  Rng rng(5);
  MatrixXd x(8, 2);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  KMeansOptions options;
  options.k = 3;
  options.n_starts = 50;
  Rng draw(2);
  CHECK_NEAR(kmeans(x, options, draw, monitor).objective, brute_force(x, 3, false), 1e-10);
  options.balanced = true;
  options.n_starts = 200;
  const KMeansResult even = kmeans(x, options, draw, monitor);
  CHECK(even.objective >= brute_force(x, 3, true) - 1e-10);
  CHECK(even.objective <= 1.3 * brute_force(x, 3, true));
  CHECK(even.sizes.maxCoeff() == 3);
  CHECK(even.sizes.minCoeff() == 2);
}

TEST("balanced clusters differ by at most one row, also where groups are unequal") {
  Monitor monitor;
  Rng rng(7);
  MatrixXd x(103, 1);
  for (Index i = 0; i < 103; ++i) x(i, 0) = i < 90 ? rng.normal() : 100 + rng.normal();
  for (const int k : {1, 2, 7, 50, 103}) {
    KMeansOptions options;
    options.k = k;
    options.balanced = true;
    Rng draw(3);
    const KMeansResult fit = kmeans(x, options, draw, monitor);
    CHECK(fit.sizes.sum() == 103);
    CHECK(fit.sizes.maxCoeff() - fit.sizes.minCoeff() <= 1);
  }
}

TEST("kmeans does not depend on threads, repeats with the seed, and fills empty clusters") {
  Monitor monitor;
  Rng rng(9);
  MatrixXd x(1500, 3);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = rng.normal();
  for (const bool balanced : {false, true}) {
    KMeansOptions options;
    options.k = 20;
    options.balanced = balanced;
    Rng a(4), b(4);
    const KMeansResult one = kmeans(x, options, a, monitor);
    options.threads = 2;
    const KMeansResult two = kmeans(x, options, b, monitor);
    CHECK((one.cluster.array() == two.cluster.array()).all());
    CHECK((one.centres.array() == two.centres.array()).all());
  }
  MatrixXd same = MatrixXd::Constant(12, 2, 3.5);
  same(11, 0) = 4;
  KMeansOptions options;
  options.k = 5;
  Rng draw(5);
  const KMeansResult fit = kmeans(same, options, draw, monitor);
  CHECK(fit.sizes.minCoeff() >= 1);
  CHECK_NEAR(fit.objective, 0, 1e-20);
}

TEST("kmeans refuses impossible numbers of clusters; one row is a cluster") {
  Monitor monitor;
  Rng rng(1);
  KMeansOptions options;
  options.k = 4;
  CHECK_THROWS(kmeans(MatrixXd::Zero(3, 1), options, rng, monitor), InputError);
  options.k = 0;
  CHECK_THROWS(kmeans(MatrixXd::Zero(3, 1), options, rng, monitor), InputError);
  CHECK_THROWS(kmeans(MatrixXd::Zero(0, 1), options, rng, monitor), InputError);
  options.k = 1;
  CHECK(kmeans(MatrixXd::Constant(1, 2, 7.0), options, rng, monitor).centres(0, 1) == 7.0);
}
