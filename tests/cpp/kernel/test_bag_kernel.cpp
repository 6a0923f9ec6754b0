#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/dense.h"
#include "core/math/quadrature.h"
#include "core/random/rng.h"
#include "harness.h"
#include "kernel/bag_kernel.h"

using namespace granary;
using namespace granary::kernel;

namespace {

Bag points(const MatrixXd& x, VectorXd w = VectorXd()) {
  Bag b;
  b.x = x;
  b.weights = w.size() > 0 ? w : VectorXd::Ones(x.rows());
  return b;
}
Bag counts(std::initializer_list<double> n) {
  Bag b;
  b.weights.resize(static_cast<Index>(n.size()));
  std::copy(n.begin(), n.end(), b.weights.data());
  return b;
}
MatrixXd rows(Index r, Index c, std::initializer_list<double> values) {  // by row
  MatrixXd x(r, c);
  auto v = values.begin();
  for (Index i = 0; i < r; ++i)
    for (Index j = 0; j < c; ++j) x(i, j) = *v++;
  return x;
}
KernelSpec gaussian(double sigma) {
  KernelSpec k;
  k.type = "se";
  k.scales = VectorXd::Constant(1, sigma);
  return k;
}
KernelSpec linear() {
  KernelSpec k;
  k.type = "linear";
  k.scales = VectorXd::Ones(1);
  return k;
}
MatrixXd gram(const std::vector<Bag>& bags, const BagOptions& o) {
  const BagKernel kernel(bags, o);
  std::vector<Index> all(bags.size());
  std::iota(all.begin(), all.end(), Index{0});
  MatrixXd out(kernel.size(), kernel.size());
  Monitor monitor;
  kernel.block(all, all, out, monitor);
  return out;
}
BagOptions of(BagType type, double eta = 0.01, bool normalize = true) {
  BagOptions o;
  o.type = type;
  o.eta = eta;
  o.normalize = normalize;
  return o;
}
MatrixXd random_points(Rng& rng, Index n, Index d, double scale = 1) {
  MatrixXd x(n, d);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = scale * rng.normal();
  return x;
}
double log_det(const MatrixXd& a) { return std::log(Lu(a).determinant()); }

// The definition: one determinant over the merged points.
double direct_kigv(const Bag& a, const Bag& b, const Kernel& kappa, double eta) {
  MatrixXd x(a.x.rows() + b.x.rows(), a.x.cols());
  x << a.x, b.x;
  VectorXd w(x.rows());
  w << a.weights / a.weights.sum() / 2, b.weights / b.weights.sum() / 2;
  const MatrixXd k = kappa.matrix(x), one = MatrixXd::Ones(x.rows(), 1),
                 left = MatrixXd::Identity(x.rows(), x.rows()) - one * w.transpose();
  const MatrixXd centred = left * k * left.transpose();
  const MatrixXd weighted = centred * w.asDiagonal();
  return std::exp(-log_det(MatrixXd::Identity(x.rows(), x.rows()) + weighted / eta));
}

const MatrixXd xs = rows(3, 2, {0, 0, 1, 0, 0, 1}), ys = rows(2, 2, {1, 1, 2, 1});

}  // namespace

TEST("inverse generalised variance: the worked example, by moments and by a linear base kernel") {
  const double plain[] = {0.5242718, 0.05033792, 0.0008555607}, scaled[] = {0.7134436, 0.2848366, 0.0889585},
               eta[] = {1, 0.1, 0.01};
  for (int k = 0; k < 3; ++k) {
    BagOptions o = of(BagType::igv, eta[k], false);
    CHECK_NEAR(gram({points(xs), points(ys)}, o)(0, 1) / plain[k], 1, 1e-6);
    o.kernel = linear();
    CHECK_NEAR(gram({points(xs), points(ys)}, o)(0, 1) / plain[k], 1, 1e-6);
    o.normalize = true;
    CHECK_NEAR(gram({points(xs), points(ys)}, o)(0, 1), scaled[k], 1e-6);
  }
  BagOptions o = of(BagType::igv, 0.1, false);
  o.kernel = gaussian(1);
  CHECK_NEAR(gram({points(xs), points(ys)}, o)(0, 1), 0.06362584, 1e-8);
  o.normalize = true;
  CHECK_NEAR(gram({points(xs), points(ys)}, o)(0, 1), 0.2763682, 1e-7);
}

TEST("the kernelised form is the determinant over the merged points, for weights, duplicates and tables too") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Rng rng(seed);
    std::vector<Bag> bags;
    for (int b = 0; b < 4; ++b) {
      MatrixXd x = random_points(rng, 1 + static_cast<Index>(rng.below(12)), 3);
      if (seed % 2 == 0) x = x.array().round().matrix();  // many equal points: a table
      VectorXd w(x.rows());
      for (Index i = 0; i < w.size(); ++i) w[i] = rng.uniform(0.1, 2);
      bags.push_back(points(x, w));
    }
    BagOptions o = of(BagType::igv, seed < 5 ? 0.01 : 1, false);
    o.kernel = gaussian(1.3);
    const MatrixXd k = gram(bags, o);
    const Kernel kappa(*o.kernel, 3);
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j)
        CHECK_NEAR(k(i, j) / direct_kigv(bags[static_cast<std::size_t>(i)], bags[static_cast<std::size_t>(j)], kappa, o.eta), 1,
                   1e-8);
    // All points as landmarks: the same through explicit features.
    Index total = 0;
    for (const Bag& b : bags) total += b.x.rows();
    o.landmarks.resize(total, 3);
    for (Index at = 0, b = 0; b < 4; at += bags[static_cast<std::size_t>(b++)].x.rows())
      o.landmarks.middleRows(at, bags[static_cast<std::size_t>(b)].x.rows()) = bags[static_cast<std::size_t>(b)].x;
    CHECK_NEAR((gram(bags, o).array() / k.array() - 1).abs().maxCoeff(), 0, 1e-6);
  }
}

TEST("two points: the closed form") {
  BagOptions o = of(BagType::igv, 0.3, false);
  o.kernel = gaussian(0.7);
  const double kappa = std::exp(-0.5 * 0.25 / 0.49);
  CHECK_NEAR(gram({points(rows(1, 1, {0})), points(rows(1, 1, {0.5}))}, o)(0, 1), 1 / (1 + (2 - 2 * kappa) / (4 * 0.3)), 1e-12);
}

TEST("order, splitting and merging of points and the scale of weights do not matter") {
  const MatrixXd split = rows(4, 2, {0, 1, 0, 0, 1, 0, 0, 0});
  VectorXd w(4);
  w << 2, 1, 2, 1;
  for (const BagType type : {BagType::igv, BagType::bhattacharyya, BagType::mean_map, BagType::parzen, BagType::laplace}) {
    for (const bool through_kernel : {false, true}) {
      BagOptions o = of(type, 0.05);
      if (through_kernel) o.kernel = gaussian(1);
      const MatrixXd k = gram({points(xs), points(split, w), points(ys)}, o);
      CHECK_NEAR(k(0, 1), 1, 1e-7);
      CHECK_NEAR(k(0, 2), k(1, 2), 1e-7);
      CHECK_NEAR(k(0, 0), 1, 1e-12);
      CHECK(k(0, 2) > 0 && k(0, 2) < 1);
    }
  }
}

TEST("positive semidefinite: the smallest eigenvalue of forty bags") {
  Rng rng(5);
  std::vector<Bag> bags, histograms;
  for (int b = 0; b < 40; ++b) {
    bags.push_back(points(random_points(rng, 2 + static_cast<Index>(rng.below(9)), 2, 0.3 + rng.uniform())));
    Bag h;
    h.weights.resize(6);
    for (Index i = 0; i < 6; ++i) h.weights[i] = static_cast<double>(rng.poisson(2));
    h.weights[b % 6] += 1;
    histograms.push_back(h);
  }
  const auto least = [](const MatrixXd& k) {
    CHECK_NEAR((k - k.transpose()).cwiseAbs().maxCoeff(), 0, 0);
    return SymmetricEigen(k).eigenvalues().minCoeff();
  };
  for (const BagType type : {BagType::igv, BagType::bhattacharyya, BagType::mean_map}) {
    BagOptions o = of(type, 0.05);
    CHECK(least(gram(bags, o)) > -1e-10);
    o.kernel = gaussian(0.5);
    CHECK(least(gram(bags, o)) > -1e-10);
  }
  for (const BagType type : {BagType::jensen_shannon, BagType::entropy, BagType::dirichlet})
    CHECK(least(gram(histograms, of(type))) > -1e-10);
  BagOptions o = of(BagType::parzen);
  o.bandwidth = 0.3;
  CHECK(least(gram(bags, o)) > -1e-8);
}

TEST("entropy kernels of histograms") {
  const Bag p = counts({0.5, 0.25, 0.25, 0}), q = counts({1, 2, 3, 4});
  BagOptions o = of(BagType::jensen_shannon);
  CHECK_NEAR(-std::log(gram({p, q}, o)(0, 1)), 0.2139349, 1e-7);
  o.beta = 3;
  CHECK_NEAR(-std::log(gram({p, q}, o)(0, 1)), 3 * 0.2139349, 3e-7);
  o.beta = 1;
  CHECK_NEAR(-std::log(gram({counts({1, 0}), counts({0, 5})}, o)(0, 1)), std::log(2.0), 1e-14);
  CHECK(gram({q, counts({10, 20, 30, 40})}, o)(0, 1) > 1 - 1e-14);
  // exp(-h(f + g)) by its definition; for equal masses it is the other with beta = 2 once normalised.
  BagOptions e = of(BagType::entropy, 0, false);
  double h = 0;
  for (const double n : {1.5, 2.25, 3.25, 4.0}) h -= n * std::log(n);
  CHECK_NEAR(gram({p, q}, e)(0, 1) / std::exp(-h), 1, 1e-12);
  e.normalize = true;
  o.beta = 2;
  const Bag q1 = counts({0.1, 0.2, 0.3, 0.4});
  CHECK_NEAR(gram({p, q1}, e)(0, 1), gram({p, q1}, o)(0, 1), 1e-12);
  // cells by name
  Bag a = counts({1, 2}), b = counts({2, 1, 3});
  a.names = {"x", "y"};
  b.names = {"y", "x", "z"};
  o.beta = 1;
  CHECK_NEAR(gram({a, b}, o)(0, 1), gram({counts({1, 2, 0}), counts({1, 2, 3})}, o)(0, 1), 1e-14);
}

TEST("the Dirichlet kernel: reference value, one cell by numerical integration, mixtures") {
  const Bag n = counts({3, 0, 2}), m = counts({1, 4, 0});
  BagOptions o = of(BagType::dirichlet, 0, false);
  CHECK_NEAR(std::log(gram({n, m}, o)(0, 1)), -12.93772, 1e-5);
  o.normalize = true;
  CHECK_NEAR(gram({n, m}, o)(0, 1), 0.01283816, 1e-8);
  // two cells, uniform prior: int t^a (1 - t)^b dt
  o.normalize = false;
  o.prior = MatrixXd::Ones(1, 2);
  double integral = 0;
  for (int k = 0; k < 200000; ++k) {
    const double t = (k + 0.5) / 200000;
    integral += t * t * t * (1 - t) * (1 - t) / 200000;
  }
  CHECK_NEAR(gram({counts({2, 1}), counts({1, 1})}, o)(0, 1), integral, 1e-9);
  BagOptions first = o, second = o;
  second.prior << 3, 0.2;
  o.prior.resize(2, 2);
  o.prior << 1, 1, 3, 0.2;
  o.prior_weights.resize(2);
  o.prior_weights << 0.25, 0.75;
  const std::vector<Bag> bags{counts({2, 1}), counts({1, 1})};
  CHECK_NEAR(gram(bags, o)(0, 1), 0.25 * gram(bags, first)(0, 1) + 0.75 * gram(bags, second)(0, 1), 1e-12);
}

TEST("smoothed samples: one, two and three dimensions") {
  BagOptions o = of(BagType::parzen);
  o.bandwidth = 0.5;
  const Bag x = points(rows(3, 1, {0, 1, 3})), y = points(rows(2, 1, {0.5, 2}));
  const double j = -std::log(gram({x, y}, o)(0, 1));
  CHECK_NEAR(j, 0.100722, 1e-6);
  // a second coordinate that says nothing, and a third by simulation
  MatrixXd x2 = MatrixXd::Constant(3, 2, 0.7), y2 = MatrixXd::Constant(2, 2, 0.7), x3 = MatrixXd::Zero(3, 3),
           y3 = MatrixXd::Zero(2, 3);
  x2.col(0) = x3.col(1) = x.x;
  y2.col(0) = y3.col(1) = y.x;
  CHECK_NEAR(-std::log(gram({points(x2), points(y2)}, o)(0, 1)), j, 1e-6);
  o.n_draws = 20000;
  const MatrixXd drawn = gram({points(x3), points(y3)}, o),
                 turned = gram({points(y3), points(xs.replicate(1, 2).leftCols(3)), points(x3)}, o);
  CHECK_NEAR(-std::log(drawn(0, 1)), j, 0.01);
  CHECK_NEAR(drawn(0, 1), turned(0, 2), 1e-14);  // neither place nor company matters
  o.seed = {3, 4};
  CHECK(gram({points(x3), points(y3)}, o)(0, 1) != drawn(0, 1));
}

TEST("exponential families") {
  // Gaussian with beta = 1: normalised inverse generalised variance.
  BagOptions l = of(BagType::laplace, 0.2), g = of(BagType::igv, 0.2);
  CHECK_NEAR(gram({points(xs), points(ys)}, l)(0, 1), gram({points(xs), points(ys)}, g)(0, 1), 1e-12);
  // Multinomial: Jensen-Shannon with twice beta.
  l.family = BagFamily::multinomial;
  BagOptions js = of(BagType::jensen_shannon);
  js.beta = 2;
  const std::vector<Bag> h{counts({1, 2, 3}), counts({3, 1, 0})};
  CHECK_NEAR(gram(h, l)(0, 1), gram(h, js)(0, 1), 1e-12);
  // Exponential: h = 1 + log of the mean.
  l.family = BagFamily::exponential;
  const Bag a = points(rows(2, 1, {1, 3})), b = points(rows(1, 1, {0.5}));
  CHECK_NEAR(gram({a, b}, l)(0, 1), std::exp(-2 * (std::log(1.25) - 0.5 * (std::log(2.0) + std::log(0.5)))), 1e-12);
  l.masses = true;  // 2 and 1 in weight
  const double expected = -3 * std::log(4.5 / 3) + 2 * std::log(2.0) + std::log(0.5) + 0.5 * std::log(2 * std::sqrt(2.0) / 3);
  CHECK_NEAR(gram({a, b}, l)(0, 1), std::exp(expected), 1e-12);
  // Diagonal: a product over coordinates.
  l = of(BagType::laplace, 0.2);
  l.family = BagFamily::diagonal;
  BagOptions one = of(BagType::laplace, 0.2);
  double product = 1;
  for (Index c = 0; c < 2; ++c) product *= gram({points(xs.col(c)), points(ys.col(c))}, one)(0, 1);
  CHECK_NEAR(gram({points(xs), points(ys)}, l)(0, 1), product, 1e-12);
}

TEST("Bhattacharyya and mean map through a linear kernel are those of the coordinates") {
  Rng rng(9);
  const std::vector<Bag> bags{points(random_points(rng, 7, 3)), points(random_points(rng, 4, 3)),
                              points(random_points(rng, 1, 3))};
  for (const BagType type : {BagType::bhattacharyya, BagType::mean_map, BagType::igv}) {
    BagOptions o = of(type, 0.3);
    const MatrixXd plain = gram(bags, o);
    o.kernel = linear();
    CHECK_NEAR((gram(bags, o) - plain).cwiseAbs().maxCoeff(), 0, 1e-9);
  }
  const BagOptions o = of(BagType::bhattacharyya, 0.3);
  const double v = 2.0 / 3 + 0.3, w = 0.25 + 0.3, gap = 1.0 - 0.5;
  const Bag a = points(rows(3, 1, {0, 1, 2})), b = points(rows(2, 1, {0, 1}));
  CHECK_NEAR(gram({a, b}, o)(0, 1), std::pow(v * w, 0.25) / std::sqrt((v + w) / 2) * std::exp(-gap * gap / 8 / ((v + w) / 2)),
             1e-12);
}

TEST("a reference measure, the generic integral and the one over an interval") {
  BagOptions o = of(BagType::igv, 0.1, false);
  o.reference = rows(2, 1, {-1, 1});
  o.reference_share = 0.4;
  // 0.6 mu'' + 0.4 rho by hand: points 0 (0.3), 2 (0.3), -1 (0.2), 1 (0.2)
  const double mean = 0.6, second = 0.3 * 4 + 0.2 + 0.2;
  CHECK_NEAR(gram({points(rows(1, 1, {0})), points(rows(1, 1, {2}))}, o)(0, 1), 1 / (1 + (second - mean * mean) / 0.1), 1e-12);
  BagOptions i = of(BagType::integral, 0, false);
  i.function_weights.resize(2);
  i.function_weights << 0.5, 2;
  CHECK_NEAR(gram({counts({1, 0.5}), counts({0, -0.0})}, i)(0, 1), 0.5 * std::exp(1) + 2 * std::exp(0.5), 1e-12);
  BagOptions t = of(BagType::interval, 0, false);
  const MatrixXd k = gram({points(rows(2, 1, {0.5, 0.2})), points(rows(1, 1, {0.9}))}, t);
  CHECK_NEAR(k(0, 1), 0.2 + 0.3 * std::exp(1) + 0.4 * std::exp(2) + 0.1 * std::exp(3), 1e-12);
}

TEST("without eta the kernel is invariant to affine maps, up to a factor") {
  Rng rng(4);
  const MatrixXd a = random_points(rng, 2, 2);
  const Eigen::RowVectorXd shift = a.row(0) * 3;
  std::vector<Bag> bags, mapped;
  for (int b = 0; b < 3; ++b) {
    const MatrixXd x = random_points(rng, 6, 2);
    bags.push_back(points(x));
    mapped.push_back(points((x * a).rowwise() + shift));
  }
  const BagOptions o = of(BagType::igv, 0);
  CHECK_NEAR((gram(bags, o) - gram(mapped, o)).cwiseAbs().maxCoeff(), 0, 1e-10);
}

TEST("eigenfunctions of a bag: orthogonal over it, of length one in the feature space, its covariance in all") {
  Rng rng(6);
  const Bag bag = points(random_points(rng, 30, 2));
  const BagEigen e = bag_eigen(bag, gaussian(0.8), 30, bag.x);
  CHECK_NEAR(e.values.sum(), e.trace, 1e-8);
  CHECK_NEAR((e.at_bag - e.at_new).cwiseAbs().maxCoeff(), 0, 1e-10);
  const MatrixXd second = e.at_bag.transpose() * e.at_bag / 30;
  CHECK_NEAR((second - MatrixXd(e.values.asDiagonal())).cwiseAbs().maxCoeff(), 0, 1e-8);
}

TEST("bags that are none are refused by their number") {
  const auto refused = [](const std::vector<Bag>& bags, const BagOptions& o) { CHECK_THROWS(gram(bags, o), InputError); };
  refused({points(xs), points(MatrixXd(0, 2))}, of(BagType::igv));
  refused({points(xs), points(MatrixXd::Ones(2, 3))}, of(BagType::igv));
  refused({points(xs), points(ys)}, of(BagType::igv, 0));  // two points in a plane
  refused({points(xs, VectorXd::Zero(3))}, of(BagType::igv));
  refused({points(xs, VectorXd::Constant(3, -1))}, of(BagType::mean_map));
  refused({counts({0, 0})}, of(BagType::jensen_shannon));
  refused({counts({1, -1})}, of(BagType::jensen_shannon));
  refused({counts({1, 1}), counts({1, 1, 1})}, of(BagType::dirichlet));
  refused({points(rows(1, 1, {2}))}, of(BagType::interval));
  BagOptions o = of(BagType::dirichlet);
  o.prior = MatrixXd::Zero(1, 1);
  refused({counts({1, 2})}, o);
  o = of(BagType::dirichlet);
  o.levels = {"a", "b"};
  Bag named = counts({1});
  named.names = {"c"};
  refused({named}, o);
  o = of(BagType::igv, 0);
  o.kernel = gaussian(1);
  refused({points(xs)}, o);
  CHECK_THROWS(gram({counts({1000})}, of(BagType::entropy, 0, false)), NumericalError);
  CHECK_NEAR(gram({counts({0, 0}), counts({1, 0})}, of(BagType::dirichlet))(0, 0), 1,
             1e-12);  // no counts say nothing, which is something
}
