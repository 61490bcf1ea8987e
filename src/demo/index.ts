/**
 * A DEMO of the main job, written as any user of this package would: an ADK agent with real tools, on a real model when
 * there is a key for one and on a scripted one when there is none, and a plain generator beside it.
 */
import type { LlmAgent } from "@google/adk";
import type { Agent } from "../engine/index.ts";

export interface Demo {
  /** By the names under which they are served. */
  agents: { assistant: Agent; writer: Agent };
  /** Which model the assistant runs on, for people. */
  model: string;
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
  const [{ createAssistant }, { chooseModel }, { writer }] = await Promise.all([
    import("./assistant.ts"),
    import("./model.ts"),
    import("./writer.ts"),
  ]);
  const { llm, about } = chooseModel(model, env);
  return { agents: { assistant: await toAgent(await createAssistant(llm)), writer }, model: about };
}
