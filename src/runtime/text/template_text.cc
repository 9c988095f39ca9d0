// Text helpers of filters and methods: stripping, case, replacing, `%` formatting, dates.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "runtime/text/template_eval.h"
#include "support/text.h"

namespace axon::text::tmpl {
namespace {

bool is_blank(const std::string& c) {
  if (c.size() == 1)
    return c[0] == ' ' || (c[0] >= '\t' && c[0] <= '\r') || (c[0] >= 0x1C && c[0] <= 0x1F);
  static const char* const kWide[] = {"\u0085", "\u00A0", "\u1680", "\u2000", "\u2001",
                                      "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                      "\u2007", "\u2008", "\u2009", "\u200A", "\u2028",
                                      "\u2029", "\u202F", "\u205F", "\u3000"};
  return std::any_of(std::begin(kWide), std::end(kWide), [&](const char* w) { return c == w; });
}

}  // namespace

std::string strip_text(const std::string& text, const std::string* chars, bool left, bool right) {
  std::vector<std::string> points = code_points(text);
  std::vector<std::string> drop = chars ? code_points(*chars) : std::vector<std::string>();
  auto dropped = [&](const std::string& c) {
    return chars ? std::find(drop.begin(), drop.end(), c) != drop.end() : is_blank(c);
  };
  size_t begin = 0, end = points.size();
  while (left && begin < end && dropped(points[begin])) ++begin;
  while (right && end > begin && dropped(points[end - 1])) --end;
  std::string out;
  for (size_t i = begin; i < end; ++i) out += points[i];
  return out;
}

std::string replace_text(const std::string& text, const std::string& from, const std::string& to,
                         int64_t count) {
  std::string out;
  if (from.empty()) {
    std::vector<std::string> points = code_points(text);
    for (size_t i = 0; i <= points.size(); ++i) {
      if (count != 0) out += to, --count;
      if (i < points.size()) out += points[i];
    }
    return out;
  }
  size_t begin = 0;
  while (count != 0) {
    size_t found = text.find(from, begin);
    if (found == text.npos) break;
    out.append(text, begin, found - begin);
    out += to;
    begin = found + from.size();
    --count;
  }
  return out.append(text, begin, text.npos);
}

std::string format_percent(Evaluator& run, const std::string& format, const Items& args) {
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    size_t begin = i++;
    while (i < format.size() &&
           (format[i] == '-' || format[i] == '+' || format[i] == ' ' || format[i] == '0' ||
            format[i] == '#' || format[i] == '.' || (format[i] >= '1' && format[i] <= '9'))) {
      ++i;
    }
    if (i >= format.size()) return run.fail("format ends inside of a `%` field"), out;
    char type = format[i];
    if (type == '%') {
      out += '%';
      continue;
    }
    std::string spec = format.substr(begin, i - begin);
    if (spec.size() > 12) return run.fail("format field is too wide"), out;
    if (used >= args.size()) return run.fail("format needs more values"), out;
    const Value& v = args[used++];
    char buffer[512];
    if (type == 's' || type == 'r') {
      std::string text = type == 's' ? str(run.heap(), v) : repr(run.heap(), v);
      if (spec.size() == 1) {
        out += text;
        continue;
      }
      int n = std::snprintf(buffer, sizeof buffer, (spec + "s").c_str(), text.c_str());
      out.append(buffer, std::min<size_t>(static_cast<size_t>(std::max(n, 0)), sizeof buffer - 1));
    } else if (is_number(v) &&
               (type == 'd' || type == 'i' || type == 'x' || type == 'X' || type == 'o')) {
      long long number = v.kind == Kind::Float ? static_cast<long long>(v.number) : v.integer;
      int n = std::snprintf(buffer, sizeof buffer,
                            (spec + "ll" + (type == 'i' ? 'd' : type)).c_str(), number);
      out.append(buffer, std::min<size_t>(static_cast<size_t>(std::max(n, 0)), sizeof buffer - 1));
    } else if (is_number(v) && (type == 'f' || type == 'e' || type == 'g' || type == 'F' ||
                                type == 'E' || type == 'G')) {
      int n = std::snprintf(buffer, sizeof buffer, (spec + type).c_str(), as_double(v));
      out.append(buffer, std::min<size_t>(static_cast<size_t>(std::max(n, 0)), sizeof buffer - 1));
    } else {
      return run.fail(std::string("`%") + type + "` does not take " + std::string(type_name(v))),
             out;
    }
  }
  if (used < args.size()) run.fail("format leaves values unused");
  return out;
}

std::string format_time(int64_t seconds, const std::string& format) {
  std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  if (format.empty()) return {};
  std::string out(format.size() * 8 + 64, '\0');
  out.resize(std::strftime(out.data(), out.size(), format.c_str(), &parts));
  return out;
}

}  // namespace axon::text::tmpl
