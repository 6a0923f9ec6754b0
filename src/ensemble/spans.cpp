#include "ensemble/spans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "core/math/logspace.h"

namespace granary::ensemble {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double certain = 1 - 1e-6;  // a probability of 1 would end every vote

}  // namespace

MergedSpans merge_spans(const SpanTable& spans, int systems, int fields, Monitor& monitor) {
  const Index n = spans.doc.size();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  const auto place = [&](Index i) { return std::make_tuple(spans.doc[i], spans.start[i], spans.end[i]); };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return place(a) < place(b); });
  std::vector<std::pair<std::size_t, std::size_t>> groups;  // stretches of one span
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    bool predicted = false;
    while (to < order.size() && place(order[to]) == place(order[from])) {
      predicted = predicted || spans.system[order[to]] >= 0;
      ++to;
    }
    if (predicted) groups.emplace_back(from, to);
    from = to;
  }
  const Index rows = static_cast<Index>(groups.size());
  MergedSpans out;
  out.doc.resize(rows);
  out.start.resize(rows);
  out.end.resize(rows);
  out.field = Eigen::MatrixXi::Constant(rows, systems, -1);
  out.score = MatrixXd::Constant(rows, systems, nan);
  out.gold = VectorXi::Constant(rows, -1);
  out.missed = VectorXi::Zero(fields);
  for (Index i = 0; i < n; ++i)
    if (spans.system[i] < 0) ++out.missed[spans.field[i]];
  for (Index r = 0; r < rows; ++r) {
    if ((r & 4095) == 0) monitor.check();
    const auto [from, to] = groups[static_cast<std::size_t>(r)];
    const Index first = order[from];
    out.doc[r] = spans.doc[first];
    out.start[r] = spans.start[first];
    out.end[r] = spans.end[first];
    for (std::size_t q = from; q < to; ++q) {
      const Index i = order[q];
      const int s = spans.system[i];
      if (s < 0) {
        out.gold[r] = spans.field[i];
        --out.missed[spans.field[i]];
        continue;
      }
      if (out.field(r, s) >= 0) {
        ++out.several;
        if (!(spans.score[i] > out.score(r, s))) continue;
      }
      out.field(r, s) = spans.field[i];
      out.score(r, s) = spans.score[i];
    }
  }
  return out;
}

VoteResult vote_spans(const Eigen::MatrixXi& field, ConstMatrixRef prob, const VoteOptions& options, Rng& rng) {
  const Index rows = field.rows(), systems = field.cols();
  VoteResult out;
  out.field = VectorXi::Constant(rows, -1);
  out.score = VectorXd::Zero(rows);
  std::vector<int> order(static_cast<std::size_t>(systems));  // the most accurate system first
  std::iota(order.begin(), order.end(), 0);
  if (options.prior.size() == systems)
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return options.prior[a] > options.prior[b]; });
  std::vector<double> value(static_cast<std::size_t>(options.fields));
  for (Index r = 0; r < rows; ++r) {
    std::fill(value.begin(), value.end(), 0.0);
    std::vector<int> met;  // fields in the order of the systems that predict them
    int votes = 0;
    for (const int s : order) {
      const int f = field(r, s);
      if (f < 0) continue;
      ++votes;
      if (std::find(met.begin(), met.end(), f) == met.end()) met.push_back(f);
      const double p = std::isnan(prob(r, s)) ? 0.5 : std::clamp(prob(r, s), 1 - certain, certain);
      double& v = value[static_cast<std::size_t>(f)];
      switch (options.method) {
        case SpanVote::majority:
          v += 1;
          break;
        case SpanVote::prob:
          v += -std::log1p(-p);
          break;
        case SpanVote::odds:
          v += logit(p);
          break;
      }
    }
    if (votes == 0) continue;
    const auto in_units = [&](double v) {
      switch (options.method) {
        case SpanVote::majority:
          return v / static_cast<double>(options.missing == SpanSilence::reject ? systems : votes);
        case SpanVote::prob:
          return -std::expm1(-v);
        default:
          return expit(v);
      }
    };
    double most = -std::numeric_limits<double>::infinity();
    std::vector<int> best;
    for (const int f : met) {
      const double v = value[static_cast<std::size_t>(f)];
      if (v > most + 1e-12) {
        best.assign(1, f);
        most = v;
      } else if (v >= most - 1e-12) {
        best.push_back(f);
      }
    }
    // Silence as a vote for false takes part in ties as if it came from the systems that are silent.
    bool rejected = false;
    if (options.missing == SpanSilence::reject) {
      if (options.method == SpanVote::majority) {
        const double against = static_cast<double>(systems - votes);
        rejected = against > most;
        if (against == most) {
          if (options.ties == SpanTies::random) {
            rejected = rng.below(best.size() + 1) == 0;
          } else {
            for (const int s : order) {  // the most accurate of those concerned decides
              if (field(r, s) < 0) rejected = true;
              if (field(r, s) < 0 || std::find(best.begin(), best.end(), field(r, s)) != best.end()) break;
            }
          }
        }
      } else {
        rejected = in_units(most) < options.threshold;
      }
    }
    out.score[r] = in_units(most);
    if (rejected) continue;
    out.field[r] = best.size() > 1 && options.ties == SpanTies::random ? best[rng.below(best.size())] : best[0];
  }
  return out;
}

VectorXi one_per_doc(const VectorXi& doc, const VectorXi& field, ConstVectorRef score, const VectorXi& once) {
  std::map<std::pair<int, int>, Index> best;
  for (Index r = 0; r < doc.size(); ++r) {
    if (field[r] < 0 || !once[field[r]]) continue;
    const auto [at, fresh] = best.emplace(std::make_pair(doc[r], field[r]), r);
    if (!fresh && score[r] > score[at->second]) at->second = r;
  }
  VectorXi kept = VectorXi::Ones(doc.size());
  for (Index r = 0; r < doc.size(); ++r)
    if (field[r] >= 0 && once[field[r]]) kept[r] = best[{doc[r], field[r]}] == r;
  return kept;
}

Eigen::MatrixXi match_spans(const SpanTable& predicted, const SpanTable& gold, int fields, SpanMatch match, Monitor& monitor) {
  Eigen::MatrixXi out = Eigen::MatrixXi::Zero(fields, 3);
  using Key = std::pair<int, int>;  // document, field
  std::map<Key, std::vector<Index>> truth;
  for (Index i = 0; i < gold.doc.size(); ++i) {
    truth[{gold.doc[i], gold.field[i]}].push_back(i);
    ++out(gold.field[i], 2);
  }
  std::map<Key, std::vector<Index>> said;
  for (Index i = 0; i < predicted.doc.size(); ++i) {
    said[{predicted.doc[i], predicted.field[i]}].push_back(i);
    ++out(predicted.field[i], 1);
  }
  struct Pair {
    int overlap;
    std::size_t a, b;
  };
  for (const auto& [key, ours] : said) {
    monitor.check();
    const auto found = truth.find(key);
    if (found == truth.end()) continue;
    const auto& theirs = found->second;
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < ours.size(); ++a)
      for (std::size_t b = 0; b < theirs.size(); ++b) {
        const int from = std::max(predicted.start[ours[a]], gold.start[theirs[b]]),
                  to = std::min(predicted.end[ours[a]], gold.end[theirs[b]]);
        const bool same = predicted.start[ours[a]] == gold.start[theirs[b]] && predicted.end[ours[a]] == gold.end[theirs[b]];
        if (match == SpanMatch::exact ? same : to > from)
          pairs.push_back({same ? std::numeric_limits<int>::max() : to - from, a, b});
      }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& p, const Pair& q) { return p.overlap > q.overlap; });
    std::vector<char> used_a(ours.size(), 0), used_b(theirs.size(), 0);
    for (const Pair& pair : pairs) {
      if (used_a[pair.a] || used_b[pair.b]) continue;
      used_a[pair.a] = used_b[pair.b] = 1;
      ++out(key.second, 0);
    }
  }
  out.col(1) -= out.col(0);
  out.col(2) -= out.col(0);
  return out;
}

Agreement agreement(const Eigen::MatrixXi& field, const VectorXi& gold, int fields) {
  const Index rows = field.rows(), systems = field.cols();
  Agreement out;
  out.kind.resize(rows);
  out.right = VectorXi::Zero(systems);
  out.found = VectorXi::Zero(fields);
  out.present = VectorXi::Zero(fields);
  MatrixXd both = MatrixXd::Zero(systems, systems);
  for (Index r = 0; r < rows; ++r) {
    int first = -1, speak = 0;
    bool conflict = false, right = false;
    for (Index s = 0; s < systems; ++s) {
      const int f = field(r, s);
      if (f < 0) continue;
      ++speak;
      conflict = conflict || (first >= 0 && f != first);
      if (first < 0) first = f;
      if (gold[r] < 0 || f != gold[r]) continue;
      right = true;
      ++out.right[s];
      for (Index t = 0; t < systems; ++t)
        if (field(r, t) == gold[r]) both(t, s) += 1;
    }
    out.kind[r] = conflict ? 2 : speak == systems ? 0 : 1;
    if (gold[r] >= 0) {
      ++out.present[gold[r]];
      if (right) ++out.found[gold[r]];
    }
  }
  out.conditional.resize(systems, systems);
  for (Index s = 0; s < systems; ++s)
    for (Index t = 0; t < systems; ++t) out.conditional(t, s) = out.right[s] > 0 ? both(t, s) / out.right[s] : nan;
  return out;
}

MatrixXd span_features(const Eigen::MatrixXi& field, ConstMatrixRef prob, int fields, bool silence) {
  const Index rows = field.rows(), systems = field.cols(), width = fields + (silence ? 1 : 0);
  MatrixXd out = MatrixXd::Zero(rows, systems * width);
  for (Index s = 0; s < systems; ++s)
    for (Index r = 0; r < rows; ++r) {
      const int f = field(r, s);
      const double p = f < 0 ? 0 : std::isnan(prob(r, s)) ? 0.5 : prob(r, s);
      if (f >= 0) out(r, s * width + f) = p;
      if (silence) out(r, s * width + fields) = 1 - p;
    }
  return out;
}

// ---- calibration
// ---------------------------------------------------------------------------------------------------------------

void check(const ScoreCurve& t) {
  require(t.steps.at.size() == t.steps.value.size(), "a curve has points without values");
  require(t.mean >= 0 && t.mean <= 1 && t.weight >= 0 && t.weight <= 1, "a curve has no accuracy");
  for (std::size_t i = 1; i < t.steps.at.size(); ++i)
    require(t.steps.at[i] >= t.steps.at[i - 1], "the points of a curve do not rise");
}

ScoreCurve fit_curve(ConstVectorRef score, ConstVectorRef correct, const CurveOptions& options) {
  ScoreCurve out;
  out.how = options;
  std::vector<Index> known;
  for (Index i = 0; i < score.size(); ++i)
    if (!std::isnan(score[i])) known.push_back(i);
  out.cases = static_cast<int>(score.size());
  const double all = static_cast<double>(score.size());
  out.mean = all > 0 ? (correct.sum() + 0.5) / (all + 1) : 0.5;
  const Index n = static_cast<Index>(known.size());
  VectorXd s(n), label(n);
  for (Index i = 0; i < n; ++i) {
    s[i] = (options.falling ? -1 : 1) * score[known[static_cast<std::size_t>(i)]];
    label[i] = correct[known[static_cast<std::size_t>(i)]] > 0 ? 1 : -1;
  }
  const bool constant = n == 0 || s.minCoeff() == s.maxCoeff();
  const bool one_sided = n == 0 || label.minCoeff() == label.maxCoeff();
  if (options.method == SpanCurve::none) {
    out.weight = 1;
    return out;
  }
  if (constant || one_sided) {
    out.weight = 0;
    return out;
  }
  out.weight = static_cast<double>(n) / (static_cast<double>(n) + options.shrink);
  if (options.method == SpanCurve::logistic) {
    out.sigmoid = fit_sigmoid(s, label, VectorXd::Ones(n));
  } else if (options.method == SpanCurve::isotonic) {
    out.steps = fit_isotonic(s, label, VectorXd::Ones(n));
  } else {
    // Bins of equal size; equal scores are never parted. A line joins the bins' means.
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return s[a] < s[b]; });
    const Index size = std::max<Index>(1, n / options.bins);
    for (Index from = 0; from < n;) {
      Index to = std::min(n, from + size);
      while (to < n && s[order[static_cast<std::size_t>(to)]] == s[order[static_cast<std::size_t>(to - 1)]]) ++to;
      if (n - to < size) to = n;
      double at = 0, right = 0;
      for (Index i = from; i < to; ++i) {
        at += s[order[static_cast<std::size_t>(i)]];
        right += label[order[static_cast<std::size_t>(i)]] > 0 ? 1 : 0;
      }
      const double count = static_cast<double>(to - from);
      out.steps.at.push_back(at / count);
      out.steps.value.push_back(right / count);
      from = to;
    }
  }
  return out;
}

VectorXd curve_values(const ScoreCurve& curve, ConstVectorRef score) {
  VectorXd out = VectorXd::Constant(score.size(), curve.mean);
  if (curve.how.method == SpanCurve::none) {
    for (Index i = 0; i < score.size(); ++i)
      if (!std::isnan(score[i])) out[i] = std::clamp(curve.how.falling ? 1 - score[i] : score[i], 0.0, 1.0);
    return out;
  }
  if (curve.weight == 0) return out;
  for (Index i = 0; i < score.size(); ++i) {
    if (std::isnan(score[i])) continue;
    const VectorXd one = VectorXd::Constant(1, (curve.how.falling ? -1 : 1) * score[i]);
    const double p =
        curve.how.method == SpanCurve::logistic ? sigmoid_values(curve.sigmoid, one)[0] : step_values(curve.steps, one)[0];
    out[i] = curve.weight * p + (1 - curve.weight) * curve.mean;
  }
  return out;
}

void check(const SpanCurves& t) {
  require(t.fields >= 1 && t.field.size() == t.system.size() * static_cast<std::size_t>(t.fields),
          "there is not one curve per system and field");
}

SpanCurves fit_curves(const Eigen::MatrixXi& field, ConstMatrixRef score, const VectorXi& gold, int fields, int least,
                      const std::vector<CurveOptions>& by_system) {
  SpanCurves out;
  out.fields = fields;
  out.least = least;
  for (Index s = 0; s < field.cols(); ++s) {
    const auto of = [&](int f) {  // -1: all fields
      std::vector<double> at, right;
      for (Index r = 0; r < field.rows(); ++r) {
        if (field(r, s) < 0 || (f >= 0 && field(r, s) != f)) continue;
        at.push_back(score(r, s));
        right.push_back(field(r, s) == gold[r] ? 1 : 0);
      }
      const Index n = static_cast<Index>(at.size());
      return fit_curve(Eigen::Map<const VectorXd>(at.data(), n), Eigen::Map<const VectorXd>(right.data(), n),
                       by_system[static_cast<std::size_t>(s)]);
    };
    out.system.push_back(of(-1));
    for (int f = 0; f < fields; ++f) out.field.push_back(of(f));
  }
  return out;
}

MatrixXd curves_at(const SpanCurves& curves, const Eigen::MatrixXi& field, ConstMatrixRef score) {
  if (static_cast<std::size_t>(field.cols()) != curves.system.size()) throw InputError("there must be one column per system.");
  MatrixXd out = MatrixXd::Constant(field.rows(), field.cols(), nan);
  for (Index s = 0; s < field.cols(); ++s)
    for (Index r = 0; r < field.rows(); ++r) {
      const int f = field(r, s);
      if (f < 0) continue;
      const ScoreCurve& all = curves.system[static_cast<std::size_t>(s)];
      const ScoreCurve* own = f < curves.fields ? &curves.field[static_cast<std::size_t>(s * curves.fields + f)] : &all;
      if (own->cases < curves.least) own = &all;
      out(r, s) = curve_values(*own, VectorXd::Constant(1, score(r, s)))[0];
    }
  return out;
}

}  // namespace granary::ensemble
