#include "ensemble/plain_classifiers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/optim/lbfgs.h"

namespace granary::ensemble {

namespace {

const double infinity = std::numeric_limits<double>::infinity();

VectorXd squared_distances(ConstMatrixRef x, Index i, const MatrixXd& rows) {
  return (rows.rowwise() - x.row(i)).rowwise().squaredNorm();
}

// exp(a) / sum exp(a)
VectorXd soft(VectorXd a) {
  const double top = a.maxCoeff();
  if (top == -infinity) return VectorXd::Constant(a.size(), 1 / static_cast<double>(a.size()));
  a = (a.array() - top).exp();
  return a / a.sum();
}

Index first_best(const VectorXd& v) {
  Index best = 0;
  v.maxCoeff(&best);
  return best;
}

// log of the mean over each class of exp(-d * rate), without row `skip`.
VectorXd log_class_means(const VectorXd& d, const VectorXi& label, int classes, double rate, Index skip) {
  VectorXd least = VectorXd::Constant(classes, infinity), sum = VectorXd::Zero(classes), count = VectorXd::Zero(classes);
  for (Index j = 0; j < d.size(); ++j)
    if (j != skip) least[label[j]] = std::min(least[label[j]], d[j]);
  for (Index j = 0; j < d.size(); ++j) {
    if (j == skip) continue;
    sum[label[j]] += std::exp(-rate * (d[j] - least[label[j]]));
    count[label[j]] += 1;
  }
  VectorXd out(classes);
  for (int c = 0; c < classes; ++c) out[c] = count[c] > 0 ? std::log(sum[c] / count[c]) - rate * least[c] : -infinity;
  return out;
}

// Shares among the k nearest; of equal shares the class met first goes before.
VectorXd neighbour_shares(const VectorXd& d, const VectorXi& label, int classes, int k, Index skip, std::vector<Index>& order) {
  order.clear();
  for (Index j = 0; j < d.size(); ++j)
    if (j != skip) order.push_back(j);
  const std::size_t take = std::min<std::size_t>(static_cast<std::size_t>(k), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(take), order.end(),
                    [&](Index a, Index b) { return d[a] != d[b] ? d[a] < d[b] : a < b; });
  VectorXd share = VectorXd::Zero(classes);
  for (std::size_t r = 0; r < take; ++r) share[label[order[r]]] += 1 + (r == 0 ? 1e-9 : 0);
  return share / share.sum();
}

double quantile(std::vector<double> v, double p) {
  std::sort(v.begin(), v.end());
  const double at = p * static_cast<double>(v.size() - 1);
  const std::size_t low = static_cast<std::size_t>(at), up = std::min(low + 1, v.size() - 1);
  return v[low] + (at - static_cast<double>(low)) * (v[up] - v[low]);
}

// ---- nets: softmax(V [1, tanh(W [1, x])])
// --------------------------------------------------------------------------------------

struct Net {
  Index p, hidden, classes;
  Index size() const { return hidden * (p + 1) + classes * (hidden + 1); }
  // log probabilities; `layer` gets the units' values
  MatrixXd log_prob(ConstMatrixRef x, const VectorXd& theta, MatrixXd& layer) const {
    const Eigen::Map<const MatrixXd> w(theta.data(), hidden, p + 1), v(theta.data() + hidden * (p + 1), classes, hidden + 1);
    layer = x * w.rightCols(p).transpose();
    layer.rowwise() += w.col(0).transpose();
    layer = layer.array().tanh();
    MatrixXd out = layer * v.rightCols(hidden).transpose();
    out.rowwise() += v.col(0).transpose();
    for (Index i = 0; i < out.rows(); ++i) {
      const double top = out.row(i).maxCoeff();
      out.row(i).array() -= top + std::log((out.row(i).array() - top).exp().sum());
    }
    return out;
  }
};

VectorXd fit_net(const Net& net, const MatrixXd& x, const VectorXi& label, double decay, int max_iter, Rng& rng, Monitor&
    monitor) {
  const double n = static_cast<double>(x.rows());
  const auto loss = [&](const VectorXd& theta, VectorXd& gradient) {
    monitor.check();
    MatrixXd layer;
    MatrixXd slope = net.log_prob(x, theta, layer);
    double sum = 0;
    for (Index i = 0; i < x.rows(); ++i) sum -= slope(i, label[i]);
    slope = slope.array().exp();
    for (Index i = 0; i < x.rows(); ++i) slope(i, label[i]) -= 1;
    gradient.resize(theta.size());
    Eigen::Map<MatrixXd> gw(gradient.data(), net.hidden, net.p + 1),
        gv(gradient.data() + net.hidden * (net.p + 1), net.classes, net.hidden + 1);
    const Eigen::Map<const MatrixXd> v(theta.data() + net.hidden * (net.p + 1), net.classes, net.hidden + 1);
    gv.col(0) = slope.colwise().sum().transpose();
    gv.rightCols(net.hidden) = slope.transpose() * layer;
    MatrixXd back = slope * v.rightCols(net.hidden);
    back.array() *= 1 - layer.array().square();
    gw.col(0) = back.colwise().sum().transpose();
    gw.rightCols(net.p) = back.transpose() * x;
    gradient += 2 * decay * theta;
    gradient /= n;
    return (sum + decay * theta.squaredNorm()) / n;
  };
  VectorXd start(net.size());
  for (Index i = 0; i < start.size(); ++i) start[i] = rng.uniform(-0.7, 0.7);
  LbfgsOptions options;
  options.max_iter = max_iter;
  return lbfgs(loss, start, options, monitor).x;
}

MatrixXd standardized(ConstMatrixRef x, const PlainFit& f) {
  return (x.rowwise() - f.center.transpose()).array().rowwise() / f.scale.transpose().array();
}

// ---- fits
// ----------------------------------------------------------------------------------------------------------------------

void class_moments(ConstMatrixRef x, const VectorXi& label, const PlainOptions& o, PlainFit& f) {
  const Index p = x.cols();
  f.mean = MatrixXd::Zero(o.classes, p);
  f.sd = MatrixXd::Zero(o.classes, p);
  for (int c = 0; c < o.classes; ++c)
    for (Index j = 0; j < p; ++j) {
      std::vector<double> v;
      for (Index i = 0; i < x.rows(); ++i)
        if (label[i] == c) v.push_back(x(i, j));
      if (v.empty()) continue;
      const double n = static_cast<double>(v.size()), m = std::accumulate(v.begin(), v.end(), 0.0) / n;
      double square = 0;
      for (const double value : v) square += (value - m) * (value - m);
      double sd = n > 1 ? std::sqrt(square / (n - 1)) : 0;
      if (o.method == PlainMethod::kernel_naive_bayes) {
        const double range = (quantile(v, 0.75) - quantile(v, 0.25)) / 1.34;
        sd = 0.9 * (range > 0 ? std::min(sd, range) : sd) * std::pow(n, -0.2) * f.chosen;
      }
      f.mean(c, j) = m;
      f.sd(c, j) = sd;
    }
  // a column that is constant within a class: a thousandth of its spread over all
  for (Index j = 0; j < p; ++j) {
    const double all = std::sqrt((x.col(j).array() - x.col(j).mean()).square().mean());
    f.sd.col(j) = f.sd.col(j).cwiseMax(all > 0 ? 1e-3 * all : 1.0);
  }
}

void choose_by_loo(ConstMatrixRef x, const VectorXi& label, const PlainOptions& o, PlainFit& f, Monitor& monitor) {
  const Index n = x.rows(), m = o.values.size();
  const MatrixXd rows = x;
  // the direct perceptron's offsets: sums of the kernel within the classes
  MatrixXd inner = MatrixXd::Zero(o.classes, m), own = MatrixXd::Zero(n, m);
  VectorXd count = VectorXd::Zero(o.classes);
  for (Index i = 0; i < n; ++i) count[label[i]] += 1;
  if (o.method == PlainMethod::direct_perceptron) {
    parallel_for(n, o.threads, monitor, [&](Index i) {
      monitor.check();
      const VectorXd d = squared_distances(x, i, rows);
      for (Index v = 0; v < m; ++v)
        for (Index j = 0; j < n; ++j)
          if (label[j] == label[i]) own(i, v) += std::exp(-o.values[v] * d[j]);
    });
    for (Index i = 0; i < n; ++i) inner.row(label[i]) += own.row(i);
  }
  Eigen::Matrix<char, Eigen::Dynamic, Eigen::Dynamic> wrong(n, m);
  parallel_for(n, o.threads, monitor, [&](Index i) {
    monitor.check();
    const VectorXd d = squared_distances(x, i, rows);
    std::vector<Index> order;
    for (Index v = 0; v < m; ++v) {
      Index best = 0;
      if (o.method == PlainMethod::pnn) {
        best = first_best(log_class_means(d, label, o.classes, 0.5 / (o.values[v] * o.values[v]), i));
      } else if (o.method == PlainMethod::knn) {
        best = first_best(neighbour_shares(d, label, o.classes, static_cast<int>(o.values[v]), i, order));
      } else {
        VectorXd score = log_class_means(d, label, o.classes, o.values[v], i).array().exp();
        for (int c = 0; c < o.classes; ++c) {
          double rest = count[c], sum = inner(c, v);
          if (c == label[i]) {
            rest -= 1;
            sum -= 2 * own(i, v) - 1;
          }
          score[c] -= rest > 0 ? sum / (2 * rest * rest) : infinity;
        }
        best = first_best(score);
      }
      wrong(i, v) = best != label[i];
    }
  });
  f.loo_error.resize(m);
  for (Index v = 0; v < m; ++v) {
    Index errors = 0;
    for (Index i = 0; i < n; ++i) errors += wrong(i, v);
    f.loo_error[v] = static_cast<double>(errors) / static_cast<double>(n);
  }
  // of equal errors the middle one
  std::vector<Index> best;
  for (Index v = 0; v < m; ++v)
    if (f.loo_error[v] == f.loo_error.minCoeff()) best.push_back(v);
  const Index at = best[best.size() / 2];
  f.chosen = o.values[at];
  if (o.method == PlainMethod::direct_perceptron) f.offset = inner.col(at).array() / (2 * count.array().square().max(1.0));
}

}  // namespace

void check(const PlainFit& t) {
  require(t.classes >= 1, "a classifier needs classes.");
  require(t.label.size() == 0 || (t.label.size() == t.x.rows() && t.label.minCoeff() >= 0 && t.label.maxCoeff() < t.classes),
          "the rows of a classifier do not fit.");
}

PlainFit plain_classifier(ConstMatrixRef x, const VectorXi& label, const PlainOptions& o, Rng& rng, Monitor& monitor) {
  const Index n = x.rows();
  if (label.size() != n || n < 1) throw InputError(message("there must be one label per row, ", n, ", not ", label.size(), "."));
  if (label.minCoeff() < 0 || label.maxCoeff() >= o.classes) throw InputError("a label is outside of the classes.");
  PlainFit f;
  f.method = o.method;
  f.classes = o.classes;
  f.values = o.values;
  f.prior = VectorXd::Zero(o.classes);
  for (Index i = 0; i < n; ++i) f.prior[label[i]] += 1 / static_cast<double>(n);
  switch (o.method) {
    case PlainMethod::majority: break;
    case PlainMethod::pnn:
    case PlainMethod::knn:
    case PlainMethod::direct_perceptron:
      require(o.values.size() > 0 && o.values.minCoeff() > 0, "values to choose from must be above 0.");
      choose_by_loo(x, label, o, f, monitor);
      f.x = x;
      f.label = label;
      break;
    case PlainMethod::kernel_naive_bayes:
      require(o.values.size() == 1 && o.values[0] > 0, "the factor of the bandwidth must be one number above 0.");
      f.chosen = o.values[0];
      f.x = x;
      f.label = label;
      class_moments(x, label, o, f);
      break;
    case PlainMethod::naive_bayes: class_moments(x, label, o, f); break;
    case PlainMethod::nets: {
      require(o.values.size() == 1 && o.values[0] >= 0, "the decay must be one number, at least 0.");
      f.chosen = o.values[0];
      f.hidden = o.hidden;
      f.center = x.colwise().mean().transpose();
      f.scale = ((x.rowwise() - f.center.transpose()).array().square().colwise().mean().sqrt()).matrix().transpose();
      f.scale = (f.scale.array() > 0).select(f.scale, 1.0);
      const MatrixXd z = standardized(x, f);
      f.nets.resize(static_cast<std::size_t>(o.n_nets));
      const Net net{x.cols(), o.hidden, o.classes};
      const Rng root = rng;
      parallel_for(o.n_nets, o.threads, monitor, [&](Index k) {
        Rng own = root.stream(static_cast<std::uint64_t>(k));
        f.nets[static_cast<std::size_t>(k)] = fit_net(net, z, label, f.chosen, o.max_iter, own, monitor);
      });
      break;
    }
  }
  return f;
}

MatrixXd plain_probabilities(ConstMatrixRef x, const PlainFit& f, int threads, Monitor& monitor) {
  const Index n = x.rows();
  MatrixXd out(n, f.classes);
  if (f.method == PlainMethod::majority) {
    out.rowwise() = f.prior.transpose();
    return out;
  }
  const Index p = f.method == PlainMethod::nets ? f.center.size() : f.method == PlainMethod::naive_bayes ? f.mean.cols() :
      f.x.cols();
  if (x.cols() != p) throw InputError(message("new rows must have ", p, " columns, not ", x.cols(), "."));
  if (f.method == PlainMethod::nets) {
    const Net net{p, f.hidden, f.classes};
    const MatrixXd z = standardized(x, f);
    out.setZero();
    MatrixXd layer;
    for (const VectorXd& theta : f.nets) {
      require(theta.size() == net.size(), "a net has another size.");
      out.array() += net.log_prob(z, theta, layer).array().exp();
    }
    return out / static_cast<double>(f.nets.size());
  }
  parallel_for(n, threads, monitor, [&](Index i) {
    if (i % 16 == 0) monitor.check();
    VectorXd score(f.classes);
    if (f.method == PlainMethod::naive_bayes) {
      for (int c = 0; c < f.classes; ++c) {
        const auto z = (x.row(i) - f.mean.row(c)).array() / f.sd.row(c).array();
        score[c] = std::log(f.prior[c]) - (0.5 * z.square() + f.sd.row(c).array().log()).sum();
      }
    } else if (f.method == PlainMethod::kernel_naive_bayes) {
      score = f.prior.array().log();
      for (Index j = 0; j < p; ++j)
        for (int c = 0; c < f.classes; ++c) {
          double least = infinity, sum = 0;
          const double h = f.sd(c, j);
          for (Index r = 0; r < f.x.rows(); ++r)
            if (f.label[r] == c) least = std::min(least, std::abs(x(i, j) - f.x(r, j)));
          if (least == infinity) continue;
          for (Index r = 0; r < f.x.rows(); ++r) {
            if (f.label[r] != c) continue;
            const double z = (x(i, j) - f.x(r, j)) / h, first = least / h;
            sum += std::exp(-0.5 * (z * z - first * first));
          }
          score[c] += std::log(sum / (f.prior[c] * static_cast<double>(f.x.rows()) * h)) - 0.5 * least * least / (h * h);
        }
    } else {
      const VectorXd d = squared_distances(x, i, f.x);
      if (f.method == PlainMethod::knn) {
        std::vector<Index> order;
        out.row(i) = neighbour_shares(d, f.label, f.classes, static_cast<int>(f.chosen), -1, order).transpose();
        return;
      }
      if (f.method == PlainMethod::pnn) {
        score = log_class_means(d, f.label, f.classes, 0.5 / (f.chosen * f.chosen), -1);
      } else {
        score = log_class_means(d, f.label, f.classes, f.chosen, -1).array().exp().matrix() - f.offset;
      }
    }
    out.row(i) = soft(score).transpose();
  });
  return out;
}

}  // namespace granary::ensemble
