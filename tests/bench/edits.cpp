// Edits real files and takes the time: of one analysis after the other, each going on from the last as an
// editor's does, in multiples of a full tree-sitter parse of the same text. With --verify each result is also
// compared with one from the beginning.
//
//     stepzero_edits [--root FOLDER]… [--libraries FOLDER]… [--edits N] [--kind KIND]… [--verify]
//     [--one-core] [--cpu] [--phases] [--each] FILE…
//
// Prints a line per file and kind of edit: KIND N FIRST50 FIRST99 WHOLE50 WHOLE99 ALL50 ALL99 FRESH MIDDLE
// FILE. FIRST: until findings that hold the edited function; WHOLE: until all findings; ALL: until
// everything; as multiples, of the wall clock or, with --cpu, of what the process and its threads computed,
// which other programs beside it do not change. FRESH: how many of the edits were answered by a run from the
// beginning. The line of the kind `open` is the first analysis; its FRESH is the nanoseconds of the parse.
// --each: first a line per edit: LINE FIRST WHOLE ALL.
// --phases: on one core, and after each line how much of ALL each phase took, as mean multiples.
#include "server/scheduler/background_core.hpp"
#include "server/workspace/files.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/snapshot.hpp"
#include "syntax/phase.hpp"

#include <tree_sitter/api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

extern "C" const TSLanguage* tree_sitter_python();

namespace {

using namespace stepzero;
clockid_t clock_read = CLOCK_MONOTONIC;

double now() {
  timespec time{};
  clock_gettime(clock_read, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double parse_time(const std::string& text) {
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, tree_sitter_python());
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const double begin = now();
    TSTree* tree = ts_parser_parse_string(
        parser, nullptr, text.data(), static_cast<std::uint32_t>(text.size()));
    times.push_back(now() - begin);
    ts_tree_delete(tree);
    ts_parser_reset(parser);
  }
  ts_parser_delete(parser);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Change {
  std::uint32_t begin = 0, end = 0;
  std::string text;
};

struct Line {
  std::uint32_t begin = 0;
  std::string_view text;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back({static_cast<std::uint32_t>(at), text.substr(at, end - at)});
    at = end + 1;
  }
  return lines;
}

bool matches(std::string_view line, const std::regex& pattern) {
  return std::regex_search(line.begin(), line.end(), pattern);
}

// Where a statement may stand in a body: in front of a line that is a plain statement at the depth of a
// method's or function's body.
std::vector<Change> in_bodies(
    const std::vector<Line>& lines, const std::regex& head, const std::string& typed) {
  static const std::regex statement(R"(^\s+(\w[\w.]* = |return\b|if\b|for\b))");
  std::vector<Change> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!matches(lines[i].text, head)) continue;
    const std::size_t depth = lines[i].text.find_first_not_of(' ') + 4;
    std::vector<std::size_t> at;
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      const std::size_t indent = lines[j].text.find_first_not_of(" ");
      if (indent == std::string_view::npos) continue;
      if (indent < depth && lines[j].text[indent] != ')' && lines[j].text[indent] != '#') break;
      // A line of a text, or of a call over several lines, is taken for none.
      if (indent == depth && matches(lines[j].text, statement) &&
          lines[j - 1].text.find("\"\"\"") == std::string_view::npos)
        at.push_back(j);
    }
    if (at.empty()) continue;
    const Line& line = lines[at[at.size() / 2]];
    found.push_back({line.begin, line.begin, std::string(depth, ' ') + typed + "\n"});
  }
  return found;
}

std::vector<Change> changes(const std::string& kind, const std::string& text) {
  const auto lines = lines_of(text);
  std::vector<Change> found;
  static const std::regex method(R"(^\s*(async )?def (?!__init__)\w+\()"), init(R"(^\s+def __init__\()"),
      one_line(R"(^\s*def \w+\(.*\).*:$)"), constant(R"(^[A-Za-z_]\w* = ("|\d|True|False|None|\[|\())"),
      import(R"(^(import|from) \w)");
  if (kind == "body") return in_bodies(lines, method, "scaled = 2 * 3");
  if (kind == "broken") return in_bodies(lines, method, "scaled = self.");
  if (kind == "comment") return in_bodies(lines, method, "# what comes in is a batch");
  if (kind == "init") return in_bodies(lines, init, "self.extra = 128");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const auto end = static_cast<std::uint32_t>(line.begin + line.text.size());
    if (kind == "signature" && matches(line.text, one_line) && line.text.find(')') == line.text.rfind(')') &&
        line.text.find("*") == std::string_view::npos) {
      const auto at = static_cast<std::uint32_t>(line.begin + line.text.rfind(')'));
      found.push_back({at, at, line.text[line.text.rfind(')') - 1] == '(' ? "extra=None" : ", extra=None"});
    }
    if (kind == "constant" && matches(line.text, constant)) {
      const auto at = static_cast<std::uint32_t>(line.begin + line.text.find('=') + 2);
      const char first = text[at];
      if (first == '"')
        found.push_back({at + 1, at + 1, "a"});
      else if (first >= '0' && first <= '9')
        found.push_back({at, at, "1"});
    }
    if (kind == "import" && matches(line.text, import) && line.text.find('(') == std::string_view::npos)
      found.push_back({end, end, "\nimport string"});
    if (kind == "function" && line.text.starts_with("def ") &&
        (i == 0 || !lines[i - 1].text.starts_with("@")))
      found.push_back({line.begin, line.begin, "def another(x):\n    return x + 1\n\n\n"});
  }
  return found;
}

std::string told(const snapshot::Result& result) {
  std::ostringstream out;
  for (const rules::Finding& finding : result.findings) {
    out << finding.where.path << ':' << finding.where.span.begin << '-' << finding.where.span.end << ' '
        << finding.rule << ' ' << name(finding.severity) << ' ' << finding.message << '\n';
    for (const rules::Related& related : finding.related)
      out << "  " << related.where.path << ':' << related.where.span.begin << '-' << related.where.span.end
          << ' ' << related.message << '\n';
    for (const rules::Fix& fix : finding.fixes) {
      out << "  fix: " << fix.title << '\n';
      for (const rules::TextEdit& edit : fix.edits)
        out << "    " << edit.where.span.begin << '-' << edit.where.span.end << edit.new_text << '\n';
    }
  }
  for (const snapshot::Fact& fact : result.facts)
    out << fact.span.begin << '-' << fact.span.end << ' ' << fact.name << ": " << fact.value.short_text()
        << '\n';
  return out.str();
}

std::string difference(const std::string& a, const std::string& b) {
  std::istringstream first(a), second(b);
  std::string x, y;
  do {
    x = y = "(end)";
    std::getline(first, x);
    std::getline(second, y);
  } while (x == y && (first || second));
  return "going on:      " + x + "\nfrom the start: " + y;
}

struct Options {
  std::vector<std::string> folders, libraries;
  std::set<std::string> kinds;
  std::size_t edits = 12;
  bool verify = false, one_core = false, phases = false, each = false;
};

struct PhaseTimes final : syntax::PhaseClock {
  syntax::Phase enter(syntax::Phase phase) override {
    const double time = now();
    taken[static_cast<std::size_t>(current)] += time - since;
    since = time;
    return std::exchange(current, phase);
  }
  std::array<double, syntax::phase_names.size()> taken{};
  syntax::Phase current = syntax::Phase::other;
  double since = now();
};

class Session {
public:
  Session(const Options& options, std::string path, std::string text)
      : options_(options), path_(std::move(path)), document_(std::move(text)),
        roots_(server::import_roots(options.folders, path_)) {}

  struct Took {
    double first = 0, whole = 0, all = 0;
    bool fresh = false;
    std::array<double, syntax::phase_names.size()> phases{};
  };

  Took apply(const std::optional<Change>& change) {
    Took took;
    PhaseTimes times;
    const double begin = now();
    if (change) document_.apply({{{change->begin, change->end}, change->text}});
    const auto module = document_.module(
        options_.one_core ? syntax::BackgroundRunner{} : server::another_core());
    auto overlay = std::make_shared<server::Overlay>(server::Overlay{{path_, module}});
    {
      const server::FileSources sources(cache_, roots_, overlay, options_.libraries);
      snapshot::Options options;
      options.want_facts = options.want_schedule = true;
      options.memory = &memory_;
      if (options_.phases) options.clock = &times;
      if (!options_.one_core) options.background = server::another_core();
      options.on_findings = [&](const snapshot::Result& result) {
        const double taken = now() - begin;
        if (took.first == 0) took.first = taken;
        if (!result.partial) took.whole = taken;
      };
      last = snapshot::analyze(sources, path_, options);
    }
    took.all = now() - begin;
    took.fresh = !last.went_on;
    times.enter(syntax::Phase::other);
    took.phases = times.taken;
    if (options_.verify) {
      const server::FileSources sources(cache_, roots_, overlay, options_.libraries);
      snapshot::Options cold;
      cold.want_facts = cold.want_schedule = true;
      const std::string again = told(last), fresh = told(snapshot::analyze(sources, path_, cold));
      if (again != fresh) {
        ++different;
        std::cerr << path_ << (change ? " +" + std::to_string(change->begin) + " " + change->text : "")
                  << "\n"
                  << difference(again, fresh) << "\n";
      }
    }
    return took;
  }
  const std::string& text() const { return document_.bytes(); }

  snapshot::Result last;
  int different = 0;

private:
  const Options& options_;
  std::string path_;
  syntax::Document document_;
  std::vector<std::string> roots_;
  std::shared_ptr<server::ModuleCache> cache_ = std::make_shared<server::ModuleCache>();
  snapshot::RunCache memory_;
};

double share(std::vector<double> numbers, double part) {
  if (numbers.empty()) return 0;
  std::sort(numbers.begin(), numbers.end());
  return numbers[std::min(
      numbers.size() - 1, static_cast<std::size_t>(static_cast<double>(numbers.size()) * part))];
}

int edit(const Options& options, const std::string& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const double unit = parse_time(text);
  Session session(options, path, text);
  const auto print_phases = [&](const std::vector<Session::Took>& all) {
    for (std::size_t i = 0; options.phases && i < syntax::phase_names.size(); ++i) {
      double sum = 0;
      for (const Session::Took& took : all) sum += took.phases[i];
      std::printf("%s%s %.1f", i == 0 ? "          " : ", ", syntax::phase_names[i].data(),
          sum / unit / static_cast<double>(all.size()));
    }
    if (options.phases) std::puts("");
  };
  const auto print = [&](const std::string& kind, const std::vector<Session::Took>& all, long extra,
                         long middle) {
    std::vector<double> first, whole, everything;
    for (const Session::Took& took : all) {
      first.push_back(took.first / unit);
      everything.push_back(took.all / unit);
      whole.push_back(took.whole / unit);
    }
    std::printf("%-9s %4zu", kind.c_str(), all.size());
    for (const auto& times : {first, whole, everything})
      std::printf(" %9.2f %9.2f", share(times, 0.5), share(times, 0.99));
    std::printf(" %8ld %6ld %s\n", extra, middle, path.c_str());
    print_phases(all);
    std::fflush(stdout);
  };
  const Session::Took open = session.apply(std::nullopt);
  session.apply(std::nullopt);
  print("open", {open}, static_cast<long>(unit), static_cast<long>(session.last.findings.size()));
  for (const char* kind :
      {"body", "broken", "comment", "signature", "init", "constant", "function", "import"}) {
    if (!options.kinds.empty() && !options.kinds.contains(kind)) continue;
    const std::vector<Change> all = changes(kind, text);
    const std::size_t stride = std::max<std::size_t>(
        1, all.size() / std::max<std::size_t>(1, options.edits / 2));
    std::vector<Session::Took> took;
    long fresh = 0, units = 0;
    for (std::size_t i = stride / 2; i < all.size() && took.size() < options.edits; i += stride) {
      const std::string before = session.text().substr(all[i].begin, all[i].end - all[i].begin);
      took.push_back(session.apply(all[i]));
      if (options.each) {
        std::printf("line %5td %s %9.2f %9.2f %9.2f\n",
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(all[i].begin), '\n'),
            kind, took.back().first / unit, took.back().whole / unit, took.back().all / unit);
        print_phases({took.back()});
      }
      units = std::max(units, static_cast<long>(session.last.units_run));
      const auto end = static_cast<std::uint32_t>(all[i].begin + all[i].text.size());
      took.push_back(session.apply(Change{all[i].begin, end, before}));
    }
    for (const Session::Took& each : took) fresh += each.fresh;
    if (!took.empty()) print(kind, took, fresh, units);
  }
  return session.different;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (argument == "--root")
      options.folders.push_back(next());
    else if (argument == "--libraries")
      options.libraries.push_back(next());
    else if (argument == "--edits")
      options.edits = static_cast<std::size_t>(std::atoi(next().c_str()));
    else if (argument == "--kind")
      options.kinds.insert(next());
    else if (argument == "--verify")
      options.verify = true;
    else if (argument == "--one-core")
      options.one_core = true;
    else if (argument == "--phases")
      options.phases = options.one_core = true;
    else if (argument == "--each")
      options.each = true;
    else if (argument == "--cpu")
      clock_read = CLOCK_PROCESS_CPUTIME_ID;
    else
      files.push_back(argument);
  }
  std::printf("%-9s %4s %9s %9s %9s %9s %9s %9s %8s %6s\n", "kind", "n", "first p50", "first p99",
      "whole p50", "whole p99", "all p50", "all p99", "fresh", "units");
  int different = 0;
  for (const std::string& path : files) different += edit(options, path);
  if (options.verify) std::printf("%d different\n", different);
  return different != 0;
}
