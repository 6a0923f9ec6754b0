// Two partitions of the same n rows, a truth G and a guess H, compared by pairs of rows, by information and by editing:
//
//   n11, n00, n10, n01   pairs together in both, apart in both, together in G only, in H only
//   rand = (n11 + n00) / all,  precision = n11 / (n11 + n01),  recall = n11 / (n11 + n10),  f = their harmonic mean; 0/0 counts as 1
//   vi = H(G) + H(H) - 2 I(G, H) in nats,  nvi = 1 - vi / log n
//   ced = (n - sum_h max_g |g and h|) / n: the share of rows that must move after each cluster of H was matched with the cluster of G it shares most with,
//   nes = 1 - ced(G, H) - ced(H, G): as the tables of Daume and Marcu (JMLR 2005) have it; nes_text = 1 - (moves both ways) / (2 n): as their text has it
#pragma once

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

struct PairAgreement {
  double n11 = 0, n00 = 0, n10 = 0, n01 = 0;
  double rand = 0, precision = 0, recall = 0, f = 0, vi = 0, nvi = 0;
  double ced = 0, ced_back = 0, nes = 0, nes_text = 0;
  double moves = 0, merges = 0, creates = 0;  // from H to G: rows moved, clusters of H joined to another, clusters of G that must be made
};
template <class V>
void fields(V& v, PairAgreement& t) {
  v("n11", t.n11);
  v("n00", t.n00);
  v("n10", t.n10);
  v("n01", t.n01);
  v("rand", t.rand);
  v("precision", t.precision);
  v("recall", t.recall);
  v("f", t.f);
  v("vi", t.vi);
  v("nvi", t.nvi);
  v("ced", t.ced);
  v("ced_back", t.ced_back);
  v("nes", t.nes);
  v("nes_text", t.nes_text);
  v("moves", t.moves);
  v("merges", t.merges);
  v("creates", t.creates);
}

// Labels 0, 1, ...; O(n + number of cells in use), nothing quadratic.
PairAgreement pair_agreement(const VectorXi& truth, const VectorXi& guess);

}  // namespace granary
