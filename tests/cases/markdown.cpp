#include "markdown.hpp"

#include <regex>
#include <stdexcept>

namespace stepzero::cases {

namespace {

struct Line {
  std::string_view text;  // without its end
  std::uint32_t begin = 0;
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    lines.push_back({text.substr(at, end - at), static_cast<std::uint32_t>(at)});
    at = end + 1;
  }
  return lines;
}

// The words after "python" of a fence.
struct Info {
  bool python = false, after_fix = false, torch = false, crlf = false, no_fix = false, silent = false;
  std::string title, fix, gpu_memory;
};

Info read_info(std::string_view words, std::uint32_t line) {
  Info info;
  bool first = true, left_after_fix = false;
  while (true) {
    words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
    if (words.empty()) return info;
    std::size_t end = words.find(' ');
    const std::size_t quote = words.find('"');
    if (quote < end) {
      end = words.find('"', quote + 1);
      if (end == std::string_view::npos)
        throw std::runtime_error("line " + std::to_string(line) + ": a quote is not closed");
      ++end;
    }
    const std::string word(words.substr(0, end));
    words.remove_prefix(std::min(end, words.size()));
    if (first) {
      if (word != "python" && word != "json" && word != "yaml" && word != "toml" && word != "bash" &&
          word != "make" && word != "docker")
        return info;
      info.python = true;
    } else if (word == "after-fix")
      info.after_fix = left_after_fix = true;
    else if (word == "torch")
      info.torch = true;
    else if (word == "crlf")
      info.crlf = true;
    else if (word == "no-fix")
      info.no_fix = true;
    else if (word == "silent")
      info.silent = true;
    else if (word.starts_with("gpu-memory=\""))
      info.gpu_memory = word.substr(12, word.size() - 13);
    else if (word.starts_with("title=\""))
      info.title = word.substr(7, word.size() - 8);
    else if (word.starts_with('"') && left_after_fix)
      info.fix = word.substr(1, word.size() - 2);
    else
      throw std::runtime_error("line " + std::to_string(line) + ": what is '" + word + "' of a fence?");
    first = false;
  }
}

Expectation read_one(const std::string& text, std::uint32_t at) {
  static const std::regex reveal(R"((FIXME )?reveal(?: ([\w.]+))?: (.*\S)\s*)");
  static const std::regex finding(
      R"re((FIXME (?:no )?)?(error|warning|information|hint)\[([\w/-]+)\](?:: "(.*)")?\s*)re");
  Expectation expected;
  expected.at = at;
  std::smatch parts;
  if (std::regex_match(text, parts, reveal)) {
    expected.reveal = true;
    if (parts[1].matched) expected.standing = Expectation::StandingFindings::wrongly_absent;
    expected.name = parts[2];
    expected.text = parts[3];
  } else if (std::regex_match(text, parts, finding)) {
    expected.standing = parts[1] == "FIXME " ? Expectation::StandingFindings::wrongly_absent
        : parts[1] == "FIXME no "            ? Expectation::StandingFindings::wrongly_present
                                             : Expectation::StandingFindings::right;
    expected.severity = parts[2];
    expected.rule = parts[3];
    expected.text = parts[4];
  } else {
    throw std::runtime_error("line " + std::to_string(at) + ": an expectation that cannot be read: " + text);
  }
  return expected;
}

// The expectations leave the text: the comment at a line's end goes, and a line that holds nothing else goes
// as a whole and speaks of the next one. oracle.py does the same.
File read_file(const std::vector<Line>& lines, std::size_t begin, std::size_t end, bool crlf) {
  static const std::regex comment(
      R"([ \t]*#[ \t]*((?:FIXME (?:no )?)?(?:error|warning|information|hint)\[.*|(?:FIXME )?reveal(?: [\w.]+)?:.*)$)");
  File file;
  std::vector<Expectation> for_next;
  std::uint32_t number = 0;
  for (std::size_t i = begin; i < end; ++i) {
    std::string line(lines[i].text);
    std::vector<Expectation> here = std::move(for_next);
    for_next.clear();
    std::smatch match;
    if (std::regex_search(line, match, comment)) {
      const std::string all = match[1];
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t stop = std::min(all.find(" ; ", at), all.size());
        here.push_back(read_one(all.substr(at, stop - at), static_cast<std::uint32_t>(i + 1)));
        at = stop + 3;
      }
      line = match.prefix();
      if (line.empty()) {
        for_next = std::move(here);
        continue;
      }
    }
    for (Expectation& expected : here) {
      expected.line = number;
      file.expected.push_back(std::move(expected));
    }
    file.text += line + (crlf ? "\r\n" : "\n");
    file.places.push_back(static_cast<std::uint32_t>(i + 1));
    ++number;
  }
  file.begin = begin < lines.size() ? lines[begin].begin : 0;
  file.end = end < lines.size() ? lines[end].begin : file.begin;
  return file;
}

class Reader {
public:
  explicit Reader(const std::string& text) : lines_(lines_of(text)) {}

  std::vector<Case> read() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view line = lines_[i].text;
      if (line.starts_with('#')) {
        end_case();
        case_.heading = std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
        case_.line = static_cast<std::uint32_t>(i + 1);
      } else if (line.starts_with("```")) {
        const std::string fence(line.substr(0, line.find_first_not_of('`')));
        std::size_t end = i + 1;
        while (end < lines_.size() && !lines_[end].text.starts_with(fence)) ++end;
        if (end == lines_.size() || lines_[end].text != fence)
          throw std::runtime_error("line " + std::to_string(i + 1) + ": a fence is not closed");
        const Info info = read_info(line.substr(fence.size()), static_cast<std::uint32_t>(i + 1));
        if (info.python)
          add(info, read_file(lines_, i + 1, end, info.crlf), static_cast<std::uint32_t>(i + 1));
        i = end;
      }
    }
    end_case();
    return std::move(cases_);
  }

private:
  void add(const Info& info, File file, std::uint32_t line) {
    file.title = info.title;
    if (info.after_fix) {
      end_program();
      if (case_.programs.empty())
        throw std::runtime_error("line " + std::to_string(line) + ": nothing stands before this fix");
      Program& program = case_.programs.back();
      if (file.title.empty()) file.title = program.files.back().title;
      program.after.push_back({info.fix, std::move(file)});
      return;
    }
    for (const File& other : program_.files)
      if (other.title == file.title) {
        end_program();
        break;
      }
    if (program_.files.empty()) program_.line = line;
    program_.torch = program_.torch || info.torch;
    program_.no_fix = program_.no_fix || info.no_fix;
    program_.silent = program_.silent || info.silent;
    if (!info.gpu_memory.empty()) program_.gpu_memory = info.gpu_memory;
    const bool last = file.title.empty();
    if (last) file.title = "main.py";
    program_.files.push_back(std::move(file));
    if (last) end_program();
  }
  void end_program() {
    if (program_.files.empty()) return;
    for (std::size_t i = 0; i + 1 < program_.files.size(); ++i)
      if (program_.files[i].title == "main.py") std::swap(program_.files[i], program_.files.back());
    case_.programs.push_back(std::move(program_));
    program_ = {};
  }
  void end_case() {
    end_program();
    if (!case_.programs.empty()) cases_.push_back(std::move(case_));
    case_ = {};
  }

  std::vector<Line> lines_;
  Program program_;
  Case case_;
  std::vector<Case> cases_;
};

}  // namespace

bool is_silent_unseen(const Program& program) {
  bool python = false;
  for (const File& file : program.files) {
    python = python ||
        (file.title.ends_with(".py") && file.text.find_first_not_of(" \n") != std::string::npos);
    for (const Expectation& each : file.expected)
      if (!each.reveal || each.text != "unknown") return false;
  }
  return python;
}

std::vector<Case> read_markdown(const std::string& text) { return Reader(text).read(); }

}  // namespace stepzero::cases
