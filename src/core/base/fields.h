// The fields of a struct, listed once. Whatever crosses to R (options, results, states) or is written down (traces of tests, saved
// states) goes through this list, so that a name is spelt in one place:
//
//   struct QuicOptions { double tol = 1e-6; int max_iter = 1000; Sweep sweep = Sweep::cyclic; };
//
//   template <class V> void fields(V& v, QuicOptions& t) {
//     v("tol", t.tol);
//     v("max_iter", t.max_iter);
//     v("sweep", t.sweep);
//   }
//
// The words of an enum are a table beside it; the first is the default where one is needed:
//
//   enum class Sweep { cyclic, random };
//   inline Names<Sweep> names(Sweep) { return {{Sweep::cyclic, "cyclic"}, {Sweep::random, "random"}}; }
//
// A state that comes back from a file is input. What must hold between its fields stands beside them, and throws InputError:
//
//   inline void check(const QuicState& s) { require(s.factor.rows() == s.factor.cols(), "`factor` is not square"); }
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/errors.h"

namespace granary {

template <class E>
using Names = std::vector<std::pair<E, const char*>>;

template <class E>
std::string name_of(E value) {
  for (const auto& [key, name] : names(value))
    if (key == value) return name;
  throw InputError("a value without a name.");
}

// The place of `name` among the words a field may have; InputError says which there are.
std::size_t place_of_word(const std::vector<const char*>& words, const std::string& name, const std::string& field);

template <class E>
E value_of(const std::string& name, const std::string& field) {
  const Names<E> table = names(E());
  std::vector<const char*> words;
  for (const auto& row : table) words.push_back(row.second);
  return table[place_of_word(words, name, field)].first;
}

// Row and column numbers: 0, 1, ... here, 1, 2, ... in R. v("rows", positions(t.rows)) for a vector of them or a single one;
// -1, "none", is 0 there.
template <class T>
struct Positions {
  T& value;
};
template <class T>
Positions<T> positions(T& value) {
  return {value};
}

// Numbers of a state that may be infinite or missing; all others must be finite when they come back.
template <class T>
struct Any {
  T& value;
};
template <class T>
Any<T> any_number(T& value) {
  return {value};
}

// A vector of structs as a table: one vector per field instead of one list per element.
template <class T>
struct Columns {
  T& value;
};
template <class T>
Columns<T> columns(T& value) {
  return {value};
}

inline void require(bool condition, const std::string& what) {
  if (!condition) throw InputError(what);
}

namespace fields_detail {
struct Probe {
  template <class T>
  void operator()(const char*, T&&) {}
};
template <class T, class = void>
struct HasFields : std::false_type {};
template <class T>
struct HasFields<T, std::void_t<decltype(fields(std::declval<Probe&>(), std::declval<T&>()))>> : std::true_type {};
template <class T, class = void>
struct HasCheck : std::false_type {};
template <class T>
struct HasCheck<T, std::void_t<decltype(check(std::declval<const T&>()))>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
}  // namespace fields_detail

template <class T>
constexpr bool has_fields = fields_detail::HasFields<T>::value;
template <class T>
constexpr bool has_check = fields_detail::HasCheck<T>::value;
template <class T>
constexpr bool is_std_vector = fields_detail::IsVector<T>::value;

}  // namespace granary
