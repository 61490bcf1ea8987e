/**
 * Demo application that imports the Colloquy package in the same way as an external application. The demo
 * contains an ADK agent with tools, an agent written as an async generator, and a planner and a solver that
 * exchange message cards. The agents of the demo use a language model if an API key is set, and otherwise a
 * scripted model.
 */
import type { LlmAgent } from "@google/adk";
import type { Agent } from "../../engine/index.ts";
import type { TutorRecord } from "./tutor.ts";

export interface DemoApplication {
  /** Demo agents by agent ID. */
  agents: { assistant: Agent; writer: Agent; tutor: Agent };
  /** URLs of the tutor's planner and solver. */
  roleUrls: readonly string[];
  /** Text that tells users which model the agents use. */
  modelDescription: string;
  /** A sample problem for the tutor. */
  sampleProblem: string;
  /** Flow diagram of the message cards, or `undefined` if the problem has not been solved. */
  flowDiagram: string | undefined;
  close: () => Promise<void>;
}

/**
 * Creates the demo. The function `toAgent` converts the assistant to an engine agent. `record` receives the traffic
 * between the planner and the solver. Rejects if the optional peer dependency `@google/adk` is not installed.
 */
export async function createDemo(
  toAgent: (assistant: LlmAgent) => Promise<Agent>,
  model: string | undefined,
  env: Record<string, string | undefined>,
  record?: TutorRecord,
): Promise<DemoApplication> {
  const [{ createAssistant }, { chooseModel }, { createTutor }, { writerAgent: writer }] = await Promise.all([
    import("./assistant.ts"),
    import("./choose-model.ts"),
    import("./tutor.ts"),
    import("./writer.ts"),
  ]);
  const { llm, description: modelDescription, name } = chooseModel(model, env);
  const assistant = await toAgent(await createAssistant(llm));
  const { agent: tutor, ...rest } = await createTutor(name, record);
  const agents = {
    assistant: withExamples(assistant, [
      "What is 12.5% of 80, and 10 km in miles?",
      "Reimburse 150 euros for a taxi",
    ]),
    writer,
    tutor: withExamples(tutor, [rest.sampleProblem]),
  };
  return { agents, modelDescription, ...rest };
}

/** Adds examples to the first skill of an agent, which the chat of the console offers. */
function withExamples(agent: Agent, examples: string[]): Agent {
  return {
    ...agent,
    describe: async () => {
      const described = await agent.describe();
      const [first, ...others] = described.skills ?? [];
      return first ? { ...described, skills: [{ ...first, examples }, ...others] } : described;
    },
  };
}
