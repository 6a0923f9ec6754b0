#include "regress/compatibility.h"

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/optim/qp.h"

namespace granary::regress {

Compatibility compatibility(ConstMatrixRef s, const std::vector<int>& set, double cone, int threads, Monitor& monitor) {
  const Index p = s.cols(), size = static_cast<Index>(set.size()), rest = p - size;
  if (size < 1 || size > 12) throw InputError(message("the set must have 1 to 12 columns, not ", size, "."));
  std::vector<int> order = set;
  std::vector<char> inside(p, 0);
  for (const int j : set) inside[j] = 1;
  for (Index j = 0; j < p; ++j)
    if (!inside[j]) order.push_back(static_cast<int>(j));

  // Variables: |t_A| with the sign pattern, then positive and negative parts outside A.
  const Index patterns = Index(1) << (size - 1), variables = size + 2 * rest;
  std::vector<double> value(patterns);
  std::vector<VectorXd> t(patterns);
  parallel_for(patterns, threads, monitor, [&](Index pattern) {
    MatrixXd basis = MatrixXd::Zero(p, variables);
    for (Index k = 0; k < size; ++k) basis(order[k], k) = k > 0 && ((pattern >> (k - 1)) & 1) ? -1 : 1;
    for (Index k = 0; k < rest; ++k) {
      basis(order[size + k], size + k) = 1;
      basis(order[size + k], size + rest + k) = -1;
    }
    QuadraticProgram program;
    program.q = 2 * basis.transpose() * s * basis;
    program.c = VectorXd::Zero(variables);
    program.a = MatrixXd::Zero(2, variables);
    program.a.row(0).head(size).setOnes();
    program.a.row(1).tail(2 * rest).setOnes();
    program.b.resize(2);
    program.b << 1, cone;
    program.sense = {RowSense::equal, RowSense::less_equal};
    program.lower = VectorXd::Zero(variables);
    program.upper = VectorXd::Constant(variables, std::numeric_limits<double>::infinity());
    const QpResult result = solve_qp(program, QpOptions(), monitor);
    t[pattern] = basis * result.x;
    value[pattern] = static_cast<double>(size) * t[pattern].dot(s * t[pattern]);
  });
  Compatibility out;
  Index best = 0;
  for (Index k = 1; k < patterns; ++k)
    if (value[k] < value[best]) best = k;
  out.value = std::max(0.0, value[best]);
  out.t = t[best];
  return out;
}

}  // namespace granary::regress
