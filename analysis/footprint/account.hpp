// The account of a run's training steps: its models, its optimizers, and for each backward the graph after
// it, what is kept for it and the peak. What footprint.hpp makes plain values of, and what rules about memory
// read.
#pragma once

#include "footprint/microbatches.hpp"
#include "footprint/optimizer.hpp"
#include "footprint/order.hpp"
#include "footprint/ranks.hpp"
#include "footprint/timeline.hpp"

#include <functional>
#include <memory>
#include <set>

namespace stepzero::footprint {

struct ModelAccount {
  const Instance* object = nullptr;
  Tree tree;
  Bytes parameters, buffers, gradients;              // gradients: of those that a backward reaches
  Bytes own_parameters, own_buffers, own_gradients;  // without what a model before it holds, too
  std::unordered_set<const Held*> first;             // of the tree: what no model before it holds
  bool trained = false;                              // a step goes through it
  std::optional<Division> division;                  // among processes
  bool is_spread = true;  // it is known how all parameters are that plans spread over ranks
};

struct StepAccount {
  const interpreter::OperationEvent* backward = nullptr;
  const interpreter::LoopEvent* loop = nullptr;          // the innermost around it
  const interpreter::OperationEvent* stepped = nullptr;  // of an optimizer, the first after it
  int times = 1;                                         // the backward is seen to run
  std::unique_ptr<Graph> graph;
  std::vector<Saving> savings;  // of each of its nodes
  // Operations through which no backward went yet: after other tensors that a name keeps alive, or that a
  // later backward of the iteration goes through.
  std::vector<Node> beside;
  std::vector<Saving> beside_savings;
  std::set<std::string> unknown;  // operators of which nothing is known
  bool complete = true;
  std::optional<Microbatches> microbatches;
  Bytes saved;  // each storage once
  StandingMemory standing;
  Peak peak;

  // The tensors that names hold while the backward runs.
  std::vector<const TensorState*> with_names() const;
};

// Calls `each` for the operations of a block, with the innermost loop around. `always`: under no condition.
using EachOperation =
    std::function<void(const interpreter::OperationEvent&, const interpreter::LoopEvent* loop, bool always)>;
void visit(const interpreter::Block& block, const interpreter::LoopEvent* loop, bool always,
    const EachOperation& each);

class Account {
public:
  // `names`: the record whose facts say what has a name; null: none is known.
  Account(const Record& record, const Options& options, const Record* names);
  // Made once for a record, for a GPU, and without settings.
  static const Account& of(const Record& record);

  const Record& record() const { return record_; }
  const Options& options() const { return options_; }
  const Record* names() const { return names_; }
  const std::vector<ModelAccount>& models() const { return models_; }
  const std::vector<Optimizer>& optimizers() const { return optimizers_; }
  // A backward or a clearing of gradients of an iteration, and what it reaches; nothing: all.
  struct Mark {
    Route route;
    bool clears = false;
    std::optional<std::unordered_set<const void*>> of;
  };
  const std::vector<StepAccount>& steps() const { return steps_; }
  // Steps of pipelines, with a backward of `steps()` at their place or without.
  const std::vector<const interpreter::OperationEvent*>& pipelines() const { return pipelines_; }
  const std::vector<Value>& values() const { return values_; }
  const std::unordered_map<const void*, const Held*>& held() const { return held_; }
  std::int64_t number(const Bytes& bytes) const { return bytes.number(record_.symbols, options_.settings); }
  // The parameters that a backward leaves gradients in.
  std::unordered_set<const Held*> reached(const StepAccount& step) const;
  // Of a step of a pipeline those of all stages of the process, itself among them; null: not followed.
  std::vector<StepAccount*> stages_of(const StepAccount& step);
  std::vector<const StepAccount*> stages_of(const StepAccount& step) const {
    const auto all = const_cast<Account*>(this)->stages_of(step);
    return {all.begin(), all.end()};
  }

private:
  void look(const interpreter::OperationEvent& event, const interpreter::LoopEvent* loop, bool always);
  void leave_gone_out();
  void add_model(const Instance& model);
  void leave_views_out();
  void count(ModelAccount& made);
  void note_held(const Held& held);
  bool was_replaced(const Instance& model);
  void add_graph(const interpreter::OperationEvent& backward, const interpreter::LoopEvent* loop,
      const interpreter::OperationEvent* stepped, int times);
  void add_beside(StepAccount& step) const;
  void part_stages();
  void add_other_microbatches();
  void add_kept_by_names(StepAccount& step) const;
  void add_kept_for_others(StepAccount& step) const;
  void stand_beside(StepAccount& step, const Graph& all) const;
  void add_leaves_of_named(StepAccount& step, const Graph& all) const;
  void note_passed(const interpreter::OperationEvent& event);
  void mark_trained(const Graph& graph);
  void find_reach();
  bool is_all_reached(const StepAccount& step) const;
  bool is_next_after(const StepAccount& step, const interpreter::OperationEvent& event) const;
  void add_lengths(Optimizer& optimizer);
  void count_gradients(ModelAccount& model);
  void add_peak(StepAccount& step);
  void add_temporaries(StepAccount& step) const;
  bool is_run_before(const StepAccount& step, const Producer& made, const Route& backward) const;
  Route route_inside(const StepAccount& step, const StepAccount& of) const;  // of a backward, in the loop
  std::unordered_set<const Held*> touched(const StepAccount& step) const;
  void mark_named(const Graph& graph, values::Place backward, std::vector<TimedNode>& nodes) const;
  std::vector<TimedNode> timed_nodes(const Graph& graph, const StepAccount& step) const;
  // Does the optimizer clear gradients that it is given after a backward, before the next forward ends?
  bool clears_copies(const StepAccount& step, const Optimizer& optimizer) const;
  // The gradients that are there when its forward begins, and when its backward does.
  void find_standing_gradients(StepAccount& step) const;
  std::vector<Mark> marks_of(const StepAccount& step) const;
  std::optional<Reach> reach_of(const Optimizer& optimizer) const;
  bool runs_with(const StepAccount& step, const interpreter::OperationEvent& clearing) const;
  std::unordered_set<const void*> keys_of(
      const Value& trained) const;  // of what an optimizer or a module has

  const Record& record_;
  const Options options_;
  const Record* names_;
  struct Backward {
    const interpreter::OperationEvent* event = nullptr;
    const interpreter::LoopEvent* loop = nullptr;
    const interpreter::OperationEvent* stepped = nullptr;
    int times = 1;                                            // in iterations that are run one by one
    std::vector<const interpreter::OperationEvent*> earlier;  // of the same place
  };
  std::vector<const interpreter::OperationEvent*> made_;
  std::vector<const interpreter::OperationEvent*> stepped_;
  std::vector<const interpreter::OperationEvent*> pipelines_;   // their steps
  std::vector<const interpreter::OperationEvent*> zero_grads_;  // those that no condition leaves out
  std::vector<Backward> backwards_;
  // What went through the graphs of tensors and keeps none, in order.
  std::vector<std::pair<const interpreter::OperationEvent*, const TensorState*>> passed_;
  std::vector<const interpreter::OperationEvent*> asked_;  // for gradients, without a backward
  std::vector<Value> values_;                              // that the run came across
  std::optional<std::unordered_set<const Instance*>> replaced_;
  std::vector<ModelAccount> models_;
  std::vector<Optimizer> optimizers_;
  std::vector<StepAccount> steps_;
  std::unordered_map<const void*, const Held*> held_;
  std::unordered_set<const values::Tensor*> counted_;
  std::optional<Reach>
      reach_;  // of all backwards; none where a graph is not all known, or processes divide the work
};

}  // namespace stepzero::footprint
