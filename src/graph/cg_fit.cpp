#include "graph/cg_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "graph/cg_latent.h"
#include "graph/cg_rows.h"
#include "core/linalg/dense.h"

namespace granary::graph {

namespace {

// Counts of a table, or per configuration the weight and an upper triangle R with R'R = sum of (1, z, y)(1, z, y)'.
struct Statistics {
  VectorXd count;
  std::vector<MatrixXd> factor;
};

struct Scaling {
  VectorXd mean, sd;
};

Scaling standardise(const CgNetwork& network, MatrixXd& rows) {
  const int p = network.nodes();
  Scaling scaling{VectorXd::Zero(p), VectorXd::Ones(p)};
  for (int v = 0; v < p; ++v) {
    double sum = 0, squares = 0;
    Index n = 0;
    for (Index r = 0; r < rows.rows(); ++r) {
      if (std::isnan(rows(r, v))) continue;
      sum += rows(r, v);
      ++n;
    }
    if (n == 0 && network.discrete(v) && network.levels(v) > 1) continue;  // a latent class; see cg_latent.h
    if (n == 0) {
      throw InputError(message("the column \"", network.names[v],
                               "\" has no observed value, so nothing can be learned about it. ",
                               "Remove the node from the graph, or make it a factor with levels: a latent class."));
    }
    if (network.discrete(v)) continue;
    const double mean = sum / static_cast<double>(n);
    for (Index r = 0; r < rows.rows(); ++r) {
      if (!std::isnan(rows(r, v))) squares += (rows(r, v) - mean) * (rows(r, v) - mean);
    }
    double sd = std::sqrt(squares / static_cast<double>(n));
    if (!(sd > 1e-14 * std::abs(mean))) sd = 1;  // constant
    for (Index r = 0; r < rows.rows(); ++r) rows(r, v) = (rows(r, v) - mean) / sd;
    scaling.mean[v] = mean;
    scaling.sd[v] = sd;
  }
  return scaling;
}

void restore(CgNetwork& network, const Scaling& scaling) {
  for (int v = 0; v < network.nodes(); ++v) {
    if (network.discrete(v)) continue;
    const std::vector<int>& z = network.continuous_parents[v];
    const Index k = static_cast<Index>(z.size());
    for (Index c = 0; c < network.regression[v].cols(); ++c) {
      auto r = network.regression[v].col(c);
      double intercept = scaling.mean[v] + scaling.sd[v] * r[k];
      for (Index j = 0; j < k; ++j) {
        r[j] *= scaling.sd[v] / scaling.sd[z[j]];
        intercept -= r[j] * scaling.mean[z[j]];
      }
      r[k] = intercept;
      r[k + 1] *= scaling.sd[v] * scaling.sd[v];
    }
  }
}

std::string place(const CgNetwork& network, int v, const StateSpace& space, int config) {
  return "\"" + network.names[v] + "\"" +
         (space.dimension() == 0 ? "" : " in the configuration " + network.describe(space, config));
}

MatrixXd triangle(const MatrixXd& rows) {  // R of a QR decomposition, square whatever the number of rows
  const Index k = rows.cols();
  MatrixXd r = MatrixXd::Zero(k, k);
  if (rows.rows() == 0) return r;
  const Qr qr(rows);
  const Index height = std::min(rows.rows(), k);
  r.topRows(height) = qr.matrixQR().topRows(height).template triangularView<Eigen::Upper>();
  return r;
}

MatrixXd stack(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return triangle(both);
}

// R with R'R = s for a positive semi-definite s; a pivot lost to rounding is zero, and with it its row.
MatrixXd semi_cholesky(const MatrixXd& s) {
  const Index k = s.rows();
  MatrixXd r = MatrixXd::Zero(k, k);
  for (Index j = 0; j < k; ++j) {
    const double pivot = s(j, j) - r.col(j).head(j).squaredNorm();
    if (!(pivot > 1e-13 * s(j, j))) continue;
    r(j, j) = std::sqrt(pivot);
    for (Index l = j + 1; l < k; ++l) r(j, l) = (s(j, l) - r.col(j).head(j).dot(r.col(l).head(j))) / r(j, j);
  }
  return r;
}

void estimate_table(CgNetwork& network, int v, const VectorXd& count, double pseudo_count) {
  const StateSpace space = network.parent_space(v);
  const int own = network.levels(v);
  VectorXd& table = network.table[v];
  table = count.array() + pseudo_count;
  for (int c = 0; c < space.size(); ++c) {
    auto column = table.segment(static_cast<Index>(c) * own, own);
    const double sum = column.sum();
    if (!(sum > 0)) {
      throw InputError(message("the probabilities of ", place(network, v, space, c),
                               " cannot be estimated: it has no observation. ",
                               "Set `pseudo_count` above zero, or drop levels that do not occur with droplevels()."));
    }
    column /= sum;
  }
}

// `exact`: the factors come from the data and not from moments, so that a residual is known to more digits.
void estimate_regression(CgNetwork& network, int v, const Statistics& s, const CgFitOptions& options, bool exact,
                         std::vector<std::string>& degenerate) {
  const StateSpace space = network.parent_space(v);
  const Index k = static_cast<Index>(network.continuous_parents[v].size());
  MatrixXd& result = network.regression[v];
  result.resize(k + 2, space.size());
  MatrixXd pool = MatrixXd::Zero(k + 2, k + 2);
  for (const MatrixXd& f : s.factor) pool = stack(pool, f);
  const double total = s.count.sum();
  double pooled_squares = 0, pooled_df = 0;
  for (int c = 0; c < space.size(); ++c) {
    const double n = s.count[c], weight = n + options.shrink;
    const MatrixXd r = options.shrink > 0 ? stack(s.factor[c], std::sqrt(options.shrink / total) * pool) : s.factor[c];
    const double need = static_cast<double>(k) + 1;
    if (options.shrink <= 0 && n < need + (options.pooled ? 0 : 1) - 1e-6) {
      throw InputError(message("the regression of ", place(network, v, space, c), " has ", n,
                               n == 1 ? " observation for " : " observations for ", need,
                               need == 1 ? " coefficient" : " coefficients", options.pooled ? "." : " and a variance.",
                               " Set `shrink` above zero to borrow from the other configurations, ", "or join levels."));
    }
    if (options.unbiased && !options.pooled && !(weight > need)) {
      throw InputError(message("the unbiased variance of ", place(network, v, space, c), " needs more than ", need,
                               " observations, with those that `shrink` adds; there are ", weight, "."));
    }
    for (Index j = 0; j <= k; ++j) {
      if (!(std::abs(r(j, j)) > 1e-10 * r.col(j).norm())) {
        throw InputError(
            message("the regression of ", place(network, v, space, c), " is not unique: the parent \"",
                    j == 0 ? network.names[v] : network.names[network.continuous_parents[v][j - 1]],
                    "\" is constant there or a linear function of the others. Remove the parent, or set `shrink` above zero."));
      }
    }
    const VectorXd b = r.topLeftCorner(k + 1, k + 1).triangularView<Eigen::Upper>().solve(r.col(k + 1).head(k + 1));
    result.col(c).head(k) = b.tail(k);
    result(k, c) = b[0];
    double squares = r(k + 1, k + 1) * r(k + 1, k + 1);
    const double size = std::max(r.col(k + 1).squaredNorm(), n);  // in units of the variance of the whole column
    if (squares <= (exact ? 1e-24 : 1e-13) * size) squares = 0;
    pooled_squares += squares;
    pooled_df += weight - (options.unbiased ? need : 0);
    result(k + 1, c) = squares / (weight - (options.unbiased ? need : 0));
  }
  if (options.pooled) {
    if (!(pooled_df > 0)) {
      throw InputError(message("the variance of \"", network.names[v],
                               "\" cannot be estimated: there are no more observations than coefficients."));
    }
    result.row(k + 1).setConstant(pooled_squares / pooled_df);
  }
  for (int c = 0; c < space.size(); ++c) {
    if (result(k + 1, c) <= 0) degenerate.push_back(place(network, v, space, c));
  }
}

void estimate(CgNetwork& network, const std::vector<Statistics>& all, const CgFitOptions& options, bool exact,
              std::vector<std::string>& degenerate) {
  degenerate.clear();
  for (int v = 0; v < network.nodes(); ++v) {
    if (network.discrete(v))
      estimate_table(network, v, all[v].count, options.pseudo_count);
    else
      estimate_regression(network, v, all[v], options, exact, degenerate);
  }
}

bool complete(const CgNetwork& network, ConstMatrixRef rows, Index r, int v) {
  if (std::isnan(rows(r, v))) return false;
  for (int u : network.discrete_parents[v]) {
    if (std::isnan(rows(r, u))) return false;
  }
  for (int u : network.continuous_parents[v]) {
    if (std::isnan(rows(r, u))) return false;
  }
  return true;
}

int config_of(const StateSpace& space, ConstMatrixRef rows, Index r) {
  int config = 0;
  for (int k = 0; k < space.dimension(); ++k) config += space.stride(k) * static_cast<int>(rows(r, space.variables()[k]));
  return config;
}

// From the usable rows, in which the family of v is complete.
Statistics family_statistics(const CgNetwork& network, ConstMatrixRef rows, int v, const std::vector<bool>& usable) {
  const StateSpace space = network.parent_space(v);
  Statistics s;
  if (network.discrete(v)) {
    const int own = network.levels(v);
    s.count = VectorXd::Zero(static_cast<Index>(own) * space.size());
    for (Index r = 0; r < rows.rows(); ++r) {
      if (usable[r]) s.count[static_cast<Index>(config_of(space, rows, r)) * own + static_cast<Index>(rows(r, v))] += 1;
    }
    return s;
  }
  const std::vector<int>& z = network.continuous_parents[v];
  const Index k = static_cast<Index>(z.size());
  std::vector<std::vector<Index>> members(space.size());
  for (Index r = 0; r < rows.rows(); ++r) {
    if (usable[r]) members[config_of(space, rows, r)].push_back(r);
  }
  s.count.resize(space.size());
  for (int c = 0; c < space.size(); ++c) {
    s.count[c] = static_cast<double>(members[c].size());
    MatrixXd block(static_cast<Index>(members[c].size()), k + 2);
    for (Index i = 0; i < block.rows(); ++i) {
      block(i, 0) = 1;
      for (Index j = 0; j < k; ++j) block(i, j + 1) = rows(members[c][i], z[j]);
      block(i, k + 1) = rows(members[c][i], v);
    }
    s.factor.push_back(triangle(block));
  }
  return s;
}

struct Moments {  // expected statistics of incomplete rows
  double log_likelihood = 0;
  std::vector<VectorXd> count;
  std::vector<std::vector<MatrixXd>> square;
};

Moments empty_moments(const CgNetwork& network) {
  Moments m;
  for (int v = 0; v < network.nodes(); ++v) {
    const int configs = network.parent_space(v).size();
    m.count.push_back(VectorXd::Zero(network.discrete(v) ? static_cast<Index>(configs) * network.levels(v) : configs));
    const Index k = static_cast<Index>(network.continuous_parents[v].size()) + 2;
    m.square.emplace_back(network.discrete(v) ? 0 : configs, MatrixXd(MatrixXd::Zero(k, k)));
  }
  return m;
}

void expect_row(const CgState& base, ConstMatrixRef rows, Index r, Moments& m) {
  const CgNetwork& network = base.compiled().network;
  CgState state = base;
  enter_row(state, rows.row(r).transpose());
  m.log_likelihood += state.log_evidence();
  const DiscreteForest::Tables belief = state.belief();
  for (int v = 0; v < network.nodes(); ++v) {
    std::vector<int> family = {v};
    if (network.discrete(v)) {
      family.insert(family.end(), network.discrete_parents[v].begin(), network.discrete_parents[v].end());
      m.count[v] += state.probabilities(family, belief);
      continue;
    }
    family.assign(network.continuous_parents[v].begin(), network.continuous_parents[v].end());
    family.push_back(v);
    const CgMixture law = state.mixture(family, belief);
    const std::vector<int> map = law.components.map_to(network.parent_space(v));
    const Index k = static_cast<Index>(family.size());
    for (Index c = 0; c < law.weight.size(); ++c) {
      const int config = map[law.config[c]];
      MatrixXd& s = m.square[v][config];
      VectorXd one(k + 1);
      one[0] = 1;
      one.tail(k) = law.mean.row(c).transpose();
      s.noalias() += law.weight[c] * one * one.transpose();
      s.bottomRightCorner(k, k) += law.weight[c] * law.covariance[c];
      m.count[v][config] += law.weight[c];
    }
  }
}

// Blocks of rows are summed in their order, whatever the number of threads.
Moments expect(const CgState& base, ConstMatrixRef rows, const std::vector<Index>& gaps, int threads, Monitor& monitor) {
  const Index blocks = std::min<Index>(32, static_cast<Index>(gaps.size()));
  std::vector<Moments> parts(blocks);
  parallel_for(blocks, threads, monitor, [&](Index b) {
    parts[b] = empty_moments(base.compiled().network);
    const Index n = static_cast<Index>(gaps.size());
    for (Index i = b * n / blocks; i < (b + 1) * n / blocks; ++i) {
      monitor.check();
      expect_row(base, rows, gaps[i], parts[b]);
    }
  });
  Moments sum = empty_moments(base.compiled().network);
  for (const Moments& part : parts) {
    sum.log_likelihood += part.log_likelihood;
    for (std::size_t v = 0; v < sum.count.size(); ++v) {
      sum.count[v] += part.count[v];
      for (std::size_t c = 0; c < sum.square[v].size(); ++c) sum.square[v][c] += part.square[v][c];
    }
  }
  return sum;
}

std::vector<Statistics> combine(const std::vector<Statistics>& full, const Moments& m) {
  std::vector<Statistics> all = full;
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v].count += m.count[v];
    for (std::size_t c = 0; c < all[v].factor.size(); ++c) {
      const MatrixXd& f = full[v].factor[c];
      all[v].factor[c] = semi_cholesky(f.transpose() * f + m.square[v][c]);
    }
  }
  return all;
}

int free_parameters(const CgNetwork& network, bool pooled) {
  int count = 0;
  for (int v = 0; v < network.nodes(); ++v) {
    const int configs = network.parent_space(v).size();
    if (network.discrete(v))
      count += (network.levels(v) - 1) * configs;
    else
      count += (static_cast<int>(network.continuous_parents[v].size()) + 1) * configs + (pooled ? 1 : configs);
  }
  return count;
}

void run_em(CgFitResult& result, ConstMatrixRef rows, const std::vector<bool>& whole, const CgFitOptions& options,
            Monitor& monitor) {
  CgNetwork& network = result.network;
  std::vector<Statistics> full;
  std::vector<Index> gaps;
  for (Index r = 0; r < rows.rows(); ++r) {
    if (!whole[r]) gaps.push_back(r);
  }
  // Start from what each family shows where it is complete, held by a weak pull towards the pooled values.
  CgFitOptions start = options;
  start.shrink = std::max(options.shrink, 2.0);
  start.pseudo_count = std::max(options.pseudo_count, 0.5);
  start.unbiased = false;
  std::vector<Statistics> available;
  const MatrixXd seen = fill_latent(network, rows, monitor);
  for (int v = 0; v < network.nodes(); ++v) {
    full.push_back(family_statistics(network, rows, v, whole));
    std::vector<bool> usable(rows.rows());
    for (Index r = 0; r < rows.rows(); ++r) usable[r] = complete(network, seen, r, v);
    available.push_back(family_statistics(network, seen, v, usable));
    if (std::none_of(usable.begin(), usable.end(), [](bool b) { return b; })) {
      throw InputError(message("no row has \"", network.names[v],
                               "\" together with all its parents, so that their relation cannot be learned."));
    }
  }
  estimate(network, available, start, true, result.degenerate);
  Convergence& convergence = result.convergence;
  double before = -std::numeric_limits<double>::infinity();
  for (;; ++convergence.iterations) {
    monitor.progress(static_cast<double>(convergence.iterations) / options.max_iter);
    const CgState base(network);
    const Moments moments = expect(base, rows, gaps, options.threads, monitor);
    double now = moments.log_likelihood;
    if (gaps.size() < static_cast<std::size_t>(rows.rows())) {
      MatrixXd kept(rows.rows() - static_cast<Index>(gaps.size()), rows.cols());
      for (Index r = 0, at = 0; r < rows.rows(); ++r) {
        if (whole[r]) kept.row(at++) = rows.row(r);
      }
      now += log_density(network, kept).sum();
    }
    result.log_likelihood = now;
    convergence.residual = std::abs(now - before) / (1 + std::abs(now));
    convergence.converged = convergence.residual <= options.tol;
    if (convergence.converged || convergence.iterations >= options.max_iter) break;
    before = now;
    estimate(network, combine(full, moments), options, false, result.degenerate);
  }
}

}  // namespace

CgFitResult fit_network(CgNetwork network, ConstMatrixRef data, const CgFitOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  CgFitResult result;
  MatrixXd rows = data;
  const Scaling scaling = standardise(network, rows);
  result.network = std::move(network);
  result.network.table.resize(result.network.nodes());
  result.network.regression.resize(result.network.nodes());
  std::vector<bool> whole(rows.rows());
  for (Index r = 0; r < rows.rows(); ++r) whole[r] = !rows.row(r).hasNaN();
  if (std::all_of(whole.begin(), whole.end(), [](bool b) { return b; })) {
    std::vector<Statistics> all;
    for (int v = 0; v < result.network.nodes(); ++v) all.push_back(family_statistics(result.network, rows, v, whole));
    estimate(result.network, all, options, true, result.degenerate);
    result.log_likelihood = log_density(result.network, rows).sum();
    result.convergence.converged = true;
    result.convergence.iterations = 1;
  } else {
    run_em(result, rows, whole, options, monitor);
  }
  for (int v = 0; v < result.network.nodes(); ++v) {
    if (result.network.discrete(v)) continue;
    for (Index r = 0; r < rows.rows(); ++r) {
      if (!std::isnan(rows(r, v))) result.log_likelihood -= std::log(scaling.sd[v]);
    }
  }
  restore(result.network, scaling);
  result.parameters = free_parameters(result.network, options.pooled);
  result.convergence.seconds = watch.seconds();
  return result;
}

}  // namespace granary::graph
