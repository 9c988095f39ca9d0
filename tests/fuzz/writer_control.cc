// Statements that decide, repeat and collect.
#include "fuzz/writer.h"

namespace axon::fuzz {

void Writer::conditional() {
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

void Writer::loop() {
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
    body_ += "    " + name + " <- _concat " + name + " " + b.name + " " + std::to_string(at) + "\n";
    axes[at] = "?";
  } else {
    body_ += "    " + name + " <- " + name + " + " + b.name + "\n";
  }
  body_ += "    yield " + name + "\n";
  vars_.push_back({name, axes});
}

// A list of tensors, an item of it, its length as a size.
void Writer::lists() {
  const Var a = any(), b = like(a);
  std::string list = fresh();
  if (r_.chance(50)) {
    line(list + " <- [" + a.name + ", " + b.name + ", " + a.name + "]");
  } else {
    line(list + " <- _list_append (_list_append _list_init " + a.name + ") " + b.name);
  }
  const Var c = a.axes == b.axes ? like(a) : a;
  if (c.axes == a.axes && r_.chance(50)) line(list + " <- _list_append " + list + " " + c.name);
  Axes axes = a.axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (a.axes.size() != b.axes.size() || axes[i] != b.axes[i]) axes[i] = "?";
  }
  std::string index =
      r_.chance(60) ? std::to_string(r_.below(2)) : "((_list_length " + list + ") - 1)";
  if (a.axes == b.axes) return bind("_list_index " + list + " " + index, axes);
  bind(a.name + " * (_list_length " + list + ")", a.axes);
}

// A list that a loop makes, and another that adds it up.
void Writer::fold() {
  const Var a = any(), b = like(a);
  std::string list = fresh(), sum = fresh();
  std::string count = r_.chance(50) ? "3" : size();
  line(list + " <- _list_init");
  line(list + " <- for i <- [0.." + count + ") carry (" + list + ") do");
  line("  yield _list_append " + list + " (" + a.name + " * (i + 1))");
  line(sum + " <- " + b.name);
  bool back = r_.chance(30);
  std::string length = "(_list_length " + list + ")";
  line(sum + " <- for i <- " + (back ? "[" + length + " - 1..0] step=-1" : "[0.." + length + ")") +
       " carry (" + sum + ") do");
  line("  yield " + sum + " + (_list_index " + list + " i)");
  vars_.push_back({sum, a.axes == b.axes ? a.axes : Axes(joined(a, b).size(), "?")});
}

// Values that may be null, decided by a flag or a size.
void Writer::optional() {
  const Var a = any(), b = like(a);
  std::string condition = made_now_->flag ? "c" : "(" + size() + " > 1)";
  std::string maybe = fresh();
  bool first = r_.chance(50);
  line(maybe + " <- " + condition + " ? " + (first ? a.name : "null") + " : " +
       (first ? "null" : a.name));
  if (r_.chance(15)) return bind("_require " + maybe, a.axes);
  std::string name = fresh();
  if (r_.chance(50)) {
    line("if " + maybe + " == null then do");
    line("  " + name + " <- " + b.name);
    line("else do");
    line("  " + name + " <- " + maybe + (a.axes == b.axes ? " + " + b.name : ""));
  } else {
    line(name + " <- (" + maybe + " == null) ? " + b.name + " : " + maybe);
  }
  vars_.push_back({name, a.axes == b.axes ? a.axes : Axes(a.axes.size(), "?")});
  if (a.axes.size() != b.axes.size()) vars_.pop_back();
}

// Integers computed from sizes, used as sizes, factors and conditions.
void Writer::arithmetic() {
  const Var a = any();
  std::string n = fresh();
  std::string left = size(), right = size();
  const char* op = r_.pick(std::vector<const char*>{"+", "*", "-", "/", "%"});
  line(n + " <- " + left + " " + op + " " + right);
  std::string use = fresh();
  switch (r_.below(4)) {
    case 0:
      line(use + " <- (" + n + " > 1) ? " + n + " : 1");
      return bind("_full " + a.name + " [" + use + "] 1.5", {"?"});
    case 1:
      return bind(a.name + " * " + n + " + " + n, a.axes);
    case 2:
      return bind("(" + n + " % 2 == 0) ? " + a.name + " : (" + a.name + " * 0.5)", a.axes);
    default:
      line(use + " <- " + n);
      line(use + " <- for i <- [0..3) carry (" + use + ") do");
      line("  yield " + use + " + i * " + left);
      return bind(a.name + " + " + use, a.axes);
  }
}

// A loop that an input bounds, with a tensor, a number and sometimes a list that it carries.
void Writer::data_loop() {
  if (!made_now_->rounds) return loop();
  const Var a = any(), b = like(a);
  bool fits = a.axes == b.axes;
  std::string name = fresh(), count = fresh(), list = fresh();
  bool collects = r_.chance(40);
  line(name + " <- " + a.name);
  line(count + " <- 0");
  if (collects) line(list + " <- _list_init");
  std::string carried = name + ", " + count + (collects ? ", " + list : "");
  bool down = r_.chance(25);
  line(carried + " <- for i <- " + (down ? "[k..0) step=-1" : "[0..k)") + " carry (" + carried +
       ") do");
  line("  " + name + " <- " + name + " * 0.5 + " + (fits ? b.name : "i"));
  if (r_.chance(30)) line("  " + name + " <- (i % 2 == 0) ? " + name + " : (" + name + " - 1.0)");
  if (collects) line("  " + list + " <- _list_append " + list + " " + name);
  line("  yield " + name + ", " + count + " + i" + (collects ? ", " + list : ""));
  vars_.push_back({name, a.axes});
  if (r_.chance(50)) bind(name + " + " + count, a.axes);
  if (collects) bind(name + " * (_list_length " + list + ")", a.axes);
}

// Sizes that only the contents of a tensor decide.
void Writer::data_sizes() {
  const Var* a = ranked(2);
  if (a == nullptr) return select();
  const Var x = *a;
  std::string rows = fresh(), columns = fresh(), count = fresh();
  line(rows + ", " + columns + " <- _where_indices (" + x.name + " > 0.0)");
  line(count + " <- _tensor_size " + rows + " 0");
  if (r_.chance(50)) return bind(x.name + " * " + count, x.axes);
  bind("(_cast (" + rows + " + " + columns + ") \"float32\") * 0.5", {"?"});
}

}  // namespace axon::fuzz
