// What is known of values that unseen code computed: which such values it was given, whether it is what
// programs call their models. Kept with the unknown values under names with a '$'.
#pragma once

#include "interpreter/runtime.hpp"

#include <vector>

namespace stepzero::interpreter {

// `part` is an attribute, an item or an element of `whole`.
void note_part(values::Heap& heap, Value part, const values::Unknown& whole);
// `made` is another of those that `one` stands for: a part of the same whole, moved like it.
void note_another(values::Heap& heap, Value made, const values::Unknown& one);
// It was there as long as the whole, though nobody had asked for it: what is taken back of the whole is taken
// back of it. Before anything is noted of it.
void date_back(Value part, const values::Unknown& whole);
// Where it lies if it is a tensor, and with `of_parts` where its parts do: the samples of a data set that is
// not seen are made on the CPU. What its methods give may lie elsewhere.
void note_device(values::Heap& heap, Value value, const values::Device& device, bool of_parts);
// A batch that a loader collated from samples that are not seen: it, and each of its parts, has as many items
// as there are samples, or as a sample has fields. What they are differs from rank to rank, how many there
// are need not.
void note_batch(values::Heap& heap, Value value);
Sharing sharing_of_length(const values::Unknown& value);
void forget_device(values::Heap& heap, Value value);
const values::Device* lies_on(const values::Unknown& value);  // null: not known
// What was moved to give it, which is the same object if it is a module; itself if nothing was.
const values::Unknown& module_itself(const values::Unknown& moved);
// Where it lies if it is a module, which is moved in place; null: not known.
const values::Device* module_on(const values::Unknown& model);
// Where it lies if other parts of the same batch were moved from there one by one, and it was not.
const values::Device* left_on(const values::Unknown& value);  // null: not known
const values::Device* left_by(const values::Unknown& value);  // the same: where those parts were moved
// Where a model that is not seen computed it, or what it is a part of; where it was moved to. Null: not
// known.
const values::Device* computed_on(const values::Unknown& value);
// What `.to(value)` names where by its name it is a device, of which nobody says which: a GPU, or any other
// device. Null: it is no such thing.
const values::Device* presumed_device(Runtime& run, Value value);
// The result of a call of unseen code that moves tensors, is given a device, or what was moved so. Its parts
// and what its methods give are as well. What a tensor's method moved is known to lie there, and that the
// other parts of its batch do not.
void note_transfer(Runtime& run, Value made, Value function, const Arguments& arguments);
// A part of a batch was moved there: others were left where it came from.
void note_part_moved(Runtime& run, const values::Unknown& part, const values::Device& there);
bool may_be_moved(const values::Unknown& value);
// Did unseen code make it out of names and numbers, without being told a device?
bool is_made_anywhere(const values::Unknown& value);
// A module that it is a part of was moved: it no longer lies where it was made.
void note_moved_with_whole(values::Heap& heap, Value part);
// `made` shows the same elements as another, if that is a tensor: `x[None]`, `x[:, 0]`.
void note_view(values::Heap& heap, Value made, const values::Unknown& of);
// What a method gave that is not seen: whose it is.
void note_given_by(values::Heap& heap, Value made, Value function);
// It is the sum, product… of both.
void note_operands(values::Heap& heap, Value made, Value left, Value right);
// Of a comparison: if one is a number, it lies where the other does.
void note_beside_number(values::Heap& heap, Value made, Value left, Value right);
// The result of a call of unseen code of that name, where gradients are recorded.
void note_computed(
    Runtime& run, Value made, Value function, std::string_view name, const Arguments& arguments);

// `made` is the attribute of an object of which nothing is known: a method that says what the object is for,
// as `eval` does of a module, knows it.
void note_owner(Runtime& run, Value made, const values::Unknown& object, syntax::Name name);
// It was used as only a module is: `model.load_state_dict(state)`. A call of it is then one of a module.
void note_module(values::Heap& heap, const values::Unknown& object);
// A call of such a method, or of an object that has been asked for one: the row that says what it is for, and
// the object. Null: neither.
struct Role {
  const values::Row* row = nullptr;
  const values::Unknown* object = nullptr;
};
Role role_of(Runtime& run, const values::Unknown& function, const Arguments& arguments);

// Something of another library: its name and where that lives, "transformers.LlamaConfig". Empty for others.
std::string imported_from(Value value);

// Is it, or is it a part of, what unseen code computed from values that it was given, or a sum or product of
// such?
bool comes_from_unseen(const values::Unknown& value);
// A sum or product: of what, among the results of unseen code. Empty for others.
std::vector<const values::Object*> operands_of(const values::Unknown& value);
// What a call was given, among the results of unseen code.
std::vector<const values::Object*> given_to(const values::Unknown& result);
const values::Unknown* whole_of(const values::Unknown& part);  // null if it is no part
bool is_of_model(const values::Unknown& result);
// Where tensors lie that the call was given, of which it is the result or a part of that; null if it is not
// known.
const values::Device* given_on(const values::Unknown& result);

// Of a text of which only the beginning is known: `f"cuda:{rank}"`, `"cuda:" + rank`, `"cuda:%d" % rank`.
void note_beginning(values::Heap& heap, Value text, std::string_view begins);
std::string_view beginning_of(Value text);  // of one that is known, all of it; empty if nothing is known

}  // namespace stepzero::interpreter
