import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  A2AError,
  agent,
  type Agent,
  connect,
  createServer,
  type ServerOptions,
} from "../../src/entries/colloquy.ts";
import { getParentId, type RecordedSpans, registerTestProvider } from "./opentelemetry.fixture.ts";

let spans: RecordedSpans;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  spans = registerTestProvider();
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await spans.unregister();
});

async function serve(served: Agent, options: ServerOptions = {}): Promise<string> {
  const server = createServer(served, { store: "memory", observer: false, ...options });
  closers.push(() => server.close({ graceMs: 0 }));
  return (await server.listen()).url;
}

const echo = agent({ name: "echo", description: "Repeats", version: "2.0.0" }, async function* ({ text }) {
  if (text === "fail") throw new Error("password=hunter2");
  yield text;
});

function createCallingAgent(url: string): Agent {
  return agent({ name: "caller", description: "Calls another agent" }, async function* ({ text }) {
    const answer = await trace.getTracer("user").startActiveSpan("own work", async (span) => {
      const { text: answered } = await (await connect(url)).ask(text);
      span.end();
      return answered;
    });
    yield answer;
  });
}

describe("with a provider of OpenTelemetry, spans", () => {
  it("connect the client, the server, the run, and the spans of the agent itself [E22]", async () => {
    const last = await serve(echo);
    const first = await serve(createCallingAgent(last));
    const client = await connect(first);
    const { task } = await client.ask("Hello", { contextId: "c-1" });
    const [root, ...rest] = spans.list();
    expect(new Set(rest.map((span) => span.spanContext().traceId))).toEqual(
      new Set([root?.spanContext().traceId]),
    );
    const run = spans.find("invoke_agent caller");
    const ownWork = spans.find("own work");
    const lastRun = spans.find("invoke_agent echo");
    const bySpanId = new Map(spans.list().map((span) => [span.spanContext().spanId, span]));
    const listAncestors = (id: string | undefined): string[] => {
      const span = id === undefined ? undefined : bySpanId.get(id);
      return span ? [`${span.name} ${SpanKind[span.kind]}`, ...listAncestors(getParentId(span))] : [];
    };
    expect(listAncestors(lastRun.spanContext().spanId)).toEqual([
      "invoke_agent echo INTERNAL",
      "SendStreamingMessage SERVER",
      "SendStreamingMessage CLIENT",
      "own work INTERNAL",
      "invoke_agent caller INTERNAL",
      "SendStreamingMessage SERVER",
      "SendStreamingMessage CLIENT",
    ]);
    expect(getParentId(ownWork)).toBe(run.spanContext().spanId);
    expect(run.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "caller",
      "gen_ai.conversation.id": "c-1",
      "a2a.task.id": task?.id,
      "a2a.task.state": "TASK_STATE_COMPLETED",
    });
    expect(lastRun.attributes).toMatchObject({
      "gen_ai.agent.version": "2.0.0",
      "colloquy.parent_task.id": task?.id,
    });
    expect(root?.attributes).toMatchObject({
      "a2a.method.name": "SendStreamingMessage",
      "a2a.protocol.version": "1.0",
      "a2a.task.id": task?.id,
      "a2a.task.state": "TASK_STATE_COMPLETED",
      "gen_ai.agent.name": "caller",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(first).port),
    });
  });

  it("have the reason of a failure, and no message that may contain a secret", async () => {
    const url = await serve(echo);
    const client = await connect(url);
    await client.send("fail");
    await expect(client.tasks.get("missing")).rejects.toThrow(A2AError);
    const run = spans.find("invoke_agent echo");
    expect(run.status.code).toBe(SpanStatusCode.ERROR);
    expect(run.attributes["error.type"]).toBe("Error");
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
      const get = spans.find("GetTask", kind);
      expect(get.attributes).toMatchObject({ "error.type": "TASK_NOT_FOUND", "a2a.task.id": "missing" });
      expect(get.status.code).toBe(SpanStatusCode.ERROR);
    }
    expect(JSON.stringify(spans.list().map(({ attributes, status }) => [attributes, status]))).not.toContain(
      "hunter2",
    );
  });

  it("follow the decision of the caller to sample", async () => {
    const url = await serve(echo);
    const client = await connect(url);
    const headers = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00" };
    await client.send("Hello", { headers });
    expect(spans.list().map(({ name }) => name)).toEqual([]);
    await client.send("Hello");
    expect(spans.list().map(({ name }) => name)).toContain("invoke_agent echo");
  });

  it("exist once for each HTTP request, although the fetch of Node.js is instrumented [E22]", async () => {
    const instrumentation = new UndiciInstrumentation();
    closers.push(async () => instrumentation.disable());
    const seen: string[] = [];
    const target = await serve(echo);
    const proxy = createHttpServer((request, response) => {
      const { traceparent } = request.headers;
      if (request.method === "POST") seen.push(String(traceparent));
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const headers = Object.fromEntries(
          ["content-type", "a2a-version", "traceparent"].flatMap((name) => {
            const value = request.headers[name];
            return typeof value === "string" ? [[name, value]] : [];
          }),
        );
        const body = request.method === "POST" ? { body: Buffer.concat(chunks) } : {};
        const forward = async (): Promise<void> => {
          const reply = await fetch(new URL(request.url ?? "/", target), {
            method: request.method ?? "GET",
            headers,
            ...body,
          });
          const text = (await reply.text()).replaceAll(target, `http://${request.headers.host}`);
          response
            .writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" })
            .end(text);
        };
        void forward();
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => proxy.close(resolve)));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const client = await connect(url);
    await client.send("Hello");
    const call = spans.find("SendMessage", SpanKind.CLIENT).spanContext();
    expect(seen).toEqual([`00-${call.traceId}-${call.spanId}-01`]);
    // The control: without our span, the instrumentation sends its own header.
    await fetch(`${url}/control`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(seen[1]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it("do not exist with telemetry: false", async () => {
    const url = await serve(echo, { telemetry: false });
    await (await connect(url)).send("Hello");
    expect(spans.list().map(({ kind }) => kind)).toEqual([SpanKind.CLIENT]);
  });
});
