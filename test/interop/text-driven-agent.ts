import { once } from "node:events";
import { agent, inputRequired, status } from "../../src/adapters/index.ts";
import type { Agent } from "../../src/engine/index.ts";

/**
 * The agent that every suite of interoperability knows, also in Python and Go: `count` streams "one two three", `ask` asks
 * and completes with what it is answered, `wait` works until it is cancelled.
 */
export const textDrivenAgent: Agent = agent(
  {
    name: "Obedient",
    description: "Does as it is told.",
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
