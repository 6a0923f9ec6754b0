#include "latent/spectral_mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/linalg/dense.h"

namespace granary::latent {
namespace {

void keep(const WhitenedMoments& m, SpectralFit& fit) {
  fit.mean = m.mean;
  fit.eigenvalues = m.eigenvalues;
  fit.whiten = m.whiten;
  fit.unwhiten = m.unwhiten;
  fit.moments = m.tensor.unfolded();
  fit.rows = m.rows;
  fit.rows2 = m.rows2;
  fit.rows3 = m.rows3;
  fit.settled = m.settled;
}

// The tensor taken apart, components by falling weight.
Recovered take_apart(const WhitenedMoments& m, double ratio, const SpectralOptions& o, Rng& rng, Monitor& monitor, SpectralFit& fit) {
  keep(m, fit);
  TensorOptions with = o.tensor;
  with.candidates = m.starts;
  TensorResult r = tensor_decompose(m.tensor, o.k, with, rng, monitor);
  std::vector<Index> order(static_cast<std::size_t>(o.k));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return r.values[a] < r.values[b]; });  // the weight falls with lambda
  TensorResult& t = fit.tensor = r;
  for (Index j = 0; j < o.k; ++j) {
    const Index from = order[static_cast<std::size_t>(j)];
    t.values[j] = r.values[from];
    t.vectors.col(j) = r.vectors.col(from);
    t.attraction[j] = r.attraction[from];
    t.curvature[j] = r.curvature[from];
    t.steps[j] = r.steps[from];
  }
  fit.convergence = t.convergence;
  if (m.settled > 1e-3) {
    fit.convergence.converged = false;
    fit.convergence.message = "the leading eigenvectors of the second moments have not settled: more `passes`, or fewer components";
  }
  return recover(m, t, ratio);
}

// Negative entries clipped; rows of `groups` columns each with sum 1.
MatrixXd probabilities(const MatrixXd& raw, const std::vector<int>& groups, double floor = 0) {
  MatrixXd p = raw.cwiseMax(floor);
  Index from = 0;
  for (const int g : groups) {
    auto part = p.middleCols(from, g);
    for (Index i = 0; i < p.rows(); ++i) {
      const double sum = part.row(i).sum();
      if (sum > 0) {
        part.row(i) /= sum;
      } else {
        part.row(i).setConstant(1.0 / g);
      }
    }
    from += g;
  }
  return p;
}

MatrixXd one_hot(const MatrixView& codes, const std::vector<int>& levels) {
  MatrixXd out = MatrixXd::Zero(codes.rows(), std::accumulate(levels.begin(), levels.end(), 0));
  Index from = 0;
  for (Index j = 0; j < codes.cols(); ++j) {
    for (Index i = 0; i < codes.rows(); ++i) {
      const Index code = static_cast<Index>(codes(i, j));
      require(code >= 1 && code <= levels[static_cast<std::size_t>(j)], message("row ", i + 1, " of item ", j + 1, " has no value: moments need complete rows."));
      out(i, from + code - 1) = 1;
    }
    from += levels[static_cast<std::size_t>(j)];
  }
  return out;
}

MatrixXd some_columns(const MatrixXd& x, const std::vector<Index>& which) {
  MatrixXd out(x.rows(), static_cast<Index>(which.size()));
  for (std::size_t j = 0; j < which.size(); ++j) out.col(static_cast<Index>(j)) = x.col(which[j]);
  return out;
}

std::vector<std::vector<Index>> columns_of_views(const VectorXi& views) {
  std::vector<std::vector<Index>> out(3);
  for (Index j = 0; j < views.size(); ++j) out[static_cast<std::size_t>(views[j] - 1)].push_back(j);
  return out;
}

MatrixXd some_rows_of(const MatrixXd& x, const std::vector<Index>& which) {
  MatrixXd out(static_cast<Index>(which.size()), x.cols());
  for (std::size_t i = 0; i < which.size(); ++i) out.row(static_cast<Index>(i)) = x.row(which[i]);
  return out;
}

// Units (rows, sequences or stretches of them) drawn with replacement, as many as there are.
std::vector<Index> resampled(const std::vector<std::pair<Index, Index>>& units, Rng& rng) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto& unit = units[rng.below(units.size())];
    for (Index t = unit.first; t < unit.second; ++t) out.push_back(t);
  }
  return out;
}

std::vector<std::pair<Index, Index>> single_rows(Index n) {
  std::vector<std::pair<Index, Index>> out;
  for (Index i = 0; i < n; ++i) out.emplace_back(i, i + 1);
  return out;
}

// Bootstrap has a stream of its own: asking for it changes nothing else.
constexpr std::uint64_t bootstrap_stream = 1;

void view_errors(const MatrixXd& x1, const MatrixXd& x2, const MatrixXd& x3, const std::vector<std::pair<Index, Index>>& units, const WhitenedMoments& m,
                 const SpectralOptions& o, const Rng& rng, Monitor& monitor, SpectralFit& fit) {
  Rng draws = rng.stream(bootstrap_stream);
  const auto sample = [&] {
    const std::vector<Index> at = resampled(units, draws);
    return view_moments(some_rows_of(x1, at), some_rows_of(x2, at), some_rows_of(x3, at), o.k, monitor).moments;
  };
  fit.tensor_error = tensor_errors(m, o.n_rep, sample, draws, monitor);
}

// Means and variances of all columns given the component, from three views of them.
void by_views(const MatrixXd& x, const VectorXi& views, const SpectralOptions& o, Rng& rng, Monitor& monitor, SpectralFit& fit, MatrixXd& variances) {
  const auto at = columns_of_views(views);
  std::vector<MatrixXd> v;
  for (const auto& columns : at) v.push_back(some_columns(x, columns));
  const ViewMoments m = view_moments(v[0], v[1], v[2], o.k, monitor);
  const Recovered found = take_apart(m.moments, 1, o, rng, monitor, fit);
  view_errors(v[0], v[1], v[2], single_rows(x.rows()), m.moments, o, rng, monitor, fit);
  fit.raw_weight = found.s;
  fit.raw_means.resize(o.k, x.cols());
  variances.resize(o.k, x.cols());
  const MatrixXd mapped = v[0] * m.first.transpose();
  for (std::size_t g = 0; g < 3; ++g) {
    const MatrixXd means = g == 2 ? found.means : aligned_means(v[g], v[2], found.means, found.s);
    const MatrixXd squares = aligned_means(v[g].cwiseAbs2(), g == 2 ? mapped : v[2], found.means, found.s);
    for (std::size_t j = 0; j < at[g].size(); ++j) {
      const Index c = static_cast<Index>(j);
      fit.raw_means.col(at[g][j]) = means.col(c);
      variances.col(at[g][j]) = squares.col(c) - means.col(c).cwiseAbs2();
    }
  }
}

// Items dealt to three views, columns of one item together; of several deals the one whose E[x1 x2'] is best conditioned.
VectorXi split(const MatrixXd& x, const std::vector<int>& sizes, const SpectralOptions& o, Rng& rng, Monitor& monitor) {
  const int items = static_cast<int>(sizes.size());
  std::vector<Index> first(1, 0);
  for (const int s : sizes) first.push_back(first.back() + s);
  VectorXi best;
  double condition = -1;
  for (int r = 0; r < std::max(1, o.n_splits); ++r) {
    monitor.check();
    const std::vector<int> order = rng.permutation(items);
    VectorXi views(x.cols());
    for (int i = 0; i < items; ++i) {
      const auto item = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
      views.segment(first[item], sizes[item]).setConstant(1 + i % 3);
    }
    const auto at = columns_of_views(views);
    if (std::min({at[0].size(), at[1].size(), at[2].size()}) < static_cast<std::size_t>(o.k)) continue;
    double now = 1;
    for (std::size_t v = 0; v < 3; ++v) {
      const Svd svd(some_columns(x, at[v]).transpose() * some_columns(x, at[(v + 1) % 3]));
      const double top = svd.singularValues()[0];
      now = std::min(now, top > 0 ? svd.singularValues()[o.k - 1] / top : 0);
    }
    if (now > condition) {
      condition = now;
      best = views;
    }
  }
  if (best.size() == 0) {
    throw InputError(message("three views of at least `k` = ", o.k, " columns each are needed: use a smaller `k`, or more columns than ", x.cols(), "."));
  }
  return best;
}

// max_i of the projector onto the range of the means (k x d), in d coordinates.
double coherence_of(const MatrixXd& means) {
  const MatrixXd hat = means.transpose() * pseudo_inverse(means.transpose());
  return hat.diagonal().maxCoeff();
}

void gaussian_parameters(const MatrixXd& variances, ConstVectorRef spread, SpectralFit& fit) {
  fit.parameters.gaussian.means = fit.means;
  fit.parameters.gaussian.covariance.clear();
  fit.lifted = static_cast<int>((variances.array() <= 0).count());
  for (Index h = 0; h < variances.rows(); ++h)
    fit.parameters.gaussian.covariance.push_back(MatrixXd(variances.row(h).transpose().cwiseMax(1e-6 * spread).asDiagonal()));
}

VectorXd spread_of(const MatrixView& x) {
  VectorXd out(x.cols());
  for (Index j = 0; j < x.cols(); ++j) out[j] = std::max((x.col(j).array() - x.col(j).mean()).square().mean(), 1e-300);
  return out;
}

// Triples of observations by sequence; of fewer than ten sequences stretches of n^(1/3) triples in a row, which keep most of their dependence.
std::vector<std::pair<Index, Index>> stretches(const std::vector<Index>& begin, Index triples) {
  std::vector<std::pair<Index, Index>> out;
  const Index block = begin.size() > 10 ? triples : std::max<Index>(1, std::lround(std::cbrt(static_cast<double>(triples))));
  Index from = 0;
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    const Index end = from + std::max<Index>(0, begin[i + 1] - begin[i] - 2);
    for (; from < end; from = std::min(end, from + block)) out.emplace_back(from, std::min(end, from + block));
  }
  return out;
}

void hmm(const EmData& data, const SpectralOptions& o, Rng& rng, Monitor& monitor, SpectralFit& fit) {
  const bool words = !data.levels.empty();
  const MatrixXd x = words ? one_hot(data.x.dense(), data.levels) : MatrixXd(data.x.dense());
  std::vector<Index> middle, first;
  for (std::size_t i = 0; i + 1 < data.begin.size(); ++i) {
    first.push_back(data.begin[i]);
    for (Index t = data.begin[i] + 1; t + 1 < data.begin[i + 1]; ++t) middle.push_back(t);
  }
  require(!middle.empty(), "no sequence has three observations: the third moments cannot be estimated.");
  const auto m = static_cast<Index>(middle.size());
  MatrixXd before(m, x.cols()), now(m, x.cols()), after(m, x.cols());
  for (Index i = 0; i < m; ++i) {
    const Index t = middle[static_cast<std::size_t>(i)];
    before.row(i) = x.row(t - 1);
    now.row(i) = x.row(t);
    after.row(i) = x.row(t + 1);
  }
  const ViewMoments v = view_moments(before, after, now, o.k, monitor);
  const Recovered found = take_apart(v.moments, 1, o, rng, monitor, fit);
  view_errors(before, after, now, stretches(data.begin, m), v.moments, o, rng, monitor, fit);
  fit.raw_weight = found.s;
  fit.raw_means = found.means;
  const MatrixXd next = aligned_means(after, now, found.means, found.s);  // rows T(., j)' O'
  const MatrixXd back = pseudo_inverse(found.means.transpose());         // O^+, k x d
  const std::vector<int> whole(1, o.k);
  fit.parameters.transition = probabilities((back * next.transpose()).transpose(), whole);
  fit.weight = found.s / found.s.sum();
  VectorXd start = fit.weight;
  if (first.size() > 1) {
    VectorXd mean = VectorXd::Zero(x.cols());
    for (const Index t : first) mean += x.row(t).transpose();
    start = back * (mean / static_cast<double>(first.size()));
  }
  fit.parameters.share = probabilities(start.transpose(), whole).transpose();
  if (words) {
    fit.means = probabilities(found.means, data.levels);
    fit.parameters.table = fit.means;
  } else {
    fit.means = found.means;
    const MatrixXd mapped = before * v.first.transpose();
    const MatrixXd squares = aligned_means(now.cwiseAbs2(), mapped, found.means, found.s);
    gaussian_parameters(squares - found.means.cwiseAbs2(), spread_of(data.x.dense()), fit);
  }
}

// EM of spherical Gaussians of one variance: memberships from the shared engine, then shares, means and sum_i r_ih |x_i - mu_h|^2 / (n d).
void polish_common(const EmData& data, const SpectralOptions& o, Monitor& monitor, SpectralFit& fit) {
  const MatrixView& x = data.x.dense();
  const double n = static_cast<double>(x.rows()), d = static_cast<double>(x.cols());
  EmParameters& p = fit.parameters;
  std::vector<double> course(1, fit.loglik_before);
  const double squares = x.squaredNorm();
  MatrixXd r = em_rows(data, spectral_em_options(o, data, p), monitor).membership;
  for (int pass = 0; pass < o.polish; ++pass) {
    const VectorXd sizes = r.colwise().sum();
    require(sizes.minCoeff() > 0, "a component lost all rows in the polish: use a smaller `k`.");
    p.share = sizes / n;
    p.gaussian.means = sizes.cwiseInverse().asDiagonal() * (r.transpose() * x);
    const double variance = (squares - sizes.dot(p.gaussian.means.rowwise().squaredNorm())) / (n * d);
    for (MatrixXd& c : p.gaussian.covariance) c = std::max(variance, 1e-12 * squares / (n * d)) * MatrixXd::Identity(x.cols(), x.cols());
    const EmRows rows = em_rows(data, spectral_em_options(o, data, p), monitor);
    r = rows.membership;
    course.push_back(rows.row_loglik.sum());
    fit.polish.iterations = pass + 1;
    fit.polish.residual = (course[course.size() - 1] - course[course.size() - 2]) / std::abs(course.back());
    fit.polish.converged = fit.polish.residual <= o.polish_tol;
    if (fit.polish.converged) break;
  }
  fit.loglik = course.back();
  fit.objective = Eigen::Map<const VectorXd>(course.data(), static_cast<Index>(course.size()));
  fit.weight = p.share;
  fit.means = p.gaussian.means;
}

void polish_rows(const EmData& data, const SpectralOptions& o, Rng& rng, Monitor& monitor, SpectralFit& fit) {
  EmParameters& p = fit.parameters;
  fit.loglik_before = fit.loglik = em_rows(data, spectral_em_options(o, data, p), monitor).row_loglik.sum();
  if (o.polish == 0) return;
  if (o.model == SpectralModel::gmm) {
    polish_common(data, o, monitor, fit);
  } else {
    // A probability of zero would stay zero for ever.
    if (p.table.size() > 0) p.table = probabilities(p.table, data.levels, 1e-4);
    if (p.transition.size() > 0) {
      const std::vector<int> whole(1, o.k);
      p.transition = probabilities(p.transition, whole, 1e-4);
      p.share = probabilities(p.share.transpose(), whole, 1e-4).transpose();
    }
    EmFitOptions em = spectral_em_options(o, data, p);
    em.em.max_iter = o.polish;
    em.em.tol = o.polish_tol;
    const EmFit found = em_fit(data, em, rng, monitor);
    p = found.parameters;
    fit.loglik = found.loglik;
    fit.polish = found.convergence;
    VectorXd course(static_cast<Index>(found.trace.size()) + 1);
    for (std::size_t i = 0; i < found.trace.size(); ++i) course[static_cast<Index>(i)] = found.trace[i].loglik;
    course[course.size() - 1] = found.loglik;
    fit.objective = course;
    fit.means = p.table.size() > 0 ? p.table : p.gaussian.means;
    if (data.begin.empty()) {
      fit.weight = p.share;
    } else {
      fit.weight = found.membership.colwise().mean().transpose();
    }
  }
  if (fit.noise_var.size() > 0)
    for (Index h = 0; h < fit.noise_var.size(); ++h) fit.noise_var[h] = p.gaussian.covariance[static_cast<std::size_t>(h)](0, 0);
}

}  // namespace

namespace {

void document_errors(const DocumentSource& source, const TopicMomentOptions& mo, const WhitenedMoments& m, const SpectralOptions& o, const Rng& rng, Monitor& monitor,
                     SpectralFit& fit) {
  require(!o.stream, "a bootstrap needs documents that are held in memory.");
  Rng draws = rng.stream(bootstrap_stream);
  Design piece;
  require(source(piece), "there are no documents.");
  const ConstSparseMap x = piece.sparse();
  for (Design rest; source(rest);) throw InputError("a bootstrap needs documents in one piece.");
  const auto units = single_rows(x.cols());
  const auto sample = [&] {
    std::vector<Eigen::Triplet<double>> entries;
    const std::vector<Index> at = resampled(units, draws);
    for (std::size_t j = 0; j < at.size(); ++j)
      for (ConstSparseMap::InnerIterator it(x, at[j]); it; ++it) entries.emplace_back(static_cast<int>(it.row()), static_cast<int>(j), it.value());
    SparseMatrix drawn(x.rows(), x.cols());
    drawn.setFromTriplets(entries.begin(), entries.end());
    const ConstSparseMap view(drawn.rows(), drawn.cols(), drawn.nonZeros(), drawn.outerIndexPtr(), drawn.innerIndexPtr(), drawn.valuePtr());
    return topic_moments(one_piece(Design(view)), mo, o.k, draws, monitor);
  };
  fit.tensor_error = tensor_errors(m, o.n_rep, sample, draws, monitor);
}

}  // namespace

EmFitOptions spectral_em_options(const SpectralOptions& o, const EmData& data, const EmParameters& parameters) {
  EmFitOptions em;
  const bool words = !data.levels.empty();
  em.family = words ? EmFamily::categorical : EmFamily::gaussian;
  em.covariance = o.model == SpectralModel::gmm || o.model == SpectralModel::gmm_hetero ? CovarianceKind::spherical : CovarianceKind::diagonal;
  em.k = o.k;
  em.start = EmStart::parameters;
  em.parameters = parameters;
  const std::vector<int> whole(1, o.k);
  em.parameters.share = probabilities(parameters.share.transpose(), whole, 1e-10).transpose();
  if (words) em.parameters.table = probabilities(parameters.table, data.levels, 1e-10);
  if (parameters.transition.size() > 0) em.parameters.transition = probabilities(parameters.transition, whole, 1e-10);
  em.threads = o.threads;
  return em;
}

SpectralFit spectral_topics(const DocumentSource& source, Index words, const SpectralOptions& o, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const bool lda = o.model == SpectralModel::lda;
  SpectralFit fit;
  TopicMomentOptions mo;
  mo.words = words;
  mo.alpha0 = lda ? o.alpha0 : 0;
  mo.passes = o.passes;
  mo.threads = o.threads;
  const WhitenedMoments m = topic_moments(source, mo, o.k, rng, monitor);
  const Recovered found = take_apart(m, 2 / (mo.alpha0 + 2), o, rng, monitor, fit);
  if (o.n_rep > 0) document_errors(source, mo, m, o, rng, monitor, fit);
  fit.raw_weight = lda ? VectorXd(found.s * o.alpha0 * (o.alpha0 + 1)) : found.s;
  fit.raw_means = found.means.array().rowwise() * (m.mean.transpose().array() > 0).cast<double>();  // no rounding where a word was never seen
  fit.weight = lda ? fit.raw_weight : VectorXd(found.s / found.s.sum());
  const std::vector<int> whole(1, static_cast<int>(words));
  fit.means = probabilities(fit.raw_means, whole);
  TopicModel model{lda, fit.weight, fit.means};
  // A word that no topic has makes a document impossible: topics meet the overall shares in a thousandth part (a tenth where the polish can go on from there).
  const double mix = o.polish > 0 ? 0.1 : 1e-3;
  model.topics = (1 - mix) * model.topics + mix * m.mean.transpose().replicate(o.k, 1);
  if (o.polish > 0) model.topics = probabilities(model.topics, whole, 1e-12);
  TopicEmOptions eo;
  eo.passes = o.polish;
  eo.tol = o.polish_tol;
  eo.smooth = o.polish > 0 ? o.smooth : 0;
  eo.keep = !o.stream;
  eo.threads = o.threads;
  TopicEm em = topic_em(source, std::move(model), eo, monitor);
  fit.loglik_before = em.first;
  fit.loglik = em.last;
  fit.words = em.words;
  if (o.polish > 0) {
    fit.weight = em.model.weight;
    fit.means = em.model.topics;
    fit.objective = em.objective;
    fit.polish = em.convergence;
  }
  fit.convergence.seconds = clock.seconds();
  return fit;
}

SpectralFit spectral_rows(const EmData& data, const VectorXi& views, const SpectralOptions& o, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const MatrixView& x = data.x.dense();
  SpectralFit fit;
  switch (o.model) {
    case SpectralModel::gmm:
    case SpectralModel::gmm_hetero: {
      const bool hetero = o.model == SpectralModel::gmm_hetero;
      const WhitenedMoments m = gaussian_moments(x, hetero, o.k, monitor);
      const Recovered found = take_apart(m, 1, o, rng, monitor, fit);
      Rng draws = rng.stream(bootstrap_stream);
      const auto units = single_rows(x.rows());
      const auto sample = [&] { return gaussian_moments(some_rows_of(x, resampled(units, draws)), hetero, o.k, monitor); };
      fit.tensor_error = tensor_errors(m, o.n_rep, sample, draws, monitor);
      fit.raw_weight = found.s;
      fit.raw_means = fit.means = found.means;
      fit.noise_var = VectorXd::Constant(o.k, m.noise_var);
      if (hetero) fit.noise_var = (pseudo_inverse(found.means.transpose()) * m.noise_mean).cwiseQuotient(found.s);
      fit.weight = found.s / found.s.sum();
      const VectorXd spread = VectorXd::Constant(x.cols(), spread_of(x).mean());
      const auto lifted = static_cast<int>((fit.noise_var.array() <= 0).count());
      fit.noise_var = fit.noise_var.cwiseMax(1e-6 * spread[0]);
      gaussian_parameters(fit.noise_var.replicate(1, x.cols()), spread, fit);
      fit.lifted = lifted;
      break;
    }
    case SpectralModel::product:
    case SpectralModel::multiview:
    case SpectralModel::latent_class: {
      const bool items = o.model == SpectralModel::latent_class;
      MatrixXd rows = items ? one_hot(x, data.levels) : MatrixXd(x);
      MatrixXd turn;
      if (o.rotate) {
        MatrixXd g(x.cols(), x.cols());
        for (Index i = 0; i < g.size(); ++i) g.data()[i] = rng.normal();
        turn = Qr(g).thin_q(x.cols());
        rows = rows * turn;
      }
      fit.views = views;
      if (o.model != SpectralModel::multiview) {
        fit.views = split(rows, items ? data.levels : std::vector<int>(static_cast<std::size_t>(x.cols()), 1), o, rng, monitor);
      }
      MatrixXd variances;
      by_views(rows, fit.views, o, rng, monitor, fit, variances);
      fit.coherence = coherence_of(fit.raw_means);
      if (o.rotate) {  // of spherical Gaussians, whose variance is the same in all directions
        fit.raw_means = fit.raw_means * turn.transpose();
        variances = variances.rowwise().mean().replicate(1, x.cols()).eval();
      }
      fit.weight = fit.raw_weight / fit.raw_weight.sum();
      if (items) {
        fit.means = probabilities(fit.raw_means, data.levels);
        fit.parameters.table = fit.means;
      } else {
        fit.means = fit.raw_means;
        gaussian_parameters(variances, spread_of(x), fit);
      }
      break;
    }
    case SpectralModel::hmm:
      hmm(data, o, rng, monitor, fit);
      break;
    case SpectralModel::ica: {
      const IcaResult found = ica_moments(x, o.k, o.noise, o.tensor, rng, monitor);
      fit.mixing = found.mixing;
      fit.unmixing = found.unmixing;
      fit.mean = found.mean;
      fit.kurtosis = found.kurtosis;
      fit.eigenvalues = found.eigenvalues;
      fit.tensor = found.tensor;
      fit.rows = fit.rows2 = fit.rows3 = static_cast<double>(x.rows());
      fit.convergence = found.tensor.convergence;
      fit.convergence.seconds = clock.seconds();
      return fit;
    }
    default:
      throw InputError("documents have a function of their own.");
  }
  if (o.model != SpectralModel::hmm) fit.parameters.share = fit.weight;
  polish_rows(data, o, rng, monitor, fit);
  fit.convergence.seconds = clock.seconds();
  return fit;
}

}  // namespace granary::latent
