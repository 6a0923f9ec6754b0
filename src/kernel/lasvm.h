// Support vector machines learnt online: one example at a time, with a set S of potential support vectors that gains and
// loses members.
//
//   maximise  W(a) = sum_i a_i y_i - 1/2 sum_ij a_i a_j K_ij,   sum_i a_i = 0,   a_i between 0 and C_i y_i
//   f(x) = sum_i a_i K(x, x_i) + b,   g_k = y_k - sum_i a_i K_ik
//
// PROCESS(k) takes an example into S and moves it with its best partner there; REPROCESS moves the pair of S that violates
// optimality most and drops what is no support vector any more. Alternating them over one pass gives nearly the batch
// machine, several passes give it. Finishing is the batch problem on S, solved from where it stands.
//
// Bordes, Ertekin, Weston, Bottou (2005), Fast kernel classifiers with online and active learning, JMLR 6. Step names are
// theirs. Differences: an example that cannot form a violating pair is not taken into S at all (as in the authors' program);
// b and delta are those of S at any time; finishing chooses pairs by second-order information (core/smo.h).
//
// More than two classes are one machine against the rest for each class. The machines share S, the kernel rows over it and
// their cache: each kernel value is computed once for all of them. Dropped members stay in the arrays until they are a fifth of
// them, for closing the ranks costs a pass over the cache.
#pragma once

#include <functional>
#include <vector>

#include "core/kernel/kernel_rows.h"
#include "core/base/monitor.h"
#include "core/random/rng.h"
#include "core/kernel/row_cache.h"
#include "kernel/witness_search.h"

namespace granary::kernel {

struct LasvmOptions {
  double tol = 1e-3;                                           // tau
  double delta_max = std::numeric_limits<double>::infinity();  // REPROCESS is repeated until delta is below it
  int seeds = 5;                                               // of each class
  bool bias = true;                                            // false: no sum constraint and b = 0
  bool keep_all = false;                                       // S is all that was seen: nothing is refused or dropped
  double cache_mb = 256;
  double max_iter = 1e7;  // steps of finishing
  int threads = 1;        // for the search among candidates
};
template <class V>
void fields(V& v, LasvmOptions& t) {
  v("tol", t.tol);
  v("delta_max", t.delta_max);
  v("n_seed", t.seeds);
  v("bias", t.bias);
  v("retrain", t.keep_all);
  v("cache_mb", t.cache_mb);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

// What the learner knows of the rows: one entry for each row of the kernel.
struct LasvmData {
  std::vector<int> label;         // 0, 1, ...; -1: not known (yet)
  VectorXd cost;                  // C of each class
  std::function<int(Index)> ask;  // the label of a row that is not known; may be empty
  Index classes() const { return cost.size(); }
  Index machines() const { return classes() == 2 ? 1 : classes(); }
  double y(int label, Index machine) const { return label == (classes() == 2 ? 1 : machine) ? 1 : -1; }
};
template <class V>
void fields(V& v, LasvmData& t) {
  v("label", positions(t.label));
  v("cost", any_number(t.cost));
}

// Between two calls. The first rows of the data are those of S.
struct LasvmState {
  MatrixXd alpha, f;             // |S| x machines
  Eigen::MatrixXi member;        // 1: in the S of this machine
  VectorXd b, delta, objective;  // of each machine
  std::vector<int> seeded;       // of each class
  double steps = 0, kernel_values = 0, cache_hits = 0, cache_misses = 0;
  std::vector<Index> rows;  // out: which rows of the data are S now
};
template <class V>
void fields(V& v, LasvmState& t) {
  v("alpha", t.alpha);
  v("f", t.f);
  v("member", t.member);
  v("b", t.b);
  v("delta", t.delta);
  v("objective", t.objective);
  v("seeded", t.seeded);
  v("steps", t.steps);
  v("kernel_values", t.kernel_values);
  v("cache_hits", t.cache_hits);
  v("cache_misses", t.cache_misses);
}
inline void check(const LasvmState& s) {
  require(s.f.rows() == s.alpha.rows() && s.member.rows() == s.alpha.rows() && s.f.cols() == s.alpha.cols() &&
              s.member.cols() == s.alpha.cols(),
          "`alpha`, `f` and `member` differ in size.");
  require(s.b.size() == s.alpha.cols(), "`b` must have one number for each machine.");
}

// Sums and maxima over the machines. The gap is primal less dual with the b of each; infinite boxes leave none (NaN).
struct LasvmReach {
  double gap = 0, violation = 0;
  Index rows = 0;
};

template <class Real>
class Lasvm {
 public:
  Lasvm(KernelRows& rows, LasvmData& data, const LasvmState& start, const LasvmOptions& options, Monitor& monitor);

  Index size() const { return size_; }
  Index support() const { return support_; }
  bool learnt() const { return support_ > 0; }
  bool wants_seed(int label) const { return seeded_[static_cast<std::size_t>(label)] < options_.seeds; }
  Index classes_seeded() const { return seeded_.size() - std::count(seeded_.begin(), seeded_.end(), 0); }
  bool seeded_enough() const { return *std::min_element(seeded_.begin(), seeded_.end()) >= options_.seeds; }
  double delta() const;
  void certify();  // f, b, delta and objective from the coefficients in double precision, whatever the rows in the cache have
  // How far the machines are from the optimum over these rows, in S or not, computed in double precision from the coefficients.
  LasvmReach reach(const std::vector<Index>& which);
  double objective() const { return objective_.sum(); }
  const VectorXd& bias() const { return b_; }

  // sum_i a_i K(x, x_i) of each machine for one row; for several, one column each.
  const VectorXd& evaluate(Index row);
  MatrixXd evaluate(const std::vector<Index>& candidates);

  void seed(Index row);     // into S as it is
  bool process(Index row);  // of the row evaluated last. Whether S changed
  bool reprocess();         // once for each machine, then until delta < delta_max
  // The optimum of W over S. False if it took more than max_iter steps.
  bool finish();

  LasvmState state();  // closes the ranks first
  struct Snapshot {
    std::vector<WitnessSearch> machines;
    std::vector<std::vector<Index>> idle;
    std::vector<int> holders, nonzero;
    VectorXd b, objective;
    Index support, vacant;
  };
  Snapshot snapshot() const { return {machines_, idle_, holders_, nonzero_, b_, objective_, support_, vacant_}; }
  void restore(const Snapshot& s);
  std::vector<Index> support_rows() const;
  MatrixXd support_alpha() const;  // one row for each of these

 private:
  Index machines() const { return static_cast<Index>(machines_.size()); }
  bool wants(Index c, double y, double g) const;
  Index insert(Index row);
  void admit(Index c, Index s);
  const Real* row(Index place);
  bool reprocess(Index c);
  void step(Index c, Index i, Index j);
  void prune(Index c);
  void drop(Index c, Index s);
  void set_bias(Index c);
  void tally(Index s, int change);
  void close_ranks();
  void refresh_drift(Index c);
  bool finish_machine(Index c);
  bool finish_without_bias(Index c);
  void follow(Index c, Index s, bool had);
  void fill(Index place, Index from, Index to, double* out);
  int label(Index row);

  KernelRows& rows_;
  LasvmData& data_;
  const LasvmOptions& options_;
  Monitor& monitor_;
  RowCache<Real> cache_;
  std::vector<WitnessSearch> machines_;
  std::vector<std::vector<Index>> idle_;  // members with a = 0, and some that were
  std::vector<Index> at_, place_;         // row at a place, place of a row
  std::vector<int> holders_, nonzero_;    // how many machines have a place in their S, with a coefficient
  std::vector<int> seeded_;
  Index size_ = 0, support_ = 0, vacant_ = 0;
  VectorXd b_, objective_;
  VectorXd fresh_, scores_;  // the row of the example looked at, its scores
  Index fresh_row_ = -1;
  MatrixXd candidate_rows_;
  std::vector<Index> candidates_;
  LasvmState before_;
};

extern template class Lasvm<float>;
extern template class Lasvm<double>;

}  // namespace granary::kernel
