import type {
  ModelMessage,
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolModelMessage,
} from "ai";
import { type Message, getText } from "../../protocol/index.ts";

/** Returns the approval requests of a conversation that the user has not yet answered. */
export function listPendingApprovals(messages: readonly ModelMessage[]): ToolApprovalRequest[] {
  const requests: ToolApprovalRequest[] = [];
  const answeredIds = new Set<string>();
  for (const { role, content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (role === "assistant" && part.type === "tool-approval-request" && !part.isAutomatic)
        requests.push(part);
      if (role === "tool" && part.type === "tool-approval-response") answeredIds.add(part.approvalId);
    }
  }
  return requests.filter(({ approvalId }) => !answeredIds.has(approvalId));
}

/**
 * Converts the user's answer into approval responses. The answer contains a data part `{ approvalId,
 * approved, reason? }` for each approval, or one text for all approvals. Any text except a plain "yes" denies
 * the request and becomes the reason for the denial.
 */
export function toApprovalResponses(
  pendingApprovals: readonly ToolApprovalRequest[],
  message: Message,
): ToolModelMessage {
  const decisions = new Map(
    message.parts.flatMap((part) => ("data" in part ? parseApprovalDecision(part.data) : [])),
  );
  const answerText = getText(message.parts).trim();
  const isYes = /^(?:y|yes|ok|okay|approved?)[.!]?$/i.test(answerText);
  const content = pendingApprovals.map(({ approvalId }): ToolApprovalResponse => {
    const { approved, reason } = decisions.get(approvalId) ?? {
      approved: isYes,
      reason: isYes || answerText === "" ? undefined : answerText,
    };
    const response = { type: "tool-approval-response", approvalId, approved } as const;
    return reason === undefined ? response : { ...response, reason };
  });
  return { role: "tool", content };
}

/** Returns a denial for each pending approval request of a canceled task. */
export function createDeniedApprovals(
  pendingApprovals: readonly ToolApprovalRequest[],
  messages: readonly ModelMessage[],
): ToolModelMessage {
  const reason = "The user canceled the task.";
  const toolNames = new Map(
    messages.flatMap(listToolCallsInMessage).map(({ toolCallId, toolName }) => [toolCallId, toolName]),
  );
  const content = pendingApprovals.flatMap(({ approvalId, toolCallId }): ToolModelMessage["content"] => [
    { type: "tool-approval-response", approvalId, approved: false, reason },
    {
      type: "tool-result",
      toolCallId,
      toolName: toolNames.get(toolCallId) ?? "",
      output: { type: "execution-denied", reason },
    },
  ]);
  return { role: "tool", content };
}

function listToolCallsInMessage({ role, content }: ModelMessage): ToolCallPart[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.filter((part) => part.type === "tool-call");
}

interface ApprovalDecision {
  readonly approved: boolean;
  readonly reason: string | undefined;
}

function parseApprovalDecision(data: unknown): [string, ApprovalDecision][] {
  if (typeof data !== "object" || data === null || !("approvalId" in data)) return [];
  const { approvalId, approved, reason } = data as Record<string, unknown>;
  const decision = { approved: approved === true, reason: typeof reason === "string" ? reason : undefined };
  return typeof approvalId === "string" ? [[approvalId, decision]] : [];
}
