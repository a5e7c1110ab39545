// The run of a file: its statements, then what they did not reach; and once more after an edit.
#include "interpreter/interpreter.hpp"

#include "interpreter/builtins/builtins.hpp"
#include "interpreter/builtins/texts.hpp"
#include "interpreter/calls/call_check.hpp"
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/classes/records.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/launch.hpp"
#include "interpreter/loops/loop_runner.hpp"
#include "interpreter/roots/annotations.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/assertions.hpp"
#include "interpreter/statements/assignments.hpp"
#include "interpreter/statements/contexts.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

Interpreter::Interpreter(
    const program::Sources& sources, const Library& library, const Limits& limits, Record& record)
    : RunState(sources, library, limits, record), annotations_(std::make_unique<Annotations>(*this)),
      assertions_(std::make_unique<Assertions>(*this)), assignments_(std::make_unique<Assignments>(*this)),
      builtins_(std::make_unique<Builtins>(*this)), call_check_(std::make_unique<CallCheck>(*this)),
      contexts_(std::make_unique<Contexts>(*this)), function_calls_(std::make_unique<FunctionCalls>(*this)),
      incremental_(std::make_unique<IncrementalRun>(*this)), iterables_(std::make_unique<Iterables>(*this)),
      library_calls_(std::make_unique<LibraryCalls>(*this)), loops_(std::make_unique<LoopRunner>(*this)),
      loader_(std::make_unique<ModuleLoader>(*this)), noted_(std::make_unique<NotedEvents>(*this)),
      object_model_(std::make_unique<ObjectModel>(*this)), records_(std::make_unique<Records>(*this)),
      roots_(std::make_unique<RootRunner>(*this)), texts_(std::make_unique<Texts>(*this)),
      unseen_(std::make_unique<UnseenCode>(*this)) {}

Interpreter::~Interpreter() = default;

void Interpreter::run_file(const std::string& path) {
  main_path_ = path;
  record_.path = path;
  const auto module = sources_.module(path);
  if (!module) return;
  step_limit_ = limits_.steps;
  if (limits_.launch && limits_.launch->world)
    record_.conditions.emplace(
        values::LaunchCondition::world + std::to_string(*limits_.launch->world), symbols().boolean(true));
  if (limits_.launch && !limits_.launch->gpus.empty())
    record_.conditions.emplace(values::LaunchCondition::gpus + limits_.launch->gpus, symbols().boolean(true));
  // About as many as there will be: where the vector grew, all of them would be moved again and again.
  if (!limits_.as_rank && !limits_.with_defaults)
    record_.facts.reserve(std::min<std::size_t>(module->text->bytes().size() / 4, 1 << 16));
  ModuleRun& run_of = loader_->begin_main(path);
  if (limits_.as_rank && limits_.as_rank->told) {
    heard_ = heap().make<values::Instance>();
    heap().set(heap().slot_of(heard_->attributes, syntax::Name(PeerMessages::lost)), heap().boolean(false));
    for (const auto& [channel, sent] : limits_.as_rank->told->sent)
      heap().set(heap().slot_of(heard_->attributes, syntax::Name(PeerMessages::counter(channel))),
          heap().integer(0));
  }
  record_.roots.push_back(std::make_unique<Root>());
  record_.roots.back()->name = "module";
  block_ = &record_.roots.back()->block;
  incremental_->replay().doubts = symbols().doubts();
  incremental_->replay().base_facts = symbols().mark();
  incremental_->replay().file_begin = heap().mark();
  following_ = true;
  loader_->run_module(run_of, module, true);
  following_ = false;
  block_ = nullptr;
  roots_->run_roots(run_of, module);
  incremental_->replay().fresh_events = record_.events.size();
  roots_->tell_as_defaults();
}

bool Interpreter::run_again(const std::atomic<bool>* cancelled, const std::unordered_set<const Stmt*>* only) {
  return incremental_->run_again(cancelled, only);
}

std::size_t Interpreter::units_run() const { return incremental_->replay().units_run; }

std::size_t Interpreter::objects_made() const { return incremental_->replay().objects_made; }

bool Interpreter::only_comments_changed() const { return incremental_->replay().only_comments; }

bool Interpreter::can_run_again() const { return incremental_->replay().possible; }

std::vector<std::pair<std::string, std::uint64_t>> Interpreter::costly_roots(std::size_t most) const {
  return incremental_->costly_roots(most);
}

Value Interpreter::import_named(std::string_view dotted) {
  if (values::ModuleObject* known = loader_->named(dotted)) return Value::of(Kind::module, known);
  std::vector<Name> path;
  for (std::size_t from = 0; from <= dotted.size();) {
    const std::size_t dot = std::min(dotted.find('.', from), dotted.size());
    if (dot == from) return heap().unseen("");  // a relative name
    path.emplace_back(dotted.substr(from, dot - from));
    from = dot + 1;
  }
  return loader_->import_dotted(path, true);
}

Int Interpreter::stand_in(std::string_view name) {
  symbolic::AtomInfo info;
  info.name = name;
  if (const int before = stand_ins_[info.name]++) info.name += std::to_string(before + 1);
  info.lower = 0;
  info.sharing = Sharing::local;
  info.stand_in = true;
  return symbols().fresh(info);
}

}  // namespace stepzero::interpreter
