// How a process answers the conditions of its branches: as was chosen for it, for all, or by what is taken
// for granted.
#include "rules/ranks/rank_walker.hpp"

#include "interpreter/presumed_rank.hpp"
#include "rules/ranks/balance.hpp"
#include "rules/ways.hpp"

namespace stepzero::rules {

using namespace interpreter;
using symbolic::Answer;

int RankWalker::key_of_rank(Cond condition, int branch_site) {
  if (!about_rank_) return 0;
  const auto comparison = symbols_.comparison(condition);
  if (!comparison || comparison->op != symbolic::Compare::eq) return 0;
  const auto left = symbols_.value(comparison->left), right = symbols_.value(comparison->right);
  const values::Int other = left ? comparison->right : comparison->left;
  return (left || right) && symbols_.is_atom(other) ? runs_.one_of(branch_site, left ? *left : *right) : 0;
}

void RankWalker::take_for_true(Cond condition) {
  bool holds = true;
  while (symbols_.form(condition) == symbolic::Context::Form::negation) {
    condition = symbols_.operands(condition)[0];
    holds = !holds;
  }
  taken_for_[condition] = holds;
}

Answer RankWalker::by_default(Cond condition) {
  std::vector<symbolic::Assignment> values;
  std::map<std::string, std::int64_t> names;
  symbols_.parts(
      condition,
      [&](values::Int atom) {
        const auto* info = symbols_.atom_info(atom);
        if (!info || !info->usual || info->role != symbolic::Role::none ||
            info->name.starts_with(interpreter::if_so))
          return;
        values.push_back({atom, *info->usual});
        names[std::string(info->name)] = *info->usual;
      },
      [](Cond) {});
  if (values.empty()) return Answer::unknown;
  const Answer answer = symbols_.evaluate(condition, values);
  if (answer != Answer::unknown) trace_.defaults.insert(names.begin(), names.end());
  return answer;
}

Answer RankWalker::by_presumption(Cond condition) {
  std::vector<symbolic::Assignment> values;
  std::set<std::string> clauses;
  symbols_.parts(
      condition,
      [&](values::Int atom) {
        const auto* info = symbols_.atom_info(atom);
        if (!info || !info->usual || !info->name.starts_with(interpreter::if_so)) return;
        values.push_back({atom, *info->usual});
        clauses.insert(info->name.substr(interpreter::if_so.size()));
      },
      [](Cond) {});
  if (values.empty()) return Answer::unknown;
  const Answer answer = symbols_.evaluate(condition, values);
  if (answer == Answer::unknown) return answer;
  trace_.presumes = true;
  if (choices_.assumed != Assumption::agreement) return Answer::unknown;
  presumed_ = true;
  trace_.supposed.merge(clauses);
  return answer;
}

Answer RankWalker::chosen_by_all(int key, Cond condition) {
  if (const auto chosen = choices_.shared.find(key); chosen != choices_.shared.end())
    return chosen->second ? Answer::yes : Answer::no;
  if (!missing) {
    missing = condition;
    missing_is_shared = true;
    missing_key = key;
  }
  return Answer::unknown;
}

// What needs no question. It is the same on every way: conditions are asked again on each.
Answer RankWalker::unasked(Cond condition) {
  const auto [known, fresh] = own_.unasked.try_emplace(condition, Answer::unknown);
  if (!fresh) return known->second;
  Cond ignored = nullptr;
  const Answer answer = decide_by_parts(symbols_, condition, ignored,
      [&](Cond part) { return asks_for_group(record_, part) ? Answer::yes : symbols_.evaluate(part, {}); });
  return own_.unasked[condition] = answer;
}

Answer RankWalker::leaf(Cond condition, int branch_site) {
  if (const auto it = taken_for_.find(condition); it != taken_for_.end())
    return it->second ? Answer::yes : Answer::no;
  if (const Answer answer = unasked(condition); answer != Answer::unknown) return answer;
  if (choices_.assumed == Assumption::rank)
    for (const Cond question : questions_for_rank(record_))
      if (question == condition) return Answer::yes;
  if (choices_.assumed == Assumption::defaults)
    if (const Answer answer = by_default(condition); answer != Answer::unknown) return answer;
  if (const Answer answer = by_presumption(condition); answer != Answer::unknown) return answer;
  if (gradients_of_) {
    trace_.by_gradients = true;
    return chosen_by_all(runs_.site(Runs::Of::gradients, gradients_of_, 0), condition);
  }
  const auto sharing = symbols_.sharing(condition);
  const bool seen = !record_.unseen.contains(condition) && !differs_;
  const bool uniform = seen &&
      (sharing == symbolic::Sharing::uniform ||
          (sharing == symbolic::Sharing::local && asked_ && runs_.is_decided_equally(own_, *asked_)));
  if (uniform ||
      (choices_.assumed == Assumption::agreement &&
          may_be_agreed_on(record_, condition, asked_ ? record_.text(asked_->place) : std::string_view{}))) {
    auto [it, fresh] = own_.keys.try_emplace(condition, 0);
    if (fresh) it->second = key_of_rank(condition, branch_site);
    if (it->second && runs_.is_excluded(it->second, choices_.shared)) return Answer::no;
    if (!it->second) it->second = runs_.question(own_, branch_site, condition);
    return chosen_by_all(it->second, condition);
  }
  // Of a file that is named by its number a rank's run does not see that it is its own: `data/0`.
  (!differs_ &&
              (sharing == symbolic::Sharing::divergent || sharing == symbolic::Sharing::unseen ||
                  record_.unseen.contains(condition))
          ? unseen_
          : locally_) = true;
  if (const auto chosen = choices_.own.find(condition); chosen != choices_.own.end())
    return chosen->second ? Answer::yes : Answer::no;
  if (!missing) {
    missing = condition;
    missing_is_shared = false;
  }
  return Answer::unknown;
}

Answer RankWalker::decide(Cond condition, int branch_site) {
  return decide_by_parts(
      symbols_, condition, missing, [&](Cond part) { return leaf(part, branch_site); },
      [&](Cond part) { return unasked(part); });
}

bool RankWalker::is_agreed_on(Cond condition, bool part) {
  switch (symbols_.form(condition)) {
  case symbolic::Context::Form::constant: return part;
  case symbolic::Context::Form::negation: return is_agreed_on(symbols_.operands(condition)[0], part);
  case symbolic::Context::Form::conjunction:
  case symbolic::Context::Form::disjunction:
    return std::ranges::all_of(
        symbols_.operands(condition), [&](Cond operand) { return is_agreed_on(operand, true); });
  default:
    return part &&
        ((symbols_.sharing(condition) == symbolic::Sharing::uniform && !record_.unseen.contains(condition)) ||
            may_be_agreed_on(record_, condition, record_.text(asked_->place)));
  }
}

Answer RankWalker::as_one_question(Cond condition, int branch_site) {
  if (const Answer answer = symbols_.evaluate(condition, {}); answer != Answer::unknown) return answer;
  const int key = runs_.site(Runs::Of::conditions, branch_site, times_[branch_site]);
  own_.asked_as[key] = condition;
  return chosen_by_all(key, condition);
}

}  // namespace stepzero::rules
