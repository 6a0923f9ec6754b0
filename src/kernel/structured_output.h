// What learning with structured outputs needs to know about a problem: joint features, loss, and the searches over outputs.
//
//   F(x, y) = <w, Psi(x, y)>,   prediction f(x) = argmax_y F(x, y),   loss D_i(y) = Delta(y_i, y) >= 0
//
// Tsochantaridis, Joachims, Hofmann, Altun (JMLR 6, 2005). One module per kind of output derives from Output; the learners
// (structured_svm.h, structured_perceptron.h) know nothing else. An output is coded as a vector of whole numbers whose meaning is
// the module's own; no numbers at all mean "there is none".
//
// The searches see w through the vector v of structured_space.h, for which <w, Psi> is the plain inner product of v with the
// coordinates of Psi: v = w without a kernel.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary::kernel {

using Label = std::vector<int>;

// Indices increase.
struct SparseVector {
  std::vector<int> index;
  std::vector<double> value;

  double dot(const VectorXd& v) const {
    double sum = 0;
    for (std::size_t k = 0; k < index.size(); ++k) sum += value[k] * v[index[k]];
    return sum;
  }
};

double dot(const SparseVector& a, const SparseVector& b);

// Collects terms in any order, and sums those that meet.
class SparseBuilder {
 public:
  void add(Index index, double value) {
    if (value != 0) terms_.push_back({static_cast<int>(index), value});
  }
  SparseVector finish();  // and starts anew

 private:
  struct Term {
    int index;
    double value;
  };
  std::vector<Term> terms_;
};

// How the loss enters the constraints. `root`: as its square root, which squared slacks need to bound the risk.
enum class Rescale { none, margin, slack };
inline Names<Rescale> names(Rescale) { return {{Rescale::none, "none"}, {Rescale::margin, "margin"}, {Rescale::slack, "slack"}}; }

struct Search {
  Rescale rescale = Rescale::margin;
  bool root = false;

  double level(double loss) const { return rescale == Rescale::none ? 1 : root ? std::sqrt(loss) : loss; }
  // H_i(y) of Algorithm 1, for `ahead` = <w, Psi(y) - Psi(y_i)>. No output with loss 0 is a violation under slack rescaling.
  double violation(double loss, double ahead) const {
    return rescale == Rescale::slack ? level(loss) * (1 + ahead) : level(loss) + ahead;
  }
};

class Output {
 public:
  virtual ~Output() = default;
  virtual Index size() const = 0;      // examples n
  virtual Index features() const = 0;  // length of Psi
  virtual const Label& truth(Index i) const = 0;
  virtual void add_psi(Index i, const Label& y, double factor, SparseBuilder& psi) const = 0;
  virtual double loss(Index i, const Label& y) const = 0;
  virtual Label predict(Index i, const VectorXd& v) const = 0;
  // argmax of H_i over y other than y_i; none where there is no other.
  virtual Label most_violated(Index i, const VectorXd& v, const Search& search) const = 0;
  virtual double largest_loss(Index i) const = 0;  // max_y D_i(y)
  virtual double radius_bound(Index i) const = 0;  // of ||Psi(x_i, y) - Psi(x_i, y')|| over all y and y' (section 4)
  virtual bool correct(Index i, const Label& y) const { return y == truth(i); }
  virtual bool exact() const { return true; }       // most_violated finds the maximum
  virtual bool threadable() const { return true; }  // searches may run on several threads
  virtual bool costly() const { return false; }     // a search takes longer than handing it to a thread
  // Where all outputs can be listed, their number, label {k} being number k, and F(x_i, y) for each; otherwise 0 and nothing.
  virtual Index outputs() const { return 0; }
  virtual VectorXd all_scores(Index, const VectorXd&) const { return {}; }
  virtual Label most_violated_of(Index, const VectorXd&, const Search&) const { return {}; }  // by these scores

  SparseVector psi(Index i, const Label& y) const;
  virtual SparseVector difference(Index i, const Label& y) const;  // dPsi_i(y) = Psi(x_i, y_i) - Psi(x_i, y)
};

// The best of H over candidates that come one at a time, the first among equals.
class BestViolation {
 public:
  BestViolation(const Search& search, double true_score) : search_(search), true_score_(true_score) {}
  void offer(double score, double loss, int id) {
    if (search_.rescale == Rescale::slack && loss <= 0) return;
    const double h = search_.violation(loss, score - true_score_);
    if (h > best_) {
      best_ = h;
      id_ = id;
    }
  }
  int id() const { return id_; }  // -1: none

 private:
  const Search& search_;
  double true_score_, best_ = -std::numeric_limits<double>::infinity();
  int id_ = -1;
};

}  // namespace granary::kernel
