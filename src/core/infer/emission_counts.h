// Rows of counts or categories in each of k states, whose log-density is linear in the row:
//
//   log f_h(y) = <y, log t_h> - b_h + base(y)
//
//   poisson       t_hj the rate of column j, b_h = sum_j t_hj
//   multinomial   t_h shares of sum 1 (words of a document)
//   categorical   columns are indicators of the levels of items, shares of sum 1 within each item; a missing item is a row of zeros there
//
// Rows may be sparse. `prior` > 0 adds so many counts to each share (a Dirichlet prior with parameter 1 + prior), spread as the shares of all rows.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/cluster/data_rows.h"
#include "core/infer/emission.h"

namespace granary {

enum class CountLaw { poisson, multinomial, categorical };
inline Names<CountLaw> names(CountLaw) {
  return {{CountLaw::poisson, "poisson"}, {CountLaw::multinomial, "multinomial"}, {CountLaw::categorical, "categorical"}};
}

class CountEmission : public Emission {
 public:
  // items: for categorical, the first column of each item, and the number of columns at the end.
  CountEmission(const DataRows& y, ConstVectorRef weights, Index k, CountLaw law, std::vector<Index> items = {}, double prior = 0);

  Index rows() const override { return y_.rows(); }
  Index states() const override { return k_; }
  Index statistics() const override { return k_ * (1 + d_); }
  Index parameters() const override { return k_ * d_; }
  void set(const double* theta) override;
  void log_density(Index from, MatrixRef out) const override;
  void accumulate(Index from, ConstMatrixRef r, double* s) const override;
  void maximise(const double* s, double* theta) override;
  double complete(const double* s) const override;
  double score(const double* s, double total) const override;
  double log_prior() const override;

  double base() const { return base_sum_; }  // weighted sum of base(y), which complete() leaves out
  Index free_parameters() const;
  const VectorXd& mean() const { return mean_; }  // t of all rows together

 private:
  void shares(VectorRef t) const;  // divides by the sums of the law's groups
  const DataRows& y_;
  Index k_, d_;
  CountLaw law_;
  std::vector<Index> items_;
  double prior_;
  VectorXd base_, mean_;
  double base_sum_ = 0;
  MatrixXd table_, logs_;  // k x d
  VectorXd bias_;
};

// Item codes 1..levels[j] (0: missing) as indicator columns, and where the items begin.
SparseMatrix indicator_columns(const Eigen::Ref<const Eigen::MatrixXi>& codes, const std::vector<int>& levels, std::vector<Index>& items);

}  // namespace granary
