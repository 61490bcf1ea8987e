import type { JsonObject } from "../../protocol/index.ts";
import type { Card } from "../card/index.ts";
import type { Delegation } from "../views/delegations.ts";
import { allOf, exchangesOf, recordingOf, type Shown } from "../views/exchanges.ts";
import type { CallLine } from "../record/index.ts";

/**
 * A run for ui.perfetto.dev and chrome://tracing. Each role is a process; within it, what ran at the same time is on
 * threads of its own, because slices of one thread must nest: the task, in it the work on each card, in it the calls of models.
 * Cards are arrows from who sent them to who got them.
 */
export function perfettoOf(shown: Shown): JsonObject {
  const exchanges = exchangesOf(shown);
  const { run } = recordingOf(shown);
  const lanes = new Lanes();
  const events: JsonObject[] = [];
  const places = new Map<Card, { readonly from?: Place; readonly to?: Place }>();
  const place = (card: Card, end: "from" | "to", at: Place): void => {
    places.set(card, { ...places.get(card), [end]: at });
  };

  for (const { sampleId, root } of exchanges
    .flatMap(({ sampleId, roots }) => roots.map((root) => ({ sampleId, root })))
    .toSorted((a, b) => a.root.sent - b.root.sent)) {
    const { task, reply, sent, answered } = root;
    const lane = lanes.take(task.sender, sent, answered);
    events.push(slice(lane, sampleId ?? "cards", "problem", sent, answered, { reply: reply?.content ?? "" }));
    sides(root, lane, "asker", place);
  }
  for (const { one, calls } of exchanges
    .flatMap(({ roots, calls }) => allOf(roots).map((one) => ({ one, calls })))
    .toSorted((a, b) => a.one.begun - b.one.begun)) {
    const lane = lanes.take(one.task.recipient, one.begun, one.done);
    events.push(...slicesOf(one, calls, lane));
    sides(one, lane, "worker", place);
    for (const subtask of one.subtasks) sides(subtask, lane, "asker", place);
  }

  let id = 0;
  for (const { moments } of exchanges) {
    for (const { card, sent, arrived } of moments) {
      const { from, to } = places.get(card) ?? {};
      if (!from || !to) continue;
      id += 1;
      const flow = { id, name: card.message_type, cat: "card" };
      events.push({ ph: "s", pid: from.pid, tid: from.tid, ts: within(from, sent), ...flow });
      events.push({ ph: "f", bp: "e", pid: to.pid, tid: to.tid, ts: within(to, arrived), ...flow });
    }
  }
  return {
    displayTimeUnit: "ms",
    ...(run && {
      otherData: { run_id: run.run_id, dataset: run.dataset, method: run.method, evidence: run.evidence },
    }),
    traceEvents: [...lanes.names(), ...events],
  };
}

/** A task, in it the work on each card, in that the calls of models. */
function slicesOf(
  { task, reply, begun, done, spans }: Delegation,
  calls: readonly CallLine[],
  lane: Place,
): JsonObject[] {
  const { sample_id = "", card_id = "" } = task.metadata;
  const about = { task: task.content, reply: reply?.content ?? "", sample_id, card_id };
  const events = [slice(lane, task.content.slice(0, 80).toWellFormed(), "task", begun, done, about)];
  for (const { start, end, card } of spans) {
    const { turn, tokens } = card.metadata;
    const verb = card.message_type === "task" ? "plan" : card.message_type;
    const name = turn === undefined ? verb : `${verb} turn ${turn}`;
    events.push(
      slice(lane, name, "work", start, end, {
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
      events.push(slice(lane, `chat ${model}`, "call", from, to, { ...usage, finish }));
      at = to;
    }
  }
  return events;
}

/** A stretch of a thread, in microseconds. */
interface Place {
  readonly pid: number;
  readonly tid: number;
  readonly from: number;
  readonly to: number;
}

/** An arrow hangs on a slice. What came too late for its own, after the reply, hangs on the end of it. */
function within({ from, to }: Place, ms: number): number {
  return Math.min(to, Math.max(from, micros(ms)));
}

/** Notes where each card of a task begins and ends, as far as one side of it knows. */
function sides(
  { task, reply, asides }: Delegation,
  lane: Place,
  side: "asker" | "worker",
  place: (card: Card, end: "from" | "to", at: Place) => void,
): void {
  const role = side === "asker" ? task.sender : task.recipient;
  for (const card of [task, ...asides.map((aside) => aside.card), ...(reply ? [reply] : [])]) {
    // Who talks to itself is at both ends: it asks as the asker, and replies as the worker.
    const isSent =
      card.sender === card.recipient ? (side === "asker") === (card === task) : card.sender === role;
    place(card, isSent ? "from" : "to", lane);
  }
}

function slice(
  { pid, tid }: Place,
  name: string,
  cat: string,
  from: number,
  to: number,
  args: JsonObject,
): JsonObject {
  const ts = micros(from);
  return { ph: "X", pid, tid, ts, dur: Math.max(0, micros(to) - ts), name, cat, args };
}

/** Whole ones, so that ends which were equal stay so. */
function micros(ms: number): number {
  return Math.round(ms * 1_000);
}

/** Threads for each role, as many as it worked on things at the same time. */
class Lanes {
  readonly #roles = new Map<string, number[]>();

  /** A thread of the role that is free from then to then. Slices that are taken in the order of their beginnings need the fewest. */
  take(role: string, from: number, to: number): Place {
    const ends = this.#roles.get(role) ?? [];
    this.#roles.set(role, ends);
    const free = ends.findIndex((end) => end <= micros(from));
    const tid = free < 0 ? ends.length : free;
    ends[tid] = micros(to);
    const pid = [...this.#roles.keys()].indexOf(role) + 1;
    return { pid, tid: tid + 1, from: micros(from), to: Math.max(micros(from), micros(to)) };
  }

  names(): JsonObject[] {
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
