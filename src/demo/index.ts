/**
 * A DEMO of the main job, written as any user of this package would: an ADK agent with real tools, on a real model when
 * there is a key for one and on a scripted one when there is none, a plain generator, and a planner and a solver that speak in cards.
 */
import type { LlmAgent } from "@google/adk";
import type { Agent } from "../engine/index.ts";

export interface Demo {
  /** By the names under which they are served. */
  agents: { assistant: Agent; writer: Agent; tutor: Agent };
  /** Which model they run on, for people. */
  modelDescription: string;
  /** What the tutor can be asked, and the flow of its cards, where it has solved that already. */
  sampleProblem: string;
  flowDiagram: string | undefined;
  close: () => Promise<void>;
}

/**
 * `toAgent` puts the assistant on the port of the engine. Rejects when `@google/adk` is not installed, which is an
 * optional peer of this package.
 */
export async function createDemo(
  toAgent: (assistant: LlmAgent) => Promise<Agent>,
  model: string | undefined,
  env: Record<string, string | undefined>,
): Promise<Demo> {
  const [{ createAssistant }, { chooseModel }, { createTutor }, { writerAgent: writer }] = await Promise.all([
    import("./assistant.ts"),
    import("./choose-model.ts"),
    import("./tutor.ts"),
    import("./writer.ts"),
  ]);
  const { llm, description: about, isReal } = chooseModel(model, env);
  const assistant = await toAgent(await createAssistant(llm));
  const { agent: tutor, ...rest } = await createTutor(isReal ? llm : undefined);
  return { agents: { assistant, writer, tutor }, modelDescription: about, ...rest };
}
