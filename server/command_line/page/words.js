"use strict";
// What the page says in words: the labels of rows, steps and layers, made from its data alone. No element is made here, so that
// tests/report reads them without a browser.
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const where = (each) => `${each.path}:${each.cell ? `cell ${each.cell}:` : ""}${each.range.start.line}`;
const ranksText = (ranks) => {
  const runs = [];
  for (const rank of ranks) {
    const last = runs[runs.length - 1];
    if (last && last[1] === rank - 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  return `${ranks.length === 1 ? "rank" : "ranks"} ${runs.map(([a, b]) => (a === b ? a : `${a}–${b}`)).join(", ")}`;
};
const shapeText = (call) => {
  if (!call.dtype && call.shape === undefined) return "";
  return `${call.dtype ?? "tensor"}${call.shape ? `[${call.shape.join(", ")}]` : ""}`;
};
const inLine = (call) => (call.line ? `line ${call.line}${call.path ? ` of ${call.path}` : ""}` : "");
const callText = (call) =>
  [call.name, shapeText(call), call.kind === "send" ? `to rank ${call.peer}` : "", call.kind === "receive" ? `from rank ${call.peer}` : "",
    call.src !== undefined ? `from rank ${call.src}` : "", call.dst !== undefined ? `to rank ${call.dst}` : "", call.async ? "(async)" : ""].filter(Boolean).join(" ");

const blocks = {
  loop: (node) => `${node.text}${node.rounds === null || node.rounds === undefined ? " · each iteration" : ` · ${plural(node.rounds, "iteration")}`}`,
  round: (node) => (node.last > node.first ? `iterations ${node.first}–${node.last}` : `iteration ${node.first}`),
  if: (node) => `${node.holds ? "if" : "unless"} ${node.text}${node.uniform ? "" : " · each rank decides for itself"}`,
  except: () => "where this try fails",
  unreached: () => "never reached",
};

// For whom a rank waits that never comes.
function waitsFor(call, waiting) {
  if (call.kind === "send" || call.kind === "receive") return [call.peer];
  const there = new Set(waiting.filter((each) => each.name === call.name && each.line === call.line).flatMap((each) => each.ranks));
  return (call.group ?? []).filter((rank) => !there.has(rank));
}
function hangText(node) {
  const parts = node.waiting.map((call) => {
    const missing = waitsFor(call, node.waiting);
    return `${ranksText(call.ranks)} ${call.ranks.length === 1 ? "waits" : "wait"} in ${call.name}${call.line ? ` (${inLine(call)})` : ""}${missing.length ? ` for ${ranksText(missing)}` : ""}`;
  });
  if (node.ended.length) parts.push(`${ranksText(node.ended)} ${node.ended.length === 1 ? "has" : "have"} ended`);
  return parts.join("; ");
}

// How many steps are within.
const stepsIn = (node) => node.steps.reduce((sum, each) => sum + (each.steps ? stepsIn(each) : 1), 0);
// A row for who does not see it.
function describe(node) {
  if (node.steps) return `${blocks[node.kind](node)}, ${plural(stepsIn(node), "step")}`;
  if (node.kind !== "step") return `${node.kind === "hang" ? "Hang" : "Nobody answers"}: ${hangText(node)}`;
  const calls = node.calls.map((call) => `${ranksText(call.ranks)}: ${callText(call)}${call.line ? `, ${inLine(call)}` : ""}${call.callers?.length ? `, in ${call.callers.map((each) => each.function).join(", called by ")}` : ""}`);
  return `${node.problem ? `${node.problem}. ` : ""}${calls.join("; ")}`;
}

const numbers = (count) => `${count.toLocaleString("en")} ${count === 1 ? "parameter" : "parameters"}`;
// The words of a layer's line, in their order; between arguments and count the page puts shapes.
const layerWords = (layer) => ({
  name: layer.name ? `${layer.name}: ` : "",
  repeated: layer.repeated ? `${layer.repeated} × ` : "",
  type: layer.type,
  arguments: layer.arguments ? `(${layer.arguments})` : "",
  count: layer.parameters ? ` ${numbers(layer.parameters)}${layer.repeated ? " each" : ""}` : "",
});
// What the list says of a step of a forward, after its code.
const flowWords = (node) => `${node.shape ? ` gives ${node.shape}` : ""}${node.from.length ? `, from ${node.from.map((from) => from + 1).join(", ")}` : ""}${node.loop ? `, in ${node.loop}` : ""} (line ${node.line})`;

const severities = ["error", "warning", "information", "hint"];
// The line below the title.
function summaryText(data) {
  const hangs = data.schedules.flatMap((file) => file.schedules).filter((part) => part.hangs).length;
  const counts = severities.map((severity) => [data.diagnostics.filter((each) => each.severity === severity).length, severity]).filter(([count]) => count)
    .map(([count, severity]) => (severity === "information" ? `${count} information` : plural(count, severity)));
  return `${data.paths.join(", ")} · ${plural(data.files, "file")} · ${counts.join(", ") || "nothing found"}${hangs ? ` · ${plural(hangs, "schedule")} that ${hangs === 1 ? "hangs" : "hang"}` : ""} · stepzero ${data.program}`;
}
