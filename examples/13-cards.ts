/**
 * A planner and a solver as agents, each on a server of its own: they speak in cards, and the controller sees all of them.
 * Here their answers are written down; `createPlanner` and `createSolver` think with a model.
 *
 *     node examples/13-cards.ts
 */
import { generateFlowDiagram } from "colloquy/cards";
import { createController, type Role, serveRoles } from "colloquy/cards";

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
  async performTask(desk) {
    const eggs = await desk.delegate({ to: "solver", task: "16 - 3 - 4", turn: 1 });
    const money = await desk.delegate({ to: "solver", task: `${eggs.content} * 2`, turn: 2 });
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
