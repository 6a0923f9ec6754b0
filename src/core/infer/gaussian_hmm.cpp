#include "core/infer/gaussian_hmm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/base/part_monitor.h"
#include "core/cluster/kmeans.h"
#include "core/infer/emission_gaussian.h"
#include "core/infer/hmm_model.h"
#include "core/linalg/dense.h"

namespace granary {
namespace {

constexpr Index batch_rows = 2048;

Index row(const std::vector<Index>& begin, Index i) { return begin[static_cast<std::size_t>(i)]; }

class Fit {
 public:
  Fit(ConstMatrixRef x, const std::vector<Index>& begin, ConstVectorRef weights, const GaussianHmmOptions& o)
      : x_(x), begin_(begin), weights_(weights), o_(o), k_(o.k),
          emission_(x, row_weights(), o.k, o.covariance, 0, o.floor, GaussianBounds{true, o.spread}),
        model_(emission_, begin, weights, o.threads) {}

  GaussianHmmFit run(Rng& rng, Monitor& monitor) {
    const Stopwatch clock;
    GaussianHmmFit fit;
    const int starts = o_.start == HmmStart::kmeans && k_ > 1 ? std::max(1, o_.n_starts) : 1;
    EmResult best;
    best.loglik = -std::numeric_limits<double>::infinity();
    fit.values.resize(starts);
    std::string trouble;
    for (int r = 0; r < starts; ++r) {
      PartMonitor part(monitor, static_cast<double>(r) / starts, static_cast<double>(r + 1) / starts);
      Rng draws = rng.stream(static_cast<std::uint64_t>(r));
      fit.values[r] = -std::numeric_limits<double>::infinity();
      try {
        EmResult one = em_run(model_, start(draws, part), o_.em, draws, part);
        const double value = o_.em.forward == EmForward::hard ? -one.divergence : one.loglik;
        fit.values[r] = one.loglik;
        if (r > 0 && value <= value_) continue;
        value_ = value;
        best = std::move(one);
      } catch (const NumericalError& e) {
        trouble = e.what();
      }
    }
    if (best.theta.size() == 0) throw NumericalError(trouble);
    model_.set(best.theta);
    fit.loglik = best.loglik;
    fit.score = best.score;
    fit.falls = best.falls;
    fit.observed = static_cast<int>(emission_.observed());
    fit.trace = std::move(best.trace);
    fit.convergence = best.convergence;
    fit.df = static_cast<double>(emission_.free_parameters()) + free_moves();
    fit.model = unpack(best.theta);
    fit.sizes = VectorXd::Zero(k_);
    for (Index i = 0; i < model_.units(); ++i) {
      if (weight(i) == 0) continue;
      monitor.check();
      fit.sizes += weight(i) * model_.posterior(i).states.colwise().sum().transpose();
    }
    if (o_.sort && o_.topology == HmmTopology::ergodic && o_.start != HmmStart::parameters) sort(fit);
    fit.convergence.seconds = clock.seconds();
    return fit;
  }

 private:
  double weight(Index i) const { return weights_.size() > 0 ? weights_[i] : 1; }

  VectorXd row_weights() const {
    VectorXd w(weights_.size() > 0 ? x_.rows() : 0);
    for (Index i = 0; i < weights_.size(); ++i) w.segment(row(begin_, i), row(begin_, i + 1) - row(begin_, i)).setConstant(
        weights_[i]);
    return w;
  }

  double free_moves() const {
    double count = 0;
    Index first = 0;
    for (Index a = 0; a < k_; ++a) {
      Index next = 0;
      first += may_begin(o_.topology, a) ? 1 : 0;
      for (Index b = 0; b < k_; ++b) next += may_follow(o_.topology, a, b) ? 1 : 0;
      count += static_cast<double>(next - 1);
    }
    return count + static_cast<double>(first - 1);
  }

  VectorXd start(Rng& rng, Monitor& monitor) {
    if (o_.start == HmmStart::parameters) return pack(o_.model);
    return from_labels(o_.start == HmmStart::kmeans && k_ > 1 ? cluster(rng, monitor) : segments());
  }

  VectorXi segments() const {
    VectorXi label(x_.rows());
    for (Index i = 0; i + 1 < static_cast<Index>(begin_.size()); ++i) {
      const Index from = row(begin_, i), length = row(begin_, i + 1) - from;
      for (Index t = 0; t < length; ++t) label[from + t] = static_cast<int>(t * k_ / length);
    }
    return label;
  }

  // Weighted k-means of the rows that are there, in columns of variance one; -1 for the others.
  VectorXi cluster(Rng& rng, Monitor& monitor) const {
    const VectorXd w = row_weights();
    std::vector<Index> rows;
    for (Index i = 0; i < x_.rows(); ++i)
      if (x_.row(i).allFinite() && (w.size() == 0 || w[i] > 0)) rows.push_back(i);
    const Index n = static_cast<Index>(rows.size());
    require(n >= k_, message("k-means needs at least ", k_, " rows, but there are ", n, "."));
    MatrixXd scaled(n, x_.cols());
    VectorXd own(w.size() > 0 ? n : 0);
    for (Index i = 0; i < n; ++i) {
      scaled.row(i) = x_.row(rows[static_cast<std::size_t>(i)]);
      if (w.size() > 0) own[i] = w[rows[static_cast<std::size_t>(i)]];
    }
    scaled.array().rowwise() /= emission_.spread().cwiseSqrt().transpose().array();
    KMeansOptions options;
    options.k = o_.k;
    options.threads = o_.threads;
    KMeansResult found = kmeans(scaled, options, rng, monitor);
    if (w.size() > 0) found = kmeans_from(scaled, own, found.centres, options, monitor);
    VectorXi label = VectorXi::Constant(x_.rows(), -1);
    for (Index i = 0; i < n; ++i) label[rows[static_cast<std::size_t>(i)]] = found.cluster[i];
    return label;
  }

  // Parameters that fit given states: a state without rows is as wide as all rows together. One tenth of every law is spread over
  // what is allowed, for what is zero stays so.
  VectorXd from_labels(const VectorXi& label) {
    GaussianHmm wide;
    wide.kind = o_.covariance;
    wide.initial = VectorXd::Ones(k_);
    wide.transition = MatrixXd::Ones(k_, k_);
    wide.means = emission_.centre().replicate(1, k_);
    switch (o_.covariance) {
      case CovarianceKind::full: {
        wide.covariance = VectorXd::Zero(covariance_size(o_.covariance, x_.cols(), k_));
        for (Index h = 0; h < k_; ++h)
          for (Index j = 0; j < x_.cols(); ++j) wide.covariance[h * x_.cols() * x_.cols() + j * (x_.cols() + 1)] =
              emission_.spread()[j];
        break;
      }
      case CovarianceKind::tied: {
        const MatrixXd all = emission_.spread().asDiagonal();
        wide.covariance = Eigen::Map<const VectorXd>(all.data(), all.size());
        break;
      }
      case CovarianceKind::diagonal: wide.covariance = emission_.spread().replicate(k_, 1); break;
      default: wide.covariance = VectorXd::Constant(k_, emission_.spread().mean());
    }
    VectorXd theta = pack(wide);
    const VectorXd w = row_weights();
    MatrixXd q = MatrixXd::Zero(x_.rows(), k_);
    VectorXd first = VectorXd::Zero(k_);
    MatrixXd moves = MatrixXd::Zero(k_, k_);
    for (Index i = 0; i + 1 < static_cast<Index>(begin_.size()); ++i) {
      int last = -1;
      for (Index r = row(begin_, i); r < row(begin_, i + 1); ++r) {
        const int now = label[r];
        if (now >= 0) {
          q(r, now) = weight(i);
          if (r == row(begin_, i)) first[now] += weight(i);
          if (last >= 0) moves(last, now) += weight(i);
        }
        last = now;
      }
    }
    VectorXd s = VectorXd::Zero(emission_.statistics());
    emission_.accumulate(0, q, s.data());
    emission_.maximise(s.data(), theta.data() + head());
    spread_out(first, [&](Index a) { return may_begin(o_.topology, a); });
    theta.head(k_) = first;
    for (Index a = 0; a < k_; ++a) {
      VectorXd next = moves.row(a).transpose();
      spread_out(next, [&](Index b) { return may_follow(o_.topology, a, b); });
      Eigen::Map<MatrixXd>(theta.data() + k_, k_, k_).row(a) = next.transpose();
    }
    return theta;
  }

  template <class Allowed>
  static void spread_out(VectorXd& law, Allowed&& allowed) {
    double sum = 0, open = 0;
    for (Index h = 0; h < law.size(); ++h) {
      if (!allowed(h)) law[h] = 0;
      open += allowed(h) ? 1 : 0;
      sum += law[h];
    }
    for (Index h = 0; h < law.size(); ++h)
      if (allowed(h)) law[h] = sum > 0 ? 0.9 * law[h] / sum + 0.1 / open : 1 / open;
  }

  Index head() const { return k_ + k_ * k_; }

  VectorXd pack(const GaussianHmm& m) const {
    check(m);
    require(m.states() == k_ && m.columns() == x_.cols() && m.kind == o_.covariance,
            message("the start must have ", k_, " states of ", x_.cols(), " columns and ", name_of(o_.covariance),
                    " covariances."));
    VectorXd theta(model_.parameters());
    theta.head(k_) = m.initial / m.initial.sum();
    Eigen::Map<MatrixXd>(theta.data() + k_, k_, k_) = m.transition.array().colwise() / m.transition.rowwise().sum().array();
    Eigen::Map<MatrixXd>(theta.data() + head(), x_.cols(), k_) = m.means.colwise() - emission_.centre();
    theta.tail(m.covariance.size()) = m.covariance;
    return theta;
  }

  GaussianHmm unpack(const VectorXd& theta) const {
    GaussianHmm m;
    m.kind = o_.covariance;
    m.initial = theta.head(k_);
    m.transition = Eigen::Map<const MatrixXd>(theta.data() + k_, k_, k_);
    m.means = Eigen::Map<const MatrixXd>(theta.data() + head(), x_.cols(), k_).colwise() + emission_.centre();
    m.covariance = theta.tail(covariance_size(o_.covariance, x_.cols(), k_));
    return m;
  }

  void sort(GaussianHmmFit& fit) const {
    std::vector<Index> order(static_cast<std::size_t>(k_));
    std::iota(order.begin(), order.end(), Index{0});
    const GaussianHmm old = fit.model;
    const VectorXd sizes = fit.sizes;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return old.means(0, a) < old.means(0, b); });
    const Index size = old.covariance.size() / k_;
    for (Index a = 0; a < k_; ++a) {
      const Index from = order[static_cast<std::size_t>(a)];
      fit.model.initial[a] = old.initial[from];
      fit.model.means.col(a) = old.means.col(from);
      fit.sizes[a] = sizes[from];
      if (old.kind != CovarianceKind::tied) fit.model.covariance.segment(a * size, size) = old.covariance.segment(
          from * size, size);
      for (Index b = 0; b < k_; ++b) fit.model.transition(a, b) = old.transition(from, order[static_cast<std::size_t>(b)]);
    }
  }

  ConstMatrixRef x_;
  const std::vector<Index>& begin_;
  VectorXd weights_;
  const GaussianHmmOptions& o_;
  Index k_;
  GaussianEmission emission_;
  HmmModel model_;
  double value_ = -std::numeric_limits<double>::infinity();
};

void check_rows(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin) {
  require(x.cols() == model.columns(), message("the sequences must have the ", model.columns(), " columns of the model, not ",
                                               x.cols(), "."));
  require(!begin.empty() && begin.front() == 0 && begin.back() == x.rows(), "the sequences must cover all rows.");
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) require(begin[i + 1] > begin[i],
                                                             message("sequence ", i + 1, " has no rows."));
}

// body(sequence, its densities), sequences in batches of some thousand rows.
template <class Body>
void over_sequences(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin, int threads, Monitor& monitor,
                    Body&& body) {
  check_rows(model, x, begin);
  const GaussianDensity density(model.kind, model.means, model.covariance.data());
  std::vector<Index> batch(1, 0);
  for (Index i = 1; i < static_cast<Index>(begin.size()); ++i)
    if (i + 1 == static_cast<Index>(begin.size()) || row(begin, i + 1) - row(begin, batch.back()) > batch_rows) batch.push_back(
        i);
  parallel_for(static_cast<Index>(batch.size()) - 1, threads, monitor, [&](Index g) {
    const Index first = batch[static_cast<std::size_t>(g)], last = batch[static_cast<std::size_t>(g) + 1],
        from = row(begin, first);
    MatrixXd d(row(begin, last) - from, model.states());
    density.log_density(x.middleRows(from, d.rows()), d);
    for (Index r = 0; r < d.rows(); ++r)
      if (std::isnan(d(r, 0))) d.row(r).setZero();
    HmmWork work;
    for (Index i = first; i < last; ++i) {
      monitor.check();
      body(i, d.middleRows(row(begin, i) - from, row(begin, i + 1) - row(begin, i)), work);
    }
  });
}

}  // namespace

bool may_follow(HmmTopology topology, Index a, Index b) {
  return topology == HmmTopology::ergodic || b == a || (topology == HmmTopology::left_right ? b == a + 1 : b > a);
}

bool may_begin(HmmTopology topology, Index a) { return topology != HmmTopology::left_right || a == 0; }

void check(const GaussianHmm& m) {
  const Index k = m.states(), p = m.columns();
  require(k >= 1 && p >= 1, "a model needs at least one state and one column.");
  require(m.transition.rows() == k && m.transition.cols() == k, message("the transitions must be ", k, " x ", k, "."));
  require(m.means.cols() == k, message("there must be ", k, " means."));
  require(m.covariance.size() == covariance_size(m.kind, p, k),
          message("there must be ", covariance_size(m.kind, p, k), " numbers of covariances."));
  require(m.initial.minCoeff() >= 0 && m.initial.sum() > 0 && m.transition.minCoeff() >= 0 &&
          m.transition.rowwise().sum().minCoeff() > 0,
          "the probabilities of the states must not be negative, nor all zero.");
}

GaussianHmmFit gaussian_hmm_fit(ConstMatrixRef x, const std::vector<Index>& begin, ConstVectorRef weights,
                                const GaussianHmmOptions& options, Rng& rng, Monitor& monitor) {
  require(options.k >= 1, "`k` must be at least 1.");
  require(begin.size() >= 2 && begin.front() == 0 && begin.back() == x.rows(), "the sequences must cover all rows.");
  require(weights.size() == 0 || weights.size() == static_cast<Index>(begin.size()) - 1,
          "there must be one weight for each sequence.");
  require(options.spread.size() == 0 || options.spread.size() == x.cols(), "there must be one variance for each column.");
  return Fit(x, begin, weights, options).run(rng, monitor);
}

VectorXd gaussian_hmm_loglik(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin, int threads,
                             Monitor& monitor) {
  VectorXd out(static_cast<Index>(begin.size()) - 1);
  over_sequences(model, x, begin, threads, monitor,
                 [&](Index i, ConstMatrixRef d, HmmWork& work) { out[i] = hmm_loglik(model.initial, model.transition, d, work);
                 });
  return out;
}

HmmStates gaussian_hmm_states(const GaussianHmm& model, ConstMatrixRef x, const std::vector<Index>& begin, int threads,
                              Monitor& monitor) {
  const Index n = static_cast<Index>(begin.size()) - 1;
  HmmStates out;
  out.prob.resize(x.rows(), model.states());
  out.path.resize(x.rows());
  out.loglik.resize(n);
  out.joint.resize(n);
  over_sequences(model, x, begin, threads, monitor, [&](Index i, ConstMatrixRef d, HmmWork& work) {
    const Index from = row(begin, i);
    MatrixXd moves = MatrixXd::Zero(model.states(), model.states());
    MatrixXd states(d.rows(), model.states());
    out.loglik[i] = hmm_smooth(model.initial, model.transition, d, 1, work, states, moves);
    out.prob.middleRows(from, d.rows()) = states;
    const std::vector<int> path = hmm_path(model.initial, model.transition, d, out.joint[i]);
    for (std::size_t t = 0; t < path.size(); ++t) out.path[from + static_cast<Index>(t)] = path[t];
  });
  return out;
}

HmmDraws gaussian_hmm_draws(const GaussianHmm& model, const std::vector<Index>& lengths, Rng& rng, Monitor& monitor) {
  check(model);
  const Index p = model.columns();
  const Index n = std::accumulate(lengths.begin(), lengths.end(), Index{0});
  std::vector<MatrixXd> factors;
  for (Index h = 0; h < model.states(); ++h) {
    const Llt llt(state_covariance(model.kind, model.covariance.data(), p, h));
    if (llt.info() != Eigen::Success) throw InputError("the covariance of a state is not positive definite.");
    factors.push_back(llt.matrixL());
  }
  HmmDraws out;
  out.x.resize(n, p);
  out.state.resize(n);
  Index i = 0;
  for (const Index length : lengths)
    for (Index t = 0; t < length; ++t, ++i) {
      if (i % 1024 == 0) monitor.check();
      const int z = t == 0 ? rng.categorical(model.initial) : rng.categorical(model.transition.row(out.state[i - 1]).transpose());
      out.state[i] = z;
      out.x.row(i) = rng.multivariate_normal(model.means.col(z), factors[static_cast<std::size_t>(z)]).transpose();
    }
  return out;
}

}  // namespace granary
