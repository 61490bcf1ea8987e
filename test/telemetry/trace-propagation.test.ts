import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  agent,
  type Agent,
  connect,
  type ConnectOptions,
  createServer,
  inputRequired,
  type RunReport,
  type ServerOptions,
} from "../../src/entries/colloquy.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface ServedTestAgent {
  readonly url: string;
  readonly grpcAddress: string;
  readonly runs: RunReport[];
}

async function serve(
  served: Agent,
  options: ServerOptions & { readonly grpc?: boolean } = {},
): Promise<ServedTestAgent> {
  const runs: RunReport[] = [];
  const { grpc = false, ...serverOptions } = options;
  const server = createServer(served, {
    store: "memory",
    observer: { onRun: (run) => runs.push(run) },
    ...serverOptions,
  });
  closers.push(() => server.close({ graceMs: 0 }));
  const address = await server.listen({ grpc });
  return { url: address.url, grpcAddress: `127.0.0.1:${address.grpc?.port ?? 0}`, runs };
}

/** An agent that calls another agent in the plainest way, and knows nothing of traces. */
function createCallingAgent(name: string, url: () => string, options: ConnectOptions = {}): Agent {
  return agent({ name, description: "Calls another agent" }, async function* ({ text }) {
    const remote = await connect(url(), options);
    yield (await remote.ask(text)).text;
  });
}

const echo = agent({ name: "echo", description: "Repeats" }, async function* ({ text, traceHeaders }) {
  yield `${text} ${traceHeaders["traceparent"] ?? "none"}`;
});

function getTraceId(traceparent: string | undefined): string | undefined {
  return traceparent?.split("-")[1];
}
function getSpanId(traceparent: string | undefined): string | undefined {
  return traceparent?.split("-")[2];
}

describe("a trace", () => {
  it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
    "goes through three agents over %s without code in the agents [E22]",
    async (binding) => {
      const last = await serve(echo, { grpc: true });
      const options: ConnectOptions = { binding, ...(binding === "GRPC" ? { grpc: {} } : {}) };
      const middle = await serve(createCallingAgent("middle", () => last.url, options));
      const first = await serve(createCallingAgent("first", () => middle.url));
      const client = await connect(first.url);
      const { text } = await client.ask("Hello", {
        headers: { traceparent: TRACEPARENT, tracestate: "vendor=1" },
      });
      const traceparents = [first, middle, last].map(({ runs }) => runs[0]?.traceparent);
      expect(traceparents.map(getTraceId)).toEqual([TRACE_ID, TRACE_ID, TRACE_ID]);
      expect(new Set(traceparents.map(getSpanId)).size).toBe(3);
      expect(text).toBe(`Hello ${traceparents[2]}`);
    },
  );

  it("begins at the first server if the caller has none, and is another one for each message [E22]", async () => {
    const last = await serve(echo);
    const first = await serve(createCallingAgent("first", () => last.url));
    const client = await connect(first.url);
    await Promise.all([client.ask("one"), client.ask("two"), client.ask("three")]);
    const traceIds = first.runs
      .filter(({ phase }) => phase === "begin")
      .map((run) => getTraceId(run.traceparent));
    expect(new Set(traceIds).size).toBe(3);
    const lastTraceIds = last.runs
      .filter(({ phase }) => phase === "begin")
      .map((run) => getTraceId(run.traceparent));
    expect(new Set(lastTraceIds)).toEqual(new Set(traceIds));
  });

  it("names the parent task at each hop, and only the direct parent [E22]", async () => {
    const last = await serve(echo);
    const middle = await serve(createCallingAgent("middle", () => last.url));
    const first = await serve(createCallingAgent("first", () => middle.url));
    await (await connect(first.url)).ask("Hello");
    expect(first.runs[0]?.parentTask).toBeUndefined();
    expect(middle.runs[0]?.parentTask).toEqual({ taskId: first.runs[0]?.taskId, agent: "first" });
    expect(last.runs[0]?.parentTask).toEqual({ taskId: middle.runs[0]?.taskId, agent: "middle" });
  });

  it("keeps the headers that the agent itself sets", async () => {
    const last = await serve(echo);
    const explicit = agent({ name: "explicit", description: "Sets the header" }, async function* ({ text }) {
      const remote = await connect(last.url);
      yield (await remote.ask(text, { headers: { Traceparent: TRACEPARENT } })).text;
    });
    const first = await serve(explicit);
    await (await connect(first.url)).ask("Hello");
    expect(getTraceId(last.runs[0]?.traceparent)).toBe(TRACE_ID);
    expect(getTraceId(first.runs[0]?.traceparent)).not.toBe(TRACE_ID);
  });

  it("is not sent outside of agents, because a browser may not send the header [E22]", async () => {
    const seen: IncomingMessage["headers"][] = [];
    const { url } = await serve(echo);
    const proxy = createHttpServer((request, response) => {
      seen.push(request.headers);
      void fetch(new URL(request.url ?? "/", url)).then(async (reply) => response.end(await reply.text()));
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => proxy.close(resolve)));
    await connect(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen) expect(headers).not.toHaveProperty("traceparent");
  });

  it("does not leak into the turn that waits for the running turn", async () => {
    const release = Promise.withResolvers<void>();
    const slow = agent(
      { name: "slow", description: "Waits" },
      async function* ({ text }) {
        if (text === "first") await release.promise;
        yield text;
      },
      { concurrentTurns: "queue" },
    );
    const { url, runs } = await serve(slow);
    const client = await connect(url);
    const options = { contextId: "c1" };
    const first = client.ask("first", { ...options, headers: { traceparent: TRACEPARENT } });
    const second = client.ask("second", options);
    release.resolve();
    await Promise.all([first, second]);
    const traceIds = runs.filter(({ phase }) => phase === "begin").map((run) => getTraceId(run.traceparent));
    expect(traceIds).toHaveLength(2);
    expect(traceIds).toContain(TRACE_ID);
    expect(new Set(traceIds).size).toBe(2);
  });

  it("continues when a task waits for its user and when the caller answers in the same trace", async () => {
    const asking = agent({ name: "asking", description: "Asks" }, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which?");
      else yield text;
    });
    const { url, runs } = await serve(asking);
    const client = await connect(url);
    const headers = { traceparent: TRACEPARENT };
    const { task } = await client.ask("Book", { headers });
    await client.ask("The first", { headers, ...(task ? { taskId: task.id } : {}) });
    expect(runs.map((run) => getTraceId(run.traceparent))).toEqual([TRACE_ID, TRACE_ID, TRACE_ID, TRACE_ID]);
    expect(getSpanId(runs[0]?.traceparent)).not.toBe(getSpanId(runs[2]?.traceparent));
  });

  it("continues in the next server process, which restarts the turn [E22] [E9]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-trace-"));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const store = `sqlite:${join(folder, "tasks.db")}` as const;
    const began = Promise.withResolvers<void>();
    const attempts: number[] = [];
    const patient = agent(
      { name: "patient", description: "Continues" },
      async function* ({ attempt, signal }) {
        attempts.push(attempt);
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
    const first = createServer(patient, { store, observer });
    const client = await connect((await first.listen()).url);
    await client.send("Start", {
      headers: { traceparent: TRACEPARENT, tracestate: "vendor=1" },
      configuration: { returnImmediately: true },
    });
    await began.promise;
    await first.close({ graceMs: 100 });
    const second = createServer(patient, { store, observer });
    closers.push(() => second.close({ graceMs: 0 }));
    await second.listen();
    await expect.poll(() => reports.filter(({ phase }) => phase === "end").length).toBe(2);
    expect(attempts).toEqual([1, 2]);
    const begun = reports.filter(({ phase }) => phase === "begin");
    expect(begun.map((run) => [run.attempt, getTraceId(run.traceparent)])).toEqual([
      [1, TRACE_ID],
      [2, TRACE_ID],
    ]);
    expect(getSpanId(begun[0]?.traceparent)).not.toBe(getSpanId(begun[1]?.traceparent));
  });

  it("ends at a server with telemetry: false, which still forwards the headers of its caller", async () => {
    const { url, runs } = await serve(echo, { telemetry: false });
    const client = await connect(url);
    const { text } = await client.ask("Hello", { headers: { traceparent: TRACEPARENT } });
    expect(text).toBe(`Hello ${TRACEPARENT}`);
    expect(runs[0]?.traceparent).toBeUndefined();
  });
});
