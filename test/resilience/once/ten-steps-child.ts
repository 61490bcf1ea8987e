/**
 * A server to be killed: each message starts ten steps with side effects. The effects and the finished steps are lines
 * of the file `journal`. The process sends one message to its own server.
 */
import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { agent } from "../../../src/agents/adapters/index.ts";
import { connect } from "../../../src/client/index.ts";
import { createServer } from "../../../src/server/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";

const [storeUrl = "", journal = ""] = process.argv.slice(2);
const STEP_COUNT = 10;
const MAX_STEP_MS = 4;

const worker = agent(
  { name: "worker", description: "Executes ten steps" },
  async function* ({ taskId, once }) {
    for (let number = 1; number <= STEP_COUNT; number++) {
      const result = await once(`step ${number}`, async ({ idempotencyKey }) => {
        await setTimeout(Math.random() * MAX_STEP_MS);
        appendFileSync(journal, `effect,${taskId},${number},${idempotencyKey}\n`);
        await setTimeout(Math.random() * MAX_STEP_MS);
        return number;
      });
      appendFileSync(journal, `finished,${taskId},${number},${result}\n`);
      yield `${result} `;
    }
    appendFileSync(journal, `completed,${taskId}\n`);
  },
  { afterRestart: "restart" },
);

const store = storeUrl.startsWith("postgres:")
  ? new PostgresStore(storeUrl, { leaseMs: 1000 })
  : (`sqlite:${storeUrl}` as const);
const server = createServer({ worker }, { store, limits: { turnAttempts: 10_000 }, observer: false });
process.send?.("starts");
const { url } = await server.listen({ port: 0 });
const client = await connect(url);
await client.send("go", { configuration: { returnImmediately: true } });
process.send?.("sent");
