// The door between R and C++. Everything that crosses, crosses here:
//
//   // [[Rcpp::export(rng = false)]]
//   SEXP core_quic(SEXP s, SEXP options, SEXP progress) {
//     return crossing(progress, [&](Monitor& monitor) {
//       return write(quic(matrix(s), read<QuicOptions>(options), monitor));
//     });
//   }
//
//   crossing(progress, body)   runs body(monitor): Ctrl-C, the progress bar, and C++ errors as R conditions with their class
//   read<T>(list)              options: a field that is not in the list, or NULL, keeps its default; a name that is no field is an error
//   read_state<T>(list)        a state or a fit: every field must be there, whole, finite, and pass check(); more names may be there
//   write(x)                   numbers, texts, matrices, enums, structs with fields, vectors of them
//   matrix(x), vector(x), sparse(x), design(x)   views of R's memory, no copy; text(x), number(x), count(x), flag(x), numbers(x), texts(x)
//   rng(seed)                  from core_seed(): two integers of R's stream
//   Callback                   an R function as a C++ one
//
// An export takes SEXPs only: data, options, state, seed, progress; six at most. It makes no decisions and has no loops.
#pragma once

#include <Rcpp/Lightest>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/convergence.h"
#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/base/types.h"
#include "core/linalg/design.h"
#include "core/random/rng.h"

namespace granary {

// ---- what comes ---------------------------------------------------------------------------------------------------------------

namespace door {

[[noreturn]] void unexpected(const std::string& what, const std::string& expected);

bool is_number(SEXP x);

double as_double(SEXP x, const std::string& what);

std::string as_text(SEXP x, const std::string& what);

// Doubles without a copy where R has doubles; integers and logicals are converted into `store`.
const double* as_doubles(SEXP x, const std::string& what, std::vector<double>& store);

std::pair<Index, Index> dimensions(SEXP x, const std::string& what);

double whole(double value, const std::string& what);

SEXP element(SEXP list, const char* name);  // R_NilValue's address is no valid element: nullptr where there is none

}  // namespace door

bool is_sparse(SEXP x);
bool is_null(SEXP x);

MatrixView matrix(SEXP x, const std::string& what = "x");

VectorView vector(SEXP x, const std::string& what = "x");

ConstSparseMap sparse(SEXP x, const std::string& what = "x");

// A matrix of numbers or a dgCMatrix, whichever it is.
Design design(SEXP x, const std::string& what = "x");

double number(SEXP x, const std::string& what = "x");
int count(SEXP x, const std::string& what = "x");
bool flag(SEXP x, const std::string& what = "x");
std::string text(SEXP x, const std::string& what = "x");

Rng rng(SEXP seed);

// The converters of single fields. More types are taught by overloading convert() in the same way (see r_core_kernel.h).
namespace door {

struct Source {
  Source(SEXP value, const char* name, bool state);
  Source(SEXP value, const std::string& name, bool state);
  ~Source();
  SEXP value;
  std::string name;
  bool state;  // a state: numbers must be finite
};

void finite(const Source& s, const double* x, Index size);

void convert(const Source& s, bool& t);
void convert(const Source& s, double& t);
void convert(const Source& s, int& t);
void convert(const Source& s, Index& t);
void convert(const Source& s, std::size_t& t);
void convert(const Source& s, std::string& t);
void convert(const Source& s, VectorXd& t);
void convert(const Source& s, MatrixXd& t);
void convert(const Source& s, MatrixView& t);  // no copy: the list must outlive the view
void convert(const Source& s, std::vector<MatrixView>& t);
void convert(const Source& s, VectorView& t);
void convert(const Source& s, SparseMatrix& t);
void convert(const Source& s, Design& t);
template <class Real>
void convert_whole(const Source& s, Real* to, Index size) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  for (Index i = 0; i < size; ++i) to[i] = static_cast<Real>(whole(x[i], s.name));
}
void convert(const Source& s, VectorXi& t);
void convert(const Source& s, Eigen::MatrixXi& t);
void convert(const Source& s, std::vector<double>& t);
void convert(const Source& s, std::vector<int>& t);
void convert(const Source& s, std::vector<Index>& t);
void convert(const Source& s, std::vector<char>& t);  // flags
void convert(const Source& s, std::vector<bool>& t);
void convert(const Source& s, std::vector<std::string>& t);
template <class T>
void convert(const Source& s, T& t);  // structs, enums, vectors of them, optionals

void shift(int& t);
void shift(Index& t);
void shift(VectorXi& t);
void shift(Eigen::MatrixXi& t);
template <class T>
void shift(std::vector<T>& t) {
  for (T& one : t) shift(one);
}

template <class T>
void convert(const Source& s, Positions<T>& t) {
  convert(s, t.value);
  shift(t.value);
}
template <class T>
void convert(const Source& s, Any<T>& t) {
  convert(Source{s.value, s.name, false}, t.value);
}

class Reader {
 public:
  Reader(SEXP list, bool state);

  template <class T>
  void operator()(const char* name, T&& t) {
    if (SEXP value = find(name)) convert(Source{value, name, state_}, t);
  }
  void refuse_unknown() const;

 private:
  SEXP find(const char* name);  // nullptr where the default stands

  SEXP list_;
  bool state_;
  std::vector<bool> used_;
  std::vector<std::string> known_;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
void read_into(SEXP list, T& t, const std::string& what, bool state) {
  if (TYPEOF(list) != VECSXP) unexpected(what, "a list");
  Reader reader(list, state);
  fields(reader, t);
  if (!state) reader.refuse_unknown();
  if constexpr (has_check<T>) check(t);
}

template <class T>
void convert(const Source& s, T& t) {
  if constexpr (has_fields<T>) {
    read_into(s.value, t, s.name, s.state);
  } else if constexpr (std::is_enum_v<T>) {
    t = value_of<T>(as_text(s.value, s.name), s.name);
  } else if constexpr (IsOptional<T>::value) {
    t.reset();
    if (!is_null(s.value)) convert(s, t.emplace());
  } else {
    static_assert(is_std_vector<T>, "this type needs a list of fields, a table of names, or a convert() of its own");
    if (TYPEOF(s.value) != VECSXP) {
      if constexpr (std::is_enum_v<typename T::value_type>) {  // a vector of words
        std::vector<std::string> words;
        convert(s, words);
        t.clear();
        for (const std::string& word : words) t.push_back(value_of<typename T::value_type>(word, s.name));
        return;
      }
      unexpected(s.name, "a list");
    }
    t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
    for (std::size_t i = 0; i < t.size(); ++i)
      convert(Source{VECTOR_ELT(s.value, static_cast<R_xlen_t>(i)), message(s.name, "[[", i + 1, "]]"), s.state}, t[i]);
  }
}

}  // namespace door

template <class T>
T read(SEXP list, const std::string& what = "options") {
  T t = T();
  if constexpr (has_fields<T>) {
    door::read_into(list, t, what, false);
  } else {
    convert(door::Source{list, what, false}, t);
  }
  return t;
}

namespace door {
[[noreturn]] void damaged(const std::string& what, const InputError& e);
}

// InputError is told as what it is: a fit that was changed by hand, cut short, or saved by another version.
template <class T>
T read_state(SEXP list, const std::string& what = "object") {
  T t = T();
  try {
    door::read_into(list, t, what, true);
  } catch (const InputError& e) {
    door::damaged(what, e);
  }
  return t;
}

std::vector<std::string> texts(SEXP x, const std::string& what = "x");
std::vector<double> numbers(SEXP x, const std::string& what = "x");
// A matrix of row or column numbers of R as numbers from 0.
Eigen::MatrixXi matrix_of_places(SEXP x, const std::string& what = "x");
// Row or column numbers of R as numbers from 0.
VectorXi labels(SEXP x, const std::string& what = "labels");  // numbers of groups: from 1 in R, from 0 here
std::vector<Index> places(SEXP x, const std::string& what = "x");

std::vector<std::vector<int>> sets_of_places(SEXP x, const std::string& what = "sets");

// ---- what goes back -----------------------------------------------------------------------------------------------------------

SEXP write(SEXP x);
SEXP write(bool x);
SEXP write(int x);
SEXP write(double x);
SEXP write(Index x);
SEXP write(std::size_t x);
SEXP write(const char* x);
SEXP write(const std::string& x);

namespace door {

SEXP doubles(const double* x, Index size);
template <class T>
SEXP integers(const T& x, Index size) {
  SEXP out = Rf_allocVector(INTSXP, size);
  for (Index i = 0; i < size; ++i) INTEGER(out)[i] = static_cast<int>(x[i]);
  return out;
}
template <class T>
SEXP logicals(const T& x, Index size) {
  SEXP out = Rf_allocVector(LGLSXP, size);
  for (Index i = 0; i < size; ++i) LOGICAL(out)[i] = x[i] ? 1 : 0;
  return out;
}

}  // namespace door

SEXP write(const VectorXd& x);
SEXP write(const Eigen::RowVectorXd& x);
SEXP write(const MatrixXd& x);
SEXP write(const MatrixView& x);
SEXP write(const VectorView& x);
SEXP write(const VectorXi& x);
SEXP write(const Eigen::MatrixXi& x);
SEXP write(const std::vector<double>& x);
SEXP write(const std::vector<int>& x);
SEXP write(const std::vector<Index>& x);
SEXP write(const std::vector<char>& x);
SEXP write(const std::vector<bool>& x);
SEXP write(const std::vector<std::string>& x);
SEXP write_sparse(const SparseMatrix& x);  // r_core.cpp
SEXP write(const SparseMatrix& x);

// A named list, element by element.
class ListWriter {
 public:
  template <class T>
  void operator()(const char* name, T&& t);
  template <class T>
  ListWriter& add(const char* name, const T& t);
  ListWriter();
  ~ListWriter();
  ListWriter(const ListWriter&) = delete;
  ListWriter& operator=(const ListWriter&) = delete;
  SEXP list() const;

 private:
  void put(const char* name, SEXP value);

  SEXP held_;  // the values: a list that R protects, and that doubles when full
  std::vector<std::string> names_;
};

namespace door {

template <class T>
struct IsSharedPointer : std::false_type {};
template <class T>
struct IsSharedPointer<std::shared_ptr<T>> : std::true_type {};

}  // namespace door

template <class T>
SEXP write(const T& x) {
  if constexpr (has_fields<T>) {
    ListWriter out;
    fields(out, const_cast<T&>(x));  // a writer changes nothing
    return out.list();
  } else if constexpr (std::is_enum_v<T>) {
    return write(name_of(x));
  } else if constexpr (door::IsOptional<T>::value) {
    return x ? write(*x) : R_NilValue;
  } else if constexpr (is_std_vector<T>) {
    if constexpr (std::is_enum_v<typename T::value_type>) {
      std::vector<std::string> words;
      for (const auto& one : x) words.push_back(name_of(one));
      return write(words);
    } else {
      Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(x.size())));
      for (std::size_t i = 0; i < x.size(); ++i) SET_VECTOR_ELT(out, static_cast<R_xlen_t>(i), write(x[i]));
      return out;
    }
  } else if constexpr (std::is_base_of_v<Eigen::EigenBase<T>, T>) {
    return write(typename T::PlainObject(x));
  } else {
    static_assert(has_fields<T>, "this type needs a list of fields, a table of names, or a write() of its own");
    return R_NilValue;
  }
}

namespace door {

template <class T>
T lifted(T x) {  // numbers from 0 as numbers from 1
  if constexpr (is_std_vector<T>) {
    for (auto& one : x) one = lifted(one);
  } else if constexpr (std::is_integral_v<T>) {
    ++x;
  } else {
    x.array() += 1;
  }
  return x;
}

// One field of one element after the other: what a table needs.
template <class T>
class Gather {  // the values of field `wanted` of one element after the other
 public:
  Gather(std::size_t wanted, SEXP out, R_xlen_t row) : wanted_(wanted), out_(out), row_(row) {}
  void operator()(const char*, const bool& t) { if (seen_++ == wanted_) LOGICAL(out_)[row_] = t; }
  void operator()(const char*, const int& t) { if (seen_++ == wanted_) INTEGER(out_)[row_] = t; }
  void operator()(const char*, const Index& t) { if (seen_++ == wanted_) INTEGER(out_)[row_] = static_cast<int>(t); }
  void operator()(const char*, const double& t) { if (seen_++ == wanted_) REAL(out_)[row_] = t; }
  void operator()(const char*, const std::string& t) {
    if (seen_++ == wanted_) SET_STRING_ELT(out_, row_, Rf_mkCharLenCE(t.data(), static_cast<int>(t.size()), CE_UTF8));
  }
  template <class U>
  void operator()(const char* n, Positions<U>&& t) { (*this)(n, lifted(t.value)); }
  template <class U>
  void operator()(const char* n, Any<U>&& t) { (*this)(n, static_cast<const U&>(t.value)); }
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  void operator()(const char* n, E& t) { (*this)(n, name_of(t)); }

 private:
  std::size_t wanted_, seen_ = 0;
  SEXP out_;
  R_xlen_t row_;
};

class Kinds {  // what vectors the fields of a struct need
 public:
  void operator()(const char* n, const bool&) { add(n, LGLSXP); }
  void operator()(const char* n, const int&) { add(n, INTSXP); }
  void operator()(const char* n, const Index&) { add(n, INTSXP); }
  void operator()(const char* n, const double&) { add(n, REALSXP); }
  void operator()(const char* n, const std::string&) { add(n, STRSXP); }
  template <class U>
  void operator()(const char* n, Positions<U>&&) { add(n, INTSXP); }
  template <class U>
  void operator()(const char* n, Any<U>&& t) { (*this)(n, static_cast<const U&>(t.value)); }
  template <class E, class = std::enable_if_t<std::is_enum_v<E>>>
  void operator()(const char* n, E&) { add(n, STRSXP); }

  std::vector<std::string> names;
  std::vector<int> types;

 private:
  void add(const char* n, int type) {
    names.push_back(n);
    types.push_back(type);
  }
};

}  // namespace door

// A vector of structs with plain fields as a data frame without the class: one vector per field.
template <class S>
SEXP write_columns(const std::vector<S>& rows) {
  door::Kinds kinds;
  S example{};
  fields(kinds, example);
  Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(kinds.names.size())));
  for (std::size_t f = 0; f < kinds.names.size(); ++f) {
    SEXP column = Rf_allocVector(static_cast<SEXPTYPE>(kinds.types[f]), static_cast<R_xlen_t>(rows.size()));
    SET_VECTOR_ELT(out, static_cast<R_xlen_t>(f), column);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      door::Gather<S> gather(f, column, static_cast<R_xlen_t>(i));
      fields(gather, const_cast<S&>(rows[i]));
    }
  }
  Rcpp::Shield<SEXP> labels(write(kinds.names));
  Rf_setAttrib(out, R_NamesSymbol, labels);
  return out;
}

template <class T>
SEXP write(const Positions<T>& x) {
  return write(door::lifted(std::decay_t<T>(x.value)));
}
template <class T>
SEXP write(const Any<T>& x) {
  return write(static_cast<const std::decay_t<T>&>(x.value));
}
template <class T>
SEXP write(const Columns<T>& x) {
  return write_columns(x.value);
}

template <class T>
void ListWriter::operator()(const char* name, T&& t) {
  const std::decay_t<T>& value = t;
  put(name, write(value));
}
template <class T>
ListWriter& ListWriter::add(const char* name, const T& t) {
  (*this)(name, t);
  return *this;
}

// list(a = x, b = y) for an answer of two or three parts that is no struct: write_list("a", x, "b", y).
namespace door {
void add_all(ListWriter&);
template <class T, class... Rest>
void add_all(ListWriter& out, const char* name, const T& value, const Rest&... rest) {
  out.add(name, value);
  add_all(out, rest...);
}
}  // namespace door
template <class... Parts>
SEXP write_list(const Parts&... parts) {
  ListWriter out;
  door::add_all(out, parts...);
  return out.list();
}

// ---- the crossing -------------------------------------------------------------------------------------------------------------

[[noreturn]] void raise(const char* kind, const std::string& text);  // r_core.cpp: an R condition of granary's, as R signals it

namespace door {
SEXP cross(SEXP progress, const void* body, SEXP (*call)(const void*, Monitor&));
}

// body(monitor) with everything that can go wrong told in R's way. An R error inside (in a callback) passes through untouched.
// `progress` is NULL or an R function of the share done; both it and the interrupt check run on R's thread only (see Monitor).
template <class Body>
SEXP crossing(SEXP progress, const Body& body) {
  return door::cross(progress, &body, [](const void* f, Monitor& monitor) -> SEXP { return (*static_cast<const Body*>(f))(monitor); });
}
template <class Body>
SEXP crossing(const Body& body) {  // for what cannot take long
  return crossing(R_NilValue, [&](Monitor&) { return body(); });
}

// An R function that C++ calls: f(a, b) writes its arguments, evaluates, and reads the answer as Result.
template <class Result, class... Arguments>
class Callback {
 public:
  explicit Callback(SEXP function) : function_(function) {
    if (!Rf_isFunction(function)) throw InputError("a function is needed.");
  }
  Result operator()(const Arguments&... arguments) const {
    Rcpp::Shield<SEXP> call(Rf_allocVector(LANGSXP, 1 + static_cast<R_xlen_t>(sizeof...(arguments))));
    SETCAR(call, function_);
    SEXP at = CDR(call);
    ((SETCAR(at, write(arguments)), at = CDR(at)), ...);
    Rcpp::Shield<SEXP> answer(Rcpp::Rcpp_fast_eval(call, R_GlobalEnv));
    return read<Result>(answer, "the value of the function");
  }

 private:
  SEXP function_;  // an argument of the exported function, so R keeps it alive
};

// An object of C++ that R holds between calls (a tree that grows, a network that answers). Gone after saveRDS(): is_alive() asks.
template <class T>
SEXP hold(std::unique_ptr<T> object) {
  Rcpp::Shield<SEXP> pointer(R_MakeExternalPtr(object.release(), R_NilValue, R_NilValue));
  R_RegisterCFinalizerEx(
      pointer,
      [](SEXP p) {
        delete static_cast<T*>(R_ExternalPtrAddr(p));
        R_ClearExternalPtr(p);
      },
      TRUE);
  return pointer;
}
bool is_alive(SEXP pointer);
template <class T>
T& held(SEXP pointer) {
  if (!is_alive(pointer)) throw InputError("this object was saved and loaded, or belongs to another session; make it again.");
  return *static_cast<T*>(R_ExternalPtrAddr(pointer));
}

// The defaults of an Options type, registered under the name of the R function whose arguments they are (see r_core.cpp, and
// tests/testthat/test-shared-defaults.R, which compares both).
class Defaults {
 public:
  Defaults(const char* function, SEXP (*make)()) { table()[function] = make; }
  static std::map<std::string, SEXP (*)()>& table() {
    static std::map<std::string, SEXP (*)()> all;
    return all;
  }
};
#define GRANARY_DEFAULTS(function, Options) \
  static const granary::Defaults defaults_of_##function(#function, [] { return granary::write(Options{}); })

}  // namespace granary
