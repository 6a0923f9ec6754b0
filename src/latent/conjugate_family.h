// Rows in blocks under a conjugate family: the marginal likelihood m(x_J) of a block, and the predictive density m(x_i | x_J), from sufficient statistics that a
// row enters and leaves in O(1) (mvnormal: O(p^2)).
//
//   normal_known   x ~ N(mu, s2), mu ~ N(m0, t2)
//   normal         x ~ N(mu, v), v ~ inverse gamma(a0, b0), mu ~ N(m0, v / k0)
//   mvnormal       x ~ N(mu, V), V ~ inverse Wishart(nu0, Psi0), mu ~ N(m0, V / k0); a Cholesky factor under rank-one up- and downdates
//   poisson        mean ~ gamma(a, rate b)             exponential    rate ~ gamma(a, rate b)
//   geometric      failures before a success, p ~ beta(a, b)      negative_binomial   failures before `successes` successes
//   binomial       p ~ beta(a, b)                      categorical    columns independent, Dirichlet(weight) for the levels of each
//   lognormal      log x is normal                     weibull        x^power is exponential
//
// Blocks live in slots 0, 1, ... that whoever partitions the rows gives out. A family is a state of its own: one for each chain.
#pragma once

#include <memory>
#include <vector>

#include "core/base/fields.h"
#include "core/random/rng.h"

namespace granary::latent {

enum class FamilyType { normal_known, normal, mvnormal, poisson, exponential, geometric, negative_binomial, binomial, categorical, lognormal, weibull };
inline Names<FamilyType> names(FamilyType) {
  return {{FamilyType::normal_known, "normal_known"}, {FamilyType::normal, "normal"},
          {FamilyType::mvnormal, "mvnormal"},         {FamilyType::poisson, "poisson"},
          {FamilyType::exponential, "exponential"},   {FamilyType::geometric, "geometric"},
          {FamilyType::negative_binomial, "negative_binomial"}, {FamilyType::binomial, "binomial"},
          {FamilyType::categorical, "categorical"},   {FamilyType::lognormal, "lognormal"},
          {FamilyType::weibull, "weibull"}};
}

struct FamilySpec {
  FamilyType type = FamilyType::normal;
  VectorXd m0 = VectorXd::Zero(1);
  double k0 = 1;
  double a0 = 2, b0 = 1;
  double nu0 = 3;
  MatrixXd psi0 = MatrixXd::Identity(1, 1);
  double s2 = 1, t2 = 1;
  double a = 1, b = 1;
  double successes = 1;
  double power = 1;
  VectorXd size = VectorXd::Ones(1);  // of binomial rows: one number, or one per row
  VectorXi levels;                    // of each column of a categorical family, whose codes are 0, 1, ...
  VectorXd weight;                    // Dirichlet weights, the levels of the first column first
};
template <class V>
void fields(V& v, FamilySpec& t) {
  v("type", t.type);
  v("m0", t.m0);
  v("k0", t.k0);
  v("a0", t.a0);
  v("b0", t.b0);
  v("nu0", t.nu0);
  v("psi0", t.psi0);
  v("s2", t.s2);
  v("t2", t.t2);
  v("a", t.a);
  v("b", t.b);
  v("successes", t.successes);
  v("power", t.power);
  v("size", t.size);
  v("levels", t.levels);
  v("weight", t.weight);
}

class BlockFamily {
 public:
  virtual ~BlockFamily() = default;
  virtual std::unique_ptr<BlockFamily> clone() const = 0;

  virtual Index rows() const = 0;
  virtual void slots(int count) = 0;  // at least so many, new ones empty
  virtual void clear(int slot) = 0;
  virtual void add(Index i, int slot) = 0;
  // False where rounding has spoilt the statistics: clear the slot and add its rows again.
  virtual bool remove(Index i, int slot) = 0;
  virtual double log_marginal(int slot) const = 0;
  virtual void log_predictives(Index i, const int* slots, int count, double* out) const = 0;
  double log_predictive(Index i, int slot) const {
    double value;
    log_predictives(i, &slot, 1, &value);
    return value;
  }
  // sup over parameters of the density of row i alone; infinite where it has no bound.
  virtual double log_supremum(Index i) const = 0;
  // Row i becomes a draw from the predictive law of a block (it is not added).
  virtual void draw_row(Index i, int slot, Rng& rng) = 0;
  virtual VectorXd row(Index i) const = 0;  // as it came
  // Where the rows of a block are: posterior means of the family's mean (shares of the levels, one column after another, of a categorical family).
  virtual VectorXd centre(int slot) const = 0;
};

// InputError where rows or hyperparameters are outside the family's domain.
std::unique_ptr<BlockFamily> make_family(ConstMatrixRef x, const FamilySpec& spec);

// The two halves of make_family().
std::unique_ptr<BlockFamily> make_normal_family(ConstMatrixRef x, const FamilySpec& spec);
std::unique_ptr<BlockFamily> make_count_family(ConstMatrixRef x, const FamilySpec& spec);

// Blocks for at least so many slots; new ones as clear(slot) makes them.
template <class Block, class Clear>
void grow_slots(std::vector<Block>& blocks, int count, const Clear& clear) {
  const int old = static_cast<int>(blocks.size());
  if (old >= count) return;
  blocks.resize(static_cast<std::size_t>(count));
  for (int s = old; s < count; ++s) clear(s);
}

void require_positive(double value, const char* what);
void require_one_column(ConstMatrixRef x, const char* family);

}  // namespace granary::latent
