#include "regress/completion_sweep.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/dense.h"

namespace granary::regress {

double half_sweep(const CellList& list, const MatrixXd& other, double lambda, MatrixXd& out, int threads, Monitor& monitor) {
  constexpr Index chunk = 32, batch = 256;
  const Index r = other.rows(), n = list.size();
  out.resize(r, n);
  const Index tasks = (n + chunk - 1) / chunk;
  std::vector<double> saved(tasks, 0);  // one sum per task, added up in order: the same on any number of threads
  parallel_for(tasks, threads, monitor, [&](Index task) {
    MatrixXd normal(r, r), gathered(r, batch);
    VectorXd right(r);
    double gain = 0;
    for (Index k = task * chunk; k < std::min(n, (task + 1) * chunk); ++k) {
      normal.setZero();
      normal.diagonal().setConstant(0.5 * lambda);
      right.setZero();
      for (int from = list.start[k]; from < list.start[k + 1]; from += static_cast<int>(batch)) {
        // Gathering makes the sum of outer products one matrix product, whatever the pattern of the cells.
        const Index count = std::min<Index>(batch, list.start[k + 1] - from);
        for (Index a = 0; a < count; ++a) {
          const double root = std::sqrt(list.weight[from + a]);
          gathered.col(a) = root * other.col(list.index[from + a]);
          right += (root * list.value[from + a]) * gathered.col(a);
        }
        normal.selfadjointView<Eigen::Lower>().rankUpdate(gathered.leftCols(count));
      }
      const LltInPlace factor(normal);
      if (factor.info() != Eigen::Success) throw NumericalError("a row's normal equations are singular; raise lambda.");
      out.col(k) = factor.solve(right);
      gain += right.dot(out.col(k));
    }
    saved[task] = gain;
  });
  double value = 0;
  for (const double gain : saved) value -= gain;
  return value;
}

}  // namespace granary::regress
