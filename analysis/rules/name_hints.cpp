#include "rules/name_hints.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stepzero::rules {

namespace {

// alone: no letter beside it; numbered: with two letters or digits more at most, `loss2`; written: anywhere
// in the text of a program, in this case
enum class Stands : std::uint8_t { anywhere, whole, alone, begins, ends, numbered, written };

struct Hint {
  Says what;
  Stands how;
  std::string_view word;
};
constexpr Hint hints[] = {
    {Says::evaluation, Stands::anywhere, "eval"},
    {Says::evaluation, Stands::anywhere, "valid"},
    {Says::evaluation, Stands::anywhere, "test"},
    {Says::evaluation, Stands::anywhere, "infer"},
    {Says::evaluation, Stands::anywhere, "predict"},
    {Says::evaluation, Stands::anywhere, "accuracy"},
    {Says::evaluation, Stands::whole, "val"},
    {Says::evaluation, Stands::begins, "val_"},
    {Says::evaluation, Stands::ends, "_val"},
    {Says::renewing_statistics, Stands::anywhere, "calib"},
    {Says::renewing_statistics, Stands::anywhere, "update_bn"},
    {Says::renewing_statistics, Stands::anywhere, "bn_update"},
    {Says::renewing_statistics, Stands::anywhere, "batchnorm"},
    {Says::renewing_statistics, Stands::anywhere, "batch_norm"},
    {Says::renewing_statistics, Stands::anywhere, "mc_drop"},
    {Says::renewing_statistics, Stands::anywhere, "prenet"},  // Tacotron's drops in evaluation, too
    {Says::evaluation_data, Stands::alone, "test"},
    {Says::evaluation_data, Stands::alone, "val"},
    {Says::evaluation_data, Stands::alone, "valid"},
    {Says::evaluation_data, Stands::alone, "validation"},
    {Says::evaluation_data, Stands::alone, "dev"},
    {Says::evaluation_data, Stands::alone, "eval"},
    {Says::evaluation_data, Stands::alone, "heldout"},
    {Says::training_data, Stands::alone, "train"},
    {Says::training_data, Stands::alone, "training"},
    {Says::prediction, Stands::anywhere, "logit"},
    {Says::prediction, Stands::anywhere, "output"},
    {Says::prediction, Stands::anywhere, "pred"},
    {Says::prediction, Stands::anywhere, "y_hat"},
    {Says::prediction, Stands::anywhere, "yhat"},
    {Says::prediction, Stands::whole, "out"},
    {Says::prediction, Stands::whole, "outp"},
    {Says::prediction, Stands::whole, "outs"},
    {Says::prediction, Stands::whole, "score"},
    {Says::prediction, Stands::whole, "scores"},
    {Says::prediction, Stands::whole, "probs"},
    {Says::plainly_target, Stands::whole, "target"},
    {Says::plainly_target, Stands::whole, "targets"},
    {Says::plainly_target, Stands::whole, "label"},
    {Says::plainly_target, Stands::whole, "labels"},
    {Says::plainly_target, Stands::whole, "gold"},
    {Says::plainly_target, Stands::whole, "golds"},
    {Says::plainly_target, Stands::whole, "gt"},
    {Says::plainly_target, Stands::whole, "gts"},
    {Says::plainly_target, Stands::whole, "tgt"},
    {Says::plainly_target, Stands::whole, "y_true"},
    {Says::compared, Stands::whole, "input"},
    {Says::compared, Stands::whole, "inputs"},
    {Says::target, Stands::anywhere, "label"},
    {Says::target, Stands::anywhere, "target"},
    {Says::target, Stands::anywhere, "ground_truth"},
    {Says::target, Stands::whole, "gt"},
    {Says::target, Stands::whole, "gts"},
    {Says::target, Stands::whole, "y"},
    {Says::target, Stands::whole, "tgt"},
    {Says::target, Stands::whole, "ys"},
    {Says::target, Stands::whole, "gold"},
    {Says::target, Stands::whole, "golds"},
    {Says::target, Stands::whole, "y_true"},
    {Says::target, Stands::whole, "trues"},
    {Says::one_rank, Stands::anywhere, "rank"},
    {Says::one_rank, Stands::anywhere, "main"},
    {Says::one_rank, Stands::anywhere, "master"},
    {Says::one_rank, Stands::anywhere, "primary"},
    {Says::one_rank, Stands::anywhere, "local"},
    {Says::one_rank, Stands::anywhere, "first"},
    {Says::one_rank, Stands::anywhere, "zero"},
    {Says::one_rank, Stands::anywhere, "chief"},
    {Says::one_rank, Stands::anywhere, "leader"},
    {Says::one_rank, Stands::anywhere, "proc"},
    {Says::one_rank, Stands::anywhere, "gpu"},
    {Says::one_rank, Stands::anywhere, "device"},
    {Says::one_rank, Stands::anywhere, "node"},
    {Says::one_rank, Stands::anywhere, "host"},
    {Says::one_rank, Stands::anywhere, "worker"},
    {Says::one_rank, Stands::anywhere, "pid"},
    {Says::many_ranks, Stands::anywhere, "dist"},
    {Says::many_ranks, Stands::anywhere, "ddp"},
    {Says::many_ranks, Stands::anywhere, "parallel"},
    {Says::balance, Stands::anywhere, "loss"},
    {Says::balance, Stands::anywhere, "aux"},
    {Says::balance, Stands::anywhere, "balanc"},
    {Says::schedule, Stands::ends, "scheduler"},
    {Says::schedule, Stands::ends, "schedule"},
    {Says::schedule, Stands::whole, "sched"},
    {Says::scheduling, Stands::anywhere, "sched"},
    {Says::noise, Stands::anywhere, "noise"},
    {Says::loader, Stands::anywhere, "loader"},
    {Says::training, Stands::anywhere, "train"},
    {Says::other_data, Stands::anywhere, "val"},
    {Says::other_data, Stands::anywhere, "test"},
    {Says::other_data, Stands::anywhere, "dev"},
    {Says::epoch, Stands::anywhere, "epoch"},
    {Says::loss, Stands::anywhere, "loss"},
    {Says::criterion, Stands::anywhere, "loss"},
    {Says::criterion, Stands::begins, "criter"},
    {Says::computes_loss, Stands::whole, "model"},
    {Says::computes_loss, Stands::whole, "net"},
    {Says::computes_loss, Stands::begins, "criteri"},
    {Says::computes_loss, Stands::ends, "cross_entropy"},
    {Says::computes_loss, Stands::whole, "mean"},
    {Says::computes_loss, Stands::anywhere, "loss"},
    {Says::optimizer, Stands::anywhere, "optim"},
    {Says::optimizer, Stands::whole, "opt"},
    {Says::one_of_optimizers, Stands::begins, "opt_"},
    {Says::one_of_optimizers, Stands::ends, "_opt"},
    {Says::one_of_optimizers, Stands::begins, "opts["},
    {Says::found_in_gradients, Stands::anywhere, "finite"},
    {Says::found_in_gradients, Stands::anywhere, "nan"},
    {Says::found_in_gradients, Stands::anywhere, "inf"},
    {Says::found_in_gradients, Stands::anywhere, "norm"},
    {Says::found_in_gradients, Stands::anywhere, "valid"},
    {Says::found_in_gradients, Stands::anywhere, "skip"},
    {Says::found_in_gradients, Stands::anywhere, "found"},
    {Says::found_in_gradients, Stands::anywhere, "overflow"},
    {Says::found_in_gradients, Stands::anywhere, "ok"},
    {Says::found_in_gradients, Stands::anywhere, "bad"},
    {Says::found_in_gradients, Stands::anywhere, "good"},
    {Says::found_in_gradients, Stands::anywhere, "grad"},
    {Says::found_in_gradients, Stands::anywhere, "loss"},
    {Says::device, Stands::whole, "device"},
    {Says::device, Stands::whole, "dev"},
    {Says::device, Stands::ends, "_device"},
    {Says::holding, Stands::whole, "tuple"},
    {Says::holding, Stands::whole, "list"},
    {Says::holding, Stands::whole, "dict"},
    {Says::holding, Stands::whole, "variable"},
    {Says::passing_on, Stands::whole, "enumerate"},
    {Says::passing_on, Stands::begins, "tqdm"},
    {Says::passing_on, Stands::whole, "trange"},
    {Says::passing_on, Stands::whole, "iter"},
    {Says::passing_on, Stands::whole, "islice"},
    {Says::passing_on, Stands::whole, "log_every"},
    {Says::passing_on, Stands::anywhere, "progress"},
    {Says::wrapping, Stands::anywhere, "parallel"},
    {Says::wrapping, Stands::anywhere, "shard"},
    {Says::wrapping, Stands::anywhere, "ddp"},
    {Says::wrapping, Stands::anywhere, "fsdp"},
    {Says::wrapping, Stands::anywhere, "prepare"},
    {Says::wrapping, Stands::anywhere, "setup"},
    {Says::wrapping, Stands::anywhere, "initialize"},
    {Says::wrapping, Stands::anywhere, "wrap"},
    {Says::wrapping, Stands::anywhere, "dispatch"},
    {Says::giving_samples, Stands::whole, "__getitem__"},
    {Says::giving_samples, Stands::whole, "__iter__"},
    {Says::giving_samples, Stands::anywhere, "collate"},
    {Says::moving, Stands::whole, "to"},
    {Says::moving, Stands::whole, "prepare"},
    {Says::moving, Stands::whole, "copy_"},
    {Says::moving, Stands::whole, "pin_memory"},
    {Says::moving, Stands::anywhere, "device"},
    {Says::moving, Stands::anywhere, "cuda"},
    {Says::moving, Stands::anywhere, "move"},
    {Says::counting, Stands::whole, "range"},
    {Says::measuring, Stands::whole, "len"},
    {Says::taking_next, Stands::whole, "next"},
    {Says::making_iterator, Stands::whole, "iter"},
    {Says::iterating, Stands::whole, "iter"},
    {Says::iterating, Stands::whole, "enumerate"},
    {Says::iterating, Stands::whole, "zip"},
    {Says::iterating, Stands::whole, "map"},
    {Says::gradients_off, Stands::anywhere, "no_grad"},
    {Says::gradients_off, Stands::anywhere, "inference_mode"},
    {Says::gradients_off, Stands::anywhere, "grad_enabled"},
    {Says::taking_numbers, Stands::whole, "item"},
    {Says::taking_numbers, Stands::whole, "tolist"},
    {Says::taking_numbers, Stands::whole, "numpy"},
    {Says::taking_numbers, Stands::whole, "detach"},
    {Says::choosing_token, Stands::ends, "argmax"},
    {Says::choosing_token, Stands::ends, "multinomial"},
    {Says::bounding, Stands::whole, "min"},
    {Says::bounding, Stands::whole, "max"},
    {Says::bounding, Stands::whole, "clip"},
    {Says::bounding, Stands::whole, "clamp"},
    {Says::bounding, Stands::whole, "minimum"},
    {Says::bounding, Stands::whole, "maximum"},
    {Says::joining, Stands::ends, "cat"},
    {Says::scoring, Stands::anywhere, "log_prob"},
    {Says::log_probability, Stands::anywhere, "logp"},
    {Says::log_probability, Stands::anywhere, "log_p"},
    {Says::asking_mode, Stands::anywhere, "training"},
    {Says::asking_mode, Stands::anywhere, "dropout"},
    {Says::asking_mode, Stands::anywhere, "batch_norm"},
    {Says::asking_mode, Stands::anywhere, "instance_norm"},
    {Says::in_training, Stands::anywhere, "training"},
    {Says::setting_mode, Stands::anywhere, "eval_mode"},
    {Says::keeping_mode, Stands::anywhere, "no_grad"},
    {Says::keeping_mode, Stands::anywhere, "inference_mode"},
    {Says::keeping_mode, Stands::whole, "compile"},
    {Says::keeping_mode, Stands::whole, "staticmethod"},
    {Says::keeping_mode, Stands::anywhere, "autocast"},
    {Says::asking_gradient, Stands::begins, "requires_grad"},
    {Says::seeding, Stands::whole, "manual_seed"},
    {Says::seeding, Stands::whole, "seed"},
    {Says::seeding, Stands::whole, "random"},
    {Says::seeding, Stands::whole, "randomstate"},
    {Says::seeding, Stands::whole, "default_rng"},
    {Says::giving_seed, Stands::anywhere, "seed"},
    {Says::keeping_generator, Stands::anywhere, "rng_state"},
    {Says::keeping_generator, Stands::anywhere, "random_state"},
    {Says::keeping_generator, Stands::anywhere, "getstate"},
    {Says::keeping_generator, Stands::whole, "get_state"},
    {Says::asking_determinism, Stands::whole, "use_deterministic_algorithms"},
    {Says::asking_determinism, Stands::whole, "deterministic"},
    {Says::clipping, Stands::anywhere, "clip_grad"},
    {Says::asking_workers, Stands::anywhere, "worker_info"},
    {Says::random_or_workers, Stands::anywhere, "rand"},
    {Says::random_or_workers, Stands::anywhere, "worker"},
    {Says::gradient, Stands::whole, "grad"},
    {Says::gradient, Stands::whole, "main_grad"},
    {Says::loss_value, Stands::ends, "loss"},
    {Says::loss_value, Stands::begins, "loss_"},
    {Says::loss_value, Stands::whole, "losses"},
    {Says::loss_value, Stands::numbered, "loss"},
    {Says::only_reading, Stands::whole, "print"},
    {Says::only_reading, Stands::whole, "format"},
    {Says::only_reading, Stands::whole, "str"},
    {Says::only_reading, Stands::whole, "item"},
    {Says::only_reading, Stands::whole, "scale_loss"},
    {Says::only_reading, Stands::whole, "update"},
    {Says::only_reading, Stands::whole, "append"},
    {Says::only_reading, Stands::whole, "float"},
    {Says::only_reading, Stands::whole, "log"},
    {Says::only_reading, Stands::whole, "info"},
    {Says::only_reading, Stands::whole, "add_scalar"},
    {Says::only_reading, Stands::whole, "isnan"},
    {Says::only_reading, Stands::whole, "isfinite"},
    {Says::only_reading, Stands::whole, "sum"},
    {Says::only_reading, Stands::whole, "zip"},
    {Says::only_reading, Stands::whole, "len"},
    {Says::only_reading, Stands::whole, "max"},
    {Says::only_reading, Stands::whole, "min"},
    {Says::only_reading, Stands::whole, "abs"},
    {Says::only_reading, Stands::whole, "list"},
    {Says::only_reading, Stands::whole, "isinstance"},
    {Says::only_reading, Stands::whole, "enumerate"},
    {Says::only_reading, Stands::whole, "round"},
    {Says::only_reading, Stands::whole, "int"},
    {Says::only_reading, Stands::whole, "set_description"},
    {Says::only_reading, Stands::whole, "set_postfix"},
    {Says::only_reading, Stands::whole, "set_postfix_str"},
    {Says::only_reading, Stands::whole, "write"},
    {Says::only_reading, Stands::whole, "debug"},
    {Says::only_reading, Stands::whole, "warning"},
    {Says::only_reading, Stands::whole, "mean"},
    {Says::only_reading, Stands::whole, "add_scalars"},
    {Says::only_reading, Stands::whole, "log_metric"},
    {Says::only_reading, Stands::whole, "log_metrics"},
    {Says::only_reading, Stands::whole, "exp"},
    {Says::only_reading, Stands::whole, "logger"},
    {Says::only_reading, Stands::whole, "metric"},
    {Says::making_backward, Stands::begins, "backward"},
    {Says::making_backward, Stands::ends, "backward"},
    {Says::stepping, Stands::whole, "step"},
    {Says::clearing, Stands::whole, "zero_grad"},
    {Says::scaling_by, Stands::ends, "scale_loss"},
    {Says::scaling_by, Stands::ends, "scaler.step"},
    {Says::scaling_by, Stands::ends, "scaler.unscale_"},
    {Says::inside_optimizer, Stands::whole, "optim"},
    {Says::inside_optimizer, Stands::whole, "optimizer"},
    {Says::of_optimizer, Stands::whole, "zero_grad"},
    {Says::of_optimizer, Stands::whole, "state_dict"},
    {Says::of_optimizer, Stands::whole, "load_state_dict"},
    {Says::of_optimizer, Stands::whole, "param_groups"},
    {Says::of_optimizer, Stands::whole, "state"},
    {Says::of_optimizer, Stands::whole, "defaults"},
    {Says::leaving_optimizer, Stands::whole, "unscale_"},
    {Says::leaving_optimizer, Stands::whole, "scale_loss"},
    {Says::leaving_optimizer, Stands::whole, "prepare"},
    {Says::leaving_optimizer, Stands::whole, "initialize"},
    {Says::leaving_optimizer, Stands::whole, "print"},
    {Says::leaving_optimizer, Stands::whole, "isinstance"},
    {Says::stepping_nothing, Stands::whole, "object"},
    {Says::stepping_nothing, Stands::whole, "abc"},
    {Says::stepping_nothing, Stands::whole, "module"},
    {Says::loss_output, Stands::whole, "loss"},
    {Says::reading_number, Stands::whole, "item"},
    {Says::noting, Stands::whole, "update"},
    {Says::noting, Stands::whole, "append"},
    {Says::noting, Stands::whole, "print"},
    {Says::noting, Stands::whole, "log"},
    {Says::collecting, Stands::whole, "append"},
    {Says::putting, Stands::whole, "append"},
    {Says::putting, Stands::whole, "add"},
    {Says::putting, Stands::whole, "insert"},
    {Says::extending, Stands::whole, "extend"},
    {Says::emptying, Stands::whole, "clear"},
    {Says::taking_out, Stands::whole, "pop"},
    {Says::making_container, Stands::whole, "list"},
    {Says::making_container, Stands::whole, "dict"},
    {Says::making_container, Stands::whole, "set"},
    {Says::making_container, Stands::whole, "deque"},
    {Says::making_container, Stands::whole, "defaultdict"},
    {Says::making_container, Stands::whole, "ordereddict"},
    {Says::giving_items, Stands::whole, "values"},
    {Says::giving_items, Stands::whole, "items"},
    {Says::keeping_order, Stands::whole, "zip"},
    {Says::keeping_order, Stands::whole, "reversed"},
    {Says::keeping_order, Stands::whole, "sorted"},
    {Says::keeping_order, Stands::whole, "chain"},
    {Says::keeping_order, Stands::whole, "from_iterable"},
    {Says::opening, Stands::whole, "open"},
    {Says::asking_existence, Stands::anywhere, "exists"},
    {Says::asking_existence, Stands::anywhere, "isfile"},
    {Says::asking_existence, Stands::anywhere, "is_file"},
    {Says::giving_rows, Stands::whole, "read"},
    {Says::giving_rows, Stands::whole, "readlines"},
    {Says::giving_rows, Stands::whole, "splitlines"},
    {Says::giving_rows, Stands::whole, "reader"},
    {Says::giving_rows, Stands::whole, "dictreader"},
    {Says::starting_processes, Stands::whole, "set_start_method"},
    {Says::starting_processes, Stands::whole, "set_forkserver_preload"},
    {Says::casting, Stands::whole, "type"},
    {Says::old_type, Stands::ends, "tensor"},
    {Says::of_loader, Stands::whole, "dataset"},
    {Says::to_accelerator, Stands::whole, "cuda"},
    {Says::to_given, Stands::whole, "to"},
    {Says::to_host, Stands::whole, "cpu"},
    {Says::combining_ranks, Stands::begins, "reduce"},
    {Says::combining_ranks, Stands::begins, "all_reduce"},
    {Says::combining_ranks, Stands::begins, "allreduce"},
    {Says::combining_ranks, Stands::begins, "gather"},
    {Says::combining_ranks, Stands::begins, "all_gather"},
    {Says::checkpointing, Stands::ends, "checkpoint"},
    {Says::to_device, Stands::anywhere, "device"},
    {Says::to_device, Stands::ends, "rank"},
    {Says::head_size, Stands::whole, "d_kv"},
    {Says::head_size, Stands::whole, "kv_channels"},
    {Says::head_size, Stands::anywhere, "head_dim"},
    {Says::head_size, Stands::anywhere, "head_size"},
    {Says::head_size, Stands::anywhere, "d_head"},
    {Says::head_size, Stands::anywhere, "dim_head"},
    {Says::processes, Stands::anywhere, "world size"},
    {Says::processes, Stands::anywhere, "world_size"},
    {Says::processes, Stands::anywhere, "number of processes"},
    {Says::processes, Stands::anywhere, "number of gpus"},
    {Says::layout, Stands::anywhere, "world_size"},
    {Says::layout, Stands::anywhere, "tp_size"},
    {Says::layout, Stands::anywhere, "pp_size"},
    {Says::layout, Stands::anywhere, "dp_size"},
    {Says::layout, Stands::anywhere, "tensor_parallel"},
    {Says::layout, Stands::anywhere, "pipeline_parallel"},
    {Says::layout, Stands::anywhere, "data_parallel"},
    {Says::layout, Stands::anywhere, "n_ranks"},
    {Says::layout, Stands::anywhere, "num_ranks"},
    {Says::experts, Stands::anywhere, "expert"},
    {Says::counting_on_node, Stands::written, "local_rank"},
    {Says::counting_on_node, Stands::written, "LOCAL_RANK"},
    {Says::counting_on_node, Stands::written, "LOCALID"},
    {Says::counting_on_node, Stands::written, "device_count"},
    {Says::counting_on_node, Stands::written, "spawn"},
    {Says::counting_on_node, Stands::written, "CUDA_VISIBLE_DEVICES"},
    {Says::parting_ranks, Stands::written, "tensor_parallel"},
    {Says::parting_ranks, Stands::written, "model_parallel"},
    {Says::parting_ranks, Stands::written, "pipeline_parallel"},
    {Says::parting_ranks, Stands::written, "sequence_parallel"},
    {Says::parting_ranks, Stands::written, "context_parallel"},
    {Says::parting_ranks, Stands::written, "init_device_mesh"},
    {Says::parting_ranks, Stands::written, "new_group"},
    {Says::parting_ranks, Stands::written, "new_subgroups"},
    {Says::accumulating, Stands::written, ".accumulate("},
    {Says::loading_to_device, Stands::written, "prefetch"},
    {Says::loading_to_device, Stands::written, "ffcv"},
    {Says::loading_to_device, Stands::written, "dali"},
    {Says::loading_to_device, Stands::written, "BucketIterator"},
    {Says::filling_environment, Stands::written, "environ.update"},
    {Says::filling_environment, Stands::written, "dotenv"},
    {Says::filling_environment, Stands::written, "environ |="},
    {Says::filling_environment, Stands::written, "MASTER_\" +"},
    {Says::filling_environment, Stands::written, "f\"MASTER_"},
    {Says::leaving_out_targets, Stands::written, "-100"},
    {Says::leaving_out_targets, Stands::written, "ignore_index"},
    {Says::leaving_out_targets, Stands::written, "DataCollatorFor"},
    {Says::resizing_embeddings, Stands::written, "resize_token_embeddings"},
    {Says::resizing_embeddings, Stands::written, "resize_embeddings"},
    {Says::resizing_embeddings, Stands::written, "vocab_size=len("},
    {Says::resizing_embeddings, Stands::written, "vocab_size = len("},
    {Says::looking_for_nan, Stands::written, "nan_to_num"},
    {Says::looking_for_nan, Stands::written, "isnan"},
    {Says::master_address, Stands::written, "MASTER_ADDR"},
    {Says::master_port, Stands::written, "MASTER_PORT"},
};

bool stands_alone(std::string_view text, std::string_view word) {
  const auto letter = [&](std::size_t i) {
    return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]));
  };
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

bool fits(const Hint& hint, std::string_view name) {
  switch (hint.how) {
  case Stands::anywhere: return name.find(hint.word) != std::string_view::npos;
  case Stands::whole: return name == hint.word;
  case Stands::alone: return stands_alone(name, hint.word);
  case Stands::begins: return name.starts_with(hint.word);
  case Stands::ends: return name.ends_with(hint.word);
  case Stands::written: return false;
  case Stands::numbered: return name.starts_with(hint.word) && name.size() <= hint.word.size() + 2;
  }
  return false;
}

// The hints of each meaning.
std::span<const Hint* const> hints_of(Says what) {
  static const auto all = [] {
    std::map<Says, std::vector<const Hint*>> found;
    for (const Hint& hint : hints) found[hint.what].push_back(&hint);
    return found;
  }();
  const auto found = all.find(what);
  return found == all.end() ? std::span<const Hint* const>() : found->second;
}

}  // namespace

bool says(std::string_view name, Says what) {
  std::string lower(name);
  std::ranges::transform(
      lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::ranges::any_of(hints_of(what), [&](const Hint* hint) { return fits(*hint, lower); });
}

bool text_says(std::string_view text, Says what) {
  return std::ranges::any_of(hints, [&](const Hint& hint) {
    return hint.what == what && hint.how == Stands::written && text.find(hint.word) != std::string_view::npos;
  });
}

namespace {

template <class Syntax> bool any_name(const Syntax& in, Says what) {
  bool found = false;
  syntax::for_each_expression(in, [&](const syntax::Expr& expr) {
    if (found) return;
    const std::string_view name = syntax::last_name(expr);
    found = !name.empty() && says(name, what);
    if (expr.kind == syntax::ExprKind::call)
      for (const syntax::Keyword& keyword : syntax::as<syntax::CallExpr>(expr).keywords)
        found = found || says(keyword.name.text(), what);
  });
  return found;
}
template <class Syntax> bool any_call(const Syntax& in, Says what) {
  bool found = false;
  syntax::for_each_expression(in, [&](const syntax::Expr& expr) {
    if (found || expr.kind != syntax::ExprKind::call) return;
    found = says(syntax::last_name(*syntax::as<syntax::CallExpr>(expr).function), what);
  });
  return found;
}

}  // namespace

bool names(const syntax::Expr& expr, Says what) { return any_name(expr, what); }
bool names(const syntax::Stmt& stmt, Says what) { return any_name(stmt, what); }
bool is_attribute(const syntax::Expr& expr, Says what) {
  return expr.kind == syntax::ExprKind::attribute && says(syntax::last_name(expr), what);
}
bool calls(const syntax::Expr& expr, Says what) { return any_call(expr, what); }
bool calls(const syntax::Stmt& stmt, Says what) { return any_call(stmt, what); }

const syntax::Expr* iterated_in(const syntax::Expr* iterable) {
  while (iterable->kind == syntax::ExprKind::call) {
    const auto& call = syntax::as<syntax::CallExpr>(*iterable);
    if (call.arguments.empty() || !says(syntax::last_name(*call.function), Says::passing_on)) break;
    iterable = call.arguments[0];
  }
  return iterable;
}

}  // namespace stepzero::rules
