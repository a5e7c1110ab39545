#!/usr/bin/env node
// Writes the settings of package.json from the rules that the program knows.
//
//   node scripts/settings.mjs PROGRAM [--check | --output FILE]
//
// --check: writes nothing, fails if the file is not what would be written.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../package.json", import.meta.url));
const severities = ["error", "warning", "information", "hint"];

// A family without a sentence here stops the script.
const families = {
  amp: "Mixed precision: autocast and the GradScaler.",
  attention: "Heads, scales and rotary positions of attention.",
  autograd: "What autograd refuses: in-place writes, conversions, backwards without a history.",
  call: "Calls whose arguments do not fit the function.",
  checkpoint: "What is saved, and what is loaded again.",
  config: "Configurations of frameworks, and options of the command line.",
  data: "Data sets, loaders and how they are divided.",
  deadlock: "Ranks that wait for each other.",
  deepspeed: "Configurations of DeepSpeed, and the programs that use them.",
  documents: "Configurations and scripts that cannot be read.",
  fsdp: "Models that are sharded: FullyShardedDataParallel and fully_shard.",
  launch: "How a job is started: launchers, their arguments, the environment.",
  loop: "The training loop: losses, gradients, optimizers, schedules.",
  memory: "Graphs and tensors that are kept longer than needed.",
  moe: "Mixtures of experts: routers, numbers of experts, balance.",
  numerics: "Formulas and constants that overflow, underflow or divide by zero.",
  parallel: "How a model is divided among processes.",
  perf: "Performance hints: what makes training slower than it has to be.",
  shape: "Tensors that do not fit.",
};

function configuration(rules) {
  const names = [...new Set(rules.flatMap(({ id }) => [id.split("/")[0], id]))].sort();
  const summary = new Map(rules.map((rule) => [rule.id, rule]));
  const about = (name) => {
    const rule = summary.get(name);
    if (!rule && !families[name]) throw new Error(`settings.mjs has no sentence about the family ${name}`);
    if (!rule) return families[name];
    // Code at the beginning stays as it is written: "scaler.update() before the step".
    const isCode = /[_.()]/.test(rule.summary.split(" ")[0]);
    const first = isCode ? rule.summary[0] : rule.summary[0].toUpperCase();
    return `${first}${rule.summary.slice(1)}. Default: ${rule.severity}.`;
  };
  const list = (description) => ({
    type: "array",
    scope: "resource",
    default: [],
    items: { type: "string", enum: names, enumDescriptions: names.map(about) },
    uniqueItems: true,
    markdownDescription: description,
  });
  const properties = {
    "stepzero.enable": {
      type: "boolean",
      scope: "window",
      default: true,
      description: "Analyze PyTorch code. When off, the server is not started.",
    },
    "stepzero.inlayHints": {
      type: "string",
      scope: "resource",
      enum: ["on", "named", "off"],
      enumDescriptions: ["After every tensor.", "Only where a dimension has a name.", "None."],
      default: "on",
      description: "Shapes of tensors after the names that hold them.",
    },
    "stepzero.performanceHints": {
      type: "boolean",
      scope: "resource",
      default: true,
      markdownDescription:
        "Hints on what makes training slower than it has to be. Off is the same as `\"perf\": \"off\"` in `#stepzero.severity#`.",
    },
    "stepzero.severity": {
      type: "object",
      scope: "resource",
      default: {},
      additionalProperties: false,
      properties: Object.fromEntries(
        names.map((name) => [name, { type: "string", enum: [...severities, "off"], description: about(name) }]),
      ),
      markdownDescription:
        "The severity of a rule or of a whole family; `off` silences it. A rule's own severity counts more than its family's.",
    },
    "stepzero.minSeverity": {
      type: "string",
      scope: "resource",
      enum: severities,
      default: "hint",
      description: "Findings that are less severe are not shown.",
    },
    "stepzero.select": list("The only rules and families to check. Empty: all of them."),
    "stepzero.ignore": list("Rules and families that are not checked."),
    "stepzero.exclude": {
      type: "array",
      scope: "resource",
      default: [],
      items: { type: "string" },
      markdownDescription: "Files and folders that are not checked, as patterns of `.gitignore`.",
    },
    "stepzero.gpuMemory": {
      type: "string",
      scope: "resource",
      default: "",
      markdownDescription:
        "The memory of the GPU that programs run on, such as `80GB`: a training step that needs more is reported (`memory/too-large`).",
    },
    "stepzero.libraryFolders": {
      type: "array",
      scope: "machine-overridable",
      default: [],
      items: { type: "string" },
      markdownDescription:
        "Where installed packages lie: environments or `site-packages` folders, relative to the workspace. They are searched before the active environment, `.venv` and the system.",
    },
    "stepzero.server.path": {
      type: "string",
      scope: "machine-overridable",
      default: "",
      markdownDescription:
        "A `stepzero` program to run in place of the one inside this extension. Where a workspace sets it, it counts only once the workspace is trusted.",
    },
    "stepzero.trace.server": {
      type: "string",
      scope: "window",
      enum: ["off", "messages", "verbose"],
      default: "off",
      description: "How much of what the editor and the server send each other is logged.",
    },
  };
  Object.values(properties).forEach((property, order) => (property.order = order));
  return { title: "stepzero", properties };
}

const [program, option, target] = process.argv.slice(2);
if (!program) {
  console.error("usage: settings.mjs PROGRAM [--check | --output FILE]");
  process.exit(2);
}
const { rules } = JSON.parse(execFileSync(program, ["rules", "--format", "json"], { encoding: "utf8" }));
const before = readFileSync(file, "utf8");
const manifest = JSON.parse(before);
manifest.contributes.configuration = configuration(rules);
const after = JSON.stringify(manifest, null, 2) + "\n";
if (option === "--check") {
  if (before !== after) {
    console.error(`The settings in editors/vscode/package.json are not those of the rules. Run: node editors/vscode/scripts/settings.mjs ${program}`);
    process.exit(1);
  }
} else {
  writeFileSync(option === "--output" ? target : file, after);
}
