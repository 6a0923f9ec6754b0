// Gaussian rows in each of k states, with covariances of four kinds (core/infer/gaussian_density.h).
//
// Statistics are S0_h = sum_i r_ih, S1_h = sum_i r_ih y_i and the part of S2_h = sum_i r_ih y_i y_i' that the kind needs, with
// rows measured from the mean of all. `prior_df` > 0 adds an inverse Wishart prior with the covariance (diagonal) of all rows as
// its mean, worth so many rows for each state. A covariance whose factor falls below `floor` times the variances of the columns
// is lifted by that much, and counted (repairs); or, with GaussianBounds::clip, covariances are bounded from below by floor *
// diag(spread), so that the M-step is the maximum under that bound and EM never falls.
//
// A row with a value that is not a number is missing: it says nothing of its state.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/infer/emission.h"
#include "core/infer/gaussian_density.h"
#include "core/linalg/dense.h"

namespace granary {

struct GaussianStates {
  MatrixXd means;                    // k x p
  std::vector<MatrixXd> covariance;  // k of p x p, whatever the kind
};
template <class V>
void fields(V& v, GaussianStates& t) {
  v("means", t.means);
  v("covariance", t.covariance);
}

struct GaussianBounds {
  bool clip = false;
  VectorXd spread;  // variances that the floor is relative to; empty: those of the columns
};

class GaussianEmission : public Emission {
 public:
  GaussianEmission(ConstMatrixRef y, ConstVectorRef weights, Index k, CovarianceKind kind, double prior_df = 0,
                   double floor = 1e-6, const GaussianBounds& bounds = {});

  Index rows() const override { return y_.rows(); }
  Index states() const override { return k_; }
  Index statistics() const override { return k_ * (1 + p_) + second_size(); }
  Index parameters() const override { return k_ * p_ + covariance_size(kind_, p_, k_); }
  void set(const double* theta) override;
  void log_density(Index from, MatrixRef out) const override;
  void accumulate(Index from, ConstMatrixRef r, double* s) const override;
  void maximise(const double* s, double* theta) override;
  double complete(const double* s) const override;
  double score(const double* s, double total) const override;
  double log_prior() const override;
  int repairs() const override { return repairs_; }

  Index free_parameters() const { return gaussian_parameters(kind_, p_, k_); }  // each counted once
  GaussianStates read(const double* theta) const;  // in the units of the data
  void write(const GaussianStates& states, double* theta) const;
  const VectorXd& spread() const { return spread_; }  // variances of the columns
  const VectorXd& centre() const { return centre_; }  // what `theta` measures means from
  Index observed() const { return observed_; }        // rows that are not missing

 private:
  Index second_size() const;
  MatrixXd scatter(const double* s, Index h, ConstVectorRef mean) const;  // sum_i r_ih (y - m)(y - m)', the part that is known
  void lift(MatrixXd& covariance);
  void lift(double& variance, double spread);
  double clipped_score(MatrixXd scatter, double weight, const MatrixXd& factor) const;

  MatrixXd y_;  // rows minus their mean
  VectorXd centre_, spread_;
  Index k_, p_;
  CovarianceKind kind_;
  double prior_df_, floor_;
  bool clip_;
  std::vector<char> missing_;     // of every row; empty where none is
  Index observed_;
  MatrixXd total_second_;  // tied: sum over all rows
  int repairs_ = 0;
  GaussianDensity at_;            // the parameters set
};

}  // namespace granary
