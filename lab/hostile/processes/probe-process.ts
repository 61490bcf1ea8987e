/**
 * Other callers. They have 64 open connections, and send the same small request to the attacked server and to the idle
 * control server every 5 milliseconds. Every twentieth request opens a new connection, as a newcomer does.
 */
import { Agent, request as sendHttpRequest } from "node:http";
import { setTimeout } from "node:timers/promises";
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import type { ProbeRequest } from "../attack.ts";
import type { ProbeSample } from "../probe-statistics.ts";

const INTERVAL_MS = 5;
const NEW_CONNECTION_EVERY = 20;
const MAX_CONNECTIONS = 64;
/** A request without a response after this time counts as failed. */
const TIMEOUT_MS = 20_000;

export interface ProbeOptions {
  readonly request: ProbeRequest;
  readonly targetPort: number;
  readonly controlPort: number;
}

export interface ProbeResult {
  readonly target: readonly ProbeSample[];
  readonly control: readonly ProbeSample[];
}

export type ProbeMethods = {
  startProbe(options: ProbeOptions): void;
  /** Returns the samples since the last call, and continues. Waits for requests that are under way. */
  takeSamples(): Promise<ProbeResult>;
  stopProbe(): void;
};

const stop = new AbortController();
const loops: { port: number; samples: ProbeSample[]; current: Set<Promise<void>> }[] = [];

serveParentProcessCalls({
  startProbe({ request, targetPort, controlPort }) {
    for (const port of [targetPort, controlPort]) {
      const loop = { port, samples: [] as ProbeSample[], current: new Set<Promise<void>>() };
      loops.push(loop);
      void probeContinuously(loop, request);
    }
  },
  async takeSamples() {
    await Promise.all(loops.flatMap(({ current }) => [...current]));
    const [target = [], control = []] = loops.map(({ samples }) => samples.splice(0));
    return { target, control };
  },
  stopProbe: () => stop.abort(),
} satisfies ProbeMethods);

/**
 * Sends requests at a fixed rate, whether or not earlier requests have ended. The latency of a request counts from the
 * time when it was due, so that a stall of the server delays all requests that were due during the stall. A loop that
 * waited for each response would add up the latencies of all requests above the interval.
 */
async function probeContinuously(loop: (typeof loops)[number], request: ProbeRequest): Promise<void> {
  // Requests alternate between all open connections, so that the server closes none of them as idle.
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS, scheduling: "fifo" });
  const first = Array.from({ length: MAX_CONNECTIONS }, () => sendProbe(loop.port, request, agent));
  await Promise.all(first);
  let dueAt = performance.now();
  for (let count = 0; !stop.signal.aborted; count++, dueAt += INTERVAL_MS) {
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await setTimeout(waitMs);
    const isNewcomer = count % NEW_CONNECTION_EVERY === 0;
    const probe = recordProbe(loop, request, isNewcomer ? false : agent, dueAt);
    loop.current.add(probe);
    void probe.then(() => loop.current.delete(probe));
  }
  agent.destroy();
}

async function recordProbe(
  { port, samples }: (typeof loops)[number],
  request: ProbeRequest,
  agent: Agent | false,
  dueAt: number,
): Promise<void> {
  const problem = await sendProbe(port, request, agent);
  const endedAt = performance.now();
  samples.push({ endedAt, latencyMs: endedAt - dueAt, ...(problem ? { problem } : {}) });
}

/** Sends one request. Resolves with a problem unless the response is a success. Never rejects. */
function sendProbe(port: number, probe: ProbeRequest, agent: Agent | false): Promise<string | undefined> {
  const { method, path, headers = {}, body = "" } = probe;
  return new Promise((resolve) => {
    const outgoing = sendHttpRequest(
      { host: "127.0.0.1", port, method, path, agent, headers: { ...headers }, timeout: TIMEOUT_MS },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (chunk: string) => (text += chunk));
        incoming.once("end", () => {
          const isSuccess = incoming.statusCode === 200 && !text.includes(`"error":`);
          resolve(isSuccess ? undefined : `${incoming.statusCode} ${text.slice(0, 200)}`);
        });
        incoming.once("error", (error) => resolve(error.message));
      },
    );
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no response in ${TIMEOUT_MS} ms`)));
    outgoing.once("error", (error) => resolve(error.message));
    // A message id may occur only once.
    outgoing.end(body.replace("MESSAGE-ID", crypto.randomUUID()));
  });
}
