// Training of members by gradients: what nc_ensemble.cpp and nc_baseline.cpp share.
#pragma once

#include "ensemble/nc_ensemble.h"

namespace granary::ensemble {

// Rows as members see them, those held out apart, and where every member starts.
class NcTrainer {
 public:
  NcTrainer(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const NcOptions& options, Index members, const Rng& rng);

  // A group of members, trained together towards targets of its own.
  struct Group {
    Index from = 0, count = 1;
    VectorXd target, target_valid;
    VectorXd row_weights;  // of the training rows, mean 1
    int number = 0;        // in the trace
    int threads = 1;
  };
  struct Ending {
    std::vector<NcTrace> trace;
    bool early = false, diverged = false;
    Convergence convergence;
  };
  Group all() const;
  Group alone(Index member) const;
  Ending train(const Group& group, NcPenalty penalty, double lambda, Monitor& monitor);

  Index rows() const { return t_.size(); }
  Index members() const { return weights_.cols(); }
  const std::vector<Index>& kept() const { return kept_; }
  const std::vector<Index>& held() const { return held_; }
  bool too_few() const { return too_few_; }
  const VectorXd& target() const { return t_; }
  const VectorXd& target_valid() const { return t_valid_; }
  const VectorXd& row_weights() const { return w_; }
  VectorXd values(Index member, bool valid) const;  // of a member as it stands, on the scale of training
  MatrixXd features(Index member) const;
  void set_linear(Index member, const VectorXd& weights, double constant);
  double unit() const { return y_scale_; }  // of y, in those of training
  NcModel model() const;

 private:
  friend class GroupTraining;
  MatrixXd scaled(ConstMatrixRef x, const std::vector<Index>& rows) const;

  NcOptions options_;
  MemberShape shape_;
  VectorXd x_low_, x_scale_;
  double y_low_ = 0, y_scale_ = 1;
  std::vector<Index> kept_, held_;
  bool too_few_ = false;
  MatrixXd x_, x_valid_;  // inputs x rows
  VectorXd t_, t_valid_, w_, w_valid_;
  MatrixXd weights_, fixed_;
  Rng order_;
};

}  // namespace granary::ensemble
