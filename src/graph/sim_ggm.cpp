#include "graph/sim_ggm.h"

#include "core/linalg/sparse_cholesky.h"
#include <algorithm>
#include <cmath>

#include "core/linalg/dense.h"
#include "core/linalg/spd_inverse.h"
#include "core/linalg/spectral.h"

namespace granary::graph {

namespace {

using Entries = std::vector<Eigen::Triplet<double>>;

SparseMatrix assemble(int p, const Entries& entries) {
  SparseMatrix x(p, p);
  x.setFromTriplets(entries.begin(), entries.end());
  return x;
}

void add_edge(Entries& entries, int i, int j, double value) {
  entries.emplace_back(i, j, value);
  entries.emplace_back(j, i, value);
}

double edge_value(Rng& rng) {
  const double size = rng.uniform(0.25, 0.6);
  return rng.bernoulli(0.5) ? size : -size;
}

SparseMatrix chain(int p) {
  Entries entries;
  for (int i = 0; i < p; ++i) {
    entries.emplace_back(i, i, 1.25);
    if (i > 0) add_edge(entries, i - 1, i, -0.5);
  }
  return assemble(p, entries);
}

SparseMatrix random_cross_product(int p, double shift, Rng& rng) {
  Entries entries;
  for (int j = 0; j < p; ++j) {
    for (const int i : rng.sample_without_replacement(p, std::min(3, p))) entries.emplace_back(i, j, rng.bernoulli(0.5) ? 1 : -1);
  }
  const SparseMatrix u = assemble(p, entries);
  SparseMatrix x = u.transpose() * u;
  SparseMatrix identity(p, p);
  identity.setIdentity();
  x += shift * identity;
  x.prune([](Index, Index, double value) { return value != 0; });  // products of signs can cancel
  return x;
}

// An off-diagonal pattern made positive definite by the diagonal that puts its smallest eigenvalue at `shift`.
SparseMatrix lift(int p, const Entries& entries, double shift) {
  SparseMatrix x = assemble(p, entries);
  Monitor silent;
  const double lowest = entries.empty() ? 0 : top_eigenpairs(x, 1, Which::smallest, EigenOptions(), silent).values[0];
  SparseMatrix identity(p, p);
  identity.setIdentity();
  x += (shift - lowest) * identity;
  return x;
}

void scale_to_unit_variance(SparseMatrix& x) {
  SpdInverse factor;
  const SparseMatrix upper = x.triangularView<Eigen::Upper>();
  if (!factor.factorise(upper))
    throw NumericalError("the simulated precision matrix is not positive definite; use a larger shift");
  MatrixXd w;
  factor.inverse(w);
  const VectorXd sd = w.diagonal().array().sqrt();
  for (Index j = 0; j < x.cols(); ++j) {
    for (SparseMatrix::InnerIterator it(x, j); it; ++it) it.valueRef() *= sd[it.row()] * sd[j];
  }
}

// The thesis only "verifies" that the smallest eigenvalue is at least 0.1; here the diagonal of the connected block sets it to
// `shift`.
SparseMatrix confounders(const SimGgmOptions& o, Rng& rng) {
  const int linked = static_cast<int>(std::lround(o.connected * o.p));
  std::vector<int> members = rng.sample_without_replacement(o.p, linked);
  std::sort(members.begin(), members.end());
  Entries block, entries;
  for (int j = 0; j < linked; ++j) {
    for (int i = 0; i < j; ++i) {
      if (rng.bernoulli(o.density)) add_edge(block, i, j, rng.bernoulli(0.5) ? 1 : -1);
    }
  }
  double deviation = 1;
  if (linked > 0) {
    const SparseMatrix x = lift(linked, block, o.shift);
    SpdInverse factor;
    const SparseMatrix upper = x.triangularView<Eigen::Upper>();
    if (!factor.factorise(upper))
      throw NumericalError("the simulated precision matrix is not positive definite; use a larger shift");
    MatrixXd w;
    factor.inverse(w);
    deviation = w.diagonal().array().sqrt().mean();
    for (int j = 0; j < linked; ++j) {
      for (SparseMatrix::InnerIterator it(x, j); it; ++it) entries.emplace_back(members[it.row()], members[j], it.value());
    }
  }
  std::vector<char> alone(o.p, 1);
  for (const int i : members) alone[i] = 0;
  for (int i = 0; i < o.p; ++i) {
    if (alone[i]) entries.emplace_back(i, i, o.ratio * o.ratio / (deviation * deviation));
  }
  return assemble(o.p, entries);
}

SparseMatrix regions(int p) {
  if (p % 9 != 0) throw InputError(message("p must be a multiple of 9 for regions, got ", p, "."));
  struct Link {
    int from, to;
    double weight;
  };
  static const Link links[] = {{0, 5, .35},  {0, 6, .35},  {1, 5, .35},  {1, 6, .35}, {3, 7, -.35},
                               {3, 8, -.35}, {4, 7, -.35}, {4, 8, -.35}, {0, 3, .25}};
  const int m = p / 9;
  Entries entries;
  for (int i = 0; i < p; ++i) entries.emplace_back(i, i, 1.0);
  for (const Link& link : links) {
    for (int a = 0; a < m; ++a) {
      for (int b = 0; b < m; ++b) add_edge(entries, link.from * m + a, link.to * m + b, link.weight / m);
    }
  }
  return assemble(p, entries);
}

}  // namespace

SparseMatrix sim_ggm_precision(const SimGgmOptions& o, Rng& rng) {
  const int p = o.p;
  Entries entries;
  SparseMatrix x;
  switch (o.type) {
    case GgmType::chain:
      x = chain(p);
      break;
    case GgmType::random:
      x = random_cross_product(p, o.shift, rng);
      break;
    case GgmType::block: {
      const SparseMatrix one = random_cross_product(o.block, o.shift, rng);
      for (int b = 0; b < p / o.block; ++b) {
        for (int j = 0; j < o.block; ++j) {
          for (SparseMatrix::InnerIterator it(one, j); it; ++it) {
            entries.emplace_back(b * o.block + static_cast<int>(it.row()), b * o.block + j, it.value());
          }
        }
      }
      x = assemble(p, entries);
      break;
    }
    case GgmType::band:
      for (int i = 0; i < p; ++i) {
        for (int d = 1; d <= o.width && i + d < p; ++d) add_edge(entries, i, i + d, -0.5 / d);
      }
      x = lift(p, entries, o.shift);
      break;
    case GgmType::hub:
    case GgmType::cluster:
      for (int i = 0; i < p; ++i) {
        const int first = static_cast<int>((static_cast<long long>(i) * o.groups / p * p + o.groups - 1) / o.groups);
        if (o.type == GgmType::hub) {
          if (i != first) add_edge(entries, first, i, edge_value(rng));
        } else {
          for (int j = first; j < i; ++j) {
            if (rng.bernoulli(o.density)) add_edge(entries, j, i, edge_value(rng));
          }
        }
      }
      x = lift(p, entries, o.shift);
      break;
    case GgmType::scale_free: {
      std::vector<int> ends;  // every edge twice: a uniform pick is a pick by degree
      for (int i = 1; i < p; ++i) {
        const int j = ends.empty() ? 0 : ends[rng.below(ends.size())];
        add_edge(entries, j, i, edge_value(rng));
        ends.push_back(i);
        ends.push_back(j);
      }
      x = lift(p, entries, o.shift);
      break;
    }
    case GgmType::regions:
      x = regions(p);
      break;
    case GgmType::confounders:
      x = confounders(o, rng);
      break;
    case GgmType::grid:
      for (int i = 0; i < p; ++i) {
        if ((i + 1) % o.rows != 0 && i + 1 < p) add_edge(entries, i, i + 1, edge_value(rng));
        if (i + o.rows < p) add_edge(entries, i, i + o.rows, edge_value(rng));
      }
      x = lift(p, entries, o.shift);
      break;
  }
  if (o.unit_variance) scale_to_unit_variance(x);
  return x;
}

MatrixXd sample_from_precision(const SparseMatrix& precision, Index n, Rng& rng) {
  const Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower> llt(precision);
  if (llt.info() != Eigen::Success)
    throw NumericalError("the precision matrix is not positive definite, so there is nothing to draw from");
  MatrixXd z(precision.cols(), n);  // column by column, so that the first rows do not depend on n
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < z.rows(); ++i) z(i, j) = rng.normal();
  }
  // P X P' = L L', so P'L'^-1 z has covariance X^-1.
  llt.matrixU().solveInPlace(z);
  return (llt.permutationPinv() * z).transpose();
}

MatrixXd sample_from_covariance(ConstMatrixRef covariance, Index n, Rng& rng) {
  const Llt factor(covariance);
  if (factor.info() != Eigen::Success)
    throw NumericalError("the covariance matrix is not positive definite, so there is nothing to draw from");
  MatrixXd z(covariance.cols(), n);  // column by column, so that the first rows do not depend on n
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < z.rows(); ++i) z(i, j) = rng.normal();
  }
  return (factor.matrixL() * z).transpose();
}

}  // namespace granary::graph
