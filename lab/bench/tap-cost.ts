/**
 * Measures what `colloquy tap` costs: the latency of a message, the time of a stream, the throughput of a large body, and
 * the CPU time of the tap. The server, the tap, and the client are processes of their own.
 *
 *   node lab/bench/tap-cost.ts [--messages 300]
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, request as sendRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { agent, artifact } from "../../src/adapters/index.ts";
import { connect } from "../../src/client/index.ts";
import { createServer } from "../../src/server/index.ts";
import { startTap } from "../../src/tap/index.ts";
import { openTrafficRecord } from "../../src/trace/recording/index.ts";

const STREAM_EVENTS = 1_000;
const LARGE_BYTES = 100 * 2 ** 20;

const [role = "", ...rest] = process.argv.slice(2);
if (role === "serve") await serve();
else if (role === "tap") await tapTargets(rest);
else await measure();

/** Serves an agent, and a large body. */
async function serve(): Promise<void> {
  const counter = agent({ name: "counter", description: "Counts" }, async function* ({ text }) {
    if (text !== "stream") yield "one";
    else
      for (let event = 0; event < STREAM_EVENTS; event++)
        yield artifact({ id: `a${event}` }, { text: `word ${event}` });
  });
  const { url } = await createServer(counter, { store: "memory", observer: false }).listen();
  const chunk = Buffer.alloc(2 ** 16, "x");
  const large = createHttpServer((request, response) => {
    if (request.url !== "/large") {
      response.writeHead(404).end();
      return;
    }
    let sent = 0;
    const write = (): void => {
      while (sent < LARGE_BYTES) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  }).listen(0, "127.0.0.1");
  await once(large, "listening");
  process.send?.({ urls: [url, `http://127.0.0.1:${(large.address() as AddressInfo).port}`] });
}

/** Starts a tap, and reports its CPU time in milliseconds on each message of the parent. */
async function tapTargets(urls: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-tap-cost-"));
  const { writer } = openTrafficRecord(join(folder, "traffic.jsonl"), {
    vantage: "tap",
    name: "tap",
    code: "",
  });
  const tap = await startTap({ targets: urls.map((url) => ({ url })), writer });
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1_000 });
  });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.on("disconnect", () => process.exit());
  process.send?.({ urls: tap.targets.map(({ url }) => url) });
}

function start(...words: readonly string[]): ChildProcess {
  return fork(fileURLToPath(import.meta.url), words);
}

async function receive<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, "message")) as [T];
  return message;
}

async function measure(): Promise<void> {
  const { values } = parseArgs({ options: { messages: { type: "string", default: "300" } } });
  const server = start("serve");
  const { urls } = await receive<{ urls: [string, string] }>(server);
  const tap = start("tap", ...urls);
  const { urls: tapUrls } = await receive<{ urls: [string, string] }>(tap);
  const readCpuMs = async (): Promise<number> => {
    tap.send("cpu");
    return (await receive<{ cpuMs: number }>(tap)).cpuMs;
  };
  const rows: Record<string, Record<string, number>> = {};
  for (const [name, [agentUrl, largeUrl]] of [
    ["direct", urls],
    ["tap", tapUrls],
    ["direct, again", urls],
    ["tap, again", tapUrls],
  ] as const) {
    const client = await connect(agentUrl, { binding: "JSONRPC" });
    const count = Number(values.messages);
    for (let at = 0; at < count / 3; at++) await client.send("warm up");
    let cpuMs = await readCpuMs();
    const takeCpuMs = async (): Promise<number> => {
      const before = cpuMs;
      cpuMs = await readCpuMs();
      return cpuMs - before;
    };
    const latencies: number[] = [];
    for (let at = 0; at < count; at++) {
      const startMs = performance.now();
      await client.send("count");
      latencies.push(performance.now() - startMs);
    }
    latencies.sort((a, b) => a - b);
    const messageCpuMs = (await takeCpuMs()) / count;
    const streamStartMs = performance.now();
    let events = 0;
    for await (const _ of client.stream("stream")) events++;
    const streamMs = performance.now() - streamStartMs;
    const streamCpuMs = await takeCpuMs();
    const largeStartMs = performance.now();
    const { hostname, port } = new URL(largeUrl);
    const outgoing = sendRequest({ hostname, port, path: "/large" }).end();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    for await (const _ of response);
    rows[name] = {
      "message p50 (ms)": round(latencies[Math.floor(count / 2)]),
      "message p99 (ms)": round(latencies[Math.floor(count * 0.99)]),
      "tap CPU per message (ms)": round(messageCpuMs),
      "stream of 1,000 events (ms)": round(streamMs),
      "events received": events,
      "tap CPU per stream (ms)": round(streamCpuMs),
      "100 MiB body (MiB/s)": round(LARGE_BYTES / 2 ** 20 / ((performance.now() - largeStartMs) / 1_000)),
    };
  }
  console.table(rows);
  tap.disconnect();
  server.kill();
}

function round(value = 0): number {
  return Math.round(value * 100) / 100;
}
