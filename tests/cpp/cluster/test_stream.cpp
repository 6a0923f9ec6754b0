#include <cmath>

#include "cluster/stream_kmeans.h"
#include "core/base/errors.h"
#include "core/cluster/seeding.h"
#include "harness.h"

using namespace granary;
using namespace granary::cluster;

namespace {

MatrixXd blobs(Index n, Index d, Index k, Rng& rng) {
  MatrixXd centres(k, d), x(n, d);
  for (Index h = 0; h < k; ++h) centres.row(h) = 20 * rng.normals(d).transpose();
  for (Index i = 0; i < n; ++i) x.row(i) = centres.row(static_cast<Index>(rng.below(static_cast<std::uint64_t>(k)))) + rng.normals(d).transpose();
  return x;
}

double cost_of(const MatrixXd& x, const MatrixXd& centres) {
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) sum += (centres.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff();
  return sum;
}

StreamOptions options_for(int k, Index memory) {
  StreamOptions o;
  o.k = k;
  o.memory = memory;
  return o;
}

VectorXd seed_of(double value) {
  VectorXd s(2);
  s << value, 17;
  return s;
}

StreamState streamed(const MatrixXd& x, const StreamOptions& o, Index piece) {
  Monitor monitor;
  StreamState s = stream_start(o, x.cols(), seed_of(3));
  for (Index from = 0; from < x.rows(); from += piece) stream_update(s, x.middleRows(from, std::min(piece, x.rows() - from)), VectorXd(), monitor);
  return s;
}

}  // namespace

TEST("one uniform seed costs twice the optimum on average (Lemma 2.2), and seeds know their rows") {
  MatrixXd x(8, 1);
  x << 0, 1, 2, 10, 11, 13, 20, 26;
  Monitor monitor;
  double mean = 0;
  for (Index i = 0; i < 8; ++i) mean += (x.array() - x(i, 0)).square().sum() / 8;
  CHECK_NEAR(mean, 1219.75, 1e-10);
  SeedOptions one;
  double drawn = 0;
  const int trials = 4000;
  for (int t = 0; t < trials; ++t) {
    Rng rng(static_cast<std::uint64_t>(t));
    drawn += spread_seeds(x, VectorXd(), one, 1, rng, monitor).cost / trials;
  }
  CHECK_NEAR(drawn, 1219.75, 45);
  SeedOptions sharp;
  sharp.rounds = 3;
  sharp.per_round = 2;
  Rng rng(5);
  const Seeds s = spread_seeds(x, VectorXd(), sharp, 1, rng, monitor);
  double cost = 0;
  for (Index i = 0; i < 8; ++i) {
    double least = 1e300;
    for (Index r : s.rows) least = std::min(least, std::pow(x(i, 0) - x(r, 0), 2));
    CHECK_NEAR(s.divergence[i], least, 1e-12);
    CHECK_NEAR(std::pow(x(i, 0) - x(s.rows[static_cast<std::size_t>(s.nearest[i])], 0), 2), least, 1e-12);
    cost += least;
  }
  CHECK_NEAR(s.cost, cost, 1e-12);
}

TEST("squared distances by differences agree with a plain loop at any number of rows, and with seeds by a function") {
  Rng rng(6);
  Monitor monitor;
  const MatrixXd x = blobs(83, 5, 3, rng);
  SeedOptions how;
  how.rounds = 6;
  for (Index candidates : {1, 3}) {
    how.candidates = candidates;
    Rng a(9), b(9);
    const Seeds quick = spread_seeds(x, VectorXd(), how, 1, a, monitor);
    const Seeds slow = spread_seeds(83, VectorXd(), how, [&](Index i) { return VectorXd((x.rowwise() - x.row(i)).rowwise().squaredNorm()); }, b, monitor);
    CHECK(quick.rows == slow.rows);
    CHECK_NEAR(quick.cost, slow.cost, 1e-9 * slow.cost);
  }
}

TEST("pieces do not matter, weights add up, and the bound holds at every setting") {
  Rng rng(1);
  Monitor monitor;
  const MatrixXd x = blobs(3000, 4, 6, rng);
  for (SeedMethod method : {SeedMethod::sharp, SeedMethod::plusplus}) {
    for (bool recenter : {true, false}) {
      for (int levels : {0, 1}) {
        StreamOptions o = options_for(6, method == SeedMethod::sharp ? 150 : 60);
        o.method = method;
        o.recenter = recenter;
        o.levels = levels;
        const StreamState a = streamed(x, o, 3000), b = streamed(x, o, 7), c = streamed(x, o, 151);
        const StreamResult ra = stream_centres(a, monitor), rb = stream_centres(b, monitor), rc = stream_centres(c, monitor);
        CHECK(ra.centers == rb.centers && ra.centers == rc.centers && ra.cost_bound == rb.cost_bound);
        CHECK_NEAR(ra.summary_weights.sum(), 3000, 1e-9);
        CHECK_NEAR(ra.sizes.sum(), 3000, 1e-9);
        const double truth = cost_of(x, ra.centers);
        CHECK(truth <= ra.cost_bound * (1 + 1e-12));
        CHECK(ra.centers.rows() == 6);
        if (levels == 0) {
          for (const StreamLevel& level : a.levels) CHECK(level.points.rows() <= o.memory);
          CHECK(a.levels.size() > 2);
        } else {
          CHECK(a.levels.size() == 2);
        }
        if (recenter) {
          CHECK(ra.cost_bound < 3 * truth);
          // Pythagoras: scatter plus what lies between is the sum of squares of all rows about their mean.
          const Eigen::RowVectorXd mean = x.colwise().mean();
          double between = ra.summary_scatter.sum();
          for (Index i = 0; i < ra.summary.rows(); ++i) between += ra.summary_weights[i] * (ra.summary.row(i) - mean).squaredNorm();
          CHECK_NEAR(between / (x.rowwise() - mean).squaredNorm(), 1, 1e-10);
        }
      }
    }
  }
}

TEST("one centre is the mean of the stream with the sum of squares as its bound, whatever the memory") {
  Rng rng(2);
  Monitor monitor;
  const MatrixXd x = blobs(500, 3, 4, rng);
  for (Index memory : {10, 37, 600}) {
    const StreamResult r = stream_centres(streamed(x, options_for(1, memory), 64), monitor);
    CHECK_NEAR((r.centers.row(0) - x.colwise().mean()).norm(), 0, 1e-10);
    CHECK_NEAR(r.cost_bound / (x.rowwise() - x.colwise().mean()).squaredNorm(), 1, 1e-10);
  }
}

TEST("with room for everything the bound is the cost, and polished centres are means of their nearest points") {
  Rng rng(3);
  Monitor monitor;
  const MatrixXd x = blobs(400, 3, 5, rng);
  const StreamState s = streamed(x, options_for(5, 1000), 50);
  const StreamResult r = stream_centres(s, monitor);
  CHECK(s.calls == 0);
  CHECK_NEAR(r.cost_bound / cost_of(x, r.centers), 1, 1e-12);
  MatrixXd means = MatrixXd::Zero(5, 3);
  for (Index i = 0; i < 400; ++i) {
    Index best = 0;
    (r.centers.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&best);
    CHECK(best == r.summary_cluster[i]);
    means.row(best) += x.row(i) / r.sizes[best];
  }
  CHECK_NEAR((means - r.centers).norm(), 0, 1e-9);
}

TEST("streams of several workers are put together, and whole weights are repeated rows for the cost") {
  Rng rng(4);
  Monitor monitor;
  const MatrixXd x = blobs(2000, 3, 4, rng);
  const StreamOptions o = options_for(4, 120);
  StreamState a = streamed(x.topRows(1200), o, 100);
  const StreamState b = streamed(x.bottomRows(800), o, 100);
  stream_combine(a, b, monitor);
  const StreamResult r = stream_centres(a, monitor);
  CHECK(a.rows == 2000 && a.weight == 2000);
  CHECK_NEAR(r.sizes.sum(), 2000, 1e-9);
  CHECK(cost_of(x, r.centers) <= r.cost_bound * (1 + 1e-12));
  for (const StreamLevel& level : a.levels) CHECK(level.points.rows() <= 120);
  StreamState weighted = stream_start(options_for(4, 5000), 3, seed_of(1)), repeated = weighted;
  stream_update(weighted, x, VectorXd::Constant(2000, 2.0), monitor);
  stream_update(repeated, x, VectorXd(), monitor);
  stream_update(repeated, x, VectorXd(), monitor);
  CHECK_NEAR(stream_centres(weighted, monitor).cost_bound / stream_centres(repeated, monitor).cost_bound, 1, 0.2);
  const StreamState other = streamed(x.leftCols(2), o, 100);
  CHECK_THROWS(stream_combine(a, other, monitor), InputError);
}

TEST("few distinct rows give few centres of cost zero, and too small a memory is refused") {
  Monitor monitor;
  MatrixXd x(300, 2);
  for (Index i = 0; i < 300; ++i) x.row(i) << static_cast<double>(i % 3), 1;
  const StreamResult r = stream_centres(streamed(x, options_for(5, 60), 11), monitor);
  CHECK(r.centers.rows() == 3 && r.cost_bound == 0);
  CHECK_THROWS(stream_start(options_for(5, 20), 2, seed_of(1)), InputError);
  CHECK(seeds_per_round(SeedMethod::sharp, 1) == 1 && seeds_per_round(SeedMethod::sharp, 25) == 10 && seeds_per_round(SeedMethod::plusplus, 25) == 1);
  StreamState s = stream_start(options_for(5, 60), 2, seed_of(1));
  CHECK_THROWS(stream_centres(s, monitor), InputError);
  CHECK_THROWS(stream_update(s, MatrixXd::Zero(3, 4), VectorXd(), monitor), InputError);
  stream_update(s, x, VectorXd::Zero(300), monitor);
  CHECK_THROWS(stream_centres(s, monitor), InputError);
}

TEST("baselines end where they should") {
  Rng rng(7);
  Monitor monitor;
  const MatrixXd x = blobs(600, 3, 5, rng);
  BaselineOptions o;
  o.k = 5;
  for (StreamBaseline method : {StreamBaseline::lloyd, StreamBaseline::plusplus, StreamBaseline::online}) {
    o.method = method;
    const BaselineResult r = stream_baseline(x, o, rng, monitor);
    CHECK_NEAR(r.cost / cost_of(x, r.centers), 1, 1e-10);
    CHECK(r.convergence.converged && r.sizes.sum() == 600);
  }
  o.k = 700;
  CHECK_THROWS(stream_baseline(x, o, rng, monitor), InputError);
}
