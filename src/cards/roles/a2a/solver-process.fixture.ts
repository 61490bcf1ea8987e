/** A solver in a separate process that tests kill. The process prints its URL. Without an answer, the solver waits. */
import { createServer } from "../../../server/index.ts";
import { createRoleAgent } from "./role-agent.ts";

const [store = "memory", port = "0", answer] = process.argv.slice(2);

const killableTestSolverAgent = createRoleAgent({
  name: "solver",
  description: "Waits, or answers at once.",
  async performTask() {
    if (answer !== undefined) return { result: answer, status: "success" };
    process.stdout.write("waiting\n");
    return await new Promise<never>(() => {});
  },
});

const { url } = await createServer(killableTestSolverAgent, { store: store as "memory" }).listen({
  port: Number(port),
});
process.stdout.write(`${url}\n`);
