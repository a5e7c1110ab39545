// What the ranks of a program do to each other, as rules and the schedule read it: the runs are started, and
// compared, when the first of them asks. An edit of which no rule asks that runs no rank.
#pragma once

#include "rules/ranks/compared_job.hpp"

#include <memory>

namespace stepzero::snapshot {

class RankResults final : public rules::RankResults {
public:
  // Without `run` only what the record of all ranks tells is found.
  // `before`: what earlier ones of the same run came to; may be null.
  explicit RankResults(const interpreter::Record& record, rules::RunOfRank run = nullptr,
      rules::ComparedBefore* before = nullptr)
      : record_(record), run_(std::move(run)), before_(before) {}

  const interpreter::Record& record() const { return record_; }
  bool can_run() const { return run_ != nullptr; }
  const rules::Comparison& comparison() const override { return job(); }
  const interpreter::Record* run(int rank, int world) const override {
    return can_run() ? &job().worlds.of(rank, world) : nullptr;
  }
  std::size_t roots_looked_at() const { return job_ ? job_->roots_looked_at : 0; }
  // For who goes through the ways of further jobs.
  rules::ComparedJob& job() const {
    if (!job_) job_ = std::make_unique<rules::ComparedJob>(record_, run_, before_);
    return *job_;
  }

private:
  const interpreter::Record& record_;
  const rules::RunOfRank run_;
  rules::ComparedBefore* const before_;
  mutable std::unique_ptr<rules::ComparedJob> job_;
};

}  // namespace stepzero::snapshot
