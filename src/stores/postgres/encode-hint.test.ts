import { describe, expect, it } from "vitest";
import { decodeHints, PendingHints } from "./encode-hint.ts";

describe("pending hints", () => {
  it("become one payload without repetitions, and are then empty", () => {
    const pending = new PendingHints();
    expect(pending.isEmpty).toBe(true);
    for (const taskId of ["a", "b", "a"]) pending.add({ kind: "events", taskIds: [taskId] });
    pending.add({ kind: "request", taskIds: ["a"] });
    pending.add({ kind: "work" });
    expect(decodeHints(pending.takePayload())).toEqual([
      { kind: "events", taskIds: ["a", "b"] },
      { kind: "request", taskIds: ["a"] },
      { kind: "work" },
    ]);
    expect(pending.isEmpty).toBe(true);
  });

  it("of too many tasks for one notification become a hint for all tasks", () => {
    const pending = new PendingHints();
    pending.add({
      kind: "events",
      taskIds: Array.from({ length: 300 }, (_, at) => `${at} ${"ä".repeat(20)}`),
    });
    const payload = pending.takePayload();
    expect(decodeHints(payload)).toEqual([{ kind: "any" }]);
    pending.add({ kind: "events", taskIds: Array.from({ length: 150 }, (_, at) => `task-${at}`) });
    expect(decodeHints(pending.takePayload())).toMatchObject([{ kind: "events" }]);
  });

  it.each(["*", "", "{", "[1]", '{"events":[1]}', '{"later":["a"]}', "null"])(
    "of an unknown form are hints for all tasks: %s",
    (payload) => {
      expect(decodeHints(payload)).toEqual([{ kind: "any" }]);
    },
  );
});
