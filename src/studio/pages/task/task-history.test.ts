import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getText, type JsonObject } from "../../../protocol/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { TaskHistory } from "./task-history.ts";

const EVENT_COUNT = 8;

/** The log of a task whose agent writes one digit per event. */
function createLine(seq: number): TrafficLine {
  const update = {
    taskId: "t",
    contextId: "c",
    artifact: { artifactId: "a", parts: [{ text: String(seq) }] },
    append: seq > 2,
  };
  const event: JsonObject =
    seq === 1
      ? { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } }
      : { artifactUpdate: update };
  return {
    v: 1,
    kind: "event",
    writer: "w",
    seq,
    at: "",
    mono_ms: seq,
    task_id: "t",
    log_seq: seq,
    event,
  };
}

const readText = (history: TaskHistory, seq: number): string =>
  getText(history.buildTaskAt(seq)?.artifacts?.[0]?.parts ?? []);

describe("the history of a task", () => {
  it("is the same for every order and repetition of its events, and for every order of questions", () => {
    const order = fc.shuffledSubarray(
      Array.from({ length: EVENT_COUNT * 2 }, (_, at) => 1 + (at % EVENT_COUNT)),
      { minLength: EVENT_COUNT * 2 },
    );
    fc.assert(
      fc.property(order, fc.array(fc.integer({ min: 1, max: EVENT_COUNT })), (seqs, questions) => {
        const history = new TaskHistory();
        for (const seq of seqs) history.addLine(createLine(seq));
        expect(history.lastSeq).toBe(EVENT_COUNT);
        for (const seq of questions) expect(readText(history, seq)).toBe("2345678".slice(0, seq - 1));
      }),
    );
  });

  it("ends before the first missing event", () => {
    const history = new TaskHistory();
    for (const seq of [1, 2, 3, 5]) history.addLine(createLine(seq));
    expect(history.lastSeq).toBe(3);
    expect(readText(history, 5)).toBe("23");
  });

  it("is incomplete without an event that the record shortens, until another line has the whole event", () => {
    const history = new TaskHistory();
    const shortened = { artifactUpdate: { taskId: "t" }, "colloquy:truncated": { length: 70_000, text: "" } };
    for (const line of [createLine(1), { ...createLine(2), event: shortened }, createLine(3)])
      history.addLine(line);
    expect([history.lastSeq, history.isComplete]).toEqual([1, false]);
    history.addLine(createLine(2));
    expect([history.lastSeq, history.isComplete]).toEqual([3, true]);
    expect(readText(history, 3)).toBe("23");
  });

  it("skips events that A2A does not allow", () => {
    const history = new TaskHistory();
    const strange: JsonObject = { artifactUpdate: { taskId: "t", artifact: null } };
    for (const line of [createLine(1), { ...createLine(2), event: strange }, createLine(3)])
      history.addLine(line);
    expect(readText(history, 3)).toBe("3");
  });
});
