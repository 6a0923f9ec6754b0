#include "core/math/chernoff.h"

#include <array>
#include <cmath>
#include <limits>

#include "core/math/special.h"

namespace granary {

namespace {

constexpr double end = 3;
constexpr std::array<double, 17> series{
    -2.84941467393434351,      -3.09052067440755654,     -0.37297494722292652,     0.110794448002082355,
            -0.0280326200867891231,
    0.00536653595348786853,    -0.000608091126872426853, -0.0000233804051092836483, 0.0000259040702440410353,
        -4.40969858242623994e-6,
    -2.11348003195368577e-7,   2.44056820188376632e-7,   -3.89171547753722756e-8,  -4.28930282852061146e-9,
         2.7743386477384373e-9,
    -3.11795503385233138e-10,  -3.87821380233270146e-11};

double log_pdf(double z) {  // z >= 0
  const double cube = -2.0 / 3 * z * z * z;
  if (z > end) {
    constexpr double zero = -2.33810741045976704, slope = 0.70121082272310090;  // first zero of Ai, Ai' there
    return cube + std::log(0.5 * std::pow(4.0, 4.0 / 3) * z / slope) + std::cbrt(2.0) * zero * z;
  }
  const double u = 2 * z / end - 1;
  double b1 = 0, b2 = 0;
  for (std::size_t j = series.size() - 1; j > 0; --j) {
    const double b0 = 2 * u * b1 - b2 + series[j];
    b2 = b1;
    b1 = b0;
  }
  return cube + series[0] + u * b1 - b2;
}

// int_from^to of z^k f(z) by Gauss-Legendre with eight nodes on each part.
double integrate(double from, double to, int k, int parts) {
  static constexpr double node[4] = {0.18343464249564980, 0.52553240991632899, 0.79666647741362674, 0.96028985649753623};
  static constexpr double weight[4] = {0.36268378337836198, 0.31370664587788729, 0.22238103445337447, 0.10122853629037626};
  const double h = (to - from) / parts;
  double sum = 0;
  for (int part = 0; part < parts; ++part) {
    const double middle = from + (part + 0.5) * h;
    for (int i = 0; i < 4; ++i)
      for (const double side : {-1.0, 1.0}) {
        const double z = middle + side * node[i] * h / 2;
        sum += weight[i] * (k == 0 ? 1 : std::pow(z, k)) * std::exp(log_pdf(z));
      }
  }
  return sum * h / 2;
}

double upper(double z) { return z > 7 ? 0 : integrate(z, z + std::min(7 - z, 4.0), 0, 16); }  // z >= 0

}  // namespace

double chernoff_pdf(double z) { return std::isnan(z) ? z : std::exp(log_pdf(std::abs(z))); }

double chernoff_cdf(double z) {
  if (std::isnan(z)) return z;
  return z >= 0 ? 1 - upper(z) : upper(-z);
}

double chernoff_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0 || p == 1) return p == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const double tail = std::min(p, 1 - p), sign = p < 0.5 ? -1 : 1;
  double low = 0, high = 7, z = -0.51 * normal_quantile(tail);
  for (int i = 0; i < 100; ++i) {
    if (!(z > low && z < high)) z = (low + high) / 2;
    const double gap = upper(z) - tail;
    (gap > 0 ? low : high) = z;
    const double next = z + gap / chernoff_pdf(z);
    if (std::abs(next - z) < 1e-14 * (1 + z)) return sign * z;
    z = next;
  }
  return sign * z;
}

double chernoff_moment(int k) { return 2 * integrate(0, 7, k, 40); }

VectorXd chernoff_values(ConstVectorRef x, ChernoffValue what) {
  VectorXd out(x.size());
  for (Index i = 0; i < x.size(); ++i)
    out[i] = what == ChernoffValue::density      ? chernoff_pdf(x[i])
             : what == ChernoffValue::probability ? chernoff_cdf(x[i])
                                                  : chernoff_quantile(x[i]);
  return out;
}

}  // namespace granary
