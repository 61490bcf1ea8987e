import assert from "node:assert/strict";
import test from "node:test";
import { LlmAgent } from "@google/adk";
import { agent, createServer } from "colloquy";
import { adkAgent, RemoteAgent, ScriptedLlm } from "colloquy/adk";
import { assertCalls, converse } from "colloquy/testing";

const station = agent({ name: "station", description: "Knows the weather" }, async function* ({ text }) {
  yield `It is sunny (${text}).`;
});

void test("hands over to an agent on another server", async (t) => {
  const server = createServer(station, { store: "memory" });
  t.after(() => server.close());
  const { url } = await server.listen();
  const weather = new RemoteAgent({ name: "weather", description: "Knows the weather", agent: url });
  const concierge = new LlmAgent({
    name: "concierge",
    description: "Finds the agent that knows",
    model: new ScriptedLlm([{ call: "transfer_to_agent", args: { agentName: "weather" } }]),
    subAgents: [weather],
  });
  await using chat = await converse(adkAgent(concierge));
  const turn = await chat.send("Seoul");
  assert.match(turn.text, /It is sunny \(Seoul\)\./);
  assertCalls(turn, ["transfer_to_agent"]);
});
