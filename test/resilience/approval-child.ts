/**
 * A server to be killed: an ADK agent that makes refunds after a person's approval and streams its answer
 * slowly.
 */
import { LlmAgent, LogLevel, LongRunningFunctionTool, setLogLevel } from "@google/adk";
import { z } from "zod";
import { ScriptedLlm, toA2a } from "../../src/adk/index.ts";

const [file = "", port = "0"] = process.argv.slice(2);
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
    return `${String(answer["euros"])} euros are on their way, and here is a long goodbye.`;
  },
  { delayMs: 20 },
);

const server = toA2a(new LlmAgent({ name: "refunds", model, tools: [refund] }), { store: `sqlite:${file}` });
const { url } = await server.listen({ port: Number(port) });
process.send?.(url);
