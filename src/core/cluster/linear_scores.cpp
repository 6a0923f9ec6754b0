#include "core/cluster/linear_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/linalg/wide_loops.h"

namespace granary {

namespace {

constexpr Index block_rows = 512;  // their scores stay in the cache
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-13;  // of scores, relative to their size: a margin below is none

double weight_of(ConstVectorRef weights, Index i) { return weights.size() > 0 ? weights[i] : 1.0; }

// Best, second and label of the rows of a block of scores.
struct TopTwo {
  VectorXd best, second, label;
  void find(ConstMatrixRef scores) {
    const Index size = scores.rows();
    best = scores.col(0);
    second = VectorXd::Constant(size, -infinity);
    label = VectorXd::Zero(size);
    for (Index h = 1; h < scores.cols(); ++h)
      keep_two(scores.col(h).data(), static_cast<double>(h), best.data(), second.data(), label.data(), size);
  }
};

class Loop {
 public:
  Loop(const DataRows& x, ConstVectorRef weights, ConstVectorRef base, LinearScores start, const ScoreModel& model, const HardOptions& options,
       Monitor& monitor)
      : x_(x), weights_(weights), base_(base), model_(model), options_(options), monitor_(monitor), k_(start.bias.size()) {
    result_.scores = std::move(start);
    result_.cluster = VectorXi::Constant(x.rows(), -1);
    lead_ = VectorXd::Constant(x.rows(), -infinity);
    if (options.bounds) reach_ = VectorXd::Zero(x.rows());
    total_base_ = 0;
    for (Index i = 0; i < base.size(); ++i) total_base_ += weight_of(weights, i) * base[i];
  }

  HardResult run() {
    const Stopwatch clock;
    Convergence& c = result_.convergence;
    double last = infinity;
    for (int iteration = 1; iteration <= options_.max_iter; ++iteration) {
      monitor_.check();
      c.iterations = iteration;
      Index moved = assign(false);
      if (moved == 0 && skipped_ > 0) moved = assign(true);  // what the bounds say is confirmed by the scores themselves
      if (iteration == 1) {
        result_.sums = cluster_sums(x_, weights_, result_.cluster, k_);
      } else if (moved > x_.rows() / 4 || ++since_whole_ >= 32) {  // small steps gather rounding
        result_.sums = cluster_sums(x_, weights_, result_.cluster, k_);
        since_whole_ = 0;
      } else {
        move_rows();
      }
      const bool refilled = fill_empty();
      if (moved == 0 && !refilled) {
        c.converged = true;
        c.residual = 0;
        break;
      }
      update();
      const double now = objective();
      result_.trace.push_back(now);
      if (options_.tol > 0 && std::abs(last - now) <= options_.tol * std::abs(now)) {
        c.converged = true;
        c.residual = std::abs(last - now) / std::max(std::abs(now), std::numeric_limits<double>::min());
        break;
      }
      last = now;
    }
    if (since_whole_ > 0) {
      result_.sums = cluster_sums(x_, weights_, result_.cluster, k_);
      model_(result_.sums, result_.scores);
    }
    result_.objective = objective();
    c.seconds = clock.seconds();
    if (!c.converged) c.message = "labels still changed";
    return std::move(result_);
  }

 private:
  struct Move {
    Index row;
    int from, to;
  };

  // Labels of all rows (or of those the bounds do not decide); returns how many changed.
  Index assign(bool all) {
    const Index n = x_.rows(), blocks = (n + block_rows - 1) / block_rows;
    std::vector<std::vector<Move>> moves(static_cast<std::size_t>(blocks));
    std::vector<Index> skipped(static_cast<std::size_t>(blocks), 0);
    const double size = score_size();
    parallel_for(blocks, options_.threads, monitor_, [&](Index b) {
      const Index from = b * block_rows, count = std::min(block_rows, n - from);
      std::vector<Index> open;
      for (Index i = from; i < from + count; ++i)
        if (all || !options_.bounds || !(lead_[i] > size)) open.push_back(i);
      skipped[static_cast<std::size_t>(b)] = count - static_cast<Index>(open.size());
      if (open.empty()) return;
      const bool whole = 2 * static_cast<Index>(open.size()) > count;
      if (whole) {
        open.resize(static_cast<std::size_t>(count));
        for (Index r = 0; r < count; ++r) open[static_cast<std::size_t>(r)] = from + r;
      }
      MatrixXd scores(static_cast<Index>(open.size()), k_), gathered;
      if (whole) {
        x_.scores(from, result_.scores.theta, result_.scores.bias, scores);
      } else {
        x_.scores(open, result_.scores.theta, result_.scores.bias, scores, gathered);
      }
      TopTwo top;
      top.find(scores);
      for (std::size_t r = 0; r < open.size(); ++r) {
        const Index i = open[r], at = static_cast<Index>(r);
        const int label = static_cast<int>(top.label[at]), old = result_.cluster[i];
        // A tie, within rounding, is no reason to move: labels must not run in circles.
        const bool moves_on = old < 0 || (label != old && top.best[at] > scores(at, old) + rounding * std::abs(top.best[at]) + options_.noise);
        if (moves_on) moves[static_cast<std::size_t>(b)].push_back({i, old, label});
        lead_[i] = moves_on || label == old ? top.best[at] - top.second[at] : 0;
        if (moves_on) result_.cluster[i] = label;
      }
      if (options_.bounds && centred()) {
        for (const Index i : open)
          if (means_.rows() > 0) reach_[i] = std::sqrt(x_.squared_distance(i, means_, result_.cluster[i]));
      }
    });
    moves_.clear();
    skipped_ = 0;
    for (const auto& one : moves) moves_.insert(moves_.end(), one.begin(), one.end());
    for (const Index one : skipped) skipped_ += one;
    return static_cast<Index>(moves_.size());
  }

  bool centred() const { return !x_.is_sparse(); }

  double score_size() const {  // what rounding can do to a score
    if (largest_norm_ < 0) largest_norm_ = x_.rows() > 0 ? std::sqrt(x_.squared_norms().maxCoeff()) : 0;
    double size = 0;
    for (Index h = 0; h < k_; ++h)
      size = std::max(size, result_.scores.theta.row(h).norm() * largest_norm_ + std::abs(result_.scores.bias[h]));
    return rounding * size + options_.noise;
  }

  void move_rows() {
    for (const Move& m : moves_) {
      const double w = weight_of(weights_, m.row);
      x_.add_row(m.row, -w, result_.sums.first, m.from);
      x_.add_row(m.row, w, result_.sums.first, m.to);
      result_.sums.weight[m.from] -= w;
      result_.sums.weight[m.to] += w;
    }
  }

  // A cluster without rows takes the row that fits worst where it is.
  bool fill_empty() {
    std::vector<Index> rows(static_cast<std::size_t>(k_), 0);
    for (Index i = 0; i < x_.rows(); ++i)
      if (weight_of(weights_, i) > 0) ++rows[static_cast<std::size_t>(result_.cluster[i])];
    if (std::find(rows.begin(), rows.end(), 0) == rows.end()) return false;
    VectorXd loss(x_.rows());
    for (Index i = 0; i < x_.rows(); ++i) {
      const int h = result_.cluster[i];
      loss[i] = (base_.size() > 0 ? base_[i] : 0.0) - x_.score(i, result_.scores.theta, h) - result_.scores.bias[h];
    }
    bool any = false;
    for (Index h = 0; h < k_; ++h) {
      if (rows[static_cast<std::size_t>(h)] > 0) continue;
      Index worst = -1;
      for (Index i = 0; i < x_.rows(); ++i) {
        const bool spare = weight_of(weights_, i) > 0 && rows[static_cast<std::size_t>(result_.cluster[i])] > 1;
        if (spare && (worst < 0 || loss[i] > loss[worst])) worst = i;
      }
      // Rows that all sit on their centres leave nothing to gain: fewer distinct rows than clusters.
      const double least = base_.size() > 0 && worst >= 0 ? std::max(1e-12 * std::abs(base_[worst]), score_size()) : -infinity;
      if (worst < 0 || !(loss[worst] > least)) continue;
      moves_.assign(1, {worst, result_.cluster[worst], static_cast<int>(h)});
      move_rows();
      --rows[static_cast<std::size_t>(result_.cluster[worst])];
      rows[static_cast<std::size_t>(h)] = 1;
      result_.cluster[worst] = static_cast<int>(h);
      loss[worst] = -infinity;
      lead_[worst] = -infinity;
      ++result_.refilled;
      ++since_whole_;
      any = true;
    }
    return any;
  }

  // New scores from the sums, and what that can do to the margins.
  void update() {
    const LinearScores old = result_.scores;
    model_(result_.sums, result_.scores);
    if (!options_.bounds) return;
    const MatrixXd change = result_.scores.theta - old.theta;
    const VectorXd lift = result_.scores.bias - old.bias;
    MatrixXd means = MatrixXd::Zero(k_, x_.cols());
    if (centred()) {
      for (Index h = 0; h < k_; ++h)
        if (result_.sums.weight[h] > 0) means.row(h) = result_.sums.first.row(h) / result_.sums.weight[h];
    }
    const MatrixXd inner = means * change.transpose();  // <r_a, D theta_h>
    const MatrixXd products = change * change.transpose();
    VectorXd fixed(k_), slope(k_), shift = VectorXd::Zero(k_);
    for (Index a = 0; a < k_; ++a) {
      double most = k_ > 1 ? -infinity : 0, steepest = 0;
      for (Index h = 0; h < k_; ++h) {
        if (h == a) continue;
        most = std::max(most, inner(a, h) - inner(a, a) + lift[h] - lift[a]);
        steepest = std::max(steepest, products(h, h) + products(a, a) - 2 * products(a, h));
      }
      fixed[a] = most;
      slope[a] = std::sqrt(std::max(steepest, 0.0)) * (1 + 1e-10);
      if (centred() && means_.rows() > 0) shift[a] = (means.row(a) - means_.row(a)).norm();
    }
    const bool first = centred() && means_.rows() == 0;
    means_ = means;
    const Index n = x_.rows();
    if (!centred() && reach_.maxCoeff() == 0) reach_ = x_.squared_norms().cwiseSqrt();
    parallel_for((n + 8191) / 8192, options_.threads, monitor_, [&](Index b) {
      for (Index i = b * 8192; i < std::min(n, (b + 1) * 8192); ++i) {
        const int a = result_.cluster[i];
        if (first) {
          reach_[i] = std::sqrt(x_.squared_distance(i, means_, a));
        } else {
          reach_[i] += shift[a];
        }
        lead_[i] -= fixed[a] + reach_[i] * slope[a];
      }
    });
  }

  // sum_i w_i (base_i - s_iz), from the sums alone.
  double objective() const {
    double fit = result_.sums.weight.dot(result_.scores.bias);
    fit += result_.sums.first.cwiseProduct(result_.scores.theta).sum();
    return total_base_ - fit;
  }

  const DataRows& x_;
  ConstVectorRef weights_, base_;
  const ScoreModel& model_;
  const HardOptions& options_;
  Monitor& monitor_;
  Index k_;
  HardResult result_;
  VectorXd lead_, reach_;  // lower bounds of the margins, upper bounds of the distances from the points of reference
  MatrixXd means_;         // the points of reference
  std::vector<Move> moves_;
  Index skipped_ = 0;
  int since_whole_ = 0;
  double total_base_ = 0;
  mutable double largest_norm_ = -1;
};

void check_shapes(const DataRows& x, ConstVectorRef weights, const LinearScores& scores) {
  if (scores.theta.cols() != x.cols() || scores.theta.rows() != scores.bias.size() || scores.bias.size() < 1)
    throw InputError(message("the clusters have ", scores.theta.cols(), " columns, the data ", x.cols(), "."));
  if (weights.size() > 0 && weights.size() != x.rows())
    throw InputError(message("there are ", weights.size(), " weights for ", x.rows(), " rows."));
}

}  // namespace

HardResult hard_clusters(const DataRows& x, ConstVectorRef weights, ConstVectorRef base, LinearScores start, const ScoreModel& model,
                         const HardOptions& options, Monitor& monitor) {
  check_shapes(x, weights, start);
  return Loop(x, weights, base, std::move(start), model, options, monitor).run();
}

BestScores best_scores(const DataRows& x, const LinearScores& scores, int threads, Monitor& monitor) {
  check_shapes(x, VectorXd(), scores);
  const Index n = x.rows(), k = scores.bias.size();
  BestScores out{VectorXi(n), VectorXd(n), VectorXd(n)};
  parallel_for((n + block_rows - 1) / block_rows, threads, monitor, [&](Index b) {
    const Index from = b * block_rows, count = std::min(block_rows, n - from);
    MatrixXd block(count, k);
    x.scores(from, scores.theta, scores.bias, block);
    TopTwo top;
    top.find(block);
    out.cluster.segment(from, count) = top.label.cast<int>();
    out.score.segment(from, count) = top.best;
    out.lead.segment(from, count) = top.best - top.second;
  });
  return out;
}

ClusterSums cluster_sums(const DataRows& x, ConstVectorRef weights, const VectorXi& cluster, Index k) {
  ClusterSums out{MatrixXd::Zero(k, x.cols()), VectorXd::Zero(k)};
  x.add_labelled(cluster, weights, out.first);
  for (Index i = 0; i < x.rows(); ++i) out.weight[cluster[i]] += weight_of(weights, i);
  return out;
}

SoftPass soft_pass(const DataRows& x, ConstVectorRef weights, const LinearScores& scores, Membership kind, std::uint64_t draw, MatrixXd* membership, int threads,
                   Monitor& monitor) {
  check_shapes(x, weights, scores);
  const Index n = x.rows(), k = scores.bias.size(), d = x.cols();
  if (membership != nullptr) membership->resize(n, k);
  // Sums are taken over a fixed number of stretches of rows, each in its order, so they do not depend on the number of threads.
  const double table = 8.0 * static_cast<double>(k) * static_cast<double>(d);
  const Index most = std::max<Index>(1, std::min<Index>(16, static_cast<Index>(2.56e8 / std::max(table, 1.0))));
  const Index lanes = std::max<Index>(1, std::min(most, (n + block_rows - 1) / block_rows)), stretch = (n + lanes - 1) / lanes;
  std::vector<SoftPass> part(static_cast<std::size_t>(lanes));
  parallel_for(lanes, threads, monitor, [&](Index lane) {
    SoftPass& own = part[static_cast<std::size_t>(lane)];
    own.sums = {MatrixXd::Zero(k, d), VectorXd::Zero(k)};
    MatrixXd p, s;
    VectorXd top, sum, relative;
    const Index end = std::min(n, (lane + 1) * stretch);
    for (Index from = lane * stretch; from < end; from += block_rows) {
      monitor.check();
      const Index count = std::min(block_rows, end - from);
      s.resize(count, k);
      x.scores(from, scores.theta, scores.bias, s);
      top = s.rowwise().maxCoeff();
      p = s;
      for (Index h = 0; h < k; ++h) exp_below(top.data(), p.col(h).data(), count);
      sum = p.rowwise().sum();
      for (Index h = 0; h < k; ++h) p.col(h).array() /= sum.array();
      relative = VectorXd::Zero(count);  // sum_h p_ih (s_ih - top_i)
      for (Index h = 0; h < k; ++h) relative.array() += p.col(h).array() * (s.col(h) - top).array();
      for (Index r = 0; r < count; ++r) {
        const double w = weight_of(weights, from + r), log_sum = std::log(sum[r]);
        own.value += w * (top[r] + log_sum);
        own.hard += w * top[r];
        own.complete += w * (top[r] + relative[r]);
        own.entropy += w * std::max(log_sum - relative[r], 0.0);
      }
      if (membership != nullptr) membership->middleRows(from, count) = p;
      if (kind == Membership::drawn) {
        for (Index r = 0; r < count; ++r) {
          double left = Rng::uniform_at(draw, static_cast<std::uint64_t>(from + r));
          Index h = 0;
          while (h + 1 < k && left >= p(r, h)) left -= p(r, h++);
          p.row(r).setZero();
          p(r, h) = 1;
        }
      }
      if (weights.size() > 0)
        for (Index h = 0; h < k; ++h) p.col(h).array() *= weights.segment(from, count).array();
      x.add_sums(from, p, own.sums.first);
      own.sums.weight += p.colwise().sum().transpose();
    }
  });
  SoftPass out = std::move(part[0]);
  for (std::size_t lane = 1; lane < part.size(); ++lane) {
    out.sums.first += part[lane].sums.first;
    out.sums.weight += part[lane].sums.weight;
    out.value += part[lane].value;
    out.hard += part[lane].hard;
    out.complete += part[lane].complete;
    out.entropy += part[lane].entropy;
  }
  out.entropy /= std::max(out.sums.weight.sum(), std::numeric_limits<double>::min());
  return out;
}

SoftResult soft_clusters(const DataRows& x, ConstVectorRef weights, LinearScores start, const ScoreModel& model, const SoftOptions& options, Rng& rng,
                         Monitor& monitor) {
  const Stopwatch clock;
  SoftResult out;
  out.scores = std::move(start);
  Convergence& c = out.convergence;
  SoftPass now = soft_pass(x, weights, out.scores, options.kind, rng(), nullptr, options.threads, monitor);
  out.trace.push_back(now.value);
  out.entropy.push_back(now.entropy);
  LinearScores scores = out.scores;
  double best = -infinity;
  for (int iteration = 1; iteration <= options.max_iter; ++iteration) {
    c.iterations = iteration;
    ClusterSums sums = now.sums;
    model(sums, scores);
    const double before = now.value;
    now = soft_pass(x, weights, scores, options.kind, rng(), nullptr, options.threads, monitor);
    if (!std::isfinite(now.value)) throw NumericalError("the likelihood of the clusters is not finite: a cluster has degenerated.");
    out.trace.push_back(now.value);
    out.entropy.push_back(now.entropy);
    c.residual = std::abs(now.value - before) / (std::abs(now.value + options.offset) + options.tol);
    const bool settled = c.residual <= (now.entropy > options.plateau_entropy ? options.plateau_tol : options.tol);
    const bool last = settled || now.entropy < options.stop_entropy || iteration == options.max_iter;
    if (options.keep_best ? now.value > best : last) {
      best = now.value;
      out.scores = scores;
      out.sums = std::move(sums);
      out.last = now;
    }
    if (settled) {
      c.converged = options.kind == Membership::soft;
      c.reason = c.converged ? Stop::solved : Stop::approximate;
    }
    if (last) break;
  }
  c.seconds = clock.seconds();
  return out;
}

}  // namespace granary
