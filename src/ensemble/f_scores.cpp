#include "ensemble/f_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/special.h"

namespace granary::ensemble {

LabelScores label_scores(ConstMatrixRef truth, ConstMatrixRef chosen, ConstVectorRef weights, double beta, double empty) {
  const Index n = truth.rows(), m = truth.cols();
  if (chosen.rows() != n || chosen.cols() != m) throw InputError("truth and decisions must have the same rows and columns.");
  VectorXd w = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n);
  w /= w.sum();
  LabelScores out;
  out.f_row.resize(n);
  out.f_label.resize(m);
  double both_all = 0, truth_all = 0, chosen_all = 0;
  for (Index r = 0; r < n; ++r) {
    const double both = truth.row(r).dot(chosen.row(r)), is = truth.row(r).sum(), said = chosen.row(r).sum();
    out.f_row[r] = f_value(both, is, said, beta);
    out.f_instance += w[r] * out.f_row[r];
    out.jaccard += w[r] * jaccard_value(both, is, said, empty);
    out.hamming += w[r] * (is + said - 2 * both) / static_cast<double>(m);
    out.subset += w[r] * (both == is && is == said ? 0 : 1);
    both_all += w[r] * both;
    truth_all += w[r] * is;
    chosen_all += w[r] * said;
  }
  for (Index i = 0; i < m; ++i) {
    const double both = (truth.col(i).cwiseProduct(chosen.col(i))).dot(w);
    out.f_label[i] = f_value(both, truth.col(i).dot(w), chosen.col(i).dot(w), beta);
  }
  out.f_macro = out.f_label.mean();
  out.f_micro = f_value(both_all, truth_all, chosen_all, beta);
  out.precision = chosen_all > 0 ? both_all / chosen_all : 1;
  out.recall = truth_all > 0 ? both_all / truth_all : 1;
  return out;
}

ExpectedScores expected_scores(const LabelSample& sample, const VectorXi& h, double beta, double empty) {
  ExpectedScores out;
  const double said = h.sum(), m = static_cast<double>(sample.labels);
  for (std::size_t r = 0; r < sample.ones.size(); ++r) {
    double both = 0;
    for (const int i : sample.ones[r]) both += h[i];
    const double is = static_cast<double>(sample.ones[r].size()), w = sample.weight[r];
    out.f += w * f_value(both, is, said, beta);
    out.jaccard += w * jaccard_value(both, is, said, empty);
    out.hamming += w * (1 - (is + said - 2 * both) / m);
    out.subset += w * (both == is && is == said ? 1 : 0);
  }
  return out;
}

DecisionTable decision_table(const LabelSample& sample, ConstMatrixRef given, double beta, double empty, Monitor& monitor) {
  struct Plug {
    const char* name;
    FTarget target;
    FMethod method;
  };
  const Plug plugs[] = {{"f", FTarget::f, FMethod::gfm},
                        {"independent", FTarget::f, FMethod::independent},
                        {"threshold", FTarget::f, FMethod::threshold},
                        {"lewis", FTarget::f, FMethod::lewis},
                        {"hamming", FTarget::hamming, FMethod::automatic},
                        {"subset", FTarget::subset, FMethod::automatic},
                        {"jaccard", FTarget::jaccard, FMethod::automatic}};
  const Index first = static_cast<Index>(std::size(plugs));
  DecisionTable out;
  out.labels.resize(first + given.rows(), sample.labels);
  for (Index d = 0; d < out.labels.rows(); ++d) {
    DecisionRow row;
    VectorXi h;
    if (d < first) {
      FOptions options;
      options.target = plugs[d].target;
      options.method = plugs[d].method;
      options.beta = beta;
      options.empty = empty;
      h = decide_sample(sample, options, monitor).labels;
      row.decision = plugs[d].name;
    } else {
      h = given.row(d - first).transpose().cast<int>();
      row.decision = message("given ", d - first + 1);
    }
    const ExpectedScores scores = expected_scores(sample, h, beta, empty);
    row.size = h.sum();
    row.f = scores.f;
    row.jaccard = scores.jaccard;
    row.hamming = scores.hamming;
    row.subset = scores.subset;
    row.regret = (out.rows.empty() ? scores.f : out.rows[0].f) - scores.f;
    out.rows.push_back(row);
    out.labels.row(d) = h.transpose();
  }
  return out;
}

namespace {

// E F of all ones less that of all zeros, for m independent labels with P(0) = q: falls in q.
double gain_of_ones(double m, double q) {
  double sum = 0;
  for (double s = 1; s <= m; ++s) {
    const double log_p = (m - s) * std::log(q) + s * std::log1p(-q) + log_choose(m, s);
    sum += std::exp(log_p) * 2 * s / (m + s);
  }
  return sum - std::pow(q, m);
}

}  // namespace

VectorXd f_bounds(FBound what, ConstVectorRef m, double expected) {
  VectorXd out(m.size());
  for (Index i = 0; i < m.size(); ++i) {
    const double n = m[i];
    switch (what) {
      case FBound::hamming:
        out[i] = 0.5;
        break;
      case FBound::subset:
        out[i] = n * (2 * n * n - n - 2) / ((2 * n - 1) * (n * n + n + 4));
        break;
      case FBound::threshold:
        out[i] = std::max(0.0, 1.0 / 6 - 2 / (n + 4));
        break;
      case FBound::jaccard:
        out[i] = 1 - expected / 2;
        break;
      case FBound::independence: {
        double low = 0.5, high = 1;
        if (gain_of_ones(n, low) <= 0) high = low;
        for (int step = 0; step < 60 && high - low > 1e-14; ++step) {
          const double q = 0.5 * (low + high);
          (gain_of_ones(n, q) > 0 ? low : high) = q;
        }
        out[i] = 2 * low - 1;
        break;
      }
    }
  }
  return out;
}

}  // namespace granary::ensemble
