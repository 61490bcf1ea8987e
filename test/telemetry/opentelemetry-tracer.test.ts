import { context as contextApi, trace } from "@opentelemetry/api";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type RecordedSpans, registerTestProvider } from "./opentelemetry.fixture.ts";
import { getCurrentTraceScope, overrideTraceScopeStorage } from "../../src/observe/telemetry/trace-scope.ts";
import type { SpanStart } from "../../src/observe/telemetry/tracer.ts";
import {
  ContextScopeStorage,
  OpenTelemetryTracer,
} from "../../src/observe/telemetry/opentelemetry/opentelemetry-tracer.ts";

let spans: RecordedSpans | undefined;
afterEach(() => spans?.unregister());

/** Starts a span of a request, and the span of a run in it. Returns both, and the calls for their attributes. */
function startRunInRequest(sampleRatio: number, hasOwnSampler: boolean) {
  spans = registerTestProvider(sampleRatio);
  overrideTraceScopeStorage(new ContextScopeStorage());
  const tracer = new OpenTelemetryTracer({ hasContextManager: true, hasOwnSampler });
  const attributes = vi.fn<SpanStart["attributes"]>(() => ({ a: 1 }));
  const request = tracer.startSpan({ name: "request", kind: "server", parent: "none", attributes });
  const run = tracer.startSpan({ name: "run", kind: "internal", parent: request.context, attributes });
  run.end();
  request.end();
  return { request, run, attributes, spans };
}

describe("the spans of a dropped trace", () => {
  it("have no attributes with our own sampler, and the SDK does not see the children", () => {
    const { request, run, attributes, spans } = startRunInRequest(0, true);
    expect(attributes).not.toHaveBeenCalled();
    expect(spans.list()).toEqual([]);
    expect(run.isRecording).toBe(false);
    expect(run.context).toEqual({ ...request.context, spanId: run.context.spanId, flags: 0 });
    expect(run.context.spanId).not.toBe(request.context.spanId);
  });

  it("show their attributes to a sampler of the program, but not those of children", () => {
    const { attributes, spans } = startRunInRequest(0, false);
    expect(attributes).toHaveBeenCalledTimes(1);
    expect(spans.list()).toEqual([]);
  });
});

it.each([true, false])("recorded spans have their attributes (own sampler: %s)", (hasOwnSampler) => {
  const { spans } = startRunInRequest(1, hasOwnSampler);
  expect(Object.fromEntries(spans.list().map(({ name, attributes }) => [name, attributes]))).toEqual({
    request: { a: 1 },
    run: { a: 1 },
  });
});

it("the scope of a run is in the context of OpenTelemetry, also below the spans of a framework", async () => {
  const task = { taskId: "t", agent: "a" };
  spans = registerTestProvider();
  overrideTraceScopeStorage(new ContextScopeStorage());
  const tracer = new OpenTelemetryTracer({ hasContextManager: true, hasOwnSampler: false });
  const run = tracer.startSpan({
    name: "run",
    kind: "internal",
    parent: "none",
    attributes: () => ({}),
    task,
  });
  expect(getCurrentTraceScope()).toBeUndefined();
  await run.run(async () => {
    await Promise.resolve();
    trace.getTracer("framework").startActiveSpan("step", (step) => {
      expect(getCurrentTraceScope()).toEqual({ context: run.context, task });
      const child = tracer.startSpan({ name: "call", kind: "client", attributes: () => ({}) });
      expect(trace.getSpanContext(contextApi.active())?.spanId).toBe(step.spanContext().spanId);
      child.end();
      step.end();
    });
  });
  run.end();
  expect(spans.find("call").parentSpanContext?.spanId).toBe(spans.find("step").spanContext().spanId);
});
