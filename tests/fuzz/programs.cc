// The generator of programs: definitions, their headers and calls of each other.
#include "fuzz/programs.h"

#include <algorithm>

#include "fuzz/writer.h"

namespace axon::fuzz {

bool is_size_name(const std::string& axis) {
  return axis.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZn") == axis.npos;
}
bool is_number(const std::string& axis) {
  return axis.find_first_not_of("0123456789") == axis.npos;
}

std::string make_program(Random& random) { return Writer(random).run(); }

std::string Writer::run() {
  size_t count = 1 + r_.below(3);
  if (r_.chance(35)) constants();
  for (size_t i = 0; i < count; ++i) definition(i + 1 == count);
  std::string head;
  for (const auto& [leaf, sizes] : made_.back().leaves)
    head += "-- param " + leaf.substr(leaf[0] == '/') + " " + sizes + "\n";
  return head + text_;
}

std::string Writer::type(const std::vector<std::string>& axes) {
  std::string out = "Tensor[";
  for (size_t i = 0; i < axes.size(); ++i) out += (i ? "," : "") + axes[i];
  return out + "]";
}

std::string Writer::axis() {
  if (!sizes_.empty() && r_.chance(15)) return r_.pick(sizes_);
  if (r_.chance(62)) return r_.pick(std::vector<std::string>{"B", "S", "K", "D"});
  if (r_.chance(75)) return r_.pick(std::vector<std::string>{"1", "2", "3", "4"});
  return r_.pick(std::vector<std::string>{"2*S", "S+K", "S+1", "B*S", "D/2"});
}

std::vector<std::string> Writer::axes(size_t rank) {
  std::vector<std::string> out;
  for (size_t i = 0; i < rank; ++i) out.push_back(axis());
  return out;
}

// Sums and products are written of names that stand alone somewhere: others nothing determines.
void Writer::settle(std::vector<std::vector<std::string>>& params) {
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
      if (std::find(sizes_.begin(), sizes_.end(), a) != sizes_.end()) continue;
      for (char c : a) known = known && (c < 'A' || alone(c));
      if (!known) a = "B";
    }
  }
}

void Writer::parameters(Made& made) {
  size_t count = 1 + r_.below(3);
  size_t rank = r_.chance(12) ? 4 : 1 + r_.below(3);
  Axes shape = axes(rank);
  for (size_t i = 0; i < count; ++i) {
    // Often shapes alike: two tensors of no common shape have little to do with each other.
    if (i > 0 && r_.chance(rank == 4 ? 20 : 40)) shape = axes(1 + r_.below(3));
    if (i > 0 && r_.chance(25)) shape[r_.below(shape.size())] = axis();
    made.params.push_back(shape);
  }
  settle(made.params);
  made.size = r_.chance(30);
  made.flag = r_.chance(30);
  made.rounds = r_.chance(20);
  made.maybe = r_.chance(25);
  made.under = r_.chance(20);
  // A size may name an axis of a parameter.
  if (made.size && r_.chance(40)) {
    made.params[0][r_.below(made.params[0].size())] = "n";
    settle(made.params);
  }
}

void Writer::definition(bool main) {
  Made made;
  made.name = main ? "main" : "f" + std::to_string(made_.size() + 1);
  parameters(made);
  made.under = made.under && !main;
  vars_.clear();
  body_.clear();
  bound_ = sizes_;
  numbers_.clear();
  counter_ = 0;
  made_now_ = &made;
  for (size_t i = 0; i < made.params.size(); ++i) {
    vars_.push_back({"x" + std::to_string(i), made.params[i]});
    for (const std::string& a : made.params[i]) {
      if (is_size_name(a)) bound_.push_back(a);
    }
  }
  if (made.size) bound_.push_back("n"), numbers_.push_back("n");
  if (made.rounds) numbers_.push_back("k");
  size_t statements = 1 + r_.below(7);
  for (size_t i = 0; i < statements; ++i) statement();
  returns(made, main);
  if (!main) text_ += "\n";
  made_.push_back(made);
}

void Writer::returns(Made& made, bool main) {
  std::string names = vars_.back().name;
  made.results.push_back(vars_.back().axes);
  while (made.results.size() < 3 && r_.chance(25)) {
    const Var& more = any();
    names += ", " + more.name;
    made.results.push_back(more.axes);
  }
  if (main && made.results.size() > 1 && !numbers_.empty() && r_.chance(40)) {
    made.number = true;
    names += ", " + r_.pick(numbers_);
  }
  header(made, main);
  text_ += body_ + "  return " + names + "\n";
}

// A result: as believed, or sizes that the body determines, or nothing said.
std::string Writer::result_type(const Axes& axes, size_t place, bool main) {
  bool sure = true;
  for (const std::string& a : axes) sure = sure && (is_size_name(a) || is_number(a));
  if (sure && r_.chance(50)) return type(axes);
  if (axes.empty() || r_.chance(30)) return main ? "Tensor" : "Any";
  Axes names;
  for (size_t i = 0; i < axes.size(); ++i)
    names.push_back("R" + std::to_string(place) + std::string(1, static_cast<char>('a' + i)));
  return type(names);
}

void Writer::header(const Made& made, bool main) {
  std::string signature = made.name + " ::", head = made.name;
  if (made.under) signature += " Path ->", head += "@place";
  for (size_t i = 0; i < made.params.size(); ++i) {
    signature += " " + type(made.params[i]) + " ->";
    head += " x" + std::to_string(i);
  }
  if (made.size) signature += " Dim ->", head += " n";
  if (made.flag) signature += " Bool ->", head += " c";
  if (made.rounds) signature += " Int ->", head += " k";
  if (made.maybe) signature += " ?" + type(made.params[0]) + " ->", head += " m";
  std::string result;
  for (size_t i = 0; i < made.results.size(); ++i)
    result += (i ? ", " : "") + result_type(made.results[i], i, main);
  if (made.number) result += ", Any";
  if (made.results.size() > 1) result = "(" + result + ")";
  text_ += signature + " " + result + "\n" + head + " = do\n";
}

void Writer::statement() {
  using Statement = void (Writer::*)();
  static constexpr Statement kStatements[] = {
      &Writer::elementwise,  &Writer::elementwise, &Writer::scalar,        &Writer::matmul,
      &Writer::transpose,    &Writer::reshape,     &Writer::concat,        &Writer::slice,
      &Writer::reduce,       &Writer::unsqueeze,   &Writer::pieces,        &Writer::along,
      &Writer::select,       &Writer::created,     &Writer::places,        &Writer::written,
      &Writer::conditional,  &Writer::loop,        &Writer::lists,         &Writer::fold,
      &Writer::optional,     &Writer::arithmetic,  &Writer::data_loop,     &Writer::data_loop,
      &Writer::data_sizes,   &Writer::layer,       &Writer::layer,         &Writer::layers,
      &Writer::norm,         &Writer::gated,       &Writer::attention,     &Writer::attention,
      &Writer::rotary,       &Writer::tuples,      &Writer::pairs,         &Writer::filled,
      &Writer::number_sizes, &Writer::configured,  &Writer::written_paths, &Writer::call,
      &Writer::call,         &Writer::call};
  (this->*kStatements[r_.below(std::size(kStatements))])();
}

Writer::Var& Writer::any() { return vars_[r_.below(vars_.size())]; }

Writer::Var* Writer::ranked(size_t rank) {
  for (int tries = 0; tries < 6; ++tries) {
    Var& var = any();
    if (var.axes.size() == rank) return &var;
  }
  return nullptr;
}

// Another tensor, more often one that fits.
Writer::Var& Writer::like(const Var& var) {
  for (int tries = 0; tries < 4; ++tries) {
    Var& other = any();
    if (other.axes == var.axes) return other;
  }
  return any();
}

std::string Writer::fresh() { return "v" + std::to_string(++counter_); }

void Writer::bind(const std::string& value, std::vector<std::string> axes) {
  std::string name = fresh();
  body_ += "  " + name + " <- " + value + "\n";
  vars_.push_back({name, std::move(axes)});
}

std::vector<std::string> Writer::joined(const Var& a, const Var& b) {
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
std::string Writer::size_value(const std::string& axis) {
  if (is_number(axis)) return axis;
  for (const std::string& name : bound_) {
    if (name == axis) return name;
  }
  return "";
}

std::string Writer::size() {
  if (bound_.empty() || r_.chance(40)) return std::to_string(1 + r_.below(3));
  return r_.pick(bound_);
}

void Writer::needs(const std::string& leaf, const std::string& sizes) {
  std::pair<std::string, std::string> both{leaf, sizes};
  auto& leaves = made_now_->leaves;
  if (std::find(leaves.begin(), leaves.end(), both) == leaves.end()) leaves.push_back(both);
}

void Writer::call() {
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
  if (callee.rounds) text += made_now_->rounds && r_.chance(60) ? " k" : " 2";
  if (callee.maybe) text += r_.chance(60) ? " null" : " " + any().name;
  std::vector<Axes> results;
  for (const Axes& believed : callee.results) {
    results.emplace_back();
    for (const std::string& axis : believed) {
      std::string now = is_number(axis) ? axis : "?";
      for (const auto& [from, to] : renamed) {
        if (from == axis) now = to;
      }
      results.back().push_back(now);
    }
  }
  bind_call(callee, text, results);
}

// A call, sometimes below a path of its own.
void Writer::bind_call(const Made& callee, std::string text, std::vector<Axes> results) {
  std::string prefix;
  bool below = !callee.leaves.empty() && r_.chance(50);
  if (callee.under || below) prefix = "s" + std::to_string(++leaf_) + ".";
  for (const auto& [leaf, sizes] : callee.leaves)
    needs(leaf[0] == '/' ? leaf : prefix + leaf, sizes);
  const std::string place = prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1);
  if (callee.under) {
    text.insert(callee.name.size(), "@" + place);
    prefix.clear();
  }
  std::string names;
  for (const Axes& axes : results) {
    std::string name = fresh();
    names += (names.empty() ? "" : ", ") + name;
    vars_.push_back({name, axes});
  }
  if (prefix.empty()) return line(names + " <- " + text);
  line(names + " <- scope@" + place + " do");
  line("  return " + text);
}

}  // namespace axon::fuzz
