import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import {
  agent,
  connect,
  createServer,
  type Server,
  type ServerOptions,
  type TelemetryOptions,
} from "../../src/entries/colloquy.ts";
import { resetTracer } from "../../src/observe/telemetry/node/index.ts";
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { startOtlpReceiver } from "./otlp-receiver.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  for (const api of [trace, context, propagation, metrics]) api.disable();
  resetTracer();
});

const parrot = agent({ name: "parrot", description: "Repeats" }, async function* ({ text }) {
  if (text === "fail") throw new RangeError("too far");
  yield text;
});

async function serve(
  options: ServerOptions,
): Promise<{ server: Server; address: Awaited<ReturnType<Server["listen"]>> }> {
  const server = createServer(parrot, { store: "memory", observer: false, ...options });
  closers.push(() => server.close({ graceMs: 0 }));
  return { server, address: await server.listen() };
}

/** Sends GET /metrics with Host headers, and returns the status of the response. */
async function readStatus(port: number, hosts: readonly string[]): Promise<number> {
  const lines = ["GET /metrics HTTP/1.1", ...hosts.map((host) => `Host: ${host}`), "Connection: close"];
  return Number(
    (await text(connectSocket(port, "127.0.0.1").end(`${lines.join("\r\n")}\r\n\r\n`))).split(" ")[1],
  );
}

async function readMetrics(url: string, init?: RequestInit): Promise<string> {
  return await (await fetch(`${url}/metrics`, init)).text();
}

describe("GET /metrics", () => {
  it("requires its own token, which is not a credential of the agents [SEC-69]", async () => {
    const { address } = await serve({ metrics: { token: "s3cret-token" } });
    const read = async (authorization?: string): Promise<number> =>
      (await fetch(`${address.url}/metrics`, authorization ? { headers: { authorization } } : {})).status;
    expect([await read(), await read("Bearer wrong"), await read("Bearer s3cret-token")]).toEqual([
      401, 401, 200,
    ]);
    const { url } = (await serve({})).address;
    expect(
      (await fetch(`${url}/metrics`, { headers: { authorization: "Bearer s3cret-token" } })).status,
    ).toBe(404);
  });

  it("counts requests, operations, runs, commits, and tasks", async () => {
    const { address } = await serve({ metrics: { port: 0 } });
    const metricsUrl = `http://127.0.0.1:${address.metrics?.port}`;
    const client = await connect(address.url);
    await client.send("Hello");
    await client.send("fail");
    for await (const _ of client.stream("Hello"));
    await client.tasks.get("missing").catch(() => {});
    const text = await readMetrics(metricsUrl);
    const find = (pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
    expect(
      find(
        /^a2a_server_operation_duration_seconds_count\{a2a_method_name="SendMessage",gen_ai_agent_name="parrot"\} (\d+)$/m,
      ),
    ).toBe(2);
    expect(find(/^a2a_server_operation_duration_seconds_count\{.*"SendStreamingMessage".*\} (\d+)$/m)).toBe(
      1,
    );
    expect(
      find(
        /^a2a_server_operation_duration_seconds_count\{.*"GetTask".*error_type="TASK_NOT_FOUND"\} (\d+)$/m,
      ),
    ).toBe(1);
    expect(find(/^gen_ai_invoke_agent_duration_seconds_count\{.*"TASK_STATE_COMPLETED"\} (\d+)$/m)).toBe(2);
    expect(find(/^gen_ai_invoke_agent_duration_seconds_count\{.*error_type="RangeError"\} (\d+)$/m)).toBe(1);
    expect(find(/^colloquy_tasks_ended_total\{.*"TASK_STATE_FAILED"\} (\d+)$/m)).toBe(1);
    expect(find(/^colloquy_runs_active\{gen_ai_agent_name="parrot"\} (\d+)$/m)).toBe(0);
    expect(find(/^colloquy_commit_duration_seconds_count\{outcome="succeeded"\} (\d+)$/m)).toBeGreaterThan(0);
    expect(find(/^colloquy_commit_events_total (\d+)$/m)).toBeGreaterThanOrEqual(6);
    expect(find(/^colloquy_store_healthy (\d+)$/m)).toBe(1);
    expect(find(/^colloquy_turns_waiting\{gen_ai_agent_name="parrot",reason="task"\} (\d+)$/m)).toBe(0);
    expect(find(/^colloquy_buffered_limit_bytes (\d+)$/m)).toBeGreaterThan(0);
    expect(find(/^process_memory_usage_bytes (\d+)$/m)).toBeGreaterThan(1e6);
    expect(text).not.toMatch(/\btaskId\b|\btask_id\b/);
  });

  it("keeps the observer of the program", async () => {
    const seen: string[] = [];
    const { address } = await serve({
      metrics: { port: 0 },
      observer: { onRun: ({ phase }) => seen.push(phase) },
    });
    await (await connect(address.url)).send("Hello");
    expect(seen).toEqual(["begin", "end"]);
  });

  it("of the separate server on loopback are not for web pages of foreign hosts", async () => {
    const { address } = await serve({ metrics: { port: 0 } });
    const port = address.metrics?.port ?? 0;
    for (const [hosts, status] of [
      [["localhost:9464"], 200],
      [["evil.example"], 403],
      [["a@localhost"], 400],
      [["localhost", "evil.example"], 400],
    ] as const)
      expect([hosts, await readStatus(port, hosts)]).toEqual([hosts, status]);
  });

  it("of the separate server exists only at its path", async () => {
    const { address } = await serve({ metrics: { port: 0 } });
    const url = `http://127.0.0.1:${address.metrics?.port}`;
    const statuses = [];
    for (const [path, method] of [
      ["/", "GET"],
      ["/metrics", "POST"],
      ["/a2a", "GET"],
    ] as const)
      statuses.push((await fetch(url + path, { method })).status);
    expect(statuses).toEqual([404, 405, 404]);
  });
});

it("a metrics port in use stops the start, and frees the port of the agents", async () => {
  const { address } = await serve({ metrics: { port: 0 } });
  const used = address.metrics?.port ?? 0;
  const second = createServer(parrot, { store: "memory", observer: false, metrics: { port: used } });
  closers.push(() => second.close({ graceMs: 0 }));
  await expect(second.listen()).rejects.toThrow(`cannot listen on 127.0.0.1:${used}; choose another port`);
});

describe("the option telemetry.otlp", () => {
  it("sends spans and metrics to a collector", async () => {
    const receiver = await startOtlpReceiver();
    closers.push(() => receiver.close());
    const server = createServer(parrot, {
      store: "memory",
      observer: false,
      telemetry: { otlp: receiver.url, serviceName: "zoo" },
    });
    const client = await connect((await server.listen()).url);
    await client.send("Hello");
    await server.close({ graceMs: 0 });
    const run = receiver.spans.find(({ name }) => name === "invoke_agent parrot");
    expect(run).toMatchObject({ service: "zoo", scope: "colloquy", kind: "INTERNAL" });
    const operation = receiver.spans.find(({ spanId }) => spanId === run?.parentSpanId);
    expect(operation).toMatchObject({ name: "SendMessage", kind: "SERVER", traceId: run?.traceId });
    expect([...receiver.metricNames]).toEqual(
      expect.arrayContaining([
        "a2a.server.operation.duration",
        "colloquy.commit.events",
        "colloquy.streams.open",
      ]),
    );
  });

  it("sends nothing of a trace that is not sampled", async () => {
    const receiver = await startOtlpReceiver();
    closers.push(() => receiver.close());
    const server = createServer(parrot, {
      store: "memory",
      observer: false,
      telemetry: { otlp: receiver.url, sampleRatio: 0 },
    });
    const client = await connect((await server.listen()).url);
    await client.send("Hello");
    await server.close({ graceMs: 0 });
    expect(receiver.spans).toEqual([]);
  });

  it.each<[TelemetryOptions & { readonly oltp?: string }, RegExp]>([
    [{ otlp: "localhost:4318" }, /"telemetry.otlp" is "localhost:4318"; use the URL/],
    [{ sampleRatio: 10 }, /"telemetry.sampleRatio" is 10; use a number from 0 to 1/],
    [{ oltp: "http://localhost:4318" }, /otlp/],
  ])("rejects %j", (telemetry, message) => {
    expect(() => createServer(parrot, { telemetry: telemetry as object })).toThrow(message);
  });
});
