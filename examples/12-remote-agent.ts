/**
 * Uses an agent on another server as a sub-agent of an ADK agent. The concierge transfers to a weather
 * station, which contains no ADK code. The station's question reaches the client through both servers, and
 * the answer returns to the station.
 *
 *     npm run -s example examples/12-remote-agent.ts
 */
import { LlmAgent } from "@google/adk";
import { agent, connect, createServer, inputRequired, getText } from "colloquy";
import { RemoteAgent, ScriptedLlm, toA2a } from "colloquy/adk";

// The remote side: any A2A server, version 1.0 or 0.3.
const station = agent(
  { name: "station", description: "Tells the weather of a city" },
  async function* ({ text, task }) {
    if (task.history?.length === 1) yield inputRequired("Which city?");
    else yield `It is sunny in ${text}, 21 °C.`;
  },
);
const remoteServer = createServer({ station }, { store: "memory" });
const remoteAddress = await remoteServer.listen({ port: 0 });

// The local side: the remote agent is an ordinary sub-agent.
const weather = new RemoteAgent({
  name: "weather",
  description: "Knows the weather of every city",
  agent: remoteAddress.url,
  // To add headers to every request: `headers: ({ userId }) => ({ authorization: … })`.
});
const concierge = new LlmAgent({
  name: "concierge",
  instruction: "Hand over to the agent that knows the answer.",
  model: process.env["GEMINI_API_KEY"]
    ? "gemini-2.5-flash"
    : new ScriptedLlm([{ call: "transfer_to_agent", args: { agentName: "weather" } }]),
  subAgents: [weather],
});
const localServer = toA2a(concierge, { store: "memory" });
const { url } = await localServer.listen({ port: 0 });

const client = await connect(url);
const asked = await client.send("What is the weather like?");
if (!("task" in asked)) throw new Error("Expected a task.");
const { id: taskId, status } = asked.task;
// ADK represents the station's question as a function call that waits for a response.
const [question] = status.message?.parts ?? [];
const call = (question && "data" in question ? question.data : {}) as { id: string; args: object };
console.log(status.state, JSON.stringify(call.args));

const answer = { data: { id: call.id, response: { result: "Seoul" } } };
const done = await client.send([answer], { taskId });
if ("task" in done) console.log(done.task.artifacts?.map(({ parts }) => getText(parts)).join(""));

await localServer.close();
await remoteServer.close();
