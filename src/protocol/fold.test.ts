import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canMerge,
  fold,
  isRefusal,
  MergedChunk,
  MOVES,
  refusalOf,
  snapshot,
  TASK_STATES,
  type Move,
  type Task,
  type TaskEvent,
  type TaskState,
} from "./index.ts";

const place = { taskId: "t", contextId: "c" };
const born = (state: TaskState = "TASK_STATE_SUBMITTED"): Task => ({
  id: "t",
  contextId: "c",
  status: { state },
});
const status = (state: TaskState, text?: string): TaskEvent => ({
  statusUpdate: {
    ...place,
    status: text ? { state, message: { messageId: text, role: "ROLE_AGENT", parts: [{ text }] } } : { state },
  },
});
const chunk = (
  text: string,
  more: { append?: boolean; lastChunk?: boolean; id?: string } = {},
): TaskEvent => {
  const { id = "a", ...flags } = more;
  return { artifactUpdate: { ...place, artifact: { artifactId: id, parts: [{ text }] }, ...flags } };
};
const said: TaskEvent = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };

function foldAll(events: TaskEvent[]): Task {
  let task: Task | undefined;
  for (const event of events) {
    const next = fold(task, event);
    if (isRefusal(next)) throw new Error(next.refused);
    task = next;
  }
  return task as Task;
}

// Every cell by hand: a row per state, a letter per move (y legal, - refused) in the order of COLUMNS.
const STATES = [...TASK_STATES, "TASK_STATE_UNSPECIFIED"] as const;
const COLUMNS: Move[] = ["task", "message", "artifact", ...STATES];
const TABLE: Record<TaskState, string> = {
  TASK_STATE_SUBMITTED: "-yyyyyyyyyyy",
  TASK_STATE_WORKING: "-yy-yyyyyyyy",
  TASK_STATE_INPUT_REQUIRED: "-yy-yyyyyyyy",
  TASK_STATE_AUTH_REQUIRED: "-yy-yyyyyyyy",
  TASK_STATE_COMPLETED: "------------",
  TASK_STATE_FAILED: "------------",
  TASK_STATE_CANCELED: "------------",
  TASK_STATE_REJECTED: "------------",
  TASK_STATE_UNSPECIFIED: "-yy-yyyyyyyy",
};

function eventFor(move: Move): TaskEvent {
  if (move === "task") return { task: born() };
  if (move === "message") return said;
  return move === "artifact" ? chunk("x") : status(move);
}

describe("the table of legal moves [E7]", () => {
  for (const state of STATES) {
    for (const [at, move] of COLUMNS.entries()) {
      const legal = TABLE[state][at] === "y";
      it(`${state}: ${move} is ${legal ? "legal" : "refused"}`, () => {
        expect(MOVES[state][move]).toBe(legal);
        const result = fold(born(state), eventFor(move));
        expect(isRefusal(result)).toBe(!legal);
        if (!isRefusal(result) && "statusUpdate" in eventFor(move)) expect(result.status.state).toBe(move);
      });
    }
  }

  it("a task begins with its birth and nothing else", () => {
    expect(isRefusal(fold(undefined, { task: born() }))).toBe(false);
    for (const event of [said, chunk("x"), status("TASK_STATE_WORKING")]) {
      expect(fold(undefined, event)).toEqual({
        refused: "the first event of a task must be the task itself",
      });
    }
  });

  it("says in words what it refuses", () => {
    expect(refusalOf("TASK_STATE_COMPLETED", status("TASK_STATE_WORKING"))).toEqual({
      refused: "a task that is completed accepts no move to working",
    });
  });
});

describe("fold", () => {
  it("joins appended text, and keeps what is not plain text apart [G-07]", () => {
    const file: TaskEvent = {
      artifactUpdate: {
        ...place,
        append: true,
        artifact: { artifactId: "a", parts: [{ url: "http://x/y" }] },
      },
    };
    const task = foldAll([
      { task: born() },
      chunk("Hel"),
      chunk("lo", { append: true }),
      file,
      chunk("!", { append: true }),
    ]);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: "Hello" }, { url: "http://x/y" }, { text: "!" }]);
  });

  it("replaces an artifact that comes again without append", () => {
    const task = foldAll([{ task: born() }, chunk("draft"), chunk("more", { append: true }), chunk("final")]);
    expect(task.artifacts).toEqual([{ artifactId: "a", parts: [{ text: "final" }] }]);
  });

  it("takes an appended chunk of an unknown artifact as its first [G-07]", () => {
    const task = foldAll([{ task: born() }, chunk("x", { append: true, id: "new" })]);
    expect(task.artifacts).toEqual([{ artifactId: "new", parts: [{ text: "x" }] }]);
  });

  it("moves a superseded status message into the history", () => {
    const task = foldAll([
      { task: born() },
      status("TASK_STATE_WORKING", "one"),
      status("TASK_STATE_WORKING", "two"),
      status("TASK_STATE_COMPLETED"),
    ]);
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(["one", "two"]);
    expect(task.status.message).toBeUndefined();
  });

  it("puts a question before its answer", () => {
    const task = foldAll([{ task: born() }, status("TASK_STATE_INPUT_REQUIRED", "which?"), said]);
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(["which?", "m"]);
    expect(task.status).toEqual({ state: "TASK_STATE_INPUT_REQUIRED" });
  });

  it("leaves a snapshot alone, and the events too", () => {
    const events = [{ task: born() }, said, chunk("Hel"), chunk("lo", { append: true })];
    const before = JSON.stringify(events);
    const task = foldAll(events);
    const taken = snapshot(task);
    const frozen = JSON.stringify(taken);
    fold(fold(task, chunk(" world", { append: true })) as Task, said);
    expect(JSON.stringify(taken)).toBe(frozen);
    expect(JSON.stringify(events)).toBe(before);
  });

  it("costs the same per chunk however long the task is [E6]", () => {
    // Counted, not timed: every read of an artifact's parts by index or length goes through this.
    const parts: { url: string }[] = [];
    let touched = 0;
    const counted = new Proxy(parts, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) touched++;
        return Reflect.get(target, key) as unknown;
      },
    });
    const task: Task = { ...born("TASK_STATE_WORKING"), artifacts: [{ artifactId: "a", parts: counted }] };
    const append: TaskEvent = {
      artifactUpdate: { ...place, append: true, artifact: { artifactId: "a", parts: [{ url: "x" }] } },
    };
    for (let at = 0; at < 1000; at++) fold(task, append);
    const first = touched;
    for (let at = 0; at < 1000; at++) fold(task, append);
    expect(parts).toHaveLength(2000);
    expect(touched - first).toBeLessThanOrEqual(first + 2);
  });
});

const anyChunk = fc
  .record({
    text: fc.string({ maxLength: 5 }),
    id: fc.constantFrom("a", "b"),
    append: fc.boolean(),
    lastChunk: fc.boolean(),
  })
  .map(({ text, id, append, lastChunk }) =>
    chunk(text, { id, ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) }),
  );

/** The events as they are after merging whatever can be. */
function mergeAll(events: TaskEvent[]): TaskEvent[] {
  const merged: TaskEvent[] = [];
  let growing: MergedChunk | undefined;
  for (const event of events) {
    const last = merged.at(-1);
    if (last && "artifactUpdate" in last && "artifactUpdate" in event && canMerge(last, event)) {
      growing ??= new MergedChunk(last.artifactUpdate);
      growing.add(event.artifactUpdate);
      merged[merged.length - 1] = growing.event;
    } else {
      merged.push(event);
      growing = undefined;
    }
  }
  return merged;
}

describe("merging chunks", () => {
  it("changes nothing but the number of events [E6]", () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 30 }), (events) => {
        const before = JSON.stringify(events);
        const merged = mergeAll(events);
        expect(foldAll([{ task: born() }, ...merged])).toEqual(foldAll([{ task: born() }, ...events]));
        expect(JSON.stringify(events)).toBe(before);
      }),
    );
  });

  it("joins neighbours of one artifact and keeps the mark of the last", () => {
    const chunks = [
      chunk("Hel"),
      chunk("l", { append: true }),
      chunk("o", { append: true, lastChunk: true }),
    ];
    expect(mergeAll(chunks)).toEqual([chunk("Hello", { lastChunk: true })]);
  });

  it.each([
    ["another artifact", chunk("x", { id: "b", append: true }), chunk("y")],
    ["a replacement", chunk("x"), chunk("y")],
    ["what follows a last chunk", chunk("y", { append: true }), chunk("x", { lastChunk: true })],
    ["a status", status("TASK_STATE_WORKING"), chunk("x")],
  ])("leaves %s alone", (_, second, first) => {
    expect(canMerge(first, second)).toBe(false);
  });

  it("leaves a chunk alone that says more than its text", () => {
    const named: TaskEvent = {
      artifactUpdate: {
        ...place,
        append: true,
        artifact: { artifactId: "a", name: "n", parts: [{ text: "x" }] },
      },
    };
    expect(canMerge(chunk("y"), named)).toBe(false);
  });
});
