import type { TimelineEntry, TimelineMark } from "./timeline-types.ts";
import { isEntryOfKind, type TrafficCall } from "./traffic-call.ts";
import type { TrafficExchange } from "./traffic-exchange.ts";
import type { TrafficModel } from "./traffic-model.ts";
import { findEventState, type TrafficTask } from "./traffic-task.ts";

/** An arrow or a note of a sequence diagram. */
export interface SequenceItem {
  /**
   * `request` and `response` are arrows between parties. `events` is an arrow for consecutive events of a stream
   * without a change of the state. `state` is an arrow or a note for a change of the state. `model`, `tool`, and `push`
   * are calls of an agent. `stream-end` is the end of a stream that broke.
   */
  readonly kind: "request" | "response" | "events" | "state" | "stream-end" | "model" | "tool" | "push";
  readonly from: string;
  readonly to: string;
  /** Short text, such as `SendMessage` or `completed`. */
  readonly label: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Number of events, models calls, or tool calls. */
  readonly count: number;
  readonly isError: boolean;
  readonly marks: readonly TimelineMark[];
  readonly taskKey?: string;
  /** Key of the call in `TrafficModel.calls`. */
  readonly callKey?: string;
  /** The first line of the item, for details. */
  readonly entry: TimelineEntry;
}

/** A sequence diagram: the parties in the order of their first appearance, and the items in the order of time. */
export interface TrafficSequence {
  readonly parties: readonly string[];
  readonly items: readonly SequenceItem[];
}

/**
 * Builds the sequence diagram of a record. With `tasks`, the diagram contains only these tasks. Each exchange is drawn
 * once, from the observation that is nearest to the caller.
 */
export function buildTrafficSequence(model: TrafficModel, tasks?: ReadonlySet<string>): TrafficSequence {
  const isIncluded = (key: string | undefined): boolean => !tasks || (key !== undefined && tasks.has(key));
  const items: SequenceItem[] = [];
  for (const exchange of model.exchanges)
    if (isIncluded(exchange.taskKey)) items.push(...listExchangeItems(model, exchange));
  for (const task of model.tasks.values()) if (isIncluded(task.key)) items.push(...listTaskItems(task));
  const sorted = items.toSorted(
    (a, b) => a.startMs - b.startMs || SEQUENCE_ORDER[a.kind] - SEQUENCE_ORDER[b.kind],
  );
  return { parties: [...new Set(sorted.flatMap(({ from, to }) => [from, to]))], items: sorted };
}

const SEQUENCE_ORDER: Readonly<Record<SequenceItem["kind"], number>> = {
  request: 0,
  model: 1,
  tool: 1,
  state: 2,
  events: 3,
  response: 4,
  push: 5,
  "stream-end": 6,
};

function listExchangeItems(model: TrafficModel, exchange: TrafficExchange): SequenceItem[] {
  const { from, to, operation, taskKey } = exchange;
  const task = model.tasks.get(taskKey ?? "");
  const [call] = exchange.calls;
  if (!call?.request) return [];
  const shared = { ...(taskKey !== undefined && { taskKey }), callKey: call.key };
  const getMarks = (entry: TimelineEntry): readonly TimelineMark[] => task?.getMarks(entry) ?? [];
  const createItem = (
    entry: TimelineEntry,
    item: Pick<SequenceItem, "kind" | "from" | "to" | "label"> & Partial<SequenceItem>,
  ): SequenceItem => ({
    startMs: entry.timeMs,
    endMs: entry.timeMs,
    count: 1,
    isError: false,
    marks: getMarks(entry),
    entry,
    ...shared,
    ...item,
  });
  const items = [createItem(call.request, { kind: "request", from, to, label: operation })];
  if (task && call.frameCount > 0)
    items.push(...listStreamItems(task, call, createItem, { from: to, to: from }));
  if (call.response && (call.frameCount === 0 || call.hasFailed)) {
    const { error, status, state } = call.response.line;
    const label = error ?? (state === undefined ? String(status ?? "") : formatState(state));
    items.push(
      createItem(call.response, { kind: "response", from: to, to: from, label, isError: call.hasFailed }),
    );
  }
  for (const fault of call.faults)
    items.push(
      createItem(fault, {
        kind: "stream-end",
        from: to,
        to: from,
        label: `fault: ${fault.line.fault}`,
        isError: true,
      }),
    );
  if (call.end && call.end.line.reason !== "completed")
    items.push(
      createItem(call.end, {
        kind: "stream-end",
        from: to,
        to: from,
        label: call.end.line.reason,
        isError: call.wasInterrupted,
      }),
    );
  return items;
}

type CreateItem = (
  entry: TimelineEntry,
  item: Pick<SequenceItem, "kind" | "from" | "to" | "label"> & Partial<SequenceItem>,
) => SequenceItem;

/** Joins consecutive events without marks and without a change of the state into one item. */
function listStreamItems(
  task: TrafficTask,
  call: TrafficCall,
  createItem: CreateItem,
  direction: Pick<SequenceItem, "from" | "to">,
): SequenceItem[] {
  const items: SequenceItem[] = [];
  let state: string | undefined;
  for (const entry of task.entries) {
    if (!isEntryOfKind(entry, "frame") || `${entry.line.writer}/${entry.line.call}` !== call.key) continue;
    const newState = findEventState(task.findFrameEvent(entry.line));
    const last = items.at(-1);
    const hasMarks = task.getMarks(entry).length > 0;
    if (newState !== undefined && newState !== state) {
      items.push(createItem(entry, { kind: "state", ...direction, label: formatState(newState) }));
      state = newState;
    } else if (last?.kind === "events" && !hasMarks)
      items[items.length - 1] = {
        ...last,
        count: last.count + 1,
        endMs: entry.timeMs,
        label: `${last.count + 1} events`,
      };
    else items.push(createItem(entry, { kind: "events", ...direction, label: "1 event" }));
  }
  return items;
}

function listTaskItems(task: TrafficTask): SequenceItem[] {
  const agent = task.agent ?? "agent";
  const createCallItem = (
    kind: "model" | "tool",
    to: string,
    entry: TimelineEntry,
    { duration_ms, error }: { readonly duration_ms: number; readonly error?: string },
  ): SequenceItem => ({
    kind,
    from: agent,
    to,
    label: error ?? to,
    count: 1,
    isError: error !== undefined,
    startMs: entry.timeMs - duration_ms,
    endMs: entry.timeMs,
    marks: task.getMarks(entry),
    taskKey: task.key,
    entry,
  });
  return [
    ...task.modelCalls.map((entry) => createCallItem("model", entry.line.model, entry, entry.line)),
    ...task.toolCalls.map((entry) => createCallItem("tool", entry.line.tool, entry, entry.line)),
    ...task.entries.flatMap((entry): SequenceItem[] => {
      if (!isEntryOfKind(entry, "push")) return [];
      const { outcome, reason } = entry.line;
      return [
        {
          kind: "push",
          from: agent,
          to: "webhook",
          label: reason ?? outcome,
          count: 1,
          isError: outcome !== "delivered",
          startMs: entry.timeMs,
          endMs: entry.timeMs,
          marks: [],
          taskKey: task.key,
          entry,
        },
      ];
    }),
  ];
}

/** Formats a task state for people, for example `input-required`. The state of another agent may be any text. */
export function formatState(state: string): string {
  return state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}
