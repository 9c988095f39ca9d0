// Writes one program, statement by statement, and remembers what it believes of the values' sizes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/random.h"

namespace axon::fuzz {

class Writer {
 public:
  explicit Writer(Random& random) : r_(random) {}
  std::string run();

 private:
  using Axes = std::vector<std::string>;

  // A tensor in scope: its axes as the generator believes them to be; `?` where it does not know.
  struct Var {
    std::string name;
    Axes axes;
  };

  struct Made {
    std::string name;
    std::vector<Axes> params;   // axes of each tensor parameter
    bool size = false;          // then a Dim
    bool flag = false;          // then a Bool
    bool rounds = false;        // then an Int
    bool maybe = false;         // then an optional tensor like the first
    bool under = false;         // takes a path, under which its parameters lie
    std::vector<Axes> results;  // more than one: a tuple
    bool number = false;        // and an integer behind them
    std::vector<std::pair<std::string, std::string>> leaves;  // that it reads, with their sizes
  };

  // programs.cc: definitions
  static std::string type(const Axes& axes);
  std::string axis();
  Axes axes(size_t rank);
  // Sums and products are written of names that stand alone somewhere: others nothing determines.
  void settle(std::vector<Axes>& params);
  void definition(bool main);
  void parameters(Made& made);
  void returns(Made& made, bool main);
  std::string result_type(const Axes& axes, size_t place, bool main);
  void header(const Made& made, bool main);
  void statement();
  void call();
  void bind_call(const Made& callee, std::string text, std::vector<Axes> results);

  // programs.cc: what statements are made of
  Var& any();
  Var* ranked(size_t rank);   // one of that rank, or null
  Var& like(const Var& var);  // another tensor, more often one that fits
  std::string fresh();
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  void bind(const std::string& value, Axes axes);
  static Axes joined(const Var& a, const Var& b);
  std::string size_value(const std::string& axis);  // as a value of the body, or empty
  std::string size();                               // a small one that the body knows
  void needs(const std::string& leaf, const std::string& sizes);

  // writer_layout.cc: one operation each
  void elementwise();
  void scalar();
  void matmul();
  void transpose();
  void reshape();
  void concat();
  void slice();
  void reduce();
  void unsqueeze();
  void pieces();
  void along();
  void select();
  void created();
  void places();
  void written();

  // writer_control.cc: conditionals, loops, lists, tuples, optional values, integers
  void conditional();
  void loop();
  void lists();
  void fold();
  void optional();
  void arithmetic();
  void data_loop();
  void data_sizes();

  // writer_values.cc: tuples and optional values in loops, integers as sizes, configuration, paths
  void tuples();
  void pairs();
  void filled();
  void number_sizes();
  void configured();
  void written_paths();
  void constants();
  std::string count();  // rounds of a loop

  // writer_layers.cc: parameters and what fused rows are made of
  void layer();
  void layers();
  void norm();
  void gated();
  Var first_of(const Var& a, size_t at);
  void rotary();
  void attention();

  Random& r_;
  std::string text_, body_;
  std::vector<Made> made_;
  Made* made_now_ = nullptr;
  std::vector<Var> vars_;
  std::vector<std::string> bound_;                     // names that are sizes in the body
  std::vector<std::string> sizes_, factors_, truths_;  // constants of the program
  std::vector<std::string> numbers_;                   // integers of the body that may be returned
  std::vector<std::string> dtypes_;
  int counter_ = 0, leaf_ = 0;
};

bool is_size_name(const std::string& axis);
bool is_number(const std::string& axis);

}  // namespace axon::fuzz
