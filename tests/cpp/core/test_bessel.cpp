// Reference values were computed with 50 to 60 digits.
#include <cmath>
#include <limits>
#include <vector>

#include "core/math/bessel.h"
#include "harness.h"

using namespace granary;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Relative error, absolute near zero.
double error(double value, double expected) { return std::abs(value - expected) / std::max(std::abs(expected), 1e-300); }

}  // namespace

TEST("log Bessel I and its ratio on both sides of the switch, at large order and argument") {
  struct Case {
    double nu, x, log_value, ratio;
  };
  const std::vector<Case> cases = {{0, 0.001, 2.4999998437500174652e-7, 4.9999993750001042707e-4},
                                   {0, 1, 0.23591435850717864869, 0.44638996589653450705},
                                   {0.5, 2, 0.71600242968946804298, 0.53731472072754809588},
                                   {2.5, 30, 27.278799122187749411, 0.90344403444034440344},
                                   {0, 44.9, 42.081658281057758975, 0.9888007075311641483},
                                   {0, 45.1, 42.279423425092860017, 0.98885065838290098619},
                                   {44, 9, -58.690039165162355375, 0.099040041988112632033},
                                   {45, 9, -61.00227021125723986, 0.096926252515380372074},
                                   {30, 40, 26.331621304164957995, 0.49203311755596355179},
                                   {100, 1, -433.05161839406588626, 4.9503749209588488908e-3},
                                   {100, 100, 49.88933207079155738, 0.41172023044427724227},
                                   {100, 5000, 4.9938224232012542773e+3, 0.98010001499999918712},
                                   {0, 700.0, 695.80569999844344908, 0.99928545881842609327},
                                   {0.5, 1000000.0, 9.9999217330618781319e+5, 0.999999},
                                   {499, 1000, 873.48051327608122765, 0.61818681291010495934},
                                   {5000, 10, -2.9543948947708562734e+4, 9.997990407935586058e-4},
                                   {10000.0, 10000.0, 5.3227023594940922243e+3, 0.41418856303604671754},
                                   {49.5, 1e-08, -1.0926537377540800099e+3, 9.9009900990099011972e-11},
                                   {3, 100000000.0, 9.9999989870721051069e+7, 0.9999999650000004375}};
  for (const Case& t : cases) {
    CHECK_NEAR(log_bessel_i(t.nu, t.x), t.log_value, 2e-14 * std::max(1.0, std::abs(t.log_value)));
    CHECK_NEAR(error(bessel_i_ratio(t.nu, t.x), t.ratio), 0, 1e-13);
  }
  CHECK(log_bessel_i(0, 0) == 0 && log_bessel_i(2, 0) == -infinity && bessel_i_ratio(3, 0) == 0);
  CHECK(std::isnan(log_bessel_i(-1, 1)) && std::isnan(log_bessel_i(1, -1)) && std::isnan(bessel_i_ratio(not_a_number, 1)));
  // The recurrence I_{nu-1} - I_{nu+1} = (2 nu / x) I_nu ties neighbouring orders together wherever one looks.
  for (double nu : {1.0, 7.5, 44.0, 300.0}) {
    for (double x : {0.1, 10.0, 44.5, 46.0, 1e4}) {
      const double below = 1 / bessel_i_ratio(nu - 1, x), above = bessel_i_ratio(nu, x);
      CHECK_NEAR(error(below - above, 2 * nu / x), 0, 1e-13 * below * x / nu);
    }
  }
}

TEST("constant, mean and variance of von Mises-Fisher laws from 2 to a million dimensions") {
  struct Case {
    double d, kappa, constant, resultant, slope;
  };
  const std::vector<Case> cases = {
    {2, 1e-6, -2.49999999999984375e-13, 4.999999999999375e-7, 0.4999999999998125},
    {2, 0.5, -0.0615497191854813039, 0.242499612580801945, 0.456194712736557072},
    {2, 60, -57.0359901896551426, 0.991631350124208772, 0.000140076282102061765},
    {2, 1000, -995.627308889869465, 0.99949987487480428, 5.0025037578328756e-7},
    {2, 40000, -39993.7827472252864, 0.999987499921873047, 3.12503906396492005e-10},
    {2, 1e8, -99999989.8707210961, 0.999999994999999987, 5.00000002500000037e-17},
    {3, 1e-6, -1.66666666666661111e-13, 3.33333333333311111e-7, 0.333333333333266667},
    {3, 0.5, -0.041324854612918109, 0.163953413738652849, 0.317305623168830724},
    {3, 60, -55.212508257217954, 0.983333333333333333, 0.000277777777777777778},
    {3, 1000, -992.399097540457918, 0.999, 1.0e-6},
    {3, 40000, -39988.710218086344, 0.999975, 6.25e-10},
    {3, 1e8, -99999980.8861720755, 0.99999999, 1.0e-16},
    {10, 1e-6, -4.99999999999997917e-14, 9.99999999999991667e-8, 0.0999999999999975},
    {10, 0.5, -0.0124870100751122156, 0.0498962038617814652, 0.0993786993281171706},
    {10, 60, -46.4748413301353765, 0.927222345503787975, 0.00117537017288584366},
    {10, 1000, -973.938926332887003, 0.995507882855704151, 4.48422645228406254e-6},
    {10, 40000, -39957.3466508429899, 0.999887504921998039, 2.81225389702223431e-9},
    {10, 1e8, -99999922.1386405928, 0.999999955000000788, 4.49999984249999764e-16},
    {1000, 1e-6, -5.0e-16, 9.99999999999999999e-10, 0.000999999999999999997},
    {1000, 0.5, -0.000124999984406192802, 0.000499999875249563125, 0.000999999251497627255},
    {1000, 60, -1.79678182324299636, 0.0597859633511674225, 0.000989348789235280569},
    {1000, 1000, -377.506922525141441, 0.618186812910104959, 0.000276438246852033987},
    {1000, 40000, -37653.9457978307338, 0.987590311652288325, 3.08297020118666472e-7},
    {1000, 1e8, -99993748.94607832, 0.999995005012450038, 4.99497509992462681e-14},
    {100000, 1e-6, -5.0e-18, 1.0e-11, 0.00001},
    {100000, 0.5, -1.24999999998437531e-6, 4.9999999998750025e-6, 9.999999999250015e-6},
    {100000, 60, -0.0179999967600663538, 0.000599999784004475424, 9.99998920022895489e-6},
    {100000, 1000, -4.99975003832498555, 0.00999900021993762036, 9.99700105958896935e-6},
    {100000, 40000, -7466.13596371741636, 0.350781659585421304, 6.84787643398235651e-6},
    {100000, 1e8, -99604602.8438568032, 0.999500129994993476, 4.99745010027422646e-12},
    {1000000, 1e-6, -5.0e-19, 1.0e-12, 1.0e-6},
    {1000000, 0.5, -1.24999999999984375e-7, 4.99999999999875e-7, 9.99999999999250001e-7},
    {1000000, 60, -0.0017999999967600065, 0.0000599999997840004336, 9.9999998920002173e-7},
    {1000000, 1000, -0.49999975000083333, 0.000999999000003999979, 9.99997000015999893e-7},
    {1000000, 40000, -799.361362523807649, 0.0399362041112328727, 9.9522546690896707e-7},
    {1000000, 1e8, -97196166.8706154964, 0.995012504872001635, 4.97499541211658294e-11}};
  for (const Case& t : cases) {
    CHECK_NEAR(error(log_vmf_constant(t.d, t.kappa), t.constant), 0, 2e-14);
    CHECK_NEAR(error(vmf_resultant(t.d, t.kappa), t.resultant), 0, 1e-13);
    CHECK_NEAR(error(vmf_resultant_slope(t.d, t.kappa), t.slope), 0, 1e-12 + 2e-15 * t.d);
  }
  CHECK_NEAR(log_sphere_density(1000) + log_vmf_constant(1000, 800), 1772.11016627656, 1e-10);
  CHECK_NEAR(log_sphere_density(3), -std::log(4 * 3.14159265358979323846), 1e-15);
  CHECK(log_vmf_constant(5, 0) == 0 && vmf_resultant(5, 0) == 0 && vmf_resultant_slope(5, 0) == 0.2);
  CHECK(std::isnan(log_vmf_constant(1, 1)) && std::isnan(vmf_resultant(3, -1)) && std::isnan(vmf_resultant_slope(not_a_number, 1)));
}

TEST("on the sphere in three dimensions all is elementary") {
  for (double kappa : {1e-3, 0.1, 1.0, 8.0, 44.0, 60.0}) {
    CHECK_NEAR(vmf_resultant(3, kappa), 1 / std::tanh(kappa) - 1 / kappa, 1e-12);
    CHECK_NEAR(log_vmf_constant(3, kappa), std::log(kappa / std::sinh(kappa)), 1e-13 * std::max(1.0, kappa));
  }
}

TEST("the slope of the log constant is minus the mean, and that of the mean the variance") {
  for (double d : {2.0, 3.0, 17.0, 400.0, 30000.0}) {
    for (double kappa : {0.3, 7.0, 120.0, 5000.0}) {
      const double h = 1e-4 * kappa;
      CHECK_NEAR((log_vmf_constant(d, kappa + h) - log_vmf_constant(d, kappa - h)) / (2 * h), -vmf_resultant(d, kappa), 1e-7);
      const double slope = (vmf_resultant(d, kappa + h) - vmf_resultant(d, kappa - h)) / (2 * h);
      CHECK_NEAR(error(vmf_resultant_slope(d, kappa), slope), 0, 1e-5);
    }
  }
}

TEST("concentrations are found from mean resultants, between the bounds") {
  const double eps = std::numeric_limits<double>::epsilon();
  for (double d : {2.0, 3.0, 10.0, 1e3, 1e5, 1e6}) {
    for (double kappa : {1e-6, 1e-3, 0.7, 30.0, 1e3, 3e4, 1e6}) {
      const double r = vmf_resultant(d, kappa);
      // A resultant is known to eps, so kappa to eps / (kappa A'): near 1 no method can do better.
      const double possible = 4 * eps * r / (kappa * vmf_resultant_slope(d, kappa));
      CHECK_NEAR(vmf_concentration(d, r) / kappa, 1, std::max(1e-12, possible));
      const Interval at = vmf_concentration_bounds(d, r);
      CHECK(at.lower <= kappa * (1 + 1e-12 + possible) && at.upper >= kappa * (1 - 1e-12 - possible));
    }
  }
  CHECK(vmf_concentration(7, 0) == 0 && vmf_concentration(7, 1) == infinity && std::isnan(vmf_concentration(7, 1.5)) && std::isnan(vmf_concentration(1, 0.5)));
}
