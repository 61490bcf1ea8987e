import { describe, expect, it } from "vitest";
import { TrafficModel } from "../model/traffic-model.ts";
import { ScriptedWriter } from "../model/traffic-scenario.fixture.ts";
import { summarizeTask } from "./compare-tasks.ts";
import { countMarks } from "./count-marks.ts";
import { renderTrafficOverview } from "./render-record-text.ts";

const TASK = "0190aaaa-0000-7000-8000-000000000001";

/** Writes what one observer sees of a stream that breaks after two events, and of the stream that continues it. */
function writeResumedStream(
  writer: ScriptedWriter,
  { sees }: { readonly sees: "cut" | "canceled" | "completed" },
): void {
  const request = { kind: "request", to: "writer", binding: "JSONRPC", task_id: TASK } as const;
  const frame = { kind: "frame", task_id: TASK, bytes: 10 } as const;
  writer.write({ ...request, call: "c1", operation: "SendStreamingMessage", message_id: "m1" });
  for (const index of [1, 2]) writer.write({ ...frame, call: "c1", index, log_seq: index });
  writer.write({
    kind: "stream-end",
    call: "c1",
    reason: sees,
    frames: 2,
  });
  writer.write({ ...request, call: "c2", operation: "SubscribeToTask", after: 2 });
  writer.write({ ...frame, call: "c2", index: 1, log_seq: 5 });
  writer.write({ kind: "stream-end", call: "c2", reason: "completed", frames: 1 });
}

function createModel(writers: readonly ScriptedWriter[]): TrafficModel {
  const model = new TrafficModel();
  for (const line of writers.flatMap(({ lines }) => lines)) model.add(line);
  return model;
}

describe("the number of marks", () => {
  it.each(["completed", "canceled"] as const)(
    "counts a cut, a resume, and a gap of three observers once, if the server's stream is %s",
    (sees) => {
      const clock = { ms: 0 };
      const tap = new ScriptedWriter("tap", "tap", clock);
      const client = new ScriptedWriter("client", "client", clock);
      const server = new ScriptedWriter("server", "server", clock);
      writeResumedStream(tap, { sees: "cut" });
      tap.write({ kind: "fault", call: "c1", task_id: TASK, fault: "cut" });
      writeResumedStream(client, { sees: "cut" });
      writeResumedStream(server, { sees });
      const model = createModel([server, tap, client]);
      const task = model.findTask(TASK);
      if (!task) throw new Error("The model has no task.");
      const kinds = [...task.marks.values()].flat().map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "resume")).toHaveLength(3);
      expect(countMarks(model, task)).toEqual({ fault: 1, cut: 1, resume: 1, gap: 1 });
      expect(summarizeTask(model, task).marks).toEqual({ fault: 1, cut: 1, resume: 1, gap: 1 });
      expect(renderTrafficOverview(model)).toMatch(/ 1 cut(?:,|])/);
    },
  );

  it("counts the marks of two requests, and the lost lines of two writers", () => {
    const clock = { ms: 0 };
    const [first, second] = ["first", "second"].map((id) => new ScriptedWriter(id, "client", clock));
    if (!first || !second) throw new Error("A writer is missing.");
    for (const [writer, messageId] of [
      [first, "m1"],
      [second, "m2"],
    ] as const) {
      const request = { kind: "request", to: "writer", binding: "JSONRPC", task_id: TASK } as const;
      writer.write({ ...request, call: "c1", operation: "SendStreamingMessage", message_id: messageId });
      writer.write({ kind: "frame", call: "c1", task_id: TASK, bytes: 1, index: 1 });
      writer.loseLine();
      writer.write({ kind: "frame", call: "c1", task_id: TASK, bytes: 1, index: 3 });
      writer.write({ kind: "stream-end", call: "c1", reason: "cut", frames: 3 });
    }
    const model = createModel([first, second]);
    const task = model.findTask(TASK);
    expect(task && countMarks(model, task)).toEqual({ "lost-lines": 2, cut: 2 });
  });
});
