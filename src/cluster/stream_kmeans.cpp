#include "cluster/stream_kmeans.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/cluster/kmeans.h"
#include "core/cluster/seeding.h"

namespace granary::cluster {

namespace {

std::uint64_t key_of(const VectorXd& seed) { return (static_cast<std::uint64_t>(seed[0]) << 32) ^ static_cast<std::uint64_t>(seed[1]); }

constexpr std::uint64_t summaries = std::uint64_t{1} << 40;  // streams of the summaries, far from those of the starts at the end

double weight_at(ConstVectorRef weights, Index i) { return weights.size() > 0 ? weights[i] : 1.0; }

void append(StreamLevel& to, ConstMatrixRef points, ConstVectorRef weights, ConstVectorRef scatter) {
  const Index before = to.points.rows(), more = points.rows();
  to.points.conservativeResize(before + more, points.cols());
  to.weights.conservativeResize(before + more);
  to.scatter.conservativeResize(before + more);
  to.points.bottomRows(more) = points;
  to.weights.tail(more) = weights;
  to.scatter.tail(more) = scatter;
}

void empty_level(StreamLevel& level, Index columns) {
  level.points.resize(0, columns);
  level.weights.resize(0);
  level.scatter.resize(0);
}

StreamLevel& level_at(StreamState& s, std::size_t i) {
  while (s.levels.size() <= i) {
    s.levels.emplace_back();
    empty_level(s.levels.back(), s.columns);
    s.moved.conservativeResize(static_cast<Index>(s.levels.size()));
    s.moved[static_cast<Index>(s.levels.size()) - 1] = 0;
  }
  return s.levels[i];
}

double held(const StreamState& s) {
  double count = 0;
  for (const StreamLevel& level : s.levels) count += static_cast<double>(level.points.rows());
  return count;
}

// Steps 3 to 5 of Algorithm 3: representatives of what a level holds, each with the weight of the points nearest to it.
StreamLevel represent(StreamState& s, const StreamLevel& level, std::size_t depth, Monitor& monitor) {
  const StreamOptions& o = s.options;
  SeedOptions how;
  how.rounds = o.k;
  how.per_round = seeds_per_round(o.method, o.k);
  const Rng own = Rng::at(key_of(s.seed), summaries + static_cast<std::uint64_t>(s.calls));
  s.calls += 1;
  const Seeds seeds = best_seeds(level.points, level.weights, how, o.repeats, o.threads, own, monitor);
  const Index count = static_cast<Index>(seeds.rows.size()), n = level.points.rows(), d = s.columns;
  StreamLevel out{MatrixXd::Zero(count, d), VectorXd::Zero(count), VectorXd::Zero(count)};
  if (count == 0) return out;  // all weights are zero
  VectorXi label = seeds.nearest.cast<int>();
  for (Index i = 0; i < n; ++i) out.weights[label[i]] += level.weights[i];
  if (o.recenter) {
    for (Index j = 0; j < d; ++j) {
      double* sum = out.points.data() + j * count;
      const double* column = level.points.data() + j * n;
      for (Index i = 0; i < n; ++i) sum[label[i]] += level.weights[i] * column[i];
      for (Index h = 0; h < count; ++h) sum[h] /= out.weights[h] > 0 ? out.weights[h] : 1;
      for (Index i = 0; i < n; ++i) {
        const double difference = column[i] - sum[label[i]];
        out.scatter[label[i]] += level.weights[i] * difference * difference;
      }
    }
    s.moved[static_cast<Index>(depth)] += out.scatter.sum();
    for (Index i = 0; i < n; ++i) out.scatter[label[i]] += level.scatter[i];
  } else {
    for (Index h = 0; h < count; ++h) out.points.row(h) = level.points.row(seeds.rows[static_cast<std::size_t>(h)]);
    s.moved[static_cast<Index>(depth)] += seeds.cost;
  }
  return out;
}

// Representatives arrive at a level; when it can take no more it is summarised itself.
void push(StreamState& s, std::size_t depth, const StreamLevel& points, Monitor& monitor) {
  const bool last = s.options.levels > 0 && static_cast<int>(depth) >= s.options.levels;
  StreamLevel& level = level_at(s, depth);
  if (!last && level.points.rows() > 0 && level.points.rows() + points.points.rows() > s.options.memory) {
    const StreamLevel up = represent(s, level, depth, monitor);
    empty_level(s.levels[depth], s.columns);
    push(s, depth + 1, up, monitor);
  }
  append(s.levels[depth], points.points, points.weights, points.scatter);
  s.peak = std::max(s.peak, held(s));
}

}  // namespace

Index seeds_per_round(SeedMethod method, Index k) {
  return method == SeedMethod::plusplus ? 1 : std::max<Index>(1, static_cast<Index>(std::ceil(3 * std::log(static_cast<double>(k)))));
}

Index least_memory(SeedMethod method, Index k) { return 2 * k * seeds_per_round(method, k) + 1; }

void check(const StreamState& s) {
  require(s.seed.size() == 2 && s.columns >= 1 && s.options.k >= 1 && s.rows >= 0 && s.calls >= 0, "the stream is not whole");
  require(s.moved.size() == static_cast<Index>(s.levels.size()), "`moved` has another number of levels");
  for (const StreamLevel& level : s.levels) {
    require(level.points.cols() == s.columns && level.weights.size() == level.points.rows() && level.scatter.size() == level.points.rows(), "a buffer is not whole");
    require(level.weights.size() == 0 || (level.weights.minCoeff() >= 0 && level.scatter.minCoeff() >= 0), "a weight is negative");
  }
}

StreamState stream_start(const StreamOptions& options, Index columns, const VectorXd& seed) {
  const Index least = least_memory(options.method, options.k);
  if (options.memory < least)
    throw InputError(message("`memory` must be at least ", least, " rows: a buffer is summarised to up to ", (least - 1) / 2, " points, and must hold more than twice as many."));
  StreamState s;
  s.options = options;
  s.seed = seed;
  s.columns = columns;
  s.moved.resize(0);
  level_at(s, 0);
  return s;
}

void stream_update(StreamState& s, ConstMatrixRef x, ConstVectorRef weights, Monitor& monitor) {
  if (x.cols() != s.columns) throw InputError(message("the rows have ", x.cols(), " columns, but those before had ", s.columns, "."));
  const Index n = x.rows(), memory = s.options.memory;
  for (Index at = 0; at < n;) {
    monitor.check();
    StreamLevel& raw = level_at(s, 0);
    const Index space = memory - raw.points.rows();
    if (space <= 0) {
      const StreamLevel up = represent(s, raw, 0, monitor);
      empty_level(s.levels[0], s.columns);
      push(s, 1, up, monitor);
      continue;
    }
    const Index take = std::min(space, n - at);
    VectorXd own(take);
    for (Index i = 0; i < take; ++i) own[i] = weight_at(weights, at + i);
    append(raw, x.middleRows(at, take), own, VectorXd::Zero(take));
    at += take;
    s.rows += static_cast<double>(take);
    s.weight += own.sum();
    s.peak = std::max(s.peak, held(s));
  }
}

void stream_combine(StreamState& s, const StreamState& other, Monitor& monitor) {
  if (other.columns != s.columns) throw InputError(message("one stream has ", s.columns, " columns, another ", other.columns, "."));
  if (other.options.k != s.options.k || other.options.recenter != s.options.recenter)
    throw InputError("Streams can be combined when they have the same `k` and `recenter`.");
  for (std::size_t i = 1; i < other.levels.size(); ++i) {
    level_at(s, i);
    if (other.levels[i].points.rows() > 0) push(s, i, other.levels[i], monitor);
  }
  for (std::size_t i = 0; i < other.levels.size(); ++i) {
    level_at(s, i);
    s.moved[static_cast<Index>(i)] += other.moved[static_cast<Index>(i)];
  }
  s.rows += other.rows - static_cast<double>(other.levels[0].points.rows());
  s.weight += other.weight - other.levels[0].weights.sum();
  s.calls += other.calls;
  stream_update(s, other.levels[0].points, other.levels[0].weights, monitor);
  s.peak = std::max(s.peak, other.peak);
}

StreamResult stream_centres(const StreamState& s, Monitor& monitor) {
  const Stopwatch clock;
  StreamResult out;
  const Index total = static_cast<Index>(held(s));
  if (total == 0) throw InputError("the stream has given no row yet.");
  out.summary.resize(total, s.columns);
  out.summary_weights.resize(total);
  out.summary_scatter.resize(total);
  Index at = 0;
  for (std::size_t i = s.levels.size(); i-- > 0;) {  // the oldest first; a stream that was never summarised keeps the order of its rows
    const StreamLevel& level = s.levels[i];
    out.summary.middleRows(at, level.points.rows()) = level.points;
    out.summary_weights.segment(at, level.points.rows()) = level.weights;
    out.summary_scatter.segment(at, level.points.rows()) = level.scatter;
    at += level.points.rows();
  }
  if (!(out.summary_weights.sum() > 0)) throw InputError("the weights of all rows are zero.");
  const StreamOptions& o = s.options;
  SeedOptions plusplus;
  plusplus.rounds = o.k;
  const Eigen::RowVectorXd middle = (out.summary_weights.transpose() * out.summary) / out.summary_weights.sum();
  const MatrixXd points = out.summary.rowwise() - middle;  // far from zero, products would cancel
  const Rng starts(key_of(s.seed));
  out.values.resize(std::max(1, o.n_starts));
  MatrixXd best;
  VectorXi label;
  double least = std::numeric_limits<double>::infinity();
  for (int r = 0; r < static_cast<int>(out.values.size()); ++r) {
    monitor.check();
    Rng own = starts.stream(static_cast<std::uint64_t>(r));
    const Seeds seeds = spread_seeds(points, out.summary_weights, plusplus, o.threads, own, monitor);
    const Index found = static_cast<Index>(seeds.rows.size());
    MatrixXd centres(found, s.columns);
    for (Index h = 0; h < found; ++h) centres.row(h) = points.row(seeds.rows[static_cast<std::size_t>(h)]);
    VectorXi nearest = seeds.nearest.cast<int>();
    double cost = seeds.cost;
    Convergence c;
    c.converged = true;
    c.iterations = 1;
    if (o.polish) {
      KMeansOptions how;
      how.k = static_cast<int>(found);
      how.max_iter = o.max_iter;
      how.tol = 0;
      how.threads = o.threads;
      KMeansResult run = kmeans_from(points, out.summary_weights, centres, how, monitor);
      centres = std::move(run.centres);
      nearest = std::move(run.cluster);
      cost = run.objective;
      c = run.convergence;
    }
    out.values[r] = cost;
    if (cost < least) {
      least = cost;
      best = std::move(centres);
      label = std::move(nearest);
      out.convergence = c;
    }
  }
  out.centers = best.rowwise() + middle;
  out.summary_cluster = label;
  out.sizes = VectorXd::Zero(best.rows());
  for (Index i = 0; i < total; ++i) out.sizes[label[i]] += out.summary_weights[i];
  out.summary_cost = least;
  if (o.recenter) {
    out.cost_bound = least + out.summary_scatter.sum();
  } else {
    const double root = std::sqrt(least) + s.moved.cwiseSqrt().sum();
    out.cost_bound = root * root;
  }
  out.convergence.seconds = clock.seconds();
  return out;
}

void check(const KMeansPass& s) {
  require(s.sums.rows() == s.centers.rows() && s.sums.cols() == s.centers.cols() && s.weight.size() == s.centers.rows(), "the sums do not fit the centres");
}

void kmeans_pass(KMeansPass& pass, ConstMatrixRef x, ConstVectorRef weights, int threads, Monitor& monitor) {
  const DataRows rows(x);
  const Eigen::RowVectorXd middle = pass.centers.colwise().mean();  // far from zero, x'c - |c|^2 / 2 would cancel
  const MatrixXd near = x.rowwise() - middle;
  const BestScores best = best_scores(DataRows(near), centre_scores(pass.centers.rowwise() - middle), threads, monitor);
  const ClusterSums sums = cluster_sums(rows, weights, best.cluster, pass.centers.rows());
  pass.sums += sums.first;
  pass.weight += sums.weight;
  for (Index i = 0; i < x.rows(); ++i) pass.cost += weight_at(weights, i) * rows.squared_distance(i, pass.centers, best.cluster[i]);
}

MatrixXd pass_centres(const KMeansPass& pass) {
  MatrixXd out = pass.centers;
  for (Index h = 0; h < out.rows(); ++h)
    if (pass.weight[h] > 0) out.row(h) = pass.sums.row(h) / pass.weight[h];
  return out;
}

KMeansSeeds kmeans_seeds(ConstMatrixRef x, ConstVectorRef weights, const KMeansSeedOptions& options, int threads, const Rng& rng, Monitor& monitor) {
  SeedOptions how;
  how.rounds = options.k;
  how.per_round = seeds_per_round(options.method, options.k);
  how.candidates = options.candidates;
  const Seeds found = best_seeds(x, weights, how, options.repeats, threads, rng, monitor);
  if (found.rows.empty()) throw InputError("the weights of all rows are zero.");
  KMeansSeeds out{found.rows, VectorXd::Zero(static_cast<Index>(found.rows.size())), found.cost};
  for (Index i = 0; i < x.rows(); ++i) out.sizes[static_cast<Index>(found.nearest[i])] += weight_at(weights, i);
  return out;
}

namespace {

// The first k rows that differ.
MatrixXd first_rows(ConstMatrixRef x, Index k, Index& seen) {
  MatrixXd out(k, x.cols());
  Index found = 0;
  for (seen = 0; seen < x.rows() && found < k; ++seen) {
    bool known = false;
    for (Index h = 0; h < found && !known; ++h) known = (out.row(h) - x.row(seen)).squaredNorm() == 0;
    if (!known) out.row(found++) = x.row(seen);
  }
  if (found < k) throw InputError(message("`k` must be at most the number of different rows, ", found, ", not ", k, "."));
  return out;
}

BaselineResult online(ConstMatrixRef x, const BaselineOptions& options, Monitor& monitor) {
  BaselineResult out;
  Index seen = 0;
  out.centers = first_rows(x, options.k, seen);
  VectorXd count = VectorXd::Ones(options.k);
  for (Index i = seen; i < x.rows(); ++i) {
    if (i % 1024 == 0) monitor.progress(static_cast<double>(i) / static_cast<double>(x.rows()));
    Index best = 0;
    (out.centers.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&best);
    count[best] += 1;
    out.centers.row(best) += (x.row(i) - out.centers.row(best)) / count[best];
  }
  out.convergence.converged = true;
  out.convergence.iterations = 1;
  return out;
}

}  // namespace

BaselineResult stream_baseline(ConstMatrixRef x, const BaselineOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = x.rows(), k = options.k;
  if (k < 1 || k > n) throw InputError(message("the number of clusters must be between 1 and the number of rows, ", n, ", not ", k, "."));
  BaselineResult out;
  const Eigen::RowVectorXd middle = x.colwise().mean();
  const MatrixXd points = x.rowwise() - middle;
  if (options.method == StreamBaseline::online) {
    out = online(points, options, monitor);
  } else {
    MatrixXd centres(k, x.cols());
    std::vector<Index> rows;
    if (options.method == StreamBaseline::plusplus) {
      SeedOptions how;
      how.rounds = k;
      rows = spread_seeds(points, VectorXd(), how, options.threads, rng, monitor).rows;
    }
    for (const int i : rng.sample_without_replacement(static_cast<int>(n), static_cast<int>(k)))
      if (static_cast<Index>(rows.size()) < k) rows.push_back(i);
    for (Index h = 0; h < k; ++h) centres.row(h) = points.row(rows[static_cast<std::size_t>(h)]);
    // Lloyd's iterations until the cost falls by less than `least`; a centre without rows stays where it is.
    double last = std::numeric_limits<double>::infinity();
    for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
      KMeansPass pass{centres, MatrixXd::Zero(k, x.cols()), VectorXd::Zero(k), 0};
      kmeans_pass(pass, points, VectorXd(), options.threads, monitor);
      out.convergence.iterations = iteration;
      out.convergence.residual = last - pass.cost;
      if (!(last - pass.cost > options.least)) {
        out.convergence.converged = true;
        break;
      }
      last = pass.cost;
      centres = pass_centres(pass);
    }
    out.centers = centres;
  }
  KMeansPass pass{out.centers, MatrixXd::Zero(k, x.cols()), VectorXd::Zero(k), 0};
  kmeans_pass(pass, points, VectorXd(), options.threads, monitor);
  out.cost = pass.cost;
  out.sizes = pass.weight;
  out.cluster = best_scores(DataRows(points), centre_scores(out.centers), options.threads, monitor).cluster;
  out.centers.rowwise() += middle;
  out.convergence.seconds = clock.seconds();
  return out;
}

}  // namespace granary::cluster
