// Findings for people: a line that editors and grep understand, and the code that it speaks of.
#include "server/command_line/code_frame.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/report.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace stepzero::server {

namespace {

std::string_view color_of(rules::Severity severity) {
  switch (severity) {
  case rules::Severity::error: return ansi::red;
  case rules::Severity::warning: return ansi::yellow;
  case rules::Severity::information: return ansi::blue;
  case rules::Severity::hint: break;
  }
  return ansi::cyan;
}

std::string counted(std::size_t count, std::string_view word) {
  return std::to_string(count) + " " + std::string(word) + (count == 1 ? "" : "s");
}

class Writer {
public:
  Writer(const Report& report, bool has_colors) : report_(report), has_colors_(has_colors) {}

  std::string run() {
    for (const rules::Finding& finding : report_.findings) write(finding);
    summary();
    return std::move(result_);
  }

private:
  std::string place(const rules::Location& where) const {
    const Place at = report_.place(where.path, where.span.begin);
    return sanitized(report_.names.displayed(where.path)) + ":" +
        (at.cell ? "cell " + std::to_string(at.cell) + ":" : "") + std::to_string(at.line) + ":" +
        std::to_string(at.column);
  }

  void frame(const rules::Location& where, std::string_view color, std::uint32_t context) {
    const auto text = report_.texts.find(where.path);
    if (text == report_.texts.end() || !text->second) return;
    const FrameStyle style{color, has_colors_, context, 120};
    const auto cells = report_.cells.find(where.path);
    if (cells == report_.cells.end()) {
      result_ += code_frame(*text->second, where.span, style);
      return;
    }
    // A cell is shown as a text of its own.
    const std::uint32_t line = text->second->position(where.span.begin, syntax::Encoding::utf8).line;
    const Cells::Cell* cell = cells->second->at_line(line);
    if (!cell) return;
    const std::uint32_t begin = text->second->line_start(cell->first_line);
    const std::uint32_t end = text->second->line_start(cell->first_line + cell->line_count) - 1;
    result_ += code_frame(syntax::Text(std::string(text->second->slice({begin, end}))),
        {where.span.begin - begin, std::min(where.span.end, end) - begin}, style);
  }

  void write(const rules::Finding& finding) {
    const std::string_view color = color_of(finding.severity);
    result_ += painted(place(finding.where), ansi::bold, has_colors_) + ": " +
        painted(rules::name(finding.severity), color, has_colors_) + "[" + std::string(finding.rule) +
        "]: " + painted(sanitized(finding.message), ansi::bold, has_colors_) + "\n";
    frame(finding.where, color, 1);
    for (const rules::Related& related : finding.related) {
      result_ += painted("  -> ", ansi::blue, has_colors_) + place(related.where) + ": " +
          sanitized(related.message) + "\n";
      frame(related.where, ansi::blue, 0);
    }
    for (const rules::Fix& fix : finding.fixes) {
      const std::string_view label = fix.preferred ? "  fix: " : "  possible fix: ";
      result_ += painted(label, ansi::green, has_colors_) + sanitized(fix.title) + "\n";
    }
    result_ += "\n";
  }

  void summary() {
    std::array<std::size_t, 4> counts = {};
    std::size_t fixable = 0;
    std::set<std::string_view> files;
    for (const rules::Finding& finding : report_.findings) {
      ++counts[static_cast<std::size_t>(finding.severity)];
      const auto preferred = [](const rules::Fix& fix) { return fix.preferred; };
      if (!is_notebook(finding.where.path))
        fixable += std::any_of(finding.fixes.begin(), finding.fixes.end(), preferred) ? 1 : 0;
      files.insert(finding.where.path);
    }
    std::string found;
    const std::string_view words[] = {"error", "warning", "information", "hint"};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      found += (found.empty() ? "" : ", ");
      found += i == 2 ? std::to_string(counts[i]) + " information" : counted(counts[i], words[i]);
    }
    if (report_.fixed != 0) result_ += "Fixed " + counted(report_.fixed, "problem") + ".\n";
    if (report_.files == 0 && found.empty()) return;
    result_ += found.empty() ? "No problems found" : "Found " + found;
    if (!found.empty())
      result_ += " in " + std::to_string(files.size()) + " of " + counted(report_.files, "file");
    else
      result_ += " in " + counted(report_.files, "file");
    result_ += ".";
    if (report_.known != 0)
      result_ += " " + counted(report_.known, "known one") + (report_.known == 1 ? " is" : " are") +
          " left out.";
    if (fixable != 0) result_ += " `stepzero check --fix` would fix " + std::to_string(fixable) + ".";
    result_ += "\n";
  }

  const Report& report_;
  bool has_colors_;
  std::string result_;
};

}  // namespace

std::string text_report(const Report& report, bool has_colors) { return Writer(report, has_colors).run(); }

}  // namespace stepzero::server
