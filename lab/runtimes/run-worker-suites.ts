import type { TestResult } from "./portable-vitest.ts";
import { bundleWorker } from "./bundle-suite.ts";
import { readWorkerdVersion, startWorker, type WorkerOptions } from "./miniflare.ts";
import type { SuiteName } from "./runtime-table.ts";
import { expectWholeStreams } from "../../test/resilience/cut-streams.ts";

/** The suites of one kind of worker. */
interface WorkerSuites {
  readonly runtime: string;
  /** The worker whose tests run in workerd. */
  readonly suiteFile: string;
  /** The suites, with the beginning of the names of their tests. */
  readonly prefixes: readonly (readonly [SuiteName, string])[];
  readonly suiteOptions: WorkerOptions;
  /** The worker with the agent `counter`, whose streams are cut and resumed. */
  readonly agentFile: string;
  readonly agentOptions: WorkerOptions;
  /** Number of streams at once. */
  readonly streams: number;
}

const WORKERS: readonly WorkerSuites[] = [
  {
    runtime: "workerd",
    suiteFile: "lab/runtimes/suites/worker.ts",
    prefixes: [
      ["stores", "MemoryStore"],
      ["server", "a server"],
    ],
    suiteOptions: {},
    agentFile: "lab/runtimes/suites/worker-agent.ts",
    agentOptions: {},
    // A worker must end its turns within 30 seconds after their clients have left, also on a slow machine.
    streams: 50,
  },
  {
    runtime: "workerd, Durable Object",
    suiteFile: "lab/runtimes/suites/durable-object.ts",
    prefixes: [
      ["stores", "DurableObjectStore"],
      ["server", "in a Durable Object"],
    ],
    suiteOptions: { usesNode: true, durableObject: { binding: "SUITES", className: "SuiteHost" } },
    agentFile: "lab/edge-kills/agent-host.ts",
    agentOptions: { usesNode: true, durableObject: { binding: "AGENT_HOST", className: "AgentHost" } },
    streams: 200,
  },
];

export const WORKER_RUNTIMES: readonly string[] = WORKERS.map(({ runtime }) => runtime);

/** Runs those of the suites that the worker has, in workerd and over real sockets. */
export async function runWorkerSuites(
  runtime: string,
  folder: string,
  suites: readonly SuiteName[],
): Promise<{ version: string; results: [SuiteName, TestResult[]][] }> {
  const worker = WORKERS.find((one) => one.runtime === runtime) as WorkerSuites;
  const prefixes = worker.prefixes.filter(([suite]) => suites.includes(suite));
  const results = prefixes.length > 0 ? await runSuitesInWorker({ ...worker, prefixes }, folder) : [];
  if (suites.includes("resilience")) results.push(["resilience", [await runCutStreams(worker, folder)]]);
  return { version: readWorkerdVersion(folder), results };
}

async function runSuitesInWorker(
  { suiteFile, suiteOptions, prefixes }: WorkerSuites,
  folder: string,
): Promise<[SuiteName, TestResult[]][]> {
  const miniflare = startWorker(folder, await bundleWorker(suiteFile, folder, suiteOptions), suiteOptions);
  try {
    const url = await miniflare.ready;
    const results: [SuiteName, TestResult[]][] = [];
    for (const [suite, prefix] of prefixes) {
      const response = await fetch(new URL(`/?prefix=${encodeURIComponent(prefix)}`, url));
      const text = await response.text();
      const tests = response.ok
        ? (JSON.parse(text) as TestResult[])
        : [{ name: "the suite starts", error: text.slice(0, 1500) }];
      results.push([suite, tests]);
    }
    return results;
  } finally {
    await miniflare.dispose();
  }
}

/** Cuts streams from outside of workerd. */
async function runCutStreams(
  { agentFile, agentOptions, streams }: WorkerSuites,
  folder: string,
): Promise<TestResult> {
  const name = `${streams} streams at once, each cut 5 times at random points and resumed`;
  const miniflare = startWorker(folder, await bundleWorker(agentFile, folder, agentOptions), agentOptions);
  try {
    const url = new URL("/a2a/counter", await miniflare.ready).href;
    await expectWholeStreams(url, { clients: streams, cuts: 5 });
    return { name };
  } catch (error) {
    return { name, error: error instanceof Error ? `${error.message}\n${error.stack}` : String(error) };
  } finally {
    await miniflare.dispose();
  }
}
