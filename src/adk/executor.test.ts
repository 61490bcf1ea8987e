import { FunctionTool, LlmAgent, LongRunningFunctionTool } from "@google/adk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { textOf } from "../protocol/index.ts";
import { adkAgent } from "./executor.ts";
import { ScriptedLlm } from "./models/index.ts";
import { OneTask } from "./one-task.contract.ts";

const add = new FunctionTool({
  name: "add",
  description: "Adds two numbers",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const requestApproval = new LongRunningFunctionTool({
  name: "request_approval",
  description: "Asks a human",
  parameters: z.object({ reason: z.string() }),
  execute: () => ({ status: "pending" }),
});

function calculator(): LlmAgent {
  const model = new ScriptedLlm(({ results, text }) => {
    const [result] = results;
    if (result?.name === "add") return `The sum is ${String(result.response?.["sum"])}.`;
    if (result?.response?.["status"] === "pending") return "Waiting for approval.";
    if (result?.name === "request_approval") return `Approved: ${JSON.stringify(result.response)}`;
    if (text === "approve") return { call: "request_approval", args: { reason: "money" } };
    return ["Let me add.", { call: "add", args: { a: 2, b: 3 } }];
  });
  return new LlmAgent({ name: "calc", description: "Adds.", model, tools: [add, requestApproval] });
}

describe("an ADK agent on the engine's port", () => {
  it("works, streams its text once, calls its tools and completes", async () => {
    const talk = new OneTask(adkAgent(calculator()));
    const turn = await talk.send("What is 2 + 3?");
    expect(turn.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(talk.task.artifacts?.map(({ parts }) => textOf(parts))).toEqual([
      "Let me add.",
      "",
      "The sum is 5.",
    ]);
    expect(textOf(turn.chunks)).toBe("Let me add.The sum is 5.");
  });

  it("waits for its user when a long-running tool does, and goes on with the answer", async () => {
    const talk = new OneTask(adkAgent(calculator()));
    const asked = await talk.send("approve");
    expect(asked.states.at(-1)).toBe("TASK_STATE_INPUT_REQUIRED");
    const [call, pending] = talk.task.status.message?.parts ?? [];
    expect(call).toMatchObject({
      data: { name: "request_approval", args: { reason: "money" } },
      metadata: { adk_type: "function_call", adk_is_long_running: true },
    });
    expect(pending).toMatchObject({ data: { response: { status: "pending" } } });
    expect(JSON.stringify(talk.task.artifacts)).not.toContain("request_approval");

    const told = await talk.send("go on then");
    expect(told.states).toEqual(["TASK_STATE_INPUT_REQUIRED"]);
    const id = (call as { data: { id: string } }).data.id;
    expect(talk.task.status.message?.parts).toEqual([
      call,
      pending,
      { text: `no input provided for function call ID "${id}"`, metadata: { validation_error: true } },
    ]);

    const done = await talk.send([
      {
        data: { id, name: "request_approval", response: { status: "approved" } },
        metadata: { adk_type: "function_response" },
      },
    ]);
    expect(done.states).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
    expect(textOf(done.chunks)).toBe('Approved: {"status":"approved"}');
  });
});
