import { describe, expect, it } from "vitest";
import { TrafficModel, type TrafficLine } from "../../../observe/trace/index.ts";
import { foldTimeline, listRowMarks, listTimelineEntries } from "./timeline-filter.ts";

const IDS = { agent: "writer", task_id: "0190aaaa-0000-7000-8000-000000000001" } as const;

type Input = readonly [writer: string, mono_ms: number, line: object];

/** The rows of a record: their kinds, starts, durations, and marks. */
function listRows(inputs: readonly Input[]): [string, number, number, string[]][] {
  const model = new TrafficModel();
  const header = { kind: "writer", name: "", code: "", bodies: true };
  const writers = ["client", "server"].map((writer): Input => [writer, 0, { ...header, vantage: writer }]);
  for (const [index, [writer, mono_ms, line]] of [...writers, ...inputs].entries())
    model.add({
      v: 1,
      writer,
      seq: index + 1,
      at: new Date(mono_ms).toISOString(),
      mono_ms,
      ...line,
    } as TrafficLine);
  const task = model.findTask(IDS.task_id);
  if (!task) throw new Error("The task is missing");
  return foldTimeline(model, task, listTimelineEntries(model, task)).map((row) => [
    row.entry.line.kind,
    row.startMs,
    row.endMs - row.startMs,
    listRowMarks(task, row).map(({ kind }) => kind),
  ]);
}

describe("the rows of a timeline", () => {
  const request = { kind: "request", binding: "JSONRPC", to: "writer", ...IDS };
  const response = { kind: "response", status: 200, is_stream: true, duration_ms: 1, ...IDS };
  const send = { ...request, call: "c1", operation: "SendStreamingMessage", message_id: "m1" };
  const resume = { ...request, call: "c2", operation: "SubscribeToTask", after: 1 };
  const end = (call: string, reason: string): object => ({
    kind: "stream-end",
    call,
    reason,
    frames: 1,
    duration_ms: 1,
    ...IDS,
  });

  it("show a request and a broken stream once, although its client and its server observe them", () => {
    const rows = listRows([
      ["client", 10, send],
      ["server", 11, send],
      ["client", 12, { ...response, call: "c1" }],
      ["server", 50, end("c1", "canceled")],
      ["client", 51, end("c1", "cut")],
      ["client", 60, resume],
      ["server", 61, resume],
      ["client", 62, { ...response, call: "c2" }],
      ["server", 90, end("c2", "completed")],
      ["client", 91, end("c2", "completed")],
    ]);
    expect(rows).toEqual([
      ["request", 10, 41, []],
      ["stream-end", 51, 0, ["cut"]],
      ["request", 60, 31, ["resume"]],
    ]);
  });

  it("are in the order of their starts", () => {
    const model = { kind: "model", call: "m", model: "m", duration_ms: 30, ...IDS };
    const rows = listRows([
      ["server", 10, { kind: "turn", phase: "begin", ...IDS }],
      ["server", 30, { kind: "event", log_seq: 1, event: {}, ...IDS }],
      ["server", 50, model],
      ["server", 60, { ...response, call: "c3", duration_ms: 45 }],
    ]);
    expect(rows.map(([kind, startMs]) => [kind, startMs])).toEqual([
      ["turn", 10],
      ["model", 20],
      ["event", 30],
      ["response", 60],
    ]);
  });
});
