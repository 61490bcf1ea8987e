import type { LruCache } from "../../data-structures/index.ts";
import type { AgentEvent } from "../../engine/index.ts";
import { data, isObject, type JsonObject, type JsonValue, type Message } from "../../protocol/index.ts";
import { inputRequired } from "../agent-yield.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";
import type { Turn } from "../generator-agent.ts";
import { toJsonValue } from "../to-json-value.ts";
import type { DeferredToolUse } from "./sdk-message.ts";

/** The tool of Claude that asks the user questions. */
export const USER_QUESTION_TOOL = "AskUserQuestion";

interface PermissionHookOptions {
  /** Returns whether the user decides about a tool call. */
  readonly isDecidedByUser: (toolName: string, input: JsonObject) => boolean;
  /** The id of the tool call that the message of this turn answers. */
  readonly answeredCallId: string | undefined;
  /** The ids of tool calls whose task is canceled. */
  readonly canceledCallIds: LruCache<true>;
  readonly turn: Turn;
}

/**
 * Creates a `PreToolUse` hook for the user's decisions. A deferred call ends the query. When the session is
 * resumed, Claude calls the hook again for the same call. If the hook fails, the call is blocked.
 */
export function createPermissionHook({
  isDecidedByUser,
  answeredCallId,
  canceledCallIds,
  turn,
}: PermissionHookOptions): object {
  const decidePermission = async (hookInput: unknown): Promise<object> => {
    if (!isObject(hookInput)) throw new TypeError("The PreToolUse hook requires an object.");
    const { tool_name, tool_use_id: callId, agent_id: subagentId } = hookInput;
    const input = isObject(hookInput["tool_input"]) ? hookInput["tool_input"] : {};
    if (!isDecidedByUser(String(tool_name), input)) return {};
    if (typeof callId === "string" && canceledCallIds.get(callId)) return deny("The user canceled the task.");
    if (callId === answeredCallId) return createUserDecision(String(tool_name), String(callId), input, turn);
    if (subagentId !== undefined) return deny("Only the main agent can ask for the user's approval.");
    return formatHookDecision({ permissionDecision: "defer" });
  };
  return { hooks: [decidePermission], onFailure: "block" };
}

function createUserDecision(
  toolName: string,
  callId: string,
  input: JsonObject,
  { message, text }: Turn,
): object {
  if (toolName === USER_QUESTION_TOOL) {
    const [dataPart] = message.parts.filter((part) => "data" in part);
    const questions = Array.isArray(input["questions"]) ? input["questions"] : [];
    const answers: JsonValue = dataPart
      ? dataPart.data
      : Object.fromEntries(questions.filter(isObject).map(({ question }) => [String(question), text]));
    return formatHookDecision({ permissionDecision: "allow", updatedInput: { ...input, answers } });
  }
  const { approved, reason = "The user has denied this call." } = decodeApprovalDecisions(message)(callId);
  return approved ? formatHookDecision({ permissionDecision: "allow" }) : deny(reason);
}

function deny(reason: string): object {
  return formatHookDecision({ permissionDecision: "deny", permissionDecisionReason: reason });
}

function formatHookDecision(decision: object): object {
  return { hookSpecificOutput: { hookEventName: "PreToolUse", ...decision } };
}

/** Returns the id of the deferred call in the newest message of the agent. */
export function findDeferredCallId(messages: readonly Message[]): string | undefined {
  const question = messages.findLast(({ role }) => role === "ROLE_AGENT");
  return question?.parts
    .map((part) => ("data" in part && isObject(part.data) ? part.data["approvalId"] : undefined))
    .find((id) => typeof id === "string");
}

/**
 * Creates the question of an `AskUserQuestion` call. The user answers with text, or with a data part that maps
 * each question to an answer.
 */
export function createUserQuestion({ id, input }: DeferredToolUse): AgentEvent {
  const questions = isObject(input) && Array.isArray(input["questions"]) ? input["questions"] : [];
  const questionTexts = questions.filter(isObject).map(({ question }) => String(question));
  const content = data({ type: "user-questions", approvalId: id, questions: toJsonValue(questions) });
  return inputRequired(questionTexts.join("\n"), content);
}
