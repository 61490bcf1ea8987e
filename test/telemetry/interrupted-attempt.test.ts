import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SpanStatusCode } from "@opentelemetry/api";
import { afterEach, beforeEach, expect, it } from "vitest";
import { agent, connect, createServer, type RunReport, type Task } from "../../src/entries/colloquy.ts";
import { MemoryStore } from "../../src/stores/index.ts";
import { getParentId, type RecordedSpans, registerTestProvider } from "./opentelemetry.fixture.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER_SPAN_ID = "00f067aa0ba902b7";

let spans: RecordedSpans;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  spans = registerTestProvider();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await spans.unregister();
});

/** A store that outlives a server that stops normally. */
function createStoreFile(): `sqlite:${string}` {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-interrupted-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, "tasks.db")}`;
}

/** Runs an agent in two servers on one store. The first attempt does not end by itself. */
async function interruptAttempt(
  end: "kill" | "close",
): Promise<{ reports: RunReport[]; sentAt: number; beganAt: number }> {
  const began = Promise.withResolvers<void>();
  const patient = agent(
    { name: "patient", description: "Continues" },
    async function* ({ attempt, signal }) {
      if (attempt === 1) {
        began.resolve();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      }
      yield "done";
    },
    { afterRestart: "restart" },
  );
  const reports: RunReport[] = [];
  const observer = { onRun: (run: RunReport): unknown => reports.push(run) };
  const store = end === "kill" ? new MemoryStore() : createStoreFile();
  const first = createServer(patient, { store, observer });
  const client = await connect((await first.listen()).url);
  const sentAt = Date.now();
  const sent = await client.send("Start", {
    headers: { traceparent: `00-${TRACE_ID}-${CALLER_SPAN_ID}-01` },
    configuration: { returnImmediately: true },
  });
  await began.promise;
  const beganAt = Date.now();
  // Without `close`, the first server stops like a killed process: its span never ends before the next attempt.
  if (end === "close") await first.close({ graceMs: 0 });
  else closers.push(() => first.close({ graceMs: 0 }));
  const second = createServer(patient, { store, observer });
  closers.push(() => second.close({ graceMs: 0 }));
  const { url } = await second.listen();
  const { id } = (sent as { task: Task }).task;
  const reader = await connect(url);
  await expect.poll(async () => (await reader.tasks.get(id)).status.state).toBe("TASK_STATE_COMPLETED");
  return { reports, sentAt, beganAt };
}

it("the next attempt records a span for the attempt of a killed process, with a link to the lost span", async () => {
  const { reports, sentAt, beganAt } = await interruptAttempt("kill");
  const lostSpanId = reports[0]?.traceparent?.split("-")[2];
  const interrupted = spans.find("invoke_agent patient (interrupted)");
  const { spanId, traceId } = interrupted.spanContext();
  expect(traceId).toBe(TRACE_ID);
  expect(spanId).not.toBe(lostSpanId);
  expect(getParentId(interrupted)).toBe(CALLER_SPAN_ID);
  expect(interrupted.links.map(({ context }) => context.spanId)).toEqual([lostSpanId]);
  expect(interrupted.attributes).toMatchObject({ "colloquy.run.attempt": 1, "error.type": "interrupted" });
  expect(interrupted.status.code).toBe(SpanStatusCode.ERROR);
  const [seconds, nanoseconds] = interrupted.startTime;
  const spanStartMs = seconds * 1000 + nanoseconds / 1e6;
  expect(spanStartMs).toBeGreaterThanOrEqual(sentAt);
  expect(spanStartMs).toBeLessThanOrEqual(beganAt);
  const next = spans.list().find(({ attributes }) => attributes["colloquy.run.attempt"] === 2);
  expect(next?.links.map(({ context }) => context.spanId)).toEqual([lostSpanId]);
});

it("the next attempt records no such span if the server stopped normally, because the first span has ended", async () => {
  await interruptAttempt("close");
  const names = spans.list().map(({ name }) => name);
  expect(names.filter((name) => name === "invoke_agent patient")).toHaveLength(2);
  expect(names).not.toContain("invoke_agent patient (interrupted)");
});
