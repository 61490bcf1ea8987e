/**
 * A server to be killed: an ADK agent whose tool runs until the kill. Afterwards, the agent repeats its
 * model's input.
 */
import { FunctionTool, LlmAgent, LogLevel, setLogLevel } from "@google/adk";
import { z } from "zod";
import { ScriptedLlm, toA2a } from "../../src/agents/adk/index.ts";

const [file = ""] = process.argv.slice(2);
setLogLevel(LogLevel.ERROR);

const digTool = new FunctionTool({
  name: "dig",
  description: "Digs",
  parameters: z.object({}),
  execute: () => new Promise(() => process.send?.("digging")),
});

const model = new ScriptedLlm(({ text, results, request: { contents } }) => {
  if (text === "dig" && results.length === 0) return [{ text: "I dig." }, { call: "dig" }];
  const history = contents.flatMap(({ role, parts = [] }) => parts.map((part) => ({ role, ...part })));
  return [{ text: [JSON.stringify(history)] }];
});

const server = toA2a(new LlmAgent({ name: "digger", model, tools: [digTool] }), { store: `sqlite:${file}` });
const { url } = await server.listen({ port: 0 });
process.send?.(url);
