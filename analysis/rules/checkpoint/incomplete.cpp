// checkpoint/incomplete: training resumes from a checkpoint that lacks states of what trains.
#include "rules/checkpoint/files.hpp"
#include "rules/checkpoint/reproducible.hpp"
#include "rules/condition_text.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/edits.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::checkpoint::incomplete {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

struct Lacking {
  std::string what;  // as the program calls it, or what it is
  Place place;       // where it is used
  const CallSite* calls = nullptr;
  const Object* object = nullptr;
  std::string when;  // " when `args.adam`": of several to choose from not all have a state
};

std::string called(const Record& record, const OperationEvent& event, bool argument, const char* otherwise) {
  if (!event.expr) return otherwise;
  const syntax::Expr* expr = nullptr;
  if (argument) {
    if (!event.expr->arguments.empty()) expr = event.expr->arguments[0];
  } else if (event.expr->function->kind == syntax::ExprKind::attribute) {
    expr = syntax::as<syntax::AttributeExpr>(*event.expr->function).object;
  }
  const std::string text = expr ? std::string(record.text({event.place.chunk, expr->span})) : std::string();
  return values::is_quotable(text) ? text : otherwise;
}

// In a message: a name of the program as code, other words as they are.
std::string as_told(const std::string& what) { return what.starts_with("the ") ? what : values::code(what); }

// SGD without momentum keeps nothing.
bool has_state(const Record& record, const CheckpointRoot& checkpoint_root, const Object* optimizer) {
  for (const FileUse& made : checkpoint_root.made) {
    if (made.event->self.object() != optimizer) continue;
    const Value momentum = argument(*made.event, "momentum");
    return !(momentum.is(Kind::integer) && record.symbols.value(momentum.integer()) == 0);
  }
  return false;  // it comes from somewhere else
}

const OperationEvent* making(const CheckpointRoot& checkpoint_root, const Object* object) {
  for (const FileUse& made : checkpoint_root.made)
    if (made.event->self.object() == object) return made.event;
  return nullptr;
}
// The same line made both: a function that was called again has its own.
bool same_line(const CheckpointRoot& checkpoint_root, const Object* a, const Object* b) {
  const OperationEvent *one = making(checkpoint_root, a), *other = making(checkpoint_root, b);
  return one && other && one->place == other->place;
}
// A scheduler that is told where it goes on needs no state.
bool told_where(const Record& record, const CheckpointRoot& checkpoint_root, const Object* scheduler) {
  const OperationEvent* made = making(checkpoint_root, scheduler);
  if (!made) return false;
  const Value last = argument(*made, "last_epoch");
  return last && (!last.is(Kind::integer) || record.symbols.value(last.integer()) != -1);
}

// " when `args.adam`": where the program chooses this one, if that can be said.
std::string chosen_when(const Record& record, const CheckpointRoot& checkpoint_root, const Object* object) {
  for (const FileUse& made : checkpoint_root.made) {
    if (made.event->self.object() == object && !made.turns.empty())
      return when_text(record, made.turns.back());
  }
  return "";
}

// What trains and has a state that is not among those taken.
std::vector<Lacking> lacking(
    const Record& record, const CheckpointRoot& checkpoint_root, const std::set<const Object*>& taken) {
  std::vector<Lacking> found;
  std::set<const Object*> seen;
  // What lies in another file comes back from there.
  const auto is_saved = [&](const Object* object) {
    const auto saved = [&](const Object* each) {
      return each == object || same_line(checkpoint_root, each, object);
    };
    return std::any_of(taken.begin(), taken.end(), saved) ||
        std::any_of(checkpoint_root.saves.begin(), checkpoint_root.saves.end(), [&](const FileUse& save) {
          const Value whole = saved_object(save);
          if (const FileUse* state = state_of(checkpoint_root, whole))
            return saved(state->event->self.object());
          if (!whole.is(Kind::dict)) return false;
          const auto& items = values::Heap::dict_state(whole)->items;
          return std::any_of(items.begin(), items.end(), [&](const auto& item) {
            const FileUse* state = state_of(checkpoint_root, item.second);
            return state && saved(state->event->self.object());
          });
        });
  };
  for (const FileUse& step : checkpoint_root.steps) {
    const bool by_scaler = step.event->row->operation == Operation::scaler_step;
    const Value optimizer = by_scaler ? argument(*step.event, 0) : step.event->self;
    if (!optimizer.is(Kind::instance) || is_saved(optimizer.object()) ||
        !seen.insert(optimizer.object()).second || !has_state(record, checkpoint_root, optimizer.object()))
      continue;
    // One step of several optimizers to choose from is told once.
    const auto same = [&](const Lacking& other) { return other.place == step.event->place; };
    if (const auto known = std::find_if(found.begin(), found.end(), same); known != found.end()) {
      known->when.clear();
      continue;
    }
    const bool others = std::any_of(
        checkpoint_root.steps.begin(), checkpoint_root.steps.end(), [&](const FileUse& other) {
          const Value of = by_scaler ? argument(*other.event, 0) : other.event->self;
          return other.event->place == step.event->place && of.is(Kind::instance) &&
              making(checkpoint_root, of.object()) && !has_state(record, checkpoint_root, of.object());
        });
    found.push_back(
        {called(record, *step.event, by_scaler, "the optimizer"), step.event->place, step.event->calls,
            optimizer.object(), others ? chosen_when(record, checkpoint_root, optimizer.object()) : ""});
  }
  for (const FileUse& update : checkpoint_root.updates) {
    const Value self = update.event->self;
    const bool scaler = update.event->row->operation == Operation::scaler_update;
    if (!self.is(Kind::instance) || is_saved(self.object()) ||
        told_where(record, checkpoint_root, self.object()) || !seen.insert(self.object()).second ||
        self.as<Instance>()->symbolic)
      continue;
    if (scaler) {
      const values::Cond on = enabled(record, self.object());
      if (on && record.symbols.decide(on) != Answer::yes) continue;
    }
    found.push_back({called(record, *update.event, false, scaler ? "the scaler" : "the scheduler"),
        update.event->place, update.event->calls, self.object(), {}});
  }
  return found;
}

// Arguments of the command line, a configuration: it holds nothing but numbers, texts and the like.
bool only_numbers(Value value, int depth = 0) {
  if (depth > values::deepest_search) return false;
  switch (value.kind) {
  case Kind::absent:
  case Kind::none:
  case Kind::boolean:
  case Kind::integer:
  case Kind::real:
  case Kind::string: return true;
  case Kind::choice:
    return only_numbers(value.as<values::Choice>()->yes, depth + 1) &&
        only_numbers(value.as<values::Choice>()->no, depth + 1);
  case Kind::unknown: return value.as<values::Unknown>()->is_option;
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    return !state->open && std::all_of(state->items.begin(), state->items.end(), [&](const Value& item) {
      return only_numbers(item, depth + 1);
    });
  }
  case Kind::dict: {
    if (const Instance* mirrored = value.as<values::Dict>()->mirrored)
      return only_numbers(Value::of(Kind::instance, mirrored), depth + 1);
    const auto& items = values::Heap::dict_state(value)->items;
    return !values::Heap::dict_state(value)->open &&
        std::all_of(items.begin(), items.end(),
            [&](const auto& item) { return only_numbers(item.second, depth + 1); });
  }
  case Kind::instance: {
    // Of an object of a library what the program puts into it is known.
    const auto* object = value.as<Instance>();
    const auto& entries = object->attributes.entries();
    return (!object->open || !object->cls) &&
        std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
          return values::is_kept(entry.first.text()) || only_numbers(entry.second->value, depth + 1);
        });
  }
  default: return false;
  }
}

// The states in what is saved; nothing if it holds something of which it is not known what it is.
struct Held {
  std::set<const Object*> states;
  bool progress = false;  // numbers and the like: a step, an epoch
};
std::optional<Held> held_in(const CheckpointRoot& checkpoint_root, Value object) {
  if (!object.is(Kind::dict)) return std::nullopt;
  const auto* state = values::Heap::dict_state(object);
  if (state->open) return std::nullopt;
  Held held;
  for (const auto& [key, item] : state->items) {
    if (!key.is(Kind::string)) return std::nullopt;
    if (const FileUse* taken = state_of(checkpoint_root, item)) {
      held.states.insert(taken->event->self.object());
      continue;
    }
    switch (item.kind) {
    case Kind::integer:
    case Kind::real:
    case Kind::string:
    case Kind::boolean:
    case Kind::none:
    case Kind::tensor: held.progress = held.progress || item.is(Kind::integer); break;
    case Kind::instance:
    case Kind::list:
    case Kind::dict:
      if (!only_numbers(item)) return std::nullopt;
      break;
    case Kind::unknown:
      if (item.as<values::Unknown>()->unseen) return std::nullopt;
      held.progress = true;
      break;
    default: return std::nullopt;
    }
  }
  return held;
}

// ---------------------------------------------------------------- the fix: the states go in, and come back

// The dict as the program writes it: given to save(), or to a name just before.
const syntax::DictExpr* written(const Record& record, const OperationEvent& save) {
  if (!save.expr || save.expr->arguments.empty() || !record.in_file(save.place)) return nullptr;
  const syntax::Expr* given = save.expr->arguments[0];
  if (given->kind == syntax::ExprKind::dict) return &syntax::as<syntax::DictExpr>(*given);
  if (given->kind != syntax::ExprKind::name) return nullptr;
  const auto path = enclosing(*record.chunk(save.place).chunk->stmt, save.expr->span);
  if (path.empty()) return nullptr;
  const syntax::DictExpr* found = nullptr;
  const Enclosing& last = path.back();
  for (std::size_t i = 0; i < last.index; ++i) {
    if (last.block[i]->kind != syntax::StmtKind::assign) continue;
    const auto& assign = syntax::as<syntax::AssignStmt>(*last.block[i]);
    if (assign.targets.size() != 1 || assign.targets[0]->kind != syntax::ExprKind::name) continue;
    if (syntax::as<syntax::NameExpr>(*assign.targets[0]).id != syntax::as<syntax::NameExpr>(*given).id)
      continue;
    found = assign.value->kind == syntax::ExprKind::dict ? &syntax::as<syntax::DictExpr>(*assign.value)
                                                         : nullptr;
  }
  return found;
}

// Means the text the same object in both places: within one function, or as an attribute of one object in its
// methods?
bool same_words(const Record& record, const Lacking& each, Place place, const CallSite* calls) {
  if (record.chunk(each.place).path != record.chunk(place).path) return false;
  if (each.calls == calls) return true;
  const auto* a = each.calls ? each.calls->function : nullptr;
  const auto* b = calls ? calls->function : nullptr;
  return a && b && a->owner && a->owner == b->owner && each.what.starts_with("self.");
}

// `"optimizer": optimizer.state_dict()` after the model's, and optimizer.load_state_dict(saved["optimizer"])
// where the model's is loaded.
void offer_states(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save,
    const FileUse& put, const std::vector<Lacking>& missing, const Report& report, Finding& finding) {
  const syntax::DictExpr* dict = written(record, *save.event);
  const OperationEvent& load = *put.event;
  if (!dict || dict->items.empty() || !load.expr || load.expr->arguments.empty() ||
      load.expr->function->kind != syntax::ExprKind::attribute || !is_statement(record, load))
    return;
  const syntax::Expr& part = *load.expr->arguments[0];
  if (part.kind != syntax::ExprKind::subscript ||
      syntax::as<syntax::SubscriptExpr>(part).index->kind != syntax::ExprKind::string)
    return;
  const auto text = [&](Place at, const syntax::Expr& expr) {
    return std::string(record.text({at.chunk, expr.span}));
  };
  const std::string from = text(load.place, *syntax::as<syntax::SubscriptExpr>(part).object),
                    key = text(load.place, *syntax::as<syntax::SubscriptExpr>(part).index);
  const std::string model = text(load.place, *syntax::as<syntax::AttributeExpr>(*load.expr->function).object);
  if (key.size() < 3 || key.front() != key.back()) return;
  // "model_state_dict" of model: the others are called alike.
  const std::string last = model.substr(model.rfind('.') + 1), inner = key.substr(1, key.size() - 2);
  const std::string suffix = inner.starts_with(last) ? inner.substr(last.size()) : "";
  const SourceLines source(record, save.event->place.chunk);
  const std::string_view all = source.slice(source.absolute(dict->span));
  // One item a line, or all in one.
  std::string between = ", ";
  if (all.find('\n') != std::string_view::npos) {
    const auto first =
        source.absolute(dict->items[0].key ? dict->items[0].key->span : dict->items[0].value->span).begin;
    const std::string_view before = source.slice({source.absolute(dict->span).begin, first});
    const auto line = before.rfind('\n');
    between = "," + source.line_ending() +
        (line == std::string_view::npos
                ? source.indentation(
                      *enclosing(*record.chunk(save.event->place).chunk->stmt, dict->span).back().stmt) +
                    "    "
                : std::string(before.substr(line + 1)));
  }
  const auto load_path = enclosing(*record.chunk(load.place).chunk->stmt, load.expr->span);
  const std::string load_indentation =
      load_path.empty() ? "" : SourceLines(record, load.place.chunk).indentation(*load_path.back().stmt);
  std::string entries, loads;
  for (const Lacking& each : missing) {
    if (each.what.find(' ') != std::string::npos ||
        !same_words(record, each, save.event->place, save.event->calls) ||
        !same_words(record, each, load.place, load.calls))
      return;
    // It has to be there when its state comes back.
    const bool made = std::any_of(
        checkpoint_root.made.begin(), checkpoint_root.made.end(), [&](const FileUse& other) {
          return other.event->self.object() == each.object && other.order < put.order;
        });
    if (!made) return;
    const std::string name = each.what.substr(each.what.rfind('.') + 1) + suffix;
    for (const syntax::DictItem& item : dict->items)
      if (item.key && item.key->kind == syntax::ExprKind::string &&
          text(save.event->place, *item.key) == key.substr(0, 1) + name + key.back())
        return;
    entries += between + key.front() + name + key.back() + ": " + each.what + ".state_dict()";
    loads += (loads.empty() ? "" : source.line_ending() + load_indentation) + each.what +
        ".load_state_dict(" + from + "[" + key.front() + name + key.back() + "])";
  }
  Fix fix;
  fix.title = "Save and load " + (missing.size() == 1 ? missing[0].what : std::string("all states"));
  const auto end = dict->items[dict->items.size() - 1].value->span.end;
  fix.edits.push_back({report.location({save.event->place.chunk, {end, end}}), entries});
  if (!insert_after(record, load, loads, fix)) return;
  std::sort(fix.edits.begin(), fix.edits.end(),
      [](const TextEdit& a, const TextEdit& b) { return a.where.span.begin < b.where.span.begin; });
  finding.fixes.push_back(std::move(fix));
}

// Is what is loaded a checkpoint of this program, by its keys? A path that the command line gives may be that
// of any of them.
bool is_own(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save,
    const FileUse& put, const Loaded& loaded) {
  const Value object = saved_object(save);
  if (path_of(record, *loaded.load).value.is(Kind::string) || !loaded.key.is(Kind::string) ||
      !object.is(Kind::dict))
    return false;
  const auto holds = [&](Value key) -> const Value* {
    for (const auto& [name, item] : values::Heap::dict_state(object)->items)
      if (name.is(Kind::string) && name.text() == key.text()) return &item;
    return nullptr;
  };
  const Value* state = holds(loaded.key);
  const FileUse* taken = state ? state_of(checkpoint_root, *state) : nullptr;
  if (!taken || taken->event->self.object() != put.event->self.object()) return false;
  // The progress comes back, too, under its own name.
  return std::any_of(checkpoint_root.reads.begin(), checkpoint_root.reads.end(), [&](const FileUse& read) {
    if (!(read.event->self == loaded.load->event->result) || read.event->arguments.empty() ||
        !read.event->arguments[0].is(Kind::string))
      return false;
    const Value* item = holds(read.event->arguments[0]);
    return item && !state_of(checkpoint_root, *item);
  });
}

// States that are saved, and stay in the file: nothing in the program loads the state of what has one.
void tell_unread(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save,
    const FileUse& resumed, const Held& held, Report& report, Once& once) {
  const auto comes_back = [&](const Object* object) {
    return std::any_of(checkpoint_root.put.begin(), checkpoint_root.put.end(), [&](const FileUse& put) {
      return put.event->self.object() == object ||
          same_line(checkpoint_root, put.event->self.object(), object);
    });
  };
  // Who hands the loaded dict on may do it there.
  if (checkpoint_root.handed_over || resumed.guarded) return;
  for (const auto* uses : {&checkpoint_root.steps, &checkpoint_root.updates})
    for (const FileUse& use : *uses) {
      const bool by_scaler = use.event->row->operation == Operation::scaler_step;
      const Value self = by_scaler ? argument(*use.event, 0) : use.event->self;
      if (!self.is(Kind::instance) || self.as<Instance>()->symbolic || !held.states.contains(self.object()) ||
          comes_back(self.object()) || told_where(record, checkpoint_root, self.object()))
        continue;
      if (uses == &checkpoint_root.steps && !has_state(record, checkpoint_root, self.object())) continue;
      if (use.event->row->operation == Operation::scaler_update)
        if (const values::Cond on = enabled(record, self.object());
            on && record.symbols.decide(on) != Answer::yes)
          continue;
      const std::string what = called(record, *use.event, by_scaler, "the optimizer");
      if (!once(resumed.event->place)) continue;
      Finding* finding = report.add(Severity::warning, resumed.event->place, resumed.event->calls,
          "Training resumes from this checkpoint, which holds the state of " + as_told(what) +
              " but does not load it: what it has learned so far is lost. Call " +
              (what.starts_with("the ") ? "its `load_state_dict()`"
                                        : values::code(what + ".load_state_dict()")) +
              ".");
      if (!finding) continue;
      report.relate(*finding, save.event->place, "saved here");
      report.relate(*finding, use.event->place, as_told(what) + " is used here");
    }
}

// All states are there but those of the random generators, in a program that asks for the same numbers each
// time.
void tell_generators(const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& save,
    const FileUse& resumed, Report& report, Once& once) {
  const Place asked = asks_for_same_numbers(record, checkpoint_root);
  if (!asked || !once(save.event->place)) return;
  Finding* finding = report.add(Severity::information, save.event->place, save.event->calls,
      "The program asks for deterministic algorithms, and a run that resumes from this checkpoint draws other random numbers than one that was not interrupted: it begins again with those of the seed. Save the states of the generators, too (`torch.get_rng_state()`, `torch.cuda.get_rng_state_all()`, `random.getstate()`), or seed each epoch by its number.");
  if (!finding) return;
  report.relate(*finding, asked, "asked for here");
  report.relate(*finding, resumed.event->place, "resuming loads it here");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated || !checkpoint_root.trains) continue;
    for (const FileUse& save : checkpoint_root.saves) {
      const auto held = held_in(checkpoint_root, saved_object(save));
      if (!held || !held->progress || held->states.empty()) continue;
      const Path path = final_path(record, checkpoint_root, save);
      // The states come back before the training goes on, and so does the progress.
      const FileUse *resumed = nullptr, *restored = nullptr;
      for (const FileUse& put : checkpoint_root.put) {
        if (put.event->arguments.empty() || put.order > save.order) continue;
        const Loaded loaded = loaded_from(checkpoint_root, put.event->arguments[0]);
        if (loaded.load && held->states.contains(put.event->self.object()) &&
            (same_file(path_of(record, *loaded.load), path) ||
                is_own(record, checkpoint_root, save, put, loaded))) {
          resumed = loaded.load;
          restored = &put;
        }
      }
      if (!resumed) continue;
      const bool continues = std::any_of(
          checkpoint_root.reads.begin(), checkpoint_root.reads.end(), [&](const FileUse& read) {
            const bool state = std::any_of(
                checkpoint_root.put.begin(), checkpoint_root.put.end(), [&](const FileUse& put) {
                  return !put.event->arguments.empty() && put.event->arguments[0] == read.event->result;
                });
            return read.event->self == resumed->event->result && !state;
          });
      if (!continues) continue;
      const std::vector<Lacking> missing = lacking(record, checkpoint_root, held->states);
      if (missing.empty()) {
        tell_unread(record, checkpoint_root, save, *resumed, *held, report, once);
        tell_generators(record, checkpoint_root, save, *resumed, report, once);
        continue;
      }
      if (!once(save.event->place)) continue;
      std::string names;
      for (std::size_t i = 0; i < missing.size(); ++i)
        names += (i == 0 ? "" : i + 1 == missing.size() ? " and " : ", ") + as_told(missing[i].what);
      for (const Lacking& each : missing) names += each.when;
      Finding* finding = report.add(Severity::warning, save.event->place, save.event->calls,
          "Training resumes from this checkpoint without the state of " + names + ": what " +
              (missing.size() > 1 ? "they have" : "it has") + " learned so far is lost. Save " +
              (missing.size() > 1 ? "their `state_dict()` and load them" : "its `state_dict()` and load it") +
              " again.");
      if (!finding) continue;
      report.relate(*finding, resumed->event->place, "resuming loads it here");
      for (const Lacking& each : missing)
        report.relate(*finding, each.place, as_told(each.what) + " is used here");
      offer_states(record, checkpoint_root, save, *restored, missing, report, *finding);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/incomplete",
    .severity = Severity::warning,
    .summary = "training resumes without the state of its optimizer, scheduler or scaler",
    .why =
        "Adam remembers the mean and the size of each gradient, a scheduler its step, a GradScaler the scale that it has found. A run that resumes without them does not "
        "go on where it stopped: Adam's first steps are as large as at the very beginning (measured: 0.026 against 0.0145 with its state), the learning rate starts its "
        "warmup again, and the scaler skips steps until it has found its scale.",
    .wrong = "torch.save({\"model\": model.state_dict(), \"epoch\": epoch}, path)\n",
    .right =
        "torch.save({\"model\": model.state_dict(), \"optimizer\": optimizer.state_dict(), \"epoch\": epoch}, path)\n",
    .silent =
        "Files that nobody resumes from: exported weights, the best model; SGD without momentum, which has no state; a disabled scaler; checkpoints with parts of "
        "which it is not known what they are. The states of random generators are asked for, as information, where the program switches deterministic algorithms "
        "on, seeds once and shuffles.",
    .fix =
        "Puts the missing states into the dict that is saved and loads them where the model's is loaded. Files that were saved before do not have them, so this needs a decision.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::incomplete
