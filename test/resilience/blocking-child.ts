/**
 * A server whose agent blocks the event loop for the given time once the parent sends a message, and then writes an
 * artifact. It uses the given store and limit on silence, and reports to the parent when the signal of the agent aborts.
 */
import { once } from "node:events";
import type { Agent } from "../../src/engine/index.ts";
import { createServer, type ServerOptions } from "../../src/server/index.ts";
import { PostgresStore } from "../../src/stores/index.ts";

const [store = "", blockMs = "", afterRestart = "fail", maxSilenceMs = ""] = process.argv.slice(2);

const blocking: Agent = {
  afterRestart: afterRestart as NonNullable<Agent["afterRestart"]>,
  describe: () => ({ name: "blocking", description: "Blocks the event loop" }),
  async *execute({ signal }) {
    signal.addEventListener("abort", () => process.send?.("aborted"));
    yield { status: { state: "TASK_STATE_WORKING" } };
    await once(process, "message");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(blockMs));
    yield { artifact: { artifactId: "late", parts: [{ text: "late" }] } };
    await new Promise<never>(() => {});
  },
};

const options: ServerOptions = {
  store: store.startsWith("postgres")
    ? new PostgresStore(store, { leaseMs: 1000 })
    : (store as "memory" | `sqlite:${string}`),
  ...(maxSilenceMs !== "" && { maxSilenceMs: Number(maxSilenceMs) }),
};
const server = createServer({ blocking }, { observer: false, cancelGraceMs: 50, ...options });
const { url } = await server.listen();
process.send?.(url);
