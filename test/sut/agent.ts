import type { Agent, AgentDescription, Run } from "../../src/engine/index.ts";
import { textOf } from "../../src/protocol/index.ts";
import { byText, continued } from "./acts.ts";
import { byInstruction } from "./itk.ts";
import { completedWith, type Play } from "./say.ts";
import { byMessageId, workAndAsk } from "./tck.ts";

/**
 * The agent under test of all suites. It follows instructions (ITK), plays what the messageId asks for (TCK 1.0), or the text (ACTS), does what the TCK for
 * 0.3 expects where the caller speaks 0.3, and echoes any other message.
 */
export function sutAgent(about: Partial<AgentDescription> = {}): Agent {
  return {
    opensWith: "either",
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
      yield* playOf(run)(run);
    },
  };
}

function playOf({ message, task, version }: Run): Play {
  const played = byInstruction(message) ?? byMessageId(message.messageId) ?? byText(textOf(message.parts));
  if (played) return played;
  const [first, ...more] = task.history ?? [];
  if (first && more.length > 0 && byText(textOf(first.parts))) return continued;
  return version === "0.3" ? workAndAsk : echo;
}

const echo: Play = ({ message }) => completedWith(...message.parts);
