// Taking a piece of the run back: see the header.
#include "interpreter/paths/speculation.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/roots/root_runner.hpp"

#include "interpreter/interpreter.hpp"

#include <algorithm>

namespace stepzero::interpreter {

Speculation::Speculation(Runtime& run, Of what)
    : run_(static_cast<Interpreter&>(run)), mark_(run.heap().mark()), facts_(run.symbols().mark()),
      depth_(run_.path_.size()), what_(what), killed_(run_.killed_) {
  if (what_ != Of::trial) return;
  lists_ = {run_.record_.facts.size(), run_.function_order_.size(), run_.classes_.size(),
      run_.roots_->built_.size(), run_.block_};
  exits_ = exit_counts();
}

values::Delta Speculation::writes() const { return run_.heap().capture(mark_); }

void Speculation::rewind_heap() { run_.heap().rollback(mark_); }

void Speculation::forget_path() {
  run_.symbols().rewind(facts_);
  run_.path_.resize(std::min(run_.path_.size(), depth_));
}

void Speculation::rewind() {
  rewind_heap();
  forget_path();
}

values::Delta Speculation::take() {
  values::Delta taken = writes();
  rewind();
  return taken;
}

void Speculation::become(const values::Delta& taken) {
  rewind();
  run_.heap().apply(taken);
}

void Speculation::include_so_far() { mark_.trail = run_.heap().mark().trail; }

void Speculation::keep_new_objects() { run_.heap().make_permanent(mark_); }

void Speculation::discard() {
  rewind();
  drop_exits();
  run_.killed_ = killed_;
  run_.block_ = lists_.block;
  run_.incremental_->shrink_lists(lists_.facts, lists_.functions, lists_.classes);
  run_.roots_->built_.resize(std::min(run_.roots_->built_.size(), lists_.built));
  open_ = false;
}

void Speculation::end() {
  if (what_ == Of::trial) return discard();
  rewind();
  run_.killed_ = killed_;
}

std::vector<std::size_t> Speculation::exit_counts() const {
  std::vector<std::size_t> counts;
  for (const Frame* frame = run_.frame_; frame; frame = frame->outer) {
    counts.push_back(frame->returns.size());
    for (const LoopTarget* loop : frame->loops) {
      counts.push_back(loop->breaks.size());
      counts.push_back(loop->continues.size());
    }
    for (const TryTarget* target : frame->tries) counts.push_back(target->raises.size());
  }
  return counts;
}

void Speculation::drop_exits() const {
  std::size_t i = 0;
  for (Frame* frame = run_.frame_; frame; frame = frame->outer) {
    frame->returns.resize(exits_[i++]);
    for (LoopTarget* loop : frame->loops) {
      loop->breaks.resize(exits_[i++]);
      loop->continues.resize(exits_[i++]);
    }
    for (TryTarget* target : frame->tries) target->raises.shrink(exits_[i++]);
  }
}

}  // namespace stepzero::interpreter
