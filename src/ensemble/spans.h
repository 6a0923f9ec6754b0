// Labelled spans of several extraction systems, put together (Sigletos, Paliouras, Spyropoulos and Hatzopoulos, JMLR 2005).
//
//   merge       one row per distinct (document, start, end); by system the field it predicts, none where it is silent; the gold
//   field, or false
//   vote        majority of the fields predicted, silence ignored or a vote for false; noisy-or of the probabilities of those
//   who predict a field, 1 - prod (1 - p)
//               (Eq. 1); the sum of their log-odds; a field below `threshold` is rejected
//   agreement   P(row system right | column system right), and rows by full agreement, partial (some are silent) and conflict
//   features    by system one column per field with p where it predicts that field, one for false with 1 - p (1 where silent)
//   (4.4)
//
// Fields are numbered from 0; -1 is none, or false.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/infer/calibration.h"
#include "core/random/rng.h"

namespace granary::ensemble {

struct SpanTable {  // one row per prediction; system -1: gold
  VectorXi doc, start, end, field, system;
  VectorXd score;
};
template <class V>
void fields(V& v, SpanTable& t) {
  v("doc", positions(t.doc));
  v("start", t.start);
  v("end", t.end);
  v("field", positions(t.field));
  v("system", positions(t.system));
  v("score", any_number(t.score));
}

struct MergedSpans {
  VectorXi doc, start, end;
  Eigen::MatrixXi field;  // rows x systems
  MatrixXd score;         // NaN where silent
  VectorXi gold;
  VectorXi missed;  // gold spans by field that no system found
  int several = 0;  // predictions left out: the same system, the same span, a lower score
};
template <class V>
void fields(V& v, MergedSpans& t) {
  v("doc", positions(t.doc));
  v("start", t.start);
  v("end", t.end);
  v("field", positions(t.field));
  v("score", any_number(t.score));
  v("gold", positions(t.gold));
  v("missed", t.missed);
  v("several", t.several);
}
MergedSpans merge_spans(const SpanTable& spans, int systems, int fields, Monitor& monitor);

enum class SpanVote { prob, majority, odds };
inline Names<SpanVote> names(SpanVote) {
  return {{SpanVote::prob, "prob"}, {SpanVote::majority, "majority"}, {SpanVote::odds, "odds"}};
}
enum class SpanSilence { ignore, reject };
inline Names<SpanSilence> names(SpanSilence) { return {{SpanSilence::ignore, "ignore"}, {SpanSilence::reject, "false"}}; }
enum class SpanTies { prior, random };
inline Names<SpanTies> names(SpanTies) { return {{SpanTies::prior, "prior"}, {SpanTies::random, "random"}}; }

struct VoteOptions {
  SpanVote method = SpanVote::prob;
  SpanSilence missing = SpanSilence::reject;
  SpanTies ties = SpanTies::prior;
  double threshold = 0.5;
  int fields = 1;
  VectorXd prior;  // accuracy by system, for ties; empty: the first system first
};
template <class V>
void fields(V& v, VoteOptions& t) {
  v("method", t.method);
  v("missing", t.missing);
  v("ties", t.ties);
  v("threshold", t.threshold);
  v("fields", t.fields);
  v("prior", t.prior);
}
struct VoteResult {
  VectorXi field;  // -1: rejected
  VectorXd score;  // combined probability, or share of the votes
};
template <class V>
void fields(V& v, VoteResult& t) {
  v("field", positions(t.field));
  v("score", t.score);
}
VoteResult vote_spans(const Eigen::MatrixXi& field, ConstMatrixRef prob, const VoteOptions& options, Rng& rng);

// Of each document and each of the fields that occur once, the row with the largest score stays.
VectorXi one_per_doc(const VectorXi& doc, const VectorXi& field, ConstVectorRef score, const VectorXi& once);

// Precision, recall and F by field and in all. match: exact, or overlap (of spans of the same document and field, one to one,
// the largest overlap first).
enum class SpanMatch { exact, overlap };
inline Names<SpanMatch> names(SpanMatch) { return {{SpanMatch::exact, "exact"}, {SpanMatch::overlap, "overlap"}}; }
Eigen::MatrixXi match_spans(const SpanTable& predicted, const SpanTable& gold, int fields, SpanMatch match,
                            Monitor& monitor);  // fields x (tp, fp, fn)

struct Agreement {
  MatrixXd conditional;     // P(row right | column right)
  VectorXi kind;            // by row: 0 full agreement, 1 partial, 2 conflict
  VectorXi right;           // by system
  VectorXi found, present;  // by field: gold spans that some system predicts with the right field; that are in the table
};
template <class V>
void fields(V& v, Agreement& t) {
  v("conditional", any_number(t.conditional));
  v("kind", t.kind);
  v("right", t.right);
  v("found", t.found);
  v("present", t.present);
}
Agreement agreement(const Eigen::MatrixXi& field, const VectorXi& gold, int fields);

// rows x (systems * (fields + silence)), prob: of each system's prediction.
MatrixXd span_features(const Eigen::MatrixXi& field, ConstMatrixRef prob, int fields, bool silence);

// ---- calibration --------------------------------------------------------------------------------

enum class SpanCurve { isotonic, logistic, bins, none };
inline Names<SpanCurve> names(SpanCurve) {
  return {
      {SpanCurve::isotonic, "isotonic"}, {SpanCurve::logistic, "logistic"}, {SpanCurve::bins, "bins"}, {SpanCurve::none, "none"}};
}
struct CurveOptions {
  SpanCurve method = SpanCurve::isotonic;
  bool falling = false;  // the smaller the score the better
  int bins = 10;
  double shrink = 2;  // cases with the mean accuracy that are added at every score
};
template <class V>
void fields(V& v, CurveOptions& t) {
  v("method", t.method);
  v("falling", t.falling);
  v("bins", t.bins);
  v("shrink", t.shrink);
}
struct ScoreCurve {
  CurveOptions how;
  Sigmoid sigmoid;
  Steps steps;
  double mean = 0;    // accuracy; of scores that are missing too
  double weight = 1;  // of the curve against the mean
  int cases = 0;
};
template <class V>
void fields(V& v, ScoreCurve& t) {
  v("how", t.how);
  v("sigmoid", t.sigmoid);
  v("steps", t.steps);
  v("mean", t.mean);
  v("weight", t.weight);
  v("cases", t.cases);
}
void check(const ScoreCurve& t);
ScoreCurve fit_curve(ConstVectorRef score, ConstVectorRef correct, const CurveOptions& options);
VectorXd curve_values(const ScoreCurve& curve, ConstVectorRef score);

// One curve per system and field, where there are `least` cases; per system otherwise.
struct SpanCurves {
  int fields = 0;
  std::vector<ScoreCurve> field;  // system by system
  std::vector<ScoreCurve> system;
  int least = 20;
};
template <class V>
void fields(V& v, SpanCurves& t) {
  v("fields", t.fields);
  v("field", t.field);
  v("system", t.system);
  v("least", t.least);
}
void check(const SpanCurves& t);
SpanCurves fit_curves(const Eigen::MatrixXi& field, ConstMatrixRef score, const VectorXi& gold, int fields, int least,
                      const std::vector<CurveOptions>& by_system);
// P(right) of each prediction, NaN where silent.
MatrixXd curves_at(const SpanCurves& curves, const Eigen::MatrixXi& field, ConstMatrixRef score);

}  // namespace granary::ensemble
