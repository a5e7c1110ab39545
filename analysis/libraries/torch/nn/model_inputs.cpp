// What models that are not seen are called with: names that programs give to inputs, and which of their
// dimensions are the same.
#include "libraries/table/op.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// Inputs of one stream have one sequence; the batch is the same for all of them.
enum class Stream : std::uint8_t { main, encoder, decoder, none };

struct Input {
  std::string_view name;
  Stream stream;         // none: no sequence that has to meet the others'
  std::size_t ranks[2];  // with which its first two dimensions are batch and sequence
};
constexpr Input inputs[] = {
    {"input_ids", Stream::main, {2, 2}},
    {"token_ids", Stream::main, {2, 2}},
    {"attention_mask", Stream::main, {2, 2}},
    {"attn_mask", Stream::none, {2, 2}},
    {"padding_mask", Stream::main, {2, 2}},
    {"hidden_states", Stream::main, {3, 3}},
    {"inputs_embeds", Stream::main, {3, 3}},
    {"token_type_ids", Stream::main, {2, 2}},
    {"segment_ids", Stream::main, {2, 2}},
    {"position_ids", Stream::main, {2, 2}},
    {"labels", Stream::none, {1, 2}},
    {"pixel_values", Stream::none, {4, 5}},
    {"input_features", Stream::none, {3, 3}},
    {"encoder_hidden_states", Stream::encoder, {3, 3}},
    {"encoder_attention_mask", Stream::encoder, {2, 2}},
    {"decoder_input_ids", Stream::decoder, {2, 2}},
    {"decoder_attention_mask", Stream::decoder, {2, 2}},
    {"decoder_inputs_embeds", Stream::decoder, {3, 3}},
};

// What a model, or a part of one, is called.
constexpr std::string_view model_words[] = {"model", "net", "module", "encoder", "decoder", "transformer",
    "bert", "gpt", "llama", "lm", "backbone", "layer", "block", "attention", "attn"};

// The last name of an expression: `batch["labels"]` has labels, `self.model.module` has module.
std::string_view last_name(const syntax::Expr& expr) {
  using enum syntax::ExprKind;
  switch (expr.kind) {
  case name: return syntax::as<syntax::NameExpr>(expr).id.text();
  case attribute: return syntax::as<syntax::AttributeExpr>(expr).attribute.text();
  case subscript: {
    const syntax::Expr& key = *syntax::as<syntax::SubscriptExpr>(expr).index;
    return key.kind == string ? syntax::as<syntax::StringExpr>(key).value
                              : last_name(*syntax::as<syntax::SubscriptExpr>(expr).object);
  }
  default: return {};
  }
}

bool is_model(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : static_cast<char>(c);
  });
  // `model`, `base_model`, `bert_model`, `net2`: whole words.
  for (std::size_t begin = 0; begin < lower.size();) {
    const auto end = std::min(lower.find('_', begin), lower.size());
    std::string_view word = std::string_view(lower).substr(begin, end - begin);
    while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.remove_suffix(1);
    if (std::find(std::begin(model_words), std::end(model_words), word) != std::end(model_words)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

void Table::unseen_call(Runtime& run, std::span<const Value> positional,
    std::span<const std::pair<Name, Value>> keywords, const syntax::CallExpr& expr,
    values::Place place) const {
  if (positional.size() + keywords.size() < 2 || positional.size() > expr.arguments.size() ||
      !is_model(last_name(*expr.function)))
    return;
  struct Found {
    const Input* input;
    std::string_view name;
    const TensorState* state;
  };
  std::vector<Found> found;
  bool cached = false;  // the mask then covers what came before, too
  const auto look = [&](std::string_view name, Value value) {
    cached = cached || name.find("past") != std::string_view::npos ||
        name.find("cache") != std::string_view::npos;
    const auto* input = std::find_if(
        std::begin(inputs), std::end(inputs), [&](const Input& known) { return known.name == name; });
    const TensorState* state = input == std::end(inputs) ? nullptr : tensor_state(run, value);
    if (!state || !state->shape.ndim_known) return;
    const std::size_t rank = state->shape.dims.size();
    if (rank == input->ranks[0] || rank == input->ranks[1]) found.push_back({input, name, state});
  };
  for (std::size_t i = 0; i < positional.size(); ++i) look(last_name(*expr.arguments[i]), positional[i]);
  for (const auto& [name, value] : keywords) look(name.text(), value);

  const Row* row = find("torch.nn.Module.__call__");
  Call call{run, *row, {}, {}, {}, {}, {}, false, &expr, &expr, place};
  Op op(call);
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t j = i + 1; j < found.size(); ++j) {
      const auto compare = [&](std::size_t at, std::string_view what) {
        const Dim &a = found[i].state->shape.dims[at], &b = found[j].state->shape.dims[at];
        if (op.failed() || op.equal(a, b) != Answer::no || op.equal(a, 1) != Answer::no ||
            op.equal(b, 1) != Answer::no)
          return;
        (void)op.fail(ProblemKind::batch_mismatch,
            why<Reason::batches_apart>(code(found[i].name), found[i].state->shape, code(found[j].name),
                found[j].state->shape, what, a, b),
            {a, b});
      };
      compare(0, "batch");
      const Stream stream = found[i].input->stream;
      if (!cached && stream != Stream::none && stream == found[j].input->stream) compare(1, "sequence");
    }
}

}  // namespace stepzero::libraries
