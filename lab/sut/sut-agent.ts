import type { Agent, AgentDescription, Run } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { findActsScenario, actsFollowUp } from "./acts.ts";
import { findItkScenario } from "./itk.ts";
import { completeWithArtifact, type Scenario } from "./scenario.ts";
import { findTckScenario, workThenAskForInput } from "./tck.ts";

/**
 * The agent under test of all suites. It follows instructions (ITK), or plays the scenario named by the
 * messageId (TCK 1.0) or by the text (ACTS). For 0.3 callers it behaves as the TCK for 0.3 expects. It echoes
 * any other message.
 */
export function createSutAgent(about: Partial<AgentDescription> = {}): Agent {
  return {
    respondsWith: "either",
    describe: () => ({
      name: "Colloquy SUT",
      description: "Plays the scenarios of the A2A conformance suites.",
      version: "1.0.0",
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "tck", name: "TCK", description: "Plays scenarios by messageId.", tags: ["tck"] }],
      ...about,
    }),
    describeExtended: () => ({ description: "Plays the scenarios of the A2A conformance suites, for you." }),
    async *execute(run) {
      yield* selectScenario(run)(run);
    },
  };
}

function selectScenario({ message, task, protocolVersion }: Run): Scenario {
  const scenario =
    findItkScenario(message) ??
    findTckScenario(message.messageId) ??
    findActsScenario(getText(message.parts));
  if (scenario) return scenario;
  const [first, ...more] = task.history ?? [];
  if (first && more.length > 0 && findActsScenario(getText(first.parts))) return actsFollowUp;
  return protocolVersion === "0.3" ? workThenAskForInput : echo;
}

const echo: Scenario = ({ message }) => completeWithArtifact(...message.parts);
