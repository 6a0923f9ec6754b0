#include "core/linalg/joint_diagonal.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary {

namespace {

// Columns p and q of `a` turned by the angle with cosine c and sine s.
void turn_columns(MatrixXd& a, Index p, Index q, double c, double s) {
  const VectorXd old = a.col(p);
  a.col(p) = c * old + s * a.col(q);
  a.col(q) = c * a.col(q) - s * old;
}
void turn_rows(MatrixXd& a, Index p, Index q, double c, double s) {
  const Eigen::RowVectorXd old = a.row(p);
  a.row(p) = c * old + s * a.row(q);
  a.row(q) = c * a.row(q) - s * old;
}

}  // namespace

JointDiagonal joint_diagonal(std::vector<MatrixXd> matrices, const JointDiagonalOptions& options, Monitor& monitor) {
  if (matrices.empty()) throw InputError("there is no matrix to diagonalise.");
  const Stopwatch clock;
  const Index n = matrices[0].rows();
  for (MatrixXd& a : matrices) {
    if (a.rows() != n || a.cols() != n) throw InputError("the matrices to diagonalise must be square and of one size.");
    if (!a.allFinite()) throw InputError("the matrices to diagonalise must be finite.");
    a = (0.5 * (a + a.transpose())).eval();
  }
  JointDiagonal result;
  result.rotation = MatrixXd::Identity(n, n);
  double largest = 0;
  int sweep = 0;
  for (bool turned = true; turned && sweep < options.max_sweeps; ++sweep) {
    turned = false;
    largest = 0;
    for (Index p = 0; p < n - 1; ++p) {
      monitor.check();
      for (Index q = p + 1; q < n; ++q) {
        // With h = (a_pp - a_qq, 2 a_pq) of each matrix, a turn by t takes h to h rotated by 2t: the best one puts the larger
        // principal axis of the h's on the first coordinate.
        double on = 0, off = 0;
        for (const MatrixXd& a : matrices) {
          const double h = a(p, p) - a(q, q), g = 2 * a(p, q);
          on += h * h - g * g;
          off += 2 * h * g;
        }
        const double angle = 0.25 * std::atan2(off, on);
        largest = std::max(largest, std::abs(angle));
        if (std::abs(angle) <= options.tol) continue;
        turned = true;
        const double c = std::cos(angle), s = std::sin(angle);
        for (MatrixXd& a : matrices) {
          turn_columns(a, p, q, c, s);
          turn_rows(a, p, q, c, s);
        }
        turn_columns(result.rotation, p, q, c, s);
      }
    }
    if (!turned) break;
  }
  result.diagonals.resize(n, static_cast<Index>(matrices.size()));
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    const VectorXd diagonal = matrices[k].diagonal();
    result.diagonals.col(static_cast<Index>(k)) = diagonal;
    matrices[k].diagonal().setZero();
    result.off += matrices[k].squaredNorm();
  }
  result.convergence.converged = largest <= options.tol;
  result.convergence.iterations = std::max(sweep, 1);
  result.convergence.residual = largest;
  result.convergence.seconds = clock.seconds();
  return result;
}

}  // namespace granary
