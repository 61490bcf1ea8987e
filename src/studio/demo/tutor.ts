import { loadLanguageModel } from "../../agents/adk/models/index.ts";
import { generateFlowDiagram, getGsm8kSlice } from "../../cards/index.ts";
import type { Agent } from "../../engine/index.ts";
import {
  createAiSdkModel,
  createControllerAgent,
  createController,
  createPlanner,
  createSolver,
  createOracleModel,
  type RoleModel,
  serveRoles,
  type ServeRolesOptions,
} from "../../cards/roles/index.ts";

/** Record of the traffic between the roles. */
export type TutorRecord = NonNullable<ServeRolesOptions["connectOptions"]>["record"];

interface TutorWithSampleProblem {
  agent: Agent;
  /** URLs of the planner and the solver. */
  roleUrls: readonly string[];
  /** A sample problem for the tutor. */
  sampleProblem: string;
  /**
   * Flow diagram of the message cards for the sample problem. The diagram is `undefined` if the demo uses a
   * language model, because solving the problem would cost tokens.
   */
  flowDiagram: string | undefined;
  close: () => Promise<void>;
}

/** Creates a model that follows the human solutions, and tells users of the demo which problems it can solve. */
function createSampleModel(sampleProblem: string): RoleModel {
  const oracle = createOracleModel(getGsm8kSlice());
  return {
    ...oracle,
    complete: (request) =>
      oracle.complete(request).catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith("The oracle has no sample"))
          error.message = `Without a language model, the demo solves only its sample problems. Set GEMINI_API_KEY, OPENAI_API_KEY, or ANTHROPIC_API_KEY, pass --model (ollama:qwen3 needs no key), or send a sample: ${sampleProblem}`;
        throw error;
      }),
  };
}

/**
 * Creates a tutor from a planner, a solver, and a controller. The planner and the solver have separate
 * servers. The controller accepts user messages. Without a model, the planner and the solver use the human
 * solutions of 20 GSM8K problems.
 */
export async function createTutor(
  modelName: string | undefined,
  record: TutorRecord,
): Promise<TutorWithSampleProblem> {
  const [janet] = getGsm8kSlice();
  const sampleProblem = janet?.question ?? "";
  const model =
    modelName === undefined
      ? createSampleModel(sampleProblem)
      : createAiSdkModel(loadLanguageModel(modelName), { id: modelName });
  const roles = { planner: { role: createPlanner(), model }, solver: { role: createSolver(), model } };
  const recordOptions = record === undefined ? {} : { record };
  const served = await serveRoles({
    roles,
    connectOptions: recordOptions,
    serverOptions: { store: "memory", push: false, ...recordOptions },
  });
  const roleUrls = Object.values(served.urls);
  const close = (): Promise<void> => served.close();
  const controller = createController({
    roleTargets: served.urls,
    deadlineMs: 120_000,
    connectOptions: recordOptions,
  });
  const agent = createControllerAgent({
    controller,
    dataset: "gsm8k",
    name: "tutor",
    description: "Solves a word problem with a planner and a solver that exchange message cards",
  });
  if (modelName !== undefined) return { agent, roleUrls, sampleProblem, flowDiagram: undefined, close };
  const { cards } = await controller.solve({ task: sampleProblem, dataset: "gsm8k", relay: "full" });
  return { agent, roleUrls, sampleProblem, flowDiagram: generateFlowDiagram(cards), close };
}
