// checkpoint/other-state: an object is loaded from what the program saves of another, or from a whole model
// where a state is expected.
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::checkpoint::other_state {

using values::code;

using namespace interpreter;
using values::Kind;

namespace {

// What the program calls the object of a call of its method.
std::string name_in(const Record& record, const FileUse& use) { return object_text(record, *use.event, ""); }

// Of a dict that is saved: the state that lies under a key; null if it is none, or not known.
const FileUse* state_under(const CheckpointRoot& checkpoint_root, const FileUse& save, std::string_view key) {
  const Value object = saved_object(save);
  if (!object.is(Kind::dict)) return nullptr;
  for (const auto& [name, item] : values::Heap::dict_state(object)->items)
    if (name.is(Kind::string) && name.text() == key) return state_of(checkpoint_root, item);
  return nullptr;
}

// The keys that states of the object are loaded from.
std::vector<std::string_view> keys_of(const CheckpointRoot& checkpoint_root, const Object* object) {
  std::vector<std::string_view> found;
  for (const FileUse& put : checkpoint_root.put) {
    const Loaded from = loaded_from(checkpoint_root, argument(*put.event, 0));
    if (from.load && from.key.is(Kind::string) &&
        belong_together(put.event->self.object(), object) != Answer::no)
      found.push_back(from.key.text());
  }
  return found;
}

// The saves that write what a load reads: by the path or, where the paths cannot be compared, by the keys
// that are read of it, if there are several.
std::vector<const FileUse*> written_for(
    const Record& record, const CheckpointRoot& checkpoint_root, const FileUse& load) {
  auto saves = writers(record, checkpoint_root, path_of(record, load));
  if (!saves.empty()) return saves;
  std::set<std::string_view> read;
  for (const FileUse& each : checkpoint_root.reads)
    if (each.event->self == load.event->result && !each.event->arguments.empty() &&
        each.event->arguments[0].is(Kind::string))
      read.insert(each.event->arguments[0].text());
  if (read.size() < 2) return saves;
  for (const FileUse& save : checkpoint_root.saves) {
    const Value object = saved_object(save);
    if (!object.is(Kind::dict)) continue;
    std::set<std::string_view> keys;
    for (const auto& [name, item] : values::Heap::dict_state(object)->items)
      if (name.is(Kind::string)) keys.insert(name.text());
    if (std::ranges::includes(keys, read)) saves.push_back(&save);
  }
  return saves;
}

void look_at_part(const Record& record, Report& report, const CheckpointRoot& checkpoint_root,
    const FileUse& put, const Loaded& from, Once& once) {
  const Object* own = put.event->self.object();
  const auto saves = written_for(record, checkpoint_root, *from.load);
  const FileUse *taken = nullptr, *written = nullptr;
  for (const FileUse* save : saves) {
    // Objects of another root are others in any case.
    if (std::ranges::none_of(checkpoint_root.saves, [&](const FileUse& each) { return &each == save; }))
      return;
    const FileUse* state = state_under(checkpoint_root, *save, from.key.text());
    if (!state || !state->event->self.object() ||
        belong_together(state->event->self.object(), own) != Answer::no)
      return;
    taken = state;
    written = save;
  }
  if (!taken) return;
  // Who loads the other from a key of its own does not make this one to go on in its place.
  const auto keys = keys_of(checkpoint_root, taken->event->self.object());
  if (keys.empty() || std::ranges::find(keys, from.key.text()) != keys.end()) return;
  const std::string name = name_in(record, put), other = name_in(record, *taken);
  if (name.empty() || other.empty() || name == other || !once(taken->event->place)) return;
  Finding* finding = report.add(Severity::warning, taken->event->place, taken->event->calls,
      "This saves the state of " + code(other) + " under `" + std::string(from.key.text()) +
          "`, from which " + code(name) +
          " is loaded: a resumed run goes on with the state of another object. Save " +
          code(name + ".state_dict()") + ".");
  if (!finding) return;
  report.relate(*finding, put.event->place, "loaded here");
  report.relate(*finding, written->event->place, "saved here");
}

void look_at_whole(const Record& record, Report& report, const CheckpointRoot& checkpoint_root,
    const FileUse& put, const Loaded& from, Once& once) {
  const auto saves = writers(record, checkpoint_root, path_of(record, *from.load));
  if (saves.empty() || put.guarded) return;
  for (const FileUse* save : saves)
    if (!save->event->arguments.empty() && saved_object(*save).object() != put.event->self.object()) return;
  if (!once(put.event->place)) return;
  const std::string name = name_in(record, put);
  Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
      "The file holds " + code(name.empty() ? "the model" : name) +
          " itself, which was saved as a whole, and `load_state_dict` takes a `state_dict`: \"Expected state_dict to be dict-like\". Save " +
          code((name.empty() ? "model" : name) + ".state_dict()") + ".");
  if (finding) report.relate(*finding, saves.front()->event->place, "saved here");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over) continue;
    for (const FileUse& put : checkpoint_root.put) {
      if (put.event->arguments.empty() || !put.event->self.object()) continue;
      const Loaded from = loaded_from(checkpoint_root, put.event->arguments[0]);
      if (!from.load) continue;
      if (from.key.is(Kind::string))
        look_at_part(record, report, checkpoint_root, put, from, once);
      else if (!from.key)
        look_at_whole(record, report, checkpoint_root, put, from, once);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/other-state",
    .severity = Severity::warning,
    .summary = "an object is loaded from the state of another, or from a whole model",
    .why =
        "A checkpoint is a dict whose keys mean what the program puts under them. Where the state of the model is saved under the key of its moving average, or the optimizer's under the scheduler's, a resumed run goes on with the wrong one: the average starts again from the raw weights, and nobody sees it where the two have the same names and sizes.",
    .wrong = "torch.save({\"model\": model.state_dict(), \"ema\": model.state_dict()}, path)\n"
             "state = torch.load(path)\n"
             "model.load_state_dict(state[\"model\"])\n"
             "ema.load_state_dict(state[\"ema\"])\n",
    .right = "torch.save({\"model\": model.state_dict(), \"ema\": ema.state_dict()}, path)\n"
             "state = torch.load(path)\n"
             "model.load_state_dict(state[\"model\"])\n"
             "ema.load_state_dict(state[\"ema\"])\n",
    .silent =
        "A second object that goes on from the state of the first, which is not loaded itself or from the same key; a model and its wrapper; files that another program writes.",
    .fix = "None: the save or the load may be what is wrong.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::other_state
