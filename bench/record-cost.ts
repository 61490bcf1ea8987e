/**
 * Measures the CPU time per task that the traffic record of a server costs. Run with `node bench/record-cost.ts`. The
 * client and the server share the process, so the cost per task also contains the client.
 */
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agent } from "../src/adapters/index.ts";
import { connect } from "../src/client/index.ts";
import { createServer, type ServerOptions } from "../src/server/index.ts";

const TASKS = Number(process.argv[2] ?? 400);
const CHUNKS = 20;
const ROUNDS = 5;
const folder = mkdtempSync(join(tmpdir(), "record-cost-"));

const writer = agent({ name: "writer", description: "Writes" }, async function* () {
  for (let at = 0; at < CHUNKS; at++) {
    yield `A sentence of an answer, which is number ${at}. `;
    await new Promise((resolve) => setImmediate(resolve));
  }
});

async function measure(record: ServerOptions["record"]): Promise<number> {
  const server = createServer(writer, {
    store: "memory",
    observer: false,
    ...(record === undefined ? {} : { record }),
  });
  const { url } = await server.listen();
  const client = await connect(url);
  const run = async (tasks: number): Promise<void> => {
    for (let at = 0; at < tasks; at += 10)
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          for await (const event of client.stream("Write")) void event;
        }),
      );
  };
  await run(100);
  const before = process.cpuUsage();
  await run(TASKS);
  const { user, system } = process.cpuUsage(before);
  await server.close();
  return (user + system) / TASKS;
}

const file = join(folder, "record.jsonl");
const variants: Record<string, ServerOptions["record"]> = {
  off: undefined,
  "with bodies": file,
  "without bodies": { file: join(folder, "ids.jsonl"), bodies: false },
};
const results = new Map<string, number[]>(Object.keys(variants).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round++)
  for (const [name, record] of Object.entries(variants)) results.get(name)?.push(await measure(record));
for (const [name, times] of results)
  process.stdout.write(
    `${name}: ${Math.round(Math.min(...times))} µs of CPU time per task (best of ${ROUNDS})\n`,
  );
const bytes = statSync(file).size / (ROUNDS * (TASKS + 100));
process.stdout.write(`with bodies: ${Math.round(bytes)} bytes per task with ${CHUNKS} chunks\n`);
