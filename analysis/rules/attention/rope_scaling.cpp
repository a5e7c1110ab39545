// attention/rope-scaling: settings of rotary scaling that lack keys, have unknown ones, or contradict
// themselves.
#include "libraries/frameworks/rotary_scaling.hpp"
#include "rules/digits.hpp"
#include "rules/fact_index.hpp"
#include "rules/rule.hpp"
#include "rules/settings.hpp"
#include "rules/training/training.hpp"
#include "syntax/spelling.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace stepzero::rules::attention::rope_scaling {

using libraries::RotaryScaling;
using values::Kind;

namespace {

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const auto space = words.find(' ');
    if (words.substr(0, space) == word) return true;
    words = space == std::string_view::npos ? std::string_view{} : words.substr(space + 1);
  }
  return false;
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> found;
  while (!words.empty()) {
    const auto space = words.find(' ');
    if (space != 0) found.push_back(words.substr(0, space));
    words = space == std::string_view::npos ? std::string_view{} : words.substr(space + 1);
  }
  return found;
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  // `named`: the place calls it rope_scaling or rope_parameters. The other fields of the configuration
  // around, if there are any.
  void look_at(Value value, bool named, Place place, const values::DictState* around) {
    if (!value.is(Kind::dict) || !seen_.insert(value.object()).second) return;
    const auto* dict = values::Heap::dict_state(value);
    const auto get = [&](std::string_view key) { return find(dict, key); };
    Value type = get("rope_type");
    if (!type && (named || get("factor") || get("short_factor"))) type = get("type");
    if (!type.is(Kind::string)) {
      // Settings for each kind of layer, or a configuration that holds them.
      for (const auto& [key, inner] : dict->items)
        if (key.is(Kind::string))
          look_at(inner, named || is_name(key.text()), place, is_name(key.text()) ? dict : around);
      return;
    }
    if (dict->open) return;
    // A model's own settings that have such a key among others.
    if (!named && std::any_of(dict->items.begin(), dict->items.end(), [](const auto& item) {
          return item.first.is(Kind::string) && !sounds_known(item.first.text());
        }))
      return;
    std::string_view name = type.text();
    const auto kinds = libraries::rotary_scalings();
    const auto kind = std::ranges::find(kinds, name, &RotaryScaling::name);
    if (kind == kinds.end()) {
      if (!named && !get("rope_type")) return;
      std::string meant, known;
      for (const RotaryScaling& each : kinds) {
        if (!each.has_keys) continue;
        known += (known.empty() ? "`" : ", `") + std::string(each.name) + "`";
        if (syntax::letters_between(name, each.name) <= 2) meant = each.name;
      }
      return tell(place,
          "`" + std::string(name) + "` is not a known kind of rotary scaling" +
              (meant.empty() ? "; known are " + known : ". Did you mean `" + meant + "`?"));
    }
    if (!kind->has_keys) return;
    for (const std::string_view key : split_words(kind->required))
      if (!get(key)) {
        std::string near;
        for (const auto& [given, unused] : dict->items)
          if (given.is(Kind::string) && !known(*kind, given.text()) &&
              syntax::letters_between(given.text(), key) <= 3)
            near = given.text();
        return tell(place,
            "Rotary scaling of the kind `" + std::string(name) + "` needs `" + std::string(key) +
                "`, which is missing" +
                (near.empty() ? ". Add it" : "; `" + near + "` is not read. Rename it"));
      }
    for (const auto& [given, held] : dict->items)
      if (given.is(Kind::string) && !known(*kind, given.text())) {
        if (given.text() == libraries::rotary_factor && number(held) == 1.0) continue;
        std::string of;
        for (const RotaryScaling& each : kinds)
          if (of.empty() && (has_word(each.required, given.text()) || has_word(each.optional, given.text())))
            of = each.name;
        return tell(place,
            "Rotary scaling of the kind `" + std::string(name) + "` does not read `" +
                std::string(given.text()) + "`" + (of.empty() ? "" : "; it belongs to `" + of + "`") +
                ". Remove it, or choose another kind");
      }
    if (get("rope_type").is(Kind::string) && get("type").is(Kind::string) &&
        get("rope_type").text() != get("type").text())
      return tell(place,
          "`rope_type` says `" + std::string(get("rope_type").text()) + "` and `type` says `" +
              std::string(get("type").text()) + "`: only one of them is read. Remove the other");
    const auto number = [&](Value of) { return this->number(of); };
    if (const auto factor = number(get("factor")); factor && *factor < 1)
      return tell(place,
          "A factor of " + in_digits(*factor) +
              " shortens the context. Make it the new length over the old one, 1 or more");
    const auto low = number(get("low_freq_factor")), high = number(get("high_freq_factor"));
    // Where they are equal there is no blend: Llama 4 has both at 1.
    if (low && high && *low > *high)
      return tell(place,
          "`low_freq_factor` is " + in_digits(*low) + " and `high_freq_factor` " + in_digits(*high) +
              ": the blend between them divides by a negative number. Make the low one the smaller");
    const auto fast = number(get("beta_fast")), slow = number(get("beta_slow"));
    // Equal ones make a ramp of one step, as Kimi K2 has it.
    if (fast && slow && *fast < *slow)
      return tell(place,
          "`beta_fast` is " + in_digits(*fast) + " and `beta_slow` " + in_digits(*slow) +
              ": the ramp between them runs backwards. Make the fast one the larger");
    lengths(dict, around, place);
    if (kind->reaches_product) contexts(dict, around, place);
  }

  // A key of any kind, or one that was misspelled.
  static bool sounds_known(std::string_view key) {
    const auto among = [&](std::string_view words) {
      const auto all = split_words(words);
      return std::any_of(all.begin(), all.end(),
          [&](std::string_view word) { return syntax::letters_between(key, word) <= 3; });
    };
    return among(libraries::keys_of_rotary_scalings) ||
        std::ranges::any_of(libraries::rotary_scalings(),
            [&](const RotaryScaling& each) { return among(each.required) || among(each.optional); });
  }
  static bool is_name(std::string_view key) {
    return std::ranges::find(libraries::fields_of_rotary_scalings, key) !=
        std::end(libraries::fields_of_rotary_scalings);
  }

private:
  static Value find(const values::DictState* dict, std::string_view key) {
    for (const auto& [k, v] : dict->items)
      if (k.is(Kind::string) && k.text() == key) return v;
    return {};
  }
  static bool known(const RotaryScaling& kind, std::string_view key) {
    return has_word(kind.required, key) || has_word(kind.optional, key) ||
        has_word(libraries::keys_of_rotary_scalings, key);
  }
  std::optional<double> number(Value value) const {
    if (value.is(Kind::real)) return value.real();
    if (value.is(Kind::integer))
      if (const auto known = record_.symbols.value(value.integer())) return static_cast<double>(*known);
    return std::nullopt;
  }
  // Of longrope: a factor for each pair of a head's numbers.
  void lengths(const values::DictState* dict, const values::DictState* around, Place place) {
    const Value small = find(dict, "short_factor"), large = find(dict, "long_factor");
    if (!small.is(Kind::list) || !large.is(Kind::list)) return;
    const auto *a = values::Heap::list_state(small), *b = values::Heap::list_state(large);
    if (a->open || b->open) return;
    if (a->items.size() != b->items.size())
      return tell(place,
          "`short_factor` has " + std::to_string(a->items.size()) + " numbers and `long_factor` " +
              std::to_string(b->items.size()) + ". Give both one for each pair of a head's numbers");
    if (!around) return;
    const auto width = number(find(around, "hidden_size")),
               heads = number(find(around, "num_attention_heads")), own = number(find(around, "head_dim"));
    const auto part = number(find(around, "partial_rotary_factor"));
    if (!own && (!width || !heads || *heads <= 0)) return;
    const double pairs = std::floor((own ? *own : std::floor(*width / *heads)) * (part ? *part : 1)) / 2;
    if (pairs != static_cast<double>(a->items.size()))
      tell(place,
          "`short_factor` and `long_factor` have " + std::to_string(a->items.size()) +
              " numbers, and the heads have " + in_digits(pairs) +
              " pairs to rotate. Give both one for each pair");
  }
  void contexts(const values::DictState* dict, const values::DictState* around, Place place) {
    if (!around) return;
    const auto factor = number(find(dict, "factor")),
               old = number(find(dict, "original_max_position_embeddings"));
    const auto context = number(find(around, "max_position_embeddings"));
    if (!factor || !old || !context) return;
    if (*context > *old * *factor * 1.001)
      tell(place,
          "A factor of " + in_digits(*factor) + " on " + in_digits(*old) + " positions reaches " +
              in_digits(*old * *factor) + ", but `max_position_embeddings` is " + in_digits(*context) +
              ". Make the factor large enough, or the context shorter");
  }
  void tell(Place place, const std::string& message) {
    if (once_(place)) report_.add(Severity::warning, place, nullptr, message + ".");
  }

  const Record& record_;
  Report& report_;
  Once once_;
  std::unordered_set<const values::Object*> seen_;
};

// Where the dictionary is written, if that is in the file; else the place.
Place written_in(const Record& record, Value value, Place otherwise) {
  return value.is(Kind::dict) && value.object()->born.chunk != 0 && record.in_file(value.object()->born)
      ? value.object()->born
      : otherwise;
}

void check(const Record& record, Report& report) {
  Check look(record, report);
  // The configurations before what they hold.
  each_settings(record, [&](const Settings& settings, Place at, const interpreter::CallSite*) {
    if (settings.is_dictionary()) return;
    for (const auto& [key, inner] : settings.given().items)
      if (key.is(Kind::string) && Check::is_name(key.text()))
        look.look_at(inner, true, written_in(record, inner, at), &settings.given());
  });
  for (const interpreter::Fact* fact : FactIndex::of(record).dictionaries) {
    const std::string_view text = record.text(fact->place);
    const auto dot = text.rfind('.');
    const std::string_view name = dot == std::string_view::npos ? text : text.substr(dot + 1);
    look.look_at(fact->value,
        Check::is_name(name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"))), fact->place,
        nullptr);
  }
  visit_operations(record, with_operation(values::Operation::unseen), [&](const OperationEvent& operation) {
    if (operation.arguments.empty() || !operation.arguments[0].is(Kind::tuple)) return;
    for (const Value& given : operation.arguments[0].as<values::Tuple>()->items)
      look.look_at(given, false, written_in(record, given, operation.place), nullptr);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "attention/rope-scaling",
    .severity = Severity::warning,
    .summary = "settings of rotary scaling lack a key, have one that is not read, or contradict themselves",
    .why =
        "rope_scaling (rope_parameters since transformers 5) has keys that depend on its kind: linear and dynamic need factor; yarn needs factor; longrope needs short_factor "
        "and long_factor with a number for each pair; llama3 needs factor, original_max_position_embeddings, low_freq_factor and high_freq_factor. A missing key raises `KeyError`, "
        "a key that is not read changes nothing without a word, and the model is then trained or evaluated with other positions than was thought.",
    .wrong =
        "rope_scaling = {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 4.0, \"high_freq_factor\": 1.0}\n",
    .right =
        "rope_scaling = {\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,\n"
        "                \"original_max_position_embeddings\": 8192}\n",
    .silent =
        "Dictionaries that are built in ways that are not followed; kinds of a library of your own under another key; rope_theta and partial_rotary_factor inside, as "
        "transformers 5 has them; settings for each kind of layer.",
    .fix = "None: the numbers are your choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::attention::rope_scaling
