#include "rules/loop/training.hpp"

#include "rules/source.hpp"

#include <algorithm>
#include <typeindex>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

Value attribute(const Object* object, std::string_view name) {
  const auto* instance = dynamic_cast<const Instance*>(object);
  if (!instance) return {};
  const values::Slot* slot = instance->attributes.find(syntax::Name(name));
  return slot ? slot->value : Value{};
}
Value attribute(Value value, std::string_view name) { return value.is(Kind::instance) ? attribute(value.object(), name) : Value{}; }

// Parts of an object: its attributes, items, and what it was made of.
struct Parts {
  std::set<const Object*> found;
  bool complete = true;

  void add(Value value, int depth = 0) {
    if (depth > 12 || found.size() > 4096) {
      complete = false;
      return;
    }
    switch (value.kind) {
    case Kind::list: {
      const auto* state = values::Heap::list_state(value);
      if (!state) break;
      for (const Value& item : state->items) add(item, depth + 1);
      complete = complete && !state->open;
      return;
    }
    case Kind::tuple:
      for (const Value& item : value.as<values::Tuple>()->items) add(item, depth + 1);
      return;
    case Kind::dict: {
      const auto* state = values::Heap::dict_state(value);
      for (const auto& [key, item] : state->items) add(item, depth + 1);
      complete = complete && !state->open;
      return;
    }
    case Kind::tensor:
      found.insert(value.object());
      // Losses do not tell which plain tensors they are computed from.
      complete = complete && value.as<values::Tensor>()->role != values::TensorRole::plain;
      return;
    case Kind::choice:
      add(value.as<values::Choice>()->yes, depth + 1);
      add(value.as<values::Choice>()->no, depth + 1);
      complete = false;
      return;
    case Kind::instance: {
      if (!found.insert(value.object()).second) return;
      const auto* instance = value.as<Instance>();
      if (const Value of = attribute(value, "$of")) return add(of, depth + 1);
      for (const auto& [name, slot] : instance->attributes.entries())
        switch (slot->value.kind) {
        case Kind::instance:
        case Kind::list:
        case Kind::dict:
        case Kind::tuple:
        case Kind::choice:
        case Kind::tensor: add(slot->value, depth + 1); break;
        case Kind::unknown:
          if (!name.text().starts_with("$")) complete = false;  // it may be a module
          break;
        default: break;
        }
      return;
    }
    case Kind::unknown:
    case Kind::iterator:
      complete = false;
      found.insert(value.object());
      return;
    default: return;
    }
  }
};

bool is_optimizer(const Record& record, Value value) {
  if (!value.is(Kind::instance)) return false;
  const auto* instance = value.as<Instance>();
  const auto* native = instance->native ? instance->native : instance->cls ? instance->cls->native : nullptr;
  (void)record;
  return native && (native->path.starts_with("torch.optim.") || native->path.ends_with("Optimizer"));
}

bool matters(Operation operation) {
  switch (operation) {
  case Operation::backward:
  case Operation::optimizer_step:
  case Operation::zero_grad:
  case Operation::scale:
  case Operation::unscale:
  case Operation::scaler_step:
  case Operation::scaler_update:
  case Operation::clip_gradients:
  case Operation::unseen: return true;
  default: return false;
  }
}

void collect(const Block& block, Scene& scene, std::vector<const LoopEvent*>& loops, std::vector<Turn>& turns, bool in_handler) {
  for (const Event* event : block.events) {
    switch (event->kind) {
    case EventKind::operation: scene.all.push_back({static_cast<const OperationEvent*>(event), loops, turns, in_handler}); break;
    case EventKind::branch: {
      const auto* branch = static_cast<const BranchEvent*>(event);
      for (const bool yes : {true, false}) {
        turns.push_back({branch, yes});
        collect(yes ? branch->yes : branch->no, scene, loops, turns, in_handler);
        turns.pop_back();
      }
      break;
    }
    case EventKind::loop:
      loops.push_back(static_cast<const LoopEvent*>(event));
      for (const Block& round : static_cast<const LoopEvent*>(event)->rounds) collect(round, scene, loops, turns, in_handler);
      loops.pop_back();
      break;
    case EventKind::call: collect(static_cast<const CallEvent*>(event)->body, scene, loops, turns, in_handler); break;
    case EventKind::attempt: {
      const auto* attempt = static_cast<const AttemptEvent*>(event);
      collect(attempt->body, scene, loops, turns, in_handler);
      for (const Block& handler : attempt->handlers) collect(handler, scene, loops, turns, true);
      collect(attempt->orelse, scene, loops, turns, in_handler);
      collect(attempt->finally, scene, loops, turns, in_handler);
      break;
    }
    default: break;
    }
  }
}

// One possible run: what each optimizer's gradients and each scaler have been through.
class Follow {
public:
  struct Entry {
    std::size_t reached = 0, wrong = 0;
    Mistake mistake;
  };
  using Found = std::map<std::pair<const OperationEvent*, Slip>, Entry>;

  Follow(const Scene& scene, Found& found, std::map<const OperationEvent*, std::size_t>& reached) : scene_(scene), found_(found), reached_(reached) {
    for (const Happening& each : scene.all)
      if (each.event->row->operation == Operation::scaler_update) updates_.insert(each.event->self.object());
      else if (each.event->row->operation == Operation::scale) used_.insert("scale");
      // What is handed a scaler may scale with it.
      else if (each.event->row->operation == Operation::scaler_made)
        for (const Happening& other : scene.all)
          if (other.event->row->operation == Operation::unseen && is_handed(*other.event, each.event->self.object())) used_.insert("scale");
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const OperationEvent& event = *step.event;
      if (event.row->operation == Operation::unseen) {
        unseen(event);
        continue;
      }
      if (seen_.insert(&event).second) ++reached_[&event];
      switch (event.row->operation) {
      case Operation::backward: backward(event); break;
      case Operation::optimizer_step: stepped(event, event.self, nullptr); break;
      case Operation::zero_grad: cleared(event); break;
      case Operation::scale: scales_[event.self.object()] = &event; break;
      case Operation::unscale:
        checked_.insert(event.self.object());
        if (!event.arguments.empty()) unscaled(event, event.self.object(), event.arguments[0]);
        break;
      case Operation::scaler_step:
        checked_.insert(event.self.object());
        if (!event.arguments.empty()) stepped(event, event.arguments[0], event.self.object());
        break;
      case Operation::scaler_update: updated(event, event.self.object()); break;
      case Operation::clip_gradients: clipped(event); break;
      default: break;
      }
    }
    for (const auto& [update, backward] : vain_)
      if (!blamed_.contains({update, Slip::update_before_step})) wrong(Slip::update_without_step, *update, State{}, backward, nullptr, update->self.object());
  }

private:
  // Of one optimizer's gradients.
  struct State {
    Value value;
    const OperationEvent* fresh = nullptr;       // the last backward that fed it for sure since it was cleared
    const OperationEvent* plain = nullptr;       // the same, of a loss that is known not to be scaled
    bool any = false;                            // a backward may have fed it since it was cleared
    const OperationEvent* scaled = nullptr;      // the backward that left scaled gradients
    const Object* scaled_by = nullptr;
    const OperationEvent* stepped = nullptr;     // since the last backward
    const OperationEvent* lost = nullptr;        // cleared, though not stepped
    const OperationEvent* lost_backward = nullptr;
    const OperationEvent* emptied = nullptr;     // the last that cleared it for sure
    const OperationEvent* clip_on_nothing = nullptr;
    bool clipped = false;                        // since the last backward
    const OperationEvent* updated = nullptr;     // the scaler was updated between backward and step
  };
  struct OfScaler {
    const OperationEvent* unscaled = nullptr;
    const OperationEvent* stepped = nullptr;
  };

  State& of(Value optimizer) {
    State& state = states_[optimizer.object()];
    state.value = optimizer;
    return state;
  }
  void wrong(Slip slip, const OperationEvent& event, const State& state, const OperationEvent* before, const OperationEvent* later, const Object* scaler) {
    // What follows from one mistake with a scaler is not told besides.
    if (scaler && !blamed_scalers_.insert(scaler).second) return;
    if (!blamed_.insert({&event, slip}).second) return;
    Entry& entry = found_[{&event, slip}];
    ++entry.wrong;
    if (entry.mistake.event) return;
    entry.mistake = {slip, &event, &scene_, before, later, scaler && scales_.contains(scaler) ? scales_[scaler] : nullptr, scaler, state.value};
  }
  void each(const std::function<void(const Object*, State&)>& look) {
    for (const Object* optimizer : scene_.optimizers) {
      State& state = states_[optimizer];
      if (!state.value) state.value = Value::of(Kind::instance, optimizer);
      look(optimizer, state);
    }
  }

  void unseen(const OperationEvent& event) {
    each([&](const Object* optimizer, State& state) {
      if (!is_handed(event, optimizer)) return;
      const Value value = state.value;
      state = {};
      state.value = value;
      for (auto& [key, entry] : scalers_)
        if (key.second == optimizer) entry = {};
    });
    for (auto& [key, entry] : scalers_)
      if (is_handed(event, key.first)) entry = {};
    for (const auto& [scaler, scale] : scales_)
      if (is_handed(event, scaler)) checked_.insert(scaler);
  }

  void backward(const OperationEvent& event) {
    const values::TensorState* loss = event.self_state();
    each([&](const Object*, State& state) {
      const Answer fed = feeds(scene_, event, state.value);
      if (fed == Answer::no) return;
      state.any = true;
      state.lost = nullptr;
      state.stepped = nullptr;
      state.updated = nullptr;
      state.clipped = false;
      if (fed != Answer::yes) {
        state.clip_on_nothing = nullptr;
        return;
      }
      state.fresh = &event;
      if (loss && loss->scaled_by) {
        state.scaled = &event;
        state.scaled_by = loss->scaled_by;
      } else if (loss && !state.scaled && (!loss->external || !used_.contains("scale"))) {
        state.plain = &event;
      }
    });
  }

  void cleared(const OperationEvent& event) {
    const Value self = event.self;
    each([&](const Object* optimizer, State& state) {
      const Answer clears = self.object() == optimizer ? Answer::yes : shares_parameters(scene_, is_optimizer_value(self) ? attribute(self, "$parameters") : self, state.value);
      if (clears == Answer::no) return;
      const bool lost = clears == Answer::yes && state.fresh && !state.stepped && !shared(optimizer);
      const OperationEvent* fresh = state.fresh;
      const Value value = state.value;
      state = {};
      state.value = value;
      if (clears == Answer::yes) state.emptied = &event;
      if (lost) {
        state.lost = &event;
        state.lost_backward = fresh;
      }
    });
  }
  // Does another optimizer step the same parameters?
  bool shared(const Object* optimizer) const {
    for (const Object* other : scene_.optimizers)
      if (other != optimizer && shares_parameters(scene_, attribute(other, "$parameters"), Value::of(Kind::instance, optimizer)) == Answer::yes) return true;
    return false;
  }
  bool is_optimizer_value(Value value) const { return scene_.optimizers.contains(value.object()); }

  void stepped(const OperationEvent& event, Value optimizer, const Object* scaler) {
    if (!scene_.optimizers.contains(optimizer.object())) return;
    State& state = of(optimizer);
    if (state.lost && !state.any) wrong(Slip::cleared_before_step, *state.lost, state, state.lost_backward, &event, nullptr);
    if (state.clip_on_nothing && state.fresh && !state.clipped) wrong(Slip::clipped_early, *state.clip_on_nothing, state, state.fresh, &event, nullptr);
    if (scaler) {
      OfScaler& entry = scalers_[{scaler, optimizer.object()}];
      if (entry.stepped) blamed_scalers_.insert(scaler);  // amp/missing-update tells of it
      if (state.updated && state.scaled_by == scaler) wrong(Slip::update_before_step, *state.updated, state, state.fresh, &event, scaler);
      if (state.plain && state.fresh == state.plain && !state.scaled && !state.stepped) wrong(Slip::plain_backward, *state.plain, state, nullptr, &event, scaler);
      entry.stepped = &event;
    }
    state.lost = nullptr;
    state.clip_on_nothing = nullptr;
    state.stepped = &event;
    state.scaled = nullptr;
    state.updated = nullptr;
  }

  void unscaled(const OperationEvent& event, const Object* scaler, Value optimizer) {
    OfScaler& entry = scalers_[{scaler, optimizer.object()}];
    State& state = of(optimizer);
    if (entry.stepped && !updates_.contains(scaler)) {  // amp/missing-update tells of it
      state.scaled = nullptr;
      return;
    }
    if (entry.stepped) wrong(Slip::unscale_after_step, event, state, entry.stepped, nullptr, scaler);
    else if (entry.unscaled) wrong(Slip::unscale_twice, event, state, entry.unscaled, nullptr, scaler);
    entry.unscaled = &event;
    if (state.scaled_by == scaler) state.scaled = nullptr;
    state.plain = nullptr;
  }

  void updated(const OperationEvent& event, const Object* scaler) {
    const bool sets_scale = !event.arguments.empty() && event.arguments[0] && !event.arguments[0].is(Kind::none);
    const OperationEvent* scaled = nullptr;
    each([&](const Object*, State& state) {
      if (state.scaled && state.scaled_by == scaler) scaled = state.scaled;
    });
    if (scaled && !sets_scale && !checked_.contains(scaler)) vain_.push_back({&event, scaled});
    checked_.erase(scaler);
    each([&](const Object*, State& state) {
      if (state.fresh && !state.stepped && state.scaled_by == scaler) state.updated = &event;
    });
    for (auto& [key, entry] : scalers_)
      if (key.first == scaler) entry = {};
  }

  void clipped(const OperationEvent& event) {
    if (event.arguments.empty()) return;
    each([&](const Object*, State& state) {
      const Answer ours = shares_parameters(scene_, event.arguments[0], state.value);
      if (ours == Answer::no) return;
      if (ours == Answer::yes) {
        if (state.scaled) wrong(Slip::clip_scaled, event, state, state.scaled, nullptr, state.scaled_by);
        else if (state.fresh && state.stepped) wrong(Slip::clipped_late, event, state, state.stepped, nullptr, nullptr);
        else if (!state.any && state.emptied && !state.clip_on_nothing) state.clip_on_nothing = &event;
      }
      if (state.any) state.clipped = true;
    });
  }

  const Scene& scene_;
  Found& found_;
  std::map<const OperationEvent*, std::size_t>& reached_;
  std::set<const OperationEvent*> seen_;
  std::set<std::pair<const OperationEvent*, Slip>> blamed_;
  std::set<const Object*> blamed_scalers_, updates_;
  std::set<std::string_view> used_;
  std::set<const Object*> checked_;   // scalers that have looked for inf since their last update, or may have
  std::vector<std::pair<const OperationEvent*, const OperationEvent*>> vain_;  // updates without a step, and the backward before
  std::map<const Object*, State> states_;
  std::map<std::pair<const Object*, const Object*>, OfScaler> scalers_;
  std::map<const Object*, const OperationEvent*> scales_;
};

// `p.grad = …`, `p.grad.zero_()`, `del p.grad`, `p.grad.data /= …`: anything done with gradients but reading a number of them.
bool touches_gradients(const syntax::Stmt& stmt) {
  bool found = false;
  const std::function<bool(const syntax::Expr&)> is_gradient = [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::subscript) return is_gradient(*syntax::as<syntax::SubscriptExpr>(expr).object);
    if (expr.kind != syntax::ExprKind::attribute) return false;
    const auto& attribute = syntax::as<syntax::AttributeExpr>(expr);
    return attribute.attribute.text() == "grad" || is_gradient(*attribute.object);
  };
  const std::function<void(const syntax::Stmt&)> look = [&](const syntax::Stmt& inner) {
    if (inner.kind == syntax::StmtKind::assign)
      for (const syntax::Expr* target : syntax::as<syntax::AssignStmt>(inner).targets) found = found || is_gradient(*target);
    if (inner.kind == syntax::StmtKind::aug_assign) found = found || is_gradient(*syntax::as<syntax::AugAssignStmt>(inner).target);
    if (inner.kind == syntax::StmtKind::delete_)
      for (const syntax::Expr* target : syntax::as<syntax::DeleteStmt>(inner).targets) found = found || is_gradient(*target);
  };
  for_each_statement(stmt, look);
  for_each_expression(stmt, [&](const syntax::Expr& expr) {
    if (expr.kind != syntax::ExprKind::call) return;
    const auto& call = syntax::as<syntax::CallExpr>(expr);
    if (call.function->kind != syntax::ExprKind::attribute) return;
    const auto& method = syntax::as<syntax::AttributeExpr>(*call.function);
    const std::string_view name = method.attribute.text();
    // A method that writes, or a call that takes the gradient itself.
    if (name.ends_with("_") && !name.ends_with("__")) found = found || is_gradient(*method.object);
    for (const syntax::Expr* argument : call.arguments)
      found = found || (name != "norm" && name != "vector_norm" && is_gradient(*argument));
    if (name == "setattr") found = true;
  });
  return found;
}

// The statement that the call of the event is all of.
struct Own {
  const syntax::Stmt* stmt = nullptr;
  std::vector<Enclosing> path;
};
std::optional<Own> own_statement(const Record& record, const OperationEvent& event, const SourceLines& source) {
  if (!event.expr || !record.in_file(event.place)) return std::nullopt;
  auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.expr->span);
  if (path.empty() || !source.own_line(*path.back().stmt)) return std::nullopt;
  return Own{path.back().stmt, std::move(path)};
}
bool is_all_of(const syntax::Stmt& stmt, const OperationEvent& event) {
  return stmt.kind == syntax::StmtKind::expression && syntax::as<syntax::ExpressionStmt>(stmt).value == event.expr;
}

} // namespace

bool Happening::in(const LoopEvent* loop) const { return std::find(loops.begin(), loops.end(), loop) != loops.end(); }

const Training& Training::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(Training))];
  if (!known) known = std::make_shared<const Training>(record);
  return *static_cast<const Training*>(known.get());
}

Training::Training(const Record& record) : record_(record) {
  scenes_.reserve(record.roots.size());
  for (const auto& root : record.roots) look_at(*root);
  if (scenes_.empty()) return;
  for (const ChunkOf& chunk : record.chunks)
    if (chunk.chunk && chunk.chunk->stmt) by_hand_ = by_hand_ || touches_gradients(*chunk.chunk->stmt);
}

void Training::look_at(const Root& root) {
  bool any = false;
  visit(root.block, [&](const Event& event) {
    if (any || event.kind != EventKind::operation) return;
    const Operation operation = static_cast<const OperationEvent&>(event).row->operation;
    any = operation != Operation::unseen && operation != Operation::zero_grad && matters(operation);
  });
  if (!any) return;
  Scene& scene = scenes_.emplace_back();
  scene.root = &root;
  std::vector<const LoopEvent*> loops;
  std::vector<Turn> turns;
  collect(root.block, scene, loops, turns, false);
  for (const Happening& each : scene.all) {
    const OperationEvent& event = *each.event;
    switch (event.row->operation) {
    case Operation::optimizer_step:
    case Operation::zero_grad:
    case Operation::optimizer_made:
      if (is_optimizer(record_, event.self)) scene.optimizers.insert(event.self.object());
      break;
    case Operation::unscale:
    case Operation::scaler_step:
      if (!event.arguments.empty() && event.arguments[0].is(Kind::instance)) scene.optimizers.insert(event.arguments[0].object());
      break;
    case Operation::framework: scene.handed_over = true; break;
    case Operation::backward:
      // accelerator.backward(loss), engine.backward(loss): of something that is no tensor.
      if (!event.self_state() && !event.arguments.empty() && event.arguments[0] && !event.arguments[0].is(Kind::none)) scene.handed_over = true;
      break;
    default: break;
    }
  }
  if (scene.handed_over || root.truncated) return;
  Walk walk;
  walk.wanted = [](const OperationEvent& event) { return matters(event.row->operation); };
  Follow::Found found;
  std::map<const OperationEvent*, std::size_t> reached;
  if (!explore(record_, root.block, {{0, 1}}, walk, [&](const Run& run) { Follow(scene, found, reached).run(run[0]); })) return;
  for (const auto& [key, entry] : found)
    if (entry.wrong == reached[key.first]) mistakes_.push_back(entry.mistake);
  std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const Mistake& a, const Mistake& b) {
    return std::pair(a.event->place.chunk, a.event->place.span.begin) < std::pair(b.event->place.chunk, b.event->place.span.begin);
  });
}

Answer feeds(const Scene& scene, const OperationEvent& backward, Value optimizer) {
  const values::TensorState* loss = backward.self_state();
  const Value parameters = attribute(optimizer, "$parameters");
  if (parameters && loss && !loss->graph.empty()) {
    Parts parts;
    parts.add(parameters);
    for (const Object* source : loss->graph) {
      if (parts.found.contains(source)) return Answer::yes;
      // A list of tensors that are parts of a layer in the graph.
      if (dynamic_cast<const Instance*>(source)) {
        Parts inner;
        inner.add(Value::of(Kind::instance, source));
        for (const Object* part : inner.found)
          if (part != source && parts.found.contains(part)) return Answer::yes;
      }
    }
    if (loss->graph_complete && parts.complete) return Answer::no;
  }
  return scene.optimizers.size() == 1 ? Answer::yes : Answer::unknown;
}

Answer shares_parameters(const Scene& scene, Value given, Value optimizer) {
  const Value parameters = attribute(optimizer, "$parameters");
  if (parameters && given) {
    Parts ours, theirs;
    ours.add(parameters);
    theirs.add(given);
    for (const Object* part : theirs.found)
      if (ours.found.contains(part)) return Answer::yes;
    if (ours.complete && theirs.complete && !ours.found.empty() && !theirs.found.empty()) return Answer::no;
  }
  return scene.optimizers.size() == 1 ? Answer::yes : Answer::unknown;
}

bool reaches(const values::TensorState& loss, Value module) {
  Parts parts;
  parts.add(module);
  return std::any_of(loss.graph.begin(), loss.graph.end(), [&](const Object* source) { return parts.found.contains(source); });
}

bool is_handed(const OperationEvent& unseen, const Object* object) {
  if (unseen.arguments.empty()) return false;
  Parts parts;
  parts.add(unseen.arguments[0]);
  return parts.found.contains(object);
}

Cond enabled(const Record& record, const Object* scaler) {
  const auto* instance = dynamic_cast<const Instance*>(scaler);
  if (!instance) return record.symbols.opaque("", symbolic::Sharing::uniform);
  if (const Value value = attribute(instance, "$enabled"); value.is(Kind::boolean)) return value.condition();
  if (!instance->symbolic) return nullptr;
  const std::string name = std::string(instance->name) + ".is_enabled()";
  if (const auto it = record.conditions.find(name); it != record.conditions.end()) return it->second;
  return record.symbols.opaque(name, symbolic::Sharing::uniform);
}

std::optional<Weight> weigh(const Record& record, const Object* scaler, const OperationEvent& event, const Scene& scene) {
  Weight weight;
  const Cond scales = enabled(record, scaler);
  if (!scales) return weight;
  // `if scaler.is_enabled(): …`
  Cond all = scales, path = nullptr;
  for (const Happening& each : scene.all) {
    if (each.event != &event) continue;
    for (const Turn& turn : each.turns) {
      const Cond side = turn.yes ? turn.branch->condition : record.symbols.logical_not(turn.branch->condition);
      path = path ? record.symbols.logical_and(path, side) : side;
    }
    break;
  }
  if (path) all = record.symbols.logical_and(all, path);
  if (record.symbols.decide(all) == Answer::no) return std::nullopt;
  if (record.symbols.decide(scales) == Answer::yes) return weight;
  if (path && record.symbols.decide(record.symbols.logical_and(path, record.symbols.logical_not(scales))) == Answer::no) return weight;
  weight.severity = Severity::warning;
  const std::string text = record.symbols.text(scales);
  weight.when = text.empty() ? " whenever the scaler is enabled" : " whenever " + text;
  return weight;
}

std::string object_text(const Record& record, const OperationEvent& event, std::string otherwise) {
  if (!event.expr || event.expr->function->kind != syntax::ExprKind::attribute) return otherwise;
  const auto& object = *syntax::as<syntax::AttributeExpr>(*event.expr->function).object;
  return std::string(record.text({event.place.chunk, object.span}));
}

bool remove_statement(const Record& record, const OperationEvent& event, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own || !is_all_of(*own->stmt, event)) return false;
  const Enclosing& last = own->path.back();
  if (last.block.size() == 1) {
    fix.edits.push_back({{source.path(), source.absolute(own->stmt->span)}, "pass"});
    return true;
  }
  fix.edits.push_back({{source.path(), source.lines(*own->stmt, *own->stmt)}, ""});
  return true;
}

bool insert_before(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own) return false;
  const auto begin = source.lines(*own->stmt, *own->stmt).begin;
  fix.edits.push_back({{source.path(), {begin, begin}}, source.indentation(*own->stmt) + text + source.line_ending()});
  return true;
}

bool insert_after(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own) return false;
  const syntax::Span lines = source.lines(*own->stmt, *own->stmt);
  const bool ended = source.slice(lines).ends_with('\n') || source.slice(lines).ends_with('\r');
  const std::string line = source.indentation(*own->stmt) + text;
  fix.edits.push_back({{source.path(), {lines.end, lines.end}}, ended ? line + source.line_ending() : source.line_ending() + line});
  return true;
}

bool move_statement(const Record& record, const OperationEvent& event, const OperationEvent& to, bool behind, Fix& fix) {
  if (event.calls != to.calls || event.place.chunk != to.place.chunk) return false;
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source), other = own_statement(record, to, source);
  if (!own || !other || own->stmt == other->stmt || !is_all_of(*own->stmt, event)) return false;
  // Within one block: what runs how often stays as it is.
  if (own->path.back().block.data() != other->path.back().block.data()) return false;
  const std::string text(source.slice(source.absolute(own->stmt->span)));
  const syntax::Span lines = source.lines(*own->stmt, *own->stmt);
  std::string moved(source.slice(lines));
  if (!moved.ends_with('\n')) return false;
  fix.edits.push_back({{source.path(), lines}, ""});
  const syntax::Span target = source.lines(*other->stmt, *other->stmt);
  const auto at = behind ? target.end : target.begin;
  if (behind && !source.slice(target).ends_with('\n')) moved = source.line_ending() + moved.substr(0, moved.find_last_not_of("\r\n") + 1);
  fix.edits.push_back({{source.path(), {at, at}}, moved});
  std::sort(fix.edits.begin(), fix.edits.end(), [](const TextEdit& a, const TextEdit& b) { return a.where.span.begin < b.where.span.begin; });
  return true;
}

} // namespace stepzero::rules
