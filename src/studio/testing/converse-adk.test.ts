import { FunctionTool, LlmAgent } from "@google/adk";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { adkAgent } from "../../agents/adk/index.ts";
import { ScriptedLlm } from "../../agents/adk/models/index.ts";
import { assertCalls, converse } from "./index.ts";

it("a conversation with an ADK agent contains its tool calls with arguments and results", async () => {
  const weather = new FunctionTool({
    name: "weather",
    description: "Tells the weather of a city",
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => ({ report: `Sunny in ${city}` }),
  });
  const root = new LlmAgent({
    name: "forecaster",
    description: "Forecasts",
    instruction: "Use the tool.",
    model: new ScriptedLlm([{ call: "weather", args: { city: "Seoul" } }, "It is sunny."]),
    tools: [weather],
  });
  const chat = await converse(adkAgent(root));
  onTestFinished(() => chat.close());
  const turn = await chat.send("How is the weather in Seoul?");
  expect(turn).toMatchObject({ state: "completed" });
  assertCalls(turn, [
    { tool: "weather", arguments: { city: "Seoul" }, result: { report: "Sunny in Seoul" } },
  ]);
  expect(turn.calls?.filter(({ kind }) => kind === "model")).toHaveLength(2);
});
