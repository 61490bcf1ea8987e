/**
 * A server to be killed, with an agent that processes one message after another and then asks for the next
 * one. It uses the given SQLite file and port. After the given number of turns, the next turn lasts until the kill, so
 * that messages wait for it.
 */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", port = "0", turns = "Infinity"] = process.argv.slice(2);
const TURN_MS = 20;
let turnsLeft = Number(turns);

const clerk: Agent = {
  afterRestart: "restart",
  whileWorking: "queue",
  describe: () => ({ name: "clerk", description: "Processes messages in order" }),
  async *execute({ message, signal }) {
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (turnsLeft-- <= 0) await once(signal, "abort");
    await setTimeout(TURN_MS, undefined, { signal });
    yield { artifact: { artifactId: `of ${message.messageId}`, parts: message.parts } };
    yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  },
};

const server = createServer(
  { clerk },
  { store: `sqlite:${file}`, limits: { turnAttempts: 1000, queuedTurns: 64 } },
);
const { url } = await server.listen({ port: Number(port) });
process.send?.(url);
