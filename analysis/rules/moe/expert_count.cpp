// moe/expert-count: a router that scores more or fewer experts than there are.
#include "rules/rule.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/shape/shape_text.hpp"
#include "rules/specialized.hpp"
#include "rules/training/training.hpp"

#include <algorithm>

namespace stepzero::rules::moe::expert_count {

using values::Kind;

namespace {

// The experts that a router chose: numbers below `width`.
struct Choice {
  const TensorState* indices = nullptr;
  const Producer* made = nullptr;
  std::int64_t width = 0;
  Dim dim;
};

std::optional<Choice> choice_of(const Record& record, const TensorState* state) {
  state = source_of(state);
  if (!state || !state->made) return std::nullopt;
  const Producer& made = *state->made;
  const OpSemantics by = semantics(made);
  const bool indices = (by == OpSemantics::chosen && made.part == 1) || by == OpSemantics::place_of_largest ||
      (by == OpSemantics::largest && made.part == 1);
  const TensorState* from = indices ? input(made) : nullptr;
  const auto dims = from ? dimensions(record, made) : std::nullopt;
  if (!dims || dims->size() != 1 || !scores_of(from)) return std::nullopt;
  const Dim dim = from->shape.dims[dims->front()];
  const auto width = size_of(record, dim);
  if (!width) return std::nullopt;
  return Choice{state, &made, *width, dim};
}

// What is done with the experts, and what becomes of those that are chosen beyond them.
struct Use {
  std::string_view verb, beyond;
};
constexpr Use has_room{"has room for ", " is out of range."}, holds{"holds ", " is out of range."},
    weighs{"weighs ", " is lost silently."}, goes_through{"goes through ", " is dropped silently."};

std::string experts(std::int64_t from, std::int64_t to) {
  return from == to ? "expert " + std::to_string(from)
                    : "experts " + std::to_string(from) + " to " + std::to_string(to);
}
std::string count(std::int64_t n) { return std::to_string(n) + (n == 1 ? " expert" : " experts"); }

class Check {
public:
  Check(const Record& record, Report& report)
      : record_(record), report_(report), provenance_(Provenance::of(record)) {}

  void run() {
    compared();
    weighed();
    for (const Origin& each : provenance_.of_semantics(OpSemantics::one_hot)) {
      const auto choice = choice_of(record_, input(*each.made));
      const auto classes = number(record_, argument(*each.made, "num_classes"));
      if (choice && classes && *classes > 0)
        judge(*each.made, *choice, static_cast<std::int64_t>(*classes), has_room);
    }
    // Weights of all experts in one tensor, of which those chosen are picked.
    for (const Origin& each : provenance_.of_semantics(OpSemantics::picked)) {
      const TensorState* whole = input(*each.made);
      if (!whole || whole->requires_grad != values::Known::yes ||
          (whole->made && semantics(whole) != OpSemantics::none && semantics(whole) != OpSemantics::noise) ||
          !whole->shape.ndim_known || whole->shape.dims.size() < 2 || each.made->arguments.size() < 2)
        continue;
      Value index = each.made->arguments[1];
      if (index.is(Kind::tuple) && !index.as<values::Tuple>()->items.empty())
        index = index.as<values::Tuple>()->items.front();
      if (!index.is(Kind::tensor)) continue;
      const auto choice = choice_of(record_, index.as<values::Tensor>()->now());
      const auto held = size_of(record_, whole->shape.dims.front());
      if (choice && held) judge(*each.made, *choice, *held, holds);
    }
  }

private:
  // `probs[..., i] * expert(x)` for the experts one after the other: the scores after the last of them are
  // never used.
  void weighed() {
    struct Picked {
      Origin at;
      std::vector<std::int64_t> numbers;
      const TensorState* from = nullptr;
      bool whole = true;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Picked> by_place;
    for (const Origin& each : provenance_.of_semantics(OpSemantics::picked)) {
      const TensorState* whole = input(*each.made);
      if (!whole || !whole->shape.ndim_known || whole->shape.dims.size() < 2 ||
          each.made->arguments.size() < 2)
        continue;
      const Value index = each.made->arguments[1];
      if (!index.is(Kind::tuple) || index.as<values::Tuple>()->items.empty()) continue;
      const auto& items = index.as<values::Tuple>()->items;
      const bool last = items.size() == whole->shape.dims.size() || items.front().is(Kind::ellipsis);
      if (!last || !items.back().is(Kind::integer) || !scores_of(whole)) continue;
      Picked& picked = by_place[{each.made->born.chunk, each.made->born.span.begin}];
      const auto low = record_.symbols.lower(items.back().integer()),
                 high = record_.symbols.upper(items.back().integer());
      picked.whole = picked.whole && low && high && *low >= 0 && *high - *low <= 4096 &&
          (!picked.from || identity(picked.from) == identity(whole));
      if (!picked.whole) continue;
      picked.at = each;
      picked.from = whole;
      for (std::int64_t i = *low; i <= *high; ++i) picked.numbers.push_back(i);
    }
    for (auto& [place, picked] : by_place) {
      if (!picked.whole || !speaks_of_experts(record_, picked.at.made->born)) continue;
      std::sort(picked.numbers.begin(), picked.numbers.end());
      picked.numbers.erase(std::unique(picked.numbers.begin(), picked.numbers.end()), picked.numbers.end());
      const auto scores = scores_of(picked.from);
      const Dim dim = scores->logits->shape.ndim_known && !scores->logits->shape.dims.empty()
          ? scores->logits->shape.dims.back()
          : Dim{};
      const auto width = size_of(record_, dim), here = size_of(record_, picked.from->shape.dims.back());
      // Only where each number is picked by one place that is run for each expert.
      if (!width || width != here || picked.numbers.size() < 2 || picked.numbers.front() != 0 ||
          picked.numbers.back() + 1 != static_cast<std::int64_t>(picked.numbers.size()))
        continue;
      judge(*picked.at.made,
          Choice{picked.from, picked.from->made ? picked.from->made : picked.at.made, *width, dim},
          static_cast<std::int64_t>(picked.numbers.size()), weighs);
    }
  }
  // `selected == i` for the experts one after the other.
  void compared() {
    struct Looked {
      Choice choice;
      std::int64_t low = 0, high = -1;
      std::size_t places = 0;
      const Producer* at = nullptr;
      std::vector<std::int64_t> numbers;
      bool whole = true;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Looked> by_choice;  // by the place of the choice
    for (const Origin& each : provenance_.of_semantics(OpSemantics::equals)) {
      const TensorState* chosen = input(*each.made, 0);
      const Value with = argument(*each.made, "other");
      const auto choice = chosen ? choice_of(record_, chosen) : std::nullopt;
      if (!choice) continue;
      Looked& looked = by_choice[{choice->made->born.chunk, choice->made->born.span.begin}];
      if (looked.at && looked.choice.width != choice->width) looked.whole = false;
      looked.choice = *choice;
      if (!looked.at || each.made->born.span.begin < looked.at->born.span.begin) looked.at = each.made;
      if (!with.is(Kind::integer)) {
        looked.whole = false;
        continue;
      }
      const auto low = record_.symbols.lower(with.integer()), high = record_.symbols.upper(with.integer());
      if (!low || !high) {
        looked.whole = false;
        continue;
      }
      looked.numbers.push_back(*low);
      looked.numbers.push_back(*high);
      // One number that stands for all between its bounds.
      if (*low != *high) {
        if (*high - *low > 4096)
          looked.whole = false;
        else
          for (std::int64_t i = *low; i <= *high; ++i) looked.numbers.push_back(i);
      }
    }
    // Some of the numbers may mean something else than an expert.
    for (const Origin& each : provenance_.of_semantics(OpSemantics::ordered))
      if (const TensorState* chosen = input(*each.made); chosen)
        if (const auto choice = choice_of(record_, chosen))
          by_choice.erase({choice->made->born.chunk, choice->made->born.span.begin});
    for (auto& [place, looked] : by_choice) {
      std::sort(looked.numbers.begin(), looked.numbers.end());
      looked.numbers.erase(std::unique(looked.numbers.begin(), looked.numbers.end()), looked.numbers.end());
      // Every process may have experts of its own; one that is looked for alone is a case of its own.
      if (!looked.whole || looked.numbers.size() < 2 || looked.numbers.front() != 0 ||
          looked.numbers.back() + 1 != static_cast<std::int64_t>(looked.numbers.size()))
        continue;
      judge(*looked.at, looked.choice, static_cast<std::int64_t>(looked.numbers.size()), goes_through);
    }
  }

  void judge(const Producer& at, const Choice& choice, std::int64_t held, const Use& use) {
    if (held == choice.width || !once_(at.born)) return;
    std::string message = "The router scores " + count(choice.width) + ", and " +
        values::code(text_of(record_, at)) + " " + std::string(use.verb) + count(held) + ": ";
    message += held < choice.width
        ? "what is sent to " + experts(held, choice.width - 1) + std::string(use.beyond)
        : experts(choice.width, held - 1) + (held - choice.width == 1 ? " is" : " are") +
            " never chosen and never trained.";
    message += " Make the two numbers one.";
    if (Finding* finding = report_.add(Severity::warning, at.born, at.calls, message)) {
      relate_origin(
          report_, *finding, choice.dim, "the router's " + std::to_string(choice.width) + " come from here");
      report_.relate(*finding, choice.made->born, "the experts are chosen here");
      report_.relate_calls(*finding, at.calls);
    }
  }

  const Record& record_;
  Report& report_;
  const Provenance& provenance_;
  Once once_;
};

void check(const Record& record, Report& report) {
  Check(record, report).run();
  report_specialized(record, report, "moe/expert-count", [&](const ProblemEvent& problem) {
    return (problem.row && !problem.row->op
                   ? "There is no such expert. "
                   : "The router gives a different number of scores than there are experts. ") +
        text_of(record, problem);
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "moe/expert-count",
    .severity = Severity::error,
    .summary = "the router scores another number of experts than there are",
    .why =
        "The width of the router's last layer and the number of experts are written in two places. If the router is wider, tokens are sent to "
        "experts that do not exist: a loop over the experts drops them without a word, an index raises \"index 8 is out of range\", one_hot "
        "raises \"Class values must be smaller than num_classes\". If it is narrower, the last experts are never chosen and never trained.",
    .wrong = "router = nn.Linear(d_model, 16)\n"
             "experts = nn.ModuleList([Expert(d_model) for _ in range(8)])\n"
             "chosen = router(x).argmax(dim=-1)\n"
             "for i, expert in enumerate(experts):\n"
             "    out[chosen == i] = expert(x[chosen == i])   # 8 to 15 are nobody's\n",
    .right = "router = nn.Linear(d_model, num_experts)\n"
             "experts = nn.ModuleList([Expert(d_model) for _ in range(num_experts)])\n",
    .silent =
        "Numbers that are not known. Experts of one process among many, where the first is not expert 0. Routers whose further numbers are "
        "compared with <, >= and the like: they mean something else. A single expert that is looked for.",
    .fix = "None: decide which of the two numbers is meant.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::moe::expert_count
