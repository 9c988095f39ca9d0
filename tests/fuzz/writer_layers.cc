// Statements that read parameters, and patterns that become fused rows.
#include "fuzz/writer.h"

namespace axon::fuzz {

// A projection, a gain or a table; the last axis must be a number that the checkpoint can have.
void Writer::layer() {
  const Var a = any();
  if (!is_number(a.axes.back())) return norm();
  std::string in = a.axes.back(), out = std::to_string(1 + r_.below(4));
  std::string place = "p" + std::to_string(++leaf_);
  Axes axes = a.axes;
  switch (r_.below(5)) {
    case 0:
      needs(place + ".weight", in);
      if (r_.chance(50)) needs(place + ".bias", in);
      return bind("_layernorm@" + place + " " + a.name, axes);
    case 1:
      needs(place, in);
      return bind(a.name + " * ((_params_param @" + place + ") :: Tensor[" + in + "])", axes);
    default: {
      axes.back() = out;
      bool transposed = r_.chance(25), bias = r_.chance(40);
      needs(place + ".weight", transposed ? in + "," + out : out + "," + in);
      if (bias && r_.chance(75)) needs(place + ".bias", out);
      std::string text = "_linear@" + place + " " + a.name + " " + out;
      text += bias ? " true" : " false";
      if (transposed) text += " true";
      return bind(text, axes);
    }
  }
}

// Layers in a loop along their paths.
void Writer::layers() {
  const Var a = any();
  if (!is_number(a.axes.back())) return loop();
  std::string in = a.axes.back(), place = "p" + std::to_string(++leaf_), name = fresh();
  size_t count = 1 + r_.below(3);
  bool normed = r_.chance(50), branches = r_.chance(25);
  line(name + " <- " + a.name);
  line(name + " <- for@" + place + " i <- [0.." + std::to_string(count) + ") carry (" + name +
       ") do");
  std::string h = fresh();
  line("  " + h + " <- " + (normed ? "_layernorm@n " + name : name));
  if (branches) line("  " + h + " <- (i % 2 == 0) ? " + h + " : (_activations_silu " + h + ")");
  line("  yield " + name + " + (_linear@w " + h + " " + in + ")");
  for (size_t i = 0; i < count; ++i) {
    std::string round = place + "." + std::to_string(i);
    needs(round + ".w.weight", in + "," + in);
    if (normed) needs(round + ".n.weight", in), needs(round + ".n.bias", in);
  }
  vars_.push_back({name, a.axes});
}

// Root mean square and gain, in one operation or written out.
void Writer::norm() {
  const Var a = any();
  std::string name = fresh();
  std::string width = size_value(a.axes.back());
  bool gain = is_number(a.axes.back());
  if (r_.chance(50) || width.empty()) {
    line(name + " <- _rmsnorm " + a.name + " 0.001");
  } else {
    line(name + " <- (_sum (" + a.name + " * " + a.name + ") -1 true) / " + width);
    line(name + " <- " + a.name + " / (_sqrt (" + name + " + 0.001))");
  }
  if (!gain) {
    vars_.push_back({name, a.axes});
    return;
  }
  std::string place = "p" + std::to_string(++leaf_);
  Axes axes = a.axes;
  std::string wide = axes.back();
  if (r_.chance(20)) wide = wide == "1" ? "3" : "1";
  if (wide != "1") axes.back() = wide;
  needs(place, wide);
  std::string scaled = name + " * ((_params_param @" + place + ") :: Tensor[" + wide + "])";
  bind(r_.chance(30) ? "(" + scaled + ") + " + name : scaled, axes);
}

// Two projections, one through an activation, back to the width and to the residual.
void Writer::gated() {
  const Var a = any();
  if (!is_number(a.axes.back())) return scalar();
  std::string in = a.axes.back(), inner = std::to_string(2 + r_.below(3));
  std::string place = "p" + std::to_string(++leaf_);
  const char* act = r_.pick(std::vector<const char*>{"_activations_silu", "_activations_gelu",
                                                     "_activations_gelu_new", "_activations_relu"});
  std::string h = fresh();
  bool two = r_.chance(60);
  line(h + " <- " + act + " (_linear@" + place + ".g " + a.name + " " + inner + ")");
  needs(place + ".g.weight", inner + "," + in);
  if (two) {
    line(h + " <- " + h + " * (_linear@" + place + ".u " + a.name + " " + inner + ")");
    needs(place + ".u.weight", inner + "," + in);
  }
  needs(place + ".d.weight", in + "," + inner);
  bind(a.name + " + (_linear@" + place + ".d " + h + " " + in + ")", a.axes);
}

// The first of an axis, which is stretched again where it meets the others.
Writer::Var Writer::first_of(const Var& a, size_t at) {
  Var out{fresh(), a.axes};
  out.axes[at] = "1";
  line(out.name + " <- _slice " + a.name + " " + std::to_string(at) + " 0 1");
  return out;
}

// Rotary positions: halves of the last axis that turn by angles which all heads share.
void Writer::rotary() {
  Var* found = ranked(4);
  if (found == nullptr) return matmul();
  Var x{fresh(), found->axes};
  x.axes[3] = "?";
  line(x.name + " <- _concat " + found->name + " " + found->name + " 3");
  Var sin = first_of(x, 1);
  if (r_.chance(30)) sin = first_of(sin, r_.chance(50) ? 0 : 2);
  if (r_.chance(30)) x = first_of(x, r_.chance(50) ? 0 : 2);
  std::string one = fresh(), two = fresh(), turned = fresh();
  line(one + ", " + two + " <- _chunk " + x.name + " 3 2");
  line(turned + " <- _concat (" + two + " * -1) " + one + " 3");
  Axes axes = joined(x, sin);
  axes[3] = "?";
  bind(x.name + " * (" + sin.name + " * 0.5) + " + turned + " * " + sin.name, axes);
}

// Attention over the last two axes, with or without a causal mask.
void Writer::attention() {
  Var* found = ranked(4);
  if (found == nullptr) found = ranked(3);
  if (found == nullptr) return matmul();
  Var q = *found, k = like(q), v = like(q);
  const Axes whole = q.axes;
  if (k.axes != whole || v.axes != whole) return matmul();
  if (r_.chance(30)) {  // one of them has one row or head for all
    Var* those[] = {&q, &k, &v};
    Var& one = *those[r_.below(3)];
    one = first_of(one, r_.below(whole.size() - 2));
  }
  std::string s = fresh();
  line(s + " <- (_matmul " + q.name + " (_transpose " + k.name + " -1 -2)) * 0.5");
  std::string length = size_value(whole[whole.size() - 2]);
  if (!length.empty() && r_.chance(60)) {
    std::string i = fresh(), j = fresh(), keep = fresh();
    std::string lead = whole.size() == 4 ? "1, 1, " : "1, ";
    line(i + " <- _reshape (_arange " + s + " 0 " + length + ") [" + lead + length + ", 1]");
    line(j + " <- _reshape (_arange " + s + " 0 " + length + ") [" + lead + "1, " + length + "]");
    line(keep + " <- _le " + j + " " + i);
    if (r_.chance(30)) line(keep + " <- _and " + keep + " (" + i + " - " + j + " < 2)");
    line(s + " <- _where " + keep + " " + s + " (_fill " + s + " (_dtype_value " + s +
         " \"min\"))");
  }
  line(s + " <- _softmax " + s + " -1");
  bind("_matmul " + s + " " + v.name, whole);
}

}  // namespace axon::fuzz
