#include <cmath>
#include <vector>

#include "core/base/errors.h"
#include "core/math/marchenko_pastur.h"
#include "harness.h"

using namespace granary;

namespace {
template <class F>
double integral(const Quadrature& rule, F&& f) {
  double sum = 0;
  for (Index k = 0; k < rule.nodes.size(); ++k) sum += rule.weights[k] * f(rule.nodes[k]);
  return sum;
}
}  // namespace

TEST("Marchenko-Pastur: quadrature has the mass, the mean and the second moment") {
  for (const double alpha : {1e-4, 0.3, 0.9, 0.999, 1.0, 1.001, 2.0, 50.0, 1e6}) {
    const MarchenkoPastur law(alpha);
    const Quadrature rule = law.quadrature(300);
    CHECK_NEAR(rule.weights.sum(), 1, 1e-13);
    CHECK_NEAR(integral(rule, [](double a) { return a; }) / alpha, 1, 1e-5);
    CHECK_NEAR(integral(rule, [](double a) { return a * a; }) / (alpha + alpha * alpha), 1, 1e-5);
    CHECK(rule.nodes.size() == (alpha < 1 ? 301 : 300));
    CHECK(rule.nodes.minCoeff() >= (alpha < 1 ? 0 : law.lower()) && rule.nodes.maxCoeff() <= law.upper());
  }
}

TEST("Marchenko-Pastur: closed forms against quadrature") {
  for (const double alpha : {0.2, 0.5, 1.0, 2.0, 20.0}) {
    const MarchenkoPastur law(alpha);
    const Quadrature rule = law.quadrature(4000);
    for (const double l : {1e-2, 0.1, 1.0, 30.0}) {
      CHECK_NEAR(law.mean_shrinkage(l) / integral(rule, [&](double a) { return a / (a + l); }), 1, 1e-7);
      CHECK_NEAR(law.mean_curvature(l) / integral(rule, [&](double a) { return a * a / (a + l); }), 1, 1e-7);
      CHECK_NEAR(law.mean_variance(l) / integral(rule, [&](double a) { return a / ((a + l) * (a + l)); }), 1, 1e-5);
      CHECK_NEAR(law.mean_squared_bias(l), integral(rule, [&](double a) { return l * l / ((a + l) * (a + l)); }), 1e-5);
      // g(l) as the card writes it
      const double g = (1 - alpha - l + std::sqrt((1 - alpha - l) * (1 - alpha - l) + 4 * l)) / (2 * l);
      CHECK_NEAR(law.mean_shrinkage(l), 1 - l * g, 1e-12);
    }
  }
  // Inside the continuation, -lower < l < 0, and at scales where the naive forms lose everything.
  const MarchenkoPastur law(4);
  CHECK_NEAR(law.mean_curvature(-0.5), integral(law.quadrature(2000), [](double a) { return a * a / (a - 0.5); }), 1e-8);
  CHECK_NEAR(law.mean_curvature(1e8) * 1e8 / 20, 1, 1e-6);
  CHECK_NEAR(law.mean_shrinkage(1e-12), 1, 1e-11);
  CHECK(std::isinf(MarchenkoPastur(1).mean_variance(0)));
  CHECK_NEAR(MarchenkoPastur(0.25).mean_squared_bias(0), 0.75, 0);
}

TEST("Marchenko-Pastur: blocks of equal mass") {
  for (const double alpha : {1e-9, 1e-3, 0.5, 1.0, 2.0, 1e4, 1e7, 1e9, 1e12}) {
    const MarchenkoPastur law(alpha);
    for (const int blocks : {1, 3, 10, 64}) {
      const SpectrumBlocks cut = spectrum_blocks(law, blocks);
      CHECK_NEAR(cut.mean.mean() / alpha, 1, 1e-12);
      bool ordered = true;
      for (int c = 0; c < blocks; ++c) {
        ordered = ordered && cut.lower[c] <= cut.mean[c] + 1e-6 * alpha && cut.mean[c] <= cut.upper[c] + 1e-6 * (1 + alpha);
        if (c > 0) ordered = ordered && cut.mean[c] >= cut.mean[c - 1] && cut.lower[c] >= cut.upper[c - 1] - 1e-9 * (1 + alpha);
      }
      CHECK(ordered);
    }
  }
  const MarchenkoPastur law(2);
  CHECK_NEAR(law.upper_mass(3.141592653589793), 1, 1e-14);
  CHECK_NEAR(MarchenkoPastur(0.3).upper_mass(3.141592653589793), 0.3, 1e-14);
  const SpectrumBlocks fine = spectrum_blocks(law, 1000);
  CHECK_NEAR(fine.mean.squaredNorm() / 1000, 6, 1e-4);
  // The ends of the blocks against a count of quadrature weights.
  const SpectrumBlocks cut = spectrum_blocks(law, 10);
  CHECK_NEAR(integral(law.quadrature(20000), [&](double a) { return a <= cut.upper[2] ? 1.0 : 0.0; }), 0.3, 1e-4);
  // Half of the eigenvalues are zero.
  const SpectrumBlocks atom = spectrum_blocks(MarchenkoPastur(0.5), 10);
  CHECK(atom.mean.head(5).maxCoeff() < 1e-12 && atom.mean[5] > 0.1);
  const SpectrumBlocks straddle = spectrum_blocks(MarchenkoPastur(0.5), 5);  // the third block is half atom
  CHECK(straddle.mean[1] < 1e-12 && straddle.lower[2] == 0 && straddle.mean[2] > 0 && straddle.upper[2] > 0.3);
}

TEST("blocks of a given spectrum share out eigenvalues that fall between two") {
  VectorXd values(5);
  values << 5, 1, 3, 2, 4;
  const SpectrumBlocks two = spectrum_blocks(values, 2);
  CHECK_NEAR(two.mean[0], (1 + 2 + 0.5 * 3) / 2.5, 1e-14);
  CHECK_NEAR(two.mean[1], (0.5 * 3 + 4 + 5) / 2.5, 1e-14);
  const SpectrumBlocks each = spectrum_blocks(values, 5);
  CHECK(each.mean[0] == 1 && each.mean[4] == 5 && each.lower[2] == 3 && each.upper[2] == 3);
  CHECK_THROWS(spectrum_blocks(values, 6), InputError);
  CHECK_THROWS(spectrum_blocks(values, 0), InputError);
  CHECK_THROWS(spectrum_blocks(MarchenkoPastur(1), 0), InputError);
  CHECK_THROWS(MarchenkoPastur(0), InputError);
  CHECK_THROWS(MarchenkoPastur(-1), InputError);
  CHECK_THROWS(MarchenkoPastur(1).quadrature(1), InputError);
}
