// Which of at most eight nodes reach which: row i of eight bits are the nodes that i reaches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace granary::graph {

using Reach = std::uint64_t;
constexpr int bag_limit = 8;
constexpr std::size_t compared = 64;  // records of a group that others are compared with

inline unsigned row(Reach r, int i) { return static_cast<unsigned>(r >> (8 * i) & 0xff); }

// Transitive closure in place; false if there is a cycle.
inline bool close(Reach& r) {
  for (int k = 0; k < bag_limit; ++k) {
    const Reach through = row(r, k);
    if (!through) continue;
    const Reach sources = r >> k & 0x0101010101010101u;  // bit 0 of byte i: i reaches k
    r |= sources * through;                              // copies the row of k to the rows of these
  }
  return (r & 0x8040201008040201u) == 0;
}

// A node at position `slot`, without arcs: the others from there on move up by one.
inline Reach insert_node(Reach r, int slot) {
  const unsigned below = (1u << slot) - 1;
  Reach out = 0;
  for (int i = 0; i < bag_limit - 1; ++i) {
    const unsigned old = row(r, i);
    const Reach widened = (old & below) | (old & ~below & 0x7fu) << 1;
    out |= widened << (8 * (i < slot ? i : i + 1));
  }
  return out;
}

// Takes the node out; paths through it are in the closure already.
inline Reach erase_node(Reach r, int slot) {
  const unsigned below = (1u << slot) - 1;
  Reach out = 0;
  for (int i = 0; i < bag_limit; ++i) {
    if (i == slot) continue;
    const unsigned old = row(r, i);
    const Reach narrowed = (old & below) | (old >> 1 & ~below);
    out |= narrowed << (8 * (i < slot ? i : i - 1));
  }
  return out;
}

// Adds arcs parents -> slot -> children to a closed relation, closing it again; false, leaving it unspecified, if that makes a
// cycle.
inline bool add_arcs(Reach& r, int slot, unsigned parents, unsigned children) {
  unsigned above = parents, below = children;
  for (int i = 0; i < bag_limit; ++i) {
    if (row(r, i) & parents) above |= 1u << i;
    if (children >> i & 1) below |= row(r, i);
  }
  // The node may have arcs already: what reaches it, or is reached by it, joins in.
  const unsigned own = 1u << slot;
  for (int i = 0; i < bag_limit; ++i) {
    if (row(r, i) & own) above |= 1u << i;
  }
  below |= row(r, slot);
  if ((above & below) || ((above | below) & own)) return false;
  r |= static_cast<Reach>(below) << (8 * slot);
  for (int i = 0; i < bag_limit; ++i) {
    if (above >> i & 1) r |= static_cast<Reach>(below | own) << (8 * i);
  }
  return true;
}

}  // namespace granary::graph
