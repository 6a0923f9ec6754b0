// A hidden Markov model that finds the instances of a field in a sequence of tokens.
//
//   states   background; the `before` tokens before an instance; its tokens, the `inside`-th standing for all further ones; the
//   `after` tokens behind
//   laws     smoothed ratios of counts from annotated text; transitions that never occur and are not in the shape of the model
//   are impossible
//   score    per token: log-odds of the path through the instance against the background
//
// Tokens are numbers of words. Words seen once, and words never seen, are told by their shape: the first `shapes` numbers.
#pragma once

#include <vector>

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"

namespace granary::ensemble {

struct FieldHmmOptions {
  int before = 4, inside = 4, after = 4;
  int shapes = 6;
  int words = 6;  // number of words, shapes among them
  double smooth = 0.1;
};
template <class V>
void fields(V& v, FieldHmmOptions& t) {
  v("before", t.before);
  v("inside", t.inside);
  v("after", t.after);
  v("shapes", t.shapes);
  v("words", t.words);
  v("smooth", t.smooth);
}

struct FieldHmm {
  FieldHmmOptions how;
  VectorXd initial;     // logs
  MatrixXd transition;  // logs, from x to
  MatrixXd emission;    // logs, states x words
  int instances = 0;
};
template <class V>
void fields(V& v, FieldHmm& t) {
  v("how", t.how);
  v("initial", any_number(t.initial));
  v("transition", any_number(t.transition));
  v("emission", any_number(t.emission));
  v("instances", t.instances);
}
void check(const FieldHmm& t);

// word: of every token, one document after the other; begin: first token of each document, and the number of tokens at the end.
// start, end: instances, as token
// numbers over all documents, end excluded.
FieldHmm field_hmm_fit(const VectorXi& word, const std::vector<int>& begin, const VectorXi& start, const VectorXi& end,
                       const FieldHmmOptions& options);

struct FoundSpans {
  std::vector<int> doc, start, end;  // start and end within the document
  std::vector<double> score;
};
template <class V>
void fields(V& v, FoundSpans& t) {
  v("doc", positions(t.doc));
  v("start", t.start);
  v("end", t.end);
  v("score", t.score);
}
FoundSpans field_hmm_extract(const VectorXi& word, const std::vector<int>& begin, const FieldHmm& hmm, Monitor& monitor);

}  // namespace granary::ensemble
