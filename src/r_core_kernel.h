// A kernel as R holds it (a list, see R/shared-kernel.R) as a KernelSpec: read<KernelSpec>(kernel).
#pragma once

#include "core/kernel/kernel.h"
#include "core/kernel/object_kernel.h"
#include "r_door.h"

namespace granary {

// How a kernel over objects is made of its container and its constants, by the kernel's type. One static reader beside the exports
// of each such kernel.
class ObjectKernelReader {
 public:
  using Make = std::shared_ptr<const ObjectKernel> (*)(SEXP objects, SEXP options);
  ObjectKernelReader(const char* type, Make make) { table()[type] = make; }
  static std::map<std::string, Make>& table();  // r_core_kernel.cpp
};

// The set that a kernel's list holds: `objects`, `options`, `normalize` and, where there are any, the values `known`.
std::shared_ptr<const ObjectSet> read_objects(SEXP kernel, const std::string& type);
std::shared_ptr<const ObjectKernel> read_object_kernel(SEXP kernel, const std::string& type);

// What stands in the list; `learn` is variance, scales, shape.
struct KernelParts {
  KernelSpec spec;
  std::vector<char> learn{1, 1, 1};
};
template <class V>
void fields(V& v, KernelParts& t) {
  v("variance", t.spec.variance);
  v("scales", t.spec.scales);
  v("shape", any_number(t.spec.shape));
  v("offset", t.spec.offset);
  v("columns", positions(t.spec.columns));
  v("learn", t.learn);
}

namespace door {

inline void convert(const Source& s, KernelSpec& spec) {
  if (TYPEOF(s.value) != VECSXP) unexpected(s.name, "a kernel");
  SEXP type = element(s.value, "type"), children = element(s.value, "children");
  if (type == nullptr) throw InputError(message("`", s.name, "` is no kernel: it has no type."));
  spec = KernelSpec();
  spec.type = as_text(type, "type");
  if (children != nullptr) return convert(Source{children, "children", s.state}, spec.children);
  KernelParts parts;
  Reader reader(s.value, true);
  fields(reader, parts);
  require(parts.learn.size() == 3, "`learn` of a kernel must have three elements.");
  const std::string name = spec.type;
  spec = parts.spec;
  spec.type = name;
  if (SEXP boolean = element(s.value, "boolean")) spec.boolean = read<BooleanSpec>(boolean, "boolean");
  if (element(s.value, "options") != nullptr) spec.objects = read_objects(s.value, name);
  spec.learn_variance = parts.learn[0];
  spec.learn_scales = parts.learn[1];
  spec.learn_shape = parts.learn[2];
  if (name != "user") return;
  SEXP parameters = element(s.value, "parameters"), function = element(s.value, "call");
  if (parameters == nullptr || function == nullptr) throw InputError("a kernel of your own needs its parameters and its function.");
  convert(Source{parameters, "parameters", s.state}, spec.user_parameters);
  spec.function = Callback<MatrixXd, MatrixXd, MatrixXd, VectorXd>(function);
}

}  // namespace door

// For exports that do not yet go through the door.
inline KernelSpec as_kernel_spec(SEXP kernel) { return read<KernelSpec>(kernel, "kernel"); }

}  // namespace granary
