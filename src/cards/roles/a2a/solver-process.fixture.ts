/** A solver in a separate process that tests kill. It prints its URL and never answers the task `wait`. */
import { createServer } from "../../../server/index.ts";
import { createRoleAgent } from "./index.ts";

const [store = "memory", port = "0"] = process.argv.slice(2);

const killableTestSolverAgent = createRoleAgent({
  name: "solver",
  description: "Waits, or answers at once.",
  async performTask({ task }) {
    if (task.content === "wait") {
      process.stdout.write("waiting\n");
      await new Promise(() => {});
    }
    return { result: "4", status: "success" };
  },
});

const { url } = await createServer(killableTestSolverAgent, { store: store as "memory" }).listen({
  port: Number(port),
});
process.stdout.write(`${url}\n`);
