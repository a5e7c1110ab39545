// checkpoint/keys: what is read from a checkpoint is not what was written there.
#include "libraries/table/class_roles.hpp"
#include "libraries/table/table.hpp"
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::checkpoint::keys {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

Value attribute(Value value, std::string_view name) {
  if (!value.is(Kind::instance)) return {};
  return value.as<Instance>()->attributes.value(syntax::Name(name));
}

// ---------------------------------------------------------------- keys of a dict

void look_at_read(const Record& record, Report& report, const CheckpointRoot& checkpoint_root,
    const FileUse& read, Once& once) {
  const Value key = argument(*read.event, 0);
  if (!key.is(Kind::string) || read.guarded) return;
  const auto load = std::find_if(checkpoint_root.loads.begin(), checkpoint_root.loads.end(),
      [&](const FileUse& each) { return each.event->result == read.event->self; });
  // `if "ema" in checkpoint:` asks first.
  if (load == checkpoint_root.loads.end() || load->guarded || read.turns.size() > load->turns.size()) return;
  const auto saves = writers(record, checkpoint_root, path_of(record, *load));
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
  constexpr std::size_t most = 6;  // keys that the message names
  const std::vector<std::string_view> named(
      keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), most)));
  Finding* finding = report.add(Severity::warning, read.event->place, read.event->calls,
      "The checkpoint has no `" + std::string(key.text()) + "`: it was saved with " + in_code(named, "and") +
          (keys.size() > most ? " and others" : "") + ", so reading it raises `KeyError`. Save it, or read " +
          (keys.size() == 1 ? "that" : "one of those") + ".");
  if (!finding) return;
  report.relate(*finding, saves[0]->event->place, "saved here");
  // The only key that nobody reads is meant.
  std::vector<std::string> unread;
  for (const std::string& each : keys) {
    const bool is_read = std::any_of(
        checkpoint_root.reads.begin(), checkpoint_root.reads.end(), [&](const FileUse& other) {
          return other.event->self == read.event->self && !other.event->arguments.empty() &&
              other.event->arguments[0].is(Kind::string) && other.event->arguments[0].text() == each;
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
  fix.edits.push_back({report.location({read.event->place.chunk,
                           {begin, begin + static_cast<std::uint32_t>(key.text().size())}}),
      unread[0]});
  finding->fixes.push_back(std::move(fix));
}

// ---------------------------------------------------------------- optimizers

// How many groups an optimizer has: those that it was given, or one of all parameters.
std::optional<std::size_t> groups_of(Value optimizer) {
  const Value given = attribute(optimizer, values::OptimizerState::parameters);
  if (given.is(Kind::instance)) return 1;
  const values::ListState* list = given.is(Kind::list) ? values::Heap::list_state(given) : nullptr;
  if (!list || list->open || list->items.empty()) return std::nullopt;
  const auto groups = static_cast<std::size_t>(
      std::ranges::count_if(list->items, [](const Value& item) { return item.is(Kind::dict); }));
  if (groups == 0 &&
      std::ranges::all_of(list->items, [](const Value& item) { return item.is(Kind::tensor); }))
    return 1;
  return groups == list->items.size() ? std::optional(groups) : std::nullopt;
}

// Tells of a state with another number of groups. False: they are as many, or it is not known.
bool differ_in_groups(Report& report, const FileUse& taken, const FileUse& put, Once& once) {
  const auto saved = groups_of(taken.event->self), own = groups_of(put.event->self);
  if (!saved || !own || *saved == *own) return false;
  if (!once(put.event->place)) return true;
  const auto count = [](std::size_t number) {
    return std::to_string(number) + (number == 1 ? " group" : " groups");
  };
  Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
      "The optimizer was saved with " + count(*saved) + " of parameters and has " + count(*own) +
          " here: \"loaded state dict has a different number of parameter groups\". Make it as it was made for the saved run, or do not load its state.");
  if (finding) report.relate(*finding, taken.event->self.object()->born, "the saved optimizer is made here");
  return true;
}

// A method instead of what it gives: `torch.save(model.state_dict, path)`.
void look_at_save(Report& report, const FileUse& save, Once& once) {
  const auto look = [&](Value saved) {
    if (!saved.is(Kind::bound)) return;
    const Value method = saved.as<values::Bound>()->function;
    const std::string_view path = method.is(Kind::library) ? method.as<values::LibrarySymbol>()->path : "";
    if (path.empty() || !once(save.event->place)) return;
    const std::string name(path.substr(path.rfind('.') + 1));
    report.add(Severity::warning, save.event->place, save.event->calls,
        "This saves the method " + values::code(name) +
            ", not what it returns. Call it: " + values::code(name + "()") + ".");
  };
  const Value object = saved_object(save);
  look(object);
  if (object.is(Kind::dict))
    for (const auto& [name, item] : values::Heap::dict_state(object)->items) look(item);
}

// ---------------------------------------------------------------- states

// Parameters and buffers by name, as far as they are known.
struct Held {
  std::map<std::string, const values::TensorState*> tensors;
  bool complete = true;  // there are no others
};
// What a state holds: what state_dict() gave, and what the module that loads has.
Held held_in(Value state) {
  Held held;
  if (!state.is(Kind::dict)) {
    held.complete = false;
    return held;
  }
  const values::DictState& dict = *values::Heap::dict_state(state);
  held.complete = !dict.open;
  for (const auto& [name, value] : dict.items)
    if (name.is(Kind::string) && value.is(Kind::tensor))
      held.tensors[std::string(name.text())] = value.as<values::Tensor>()->now();
    else
      held.complete = false;
  return held;
}

std::string words(const Record& record, const values::Shape& shape) {
  return values::code(values::shape_text(record.symbols, shape));
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
      other = other ||
          (a[i].size && b[i].size &&
              record.symbols.compare(symbolic::Compare::eq, a[i].size, b[i].size) == Answer::no);
    if (other && (!found || a.size() > found->saved->shape.dims.size()))
      found = Differing{name, state, it->second};
  }
  return found;
}

// A tensor that only one of them has.
std::string lacking(const Held& one, const Held& other) {
  std::string found;
  for (const auto& [name, state] : one.tensors) {
    if (other.tensors.contains(name) || name.ends_with("num_batches_tracked")) continue;
    // Of a layer, its weight says more than its bias.
    const std::string weight = name.substr(0, name.rfind('.') + 1) + "weight";
    return one.tensors.contains(weight) && !other.tensors.contains(weight) ? weight : name;
  }
  return found;
}

bool is_of_module(const OperationEvent& event) {
  return event.row->path.substr(0, event.row->path.rfind('.')) == libraries::table().types().module;
}

// The key under which the weights lie in what is loaded, where a model is given all of it: what was saved is
// a dict of several states, or the program itself gives a part of the same file to an optimizer. Empty: they
// lie under some key.
std::optional<std::string> weights_in_whole(const CheckpointRoot& checkpoint_root, const FileUse& put,
    const FileUse& load, const std::vector<const FileUse*>& saves) {
  std::optional<std::string> key;
  for (const FileUse* save : saves) {
    const Value object = saved_object(*save);
    if (!object.is(Kind::dict) || state_of(checkpoint_root, object) || values::Heap::dict_state(object)->open)
      return std::nullopt;
    std::string model;
    bool states = false;
    for (const auto& [name, item] : values::Heap::dict_state(object)->items) {
      const FileUse* state = state_of(checkpoint_root, item);
      if (!name.is(Kind::string) || item.is(Kind::tensor)) return std::nullopt;
      states = states || state;
      if (state && is_of_module(*state->event)) model = model.empty() ? std::string(name.text()) : "?";
    }
    if (!states || (key && *key != model)) return std::nullopt;
    key = model;
  }
  if (key && put.event->self.is(Kind::instance)) return *key == "?" ? "" : key;
  // Parts of it that are no weights.
  for (const FileUse& read : checkpoint_root.reads) {
    if (read.event->self != load.event->result || read.guarded || read.event->arguments.empty() ||
        !read.event->arguments[0].is(Kind::string))
      continue;
    if (std::ranges::any_of(checkpoint_root.put, [&](const FileUse& other) {
          return !other.event->arguments.empty() && other.event->arguments[0] == read.event->result;
        }))
      return key.value_or("");
  }
  // A part that has no name of the model's: no state of it has that.
  const Held own = held_in(argument(*put.event, "own"));
  if (key || !own.complete || own.tensors.empty()) return std::nullopt;
  for (const FileUse& read : checkpoint_root.reads)
    if (read.event->self == load.event->result && !read.guarded && read.turns.size() <= load.turns.size() &&
        !read.event->arguments.empty() && read.event->arguments[0].is(Kind::string) &&
        !own.tensors.contains(std::string(read.event->arguments[0].text())))
      return "";
  return std::nullopt;
}

// All of a checkpoint is given to the model, instead of the weights in it.
bool is_whole(const Record& record, Report& report, const CheckpointRoot& checkpoint_root, const FileUse& put,
    const FileUse& load, const std::vector<const FileUse*>& saves, bool loose, Once& once) {
  if (!is_of_module(*put.event) || load.guarded || put.turns.size() > load.turns.size()) return false;
  const auto key = weights_in_whole(checkpoint_root, put, load, saves);
  if (!key) return false;
  if (!once(put.event->place)) return true;
  const std::string part = key->empty() ? "the part that holds them" : values::code("[\"" + *key + "\"]");
  Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
      std::string("The model is given the whole checkpoint, whose keys are not the names of its weights: ") +
          (loose ? "with `strict=False` nothing is loaded, silently."
                 : "`load_state_dict` raises \"Missing key(s) in state_dict\".") +
          " Load " + part + ".");
  if (!finding) return true;
  if (!saves.empty()) report.relate(*finding, saves[0]->event->place, "saved here");
  if (!key->empty() && put.event->expr && !put.event->expr->arguments.empty() &&
      record.in_file(put.event->place) && put.event->expr->arguments[0]->kind == syntax::ExprKind::name) {
    Fix fix;
    fix.title = "Load '" + *key + "'";
    const auto end = put.event->expr->arguments[0]->span.end;
    fix.edits.push_back({report.location({put.event->place.chunk, {end, end}}), "[\"" + *key + "\"]"});
    finding->fixes.push_back(std::move(fix));
  }
  return true;
}

// Is the training continued from the file: is the state of an optimizer loaded from it as well?
bool is_continued(const CheckpointRoot& checkpoint_root, const FileUse& load) {
  return std::ranges::any_of(checkpoint_root.put, [&](const FileUse& put) {
    return !put.event->arguments.empty() && put.event->row->of_optimizer &&
        loaded_from(checkpoint_root, put.event->arguments[0]).load == &load;
  });
}

// A training that is continued from a file whose path is given: it is one that the program has saved, under
// the keys that it asks for. The state of a wrapped model in it does not fit the model inside, nor the other
// way around.
void look_at_continued(const Record& record, Report& report, const CheckpointRoot& checkpoint_root,
    const FileUse& put, const Loaded& loaded, bool loose, Once& once) {
  if (!loaded.key.is(Kind::string) || !is_continued(checkpoint_root, *loaded.load)) return;
  std::set<std::string_view> asked;
  for (const FileUse& read : checkpoint_root.reads)
    if (read.event->self == loaded.load->event->result && !read.event->arguments.empty() &&
        read.event->arguments[0].is(Kind::string))
      asked.insert(read.event->arguments[0].text());
  for (const CheckpointRoot& other : Files::of(record).checkpoint_roots())
    for (const FileUse& save : other.saves) {
      const Value object = saved_object(save);
      if (!object.is(Kind::dict) || values::Heap::dict_state(object)->open) continue;
      Value item;
      std::size_t known = 0;
      for (const auto& [name, value] : values::Heap::dict_state(object)->items) {
        if (!name.is(Kind::string)) continue;
        known += asked.contains(name.text());
        if (name.text() == loaded.key.text()) item = value;
      }
      const FileUse* taken = item && known == asked.size() ? state_of(other, item) : nullptr;
      if (!taken) continue;
      const Value saved_prefix = attribute(taken->event->self, values::WrapperState::prefix),
                  own_prefix = attribute(put.event->self, values::WrapperState::prefix);
      if (static_cast<bool>(saved_prefix) == static_cast<bool>(own_prefix)) continue;
      // What is not seen may be wrapped itself, unless it is what lies in the other.
      const Value wrapped = saved_prefix ? taken->event->self
          : own_prefix                   ? put.event->self
                                         : Value{},
                  plain = saved_prefix ? put.event->self : taken->event->self;
      if (!(plain.is(Kind::instance) && is_of_module(saved_prefix ? *put.event : *taken->event)) &&
          attribute(wrapped, "module").object() != plain.object())
        continue;
      const std::string prefix((saved_prefix ? saved_prefix : own_prefix).text()),
          part = prefix.substr(0, prefix.size() - 1);
      if (attribute(saved_prefix ? put.event->self : taken->event->self, part) || !once(taken->event->place))
        continue;
      const std::string raises = loose ? "with `strict=False` nothing is loaded, silently"
                                       : "`load_state_dict` raises \"Missing key(s) in state_dict\"";
      Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
          saved_prefix
              ? "A run that resumes from its own checkpoint fails here: the wrapped model was saved, with names that begin with `" +
                  prefix + "`, and this model's do not, so " + raises + ". Save the state of `." + part + "`."
              : "A run that resumes from its own checkpoint fails here: the names of the wrapped model begin with `" +
                  prefix + "`, and those that were saved do not, so " + raises + ". Load into `." + part +
                  "`.");
      if (!finding) continue;
      report.relate(*finding, taken->event->place,
          saved_prefix ? "the state of the wrapped model is taken here" : "the state is taken here");
      report.relate(*finding, save.event->place, "saved here");
    }
}

void look_at_put(const Record& record, Report& report, const CheckpointRoot& checkpoint_root,
    const FileUse& put, Once& once) {
  if (put.event->arguments.empty() || put.guarded) return;
  if (argument(*put.event, "nothing").is(Kind::boolean) && once(put.event->place)) {
    report.add(Severity::warning, put.event->place, put.event->calls,
        "No key of the state matches the model: `strict=False` loads nothing, silently. Rename the keys, or load with `strict=True` to see which differ.");
    return;
  }
  const Loaded loaded = loaded_from(checkpoint_root, put.event->arguments[0]);
  if (!loaded.load) return;
  const bool loose = put.event->arguments.size() > 1 && put.event->row->parameters.size() > 1 &&
      !(put.event->arguments[1].is(Kind::boolean) &&
          record.symbols.decide(put.event->arguments[1].condition()) == Answer::yes);
  const auto saves = writers(record, checkpoint_root, path_of(record, *loaded.load));
  if (!loaded.key && is_whole(record, report, checkpoint_root, put, *loaded.load, saves, loose, once)) return;
  if (saves.empty()) return look_at_continued(record, report, checkpoint_root, put, loaded, loose, once);
  if (!put.event->self.is(Kind::instance)) return;
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
    const FileUse* one = state_of(checkpoint_root, object);
    if (!one || (taken && one->event->self.object() != taken->event->self.object())) return;
    taken = one;
  }
  if (!taken || !taken->event->self.is(Kind::instance) || taken->event->self == put.event->self) return;
  if (differ_in_groups(report, *taken, put, once)) return;
  const Value from = taken->event->self, into = put.event->self;
  const Value saved_prefix = attribute(from, values::WrapperState::prefix),
              own_prefix = attribute(into, values::WrapperState::prefix);
  if (static_cast<bool>(saved_prefix) != static_cast<bool>(own_prefix)) {
    // Only models that are wrapped, and what they wrap: not a model with a part of that name.
    const std::string prefix((saved_prefix ? saved_prefix : own_prefix).text()),
        part = prefix.substr(0, prefix.size() - 1);
    if (attribute(saved_prefix ? into : from, part)) return;
    if (!once(put.event->place)) return;
    Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
        saved_prefix ? "The names in this checkpoint begin with `" + prefix +
                "`, because the wrapped model was saved, and this model's do not: " +
                (loose ? "with `strict=False` nothing is loaded, silently."
                       : "`load_state_dict` raises \"Missing key(s) in state_dict\".") +
                " Save the state of `." + part + "`."
                     : "The names of a wrapped model begin with `" + prefix +
                "`, and those in this checkpoint do not: " +
                (loose ? "with `strict=False` nothing is loaded, silently."
                       : "`load_state_dict` raises \"Missing key(s) in state_dict\".") +
                " Load into `." + part + "`.");
    if (!finding) return;
    report.relate(*finding, taken->event->place,
        saved_prefix ? "the state of the wrapped model is taken here" : "the state is taken here");
    const OperationEvent& mended = saved_prefix ? *taken->event : *put.event;
    if (!mended.expr || !record.in_file(mended.place) ||
        mended.expr->function->kind != syntax::ExprKind::attribute)
      return;
    const auto end = syntax::as<syntax::AttributeExpr>(*mended.expr->function).object->span.end;
    Fix fix;
    fix.title = (saved_prefix ? "Save the state of ." : "Load into .") + part;
    fix.preferred = true;
    fix.edits.push_back({report.location({mended.place.chunk, {end, end}}), "." + part});
    finding->fixes.push_back(std::move(fix));
    return;
  }
  const Held theirs = held_in(taken->event->result), ours = held_in(argument(*put.event, "own"));
  const auto tell = [&](const std::string& text) {
    if (!once(put.event->place)) return;
    Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls, text);
    if (!finding) return;
    report.relate(*finding, taken->event->place, "the state is taken here");
    report.relate(*finding, from.object()->born, "of the model made here");
    report.relate(*finding, into.object()->born, "the other model is made here");
  };
  if (!loose && theirs.complete && ours.complete && !theirs.tensors.empty()) {
    const std::string missing = lacking(ours, theirs), unexpected = lacking(theirs, ours);
    if (!missing.empty() || !unexpected.empty()) {
      tell((missing.empty() ? "The checkpoint has `" + unexpected + "`, and the model that loads it does not"
                            : "The model has `" + missing + "`, and the checkpoint does not") +
          ": `load_state_dict` raises \"" + (missing.empty() ? "Unexpected" : "Missing") +
          " key(s) in state_dict\" for it and everything else that only one of them has. Build the model as it was saved, or load the parts that fit.");
      return;
    }
  }
  const auto differing = differ(record, theirs, ours);
  if (!differing) return;
  tell("`" + differing->name + "` was saved with shape " + words(record, differing->saved->shape) +
      " and has shape " + words(record, differing->own->shape) +
      " here: `load_state_dict` raises \"size mismatch\", even with `strict=False`. Load the parts that fit, or build the model as it was saved.");
}

void check(const Record& record, Report& report) {
  report_problems(record, report, values::ProblemKind::state, Severity::error);
  Once once;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.root->truncated) continue;
    for (const FileUse& read : checkpoint_root.reads)
      look_at_read(record, report, checkpoint_root, read, once);
    for (const FileUse& save : checkpoint_root.saves) look_at_save(report, save, once);
    for (const FileUse& put : checkpoint_root.put) look_at_put(record, report, checkpoint_root, put, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/keys",
    .severity = Severity::error,
    .summary = "a checkpoint is read with other keys, names or sizes than it was saved with",
    .why =
        "A checkpoint is only read when a job starts again, often days later, so a name that differs between the saving and the loading side is found at the worst "
        "moment: `KeyError` for a key of the dict, \"Missing key(s) in state_dict\" for parameters whose names carry the `module.` of DistributedDataParallel on one side only, "
        "\"size mismatch\" for a layer of another size, and \"Missing key(s)\" of everything where the model is given the whole dict of several states. With `strict=False` names that differ are skipped without a word, and the model keeps its random weights. Between two models of the program the same holds at once, and is an error.",
    .wrong = "torch.save({\"model\": model.state_dict(), \"epoch\": epoch}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\")\n"
             "model.load_state_dict(checkpoint[\"state_dict\"])\n",
    .right = "torch.save({\"model\": model.state_dict(), \"epoch\": epoch}, \"last.pt\")\n"
             "checkpoint = torch.load(\"last.pt\")\n"
             "model.load_state_dict(checkpoint[\"model\"])\n",
    .silent =
        "Files that this program does not write; keys that are asked for first (`in`, `get`, try); states that are changed before they are loaded (a prefix cut off); "
        "saving and loading of the same model.",
    .fix = "Reads the key that was saved, or saves or loads the state of `.module`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::keys
