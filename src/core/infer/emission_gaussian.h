// Gaussian rows in each of k states, with covariances of four kinds:
//
//   full        Sigma_h                    (VVV of mclust)      diagonal    diag(v_h)       (VVI)
//   spherical   v_h I                      (VII)                tied        Sigma           (EEE)
//
// Statistics are S0_h = sum_i r_ih, S1_h = sum_i r_ih y_i and the part of S2_h = sum_i r_ih y_i y_i' that the kind needs, with rows measured from the mean of
// all. `prior_df` > 0 adds an inverse Wishart prior with the covariance (diagonal) of all rows as its mean, worth so many rows for each state.
// A covariance whose factor falls below `floor` times the variances of the columns is lifted by that much, and counted (repairs).
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/infer/emission.h"
#include "core/linalg/dense.h"

namespace granary {

enum class CovarianceKind { full, diagonal, spherical, tied };
inline Names<CovarianceKind> names(CovarianceKind) {
  return {{CovarianceKind::full, "full"},
          {CovarianceKind::diagonal, "diagonal"},
          {CovarianceKind::spherical, "spherical"},
          {CovarianceKind::tied, "tied"}};
}

struct GaussianStates {
  MatrixXd means;                    // k x p
  std::vector<MatrixXd> covariance;  // k of p x p, whatever the kind
};
template <class V>
void fields(V& v, GaussianStates& t) {
  v("means", t.means);
  v("covariance", t.covariance);
}

class GaussianEmission : public Emission {
 public:
  GaussianEmission(ConstMatrixRef y, ConstVectorRef weights, Index k, CovarianceKind kind, double prior_df = 0, double floor = 1e-6);

  Index rows() const override { return y_.rows(); }
  Index states() const override { return k_; }
  Index statistics() const override { return k_ * (1 + p_) + second_size(); }
  Index parameters() const override { return k_ * p_ + covariance_size(); }
  void set(const double* theta) override;
  void log_density(Index from, MatrixRef out) const override;
  void accumulate(Index from, ConstMatrixRef r, double* s) const override;
  void maximise(const double* s, double* theta) override;
  double complete(const double* s) const override;
  double score(const double* s, double total) const override;
  double log_prior() const override;
  int repairs() const override { return repairs_; }

  Index free_parameters() const;  // each counted once
  GaussianStates read(const double* theta) const;  // in the units of the data
  void write(const GaussianStates& states, double* theta) const;
  const VectorXd& spread() const { return spread_; }  // variances of the columns

 private:
  Index second_size() const;
  Index covariance_size() const;
  MatrixXd scatter(const double* s, Index h, ConstVectorRef mean) const;  // sum_i r_ih (y - m)(y - m)', the part that is known
  void lift(MatrixXd& covariance);

  MatrixXd y_;  // rows minus their mean
  VectorXd centre_, spread_;
  Index k_, p_;
  CovarianceKind kind_;
  double prior_df_, floor_;
  MatrixXd total_second_;  // tied: sum over all rows
  int repairs_ = 0;
  // At the parameters set.
  MatrixXd means_;                // p x k
  std::vector<MatrixXd> factor_;  // full: L_h; tied: one L; diagonal, spherical: p x 1 standard deviations
  VectorXd half_log_det_;
};

}  // namespace granary
