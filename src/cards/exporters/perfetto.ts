import type { JsonObject } from "../../protocol/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import type { Delegation } from "../views/delegations.ts";
import {
  flattenDelegations,
  listDelegationCards,
  buildSampleExchanges,
  toRecording,
  type CardsOrRecording,
} from "../views/sample-exchanges.ts";
import type { ModelCallLine } from "../recording/index.ts";

/**
 * A run for ui.perfetto.dev and chrome://tracing. Each role is a process; within it, what ran at the same time is on
 * threads of its own, because slices of one thread must nest: the task, in it the work on each card, in it the calls of models.
 * Cards are arrows from who sent them to who got them.
 */
export function toPerfettoTrace(shown: CardsOrRecording): JsonObject {
  const exchanges = buildSampleExchanges(shown);
  const { run } = toRecording(shown);
  const lanes = new ThreadAllocator();
  const events: JsonObject[] = [];
  const places = new Map<MessageCard, { readonly from?: ThreadSlot; readonly to?: ThreadSlot }>();
  const place = (card: MessageCard, end: "from" | "to", at: ThreadSlot): void => {
    places.set(card, { ...places.get(card), [end]: at });
  };

  for (const { sampleId, root } of exchanges
    .flatMap(({ sampleId, roots }) => roots.map((root) => ({ sampleId, root })))
    .toSorted((a, b) => a.root.sentMs - b.root.sentMs)) {
    const { task, reply, sentMs: sent, answeredMs: answered } = root;
    const lane = lanes.allocate(task.sender, sent, answered);
    events.push(
      createSlice(lane, sampleId ?? "cards", "problem", sent, answered, { reply: reply?.content ?? "" }),
    );
    recordCardSlots(root, lane, "asker", place);
  }
  for (const { one, calls } of exchanges
    .flatMap(({ roots, calls }) => flattenDelegations(roots).map((one) => ({ one, calls })))
    .toSorted((a, b) => a.one.startMs - b.one.startMs)) {
    const lane = lanes.allocate(one.task.recipient, one.startMs, one.doneMs);
    events.push(...toTaskSlices(one, calls, lane));
    recordCardSlots(one, lane, "worker", place);
    for (const subtask of one.subtasks) recordCardSlots(subtask, lane, "asker", place);
  }

  let id = 0;
  for (const { timings: moments } of exchanges) {
    for (const { card, sentMs: sent, arrivedMs: arrived } of moments) {
      const { from, to } = places.get(card) ?? {};
      if (!from || !to) continue;
      id += 1;
      const flow = { id, name: card.message_type, cat: "card" };
      events.push({ ph: "s", pid: from.pid, tid: from.tid, ts: clampToSlot(from, sent), ...flow });
      events.push({ ph: "f", bp: "e", pid: to.pid, tid: to.tid, ts: clampToSlot(to, arrived), ...flow });
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

/** A task, in it the work on each card, in that the calls of models. */
function toTaskSlices(
  { task, reply, startMs: begun, doneMs: done, workSpans: spans }: Delegation,
  calls: readonly ModelCallLine[],
  lane: ThreadSlot,
): JsonObject[] {
  const { sample_id = "", card_id = "" } = task.metadata;
  const about = { task: task.content, reply: reply?.content ?? "", sample_id, card_id };
  const events = [createSlice(lane, task.content.slice(0, 80).toWellFormed(), "task", begun, done, about)];
  for (const { start, end, card } of spans) {
    const { turn, tokens } = card.metadata;
    const verb = card.message_type === "task" ? "plan" : card.message_type;
    const name = turn === undefined ? verb : `${verb} turn ${turn}`;
    events.push(
      createSlice(lane, name, "work", start, end, {
        content: card.content,
        ...(tokens !== undefined && { tokens }),
      }),
    );
    let at = start;
    for (const call of calls.filter(({ card_id }) => card_id === card.metadata.card_id)) {
      const { mono_ms, duration_ms, model, usage, finish } = call;
      // Measured by itself, a call may be longer than what it is part of.
      const to = Math.min(end, Math.max(at, mono_ms));
      const from = Math.min(to, Math.max(at, mono_ms - duration_ms));
      events.push(createSlice(lane, `chat ${model}`, "call", from, to, { ...usage, finish }));
      at = to;
    }
  }
  return events;
}

/** A stretch of a thread, in microseconds. */
interface ThreadSlot {
  readonly pid: number;
  readonly tid: number;
  readonly from: number;
  readonly to: number;
}

/** An arrow hangs on a slice. What came too late for its own, after the reply, hangs on the end of it. */
function clampToSlot({ from, to }: ThreadSlot, ms: number): number {
  return Math.min(to, Math.max(from, toMicroseconds(ms)));
}

/** Notes where each card of a task begins and ends, as far as one side of it knows. */
function recordCardSlots(
  delegation: Delegation,
  lane: ThreadSlot,
  side: "asker" | "worker",
  place: (card: MessageCard, end: "from" | "to", at: ThreadSlot) => void,
): void {
  const { task } = delegation;
  const role = side === "asker" ? task.sender : task.recipient;
  for (const card of listDelegationCards(delegation)) {
    // Who talks to itself is at both ends: it asks as the asker, and replies as the worker.
    const isSent =
      card.sender === card.recipient ? (side === "asker") === (card === task) : card.sender === role;
    place(card, isSent ? "from" : "to", lane);
  }
}

function createSlice(
  { pid, tid }: ThreadSlot,
  name: string,
  cat: string,
  from: number,
  to: number,
  args: JsonObject,
): JsonObject {
  const ts = toMicroseconds(from);
  return { ph: "X", pid, tid, ts, dur: Math.max(0, toMicroseconds(to) - ts), name, cat, args };
}

/** Whole ones, so that ends which were equal stay so. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000);
}

/** Threads for each role, as many as it worked on things at the same time. */
class ThreadAllocator {
  readonly #roles = new Map<string, number[]>();

  /** A thread of the role that is free from then to then. Slices that are taken in the order of their beginnings need the fewest. */
  allocate(role: string, from: number, to: number): ThreadSlot {
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
