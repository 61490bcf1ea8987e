import { data, isObject, type JsonObject } from "../../../protocol/index.ts";
import type { AgentEvent } from "../../../engine/index.ts";
import { inputRequired } from "../agent-yield.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";
import type { Turn } from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";
import type { MastraChunk } from "./mastra-chunk.ts";
import type { MastraAgent, MastraStream } from "./mastra-structural-types.ts";

/** A tool call at which a run of Mastra waits for its user. */
interface SuspendedCall {
  readonly type: "tool-approval-request" | "tool-suspended";
  readonly runId: string;
  readonly toolCallId: string;
}

/**
 * Returns the tool call that the message of this turn answers. The question of the earlier turn is part of the
 * task, so the agent finds the run after a restart.
 */
export function findSuspendedCall({ history }: Turn): SuspendedCall | undefined {
  const question = history.findLast(({ role }) => role === "ROLE_AGENT");
  return question?.parts
    .map((part) => ("data" in part ? decodeSuspendedCall(part.data) : undefined))
    .find((suspendedCall) => suspendedCall !== undefined);
}

/** Resumes a run with the user's answer. */
export function resumeSuspendedCall(
  source: MastraAgent,
  { type, runId, toolCallId }: SuspendedCall,
  { message, text }: Turn,
  streamOptions: object,
): Promise<MastraStream> {
  const options = { ...streamOptions, runId, toolCallId };
  if (type === "tool-suspended") {
    const dataPart = message.parts.find((part) => "data" in part);
    return source.resumeStream((dataPart ? dataPart.data : text) as never, options as never);
  }
  const { approved, reason } = decodeApprovalDecisions(message)(toolCallId);
  if (approved) return source.approveToolCall(options as never);
  return source.declineToolCall({ ...options, ...(reason === undefined ? {} : { reason }) } as never);
}

/**
 * Creates the question of a tool that has called `suspend`. A payload that is a string, or the `message` of the
 * payload, is the text of the question.
 */
export function createSuspendQuestion({
  runId,
  payload: { toolCallId, toolName, suspendPayload },
}: Extract<MastraChunk, { type: "tool-call-suspended" }>): AgentEvent {
  const payload = toJsonValue(suspendPayload);
  const text = isObject(payload) ? payload["message"] : payload;
  const call: JsonObject = { type: "tool-suspended", runId, toolCallId, toolName, payload };
  return inputRequired(...(typeof text === "string" ? [text] : []), data(call));
}

function decodeSuspendedCall(value: unknown): SuspendedCall | undefined {
  if (!isObject(value)) return undefined;
  const { type, runId, toolCallId } = value;
  if (type !== "tool-approval-request" && type !== "tool-suspended") return undefined;
  if (typeof runId !== "string" || typeof toolCallId !== "string") return undefined;
  return { type, runId, toolCallId };
}
