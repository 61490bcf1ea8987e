/**
 * Serves a Mastra agent whose tool requires the user's approval. The model follows a script unless
 * `OPENAI_API_KEY` is set.
 *
 *     npm install --prefix examples/22-mastra
 *     npm run -s example examples/22-mastra/main.ts
 */
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import type { MastraModelConfig } from "@mastra/core/llm";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { connect, createServer, getText } from "colloquy";
import { fromMastra } from "colloquy/mastra";
import { z } from "zod";

// Your existing agent: its model, its tools, and their approvals.
const clerk = new Agent({
  id: "clerk",
  name: "clerk",
  description: "Refunds purchases",
  instructions: "Refund purchases.",
  model: process.env["OPENAI_API_KEY"] ? "openai/gpt-5-mini" : createScriptedModel(),
  tools: {
    refund: createTool({
      id: "refund",
      description: "Refunds an amount",
      inputSchema: z.object({ euros: z.number() }),
      requireApproval: true,
      execute: async ({ euros }) => ({ refunded: euros }),
    }),
  },
});
// The storage keeps the runs that wait for an approval.
const mastra = new Mastra({ agents: { clerk }, storage: new InMemoryStore(), logger: false });

const server = createServer(fromMastra(mastra.getAgent("clerk")), { store: "memory" });
const client = await connect((await server.listen()).url);

const asked = await client.send("Refund 80 euros");
if (!("task" in asked)) throw new Error("Expected a task.");
const { id: taskId, status } = asked.task;
console.log(status.state, getText(status.message?.parts ?? []));

const done = await client.send("yes", { taskId });
if ("task" in done) console.log(done.task.status.state, getText(done.task.artifacts?.[0]?.parts ?? []));
await server.close();

/** Returns a scripted model that calls the tool and then answers. */
function createScriptedModel() {
  const call = { type: "tool-call" as const, toolCallId: "1", toolName: "refund", input: `{"euros":80}` };
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const finish = (unified: "stop" | "tool-calls") =>
    ({ type: "finish", finishReason: { unified, raw: undefined }, usage }) as const;
  const model = new MockLanguageModelV4({
    doStream: async ({ prompt }) => ({
      stream:
        prompt.at(-1)?.role === "user"
          ? simulateReadableStream({ chunks: [call, finish("tool-calls")] })
          : simulateReadableStream({
              chunks: [
                { type: "text-start", id: "1" } as const,
                { type: "text-delta", id: "1", delta: "The money is on its way." } as const,
                { type: "text-end", id: "1" } as const,
                finish("stop"),
              ],
            }),
    }),
  });
  // The types of Mastra and of the AI SDK come from different releases of the provider interface.
  return model as MastraModelConfig;
}
