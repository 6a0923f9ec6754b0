// k-means of a stream in one pass: Ailon, Jaiswal and Monteleoni (NIPS 2009), Algorithm 3 and section 3.3.
//
//   minimise  phi_C(X) = sum_x w(x) min_{c in C} |x - c|^2   over k centres C, seeing each x once and holding few of them
//
// Rows fill a buffer of `memory` rows. When it is full, k-means# (or k-means++) picks representatives, each row hands its weight to the nearest of them, and the
// representatives go to the buffer of the next level, which is treated alike. At any time the centres are those of k-means++ on all that is held. With an (a, b)-approximation
// below and an (a', b')-approximation at the end the cost is at most 2b + 4b'(b + 1) times the optimum for k centres (Theorem 3.1).
//
// Differs from the paper, each of which can be switched off: representatives are the means of their rows and carry their sum of squares (`recenter`), so
// that the cost of assigning every row through its representatives is known exactly although the rows are gone; the centres are polished by Lloyd's
// iterations on what is held (`polish`), from the best of `n_starts`; levels are added as the stream goes on, so that its length need not be known. `repeats` = 1, where the paper takes
// the best of 3 log2 n runs for its probabilities.
//
// The state is a value: it can be written down and taken up again exactly. Draws are addressed by the number of the call, and buffers are filled row by row, so the
// pieces in which the rows come do not matter.
#pragma once

#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/random/rng.h"

namespace granary::cluster {

enum class SeedMethod { sharp, plusplus };
inline Names<SeedMethod> names(SeedMethod) { return {{SeedMethod::sharp, "sharp"}, {SeedMethod::plusplus, "plusplus"}}; }

struct StreamOptions {
  int k = 1;
  SeedMethod method = SeedMethod::sharp;
  Index memory = 10000;  // rows a buffer holds
  int levels = 0;        // summaries of summaries at most so often, the last buffer then grows; 0: as often as needed
  int repeats = 1;       // runs per full buffer, of which the best is kept
  bool recenter = true;
  bool polish = true;
  int n_starts = 10;     // at the end
  int max_iter = 300;    // of Lloyd
  int threads = 1;
};
template <class V>
void fields(V& v, StreamOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("memory", t.memory);
  v("levels", t.levels);
  v("repeats", t.repeats);
  v("recenter", t.recenter);
  v("polish", t.polish);
  v("n_starts", t.n_starts);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}

struct StreamLevel {
  MatrixXd points;       // rows of the stream (level 0) or representatives
  VectorXd weights;      // of each
  VectorXd scatter;      // sum of squares of the rows of each about it; zero without `recenter`
};
template <class V>
void fields(V& v, StreamLevel& t) {
  v("points", t.points);
  v("weights", t.weights);
  v("scatter", t.scatter);
}

struct StreamState {
  StreamOptions options;
  VectorXd seed;         // two numbers, as they come from R
  Index columns = 0;
  double rows = 0, weight = 0;
  double calls = 0;      // of the algorithm for a full buffer
  double peak = 0;       // largest number of points held
  std::vector<StreamLevel> levels;
  VectorXd moved;        // per level, sum_x w(x) |x - t(x)|^2 over what was summarised there
};
template <class V>
void fields(V& v, StreamState& t) {
  v("options", t.options);
  v("seed", t.seed);
  v("columns", t.columns);
  v("rows", t.rows);
  v("weight", t.weight);
  v("calls", t.calls);
  v("peak", t.peak);
  v("levels", t.levels);
  v("moved", t.moved);
}
void check(const StreamState& s);

// Rows drawn per round: 1, or max(1, ceil(3 ln k)) for k-means#.
Index seeds_per_round(SeedMethod method, Index k);
// A buffer must hold more than twice what it is summarised to, or summaries would not shrink.
Index least_memory(SeedMethod method, Index k);

StreamState stream_start(const StreamOptions& options, Index columns, const VectorXd& seed);
// weights: one per row, or empty.
void stream_update(StreamState& state, ConstMatrixRef x, ConstVectorRef weights, Monitor& monitor);
// Two streams of different rows as one; options, seed and numbers of calls go on from the first.
void stream_combine(StreamState& state, const StreamState& other, Monitor& monitor);

struct StreamResult {
  MatrixXd centers;      // k, or as many distinct points as there are
  VectorXd sizes;        // weights of the clusters, through the representatives
  MatrixXd summary;      // all that is held: points, weights, scatter
  VectorXd summary_weights, summary_scatter;
  VectorXi summary_cluster;
  double summary_cost = 0;  // sum over what is held of w |t - c|^2
  // At least the cost of the centres on all rows seen: with `recenter` the sum of summary_cost and the scatters, which is the cost of the induced assignment; else
  // (sqrt(summary_cost) + sum over levels of sqrt(moved))^2. Equal to it as long as nothing was summarised.
  double cost_bound = 0;
  VectorXd values;          // summary_cost of all starts
  Convergence convergence;  // of the polish: every point is with its nearest centre and the centres are means
};
template <class V>
void fields(V& v, StreamResult& t) {
  v("centers", t.centers);
  v("sizes", t.sizes);
  v("summary", t.summary);
  v("summary_weights", t.summary_weights);
  v("summary_scatter", t.summary_scatter);
  v("summary_cluster", positions(t.summary_cluster));
  v("summary_cost", t.summary_cost);
  v("cost_bound", t.cost_bound);
  v("values", t.values);
  v("convergence", t.convergence);
}
StreamResult stream_centres(const StreamState& state, Monitor& monitor);

// One pass of Lloyd over rows that come in pieces: sums of the rows nearest to each centre, and the cost of the centres.
struct KMeansPass {
  MatrixXd centers, sums;
  VectorXd weight;
  double cost = 0;
};
template <class V>
void fields(V& v, KMeansPass& t) {
  v("centers", t.centers);
  v("sums", t.sums);
  v("weight", t.weight);
  v("cost", t.cost);
}
void check(const KMeansPass& s);
void kmeans_pass(KMeansPass& pass, ConstMatrixRef x, ConstVectorRef weights, int threads, Monitor& monitor);
MatrixXd pass_centres(const KMeansPass& pass);  // means; a centre without rows stays

// Seeds of rows in memory, the best of `repeats`.
struct KMeansSeedOptions {
  int k = 1;
  SeedMethod method = SeedMethod::plusplus;
  int candidates = 1, repeats = 1;
};
template <class V>
void fields(V& v, KMeansSeedOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("candidates", t.candidates);
  v("repeats", t.repeats);
}
struct KMeansSeeds {
  std::vector<Index> rows;
  VectorXd sizes;  // weights of the rows nearest to each
  double cost = 0;
};
template <class V>
void fields(V& v, KMeansSeeds& t) {
  v("rows", positions(t.rows));
  v("sizes", t.sizes);
  v("cost", t.cost);
}
KMeansSeeds kmeans_seeds(ConstMatrixRef x, ConstVectorRef weights, const KMeansSeedOptions& options, int threads, const Rng& rng, Monitor& monitor);

// What to compare with. lloyd: from rows at random, until the cost falls by less than `least` (1 in the paper); plusplus: the same from k-means++;
// online (MacQueen): from the first k distinct rows, each row moves its nearest centre by (x - c) / n_c.
enum class StreamBaseline { lloyd, plusplus, online };
inline Names<StreamBaseline> names(StreamBaseline) {
  return {{StreamBaseline::lloyd, "lloyd"}, {StreamBaseline::plusplus, "plusplus"}, {StreamBaseline::online, "online"}};
}
struct BaselineResult {
  MatrixXd centers;
  VectorXi cluster;
  VectorXd sizes;
  double cost = 0;
  Convergence convergence;
};
template <class V>
void fields(V& v, BaselineResult& t) {
  v("centers", t.centers);
  v("cluster", positions(t.cluster));
  v("sizes", t.sizes);
  v("cost", t.cost);
  v("convergence", t.convergence);
}
struct BaselineOptions {
  int k = 1;
  StreamBaseline method = StreamBaseline::lloyd;
  double least = 1;
  int max_iter = 1000;
  int threads = 1;
};
template <class V>
void fields(V& v, BaselineOptions& t) {
  v("k", t.k);
  v("method", t.method);
  v("least", t.least);
  v("max_iter", t.max_iter);
  v("threads", t.threads);
}
BaselineResult stream_baseline(ConstMatrixRef x, const BaselineOptions& options, Rng& rng, Monitor& monitor);

}  // namespace granary::cluster
