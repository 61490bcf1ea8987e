/**
 * A server to be killed, with an agent that reports in chunks. After a restart, `how` decides whether the
 * agent starts again or resumes after the stored events. It uses the given SQLite file and port.
 */
import { setTimeout } from "node:timers/promises";
import type { Agent } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const [file = "", policy = "restart", port = "0"] = process.argv.slice(2);
const CHUNK_COUNT = 40;

const reporter: Agent = {
  afterRestart: policy as "restart" | "resume",
  describe: () => ({ name: "reporter", description: "Reports" }),
  async *execute({ task, signal, attempt }) {
    yield {
      status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: `Attempt ${attempt}` }] } },
    };
    const known = task.artifacts?.find(({ artifactId }) => artifactId === "report");
    const from = known ? getText(known.parts).trim().split(" ").length : 0;
    for (let at = from; at < CHUNK_COUNT; at++) {
      yield { artifact: { artifactId: "report", parts: [{ text: `${at} ` }] }, append: at > 0 };
      await setTimeout(5, undefined, { signal });
    }
  },
};

const server = createServer({ reporter }, { store: `sqlite:${file}`, mergeChunks: false });
const { url } = await server.listen({ port: Number(port) });
process.on("SIGTERM", () => void server.close({ graceMs: 50 }).then(() => process.exit(0)));
process.send?.(url);
