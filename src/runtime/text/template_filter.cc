// Filters and tests of templates.
#include <algorithm>
#include <cmath>

#include "runtime/text/template_eval.h"
#include "support/text.h"

namespace axon::text::tmpl {
namespace {

using E = Evaluator;
using A = CallArgs;
using Filter = Value (*)(Evaluator&, const Value&, const CallArgs&);
struct FilterRow {
  const char* name;
  Filter call;
};
struct TestRow {
  const char* name;
  bool (*call)(Evaluator&, const Value&, const CallArgs&);
};

Value text_of(E& run, std::string text) { return run.heap().string(std::move(text)); }

// The part of `v` that `attribute=` names: dotted, with numbers as indices.
Value dig(E& run, Value v, const Value& path) {
  if (path.kind == Kind::Int) return run.item(v, path);
  std::string dotted(str(run.heap(), path));
  for (std::string_view part : split(dotted, '.')) {
    auto index = parse_int(part);
    v = index ? run.item(v, run.heap().integer(*index))
              : run.item(v, run.heap().string(std::string(part)));
    if (run.failed()) return {};
  }
  return v;
}

// A key for sorting and grouping; text ignores case unless asked.
Value sort_key(E& run, const Value& v, const Value& attribute, bool case_sensitive) {
  Value key = attribute.kind == Kind::None ? v : dig(run, v, attribute);
  if (!case_sensitive && key.kind == Kind::String)
    key = text_of(run, change_case(run.heap().text(key), 'l'));
  return key;
}

bool sort_by_key(E& run, std::vector<std::pair<Value, Value>>& keyed, bool reverse) {
  for (size_t i = 1; i < keyed.size(); ++i) {
    if (compare(run.heap(), keyed[0].first, keyed[i].first) == 2) {
      run.fail("cannot order " + std::string(type_name(keyed[0].first)) + " and " +
               std::string(type_name(keyed[i].first)));
      return false;
    }
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    int order = compare(run.heap(), a.first, b.first);
    return reverse ? order == 1 : order == -1;
  });
  return run.charge(keyed.size());
}

Value sort_filter(E& run, const Value& v, const A& a) {
  Items items;
  if (!run.iterate(v, items)) return {};
  bool reverse = truthy(run.heap(), a.get(0, "reverse")),
       sensitive = truthy(run.heap(), a.get(1, "case_sensitive"));
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items)
    keyed.emplace_back(sort_key(run, item, a.get(2, "attribute"), sensitive), item);
  if (run.failed() || !sort_by_key(run, keyed, reverse)) return {};
  for (size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
  return run.heap().list(std::move(items));
}

Value dictsort_filter(E& run, const Value& v, const A& a) {
  if (v.kind != Kind::Dict) return run.fail("`dictsort` needs a mapping");
  bool sensitive = truthy(run.heap(), a.get(0, "case_sensitive"));
  bool by_value = str(run.heap(), a.get(1, "by")) == "value";
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, value] : Pairs(run.heap().pairs(v))) {
    keyed.emplace_back(sort_key(run, by_value ? value : key, {Kind::None}, sensitive),
                       run.heap().tuple({key, value}));
  }
  if (!sort_by_key(run, keyed, truthy(run.heap(), a.get(2, "reverse")))) return {};
  Items items;
  for (const auto& entry : keyed) items.push_back(entry.second);
  return run.heap().list(std::move(items));
}

Value unique_filter(E& run, const Value& v, const A& a) {
  Items items, kept, seen;
  if (!run.iterate(v, items)) return {};
  for (const Value& item : items) {
    Value key =
        sort_key(run, item, a.get(1, "attribute"), truthy(run.heap(), a.get(0, "case_sensitive")));
    if (run.failed() || !run.charge(seen.size())) return {};
    bool known = std::any_of(seen.begin(), seen.end(),
                             [&](const Value& s) { return equal(run.heap(), s, key); });
    if (known) continue;
    seen.push_back(key);
    kept.push_back(item);
  }
  return run.heap().list(std::move(kept));
}

Value groupby_filter(E& run, const Value& v, const A& a) {
  Items items;
  if (!run.iterate(v, items)) return {};
  bool sensitive = truthy(run.heap(), a.get(2, "case_sensitive"));
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : items)
    keyed.emplace_back(sort_key(run, item, a.get(0, "attribute"), sensitive), item);
  if (run.failed() || !sort_by_key(run, keyed, false)) return {};
  Items groups;
  for (size_t i = 0; i < keyed.size();) {
    Items members;
    size_t j = i;
    while (j < keyed.size() && equal(run.heap(), keyed[j].first, keyed[i].first))
      members.push_back(keyed[j++].second);
    Value grouper = dig(run, members[0], a.get(0, "attribute"));
    groups.push_back(run.heap().tuple({grouper, run.heap().list(std::move(members))}));
    i = j;
  }
  return run.heap().list(std::move(groups));
}

Value extreme(E& run, const Value& v, const A& a, int wanted) {
  Items items;
  if (!run.iterate(v, items)) return {};
  if (items.empty()) return run.heap().undefined("");
  Value best = items[0];
  bool sensitive = truthy(run.heap(), a.get(0, "case_sensitive"));
  for (const Value& item : items) {
    int order = compare(run.heap(), sort_key(run, item, a.get(1, "attribute"), sensitive),
                        sort_key(run, best, a.get(1, "attribute"), sensitive));
    if (order == 2) return run.fail("cannot order the items");
    if (order == wanted) best = item;
  }
  return best;
}

Value join_filter(E& run, const Value& v, const A& a) {
  Items items;
  if (!run.iterate(v, items)) return {};
  std::string separator = a.has(0, "d") ? str(run.heap(), a.get(0, "d")) : std::string(), out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += separator;
    Value item = a.has(1, "attribute") ? dig(run, items[i], a.get(1, "attribute")) : items[i];
    out += str(run.heap(), item);
    if (!run.charge(out.size() / 1024)) return {};
  }
  return text_of(run, std::move(out));
}

Value map_filter(E& run, const Value& v, const A& a) {
  Items items, out;
  if (!run.iterate(v, items)) return {};
  bool by_attribute = a.positional.empty();
  A rest;
  if (!by_attribute) {
    rest.positional.assign(a.positional.begin() + 1, a.positional.end());
    rest.keywords = a.keywords;
  }
  for (const Value& item : items) {
    Value made;
    if (by_attribute) {
      made = dig(run, item, a.get(0, "attribute"));
      if (made.kind == Kind::Undefined && a.has(9, "default")) made = a.get(9, "default");
    } else {
      made = run.apply_filter(str(run.heap(), a.positional[0]), item, rest);
    }
    if (run.failed()) return {};
    out.push_back(made);
  }
  return run.heap().list(std::move(out));
}

// select, reject and their attribute forms.
Value pick(E& run, const Value& v, const A& a, bool keep, bool by_attribute) {
  Items items, out;
  if (!run.iterate(v, items)) return {};
  size_t first = by_attribute ? 1 : 0;
  A rest;
  if (a.positional.size() > first + 1) {
    rest.positional.assign(a.positional.begin() + static_cast<ptrdiff_t>(first) + 1,
                           a.positional.end());
  }
  for (const Value& item : items) {
    Value subject = by_attribute ? dig(run, item, a.get(0, "attribute")) : item;
    if (run.failed() || !run.charge(1)) return {};
    bool holds = a.positional.size() > first
                     ? run.apply_test(str(run.heap(), a.positional[first]), subject, rest)
                     : truthy(run.heap(), subject);
    if (run.failed()) return {};
    if (holds == keep) out.push_back(item);
  }
  return run.heap().list(std::move(out));
}

Value sum_filter(E& run, const Value& v, const A& a) {
  Items items;
  if (!run.iterate(v, items)) return {};
  Value total = a.get(1, "start", run.heap().integer(0));
  for (const Value& item : items) {
    total = run.binary(
        "+", total,
        a.get(0, "attribute").kind == Kind::None ? item : dig(run, item, a.get(0, "attribute")));
    if (run.failed()) return {};
  }
  return total;
}

Value tojson_filter(E& run, const Value& v, const A& a) {
  JsonStyle style;
  style.ensure_ascii = truthy(run.heap(), a.get(0, "ensure_ascii"));
  Value indent = a.get(1, "indent"), separators = a.get(2, "separators");
  if (indent.kind == Kind::Int || indent.kind == Kind::Bool) {
    style.indent = static_cast<int>(std::clamp<int64_t>(indent.integer, 0, 64));
  }
  if (is_sequence(separators) && run.heap().items(separators).size() == 2) {
    style.item_separator = str(run.heap(), run.heap().items(separators)[0]);
    style.key_separator = str(run.heap(), run.heap().items(separators)[1]);
  }
  style.sort_keys = truthy(run.heap(), a.get(3, "sort_keys"));
  std::string out;
  if (!to_json(run.heap(), v, style, out))
    return run.fail("`tojson` cannot write " + std::string(type_name(v)));
  return run.charge(out.size() / 64) ? text_of(run, std::move(out)) : Value{};
}

Value indent_filter(E& run, const Value& v, const A& a) {
  Value width = a.get(0, "width", run.heap().integer(4));
  bool first = truthy(run.heap(), a.get(1, "first")), blank = truthy(run.heap(), a.get(2, "blank"));
  std::string pad =
      width.kind == Kind::String
          ? run.heap().text(width)
          : std::string(static_cast<size_t>(std::clamp<int64_t>(width.integer, 0, 1000)), ' ');
  std::string text = str(run.heap(), v), out;
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    if (number) out += '\n';
    if ((number > 0 || first) && (blank || !line.empty() || number == 0)) out += pad;
    out += line;
    ++number;
  }
  return run.charge(out.size() / 64) ? text_of(run, std::move(out)) : Value{};
}

Value int_filter(E& run, const Value& v, const A& a) {
  Value otherwise = a.get(0, "default", run.heap().integer(0));
  if (v.kind == Kind::Int || v.kind == Kind::Bool) return run.heap().integer(v.integer);
  if (v.kind == Kind::Float && std::fabs(v.number) < 9e18)
    return run.heap().integer(static_cast<int64_t>(v.number));
  if (v.kind == Kind::String) {
    std::string_view text = trim(run.heap().text(v));
    if (auto whole = parse_int(text)) return run.heap().integer(*whole);
    auto real = parse_double(text);
    if (real && std::fabs(*real) < 9e18) return run.heap().integer(static_cast<int64_t>(*real));
  }
  return otherwise;
}

Value float_filter(E& run, const Value& v, const A& a) {
  if (is_number(v)) return run.heap().number(as_double(v));
  if (v.kind == Kind::String) {
    if (auto real = parse_double(trim(run.heap().text(v)))) return run.heap().number(*real);
  }
  return a.get(0, "default", run.heap().number(0));
}

Value round_filter(E& run, const Value& v, const A& a) {
  if (!is_number(v)) return run.fail("`round` needs a number, found " + std::string(type_name(v)));
  Value digits = a.get(0, "precision", run.heap().integer(0));
  double scale = std::pow(10.0, static_cast<double>(digits.integer));
  std::string method = a.has(1, "method") ? str(run.heap(), a.get(1, "method")) : "common";
  double x = as_double(v);
  if (method == "ceil") return run.heap().number(std::ceil(x * scale) / scale);
  if (method == "floor") return run.heap().number(std::floor(x * scale) / scale);
  if (digits.integer < 0) {  // to tens, hundreds, …
    const double rounded = std::nearbyint(x * scale) / scale;
    return v.kind == Kind::Float ? run.heap().number(rounded)
                                 : run.heap().integer(static_cast<int64_t>(rounded));
  }
  if (v.kind != Kind::Float) return run.heap().integer(v.integer);
  char buffer[64];
  int places = static_cast<int>(std::clamp<int64_t>(digits.integer, 0, 30));
  std::snprintf(buffer, sizeof buffer, "%.*f", places, x);  // correctly rounded, halves to even
  return run.heap().number(parse_double(buffer).value_or(x));
}

Value length_filter(E& run, const Value& v, const A&) {
  if (v.kind == Kind::String)
    return run.heap().integer(static_cast<int64_t>(code_point_count(run.heap().text(v))));
  Items items;
  if (!run.iterate(v, items)) return {};
  return run.heap().integer(static_cast<int64_t>(items.size()));
}

Value reverse_filter(E& run, const Value& v, const A&) {
  Items items;
  if (!run.iterate(v, items)) return {};
  std::reverse(items.begin(), items.end());
  if (v.kind != Kind::String) return run.heap().list(std::move(items));
  std::string out;
  for (const Value& c : items) out += run.heap().text(c);
  return text_of(run, std::move(out));
}

Value batch_filter(E& run, const Value& v, const A& a) {
  Items items, rows, row;
  Value count = a.get(0, "linecount");
  if (!run.iterate(v, items)) return {};
  if (count.kind != Kind::Int || count.integer < 1)
    return run.fail("`batch` needs a positive count");
  for (const Value& item : items) {
    if (static_cast<int64_t>(row.size()) == count.integer)
      rows.push_back(run.heap().list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    Value fill = a.get(1, "fill_with");
    while (fill.kind != Kind::None && static_cast<int64_t>(row.size()) < count.integer &&
           run.charge(1))
      row.push_back(fill);
    rows.push_back(run.heap().list(std::move(row)));
  }
  return run.heap().list(std::move(rows));
}

Value slice_filter(E& run, const Value& v, const A& a) {
  Items items, columns;
  Value count = a.get(0, "slices");
  if (!run.iterate(v, items)) return {};
  if (count.kind != Kind::Int || count.integer < 1 || count.integer > 100000)
    return run.fail("`slice` needs a positive count");
  size_t n = static_cast<size_t>(count.integer), each = items.size() / n, more = items.size() % n,
         at = 0;
  for (size_t i = 0; i < n; ++i) {
    size_t take = each + (i < more);
    Items column(items.begin() + static_cast<ptrdiff_t>(at),
                 items.begin() + static_cast<ptrdiff_t>(at + take));
    if (a.get(1, "fill_with").kind != Kind::None && i >= more && more)
      column.push_back(a.get(1, "fill_with"));
    at += take;
    columns.push_back(run.heap().list(std::move(column)));
  }
  return run.heap().list(std::move(columns));
}

Value truncate_filter(E& run, const Value& v, const A& a) {
  std::vector<std::string> points = code_points(str(run.heap(), v));
  Value length_arg = a.get(0, "length", run.heap().integer(255));
  Value leeway = a.get(3, "leeway", run.heap().integer(5));
  std::string end = a.has(2, "end") ? str(run.heap(), a.get(2, "end")) : "...";
  size_t length = static_cast<size_t>(std::max<int64_t>(length_arg.integer, 0));
  if (points.size() <= length + static_cast<size_t>(std::max<int64_t>(leeway.integer, 0))) return v;
  size_t keep = length - std::min(length, code_point_count(end));
  std::string out;
  for (size_t i = 0; i < keep; ++i) out += points[i];
  if (!truthy(run.heap(), a.get(1, "killwords"))) {
    size_t blank = out.rfind(' ');
    if (blank != out.npos) out.resize(blank);
  }
  return text_of(run, out + end);
}

Value center_filter(E& run, const Value& v, const A& a) {
  std::string text = str(run.heap(), v);
  int64_t width = std::min<int64_t>(a.get(0, "width", run.heap().integer(80)).integer, 10000);
  int64_t gap = width - static_cast<int64_t>(code_point_count(text));
  if (gap <= 0) return text_of(run, text);
  int64_t left = gap / 2 + (gap & width & 1);
  return text_of(run, std::string(static_cast<size_t>(left), ' ') + text +
                          std::string(static_cast<size_t>(gap - left), ' '));
}

Value escape_filter(E& run, const Value& v, const A&) {
  std::string out;
  for (char c : str(run.heap(), v)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return text_of(run, std::move(out));
}

Value items_filter(E& run, const Value& v, const A& a) {
  if (v.kind == Kind::Undefined) return run.heap().list({});
  if (v.kind != Kind::Dict)
    return run.fail("`items` needs a mapping, found " + std::string(type_name(v)));
  return run.call(run.attribute(v, "items"), a);
}

Value default_filter(E& run, const Value& v, const A& a) {
  bool also_false = truthy(run.heap(), a.get(1, "boolean"));
  if (v.kind == Kind::Undefined || (also_false && !truthy(run.heap(), v))) {
    return a.get(0, "default_value", run.heap().string(""));
  }
  return v;
}

Value case_filter(E& run, const Value& v, char how) {
  return text_of(run, change_case(str(run.heap(), v), how));
}

Value list_filter(E& run, const Value& v, const A&) {
  Items items;
  return run.iterate(v, items) ? run.heap().list(std::move(items)) : Value{};
}

Value end_item(E& run, const Value& v, bool last) {
  Items items;
  if (!run.iterate(v, items)) return {};
  return items.empty() ? run.heap().undefined("") : last ? items.back() : items.front();
}

const FilterRow kFilters[] = {
    {"abs",
     [](E& r, const Value& v, const A&) {
       if (!is_number(v)) return r.fail("`abs` needs a number");
       return truthy(r.heap(), r.heap().boolean(as_double(v) < 0))
                  ? r.binary("-", r.heap().integer(0), v)
                  : v;
     }},
    {"attr", [](E& r, const Value& v,
                const A& a) { return r.attribute(v, str(r.heap(), a.get(0, "name"))); }},
    {"batch", batch_filter},
    {"capitalize", [](E& r, const Value& v, const A&) { return case_filter(r, v, 'c'); }},
    {"center", center_filter},
    {"count", length_filter},
    {"d", default_filter},
    {"default", default_filter},
    {"dictsort", dictsort_filter},
    {"e", escape_filter},
    {"escape", escape_filter},
    {"first", [](E& r, const Value& v, const A&) { return end_item(r, v, false); }},
    {"float", float_filter},
    {"format",
     [](E& r, const Value& v, const A& a) {
       return text_of(r, format_percent(r, str(r.heap(), v), a.positional));
     }},
    {"groupby", groupby_filter},
    {"indent", indent_filter},
    {"int", int_filter},
    {"items", items_filter},
    {"join", join_filter},
    {"last", [](E& r, const Value& v, const A&) { return end_item(r, v, true); }},
    {"length", length_filter},
    {"list", list_filter},
    {"lower", [](E& r, const Value& v, const A&) { return case_filter(r, v, 'l'); }},
    {"map", map_filter},
    {"max", [](E& r, const Value& v, const A& a) { return extreme(r, v, a, 1); }},
    {"min", [](E& r, const Value& v, const A& a) { return extreme(r, v, a, -1); }},
    {"pprint", [](E& r, const Value& v, const A&) { return text_of(r, repr(r.heap(), v)); }},
    {"reject", [](E& r, const Value& v, const A& a) { return pick(r, v, a, false, false); }},
    {"rejectattr", [](E& r, const Value& v, const A& a) { return pick(r, v, a, false, true); }},
    {"replace",
     [](E& r, const Value& v, const A& a) {
       Value count = a.get(2, "count");
       return text_of(r, replace_text(str(r.heap(), v), str(r.heap(), a.get(0, "old")),
                                      str(r.heap(), a.get(1, "new")),
                                      count.kind == Kind::Int ? count.integer : -1));
     }},
    {"reverse", reverse_filter},
    {"round", round_filter},
    {"safe", [](E&, const Value& v, const A&) { return v; }},
    {"select", [](E& r, const Value& v, const A& a) { return pick(r, v, a, true, false); }},
    {"selectattr", [](E& r, const Value& v, const A& a) { return pick(r, v, a, true, true); }},
    {"slice", slice_filter},
    {"sort", sort_filter},
    {"string", [](E& r, const Value& v, const A&) { return text_of(r, str(r.heap(), v)); }},
    {"sum", sum_filter},
    {"title", [](E& r, const Value& v, const A&) { return case_filter(r, v, 'f'); }},
    {"tojson", tojson_filter},
    {"trim",
     [](E& r, const Value& v, const A& a) {
       std::string chars = str(r.heap(), a.get(0, "chars"));
       return text_of(
           r, strip_text(str(r.heap(), v), a.has(0, "chars") ? &chars : nullptr, true, true));
     }},
    {"truncate", truncate_filter},
    {"unique", unique_filter},
    {"upper", [](E& r, const Value& v, const A&) { return case_filter(r, v, 'u'); }},
    {"wordcount",
     [](E& r, const Value& v, const A&) {
       int64_t words = 0;
       bool inside = false;
       for (const std::string& c : code_points(str(r.heap(), v))) {
         bool blank = strip_text(c, nullptr, true, false).empty();
         words += !blank && !inside;
         inside = !blank;
       }
       return r.heap().integer(words);
     }},
};

int64_t whole(const Value& v) {
  return v.kind == Kind::Float ? static_cast<int64_t>(v.number) : v.integer;
}
int order(E& r, const Value& v, const A& a) {
  int result = compare(r.heap(), v, a.get(0, "other"));
  if (result == 2)
    r.fail("cannot order " + std::string(type_name(v)) + " and " +
           std::string(type_name(a.get(0, "other"))));
  return result;
}

const TestRow kTests[] = {
    {"!=", [](E& r, const Value& v, const A& a) { return !equal(r.heap(), v, a.get(0, "other")); }},
    {"<", [](E& r, const Value& v, const A& a) { return order(r, v, a) == -1; }},
    {"<=", [](E& r, const Value& v, const A& a) { return order(r, v, a) <= 0; }},
    {"==", [](E& r, const Value& v, const A& a) { return equal(r.heap(), v, a.get(0, "other")); }},
    {">", [](E& r, const Value& v, const A& a) { return order(r, v, a) == 1; }},
    {">=",
     [](E& r, const Value& v, const A& a) {
       int o = order(r, v, a);
       return o == 0 || o == 1;
     }},
    {"boolean", [](E&, const Value& v, const A&) { return v.kind == Kind::Bool; }},
    {"callable",
     [](E&, const Value& v, const A&) {
       return v.kind == Kind::Macro || v.kind == Kind::Builtin || v.kind == Kind::Method ||
              v.kind == Kind::Loop;
     }},
    {"defined", [](E&, const Value& v, const A&) { return v.kind != Kind::Undefined; }},
    {"divisibleby",
     [](E& r, const Value& v, const A& a) {
       Value by = a.get(0, "num");
       if (!is_number(v) || !is_number(by) || whole(by) == 0)
         return r.fail("`divisibleby` needs numbers"), false;
       return whole(v) % whole(by) == 0;
     }},
    {"eq", [](E& r, const Value& v, const A& a) { return equal(r.heap(), v, a.get(0, "other")); }},
    {"equalto",
     [](E& r, const Value& v, const A& a) { return equal(r.heap(), v, a.get(0, "other")); }},
    {"even",
     [](E& r, const Value& v, const A&) {
       return is_number(v) ? whole(v) % 2 == 0 : (r.fail("`even` needs a number"), false);
     }},
    {"false", [](E&, const Value& v, const A&) { return v.kind == Kind::Bool && !v.integer; }},
    {"filter", [](E& r, const Value& v, const A&) { return known_filter(str(r.heap(), v)); }},
    {"float", [](E&, const Value& v, const A&) { return v.kind == Kind::Float; }},
    {"ge",
     [](E& r, const Value& v, const A& a) {
       int o = order(r, v, a);
       return o == 0 || o == 1;
     }},
    {"greaterthan", [](E& r, const Value& v, const A& a) { return order(r, v, a) == 1; }},
    {"gt", [](E& r, const Value& v, const A& a) { return order(r, v, a) == 1; }},
    {"in", [](E& r, const Value& v, const A& a) { return r.contains(a.get(0, "seq"), v); }},
    {"integer", [](E&, const Value& v, const A&) { return v.kind == Kind::Int; }},
    {"iterable",
     [](E&, const Value& v, const A&) {
       return v.kind == Kind::String || is_sequence(v) || v.kind == Kind::Dict ||
              v.kind == Kind::Undefined;
     }},
    {"le", [](E& r, const Value& v, const A& a) { return order(r, v, a) <= 0; }},
    {"lessthan", [](E& r, const Value& v, const A& a) { return order(r, v, a) == -1; }},
    {"lower",
     [](E& r, const Value& v, const A&) {
       std::string t = str(r.heap(), v);
       return change_case(t, 'l') == t && change_case(t, 'u') != t;
     }},
    {"lt", [](E& r, const Value& v, const A& a) { return order(r, v, a) == -1; }},
    {"mapping", [](E&, const Value& v, const A&) { return v.kind == Kind::Dict; }},
    {"ne", [](E& r, const Value& v, const A& a) { return !equal(r.heap(), v, a.get(0, "other")); }},
    {"none", [](E&, const Value& v, const A&) { return v.kind == Kind::None; }},
    {"number", [](E&, const Value& v, const A&) { return is_number(v); }},
    {"odd",
     [](E& r, const Value& v, const A&) {
       return is_number(v) ? whole(v) % 2 != 0 : (r.fail("`odd` needs a number"), false);
     }},
    {"sameas",
     [](E& r, const Value& v, const A& a) {
       return v.kind == a.get(0, "other").kind && equal(r.heap(), v, a.get(0, "other"));
     }},
    {"sequence",
     [](E&, const Value& v, const A&) {
       return v.kind == Kind::String || is_sequence(v) || v.kind == Kind::Dict ||
              v.kind == Kind::Undefined;
     }},
    {"string", [](E&, const Value& v, const A&) { return v.kind == Kind::String; }},
    {"test", [](E& r, const Value& v, const A&) { return known_test(str(r.heap(), v)); }},
    {"true", [](E&, const Value& v, const A&) { return v.kind == Kind::Bool && v.integer; }},
    {"undefined", [](E&, const Value& v, const A&) { return v.kind == Kind::Undefined; }},
    {"upper",
     [](E& r, const Value& v, const A&) {
       std::string t = str(r.heap(), v);
       return change_case(t, 'u') == t && change_case(t, 'l') != t;
     }},
};

template <class Row, size_t N>
const Row* find_row(const Row (&rows)[N], const std::string& name) {
  for (const Row& row : rows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

template <class Row, size_t N>
std::string near_names(const Row (&rows)[N], const std::string& name) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  std::vector<std::string> near = closest(name, names, 1);
  return near.empty() ? std::string() : "; did you mean `" + near[0] + "`?";
}

}  // namespace

bool known_filter(const std::string& name) { return find_row(kFilters, name) != nullptr; }
bool known_test(const std::string& name) { return find_row(kTests, name) != nullptr; }

Value Evaluator::apply_filter(const std::string& name, const Value& subject, const CallArgs& args) {
  const FilterRow* row = find_row(kFilters, name);
  if (!row) return fail("filter `" + name + "` is not known" + near_names(kFilters, name));
  if (!charge(1)) return {};
  return row->call(*this, subject, args);
}

bool Evaluator::apply_test(const std::string& name, const Value& subject, const CallArgs& args) {
  const TestRow* row = find_row(kTests, name);
  if (!row) {
    fail("test `" + name + "` is not known" + near_names(kTests, name));
    return false;
  }
  return row->call(*this, subject, args);
}

}  // namespace axon::text::tmpl
