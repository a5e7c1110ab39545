// Which program the extension runs, with the editor's interface replaced: the one inside, else what `pip install stepzero` made.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("../../editors/vscode/package.json", import.meta.url));
const { buildSync } = require("esbuild");

const folder = mkdtempSync(join(tmpdir(), "stepzero-program-"));
test.after(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "node_modules"));
writeFileSync(join(folder, "node_modules/vscode.js"), "module.exports = globalThis.editor;");
buildSync({
  entryPoints: [fileURLToPath(new URL("../../editors/vscode/src/program.ts", import.meta.url))],
  outfile: join(folder, "program.js"), bundle: true, platform: "node", format: "cjs", external: ["vscode"],
});

function programAt(...parts) {
  const file = join(folder, ...parts);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

const workspace = join(folder, "workspace");
const inside = programAt("extension/server/bin/stepzero");
const ofWorkspace = programAt("workspace/.venv/bin/stepzero");
const active = programAt("active/bin/stepzero");
const onPath = programAt("tools/stepzero");

function found({ extension = "bare", trusted = true, setting = "", variables = {} }) {
  globalThis.editor = {
    workspace: {
      isTrusted: trusted,
      workspaceFolders: [{ uri: { fsPath: workspace } }],
      getConfiguration: () => ({ get: () => setting }),
    },
  };
  const before = { ...process.env };
  for (const name of ["VIRTUAL_ENV", "CONDA_PREFIX", "PATH"]) delete process.env[name];
  Object.assign(process.env, variables);
  const built = require.resolve(join(folder, "program.js"));
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  try {
    return require(built).findProgram({ asAbsolutePath: (path) => join(folder, extension, path) });
  } finally {
    process.env = before;
  }
}

test("the program inside the extension comes first", () => {
  assert.deepEqual(found({ extension: "extension", variables: { PATH: join(folder, "tools") } }), { path: inside, problem: "" });
});

test("without one, an environment of a trusted workspace is looked into", () => {
  assert.equal(found({ variables: { VIRTUAL_ENV: join(folder, "active") } }).path, ofWorkspace);
  assert.equal(found({ trusted: false, variables: { VIRTUAL_ENV: join(folder, "active") } }).path, active);
});

test("then the path, of which relative folders do not count", () => {
  assert.equal(found({ trusted: false, variables: { PATH: `.:${join(folder, "tools")}` } }).path, onPath);
});

test("where there is none, it says what to do", () => {
  assert.match(found({ trusted: false }).problem, /pip install stepzero/);
});

test("a setting overrides them all", () => {
  assert.equal(found({ setting: active, extension: "extension" }).path, active);
});
