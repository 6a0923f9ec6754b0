// Kernels of bags: each object is a weighted list of points, or a histogram, and k(mu, mu') is a function of the measure mu +
// mu'.
//
// Cuturi, Fukumizu and Vert (JMLR 2005). With mu'' = (mu + mu') / 2 for measures of mass one, Sigma(mu) the covariance of the
// points, h the entropy:
//
//   igv             1 / det(Sigma(mu'') / eta + I), 1 / det Sigma(mu'') for eta = 0; with a base kernel its kernelised form,
//                   k-IGV
//   bhattacharyya   of the Gaussian laws with the means and covariances Sigma + eta I (Kondor and Jebara, ICML 2003), with a
//                   base kernel too
//   mean_map        exp(-beta |m - m'|^2) with m the mean of the points, in the feature space of the base kernel where there
//                   is one
//   jensen_shannon  exp(-beta J), J = h(mu'') - (h(mu) + h(mu')) / 2, of histograms
//   entropy         exp(-h(f + g)) of counts as they are: the semigroup kernel itself
//   parzen          exp(-beta J) of mixtures of Gaussians around the points, width s
//   laplace         exp(-2 beta {h(p'') - (h(p) + h(p')) / 2}) with p the law of an exponential family that fits mu; with masses
//                   exp(-(M + M') h(p'') + M h(p) + M' h(p')) (2 sqrt(M M') / (M + M'))^(s / 2)
//   dirichlet       phi(n + n') of counts, phi(n) = int prod theta_i^n_i dDirichlet(theta), or of a mixture of such priors
//   integral        int exp(mu[f] + mu'[f]) dw(f) for finitely many functions f
//   interval        int_0^1 exp(mu[0, t] + mu'[0, t]) dt for points in [0, 1]  (appendix A)
//
// Everything is computed on the log scale. `normalize`: k(mu, mu') / sqrt(k(mu, mu) k(mu', mu')).
//
// The k-IGV of bags of d and d' points is printed as a determinant of size d + d'. Here each bag is reduced once to its few
// leading directions (eigenvectors of its centred kernel matrix, until what is dropped changes no logarithm by 1e-10), so that
// a pair costs d d' kernel values and a determinant of size rho + rho' + 1 (bag_factors.cpp); with landmarks it costs nothing
// that depends on d (bag_moments.cpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/kernel/kernel.h"
#include "core/kernel/object_kernel.h"

namespace granary::kernel {

enum class BagType { igv, bhattacharyya, mean_map, jensen_shannon, entropy, parzen, laplace, dirichlet, integral, interval };
inline Names<BagType> names(BagType) {
  return {{BagType::igv, "igv"},           {BagType::bhattacharyya, "bhattacharyya"},
          {BagType::mean_map, "mean_map"}, {BagType::jensen_shannon, "jensen_shannon"},
          {BagType::entropy, "entropy"},   {BagType::parzen, "parzen"},
          {BagType::laplace, "laplace"},   {BagType::dirichlet, "dirichlet"},
          {BagType::integral, "integral"}, {BagType::interval, "interval"}};
}

enum class BagFamily { gaussian, diagonal, exponential, multinomial };
inline Names<BagFamily> names(BagFamily) {
  return {{BagFamily::gaussian, "gaussian"},
          {BagFamily::diagonal, "diagonal"},
          {BagFamily::exponential, "exponential"},
          {BagFamily::multinomial, "multinomial"}};
}

struct Bag {
  MatrixXd x;                      // points in rows; empty for histograms
  VectorXd weights;                // of the points, or the counts of a histogram
  std::vector<std::string> names;  // of the cells of a histogram; empty: by position
};
template <class V>
void fields(V& v, Bag& t) {
  v("x", t.x);
  v("weights", t.weights);
  v("names", t.names);
}

struct BagOptions {
  BagType type = BagType::igv;
  std::optional<KernelSpec> kernel;  // of points; none: their inner product
  double eta = 0.01, beta = 1;
  MatrixXd landmarks;  // points whose kernel values are the features; none: the kernel as it is
  BagFamily family = BagFamily::gaussian;
  bool masses = false;                             // laplace: the total weights count
  MatrixXd prior = MatrixXd::Constant(1, 1, 0.5);  // one row for each Dirichlet law; one column: the same for all cells
  VectorXd prior_weights = VectorXd::Ones(1);
  std::vector<std::string> levels;  // cells of a histogram, where their number counts; empty: as they come
  double bandwidth = 1;             // s of parzen
  int n_draws = 2000;               // per bag, for parzen in more than two dimensions
  std::vector<int> seed{1, 1};
  VectorXd function_weights = VectorXd::Ones(1);  // of the functions of integral
  MatrixXd reference;                             // points of a measure rho: igv of lam mu'' + (1 - lam) rho
  double reference_share = 0;                     // 1 - lam
  bool normalize = true;
};
template <class V>
void fields(V& v, BagOptions& t) {
  v("type", t.type);
  v("kernel", t.kernel);
  v("eta", t.eta);
  v("beta", t.beta);
  v("landmarks", t.landmarks);
  v("family", t.family);
  v("masses", t.masses);
  v("prior", t.prior);
  v("prior_weights", t.prior_weights);
  v("levels", t.levels);
  v("bandwidth", t.bandwidth);
  v("n_draws", t.n_draws);
  v("seed", t.seed);
  v("function_weights", t.function_weights);
  v("reference", t.reference);
  v("reference_share", t.reference_share);
  v("normalize", t.normalize);
}

// The logarithm of the kernel, not normalised.
class BagModel {
 public:
  virtual ~BagModel() = default;
  virtual double log_value(Index a, Index b, Monitor& monitor) const = 0;
  virtual double operations() const = 0;
};
std::unique_ptr<BagModel> bag_counts(const std::vector<Bag>& bags,
                                     const BagOptions& options);  // histograms, functions, intervals
std::unique_ptr<BagModel> bag_moments(const std::vector<Bag>& bags, const BagOptions& options);  // means and covariances
std::unique_ptr<BagModel> bag_factors(const std::vector<Bag>& bags, const BagOptions& options);  // the same through a base kernel
std::unique_ptr<BagModel> bag_densities(const std::vector<Bag>& bags, const BagOptions& options);  // smoothed

// Weights that sum to one; InputError naming the bag.
VectorXd shares(const Bag& bag, std::size_t place);

class BagKernel : public ObjectKernel {
 public:
  BagKernel(const std::vector<Bag>& bags, const BagOptions& options);
  Index size() const override { return size_; }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const override;
  void diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const override;
  double operations() const override { return model_->operations(); }

 private:
  Index size_;
  bool normalize_;
  std::unique_ptr<BagModel> model_;
  VectorXd self_;  // log k(mu, mu)
};

// Leading eigenfunctions of the covariance operator of one bag in the feature space of a kernel (figures 4 and 5 of the paper).
struct BagEigen {
  VectorXd values;   // falling
  MatrixXd at_bag;   // a column for each function, at the points of the bag
  MatrixXd at_new;   // and at others
  double trace = 0;  // the sum of all eigenvalues
};
template <class V>
void fields(V& v, BagEigen& t) {
  v("values", t.values);
  v("at_bag", t.at_bag);
  v("at_new", t.at_new);
  v("trace", t.trace);
}
BagEigen bag_eigen(const Bag& bag, const KernelSpec& kernel, Index k, ConstMatrixRef at);

}  // namespace granary::kernel
