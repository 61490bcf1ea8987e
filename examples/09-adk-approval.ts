/**
 * A tool that waits for a person. The task asks for input, its request and the conversation are on the disk, and the
 * answer may come after the server was started anew.
 *
 *     colloquy serve examples/09-adk-approval.ts
 *     colloquy send http://127.0.0.1:4120/a2a/adk-approval "Refund 80 euros"
 *     colloquy send http://127.0.0.1:4120/a2a/adk-approval --task-id <task> \
 *       --data '{"id": "<id of the call>", "response": {"approved": true}}'
 */
import { LlmAgent, LongRunningFunctionTool } from "@google/adk";
import { ScriptedLlm } from "colloquy/testing/adk";
import { z } from "zod";

const refund = new LongRunningFunctionTool({
  name: "refund",
  description: "Refunds an amount once a person has approved it",
  parameters: z.object({ euros: z.number() }),
  // Here a person would be told. What the tool answers now is not the answer yet.
  execute: ({ euros }) => ({ status: "pending", euros }),
});

const scripted = new ScriptedLlm(({ text, results }) => {
  const answer = results[0]?.response;
  if (!answer) return { call: "refund", args: { euros: Number(/\d+/.exec(text)?.[0] ?? 0) } };
  if (answer["status"] === "pending") return "I have asked for an approval.";
  return answer["approved"] ? "The money is on its way." : "The refund was not approved.";
});

export const rootAgent = new LlmAgent({
  name: "refunds",
  description: "Refunds money, with a person's approval",
  instruction: "Refund with the tool, and say how it went.",
  model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : scripted,
  tools: [refund],
});
