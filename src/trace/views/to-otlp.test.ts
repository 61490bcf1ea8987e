import { expect, it, vi } from "vitest";
import { TrafficModel } from "../model/traffic-model.ts";
import { ScriptedWriter } from "../model/traffic-scenario.fixture.ts";
import { toTrafficOtlpTraces } from "./to-otlp.ts";

/** Creates a model of tasks. Each pair has the id of a task, and the id of the task that started it. */
function createModel(pairs: readonly (readonly [task: string, parent: string])[]): TrafficModel {
  const writer = new ScriptedWriter("client", "client", { ms: 0 });
  for (const [task_id, parent] of pairs)
    writer.write({
      kind: "request",
      call: `call of ${task_id}`,
      to: "solver",
      binding: "JSONRPC",
      operation: "SendMessage",
      task_id,
      parent: { task_id: parent },
    });
  const model = new TrafficModel();
  for (const line of writer.lines) model.add(line);
  return model;
}

function listTraceIds(model: TrafficModel): unknown[] {
  const { resourceSpans } = toTrafficOtlpTraces(model) as {
    resourceSpans: { scopeSpans: { spans: { traceId: string }[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(({ traceId }) => traceId)),
  );
}

it("exports a chain of tasks as one trace, with an effort per task that does not grow with the chain", () => {
  const length = 500;
  const model = createModel(Array.from({ length }, (_, at) => [`task-${at + 1}`, `task-${at}`]));
  const findParentTaskKey = vi.spyOn(model, "findParentTaskKey");
  expect(new Set(listTraceIds(model)).size).toBe(1);
  expect(findParentTaskKey.mock.calls.length).toBeLessThan(4 * length);
});

it("exports tasks that call each other in a circle as one trace", () => {
  const model = createModel([
    ["one", "two"],
    ["two", "one"],
    ["three", "two"],
  ]);
  expect(new Set(listTraceIds(model)).size).toBe(1);
});
