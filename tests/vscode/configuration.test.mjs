// A program and its configuration in the real workbench: a misspelled key is underlined, its fix is taken, and what the program was
// told because of it goes, before anything is written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { Editor, project, tester, until } from "./harness.mjs";

const program = `import deepspeed
import torch
from torch import nn

model = nn.Linear(4, 4)
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds_config.json")
loss = engine(torch.randn(2, 4).cuda()).pow(2).mean()
engine.backward(loss)
engine.step()
`;
const configuration = `{
  "train_batch_size": 2,
  "optimiser": {"type": "AdamW"},
  "zero_optimization": {"stage": 2}
}
`;
const script = "deepspeed --nun_gpus 2 train.py\n";

describe("a configuration beside its program", { timeout: 400_000 }, () => {
  let editor;
  let workbench;
  let folder;
  const test = tester(() => workbench);

  before(async () => {
    folder = project("configuration", { "train.py": program, "ds_config.json": configuration, "run.sh": script });
    editor = await Editor.open("configuration");
    workbench = await editor.workbench(folder, { file: join(folder, "train.py") });
  }, { timeout: 200_000 });
  after(() => editor?.close());

  test("underlines in the program what the configuration makes wrong", async () => {
    await workbench.tab("train.py").waitFor({ timeout: 60_000 });
    await workbench.squiggles().first().waitFor({ timeout: 60_000 });
    const hover = await workbench.hover(workbench.line("engine.backward").locator("span", { hasText: "backward" }).last(), "has no optimizer");
    assert.match(await hover.innerText(), /deepspeed\/engine/);
    await workbench.page.keyboard.press("Escape");
  });

  test("underlines the misspelled key and says who would read it", async () => {
    await workbench.open("ds_config.json");
    await workbench.squiggles("warning").first().waitFor();
    const hover = await workbench.hover(workbench.line("optimiser").locator("span", { hasText: "optimiser" }).last(), "Did you mean");
    assert.match(await hover.innerText(), /deepspeed\/unknown-key/);
    await workbench.screenshot("configuration-dark");
    await workbench.page.keyboard.press("Escape");
  });

  test("takes the fix, and the program's finding goes with it", async () => {
    await workbench.goTo(3, 6);
    await workbench.actions("Rename to optimizer");
    await workbench.squiggles("warning").first().waitFor({ state: "detached" });
    await until("the new key", async () => (await workbench.page.locator(".view-lines").first().innerText()).includes('"optimizer"'));
    assert.equal(readFileSync(join(folder, "ds_config.json"), "utf8"), configuration); // nothing is written yet
    await workbench.open("train.py");
    await workbench.ready();
    await workbench.squiggles().first().waitFor({ state: "detached" });
    await workbench.open("ds_config.json");
    await workbench.page.keyboard.press("Control+Z");
    await workbench.squiggles("warning").first().waitFor();
    await workbench.open("train.py");
    await workbench.squiggles().first().waitFor();
  });

  test("explains the key under the pointer", async () => {
    await workbench.open("ds_config.json");
    await workbench.hover(workbench.line("zero_optimization").locator("span", { hasText: "zero_optimization" }).last(), "ZeRO");
    await workbench.page.keyboard.press("Escape");
  });

  test("underlines a misspelled option of a launcher, and renames it", async () => {
    await workbench.open("run.sh");
    await workbench.squiggles().first().waitFor();
    await workbench.goTo(1, 14);
    await workbench.actions("Rename to --num_gpus");
    await until("the new option", async () => (await workbench.page.locator(".view-lines").first().innerText()).replace(/\u00a0/g, " ").includes("--num_gpus 2"));
  });
});
