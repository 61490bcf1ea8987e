import { once } from "node:events";
import type { Part } from "../protocol/index.ts";
import { describeAdapter } from "./adapter.contract.ts";
import { agent, inputRequired } from "./index.ts";

const about = { name: "own", description: "For tests", defaultInputModes: ["*/*"] };

function seenIn(part: Part): string {
  if ("raw" in part) return `file:${part.mediaType}:${part.raw}`;
  return "data" in part ? `data:${JSON.stringify(part.data)}` : `text:${"text" in part ? part.text : ""}`;
}

describeAdapter("a generator", {
  answering: (chunks) =>
    agent(about, async function* () {
      yield* chunks;
    }),
  pausing: (gate) =>
    agent(about, async function* () {
      yield "first ";
      await gate;
      yield "second";
    }),
  failing: (error) =>
    agent(about, async function* () {
      yield "so far";
      throw error;
    }),
  endless: (stopped) =>
    agent(about, async function* ({ signal }) {
      yield "working";
      if (!signal.aborted) await once(signal, "abort");
      stopped();
    }),
  remembering() {
    const heard = new Map<string, string[]>();
    return agent(about, async function* ({ contextId, text }) {
      const said = [...(heard.get(contextId) ?? []), text];
      heard.set(contextId, said);
      yield said.join(" | ");
    });
  },
  receiving: () =>
    agent(about, async function* ({ message }) {
      yield message.parts.map(seenIn).join(" ");
    }),
  asking: () =>
    agent(about, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which city?");
      yield `Sunny in ${text}`;
    }),
});
