// Statements over tuples, optional values, integers, constants and paths.
#include <algorithm>

#include "fuzz/writer.h"

namespace axon::fuzz {

std::string Writer::count() {
  if (made_now_->rounds && r_.chance(40)) return "k";
  return bound_.empty() || r_.chance(50) ? std::to_string(r_.below(4)) : r_.pick(bound_);
}

// A tuple that a loop carries as one value, taken apart in each round.
void Writer::tuples() {
  const Var a = any(), b = like(a);
  const bool fits = a.axes == b.axes;
  std::string both = fresh(), u = fresh(), w = fresh();
  const bool numbered = r_.chance(40);
  line(both + " <- (" + a.name + ", " + b.name + (numbered ? ", 1)" : ")"));
  line(both + " <- for i <- [0.." + count() + ") carry (" + both + ") do");
  const std::string left = fits ? u + " * 0.5 + " + w : u + " * 0.5";
  const std::string right = r_.chance(50) ? w : w + " - 1.0";
  if (numbered) {
    std::string n = fresh();
    line("  " + u + ", " + w + ", " + n + " <- " + both);
    line("  yield (" + left + ", " + right + ", " + n + " + i)");
    line(u + ", " + w + ", " + n + " <- " + both);
    numbers_.push_back(n);
  } else {
    line("  " + u + ", " + w + " <- " + both);
    line("  yield (" + (fits && r_.chance(40) ? right + ", " + left : left + ", " + right) + ")");
    line(u + ", " + w + " <- " + both);
  }
  vars_.push_back({u, a.axes});
  vars_.push_back({w, b.axes});
}

// A list of tuples, written down or made by a loop.
void Writer::pairs() {
  const Var a = any(), b = like(a);
  std::string list = fresh(), t = fresh(), n = fresh();
  if (r_.chance(50)) {
    line(list + " <- [(" + a.name + ", 1), (" + (a.axes == b.axes ? b.name : a.name) + ", 2)]");
  } else {
    line(list + " <- _list_init");
    line(list + " <- for i <- [0.." + std::to_string(1 + r_.below(3)) + ") carry (" + list +
         ") do");
    line("  yield _list_append " + list + " (" + a.name + " * 0.5, i)");
  }
  line(t + ", " + n + " <- _list_index " + list + " " +
       (r_.chance(50) ? "0" : "((_list_length " + list + ") - 1)"));
  vars_.push_back({t, a.axes});
  numbers_.push_back(n);
  if (r_.chance(50)) bind(t + " * " + n, a.axes);
}

// A value that a loop may fill in.
void Writer::filled() {
  const Var a = any();
  std::string best = fresh();
  // A condition that no constant decides gives the loop's value its type.
  if (!made_now_->flag && !made_now_->maybe) return tuples();
  std::string first = made_now_->flag ? "c ? " + a.name + " : null" : "m";
  if (made_now_->maybe && r_.chance(40)) first = "m";
  const bool same = first != "m" || a.axes == made_now_->params[0];
  const Axes axes = same ? a.axes : made_now_->params[0];
  const std::string fill = same ? a.name : "x0";
  line(best + " <- " + first);
  line(best + " <- for i <- [0.." + count() + ") carry (" + best + ") do");
  const std::string more = "(" + best + " * 0.5 + " + (r_.chance(50) ? fill : "i") + ")";
  if (r_.chance(60)) {
    line("  yield (" + best + " == null) ? " + fill + " : " + more);
  } else {
    line("  yield (i < 1) ? " + best + " : " + fill);
  }
  if (r_.chance(15)) return bind("_require " + best, axes);
  bind("(" + best + " == null) ? (" + fill + " - 1.0) : " + best, axes);
}

// Integers of the caller as sizes, positions and lengths.
void Writer::number_sizes() {
  if (!made_now_->rounds) return arithmetic();
  const Var a = any();
  const size_t axis = r_.below(a.axes.size());
  const std::string at = std::to_string(axis);
  Axes axes = a.axes;
  switch (r_.below(6)) {
    case 0:
      return bind("_full " + a.name + " [k, " + size() + "] 0.5", {"?", "?"});
    case 1:
      return bind("_cast (_arange " + a.name + " 0 (k + 1)) \"float32\"", {"?"});
    case 2:
      axes[axis] = "?";
      return bind("_repeat " + a.name + " k " + at, axes);
    case 3: {
      std::string n = fresh();
      line(n + " <- (k > 2) ? k : 2");
      numbers_.push_back(n);
      return bind("_zeros " + a.name + " [" + n + " - 1]", {"?"});
    }
    case 4: {
      std::string n = fresh();
      axes[axis] = "?";
      line(n + " <- _tensor_size " + a.name + " " + at);
      numbers_.push_back(n);
      return bind("_slice " + a.name + " " + at + " 0 ((k < " + n + ") ? k : " + n + ")", axes);
    }
    default:
      axes.insert(axes.begin(), "?");
      return bind("_repeat (_unsqueeze " + a.name + " 0) (k + 1) 0", axes);
  }
}

// Constants of the program: written, computed, or read from the configuration.
void Writer::constants() {
  static constexpr const char* kSizes[] = {"WA", "WB"};
  std::string keys, body;
  auto number = [&] { return std::to_string(1 + r_.below(3)); };
  auto given = [&](const std::string& key, const std::string& value) {
    keys += "-- config " + key + " " + value + "\n";
  };
  for (const char* name : kSizes) {
    if (r_.chance(40)) continue;
    const std::string key = std::string("sizes.") + name, value = number();
    const std::string make = r_.chance(60) ? " <- " : " = ";
    switch (r_.below(4)) {
      case 0:
        body += name + make + value + "\n";
        break;
      case 1:
        body += name + make + value + " + 1\n";
        break;
      default: {
        const char* read = r_.chance(60) ? "Config.dim @@" : "Config.int @@";
        body += name + make + read + "sizes_" + name + " default=" + value + "\n";
        if (r_.chance(60)) given("sizes_" + std::string(name), number());
      }
    }
    sizes_.emplace_back(name);
  }
  if (r_.chance(50)) {
    body += "GAIN <- Config.float @@gain default=0.5\n";
    if (r_.chance(50)) given("gain", r_.chance(50) ? "2" : "0.25");
    factors_.emplace_back("GAIN");
  }
  if (r_.chance(50)) {
    body += "TURNED <- Config.bool @@turned default=false\n";
    if (r_.chance(50)) given("turned", r_.chance(50) ? "true" : "null");
    truths_.emplace_back("TURNED");
  }
  if (r_.chance(25)) keys += "-- late\n";
  text_ = keys + "import Config\n\n" + body + "\n";
}

// What constants are for: factors, conditions, sizes, rounds.
void Writer::configured() {
  const Var a = any(), b = like(a);
  if (!factors_.empty() && r_.chance(40)) return bind(a.name + " * " + factors_[0], a.axes);
  if (!truths_.empty() && r_.chance(50)) {
    const std::string& on = truths_[0];
    if (a.axes == b.axes) return bind(on + " ? " + a.name + " : " + b.name, a.axes);
    return bind("(" + on + " or " + (made_now_->flag ? "c" : "false") + ") ? (" + a.name +
                    " + 1.0) : " + a.name,
                a.axes);
  }
  if (sizes_.empty()) return created();
  const std::string& n = r_.pick(sizes_);
  if (r_.chance(50)) return bind("_full " + a.name + " [" + n + "] 0.5", {n});
  std::string name = fresh();
  line(name + " <- " + a.name);
  line(name + " <- for i <- [0.." + n + ") carry (" + name + ") do");
  line("  yield " + name + " * 0.5 + i");
  vars_.push_back({name, a.axes});
}

// Parameters whose names are put together from numbers.
void Writer::written_paths() {
  const Var a = any();
  if (!is_number(a.axes.back())) return layers();
  const std::string in = a.axes.back();
  const std::string place = "q" + std::to_string(++leaf_);
  const bool absolute = r_.chance(30);
  auto read = [&](const std::string& piece) {
    return "(_params_param " + std::string(absolute ? "@@'" : "@'") + place + piece +
           ".w' :: Tensor[" + in + "])";
  };
  auto need = [&](size_t from, size_t to, const std::string& joint) {
    for (size_t i = from; i < to; ++i)
      needs((absolute ? "/" : "") + place + joint + std::to_string(i) + ".w", in);
  };
  const bool joined = r_.chance(50);
  const std::string joint = joined ? "" : ".";
  if (made_now_->rounds && r_.chance(40)) {
    need(1, 5, joint);
    return bind(a.name + " * " + read(joint + "{k}"), a.axes);
  }
  if (!bound_.empty() && r_.chance(30)) {
    const std::string n = r_.pick(bound_);
    need(1, 5, joint);
    return bind(a.name + " + " + read(joint + "{" + n + "}"), a.axes);
  }
  std::string name = fresh();
  const size_t rounds = 1 + r_.below(3);
  const bool shifted = r_.chance(40);
  line(name + " <- " + a.name);
  line(name + " <- for i <- [0.." + std::to_string(rounds) + ") carry (" + name + ") do");
  if (shifted) line("  j <- i + 1");
  line("  yield " + name + " * " + read(joint + (shifted ? "{j}" : "{i}")));
  need(shifted ? 1 : 0, rounds + (shifted ? 1 : 0), joint);
  vars_.push_back({name, a.axes});
}

}  // namespace axon::fuzz
