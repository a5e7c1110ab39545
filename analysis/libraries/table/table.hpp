// What each PyTorch name does to abstract values, and what of Python's standard library training code leans
// on: rows of data, by family. The Table finds them by canonical path.
#pragma once

#include "interpreter/library.hpp"
#include "interpreter/reasons.hpp"
#include "interpreter/runtime.hpp"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::libraries {

using interpreter::Call;
using interpreter::Reason;
using interpreter::Runtime;
using interpreter::why;
using values::CollectiveInfo;
using values::Operation;
using values::Row;
using values::RowKind;
using values::Value;

// A row that is written by hand: neither operator_rows nor rows_of_layers makes it.
Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&),
    std::string_view base = {}, Operation operation = Operation::none);

// Rows that were read in one place. What is said here holds for all of them that do not say otherwise.
struct Family {
  std::vector<Row> (*rows)();
  std::string_view source;
  bool pure = false;
  bool one_device = false;  // see values::Row; their operators only
};
// Operations of rows that are made from other data.
struct Meaning {
  std::string_view path;
  Operation operation;
};
std::span<const Meaning> meanings();
// Fills the columns that rules read, those meanings included.
void give_roles(std::span<Row> rows);
std::vector<Row> rows_of_families(std::span<const Family> families);

// The families.
std::vector<Row> python_rows();            // what surrounds a program: environment, arguments
std::vector<Row> python_number_rows();     // math, operator
std::vector<Row> python_iteration_rows();  // functools, itertools
std::vector<Row> python_object_rows();     // collections, copy, dataclasses…
std::vector<Row> queue_rows();             // queue
std::vector<Row> expression_rows();        // re
std::vector<Row> python_tool_rows();       // inspect, contextlib, logging…
std::vector<Row> path_rows();              // files and folders
std::vector<Row> generator_rows();         // generators of random numbers
std::vector<Row> array_rows();             // arrays of NumPy, as far as models are made from them
std::vector<Row> pointwise_rows();
std::vector<Row> reshaping_rows();
std::vector<Row> transposing_rows();
std::vector<Row> expanding_rows();
std::vector<Row> arrangement_rows();
std::vector<Row> join_rows();
std::vector<Row> indexing_rows();
std::vector<Row> gathering_rows();
std::vector<Row> einops_rows();
std::vector<Row> size_rows();
std::vector<Row> creation_rows();
std::vector<Row> grid_rows();
std::vector<Row> reduction_rows();
std::vector<Row> sorting_rows();
std::vector<Row> running_rows();
std::vector<Row> statistics_rows();
std::vector<Row> product_rows();
std::vector<Row> contraction_rows();
std::vector<Row> linalg_rows();
std::vector<Row> fft_rows();
std::vector<Row> property_rows();      // of tensors: queries, conversions, in-place fillers, torch.nn.init
std::vector<Row> nn_rows();            // the layers of torch.nn and their functions
std::vector<Row> module_rows();        // nn.Module itself
std::vector<Row> container_rows();     // Sequential, ModuleList, ModuleDict
std::vector<Row> training_rows();      // backward, optimizers, GradScaler, autocast, schedulers, loaders
std::vector<Row> hydra_rows();         // the configuration that Hydra composes for a program
std::vector<Row> data_file_rows();     // paths, and files of data that the program reads: JSON, YAML
std::vector<Row> file_rows();          // checkpoints, files of samples, what learns from data elsewhere
std::vector<Row> distributed_rows();   // torch.distributed
std::vector<Row> parallel_rows();      // its wrappers of modules and optimizers
std::vector<Row> wrapped_name_rows();  // attributes that these lack
std::vector<Row> framework_rows();     // accelerate, deepspeed, lightning, torchmetrics

class Table : public interpreter::Library {
public:
  Table();
  std::string canonical(std::string_view path) const override;
  const Row* find(std::string_view path) const override;
  std::span<const Row> rows() const { return rows_; }
  bool knows(std::string_view top_level) const override;
  bool always_there(std::string_view top_level) const override;
  bool complete(std::string_view top_level) const override {
    return top_level != "torch" && always_there(top_level);
  }
  bool reads(std::string_view top_level) const override;
  const interpreter::TypeNames& types() const override;
  std::vector<syntax::Name> members(std::string_view module_path) const override;
  std::optional<interpreter::Presumption> presume(std::string_view name) const override;
  bool seeds(std::string_view function) const override;
  bool exhausts(std::string_view text) const override;
  std::string_view raises(values::ProblemKind problem, const Row* row) const override;
  std::string_view presume_method(std::string_view name) const override;
  bool only_of_tensors(std::string_view method) const override;
  Value part_of_shape(Runtime& run, Value tensor, Value index, values::Place place) const override;
  Value binary(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const override;
  Value subscript(
      Runtime& run, Value object, Value index, const syntax::Expr& node, values::Place place) const override;
  Value unary(Runtime& run, syntax::UnaryOp op, Value operand, const syntax::Expr& node,
      values::Place place) const override;
  Value compare(Runtime& run, syntax::CompareOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const override;
  Value augment(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
      values::Place place) const override;
  void store(Runtime& run, Value object, Value index, Value value, const syntax::Expr& node,
      values::Place place) const override;
  std::optional<std::vector<Value>> unpack(Runtime& run, Value value, std::span<const std::string_view> names,
      const syntax::Expr& node, values::Place place) const override;
  void unseen_call(Runtime& run, std::span<const Value> positional,
      std::span<const std::pair<syntax::Name, Value>> keywords, const syntax::CallExpr& expr,
      values::Place place) const override;
  Value wrapped(Value object) const override;
  void hand_on(Runtime& run, std::span<const Value> positional) const override;

private:
  std::vector<Row> rows_;
  std::unordered_map<std::string_view, const Row*> by_path_;
};

// The one table: immutable, made at the first call, shared by all threads.
const Table& table();

}  // namespace stepzero::libraries
