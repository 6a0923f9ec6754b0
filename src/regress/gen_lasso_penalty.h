// The penalty of the generalized lasso, h(b) = lambda sum_k ||(R b)_k||_2 over blocks k of rows of R (of one row each: the l1
// norm), and its proximal step in the metric D = diag(d), the h-step of Lin, Pham and Ruszczynski (JMLR 2014):
//
//   minimise  h(b) + 1/2 ||b - z||_D^2,   b = z - D^-1 R'mu,   mu maximises  -1/2 mu'R D^-1 R'mu + mu'R z  over  ||mu_k||_2 <=
//   lambda
//
//   diagonal  rows with one entry: soft threshold
//   graph     rows c (e_i - e_j) or c e_i: exact, GraphTv; chains by the dynamic program
//   general   block coordinate ascent on mu from the mu of the last call (their section 4); where that is slow, an interior point
//             method for blocks of one row, accelerated projected gradients for longer ones
#pragma once

#include "core/linalg/sparse_cholesky.h"
#include <memory>
#include <vector>

#include "core/prox/graph_tv.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::regress {

class GenPenalty {
 public:
  using Rows = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  enum class Kind { diagonal, graph, general };

  // `size`: rows per block, in order; empty: one each. `null`: a basis of the null space of R where the caller knows one.
  GenPenalty(Rows r, const std::vector<int>& size, const MatrixXd& null = MatrixXd());

  Index rows() const { return r_.rows(); }
  Index cols() const { return r_.cols(); }
  Kind kind() const { return kind_; }
  bool differences() const { return differences_; }  // every row is c (e_i - e_j) or c e_i
  bool single_rows() const { return static_cast<Index>(start_.size()) == rows() + 1; }
  const Rows& matrix() const { return r_; }
  const std::vector<int>& start() const { return start_; }

  double value(ConstVectorRef b) const;       // sum_k ||(R b)_k||
  double dual_norm(ConstVectorRef mu) const;  // max_k ||mu_k||
  VectorXd transpose(ConstVectorRef mu) const { return r_transposed_ * mu; }

  // The step. `mu` is where the ascent starts, and the result; `gap_tol` is for kind general only. Returns the gap reached.
  double prox(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, bool want_mu, Monitor& monitor, VectorXd& b,
              VectorXd& mu);

  // Groups of equal coefficients: label per coefficient, -1 where a row c e_i holds it at zero. `tolerance` on |R b|.
  std::vector<int> groups(ConstVectorRef b, double tolerance, int& count) const;
  // `settled`: b and mu are those of settle(), whose kinks have |mu| = lambda exactly.
  double degrees_of_freedom(ConstVectorRef b, ConstVectorRef mu, double lambda, double tolerance, bool settled = false) const;

  bool null_known() const { return null_known_; }
  const MatrixXd& null_space() const { return null_; }
  // The smallest lambda for which some mu with R'mu = v has dual norm at most lambda; v must be orthogonal to the null space.
  // `exact` says whether it is that or an upper bound.
  double largest(ConstVectorRef v, Monitor& monitor, bool& exact);
  // R'mu = v has one solution where the rows of R are independent. Rows that begin one after the other, as those of a chain of any
  // order do, give it by substitution: cumulated sums, which no ill-conditioned R'R spoils. Empty where they do not.
  VectorXd substituted(ConstVectorRef v) const;

  // The step from z = y in the metric of the identity, exactly: gen_lasso_settle.cpp. `near`: b and mu are near the answer; otherwise mu is that of another lambda,
  // or zero. False where it cannot be done (rows that are not independent, blocks), or would take long; b and mu are then as they were.
  bool settle(ConstVectorRef y, double lambda, bool near, Monitor& monitor, VectorXd& b, VectorXd& mu) const;

  // mu plus the least-squares solution of R'x = v - R'mu.
  VectorXd complete(ConstVectorRef v, ConstVectorRef mu, Monitor& monitor);

 private:
  void analyse(const MatrixXd& null);
  double graph_prox(ConstVectorRef z, ConstVectorRef d, double lambda, bool want_mu, Monitor& monitor, VectorXd& b, VectorXd& mu);
  double ascent(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b, VectorXd& mu);
  double interior(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b, VectorXd& mu);
  double accelerated(ConstVectorRef z, ConstVectorRef d, double lambda, double gap_tol, Monitor& monitor, VectorXd& b,
                     VectorXd& mu);
  double inner_gap(ConstVectorRef b, ConstVectorRef mu, double lambda) const;

  Rows r_, r_transposed_;
  std::vector<int> start_;
  Kind kind_ = Kind::general;
  bool differences_ = false;
  std::vector<int> edge_of_row_;      // graph: number of the edge, or -1 - node
  VectorXd sign_, share_;             // graph: of the row in its edge or node
  VectorXd edge_weight_, threshold_;  // per edge; per coefficient
  bool any_threshold_ = false;
  std::unique_ptr<GraphTv> tv_;
  MatrixXd null_, null_basis_;  // the second orthonormal
  std::unique_ptr<Eigen::SimplicialLDLT<SparseMatrix>> normal_factor_;
  bool null_known_ = false;
};

}  // namespace granary::regress
