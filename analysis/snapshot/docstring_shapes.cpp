#include "snapshot/docstring_shapes.hpp"

#include "syntax/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace stepzero::snapshot {

namespace {

using namespace syntax;

constexpr std::size_t most_dimensions = 6;  // longer lists of numbers are no shapes
constexpr std::size_t longest_entry = 600;  // bytes of what a docstring says of one parameter

bool is_identifier(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
      std::ranges::all_of(text, syntax::is_word);
}

std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\n\r`") {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(
      made, made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// Words that say what kind of thing it is, and no size of it.
bool is_no_size(std::string_view word) {
  constexpr std::string_view others[] = {"optional", "required", "int", "float", "bool", "str", "string",
      "list", "tuple", "dict", "none", "tensor", "default", "true", "false", "any", "dtype", "eg", "shape",
      "size", "or", "and"};
  return std::ranges::find(others, lower(word)) != std::end(others);
}

// One size: `B`, `768`, `batch size`; `2*D` and `H / 8` are sizes without a name.
std::optional<DocumentedSize> size_of(std::string_view word) {
  word = trimmed(word, " \t\n\r`'\":$\\");
  if (word.empty()) return std::nullopt;
  DocumentedSize size;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size()) {
    if (number <= 0) return std::nullopt;
    size.number = number;
    return size;
  }
  const auto last = word.rfind('.');
  if (const std::string_view plain = last == std::string_view::npos ? word : word.substr(last + 1);
      is_identifier(plain)) {
    if (is_no_size(plain) || word.starts_with("torch.") || word.starts_with("np.") || word.front() == '.')
      return std::nullopt;
    size.name = plain;
    return size;
  }
  // Several words, or something computed of them.
  bool computed = false, any = false;
  std::size_t words = 1;
  for (const char c : word) {
    if (c == ' ')
      ++words;
    else if (syntax::is_word(c))
      any = true;
    else if (c == '*' || c == '+' || c == '-' || c == '/' || c == '.' || c == '(' || c == ')' || c == '^')
      computed = true;
    else
      return std::nullopt;
  }
  if (!any || word.find("..") != std::string_view::npos || word.front() == '*' || word.front() == '-' ||
      word.back() == '.')
    return std::nullopt;
  if (computed) return words <= 7 ? std::optional(size) : std::nullopt;
  if (words > 3) return std::nullopt;
  size.name = word;
  std::ranges::replace(size.name, ' ', '_');
  return size;
}

// The text between the bracket at `at` and its fellow; `after` is what follows. Nothing if it does not close
// soon, or brackets nest.
std::optional<std::string_view> within_brackets(
    std::string_view text, std::size_t at, std::string_view& after) {
  const auto end = text.find_first_of(")]", at + 1);
  if (end == std::string_view::npos || text.find_first_of("([{", at + 1) < end) return std::nullopt;
  if ((text[at] == '(') != (text[end] == ')')) return std::nullopt;
  after = text.substr(end + 1);
  return text.substr(at + 1, end - at - 1);
}

// Is another shape said to be possible, too? `(B, T) or (B, T, C)`
bool has_alternative(std::string_view after) {
  after = after.substr(0, std::min<std::size_t>(after.size(), 24));
  const auto bracket = after.find_first_of("([");
  const std::string_view before = after.substr(0, bracket);
  const std::string words = " " + lower(trimmed(before, " \t\n\r`'\",:;*")) + " ";
  return bracket != std::string_view::npos &&
      (words.find(" or ") != std::string::npos || words.find("/") != std::string::npos ||
          words.find("|") != std::string::npos);
}

// The first shape that the text tells of: after the word "shape" or "size", or, where it `may_begin` with
// one, at its start.
std::optional<DocumentedShape> shape_in(std::string_view text, bool may_begin) {
  text = text.substr(0, longest_entry);
  for (std::size_t at = text.find_first_of("(["); at != std::string_view::npos;
      at = text.find_first_of("([", at + 1)) {
    const std::string_view before = trimmed(text.substr(0, at), " \t\n\r`'\":=");
    const std::string start = lower(before);
    // "of shape", "with shape:", "Tensor of size"; between that and the bracket no more than what leads
    // there.
    const auto tail = std::string_view(start).substr(start.size() > 24 ? start.size() - 24 : 0);
    bool told = false;
    for (const std::string_view word : {"shape", "shaped", "size", "dims", "dimensions", "shape of",
             "shape is", "size of", ":obj", ":math", "shape :obj", "shape :math"})
      told = told || (tail.ends_with(word) && tail.find("shape") != std::string_view::npos) ||
          (tail.ends_with(word) && word != ":obj" && word != ":math");
    const bool begins = may_begin &&
        (start.empty() || start == "tensor" || start == "a tensor" || start == "tensor of" ||
            start == "torch.tensor");
    if (!told && !begins) continue;
    std::string_view after;
    const auto inner = within_brackets(text, at, after);
    if (!inner || has_alternative(after)) return std::nullopt;
    auto shape = documented_sizes(*inner);
    // [B x G] may be one size, the product of two.
    if (shape && !told && shape->size() == 2 && inner->find(',') == std::string_view::npos)
      return std::nullopt;
    if (shape && (told || shape->size() > 1)) return shape;
    if (told) return std::nullopt;
  }
  return std::nullopt;
}

struct Line {
  std::size_t indent = 0;
  std::string_view text;  // after the indent
};
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const auto indent = std::min(line.find_first_not_of(" \t"), line.size());
    lines.push_back({indent, trimmed(line.substr(indent), " \t\r")});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// What a line of a docstring says after the parameter that it is an entry of; null data if it is none's.
std::string_view entry_of(std::string_view line, std::string_view name) {
  bool field = false;
  if (line.starts_with(":param")) {
    line = line.substr(6);
    field = true;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    std::string_view names = trimmed(line.substr(0, colon));
    const auto space = names.rfind(' ');
    if (space != std::string_view::npos) names = names.substr(space + 1);
    return names == name ? line.substr(colon) : std::string_view{};
  }
  while (!line.empty() &&
      (line.front() == '-' || line.front() == '*' || line.front() == ' ' || line.front() == '`'))
    line.remove_prefix(1);
  if (!line.starts_with(name)) return {};
  line.remove_prefix(name.size());
  while (!line.empty() && (line.front() == '`' || line.front() == '*')) line.remove_prefix(1);
  if (line.empty() || (line.front() != ':' && line.front() != ' ' && line.front() != '(')) return {};
  const std::string_view rest = trimmed(line, " ");
  if (rest.empty() || (rest.front() != ':' && rest.front() != '(')) return {};
  return field ? std::string_view{} : rest;
}

std::optional<DocumentedShape> in_docstring(const std::vector<Line>& lines, std::string_view name) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view first = entry_of(lines[i].text, name);
    if (first.empty()) continue;
    std::string entry(first);
    for (std::size_t next = i + 1; next < lines.size() && !lines[next].text.empty() &&
        lines[next].indent > lines[i].indent && entry.size() < longest_entry;
        ++next)
      entry += " " + std::string(lines[next].text);
    // `(Tensor): …`: what is behind the type's colon may begin with the shape. In the brackets it has to be
    // called one.
    std::string_view text = entry;
    if (text.front() == '(') {
      const auto colon = text.find("):");
      const std::string_view type = text.substr(1, colon == std::string_view::npos ? text.npos : colon - 1);
      if (auto shape = shape_in(type, false)) return shape;
      if (colon == std::string_view::npos) return std::nullopt;
      return shape_in(trimmed(text.substr(colon + 2), " `"), true);
    }
    return shape_in(trimmed(text.substr(1), " `"), true);
  }
  return std::nullopt;
}

// `# x: [B, T, C]`, `# x is of shape (B, T)`; where the comment stands by the parameter, also `# [B, T, C]`.
std::optional<DocumentedShape> in_comment(std::string_view comment, std::string_view name, bool beside) {
  comment = trimmed(comment, " #\t\r");
  if (beside && !comment.empty() && (comment.front() == '[' || comment.front() == '('))
    return shape_in(comment, true);
  if (!comment.starts_with(name)) return std::nullopt;
  comment.remove_prefix(name.size());
  if (comment.empty() || syntax::is_word(comment.front())) return std::nullopt;
  comment = trimmed(comment, " ");
  if (comment.starts_with("shape")) comment = trimmed(comment.substr(5), " ");
  if (comment.starts_with(".shape")) comment = trimmed(comment.substr(6), " ");
  while (!comment.empty() && (comment.front() == ':' || comment.front() == '=' || comment.front() == ' '))
    comment.remove_prefix(1);
  return shape_in(comment, true);
}

std::string_view comment_after(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  const std::string_view line = text.substr(at, std::min(text.find('\n', at), text.size()) - at);
  const auto hash = line.find('#');
  // Text with a quote before it may hold the sign itself.
  if (hash == std::string_view::npos || line.substr(0, hash).find_first_of("'\"") != std::string_view::npos)
    return {};
  return line.substr(hash);
}

// Sizes by themselves, as tuples of numbers.
bool is_named_as_sizes(std::string_view name) {
  constexpr std::string_view sizes[] = {"size", "shape", "dims", "resolution", "stride", "padding", "kernel",
      "crop", "range", "ratio", "window", "patch", "spacing", "offset"};
  const std::string words = lower(name);
  return std::ranges::any_of(
      sizes, [&](std::string_view part) { return words.find(part) != std::string::npos; });
}

// A parameter that is annotated as something else is no tensor, however its sizes are described; nor is one
// whose default is none.
bool may_be_tensor(const Parameter& parameter, std::string_view text, std::uint32_t offset) {
  if (parameter.kind == ParameterKind::var_positional || parameter.kind == ParameterKind::var_keyword)
    return false;
  if (parameter.default_value && parameter.default_value->kind != ExprKind::none) return false;
  if (!parameter.annotation) return !is_named_as_sizes(parameter.name.text());
  const Span span = parameter.annotation->span;
  if (span.end + offset > text.size() || span.end < span.begin) return false;
  const std::string words = lower(text.substr(span.begin + offset, span.end - span.begin));
  if (words.find("tensor") == std::string::npos) return false;
  return std::ranges::none_of(
      std::array{"list", "tuple", "dict", "sequence", "iterable", "callable", "mapping", "iterator"},
      [&](const char* other) { return words.find(other) != std::string::npos; });
}

}  // namespace

std::optional<DocumentedShape> documented_sizes(std::string_view text) {
  DocumentedShape shape;
  const bool commas = text.find(',') != std::string_view::npos;
  const std::string_view apart = commas            ? ","
      : text.find(" x ") != std::string_view::npos ? " x "
      : text.find(" X ") != std::string_view::npos ? " X "
      : text.find(" × ") != std::string_view::npos ? " × "
                                                   : ",";
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(apart, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + apart.size();
    if (trimmed(word).empty() && end == text.size() && !shape.empty()) break;  // (B,)
    auto size = size_of(word);
    if (!size || shape.size() == most_dimensions) return std::nullopt;
    shape.push_back(std::move(*size));
  }
  if (shape.empty() ||
      std::ranges::all_of(shape, [](const DocumentedSize& size) { return size.number.has_value(); }))
    return std::nullopt;
  return shape;
}

std::map<std::string, DocumentedShape, std::less<>> documented_parameters(
    const FunctionStmt& function, std::string_view text, std::uint32_t offset) {
  std::map<std::string, DocumentedShape, std::less<>> made;
  const auto lines = lines_of(function.docstring);
  // The comments before the first statement, the docstring left out.
  std::vector<std::string_view> comments;
  const bool documented = !function.docstring.empty();
  if (function.body.size() > documented) {
    const std::size_t from = documented ? function.body[0]->span.end + offset : function.header.end + offset,
                      to = function.body[documented]->span.begin + offset;
    if (from < to && to <= text.size())
      for (const Line& line : lines_of(text.substr(from, to - from)))
        if (line.text.starts_with('#')) comments.push_back(line.text);
  }
  const auto& list = function.parameters->list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Parameter& parameter = list[i];
    const std::string_view name = parameter.name.text();
    if ((i == 0 && (name == "self" || name == "cls")) || !may_be_tensor(parameter, text, offset)) continue;
    std::optional<DocumentedShape> shape;
    // The last parameter of its line.
    const std::size_t at = parameter.span.end + offset;
    const bool last = i + 1 == list.size() ||
        text.substr(std::min(at, text.size()),
                list[i + 1].span.begin + offset > at ? list[i + 1].span.begin + offset - at : 0)
                .find('\n') != std::string_view::npos;
    const std::string_view before = text.substr(
        0, std::min<std::size_t>(parameter.span.begin + offset, text.size()));
    const bool first = trimmed(before.substr(before.rfind('\n') + 1), " \t").empty();
    if (last) shape = in_comment(comment_after(text, at), name, first || i <= 1);
    for (std::size_t c = 0; c < comments.size() && !shape; ++c) shape = in_comment(comments[c], name, false);
    if (!shape) shape = in_docstring(lines, name);
    if (shape) made.emplace(name, std::move(*shape));
  }
  return made;
}

}  // namespace stepzero::snapshot
