// Where programs write down how a training goes: TensorBoard, Weights & Biases. What they are given they
// read, and leave as it is.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

namespace {

template <const char* path> Value of_class(Call& call) {
  return Value::of(Kind::instance, call.run.make_native(path, call.place));
}
constexpr char run_class[] = "wandb.Run";

}  // namespace

std::vector<Row> log_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.utils.tensorboard.SummaryWriter", class_, "*arguments, **options", nullptr),
      row("wandb.init", function, "*arguments, **options", of_class<run_class>),
      row("wandb.log", function, "data, *more, **options", nothing),
      row("wandb.watch", function, "models, *more, **options", nothing),
      row("wandb.Histogram", function, "*arguments, **options", unknown_of),
      row("wandb.Run", class_, "", nullptr),
      row("wandb.Run.log", method, "data, *more, **options", nothing),
      row("wandb.Run.watch", method, "models, *more, **options", nothing),
  };
  for (const std::string_view method_path : {"torch.utils.tensorboard.SummaryWriter.add_scalar",
           "torch.utils.tensorboard.SummaryWriter.add_scalars",
           "torch.utils.tensorboard.SummaryWriter.add_histogram",
           "torch.utils.tensorboard.SummaryWriter.add_image",
           "torch.utils.tensorboard.SummaryWriter.add_images",
           "torch.utils.tensorboard.SummaryWriter.add_figure",
           "torch.utils.tensorboard.SummaryWriter.add_text",
           "torch.utils.tensorboard.SummaryWriter.add_embedding",
           "torch.utils.tensorboard.SummaryWriter.add_hparams",
           "torch.utils.tensorboard.SummaryWriter.add_graph", "torch.utils.tensorboard.SummaryWriter.flush",
           "torch.utils.tensorboard.SummaryWriter.close"})
    rows.push_back(row(method_path, method, "*arguments, **options", nothing));
  return rows;
}

}  // namespace stepzero::libraries
