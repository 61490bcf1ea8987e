import { once } from "node:events";
import type { Part } from "../../protocol/index.ts";
import { defineAdapterContract } from "./adapter.contract.ts";
import { agent, inputRequired } from "./index.ts";

const agentDescription = { name: "own", description: "For tests", defaultInputModes: ["*/*"] };

function formatPart(part: Part): string {
  if ("raw" in part) return `file:${part.mediaType}:${part.raw}`;
  return "data" in part ? `data:${JSON.stringify(part.data)}` : `text:${"text" in part ? part.text : ""}`;
}

defineAdapterContract("a generator", {
  createAnsweringAgent: (chunks) =>
    agent(agentDescription, async function* () {
      yield* chunks;
    }),
  createAnsweringAgentWithPieces: (chunks) =>
    agent(
      agentDescription,
      async function* () {
        yield* chunks;
      },
      { artifacts: "pieces" },
    ),
  createGateWaitingAgent: (gate) =>
    agent(agentDescription, async function* () {
      yield "first ";
      await gate;
      yield "second";
    }),
  createFailingAgent: (error) =>
    agent(agentDescription, async function* () {
      yield "so far";
      throw error;
    }),
  createEndlessAgent: (stopped) =>
    agent(agentDescription, async function* ({ signal }) {
      yield "working";
      if (!signal.aborted) await once(signal, "abort");
      stopped();
    }),
  createRememberingAgent() {
    const received = new Map<string, string[]>();
    return agent(agentDescription, async function* ({ contextId, text }) {
      const output = [...(received.get(contextId) ?? []), text];
      received.set(contextId, output);
      yield output.join(" | ");
    });
  },
  createEchoAgent: () =>
    agent(agentDescription, async function* ({ message }) {
      yield message.parts.map(formatPart).join(" ");
    }),
  createAskingAgent: () =>
    agent(agentDescription, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which city?");
      yield `Sunny in ${text}`;
    }),
});
