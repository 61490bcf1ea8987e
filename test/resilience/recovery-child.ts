/**
 * A server with one agent for each value of `afterRestart`, on the given SQLite file. Each agent reports in 40
 * chunks. For the message "log in", an agent requests credentials and waits for them within its turn.
 */
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", port = "0"] = process.argv.slice(2);
const CHUNK_COUNT = 40;

function createReporter(afterRestart: "fail" | "restart" | "resume"): Agent {
  return {
    afterRestart,
    describe: () => ({ name: afterRestart, description: "Reports" }),
    async *execute({ task, message, attempt, signal }) {
      if (getText(message.parts) === "log in" && attempt === 1) {
        yield { status: { state: "TASK_STATE_AUTH_REQUIRED" } };
        await setTimeout(60_000, undefined, { signal });
      }
      const known = task.artifacts?.find(({ artifactId }) => artifactId === "report");
      const from = known ? getText(known.parts).trim().split(" ").length : 0;
      for (let at = from; at < CHUNK_COUNT; at++) {
        yield { artifact: { artifactId: "report", parts: [{ text: `${at} ` }] }, append: at > 0 };
        await setTimeout(50, undefined, { signal });
      }
    },
  };
}

const agents = {
  fail: createReporter("fail"),
  restart: createReporter("restart"),
  resume: createReporter("resume"),
};
const server = createServer(agents, { store: `sqlite:${file}`, mergeChunks: false, observer: {} });
const { url } = await server.listen({ port: Number(port) });
process.on("SIGTERM", () => void server.close({ graceMs: 50 }).then(() => process.exit(0)));
process.send?.(url);
