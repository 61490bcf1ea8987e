import type { LruCache } from "../../../base/data-structures/index.ts";
import type { AgentEvent } from "../../../engine/index.ts";
import { data, isObject, type JsonObject, type JsonValue, type Message } from "../../../protocol/index.ts";
import { inputRequired } from "../agent-yield.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";
import type { Turn } from "../generator-agent.ts";
import type { DeferredToolUse } from "./sdk-message.ts";

/** The tool of Claude that asks the user questions. */
export const USER_QUESTION_TOOL = "AskUserQuestion";

/** The options of `query` that the adapter reads and extends. */
export interface ClaudeQueryOptions {
  readonly env?: unknown;
  readonly tools?: unknown;
  readonly allowedTools?: readonly string[];
  readonly canUseTool?: unknown;
  readonly hooks?: { readonly PreToolUse?: readonly unknown[] };
}

interface PermissionHookOptions {
  /** Returns whether the user must approve a tool call. */
  readonly requireApproval: (toolName: string, input: JsonObject) => boolean;
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
  requireApproval,
  answeredCallId,
  canceledCallIds,
  turn,
}: PermissionHookOptions): object {
  const decidePermission = async (hookInput: unknown): Promise<object> => {
    const {
      tool_name: toolName,
      tool_use_id: callId,
      tool_input,
      agent_id: subagentId,
    } = isObject(hookInput) ? hookInput : {};
    if (typeof toolName !== "string" || typeof callId !== "string") {
      throw new TypeError("The input of the PreToolUse hook has no tool call.");
    }
    const input = isObject(tool_input) ? tool_input : {};
    if (toolName !== USER_QUESTION_TOOL && !requireApproval(toolName, input)) return {};
    if (canceledCallIds.get(callId)) return deny("The user canceled the task.");
    if (callId === answeredCallId) return createUserDecision(toolName, callId, input, turn);
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
    const answers: JsonValue = dataPart
      ? dataPart.data
      : Object.fromEntries(listQuestionTexts(input).map((question) => [question, text]));
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
  const content = data({ type: "user-questions", approvalId: id, questions: input["questions"] ?? [] });
  return inputRequired(listQuestionTexts(input).join("\n"), content);
}

function listQuestionTexts({ questions }: JsonObject): string[] {
  if (!Array.isArray(questions)) return [];
  return questions
    .map((question) => (isObject(question) ? question["question"] : undefined))
    .filter((question) => typeof question === "string");
}

/**
 * Returns the option `canUseTool`, because Claude offers the tool `AskUserQuestion` only to a query with this
 * option. The function of the options has precedence, and the default denies every tool.
 */
export function createQuestionPermission({ tools, allowedTools = [], canUseTool }: ClaudeQueryOptions): {
  canUseTool?: unknown;
} {
  const toolNames: unknown[] = Array.isArray(tools) ? tools : [];
  const canAsk = toolNames.includes(USER_QUESTION_TOOL) || allowedTools.includes(USER_QUESTION_TOOL);
  return canAsk ? { canUseTool: canUseTool ?? denyToolCall } : {};
}

async function denyToolCall(toolName: string): Promise<object> {
  return { behavior: "deny", message: `The tool ${toolName} is not allowed.` };
}
