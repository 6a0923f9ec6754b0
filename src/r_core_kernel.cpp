// Exports of the kernel language.
#include "r_core_kernel.h"

using namespace granary;

namespace granary {

struct KnownValuesList {
  KnownObjectValues known;
};
template <class V>
void fields(V& v, KnownValuesList& t) {
  v("diagonal", t.known.diagonal);
  v("rows", positions(t.known.rows));
  v("columns", positions(t.known.columns));
  v("values", t.known.values);
}

std::map<std::string, ObjectKernelReader::Make>& ObjectKernelReader::table() {
  static std::map<std::string, Make> all;
  return all;
}

std::shared_ptr<const ObjectKernel> read_object_kernel(SEXP kernel, const std::string& type) {
  SEXP objects = door::element(kernel, "objects"), options = door::element(kernel, "options");
  const auto found = ObjectKernelReader::table().find(type);
  if (found == ObjectKernelReader::table().end()) throw InputError(message("there is no kernel over objects called \"", type, "\"."));
  if (objects == nullptr) return nullptr;  // the kernel by itself: it has parameters, but no values
  return found->second(objects, options);
}

std::shared_ptr<const ObjectSet> read_objects(SEXP kernel, const std::string& type) {
  SEXP normalise = door::element(kernel, "normalize"), known = door::element(kernel, "known");
  std::shared_ptr<const ObjectKernel> made = read_object_kernel(kernel, type);
  const KnownValuesList list = made && known != nullptr ? read<KnownValuesList>(known, "known") : KnownValuesList();
  return std::make_shared<ObjectSet>(made, made && normalise != nullptr && flag(normalise, "normalize"), list.known);
}

}  // namespace granary

// A function of the user's over objects: f(objects, i, j) gives the matrix of the values between objects i and j.
namespace {

class UserObjects : public ObjectKernel {
 public:
  UserObjects(SEXP objects, SEXP function) : objects_(objects), function_(function) {}
  Index size() const override { return Rf_xlength(objects_); }
  bool reentrant() const override { return false; }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor&) const override {
    const MatrixXd k = function_(objects_, numbered(rows), numbered(columns));
    if (k.rows() != out.rows() || k.cols() != out.cols())
      throw InputError(message("the user kernel must return a ", out.rows(), " x ", out.cols(), " matrix for these objects, but it is ", k.rows(),
                               " x ", k.cols(), "."));
    out = k;
  }
  double operations() const override { return 1e3; }

 private:
  static VectorXd numbered(const std::vector<Index>& places) {
    const Eigen::Map<const Eigen::Matrix<Index, Eigen::Dynamic, 1>> at(places.data(), static_cast<Index>(places.size()));
    return at.cast<double>().array() + 1;
  }

  SEXP objects_;  // an argument of the exported function
  Callback<MatrixXd, SEXP, VectorXd, VectorXd> function_;
};

const ObjectKernelReader user_reader("user_objects", [](SEXP objects, SEXP options) -> std::shared_ptr<const ObjectKernel> {
  return std::make_shared<UserObjects>(objects, door::element(options, "call"));
});

}  // namespace

// `z` without rows: of x with itself.
// [[Rcpp::export(rng = false)]]
SEXP core_kernel_matrix(SEXP kernel, SEXP x, SEXP z, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const MatrixView points = matrix(x), others = matrix(z, "z");
    const Kernel k(read<KernelSpec>(kernel, "kernel"), points.cols());
    return write(others.rows() == 0 ? k.matrix(points, count(threads), monitor) : k.cross(points, others, count(threads), monitor));
  });
}

// k(x, x) of the objects of a kernel, before it is normalised.
// [[Rcpp::export(rng = false)]]
SEXP core_object_diagonal(SEXP kernel, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    return write(object_diagonal(*read_object_kernel(kernel, text(door::element(kernel, "type"))), count(threads), monitor));
  });
}

// Values of a kernel between some of its objects; `columns` of length zero: between the rows themselves.
// [[Rcpp::export(rng = false)]]
SEXP core_object_values(SEXP kernel, SEXP rows, SEXP columns, SEXP threads, SEXP progress) {
  return crossing(progress, [&](Monitor& monitor) {
    const auto objects = read_objects(kernel, text(door::element(kernel, "type")));
    const std::vector<Index> from = places(rows), to = places(columns);
    return write(to.empty() ? object_matrix(*objects, from, count(threads), monitor)
                            : object_block(*objects, from, to, count(threads), monitor));
  });
}

// [[Rcpp::export(rng = false)]]
SEXP core_kernel_parameters(SEXP kernel, SEXP dimension) {
  return crossing([&] {
    const Kernel k(read<KernelSpec>(kernel, "kernel"), count(dimension));
    return write_list("log_parameters", k.parameters(), "names", k.parameter_names(), "stationary", k.stationary(), "differentiable",
                      k.differentiable_in_inputs());
  });
}
