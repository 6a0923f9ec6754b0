// How well two labellings of the same rows agree. With n_ab the weight of the rows labelled a by one and b by the other:
//
//   mutual information    I = sum_ab p_ab log(p_ab / (p_a p_b)), in nats; nmi = I / sqrt(H_a H_b) (Strehl and Ghosh 2002), 1 where both are constant
//   adjusted Rand index   (sum_ab C(n_ab, 2) - E) / ((sum_a C(n_a, 2) + sum_b C(n_b, 2)) / 2 - E), E = sum_a sum_b C(n_a, 2) C(n_b, 2) / C(n, 2) (Hubert and Arabie 1985)
//   accuracy              the largest share of rows on which they agree when the labels of one are matched with labels of the other, one to one
//   purity                the same when several may be matched with one label of the truth
//
// Silhouettes (Rousseeuw 1987): s_i = (b_i - a_i) / max(a_i, b_i), a_i the mean distance of row i from the others of its cluster, b_i the least mean distance from
// another cluster; 0 in a cluster of one. Distances are taken in blocks of rows, never all at once.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/cluster/data_rows.h"

namespace granary {

struct Agreement {
  MatrixXd table;  // first labelling in rows, second in columns
  double mutual_information = 0, nmi = 0, ari = 0, accuracy = 0, purity = 0;
  double entropy_first = 0, entropy_second = 0;
  VectorXi match;  // of each label of the first, its partner in the second or -1
};

template <class V>
void fields(V& v, Agreement& t) {
  v("table", t.table);
  v("mutual_information", t.mutual_information);
  v("nmi", t.nmi);
  v("ari", t.ari);
  v("accuracy", t.accuracy);
  v("purity", t.purity);
  v("entropy_first", t.entropy_first);
  v("entropy_second", t.entropy_second);
  v("match", positions(t.match));
}

// Labels 0, 1, ...; weights: one per row, or empty.
Agreement agreement(const VectorXi& first, const VectorXi& second, ConstVectorRef weights, Monitor& monitor);

enum class SilhouetteDistance { euclidean, squared, cosine };
inline Names<SilhouetteDistance> names(SilhouetteDistance) {
  return {{SilhouetteDistance::euclidean, "euclidean"}, {SilhouetteDistance::squared, "squared"}, {SilhouetteDistance::cosine, "cosine"}};
}

struct Silhouettes {
  VectorXd width;      // s_i
  VectorXi neighbour;  // the nearest other cluster, or -1
};
template <class V>
void fields(V& v, Silhouettes& t) {
  v("width", t.width);
  v("neighbor", positions(t.neighbour));
}
// O(n^2) time, O(n) memory.
Silhouettes silhouettes(const DataRows& x, const VectorXi& cluster, Index k, SilhouetteDistance distance, int threads, Monitor& monitor);

}  // namespace granary
