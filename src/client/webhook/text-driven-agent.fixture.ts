import { once } from "node:events";
import { agent, inputRequired, status } from "../../agents/adapters/index.ts";
import type { Agent } from "../../engine/index.ts";

/**
 * The agent of every interoperability suite, also implemented in Python and Go. `count` streams "one two
 * three". `ask` asks a question and completes with the answer. `wait` works until it is canceled.
 */
export const textDrivenAgent: Agent = agent(
  {
    name: "Obedient",
    description: "Executes the command in the text.",
    capabilities: { streaming: true, pushNotifications: true },
  },
  async function* ({ text, task, signal }) {
    const isAnswer = (task.history ?? []).filter(({ role }) => role === "ROLE_USER").length > 1;
    if (text === "ask") yield inputRequired("Which colour?");
    else if (text === "wait") {
      yield status();
      await once(signal, "abort");
    } else if (isAnswer) yield `got ${text}`;
    else yield* ["one ", "two ", "three"];
  },
);
