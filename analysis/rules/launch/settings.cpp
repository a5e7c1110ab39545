#include "rules/launch/settings.hpp"

#include "documents/document.hpp"
#include "rules/choices.hpp"
#include "rules/launch/variables.hpp"
#include "rules/sentences.hpp"
#include "syntax/spelling.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules::launch {

namespace {

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
      [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}
bool is_on(const std::string& text) {
  return text == "1" || text == "true" || text == "True" || text == "ON";
}

// A name that no library reads.
void judge_name(std::string_view name, std::vector<SettingProblem>& into) {
  if (!has_owner(name)) return;
  const std::string_view meant = documents::nearest(name, variable_names());
  // A name of the program's own may be near one of them: only a letter or two make a slip, and of a short
  // name two letters in the wrong order.
  constexpr std::size_t long_name = 9;
  const bool swaps = meant.size() == name.size() && std::ranges::is_permutation(name, meant);
  const std::size_t most = meant.size() >= long_name ? 2 : swaps ? 1 : 0;
  if (meant.empty() || syntax::letters_between(name, meant, most) > most) return;
  into.push_back({Severity::warning, false,
      "no library reads `" + std::string(name) + "`. Did you mean `" + std::string(meant) + "`?",
      std::string(meant), false});
}

// "max_split_size_mb:128,expandable_segments:True"
void judge_allocator(std::string_view name, std::string_view value, std::vector<SettingProblem>& into) {
  const std::vector<std::string_view> known = allocator_options();
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (one.find('[') != std::string_view::npos || one.find(']') != std::string_view::npos)
      return;  // a list of sizes has commas of its own
    std::string_view key = one.substr(0, one.find(':'));
    while (key.starts_with(' ')) key.remove_prefix(1);
    while (key.ends_with(' ')) key.remove_suffix(1);
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const std::string_view meant = documents::nearest(key, known);
      if (!meant.empty())
        into.push_back({Severity::warning, true,
            "the allocator has no option `" + std::string(key) + "` in `" + std::string(name) +
                "`, and PyTorch refuses it when CUDA starts. Did you mean `" + std::string(meant) + "`?",
            "", false});
    } else if (const std::string_view given = one.find(':') == std::string_view::npos
            ? std::string_view()
            : one.substr(one.find(':') + 1);
        key == "expandable_segments" && given != "True" && given != "False") {
      into.push_back({Severity::warning, true,
          "PyTorch refuses \"" + std::string(given) +
              "\" for `expandable_segments` when CUDA starts. Write `True` or `False`",
          "", false});
    }
  }
}

}  // namespace

std::vector<SettingProblem> judge_setting(std::string_view name, const std::optional<std::string>& value) {
  std::vector<SettingProblem> found;
  const KnownVariable* known = find_variable(name);
  if (!known) {
    judge_name(name, found);
    return found;
  }
  if (!known->instead.empty()) {
    const bool same = known->instead.ends_with(name);  // TORCH_NCCL_… of NCCL_…
    found.push_back({Severity::information, false,
        "`" + std::string(name) +
            "` is deprecated: " + (name.starts_with("TRANS") ? "transformers reads" : "PyTorch reads") +
            " `" + std::string(known->instead) + "`. Rename it",
        same ? std::string(known->instead) : "", same});
  }
  if (!value || value->empty()) return found;
  if (!known->left_on.empty() && is_on(*value))
    found.push_back({Severity::information, false,
        "`" + std::string(name) + "` is on: " + std::string(known->left_on) +
            ". Remove it, unless it has to be",
        "", false});
  if (!known->choices.empty() && !is_choice(known->choices, *value) &&
      !is_choice(known->choices, upper(*value)))
    found.push_back({Severity::warning, true,
        "`" + std::string(name) + "` takes " + in_code(choices_in(known->choices)) + ", and cannot be \"" +
            *value + "\". Choose one of these",
        "", false});
  if (name == "PYTORCH_CUDA_ALLOC_CONF" || name == "PYTORCH_ALLOC_CONF") judge_allocator(name, *value, found);
  if (name == "OMP_NUM_THREADS" && value->find_first_not_of("0123456789, ") != std::string::npos)
    found.push_back({Severity::warning, true,
        "OpenMP ignores \"" + *value +
            "\" for `OMP_NUM_THREADS`, and every process starts as many threads as there are cores. Set a number",
        "", false});
  if (name == "OMP_NUM_THREADS" && *value == "0")
    found.push_back({Severity::warning, true,
        "OpenMP ignores 0 for `OMP_NUM_THREADS`, and every process starts as many threads as there are cores. Set a positive number",
        "", false});
  return found;
}

}  // namespace stepzero::rules::launch
