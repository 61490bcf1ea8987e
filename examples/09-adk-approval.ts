/**
 * Waits for a person's approval in a long-running ADK tool. The task, its request, and the conversation are
 * stored on disk, so the answer may arrive after a restart of the server.
 *
 *     colloquy serve examples/09-adk-approval.ts
 *     colloquy send http://127.0.0.1:4120/a2a/refunds "Refund 80 euros"
 *     colloquy send http://127.0.0.1:4120/a2a/refunds --task-id <task> \
 *       --data '{"id": "<id of the call>", "response": {"approved": true}}'
 */
import { LlmAgent, LongRunningFunctionTool } from "@google/adk";
import { ScriptedLlm } from "colloquy/adk";
import { z } from "zod";

const refund = new LongRunningFunctionTool({
  name: "refund",
  description: "Refunds an amount once a person has approved it",
  parameters: z.object({ euros: z.number() }),
  // A real tool would notify a person here. The return value is only the interim response.
  execute: ({ euros }) => ({ status: "pending", euros }),
});

const scripted = new ScriptedLlm(({ text, results }) => {
  const answer = results[0]?.response;
  if (!answer) return { call: "refund", args: { euros: Number(/\d+/.exec(text)?.[0] ?? 0) } };
  if (answer["status"] === "pending") return "I have requested approval.";
  return answer["approved"] ? "The money is on its way." : "The refund was not approved.";
});

export const rootAgent = new LlmAgent({
  name: "refunds",
  description: "Refunds money after a person's approval",
  instruction: "Refund with the tool, and report the result.",
  model: process.env["GEMINI_API_KEY"] ? "gemini-2.5-flash" : scripted,
  tools: [refund],
});
