#include "documents/document.hpp"

#include "documents/grammar.hpp"
#include "syntax/spelling.hpp"
#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace stepzero::documents {

namespace {
constexpr std::uint32_t largest = 1u << 20;  // larger files are data, and no configuration
constexpr std::size_t longest_word = 80;     // that is compared with others: keys are shorter
}  // namespace

const Field* Node::find(std::string_view key) const {
  const auto found = std::find_if(
      fields.rbegin(), fields.rend(), [&](const Field& field) { return field.key == key; });
  return found == fields.rend() ? nullptr : &*found;
}

const Node* Node::at(std::string_view key) const {
  const Field* field = find(key);
  return field ? &field->value : nullptr;
}

std::string_view kind_name(Node::Kind kind) {
  constexpr std::string_view names[] = {
      "null", "a boolean", "an integer", "a number", "a string", "a list", "a table", "something else"};
  return names[static_cast<int>(kind)];
}

Language language_of(std::string_view path, std::string_view text) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto is_one_of = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(
        endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
  };
  if (is_one_of({".json", ".jsonc", ".json5"})) return Language::json;
  if (is_one_of({".yaml", ".yml"})) return Language::yaml;
  // Settings of tools are theirs to read, ours too.
  if (is_one_of({".toml"}))
    return name == "pyproject.toml" || name == "stepzero.toml" ? Language::none : Language::toml;
  if (is_one_of({".sh", ".bash", ".slurm", ".sbatch", ".job", ".ksh", ".zsh"})) return Language::shell;
  if (name == "Makefile" || name == "makefile" || name == "GNUmakefile" || name.ends_with(".mk"))
    return Language::make;
  if (name.starts_with("Dockerfile") || name.ends_with(".dockerfile") || name == "Containerfile")
    return Language::docker;
  if (name == ".env" || name.ends_with(".env") || name.starts_with(".env.")) return Language::environment;
  if (name.find('.') != std::string_view::npos || !text.starts_with("#!")) return Language::none;
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.ends_with("sh") || first.find("sh ") != std::string_view::npos ? Language::shell
                                                                              : Language::none;
}

std::shared_ptr<const syntax::Module> unparsed(std::string text) {
  auto module = std::make_shared<syntax::Module>();
  module->text = std::make_shared<const syntax::Text>(std::move(text));
  return module;
}

std::shared_ptr<const syntax::Module> module_of(
    std::string_view path, std::string text, const syntax::BackgroundRunner& background) {
  return language_of(path, text) != Language::none ? unparsed(std::move(text))
                                                   : syntax::parse(std::move(text), background);
}

namespace {
// A script may be a template that is filled in before it runs: what stands in `{{ name }}` is as little known
// as a variable of the environment, and is read as one of the same length.
std::string without_placeholders(std::string_view text) {
  std::string filled(text);
  for (std::size_t at = filled.find("{{"); at != std::string::npos; at = filled.find("{{", at + 1)) {
    const std::size_t end = filled.find("}}", at);
    if (end == std::string::npos) break;
    const std::string_view inside = std::string_view(filled).substr(at + 2, end - at - 2);
    const bool names = !inside.empty() && std::ranges::all_of(inside, [](char c) {
      return syntax::is_word(c) || c == '.' || c == ' ' || c == '|';
    });
    if (!names || (at > 0 && filled[at - 1] == '$')) continue;
    filled[at] = '$';
    filled[at + 1] = '{';
    std::fill(filled.begin() + static_cast<std::ptrdiff_t>(at) + 2,
        filled.begin() + static_cast<std::ptrdiff_t>(end) + 1, '_');
  }
  return filled;
}
}  // namespace

Document parse(Language language, std::shared_ptr<const syntax::Text> text, const ShellReader& reader) {
  Document document;
  document.language = language;
  document.text = std::move(text);
  const std::string_view bytes = document.text->bytes();
  KeptTree* const kept = kept_tree(document.text);
  bool whole = bytes.size() <= largest;
  if (whole) switch (language) {
    case Language::json: whole = read_json(bytes, document.root, document.comments, kept); break;
    case Language::yaml: whole = read_yaml(bytes, document.root); break;
    case Language::toml: whole = !read_toml(*document.text, document.root, document.comments); break;
    case Language::make:
    case Language::environment:
    case Language::docker: break;
    case Language::shell:
      whole = read_shell(without_placeholders(bytes), document.script, document.comments, reader, kept);
      break;
    case Language::none: break;
    }
  if (bytes.size() <= largest)
    read_embedded(language, bytes, document.root, document.script, document.comments, kept);
  document.is_broken = !whole;
  return document;
}

namespace {
// Are the words of `part`, as '_' parts them, all among those of `whole`, in their order?
bool lacks_words(std::string_view part, std::string_view whole) {
  std::size_t words = 0;
  for (; !part.empty(); ++words) {
    const std::string_view one = part.substr(0, part.find('_'));
    part.remove_prefix(std::min(one.size() + 1, part.size()));
    bool found = false;
    while (!found && !whole.empty()) {
      const std::string_view other = whole.substr(0, whole.find('_'));
      whole.remove_prefix(std::min(other.size() + 1, whole.size()));
      found = one == other;
    }
    if (!found) return false;
  }
  return words > 1;
}

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("_-"), name.size());
    if (end > 0) words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}
// "src" of "source": its letters in their order, the first one first.
bool shortens(std::string_view part, std::string_view whole) {
  if (part.size() < 2 || part.size() >= whole.size() || part.front() != whole.front()) return false;
  std::size_t at = 0;
  for (const char letter : whole)
    if (at < part.size() && part[at] == letter) ++at;
  return at == part.size();
}
}  // namespace

bool is_shortened(std::string_view word, std::string_view meant) {
  const auto ours = words_of(word), theirs = words_of(meant);
  if (ours.size() < 2 || ours.size() != theirs.size()) return false;
  std::size_t shortened = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) continue;
    if (!shortens(ours[i], theirs[i]) && !shortens(theirs[i], ours[i])) return false;
    ++shortened;
  }
  return shortened == 1;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() < 2 || word.size() > longest_word) return {};
  const auto is_snake = [](std::string_view text) { return text.find('_') != std::string_view::npos; };
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 4) + 1;
  for (const std::string_view candidate : known)
    if (const std::size_t away = syntax::letters_between(word, candidate, least); away < least ||
        (away == least && !best.empty() && is_snake(candidate) == is_snake(word) &&
            is_snake(best) != is_snake(word)))
      best = candidate, least = away;
  // A word that was left out is nearer than other letters: `warmup_steps` is `warmup_num_steps`.
  if (best.empty() || least > 1) {
    std::string_view whole;
    std::size_t found = 0;
    for (const std::string_view candidate : known)
      if (candidate != whole && lacks_words(word, candidate)) whole = candidate, ++found;
    if (found == 1) return whole;
  }
  if (best.empty()) {
    std::size_t found = 0;
    for (const std::string_view candidate : known)
      if (is_shortened(word, candidate)) best = candidate, ++found;
    if (found > 1) best = {};
  }
  return best;
}

bool is_typo(std::string_view word, std::string_view meant) {
  const auto letters = [](std::string_view text) {
    std::string kept;
    for (const char letter : text)
      if (letter != '-' && letter != '_')
        kept += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return kept;
  };
  const std::string a = letters(word), b = letters(meant);
  constexpr std::size_t least_stem = 6, most_ending = 2;
  const bool lacks_ending = a.size() >= least_stem && b.starts_with(a) && b.size() - a.size() <= most_ending;
  if (a == b || lacks_ending || syntax::letters_between(a, b) == 1) return true;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return a.size() == b.size() && a.end() - at > 1 && at[0] == other[1] && at[1] == other[0] &&
      std::equal(at + 2, a.end(), other + 2);
}

}  // namespace stepzero::documents
