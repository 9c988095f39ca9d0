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
      return bind(a.name + " * (_params_param @" + place + " :: Tensor[" + in + "])", axes);
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
  needs(place, a.axes.back());
  std::string scaled = name + " * (_params_param @" + place + " :: Tensor[" + a.axes.back() + "])";
  bind(r_.chance(30) ? "(" + scaled + ") + " + name : scaled, a.axes);
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

// Attention over the last two axes, with or without a causal mask.
void Writer::attention() {
  Var* found = ranked(4);
  if (found == nullptr) found = ranked(3);
  if (found == nullptr) return matmul();
  const Var q = *found, k = like(q), v = like(q);
  if (k.axes != q.axes || v.axes != q.axes) return matmul();
  std::string s = fresh();
  line(s + " <- (_matmul " + q.name + " (_transpose " + k.name + " -1 -2)) * 0.5");
  std::string length = size_value(q.axes[q.axes.size() - 2]);
  if (!length.empty() && r_.chance(60)) {
    std::string i = fresh(), j = fresh(), keep = fresh();
    std::string lead = q.axes.size() == 4 ? "1, 1, " : "1, ";
    line(i + " <- _reshape (_arange " + s + " 0 " + length + ") [" + lead + length + ", 1]");
    line(j + " <- _reshape (_arange " + s + " 0 " + length + ") [" + lead + "1, " + length + "]");
    line(keep + " <- _le " + j + " " + i);
    if (r_.chance(30)) line(keep + " <- _and " + keep + " (" + i + " - " + j + " < 2)");
    line(s + " <- _where " + keep + " " + s + " (_fill " + s + " (_dtype_value " + s +
         " \"min\"))");
  }
  line(s + " <- _softmax " + s + " -1");
  bind("_matmul " + s + " " + v.name, q.axes);
}

}  // namespace axon::fuzz
