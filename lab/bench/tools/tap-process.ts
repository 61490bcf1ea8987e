/** A process of the workload `tap`: `serve` runs an agent and a large body, and `tap URL …` runs a tap in front of URLs. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent, artifact } from "../../../src/agents/adapters/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { startTap } from "../../../src/studio/tap/index.ts";
import { openTrafficRecord } from "../../../src/observe/trace/recording/index.ts";
import { serveParentProcessCalls } from "../child-process-rpc.ts";
import { listenOnFreePort } from "../servers/baseline.ts";

export const STREAM_EVENTS = 1_000;
export const LARGE_BYTES: number = 100 * 2 ** 20;

/** Methods that the process offers to the benchmark. */
export type TapProcessMethods = {
  getUrls(): readonly string[];
  getCpuMs(): number;
};

const [, , role = "", ...targets] = process.argv;
if (role === "serve" || role === "tap") {
  const urls = role === "serve" ? await serve() : await tapTargets(targets);
  serveParentProcessCalls({
    getUrls: () => urls,
    getCpuMs() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
  } satisfies TapProcessMethods);
}

/** Serves an agent and a large body, and returns their URLs. */
async function serve(): Promise<readonly string[]> {
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
  });
  return [url, await listenOnFreePort(large)];
}

/** Starts a tap with a record, and returns the URLs in the order of the targets. */
async function tapTargets(urls: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-tap-cost-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const record = { vantage: "tap", name: "tap", code: "" } as const;
  const { writer } = openTrafficRecord(join(folder, "traffic.jsonl"), record);
  const tap = await startTap({ targets: urls.map((url) => ({ url })), writer });
  return tap.targets.map(({ url }) => url);
}
