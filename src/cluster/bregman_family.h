// Bregman divergences: for a strictly convex phi,
//
//   d(x, m) = phi(x) - phi(m) - <x - m, grad phi(m)>.
//
// Each is the divergence of one exponential family, log p(x) = -d(x, mean) + log b(x) (Banerjee, Merugu, Dhillon and Ghosh, JMLR 2005, Theorem 4), with
// natural parameter theta = grad phi(mean) and cumulant psi(theta) = <mean, theta> - phi(mean). Per column (the multinomial: per row, for rows of equal sums):
//
//   gaussian      parameter s^2   (x - m)^2 / (2 s^2)                               exponential              x / m - log(x / m) - 1   (Itakura-Saito)
//   poisson                       x log(x / m) - x + m      (I-divergence)           gamma        shape a     a (x / m - log(x / m) - 1)
//   bernoulli                     x log(x / m) + (1 - x) log((1 - x) / (1 - m))      negbinomial  size r      x log(x / m) - (x + r) log((x + r) / (m + r))
//   binomial      size N          x log(x / m) + (N - x) log((N - x) / (N - m))      exp_loss                 e^x - e^m - (x - m) e^m
//   multinomial                   x log(x / m)              (relative entropy)       power        p > 1       x^p - m^p - p (x - m) m^(p - 1), x >= 0
//
// 0 log 0 = 0. A mean on the border of the domain (a column without a count in a cluster) has d = infinity for every x that is not there.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"
#include "core/linalg/design.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class DivergenceKind { gaussian, poisson, bernoulli, binomial, exponential, gamma, multinomial, negbinomial, exp_loss, power };
inline Names<DivergenceKind> names(DivergenceKind) {
  using K = DivergenceKind;
  return {{K::gaussian, "gaussian"}, {K::poisson, "poisson"},         {K::bernoulli, "bernoulli"},     {K::binomial, "binomial"}, {K::exponential, "exponential"},
          {K::gamma, "gamma"},       {K::multinomial, "multinomial"}, {K::negbinomial, "negbinomial"}, {K::exp_loss, "exp_loss"}, {K::power, "power"}};
}

// One kind of column.
struct ColumnDivergence {
  DivergenceKind kind = DivergenceKind::gaussian;
  double parameter = 1;  // s^2, N, a, r or p
  double scale = 1;      // factor of the divergence
};
template <class V>
void fields(V& v, ColumnDivergence& t) {
  v("kind", t.kind);
  v("parameter", t.parameter);
  v("scale", t.scale);
}

// A divergence between rows. Own ones come as functions of whole tables, a row at a time in their argument.
class BregmanFamily {
 public:
  explicit BregmanFamily(std::vector<ColumnDivergence> columns) : columns_(std::move(columns)) {}  // one for all columns, or one per column
  using PerRow = std::function<VectorXd(const MatrixXd&)>;
  using Table = std::function<MatrixXd(const MatrixXd&)>;
  BregmanFamily(PerRow phi, Table gradient, Table inverse) : phi_(std::move(phi)), gradient_(std::move(gradient)), inverse_(std::move(inverse)) {}
  explicit BregmanFamily(MatrixXd quadratic);  // (x - m)' A (x - m), A symmetric and positive definite

  bool own() const { return static_cast<bool>(phi_); }
  bool quadratic() const { return quadratic_.size() > 0; }
  bool has_inverse() const { return !own() || static_cast<bool>(inverse_); }
  bool has_likelihood() const;  // an exponential family of its own
  bool counts() const;          // whose likelihood is of whole numbers
  bool whole_rows() const;      // multinomial: rows of equal sums
  const ColumnDivergence& column(Index j) const { return columns_[columns_.size() == 1 ? 0 : static_cast<std::size_t>(j)]; }

  VectorXd phi(const MatrixXd& m) const;        // of each row
  MatrixXd gradient(const MatrixXd& m) const;   // theta; on the border large finite numbers (see the .cpp)
  MatrixXd inverse(const MatrixXd& theta) const;  // of the gradient
  // grad phi(m_h) - grad phi(o), and (phi(m_h) - <m_h, grad phi(m_h)>) - (phi(o) - <o, grad phi(o)>): what scores relative to o are made of, without
  // cancellation where phi is a square, so that data far from zero keep their digits.
  MatrixXd gradient_from(const MatrixXd& m, ConstVectorRef o) const;
  VectorXd offset_from(const MatrixXd& m, ConstVectorRef o) const;
  MatrixXd normal_root() const;          // quadratic: R with R R' the covariance A^-1 / 2 of its law
  bool inside(const MatrixXd& x) const;  // in the interior of the domain: the gradient is finite
  double divergence(Index j, double x, double m) const;  // of one column
  // d(x_i, m) for every row i and one m, without cancellation; d(x_i, m_z) for the labels z.
  VectorXd from_point(const Design& x, ConstVectorRef m) const;
  VectorXd from_centres(const Design& x, const MatrixXd& centres, const VectorXi& label) const;
  MatrixXd between(const MatrixXd& x, const MatrixXd& y) const;  // all pairs
  VectorXd log_base(const Design& x) const;                      // log b(x_i)

  // Throws InputError naming the first entry outside the domain. `likelihood`: counts must be whole.
  void check_domain(const Design& x, bool likelihood) const;
  void check_columns(Index d) const;

 private:
  std::vector<ColumnDivergence> columns_;
  PerRow phi_;
  Table gradient_, inverse_;
  MatrixXd quadratic_;  // A, or empty
};

// InputError where A is not symmetric and positive definite.
BregmanFamily mahalanobis_family(const MatrixXd& a);

// Rows from the mixture of the family with these centres and shares: labels and rows. `size`: sum of a multinomial row.
struct BregmanDraws {
  MatrixXd x;
  VectorXi cluster;
};
template <class V>
void fields(V& v, BregmanDraws& t) {
  v("x", t.x);
  v("cluster", positions(t.cluster));
}
BregmanDraws bregman_draws(Index n, const MatrixXd& centres, ConstVectorRef share, const BregmanFamily& family, std::int64_t size, Rng& rng);

// Divergences of all pairs of rows of x and y, or gradient, its inverse, or phi of the rows of x.
enum class BregmanTable { divergence, gradient, inverse, phi };
inline Names<BregmanTable> names(BregmanTable) {
  return {{BregmanTable::divergence, "divergence"}, {BregmanTable::gradient, "gradient"}, {BregmanTable::inverse, "inverse"}, {BregmanTable::phi, "phi"}};
}
MatrixXd bregman_table(const MatrixXd& x, const MatrixXd& y, const BregmanFamily& family, BregmanTable what);

}  // namespace granary::cluster
