// Statements of one operation.
#include "fuzz/writer.h"

namespace axon::fuzz {

void Writer::elementwise() {
  const Var a = any(), b = like(a);
  const char* op = r_.pick(std::vector<const char*>{"+", "*", "-"});
  bind(a.name + " " + op + " " + b.name, joined(a, b));
}

void Writer::scalar() {
  const Var a = any();
  if (r_.chance(30) && !bound_.empty()) return bind(a.name + " * " + r_.pick(bound_), a.axes);
  const char* f = r_.pick(std::vector<const char*>{"_softmax", "_activations_silu", "_exp"});
  bind(std::string(f) + " " + a.name, a.axes);
}

void Writer::matmul() {
  const Var a = any();
  Var b = any();
  for (int i = 0; i < 4 && (a.axes.size() < 2 || b.axes.size() < 2 ||
                            b.axes[b.axes.size() - 2] != a.axes.back());
       ++i) {
    b = any();
  }
  if (a.axes.size() < 2 || b.axes.size() < 2) return elementwise();
  std::vector<std::string> axes = a.axes.size() >= b.axes.size() ? a.axes : b.axes;
  axes[axes.size() - 2] = a.axes[a.axes.size() - 2];
  axes.back() = b.axes.back();
  bind("_matmul " + a.name + " " + b.name, axes);
}

void Writer::transpose() {
  const Var a = any();
  if (a.axes.size() < 2) return scalar();
  size_t i = r_.below(a.axes.size()), j = r_.below(a.axes.size());
  std::vector<std::string> axes = a.axes;
  std::swap(axes[i], axes[j]);
  bind("_transpose " + a.name + " " + std::to_string(i) + " " + std::to_string(j), axes);
}

void Writer::reshape() {
  const Var a = any();
  std::vector<std::string> values;
  for (const std::string& axis : a.axes) {
    values.push_back(size_value(axis));
    if (values.back().empty()) return scalar();
  }
  std::vector<std::string> shape = values;
  if (values.size() >= 2 && r_.chance(60)) {
    size_t at = r_.below(values.size() - 1);  // two axes become one
    shape[at] = "(" + values[at] + " * " + values[at + 1] + ")";
    shape.erase(shape.begin() + static_cast<int64_t>(at) + 1);
  } else if (r_.chance(50)) {
    size_t at = r_.below(values.size());  // one becomes two
    std::string part = r_.chance(50) ? "2" : "1";
    shape[at] = "(" + values[at] + " / " + part + ")";
    shape.insert(shape.begin() + static_cast<int64_t>(at), part);
  } else {
    shape[r_.below(shape.size())] = r_.chance(50) ? "-1" : "2";
  }
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + shape[i];
  bind("_reshape " + a.name + " " + text + "]", std::vector<std::string>(shape.size(), "?"));
}

void Writer::concat() {
  const Var a = any(), b = like(a);
  if (a.axes.size() != b.axes.size()) return elementwise();
  size_t at = r_.below(a.axes.size());
  std::vector<std::string> axes = a.axes;
  axes[at] = "?";
  bind("_concat " + a.name + " " + b.name + " " + std::to_string(at), axes);
}

void Writer::slice() {
  const Var a = any();
  size_t at = r_.below(a.axes.size());
  std::string size = size_value(a.axes[at]);
  std::vector<std::string> axes = a.axes;
  std::string from = "0", to = "1";
  axes[at] = "1";
  if (!size.empty() && r_.chance(60)) {
    from = r_.chance(50) ? "0" : "1";
    to = size;
    axes[at] = from == "0" ? a.axes[at] : "?";
  } else if (r_.chance(30)) {
    to = "2";
    axes[at] = "2";
  }
  bind("_slice " + a.name + " " + std::to_string(at) + " " + from + " " + to, axes);
}

void Writer::reduce() {
  const Var a = any();
  if (a.axes.size() < 2) return scalar();
  size_t at = r_.below(a.axes.size());
  std::vector<std::string> axes = a.axes;
  bool keep = r_.chance(50);
  if (keep) axes[at] = "1";
  if (!keep) axes.erase(axes.begin() + static_cast<int64_t>(at));
  bind("_sum " + a.name + " " + std::to_string(at) + (keep ? " true" : " false"), axes);
}

void Writer::unsqueeze() {
  const Var a = any();
  if (a.axes.size() > 3) return scalar();
  size_t at = r_.below(a.axes.size() + 1);
  std::vector<std::string> axes = a.axes;
  axes.insert(axes.begin() + static_cast<int64_t>(at), "1");
  bind("_unsqueeze " + a.name + " " + std::to_string(at), axes);
}

// The pieces of a tensor along an axis.
void Writer::pieces() {
  const Var a = any();
  size_t at = r_.below(a.axes.size());
  std::string one = fresh(), two = fresh();
  std::vector<std::string> axes = a.axes;
  axes[at] = "?";
  body_ += "  " + one + ", " + two + " <- _chunk " + a.name + " " + std::to_string(at) + " 2\n";
  vars_.push_back({one, axes});
  vars_.push_back({two, axes});
}

// Operations that keep the shape and look along an axis, or at each element.
void Writer::along() {
  const Var a = any();
  std::string at = std::to_string(r_.below(a.axes.size()));
  if (r_.chance(30)) at = std::to_string(-1 - static_cast<int>(r_.below(a.axes.size())));
  switch (r_.below(6)) {
    case 0:
      return bind("_cumsum " + a.name + " " + at, a.axes);
    case 1:
      return bind("_softmax " + a.name + " " + at, a.axes);
    case 2:
      return bind("_rmsnorm " + a.name, a.axes);
    case 3:
      return bind("_clamp " + a.name + " -0.5 0.75", a.axes);
    case 4:
      return bind("_l2norm " + a.name + " 0.001", a.axes);
    default: {
      const char* type = r_.chance(50) ? "float16" : "bfloat16";
      bind("_cast " + a.name + " \"" + type + "\"", a.axes);
      return bind("_cast " + vars_.back().name + " \"float32\"", a.axes);
    }
  }
}

// By the truth of a comparison, element by element.
void Writer::select() {
  const Var a = any(), b = like(a);
  const char* op = r_.pick(std::vector<const char*>{">", "<=", "!="});
  std::string value = r_.chance(50) ? b.name : "0.25";
  bind("_where (" + a.name + " " + op + " 0.5) " + a.name + " " + value,
       value == b.name ? joined(a, b) : a.axes);
}

// Tensors of sizes that are computed, or of places.
void Writer::created() {
  const Var a = any();
  std::string n = size(), m = size();
  switch (r_.below(4)) {
    case 0:
      return bind("_zeros " + a.name + " [" + n + ", " + m + "]", {n, m});
    case 1:
      return bind("_full " + a.name + " [" + n + "] 0.5", {n});
    case 2:
      return bind("_cast (_arange " + a.name + " 0 " + n + ") \"float32\"", {n});
    default: {
      Axes axes = a.axes;
      axes.insert(axes.begin(), n);
      std::string shape = n;
      for (size_t i = 0; i < a.axes.size(); ++i) shape += ", -1";
      return bind("_expand " + a.name + " [" + shape + "]", axes);
    }
  }
}

// Orders of elements and what stands there.
void Writer::places() {
  const Var a = any();
  size_t axis = r_.below(a.axes.size());
  std::string at = std::to_string(axis);
  if (r_.chance(40)) {
    std::string one = fresh(), two = fresh();
    Axes axes = a.axes;
    axes[axis] = "1";
    line(one + ", " + two + " <- _topk " + a.name + " 1 " + at +
         (r_.chance(50) ? " true" : " false"));
    vars_.push_back({one, axes});
    if (r_.chance(50)) bind("_gather " + a.name + " " + two + " " + at, axes);
    return;
  }
  std::string order = fresh();
  line(order + " <- _argsort " + a.name + " " + at + (r_.chance(50) ? " true" : ""));
  bind("_gather " + a.name + " " + order + " " + at, a.axes);
}

// A value in which a part is replaced, or each place repeated.
void Writer::written() {
  const Var a = any();
  size_t axis = r_.below(a.axes.size());
  std::string at = std::to_string(axis);
  Axes axes = a.axes;
  switch (r_.below(3)) {
    case 0: {
      std::string part = fresh();
      line(part + " <- _slice " + a.name + " " + at + " 0 1");
      return bind("_assign_slice " + a.name + " (" + part + " * 2.0) " + at + " 0 1", axes);
    }
    case 1: {
      axes[axis] = "?";
      return bind("_repeat " + a.name + " 2 " + at, axes);
    }
    default: {
      if (axes.size() < 2) return elementwise();
      std::string dims = "[";
      Axes turned;
      for (size_t i = 0; i < axes.size(); ++i) {
        size_t from = (i + 1) % axes.size();
        dims += (i ? ", " : "") + std::to_string(from);
        turned.push_back(axes[from]);
      }
      return bind("_permute " + a.name + " " + dims + "]", turned);
    }
  }
}

}  // namespace axon::fuzz
