import { once } from "node:events";
import { agent, inputRequired, status } from "../adapters/index.ts";
import type { Agent } from "../engine/index.ts";

/** Does as it is told: see `remote.contract.ts`; and `numbers n` streams the numbers to n. */
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
        // Lets the server write now and then, so that there is something to cut.
        if (number % 5 === 0) await new Promise(setImmediate);
      }
    } else if (isAnswer) yield `got ${text}`;
    else yield* ["one ", "two ", "three"];
  },
);
