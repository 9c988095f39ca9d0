// The generator of programs.
#include "fuzz/programs.h"

#include <utility>
#include <vector>

namespace axon::fuzz {
namespace {

// A tensor in scope: its axes as the generator believes them to be; `?` where it does not know.
struct Var {
  std::string name;
  std::vector<std::string> axes;
};

struct Made {
  std::string name;
  std::vector<std::vector<std::string>> params;  // axes of each tensor parameter
  bool size = false;                             // then a Dim
  bool flag = false;                             // then a Bool
  bool maybe = false;                            // then an optional tensor like the first
  std::vector<std::string> result;
};

bool is_name(const std::string& axis) {
  return axis.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZn") == axis.npos;
}
bool is_number(const std::string& axis) {
  return axis.find_first_not_of("0123456789") == axis.npos;
}

class Writer {
 public:
  explicit Writer(Random& random) : r_(random) {}

  std::string run() {
    size_t count = 1 + r_.below(3);
    for (size_t i = 0; i < count; ++i) definition(i + 1 == count);
    return std::move(text_);
  }

 private:
  static std::string type(const std::vector<std::string>& axes) {
    std::string out = "Tensor[";
    for (size_t i = 0; i < axes.size(); ++i) out += (i ? "," : "") + axes[i];
    return out + "]";
  }

  std::string axis() {
    if (r_.chance(72)) return r_.pick(std::vector<std::string>{"B", "S", "K", "D"});
    if (r_.chance(60)) return r_.pick(std::vector<std::string>{"1", "2", "3", "4"});
    return r_.pick(std::vector<std::string>{"2*S", "S+K", "S+1", "B*S", "D/2"});
  }

  std::vector<std::string> axes(size_t rank) {
    std::vector<std::string> out;
    for (size_t i = 0; i < rank; ++i) out.push_back(axis());
    return out;
  }

  // Sums and products are written of names that stand alone somewhere: others nothing determines.
  void settle(std::vector<std::vector<std::string>>& params) {
    auto alone = [&](char name) {
      for (const auto& param : params) {
        for (const std::string& a : param) {
          if (a == std::string(1, name)) return true;
        }
      }
      return false;
    };
    for (auto& param : params) {
      for (std::string& a : param) {
        bool known = true;
        for (char c : a) known = known && (c < 'A' || alone(c));
        if (!known) a = "B";
      }
    }
  }

  void definition(bool main) {
    Made made;
    made.name = main ? "main" : "f" + std::to_string(made_.size() + 1);
    size_t count = 1 + r_.below(3);
    std::vector<std::string> shape = axes(1 + r_.below(3));
    for (size_t i = 0; i < count; ++i) {
      // Often shapes alike: two tensors of no common shape have little to do with each other.
      if (i > 0 && r_.chance(50)) shape = axes(1 + r_.below(3));
      if (i > 0 && r_.chance(30)) shape[r_.below(shape.size())] = axis();
      made.params.push_back(shape);
    }
    settle(made.params);
    made.size = r_.chance(30);
    made.flag = r_.chance(30);
    made.maybe = r_.chance(25);
    // A size may name an axis of a parameter.
    if (made.size && r_.chance(40)) {
      made.params[0][r_.below(made.params[0].size())] = "n";
      settle(made.params);
    }
    vars_.clear();
    body_.clear();
    bound_.clear();
    counter_ = 0;
    made_now_ = &made;
    for (size_t i = 0; i < count; ++i) {
      vars_.push_back({"x" + std::to_string(i), made.params[i]});
      for (const std::string& a : made.params[i]) {
        if (is_name(a)) bound_.push_back(a);
      }
    }
    if (made.size) bound_.push_back("n");
    size_t statements = 1 + r_.below(6);
    for (size_t i = 0; i < statements; ++i) statement();
    Var result = vars_.back();
    made.result = result.axes;
    header(made, main);
    text_ += body_ + "  return " + result.name + "\n";
    if (!main) text_ += "\n";
    made_.push_back(made);
  }

  void header(const Made& made, bool main) {
    std::string signature = made.name + " ::", head = made.name;
    for (size_t i = 0; i < made.params.size(); ++i) {
      signature += " " + type(made.params[i]) + " ->";
      head += " x" + std::to_string(i);
    }
    if (made.size) signature += " Dim ->", head += " n";
    if (made.flag) signature += " Bool ->", head += " c";
    if (made.maybe) signature += " ?" + type(made.params[0]) + " ->", head += " m";
    // The result: as believed, or sizes that the body determines, or nothing said.
    bool sure = true;
    for (const std::string& a : made.result) sure = sure && (is_name(a) || is_number(a));
    if (sure && r_.chance(50)) {
      signature += " " + type(made.result);
    } else if (!made.result.empty() && r_.chance(70)) {
      std::vector<std::string> fresh;
      for (size_t i = 0; i < made.result.size(); ++i) fresh.push_back("R" + std::to_string(i));
      signature += " " + type(fresh);
    } else {
      signature += main ? " Tensor" : " Any";
    }
    text_ += signature + "\n" + head + " = do\n";
  }

  Var& any() { return vars_[r_.below(vars_.size())]; }

  // Another tensor, more often one that fits.
  Var& like(const Var& var) {
    for (int tries = 0; tries < 4; ++tries) {
      Var& other = any();
      if (other.axes == var.axes) return other;
    }
    return any();
  }

  std::string fresh() { return "v" + std::to_string(++counter_); }

  void bind(const std::string& value, std::vector<std::string> axes) {
    std::string name = fresh();
    body_ += "  " + name + " <- " + value + "\n";
    vars_.push_back({name, std::move(axes)});
  }

  static std::vector<std::string> joined(const Var& a, const Var& b) {
    const Var& longer = a.axes.size() >= b.axes.size() ? a : b;
    const Var& shorter = a.axes.size() >= b.axes.size() ? b : a;
    std::vector<std::string> out = longer.axes;
    for (size_t i = 1; i <= shorter.axes.size(); ++i) {
      std::string& axis = out[out.size() - i];
      const std::string& other = shorter.axes[shorter.axes.size() - i];
      if (axis == "1") axis = other;
      if (axis != other && other != "1") axis = is_number(other) ? other : axis;
    }
    return out;
  }

  // A size as a value of the body, or empty.
  std::string size_value(const std::string& axis) {
    if (is_number(axis)) return axis;
    for (const std::string& name : bound_) {
      if (name == axis) return name;
    }
    return "";
  }

  void statement() {
    switch (r_.below(15)) {
      case 0:
      case 1:
        return elementwise();
      case 2:
        return matmul();
      case 3:
        return transpose();
      case 4:
        return reshape();
      case 5:
        return concat();
      case 6:
        return slice();
      case 7:
        return reduce();
      case 8:
        return unsqueeze();
      case 9:
        return conditional();
      case 10:
        return loop();
      case 11:
      case 12:
        return call();
      case 13:
        return pieces();
      default:
        return scalar();
    }
  }

  void elementwise() {
    const Var a = any(), b = like(a);
    const char* op = r_.pick(std::vector<const char*>{"+", "*", "-"});
    bind(a.name + " " + op + " " + b.name, joined(a, b));
  }

  void scalar() {
    const Var a = any();
    if (r_.chance(30) && !bound_.empty()) return bind(a.name + " * " + r_.pick(bound_), a.axes);
    const char* f = r_.pick(std::vector<const char*>{"_softmax", "_activations_silu", "_exp"});
    bind(std::string(f) + " " + a.name, a.axes);
  }

  void matmul() {
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

  void transpose() {
    const Var a = any();
    if (a.axes.size() < 2) return scalar();
    size_t i = r_.below(a.axes.size()), j = r_.below(a.axes.size());
    std::vector<std::string> axes = a.axes;
    std::swap(axes[i], axes[j]);
    bind("_transpose " + a.name + " " + std::to_string(i) + " " + std::to_string(j), axes);
  }

  void reshape() {
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

  void concat() {
    const Var a = any(), b = like(a);
    if (a.axes.size() != b.axes.size()) return elementwise();
    size_t at = r_.below(a.axes.size());
    std::vector<std::string> axes = a.axes;
    axes[at] = "?";
    bind("_concat " + a.name + " " + b.name + " " + std::to_string(at), axes);
  }

  void slice() {
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

  void reduce() {
    const Var a = any();
    if (a.axes.size() < 2) return scalar();
    size_t at = r_.below(a.axes.size());
    std::vector<std::string> axes = a.axes;
    bool keep = r_.chance(50);
    if (keep) axes[at] = "1";
    if (!keep) axes.erase(axes.begin() + static_cast<int64_t>(at));
    bind("_sum " + a.name + " " + std::to_string(at) + (keep ? " true" : " false"), axes);
  }

  void unsqueeze() {
    const Var a = any();
    if (a.axes.size() > 3) return scalar();
    size_t at = r_.below(a.axes.size() + 1);
    std::vector<std::string> axes = a.axes;
    axes.insert(axes.begin() + static_cast<int64_t>(at), "1");
    bind("_unsqueeze " + a.name + " " + std::to_string(at), axes);
  }

  void conditional() {
    const Var a = any(), b = like(a);
    if (made_now_->maybe && r_.chance(60)) {
      Var m{"m", made_now_->params[0]};
      return bind("(m == null) ? " + a.name + " : (" + a.name + " + m)", joined(a, m));
    }
    std::vector<std::string> axes = a.axes;
    for (size_t i = 0; i < axes.size() && i < b.axes.size(); ++i) {
      if (axes[i] != b.axes[i]) axes[i] = "?";
    }
    if (made_now_->flag && r_.chance(70)) return bind("c ? " + a.name + " : " + b.name, axes);
    if (made_now_->size) return bind("(n > 2) ? " + a.name + " : " + b.name, axes);
    elementwise();
  }

  void loop() {
    const Var a = any(), b = like(a);
    std::string name = fresh();
    std::string count =
        bound_.empty() || r_.chance(50) ? std::to_string(r_.below(3)) : r_.pick(bound_);
    body_ += "  " + name + " <- " + a.name + "\n";
    body_ += "  " + name + " <- for i <- [0.." + count + ") carry (" + name + ") do\n";
    std::vector<std::string> axes = a.axes;
    if (a.axes != b.axes) axes.assign(joined(a, b).size(), "?");
    if (r_.chance(40) && a.axes.size() == b.axes.size()) {
      size_t at = r_.below(axes.size());
      body_ +=
          "    " + name + " <- _concat " + name + " " + b.name + " " + std::to_string(at) + "\n";
      axes[at] = "?";
    } else {
      body_ += "    " + name + " <- " + name + " + " + b.name + "\n";
    }
    body_ += "    yield " + name + "\n";
    vars_.push_back({name, axes});
  }

  // The pieces of a tensor along an axis.
  void pieces() {
    const Var a = any();
    size_t at = r_.below(a.axes.size());
    std::string one = fresh(), two = fresh();
    std::vector<std::string> axes = a.axes;
    axes[at] = "?";
    body_ += "  " + one + ", " + two + " <- _chunk " + a.name + " " + std::to_string(at) + " 2\n";
    vars_.push_back({one, axes});
    vars_.push_back({two, axes});
  }

  void call() {
    if (made_.empty()) return elementwise();
    const Made& callee = r_.pick(made_);
    std::string text = callee.name;
    std::vector<std::pair<std::string, std::string>> renamed;
    for (const auto& param : callee.params) {
      const Var* found = nullptr;
      for (int tries = 0; tries < 6 && !found; ++tries) {
        const Var& var = any();
        if (var.axes.size() == param.size()) found = &var;
      }
      if (!found) return elementwise();
      text += " " + found->name;
      for (size_t i = 0; i < param.size(); ++i) renamed.emplace_back(param[i], found->axes[i]);
    }
    if (callee.size) {
      std::string size = bound_.empty() ? "2" : r_.pick(bound_);
      text += " " + size;
      renamed.emplace_back("n", size);
    }
    if (callee.flag) text += r_.chance(50) ? " true" : (made_now_->flag ? " c" : " false");
    if (callee.maybe) text += " null";
    std::vector<std::string> axes;
    for (const std::string& axis : callee.result) {
      std::string now = is_number(axis) ? axis : "?";
      for (const auto& [from, to] : renamed) {
        if (from == axis) now = to;
      }
      axes.push_back(now);
    }
    bind(text, axes);
  }

  Random& r_;
  std::string text_, body_;
  std::vector<Made> made_;
  const Made* made_now_ = nullptr;
  std::vector<Var> vars_;
  std::vector<std::string> bound_;  // names that are sizes in the body
  int counter_ = 0;
};

}  // namespace

std::string make_program(Random& random) { return Writer(random).run(); }

}  // namespace axon::fuzz
