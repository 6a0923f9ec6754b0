#include "ensemble/meta_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/linalg/dense.h"
#include "core/math/logspace.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"

namespace granary::ensemble {

namespace {

MatrixXd some_columns(ConstMatrixRef x, const std::vector<int>& columns) {
  MatrixXd out(x.rows(), static_cast<Index>(columns.size()));
  for (Index j = 0; j < out.cols(); ++j) out.col(j) = x.col(columns[static_cast<std::size_t>(j)]);
  return out;
}

// Least squares of 0/1 responses with an intercept; nonnegative: by coordinates on the centred Gram matrix, from 0.
MatrixXd responses(ConstMatrixRef x, const VectorXi& y, ConstVectorRef w, const MetaOptions& options, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols();
  const double total = w.sum();
  const VectorXd mean = x.transpose() * w / total;
  const MatrixXd z = x.rowwise() - mean.transpose();
  MatrixXd target = MatrixXd::Zero(n, options.classes);
  for (Index i = 0; i < n; ++i) target(i, y[i]) = 1;
  const VectorXd share = target.transpose() * w / total;
  MatrixXd gram = z.transpose() * w.asDiagonal() * z / total;
  const MatrixXd cross = z.transpose() * w.asDiagonal() * (target.rowwise() - share.transpose()) / total;
  const double size = p > 0 ? gram.trace() / static_cast<double>(p) : 0;
  gram.diagonal().array() += size > 0 ? options.ridge * size : 1;
  MatrixXd slope;
  if (options.nonnegative) {
    slope = MatrixXd::Zero(p, options.classes);
    for (Index c = 0; c < options.classes; ++c) {
      for (int sweep = 0; sweep < 10000; ++sweep) {
        if ((sweep & 63) == 0) monitor.check();
        double change = 0;
        for (Index j = 0; j < p; ++j) {
          const double next = std::max(0.0, slope(j, c) + (cross(j, c) - gram.col(j).dot(slope.col(c))) / gram(j, j));
          change = std::max(change, std::abs(next - slope(j, c)) * std::sqrt(gram(j, j)));
          slope(j, c) = next;
        }
        if (change < 1e-10) break;
      }
    }
  } else {
    const Llt factor(gram);
    if (factor.info() != Eigen::Success)
      throw NumericalError("the linear regression of the classes has no unique answer: take a larger ridge.");
    slope = factor.solve(cross);
  }
  MatrixXd out(p + 1, options.classes);
  out.bottomRows(p) = slope;
  out.row(0) = share.transpose() - mean.transpose() * slope;
  return out;
}

void fit_bayes(ConstMatrixRef x, const VectorXi& y, ConstVectorRef w, int classes, MetaFit& out) {
  const Index p = x.cols();
  out.prior = VectorXd::Zero(classes);
  out.weights = MatrixXd::Zero(p, classes);
  out.spread = MatrixXd::Zero(p, classes);
  for (Index i = 0; i < x.rows(); ++i) {
    out.prior[y[i]] += w[i];
    out.weights.col(y[i]) += w[i] * x.row(i).transpose();
  }
  for (Index c = 0; c < classes; ++c)
    if (out.prior[c] > 0) out.weights.col(c) /= out.prior[c];
  VectorXd pooled = VectorXd::Zero(p);
  for (Index i = 0; i < x.rows(); ++i) out.spread.col(y[i]) += w[i] * (x.row(i).transpose() - out.weights.col(y[i])).cwiseAbs2();
  const VectorXd mean = x.transpose() * w / w.sum();
  for (Index i = 0; i < x.rows(); ++i) pooled += w[i] * (x.row(i).transpose() - mean).cwiseAbs2();
  pooled /= w.sum();
  // One more case with the variance of all keeps a class whose column never varies from being certain.
  const double unit = w.sum() / static_cast<double>(x.rows());
  for (Index c = 0; c < classes; ++c) out.spread.col(c) = (out.spread.col(c) + unit * pooled) / (out.prior[c] + unit);
  out.prior /= out.prior.sum();
}

MetaFit fit_one(ConstMatrixRef x, const VectorXi& y, ConstVectorRef w, const MetaOptions& options, Rng& rng, Monitor& monitor) {
  MetaFit out;
  out.kind = options.kind;
  out.classes = options.classes;
  out.inputs = static_cast<int>(x.cols());
  const MatrixView view(x.data(), x.rows(), x.cols());
  switch (options.kind) {
    case MetaKind::logitboost: {
      LogitBoostOptions how;
      how.classes = options.classes;
      how.n_rounds = options.n_rounds;
      how.fold = options.fold;
      how.folds = options.folds;
      how.threads = options.threads;
      out.boost = logitboost(Design(view), y, w, how, rng, monitor);
      break;
    }
    case MetaKind::logistic: {
      // Classes without a case are left out and put back with nothing.
      VectorXi name = VectorXi::Constant(options.classes, -1), mapped(y.size());
      for (Index i = 0; i < y.size(); ++i) name[y[i]] = 0;
      int used = 0;
      for (Index c = 0; c < name.size(); ++c)
        if (name[c] == 0) {
          out.constant.push_back(static_cast<double>(c));
          name[c] = used++;
        }
      for (Index i = 0; i < y.size(); ++i) mapped[i] = name[y[i]];
      if (used < 2) break;
      RidgeSoftmaxOptions how;
      how.classes = used;
      if (options.folds > 1) {
        out.logistic = ridge_softmax_cv(x, mapped, options.lambda, options.fold, options.folds, how, monitor);
      } else {
        out.logistic = ridge_softmax(x, mapped, w, options.lambda[0], how, monitor);
      }
      break;
    }
    case MetaKind::mlr:
      out.weights = responses(x, y, w, options, monitor);
      break;
    case MetaKind::bayes:
      fit_bayes(x, y, w, options.classes, out);
      break;
    case MetaKind::nearest:
      out.rows = x;
      out.label = y;
      break;
    case MetaKind::tree: {
      const TreeColumns columns(Design(view), VectorXi(), options.threads);
      const TreeOrders orders(columns);
      std::vector<std::uint32_t> rows(static_cast<std::size_t>(x.rows()));
      std::iota(rows.begin(), rows.end(), 0u);
      const VectorXd weight = w;
      GiniScore score(weight, y, options.classes);
      TreeGrower<GiniScore> grower(columns, &orders, {options.max_leaves, 0, 2, 1, 0, 0});
      out.tree = grower.grow(rows, nullptr, score, rng, monitor);
      break;
    }
  }
  return out;
}

MatrixXd predict_one(ConstMatrixRef x, const MetaFit& fit, int threads, Monitor& monitor) {
  const Index n = x.rows();
  const MatrixXd own = x;
  const Design design(MatrixView(own.data(), n, own.cols()));
  MatrixXd out = MatrixXd::Zero(n, fit.classes);
  switch (fit.kind) {
    case MetaKind::logitboost:
      return logitboost_predict(design, fit.boost, fit.boost.rounds, threads, monitor);
    case MetaKind::logistic: {
      if (fit.constant.size() < 2) {
        out.col(static_cast<Index>(fit.constant[0])).setOnes();
        break;
      }
      const MatrixXd log_p = log_softmax(x, fit.logistic);
      for (Index c = 0; c < log_p.cols(); ++c)
        out.col(static_cast<Index>(fit.constant[static_cast<std::size_t>(c)])) = log_p.col(c).array().exp();
      break;
    }
    case MetaKind::mlr: {
      out = x * fit.weights.bottomRows(fit.weights.rows() - 1);
      out.rowwise() += fit.weights.row(0);
      out = out.cwiseMax(1e-6).cwiseMin(1);
      for (Index i = 0; i < n; ++i) out.row(i) /= out.row(i).sum();
      break;
    }
    case MetaKind::bayes:
      for (Index i = 0; i < n; ++i) {
        VectorXd log_p(fit.classes);
        for (Index c = 0; c < fit.classes; ++c) {
          double value = std::log(fit.prior[c]);
          for (Index j = 0; j < x.cols(); ++j) {
            const double v = fit.spread(j, c), d = x(i, j) - fit.weights(j, c);
            if (v > 0) value -= 0.5 * (std::log(v) + d * d / v);
          }
          log_p[c] = value;
        }
        out.row(i) = softmax(log_p).transpose();
      }
      break;
    case MetaKind::nearest:
      for (Index i = 0; i < n; ++i) {
        if ((i & 63) == 0) monitor.check();
        Index best = 0;
        (fit.rows.rowwise() - x.row(i)).rowwise().squaredNorm().minCoeff(&best);
        out(i, fit.label[best]) = 1;
      }
      break;
    case MetaKind::tree: {
      const TreeWalker walker(fit.tree);
      walker.walk(design, 0, 1, threads, monitor,
                  [&](int, Index row, int leaf) { out.row(row) = fit.tree.value.col(leaf).transpose(); });
      break;
    }
  }
  return out;
}

}  // namespace

void check(const MetaFit& t) {
  require(t.classes >= 1 && t.inputs >= 0, "it has no classes");
  if (!t.parts.empty()) {
    require(t.parts.size() == t.columns.size() && static_cast<int>(t.parts.size()) == t.classes &&
                t.constant.size() == t.parts.size(),
            "there is not one part per class");
    for (std::size_t c = 0; c < t.parts.size(); ++c) {
      for (const int j : t.columns[c]) require(j >= 0 && j < t.inputs, "a part looks at a column that is not there");
      if (t.constant[c] >= 0) continue;
      require(t.parts[c].parts.empty() && t.parts[c].inputs == static_cast<int>(t.columns[c].size()),
              "a part does not belong to its columns");
      check(t.parts[c]);
    }
    return;
  }
  const Index p = t.inputs, k = t.classes;
  switch (t.kind) {
    case MetaKind::logitboost:
      check(t.boost);
      if (t.boost.trees.nodes() == 0) break;
      require(t.boost.classes == t.classes && t.boost.trees.inputs == t.inputs, "its trees do not belong to its columns");
      break;
    case MetaKind::logistic:
      require(!t.constant.empty(), "it has no classes");
      for (const double c : t.constant) require(c >= 0 && c < t.classes, "it names a class that is not there");
      require(t.constant.size() < 2 ||
                  (t.logistic.coefficients.rows() == p && t.logistic.intercept.size() == t.logistic.coefficients.cols() &&
                   t.logistic.intercept.size() == (t.constant.size() == 2 ? 1 : static_cast<Index>(t.constant.size()))),
              "its coefficients do not belong to its columns");
      break;
    case MetaKind::mlr:
      require(t.weights.rows() == p + 1 && t.weights.cols() == k, "its weights do not belong to its columns");
      break;
    case MetaKind::bayes:
      require(
          t.weights.rows() == p && t.weights.cols() == k && t.spread.rows() == p && t.spread.cols() == k && t.prior.size() == k,
          "its means do not belong to its columns");
      break;
    case MetaKind::nearest:
      require(t.rows.cols() == p && t.rows.rows() == t.label.size() && t.label.size() > 0, "its rows do not belong together");
      require(t.label.minCoeff() >= 0 && t.label.maxCoeff() < k, "it names a class that is not there");
      break;
    case MetaKind::tree:
      check(t.tree);
      require(t.tree.inputs == t.inputs && t.tree.outputs == t.classes && t.tree.size() == 1,
              "its tree does not belong to its columns");
      break;
  }
}

MetaFit meta_fit(ConstMatrixRef x, const VectorXi& y, ConstVectorRef weights, const MetaOptions& options, Rng& rng,
                 Monitor& monitor) {
  const VectorXd w = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(x.rows());
  const MatrixXd all = x;
  if (options.columns.empty()) return fit_one(all, y, w, options, rng, monitor);
  if (static_cast<int>(options.columns.size()) != options.classes)
    throw InputError("there must be one set of columns per class.");
  MetaFit out;
  out.kind = options.kind;
  out.classes = options.classes;
  out.inputs = static_cast<int>(x.cols());
  out.columns = options.columns;
  out.parts.resize(options.columns.size());
  out.constant.assign(options.columns.size(), -1.0);
  for (std::size_t c = 0; c < options.columns.size(); ++c) {
    const VectorXi own = (y.array() == static_cast<int>(c)).cast<int>();
    const double share = own.cast<double>().dot(w) / w.sum();
    if (own.minCoeff() == own.maxCoeff() || options.columns[c].empty()) {  // nothing to learn
      out.constant[c] = share;
      continue;
    }
    MetaOptions two = options;
    two.classes = 2;
    two.columns.clear();
    Rng mine = rng.stream(c);
    out.parts[c] = fit_one(some_columns(all, options.columns[c]), own, w, two, mine, monitor);
  }
  return out;
}

MatrixXd meta_predict(ConstMatrixRef x, const MetaFit& fit, int threads, Monitor& monitor) {
  if (x.cols() != fit.inputs) throw InputError("newdata must have the columns of the fit.");
  if (fit.parts.empty()) return predict_one(x, fit, threads, monitor);
  MatrixXd out(x.rows(), fit.classes);
  for (std::size_t c = 0; c < fit.parts.size(); ++c) {
    const Index at = static_cast<Index>(c);
    if (fit.constant[c] >= 0) {
      out.col(at).setConstant(fit.constant[c]);
    } else {
      out.col(at) = predict_one(some_columns(x, fit.columns[c]), fit.parts[c], threads, monitor).col(1);
    }
  }
  for (Index i = 0; i < out.rows(); ++i) {
    const double sum = out.row(i).sum();
    if (sum > 0)
      out.row(i) /= sum;
    else
      out.row(i).setConstant(1.0 / fit.classes);
  }
  return out;
}

}  // namespace granary::ensemble
