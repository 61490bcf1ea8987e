import { Command } from "commander";
import {
  alignTaskSequences,
  compareTasks,
  formatDuration,
  formatPrice,
  formatState,
  formatTokens,
  listTaskSequence,
  summarizeTask,
  type AlignedMessages,
  type SequenceItem,
  type TaskComparison,
  type TaskSummary,
} from "../../observe/trace/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import {
  addTraceOutputOptions,
  loadTrafficRecord,
  requireTask,
  type TraceOutputOptions,
} from "./load-traffic-record.ts";
import { createPriceOption, type PriceOption } from "./price-option.ts";

interface TraceCompareOptions extends TraceOutputOptions, PriceOption {
  firstTask?: string;
  secondTask?: string;
}

export function createTraceCompareCommand(context: CliContext): Command {
  return addTraceOutputOptions(
    new Command("compare")
      .argument("<first>", "traffic record of the first task")
      .argument("<second>", "traffic record of the second task, which may be the same file"),
  )
    .option("--first-task <id>", "id of the first task, if its record has several root tasks")
    .option("--second-task <id>", "id of the second task, if its record has several root tasks")
    .addOption(createPriceOption())
    .action(async (first: string, second: string, options: TraceCompareOptions) => {
      const { firstTask, secondTask, output, prices } = options;
      const load = async (file: string, id: string | undefined, option: string): Promise<ComparedTask> => {
        const { model } = await loadTrafficRecord([file], context, prices);
        const task = requireTask(model, id, option);
        const { startMs } = task;
        return { summary: summarizeTask(model, task), messages: listTaskSequence(model, task), startMs };
      };
      const one = await load(first, firstTask, "--first-task");
      const other = await load(second, secondTask, "--second-task");
      const comparison = compareTasks(one.summary, other.summary);
      const aligned = alignTaskSequences(one.messages, other.messages);
      if (output === "json") {
        const messages = aligned.map(({ first: a, second: b, isEqual }) => ({
          ...(a && { first: toJson(a, one) }),
          ...(b && { second: toJson(b, other) }),
          isEqual,
        }));
        new OutputWriter(context.streams, output).writeJson({ ...comparison, messages });
      } else context.streams.out(renderComparison(comparison) + renderMessages(aligned, one, other));
    });
}

interface ComparedTask {
  readonly summary: TaskSummary;
  readonly messages: readonly SequenceItem[];
  readonly startMs: number;
}

function toJson({ kind, from, to, label, startMs }: SequenceItem, task: ComparedTask): object {
  return { kind, from, to, label, afterMs: startMs - task.startMs };
}

/**
 * Renders one line per message, with its time since the start of both tasks. A minus marks messages of the first task, a
 * plus marks messages of the second task, and an asterisk marks messages that differ.
 */
function renderMessages(aligned: readonly AlignedMessages[], one: ComparedTask, other: ComparedTask): string {
  const formatTime = (item: SequenceItem | undefined, { startMs }: ComparedTask): string =>
    (item ? formatDuration(item.startMs - startMs) : "").padEnd(10);
  const lines = aligned.map(({ first, second, isEqual }) => {
    const mark = isEqual ? " " : first ? (second ? "*" : "-") : "+";
    const [shown, changed] = first ? [first, second] : [second, undefined];
    if (!shown) return "";
    const label = changed && !isEqual ? `${shown.label} → ${changed.label}` : shown.label;
    const text = `${shown.from} → ${shown.to}: ${label}`.replaceAll(/\s+/g, " ");
    return `${mark} ${formatTime(first, one)}${formatTime(second, other)}${text}`;
  });
  return lines.length === 0 ? "" : `\nmessages\n${lines.join("\n")}\n`;
}

/** Renders one row per fact. An asterisk marks the facts that differ. */
function renderComparison({ first, second, differences }: TaskComparison): string {
  const rows: readonly (readonly [name: keyof TaskSummary, format: (task: TaskSummary) => string])[] = [
    ["id", ({ id }) => id],
    ["agent", ({ agent }) => agent],
    ["state", ({ state }) => formatState(state ?? "unknown")],
    ["durationMs", ({ durationMs }) => formatDuration(durationMs)],
    ["states", ({ states }) => states.map(formatState).join(", ")],
    ["events", ({ events }) => String(events ?? "–")],
    [
      "marks",
      ({ marks }) =>
        Object.entries(marks)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(", "),
    ],
    [
      "usage",
      ({ usage }) =>
        [
          `${usage.calls} calls`,
          `${formatTokens(usage, true)} tokens`,
          ...[formatPrice(usage)].filter(Boolean),
        ].join(", "),
    ],
    ["calledAgents", ({ calledAgents }) => calledAgents.join(", ")],
    ["toolCalls", ({ toolCalls }) => toolCalls.join(", ")],
    [
      "artifacts",
      ({ artifacts }) =>
        Object.entries(artifacts)
          .map(([id, text]) => `${id}: ${text.length} characters`)
          .join(", "),
    ],
  ];
  const cells = rows.map(([name, format]) => {
    const isDifferent = (differences as readonly string[]).includes(name);
    return [`${isDifferent ? "*" : " "} ${ROW_LABELS[name]}`, format(first), format(second)] as const;
  });
  const width = Math.min(60, Math.max(...cells.map(([, left]) => left.length)));
  return (
    cells
      .map(([label, left, right]) => `${label.padEnd(16)}${left.padEnd(width)}  ${right}`.trimEnd())
      .join("\n") + "\n"
  );
}

const ROW_LABELS: Readonly<Record<keyof TaskSummary, string>> = {
  id: "task",
  agent: "agent",
  state: "state",
  durationMs: "duration",
  states: "states",
  events: "events",
  marks: "marks",
  usage: "models",
  calledAgents: "called agents",
  toolCalls: "tools",
  artifacts: "artifacts",
};
