/**
 * Serves an agent of the OpenAI Agents SDK whose tool requires the user's approval. The model follows a script
 * unless `OPENAI_API_KEY` is set.
 *
 *     npm install --prefix examples/21-openai-agents
 *     npm run -s example examples/21-openai-agents/main.ts
 */
import { Agent, Runner, tool } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { connect, createServer, getText } from "colloquy";
import { fromOpenAiAgents } from "colloquy/openai-agents";
import { z } from "zod";

const scriptedModel = new ScriptedModel([
  [functionCall("refund", { euros: 80 }, { callId: "1" })],
  [assistantMessage("The money is on its way.")],
]);

// Your existing agent: its model, its tools, and their approvals.
const clerk = new Agent({
  name: "clerk",
  handoffDescription: "Refunds purchases",
  model: process.env["OPENAI_API_KEY"] ? "gpt-5-mini" : scriptedModel,
  tools: [
    tool({
      name: "refund",
      description: "Refunds an amount",
      parameters: z.object({ euros: z.number() }),
      needsApproval: true,
      execute: ({ euros }) => `Refunded ${euros} euros`,
    }),
  ],
});

const runner = new Runner({ tracingDisabled: true });
const server = createServer(fromOpenAiAgents(clerk, { runner }), { store: "memory" });
const client = await connect((await server.listen()).url);

const asked = await client.send("Refund 80 euros");
if (!("task" in asked)) throw new Error("Expected a task.");
const { id: taskId, status } = asked.task;
console.log(status.state, getText(status.message?.parts ?? []));

const done = await client.send("yes", { taskId });
if ("task" in done) console.log(done.task.status.state, getText(done.task.artifacts?.[0]?.parts ?? []));
await server.close();
