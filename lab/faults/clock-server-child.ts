/** A server whose clock the parent process changes. It sweeps ten times per second. The argument is the store. */
import process from "node:process";
import type { Agent } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";

const [store = "memory"] = process.argv.slice(2);

const agent: Agent = {
  describe: () => ({ name: "clerk", description: "Ends or waits" }),
  async *execute({ message }) {
    yield { artifact: { artifactId: "a", parts: [{ text: "done" }] } };
    if (getText(message.parts) === "ask") yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  },
};

const server = createServer(agent, {
  store: store as "memory",
  retention: { sweepIntervalMs: 100 },
  observer: {
    onSweep: (report) => process.send?.({ report }),
    onError: ({ error }) => process.send?.({ error: String(error) }),
  },
});
process.send?.({ url: (await server.listen()).url });
