// parallel/split-dim: a tensor that is split among ranks along the batch or the sequence where the hidden
// dimension is meant, or into parts that do not come out even.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stepzero::rules::parallel::split_dim {

using values::code;

using values::Kind;

namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
      [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(words.begin(), words.end(),
      [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}
bool counts_processes(std::string_view text) {
  return has_any(text,
      {"world", "tp_", "_tp", "tp)", "parallel", "num_ranks", "n_ranks", "partitions", "num_gpus", "nproc"});
}

// The names that the comment after the place gives to the dimensions: `# [batch, seq_len, hidden]`.
std::vector<std::string> named_dimensions(const Record& record, Place place) {
  if (!place) return {};
  const auto& module = *record.chunk(place).module;
  const auto end = record.span(place).end;
  for (const syntax::Comment& comment : module.comments) {
    if (comment.span.begin < end) continue;
    if (module.text->slice({end, comment.span.begin}).find('\n') != std::string_view::npos) return {};
    std::string_view text = module.text->slice(comment.span);
    const auto open = text.find_first_of("[(");
    const auto close = open == std::string_view::npos ? open : text.find_first_of("])", open);
    if (close == std::string_view::npos) return {};
    text = text.substr(open + 1, close - open - 1);
    std::vector<std::string> names;
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      std::string_view word = text.substr(0, comma);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      names.emplace_back(word);
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return names;
  }
  return {};
}

void look_at(const Record& record, Report& report, Once& once, const Origin& each, bool by_count) {
  const Producer& made = *each.made;
  const TensorState* whole = input(made);
  if (!whole || made.part > 0 || !whole->shape.ndim_known || made.arguments.size() < 2) return;
  const auto dims = dimensions(record, made);
  if (!dims || dims->size() != 1) return;
  const std::size_t dim = dims->front();
  const Value size = made.arguments[1];
  const std::string call = text_of(record, made);
  std::string of = call;
  if (size.is(Kind::integer)) of += " " + record.symbols.text(size.integer());
  const auto full = size_of(record, whole->shape.dims[dim]);
  const auto part = number(record, size);

  const std::vector<std::string> names = whole->made ? named_dimensions(record, whole->made->born)
                                                     : std::vector<std::string>();
  if (names.size() == whole->shape.dims.size() && counts_processes(of) &&
      has_any(names[dim], {"batch", "seq", "len", "time", "tok"})) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (has_any(names[i], {"hidden", "embed", "model", "feature", "d_ff", "channel"}) && once(made.born)) {
        if (Finding* finding = report.add(Severity::warning, made.born, made.calls,
                code(call) + " splits dimension " + std::to_string(dim) + ", which is called " +
                    code(names[dim]) +
                    " where the tensor is made. Split the hidden dimension, as tensor "
                    "parallelism does: here that is `dim=" +
                    std::to_string(i) + "` (" + code(names[i]) + ")."))
          report.relate(*finding, whole->made->born, "the dimensions are named here");
        return;
      }
  }
  if (!full || !part || *part < 1 || !counts_processes(of)) return;
  const auto count = static_cast<std::int64_t>(*part);
  if (*full % count == 0 || (!by_count && call.find("//") == std::string::npos) || !once(made.born)) return;
  const std::int64_t parts = (*full + count - 1) / count;
  report.add(Severity::warning, made.born, made.calls,
      by_count
          ? code(call) + " cannot divide " + std::to_string(*full) + " evenly by " + std::to_string(count) +
              ": the ranks get parts of different sizes, and the collectives that join them hang or raise. Pad it to a multiple."
          : code(call) + " makes " + std::to_string(parts) + " parts of " + std::to_string(*full) +
              ", the last of them smaller: it is not divisible by the number of ranks. Pad it to a multiple.");
}

void check(const Record& record, Report& report) {
  const Provenance& provenance = Provenance::of(record);
  Once once;
  for (const Origin& each : provenance.of_semantics(OpSemantics::split))
    look_at(record, report, once, each, false);
  for (const Origin& each : provenance.of_semantics(OpSemantics::chunked))
    look_at(record, report, once, each, true);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/split-dim",
    .severity = Severity::warning,
    .summary = "a tensor-parallel split along the wrong dimension, or into uneven parts",
    .why =
        "Tensor parallelism gives each rank a part of the hidden dimension. Split along the sequence or the batch, every rank computes with whole weights on a part of the tokens, and the "
        "sum that joins them is nonsense that has the right shape. Parts that are not of one size make all_gather hang or raise.",
    .wrong = "x = torch.randn(32, 128, 1024)                       # [batch, seq_len, hidden]\n"
             "parts = torch.split(x, 128 // world_size, dim=1)\n",
    .right = "x = torch.randn(32, 128, 1024)                       # [batch, seq_len, hidden]\n"
             "parts = torch.split(x, 1024 // world_size, dim=2)\n",
    .silent =
        "Dimensions that no comment names; splits that have nothing to do with the number of ranks; sequence parallelism where the comment does not name a hidden dimension; sizes "
        "that are not known.",
    .fix = "None: the size that is split changes with the dimension.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::split_dim
