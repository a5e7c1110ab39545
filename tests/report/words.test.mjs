// The words of the page, made from its data as the page makes them, without a browser: who changes one sees it in `make test`.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { program as hang, said } from "./said.mjs";

const source = fileURLToPath(new URL("../..", import.meta.url));
const program = process.env.STEPZERO ?? join(source, "build", "stepzero");
const text = readFileSync(join(source, "server/command_line/page/words.js"), "utf8");
const { callText, describe, flowWords, layerWords, numbers, summaryText } =
  new Function(`${text}; return { callText, describe, flowWords, layerWords, numbers, summaryText };`)();

function page(name, input) {
  const made = execFileSync(program, ["report", "--world", "4", "-", "--stdin-filename", name], { input, encoding: "utf8" });
  assert.ok(made.includes(text), "the page speaks in these words");
  return JSON.parse(made.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
}
const rows = (nodes) => nodes.flatMap((node) => [node, ...rows(node.steps ?? [])]);

test("the page says of a hang who waits where, and what comes before", () => {
  const data = page("train.py", hang);
  assert.match(summaryText(data), said.summary);
  const [first, ...others] = data.schedules[0].schedules[0].steps;
  assert.match(describe(first), said.loop);
  assert.match(describe(rows([first])[1]), said.step);
  assert.match(describe(others.find(({ kind }) => kind === "hang")), said.hang);
  assert.match(describe(others.at(-1)), said.last);
  assert.equal(callText(others.find(({ kind }) => kind === "hang").waiting[0]), said.call);
});

test("the page says what a model is made of", () => {
  const [model] = page("train.py", hang).models;
  assert.equal(numbers(model.parameters), said.model);
  assert.match(Object.values(layerWords(model.layers[0])).join(""), said.layer);
  assert.deepEqual(model.flow.slice(0, 2).map((node) => node.text + flowWords(node)), said.flow);
});

test("the panel in VS Code says of the example what its test looks for", () => {
  const wanted = JSON.parse(readFileSync(join(source, "tests/vscode/said.json"), "utf8"))["train_ddp.py"].hang;
  const data = page("train_ddp.py", readFileSync(join(source, "examples/train_ddp.py"), "utf8"));
  const hangs = data.schedules.flatMap((file) => file.schedules).flatMap((part) => rows(part.steps)).filter(({ kind }) => kind === "hang");
  assert.equal(hangs.length, 1);
  assert.ok(describe(hangs[0]).startsWith(wanted), describe(hangs[0]));
});
