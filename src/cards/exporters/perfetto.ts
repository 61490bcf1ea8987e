import type { JsonObject } from "../../protocol/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import type { Delegation } from "../views/delegated-task-forest.ts";
import {
  flattenDelegations,
  listCardsInDelegation,
  buildSampleDelegationForests,
  convertCardsToRecording,
  type CardsOrRecording,
} from "../views/sample-delegation-forests.ts";
import type { ModelCallLine } from "../recording/index.ts";

/**
 * Converts a run into a trace for ui.perfetto.dev and chrome://tracing. In the trace, each role is a process.
 * Parallel tasks use separate threads, because slices on the same thread must not overlap partially. A task
 * slice contains one work slice for each message card. Each work slice contains the slices of its model
 * calls. Message cards become arrows from the sender to the recipient.
 */
export function toPerfettoTrace(shown: CardsOrRecording): JsonObject {
  const exchanges = buildSampleDelegationForests(shown);
  const { run } = convertCardsToRecording(shown);
  const lanes = new RoleThreadAllocator();
  const events: JsonObject[] = [];
  const slots = new Map<
    MessageCard,
    { readonly from?: TraceThreadPeriod; readonly to?: TraceThreadPeriod }
  >();
  const recordSlot = (card: MessageCard, end: "from" | "to", slot: TraceThreadPeriod): void => {
    slots.set(card, { ...slots.get(card), [end]: slot });
  };

  for (const { sampleId, root } of exchanges
    .flatMap(({ sampleId, roots }) => roots.map((root) => ({ sampleId, root })))
    .toSorted((a, b) => a.root.sentMs - b.root.sentMs)) {
    const { task, reply, sentMs, answeredMs } = root;
    const lane = lanes.allocateThread(task.sender, sentMs, answeredMs);
    events.push(
      createPerfettoTraceSlice(lane, sampleId ?? "cards", "problem", sentMs, answeredMs, {
        reply: reply?.content ?? "",
      }),
    );
    recordCardArrowEnds(root, lane, "asker", recordSlot);
  }
  for (const { one, calls } of exchanges
    .flatMap(({ roots, calls }) => flattenDelegations(roots).map((one) => ({ one, calls })))
    .toSorted((a, b) => a.one.startMs - b.one.startMs)) {
    const lane = lanes.allocateThread(one.task.recipient, one.startMs, one.doneMs);
    events.push(...createTaskAndWorkSlices(one, calls, lane));
    recordCardArrowEnds(one, lane, "worker", recordSlot);
    for (const subtask of one.subtasks) recordCardArrowEnds(subtask, lane, "asker", recordSlot);
  }

  let id = 0;
  for (const { timings } of exchanges) {
    for (const { card, sentMs, arrivedMs } of timings) {
      const { from, to } = slots.get(card) ?? {};
      if (!from || !to) continue;
      id += 1;
      const flow = { id, name: card.message_type, cat: "card" };
      events.push({
        ph: "s",
        pid: from.pid,
        tid: from.tid,
        ts: clampArrowTimeToThreadPeriod(from, sentMs),
        ...flow,
      });
      events.push({
        ph: "f",
        bp: "e",
        pid: to.pid,
        tid: to.tid,
        ts: clampArrowTimeToThreadPeriod(to, arrivedMs),
        ...flow,
      });
    }
  }
  return {
    displayTimeUnit: "ms",
    ...(run && {
      otherData: { run_id: run.run_id, dataset: run.dataset, method: run.method, evidence: run.evidence },
    }),
    traceEvents: [...lanes.getThreadNameEvents(), ...events],
  };
}

/** Creates the trace slices for a task and for the work on that task. */
function createTaskAndWorkSlices(
  { task, reply, startMs, doneMs, workSpans }: Delegation,
  calls: readonly ModelCallLine[],
  lane: TraceThreadPeriod,
): JsonObject[] {
  const { sample_id = "", card_id = "" } = task.metadata;
  const details = { task: task.content, reply: reply?.content ?? "", sample_id, card_id };
  const events = [
    createPerfettoTraceSlice(
      lane,
      task.content.slice(0, 80).toWellFormed(),
      "task",
      startMs,
      doneMs,
      details,
    ),
  ];
  for (const { start, end, card } of workSpans) {
    const { turn, tokens } = card.metadata;
    const verb = card.message_type === "task" ? "plan" : card.message_type;
    const name = turn === undefined ? verb : `${verb} turn ${turn}`;
    events.push(
      createPerfettoTraceSlice(lane, name, "work", start, end, {
        content: card.content,
        ...(tokens !== undefined && { tokens }),
      }),
    );
    let at = start;
    for (const call of calls.filter(({ card_id }) => card_id === card.metadata.card_id)) {
      const { mono_ms, duration_ms, model, usage, finish } = call;
      // A call is measured separately, so it can be longer than the work that contains it.
      const to = Math.min(end, Math.max(at, mono_ms));
      const from = Math.min(to, Math.max(at, mono_ms - duration_ms));
      events.push(createPerfettoTraceSlice(lane, `chat ${model}`, "call", from, to, { ...usage, finish }));
      at = to;
    }
  }
  return events;
}

/** A thread in the trace, and a period in microseconds. */
interface TraceThreadPeriod {
  readonly pid: number;
  readonly tid: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Moves the end of an arrow into the period of a slice, because both ends of an arrow must lie within slices.
 * If a message card arrived after the reply, its arrow ends at the end of the slice.
 */
function clampArrowTimeToThreadPeriod({ from, to }: TraceThreadPeriod, ms: number): number {
  return Math.min(to, Math.max(from, toMicroseconds(ms)));
}

/**
 * Records the thread where each message card arrow starts or ends, for either the requester or the worker.
 */
function recordCardArrowEnds(
  delegation: Delegation,
  lane: TraceThreadPeriod,
  side: "asker" | "worker",
  place: (card: MessageCard, end: "from" | "to", at: TraceThreadPeriod) => void,
): void {
  const { task } = delegation;
  const role = side === "asker" ? task.sender : task.recipient;
  for (const card of listCardsInDelegation(delegation)) {
    // A role that sends a task to itself is on both sides. It sends the task as the requester and the reply
    // as the worker.
    const isSent =
      card.sender === card.recipient ? (side === "asker") === (card === task) : card.sender === role;
    place(card, isSent ? "from" : "to", lane);
  }
}

function createPerfettoTraceSlice(
  { pid, tid }: TraceThreadPeriod,
  name: string,
  cat: string,
  from: number,
  to: number,
  args: JsonObject,
): JsonObject {
  const ts = toMicroseconds(from);
  return { ph: "X", pid, tid, ts, dur: Math.max(0, toMicroseconds(to) - ts), name, cat, args };
}

/** Converts milliseconds to integer microseconds, so that equal times remain equal after rounding. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000);
}

/** Allocates the threads that each role needs for parallel work. */
class RoleThreadAllocator {
  readonly #roles = new Map<string, number[]>();

  /**
   * Returns one of the role's threads that is free during the given period. The number of threads is minimal
   * if the caller allocates slices in order of start time.
   */
  allocateThread(role: string, from: number, to: number): TraceThreadPeriod {
    const ends = this.#roles.get(role) ?? [];
    this.#roles.set(role, ends);
    const free = ends.findIndex((end) => end <= toMicroseconds(from));
    const tid = free < 0 ? ends.length : free;
    ends[tid] = toMicroseconds(to);
    const pid = [...this.#roles.keys()].indexOf(role) + 1;
    return {
      pid,
      tid: tid + 1,
      from: toMicroseconds(from),
      to: Math.max(toMicroseconds(from), toMicroseconds(to)),
    };
  }

  getThreadNameEvents(): JsonObject[] {
    return [...this.#roles].flatMap(([role, ends], at) => {
      const pid = at + 1;
      const process = { ph: "M", pid, name: "process_name", args: { name: role } };
      const threads = ends.map((_, tid) => ({
        ph: "M",
        pid,
        tid: tid + 1,
        name: "thread_name",
        args: { name: ends.length === 1 ? role : `${role} ${tid + 1}` },
      }));
      return [process, ...threads];
    });
  }
}
