#include "cluster/vmf_spherical.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cluster/vmf.h"
#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/cluster/seeding.h"

namespace granary::cluster {

namespace {

constexpr Index block_rows = 512;
constexpr double chain_memory = 5e7;  // products of all rows with all sums; beyond, only single moves

void direction_scores(const ClusterSums& sums, LinearScores& scores) {
  const VectorXd length = sums.first.rowwise().norm();
  for (Index h = 0; h < length.size(); ++h)
    if (length[h] > 1e-14 * sums.weight[h]) scores.theta.row(h) = sums.first.row(h) / length[h];
}

// Moves of single rows and chains of them. Products of rows with sums are exact for the row in hand: x'r_h of the present sums.
class LocalSearch {
 public:
  LocalSearch(const DataRows& x, ConstVectorRef weights, const SphericalOptions& options, HardResult& fit, Monitor& monitor)
      : x_(x), weights_(weights), options_(options), label_(fit.cluster), sums_(fit.sums), monitor_(monitor), rows_(VectorXi::Zero(options.k)) {
    for (Index i = 0; i < x.rows(); ++i) ++rows_[label_[i]];
    length_ = sums_.first.rowwise().norm();
    least_ = 1e-12 * (1 + length_.sum());
  }

  int run() {
    int moves = 0;
    while (true) {
      for (int now = 1; now > 0; moves += now) now = sweep();
      const int more = chain();
      if (more == 0) return moves;
      moves += more;
    }
  }

 private:
  double weight(Index i) const { return weights_.size() > 0 ? weights_[i] : 1.0; }

  static double shifted(double length, double product, double w) { return std::sqrt(std::max(length * length + 2 * w * product + w * w, 0.0)); }

  // What moving row i to its best other cluster gains, with products p_h = x_i'r_h.
  template <class Products>
  std::pair<double, int> best_move(Index i, const Products& p) const {
    const int a = label_[i];
    const double w = weight(i);
    if (rows_[a] < 2 || !(w > 0)) return {-std::numeric_limits<double>::infinity(), a};
    const double leave = shifted(length_[a], p[a], -w) - length_[a];
    double best = -std::numeric_limits<double>::infinity();
    int to = a;
    for (int h = 0; h < options_.k; ++h) {
      if (h == a) continue;
      const double gain = leave + shifted(length_[h], p[h], w) - length_[h];
      if (gain > best) {
        best = gain;
        to = h;
      }
    }
    return {best, to};
  }

  void move(Index i, int to) {
    const int from = label_[i];
    const double w = weight(i);
    x_.add_row(i, -w, sums_.first, from);
    x_.add_row(i, w, sums_.first, to);
    sums_.weight[from] -= w;
    sums_.weight[to] += w;
    --rows_[from];
    ++rows_[to];
    length_[from] = sums_.first.row(from).norm();
    length_[to] = sums_.first.row(to).norm();
    label_[i] = to;
  }

  int sweep() {
    int moves = 0;
    const VectorXd zero = VectorXd::Zero(options_.k);
    std::vector<Index> own(1);
    MatrixXd products, exact(1, options_.k), gathered;
    for (Index from = 0; from < x_.rows(); from += block_rows) {
      monitor_.check();
      const Index count = std::min(block_rows, x_.rows() - from);
      products.resize(count, options_.k);
      x_.scores(from, sums_.first, zero, products);
      bool fresh = true;
      for (Index r = 0; r < count; ++r) {
        const Index i = from + r;
        if (!(best_move(i, products.row(r)).first > least_)) continue;
        if (!fresh) {
          own[0] = i;
          x_.scores(own, sums_.first, zero, exact, gathered);
        } else {
          exact = products.row(r);
        }
        const auto [gain, to] = best_move(i, exact.row(0));
        if (!(gain > least_)) continue;
        move(i, to);
        fresh = false;
        ++moves;
      }
    }
    return moves;
  }

  // The best move, whether or not it gains, then the next best of another row, ...; kept as far as the sum of the gains is largest.
  int chain() {
    const Index n = x_.rows(), k = options_.k;
    if (options_.chain < 2 || k < 2 || static_cast<double>(n) * static_cast<double>(k) > chain_memory) return 0;
    MatrixXd products(n, k);
    x_.scores(0, sums_.first, VectorXd::Zero(k), products);
    std::vector<std::pair<Index, int>> undo;  // row and where it came from
    std::vector<char> used(static_cast<std::size_t>(n), 0);
    double total = 0, best = least_;
    std::size_t keep = 0;
    VectorXd row(x_.cols());
    MatrixXd with(n, 1);
    for (int step = 0; step < std::min<Index>(options_.chain, n - 1); ++step) {
      monitor_.check();
      double most = -std::numeric_limits<double>::infinity();
      Index which = -1;
      int to = 0;
      for (Index i = 0; i < n; ++i) {
        if (i % 8192 == 0) monitor_.check();
        if (used[static_cast<std::size_t>(i)]) continue;
        const auto [gain, where] = best_move(i, products.row(i));
        if (gain > most) {
          most = gain;
          which = i;
          to = where;
        }
      }
      if (which < 0) break;
      const int from = label_[which];
      const double w = weight(which);
      undo.emplace_back(which, from);
      used[static_cast<std::size_t>(which)] = 1;
      move(which, to);
      x_.row(which, row);
      x_.scores(0, row.transpose(), VectorXd::Zero(1), with);
      products.col(from) -= w * with;
      products.col(to) += w * with;
      total += most;
      if (total > best) {
        best = total;
        keep = undo.size();
      }
    }
    while (undo.size() > keep) {
      move(undo.back().first, undo.back().second);
      undo.pop_back();
    }
    return static_cast<int>(keep);
  }

  const DataRows& x_;
  ConstVectorRef weights_;
  const SphericalOptions& options_;
  VectorXi& label_;
  ClusterSums& sums_;
  Monitor& monitor_;
  VectorXi rows_;
  VectorXd length_;
  double least_ = 0;
};

SphericalResult run(const DataRows& x, ConstVectorRef weights, const MatrixXd& start, const SphericalOptions& options, Monitor& monitor) {
  SphericalResult out;
  LinearScores scores{start, VectorXd::Zero(options.k)};
  const VectorXd base = VectorXd::Ones(x.rows());
  const double total = weights.size() > 0 ? weights.sum() : static_cast<double>(x.rows());
  HardResult found;
  int iterations = 0;
  while (true) {
    HardOptions how;
    how.max_iter = std::max(1, options.max_iter - iterations);
    how.threads = options.threads;
    found = hard_clusters(x, weights, base, scores, direction_scores, how, monitor);
    iterations += found.convergence.iterations;
    for (const double loss : found.trace) out.trace.push_back(total - loss);
    out.convergence = found.convergence;
    if (!options.local_search || options.k < 2 || !found.convergence.converged) break;
    const int moves = LocalSearch(x, weights, options, found, monitor).run();
    if (moves == 0) break;
    out.moves += moves;
    found.sums = cluster_sums(x, weights, found.cluster, options.k);
    direction_scores(found.sums, found.scores);
    scores = found.scores;
    if (iterations >= options.max_iter) {
      out.convergence.converged = false;
      out.convergence.message = "rows could still be moved";
      break;
    }
  }
  out.convergence.iterations = iterations;
  const VectorXd length = found.sums.first.rowwise().norm();
  out.objective = length.sum();
  out.trace.push_back(out.objective);
  out.cluster = std::move(found.cluster);
  out.directions = std::move(found.scores.theta);
  out.size = found.sums.weight;
  out.resultant = VectorXd::Zero(options.k);
  for (Index h = 0; h < options.k; ++h)
    if (out.size[h] > 0) out.resultant[h] = length[h] / out.size[h];
  return out;
}

// Where two starting rows fell into one cluster and none into another, no move of rows helps: the two clusters that lose least by it become one, and the
// `which`-th worst of the others gets a second direction, a row drawn far from its own.
MatrixXd swapped(const DataRows& x, ConstVectorRef weights, const SphericalResult& fit, int which, Rng& rng, Monitor& monitor) {
  const Index k = fit.directions.rows();
  const VectorXd length = fit.size.cwiseProduct(fit.resultant);
  const MatrixXd cosine = fit.directions * fit.directions.transpose();
  Index a = 0, c = 1;
  double least = std::numeric_limits<double>::infinity();
  for (Index g = 0; g < k; ++g)
    for (Index h = g + 1; h < k; ++h) {
      const double both = length[g] * length[g] + length[h] * length[h] + 2 * length[g] * length[h] * cosine(g, h);
      const double loss = length[g] + length[h] - std::sqrt(std::max(both, 0.0));
      if (loss < least) least = loss, a = g, c = h;
    }
  std::vector<Index> others;
  for (Index h = 0; h < k; ++h)
    if (h != a && h != c) others.push_back(h);
  std::stable_sort(others.begin(), others.end(), [&](Index g, Index h) { return fit.size[g] - length[g] > fit.size[h] - length[h]; });
  const Index worst = others[static_cast<std::size_t>(which) % others.size()];
  MatrixXd away(x.rows(), 1);
  x.scores(0, -fit.directions.row(worst), VectorXd::Ones(1), away);
  VectorXd mass = VectorXd::Zero(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    if (fit.cluster[i] == worst) mass[i] = std::max(away(i, 0), 0.0) * (weights.size() > 0 ? weights[i] : 1.0);
  monitor.check();
  MatrixXd out = fit.directions;
  if (!(mass.sum() > 0)) return out;
  const VectorXd sum = (length[a] * fit.directions.row(a) + length[c] * fit.directions.row(c)).transpose();
  if (sum.norm() > 0) out.row(a) = sum.transpose() / sum.norm();
  VectorXd row(x.cols());
  x.row(draw_index(mass, rng.uniform()), row);
  out.row(c) = row.transpose();
  return out;
}

constexpr int swap_tries = 3;  // in a row without gain

}  // namespace

SphericalResult spherical_kmeans(const DataRows& x, ConstVectorRef weights, const SphericalOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = x.rows(), k = options.k;
  if (k < 1 || k > n) throw InputError(message("the number of clusters must be between 1 and the number of rows, ", n, ", not ", k, "."));
  if (weights.size() > 0 && weights.size() != n) throw InputError(message("there are ", weights.size(), " weights for ", n, " rows."));
  const bool labelled = options.labels.size() > 0, given = labelled || options.centers.size() > 0;
  if (labelled && (options.labels.size() != n || options.labels.minCoeff() < 0 || options.labels.maxCoeff() >= k))
    throw InputError(message("the labels to start from must be ", n, " numbers from 1 to ", k, "."));
  if (given && !labelled && (options.centers.rows() != k || options.centers.cols() != x.cols()))
    throw InputError(message("the directions to start from must be ", k, " x ", x.cols(), ", not ", options.centers.rows(), " x ", options.centers.cols(), "."));
  check_distinct(x, k);
  const int starts = given || k == 1 ? 1 : std::max(1, options.n_starts);
  const VectorXd mass = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n);
  SphericalResult best;
  VectorXd values(starts);
  int chosen = 0;
  for (int s = 0; s < starts; ++s) {
    monitor.progress(static_cast<double>(s) / starts);
    Rng own = rng.stream(static_cast<std::uint64_t>(s));
    MatrixXd start = options.centers;
    if (labelled) {
      LinearScores from{MatrixXd::Zero(k, x.cols()), VectorXd::Zero(k)};
      direction_scores(cluster_sums(x, weights, options.labels, k), from);
      start = from.theta;
    }
    if (!given) {
      std::vector<Index> rows;
      if (options.start == SphericalStart::plusplus) rows = cosine_seeds(x, weights, k, own, monitor);
      const Index usable = (mass.array() > 0).count();
      while (static_cast<Index>(rows.size()) < k) {
        const Index i = draw_index(mass, own.uniform());
        if (std::find(rows.begin(), rows.end(), i) == rows.end() || static_cast<Index>(rows.size()) >= usable) rows.push_back(i);
      }
      start.resize(k, x.cols());
      VectorXd row(x.cols());
      for (Index h = 0; h < k; ++h) {
        x.row(rows[static_cast<std::size_t>(h)], row);
        start.row(h) = row.transpose();
      }
    }
    SphericalResult one = run(x, weights, start, options, monitor);
    values[s] = one.objective;
    if (s > 0 && !(one.objective > best.objective)) continue;
    best = std::move(one);
    chosen = s;
  }
  if (options.local_search && !given && k > 2) {
    Rng own = rng.stream(static_cast<std::uint64_t>(starts));
    for (int failed = 0; failed < swap_tries;) {
      SphericalResult one = run(x, weights, swapped(x, weights, best, failed, own, monitor), options, monitor);
      const bool better = one.objective > best.objective * (1 + 1e-10);
      failed = better ? 0 : failed + 1;
      if (!better) continue;
      one.moves += best.moves;
      best = std::move(one);
    }
    values[chosen] = best.objective;
  }
  best.values = values;
  best.convergence.seconds = clock.seconds();
  return best;
}

}  // namespace granary::cluster
