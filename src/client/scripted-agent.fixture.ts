import { once } from "node:events";
import { agent, inputRequired, status } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";

/**
 * An agent that follows the script in the message, as in `a2a-client.contract.ts`. In addition, `numbers n`
 * streams the numbers up to n. The agent never repeats text, so tests find lost and repeated events.
 */
export const scriptedAgent: Agent = agent(
  { name: "Obedient", description: "Does as it is told.", capabilities: { streaming: true } },
  async function* ({ text, task, signal }) {
    const isAnswer = (task.history ?? []).filter(({ role }) => role === "ROLE_USER").length > 1;
    if (text === "ask") yield inputRequired("Which colour?");
    else if (text === "wait") {
      yield status();
      await once(signal, "abort");
    } else if (text.startsWith("numbers ")) {
      for (let number = 1; number <= Number(text.slice(8)); number++) {
        yield `${number} `;
        // Pauses, so that the server writes several times and a connection can break in between.
        if (number % 5 === 0) await new Promise(setImmediate);
      }
    } else if (isAnswer) yield `got ${text}`;
    else yield* ["one ", "two ", "three"];
  },
  { artifacts: "pieces" },
);
