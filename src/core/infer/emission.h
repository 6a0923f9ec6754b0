// What the rows look like in each of k states: the part that mixtures and hidden Markov models share. Parameters and statistics are plain stretches of
// numbers, so that whoever owns the states can put its own beside them.
#pragma once

#include "core/base/types.h"

namespace granary {

class Emission {
 public:
  virtual ~Emission() = default;
  virtual Index rows() const = 0;
  virtual Index states() const = 0;
  virtual Index statistics() const = 0;
  virtual Index parameters() const = 0;

  virtual void set(const double* theta) = 0;
  // out(i, h) = log f_h(y_from+i)
  virtual void log_density(Index from, MatrixRef out) const = 0;
  // s += statistics of the rows from .. with weights r (rows x k); weights may be negative, where a row is taken out again.
  virtual void accumulate(Index from, ConstMatrixRef r, double* s) const = 0;
  virtual void maximise(const double* s, double* theta) = 0;     // theta: the last on entry
  virtual double complete(const double* s) const = 0;            // E log f at the parameters set, log prior included
  virtual double score(const double* s, double total) const = 0;  // largest scaled derivative per unit of weight
  virtual double log_prior() const { return 0; }
  virtual int repairs() const { return 0; }
};

}  // namespace granary
