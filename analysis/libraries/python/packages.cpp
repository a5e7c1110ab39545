// What is known beforehand of packages whose own files are read: decorators that look at the text of what
// they decorate, or check what nobody here asks, and are seen through instead of run.
#include "libraries/frameworks/kernels.hpp"
#include "libraries/python/auto_models.hpp"
#include "libraries/python/fixed.hpp"
#include "libraries/table/native.hpp"
#include "values/internal_rows.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace stepzero::libraries {
namespace {

// `@decorator` or `@decorator(options)`: what it decorates stays what it is.
Value seen_through(Call& call) {
  const Value given = call.at(0) ? call.run.resolve(call.at(0)) : Value{};
  return given.is(values::Kind::class_) || given.is(values::Kind::function)
      ? call.at(0)
      : call.run.library_symbol(values::InternalRow::same);
}

// `@decorator(options)`, where the options may be a function.
Value identity_maker(Call& call) { return call.run.library_symbol(values::InternalRow::same); }

// What `@as_validated_field` makes of a check is called like `dataclasses.field`.
Value field_maker(Call& call) { return call.run.library_symbol("dataclasses.field"); }

Value unseen(Call& call) { return call.run.heap().unseen("", call.place); }
// Kernels of the hub are named owner/name.
Value names_kernel(Call& call) {
  const Value name = call.run.resolve(call.at(0));
  if (name.is(values::Kind::none) ||
      (name.is(values::Kind::string) && name.text().find('/') == std::string_view::npos))
    return call.run.heap().boolean(false);
  return unseen(call);
}
// Which layers' outputs a model of that class can give besides: kept by the text of the class.
Value can_record(Call& call) {
  const Value model = call.run.resolve(call.at(0));
  const values::Class* cls = model.is(values::Kind::instance) ? model.as<values::Instance>()->cls : nullptr;
  if (!cls) return unseen(call);
  const Value found = call.run.resolve(call.run.attribute(model, Name("_can_record_outputs"), call.place));
  return found.is(values::Kind::none) ? call.run.heap().dict({}) : found;
}
// Is it there, that is, not None?
std::optional<bool> is_there(Call& call, Value value) {
  value = value ? call.run.resolve(value) : value;
  if (!value || value.is(values::Kind::unknown)) return std::nullopt;
  if (!value.is(values::Kind::choice)) return !value.is(values::Kind::none);
  const auto* choice = value.as<values::Choice>();
  const std::optional<bool> yes = is_there(call, choice->yes);
  return yes == is_there(call, choice->no) ? yes : std::nullopt;
}
// What is not None, in the order of the fields: as far as that is known.
Value output_tuple(Call& call) {
  if (!call.self.is(values::Kind::instance)) return unseen(call);
  std::vector<Value> items;
  for (const auto& [name, held] : call.run.field_values(*call.self.as<values::Instance>())) {
    const std::optional<bool> there = is_there(call, held);
    if (!there) {
      const Value made = call.run.heap().list(std::move(items), values::ListKind::tuple);
      values::ListState state = *values::Heap::list_state(made);
      state.open = true;
      state.rest = call.run.heap().unseen("", call.place);
      call.run.heap().set_list(made, std::move(state));
      return made;
    }
    if (*there) items.push_back(held);
  }
  return call.run.heap().tuple(std::move(items));
}
// What runs the experts where nothing else is asked for, since PyTorch 2.9. A model without experts of that
// kind does not look.
Value experts_by(Call& call) {
  const Value asked = call.run.resolve(call.at(0));
  if (asked.is(values::Kind::none)) return call.run.heap().string("grouped_mm");
  return asked.is(values::Kind::string) ? asked : unseen(call);
}
// The part of a module at `path`, "layers.0.mlp"; absent if it is not known.
Value part_at(Call& call, Value module, std::string_view path) {
  while (!path.empty() && module) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view name = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    if (!module.is(values::Kind::instance) ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
            std::string_view::npos)
      return {};
    if (call.run.has_attribute(module, Name(name)) != symbolic::Answer::yes) return {};
    module = call.run.resolve(call.run.attribute(module, Name(name), call.place));
  }
  return module;
}
// What ends a model's `__init__`: initial weights, plans for parallel runs, and weights that are one with
// others, by the names that the class gives them, where the configuration wants it so. (`_tied_weights_keys`,
// `config.tie_word_embeddings`: transformers 5.23, modeling_utils.py.)
Value tie_weights(Call& call) {
  const Value model = call.run.resolve(call.self ? call.self : call.at(0));
  if (!model.is(values::Kind::instance)) return Value::none();
  const Value keys = part_at(call, model, "_tied_weights_keys"),
              wanted = part_at(call, model, "config.tie_word_embeddings");
  if (!keys.is(values::Kind::dict) || !wanted ||
      call.run.symbols().decide(call.run.truth(wanted)) != symbolic::Answer::yes)
    return Value::none();
  for (const auto& [target, source] : std::vector(values::Heap::dict_state(keys)->items)) {
    const Value to = call.run.resolve(target), from = source ? call.run.resolve(source) : source;
    if (!to.is(values::Kind::string) || !from.is(values::Kind::string) ||
        to.text().find('.') == std::string_view::npos)
      continue;
    const std::size_t dot = to.text().rfind('.');
    const Value module = part_at(call, model, to.text().substr(0, dot)),
                weight = part_at(call, model, from.text());
    if (module.is(values::Kind::instance) && weight.is(values::Kind::tensor))
      call.run.set_attribute(module, Name(to.text().substr(dot + 1)), weight, call.place);
  }
  return Value::none();
}
// Is GenerationMixin among the classes that it derives from? (The package looks for the name in the text of
// them.)
Value can_generate(Call& call) {
  const Value asked = call.run.resolve(call.self ? call.self : call.at(0));
  const values::Class* cls = asked.is(values::Kind::class_) ? asked.as<values::Class>()
      : asked.is(values::Kind::instance)                    ? asked.as<values::Instance>()->cls
                                                            : nullptr;
  if (!cls) return unseen(call);
  for (const values::Class* each : cls->order)
    if (each->name.text() == "GenerationMixin") return call.run.heap().boolean(true);
  return cls->open ? unseen(call) : call.run.heap().boolean(false);
}
// Settings of which nothing else is known: no module, and no tensor.
Value settings(Call& call) {
  return Value::of(values::Kind::instance, call.run.make_native("transformers.$settings", call.place));
}
// Whether the machine has such a device: open, unless who asks for the run says so.
Value device_there(Call& call) {
  return Value::of(call.run.named_condition(call.without_arguments(), symbolic::Sharing::uniform));
}
Value no(Call& call) { return call.run.heap().boolean(false); }
Value yes(Call& call) { return call.run.heap().boolean(true); }
// Is a package installed, and in which version? The same answer each time.
Value package_found(Call& call) {
  const Value name = call.run.resolve(call.at(0)),
              version = call.at(1) ? call.run.resolve(call.at(1)) : Value{};
  if (!name.is(values::Kind::string)) return unseen(call);
  const bool asks_version = version &&
      call.run.symbols().decide(call.run.truth(version)) == symbolic::Answer::yes;
  const Value there = name.text() == "torch"
      ? call.run.heap().boolean(true)
      : Value::of(
            call.run.named_condition(values::code(name.text()) + " is installed", values::Sharing::uniform));
  return call.run.heap().tuple({there, asks_version ? unseen(call) : Value::none()});
}

}  // namespace

std::vector<values::Row> package_rows() {
  constexpr auto function = values::RowKind::function;
  std::vector<values::Row> rows = {
      row("huggingface_hub.dataclasses.as_validated_field", function, "validator", field_maker),
      row("huggingface_hub.dataclasses.strict", function, "cls=None, **options", seen_through),
      row("torchvision.utils._log_api_usage_once", function, "obj", nothing),
      // Where the names of the package lie is read in what it writes for type checkers.
      row("transformers.utils.import_utils.define_import_structure", function, "module_path, prefix=None",
          unseen),
      row("transformers.utils.import_utils._LazyModule.__init__", function, "*arguments, **options", nothing),
      row("transformers.utils.import_utils._is_package_available", function, "pkg_name, return_version=False",
          package_found),
      row("transformers.utils.import_utils.is_torch_available", function, "", yes),
      row("transformers.utils.import_utils.is_torch_xpu_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_mps_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_npu_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_mlu_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_musa_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_xla_available", function, "*arguments, **options",
          device_there),
      row("transformers.utils.import_utils.is_torch_hpu_available", function, "*arguments, **options",
          device_there),
      // Of a graph, which nobody does while a program runs by itself.
      row("transformers.utils.import_utils.is_tracing", function, "tensor=None", no),
      row("transformers.integrations.hub_kernels.is_kernel", function, "attn_implementation", names_kernel),
      row("transformers.generation.configuration_utils.GenerationConfig.from_model_config", function,
          "*arguments, **options", settings),
      row("transformers.$settings", values::RowKind::class_, "*arguments, **options", nullptr),
      row("transformers.utils.output_capturing._CanRecordRegistry.get", function, "model", can_record),
      // It holds what is collected, and changes nothing of it.
      row("transformers.utils.output_capturing.CompileableContextVar.set", values::RowKind::method, "value",
          nothing),
      row("transformers.utils.output_capturing.CompileableContextVar.reset", values::RowKind::method, "token",
          nothing),
      row("transformers.utils.generic.ModelOutput.to_tuple", values::RowKind::method, "", output_tuple),
      row("transformers.modeling_utils.PreTrainedModel.__init_subclass__", function, "*arguments, **options",
          nothing),
      row("transformers.modeling_utils.PreTrainedModel.can_generate", values::RowKind::method, "*arguments",
          can_generate),
      // What a checkpoint holds is not known.
      row("transformers.modeling_utils.PreTrainedModel.from_pretrained", values::RowKind::class_method,
          "*arguments, **options", pretrained),
      row("transformers.configuration_utils.PreTrainedConfig.from_pretrained", function,
          "*arguments, **options", unseen),
      row("transformers.modeling_utils.PreTrainedModel._check_and_adjust_experts_implementation", function,
          "experts_implementation", experts_by),
      row("transformers.modeling_utils.PreTrainedModel.post_init", values::RowKind::method,
          "*arguments, **options", tie_weights),
      // Kernels that compute the same.
      row("transformers.modeling_utils.PreTrainedModel.set_use_kernels", function, "*arguments, **options",
          nothing),
      row("transformers.integrations.hub_kernels.load_and_register_attn_kernel", function,
          "attn_implementation, *arguments, **options", unseen),
      row("transformers.integrations.hub_kernels.use_kernel_forward_from_hub", function, "layer_name",
          identity_maker),
      row("transformers.integrations.hub_kernels.use_kernel_func_from_hub", function, "layer_name",
          identity_maker),
      row("transformers.integrations.hub_kernels.use_kernel_func_from_hub_with_fallback", function,
          "func_name, package, internal_path=None", identity_maker),
      row("transformers.integrations.hub_kernels.use_kernelized_func", function, "module_names",
          identity_maker),
      row("transformers.utils.auto_docstring.auto_docstring", function, "obj=None, **options", seen_through),
  };
  std::ranges::move(auto_model_rows(), std::back_inserter(rows));
  return rows;
}

}  // namespace stepzero::libraries
