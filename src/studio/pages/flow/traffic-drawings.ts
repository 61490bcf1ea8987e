import { shortenId } from "../parts/identifier.tsx";
import { truncateLabel } from "./truncate-label.ts";
import { computeQuantile } from "../../../cards/index.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import {
  addModelLineUsage,
  buildTrafficGraph,
  buildTrafficSequence,
  type CriticalPathStep,
  formatPrice,
  formatTokens,
  getTaskPeriod,
  listTaskActivities,
  NO_USAGE,
  type SequenceItem,
  type TokenUsage,
  type TrafficGraphEdge,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { describeMark } from "../task/describe-mark.ts";
import type { GraphEdge, GraphNode } from "./graph-layout.ts";
import type { SequenceActivation, SequenceMessage } from "./sequence-layout.ts";
import { formatDuration, formatTaskDuration, pluralize } from "../cards/text-format.ts";
import type { TimelineWork } from "./timeline-layout.ts";

/** A sequence diagram of traffic. `items` are the items behind the messages, in the same order. */
interface TrafficSequenceDrawing {
  readonly participants: readonly string[];
  readonly messages: readonly SequenceMessage[];
  readonly activations: readonly SequenceActivation[];
  readonly items: ReadonlyMap<string, SequenceItem>;
}

const COLOR_CLASSES: Readonly<Record<SequenceItem["kind"], string>> = {
  request: "request",
  response: "response",
  events: "other",
  state: "response",
  "stream-end": "other",
  model: "model",
  tool: "tool",
  push: "request",
};

/** Draws the messages between agents, models, and tools in the order of time. */
export function drawTrafficSequence(
  model: TrafficModel,
  tasks: ReadonlySet<string> | undefined,
  path: readonly CriticalPathStep[],
): TrafficSequenceDrawing {
  const { parties, items } = buildTrafficSequence(model, tasks);
  const byKey = new Map<string, SequenceItem>();
  const rowsByCall = new Map<string, { participant: string; fromRow: number; toRow: number }>();
  const messages = items.map((item, row): SequenceMessage => {
    const { kind, entry, callKey } = item;
    const key = `${kind}/${entry.line.writer}/${entry.line.seq}`;
    byKey.set(key, item);
    if (callKey !== undefined) {
      const rows = rowsByCall.get(callKey);
      if (rows) rows.toRow = row;
      else if (kind === "request")
        rowsByCall.set(callKey, { participant: item.to, fromRow: row, toRow: row });
    }
    const previous = items[row - 1];
    const notes = describeItem(item);
    return {
      key,
      from: item.from,
      to: item.to,
      label: item.label,
      notes,
      colorClass: item.isError ? "failure" : COLOR_CLASSES[kind],
      delayMs: previous && item.startMs - previous.startMs,
      description: truncateLabel(`${row + 1}, ${item.from} to ${item.to}: ${item.label}. ${notes}`, 300),
      isDashed: kind === "response" || kind === "state" || kind === "events",
      isBroken: kind === "stream-end",
      isCritical: isOnPath(item, path),
    };
  });
  return {
    participants: parties,
    messages,
    activations: [...rowsByCall.values()].filter(({ fromRow, toRow }) => toRow > fromRow),
    items: byKey,
  };
}

function describeItem({ kind, startMs, endMs, marks, entry }: SequenceItem): string {
  const { line } = entry;
  const text = line.kind === "request" ? findMessageText(line.body) : undefined;
  return [
    kind,
    ...(text === undefined ? [] : [`“${text}”`]),
    ...(line.kind === "model" ? [`${formatTokens(addModelLineUsage(NO_USAGE, line), true)} tok`] : []),
    ...(endMs > startMs ? [formatDuration(endMs - startMs)] : []),
    ...marks.map((mark) => `⚠ ${describeMark(mark)}`),
  ].join(" · ");
}

/** Finds the text of the message in the body of a request, which can be the body of JSON-RPC or of HTTP+JSON. */
function findMessageText(body: JsonValue | undefined): string | undefined {
  if (!isObject(body)) return undefined;
  const { params } = body;
  const message = isObject(params) ? params["message"] : body["message"];
  const parts = isObject(message) ? message["parts"] : undefined;
  const part: unknown = Array.isArray(parts) ? parts[0] : undefined;
  const text = isObject(part) ? part["text"] : undefined;
  return typeof text === "string" ? text : undefined;
}

/** Returns whether a model call or tool call is a step of the path, or whether a request begins such a step. */
function isOnPath({ kind, to, startMs, taskKey }: SequenceItem, path: readonly CriticalPathStep[]): boolean {
  return path.some(
    (step) =>
      (step.kind === kind || (step.kind === "agent" && kind === "request")) &&
      step.name === to &&
      (step.taskKey === taskKey || kind === "request") &&
      step.startMs <= startMs &&
      startMs <= step.endMs,
  );
}

/** Draws the graph of the calls between agents. The width of an edge grows with the number of requests. */
export function drawTrafficGraph(
  model: TrafficModel,
  tasks: ReadonlySet<string> | undefined,
  path: readonly CriticalPathStep[],
): { readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[] } {
  const graph = buildTrafficGraph(model, tasks);
  const mostRequests = Math.max(1, ...graph.edges.map(({ count }) => count));
  const criticalNames = new Set(path.map(({ name }) => name));
  return {
    nodes: graph.nodes.map(({ name, kind, tasks: taskCount, usage }): GraphNode => {
      const facts = [kind, ...(taskCount > 0 ? [pluralize(taskCount, "task")] : []), ...listUsage(usage)];
      return {
        key: name,
        title: name,
        lines: [facts.join(" · ")],
        colorClass: NODE_COLOR_CLASSES[kind],
        description: `${name}: ${facts.join(", ")}`,
        isCritical: criticalNames.has(name),
      };
    }),
    edges: graph.edges.map((edge): GraphEdge => {
      const { from, to, kind, count, errors } = edge;
      const word = kind === "a2a" ? "request" : "call";
      return {
        key: JSON.stringify([from, to, kind]),
        from,
        to,
        label: `${pluralize(count, word)}${errors > 0 ? `, ${pluralize(errors, "error")}` : ""}`,
        notes: [
          ...(edge.durationsMs.length > 0
            ? [`median ${formatDuration(computeQuantile(edge.durationsMs, 0.5))}`]
            : []),
          ...listUsage(edge.usage),
        ].join(" · "),
        colorClass: errors > 0 ? "failure" : EDGE_COLOR_CLASSES[kind],
        thickness: 1.2 + (2.4 * Math.log1p(count)) / Math.log1p(mostRequests),
      };
    }),
  };
}

const NODE_COLOR_CLASSES = { agent: "request", client: "other", model: "model", tool: "tool" } as const;
const EDGE_COLOR_CLASSES: Readonly<Record<TrafficGraphEdge["kind"], string>> = {
  a2a: "request",
  model: "model",
  tool: "tool",
};

/** Formats the tokens and the price of model calls. An unknown price is omitted. */
export function listUsage(usage: TokenUsage): string[] {
  if (usage.calls === 0) return [];
  const price = formatPrice(usage);
  return [`${formatTokens(usage)} tok`, ...(price === "" ? [] : [price])];
}

/** Largest number of tasks that a timeline shows. */
export const MAX_TIMELINE_TASKS = 400;

/** A timeline with a lane for each agent: a bar for each task, and bars for what the task waited for. */
interface TrafficTimelineDrawing {
  readonly lanes: readonly string[];
  readonly works: readonly TimelineWork[];
  readonly tasksByKey: ReadonlyMap<string, TrafficTask>;
}

/** Draws when agents worked, and what they waited for. Draws the first 400 of `tasks`. */
export function drawTrafficTimeline(
  model: TrafficModel,
  tasks: readonly TrafficTask[],
  path: readonly CriticalPathStep[],
): TrafficTimelineDrawing {
  const tasksByKey = new Map<string, TrafficTask>();
  const works = tasks.slice(0, MAX_TIMELINE_TASKS).flatMap((task): TimelineWork[] => {
    const lane = task.agent ?? "agent";
    const { startMs, endMs } = getTaskPeriod(task);
    const state = task.state?.replace(/^TASK_STATE_/, "").toLowerCase() ?? "unknown";
    tasksByKey.set(task.key, task);
    return [
      {
        key: task.key,
        lane,
        fromMs: startMs,
        toMs: endMs,
        label: `${shortenId(task.id)} ${state}`,
        colorClass: state === "failed" || state === "rejected" ? "failure" : "request",
        description: `Task ${task.id} of ${lane}: ${state}, ${formatTaskDuration(endMs - startMs)}`,
        isCritical: path.some((step) => step.taskKey === task.key),
      },
      ...listTaskActivities(model, task)
        .filter(({ kind }) => kind !== "agent")
        .map((activity, index): TimelineWork => {
          const key = `${task.key} ${index}`;
          tasksByKey.set(key, task);
          return {
            key,
            lane,
            fromMs: activity.startMs,
            toMs: activity.endMs,
            label: activity.name === "" ? WAIT_LABELS[activity.kind] : activity.name,
            colorClass: activity.kind === "model" || activity.kind === "tool" ? activity.kind : "other",
            description: `${WAIT_LABELS[activity.kind]} ${activity.name}: ${formatDuration(activity.endMs - activity.startMs)}`,
            isWaiting: activity.kind !== "model" && activity.kind !== "tool",
            isCritical: path.some(
              (step) =>
                step.kind === activity.kind &&
                step.taskKey === task.key &&
                step.startMs < activity.endMs &&
                activity.startMs < step.endMs,
            ),
          };
        }),
    ];
  });
  return { lanes: [...new Set(works.map(({ lane }) => lane))], works, tasksByKey };
}

/** What a task waited for, or worked on. */
export const WAIT_LABELS: Readonly<Record<CriticalPathStep["kind"], string>> = {
  own: "own work",
  unobserved: "not observed",
  agent: "agent",
  model: "model",
  retry: "retry of the model",
  tool: "tool",
  user: "user",
  queue: "queue",
};
