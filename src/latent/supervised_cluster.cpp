#include "latent/supervised_cluster.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/convergence.h"
#include "core/base/parallel.h"
#include "core/infer/mcmc.h"
#include "core/math/special.h"
#include "latent/concentration.h"
#include "latent/partition_prior.h"

namespace granary::latent {

namespace {

constexpr double half_log_two_pi = 0.9189385332046727, largest_precision = 1e12;

std::size_t z(Index i) { return static_cast<std::size_t>(i); }

struct Cluster {
  int domain = 0, size = 0;
  bool training = false;
  VectorXd mean;       // p
  VectorXd v, m;       // precision and weighted sum of the rows, where means are integrated out
};
struct Type {
  int size = 0;
  VectorXd t, half_log;
};

class Chain {
 public:
  Chain(ConstMatrixRef r, const VectorXi& label, const VectorXi& domain, const SupervisedOptions& options, Rng& rng)
      : o_(options), r_(r.transpose()), f_(r.cols()), n_(r.rows()), domain_(domain), known_(n_), c_(label), d_(VectorXi::Zero(n_)) {
    known_ = label.array() >= 0;
    training_ = label.size() > 0 ? std::max(0, label.maxCoeff() + 1) : 0;
    clusters_.resize(z(training_));
    shape_ = VectorXd::Constant(f_, o_.shape);
    rate_ = VectorXd::Constant(f_, o_.rate);
    alpha_p_ = o_.alpha_cluster > 0 ? o_.alpha_cluster : o_.alpha_shape / o_.alpha_rate;
    alpha_t_ = o_.alpha_type > 0 ? o_.alpha_type : o_.alpha_shape / o_.alpha_rate;
    for (Index i = 0; i < n_; ++i) {
      if (!known_[i]) continue;
      Cluster& c = clusters_[z(c_[i])];
      c.training = true;
      c.domain = domain_[i];
      ++c.size;
    }
    // Rows to be clustered begin by a draw from the prior in each domain.
    const int domains = domain_.maxCoeff() + 1;
    PartitionPrior prior;
    prior.theta = alpha_p_;
    for (int m = 0; m < domains; ++m) {
      std::vector<Index> rows;
      for (Index i = 0; i < n_; ++i)
        if (domain_[i] == m && !known_[i]) rows.push_back(i);
      const VectorXi start = draw_partition(prior, static_cast<Index>(rows.size()), rng);
      const int first = static_cast<int>(clusters_.size());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const int at = first + start[static_cast<Index>(k)];
        if (at >= static_cast<int>(clusters_.size())) clusters_.resize(z(at) + 1);
        c_[rows[k]] = at;
        clusters_[z(at)].domain = m;
        ++clusters_[z(at)].size;
      }
    }
    Type one;
    one.size = static_cast<int>(n_);
    one.t = VectorXd::Ones(f_);
    one.half_log = VectorXd::Zero(f_);
    types_.push_back(one);
    draw_means(rng);
  }

  void sweep(Rng& rng, Monitor& monitor) {
    renew_type_law();
    if (!o_.one_type) draw_precisions(rng);
    if (o_.collapse) collect();
    for (Index i = 0; i < n_; ++i) {
      if ((i & 63) == 0) monitor.check();
      if (!known_[i]) draw_cluster(i, rng);
    }
    draw_means(rng);
    if (!o_.one_type) {
      renew_type_law();
      for (Index i = 0; i < n_; ++i) {
        if ((i & 63) == 0) monitor.check();
        draw_type(i, rng);
      }
    }
    draw_alphas(rng);
  }

  double loglik() const {
    double value = 0;
    for (Index i = 0; i < n_; ++i) value += log_row(i, clusters_[z(c_[i])].mean, types_[z(d_[i])]);
    return value;
  }
  const VectorXi& cluster() const { return c_; }
  const VectorXi& type() const { return d_; }
  const std::vector<Type>& types() const { return types_; }
  double alpha_p() const { return alpha_p_; }
  double alpha_t() const { return alpha_t_; }
  int training() const { return training_; }

 private:
  double log_row(Index i, const VectorXd& mean, const Type& t) const {
    const double* r = r_.data() + i * f_;
    double value = -half_log_two_pi * static_cast<double>(f_);
    for (Index f = 0; f < f_; ++f) {
      const double d = r[f] - mean[f];
      value += t.half_log[f] - 0.5 * t.t[f] * d * d;
    }
    return value;
  }

  // ---- step 1: means ----
  void draw_means(Rng& rng) {
    collect();
    const bool conditioned = o_.type == SupervisedType::scdp3 && !o_.one_type;
    if (!conditioned) {
      for (Cluster& c : clusters_) {
        if (c.size == 0) continue;
        c.mean.resize(f_);
        for (Index f = 0; f < f_; ++f) c.mean[f] = rng.normal(c.m[f] / c.v[f], 1 / std::sqrt(c.v[f]));
      }
      return;
    }
    for (Cluster& c : clusters_)
      if (c.size > 0 && c.mean.size() == 0) {
        c.mean.resize(f_);
        for (Index f = 0; f < f_; ++f) c.mean[f] = rng.normal(c.m[f] / c.v[f], 1 / std::sqrt(c.v[f]));
      }
    // prod_i (b + lambda D_f)^a exp(-lambda D_f t_if): the second factor is normal in each mean and goes into the proposal, the first is the acceptance ratio.
    VectorXd sum, square;
    double active;
    moments(sum, square, active);
    const VectorXd pull = 2 * o_.lambda * total_precision();
    const double power = o_.shape * static_cast<double>(types_.size());
    for (Cluster& c : clusters_) {
      if (c.size == 0) continue;
      for (Index f = 0; f < f_; ++f) {
        const double others = sum[f] - c.mean[f], squares = square[f] - c.mean[f] * c.mean[f], k = active - 1;
        const double v = c.v[f] + pull[f] * k, m = (c.m[f] + pull[f] * others) / v;
        const double now = rng.normal(m, 1 / std::sqrt(v)), before = c.mean[f];
        const auto spread = [&](double p) { return active * (squares + p * p) - (others + p) * (others + p); };  // D_f
        const double log_ratio = power * (std::log(o_.rate + o_.lambda * spread(now)) - std::log(o_.rate + o_.lambda * spread(before)));
        if (std::log(rng.uniform_open()) < log_ratio) c.mean[f] = now;
        sum[f] = others + c.mean[f];
        square[f] = squares + c.mean[f] * c.mean[f];
      }
    }
  }

  void moments(VectorXd& sum, VectorXd& square, double& active) const {
    sum = square = VectorXd::Zero(f_);
    active = 0;
    for (const Cluster& c : clusters_) {
      if (c.size == 0) continue;
      active += 1;
      sum += c.mean;
      square += c.mean.cwiseAbs2();
    }
  }
  VectorXd total_precision() const {
    VectorXd out = VectorXd::Zero(f_);
    for (const Type& t : types_) out += t.t;
    return out;
  }

  void collect() {
    for (Cluster& c : clusters_) {
      c.v = VectorXd::Constant(f_, 1 / o_.mean_var);
      c.m = VectorXd::Zero(f_);
    }
    for (Index i = 0; i < n_; ++i) absorb(i, c_[i], 1);
  }
  void absorb(Index i, int c, double sign) {
    const VectorXd& t = types_[z(d_[i])].t;
    clusters_[z(c)].v += sign * t;
    clusters_[z(c)].m += sign * t.cwiseProduct(r_.col(i));
  }

  // ---- the law of the precisions ----
  void renew_type_law() {
    if (o_.type == SupervisedType::scdp1 || o_.one_type) return;
    VectorXd sum, square;
    double k;
    moments(sum, square, k);
    if (o_.type == SupervisedType::scdp3) {
      for (Index f = 0; f < f_; ++f) rate_[f] = o_.rate + o_.lambda * std::max(0.0, k * square[f] - sum[f] * sum[f]);
      return;
    }
    shape_.setConstant(o_.shape);
    rate_.setConstant(o_.rate);
    if (k < 3) return;
    const double pairs = 0.5 * k * (k - 1);
    for (Index f = 0; f < f_; ++f) {
      const double centre = sum[f] / k;
      double s2 = 0, s4 = 0;
      for (const Cluster& c : clusters_) {
        if (c.size == 0) continue;
        const double d = c.mean[f] - centre;
        s2 += d * d;
        s4 += d * d * d * d;
      }
      // over pairs: sum (p_j - p_k)^2 = k s2, sum (p_j - p_k)^4 = k s4 + 3 s2^2 about the mean
      const double mean = 0.5 * k * s2 / pairs, fourth = 0.25 * (k * s4 + 3 * s2 * s2) / pairs, variance = fourth - mean * mean;
      if (!(variance > 1e-12 * mean * mean) || !(mean > 0)) continue;
      const double half = 0.5 * mean, scale = variance / half;
      shape_[f] = half / scale;
      rate_[f] = 1 / scale;
    }
  }

  // ---- step 2: precisions ----
  void draw_precisions(Rng& rng) {
    MatrixXd squares = MatrixXd::Zero(f_, static_cast<Index>(types_.size()));
    for (Index i = 0; i < n_; ++i) squares.col(d_[i]) += (r_.col(i) - clusters_[z(c_[i])].mean).cwiseAbs2();
    for (std::size_t l = 0; l < types_.size(); ++l) draw_type_values(types_[l], types_[l].size, squares.col(static_cast<Index>(l)), rng);
  }
  void draw_type_values(Type& t, double rows, const VectorXd& squares, Rng& rng) const {
    t.t.resize(f_);
    t.half_log.resize(f_);
    for (Index f = 0; f < f_; ++f) {
      t.t[f] = std::clamp(rng.gamma(shape_[f] + 0.5 * rows, 1 / (rate_[f] + 0.5 * squares[f])), 1 / largest_precision, largest_precision);
      t.half_log[f] = 0.5 * std::log(t.t[f]);
    }
  }

  // ---- step 3: clusters ----
  void draw_cluster(Index i, Rng& rng) {
    Cluster& home = clusters_[z(c_[i])];
    const bool conditioned = o_.type == SupervisedType::scdp3 && !o_.one_type;
    if (o_.collapse) absorb(i, c_[i], -1);
    --home.size;
    const Type& type = types_[z(d_[i])];
    candidate_.clear();
    weight_.clear();
    int hole = -1;
    for (int c = 0; c < static_cast<int>(clusters_.size()); ++c) {
      const Cluster& cluster = clusters_[z(c)];
      if (cluster.size == 0 && !cluster.training) hole = c;
      if (cluster.size == 0 || cluster.domain != domain_[i]) continue;
      candidate_.push_back(c);
      weight_.push_back(std::log(static_cast<double>(cluster.size)) + (o_.collapse ? log_predictive(i, cluster, type) : log_row(i, cluster.mean, type)));
    }
    const std::size_t known = candidate_.size();
    std::vector<VectorXd> fresh;
    if (!conditioned) {
      double value = std::log(alpha_p_) - half_log_two_pi * static_cast<double>(f_);
      for (Index f = 0; f < f_; ++f) {
        const double v = o_.mean_var + 1 / type.t[f];
        value -= 0.5 * (std::log(v) + r_(f, i) * r_(f, i) / v);
      }
      weight_.push_back(value);
    } else {
      VectorXd sum, square;
      double k;
      moments(sum, square, k);  // without row i's own cluster, if that is empty now
      const VectorXd precision = total_precision();
      const double power = o_.shape * static_cast<double>(types_.size());
      if (home.size == 0 && home.mean.size() > 0) fresh.push_back(home.mean);
      while (static_cast<int>(fresh.size()) < o_.auxiliary) fresh.push_back(rng.normals(f_) * std::sqrt(o_.mean_var));
      for (const VectorXd& p : fresh) {
        double value = std::log(alpha_p_ / o_.auxiliary) + log_row(i, p, type);
        for (Index f = 0; f < f_; ++f) {
          const double before = k * square[f] - sum[f] * sum[f], with = (k + 1) * (square[f] + p[f] * p[f]) - (sum[f] + p[f]) * (sum[f] + p[f]);
          value += power * (std::log(o_.rate + o_.lambda * with) - std::log(o_.rate + o_.lambda * before)) - o_.lambda * (with - before) * precision[f];
        }
        weight_.push_back(value);
      }
    }
    const int chosen = rng.categorical_log(Eigen::Map<const VectorXd>(weight_.data(), static_cast<Index>(weight_.size())));
    int at;
    if (z(chosen) < known) {
      at = candidate_[z(chosen)];
    } else {
      at = hole >= 0 ? hole : static_cast<int>(clusters_.size());
      if (hole < 0) clusters_.emplace_back();
      Cluster& c = clusters_[z(at)];
      c.domain = domain_[i];
      c.training = false;
      c.v = VectorXd::Constant(f_, 1 / o_.mean_var);
      c.m = VectorXd::Zero(f_);
      if (conditioned) {
        c.mean = fresh[z(chosen) - known];
      } else {
        c.mean.resize(f_);
        for (Index f = 0; f < f_; ++f) {
          const double v = 1 / o_.mean_var + type.t[f];
          c.mean[f] = rng.normal(type.t[f] * r_(f, i) / v, 1 / std::sqrt(v));
        }
      }
    }
    c_[i] = at;
    ++clusters_[z(at)].size;
    if (o_.collapse) absorb(i, at, 1);
  }
  double log_predictive(Index i, const Cluster& c, const Type& type) const {
    double value = -half_log_two_pi * static_cast<double>(f_);
    for (Index f = 0; f < f_; ++f) {
      const double v = 1 / c.v[f] + 1 / type.t[f], d = r_(f, i) - c.m[f] / c.v[f];
      value -= 0.5 * (std::log(v) + d * d / v);
    }
    return value;
  }

  // ---- step 4: types ----
  void draw_type(Index i, Rng& rng) {
    const int old = d_[i];
    const VectorXd& mean = clusters_[z(c_[i])].mean;
    --types_[z(old)].size;
    weight_.clear();
    for (const Type& t : types_) weight_.push_back(t.size > 0 ? std::log(static_cast<double>(t.size)) + log_row(i, mean, t) : -std::numeric_limits<double>::infinity());
    double value = std::log(alpha_t_) - half_log_two_pi * static_cast<double>(f_);
    VectorXd squares(f_);
    for (Index f = 0; f < f_; ++f) {
      const double d = r_(f, i) - mean[f];
      squares[f] = d * d;
      value += log_gamma(shape_[f] + 0.5) - log_gamma(shape_[f]) + shape_[f] * std::log(rate_[f]) - (shape_[f] + 0.5) * std::log(rate_[f] + 0.5 * squares[f]);
    }
    weight_.push_back(value);
    int at = rng.categorical_log(Eigen::Map<const VectorXd>(weight_.data(), static_cast<Index>(weight_.size())));
    if (z(at) == types_.size()) {
      Type fresh;
      draw_type_values(fresh, 1, squares, rng);
      types_.push_back(fresh);
    }
    d_[i] = at;
    ++types_[z(at)].size;
    if (types_[z(old)].size == 0) {  // the last takes its place
      const int last = static_cast<int>(types_.size()) - 1;
      types_[z(old)] = types_[z(last)];
      types_.pop_back();
      if (old != last)
        for (Index j = 0; j < n_; ++j)
          if (d_[j] == last) d_[j] = old;
    }
  }

  void draw_alphas(Rng& rng) {
    if (!(o_.alpha_cluster > 0)) {
      const Index domains = domain_.maxCoeff() + 1;
      VectorXd n = VectorXd::Zero(domains), k = VectorXd::Zero(domains);
      for (Index i = 0; i < n_; ++i) n[domain_[i]] += 1;
      for (const Cluster& c : clusters_)
        if (c.size > 0) k[c.domain] += 1;
      alpha_p_ = draw_concentration(alpha_p_, n, k, o_.alpha_shape, o_.alpha_rate, rng);
    }
    if (!(o_.alpha_type > 0) && !o_.one_type) {
      alpha_t_ = draw_concentration(alpha_t_, VectorXd::Constant(1, static_cast<double>(n_)), VectorXd::Constant(1, static_cast<double>(types_.size())), o_.alpha_shape,
                                    o_.alpha_rate, rng);
    }
  }

  SupervisedOptions o_;
  MatrixXd r_;  // F x n
  Index f_, n_;
  VectorXi domain_;
  Eigen::Array<bool, Eigen::Dynamic, 1> known_;
  VectorXi c_, d_;
  int training_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<Type> types_;
  VectorXd shape_, rate_;
  double alpha_p_, alpha_t_;
  std::vector<int> candidate_;
  std::vector<double> weight_;
};

void check_input(ConstMatrixRef r, const VectorXi& label, const VectorXi& domain, const SupervisedOptions& o) {
  if (r.rows() < 1 || r.cols() < 1 || !r.allFinite()) throw InputError("the rows must be finite numbers, at least one.");
  if (label.size() != r.rows() || domain.size() != r.rows()) throw InputError("labels and domains must be given for every row.");
  if (label.minCoeff() < -1 || domain.minCoeff() < 0) throw InputError("labels and domains must be numbers from 1.");
  for (const double x : {o.mean_var, o.shape, o.rate, o.alpha_shape, o.alpha_rate, o.lambda})
    if (!(x > 0) || !std::isfinite(x)) throw InputError("the parameters of the priors must be positive.");
  if (o.n_draws < 1 || o.burn_in < 0 || o.thin < 1 || o.chains < 1 || o.auxiliary < 1) throw InputError("`n_draws`, `thin`, `chains` and `auxiliary` must be at least 1.");
  if (o.collapse && o.type == SupervisedType::scdp3) throw InputError("the means of \"scdp3\" cannot be integrated out: use method = \"gibbs\".");
}

}  // namespace

SupervisedResult supervised_cluster(ConstMatrixRef r, const VectorXi& label, const VectorXi& domain, const SupervisedOptions& options, Rng& rng, Monitor& monitor) {
  check_input(r, label, domain, options);
  const Stopwatch watch;
  const Index n = r.rows(), draws = options.n_draws, all = draws * options.chains;
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i)
    if (label[i] < 0) rows.push_back(i);
  const Index open = static_cast<Index>(rows.size());
  SupervisedResult out;
  out.clusters.resize(all, open);
  out.types.resize(all, n);
  out.n_clusters.resize(all);
  out.n_types.resize(all);
  out.alpha_cluster.resize(all);
  out.alpha_type.resize(all);
  out.loglik.resize(all);
  out.effective_clusters.resize(options.chains);
  out.effective_loglik.resize(options.chains);
  MatrixXd mean_weights = MatrixXd::Zero(r.cols(), options.chains);
  struct Best {
    double loglik = -std::numeric_limits<double>::infinity();
    VectorXi cluster, type;
    MatrixXd weights;
    VectorXi sizes;
  };
  std::vector<Best> best(z(options.chains));
  std::atomic<long> done{0};
  const long sweeps = static_cast<long>(options.burn_in) + static_cast<long>(options.n_draws) * options.thin;
  parallel_for(options.chains, options.threads, monitor, [&](Index chain) {
    Rng mine = rng.stream(static_cast<std::uint64_t>(chain));
    Chain state(r, label, domain, options, mine);
    std::vector<int> name;
    Index at = chain * draws;
    for (long s = 1; s <= sweeps; ++s) {
      state.sweep(mine, monitor);
      if ((++done & 7) == 0) monitor.progress(static_cast<double>(done) / static_cast<double>(sweeps * options.chains));
      if (s <= options.burn_in || (s - options.burn_in) % options.thin != 0) continue;
      // training clusters keep their numbers, new ones are numbered by first appearance
      name.clear();
      int next = state.training(), used = 0;
      std::vector<char> seen(z(state.training()), 0);
      for (Index k = 0; k < open; ++k) {
        const int c = state.cluster()[rows[z(k)]];
        if (c < state.training()) {
          used += !seen[z(c)];
          seen[z(c)] = 1;
          out.clusters(at, k) = c;
          continue;
        }
        if (z(c) >= name.size()) name.resize(z(c) + 1, -1);
        if (name[z(c)] < 0) {
          name[z(c)] = next++;
          ++used;
        }
        out.clusters(at, k) = name[z(c)];
      }
      VectorXi types = state.type();
      out.n_types[at] = relabel(types);
      out.types.row(at) = types.transpose();
      out.n_clusters[at] = used;
      out.alpha_cluster[at] = state.alpha_p();
      out.alpha_type[at] = state.alpha_t();
      const double loglik = out.loglik[at] = state.loglik();
      for (const Type& t : state.types()) mean_weights.col(chain) += t.t * (t.size / static_cast<double>(n));
      Best& mine_best = best[z(chain)];
      if (loglik > mine_best.loglik) {
        mine_best.loglik = loglik;
        mine_best.cluster = out.clusters.row(at).transpose();
        mine_best.type = types;
        mine_best.weights.resize(out.n_types[at], r.cols());
        mine_best.sizes = VectorXi::Zero(out.n_types[at]);
        for (Index i = 0; i < n; ++i) {
          mine_best.weights.row(types[i]) = state.types()[z(state.type()[i])].t.transpose();
          ++mine_best.sizes[types[i]];
        }
      }
      ++at;
    }
    out.effective_clusters[chain] = effective_sample_size(out.n_clusters.segment(chain * draws, draws).cast<double>());
    out.effective_loglik[chain] = effective_sample_size(out.loglik.segment(chain * draws, draws));
  });
  const auto top = std::max_element(best.begin(), best.end(), [](const Best& a, const Best& b) { return a.loglik < b.loglik; });
  out.best = top->cluster;
  out.best_types = top->type;
  out.weights = top->weights;
  out.weight_sizes = top->sizes;
  out.mean_weights = mean_weights.rowwise().sum() / static_cast<double>(all);
  out.seconds = watch.seconds();
  return out;
}

}  // namespace granary::latent
