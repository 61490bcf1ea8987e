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
  return listSpans(model).map(({ traceId }) => traceId);
}

it("exports a chain of tasks as one trace, with an effort per task that does not grow with the chain", () => {
  const length = 500;
  const model = createModel(Array.from({ length }, (_, at) => [`task-${at + 1}`, `task-${at}`]));
  const findParentTaskKey = vi.spyOn(model, "findParentTaskKey");
  expect(new Set(listTraceIds(model)).size).toBe(1);
  expect(findParentTaskKey.mock.calls.length).toBeLessThan(4 * length);
});

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

function listSpans(model: TrafficModel): readonly ExportedSpan[] {
  const { resourceSpans } = toTrafficOtlpTraces(model) as unknown as {
    resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

it("exports one span with its own id for each request of a task to another task", () => {
  const writer = new ScriptedWriter("client", "client", { ms: 0 });
  const operations = ["SendMessage", "SendMessage", "SubscribeToTask", "GetTask", "GetTask"];
  for (const [at, operation] of operations.entries())
    writer.write({
      kind: "request",
      call: String(at),
      to: "solver",
      binding: "JSONRPC",
      operation,
      task_id: "solving",
      parent: { task_id: "planning" },
    });
  writer.write({ kind: "turn", task_id: "planning", agent: "planner", phase: "begin", attempt: 1 });
  const model = new TrafficModel();
  for (const line of writer.lines) model.add(line);

  const spans = listSpans(model);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2 + operations.length);
  expect(spans).toHaveLength(2 + operations.length);
  const requests = spans.filter(({ attributes }) => attributes.some(({ key }) => key === "rpc.method"));
  const task = spans.find(({ attributes }) =>
    attributes.some(({ value }) => value.stringValue === "solving"),
  );
  expect(task?.parentSpanId).toBe(requests[0]?.spanId);
  expect(listSpans(model)).toEqual(spans);
});

it("exports tasks that call each other in a circle as one trace", () => {
  const model = createModel([
    ["one", "two"],
    ["two", "one"],
    ["three", "two"],
  ]);
  expect(new Set(listTraceIds(model)).size).toBe(1);
});
