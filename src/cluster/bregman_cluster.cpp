#include "cluster/bregman_cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/cluster/interval_clusters.h"
#include "core/cluster/seeding.h"
#include "core/cluster/soft_polish.h"
#include "core/linalg/dense.h"
#include "core/linalg/spectral.h"

namespace granary::cluster {

namespace {

VectorXd unit_weights(ConstVectorRef weights, Index n) {
  if (weights.size() == 0) return VectorXd::Constant(n, 1 / static_cast<double>(n));
  if (weights.size() != n) throw InputError(message("there are ", weights.size(), " weights for ", n, " rows."));
  const double total = weights.sum();
  if (!(total > 0)) throw InputError("the weights must not all be zero.");
  return weights / total;
}

// The rows in which centres are means, and the scores of centres there: the data themselves, or y = grad phi(x) for the left side.
class Space {
 public:
  Space(const Design& x, const VectorXd& v, const BregmanFamily& family, BregmanSide side) : family_(family), left_(side == BregmanSide::left) {
    if (left_) {
      if (!family.has_inverse()) throw InputError("left-sided clusters need the inverse of the gradient of phi.");
      const MatrixXd rows = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense());
      if (family.whole_rows()) sum_ = rows.row(0).sum();
      dual_ = family.gradient(rows);
      if (!family.inside(rows) || !dual_.allFinite())
        throw InputError("left-sided clusters need rows inside the domain: the gradient of phi is infinite at some of them.");
      design_ = Design(MatrixView(dual_.data(), dual_.rows(), dual_.cols()));
    } else {
      design_ = x;
    }
    mean_.resize(x.cols());
    design_.transposed_times(v, mean_);
    if (left_) {
      origin_ = dual_scores(mean_.transpose());
      const MatrixXd at = centres(mean_.transpose());
      base_.resize(x.rows());
      const MatrixXd rows = x.is_sparse() ? MatrixXd(x.sparse()) : MatrixXd(x.dense());
      for (Index i = 0; i < rows.rows(); ++i) {  // d(m0, x_i)
        const MatrixXd row = rows.row(i);
        base_[i] = family.between(at, row)(0, 0);
      }
    } else {
      base_ = family.from_point(x, mean_);
    }
  }

  const Design& design() const { return design_; }
  const VectorXd& mean() const { return mean_; }
  const VectorXd& base() const { return base_; }  // divergence of every row from the mean
  bool left() const { return left_; }

  // On the left of a multinomial divergence centres have the sum of the rows, too: their gradient is told up to a constant.
  MatrixXd centres(const MatrixXd& means) const {
    if (!left_) return means;
    MatrixXd out = family_.inverse(means);
    if (family_.whole_rows())
      for (Index h = 0; h < out.rows(); ++h) out.row(h) *= sum_ / out.row(h).sum();
    return out;
  }
  MatrixXd means_of(const MatrixXd& centres) const { return left_ ? family_.gradient(centres) : centres; }

  LinearScores relative(const MatrixXd& means) const {
    if (!left_) return {family_.gradient_from(means, mean_), family_.offset_from(means, mean_)};
    LinearScores s = dual_scores(means);
    s.theta.rowwise() -= origin_.theta.row(0);
    s.bias.array() -= origin_.bias[0];
    return s;
  }
  // Rounding that the scores of the mean leave in differences from them.
  double noise() const {
    const LinearScores own = left_ ? origin_ : LinearScores{family_.gradient(mean_.transpose()), -family_.phi(mean_.transpose())};
    double size = std::abs(own.bias[0]);
    for (Index j = 0; j < mean_.size(); ++j)
      if (std::abs(own.theta(0, j)) < 1e10) size += std::abs(mean_[j] * own.theta(0, j));
    return 1e-15 * size;
  }
  // The divergence of means from the overall mean.
  VectorXd from_mean(const MatrixXd& means) const {
    if (!left_) return family_.from_point(Design(MatrixView(means.data(), means.rows(), means.cols())), mean_);
    return family_.between(centres(mean_.transpose()), centres(means)).row(0).transpose();
  }

 private:
  // In the dual theta = m, bias = -phi(m): phi is the conjugate of psi.
  LinearScores dual_scores(const MatrixXd& means) const {
    const MatrixXd m = centres(means);
    return {m, -family_.phi(m)};
  }

  const BregmanFamily& family_;
  bool left_;
  MatrixXd dual_;
  Design design_;
  VectorXd mean_, base_;
  LinearScores origin_;  // left: the scores of the mean
  double sum_ = 0;       // left and multinomial: of every row
};

MatrixXd cluster_means(const ClusterSums& sums, const MatrixXd& before) {
  MatrixXd means = before;
  for (Index h = 0; h < means.rows(); ++h)
    if (sums.weight[h] > 0) means.row(h) = sums.first.row(h) / sums.weight[h];
  return means;
}

class Problem {
 public:
  Problem(const Design& x, const VectorXd& v, const BregmanFamily& family, const BregmanOptions& options, Monitor& monitor)
      : x_(x), v_(v), family_(family), options_(options), monitor_(monitor), space_(x, v, family, options.side), rows_(space_.design()) {}

  const Space& space() const { return space_; }

  MatrixXd smoothed(MatrixXd means, double share) const {
    if (share > 0) means = ((1 - share) * means).rowwise() + share * space_.mean().transpose();
    return means;
  }

  MatrixXd start_means(Rng& rng) const {
    const Index n = x_.rows(), k = options_.k;
    MatrixXd means(k, x_.cols());
    if (options_.start == BregmanStart::partition) {
      VectorXi label(n);
      for (Index i = 0; i < n; ++i) label[i] = i < k ? static_cast<int>(i) : static_cast<int>(rng.below(static_cast<std::uint64_t>(k)));
      rng.shuffle(label);
      return cluster_means(cluster_sums(rows_, v_, label, k), MatrixXd::Zero(k, x_.cols()));
    }
    // A row on the border of the domain is infinitely far from others: it is drawn towards the mean first.
    const double inward = std::max(options_.smooth, on_border() ? 0.1 : 0.0);
    VectorXd row(x_.cols());
    const auto mean_at = [&](Index i) {
      rows_.row(i, row);
      return smoothed(row.transpose(), inward);
    };
    std::vector<Index> seeds;
    if (options_.start == BregmanStart::plusplus) {
      SeedOptions how;
      how.rounds = k;
      const auto divergence = [&](Index i) -> VectorXd {
        const LinearScores s = space_.relative(mean_at(i));
        MatrixXd score(n, 1);
        rows_.scores(0, s.theta, s.bias, score);
        const VectorXd& base = space_.base();
        VectorXd d = base - score.col(0);
        for (Index r = 0; r < n; ++r)
          if (!(d[r] > 1e-13 * base[r])) d[r] = 0;
        return d;
      };
      seeds = spread_seeds(n, v_, how, divergence, rng, monitor_).rows;
    }
    while (static_cast<Index>(seeds.size()) < k) {  // fewer distinct rows than clusters, or rows at random
      const Index i = draw_index(v_, rng.uniform());
      if (std::find(seeds.begin(), seeds.end(), i) == seeds.end() || static_cast<Index>(seeds.size()) >= (v_.array() > 0).count()) seeds.push_back(i);
    }
    for (Index h = 0; h < k; ++h) means.row(h) = mean_at(seeds[static_cast<std::size_t>(h)]);
    return means;
  }

  BregmanResult hard(const MatrixXd& start) const {
    const ScoreModel model = [&](const ClusterSums& sums, LinearScores& scores) {
      const MatrixXd means = smoothed(cluster_means(sums, MatrixXd::Zero(sums.weight.size(), x_.cols())), options_.smooth);
      const LinearScores fresh = space_.relative(means);
      for (Index h = 0; h < sums.weight.size(); ++h) {
        if (!(sums.weight[h] > 0)) continue;
        scores.theta.row(h) = fresh.theta.row(h);
        scores.bias[h] = fresh.bias[h];
      }
    };
    HardOptions how;
    how.max_iter = options_.max_iter;
    how.noise = space_.noise();
    how.threads = options_.threads;
    HardResult found = hard_clusters(rows_, v_, space_.base(), space_.relative(smoothed(start, options_.smooth)), model, how, monitor_);
    BregmanResult out = finish(found.cluster, found.sums);
    out.trace = std::move(found.trace);
    out.refilled = found.refilled;
    out.convergence = found.convergence;
    return out;
  }

  // Labels and sums to a result, with divergences by their definition.
  BregmanResult finish(const VectorXi& cluster, const ClusterSums& sums) const {
    BregmanResult out;
    const Index k = sums.weight.size();
    out.cluster = cluster;
    out.share = sums.weight;
    MatrixXd means = space_.mean().transpose().replicate(k, 1);  // where a cluster is empty
    means = smoothed(cluster_means(sums, means), options_.smooth);
    describe(means, out);
    const VectorXd loss = losses(out.centers, cluster);
    out.within = weighted(loss);
    out.value = out.within;
    return out;
  }

  void describe(const MatrixXd& means, BregmanResult& out) const {
    out.centers = space_.centres(means);
    out.mean = space_.centres(space_.mean().transpose()).row(0).transpose();
    const LinearScores s = space_.relative(means);
    out.theta = s.theta;
    out.bias = s.bias;
    out.total = weighted(space_.base());
    const VectorXd apart = space_.from_mean(means);
    out.between = 0;
    for (Index h = 0; h < means.rows(); ++h)
      if (out.share[h] > 0) out.between += out.share[h] * apart[h];
  }

  // `settle`: on to where the equations of the answer hold; else until the likelihood stands still, which is enough to choose among starts.
  BregmanResult soft(const MatrixXd& start, const VectorXd& share, double beta, bool fixed, bool settle, Rng& rng) const {
    MatrixXd means = smoothed(start, fixed ? 0 : options_.smooth);
    const auto tilted = [&](const MatrixXd& at, const VectorXd& pi) {
      LinearScores s = space_.relative(at);
      s.theta *= beta;
      s.bias *= beta;
      for (Index h = 0; h < pi.size(); ++h) s.bias[h] += pi[h] > 0 ? std::log(pi[h]) : -1e30;
      return s;
    };
    const ScoreModel model = [&](const ClusterSums& sums, LinearScores& scores) {
      if (!fixed) means = smoothed(cluster_means(sums, means), options_.smooth);
      scores = tilted(means, sums.weight / sums.weight.sum());
    };
    SoftOptions how;
    how.max_iter = options_.max_iter;
    how.tol = options_.tol;
    how.offset = -beta * weighted(space_.base());
    how.threads = options_.threads;
    SoftResult found = soft_clusters(rows_, v_, tilted(means, share), model, how, rng, monitor_);
    if (settle && !fixed) found = settled(std::move(found), model, means);
    model(found.sums, found.scores);
    BregmanResult out;
    out.share = found.sums.weight / found.sums.weight.sum();
    describe(means, out);
    const SoftPass last = soft_pass(rows_, v_, found.scores, Membership::soft, 0, &out.membership, options_.threads, monitor_);
    out.cluster.resize(x_.rows());
    for (Index i = 0; i < x_.rows(); ++i) {
      Index best = 0;
      out.membership.row(i).maxCoeff(&best);
      out.cluster[i] = static_cast<int>(best);
    }
    // E d = sum_i v_i base_i - sum_h (<S_h, theta_h> + W_h b_h)
    const double fit = last.sums.first.cwiseProduct(out.theta).sum() + last.sums.weight.dot(out.bias);
    out.within = std::max(out.total - fit, 0.0);
    double prior = 0;
    for (Index h = 0; h < out.share.size(); ++h)
      if (last.sums.weight[h] > 0) prior += last.sums.weight[h] * std::log(out.share[h]);
    out.rate = std::max(last.complete - last.value - prior, 0.0);
    out.value = last.value - beta * out.total;  // sum_i v_i log sum_h pi_h exp(-beta d)
    out.trace = std::move(found.trace);
    for (double& value : out.trace) value -= beta * out.total;
    out.entropy = std::move(found.entropy);
    out.convergence = found.convergence;
    out.convergence.residual = moved(found.sums, last.sums, means, fixed);
    return out;
  }

  // How far a step from one set of sums to the next goes: the root of the divergence of the centres over the information of all rows, and the largest
  // change of a share.
  double moved(const ClusterSums& before, const ClusterSums& after, const MatrixXd& means, bool fixed) const {
    const double out = (after.weight / after.weight.sum() - before.weight / before.weight.sum()).cwiseAbs().maxCoeff(), total = weighted(space_.base());
    if (fixed || !(total > 0)) return out;
    const MatrixXd from = smoothed(cluster_means(before, means), options_.smooth), to = smoothed(cluster_means(after, means), options_.smooth);
    double step = 0;
    for (Index h = 0; h < to.rows(); ++h)
      if (after.weight[h] > 1e-12) step += after.weight[h] * step_size(from.row(h), to.row(h));
    return out + std::sqrt(step / total);
  }

  SoftResult settled(SoftResult found, const ScoreModel& model, const MatrixXd& means) const {
    PolishOptions how;
    how.max_iter = options_.max_iter;
    how.tol = std::max(100 * options_.tol, 1e-11);
    how.origin = space_.mean();
    how.threads = options_.threads;
    const auto step = [&](const ClusterSums& before, const ClusterSums& after) { return moved(before, after, means, false); };
    // Means between the least and the largest entry of every column are inside the domain; of an own one nothing is known.
    const bool free = family_.quadratic();
    VectorXd least, most;
    if (!family_.own()) {
      least = VectorXd::Constant(x_.cols(), x_.is_sparse() ? 0 : std::numeric_limits<double>::infinity());
      most = -least;
      for (Index j = 0; j < x_.cols(); ++j) {
        if (x_.is_sparse()) {
          for (ConstSparseMap::InnerIterator it(x_.sparse(), j); it; ++it) least[j] = std::min(least[j], it.value()), most[j] = std::max(most[j], it.value());
        } else {
          least[j] = x_.dense().col(j).minCoeff();
          most[j] = x_.dense().col(j).maxCoeff();
        }
      }
    }
    const auto inside = [&](const ClusterSums& sums) {
      if (!(sums.weight.minCoeff() > 0)) return false;
      if (free) return true;
      if (least.size() == 0) return false;
      for (Index j = 0; j < least.size(); ++j)
        for (Index h = 0; h < sums.weight.size(); ++h) {
          const double m = sums.first(h, j) / sums.weight[h];
          if (!(m >= least[j] && m <= most[j])) return false;
        }
      return true;
    };
    return polish_soft(rows_, v_, std::move(found), model, step, inside, how, monitor_);
  }

  BregmanResult exact() const {
    const MatrixXd column = space_.design().is_sparse() ? MatrixXd(space_.design().sparse()) : MatrixXd(space_.design().dense());
    const double middle = space_.mean()[0];
    const bool plain = !family_.own() && !space_.left();
    const auto g = [&](double m) { return plain ? family_.divergence(0, m, middle) : space_.from_mean(MatrixXd::Constant(1, 1, m))[0]; };
    // A quadratic form of one column and a gaussian one are squares up to a factor, which moves no cut.
    const bool squares = plain && (family_.quadratic() || family_.column(0).kind == DivergenceKind::gaussian);
    const IntervalClusters found = squares ? interval_squares(column.col(0), v_, options_.k, monitor_)
                                           : interval_clusters(column.col(0), v_, options_.k, g, monitor_);
    BregmanResult out = finish(found.cluster, cluster_sums(rows_, v_, found.cluster, options_.k));
    out.exact = true;
    out.convergence.converged = true;
    out.convergence.iterations = options_.k;
    out.convergence.residual = 0;
    out.convergence.gap = 0;
    return out;
  }

 private:
  // Whether some row has no gradient; an own divergence is asked at the first one.
  bool on_border() const {
    if (space_.left()) return false;
    if (family_.own()) {
      VectorXd row(x_.cols());
      rows_.row(0, row);
      return !family_.inside(row.transpose());
    }
    for (Index j = 0; j < x_.cols(); ++j) {
      const auto kind = family_.column(j).kind;
      const bool one = kind == DivergenceKind::poisson || kind == DivergenceKind::multinomial || kind == DivergenceKind::negbinomial;
      if (kind == DivergenceKind::bernoulli || kind == DivergenceKind::binomial) return true;
      if (one && (x_.is_sparse() || x_.dense().col(j).minCoeff() <= 0)) return true;
    }
    return false;
  }
  double step_size(const MatrixXd& from, const MatrixXd& to) const {
    const MatrixXd a = space_.centres(to), b = space_.centres(from);
    const double d = space_.left() ? family_.between(b, a)(0, 0) : family_.between(a, b)(0, 0);
    return std::isfinite(d) ? d : 0;
  }
  double weighted(const VectorXd& d) const {
    double sum = 0;
    for (Index i = 0; i < d.size(); ++i)
      if (v_[i] > 0) sum += v_[i] * d[i];
    return sum;
  }
  VectorXd losses(const MatrixXd& centres, const VectorXi& cluster) const {
    if (!space_.left()) return family_.from_centres(x_, centres, cluster);
    const MatrixXd rows = x_.is_sparse() ? MatrixXd(x_.sparse()) : MatrixXd(x_.dense());
    VectorXd out(x_.rows());
    for (Index i = 0; i < rows.rows(); ++i) {
      const MatrixXd row = rows.row(i), centre = centres.row(cluster[i]);
      out[i] = family_.between(centre, row)(0, 0);
    }
    return out;
  }

  const Design& x_;
  const VectorXd& v_;
  const BregmanFamily& family_;
  const BregmanOptions& options_;
  Monitor& monitor_;
  Space space_;
  DataRows rows_;
};

void check_options(const Design& x, const BregmanFamily& family, const BregmanOptions& options) {
  if (options.k < 1 || options.k > x.rows())
    throw InputError(message("the number of clusters must be between 1 and the number of rows, ", x.rows(), ", not ", options.k, "."));
  if (!(options.beta > 0)) throw InputError(message("`beta` must be positive, not ", options.beta, "."));
  family.check_columns(x.cols());
  if (options.centers.size() > 0 && (options.centers.rows() != options.k || options.centers.cols() != x.cols()))
    throw InputError(message("the centres to start from must be ", options.k, " x ", x.cols(), ", not ", options.centers.rows(), " x ", options.centers.cols(), "."));
}

// Centres that differ by more than a thousandth of the information of the data.
int distinct_centres(const BregmanResult& fit, const BregmanFamily& family) {
  std::vector<Index> kept;
  const MatrixXd apart = family.between(fit.centers, fit.centers);
  for (Index h = 0; h < fit.centers.rows(); ++h) {
    if (fit.share[h] < 1e-8) continue;
    if (std::none_of(kept.begin(), kept.end(), [&](Index g) { return apart(h, g) < 1e-3 * fit.total; })) kept.push_back(h);
  }
  return static_cast<int>(kept.size());
}

}  // namespace

BregmanResult bregman_cluster(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const BregmanOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  check_options(x, family, options);
  family.check_domain(x, false);
  const VectorXd v = unit_weights(weights, x.rows());
  const Problem problem(x, v, family, options, monitor);
  const bool soft = options.type == ClusterType::soft;
  BregmanResult best;
  if (!soft && options.exact && x.cols() == 1 && options.centers.size() == 0) {
    best = problem.exact();
    best.values = VectorXd::Constant(1, best.value);
  } else {
    const bool given = options.centers.size() > 0;
    const int starts = given ? 1 : std::max(1, options.n_starts);
    VectorXd values(starts);
    int chosen = 0;
    for (int s = 0; s < starts; ++s) {
      monitor.progress(static_cast<double>(s) / starts);
      Rng own = rng.stream(static_cast<std::uint64_t>(s));
      const MatrixXd start = given ? problem.space().means_of(options.centers) : problem.start_means(own);
      const VectorXd equal = VectorXd::Constant(options.k, 1.0 / options.k);
      BregmanResult run = soft ? problem.soft(start, equal, options.beta, false, starts == 1, own) : problem.hard(start);
      values[s] = run.value;
      if (s > 0 && !(soft ? run.value > best.value : run.value < best.value)) continue;
      best = std::move(run);
      chosen = s;
    }
    if (soft && starts > 1) {  // the best one, on from where it stopped
      const MatrixXd reached = problem.space().means_of(best.centers);
      BregmanResult end = problem.soft(reached, best.share, options.beta, false, true, rng);
      end.trace.insert(end.trace.begin(), best.trace.begin(), best.trace.end());
      end.entropy.insert(end.entropy.begin(), best.entropy.begin(), best.entropy.end());
      end.convergence.iterations += best.convergence.iterations;
      best = std::move(end);
      values[chosen] = best.value;
    }
    best.values = values;
  }
  best.convergence.seconds = clock.seconds();
  return best;
}

BregmanInformation bregman_information(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const VectorXi& label) {
  family.check_domain(x, false);
  if (label.size() != x.rows()) throw InputError(message("there are ", label.size(), " labels for ", x.rows(), " rows."));
  const VectorXd v = unit_weights(weights, x.rows());
  BregmanInformation out;
  const Index k = label.size() > 0 ? label.maxCoeff() + 1 : 0;
  const ClusterSums sums = cluster_sums(DataRows(x), v, label, k);
  out.share = sums.weight;
  out.mean.resize(x.cols());
  x.transposed_times(v, out.mean);
  out.centers = cluster_means(sums, out.mean.transpose().replicate(k, 1));
  const VectorXd base = family.from_point(x, out.mean), loss = family.from_centres(x, out.centers, label);
  out.parts = VectorXd::Zero(k);
  for (Index i = 0; i < x.rows(); ++i) {
    if (!(v[i] > 0)) continue;
    out.total += v[i] * base[i];
    out.parts[label[i]] += v[i] * loss[i];
  }
  out.within = out.parts.sum();
  const VectorXd apart = family.from_point(Design(MatrixView(out.centers.data(), k, x.cols())), out.mean);
  for (Index h = 0; h < k; ++h)
    if (out.share[h] > 0) out.between += out.share[h] * apart[h];
  return out;
}

double critical_beta(const Design& x, ConstVectorRef weights, const BregmanFamily& family, Monitor& monitor) {
  const VectorXd v = unit_weights(weights, x.rows());
  const Index d = x.cols();
  VectorXd mean(d);
  x.transposed_times(v, mean);
  // Hess phi(m0) by differences of the gradient: a diagonal where phi is a sum over columns, and then of an own one all of it.
  const bool full = family.own() && d <= 2000;
  MatrixXd hess = MatrixXd::Zero(full ? d : 1, full ? d : 1);
  VectorXd bend(d);
  for (Index j = 0; j < d; ++j) {
    const double step = 1e-4 * std::max(std::abs(mean[j]), 1e-8);
    MatrixXd pair(2, d);
    pair.row(0) = pair.row(1) = mean.transpose();
    pair(0, j) -= step;
    pair(1, j) += step;
    const MatrixXd slope = family.gradient(pair);
    bend[j] = (slope(1, j) - slope(0, j)) / (2 * step);
    if (!std::isfinite(bend[j]) || bend[j] > 1e15) bend[j] = 0;  // a column without variation on the border
    if (full) hess.col(j) = (slope.row(1) - slope.row(0)).transpose() / (2 * step);
  }
  MatrixXd lower;  // Hess = L L'
  if (full) {
    const Llt factor(MatrixXd(0.5 * (hess + hess.transpose())));
    if (factor.info() == Eigen::Success) lower = factor.matrixL();
  }
  const VectorXd root = bend.cwiseMax(0.0).cwiseSqrt(), root_v = v.cwiseSqrt();
  MatrixOperator a;
  a.rows = x.rows();
  a.cols = d;
  a.apply = [&](ConstVectorRef u, VectorRef y) {
    const VectorXd w = lower.size() > 0 ? VectorXd(lower * u) : VectorXd(root.cwiseProduct(u));
    x.times(w, y);
    y.array() -= mean.dot(w);
    y = y.cwiseProduct(root_v);
  };
  a.transposed = [&](ConstVectorRef r, VectorRef y) {
    const VectorXd w = root_v.cwiseProduct(r);
    x.transposed_times(w, y);
    y -= w.sum() * mean;
    if (lower.size() > 0) {
      y = VectorXd(lower.transpose() * y);
    } else {
      y = y.cwiseProduct(root);
    }
  };
  EigenOptions how;
  how.tol = 1e-8;
  const TruncatedSvd svd = truncated_svd(a, 1, how, monitor);
  const double top = svd.values.size() > 0 ? svd.values[0] : 0;
  return top > 0 ? 1 / (top * top) : std::numeric_limits<double>::infinity();
}

RateCurve rate_curve(const Design& x, ConstVectorRef weights, const BregmanFamily& family, const std::vector<double>& beta, const MatrixXd& support,
                     const BregmanOptions& options, Rng& rng, Monitor& monitor) {
  check_options(x, family, options);
  family.check_domain(x, false);
  const VectorXd v = unit_weights(weights, x.rows());
  const Problem problem(x, v, family, options, monitor);
  RateCurve out;
  out.critical = critical_beta(x, weights, family, monitor);
  const bool fixed = support.size() > 0;
  const Index k = fixed ? support.rows() : options.k;
  MatrixXd means = fixed ? support : MatrixXd(problem.space().mean().transpose().replicate(k, 1));
  const MatrixXd spread = fixed ? means : problem.start_means(rng);
  VectorXd share = VectorXd::Constant(k, 1 / static_cast<double>(k));
  for (std::size_t b = 0; b < beta.size(); ++b) {
    monitor.progress(static_cast<double>(b) / static_cast<double>(beta.size()));
    // Centres that lie on each other part only if they are shaken.
    if (!fixed) means = 0.99 * means + 0.01 * spread;
    BregmanResult run = problem.soft(means, share, beta[b], fixed, true, rng);
    out.points.push_back({beta[b], run.rate, run.within, distinct_centres(run, family), run.convergence.converged});
    if (!fixed) means = problem.space().means_of(run.centers);
    if (fixed) share = run.share.cwiseMax(1e-300);
    out.last = std::move(run);
  }
  return out;
}

}  // namespace granary::cluster
