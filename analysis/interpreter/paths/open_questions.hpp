// What was asked of things that the run does not know, and the conditions that stand for the answers: the
// same question about the same thing has the same answer, and what is equal to one word is equal to no other.
#pragma once

#include "symbolic/expression.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stepzero::interpreter {

class OpenQuestions {
public:
  struct Asked {
    std::string question;
    symbolic::Cond answer;
    bool is_word;  // does the question ask whether the thing is equal to a word?
  };

  // The answer to a question that was asked before; null if it was not.
  symbolic::Cond find(const void* about, std::string_view question) const {
    for (const Asked& asked : all(about))
      if (asked.question == question) return asked.answer;
    return nullptr;
  }
  void add(const void* about, std::string question, symbolic::Cond answer, bool is_word = false) {
    asked_[about].push_back({std::move(question), answer, is_word});
    if (is_word) words_.emplace(answer, about);
  }
  // In the order in which they were asked first.
  std::span<const Asked> all(const void* about) const {
    const auto found = asked_.find(about);
    return found == asked_.end() ? std::span<const Asked>{} : found->second;
  }
  // Of what the condition says that it is equal to a word; null if it says no such thing.
  const void* worded(symbolic::Cond answer) const {
    const auto found = words_.find(answer);
    return found == words_.end() ? nullptr : found->second;
  }

private:
  std::unordered_map<const void*, std::vector<Asked>> asked_;
  std::unordered_map<symbolic::Cond, const void*> words_;
};

}  // namespace stepzero::interpreter
