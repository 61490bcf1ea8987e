import type { BaseLlm } from "@google/adk";
import { toRoleModel } from "../adk/models/index.ts";
import { generateFlowDiagram, getGsm8kSlice } from "../cards/index.ts";
import type { Agent } from "../engine/index.ts";
import {
  createControllerAgent,
  createController,
  createPlanner,
  createSolver,
  createOracleModel,
  serveRoles,
} from "../roles/index.ts";

export interface Tutor {
  agent: Agent;
  /** A problem that it can be asked. */
  sampleProblem: string;
  /** The problem solved, as the flow of its cards. None with a real model, which nobody asked to be asked. */
  flowDiagram: string | undefined;
  close: () => Promise<void>;
}

/**
 * A planner and a solver, each an agent on a server of its own, and a controller in front of them that people can talk to.
 * Without a model they know the human solutions to 20 problems of GSM8K.
 */
export async function createTutor(llm: BaseLlm | undefined): Promise<Tutor> {
  const [janet] = getGsm8kSlice();
  const problem = janet?.question ?? "";
  const model = llm ? toRoleModel(llm) : createOracleModel(getGsm8kSlice());
  const roles = { planner: { role: createPlanner(), model }, solver: { role: createSolver(), model } };
  const served = await serveRoles({ roles });
  const close = (): Promise<void> => served.close();
  const controller = createController({ roleTargets: served.urls, deadlineMs: 120_000 });
  const agent = createControllerAgent({
    controller,
    dataset: "gsm8k",
    name: "tutor",
    description: "Has a planner and a solver work out a word problem, card by card",
  });
  if (llm) return { agent, sampleProblem: problem, flowDiagram: undefined, close };
  const { cards } = await controller.solve({ task: problem, dataset: "gsm8k", relay: "full" });
  return { agent, sampleProblem: problem, flowDiagram: generateFlowDiagram(cards), close };
}
