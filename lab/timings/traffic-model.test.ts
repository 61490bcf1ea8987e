import { describe, expect, it } from "vitest";
import { TrafficModel } from "../../src/observe/trace/model/traffic-model.ts";
import { ScriptedWriter } from "../../src/observe/trace/model/traffic-scenario.fixture.ts";
import type { TrafficLine } from "../../src/observe/trace/traffic-line-types.ts";
import { measureSmallestCpuTime } from "./measure-cpu-time.ts";

const TASK = "0190aaaa-0000-7000-8000-000000000001";

function createModel(lines: readonly TrafficLine[]): TrafficModel {
  const model = new TrafficModel();
  for (const line of lines) model.add(line);
  return model;
}

describe("the cost of the model", () => {
  const EVENT = {
    artifactUpdate: { taskId: TASK, artifact: { artifactId: "a", parts: [{ text: "word " }] } },
  };

  /** Writes a task with the given number of events, which a server logs and a client receives. */
  function writeStreamedTask(events: number): TrafficLine[] {
    const clock = { ms: 0 };
    const server = new ScriptedWriter("server", "server", clock);
    const client = new ScriptedWriter("client", "client", clock);
    client.write({
      kind: "request",
      call: "c1",
      to: "a",
      binding: "JSONRPC",
      operation: "SendStreamingMessage",
      message_id: "m1",
    });
    for (let at = 1; at <= events; at++) {
      server.write({ kind: "event", agent: "a", task_id: TASK, log_seq: at, event: EVENT });
      const frame = { call: "c1", task_id: TASK, index: at, log_seq: at, event: EVENT, bytes: 100 };
      client.write({ kind: "frame", ...frame });
    }
    return [...server.lines, ...client.lines].toSorted((a, b) => a.mono_ms - b.mono_ms);
  }

  it("is low for a task with 10,000 lines", () => {
    const lines = writeStreamedTask(5_000);
    // The caches of a busy machine have doubled the CPU time. Quadratic work would take seconds.
    expect(measureSmallestCpuTime(() => void createModel(lines).findTask(TASK)?.timeline)).toBeLessThan(400);
  });

  it("does not grow with the task: later events cost as much as earlier events", () => {
    const lines = writeStreamedTask(20_000);
    const measureAppends = (from: number): number => {
      const model = createModel(lines.slice(0, from));
      let next = from;
      // The page reads the marks and the latest entries after each line.
      return measureSmallestCpuTime(() => {
        for (const end = next + 2_000; next < end; next++) {
          const line = lines[next];
          if (line) model.add(line);
          const task = model.findTask(TASK);
          if (task?.marks.size !== 0 || task.entries.at(-1)?.line !== line) throw new Error("wrong entry");
        }
      });
    };
    const early = measureAppends(1_000);
    const late = measureAppends(25_000);
    // Work that grows with the task would make the factor 25.
    expect(late).toBeLessThan(early * 4 + 2);
  });
});
