// checkpoint/keys: what is read from a checkpoint is not what was written there.
#include "rules/checkpoint/files.hpp"
#include "rules/list.hpp"
#include "rules/loop/training.hpp"
#include "rules/source.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;
using values::TensorRole;

namespace {

Value attribute(Value value, std::string_view name) {
  if (!value.is(Kind::instance)) return {};
  return value.as<Instance>()->attributes.value(syntax::Name(name));
}

// ---------------------------------------------------------------- keys of a dict

void look_at_read(const Record& record, Report& report, const Desk& desk, const FileUse& read, Once& once) {
  const Value key = read.event->arguments.empty() ? Value{} : read.event->arguments[0];
  if (!key.is(Kind::string) || read.guarded) return;
  const auto load = std::find_if(desk.loads.begin(), desk.loads.end(), [&](const FileUse& each) { return each.event->result == read.event->self; });
  // `if "ema" in checkpoint:` asks first.
  if (load == desk.loads.end() || load->guarded || read.turns.size() > load->turns.size()) return;
  const auto saves = writers(record, desk, path_of(record, *load));
  std::vector<std::string> keys;
  for (const FileUse* save : saves) {
    const Value object = saved_object(*save);
    if (!object.is(Kind::dict) || values::Heap::dict_state(object)->open) return;
    for (const auto& [name, item] : values::Heap::dict_state(object)->items) {
      if (!name.is(Kind::string) || name.text() == key.text()) return;
      if (std::find(keys.begin(), keys.end(), name.text()) == keys.end()) keys.emplace_back(name.text());
    }
  }
  if (keys.empty() || !once(read.event->place)) return;
  std::string list;
  for (std::size_t i = 0; i < keys.size() && i < 6; ++i) list += (i ? ", '" : "'") + keys[i] + "'";
  Finding* finding = report.add(Severity::warning, read.event->place, read.event->calls,
                                "The checkpoint has no '" + std::string(key.text()) + "': it was saved with " + list + (keys.size() > 6 ? "…" : "") + ". Reading it raises `KeyError`.");
  if (!finding) return;
  report.relate(*finding, saves[0]->event->place, "saved here");
  // The only key that nobody reads is meant.
  std::vector<std::string> unread;
  for (const std::string& each : keys) {
    const bool is_read = std::any_of(desk.reads.begin(), desk.reads.end(), [&](const FileUse& other) {
      return other.event->self == read.event->self && !other.event->arguments.empty() && other.event->arguments[0].is(Kind::string) && other.event->arguments[0].text() == each;
    });
    if (!is_read) unread.push_back(each);
  }
  if (unread.size() != 1 || !record.in_file(read.event->place)) return;
  const std::string_view text = record.text(read.event->place);
  const auto open = text.rfind(std::string(key.text()) + (text.ends_with("\"]") ? "\"]" : "']"));
  if (open == std::string_view::npos) return;
  Fix fix;
  fix.title = "Read '" + unread[0] + "'";
  const auto begin = read.event->place.span.begin + static_cast<std::uint32_t>(open);
  fix.edits.push_back({report.location({read.event->place.chunk, {begin, begin + static_cast<std::uint32_t>(key.text().size())}}), unread[0]});
  finding->fixes.push_back(std::move(fix));
}

// ---------------------------------------------------------------- states

// Parameters and buffers by name, as far as they are plain attributes and items of containers of which all is known.
struct Held {
  std::map<std::string, const values::TensorState*> tensors;
  bool complete = true;                       // there are no others
  std::map<std::string, std::size_t> counts;  // of the modules in those containers
};
// Does the module take a state in a way of its own? It may take another size, too.
bool loads_by_itself(Value module) {
  const values::Class* cls = module.as<Instance>()->cls;
  return cls && std::ranges::any_of(cls->order, [](const values::Class* each) {
    return each->body && std::ranges::any_of(each->body->names.entries(), [](const auto& entry) {
      const std::string_view name = entry.first.text();
      return name == "_load_from_state_dict" || name == "load_state_dict";
    });
  });
}

void tensors_of(Value module, const std::string& prefix, Held& held, int depth = 0) {
  if (!module.is(Kind::instance) || depth > 8) return;
  if (loads_by_itself(module)) {
    held.complete = false;
    return;
  }
  auto& found = held.tensors;
  for (const auto& [name, slot] : module.as<Instance>()->attributes.entries()) {
    const Value value = slot->value;
    if (found.size() > 512) {
      held.complete = false;
      return;
    }
    const bool plain = value.is(Kind::none) || value.is(Kind::boolean) || value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::string) || value.is(Kind::dtype);
    if (!name.text().starts_with("$") && value && !plain && !value.is(Kind::tensor) && !value.is(Kind::instance)) held.complete = false;
    if ((name.text() == values::ContainerState::items && (!value.is(Kind::list) || values::Heap::list_state(value)->open)) || name.text() == values::ContainerState::dict || name.text() == values::ContainerState::names) held.complete = false;
    if (name.text() == values::ContainerState::items && value.is(Kind::list) && !values::Heap::list_state(value)->open) {
      const auto& items = values::Heap::list_state(value)->items;
      if (attribute(module, values::ContainerState::names)) continue;
      held.counts[prefix] = items.size();
      for (std::size_t i = 0; i < items.size(); ++i) {
        tensors_of(items[i], prefix + std::to_string(i) + ".", held, depth + 1);
        if (items[i].is(Kind::tensor) && items[i].as<values::Tensor>()->role != TensorRole::plain)
          if (const auto* state = items[i].as<values::Tensor>()->now(); state && state->shape.rank_known) found[prefix + std::to_string(i)] = state;
      }
    }
    if (name.text().starts_with("$")) continue;
    if (value.is(Kind::tensor) && value.as<values::Tensor>()->role != TensorRole::plain) {
      if (const auto* state = value.as<values::Tensor>()->now(); state && state->shape.rank_known) found[prefix + std::string(name.text())] = state;
    } else if (value.is(Kind::instance)) {
      tensors_of(value, prefix + std::string(name.text()) + ".", held, depth + 1);
    }
  }
}

std::string words(const Record& record, const values::Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.dims.size(); ++i) text += (i ? ", " : "") + (shape.dims[i].size ? record.symbols.text(shape.dims[i].size) : std::string("?"));
  return text + (shape.dims.size() == 1 ? ",)" : ")");
}

struct Differing {
  std::string name;
  const values::TensorState *saved, *own;
};
std::optional<Differing> differ(const Record& record, const Held& saved, const Held& own) {
  const auto &theirs = saved.tensors, &ours = own.tensors;
  // Of a layer, its weight says more than its bias.
  std::optional<Differing> found;
  for (const auto& [name, state] : theirs) {
    const auto it = ours.find(name);
    if (it == ours.end()) continue;
    const auto &a = state->shape.dims, &b = it->second->shape.dims;
    bool other = a.size() != b.size();
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      other = other || (a[i].size && b[i].size && record.symbols.compare(symbolic::Compare::eq, a[i].size, b[i].size) == Answer::no);
    if (other && (!found || a.size() > found->saved->shape.dims.size())) found = Differing{name, state, it->second};
  }
  return found;
}

// A container that has not as many modules on both sides, and a tensor that only one of them has.
struct Longer {
  std::string container, name;
  std::size_t saved = 0, own = 0;
};
std::optional<Longer> longer(const Held& saved, const Held& own) {
  for (const auto& [container, count] : saved.counts) {
    const auto it = own.counts.find(container);
    if (it == own.counts.end() || it->second == count) continue;
    const Held& more = it->second > count ? own : saved;
    const std::string first = container + std::to_string(std::min(count, it->second)) + ".";
    const auto tensor = more.tensors.lower_bound(first);
    if (tensor == more.tensors.end() || !tensor->first.starts_with(first)) continue;
    const std::string weight = first + "weight";
    return Longer{container.substr(0, container.empty() ? 0 : container.size() - 1), more.tensors.contains(weight) ? weight : tensor->first, count, it->second};
  }
  return std::nullopt;
}

// `b.load_state_dict(a.state_dict())`: both models are there, and PyTorch holds their names and sizes against each other at once.
bool look_at_live(const Record& record, Report& report, const Desk& desk, const FileUse& put, Once& once) {
  const OperationEvent& event = *put.event;
  const FileUse* taken = event.arguments.empty() ? nullptr : state_of(desk, event.arguments[0]);
  if (!taken) return false;
  const auto inside = [](Place inner, Place outer) { return inner.chunk == outer.chunk && inner.span.begin >= outer.span.begin && inner.span.end <= outer.span.end; };
  const Value from = taken->event->self, into = event.self;
  // What is done to the state between is not followed.
  if (!inside(taken->event->place, event.place) || !from.is(Kind::instance) || from == into || event.expected) return true;
  const bool strict = event.arguments.size() < 2 || !event.arguments[1] || (event.arguments[1].is(Kind::boolean) && record.symbols.decide(event.arguments[1].condition()) == Answer::yes);
  Held theirs, ours;
  tensors_of(from, "", theirs);
  tensors_of(into, "", ours);
  if (theirs.tensors.empty() || ours.tensors.empty()) return true;
  const auto tell = [&](const std::string& text) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::error, event.place, event.calls, text);
    if (!finding) return;
    if (from.object()->born) report.relate(*finding, from.object()->born, "the state is taken of the model made here");
    if (into.object()->born) report.relate(*finding, into.object()->born, "the other model is made here");
  };
  if (const auto differing = differ(record, theirs, ours)) {
    tell("'" + differing->name + "' is " + words(record, differing->saved->shape) + " in the state and " + words(record, differing->own->shape) +
         " in the model that loads it: `load_state_dict` raises \"size mismatch\", with `strict=False`, too. Build both models the same way.");
    return true;
  }
  if (!theirs.complete || !ours.complete) return true;
  const auto lacks = [](const Held& one, const Held& other) {
    for (const auto& [name, state] : one.tensors)
      if (!other.tensors.contains(name)) return name;
    return std::string();
  };
  const std::string missing = lacks(ours, theirs), unexpected = lacks(theirs, ours);
  const bool shares = std::ranges::any_of(ours.tensors, [&](const auto& each) { return theirs.tensors.contains(each.first); });
  if (strict && (!missing.empty() || !unexpected.empty()))
    tell((missing.empty() ? "The state has '" + unexpected + "', and the model that loads it has not" : "The model has '" + missing + "', and the state that it loads has not") +
         ": `load_state_dict` raises \"" + (missing.empty() ? "Unexpected" : "Missing") + " key(s) in state_dict\". Build both models the same way.");
  else if (!strict && !shares && once(event.place))
    report.add(Severity::warning, event.place, event.calls, "No name of the state is one of the model's: with `strict=False` nothing is loaded, silently.");
  return true;
}

void look_at_put(const Record& record, Report& report, const Desk& desk, const FileUse& put, Once& once) {
  if (put.event->arguments.empty() || put.guarded || !put.event->self.is(Kind::instance)) return;
  if (look_at_live(record, report, desk, put, once)) return;
  const Loaded loaded = loaded_from(desk, put.event->arguments[0]);
  if (!loaded.load) return;
  const bool loose = put.event->arguments.size() > 1 && put.event->row->parameters.size() > 1 &&
                     !(put.event->arguments[1].is(Kind::boolean) && record.symbols.decide(put.event->arguments[1].condition()) == Answer::yes);
  const auto saves = writers(record, desk, path_of(record, *loaded.load));
  const FileUse* taken = nullptr;
  for (const FileUse* save : saves) {
    Value object = saved_object(*save);
    if (loaded.key) {
      if (!object.is(Kind::dict) || !loaded.key.is(Kind::string)) return;
      Value item;
      for (const auto& [name, value] : values::Heap::dict_state(object)->items)
        if (name.is(Kind::string) && name.text() == loaded.key.text()) item = value;
      object = item;
    }
    const FileUse* one = state_of(desk, object);
    if (!one || (taken && one->event->self.object() != taken->event->self.object())) return;
    taken = one;
  }
  if (!taken || !taken->event->self.is(Kind::instance) || taken->event->self == put.event->self) return;
  const Value from = taken->event->self, into = put.event->self;
  const Value saved_prefix = attribute(from, "$prefix"), own_prefix = attribute(into, "$prefix");
  if (static_cast<bool>(saved_prefix) != static_cast<bool>(own_prefix)) {
    // Only models that are wrapped, and what they wrap: not a model with a part of that name.
    if (attribute(saved_prefix ? into : from, "module")) return;
    if (!once(put.event->place)) return;
    Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
                                  saved_prefix ? std::string("The names in this checkpoint begin with 'module.', because the wrapped model was saved, and this model's do not: ") +
                                                     (loose ? "with `strict=False` nothing is loaded, silently." : "`load_state_dict` raises \"Missing key(s) in state_dict\".") +
                                                     " Save the state of `.module`."
                                               : std::string("The names of a wrapped model begin with 'module.', and those in this checkpoint do not: ") +
                                                     (loose ? "with `strict=False` nothing is loaded, silently." : "`load_state_dict` raises \"Missing key(s) in state_dict\".") +
                                                     " Load into .module.");
    if (!finding) return;
    report.relate(*finding, taken->event->place, saved_prefix ? "the state of the wrapped model is taken here" : "the state is taken here");
    const OperationEvent& mended = saved_prefix ? *taken->event : *put.event;
    if (!mended.expr || !record.in_file(mended.place) || mended.expr->function->kind != syntax::ExprKind::attribute) return;
    const auto end = syntax::as<syntax::AttributeExpr>(*mended.expr->function).object->span.end;
    Fix fix;
    fix.title = saved_prefix ? "Save the state of .module" : "Load into .module";
    fix.preferred = true;
    fix.edits.push_back({report.location({mended.place.chunk, {end, end}}), ".module"});
    finding->fixes.push_back(std::move(fix));
    return;
  }
  Held theirs, ours;
  tensors_of(from, "", theirs);
  tensors_of(into, "", ours);
  if (const auto other = loose ? std::nullopt : longer(theirs, ours); other && once(put.event->place)) {
    const std::string what = other->container.empty() ? "The model" : "'" + other->container + "'";
    Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
                                  what + " had " + std::to_string(other->saved) + " modules when this was saved, and has " + std::to_string(other->own) + " here: `load_state_dict` raises \"" +
                                      (other->own > other->saved ? "Missing" : "Unexpected") + " key(s) in state_dict\" for '" + other->name + "' and everything else that only one of them has. Build the model as it was saved, or load the parts that fit.");
    if (!finding) return;
    report.relate(*finding, taken->event->place, "the state is taken here");
    report.relate(*finding, from.object()->born, "of the model made here");
    report.relate(*finding, into.object()->born, "the other model is made here");
    return;
  }
  const auto differing = differ(record, theirs, ours);
  if (!differing || !once(put.event->place)) return;
  Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
                                "'" + differing->name + "' was saved as " + words(record, differing->saved->shape) + " and is " + words(record, differing->own->shape) +
                                    " here: `load_state_dict` raises \"size mismatch\", with `strict=False`, too. Load the parts that fit, or build the model as it was saved.");
  if (!finding) return;
  report.relate(*finding, taken->event->place, "the state is taken here");
  report.relate(*finding, from.object()->born, "of the model made here");
  report.relate(*finding, into.object()->born, "the other model is made here");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Desk& desk : Files::of(record).desks()) {
    if (desk.root->truncated) continue;
    for (const FileUse& read : desk.reads) look_at_read(record, report, desk, read, once);
    for (const FileUse& put : desk.put) look_at_put(record, report, desk, put, once);
  }
}

} // namespace

constexpr Rule checkpoint_keys = complete({
    .id = "checkpoint/keys",
    .severity = Severity::error,
    .summary = "a checkpoint is read with other keys, names or sizes than it was saved with",
    .why = "A checkpoint is only read when a job starts again, often days later, so a name that differs between the saving and the loading side is found at the worst "
           "moment: KeyError for a key of the dict, \"Missing key(s) in state_dict\" for parameters whose names carry the `module.` of DistributedDataParallel on one side only, "
           "\"size mismatch\" for a layer of another size. With `strict=False` names that differ are skipped without a word, and the model keeps its random weights. Between two models of the program the same holds at once, and is an error.",
    .wrong = "torch.save({\"model\": model.state_dict(), \"epoch\": epoch}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\")\n"
             "model.load_state_dict(checkpoint[\"state_dict\"])\n",
    .right = "torch.save({\"model\": model.state_dict(), \"epoch\": epoch}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\")\n"
             "model.load_state_dict(checkpoint[\"model\"])\n",
    .silent = "Files that this program does not write; keys that are asked for first (`in`, `get`, try); states that are changed before they are loaded (a prefix cut off); "
              "saving and loading of the same model.",
    .fix = "Reads the key that was saved, or saves or loads the state of `.module`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
