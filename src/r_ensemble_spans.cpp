// Exports of spans, their combination, and learners that combine.
#include "ensemble/field_hmm.h"
#include "ensemble/spans.h"
#include "r_door.h"

using namespace granary;
using namespace granary::ensemble;

// [[Rcpp::export(rng = false)]]
SEXP core_span_merge(SEXP table, SEXP systems, SEXP fields, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(merge_spans(read<SpanTable>(table, "spans"), count(systems, "systems"), count(fields, "fields"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_vote(SEXP field, SEXP prob, SEXP options, SEXP seed) {
  return crossing([&] {
    Rng draws = rng(seed);
    return write(vote_spans(matrix_of_places(field, "field"), matrix(prob, "prob"), read<VoteOptions>(options), draws));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_once(SEXP doc, SEXP field, SEXP score, SEXP once) {
  return crossing([&] {
    return write(one_per_doc(labels(doc, "doc"), labels(field, "field"), vector(score, "score"), read<VectorXi>(once, "once")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_match(SEXP predicted, SEXP gold, SEXP fields, SEXP match, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(match_spans(read<SpanTable>(predicted, "predicted"), read<SpanTable>(gold, "gold"), count(fields, "fields"),
                             value_of<SpanMatch>(text(match, "match"), "match"), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_agreement(SEXP field, SEXP gold, SEXP fields) {
  return crossing(
      [&] { return write(agreement(matrix_of_places(field, "field"), labels(gold, "gold"), count(fields, "fields"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_features(SEXP field, SEXP prob, SEXP fields, SEXP silence) {
  return crossing([&] {
    return write(
        span_features(matrix_of_places(field, "field"), matrix(prob, "prob"), count(fields, "fields"), flag(silence, "silence")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_curve(SEXP score, SEXP correct, SEXP options) {
  return crossing(
      [&] { return write(fit_curve(vector(score, "score"), vector(correct, "correct"), read<CurveOptions>(options))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_curve_at(SEXP curve, SEXP score) {
  return crossing([&] { return write(curve_values(read_state<ScoreCurve>(curve, "curve"), vector(score, "score"))); });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_curves(SEXP field, SEXP score, SEXP gold, SEXP sizes, SEXP options) {
  return crossing([&] {
    const VectorXi size = read<VectorXi>(sizes, "sizes");
    return write(fit_curves(matrix_of_places(field, "field"), matrix(score, "score"), labels(gold, "gold"), size[0], size[1],
                            read<std::vector<CurveOptions>>(options)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_curves_at(SEXP curves, SEXP field, SEXP score) {
  return crossing([&] {
    return write(curves_at(read_state<SpanCurves>(curves, "curves"), matrix_of_places(field, "field"), matrix(score, "score")));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_hmm(SEXP word, SEXP begin, SEXP start, SEXP end, SEXP options) {
  return crossing([&] {
    return write(field_hmm_fit(labels(word, "word"), read<std::vector<int>>(begin, "begin"), read<VectorXi>(start, "start"),
                               read<VectorXi>(end, "end"), read<FieldHmmOptions>(options)));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_span_hmm_extract(SEXP word, SEXP begin, SEXP hmm, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(field_hmm_extract(labels(word, "word"), read<std::vector<int>>(begin, "begin"),
                                   read_state<FieldHmm>(hmm, "object"), monitor));
  });
}
