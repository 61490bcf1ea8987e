/**
 * Shows that the store of a server with retention reaches a steady size under a steady load, and that no
 * request waits long for the sweeper.
 *
 *     node test/resilience/retention-load.ts [--seconds 60] [--clients 4]
 *
 * Runs three servers, one after another: without retention, with short retention periods, and with a maximum
 * size. Prints the size of the files over time, the latencies of all requests, and the longest step of the
 * sweeper. Exits with 1 if the size grows in the second half of a run, or if a step lasts longer than 50 ms.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { RetentionOptions } from "../../src/stores/retention/index.ts";
import type { RetentionLoadStats } from "./retention-load-child.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, clients: { type: "string", default: "4" } },
});
const seconds = Number(values.seconds);
const clients = Number(values.clients);

const MAX_STEP_MS = 50;
/** Growth of the files between the middle and the end of a run that counts as steady. */
const MAX_GROWTH = 1.15;
const SAMPLES = 12;
const MB = 2 ** 20;

const periodMs = (seconds * 1000) / 12;
const RUNS: Readonly<Record<string, RetentionOptions | false>> = {
  "without retention": false,
  "by age": {
    keepEventsMs: periodMs,
    keepTasksMs: 2 * periodMs,
    keepWaitingTasksMs: 3 * periodMs,
    sweepIntervalMs: 1000,
  },
  "by size": { maxBytes: 12 * MB, sweepIntervalMs: 1000 },
};

/** Sends one message over a kept connection, and resolves with the duration in milliseconds. */
function sendMessage(url: string, agent: Agent, text: string): Promise<number> {
  const startedAt = performance.now();
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/message:send`,
      { method: "POST", agent, headers: { "a2a-version": "1.0", "content-type": "application/json" } },
      (incoming) => {
        incoming.resume().on("error", reject);
        incoming.on("end", () => {
          if (incoming.statusCode === 200) resolve(performance.now() - startedAt);
          else reject(new Error(`The server answered with ${incoming.statusCode}.`));
        });
      },
    );
    outgoing.on("error", reject).end(JSON.stringify({ message }));
  });
}

async function requestStats(child: ChildProcess): Promise<RetentionLoadStats> {
  child.send("stats");
  const [stats] = (await once(child, "message")) as [RetentionLoadStats];
  return stats;
}

/** Runs the load on one server, prints the result, and resolves with the problems. */
async function runLoad(name: string, retention: RetentionOptions | false): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-retention-"));
  const script = fileURLToPath(new URL("retention-load-child.ts", import.meta.url));
  const child = fork(script, [join(folder, "tasks.db"), JSON.stringify(retention)]);
  try {
    const [url] = (await once(child, "message")) as [string];
    const latencies: number[] = [];
    const end = new AbortController();
    const load = Array.from({ length: clients }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let n = 0; !end.signal.aborted; n++)
        latencies.push(await sendMessage(url, agent, n % 50 === 0 ? "ask" : "go"));
      agent.destroy();
    });
    const samples: RetentionLoadStats[] = [];
    for (let at = 0; at < SAMPLES; at++) {
      await pause((seconds * 1000) / SAMPLES);
      samples.push(await requestStats(child));
    }
    end.abort();
    await Promise.all(load);
    child.send("stop");
    await once(child, "exit");
    return printResult(name, samples, latencies, retention !== false);
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

function printResult(
  name: string,
  samples: readonly RetentionLoadStats[],
  latencies: number[],
  mustBeSteady: boolean,
): string[] {
  latencies.sort((a, b) => a - b);
  const percentile = (share: number): string =>
    (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0).toFixed(1);
  const sizes = samples.map(({ fileBytes, walBytes }) => fileBytes + walBytes);
  const last = samples.at(-1) as RetentionLoadStats;
  const { longestStepMs } = last;
  console.log(
    `${name}: ${latencies.length} tasks in ${seconds} s (${Math.round(latencies.length / seconds)} per s)`,
  );
  console.log(`  file and WAL in MB: ${sizes.map((bytes) => (bytes / MB).toFixed(0)).join(" ")}`);
  console.log(
    `  used pages in MB:   ${samples.map(({ usedBytes }) => (usedBytes / MB).toFixed(0)).join(" ")}`,
  );
  console.log(
    `  latency in ms: p50 ${percentile(0.5)}, p99 ${percentile(0.99)}, p99.9 ${percentile(0.999)}, max ${percentile(1)}`,
  );
  console.log(
    `  sweeper: ${last.deletedTasks} tasks deleted, ${last.trimmedTasks} trimmed, ${last.steps} steps, ` +
      `longest ${longestStepMs.toFixed(1)} ms (${last.longestStepName}), most CPU ${last.longestStepCpuMs.toFixed(1)} ms, ${((last.sumOfStepsMs / seconds / 1000) * 100).toFixed(1)} % of the time`,
  );
  const half = sizes.slice(SAMPLES / 3, (SAMPLES * 2) / 3);
  const growth = Math.max(...sizes.slice((SAMPLES * 2) / 3)) / Math.max(...half);
  const problems: string[] = [];
  if (longestStepMs > MAX_STEP_MS) problems.push(`${name}: a step of the sweeper lasted ${longestStepMs} ms`);
  if (mustBeSteady && growth > MAX_GROWTH) problems.push(`${name}: the files grew by a factor of ${growth}`);
  return problems;
}

const problems: string[] = [];
for (const [name, retention] of Object.entries(RUNS)) problems.push(...(await runLoad(name, retention)));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
