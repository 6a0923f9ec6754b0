#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/optim/lbfgs.h"
#include "core/linalg/spectral.h"
#include "graph/bn_kernel_shatter.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// The most columns that show every pattern of signs among the rows. Columns are added in increasing order; a set is extended only
// while it is shattered, as subsets of shattered sets are.
class ShatteredColumns {
 public:
  ShatteredColumns(ConstMatrixRef m, Monitor& monitor) : m_(m), monitor_(monitor) {}
  int largest() {
    std::vector<int> all(m_.rows());
    for (Index r = 0; r < m_.rows(); ++r) all[r] = static_cast<int>(r);
    extend(0, 0, {all});
    return best_;
  }
  bool complete() const { return steps_ < limit; }

 private:
  static constexpr double limit = 2e5;

  // `cells`: the rows by their pattern on the columns chosen so far; all must stay non-empty.
  void extend(int size, int from, const std::vector<std::vector<int>>& cells) {
    best_ = std::max(best_, size);
    std::size_t smallest = cells[0].size();
    for (const auto& cell : cells) smallest = std::min(smallest, cell.size());
    int room = 0;
    while ((std::size_t{2} << room) <= smallest) ++room;  // every further column halves the smallest cell at best
    for (int c = from; c < m_.cols() && size + std::min<int>(room, static_cast<int>(m_.cols()) - c) > best_; ++c) {
      if (++steps_ >= limit) return;
      monitor_.check();
      std::vector<std::vector<int>> next;
      bool whole = true;
      for (const auto& cell : cells) {
        std::vector<int> up, down;
        for (int r : cell) (m_(r, c) > 0 ? up : down).push_back(r);
        if (up.empty() || down.empty()) {
          whole = false;
          break;
        }
        next.push_back(std::move(up));
        next.push_back(std::move(down));
      }
      if (whole) extend(size + 1, c + 1, next);
    }
  }

  ConstMatrixRef m_;
  Monitor& monitor_;
  int best_ = 0;
  double steps_ = 0;
};

// Minimises sum max(0, 1 - M_ij u_i'v_j)^2 over both factors from a random start. True when all signs are right.
bool factorise(ConstMatrixRef m, int d, const SignRankOptions& options, Rng& rng, Monitor& monitor, MatrixXd& left,
               MatrixXd& right) {
  const Index n = m.rows(), k = m.cols();
  VectorXd start((n + k) * d);
  for (Index i = 0; i < start.size(); ++i) start[i] = rng.normal();
  const Objective loss = [&](const VectorXd& theta, VectorXd& gradient) {
    const Eigen::Map<const MatrixXd> u(theta.data(), n, d), v(theta.data() + n * d, k, d);
    const MatrixXd slack = (1 - m.array() * (u * v.transpose()).array()).max(0).matrix();
    const MatrixXd pull = -2 * (slack.array() * m.array()).matrix();
    gradient.resize(theta.size());
    Eigen::Map<MatrixXd>(gradient.data(), n, d).noalias() = pull * v;
    Eigen::Map<MatrixXd>(gradient.data() + n * d, k, d).noalias() = pull.transpose() * u;
    return slack.squaredNorm();
  };
  LbfgsOptions settings;
  settings.max_iter = options.max_iter;
  settings.tol = 1e-9;
  const LbfgsResult result = lbfgs(loss, start, settings, monitor);
  left = Eigen::Map<const MatrixXd>(result.x.data(), n, d);
  right = Eigen::Map<const MatrixXd>(result.x.data() + n * d, k, d);
  return (m.array() * (left * right.transpose()).array()).minCoeff() > 1e-6;
}

}  // namespace

SignRankBounds sign_rank_bounds(ConstMatrixRef m, const SignRankOptions& options, Rng& rng, Monitor& monitor) {
  for (Index j = 0; j < m.cols(); ++j) {
    for (Index i = 0; i < m.rows(); ++i) {
      if (m(i, j) != 1 && m(i, j) != -1) {
        throw InputError(message("The matrix must hold 1 and -1 only, but entry (", i + 1, ", ", j + 1, ") is ", m(i, j), "."));
      }
    }
  }
  SignRankBounds out;
  const MatrixXd copy = m;
  const Svd svd(copy);
  out.norm = svd.singularValues()[0];
  const double cells = static_cast<double>(m.rows()) * static_cast<double>(m.cols());
  out.forster = std::sqrt(cells) / out.norm;
  const double cut = 1e-10 * out.norm * static_cast<double>(std::max(m.rows(), m.cols()));
  while (out.rank < svd.singularValues().size() && svd.singularValues()[out.rank] > cut) ++out.rank;
  ShatteredColumns columns(copy, monitor);
  const MatrixXd turned = copy.transpose();
  ShatteredColumns rows(turned, monitor);
  out.vc = std::max(columns.largest(), rows.largest());
  out.vc_complete = columns.complete() && rows.complete();

  const Svd factors(copy, SvdParts::thin);
  out.upper = out.rank;
  out.left = factors.matrixU().leftCols(out.rank) * svd.singularValues().head(out.rank).asDiagonal();
  out.right = factors.matrixV().leftCols(out.rank);
  // 1e-9: a bound that is an integer but for rounding is that integer.
  const int lower = std::max({1, out.vc, static_cast<int>(std::ceil(out.forster - 1e-9))});
  const int last = options.max_dimension > 0 ? std::min(options.max_dimension, out.rank - 1) : out.rank - 1;
  for (int d = lower; d <= last; ++d) {
    for (int attempt = 0; attempt < options.restarts; ++attempt) {
      monitor.check();
      Rng own = rng.stream(static_cast<std::uint64_t>(d) * 1000 + attempt);
      MatrixXd left, right;
      if (factorise(copy, d, options, own, monitor, left, right)) {
        out.upper = d;
        out.left = left;
        out.right = right;
        return out;
      }
    }
  }
  return out;
}

}  // namespace granary::graph
