import { once } from "node:events";
import { request as sendRequest, type IncomingMessage } from "node:http";
import { connect } from "../../../src/client/index.ts";
import type { BenchmarkContext } from "../benchmark-context.ts";
import { ChildProcessClient } from "../child-process-rpc.ts";
import { createRow, type ReportColumn, type ReportTable } from "../report.ts";
import { LARGE_BYTES, STREAM_EVENTS, type TapProcessMethods } from "./tap-process.ts";

const COLUMNS: readonly ReportColumn[] = [
  { key: "p50", title: "message p50 ms", format: "ms2" },
  { key: "p99", title: "p99 ms", format: "ms2" },
  { key: "messageCpu", title: "tap cpu ms", format: "ms2" },
  { key: "stream", title: `stream of ${STREAM_EVENTS} events ms`, format: "ms" },
  { key: "events", title: "events", format: "count" },
  { key: "streamCpu", title: "tap cpu ms", format: "ms" },
  { key: "rate", title: "100 MiB body MiB/s", format: "rate" },
];

/**
 * Measures what `colloquy tap` costs: the latency of a message, the time of a stream, the throughput of a large body, and
 * the CPU time of the tap. The server, the tap, and the client are processes of their own.
 */
export async function measureTap({ settings }: BenchmarkContext): Promise<ReportTable[]> {
  const server = await startTapProcess("serve");
  const direct = await server.call("getUrls");
  const tap = await startTapProcess("tap", ...direct);
  const tapped = await tap.call("getUrls");
  try {
    const rows = [];
    for (const [name, urls] of [
      ["direct", direct],
      ["tap", tapped],
      ["direct, again", direct],
      ["tap, again", tapped],
    ] as const)
      rows.push(createRow(name, await measureTarget(tap, urls, settings.quick ? 60 : 300)));
    return [
      {
        workload: "tap",
        title: "A message, a stream, and a large body, directly and through a tap",
        columns: COLUMNS,
        rows,
      },
    ];
  } finally {
    await Promise.all([tap.stop(), server.stop()]);
  }
}

function startTapProcess(role: string, ...urls: string[]): Promise<ChildProcessClient<TapProcessMethods>> {
  return ChildProcessClient.start(role, new URL("./tap-process.ts", import.meta.url), "any", [role, ...urls]);
}

async function measureTarget(
  tap: ChildProcessClient<TapProcessMethods>,
  [agentUrl = "", largeUrl = ""]: readonly string[],
  count: number,
): Promise<Record<string, number | undefined>> {
  const client = await connect(agentUrl, { binding: "JSONRPC" });
  for (let at = 0; at < count / 3; at++) await client.send("warm up");
  let cpuMs = await tap.call("getCpuMs");
  const takeCpuMs = async (): Promise<number> => {
    const before = cpuMs;
    cpuMs = await tap.call("getCpuMs");
    return cpuMs - before;
  };
  const latencies: number[] = [];
  for (let at = 0; at < count; at++) {
    const startedAt = performance.now();
    await client.send("count");
    latencies.push(performance.now() - startedAt);
  }
  latencies.sort((a, b) => a - b);
  const messageCpu = (await takeCpuMs()) / count;
  const streamStartedAt = performance.now();
  let events = 0;
  for await (const _ of client.stream("stream")) events++;
  const stream = performance.now() - streamStartedAt;
  const streamCpu = await takeCpuMs();
  const largeStartedAt = performance.now();
  const { hostname, port } = new URL(largeUrl);
  const outgoing = sendRequest({ hostname, port, path: "/large" }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  for await (const _ of response);
  return {
    p50: latencies[Math.floor(count / 2)],
    p99: latencies[Math.floor(count * 0.99)],
    messageCpu,
    stream,
    events,
    streamCpu,
    rate: LARGE_BYTES / 2 ** 20 / ((performance.now() - largeStartedAt) / 1_000),
  };
}
