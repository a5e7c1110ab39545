// After any edits of a configuration or a script, all that is read of it is what is read of the same text
// alone. STEPZERO_EDIT_ROUNDS sets how many rounds to run.
#include "documents/document.hpp"
#include "documents/edited.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace stepzero;
using documents::Document;
using documents::Language;

namespace {

std::string dumped(syntax::Span span) {
  return "[" + std::to_string(span.begin) + ":" + std::to_string(span.end) + "]";
}

std::string dumped(const documents::Node& node) {
  std::string all = std::string(documents::kind_name(node.kind)) + dumped(node.span) + node.text +
      std::to_string(node.integer) + std::to_string(node.real) + (node.truth ? "t" : "f");
  for (const documents::Node& item : node.items) all += "\n- " + dumped(item);
  for (const documents::Field& field : node.fields)
    all += "\n" + field.key + dumped(field.key_span) + ": " + dumped(field.value);
  return all;
}

std::string dumped(const documents::Word& word) {
  return " " + word.text + dumped(word.span) + dumped(word.written) + (word.by_default ? "?" : "");
}

std::string dumped(const documents::Setting& setting) {
  return " " + setting.name + dumped(setting.name_span) + "=" + dumped(setting.value);
}

std::string dumped(const Document& document) {
  std::string all = (document.is_broken ? "broken\n" : "whole\n") + dumped(document.root);
  for (const documents::ShellCommand& command : document.script.commands) {
    all += "\n$" + dumped(command.span) + command.folder + "|" + command.within +
        (command.is_conditional ? " if" : "") + (command.is_broken ? " broken" : "");
    for (const documents::Word& word : command.words) all += dumped(word);
    for (const documents::Setting& setting : command.environment) all += dumped(setting);
  }
  for (const documents::Setting& setting : document.script.exports) all += "\nexport" + dumped(setting);
  for (const syntax::Span comment : document.comments) all += "\n#" + dumped(comment);
  return all;
}

struct Seed {
  Language language;
  std::string text;
};

const Seed seeds[] = {
    {Language::json, R"({
  // a comment
  "train_batch_size": 32, "fp16": {"enabled": true, "loss_scale": 0.5e1},
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.999]}},
  "zero_optimization": {"stage": 2, "text": "é🙂 \"q\" \u00e9", "none": null}
})"},
    {Language::json, R"({"version": "0.2.0", "configurations": [{"name": "train", "type": "debugpy",
  "program": "train.py", "args": ["--lr", "1"], "env": {"NCCL_DEBUG": "INFO"}}]})"},
    {Language::shell, R"(#!/bin/bash
export NCCL_DEBUG=INFO
N=${N:-8}
ARGS=(--lr 0.1 "--name=a b")
if [ "$N" -gt 4 ]; then
  EXTRA="--big"
elif [ -z "$X" ]; then EXTRA=--none
else
  EXTRA=
fi
run() { torchrun --nproc_per_node "$1" train.py "${ARGS[@]}" $EXTRA; }
for lr in 0.1 0.2; do
  run $N --lr $lr  # é
done
case $1 in a) M=1 ;; *) M=2 ;; esac
cat <<EOF
$M
EOF
python train.py \
  --epochs $((N * 2)) `# kept` \
  --seed $(date +%s) && echo done || exit 1
)"},
    {Language::make,
        "GPUS ?= 8\nexport OMP_NUM_THREADS=1\ntrain: data\n\t@torchrun --nproc_per_node $(GPUS) train.py \\\n\t  --lr 1\n"},
    {Language::docker,
        "FROM a\nENV NCCL_DEBUG=INFO\nRUN pip install x && \\\n    echo y\nCMD [\"torchrun\", \"--nproc_per_node\", \"2\", \"train.py\"]\n"},
    {Language::yaml,
        "on: push\njobs:\n  a:\n    env: {A: 1}\n    steps:\n      - run: |\n          torchrun train.py --lr 1\n          echo ${{ x }}\n      - run: >-\n          python\n          train.py\n"},
    {Language::toml, "[model]\nname = \"a\"\n[training]\nsteps = 10 # c\n"},
    {Language::environment, "# c\nexport A=1\nB='x y'\n"},
};
const std::string snippets[] = {"\"", "'", "`", "{", "}", "[", "]", ",", ":", "$", "${", "$(", "(", ")", "\n",
    "\\\n", " ", "#", "//", "1", "x", "é", "🙂", "=", "if x; then\n", "fi\n", "done\n", "<<EOF\n", "EOF\n",
    "\t", ";;", "&&", "|", "\0", "{{ a }}", "export Z=1\n"};

syntax::Edit random_edit(std::mt19937& random, const std::string& bytes) {
  const auto begin = static_cast<std::uint32_t>(random() % (bytes.size() + 1));
  const std::uint32_t length = random() % 3 == 0 ? random() % 30 : random() % 2;
  std::string inserted;
  for (std::uint32_t count = random() % 3; count > 0; --count) {
    if (random() % 8 == 0) {
      const std::string& from = seeds[random() % std::size(seeds)].text;
      inserted += from.substr(random() % from.size(), random() % 60);
    } else {
      inserted += snippets[random() % std::size(snippets)];
    }
  }
  return {{begin, std::min<std::uint32_t>(begin + length, static_cast<std::uint32_t>(bytes.size()))},
      std::move(inserted)};
}

Document alone(Language language, const std::string& text) {
  return documents::parse(language, std::make_shared<const syntax::Text>(text));
}

}  // namespace

TEST_CASE("after any edits a document is what its text alone is") {
  const char* asked = std::getenv("STEPZERO_EDIT_ROUNDS");
  const int rounds = asked ? std::atoi(asked) : 60;
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round)
    for (const Seed& seed : seeds) {
      documents::EditedDocument edited(seed.text);
      documents::parse(seed.language, edited.module()->text);
      for (int step = 0; step < 12; ++step) {
        std::vector<syntax::Edit> edits;
        for (std::uint32_t count = 1 + random() % 2; count > 0; --count)
          edits.push_back(random_edit(random, edited.module()->text->bytes()));
        edited.apply(edits);
        const auto module = edited.module();
        if (random() % 4 == 0) continue;  // not every text is parsed
        const std::string& text = module->text->bytes();
        CAPTURE(text);
        REQUIRE(dumped(documents::parse(seed.language, module->text)) == dumped(alone(seed.language, text)));
      }
      edited.replace(seed.text);
      REQUIRE(dumped(documents::parse(seed.language, edited.module()->text)) ==
          dumped(alone(seed.language, seed.text)));
    }
}

// Broken texts of this size, too, are parsed from the tree before.
TEST_CASE("large documents are what their texts alone are") {
  std::mt19937 random(11);
  for (const Seed& seed : seeds) {
    if (seed.language != Language::json && seed.language != Language::shell) continue;
    std::string large;
    while (large.size() < 40'000)
      large += seed.language == Language::json ? (large.empty() ? "[" : ",\n") + seed.text : seed.text;
    if (seed.language == Language::json) large += "]";
    documents::EditedDocument edited(large);
    documents::parse(seed.language, edited.module()->text);
    for (int step = 0; step < 40; ++step) {
      if (step % 5 == 0) edited.replace(large);
      edited.apply({random_edit(random, edited.module()->text->bytes())});
      const auto module = edited.module();
      REQUIRE(dumped(documents::parse(seed.language, module->text)) ==
          dumped(alone(seed.language, module->text->bytes())));
    }
  }
}

TEST_CASE("texts of one document are parsed in any order") {
  documents::EditedDocument edited(seeds[0].text);
  const auto first = edited.module();
  edited.apply({{{2, 2}, "\"a\": [1, "}});
  const auto second = edited.module();
  edited.apply({{{11, 11}, "2], "}});
  const auto third = edited.module();
  for (const auto& module : {third, first, second, first, third})
    CHECK(dumped(documents::parse(Language::json, module->text)) ==
        dumped(alone(Language::json, module->text->bytes())));
}
