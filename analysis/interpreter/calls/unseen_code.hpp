// Code that the run does not see: what a call of it gives, what may be otherwise after it, and what is
// recorded of it.
#pragma once

#include "interpreter/run_part.hpp"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::interpreter {

class UnseenCode : private RunPart {
public:
  explicit UnseenCode(Interpreter& run) : RunPart(run) {}

  // Does a callee ask whether it was given None, and was it given something of which nothing is known?
  bool asked_by_callee() const;

  Value call_unknown(Value function, const Arguments& arguments, Place place);
  // It has the value, and may do to it, and to what it reaches from there, what it likes.
  void escape(Value value, int depth = 0);
  // What a call names may be another thing after it.
  void lose_patched(const Arguments& arguments, Place where);
  // What a module or class holds, as who nobody calls finds it: an empty list is there to be filled by
  // somebody else.
  Value found_outside(Value found);
  // … and a flag, number or None that a function of the module sets is there to be set.
  Value found_global(const values::Scope& globals, syntax::Name name, Value found);
  // Somebody holds one of several containers, and which is not known: those that are empty are there to be
  // filled.
  void open_empty(Value held, int depth = 0);
  void note_unseen_communication(Value function, const Arguments& arguments, Place where);
  // By its text, and by those of what it calls.
  bool may_communicate(const values::Function& function, int depth = 0);

  // What has been found out of the text goes with the text.
  void forget_communication() { communicating_.clear(); }
  void forget_set_by_functions() { set_by_functions_.clear(); }

private:
  class Escape;

  // What the functions declare nonlocal or global is not known once unseen code may have called them.
  void lose_rebound(const values::Scope* scope, const syntax::Stmt* stmt);
  bool may_rebind(const syntax::Stmt* stmt);  // does it say `global` or `nonlocal`, itself or within?
  // What the program has set on an object that is not seen; with `mode`, whether it trains, too.
  void lose_settings(const values::Unknown& object, bool mode, int depth = 0);
  void record_unseen(Value function, const Arguments& arguments, Place where);

  std::unordered_map<const syntax::Stmt*, bool> may_rebind_;  // functions and classes
  // Whether the texts of functions communicate, and which texts say so.
  struct Communicates {
    bool found = false;
    std::unordered_set<const syntax::FunctionStmt*> read;
  };
  std::unordered_map<const syntax::FunctionStmt*, Communicates> communicating_;
  std::unordered_map<const values::Scope*, std::vector<syntax::Name>>
      set_by_functions_;  // of modules, as roots find them
};

}  // namespace stepzero::interpreter
