#include <cmath>

#include "core/linalg/dense.h"
#include "harness.h"
#include "latent/ica_moments.h"
#include "latent/moments.h"
#include "latent/tensor.h"
#include "latent/topic_em.h"

using namespace granary;
using namespace granary::latent;

namespace {

MatrixXd orthonormal(Index k, Rng& rng) {
  MatrixXd a(k, k);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = rng.normal();
  return Qr(a).thin_q(k);
}

// Largest distance of a row of `truth` from its nearest row in `found`.
double worst_match(const MatrixXd& truth, const MatrixXd& found) {
  double worst = 0;
  for (Index i = 0; i < truth.rows(); ++i) worst = std::max(worst, (found.rowwise() - truth.row(i)).rowwise().norm().minCoeff());
  return worst;
}

// Moments of documents given one in each row.
WhitenedMoments topics_of(const MatrixXd& counts, double alpha0, Index k, int threads = 1) {
  const SparseMatrix c = counts.transpose().sparseView();
  const ConstSparseMap view(c.rows(), c.cols(), c.nonZeros(), c.outerIndexPtr(), c.innerIndexPtr(), c.valuePtr());
  TopicMomentOptions o;
  o.words = c.rows();
  o.alpha0 = alpha0;
  o.threads = threads;
  Monitor monitor;
  Rng rng(1);
  return topic_moments(one_piece(Design(view)), o, k, rng, monitor);
}

}  // namespace

TEST("every method finds the components of an orthogonal tensor, and each attracts") {
  Rng rng(1);
  Monitor monitor;
  for (const Index k : {1, 2, 5, 8}) {
    const MatrixXd v = orthonormal(k, rng);
    Tensor3 t(k);
    for (Index i = 0; i < k; ++i) t.add(1 + 0.5 * static_cast<double>(i), v.col(i));
    for (const TensorMethod method : {TensorMethod::power, TensorMethod::power_stop, TensorMethod::joint, TensorMethod::jennrich, TensorMethod::svd, TensorMethod::ball}) {
      TensorOptions o;
      o.method = method;
      const TensorResult r = tensor_decompose(t, k, o, rng, monitor);
      CHECK(r.convergence.converged);
      CHECK(worst_match(v.transpose(), r.vectors.transpose()) < 1e-6);
      CHECK(r.residual < 1e-6);
      CHECK(r.attraction.maxCoeff() < 1e-5);
      CHECK(r.curvature.maxCoeff() < 0);
    }
  }
}

TEST("the spurious eigenvector between two components does not attract") {
  Rng rng(2);
  Monitor monitor;
  Tensor3 t(2);
  t.add(1, VectorXd::Unit(2, 0));
  t.add(2, VectorXd::Unit(2, 1));
  VectorXd u(2);
  u << 1, 0.5;
  const double size = u.norm();
  u /= size;
  CHECK((t.times(u) - u / size).norm() < 1e-14);  // an eigenvector with eigenvalue 1 / |.|
  const MatrixXd p = MatrixXd::Identity(2, 2) - u * u.transpose();
  CHECK(2 * size * SymmetricEigen(p * t.slice(u) * p).eigenvalues().cwiseAbs().maxCoeff() > 1);
  for (int seed = 0; seed < 50; ++seed) {
    Rng draws(static_cast<std::uint64_t>(seed));
    TensorOptions o;
    o.n_starts = 1;
    const TensorResult r = tensor_decompose(t, 1, o, draws, monitor);
    CHECK(r.vectors.col(0).cwiseAbs().maxCoeff() > 0.999);
  }
}

TEST("moments of documents are averages over ordered triples of their words") {
  Monitor monitor;
  MatrixXd c(3, 3);
  c << 2, 1, 1, 0, 3, 1, 1, 1, 2;
  const WhitenedMoments m = topics_of(c, 0, 2);
  MatrixXd second = MatrixXd::Zero(3, 3);
  MatrixXd third = MatrixXd::Zero(2, 4);
  for (Index doc = 0; doc < 3; ++doc) {
    std::vector<Index> words;
    for (Index j = 0; j < 3; ++j)
      for (int r = 0; r < c(doc, j); ++r) words.push_back(j);
    const double l = static_cast<double>(words.size());
    for (std::size_t a = 0; a < words.size(); ++a)
      for (std::size_t b = 0; b < words.size(); ++b) {
        if (a == b) continue;
        second(words[a], words[b]) += 1 / (3 * l * (l - 1));
        for (std::size_t e = 0; e < words.size(); ++e) {
          if (e == a || e == b) continue;
          for (Index i = 0; i < 2; ++i)
            for (Index j = 0; j < 2; ++j)
              for (Index h = 0; h < 2; ++h)
                third(i, j + 2 * h) += m.whiten(words[a], i) * m.whiten(words[b], j) * m.whiten(words[e], h) / (3 * l * (l - 1) * (l - 2));
        }
      }
  }
  CHECK((m.whiten.transpose() * second * m.whiten - MatrixXd::Identity(2, 2)).cwiseAbs().maxCoeff() < 1e-10);
  CHECK((m.tensor.unfolded() - third).cwiseAbs().maxCoeff() < 1e-9);
}

TEST("topics of single-topic documents and of LDA come back; alpha0 towards zero is the single topic") {
  Rng rng(4);
  Monitor monitor;
  const Index d = 30, k = 3;
  MatrixXd topics(k, d);
  for (Index i = 0; i < k; ++i) topics.row(i) = rng.dirichlet(VectorXd::Constant(d, 0.3)).transpose();
  const VectorXd alpha = VectorXd::Constant(k, 0.3);
  for (const bool lda : {false, true}) {
    MatrixXd c = MatrixXd::Zero(5000, d);
    for (Index i = 0; i < c.rows(); ++i) {
      const VectorXd mix = lda ? rng.dirichlet(alpha) : VectorXd(VectorXd::Unit(k, rng.categorical(alpha)));
      for (int w = 0; w < 50; ++w) c(i, rng.categorical(topics.row(rng.categorical(mix)).transpose())) += 1;
    }
    const double a0 = lda ? 0.9 : 0;
    const WhitenedMoments m = topics_of(c, a0, k);
    const TensorResult r = tensor_decompose(m.tensor, k, TensorOptions(), rng, monitor);
    const Recovered found = recover(m, r, 2 / (a0 + 2));
    for (Index i = 0; i < k; ++i) CHECK((found.means.rowwise() - topics.row(i)).cwiseAbs().rowwise().sum().minCoeff() < 0.06);
    const VectorXd weight = lda ? VectorXd(found.s * a0 * (a0 + 1)) : found.s;
    CHECK_NEAR(weight.mean(), lda ? 0.3 : 1.0 / 3, 0.03);
    if (!lda) CHECK((topics_of(c, 1e-10, k).tensor.unfolded() - m.tensor.unfolded()).cwiseAbs().maxCoeff() < 1e-6);
  }
}

TEST("spherical Gaussians of one variance and of their own come back, with their weights") {
  Rng rng(5);
  Monitor monitor;
  const Index d = 10, k = 3;
  MatrixXd means(k, d);
  for (Index i = 0; i < means.size(); ++i) means.data()[i] = 1.5 * rng.normal();
  VectorXd share(k);
  share << 0.2, 0.3, 0.5;
  for (const bool hetero : {false, true}) {
    MatrixXd x(20000, d);
    for (Index i = 0; i < x.rows(); ++i) {
      const int z = rng.categorical(share);
      const double sd = hetero ? 0.7 + 0.3 * z : 1;
      for (Index j = 0; j < d; ++j) x(i, j) = means(z, j) + sd * rng.normal();
    }
    const WhitenedMoments m = gaussian_moments(x, hetero, k, monitor);
    const TensorResult r = tensor_decompose(m.tensor, k, TensorOptions(), rng, monitor);
    const Recovered found = recover(m, r, 1);
    CHECK(worst_match(means, found.means) < 0.25);
    CHECK_NEAR(found.s.sum(), 1, 0.05);
    if (!hetero) CHECK_NEAR(m.noise_var, 1, 0.02);
  }
}

TEST("three views: the means of the third come back") {
  Rng rng(6);
  Monitor monitor;
  const Index k = 2, n = 40000;
  std::vector<MatrixXd> means;
  for (int v = 0; v < 3; ++v) {
    MatrixXd a(k, 4 + v);
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = rng.normal();
    means.push_back(a);
  }
  std::vector<MatrixXd> x;
  for (int v = 0; v < 3; ++v) x.push_back(MatrixXd(n, 4 + v));
  for (Index i = 0; i < n; ++i) {
    const int z = rng.bernoulli(0.4);
    for (std::size_t v = 0; v < 3; ++v)
      for (Index j = 0; j < x[v].cols(); ++j) x[v](i, j) = means[v](z, j) + 0.5 * rng.normal();
  }
  const ViewMoments m = view_moments(x[0], x[1], x[2], k, monitor);
  const Recovered found = recover(m.moments, tensor_decompose(m.moments.tensor, k, TensorOptions(), rng, monitor), 1);
  CHECK(worst_match(means[2], found.means) < 0.15);
}

TEST("more components than the moments allow are refused with the eigenvalue that shows it") {
  Rng rng(7);
  Monitor monitor;
  MatrixXd c(4, 3);
  c << 3, 3, 0, 3, 3, 0, 6, 6, 0, 4, 4, 0;
  CHECK_THROWS(topics_of(c, 0, 3), InputError);
  MatrixXd brief(2, 3);
  brief << 1, 1, 0, 0, 1, 0;
  CHECK_THROWS(topics_of(brief, 0, 1), InputError);
  Tensor3 t(2);
  CHECK_THROWS(tensor_decompose(t, 3, TensorOptions(), rng, monitor), InputError);
}

TEST("Algorithm 2 finds all components of equal value, and d > k sources come back from fourth moments") {
  Rng rng(8);
  Monitor monitor;
  const MatrixXd v = orthonormal(6, rng);
  Tensor3 t(6);
  for (Index i = 0; i < 6; ++i) t.add(1, v.col(i));
  TensorOptions o;
  o.method = TensorMethod::power_stop;
  const TensorResult r = tensor_decompose(t, 6, o, rng, monitor);
  CHECK(worst_match(v.transpose(), r.vectors.transpose()) < 1e-6);
  MatrixXd mixing(4, 2);
  mixing << 1, 0.3, -0.5, 1, 0.8, 0.2, 0.1, -0.7;
  const IcaDraws sim = ica_draws(20000, mixing, true, 0, rng);
  for (const TensorMethod method : {TensorMethod::power, TensorMethod::joint}) {
    TensorOptions options;
    options.method = method;
    const IcaResult found = ica_moments(sim.x, 2, false, options, rng, monitor);
    CHECK(worst_match(mixing.transpose(), found.mixing.transpose()) < 0.1);
    CHECK(found.kurtosis.minCoeff() > 2);
  }
}

TEST("documents in pieces, on any number of threads, have the moments of all") {
  Rng rng(9);
  MatrixXd c(40, 300);
  for (Index i = 0; i < c.size(); ++i) c.data()[i] = static_cast<double>(rng.poisson(0.05));
  const WhitenedMoments one = topics_of(c, 0.5, 2), two = topics_of(c, 0.5, 2, 2);
  CHECK((one.tensor.unfolded() - two.tensor.unfolded()).cwiseAbs().maxCoeff() == 0);
  CHECK((one.whiten - two.whiten).cwiseAbs().maxCoeff() == 0);
}

TEST("the variational polish never lowers its objective, and exact EM of single topics neither") {
  Rng rng(10);
  Monitor monitor;
  TopicModel truth{true, VectorXd::Constant(3, 0.3), MatrixXd(3, 15)};
  for (Index h = 0; h < 3; ++h) truth.topics.row(h) = rng.dirichlet(VectorXd::Constant(15, 0.5)).transpose();
  for (const bool lda : {true, false}) {
    truth.lda = lda;
    if (!lda) truth.weight /= truth.weight.sum();
    const TopicDraws sim = topic_draws(truth, VectorXd::Constant(300, 30), rng, monitor);
    const ConstSparseMap view(sim.counts.rows(), sim.counts.cols(), sim.counts.nonZeros(), sim.counts.outerIndexPtr(), sim.counts.innerIndexPtr(), sim.counts.valuePtr());
    TopicModel start = truth;
    start.topics = 0.5 * truth.topics.array() + 0.5 / 15;
    TopicEmOptions o;
    o.passes = 30;
    const TopicEm found = topic_em(one_piece(Design(view)), start, o, monitor);
    CHECK(found.objective.size() > 2);
    for (Index i = 1; i < found.objective.size(); ++i) CHECK(found.objective[i] >= found.objective[i - 1] - 1e-6 * std::abs(found.objective[i]));
    CHECK(found.last > found.first);
  }
}
