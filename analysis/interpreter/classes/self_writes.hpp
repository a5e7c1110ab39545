// What the methods of a class may set on their object, as their texts say.
#pragma once

#include "interpreter/runtime.hpp"
#include "values/kept.hpp"

#include <functional>
#include <vector>

namespace stepzero::interpreter {

// The attributes that a block of a method sets on `self`, nested blocks included, those whose lists and dicts
// it changes, and those of the objects in its attributes: self.optimizer.pending[param] = future.
struct Changes {
  std::vector<syntax::Name> set, changed;
  std::vector<syntax::Name>
      changed_within;  // of `changed` those whose items are changed: self.runs[i].append(one)
  std::vector<std::pair<syntax::Name, syntax::Name>> changed_in;
  std::vector<syntax::Name> calls;  // methods of its own that are called by a statement
  std::vector<std::pair<syntax::Name, syntax::Name>>
      calls_in;  // and those of the objects in its attributes: self.data.load(path); no name: a call of it
  bool any = false;        // setattr with a name that is computed
  bool registers = false;  // a buffer, a parameter or a module under such a name
  syntax::Name cls;        // the class as its methods may name it
};
void collect_self_writes(syntax::Block block, syntax::Name self, Changes& changes);
// Those that its text defines, whatever decorators make of them, and those that the program put in it;
// without those of its bases. A static one may be handed an object of the class: a hook that is registered
// with its state.
void each_method(const values::Class& cls, const std::function<void(const syntax::FunctionStmt&)>& look);
// Its method of that name, or that of a base, whatever decorators make of it. Null: there is none.
const syntax::FunctionStmt* method_named(const values::Class& cls, syntax::Name name);
// What all its methods set but the constructors, those of its bases included.
Changes set_by_methods(const values::Class& cls);
// Does it leave its function with a value, other than None and False, in its own lines?
bool returns_something(syntax::Block block);
// What an attribute of that value holds once methods may have set it. Where it was None, whether it still is
// hangs on what was called before: a state of the object, and no choice of whoever runs the program.
Value set_at_some_time(values::Heap& heap, Value held, syntax::Name attribute);
inline const syntax::Name was_none{
    values::UnknownState::was_none};  // the attribute that says so of an unknown
// A tuple, list or dict of which nothing is known but that it is one.
Value another_of_its_kind(values::Heap& heap, Value container);
// What a method sets on its object, with those of its own that it calls. Nothing where the class has no such
// method.
Changes set_by_method(const values::Class& cls, syntax::Name method);
// The attributes that a module may register anew under a name that is computed: buffers, and what is None.
std::vector<syntax::Name> may_be_registered(const values::Instance& object);
// It may have been called before: what it sets is not known from here on. A module has one like it in its
// place.
void lose_set(Runtime& run, values::Instance& object, const Changes& changes);
// Unseen code may have called any of them: the numbers, flags and texts that they set, and the lists that
// they change, are not known from here on.
void lose_set_by_methods(values::Heap& heap, values::Instance& object);

// Unseen code may have made objects of the class: the lists and dicts of the class that these fill are not
// known from here on.
void lose_filled_by_objects(values::Heap& heap, const values::Class& cls);

// The constructor was broken off: what it may still have filled or set again is not known.
void lose_half_built(values::Heap& heap, values::Instance& object, const values::Function& constructor);

// Any of its attributes may be the one whose value this is: a name that is not known was written. Also those
// that it has from its class.
void set_any(values::Heap& heap, values::Instance& object, Value value);

// What the program puts in the place of a library's function, from here on. Kept with the names of the file,
// under one with a '$'.
void note_replaced(values::Heap& heap, values::Scope* globals, std::string_view path);
bool is_replaced(const values::Scope* globals, std::string_view path);
template <class Frame> const Frame* outermost(const Frame* frame) {
  while (frame && frame->outer) frame = frame->outer;
  return frame;
}
template <class Frame> values::Scope* outermost_globals(const Frame* frame) {
  const Frame* first = outermost(frame);
  return first && first->scope ? first->scope->globals : nullptr;
}

}  // namespace stepzero::interpreter
