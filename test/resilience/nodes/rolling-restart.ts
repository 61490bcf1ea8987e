/**
 * A rolling restart of two servers under open streams, behind a load balancer. Run this file with the number of streams
 * for the figures of the full form. The script starts a PostgreSQL server:
 *
 *     node test/resilience/nodes/rolling-restart.ts 200
 */
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "../../../src/client/index.ts";
import type { Agent, AgentEvent, Run } from "../../../src/engine/index.ts";
import { getText, type StreamResponse } from "../../../src/protocol/index.ts";
import { createServer, type Server } from "../../../src/server/index.ts";
import { startTestPostgres } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import { TestBalancer } from "./test-balancer.ts";

export interface RollingRestartOptions {
  readonly streams: number;
  /** Number of events of each stream. */
  readonly events: number;
  readonly eventIntervalMs: number;
  readonly drainMs: number;
}

export interface RollingRestartReport {
  /** Number of streams that ended without every event, or with repeated or reordered events. */
  readonly brokenStreams: number;
  /** Rejected streams and messages, and requests without retries whose status was not 200. */
  readonly failures: readonly string[];
  /** Number of requests without retries during the restart. */
  readonly requests: number;
  /** Number of turns that more than one server worked on. */
  readonly movedTurns: number;
  readonly durationMs: number;
}

interface RunningServer {
  readonly server: Server;
  readonly url: string;
}

/** Counts to the number in the message. A later attempt continues after the last number. */
function createCounter(eventIntervalMs: number, attempts: Map<string, number>): Agent {
  return {
    afterRestart: "resume",
    describe: () => ({ name: "counter", description: "Counts" }),
    async *execute(run: Run): AsyncGenerator<AgentEvent> {
      attempts.set(run.taskId, run.attempt);
      const known = (run.task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
      const first = known.split(" ").length;
      for (let number = first; number <= Number(getText(run.message.parts)); number++) {
        yield { artifact: { artifactId: "numbers", parts: [{ text: `${number} ` }] }, append: number > 1 };
        await pause(eventIntervalMs, undefined, { signal: run.signal });
      }
    },
  };
}

/** Restarts two servers one after the other while clients read streams through a load balancer. */
export async function runRollingRestart(
  database: string,
  { streams, events, eventIntervalMs, drainMs }: RollingRestartOptions,
): Promise<RollingRestartReport> {
  const startedAt = performance.now();
  const attempts = new Map<string, number>();
  const failures: string[] = [];
  const balancer = new TestBalancer();
  const publicUrl = await balancer.listen();

  async function start(): Promise<RunningServer> {
    const store = new PostgresStore(database);
    const agent = createCounter(eventIntervalMs, attempts);
    const server = createServer(
      { counter: agent },
      { store, publicUrl, mergeChunks: false, observer: false },
    );
    const { host, port } = await server.listen();
    const url = `http://${host}:${port}`;
    await balancer.add(url);
    return { server, url };
  }

  async function restart({ server, url }: RunningServer): Promise<RunningServer> {
    await server.close({ drainMs, graceMs: 1000 });
    balancer.remove(url);
    return await start();
  }

  let servers = [await start(), await start()];
  const client = await connect(`${publicUrl}/a2a/counter`);

  async function readStream(): Promise<string> {
    let text = "";
    try {
      for await (const event of client.stream(`${events}`)) text += getChunkText(event);
    } catch (error) {
      failures.push(`stream: ${String(error)}`);
    }
    return text;
  }

  const state = { isRestarting: true };
  let requests = 0;
  async function sendRequests(): Promise<void> {
    while (state.isRestarting) {
      requests++;
      const headers = { "a2a-version": "1.0" };
      const status = await fetch(`${publicUrl}/a2a/counter/tasks?pageSize=1`, { headers }).then(
        (response) => response.text().then(() => response.status),
        (error: unknown) => String(error),
      );
      if (status !== 200) failures.push(`request: ${status}`);
      await pause(10);
    }
  }

  async function sendMessages(): Promise<void> {
    while (state.isRestarting)
      await client.send("1").catch((error: unknown) => failures.push(`message: ${String(error)}`));
  }

  const reading = Promise.all(Array.from({ length: streams }, readStream));
  const requesting = Promise.all([sendRequests(), sendMessages()]);
  await pause(eventIntervalMs * 5);
  const restarted: RunningServer[] = [];
  for (const server of servers) restarted.push(await restart(server));
  servers = restarted;
  state.isRestarting = false;
  await requesting;
  const texts = await reading;
  await Promise.all(servers.map(({ server }) => server.close({ graceMs: 0 })));
  balancer.close();
  const expected = Array.from({ length: events }, (_, at) => `${at + 1} `).join("");
  return {
    brokenStreams: texts.filter((text) => text !== expected).length,
    failures,
    requests,
    movedTurns: [...attempts.values()].filter((attempt) => attempt > 1).length,
    durationMs: Math.round(performance.now() - startedAt),
  };
}

function getChunkText(event: StreamResponse): string {
  return "artifactUpdate" in event ? getText(event.artifactUpdate.artifact.parts) : "";
}

if (import.meta.main) {
  const [streams = "200"] = process.argv.slice(2);
  const options = { streams: Number(streams), events: 200, eventIntervalMs: 50, drainMs: 2000 };
  const postgres = await startTestPostgres({ fsync: "on", full_page_writes: "on" });
  try {
    console.log(JSON.stringify(await runRollingRestart(postgres.url, options), undefined, 2));
  } finally {
    await postgres.remove();
  }
}
