/**
 * Measures the smallest lag of `remote-subscribe` on this machine, without Colloquy (docs/chaos.md):
 *
 *   node lab/chaos/remote-lag-floor.ts [measure INTERVAL_MS]
 *
 * A parent process with an IPC channel receives the figures as a message.
 *
 * One process inserts the chunks of all tasks in batches, and announces each batch with `NOTIFY`. A second process
 * reads the new rows at each notification, and writes them to one SSE stream per task. This process reads the streams.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { startTestPostgres } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { readSseStream } from "../../test/support/raw-stream.ts";
import { computePercentile } from "./percentile.ts";
import { readMonotonicMs } from "./scripted-agents.ts";

/** The lag from the writer to the client, in milliseconds. */
export interface RemoteLag {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const TASKS = 100;
/** Time in milliseconds in which the chunks are measured. */
const MEASURED_MS = 5000;
/** Time in milliseconds in which all tasks start, as in `remote-subscribe`. */
const START_MS = 1000;
const WARM_UP_CHUNKS = 40;

const [role, intervalText = "50", url = ""] = process.argv.slice(2);
/** Time in milliseconds between two chunks of a task. */
const INTERVAL_MS = Number(intervalText);
const CHUNKS = MEASURED_MS / INTERVAL_MS;

if (role === "writer") await runWriter();
else if (role === "reader") await runReader();
else await measureFloor();

async function measureFloor(): Promise<void> {
  const database = await startTestPostgres({ fsync: "on", full_page_writes: "on" });
  const children: ChildProcess[] = [];
  try {
    const client = await connect(database.url);
    await client.query(
      "CREATE TABLE chunk (key bigserial PRIMARY KEY, task int NOT NULL, line text NOT NULL)",
    );
    await client.end();
    const startChild = async (name: string): Promise<readonly [ChildProcess, unknown]> => {
      const child = fork(import.meta.filename, [name, intervalText, database.url]);
      children.push(child);
      const [message] = (await once(child, "message")) as [unknown];
      return [child, message];
    };
    const [, port] = await startChild("reader");
    const lagsMs: number[] = [];
    const streams = Array.from({ length: TASKS }, (_, task) =>
      readTask(`http://127.0.0.1:${String(port)}/${task}`, lagsMs),
    );
    await startChild("writer");
    await Promise.all(streams);
    const floor: RemoteLag = {
      p50Ms: computePercentile(lagsMs, 0.5),
      p99Ms: computePercentile(lagsMs, 0.99),
    };
    if (process.send) process.send(floor);
    else {
      const { p50Ms, p99Ms } = floor;
      console.log(
        `${lagsMs.length} chunks, lag ${p50Ms.toFixed(1)} ms (p50) and ${p99Ms.toFixed(1)} ms (p99)`,
      );
    }
  } finally {
    for (const child of children) child.kill();
    await database.remove();
  }
}

/** Reads one stream to its end, and measures the chunks after the warm-up. */
async function readTask(streamUrl: string, lagsMs: number[]): Promise<void> {
  let count = 0;
  for await (const { data } of readSseStream({ url: streamUrl })) {
    if (++count > WARM_UP_CHUNKS) lagsMs.push(readMonotonicMs() - Number(data));
    if (count === WARM_UP_CHUNKS + CHUNKS) return;
  }
}

/** Emits the chunks of all tasks. While one batch is inserted, new chunks form the next batch. */
async function runWriter(): Promise<void> {
  const client = await connect(url);
  const hints = await connect(url);
  await hints.query("SET synchronous_commit = off");
  let pending: { readonly task: number; readonly line: string }[] = [];
  let isWriting = false;
  let isNotifying = false;
  let isHintPending = false;
  const notify = async (): Promise<void> => {
    isHintPending = true;
    if (isNotifying) return;
    isNotifying = true;
    while (isHintPending) {
      isHintPending = false;
      await hints.query("SELECT pg_notify('chunks', '')");
    }
    isNotifying = false;
  };
  const write = async (): Promise<void> => {
    isWriting = true;
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      const values = [batch.map(({ task }) => task), batch.map(({ line }) => line)];
      const text = "INSERT INTO chunk (task, line) SELECT * FROM unnest($1::int[], $2::text[])";
      await client.query({ name: "insert", text, values });
      void notify();
    }
    isWriting = false;
  };
  process.send?.("ready");
  await Promise.all(
    Array.from({ length: TASKS }, async (_, task) => {
      await pause((task * START_MS) / TASKS);
      for (let number = 0; number < WARM_UP_CHUNKS + CHUNKS; number++) {
        pending.push({ task, line: String(readMonotonicMs()) });
        if (!isWriting) void write();
        await pause(INTERVAL_MS);
      }
    }),
  );
}

async function runReader(): Promise<void> {
  const [client, hints] = [await connect(url), await connect(url)];
  const streams = new Map<number, ServerResponse>();
  let lastKey = 0;
  let isReading = false;
  let isHinted = false;
  const read = async (): Promise<void> => {
    isReading = true;
    while (isHinted) {
      isHinted = false;
      const text = "SELECT key, task, line FROM chunk WHERE key > $1 ORDER BY key";
      const { rows } = await client.query<{ key: string; task: number; line: string }>({
        name: "read",
        text,
        values: [lastKey],
      });
      for (const { key, task, line } of rows) {
        lastKey = Number(key);
        streams.get(task)?.write(`data: ${line}\n\n`);
      }
    }
    isReading = false;
  };
  hints.on("notification", () => {
    isHinted = true;
    if (!isReading) void read();
  });
  await hints.query("LISTEN chunks");
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.set(Number(request.url?.slice(1)), response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  process.send?.((server.address() as AddressInfo).port);
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}
