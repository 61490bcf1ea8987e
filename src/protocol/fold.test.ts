import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canMergeChunks,
  isChunkReplacedBy,
  fold,
  isEventRefusal,
  MergedChunk,
  ALLOWED_TRANSITIONS_BY_TASK_STATE,
  findEventRefusal,
  copyTask,
  TASK_STATES,
  type Task,
  type TaskEvent,
  type TaskState,
} from "./index.ts";
import type { EventTransitionKind } from "./fold.ts";

const taskIds = { taskId: "t", contextId: "c" };
const createTask = (state: TaskState = "TASK_STATE_SUBMITTED"): Task => ({
  id: "t",
  contextId: "c",
  status: { state },
});
const createStatusEvent = (state: TaskState, text?: string): TaskEvent => ({
  statusUpdate: {
    ...taskIds,
    status: text ? { state, message: { messageId: text, role: "ROLE_AGENT", parts: [{ text }] } } : { state },
  },
});
const createChunkEvent = (
  text: string,
  more: { append?: boolean; lastChunk?: boolean; id?: string } = {},
): TaskEvent => {
  const { id = "a", ...flags } = more;
  return { artifactUpdate: { ...taskIds, artifact: { artifactId: id, parts: [{ text }] }, ...flags } };
};
const userMessageEvent: TaskEvent = {
  message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] },
};

function foldAll(events: TaskEvent[]): Task {
  let task: Task | undefined;
  for (const event of events) {
    const next = fold(task, event);
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    task = next;
  }
  return task as Task;
}

// Expected cells: one row per state, one character per transition (y allowed, - refused), in the order of
// TRANSITION_COLUMNS.
const ALL_STATES = [...TASK_STATES, "TASK_STATE_UNSPECIFIED"] as const;
const TRANSITION_COLUMNS: EventTransitionKind[] = ["task", "message", "artifact", ...ALL_STATES];
const EXPECTED_TRANSITIONS: Record<TaskState, string> = {
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

function createEventFor(transition: EventTransitionKind): TaskEvent {
  if (transition === "task") return { task: createTask() };
  if (transition === "message") return userMessageEvent;
  return transition === "artifact" ? createChunkEvent("x") : createStatusEvent(transition);
}

describe("the table of allowed transitions [E7]", () => {
  for (const state of ALL_STATES) {
    for (const [at, transition] of TRANSITION_COLUMNS.entries()) {
      const isAllowed = EXPECTED_TRANSITIONS[state][at] === "y";
      it(`${state}: ${transition} is ${isAllowed ? "allowed" : "refused"}`, () => {
        expect(ALLOWED_TRANSITIONS_BY_TASK_STATE[state][transition]).toBe(isAllowed);
        const result = fold(createTask(state), createEventFor(transition));
        expect(isEventRefusal(result)).toBe(!isAllowed);
        if (!isEventRefusal(result) && "statusUpdate" in createEventFor(transition))
          expect(result.status.state).toBe(transition);
      });
    }
  }

  it("a log starts with the creation of its task", () => {
    expect(isEventRefusal(fold(undefined, { task: createTask() }))).toBe(false);
    for (const event of [userMessageEvent, createChunkEvent("x"), createStatusEvent("TASK_STATE_WORKING")]) {
      expect(fold(undefined, event)).toEqual({
        refusalReason: "the first event of a task must be the task itself",
      });
    }
  });

  it("describes a refusal", () => {
    expect(findEventRefusal("TASK_STATE_COMPLETED", createStatusEvent("TASK_STATE_WORKING"))).toEqual({
      refusalReason: "a task that is completed accepts no transition to working",
    });
  });
});

describe("fold", () => {
  it("joins appended text and keeps other parts separate [G-07]", () => {
    const file: TaskEvent = {
      artifactUpdate: {
        ...taskIds,
        append: true,
        artifact: { artifactId: "a", parts: [{ url: "http://x/y" }] },
      },
    };
    const task = foldAll([
      { task: createTask() },
      createChunkEvent("Hel"),
      createChunkEvent("lo", { append: true }),
      file,
      createChunkEvent("!", { append: true }),
    ]);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: "Hello" }, { url: "http://x/y" }, { text: "!" }]);
  });

  it("replaces an existing artifact without append", () => {
    const task = foldAll([
      { task: createTask() },
      createChunkEvent("draft"),
      createChunkEvent("more", { append: true }),
      createChunkEvent("final"),
    ]);
    expect(task.artifacts).toEqual([{ artifactId: "a", parts: [{ text: "final" }] }]);
  });

  it("creates an artifact from an appended chunk of an unknown artifact [G-07]", () => {
    const task = foldAll([{ task: createTask() }, createChunkEvent("x", { append: true, id: "new" })]);
    expect(task.artifacts).toEqual([{ artifactId: "new", parts: [{ text: "x" }] }]);
  });

  it("moves a superseded status message into the history", () => {
    const task = foldAll([
      { task: createTask() },
      createStatusEvent("TASK_STATE_WORKING", "one"),
      createStatusEvent("TASK_STATE_WORKING", "two"),
      createStatusEvent("TASK_STATE_COMPLETED"),
    ]);
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(["one", "two"]);
    expect(task.status.message).toBeUndefined();
  });

  it("puts a question before its answer", () => {
    const task = foldAll([
      { task: createTask() },
      createStatusEvent("TASK_STATE_INPUT_REQUIRED", "which?"),
      userMessageEvent,
    ]);
    expect(task.history?.map(({ messageId }) => messageId)).toEqual(["which?", "m"]);
    expect(task.status).toEqual({ state: "TASK_STATE_INPUT_REQUIRED" });
  });

  it("changes neither a snapshot nor the events", () => {
    const events = [
      { task: createTask() },
      userMessageEvent,
      createChunkEvent("Hel"),
      createChunkEvent("lo", { append: true }),
    ];
    const before = JSON.stringify(events);
    const task = foldAll(events);
    const snapshot = copyTask(task);
    const frozen = JSON.stringify(snapshot);
    fold(fold(task, createChunkEvent(" world", { append: true })) as Task, userMessageEvent);
    expect(JSON.stringify(snapshot)).toBe(frozen);
    expect(JSON.stringify(events)).toBe(before);
  });

  it("changes no copy of the task, and no task whose copy changes", () => {
    type ChunkOptions = { text: string; append: boolean; id: string };
    const events = fc.array(
      fc.oneof(
        fc.record({ text: fc.string(), append: fc.boolean(), id: fc.constantFrom("a", "b", "c") }),
        fc.constant(undefined),
      ),
      { maxLength: 30 },
    );
    const toEvents = (log: readonly (ChunkOptions | undefined)[]): TaskEvent[] =>
      log.map((chunk) => (chunk ? createChunkEvent(chunk.text, chunk) : userMessageEvent));
    const foldOnto = (start: Task, log: readonly TaskEvent[]): Task =>
      log.reduce((task, event) => fold(task, event) as Task, start);
    fc.assert(
      fc.property(events, events, events, (before, onOriginal, onCopy) => {
        const start = [{ task: createTask() }, ...toEvents(before)];
        const original = foldAll(start);
        const copy = copyTask(original);
        const untouched = copyTask(copy);
        const [changedOriginal, changedCopy] = [
          foldOnto(original, toEvents(onOriginal)),
          foldOnto(copy, toEvents(onCopy)),
        ];
        expect(changedOriginal).toEqual(foldAll([...start, ...toEvents(onOriginal)]));
        expect(changedCopy).toEqual(foldAll([...start, ...toEvents(onCopy)]));
        expect(untouched).toEqual(foldAll(start));
      }),
    );
  });

  it("has a constant cost per chunk for any length of the task [E6]", () => {
    // Counted instead of timed: every read of an artifact's parts by index passes through this proxy.
    const parts: { url: string }[] = [];
    let touched = 0;
    const counted = new Proxy(parts, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) touched++;
        return Reflect.get(target, key) as unknown;
      },
    });
    const task: Task = {
      ...createTask("TASK_STATE_WORKING"),
      artifacts: [{ artifactId: "a", parts: counted }],
    };
    const append: TaskEvent = {
      artifactUpdate: { ...taskIds, append: true, artifact: { artifactId: "a", parts: [{ url: "x" }] } },
    };
    for (let at = 0; at < 1000; at++) fold(task, append);
    const first = touched;
    for (let at = 0; at < 1000; at++) fold(task, append);
    expect(parts).toHaveLength(2000);
    expect(touched - first).toBeLessThanOrEqual(first + 2);
  });
});

const chunkArbitrary = fc
  .record({
    text: fc.string({ maxLength: 5 }),
    id: fc.constantFrom("a", "b"),
    append: fc.boolean(),
    lastChunk: fc.boolean(),
  })
  .map(({ text, id, append, lastChunk }) =>
    createChunkEvent(text, { id, ...(append ? { append } : {}), ...(lastChunk ? { lastChunk } : {}) }),
  );

/** Merges all adjacent chunks that can be merged. */
function mergeChunks(events: TaskEvent[]): TaskEvent[] {
  const merged: TaskEvent[] = [];
  let growing: MergedChunk | undefined;
  for (const event of events) {
    const last = merged.at(-1);
    if (last && "artifactUpdate" in last && "artifactUpdate" in event && canMergeChunks(last, event)) {
      growing ??= new MergedChunk(last.artifactUpdate);
      growing.add(event.artifactUpdate);
      merged[merged.length - 1] = growing.event;
    } else {
      if (last && isChunkReplacedBy(last, event)) merged.pop();
      merged.push(event);
      growing = undefined;
    }
  }
  return merged;
}

describe("merging chunks", () => {
  it("changes nothing but the number of events [E6]", () => {
    fc.assert(
      fc.property(fc.array(chunkArbitrary, { maxLength: 30 }), (events) => {
        const before = JSON.stringify(events);
        const merged = mergeChunks(events);
        expect(foldAll([{ task: createTask() }, ...merged])).toEqual(
          foldAll([{ task: createTask() }, ...events]),
        );
        expect(JSON.stringify(events)).toBe(before);
      }),
    );
  });

  it("joins adjacent chunks of one artifact and keeps the lastChunk flag", () => {
    const chunks = [
      createChunkEvent("Hel"),
      createChunkEvent("l", { append: true }),
      createChunkEvent("o", { append: true, lastChunk: true }),
    ];
    expect(mergeChunks(chunks)).toEqual([createChunkEvent("Hello", { lastChunk: true })]);
  });

  it.each([
    ["another artifact", createChunkEvent("x", { id: "b", append: true }), createChunkEvent("y")],
    ["a replacement", createChunkEvent("x"), createChunkEvent("y")],
    [
      "a chunk after a last chunk",
      createChunkEvent("y", { append: true }),
      createChunkEvent("x", { lastChunk: true }),
    ],
    ["a status", createStatusEvent("TASK_STATE_WORKING"), createChunkEvent("x")],
  ])("does not merge %s", (_, second, first) => {
    expect(canMergeChunks(first, second)).toBe(false);
  });

  it("drops a chunk that the next chunk of the artifact replaces", () => {
    const chunks = [createChunkEvent("Hel"), createChunkEvent("lo", { append: true })];
    const whole = createChunkEvent("Hello", { lastChunk: true });
    const other = createChunkEvent("Hello", { id: "b" });
    expect(mergeChunks([...chunks, whole])).toEqual([whole]);
    expect(mergeChunks([...chunks, other])).toEqual([createChunkEvent("Hello"), other]);
    expect(mergeChunks([whole, createChunkEvent("Hi")])).toEqual([whole, createChunkEvent("Hi")]);
  });

  it("does not merge a chunk with more than its text", () => {
    const named: TaskEvent = {
      artifactUpdate: {
        ...taskIds,
        append: true,
        artifact: { artifactId: "a", name: "n", parts: [{ text: "x" }] },
      },
    };
    expect(canMergeChunks(createChunkEvent("y"), named)).toBe(false);
  });
});
