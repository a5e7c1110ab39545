// The words of the table of what is saved, as functions: what each of them means for one operation.
#pragma once

#include "footprint/saving.hpp"
#include "footprint/saving_table.hpp"
#include "libraries/table/names.hpp"

#include <initializer_list>
#include <span>

namespace stepzero::footprint {

inline bool is_half(Dtype dtype) { return dtype == Dtype::float16 || dtype == Dtype::bfloat16; }

class Keeper {
public:
  Keeper(const Graph& of, const Node& operation, Device runs_on, Saving& into)
      : graph(of), node(operation), made(*operation.made), device(runs_on), s(of.record().symbols),
        name(libraries::operator_name(*operation.made->row)), into_(into) {}

  const Graph& graph;
  const Node& node;
  const Producer& made;
  const Device device;
  symbolic::Context& s;
  const std::string_view name;  // of the operator

  const TensorState& result() const { return *node.results[0]; }
  Dtype dtype() const { return graph.dtype(result()); }
  Dtype dtype(const TensorState& state) const { return graph.dtype(state); }
  // Of products inside a layer that is made of several operators: what autocast makes of them.
  Dtype inner_dtype() const { return result().cast_by ? graph.half_of(result()) : dtype(); }
  // The tensor of that argument, or of that name in the layer; null if there is none.
  const TensorState* tensor(std::string_view parameter) const;
  const TensorState* first() const { return made.states.empty() ? nullptr : made.states[0]; }
  std::vector<const TensorState*> tensors() const;            // all that went in
  bool any_requires_grad(std::string_view parameters) const;  // of several, by '|'
  Value option(std::string_view parameter) const { return setting(graph.record(), made, parameter); }
  std::optional<double> number(std::string_view parameter) const;
  bool flag(std::string_view parameter) const;
  Int size(std::string_view parameter) const;

  // The operand, as the operator gets it: after autocast it is another one.
  void operand(std::string_view parameter);
  void keep(const TensorState& state);
  void keep_as_is(const TensorState& state);  // in front of what autocast makes of it
  void keep_result(const TensorState& state);
  // Numbers that nobody else holds.
  void extra(Int count, Dtype dtype, std::string_view what);
  // Of another operation's numbers those that are so called.
  void keep_extras(const Saving& of, std::string_view what);
  // Of a layer whose weight is computed from other tensors.
  void computing_of_weight();
  void unknown() { into_.known = false; }

private:
  static constexpr int first_extra = 1'000;  // parts of storages below are results, and casts of parameters
  Saving& into_;
  int extras_ = 0;
};

struct SpecialKind {
  std::string_view word;
  void (*keep)(Keeper&);
};
std::span<const SpecialKind> special_kinds();

// What a product of matrices keeps of an operand with more dimensions: it, or the copy that is one matrix.
void keep_as_rows(Keeper& keeper, const TensorState& input);

// The tensor's size there; null: it is not known.
Int size_at(const TensorState* state, std::size_t from_right);
Int product(symbolic::Context& s, std::initializer_list<Int> sizes);  // null: one of them is
// A layer's flag.
bool is_first(const Keeper& keeper, std::string_view name, const Instance* layer);

// Of layers and functions that are made of several operators: see composites.cpp.
void keep_attention(Keeper& keeper);
void keep_multihead(Keeper& keeper);
// … and saved_recurrent.cpp.
void keep_recurrent(Keeper& keeper);
void keep_cell(Keeper& keeper);
void keep_built(Keeper& keeper);
// Of losses and distances: see saved_losses.cpp.
void keep_another(Keeper& keeper);
void keep_logs(Keeper& keeper);
void keep_classes(Keeper& keeper);
void keep_difference(Keeper& keeper);
void keep_total(Keeper& keeper);
void keep_divergence(Keeper& keeper);
void keep_alignments(Keeper& keeper);
void keep_angle(Keeper& keeper);
void keep_variance(Keeper& keeper);
void keep_ones_of_targets(Keeper& keeper);
void keep_distances(Keeper& keeper);
// Of operators that slide over their input or gather parts of it: see saved_windows.cpp.
void keep_convolved(Keeper& keeper);
void keep_across_channels(Keeper& keeper);
void keep_bags(Keeper& keeper);
void keep_powers(Keeper& keeper);
// Of decompositions, chains of products and frames: see saved_matrices.cpp.
void keep_factors(Keeper& keeper);
void keep_sign(Keeper& keeper);
void keep_is_negative(Keeper& keeper);
void keep_eigenvectors(Keeper& keeper);
void keep_singular(Keeper& keeper);
void keep_orthogonal(Keeper& keeper);
void keep_chain(Keeper& keeper);
void keep_frames(Keeper& keeper);

}  // namespace stepzero::footprint
