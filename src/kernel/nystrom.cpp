#include "kernel/nystrom.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "core/linalg/dense.h"
#include "core/linalg/leading_eigenpair.h"
#include "core/linalg/spectral.h"
#include "core/linalg/spectral_norm.h"
#include "core/lowrank/selection.h"

namespace granary::kernel {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

VectorXd require_diagonal(const GramSource& g, const Work& work) {
  VectorXd d = g.diagonal(work);
  Index at = 0;
  if (d.minCoeff(&at) < -1e-10 * d.cwiseAbs().maxCoeff())
    throw InputError(message("the kernel matrix is not positive semi-definite: its diagonal entry ", at + 1, " is ", d[at], "."));
  return d.cwiseMax(0.0);
}

// G(:, which) in blocks, handed to f(first column, block).
template <class F>
void sweep(const GramSource& g, const std::vector<Index>& which, const Work& work, F&& f) {
  const std::size_t width = 256;
  for (std::size_t from = 0; from < which.size(); from += width) {
    work.monitor.check();
    const std::size_t to = std::min(which.size(), from + width);
    f(static_cast<Index>(from), g.columns(std::vector<Index>(which.begin() + static_cast<std::ptrdiff_t>(from),
                                                             which.begin() + static_cast<std::ptrdiff_t>(to)),
                                          work));
  }
}

std::vector<Index> everything(Index n) {
  std::vector<Index> all(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  return all;
}

// Ridge leverage scores (G (G + lambda I)^-1)_ii from a uniform pilot, with lambda the tail of its spectrum over k.
VectorXd pilot_leverage(const GramSource& g, Index c, Index k, ConstVectorRef diagonal, Rng& rng, const Work& work) {
  NystromOptions pilot;
  pilot.c = std::min(g.size(), std::max<Index>(2 * c, 20));
  pilot.clip = true;
  pilot.threads = work.threads;
  const NystromResult found = nystrom(g, pilot, rng, work.monitor);
  const Index head = std::min(std::max<Index>(1, k), found.eigenvalues.size());
  const double tail = std::max(found.trace - found.eigenvalues.head(head).sum(), 1e-12 * found.trace);
  const double lambda = tail / static_cast<double>(std::max<Index>(1, k));
  const VectorXd shrink = (found.eigenvalues.array() + lambda).inverse();
  VectorXd out = found.features.cwiseAbs2() * shrink;
  out.array() += found.residual.array() / (found.residual.array() + lambda);
  for (Index i = 0; i < out.size(); ++i)
    if (!(diagonal[i] > 0)) out[i] = 0;
  return out;
}

VectorXd probabilities(const GramSource& g, const NystromOptions& options, const VectorXd& diagonal, Rng& rng, const Work& work) {
  const Index n = g.size();
  VectorXd p = VectorXd::Ones(n);
  switch (options.sampling) {
    case Sampling::trace:
      p = diagonal;
      break;
    case Sampling::diag2:
      p = diagonal.cwiseAbs2();
      break;
    case Sampling::inverse:
      for (Index i = 0; i < n; ++i) p[i] = diagonal[i] > 0 ? 1 / diagonal[i] : 0;
      break;
    case Sampling::column:
      sweep(g, everything(n), work, [&](Index from, const MatrixXd& block) {
        p.segment(from, block.cols()) = block.colwise().squaredNorm().transpose();
      });
      break;
    case Sampling::leverage:
      p = pilot_leverage(g, options.c, options.k > 0 ? options.k : options.c, diagonal, rng, work);
      break;
    case Sampling::prob:
      p = options.prob;
      break;
    default:
      break;
  }
  if (!(p.sum() > 0)) throw InputError("all probabilities of the landmarks are zero: the kernel matrix is zero.");
  return p / p.sum();
}

double near_optimality(const VectorXd& p, const VectorXd& diagonal) {
  double beta = std::numeric_limits<double>::infinity();
  const double trace = diagonal.sum();
  for (Index i = 0; i < p.size(); ++i)
    if (diagonal[i] > 0) beta = std::min(beta, p[i] / (diagonal[i] / trace));
  return std::isfinite(beta) ? beta : 0;
}

// Everything after the landmarks: fills map, features and the rest. `scale` is D.
void approximate(NystromResult& out, const MatrixXd& cross, const MatrixXd& inner, ConstVectorRef diagonal,
                 const NystromOptions& options, Monitor& monitor) {
  const Index c = inner.rows();
  const MatrixXd symmetric = 0.5 * (inner + inner.transpose());
  const VectorXd plain = SymmetricEigen(symmetric, EigenParts::values).eigenvalues();
  const double size = plain[c - 1];
  out.lowest = size > 0 ? plain[0] / size : 0;
  if (!(size > 0)) throw InputError("the kernel matrix of the landmarks has no positive eigenvalue.");
  if (out.lowest < -std::max(options.tol, 1e-10) && !options.clip)
    throw InputError(message("the kernel matrix is not positive semi-definite: among the landmarks its smallest eigenvalue is ",
                             plain[0], ", its largest ", size, ". Drop negative eigenvalues with clip = TRUE."));
  const bool scaled = options.truncate == Truncate::w;
  const VectorXd d = scaled ? out.scale : VectorXd::Ones(c);
  const SymmetricEigen eigen(d.asDiagonal() * symmetric * d.asDiagonal());
  const VectorXd ascending = eigen.eigenvalues();
  Index rank = 0;
  while (rank < c && ascending[c - 1 - rank] > options.tol * ascending[c - 1]) ++rank;
  out.rank = rank;
  Index k = options.k > 0 ? options.k : rank;
  out.reduced = k > rank;
  k = std::min(k, rank);
  const Index kept = scaled ? k : rank;
  out.tied = scaled && k < rank && ascending[c - k] - ascending[c - 1 - k] <= 1e-8 * ascending[c - k];
  out.values = ascending.tail(kept).reverse();
  MatrixXd map = d.asDiagonal() * eigen.eigenvectors().rightCols(kept).rowwise().reverse();
  for (Index j = 0; j < kept; ++j) map.col(j) /= std::sqrt(out.values[j]);
  monitor.check();
  MatrixXd z = cross * map;
  // Turned so that the columns of Z are orthogonal; cut to the k longest of them.
  const SymmetricEigen turn(z.transpose() * z);
  const MatrixXd rotation = turn.eigenvectors().rightCols(k).rowwise().reverse();
  out.map = map * rotation;
  out.features = z * rotation;
  fix_signs(out.features, out.map);
  out.eigenvalues = turn.eigenvalues().tail(k).reverse().cwiseMax(0.0);
  out.trace = diagonal.sum();
  out.residual = diagonal - out.features.rowwise().squaredNorm();
  for (Index i = 0; i < out.residual.size(); ++i)
    if (out.residual[i] < 0 && out.residual[i] > -1e-8 * std::max(diagonal[i], 1e-300)) out.residual[i] = 0;  // rounding
  out.trace_error = std::max(0.0, out.residual.sum());
}

}  // namespace

NystromResult nystrom(const GramSource& g, const NystromOptions& options, Rng& rng, Monitor& monitor) {
  const Work work{options.threads, monitor};
  const VectorXd diagonal = require_diagonal(g, work);
  NystromResult out;
  std::vector<Index> draws;
  const bool by_residual = options.sampling == Sampling::adaptive || options.sampling == Sampling::greedy;
  if (options.sampling == Sampling::given) {
    draws = options.landmarks;
  } else if (by_residual) {
    draws = residual_pivots(g, options.c, options.rank_tol, options.sampling == Sampling::greedy ? nullptr : &rng, work);
  } else {
    out.prob = probabilities(g, options, diagonal, rng, work);
    const bool different = options.sampling == Sampling::uniform || options.sampling == Sampling::leverage;
    draws = different ? draw_distinct(out.prob, options.c, rng) : draw_repeated(out.prob, options.c, rng);
    out.beta = near_optimality(out.prob, diagonal);
  }
  if (draws.empty()) throw InputError("there is no landmark: the kernel matrix is zero.");
  std::map<Index, std::size_t> seen;
  for (const Index i : draws) {
    const auto at = seen.emplace(i, out.landmarks.size());
    if (at.second) {
      out.landmarks.push_back(i);
      out.drawn.push_back(0);
    }
    ++out.drawn[at.first->second];
  }
  const Index c = static_cast<Index>(out.landmarks.size());
  out.scale = VectorXd::Ones(c);
  if (out.prob.size() > 0)
    for (Index t = 0; t < c; ++t) {
      const double p = out.prob[out.landmarks[static_cast<std::size_t>(t)]];
      out.scale[t] = std::sqrt(out.drawn[static_cast<std::size_t>(t)] / (static_cast<double>(draws.size()) * p));
    }
  const MatrixXd cross = g.columns(out.landmarks, work);
  MatrixXd inner(c, c);
  for (Index i = 0; i < c; ++i) inner.row(i) = cross.row(out.landmarks[static_cast<std::size_t>(i)]);
  approximate(out, cross, inner, diagonal, options, monitor);
  return out;
}

NystromResult nystrom_points(MatrixXd cross, const MatrixXd& inner, ConstVectorRef diagonal, const NystromOptions& options,
                             Monitor& monitor) {
  NystromResult out;
  out.scale = VectorXd::Ones(inner.rows());
  out.drawn.assign(static_cast<std::size_t>(inner.rows()), 1);
  approximate(out, cross, inner, diagonal, options, monitor);
  return out;
}

NystromResult nystrom_kmeans(const Kernel& kernel, ConstMatrixRef x, const NystromOptions& options, MatrixXd& centres, Rng& rng,
                             Monitor& monitor) {
  KMeansOptions settings;
  settings.k = static_cast<int>(std::min(options.c, x.rows()));
  settings.max_iter = 30;  // landmarks need no more
  settings.tol = 1e-4;
  settings.threads = options.threads;
  centres = kmeans(x, settings, rng, monitor).centres;
  const MatrixXd cross = kernel.cross(x, centres, options.threads, monitor);
  return nystrom_points(cross, kernel.cross(centres, centres), kernel.diagonal(x, false), options, monitor);
}

NystromError nystrom_error(const GramSource& g, ConstMatrixRef features, const NystromErrorOptions& options, Rng& rng,
                           Monitor& monitor) {
  const Work work{options.threads, monitor};
  const Index n = g.size(), k = features.cols(), columns = options.columns;
  NystromError out;
  out.trace = g.diagonal(work).sum() - features.squaredNorm();
  out.best_frobenius = out.best_spectral = out.best_trace = out.spectral = none;
  const auto left_of = [&](const std::vector<Index>& which, Index from, MatrixXd block) {
    MatrixXd chosen(block.cols(), k);
    for (Index j = 0; j < block.cols(); ++j) chosen.row(j) = features.row(which[static_cast<std::size_t>(from + j)]);
    block.noalias() -= features * chosen.transpose();
    return block;
  };
  if (columns > 0 && columns < n) {
    out.sampled = true;
    const std::vector<Index> which = draw_distinct(VectorXd::Ones(n), columns, rng);
    double sum = 0;
    sweep(g, which, work, [&](Index from, const MatrixXd& block) { sum += left_of(which, from, block).squaredNorm(); });
    out.frobenius = std::sqrt(sum * static_cast<double>(n) / static_cast<double>(columns));
    return out;
  }
  const std::vector<Index> all = everything(n);
  if (n > 2000) {  // products with the residual matrix, block by block
    double sum = 0;
    sweep(g, all, work, [&](Index from, const MatrixXd& block) { sum += left_of(all, from, block).squaredNorm(); });
    out.frobenius = std::sqrt(sum);
    const auto apply = [&](ConstVectorRef x, VectorRef y) {
      y = VectorXd::Zero(n);
      sweep(g, all, work, [&](Index from, const MatrixXd& block) { y += block * x.segment(from, block.cols()); });
      y -= features * (features.transpose() * x);
    };
    LeadingEigenOptions settings;
    settings.tol = 1e-4;
    settings.max_products = 30;
    out.spectral = leading_eigenpair(apply, rng.normals(n), settings, monitor).value;
    return out;
  }
  MatrixXd gram(n, n);
  sweep(g, all, work, [&](Index from, const MatrixXd& block) { gram.middleCols(from, block.cols()) = block; });
  MatrixXd rest = gram - features * features.transpose();
  rest = (0.5 * (rest + rest.transpose())).eval();
  const VectorXd spectrum = SymmetricEigen(rest, EigenParts::values).eigenvalues();
  out.frobenius = rest.norm();
  out.spectral = spectrum.cwiseAbs().maxCoeff();
  const VectorXd whole = SymmetricEigen(0.5 * (gram + gram.transpose()), EigenParts::values).eigenvalues();
  const VectorXd tail = whole.head(n - k);  // ascending
  out.best_frobenius = tail.norm();
  out.best_spectral = tail.size() > 0 ? std::max(0.0, tail[tail.size() - 1]) : 0;
  out.best_trace = tail.sum();
  return out;
}

double nystrom_eta(double delta) { return 1 + std::sqrt(8 * std::log(1 / delta)); }

double nystrom_columns(Index k, double eps, double delta, bool spectral, double beta) {
  const double eta = nystrom_eta(delta);
  return (spectral ? 4 / (eps * eps) : 64 * static_cast<double>(k) / std::pow(eps, 4)) * eta * eta / beta;
}

double nystrom_eps(Index k, double c, double delta, bool spectral, double beta) {
  const double eta = nystrom_eta(delta);
  return spectral ? std::sqrt(4 * eta * eta / (beta * c)) : std::pow(64 * static_cast<double>(k) * eta * eta / (beta * c), 0.25);
}

}  // namespace granary::kernel
