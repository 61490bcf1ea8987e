/**
 * Runs a planner and a solver as agents on separate servers. The planner and the solver exchange message
 * cards, and the controller receives all cards. Both roles return fixed answers in this example.
 * `createPlanner` and `createSolver` use a language model.
 *
 *     node examples/13-cards.ts
 */
import { createController, generateFlowDiagram, type Role, serveRoles } from "colloquy/cards";

const solver: Role = {
  name: "solver",
  description: "Calculates",
  performTask: async ({ task }) => ({
    result: task.content === "16 - 3 - 4" ? "9" : "18",
    status: "success",
  }),
};

const planner: Role = {
  name: "planner",
  description: "Divides a problem into steps",
  async performTask(context) {
    const remainingEggs = await context.delegate({ to: "solver", task: "16 - 3 - 4", turn: 1 });
    const money = await context.delegate({ to: "solver", task: `${remainingEggs.content} * 2`, turn: 2 });
    return { result: money.content, status: "completed" };
  },
};

const { urls, close } = await serveRoles({ roles: { planner, solver } });
const controller = createController({ roleTargets: urls });
const { reply, cards } = await controller.solve({
  task: "Janet's ducks lay 16 eggs per day. She eats three, bakes with four, and sells the rest for $2 each.",
  relay: "full",
});
console.log(reply.content);
console.log(generateFlowDiagram(cards));
await close();
