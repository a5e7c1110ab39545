// OmegaConf: configurations whose fields are attributes, refer to each other, and may have to be given.
#include "interpreter/record.hpp"

#include "interpreter/reasons.hpp"
#include "interpreter/statements/from_file.hpp"
#include "libraries/frameworks/configuration.hpp"
#include "libraries/python/data_files.hpp"
#include "syntax/spelling.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <string>

namespace stepzero::libraries {

namespace {

// Is it a field that has to be given, and was not?
bool is_to_be_given(Value value) { return value.is(Kind::string) && value.text() == "???"; }
bool is_reference(Value value) {
  return value.is(Kind::string) && value.text().find("${") != std::string_view::npos;
}

// The field as it is now, or the text that refers to another field; absent if there is none.
Value field_now(Call& call, Instance& object, std::string_view name) {
  if (const Value now = kept(call.run, object, name)) return now;
  const Value fields = kept(call.run, object, values::ConfigurationState::fields);
  const Value written = fields.is(Kind::dict)
      ? call.run.dict_get(fields, call.run.heap().string(name), Value::none())
      : Value{};
  return is_reference(written) ? written : Value{};
}
// May the command line add keys, and give what has to be given?
bool is_completed(Call& call, Value whole) {
  whole = call.run.resolve(whole);
  return whole.is(Kind::instance) &&
      kept(call.run, *whole.as<Instance>(), values::ConfigurationState::completed);
}
// `refusal` of whether the command line may give it.
template <class Refuse> void tell_of_field(Call& call, Value whole, const Refuse& refusal) {
  const bool completed = is_completed(call, whole);

  interpreter::ProblemEvent* event = call.run.problem_at(
      values::ProblemKind::undeclared, call.place, nullptr);
  explain(*event, refusal(completed));
  event->overridable = completed;
  event->row = call.run.library().find(std::string(interpreter::file_origin));
}
Value referred(Call& call, Value whole, std::string_view text, int depth = 0);
// "${data.root}/train": each name in turn; a text where all of them are texts or integers.
Value interpolated(Call& call, Value whole, std::string_view text, int depth) {
  std::string made;
  bool is_known = true;
  while (!text.empty()) {
    const auto begin = std::min(text.find("${"), text.size());
    made += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) break;
    const auto end = text.find('}');
    // One name in another.
    if (end == std::string_view::npos || text.substr(2, end).find("${") < end - 2) return not_seen(call);
    const Value part = call.run.resolve(referred(call, whole, text.substr(0, end + 1), depth));
    text.remove_prefix(end + 1);
    const auto number = part.is(Kind::integer) ? call.run.to_constant(part) : std::nullopt;
    if (part.is(Kind::string))
      made += part.text();
    else if (number)
      made += std::to_string(*number);
    else
      is_known = false;
  }
  return is_known ? call.run.heap().string(made) : not_seen(call);
}

// What "${model.width}" names in the whole configuration, as it is now.
Value referred(Call& call, Value whole, std::string_view text, int depth) {
  if (depth > values::deepest_data) return not_seen(call);
  if (!text.starts_with("${") || text.find('}') != text.size() - 1)
    return interpolated(call, whole, text, depth + 1);
  std::string_view path = text.substr(2, text.size() - 3);
  // A resolver, "${oc.env:HOME}", an item of a list, and what counts from the field itself.
  if (path.find_first_of(":[") != std::string_view::npos || path.starts_with('.') ||
      path.starts_with("hydra."))
    return not_seen(call);
  Value found = call.run.resolve(whole);
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (name.empty() || !found.is(Kind::instance) || !call.run.is_a(found, "omegaconf.DictConfig"))
      return not_seen(call);
    const Instance& holder = *found.as<Instance>();
    const Value fields = kept(call.run, holder, values::ConfigurationState::fields);
    found = call.run.resolve(field_now(call, *found.as<Instance>(), name));
    if (is_reference(found)) found = referred(call, whole, found.text(), depth + 1);
    if (!found) {
      const bool is_closed = !holder.open && fields.is(Kind::dict) &&
          !values::Heap::dict_state(fields)->open &&
          call.run.dict_get(fields, call.run.heap().string(name), Value::none()).is(Kind::none);
      if (is_closed && depth <= 1)
        tell_of_field(
            call, whole, [&](bool completed) { return why<Reason::interpolated_key>(text, completed); });
      return not_seen(call);
    }
  }
  return found;
}

// A dict as OmegaConf gives it: its fields are attributes as well. What refers to another field is found when
// it is asked for.
Value configuration(Call& call, Value value, int depth, Value whole = {}) {
  value = call.run.resolve(value);
  if (depth > values::deepest_fields) return not_seen(call);
  if (value.is(Kind::dict)) {
    const auto* state = values::Heap::dict_state(value);
    if (state->open) return not_seen(call);
    Instance* made = call.run.make_native("omegaconf.DictConfig", call.place);
    made->open = false;
    if (!whole) whole = Value::of(Kind::instance, made);
    keep(call.run, *made, values::ConfigurationState::whole, whole);
    const auto items = state->items;
    std::vector<std::pair<Value, Value>> fields;
    for (const auto& [key, field] : items) {
      if (!key.is(Kind::string)) return not_seen(call);
      if (key.text() == package_of_file) continue;
      const Value own = call.run.resolve(field);
      fields.emplace_back(key, is_reference(own) ? own : configuration(call, own, depth + 1, whole));
      if (!is_reference(own) && !is_to_be_given(own)) keep(call.run, *made, key.text(), fields.back().second);
    }
    keep(call.run, *made, values::ConfigurationState::fields, call.run.heap().dict(std::move(fields)));
    return Value::of(Kind::instance, made);
  }
  if (value.is(Kind::list)) {
    const auto* state = values::Heap::list_state(value);
    if (state->open) return not_seen(call);
    std::vector<Value> items;
    for (const Value& item : std::vector(state->items))
      items.push_back(configuration(call, item, depth + 1, whole));
    return call.run.heap().list(std::move(items));
  }
  return is_reference(value) ? not_seen(call) : value;
}
Value loaded_configuration(Call& call) {
  const Value path = path_text(call.run, call.at(0));
  const Value data = path ? call.run.data_of_file(path.text(), program::DataFormat::omegaconf) : Value{};
  return data ? configuration(call, data, 0) : not_seen(call);
}
Value made_configuration(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  return given.is(Kind::dict) || given.is(Kind::list) ? configuration(call, given, 0) : not_seen(call);
}
// A dataclass, or an object of one, as the dict of its fields; absent if it is none.
Value fields_of(Call& call, Value value, int depth) {
  value = call.run.resolve(value);
  if (value.is(Kind::class_) && value.as<values::Class>()->is_dataclass)
    value = call.run.resolve(call.run.call(value, {}, call.place));
  if (depth > values::deepest_data || !value.is(Kind::instance) || !value.as<Instance>()->cls ||
      !value.as<Instance>()->cls->is_dataclass)
    return {};
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, field] : call.run.field_values(*value.as<Instance>())) {
    const Value nested = fields_of(call, field, depth + 1);
    items.emplace_back(call.run.heap().string(name.text()), nested ? nested : field);
  }
  return call.run.heap().dict(std::move(items));
}
Value structured_configuration(Call& call) {
  const Value fields = fields_of(call, call.at(0), 0);
  return fields ? configuration(call, fields, 0) : made_configuration(call);
}
// Back to plain dicts and lists, with or without what refers to other fields.
Value plain(Call& call, Value value, bool references, int depth) {
  value = call.run.resolve(value);
  if (depth > values::deepest_fields || (is_reference(value) && !references)) return not_seen(call);
  if (value.is(Kind::instance) && call.run.is_a(value, "omegaconf.DictConfig")) {
    if (!kept(call.run, *value.as<Instance>(), values::ConfigurationState::fields).is(Kind::dict))
      return not_seen(call);
    std::vector<std::pair<Value, Value>> items;
    // As the attributes are now: they can be written.
    for (const auto& [key, unused] : std::vector(values::Heap::dict_state(
             kept(call.run, *value.as<Instance>(), values::ConfigurationState::fields))
                 ->items))
      items.emplace_back(
          key, plain(call, field_now(call, *value.as<Instance>(), key.text()), references, depth + 1));
    return call.run.heap().dict(
        std::move(items), value.as<Instance>()->open, value.as<Instance>()->open ? not_seen(call) : Value{});
  }
  if (value.is(Kind::list)) {
    std::vector<Value> items;
    const auto* state = values::Heap::list_state(value);
    if (state->open) return not_seen(call);
    for (const Value& item : std::vector(state->items))
      items.push_back(plain(call, item, references, depth + 1));
    return call.run.heap().list(std::move(items));
  }
  return value;
}
Value container(Call& call) { return plain(call, call.at(0), false, 0); }

// What the later ones have stands in place of what the earlier ones have; a dict in both is merged field by
// field. False: not known.
bool merge_into(Call& call, Value into, Value other, int depth) {
  other = call.run.resolve(other);
  if (depth > values::deepest_fields || !other.is(Kind::dict) || values::Heap::dict_state(other)->open ||
      values::Heap::dict_state(into)->open)
    return false;
  for (const auto& [key, field] : std::vector(values::Heap::dict_state(other)->items)) {
    const Value before = call.run.resolve(call.run.dict_get(into, key, Value::none())),
                now = call.run.resolve(field);
    if (before.is(Kind::dict) && now.is(Kind::dict)) {
      if (!merge_into(call, before, now, depth + 1)) return false;
    } else {
      call.run.dict_set(into, key, now);
    }
  }
  return true;
}
Value merged_configuration(Call& call) {
  const Value all = call.run.heap().dict({});
  bool known = !call.spread && !call.rest.empty();
  for (const Value& raw : call.rest) {
    if (!known) break;
    const Value given = call.run.resolve(raw), fields = fields_of(call, given, 0);
    known = merge_into(call, all, fields ? fields : plain(call, given, true, 0), 0);
  }
  return known ? configuration(call, all, 0) : not_seen(call);
}
// What is asked of a configuration that has all its fields known, and has no such one; or one that has no
// value yet.
void judge_field(Call& call, Value key) {
  Instance& whole = object(call);
  const Value fields = kept(call, values::ConfigurationState::fields);
  if (whole.open || whole.cls || !fields.is(Kind::dict) || values::Heap::dict_state(fields)->open ||
      !key.is(Kind::string) || key.text().starts_with("_"))
    return;
  const std::string name(key.text());
  if (kept(call, values::ConfigurationState::asked + name)) return;
  std::string_view meant;
  std::size_t least = 3;
  for (const auto& [known, value] : values::Heap::dict_state(fields)->items) {
    if (!known.is(Kind::string)) return;
    if (known.text() == name) {
      if (is_to_be_given(call.run.resolve(value)) &&
          !is_completed(call, kept(call, values::ConfigurationState::whole)))
        tell_of_field(call, kept(call, values::ConfigurationState::whole),
            [&](bool completed) { return why<Reason::key_to_give>(name, completed); });
      return;
    }
    if (const std::size_t apart = syntax::letters_between(name, known.text());
        apart < least && apart < known.text().size() / 2 + 1)
      meant = known.text(), least = apart;
  }
  tell_of_field(call, kept(call, values::ConfigurationState::whole), [&](bool completed) {
    return meant.empty() ? why<Reason::configuration_key>(name, completed, name)
                         : why<Reason::other_configuration_key>(name, completed, name, meant);
  });
}
// Does the program write `cfg.name`, and ask for no attribute in another way?
bool is_written_out(Call& call, std::string_view name) {
  const std::string_view written = call.run.record().text(call.place);
  return !call.expr && written.size() > name.size() + 1 && written.ends_with(name) &&
      written[written.size() - name.size() - 1] == '.';
}

// A field that is not there as such.
Value missing_field(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  const Value found = key.is(Kind::string) ? field_now(call, object(call), key.text()) : Value{};
  return is_reference(found) ? referred(call, kept(call, values::ConfigurationState::whole), found.text())
                             : Value{};
}
Value missing_attribute(Call& call) {
  const Value key = call.run.resolve(call.at(0)), found = missing_field(call);
  if (!found && key.is(Kind::string) && is_written_out(call, key.text())) judge_field(call, key);
  return found;
}
Value configuration_item(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (const Value found = key.is(Kind::string) ? kept(call, key.text()) : Value{}) return found;
  const Value found = missing_field(call);
  if (!found) judge_field(call, key);
  return found ? found : not_seen(call);
}
Value item_or(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (!key.is(Kind::string) || object(call).open) return not_seen(call);
  Value found = kept(call, key.text());
  if (!found) found = missing_field(call);
  return found && !found.is(Kind::none) ? found : call.at(1);
}
// "seed" in cfg: who asks reads it only where it is there.
Value configuration_has(Call& call) {
  const Value key = call.run.resolve(call.at(0)), fields = kept(call, values::ConfigurationState::fields);
  if (!key.is(Kind::string) || !fields.is(Kind::dict) || object(call).open ||
      values::Heap::dict_state(fields)->open)
    return not_seen(call);
  const auto& items = values::Heap::dict_state(fields)->items;
  if (std::any_of(
          items.begin(), items.end(), [&](const auto& item) { return item.first.text() == key.text(); }) ||
      kept(call, key.text()))
    return call.run.heap().boolean(true);
  keep(call, values::ConfigurationState::asked + std::string(key.text()), call.run.heap().boolean(true));
  return is_completed(call, kept(call, values::ConfigurationState::whole))
      ? Value::of(call.run.symbols().opaque("\"" + std::string(key.text()) + "\" in cfg", Sharing::uniform))
      : call.run.heap().boolean(false);
}
// hasattr(cfg, "seed"): the same of a key that is no method.
Value configuration_lists(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (!key.is(Kind::string) || key.text().starts_with("_") ||
      call.run.library().find("omegaconf.DictConfig." + std::string(key.text())))
    return not_seen(call);
  return configuration_has(call);
}
// Of what the configuration has nothing is known from here on.
void lose_fields(Call& call) {
  const Value fields = kept(call, values::ConfigurationState::fields);
  if (fields.is(Kind::dict))
    for (const auto& [key, unused] : std::vector(values::Heap::dict_state(fields)->items))
      keep(call, key.text(), not_seen(call));
  keep(call, values::ConfigurationState::fields, Value::none());
  object(call).open = true;
}
Value changed_unseen(Call& call) {
  lose_fields(call);
  return not_seen(call);
}
Value pop_item(Call& call) {
  const Value key = call.run.resolve(call.at(0)), fields = kept(call, values::ConfigurationState::fields);
  if (!key.is(Kind::string) || !fields.is(Kind::dict) || object(call).open) return changed_unseen(call);
  Value found = kept(call, key.text());
  if (!found) found = missing_field(call);
  std::vector<std::pair<Value, Value>> others;
  for (const auto& [name, field] : values::Heap::dict_state(fields)->items)
    if (name.text() != key.text()) others.emplace_back(name, field);
  keep(call, values::ConfigurationState::fields, call.run.heap().dict(std::move(others)));
  keep(call, key.text(), Value{});
  return found ? found : not_seen(call);
}
Value set_item(Call& call) {
  const Value key = call.run.resolve(call.at(0));
  if (key.is(Kind::string))
    keep(call, key.text(), call.at(1));
  else
    object(call).open = true;
  return Value::none();
}

}  // namespace

Value configuration_of(Call& call, Value dict, bool completed) {
  const Value made = configuration(call, dict, 0);
  if (completed && made.is(Kind::instance))
    keep(
        call.run, *made.as<Instance>(), values::ConfigurationState::completed, call.run.heap().boolean(true));
  return made;
}

std::vector<Row> omegaconf_rows() {
  using enum RowKind;
  return {
      row("omegaconf.OmegaConf.load", function, "file_", loaded_configuration),
      row("omegaconf.OmegaConf.create", function, "obj, **options", made_configuration),
      row("omegaconf.OmegaConf.structured", function, "obj, **options", structured_configuration),
      row("omegaconf.OmegaConf.merge", function, "*configs", merged_configuration),
      row("omegaconf.OmegaConf.to_container", function, "cfg, **options", container),
      row("omegaconf.DictConfig", class_, "*arguments, **options", nullptr),
      row("omegaconf.DictConfig.__getattr__", method, "key", missing_attribute),
      row("omegaconf.DictConfig.__getitem__", method, "key", configuration_item),
      row("omegaconf.DictConfig.__contains__", method, "key", configuration_has),
      row("omegaconf.DictConfig.$lists", method, "key", configuration_lists),
      row("omegaconf.DictConfig.__setitem__", method, "key, value", set_item),
      row("omegaconf.DictConfig.pop", method, "key, default=None", pop_item),
      row("omegaconf.DictConfig.__delitem__", method, "key", pop_item),
      row("omegaconf.DictConfig.update", method, "*others, **fields", changed_unseen),
      row("omegaconf.DictConfig.merge_with", method, "*others, **options", changed_unseen),
      row("omegaconf.DictConfig.setdefault", method, "key, default_value=None", changed_unseen),
      row("omegaconf.DictConfig.clear", method, "", changed_unseen),
      row("omegaconf.DictConfig.popitem", method, "", changed_unseen),
      row("omegaconf.DictConfig.get", method, "key, default_value=None", item_or),
      row("omegaconf.DictConfig.keys", method, "", not_seen),
      row("omegaconf.DictConfig.values", method, "", not_seen),
      row("omegaconf.DictConfig.items", method, "*arguments, **options", not_seen),
      row("omegaconf.DictConfig.items_ex", method, "*arguments, **options", not_seen),
      row("omegaconf.DictConfig.copy", method, "", not_seen),
  };
}

}  // namespace stepzero::libraries
