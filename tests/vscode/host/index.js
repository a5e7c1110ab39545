// Runs inside VS Code's extension host; writes what passed and failed to $STEPZERO_HOST_REPORT.
const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const { readFileSync, renameSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const vscode = require("vscode");

// What the program says of the examples; tests/conformance holds it against this without an editor.
const said = JSON.parse(readFileSync(join(process.env.STEPZERO_SOURCE, "tests/vscode/said.json"), "utf8"));
const hang = said["train_ddp.py"];

const folder = () => vscode.workspace.workspaceFolders[0].uri;
const example = readFileSync(join(process.env.STEPZERO_SOURCE, "examples/train_ddp.py"), "utf8");

async function until(name, what, seconds = 30) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`no ${name} within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function open(name) {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder(), name));
  await vscode.window.showTextDocument(document);
  return document;
}

const problems = (document) =>
  until("problem", () => {
    const found = vscode.languages.getDiagnostics(document.uri);
    return found.length > 0 && found;
  });

const clean = (document) => until("end of the problems", () => vscode.languages.getDiagnostics(document.uri).length === 0);

const actions = (document, range, kind) =>
  vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, range, kind, 20);

// What `stepzero check --fix` makes of the example.
function fixedByCheck() {
  return execFileSync(process.env.STEPZERO_PROGRAM, ["check", "--fix", "--format", "json", "-"], { input: example, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
}

const tests = {
  async "a problem has its severity, its place, its evidence, and a link to the page of its rule"() {
    const document = await open("train_ddp.py");
    const found = await problems(document);
    assert.equal(found.length, 1);
    const [problem] = found;
    assert.equal(problem.severity, vscode.DiagnosticSeverity.Error);
    assert.equal(problem.source, "stepzero");
    assert.equal(problem.code.value, hang.rule);
    assert.equal(problem.code.target.toString(true), `command:stepzero.explainRule?["${hang.rule}"]`);
    assert.match(document.getText(problem.range), /^dist\.broadcast\(/);
    assert.equal(problem.relatedInformation.length, 2);
    assert.ok(problem.relatedInformation[0].message.includes(hang.evidence));
  },

  async "the certain fix is preferred and first, silencing is last"() {
    const document = await open("train_ddp.py");
    const [problem] = await problems(document);
    const offered = await actions(document, problem.range, vscode.CodeActionKind.QuickFix.value);
    assert.equal(offered[0].title, hang.fix);
    assert.equal(offered[0].isPreferred, true);
    assert.ok(offered[0].edit.size > 0);
    assert.deepEqual(offered.slice(-2).map(({ title }) => title), hang.ignores);
    assert.ok(offered.slice(1).every(({ isPreferred }) => !isPreferred));
  },

  async "an applied fix is the text that check --fix makes, and one undo takes it back"() {
    const document = await open("train_ddp.py");
    const [problem] = await problems(document);
    const [fix] = await actions(document, problem.range, vscode.CodeActionKind.QuickFix.value);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(document.getText(), fixedByCheck());
    await clean(document);
    await vscode.commands.executeCommand("undo");
    assert.equal(document.getText(), example);
    await problems(document);
  },

  async "the command that fixes all keeps the rest of the text and the cursor"() {
    const document = await open("fixed.py");
    const editor = vscode.window.activeTextEditor;
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), example));
    editor.selection = new vscode.Selection(4, 5, 4, 5);
    await problems(document);
    await vscode.commands.executeCommand("stepzero.fixAll");
    await clean(document);
    assert.equal(document.getText(), fixedByCheck());
    assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [4, 5]);
    await document.save();
  },

  async "source.fixAll.stepzero works on save"() {
    const settings = vscode.workspace.getConfiguration("editor", { languageId: "python" });
    await settings.update("codeActionsOnSave", { "source.fixAll.stepzero": "explicit" }, vscode.ConfigurationTarget.Global);
    try {
      const document = await open("saved.py");
      await vscode.window.activeTextEditor.edit((edit) => edit.insert(new vscode.Position(0, 0), example));
      await problems(document);
      await document.save();
      assert.equal(readFileSync(document.uri.fsPath, "utf8"), fixedByCheck());
    } finally {
      await settings.update("codeActionsOnSave", undefined, vscode.ConfigurationTarget.Global);
    }
  },

  async "hover and inlay hints tell the shape"() {
    const document = await open("attention.py");
    const all = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await until("hints", async () => {
      const found = await vscode.commands.executeCommand("vscode.executeInlayHintProvider", document.uri, all);
      return found.length > 0 && found;
    });
    const labels = hints.map(({ label }) => (typeof label === "string" ? label : label.map(({ value }) => value).join("")));
    assert.ok(labels.includes(said["attention.py"].hint), labels.join(" "));
    const line = document.getText().split("\n").findIndex((text) => text.includes("y = (weights @ v)"));
    const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, new vscode.Position(line, 8));
    const texts = hovers.flatMap(({ contents }) => contents.map((content) => content.value ?? content)).join("\n");
    assert.ok(texts.includes(said["attention.py"].hover), texts);
  },

  async "text that no file holds is analyzed"() {
    const document = await vscode.workspace.openTextDocument({ language: "python", content: "import torch\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n" });
    await vscode.window.showTextDocument(document);
    const [problem] = await problems(document);
    assert.equal(problem.code.value, "shape/matmul");
  },

  async "settings of the editor rule over severities, and back"() {
    const document = await open("train_ddp.py");
    await problems(document);
    const settings = vscode.workspace.getConfiguration("stepzero");
    await settings.update("severity", { deadlock: "information" }, vscode.ConfigurationTarget.Global);
    await until("information", () => vscode.languages.getDiagnostics(document.uri)[0]?.severity === vscode.DiagnosticSeverity.Information);
    await settings.update("severity", undefined, vscode.ConfigurationTarget.Global);
    await until("error", () => vscode.languages.getDiagnostics(document.uri)[0]?.severity === vscode.DiagnosticSeverity.Error);
  },

  async "it can be switched off and on"() {
    const document = await open("train_ddp.py");
    await problems(document);
    const settings = vscode.workspace.getConfiguration("stepzero");
    await settings.update("enable", false, vscode.ConfigurationTarget.Global);
    await clean(document);
    await settings.update("enable", undefined, vscode.ConfigurationTarget.Global);
    await problems(document);
  },

  async "every command that the manifest names is there"() {
    const known = await vscode.commands.getCommands(true);
    const { packageJSON } = vscode.extensions.getExtension("stepzero.stepzero");
    for (const { command } of packageJSON.contributes.commands) assert.ok(known.includes(command), command);
  },
};

exports.run = async () => {
  const report = [];
  await vscode.extensions.getExtension("stepzero.stepzero").activate();
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      report.push({ name });
    } catch (error) {
      report.push({ name, error: String(error.stack ?? error) });
    }
  }
  const file = process.env.STEPZERO_HOST_REPORT;
  writeFileSync(`${file}.part`, JSON.stringify(report));
  renameSync(`${file}.part`, file);
};
