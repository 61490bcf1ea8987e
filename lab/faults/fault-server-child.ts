/**
 * A server under faults, with one agent for each value of `afterRestart`. Each agent counts to 60 in about two
 * seconds. The arguments are the SQLite file and the port.
 */
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", port = "0"] = process.argv.slice(2);
const CHUNK_COUNT = 60;

function createCountingAgent(afterRestart: "fail" | "restart" | "resume"): Agent {
  return {
    afterRestart,
    describe: () => ({ name: afterRestart, description: "Counts" }),
    async *execute({ task, signal, attempt, message }) {
      const isShort = getText(message.parts) === "short";
      const known = task.artifacts?.find(({ artifactId }) => artifactId === "numbers");
      const from = known ? getText(known.parts).trim().split(" ").length : 0;
      yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: `Attempt ${attempt}` }] } } };
      for (let at = from; at < (isShort ? 1 : CHUNK_COUNT); at++) {
        yield {
          artifact: { artifactId: "numbers", parts: [{ text: `${at} `.padStart(400, ".") }] },
          append: at > 0,
        };
        if (!isShort) await setTimeout(30, undefined, { signal });
      }
    },
  };
}

const server = createServer(
  {
    fail: createCountingAgent("fail"),
    restart: createCountingAgent("restart"),
    resume: createCountingAgent("resume"),
  },
  {
    store: `sqlite:${file}`,
    mergeChunks: false,
    observer: {
      onStoreState: ({ state }) => process.send?.({ storeState: state }),
      onError: ({ where, error }) => process.send?.({ where, error: String(error) }),
    },
  },
);
const { url } = await server.listen({ port: Number(port) });
process.send?.({ url });
