#include "latent/em_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/errors.h"
#include "core/base/part_monitor.h"
#include "core/cluster/kmeans.h"
#include "core/infer/hmm_model.h"
#include "core/infer/mixture_model.h"

namespace granary::latent {
namespace {

// The data in the form the emission wants, the emission, and the model over it.
class Setup {
 public:
  Setup(const EmData& data, const EmFitOptions& o) : data_(data), o_(o) {
    const Index n = data.x.rows(), k = o.k;
    require(k >= 1, "`k` must be at least 1.");
    if (sequences() && data.weights.size() > 0) {
      row_weights_.resize(n);
      for (std::size_t i = 0; i + 1 < data.begin.size(); ++i)
        row_weights_.segment(data.begin[i], data.begin[i + 1] - data.begin[i]).setConstant(data.weights[static_cast<Index>(i)]);
    } else {
      row_weights_ = data.weights;
    }
    switch (o.family) {
      case EmFamily::gaussian: {
        require(!data.x.is_sparse(), "Gaussian rows must not be sparse.");
        auto emission = std::make_unique<GaussianEmission>(data.x.dense(), row_weights_, k, o.covariance, o.prior, o.floor);
        gaussian_ = emission.get();
        free_ = gaussian_->free_parameters();
        emission_ = std::move(emission);
        break;
      }
      case EmFamily::categorical: {
        std::vector<Index> items;
        indicators_ = indicator_columns(data.x.dense().cast<int>(), data.levels, items);
        const ConstSparseMap view(indicators_.rows(), indicators_.cols(), indicators_.nonZeros(), indicators_.outerIndexPtr(), indicators_.innerIndexPtr(),
                                  indicators_.valuePtr());
        rows_ = std::make_unique<DataRows>(Design(view));
        counts(CountLaw::categorical, std::move(items));
        break;
      }
      default:
        rows_ = std::make_unique<DataRows>(data.x);
        counts(o.family == EmFamily::poisson ? CountLaw::poisson : CountLaw::multinomial, {});
    }
    if (sequences()) {
      auto model = std::make_unique<HmmModel>(*emission_, data.begin, data.weights, o.threads, o.prior);
      chain_ = model.get();
      model_ = std::move(model);
    } else {
      auto model = std::make_unique<MixtureModel>(*emission_, data.weights, o.threads, o.prior, o.equal_share);
      mixture_ = model.get();
      model_ = std::move(model);
    }
  }

  bool sequences() const { return !data_.begin.empty(); }
  EmModel& model() { return *model_; }
  const HmmModel* chain() const { return chain_; }
  const MixtureModel* mixture() const { return mixture_; }
  Index k() const { return o_.k; }
  Index rows() const { return emission_->rows(); }
  Index head() const { return sequences() ? k() + k() * k() : k(); }  // parameters before those of the emission
  double df() const {
    const double k = static_cast<double>(o_.k);
    return static_cast<double>(free_) + (sequences() ? k - 1 + k * (k - 1) : o_.equal_share ? 0 : k - 1);
  }

  VectorXd pack(const EmParameters& p) const {
    require(p.share.size() == k(), message("the start must have ", k(), " shares."));
    VectorXd theta(model_->parameters());
    theta.head(k()) = p.share / p.share.sum();
    if (sequences()) {
      require(p.transition.rows() == k() && p.transition.cols() == k(), message("the transitions of the start must be ", k(), " x ", k(), "."));
      Eigen::Map<MatrixXd> t(theta.data() + k(), k(), k());
      t = p.transition.array().colwise() / p.transition.rowwise().sum().array();
    }
    if (gaussian_ != nullptr) {
      gaussian_->write(p.gaussian, theta.data() + head());
    } else {
      require(p.table.rows() == k() && p.table.cols() == rows_->cols(), message("the table of the start must be ", k(), " x ", rows_->cols(), "."));
      Eigen::Map<MatrixXd>(theta.data() + head(), k(), rows_->cols()) = p.table;
    }
    return theta;
  }

  EmParameters unpack(const VectorXd& theta) const {
    EmParameters p;
    p.share = theta.head(k());
    if (sequences()) p.transition = Eigen::Map<const MatrixXd>(theta.data() + k(), k(), k());
    if (gaussian_ != nullptr) {
      p.gaussian = gaussian_->read(theta.data() + head());
    } else {
      p.table = Eigen::Map<const MatrixXd>(theta.data() + head(), k(), rows_->cols());
    }
    return p;
  }

  // Parameters that fit given memberships of the rows; states without rows get those of all rows.
  VectorXd from_membership(ConstMatrixRef q) const {
    require(q.rows() == rows() && q.cols() == k(), message("the memberships of the start must be ", rows(), " x ", k(), "."));
    for (Index h = 0; h < k(); ++h) require(q.col(h).sum() > 0, message("no row of the start is in state ", h + 1, "."));
    VectorXd s = VectorXd::Zero(emission_->statistics());
    MatrixXd weighted = q;
    if (row_weights_.size() > 0) weighted.array().colwise() *= row_weights_.array();
    emission_->accumulate(0, weighted, s.data());
    VectorXd theta = VectorXd::Zero(model_->parameters());
    theta.head(k()) = s.head(k()) / s.head(k()).sum();
    if (sequences()) {
      Eigen::Map<MatrixXd> t(theta.data() + k(), k(), k());
      t.setOnes();  // one transition of each kind to begin with
      for (std::size_t i = 0; i + 1 < data_.begin.size(); ++i)
        for (Index r = data_.begin[i]; r + 1 < data_.begin[i + 1]; ++r) t += q.row(r).transpose() * q.row(r + 1);
      const VectorXd sums = t.rowwise().sum();
      t.array().colwise() /= sums.array();
      theta.head(k()).setConstant(1.0 / static_cast<double>(k()));
    }
    emission_->maximise(s.data(), theta.data() + head());
    return theta;
  }

  VectorXd begin(Rng& rng, Monitor& monitor) {
    if (o_.start == EmStart::parameters) return pack(o_.parameters);
    if (o_.start == EmStart::membership) return from_membership(o_.membership);
    return gaussian_ != nullptr ? gaussian_start(rng, monitor) : count_start(rng, monitor);
  }

 private:
  void counts(CountLaw law, std::vector<Index> items) {
    auto emission = std::make_unique<CountEmission>(*rows_, row_weights_, o_.k, law, std::move(items), o_.prior);
    counts_ = emission.get();
    free_ = counts_->free_parameters();
    emission_ = std::move(emission);
  }

  // k-means on columns of variance one; or k random rows as means with the covariance of all rows.
  VectorXd gaussian_start(Rng& rng, Monitor& monitor) {
    const Index p = data_.x.cols();
    const MatrixView& y = data_.x.dense();
    if (o_.start == EmStart::kmeans) {
      MatrixXd scaled = y;
      scaled.array().rowwise() /= gaussian_->spread().cwiseSqrt().transpose().array();
      KMeansOptions options;
      options.k = o_.k;
      options.threads = o_.threads;
      const KMeansResult found = kmeans(scaled, options, rng, monitor);
      MatrixXd q = MatrixXd::Zero(rows(), k());
      for (Index i = 0; i < rows(); ++i) q(i, found.cluster[i]) = 1;
      return from_membership(q);
    }
    EmParameters start;
    start.share = VectorXd::Constant(k(), 1.0 / static_cast<double>(k()));
    start.transition = MatrixXd::Constant(k(), k(), 1.0 / static_cast<double>(k()));
    start.gaussian.means.resize(k(), p);
    const std::vector<int> picked = rng.sample_without_replacement(static_cast<int>(rows()), o_.k);
    for (Index h = 0; h < k(); ++h) start.gaussian.means.row(h) = y.row(picked[static_cast<std::size_t>(h)]);
    start.gaussian.covariance.assign(static_cast<std::size_t>(k()), MatrixXd(gaussian_->spread().asDiagonal()));
    return pack(start);
  }

  // States half way between all rows and a row drawn at random; "kmeans" lets them settle by some steps with one state per row.
  VectorXd count_start(Rng& rng, Monitor& monitor) {
    EmParameters start;
    start.share = VectorXd::Constant(k(), 1.0 / static_cast<double>(k()));
    start.transition = MatrixXd::Constant(k(), k(), 1.0 / static_cast<double>(k()));
    start.table.resize(k(), rows_->cols());
    const std::vector<int> picked = rng.sample_without_replacement(static_cast<int>(rows()), o_.k);
    VectorXd row(rows_->cols());
    for (Index h = 0; h < k(); ++h) {
      rows_->row(picked[static_cast<std::size_t>(h)], row);
      if (o_.family == EmFamily::multinomial && row.sum() > 0) row /= row.sum();
      start.table.row(h) = (0.5 * row + 0.5 * counts_->mean()).transpose();
      if (o_.family == EmFamily::categorical) {  // a missing item leaves its share short
        row.setZero();
        std::vector<Index> at(1, 0);
        for (const int l : data_.levels) at.push_back(at.back() + l);
        for (std::size_t g = 0; g + 1 < at.size(); ++g) {
          auto part = start.table.row(h).segment(at[g], at[g + 1] - at[g]);
          part /= part.sum();
        }
      }
    }
    VectorXd theta = pack(start);
    if (o_.start != EmStart::kmeans) return theta;
    EmOptions brief;
    brief.forward = EmForward::hard;
    brief.max_iter = 10;
    theta = em_run(*model_, theta, brief, rng, monitor).theta;
    // A share that a short run closed would stay closed for ever.
    Eigen::Map<MatrixXd> table(theta.data() + head(), k(), rows_->cols());
    table = 0.95 * table + 0.05 * counts_->mean().transpose().replicate(k(), 1);
    theta.head(k()).array() += 1e-3;
    theta.head(k()) /= theta.head(k()).sum();
    return theta;
  }

  const EmData& data_;
  const EmFitOptions& o_;
  VectorXd row_weights_;
  SparseMatrix indicators_;
  std::unique_ptr<DataRows> rows_;
  std::unique_ptr<Emission> emission_;
  GaussianEmission* gaussian_ = nullptr;
  CountEmission* counts_ = nullptr;
  std::unique_ptr<EmModel> model_;
  MixtureModel* mixture_ = nullptr;
  HmmModel* chain_ = nullptr;
  Index free_ = 0;
};

EmRows rows_at(Setup& setup, const ForwardRule& rule, Monitor& monitor) {
  EmRows out;
  out.cluster.resize(setup.rows());
  if (setup.mixture() != nullptr) {
    setup.mixture()->memberships(rule, out.membership, out.row_loglik, monitor);
    for (Index i = 0; i < setup.rows(); ++i) {
      Index best = 0;
      out.membership.row(i).maxCoeff(&best);
      out.cluster[i] = static_cast<int>(best);
    }
    return out;
  }
  const HmmModel& chain = *setup.chain();
  out.membership.resize(setup.rows(), setup.k());
  out.row_loglik.resize(chain.units());
  for (Index i = 0; i < chain.units(); ++i) {
    monitor.check();
    const HmmPosterior one = chain.posterior(i);
    const Index from = chain.begin()[static_cast<std::size_t>(i)];
    out.membership.middleRows(from, one.states.rows()) = one.states;
    out.row_loglik[i] = one.loglik;
    double joint = 0;
    const std::vector<int> path = chain.path(i, joint);
    for (std::size_t t = 0; t < path.size(); ++t) {
      const Index r = from + static_cast<Index>(t);
      out.cluster[r] = path[t];
      if (rule.kind == EmForward::hard) {
        out.membership.row(r).setZero();
        out.membership(r, path[t]) = 1;
      }
    }
  }
  return out;
}

}  // namespace

EmFit em_fit(const EmData& data, const EmFitOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  Setup setup(data, options);
  require(options.k <= setup.rows(), message("`k` must be at most the number of rows, ", setup.rows(), ", not ", options.k, "."));
  const bool given = options.start == EmStart::parameters || options.start == EmStart::membership;
  const int starts = given || options.k == 1 ? 1 : std::max(1, options.n_starts);
  EmFit fit;
  EmResult best;
  best.divergence = std::numeric_limits<double>::infinity();
  fit.values.resize(starts);
  std::string trouble;
  for (int r = 0; r < starts; ++r) {
    PartMonitor part(monitor, static_cast<double>(r) / starts, static_cast<double>(r + 1) / starts);
    Rng draws = rng.stream(static_cast<std::uint64_t>(r));
    fit.values[r] = -std::numeric_limits<double>::infinity();
    try {
      EmResult one = em_run(setup.model(), setup.begin(draws, part), options.em, draws, part);
      fit.values[r] = -one.divergence;
      if (one.divergence < best.divergence) best = std::move(one);
    } catch (const NumericalError& e) {
      trouble = e.what();
    }
  }
  if (!std::isfinite(best.divergence)) throw NumericalError(trouble.empty() ? "no start led to a fit." : trouble);
  setup.model().set(best.theta);
  ForwardRule rule{options.em.forward, options.em.forward == EmForward::tempered ? options.em.temperature : 1, options.em.lower, options.em.upper};
  EmRows rows = rows_at(setup, rule, monitor);
  fit.parameters = setup.unpack(best.theta);
  fit.membership = std::move(rows.membership);
  fit.cluster = std::move(rows.cluster);
  fit.row_loglik = std::move(rows.row_loglik);
  fit.loglik = best.loglik;
  fit.df = setup.df();
  fit.divergence = best.divergence;
  fit.gap = best.gap;
  fit.score = best.score;
  fit.change = best.change;
  fit.rises = best.rises;
  fit.falls = best.falls;
  fit.lifted = best.lifted;
  fit.trace = std::move(best.trace);
  fit.convergence = best.convergence;
  fit.convergence.seconds = clock.seconds();
  return fit;
}

EmRows em_rows(const EmData& data, const EmFitOptions& options, Monitor& monitor) {
  Setup setup(data, options);
  setup.model().set(setup.pack(options.parameters));
  return rows_at(setup, ForwardRule(), monitor);
}

EmDraws em_draws(const EmDrawPlan& plan, Rng& rng, Monitor& monitor) {
  const EmParameters& p = plan.parameters;
  const Index k = p.share.size();
  Index n = 0;
  for (const Index l : plan.lengths) n += l;
  const bool gaussian = plan.family == EmFamily::gaussian, items = plan.family == EmFamily::categorical;
  const Index d = gaussian ? p.gaussian.means.cols() : items ? static_cast<Index>(plan.levels.size()) : p.table.cols();
  std::vector<MatrixXd> factors;
  for (const MatrixXd& c : p.gaussian.covariance) {
    const Llt llt(c);
    if (gaussian && llt.info() != Eigen::Success) throw InputError("the covariance of a state is not positive definite.");
    factors.push_back(llt.matrixL());
  }
  EmDraws out;
  out.x.resize(n, d);
  out.cluster.resize(n);
  Index i = 0;
  for (const Index length : plan.lengths) {
    for (Index t = 0; t < length; ++t, ++i) {
      if (i % 1024 == 0) monitor.check();
      const bool first = t == 0 || !plan.sequences;
      const int z = first ? rng.categorical(p.share) : rng.categorical(p.transition.row(out.cluster[i - 1]).transpose());
      out.cluster[i] = z;
      if (gaussian) {
        out.x.row(i) = rng.multivariate_normal(p.gaussian.means.row(z).transpose(), factors[static_cast<std::size_t>(z)]).transpose();
      } else if (plan.family == EmFamily::poisson) {
        for (Index j = 0; j < d; ++j) out.x(i, j) = static_cast<double>(rng.poisson(p.table(z, j)));
      } else if (items) {
        Index from = 0;
        for (Index j = 0; j < d; ++j) {
          const Index levels = plan.levels[static_cast<std::size_t>(j)];
          out.x(i, j) = 1 + rng.categorical(p.table.row(z).segment(from, levels).transpose());
          from += levels;
        }
      } else {
        out.x.row(i).setZero();
        const VectorXd shares = p.table.row(z).transpose();
        for (int draw = 0; draw < plan.size; ++draw) out.x(i, rng.categorical(shares)) += 1;
      }
    }
  }
  (void)k;
  return out;
}

}  // namespace granary::latent
