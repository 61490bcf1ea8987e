/**
 * Serves an AI SDK agent over A2A, and uses that agent as a tool of another AI SDK agent. The models follow a
 * script unless `OPENAI_API_KEY` is set.
 *
 *     npm run -s example examples/20-ai-sdk.ts
 */
import { openai } from "@ai-sdk/openai";
import { simulateReadableStream, tool, ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { connect, createServer, getText } from "colloquy";
import { a2aTool, fromAiSdk } from "colloquy/ai-sdk";
import { z } from "zod";

// Your existing agent: its model, its tools, and their approvals.
const weather = new ToolLoopAgent({
  model: createModel("weather", { city: "Seoul" }, "It is sunny in Seoul, 21 °C."),
  instructions: "Tell the weather.",
  tools: {
    weather: tool({
      description: "The weather of a city",
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => ({ city, sky: "sunny", degrees: 21 }),
    }),
  },
});

const server = createServer(
  fromAiSdk(weather, { name: "weather", description: "Knows the weather of every city" }),
  { store: "memory" },
);
const { url } = await server.listen();

// Any A2A client can follow the work of the agent.
const remote = await connect(url);
for await (const event of remote.stream("How is the weather in Seoul?")) {
  if ("statusUpdate" in event) {
    for (const part of event.statusUpdate.status.message?.parts ?? []) console.log(JSON.stringify(part));
  } else if ("artifactUpdate" in event && event.artifactUpdate.lastChunk) {
    // The last chunk contains the entire answer.
    console.log(getText(event.artifactUpdate.artifact.parts));
  }
}

// The opposite direction: any A2A agent can be a tool of an AI SDK agent.
const planner = new ToolLoopAgent({
  model: createModel("weather", { message: "How is it in Seoul?" }, "Take your sunglasses."),
  tools: { weather: a2aTool(remote) },
});
const plan = await planner.stream({ prompt: "What shall I pack for Seoul?" });
console.log(await plan.text);
await server.close();

/**
 * Returns a scripted model that calls a tool and then answers. With a key, returns a language model instead.
 */
function createModel(toolName: string, input: object, answer: string) {
  if (process.env["OPENAI_API_KEY"]) return openai("gpt-5-mini");
  const call = { type: "tool-call" as const, toolCallId: "1", toolName, input: JSON.stringify(input) };
  const deltas = answer.split(/(?<= )/).map((delta) => ({ type: "text-delta" as const, id: "1", delta }));
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const finish = (unified: "stop" | "tool-calls") =>
    ({ type: "finish", finishReason: { unified, raw: undefined }, usage }) as const;
  return new MockLanguageModelV4({
    doStream: async ({ prompt }) => ({
      stream:
        prompt.at(-1)?.role === "user"
          ? simulateReadableStream({ chunks: [call, finish("tool-calls")] })
          : simulateReadableStream({
              chunks: [
                { type: "text-start", id: "1" } as const,
                ...deltas,
                { type: "text-end", id: "1" } as const,
                finish("stop"),
              ],
            }),
    }),
  });
}
