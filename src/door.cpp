// The door between R and C++: what is no template of it.
#include "r_door.h"

namespace granary {

namespace door {

void unexpected(const std::string& what, const std::string& expected) {
  throw InputError(message("`", what, "` must be ", expected, "."));
}

bool is_number(SEXP x) { return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) && Rf_xlength(x) == 1; }

double as_double(SEXP x, const std::string& what) {
  if (!is_number(x)) unexpected(what, "one number");
  if (TYPEOF(x) == REALSXP) return REAL(x)[0];
  const int value = TYPEOF(x) == INTSXP ? INTEGER(x)[0] : LOGICAL(x)[0];
  return value == NA_INTEGER ? NA_REAL : value;
}

std::string as_text(SEXP x, const std::string& what) {
  if (TYPEOF(x) != STRSXP || Rf_xlength(x) != 1 || STRING_ELT(x, 0) == NA_STRING) unexpected(what, "one text");
  return Rf_translateCharUTF8(STRING_ELT(x, 0));
}

const double* as_doubles(SEXP x, const std::string& what, std::vector<double>& store) {
  if (TYPEOF(x) == REALSXP) return REAL(x);
  if (TYPEOF(x) != INTSXP && TYPEOF(x) != LGLSXP) unexpected(what, "numbers");
  const int* from = TYPEOF(x) == INTSXP ? INTEGER(x) : LOGICAL(x);
  store.resize(static_cast<std::size_t>(Rf_xlength(x)));
  for (std::size_t i = 0; i < store.size(); ++i) store[i] = from[i] == NA_INTEGER ? NA_REAL : from[i];
  return store.data();
}

std::pair<Index, Index> dimensions(SEXP x, const std::string& what) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) != 2) unexpected(what, "a matrix");
  return {INTEGER(dim)[0], INTEGER(dim)[1]};
}

double whole(double value, const std::string& what) {
  if (!(value == std::floor(value)) || std::abs(value) > 9007199254740992.0) unexpected(what, "a whole number");
  return value;
}

SEXP element(SEXP list, const char* name) {  // R_NilValue's address is no valid element: nullptr where there is none
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(names) != STRSXP) return nullptr;
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i)
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  return nullptr;
}

}  // namespace door

bool is_sparse(SEXP x) { return Rf_inherits(x, "dgCMatrix"); }

bool is_null(SEXP x) { return Rf_isNull(x); }

MatrixView matrix(SEXP x, const std::string& what) {
  if (TYPEOF(x) != REALSXP) door::unexpected(what, "a numeric matrix");
  const auto [rows, columns] = door::dimensions(x, what);
  return MatrixView(REAL(x), rows, columns);
}

VectorView vector(SEXP x, const std::string& what) {
  if (TYPEOF(x) != REALSXP) door::unexpected(what, "a numeric vector");
  return VectorView(REAL(x), Rf_xlength(x));
}

ConstSparseMap sparse(SEXP x, const std::string& what) {
  if (!is_sparse(x)) door::unexpected(what, "a sparse matrix (dgCMatrix)");
  static const SEXP dim = Rf_install("Dim"), p = Rf_install("p"), i = Rf_install("i"), values = Rf_install("x");
  const int* size = INTEGER(R_do_slot(x, dim));
  SEXP entries = R_do_slot(x, values);
  return ConstSparseMap(size[0], size[1], Rf_xlength(entries), INTEGER(R_do_slot(x, p)), INTEGER(R_do_slot(x, i)), REAL(entries));
}

Design design(SEXP x, const std::string& what) { return is_sparse(x) ? Design(sparse(x, what)) : Design(matrix(x, what)); }

double number(SEXP x, const std::string& what) { return door::as_double(x, what); }

int count(SEXP x, const std::string& what) { return static_cast<int>(door::whole(door::as_double(x, what), what)); }

bool flag(SEXP x, const std::string& what) { return door::as_double(x, what) != 0; }

std::string text(SEXP x, const std::string& what) { return door::as_text(x, what); }

Rng rng(SEXP seed) {
  const VectorView s = vector(seed, "seed");
  return Rng((static_cast<std::uint64_t>(s[0]) << 32) ^ static_cast<std::uint64_t>(s[1]));
}

namespace door {

void finite(const Source& s, const double* x, Index size) {
  if (!s.state) return;
  for (Index i = 0; i < size; ++i)
    if (!std::isfinite(x[i])) throw InputError(message("`", s.name, "` holds numbers that are not finite."));
}

void convert(const Source& s, bool& t) {
  const double value = as_double(s.value, s.name);
  if (std::isnan(value)) unexpected(s.name, "TRUE or FALSE");
  t = value != 0;
}

void convert(const Source& s, double& t) {
  t = as_double(s.value, s.name);
  finite(s, &t, 1);
}

void convert(const Source& s, int& t) {
  const double value = whole(as_double(s.value, s.name), s.name);
  if (std::abs(value) > 2147483647.0) unexpected(s.name, "a whole number below 2^31");
  t = static_cast<int>(value);
}

void convert(const Source& s, Index& t) { t = static_cast<Index>(whole(as_double(s.value, s.name), s.name)); }

void convert(const Source& s, std::size_t& t) {
  const double value = whole(as_double(s.value, s.name), s.name);
  if (value < 0) unexpected(s.name, "a whole number, not negative");
  t = static_cast<std::size_t>(value);
}

void convert(const Source& s, std::string& t) { t = as_text(s.value, s.name); }

void convert(const Source& s, VectorXd& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  t = VectorView(x, Rf_xlength(s.value));
  finite(s, t.data(), t.size());
}

void convert(const Source& s, MatrixXd& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  const auto [rows, columns] = dimensions(s.value, s.name);
  t = MatrixView(x, rows, columns);
  finite(s, t.data(), t.size());
}

void convert(const Source& s, MatrixView& t) {  // no copy: the list must outlive the view
  new (&t) MatrixView(matrix(s.value, s.name));
  finite(s, t.data(), t.size());
}

void convert(const Source& s, std::vector<MatrixView>& t) {
  if (TYPEOF(s.value) != VECSXP) unexpected(s.name, "a list of matrices");
  t.clear();
  for (R_xlen_t i = 0; i < Rf_xlength(s.value); ++i) {
    t.push_back(matrix(VECTOR_ELT(s.value, i), message(s.name, "[[", i + 1, "]]")));
    finite(s, t.back().data(), t.back().size());
  }
}

void convert(const Source& s, VectorView& t) {
  new (&t) VectorView(vector(s.value, s.name));
  finite(s, t.data(), t.size());
}

void convert(const Source& s, SparseMatrix& t) { t = sparse(s.value, s.name); }

void convert(const Source& s, Design& t) { t = design(s.value, s.name); }

void convert(const Source& s, VectorXi& t) {
  t.resize(Rf_xlength(s.value));
  convert_whole(s, t.data(), t.size());
}

void convert(const Source& s, Eigen::MatrixXi& t) {
  const auto [rows, columns] = dimensions(s.value, s.name);
  t.resize(rows, columns);
  convert_whole(s, t.data(), t.size());
}

void convert(const Source& s, std::vector<double>& t) {
  std::vector<double> store;
  const double* x = as_doubles(s.value, s.name, store);
  t.assign(x, x + Rf_xlength(s.value));
  finite(s, t.data(), static_cast<Index>(t.size()));
}

void convert(const Source& s, std::vector<int>& t) {
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}

void convert(const Source& s, std::vector<Index>& t) {
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}

void convert(const Source& s, std::vector<char>& t) {  // flags
  t.resize(static_cast<std::size_t>(Rf_xlength(s.value)));
  convert_whole(s, t.data(), static_cast<Index>(t.size()));
}

void convert(const Source& s, std::vector<bool>& t) {
  std::vector<char> flags;
  convert(s, flags);
  t.assign(flags.begin(), flags.end());
}

void convert(const Source& s, std::vector<std::string>& t) {
  if (TYPEOF(s.value) != STRSXP) unexpected(s.name, "texts");
  t.clear();
  for (R_xlen_t i = 0; i < Rf_xlength(s.value); ++i) t.push_back(Rf_translateCharUTF8(STRING_ELT(s.value, i)));
}

void shift(int& t) { --t; }

void shift(Index& t) { --t; }

void shift(VectorXi& t) { t.array() -= 1; }

void shift(Eigen::MatrixXi& t) { t.array() -= 1; }

}  // namespace door

std::vector<std::string> texts(SEXP x, const std::string& what) {
  std::vector<std::string> t;
  door::convert(door::Source{x, what, false}, t);
  return t;
}

std::vector<double> numbers(SEXP x, const std::string& what) {
  std::vector<double> t;
  door::convert(door::Source{x, what, false}, t);
  return t;
}

Eigen::MatrixXi matrix_of_places(SEXP x, const std::string& what) {
  Eigen::MatrixXi t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}

VectorXi labels(SEXP x, const std::string& what) {  // numbers of groups: from 1 in R, from 0 here
  VectorXi out;
  door::convert(door::Source{x, what, false}, out);
  door::shift(out);
  return out;
}

std::vector<Index> places(SEXP x, const std::string& what) {
  std::vector<Index> t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}

std::vector<std::vector<int>> sets_of_places(SEXP x, const std::string& what) {
  std::vector<std::vector<int>> t;
  door::convert(door::Source{x, what, false}, t);
  door::shift(t);
  return t;
}

SEXP write(SEXP x) { return x; }

SEXP write(bool x) { return Rf_ScalarLogical(x); }

SEXP write(int x) { return Rf_ScalarInteger(x); }

SEXP write(double x) { return Rf_ScalarReal(x); }

SEXP write(Index x) {
  return std::abs(x) <= 2147483647 ? Rf_ScalarInteger(static_cast<int>(x)) : Rf_ScalarReal(static_cast<double>(x));
}

SEXP write(std::size_t x) { return write(static_cast<Index>(x)); }

SEXP write(const char* x) { return Rf_mkString(x); }

SEXP write(const std::string& x) {
  Rcpp::Shield<SEXP> out(Rf_allocVector(STRSXP, 1));
  SET_STRING_ELT(out, 0, Rf_mkCharLenCE(x.data(), static_cast<int>(x.size()), CE_UTF8));
  return out;
}

namespace door {

SEXP doubles(const double* x, Index size) {
  SEXP out = Rf_allocVector(REALSXP, size);
  if (size > 0) std::memcpy(REAL(out), x, sizeof(double) * static_cast<std::size_t>(size));
  return out;
}

}  // namespace door

SEXP write(const VectorXd& x) { return door::doubles(x.data(), x.size()); }

SEXP write(const Eigen::RowVectorXd& x) { return door::doubles(x.data(), x.size()); }

SEXP write(const MatrixXd& x) {
  SEXP out = Rf_allocMatrix(REALSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols()));
  if (x.size() > 0) std::memcpy(REAL(out), x.data(), sizeof(double) * static_cast<std::size_t>(x.size()));
  return out;
}

SEXP write(const MatrixView& x) { return write(MatrixXd(x)); }

SEXP write(const VectorView& x) { return write(VectorXd(x)); }

SEXP write(const VectorXi& x) { return door::integers(x, x.size()); }

SEXP write(const Eigen::MatrixXi& x) {
  SEXP out = Rf_allocMatrix(INTSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols()));
  if (x.size() > 0) std::memcpy(INTEGER(out), x.data(), sizeof(int) * static_cast<std::size_t>(x.size()));
  return out;
}

SEXP write(const std::vector<double>& x) { return door::doubles(x.data(), static_cast<Index>(x.size())); }

SEXP write(const std::vector<int>& x) { return door::integers(x, static_cast<Index>(x.size())); }

SEXP write(const std::vector<Index>& x) { return door::integers(x, static_cast<Index>(x.size())); }

SEXP write(const std::vector<char>& x) { return door::logicals(x, static_cast<Index>(x.size())); }

SEXP write(const std::vector<bool>& x) { return door::logicals(x, static_cast<Index>(x.size())); }

SEXP write(const std::vector<std::string>& x) {
  Rcpp::Shield<SEXP> out(Rf_allocVector(STRSXP, static_cast<R_xlen_t>(x.size())));
  for (std::size_t i = 0; i < x.size(); ++i)
    SET_STRING_ELT(out, static_cast<R_xlen_t>(i), Rf_mkCharLenCE(x[i].data(), static_cast<int>(x[i].size()), CE_UTF8));
  return out;
}

SEXP write(const SparseMatrix& x) { return write_sparse(x); }

namespace door {

void add_all(ListWriter&) {}

}  // namespace door

bool is_alive(SEXP pointer) { return TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrAddr(pointer) != nullptr; }

namespace door {

Source::Source(SEXP v, const char* n, bool s) : value(v), name(n), state(s) {}
Source::Source(SEXP v, const std::string& n, bool s) : value(v), name(n), state(s) {}
Source::~Source() = default;

}  // namespace door

namespace door {

Reader::Reader(SEXP list, bool state) : list_(list), state_(state), used_(static_cast<std::size_t>(Rf_xlength(list)), false) {}

SEXP Reader::find(const char* name) {
  known_.push_back(name);
  SEXP names = Rf_getAttrib(list_, R_NamesSymbol);
  for (R_xlen_t i = 0; TYPEOF(names) == STRSXP && i < Rf_xlength(list_); ++i) {
    if (std::strcmp(CHAR(STRING_ELT(names, i)), name) != 0) continue;
    used_[static_cast<std::size_t>(i)] = true;
    SEXP value = VECTOR_ELT(list_, i);
    return !state_ && is_null(value) ? nullptr : value;  // NULL in R: the default
  }
  if (state_) throw InputError(message("`", name, "` is missing."));
  return nullptr;
}

void Reader::refuse_unknown() const {
  SEXP names = Rf_getAttrib(list_, R_NamesSymbol);
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    std::string possible;
    for (const std::string& name : known_) possible += (possible.empty() ? "" : ", ") + name;
    const char* name = TYPEOF(names) == STRSXP ? CHAR(STRING_ELT(names, static_cast<R_xlen_t>(i))) : "";
    throw InputError(message("there is no option `", name, "`; there are ", possible, "."));
  }
}

}  // namespace door

void door::damaged(const std::string& what, const InputError& e) {
  throw InputError(message("`", what, "` is damaged or was saved by another version of granary: ", e.what(),
                           " Fit the model again."));
}

ListWriter::ListWriter() : held_(Rf_allocVector(VECSXP, 16)) { R_PreserveObject(held_); }
ListWriter::~ListWriter() { R_ReleaseObject(held_); }

void ListWriter::put(const char* name, SEXP value) {
  Rcpp::Shield<SEXP> kept(value);
  const R_xlen_t at = static_cast<R_xlen_t>(names_.size());
  if (at >= Rf_xlength(held_)) {
    SEXP longer = Rf_lengthgets(held_, 2 * Rf_xlength(held_));
    R_PreserveObject(longer);
    R_ReleaseObject(held_);
    held_ = longer;
  }
  SET_VECTOR_ELT(held_, at, value);
  names_.push_back(name);
}

SEXP ListWriter::list() const {
  Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(names_.size())));
  for (R_xlen_t i = 0; i < Rf_xlength(out); ++i) SET_VECTOR_ELT(out, i, VECTOR_ELT(held_, i));
  Rcpp::Shield<SEXP> labels(write(names_));
  Rf_setAttrib(out, R_NamesSymbol, labels);
  return out;
}

namespace {

class RMonitor : public Monitor {
 public:
  explicit RMonitor(SEXP progress) : progress_(progress) {}

 protected:
  bool poll() override {
    return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
  }
  void show(double share) override {
    if (is_null(progress_)) return;
    Rcpp::Shield<SEXP> value(Rf_ScalarReal(share));
    Rcpp::Shield<SEXP> call(Rf_lang2(progress_, value));
    Rcpp::Rcpp_fast_eval(call, R_GlobalEnv);
  }

 private:
  SEXP progress_;  // an argument of the exported function, so R keeps it alive
};

}  // namespace

SEXP door::cross(SEXP progress, const void* body, SEXP (*call)(const void*, Monitor&)) {
  std::string kind, text;
  try {
    RMonitor monitor(progress);
    return call(body, monitor);
  } catch (const Rcpp::LongjumpException&) {
    throw;
  } catch (const Rcpp::internal::InterruptedException&) {
    kind = "interrupt";
  } catch (const Interrupted&) {
    kind = "interrupt";
  } catch (const InputError& e) {
    kind = "input", text = e.what();
  } catch (const NumericalError& e) {
    kind = "numeric", text = e.what();
  } catch (const std::bad_alloc&) {
    kind = "memory";
  } catch (const std::exception& e) {
    kind = "defect", text = e.what();
  }
  raise(kind.c_str(), text);
}

}  // namespace granary
