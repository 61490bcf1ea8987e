/**
 * A server to be killed: an ADK agent that makes refunds after a person's approval and streams its answer
 * slowly.
 */
import { LlmAgent, LogLevel, LongRunningFunctionTool, setLogLevel } from "@google/adk";
import { z } from "zod";
import { adkAgent, ScriptedLlm } from "../../src/agents/adk/index.ts";
import { createServer } from "../../src/server/index.ts";

const [store = "", port = "0"] = process.argv.slice(2);
setLogLevel(LogLevel.ERROR);

const refund = new LongRunningFunctionTool({
  name: "refund",
  description: "Refunds an amount once a person has approved it",
  parameters: z.object({ euros: z.number() }),
  execute: ({ euros }) => ({ status: "pending", euros }),
});

const model = new ScriptedLlm(
  ({ text, results }) => {
    const answer = results[0]?.response;
    if (!answer) return { call: "refund", args: { euros: Number(text) } };
    if (answer["status"] === "pending") return "Asked.";
    // A plain text is in `result`.
    return `${String(answer["euros"] ?? answer["result"])} euros are on their way, and here is a long goodbye.`;
  },
  { delayMs: 20 },
);

const agent = adkAgent(new LlmAgent({ name: "refunds", model, tools: [refund] }));
const server = createServer(
  { refunds: agent },
  { store: store as `sqlite:${string}` | `postgres://${string}` },
);
const { url } = await server.listen({ port: Number(port) });
process.send?.(url);
