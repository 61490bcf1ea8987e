import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, expect, it, vi } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { createLogObserver } from "../../observe/logging/index.ts";
import type { Observer } from "../../engine/index.ts";
import { getTracer, type TraceScope } from "../../observe/telemetry/index.ts";
import { decodeTrafficLines } from "../../observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { createServer, type Server } from "../index.ts";
import { OperationTelemetry } from "./operation-telemetry.ts";

const chunks = agent({ name: "chunks", description: "Sends chunks, or fails" }, async function* ({ text }) {
  if (text === "fail") throw new Error("The model has no key.");
  yield "one ";
  yield "two";
});

let server: Server;
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close({ graceMs: 0 });
});

/** Serves with the default log, and returns the names of the listeners that the server calls, in order. */
function serveWithSpiedLog(): { readonly calls: string[]; readonly lines: string[] } {
  const calls: string[] = [];
  const lines: string[] = [];
  const log = createLogObserver({ format: "json", write: (line) => lines.push(line) });
  const spied = Object.entries(log).map(([name, listener]: [string, (seen: never) => void]) => [
    name,
    (seen: never): void => {
      calls.push(name);
      listener(seen);
    },
  ]);
  server = createServer(chunks, { store: "memory", observer: Object.fromEntries(spied) as Observer });
  return { calls, lines };
}

async function send(method: "SendMessage" | "SendStreamingMessage", text: string): Promise<string> {
  const message = { messageId: `${method} ${text}`, role: "ROLE_USER", parts: [{ text }] };
  const response = await server.fetch(
    new Request("http://127.0.0.1/", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
    }),
  );
  return await response.text();
}

it("a message to a default server calls no listener, and starts no span [E25]", async () => {
  const { calls } = serveWithSpiedLog();
  // The first request opens the store.
  await send("SendMessage", "first");
  calls.length = 0;
  const startSpan = vi.spyOn(getTracer(), "startSpan");
  const startOperation = vi.spyOn(OperationTelemetry.prototype, "start");
  const runInScope = vi.spyOn(AsyncLocalStorage.prototype, "run");

  expect(await send("SendMessage", "Hello")).toContain("TASK_STATE_COMPLETED");
  expect(await send("SendStreamingMessage", "Hello")).toContain("TASK_STATE_COMPLETED");

  expect(calls).toEqual([]);
  expect(startSpan).not.toHaveBeenCalled();
  expect(startOperation).not.toHaveBeenCalled();
  // The scope of the agent's calls to other agents is part of each turn, but its ids do not exist yet.
  expect(runInScope).toHaveBeenCalledTimes(2);
});

it("each subscriber of a server watches an operation once, and each report of the engine once [E25]", async () => {
  const startWatch = vi.spyOn(OperationTelemetry.prototype, "start");
  const sink = createMemoryTrafficSink();
  const record = createTrafficWriter(sink, { vantage: "server", name: "test" });
  const onEvent = vi.fn<() => void>();
  const onRequest = vi.fn<() => void>();
  const metrics = { token: "token-of-the-metrics" };
  server = createServer(chunks, { store: "memory", observer: { onEvent, onRequest }, record, metrics });
  expect(await send("SendMessage", "Hello")).toContain("TASK_STATE_COMPLETED");
  await record.flush();
  const linesByKind = Map.groupBy(decodeTrafficLines(sink.text()), ({ kind }) => kind);
  const counts = Object.fromEntries([...linesByKind].map(([kind, lines]) => [kind, lines.length]));
  expect(counts).toMatchObject({ request: 1, response: 1, event: onEvent.mock.calls.length, turn: 2 });
  expect([onEvent.mock.calls.length > 1, onRequest.mock.calls.length]).toEqual([true, 1]);
  expect(startWatch).toHaveBeenCalledTimes(1);
  const headers = { authorization: `Bearer ${metrics.token}` };
  const response = await server.fetch(new Request("http://127.0.0.1/metrics", { headers }));
  expect(await response.text()).toMatch(/^a2a_server_operation_duration\w*_count\{.*SendMessage.*\} 1$/m);
});

it("the ids of a trace are created once, when something reads them [E25]", async () => {
  const { calls, lines } = serveWithSpiedLog();
  await send("SendMessage", "first");
  const startSpan = vi.spyOn(getTracer(), "startSpan");
  const runInScope = vi.spyOn(AsyncLocalStorage.prototype, "run");

  expect(await send("SendMessage", "fail")).toContain("TASK_STATE_FAILED");

  expect(calls).toEqual(["onError"]);
  expect(startSpan).toHaveBeenCalledTimes(1);
  const scope = runInScope.mock.calls[0]?.[0] as TraceScope;
  expect(JSON.parse(lines[0] ?? "{}")).toMatchObject({ traceId: scope.context.traceId });
  expect(startSpan).toHaveBeenCalledTimes(1);
});
