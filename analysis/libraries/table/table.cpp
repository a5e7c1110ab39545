// Finding rows: families, and signatures that are read once. Old homes are in homes.cpp, what names alone say
// in presumed_names.cpp.
#include "libraries/table/table.hpp"

#include "libraries/frameworks/kernels.hpp"
#include "libraries/table/names.hpp"
#include "libraries/torch/ops/distributions.hpp"
#include "libraries/torch/ops/products.hpp"
#include "libraries/torch/optim/autograd.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace stepzero::libraries {

namespace {

// Libraries whose names are never looked for among the files of the program. The first ones are Python's own.
constexpr auto libraries = std::to_array<std::string_view>({
    "os",
    "sys",
    "math",
    "time",
    "random",
    "functools",
    "contextlib",
    "dataclasses",
    "typing",
    "abc",
    "collections",
    "itertools",
    "argparse",
    "logging",
    "enum",
    "copy",
    "json",
    "re",
    "pathlib",
    "datetime",
    "subprocess",
    "signal",
    "socket",
    "threading",
    "warnings",
    "builtins",
    "unittest",
    "shutil",
    "gc",
    "operator",
    "types",
    "inspect",
    "importlib",
    "pickle",
    "io",
    "string",
    "glob",
    "tempfile",
    "traceback",
    "uuid",
    "hashlib",
    "platform",
    "numbers",
    "statistics",
    "bisect",
    "heapq",
    "csv",
    "struct",
    "zipfile",
    "tarfile",
    "urllib",
    "multiprocessing",
    "concurrent",
    "asyncio",
    "queue",
    "weakref",
    "textwrap",
    "pprint",
    "decimal",
    "fractions",
    "configparser",
    "getpass",
    "ast",
    "__future__",
    "torch",
    // These may be missing.
    "numpy",
    "pytest",
    "accelerate",
    "apex",
    "deepspeed",
    "pytorch_lightning",
    "lightning",
    "lightning_fabric",
    "lightning_utilities",
    "torchmetrics",
    "tqdm",
    "einops",
    "grouped_gemm",
    "bitsandbytes",
    "torchao",
    "lion_pytorch",
    "prodigyopt",
    "schedulefree",
    "torch_ema",
    "ema_pytorch",
    "pytorch_warmup",
    "warmup_scheduler",
    "torchinfo",
    "torchsummary",
    "thop",
    "typing_extensions",
    "scipy",
    "PIL",
    "cv2",
    "sklearn",
    "tokenizers",
    "sentencepiece",
    "yaml",
    "tomllib",
    "tomli",
    "toml",
    "omegaconf",
    "hydra",
    "functorch",
    "wandb",
    "tensorboardX",
    "packaging",
});
constexpr std::size_t always_there_count = 65;

values::Constant constant(std::string_view text) {
  values::Constant made;
  if (text == "None")
    made.kind = values::Kind::none;
  else if (text == "True" || text == "False") {
    made.kind = values::Kind::boolean;
    made.integer = text == "True";
  } else if (text.size() >= 2 && text.front() == '\'') {
    made.kind = values::Kind::string;
    made.text = text.substr(1, text.size() - 2);
  } else if (text.find('.') != std::string_view::npos || text.find('e') != std::string_view::npos) {
    made.kind = values::Kind::real;
    made.real = std::strtod(std::string(text).c_str(), nullptr);
  } else if (std::from_chars(text.data(), text.data() + text.size(), made.integer).ec == std::errc{}) {
    made.kind = values::Kind::integer;
  }
  return made;
}

void read_signature(Row& row) {
  std::string_view rest = row.signature;
  bool by_place = true;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    if (part.starts_with("**"))
      row.takes_options = true;
    else if (part.starts_with("*")) {
      row.takes_rest = part.size() > 1;
      by_place = false;
    } else if (!part.empty()) {
      const auto equals = part.find('=');
      row.parameters.emplace_back(part.substr(0, equals));
      row.positional += by_place;
      row.defaults.push_back(
          equals == std::string_view::npos ? values::Constant{} : constant(part.substr(equals + 1)));
    }
  }
}

}  // namespace

Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&),
    std::string_view base, Operation operation) {
  Row made;
  made.path = path;
  made.kind = kind;
  made.signature = signature;
  made.run = run;
  made.base = base;
  made.operation = operation;
  return made;
}

std::vector<Row> rows_of_families(std::span<const Family> families) {
  std::vector<Row> rows;
  for (const Family& family : families)
    for (Row& made : family.rows()) {
      if (made.source.empty()) made.source = family.source;
      made.pure = made.pure || family.pure;
      made.one_device = made.one_device || (family.one_device && made.op);
      rows.push_back(std::move(made));
    }
  return rows;
}

Table::Table() {
  constexpr std::string_view torch = "PyTorch documentation of torch and torch.Tensor",
                             python = "Python's library reference";
  constexpr Family families[] = {
      {nn_rows, {}},  // each of its families has its own
      {pointwise_rows, torch, false, true},
      {creation_rows, torch},
      {grid_rows, torch},
      {reduction_rows, torch},
      {masked_rows, "PyTorch documentation of torch.masked"},
      {sampling_rows, torch, false, true},
      {sparse_rows, "PyTorch documentation of torch.sparse", false, true},
      {transform_rows, "PyTorch documentation of torch.func and torch.nn.utils"},
      {sorting_rows, torch},
      {running_rows, torch},
      {statistics_rows, torch},
      {product_rows, torch, false, true},
      {contraction_rows, torch, false, true},
      {reshaping_rows, torch},
      {transposing_rows, torch},
      {expanding_rows, torch},
      {arrangement_rows, torch},
      {join_rows, torch, false, true},
      {indexing_rows, torch},
      {gathering_rows, torch},
      {size_rows, torch},
      {linalg_rows, "PyTorch documentation of torch.linalg"},
      {fft_rows, "PyTorch documentation of torch.fft and torch.signal"},
      {property_rows, "PyTorch documentation of torch, torch.Tensor and torch.nn.init"},
      {einops_rows, "einops documentation"},
      {grouped_gemm_rows, "source of grouped_gemm"},
      {kernel_rows, "sources of flash_attn and xformers"},
      {configuration_rows, "documentation of transformers"},
      {mapping_rows, python, true},
      {limit_rows, torch},
      {package_rows, "sources of transformers and huggingface_hub"},
      {version_rows, "PEP 440"},
      {python_rows, "Python and torchrun documentation"},
      // What fails says so itself, or answers with an unknown.
      {python_number_rows, python, true},
      {python_iteration_rows, python, true},
      {python_object_rows, python, true},
      {queue_rows, python, true},
      {python_tool_rows, python, true},
      {expression_rows, python, true},
      {generator_rows, python, true},
      {path_rows, python, true},
      {array_rows, "NumPy reference"},
      {module_rows, "PyTorch documentation of torch.nn.Module"},
      {distribution_rows, "PyTorch documentation of torch.distributions"},
      {autograd_rows, "PyTorch documentation of torch.autograd and torch.utils.checkpoint"},
      {container_rows, "PyTorch documentation of torch.nn.Sequential, ModuleList and ModuleDict"},
      {training_rows, "PyTorch documentation of torch.optim, torch.amp and torch.utils.data"},
      {data_file_rows, "documentation of Python, PyYAML and OmegaConf"},
      {hydra_rows, "Hydra 1.3"},
      {file_rows, "documentation of PyTorch, Python, scikit-learn and tokenizers"},
      {distributed_rows, "PyTorch documentation of torch.distributed"},
      {parallel_rows,
          "PyTorch documentation of torch.nn.parallel, torch.distributed.fsdp, .optim and .checkpoint"},
      {wrapped_name_rows, "the attributes of torch.nn.parallel's wrappers in PyTorch 2.13"},
      {framework_rows,
          "sources of accelerate, composer, DeepSpeed, ema_pytorch, Lightning, mmengine, nanotron, pytorch_warmup, thop, torch_ema, torchinfo, torchmetrics, torchsummary, transformers, warmup_scheduler"},
  };
  rows_ = rows_of_families(families);
  for (Row& made : rows_) {
    read_signature(made);
    by_path_.emplace(made.path, &made);  // no path comes twice
  }
  for (Row& made : rows_)
    if (!made.base.empty()) made.base_row = find(made.base);
  give_roles(rows_);
  share_roles(rows_);
}

const interpreter::TypeNames& Table::types() const {
  static constexpr std::string_view of_tensors_alone[] = {"shape", "dtype", "device", "size", "to", "dim"};
  static constexpr interpreter::TypeNames names{"torch.", "torch.nn.", "torch.nn.Module", "forward",
      "torch.Tensor", "torch.nn.Parameter", "torch.Size", "torch.dtype", "torch.device", "torch.context",
      "torch.distributed.", "numpy.", "ndim", "training", "cuda", "torch.no_grad()", of_tensors_alone};
  return names;
}

const Row* Table::find(std::string_view path) const {
  const auto it = by_path_.find(path);
  return it == by_path_.end() ? nullptr : it->second;
}

bool Table::knows(std::string_view top_level) const {
  for (const std::string_view name : libraries)
    if (name == top_level) return true;
  return false;
}

// Libraries of models: ordinary PyTorch code, and small enough to run what a program uses of them.
bool Table::reads(std::string_view top_level) const {
  constexpr std::string_view read[] = {"torchvision", "timm", "torchaudio", "vit_pytorch", "x_transformers",
      "efficientnet_pytorch", "segmentation_models_pytorch", "fvcore", "rotary_embedding_torch",
      "transformers", "torchtune", "peft"};
  return std::find(std::begin(read), std::end(read), top_level) != std::end(read);
}

bool Table::always_there(std::string_view top_level) const {
  for (std::size_t i = 0; i < always_there_count; ++i)
    if (libraries[i] == top_level) return true;
  return false;
}

std::vector<syntax::Name> Table::members(std::string_view module_path) const {
  std::vector<syntax::Name> names;
  const std::string prefix = canonical(module_path) + ".";
  for (const Row& row : rows_)
    if (row.path.starts_with(prefix) && row.path.find('.', prefix.size()) == std::string_view::npos)
      names.emplace_back(row.path.substr(prefix.size()));
  return names;
}

std::string_view Table::raises(values::ProblemKind problem, const Row* row) const {
  using enum values::ProblemKind;
  switch (problem) {
  case inner_dimensions:
  case layer_features:
  case ndim:
  case batch_dimensions:
  case product:
  case broadcast:
  case reshape:
  case concat:
  case device:
  case leaf_written:
  case array_of_history:
  case not_scalar:
  case overwritten:
    // Arrays of NumPy raise another.
    return row && row->path.starts_with("torch.") ? "RuntimeError" : "";
  case layer_input: {
    // Others refuse what has the wrong number of dimensions with a ValueError.
    constexpr std::string_view equivalent[] = {"torch.nn.Conv", "torch.nn.LayerNorm", "torch.nn.Linear"};
    const auto is_of = [&](std::string_view each) { return row && row->path.starts_with(each); };
    return std::ranges::any_of(equivalent, is_of) ? "RuntimeError" : "";
  }
  case assertion: return "AssertionError";
  case own_call: return "TypeError";
  default: return "";
  }
}

bool Table::exhausts(std::string_view text) const {
  return text.find("out of memory") != std::string_view::npos;
}

const Table& table() {
  static const Table one;
  return one;
}

}  // namespace stepzero::libraries
