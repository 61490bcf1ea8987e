import test from "node:test";
import { Agent, Runner, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { agent, connect, createServer } from "colloquy";
import { fromOpenAiAgents } from "colloquy/openai-agents";
import { assertCalls, converse } from "colloquy/testing";
import { z } from "zod";

const baker = agent({ name: "baker", description: "Bakes" }, async function* ({ text }) {
  yield `One ${text}.`;
});
const call = functionCall("bake", { cake: "carrot cake" }, { callId: "1" });
const parameters = z.object({ cake: z.string() });

void test("orders at an agent on another server", async (t) => {
  const server = createServer(baker, { store: "memory" });
  t.after(() => server.close());
  const remote = await connect((await server.listen()).url);
  const execute = async ({ cake }: z.infer<typeof parameters>) => (await remote.ask(cake)).text;
  const tools = [tool({ name: "bake", description: "Bakes a cake", parameters, execute })];
  const model = new ScriptedModel([[call], [assistantMessage("Enjoy!")]]);
  const shop = new Agent({ name: "shop", handoffDescription: "Sells cakes", model, tools });
  const runner = new Runner({ tracingDisabled: true });
  await using chat = await converse(fromOpenAiAgents(shop, { runner }));
  assertCalls(await chat.send("A carrot cake"), [{ tool: "bake", result: "One carrot cake." }]);
});
