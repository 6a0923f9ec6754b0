#include "latent/topic_em.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/math/special.h"

namespace granary::latent {
namespace {

// What passes of documents add up to.
struct Sums {
  MatrixXd words;   // k x words: expected counts, to be multiplied by the topics
  VectorXd theta;   // LDA: sum of E log theta; single topic: expected documents
  double loglik = 0, docs = 0, total = 0;
  Sums(Index k, Index d) : words(MatrixXd::Zero(k, d)), theta(VectorXd::Zero(k)) {}
  void add(const Sums& other) {
    words += other.words;
    theta += other.theta;
    loglik += other.loglik;
    docs += other.docs;
    total += other.total;
  }
};

// One document against a model: its law of topics, and its part of the sums.
class Reader {
 public:
  Reader(const TopicModel& model, const TopicEmOptions& o)
      : model_(model), o_(o), k_(model.weight.size()), gamma_(k_), e_(k_), log_e_(k_), next_(k_) {
    if (model.lda) {
      constant_ = log_gamma(model.weight.sum());
      for (Index h = 0; h < k_; ++h) constant_ -= log_gamma(model.weight[h]);
    }
  }

  // `gamma` holds a start where `warm`, and the answer afterwards.
  double read(const ConstSparseMap& x, Index doc, bool warm, VectorRef gamma, Sums* sums) {
    gather(x, doc);
    const double loglik = model_.lda ? dirichlet(warm, gamma) : posterior(gamma);
    if (sums != nullptr) {
      sums->loglik += loglik;
      sums->docs += total_ > 0;
      sums->total += total_;
      if (!(total_ > 0)) return loglik;
      if (model_.lda) {
        sums->theta += log_e_;
        ratios(0);
        for (Index r = 0; r < size_; ++r) sums->words.col(word_[static_cast<std::size_t>(r)]) += ratio_[r] * e_;
      } else {
        sums->theta += gamma;
        for (Index r = 0; r < size_; ++r) sums->words.col(word_[static_cast<std::size_t>(r)]) += count_[static_cast<std::size_t>(r)] * gamma;
      }
    }
    return loglik;
  }

 private:
  void gather(const ConstSparseMap& x, Index doc) {
    size_ = 0;
    total_ = 0;
    word_.clear();
    count_.clear();
    for (ConstSparseMap::InnerIterator it(x, doc); it; ++it) {
      if (!(it.value() > 0)) continue;
      word_.push_back(it.row());
      count_.push_back(it.value());
      total_ += it.value();
    }
    size_ = static_cast<Index>(word_.size());
    if (b_.rows() < size_) {
      b_.resize(size_, k_);
      ratio_.resize(size_);
    }
    for (Index r = 0; r < size_; ++r) b_.row(r) = model_.topics.col(word_[static_cast<std::size_t>(r)]).transpose();
  }

  void expected_log() {
    const double all = digamma(gamma_.sum());
    for (Index h = 0; h < k_; ++h) {
      log_e_[h] = digamma(gamma_[h]) - all;
      e_[h] = std::exp(log_e_[h]);
    }
  }

  // ratio_r = count_r / (e'b_r), the expected words per unit of e; along the words, which are many, rather than along the topics.
  void ratios(double least) {
    auto ratio = ratio_.head(size_);
    ratio = e_[0] * b_.col(0).head(size_);
    Index h = 1;
    for (; h + 1 < k_; h += 2) ratio += e_[h] * b_.col(h).head(size_) + e_[h + 1] * b_.col(h + 1).head(size_);
    if (h < k_) ratio += e_[h] * b_.col(h).head(size_);
    ratio = VectorView(count_.data(), size_).cwiseQuotient(ratio.cwiseMax(least));
  }

  double dirichlet(bool warm, VectorRef answer) {
    const VectorXd& alpha = model_.weight;
    if (warm) {
      gamma_ = answer;
    } else {
      gamma_ = alpha.array() + total_ / static_cast<double>(k_);
    }
    const double enough = o_.inner_tol * gamma_.sum();
    expected_log();
    for (int step = 0; step < o_.inner && size_ > 0; ++step) {
      ratios(1e-300);
      for (Index h = 0; h < k_; ++h) next_[h] = alpha[h] + e_[h] * b_.col(h).head(size_).dot(ratio_.head(size_));
      const double moved = (next_ - gamma_).cwiseAbs().sum();
      gamma_ = next_;
      expected_log();
      if (moved < enough) break;
    }
    answer = gamma_;
    double bound = constant_ - log_gamma(gamma_.sum());
    for (Index h = 0; h < k_; ++h) bound += log_gamma(gamma_[h]) + (alpha[h] - gamma_[h]) * log_e_[h];
    ratios(0);
    for (Index r = 0; r < size_; ++r) bound += count_[static_cast<std::size_t>(r)] * std::log(count_[static_cast<std::size_t>(r)] / ratio_[r]);
    return bound;
  }

  double posterior(VectorRef answer) {
    next_ = model_.weight.array().log();
    for (Index r = 0; r < size_; ++r) next_ += count_[static_cast<std::size_t>(r)] * b_.row(r).transpose().array().log().matrix();
    const double loglik = log_sum_exp(next_);
    if (loglik == -std::numeric_limits<double>::infinity()) {
      answer.setConstant(1 / static_cast<double>(k_));  // a word no topic has
    } else {
      answer = (next_.array() - loglik).exp();
    }
    return loglik;
  }

  const TopicModel& model_;
  const TopicEmOptions& o_;
  Index k_, size_ = 0;
  double total_ = 0, constant_ = 0;
  std::vector<Index> word_;
  std::vector<double> count_;
  MatrixXd b_;  // words x topics
  VectorXd gamma_, e_, log_e_, next_, ratio_;
};

// One pass over the documents. `gammas` (k x documents) takes what was found, and where `warm` holds where to start.
Sums pass_over(const DocumentSource& source, const TopicModel& model, const TopicEmOptions& o, MatrixXd* gammas, bool warm, Monitor& monitor) {
  const Index k = model.weight.size(), d = model.topics.cols();
  std::vector<Sums> sums(static_cast<std::size_t>(document_parts), Sums(k, d));
  Index before = 0;
  for (Design piece; source(piece);) {
    const ConstSparseMap x = piece.sparse();
    require(x.rows() == d, "all pieces must have the same words.");
    if (gammas != nullptr && gammas->cols() < before + x.cols()) gammas->conservativeResize(k, before + x.cols());
    over_documents(x, o.threads, monitor, [&](Index part, Index from, Index to) {
      Reader reader(model, o);
      VectorXd own(k);
      for (Index j = from; j < to; ++j) {
        if (j % 256 == 0) monitor.check();
        if (warm) own = gammas->col(before + j);
        reader.read(x, j, warm, own, &sums[static_cast<std::size_t>(part)]);
        if (gammas != nullptr) gammas->col(before + j) = own;
      }
    });
    before += x.cols();
  }
  for (std::size_t p = 1; p < sums.size(); ++p) sums[0].add(sums[p]);
  return std::move(sums[0]);
}

double alpha_objective(const VectorXd& alpha, const VectorXd& s, double n) {
  double f = n * log_gamma(alpha.sum());
  for (Index h = 0; h < alpha.size(); ++h) f += alpha[h] * s[h] - n * log_gamma(alpha[h]);
  return f;
}

// Newton's method for alpha: the Hessian is a diagonal plus one constant (Blei, Ng and Jordan, appendix A.4.2), steps are halved until f rises.
void raise_alpha(VectorXd& alpha, const VectorXd& s, double n) {
  for (int step = 0; step < 20; ++step) {
    const double all = digamma(alpha.sum()), z = n * trigamma(alpha.sum());
    VectorXd g(alpha.size()), q(alpha.size());
    for (Index h = 0; h < alpha.size(); ++h) {
      g[h] = n * (all - digamma(alpha[h])) + s[h];
      q[h] = -n * trigamma(alpha[h]);
    }
    const double shift = g.cwiseQuotient(q).sum() / (1 / z + q.cwiseInverse().sum());
    const VectorXd move = (g.array() - shift) / q.array();
    const double now = alpha_objective(alpha, s, n);
    double share = 1;
    for (; share > 1e-8; share /= 2) {
      const VectorXd tried = alpha - share * move;
      if (tried.minCoeff() > 1e-8 && alpha_objective(tried, s, n) >= now) {
        alpha = tried;
        break;
      }
    }
    if (share <= 1e-8 || move.cwiseAbs().maxCoeff() * share < 1e-8 * alpha.maxCoeff()) return;
  }
}

}  // namespace

TopicEm topic_em(const DocumentSource& source, TopicModel start, const TopicEmOptions& o, Monitor& monitor) {
  const Stopwatch clock;
  TopicEm out;
  out.model = std::move(start);
  TopicModel& m = out.model;
  require(m.weight.minCoeff() >= 0 && m.topics.minCoeff() >= 0, "weights and topics must not be negative.");
  // Documents start every pass from even shares. From those of the pass before, a topic once thought absent stays absent, others learn its words, and alpha sinks
  // to half its value at a lower bound. But a document may then come to rest elsewhere than before and the bound fall: from the first fall on passes
  // start where the last one ended, and each raises the bound; where nothing is kept, the pass before is the answer.
  const bool keep = m.lda && o.keep;
  bool warm = false;
  MatrixXd gammas, before;
  TopicModel last;
  std::vector<double> course;
  for (int pass = 0;; ++pass) {
    monitor.progress(static_cast<double>(pass) / (o.passes + 1));
    if (keep && !warm) before = gammas;
    const double prior = o.passes > 0 && o.smooth > 0 ? o.smooth * m.topics.array().log().sum() : 0;
    Sums sums = pass_over(source, m, o, keep ? &gammas : nullptr, warm, monitor);
    const auto fell = [&] { return m.lda && !course.empty() && sums.loglik + prior < course.back(); };
    if (!warm && fell()) {
      if (keep) {
        warm = true;
        gammas.swap(before);
        sums = pass_over(source, m, o, &gammas, warm, monitor);
      } else {
        out.convergence.residual = (sums.loglik + prior - course.back()) / std::abs(course.back());
        out.convergence.converged = std::abs(out.convergence.residual) <= o.tol;
        out.convergence.iterations = pass - 1;
        m = std::move(last);
        break;
      }
    }
    course.push_back(sums.loglik + prior);
    if (pass == 0) out.first = sums.loglik;
    out.last = sums.loglik;
    out.words = sums.total;
    const std::size_t t = course.size();
    if (t > 1) {
      out.convergence.residual = (course[t - 1] - course[t - 2]) / std::abs(course[t - 1]);
      out.convergence.converged = std::abs(out.convergence.residual) <= o.tol;
    }
    if (pass >= o.passes || out.convergence.converged) break;
    if (!keep) last = m;
    m.topics = (m.lda ? MatrixXd(sums.words.cwiseProduct(m.topics)) : sums.words).array() + o.smooth;
    const VectorXd totals = m.topics.rowwise().sum();
    m.topics.array().colwise() /= totals.array();
    if (!m.lda) {
      m.weight = sums.theta / sums.docs;
    } else if (o.estimate_alpha) {
      raise_alpha(m.weight, sums.theta, sums.docs);
    }
    out.convergence.iterations = pass + 1;
  }
  out.objective = Eigen::Map<const VectorXd>(course.data(), static_cast<Index>(course.size()));
  out.convergence.seconds = clock.seconds();
  return out;
}

TopicRows topic_rows(const DocumentSource& source, const TopicModel& model, int threads, Monitor& monitor) {
  TopicEmOptions o;
  o.inner = 500;
  o.inner_tol = 1e-8;
  std::vector<TopicRows> pieces;
  Index n = 0;
  const Index k = model.weight.size();
  for (Design piece; source(piece);) {
    const ConstSparseMap x = piece.sparse();
    require(x.rows() == model.topics.cols(), message("documents must be over ", model.topics.cols(), " words, not ", x.rows(), "."));
    TopicRows rows{MatrixXd(x.cols(), k), VectorXd(x.cols())};
    over_documents(x, threads, monitor, [&](Index, Index from, Index to) {
      Reader reader(model, o);
      VectorXd own(k);
      for (Index j = from; j < to; ++j) {
        if (j % 256 == 0) monitor.check();
        rows.row_loglik[j] = reader.read(x, j, false, own, nullptr);
        rows.membership.row(j) = (own / own.sum()).transpose();
      }
    });
    n += x.cols();
    pieces.push_back(std::move(rows));
  }
  if (pieces.size() == 1) return std::move(pieces.front());
  TopicRows out{MatrixXd(n, k), VectorXd(n)};
  Index at = 0;
  for (const TopicRows& rows : pieces) {
    out.membership.middleRows(at, rows.row_loglik.size()) = rows.membership;
    out.row_loglik.segment(at, rows.row_loglik.size()) = rows.row_loglik;
    at += rows.row_loglik.size();
  }
  return out;
}

TopicDraws topic_draws(const TopicModel& model, ConstVectorRef lengths, Rng& rng, Monitor& monitor) {
  const Index n = lengths.size(), k = model.weight.size();
  std::vector<AliasTable> words;
  for (Index h = 0; h < k; ++h) words.emplace_back(model.topics.row(h).transpose());
  TopicDraws out;
  out.cluster.resize(n);
  out.share = MatrixXd::Zero(n, k);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    if (i % 1024 == 0) monitor.check();
    VectorXd theta = model.lda ? rng.dirichlet(model.weight) : VectorXd(VectorXd::Unit(k, rng.categorical(model.weight)));
    out.share.row(i) = theta.transpose();
    for (Index r = 0; r < static_cast<Index>(lengths[i]); ++r) {
      const int h = rng.categorical(theta);
      entries.emplace_back(words[static_cast<std::size_t>(h)].draw(rng), static_cast<int>(i), 1.0);
    }
    Index best = 0;
    theta.maxCoeff(&best);
    out.cluster[i] = static_cast<int>(best);
  }
  out.counts.resize(model.topics.cols(), n);
  out.counts.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace granary::latent
