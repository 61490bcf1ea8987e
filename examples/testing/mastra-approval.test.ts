import assert from "node:assert/strict";
import test from "node:test";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { fromMastra } from "colloquy/mastra";
import { converse } from "colloquy/testing";
import { z } from "zod";
import { scriptedMastraModel } from "./scripted-model.ts";

const inputSchema = z.object({ euros: z.number() });
const execute = async ({ euros }: z.infer<typeof inputSchema>) => ({ refunded: euros });
const description = "Refunds purchases";
const refund = createTool({ id: "refund", description, inputSchema, requireApproval: true, execute });
const model = scriptedMastraModel({ call: "refund", input: { euros: 80 } }, "The money is on its way.");
const tools = { refund };
const clerk = new Agent({ id: "clerk", name: "clerk", description, instructions: "Refund.", model, tools });
const mastra = new Mastra({ agents: { clerk }, storage: new InMemoryStore(), logger: false });

void test("refunds after an approval", async () => {
  await using chat = await converse(fromMastra(mastra.getAgent("clerk")));
  const asked = await chat.send("Refund 80 euros");
  assert.equal(asked.question, "May refund be called?");
  assert.equal((await chat.send("yes")).text, "The money is on its way.");
});
