// What a program asks to learn whether it was told its rank: see Assumption::rank.
#pragma once

#include "interpreter/calls/noted_at.hpp"
#include "rules/ranks/trace.hpp"

#include <vector>

namespace stepzero::rules {

// The questions whether the program was told its rank: `args.local_rank != -1`.
inline std::vector<values::Cond> questions_for_rank(const interpreter::Record& record) {
  std::vector<values::Cond> all;
  for (const symbolic::Role role : {symbolic::Role::rank, symbolic::Role::local_rank})
    interpreter::each_noted(record, interpreter::told(role), [&](values::Cond question) {
      if (record.symbols.form(question) != symbolic::Context::Form::constant) all.push_back(question);
    });
  return all;
}

}  // namespace stepzero::rules
