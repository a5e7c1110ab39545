// @hydra.main: the configuration that Hydra composes of the files beside a program, as far as they and the
// launch decide it. As Hydra 1.3 composes defaults, groups, packages and overrides; what it does not follow
// here leaves the configuration unknown.
#include "interpreter/launch.hpp"
#include "interpreter/record.hpp"
#include "libraries/frameworks/configuration.hpp"
#include "libraries/python/data_files.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace stepzero::libraries {

namespace {

using interpreter::Launch;
using program::DataFormat;

constexpr int deepest = 8;  // defaults lists of defaults lists: one that names itself ends here
constexpr std::string_view yaml = ".yaml";
constexpr std::string_view stored =
    values::ConfigurationState::store;  // the program registers configurations itself

std::string without_ending(std::string text) {
  if (text.ends_with(yaml)) text.erase(text.size() - yaml.size());
  return text;
}

class Composition {
public:
  Composition(Call& call, std::string folder)
      : call_(call), folder_(std::move(folder)), root_(call.run.heap().dict({})) {}

  bool is_known = true;
  std::map<std::string, std::string, std::less<>> chosen;  // by the launch: "model" is "large"

  Value root() const { return root_; }
  bool has_option(const std::string& group, const std::string& option) const {
    return file(group, option).is(Kind::dict) || file(group, option).is(Kind::none);
  }

  void add(const std::string& group, const std::string& name, std::string package, int depth = 0) {
    const Value read = file(group, name);
    if (read.is(Kind::none)) return;  // an empty file
    if (!read.is(Kind::dict) || depth > deepest) return void(is_known = false);
    if (const Value said = item(read, package_of_file); said.is(Kind::string)) {
      if (said.text() != "_global_" && said.text().starts_with('_')) return void(is_known = false);
      package = said.text() == "_global_" ? std::string() : std::string(said.text());
    }
    bool merged = false;
    const auto merge_own = [&] {
      if (!std::exchange(merged, true)) merge(table(package), read, true);
    };
    if (const Value defaults = item(read, "defaults"); defaults.is(Kind::list)) {
      for (const Value& each : std::vector(values::Heap::list_state(defaults)->items)) {
        const Value one = call_.run.resolve(each);
        if (one.is(Kind::string) && one.text() == "_self_")
          merge_own();
        else
          add_default(group, one, package, depth);
      }
    } else if (!defaults.is(Kind::none)) {
      is_known = false;
    }
    merge_own();
  }

  // "model.width=3" of the command line; with `fresh` a key that the files have not.
  void set(std::string_view path, Value value, bool fresh) {
    const auto dot = path.rfind('.');
    const std::string around(path.substr(0, dot == std::string_view::npos ? 0 : dot)),
        name(path.substr(dot == std::string_view::npos ? 0 : dot + 1));
    const Value into = fresh ? table(around) : existing(around);
    if (into.is(Kind::dict))
      call_.run.dict_set(into, call_.run.heap().string(name), value);
    else
      is_known = false;
  }

private:
  Value file(const std::string& group, const std::string& name) const {
    return call_.run.data_of_file(
        folder_ + "/" + (group.empty() ? "" : group + "/") + name + std::string(yaml), DataFormat::omegaconf);
  }
  Value item(Value dict, std::string_view key) const {
    return call_.run.resolve(call_.run.dict_get(dict, call_.run.heap().string(key), Value::none()));
  }

  // The table of a dotted name, which is made where there is none.
  Value table(std::string_view path) {
    Value at = root_;
    while (!path.empty()) {
      const auto dot = std::min(path.find('.'), path.size());
      const std::string name(path.substr(0, dot));
      path.remove_prefix(std::min(dot + 1, path.size()));
      Value next = item(at, name);
      if (!next.is(Kind::dict))
        call_.run.dict_set(at, call_.run.heap().string(name), next = call_.run.heap().dict({}));
      at = next;
    }
    return at;
  }
  Value existing(std::string_view path) const {
    Value at = root_;
    while (!path.empty() && at.is(Kind::dict)) {
      const auto dot = std::min(path.find('.'), path.size());
      at = item(at, path.substr(0, dot));
      path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at;
  }

  void merge(Value into, Value table, bool is_top) {
    for (const auto& [key, value] : std::vector(values::Heap::dict_state(table)->items)) {
      if (!key.is(Kind::string)) return void(is_known = false);
      if (key.text() == package_of_file || (is_top && key.text() == "defaults")) continue;
      const Value own = call_.run.resolve(value);
      if (!own.is(Kind::dict)) {
        call_.run.dict_set(into, key, own);
        continue;
      }
      Value there = item(into, key.text());
      if (!there.is(Kind::dict)) call_.run.dict_set(into, key, there = call_.run.heap().dict({}));
      merge(there, own, false);
    }
  }

  // One line of a defaults list: "base", {"model": "small"}, {"optional local": "default"},
  // {"/optimizer@second": "adam"}.
  void add_default(const std::string& group, Value one, const std::string& package, int depth) {
    if (one.is(Kind::string)) {
      const std::string name = without_ending(std::string(one.text()));
      if (name.find_first_of("@$/") != std::string::npos)
        is_known = false;
      else
        add(group, name, package, depth + 1);
      return;
    }
    const auto* state = one.is(Kind::dict) ? values::Heap::dict_state(one) : nullptr;
    if (!state || state->items.size() != 1 || !state->items.front().first.is(Kind::string))
      return void(is_known = false);
    std::string name(state->items.front().first.text());
    const Value value = call_.run.resolve(state->items.front().second);
    const bool is_optional = name.starts_with("optional ");
    if (is_optional) name.erase(0, 9);
    // Hydra's own groups say how the program is started.
    if (name.starts_with("hydra") || name.starts_with("/hydra") || name.starts_with("override hydra") ||
        name.starts_with("override /hydra"))
      return;
    if (name.starts_with("override ")) return void(is_known = false);
    std::string under;
    const auto at = name.find('@');
    if (at != std::string::npos) under = name.substr(at + 1), name.erase(at);
    if (name.starts_with('/'))
      name.erase(0, 1);
    else if (!group.empty())
      name = group + "/" + name;
    std::string option = value.is(Kind::string) ? without_ending(std::string(value.text())) : "";
    if (const auto given = chosen.find(name); given != chosen.end())
      option = given->second;
    else if (!value.is(Kind::string) && !value.is(Kind::none))
      return void(is_known = false);
    if (option.find_first_of("$[,") != std::string::npos || under.starts_with("_here_"))
      return void(is_known = false);
    if (option.empty() || option == "null") return;
    if (option == "???" || (is_optional && !has_option(name, option)))
      return void(is_known = is_known && option != "???");
    std::string where = name;
    std::replace(where.begin(), where.end(), '/', '.');
    if (at != std::string::npos)
      where = under == "_global_" ? "" : (package.empty() ? "" : package + ".") + under;
    add(name, option, std::move(where), depth + 1);
  }

  Call& call_;
  const std::string folder_;
  Value root_;
};

// ConfigStore.instance()
Value note_store(Call& call) {
  static_cast<void>(call.run.named_condition(std::string(stored), Sharing::uniform));
  return not_seen(call);
}

// A value of the command line; absent if it is none that is plain.
Value plain_value(Call& call, std::string_view text) {
  values::Heap& heap = call.run.heap();
  if (text.find_first_of(std::string{'[', '{', ',', '$', '\'', '"', '(', Launch::hole}) !=
      std::string_view::npos)
    return {};
  if (text == "true" || text == "True" || text == "false" || text == "False")
    return heap.boolean(text.front() == 't' || text.front() == 'T');
  if (text == "null" || text.empty()) return Value::none();
  std::int64_t whole = 0;
  if (const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), whole);
      problem == std::errc{} && end == text.data() + text.size())
    return heap.integer(whole);
  double real = 0;
  if (const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), real);
      problem == std::errc{} && end == text.data() + text.size())
    return Value::of(real);
  return heap.string(text);
}

struct Override {
  std::string key, value;
  bool fresh = false;
};
// What the launch gives; nothing where that cannot be followed.
std::optional<std::vector<Override>> overrides_of(const Launch& launch, std::string& name) {
  std::vector<Override> all;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::string& word = launch.arguments[i];
    if (word.find(Launch::words) != std::string::npos) return std::nullopt;
    if ((word == "--config-name" || word == "-cn") && i + 1 < launch.arguments.size())
      name = without_ending(launch.arguments[++i]);
    else if (word.starts_with("--config-name="))
      name = without_ending(word.substr(14));
    else if (word == "-m" || word == "--multirun")
      continue;
    else {
      const auto equals = word.find('=');
      const std::size_t begin = word.find_first_not_of('+');
      if (word.starts_with('-') || word.starts_with('~') || equals == std::string::npos ||
          begin == std::string::npos || begin >= equals)
        return std::nullopt;
      all.push_back({word.substr(begin, equals - begin), word.substr(equals + 1), begin > 0});
      if (all.back().key.find_first_of(std::string{'@', '[', Launch::hole}) != std::string::npos)
        return std::nullopt;
    }
  }
  return name.find(Launch::hole) == std::string::npos ? std::optional(std::move(all)) : std::nullopt;
}

// A leaf as the command line may give it: what it is if it is not given is remembered.
Value option_value(Call& call, const std::string& name, Value otherwise) {
  if (call.run.with_defaults()) return otherwise;
  const Value made = call.run.symbol(name, Sharing::uniform, call.place);
  if (!made.is(Kind::unknown)) return made;
  if (otherwise.is(Kind::boolean)) return Value::of(call.run.symbols().opaque(name, Sharing::uniform));
  auto* unknown = made.as<values::Unknown>();
  unknown->default_value = otherwise;
  unknown->is_option = true;
  unknown->is_real = otherwise.is(Kind::real);
  return otherwise.is(Kind::integer) ? Value::of(call.run.to_int(made)) : made;
}
Value with_options(Call& call, Value table, const std::string& prefix, int depth = 0) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key, raw] : std::vector(values::Heap::dict_state(table)->items)) {
    const Value value = call.run.resolve(raw);
    const bool is_kept = value.is(Kind::string) &&
        (value.text() == "???" || value.text().find("${") != std::string_view::npos);
    const std::string name = prefix + "." + std::string(key.text());
    items.emplace_back(key,
        value.is(Kind::dict) && depth < deepest ? with_options(call, value, name, depth + 1)
            : is_kept                           ? value
                                                : option_value(call, name, value));
  }
  return call.run.heap().dict(std::move(items));
}

// @hydra.main(config_path="conf", config_name="config")
Value hydra_main(Call& call) {
  const Value path = call.run.resolve(call.at(1)), given = call.run.resolve(call.at(2));
  // What a program registers itself is not in the files.
  if (call.spread || !path.is(Kind::string) || !given.is(Kind::string) || path.text().starts_with('/') ||
      call.run.record().conditions.contains(stored))
    return not_seen(call);
  std::string name = without_ending(std::string(given.text()));
  const Launch* launch = call.run.launch();
  const auto overrides = launch ? overrides_of(*launch, name) : std::optional(std::vector<Override>{});
  if (!overrides) return not_seen(call);
  Composition composition(call, std::string(path.text()));
  std::vector<const Override*> values;
  for (const Override& each : *overrides) {
    std::string option = without_ending(each.value);
    if (each.key.starts_with("hydra.") || each.key.starts_with("hydra/")) continue;
    if (each.key.find('/') != std::string::npos || composition.has_option(each.key, option))
      composition.chosen[each.key] = std::move(option);
    else
      values.push_back(&each);
  }
  composition.add("", name, "");
  for (const Override* each : values) {
    const Value value = plain_value(call, each->value);
    composition.set(
        each->key, value ? value : call.run.heap().unknown("", Sharing::uniform, call.place), each->fresh);
  }
  // A group that no defaults list names is added to them.
  for (const Override& each : *overrides)
    if (each.fresh && composition.chosen.contains(each.key)) composition.is_known = false;
  if (!composition.is_known) return not_seen(call);
  const Value table = launch ? composition.root() : with_options(call, composition.root(), "cfg");
  Instance* made = call.run.make_native(values::InternalRow::hydra, call.place);
  keep(call.run, *made, values::ConfigurationState::cfg, configuration_of(call, table, !launch));
  return Value::of(Kind::instance, made);
}
Value decorate(Call& call) {
  Instance* made = call.run.make_native(values::InternalRow::hydra_decorated, call.place);
  keep(call.run, *made, values::ConfigurationState::function, call.at(0));
  keep(call.run, *made, values::ConfigurationState::cfg, kept(call, values::ConfigurationState::cfg));
  // What stands in the place of a function is bound to what it does.
  auto* bound = call.run.heap().make<values::Bound>();
  bound->self = Value::of(Kind::instance, made);
  bound->function = call.run.library_symbol(values::InternalRow::hydra_decorated_call);
  return Value::of(Kind::bound, bound);
}
Value start(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  return call.run.call(kept(call, values::ConfigurationState::function),
      {{given && !given.is(Kind::none) ? given : kept(call, values::ConfigurationState::cfg)}, {}, false},
      call.place);
}

}  // namespace

std::vector<Row> hydra_rows() {
  using enum RowKind;
  return {
      row("hydra.main", function, "version_base=None, config_path=None, config_name=None", hydra_main),
      row("hydra.core.config_store.ConfigStore.instance", function, "*arguments, **options", note_store),
      row("hydra_zen.store", function, "*arguments, **options", note_store),
      row(values::InternalRow::hydra, class_, "", nullptr),
      row(values::InternalRow::hydra_call, method, "task_function", decorate),
      row(values::InternalRow::hydra_decorated, class_, "", nullptr),
      row(values::InternalRow::hydra_decorated_call, method, "cfg_passthrough=None", start),
  };
}

}  // namespace stepzero::libraries
