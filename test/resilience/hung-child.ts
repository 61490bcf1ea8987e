/**
 * A server to be killed, with an agent that never returns, and a limit in milliseconds on the silence of the agent. It
 * uses the given store.
 */
import type { Agent } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";

const [store = "", maxSilenceMs = "Infinity"] = process.argv.slice(2);

const hung: Agent = {
  afterRestart: "restart",
  describe: () => ({ name: "hung", description: "Never returns" }),
  async *execute() {
    yield { status: { state: "TASK_STATE_WORKING" } };
    await new Promise<never>(() => {});
  },
};

const server = createServer(
  { hung },
  { store: store as `sqlite:${string}`, maxSilenceMs: Number(maxSilenceMs), cancelGraceMs: 50 },
);
const { url } = await server.listen();
process.send?.(url);
