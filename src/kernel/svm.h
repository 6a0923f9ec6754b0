// Support vector machines for two classes, regression and novelty, each a quadratic program of core/smo.h in signed
// coefficients b over the rows, with decision function g(z) = sum_t b_t k(x_t, z) + offset.
//
//   classification     1/2 b'Kb - y'b,                  0 <= y_t b_t <= C w_t,  1'b = 0
//   regression         1/2 b'Kb - z'b + epsilon |b|_1,  |b_t| <= C w_t,         1'b = 0
//   one class          1/2 b'Kb,                        0 <= b_t <= w_t,        1'b = nu 1'w
//   nu classification  1/2 b'Kb,                        0 <= y_t b_t <= w_t,    the sum of b over each class is +-nu 1'w / 2
//   nu regression      1/2 b'Kb - z'b,                  b = a - a*, 0 <= a, a* <= C w,  1'a = 1'a* = nu C 1'w / 2
//
// Fan, Chen and Lin (2005), JMLR 6: Section 6 for the machines with nu. As in LIBSVM nu classifiers are divided by their
// margin rho, so that margins are at -1 and 1, and their box is 1 where the paper has 1/l.
#pragma once

#include <string>
#include <vector>

#include "core/optim/smo.h"
#include "kernel/svm_data.h"

namespace granary::kernel {

enum class SvmType { classification, regression, one_class, nu_classification, nu_regression };
inline Names<SvmType> names(SvmType) {
  return {{SvmType::classification, "classification"}, {SvmType::regression, "regression"}, {SvmType::one_class, "one_class"},
          {SvmType::nu_classification, "nu_classification"}, {SvmType::nu_regression, "nu_regression"}};
}

struct SvmPoint {
  double cost = 1, nu = 0.5, epsilon = 0.1;
};

struct SvmOptions {
  SvmType type = SvmType::classification;
  std::vector<double> cost{1}, nu{0.5}, epsilon{0.1};  // of equal length: the points along which each task is solved
  SmoOptions solver;
  int threads = 1;
};
template <class V>
void fields(V& v, SvmOptions& t) {
  v("type", t.type);
  v("cost", t.cost);
  v("nu", t.nu);
  v("epsilon", t.epsilon);
  fields(v, t.solver);
  v("threads", t.threads);
}

struct SvmTask {
  std::vector<Index> rows;      // of the data
  VectorXd y;                   // of these rows: -1 and 1, or targets; not looked at for one class
  VectorXd weight;              // w > 0
  VectorXd start;               // coefficients to start from, for a machine of cost start_cost; empty: none
  double start_cost = 1;        // not looked at where the cost has no part
  std::vector<Index> held_out;  // rows of the data whose decision values are wanted
  std::string name;             // of the machine
};
template <class V>
void fields(V& v, SvmTask& t) {
  v("rows", positions(t.rows));
  v("y", t.y);
  v("weight", t.weight);
  v("start", t.start);
  v("start_cost", t.start_cost);
  v("held_out", positions(t.held_out));
  v("name", t.name);
}

struct SvmSolution {
  VectorXd coefficients;  // b
  double offset = 0;
  VectorXd decision, held_out;   // of the task's rows, and of those held out
  std::vector<char> bounded;     // at an end of its box that is not zero
  std::vector<char> identified;  // every optimum has this coefficient (Theorem 5, for positive semidefinite kernels)
  double rho = 0;                // the margin of a nu classifier before it is divided by it
  double epsilon = 0;            // the tube: as given, or as nu regression finds it
  SmoResult solver;              // its beta, f and pinned are emptied
};
template <class V>
void fields(V& v, SvmSolution& t) {
  v("coefficients", t.coefficients);
  v("offset", t.offset);
  v("decision", t.decision);
  v("held_out", t.held_out);
  v("bounded", t.bounded);
  v("identified", t.identified);
  v("rho", t.rho);
  v("epsilon", t.epsilon);
  v("solver", t.solver);
}

// One solution for each point, each begun from the one before: C - scaled coefficients stay in their box, and what is amiss with
// the fixed sums is put right.
std::vector<SvmSolution> solve_svm(SvmType type, const SvmData& data, const SvmTask& task, const std::vector<SvmPoint>& points,
                                   const SmoOptions& options, Monitor& monitor);

// All tasks at all points, on several threads: [task][point].
std::vector<std::vector<SvmSolution>> solve_svm(const SvmData& data, const std::vector<SvmTask>& tasks, const SvmOptions& options,
                                                Monitor& monitor);

// The largest nu that a classifier can have: 2 min(w of the positive rows, w of the negative rows) / w of all.
double largest_nu(const SvmTask& task);

// 1/2 b'Kb - c'b between the bounds, with this sum, whatever the sum of the start.
SmoResult solve_box_qp(const Eigen::Map<const MatrixXd>& k, SmoSheet sheet, double sum, const SmoOptions& options, Monitor& monitor);

// Between the bounds, with this sum, and near b. InputError where there is no such vector.
VectorXd feasible_start(VectorXd b, ConstVectorRef lower, ConstVectorRef upper, double sum);

}  // namespace granary::kernel
