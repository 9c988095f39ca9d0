// Methods of strings, mappings, lists and the loop variable. Nothing that changes a value is
// offered.
#include <algorithm>

#include "runtime/text/template_eval.h"

namespace axon::text::tmpl {
namespace {

enum Receiver : uint8_t { kString, kDict, kSequence, kLoop };

struct MethodRow {
  Receiver receiver;
  const char* name;
  Value (*call)(Evaluator&, const Value& self, const CallArgs&);
};

const std::string& text(Evaluator& run, const Value& v) { return run.heap().text(v); }

// A string argument, or null when it is absent or none. Other types fail.
const std::string* string_arg(Evaluator& run, const CallArgs& args, size_t index,
                              const char* name) {
  Value v = args.get(index, name);
  if (v.kind == Kind::None) return nullptr;
  if (v.kind != Kind::String) {
    run.fail("argument `" + std::string(name) + "` is " + std::string(type_name(v)) +
             ", needs a string");
    return nullptr;
  }
  return &run.heap().text(v);
}

int64_t int_arg(const CallArgs& args, size_t index, const char* name, int64_t otherwise) {
  Value v = args.get(index, name);
  return v.kind == Kind::Int || v.kind == Kind::Bool ? v.integer : otherwise;
}

Value strip(Evaluator& run, const Value& self, const CallArgs& args, bool left, bool right) {
  const std::string* chars = string_arg(run, args, 0, "chars");
  return run.heap().string(strip_text(text(run, self), chars, left, right));
}

Value split_method(Evaluator& run, const Value& self, const CallArgs& args, bool from_right) {
  Heap& heap = run.heap();
  const std::string* separator = string_arg(run, args, 0, "sep");
  int64_t limit = int_arg(args, 1, "maxsplit", -1);
  if (run.failed()) return {};
  const std::string whole = text(run, self);
  std::vector<std::string> parts;
  if (!separator) {
    std::vector<std::string> points = code_points(whole);
    std::string rest = strip_text(whole, nullptr, true, false);
    while (!rest.empty() && limit != 0 && !from_right) {
      std::vector<std::string> c = code_points(rest);
      size_t end = 0, bytes = 0;
      while (end < c.size() && !strip_text(c[end], nullptr, true, false).empty())
        bytes += c[end++].size();
      parts.push_back(rest.substr(0, bytes));
      rest = strip_text(rest.substr(bytes), nullptr, true, false);
      --limit;
      if (!run.charge(rest.size())) return {};
    }
    if (from_right) return run.fail("`rsplit` needs a separator");
    if (!rest.empty()) parts.push_back(strip_text(rest, nullptr, false, true));
  } else {
    if (separator->empty()) return run.fail("empty separator");
    size_t begin = 0, end = whole.size();
    while (limit != 0) {
      size_t found =
          from_right ? (end >= separator->size() ? whole.rfind(*separator, end - separator->size())
                                                 : whole.npos)
                     : whole.find(*separator, begin);
      if (found == whole.npos) break;
      if (from_right) {
        parts.push_back(whole.substr(found + separator->size(), end - found - separator->size()));
        end = found;
      } else {
        parts.push_back(whole.substr(begin, found - begin));
        begin = found + separator->size();
      }
      --limit;
    }
    parts.push_back(from_right ? whole.substr(0, end) : whole.substr(begin));
    if (from_right) std::reverse(parts.begin(), parts.end());
  }
  Items items;
  for (std::string& part : parts) items.push_back(heap.string(std::move(part)));
  return run.charge(items.size()) ? heap.list(std::move(items)) : Value{};
}

// startswith and endswith, with one text or a tuple of them.
Value affix(Evaluator& run, const Value& self, const CallArgs& args, bool at_end) {
  Heap& heap = run.heap();
  Value wanted = args.get(0, "prefix");
  Items options = wanted.kind == Kind::Tuple ? heap.items(wanted) : Items{wanted};
  const std::string& whole = text(run, self);
  for (const Value& option : options) {
    if (option.kind != Kind::String)
      return run.fail("needs a string, found " + std::string(type_name(option)));
    const std::string& part = heap.text(option);
    if (part.size() <= whole.size() &&
        whole.compare(at_end ? whole.size() - part.size() : 0, part.size(), part) == 0) {
      return heap.boolean(true);
    }
  }
  return heap.boolean(false);
}

Value find_text(Evaluator& run, const Value& self, const CallArgs& args, bool from_right) {
  const std::string* part = string_arg(run, args, 0, "sub");
  if (!part) return run.failed() ? Value{} : run.fail("needs a string");
  const std::string& whole = text(run, self);
  size_t found = from_right ? whole.rfind(*part) : whole.find(*part);
  if (found == whole.npos) return run.heap().integer(-1);
  return run.heap().integer(static_cast<int64_t>(code_point_count(whole.substr(0, found))));
}

Value count_text(Evaluator& run, const Value& self, const CallArgs& args) {
  const std::string* part = string_arg(run, args, 0, "sub");
  if (!part) return run.failed() ? Value{} : run.fail("needs a string");
  const std::string& whole = text(run, self);
  if (part->empty()) return run.heap().integer(static_cast<int64_t>(code_point_count(whole)) + 1);
  int64_t count = 0;
  for (size_t at = whole.find(*part); at != whole.npos; at = whole.find(*part, at + part->size()))
    ++count;
  return run.heap().integer(count);
}

template <class Test>
Value all_points(Evaluator& run, const Value& self, Test test) {
  std::vector<std::string> points = code_points(text(run, self));
  bool all = !points.empty() && std::all_of(points.begin(), points.end(), test);
  return run.heap().boolean(all);
}

bool ascii_alpha(const std::string& c) {
  return c.size() > 1 || (c[0] >= 'a' && c[0] <= 'z') || (c[0] >= 'A' && c[0] <= 'Z');
}
bool ascii_digit(const std::string& c) { return c.size() == 1 && c[0] >= '0' && c[0] <= '9'; }

Value join_method(Evaluator& run, const Value& self, const CallArgs& args) {
  Items items;
  if (!run.iterate(args.get(0, "iterable"), items)) return {};
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind != Kind::String)
      return run.fail("`join` needs strings, found " + std::string(type_name(items[i])));
    if (i) out += text(run, self);
    out += text(run, items[i]);
  }
  return run.heap().string(std::move(out));
}

Value split_lines(Evaluator& run, const Value& self, const CallArgs& args) {
  bool keep = truthy(run.heap(), args.get(0, "keepends"));
  const std::string whole = text(run, self);
  Items lines;
  for (size_t begin = 0; begin < whole.size();) {
    size_t end = whole.find_first_of("\r\n", begin);
    size_t after = end == whole.npos ? whole.size() : end + 1;
    if (end != whole.npos && whole[end] == '\r' && after < whole.size() && whole[after] == '\n')
      ++after;
    if (end == whole.npos) end = whole.size();
    lines.push_back(run.heap().string(whole.substr(begin, (keep ? after : end) - begin)));
    begin = after;
  }
  return run.heap().list(std::move(lines));
}

// `{}`, `{0}` and `{name}` fields without conversions or widths.
Value format_method(Evaluator& run, const Value& self, const CallArgs& args) {
  const std::string& format = text(run, self);
  std::string out;
  size_t automatic = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      ++i;
    } else if (c == '{') {
      size_t close = format.find('}', i);
      if (close == format.npos) return run.fail("`{` is not closed in a format");
      std::string field = format.substr(i + 1, close - i - 1);
      bool numbered = !field.empty() && std::all_of(field.begin(), field.end(),
                                                    [](char d) { return d >= '0' && d <= '9'; });
      if (field.size() > 9 && numbered) return run.fail("format field is out of range");
      size_t index = field.empty() ? automatic++
                     : numbered    ? static_cast<size_t>(std::stoi(field))
                                   : args.positional.size();
      if (!args.has(index, field)) return run.fail("format has no value for `{" + field + "}`");
      out += str(run.heap(), args.get(index, field));
      i = close;
    } else {
      out += c;
    }
  }
  return run.heap().string(std::move(out));
}

Value dict_view(Evaluator& run, const Value& self, int what) {
  Heap& heap = run.heap();
  Items items;
  for (const auto& [key, value] : heap.pairs(self)) {
    items.push_back(what == 0 ? key : what == 1 ? value : heap.tuple({key, value}));
  }
  return heap.list(std::move(items));
}

Value dict_get(Evaluator& run, const Value& self, const CallArgs& args) {
  Value key = args.get(0, "key");
  for (const auto& [k, v] : run.heap().pairs(self)) {
    if (equal(run.heap(), k, key)) return v;
  }
  return args.get(1, "default");
}

Value sequence_index(Evaluator& run, const Value& self, const CallArgs& args, bool count) {
  const Items& items = run.heap().items(self);
  int64_t found = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!equal(run.heap(), items[i], args.get(0, "value"))) continue;
    if (!count) return run.heap().integer(static_cast<int64_t>(i));
    ++found;
  }
  return count ? run.heap().integer(found) : run.fail("value is not in the list");
}

Value loop_cycle(Evaluator& run, const Value& self, const CallArgs& args) {
  if (args.positional.empty()) return run.fail("`loop.cycle` needs values");
  return args.positional[run.heap().loop_state(self).index % args.positional.size()];
}

Value loop_changed(Evaluator& run, const Value& self, const CallArgs& args) {
  LoopState& state = run.heap().loop_state(self);
  Value now = run.heap().tuple(args.positional);
  bool changed = !state.has_changed || !equal(run.heap(), now, state.last_changed);
  state.has_changed = true;
  state.last_changed = now;
  return run.heap().boolean(changed);
}

using E = Evaluator;
using A = CallArgs;
const MethodRow kMethods[] = {
    {kString, "strip", [](E& r, const Value& s, const A& a) { return strip(r, s, a, true, true); }},
    {kString, "lstrip",
     [](E& r, const Value& s, const A& a) { return strip(r, s, a, true, false); }},
    {kString, "rstrip",
     [](E& r, const Value& s, const A& a) { return strip(r, s, a, false, true); }},
    {kString, "split",
     [](E& r, const Value& s, const A& a) { return split_method(r, s, a, false); }},
    {kString, "rsplit",
     [](E& r, const Value& s, const A& a) { return split_method(r, s, a, true); }},
    {kString, "splitlines", split_lines},
    {kString, "startswith", [](E& r, const Value& s, const A& a) { return affix(r, s, a, false); }},
    {kString, "endswith", [](E& r, const Value& s, const A& a) { return affix(r, s, a, true); }},
    {kString, "find", [](E& r, const Value& s, const A& a) { return find_text(r, s, a, false); }},
    {kString, "rfind", [](E& r, const Value& s, const A& a) { return find_text(r, s, a, true); }},
    {kString, "count", count_text},
    {kString, "join", join_method},
    {kString, "format", format_method},
    {kString, "upper",
     [](E& r, const Value& s, const A&) { return r.heap().string(change_case(text(r, s), 'u')); }},
    {kString, "lower",
     [](E& r, const Value& s, const A&) { return r.heap().string(change_case(text(r, s), 'l')); }},
    {kString, "title",
     [](E& r, const Value& s, const A&) { return r.heap().string(change_case(text(r, s), 't')); }},
    {kString, "capitalize",
     [](E& r, const Value& s, const A&) { return r.heap().string(change_case(text(r, s), 'c')); }},
    {kString, "replace",
     [](E& r, const Value& s, const A& a) {
       const std::string* from = string_arg(r, a, 0, "old");
       const std::string* to = string_arg(r, a, 1, "new");
       if (!from || !to) return r.failed() ? Value{} : r.fail("`replace` needs two strings");
       return r.heap().string(replace_text(text(r, s), *from, *to, int_arg(a, 2, "count", -1)));
     }},
    {kString, "removeprefix",
     [](E& r, const Value& s, const A& a) {
       const std::string* part = string_arg(r, a, 0, "prefix");
       if (!part) return r.failed() ? Value{} : r.fail("needs a string");
       std::string whole = text(r, s);
       return r.heap().string(
           whole.compare(0, part->size(), *part) == 0 ? whole.substr(part->size()) : whole);
     }},
    {kString, "removesuffix",
     [](E& r, const Value& s, const A& a) {
       const std::string* part = string_arg(r, a, 0, "suffix");
       if (!part) return r.failed() ? Value{} : r.fail("needs a string");
       std::string whole = text(r, s);
       bool ends = part->size() <= whole.size() &&
                   whole.compare(whole.size() - part->size(), part->size(), *part) == 0;
       return r.heap().string(ends ? whole.substr(0, whole.size() - part->size()) : whole);
     }},
    {kString, "isdigit",
     [](E& r, const Value& s, const A&) { return all_points(r, s, ascii_digit); }},
    {kString, "isalpha",
     [](E& r, const Value& s, const A&) { return all_points(r, s, ascii_alpha); }},
    {kString, "isalnum",
     [](E& r, const Value& s, const A&) {
       return all_points(r, s,
                         [](const std::string& c) { return ascii_alpha(c) || ascii_digit(c); });
     }},
    {kString, "isspace",
     [](E& r, const Value& s, const A&) {
       return all_points(
           r, s, [](const std::string& c) { return strip_text(c, nullptr, true, false).empty(); });
     }},
    {kString, "isupper",
     [](E& r, const Value& s, const A&) {
       const std::string& t = text(r, s);
       return r.heap().boolean(change_case(t, 'u') == t && change_case(t, 'l') != t);
     }},
    {kString, "islower",
     [](E& r, const Value& s, const A&) {
       const std::string& t = text(r, s);
       return r.heap().boolean(change_case(t, 'l') == t && change_case(t, 'u') != t);
     }},
    {kDict, "items", [](E& r, const Value& s, const A&) { return dict_view(r, s, 2); }},
    {kDict, "keys", [](E& r, const Value& s, const A&) { return dict_view(r, s, 0); }},
    {kDict, "values", [](E& r, const Value& s, const A&) { return dict_view(r, s, 1); }},
    {kDict, "get", dict_get},
    {kDict, "copy",
     [](E& r, const Value& s, const A&) { return r.heap().dict(r.heap().pairs(s)); }},
    {kSequence, "index",
     [](E& r, const Value& s, const A& a) { return sequence_index(r, s, a, false); }},
    {kSequence, "count",
     [](E& r, const Value& s, const A& a) { return sequence_index(r, s, a, true); }},
    {kSequence, "copy",
     [](E& r, const Value& s, const A&) { return r.heap().list(r.heap().items(s)); }},
    {kLoop, "cycle", loop_cycle},
    {kLoop, "changed", loop_changed},
};

}  // namespace

Value find_method(Heap& heap, const Value& object, const std::string& name) {
  int receiver = object.kind == Kind::String ? kString
                 : object.kind == Kind::Dict ? kDict
                 : is_sequence(object)       ? kSequence
                 : object.kind == Kind::Loop ? kLoop
                                             : -1;
  for (size_t i = 0; i < std::size(kMethods); ++i) {
    if (kMethods[i].receiver == receiver && name == kMethods[i].name) {
      return heap.method(object, static_cast<int32_t>(i));
    }
  }
  return {};
}

Value call_method(Evaluator& run, const Value& method, const CallArgs& args) {
  Value self = run.heap().receiver(method);
  if (self.kind == Kind::String && !run.charge(run.heap().text(self).size() / 64)) return {};
  return kMethods[static_cast<size_t>(method.ref)].call(run, self, args);
}

}  // namespace axon::text::tmpl
