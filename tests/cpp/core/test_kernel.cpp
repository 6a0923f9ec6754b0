#include "eigen.h"
#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "core/kernel/kernel.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

MatrixXd points(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  MatrixXd x(n, d);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i < n; ++i) x(i, k) = rng.normal();
  return x;
}

VectorXd vec(std::initializer_list<double> values) {
  VectorXd v(static_cast<Index>(values.size()));
  Index i = 0;
  for (double value : values) v[i++] = value;
  return v;
}

KernelSpec part(const std::string& type, VectorXd scales, double shape = 0, double variance = 1.3, double offset = 0) {
  KernelSpec spec;
  spec.type = type;
  spec.scales = std::move(scales);
  spec.shape = shape;
  spec.variance = variance;
  spec.offset = offset;
  return spec;
}

KernelSpec joined(const std::string& type, std::vector<KernelSpec> children) {
  KernelSpec spec;
  spec.type = type;
  spec.children = std::move(children);
  return spec;
}

std::vector<KernelSpec> all_parts() {  // for three columns
  return {part("se", vec({0.8})),
          part("se", vec({0.8, 1.4, 2})),
          part("matern", vec({0.7, 1.1, 3}), 0.5),
          part("matern", vec({1.2}), 1.5),
          part("matern", vec({1.2, 0.5, 2}), 2.5),
          part("matern", vec({1.2, 0.5, 2}), 3.2),
          part("matern", vec({1.5}), 0.8),
          part("rq", vec({0.9, 1.4, 2}), 0.7),
          part("powexp", vec({0.9, 1.4, 2}), 1.6),
          part("powexp", vec({0.9}), 2),
          part("linear", vec({0.5})),
          part("linear", vec({0.5, 1, 2})),
          part("polynomial", vec({0.4}), 3, 0.6, 1.1),
          part("sigmoid", vec({0.3}), 0, 1.2, -0.4),
          part("mlp", vec({2, 0.7})),
          part("bias", VectorXd()),
          part("white", VectorXd()),
          joined("sum", {part("se", vec({0.8, 1.4, 2})), part("bias", VectorXd()), part("white", VectorXd(), 0, 0.1)}),
          joined("product", {part("se", vec({0.8})), part("linear", vec({0.5, 1, 2})), part("mlp", vec({2, 0.7}))}),
          joined("product",
                 {part("rq", vec({1.0}), 2), joined("sum", {part("white", VectorXd()), part("matern", vec({1.2}), 2.5)})})};
}

// L = sum g_ij k_ij, differenced in one parameter or input.
template <class F>
double difference(F&& loss, double& at) {
  const double keep = at, step = 1e-5 * std::max(1.0, std::abs(keep));
  at = keep + step;
  const double up = loss();
  at = keep - step;
  const double down = loss();
  at = keep;
  return (up - down) / (2 * step);
}

}  // namespace

TEST("kernel: values follow their formulas") {
  const MatrixXd x = points(3, 2, 1), z = points(2, 2, 2);
  const double a = x(2, 0) - z(1, 0), b = x(2, 1) - z(1, 1), inner = x.row(2).dot(z.row(1));
  const double r2 = a * a / 0.25 + b * b / 4, r = std::sqrt(r2);
  auto at = [&](const KernelSpec& spec) { return Kernel(spec, 2).cross(x, z)(2, 1); };
  const VectorXd l = vec({0.5, 2});
  CHECK_NEAR(at(part("se", l)), 1.3 * std::exp(-r2 / 2), 1e-14);
  CHECK_NEAR(at(part("matern", l, 0.5)), 1.3 * std::exp(-r), 1e-14);
  CHECK_NEAR(at(part("matern", l, 1.5)), 1.3 * (1 + std::sqrt(3) * r) * std::exp(-std::sqrt(3) * r), 1e-14);
  CHECK_NEAR(at(part("matern", l, 2.5)), 1.3 * (1 + std::sqrt(5) * r + 5 * r2 / 3) * std::exp(-std::sqrt(5) * r), 1e-14);
  CHECK_NEAR(at(part("rq", l, 0.7)), 1.3 * std::pow(1 + r2 / 1.4, -0.7), 1e-14);
  CHECK_NEAR(at(part("powexp", l, 1.5)), 1.3 * std::exp(-std::pow(std::abs(a) / 0.5, 1.5) - std::pow(std::abs(b) / 2, 1.5)),
             1e-14);
  CHECK_NEAR(at(part("linear", l)), 0.5 * x(2, 0) * z(1, 0) + 2 * x(2, 1) * z(1, 1), 1e-14);
  CHECK_NEAR(at(part("polynomial", vec({0.3}), 3, 2, 0.5)), 2 * std::pow(0.3 * inner + 0.5, 3), 1e-13);
  CHECK_NEAR(at(part("sigmoid", vec({0.3}), 0, 2, 0.5)), 2 * std::tanh(0.3 * inner + 0.5), 1e-14);
  CHECK_NEAR(at(part("bias", VectorXd())), 1.3, 0);
  CHECK_NEAR(at(part("white", VectorXd())), 0, 0);
}

TEST("kernel: the matrix of one point, and of as many as fill a panel, is the cross matrix but for its diagonal") {
  for (const Index n : {1, 2, 64, 129}) {
    const MatrixXd x = points(n, 3, 5);
    for (const KernelSpec& spec : all_parts()) {
      const Kernel k(spec, 3);
      MatrixXd cross = k.cross(x, x);
      cross.diagonal() = k.diagonal(x);  // with white noise, which a cross matrix has not
      CHECK_NEAR((k.matrix(x) - cross).cwiseAbs().maxCoeff(), 0, 1e-12);
    }
  }
}

TEST("kernel: mlp has the values of the gplvm card") {
  MatrixXd x(3, 2);
  x << 1, 0, 0, 1, -1, 2;
  const MatrixXd k = Kernel(part("mlp", vec({10, 10}), 0, 1), 2).matrix(x);
  CHECK_NEAR(k(0, 0), 1.2609517, 5e-8);
  CHECK_NEAR(k(2, 2), 1.3894766, 5e-8);
  CHECK_NEAR(k(0, 1), 0.4963174, 5e-8);
  CHECK_NEAR(k(0, 2), 0, 1e-15);
  CHECK_NEAR(k(1, 2), 0.9939708, 5e-8);
}

TEST("kernel: general matern meets the closed forms") {
  const MatrixXd x = points(20, 3, 3);
  for (double nu : {0.5, 1.5, 2.5}) {
    const MatrixXd closed = Kernel(part("matern", vec({0.8}), nu), 3).matrix(x);
    const MatrixXd general = Kernel(part("matern", vec({0.8}), nu * (1 + 1e-12)), 3).matrix(x);
    CHECK_NEAR((closed - general).cwiseAbs().maxCoeff(), 0, 1e-10);
  }
  const MatrixXd smooth = Kernel(part("matern", vec({0.8}), 50), 3).matrix(x);
  CHECK((smooth - Kernel(part("se", vec({0.8})), 3).matrix(x)).cwiseAbs().maxCoeff() < 0.02);
}

TEST("kernel: hamming counts the columns that differ") {
  MatrixXd x(2, 3);
  x << 1, 2, 3, 1, 5, 4;
  const Kernel kernel(part("hamming", vec({1, 2, 4}), 0, 1), 3);
  CHECK_NEAR(kernel.matrix(x)(0, 1), std::exp(-0.5 - 0.25), 1e-15);
  CHECK(!kernel.differentiable_in_inputs());
}

TEST("kernel: matrix is symmetric and agrees with cross and diagonal") {
  const MatrixXd x = points(150, 3, 4);  // more than two panels
  for (const KernelSpec& spec : all_parts()) {
    const Kernel kernel(spec, 3);
    const MatrixXd k = kernel.matrix(x);
    CHECK_NEAR((k - k.transpose()).cwiseAbs().maxCoeff(), 0, 0);
    MatrixXd apart = k - kernel.cross(x, x);
    apart.diagonal().setZero();
    CHECK_NEAR(apart.cwiseAbs().maxCoeff(), 0, 1e-12);
    CHECK_NEAR((k.diagonal() - kernel.diagonal(x)).cwiseAbs().maxCoeff(), 0, 1e-12);
    CHECK_NEAR((kernel.cross(x, x).diagonal() - kernel.diagonal(x, false)).cwiseAbs().maxCoeff(), 0, 1e-12);
    if (spec.type == "sigmoid") continue;
    CHECK(Eigen::SelfAdjointEigenSolver<MatrixXd>(k, Eigen::EigenvaluesOnly).eigenvalues()[0] > -1e-9 * k.diagonal().maxCoeff());
  }
}

TEST("kernel: gradients meet differences") {
  for (const KernelSpec& spec : all_parts()) {
    Kernel kernel(spec, 3);
    MatrixXd x = points(70, 3, 5), z = points(9, 3, 6);
    const MatrixXd raw = points(70, 70, 7), g = raw + raw.transpose(), h = points(70, 9, 8);
    const VectorXd w = points(70, 1, 9);
    const Index p = kernel.n_parameters();
    VectorXd theta = kernel.parameters(), own = VectorXd::Zero(p), cross = VectorXd::Zero(p), diagonal = VectorXd::Zero(p);
    MatrixXd dx = MatrixXd::Zero(70, 3), cx = dx, dd = dx, cz = MatrixXd::Zero(9, 3);
    kernel.add_gradient(x, g, own, &dx);
    kernel.add_cross_gradient(x, z, h, cross, &cx, &cz);
    kernel.add_diagonal_gradient(x, w, diagonal, &dd);
    auto own_loss = [&] { return kernel.matrix(x).cwiseProduct(g).sum(); };
    auto cross_loss = [&] { return kernel.cross(x, z).cwiseProduct(h).sum(); };
    auto diagonal_loss = [&] { return kernel.diagonal(x).dot(w); };
    for (Index k = 0; k < p; ++k) {
      auto with = [&](auto&& loss) {
        return [&] {
          kernel.set_parameters(theta);
          return loss();
        };
      };
      const double size = 1 + std::abs(own[k]) + std::abs(cross[k]);
      CHECK_NEAR(own[k], difference(with(own_loss), theta[k]), 1e-6 * size);
      CHECK_NEAR(cross[k], difference(with(cross_loss), theta[k]), 1e-6 * size);
      CHECK_NEAR(diagonal[k], difference(with(diagonal_loss), theta[k]), 1e-6 * size);
    }
    kernel.set_parameters(theta);
    for (Index i : {0, 33, 69}) {
      for (Index k = 0; k < 3; ++k) {
        const double size = 1 + std::abs(dx(i, k));
        CHECK_NEAR(dx(i, k), difference(own_loss, x(i, k)), 2e-6 * size);
        CHECK_NEAR(cx(i, k), difference(cross_loss, x(i, k)), 2e-6 * size);
        CHECK_NEAR(dd(i, k), difference(diagonal_loss, x(i, k)), 2e-6 * size);
        if (i == 0) CHECK_NEAR(cz(4, k), difference(cross_loss, z(4, k)), 2e-6 * (1 + std::abs(cz(4, k))));
      }
    }
  }
}

TEST("kernel: many columns take the matrix product route") {
  MatrixXd x = points(40, 12, 10);
  VectorXd scales = VectorXd::LinSpaced(12, 1, 5);
  const Kernel kernel(part("se", scales), 12);
  const MatrixXd k = kernel.matrix(x);
  double worst = 0;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j)
      worst = std::max(
          worst,
          std::abs(k(i, j) - 1.3 * std::exp(-0.5 * ((x.row(i) - x.row(j)).transpose().cwiseQuotient(scales)).squaredNorm())));
  CHECK_NEAR(worst, 0, 1e-13);
}

TEST("kernel: does not mind where zero is or the units") {
  const MatrixXd x = points(30, 2, 11);
  const MatrixXd plain = Kernel(part("matern", vec({0.5, 2}), 2.5), 2).matrix(x);
  const MatrixXd moved = Kernel(part("matern", vec({0.5, 2}), 2.5), 2).matrix((x.array() + 1024).matrix());
  CHECK_NEAR((plain - moved).cwiseAbs().maxCoeff(), 0, 1e-11);
  for (double unit : {1e-8, 1e8}) {
    const MatrixXd scaled = Kernel(part("matern", unit * vec({0.5, 2}), 2.5), 2).matrix(unit * x);
    CHECK_NEAR((plain - scaled).cwiseAbs().maxCoeff(), 0, 1e-12);
  }
}

TEST("kernel: parts look at their own columns") {
  const MatrixXd x = points(10, 3, 12);
  KernelSpec first = part("se", vec({0.7}), 0, 1), second = part("se", vec({1.9}), 0, 1);
  first.columns = {0, 1};
  second.columns = {2};
  const MatrixXd product = Kernel(joined("product", {first, second}), 3).matrix(x);
  const MatrixXd direct = Kernel(part("se", vec({0.7, 0.7, 1.9}), 0, 1), 3).matrix(x);
  CHECK_NEAR((product - direct).cwiseAbs().maxCoeff(), 0, 1e-14);
}

TEST("kernel: parameters have names and can be held") {
  KernelSpec held = part("se", vec({0.7, 1}));
  held.learn_variance = false;
  const Kernel kernel(joined("sum", {held, part("rq", vec({1.0}), 2), part("se", vec({1.0}))}), 2);
  const std::vector<std::string> names = kernel.parameter_names();
  const std::vector<std::string> expected = {"se.lengthscale1", "se.lengthscale2", "rq.variance",   "rq.lengthscale",
                                             "rq.shape",        "se.variance",     "se.lengthscale"};
  CHECK(names == expected);
  CHECK(kernel.n_parameters() == 7);
  const Kernel twice(joined("sum", {part("bias", VectorXd()), part("bias", VectorXd())}), 2);
  CHECK(twice.parameter_names() == (std::vector<std::string>{"bias.variance.1", "bias.variance.2"}));
}

TEST("kernel: of the user has parameter gradients only") {
  KernelSpec spec;
  spec.type = "user";
  spec.user_parameters = vec({0.6});
  spec.function = [](const MatrixXd& x, const MatrixXd& z, const VectorXd& p) {
    return MatrixXd((p[0] * x * z.transpose()).array().exp().matrix());
  };
  Kernel kernel(spec, 1);
  MatrixXd x = points(6, 1, 13);
  const MatrixXd g = MatrixXd::Ones(6, 6);
  VectorXd gradient = VectorXd::Zero(1);
  kernel.add_gradient(x, g, gradient);
  const MatrixXd inner = x * x.transpose();
  CHECK_NEAR(gradient[0], 0.6 * inner.cwiseProduct(kernel.matrix(x)).sum(), 1e-6 * std::abs(gradient[0]));
  MatrixXd dx = MatrixXd::Zero(6, 1);
  CHECK_THROWS(kernel.add_gradient(x, g, gradient, &dx), InputError);
  spec.function = [](const MatrixXd& x, const MatrixXd&, const VectorXd&) { return MatrixXd(MatrixXd::Zero(x.rows(), 1)); };
  CHECK_THROWS(Kernel(spec, 1).matrix(x), InputError);
}

TEST("kernel: refuses what does not fit") {
  CHECK_THROWS(Kernel(part("se", vec({1, 2})), 3), InputError);
  CHECK_THROWS(Kernel(part("se", vec({-1})), 3), InputError);
  CHECK_THROWS(Kernel(part("se", vec({1}), 0, 0), 3), InputError);
  CHECK_THROWS(Kernel(part("matern", vec({1}), 0), 3), InputError);
  CHECK_THROWS(Kernel(part("matern", vec({1}), 80), 3), InputError);
  CHECK_THROWS(Kernel(part("powexp", vec({1}), 2.5), 3), InputError);
  CHECK_THROWS(Kernel(part("polynomial", vec({1}), 1.5), 3), InputError);
  CHECK_THROWS(Kernel(part("mlp", vec({1})), 3), InputError);
  CHECK_THROWS(Kernel(part("no such", vec({1})), 3), InputError);
  CHECK_THROWS(Kernel(joined("sum", {}), 3), InputError);
  KernelSpec far = part("se", vec({1}));
  far.columns = {3};
  CHECK_THROWS(Kernel(far, 3), InputError);
  CHECK_THROWS(Kernel(part("se", vec({1})), 3).matrix(points(4, 2, 1)), InputError);
}

TEST("the periodic kernel repeats itself, and its gradients are those of differences") {
  KernelSpec spec;
  spec.type = "periodic";
  spec.variance = 1.7;
  spec.scales = VectorXd::Constant(1, 0.8);
  spec.shape = 2.5;
  Kernel kernel(spec, 2);
  MatrixXd x(3, 2), shifted(3, 2);
  x << 0.1, 0.4, 1.3, -0.7, 2.2, 0.9;
  shifted = x.array() + 2.5;
  CHECK_NEAR((kernel.cross(x, shifted) - kernel.matrix(x)).cwiseAbs().maxCoeff(), 0, 1e-12);
  CHECK_NEAR(kernel.matrix(x)(0, 1), 1.7 * std::exp(-2 * (std::pow(std::sin(M_PI * 1.2 / 2.5), 2) + std::pow(std::sin(M_PI * 1.1 / 2.5), 2)) / 0.64), 1e-12);
  MatrixXd g(3, 3);
  g << 0.3, -0.2, 0.5, -0.2, 0.1, 0.4, 0.5, 0.4, -0.6;
  const auto value = [&](const VectorXd& p) {
    Kernel moved = kernel;
    moved.set_parameters(p);
    return g.cwiseProduct(moved.matrix(x)).sum();
  };
  VectorXd gradient = VectorXd::Zero(kernel.n_parameters());
  MatrixXd dx = MatrixXd::Zero(3, 2);
  kernel.add_gradient(x, g, gradient, &dx);
  CHECK(kernel.n_parameters() == 3);
  for (Index k = 0; k < 3; ++k) {
    VectorXd up = kernel.parameters(), down = up;
    up[k] += 1e-6;
    down[k] -= 1e-6;
    CHECK_NEAR(gradient[k], (value(up) - value(down)) / 2e-6, 1e-7);
  }
  MatrixXd moved = x;
  moved(1, 0) += 1e-6;
  const double above = g.cwiseProduct(kernel.matrix(moved)).sum();
  moved(1, 0) -= 2e-6;
  CHECK_NEAR(dx(1, 0), (above - g.cwiseProduct(kernel.matrix(moved)).sum()) / 2e-6, 1e-7);
}
