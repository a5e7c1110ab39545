// What one rank enters, sends and receives by a recorded operation: the group with its members, the root, the
// size of what is sent. Knows no rule.
#pragma once

#include "rules/ranks/runs.hpp"

namespace stepzero::rules {

class CommRecorder {
public:
  // `decide` answers what the rank takes a condition to be; unknown asks for a choice.
  CommRecorder(Runs& runs, RankRun& own, int world, RankTrace& trace,
      std::function<symbolic::Answer(values::Cond)> decide)
      : runs_(runs), own_(own), symbols_(own.record->symbols), world_(world), trace_(trace),
        decide_(std::move(decide)) {}

  bool default_groups = false;  // a group that a function may be given is not given: the default one

  // Puts what the operation does into the trace. False: there is too much of it.
  bool add(const OperationEvent& event, const std::vector<std::size_t>& turns,
      const std::vector<Iteration>& iterations);
  // From here on it is not known what the process sends and receives.
  void become_uncertain();

private:
  std::optional<std::int64_t> number(values::Value value, std::string* where = nullptr) const;
  // `where` is told the conditions that were chosen.
  values::Value chosen(values::Value value, std::string* where = nullptr) const;
  void describe(CommEvent& comm, const values::TensorState* state) const;
  bool group_of(values::Value group, CommEvent& comm);
  void collective(
      const OperationEvent& event, const values::CollectiveInfo& info, values::Value group, CommEvent made);
  std::vector<std::int64_t> rows_for_each(const OperationEvent& event, int parts, int of) const;
  void list_of(const OperationEvent& event, const values::CollectiveInfo& info, CommEvent& made) const;
  void work(const OperationEvent& event, const CommEvent& made);
  std::optional<double> seconds(values::Value duration) const;
  void note_limit(const OperationEvent& event, const std::string& group);
  void message(const OperationEvent& event, const values::MessageInfo& info, CommEvent made);
  void send_or_receive(
      CommEvent made, values::Value peer, values::Value tag, values::Value group, values::Value group_peer);

  Runs& runs_;
  RankRun& own_;
  symbolic::Context& symbols_;
  int world_;
  RankTrace& trace_;
  std::function<symbolic::Answer(values::Cond)> decide_;
  std::map<const values::Instance*, std::pair<std::string, std::vector<int>>> groups_;
  std::map<std::string, int> groups_made_;
};

}  // namespace stepzero::rules
