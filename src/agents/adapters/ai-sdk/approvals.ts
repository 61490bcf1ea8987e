import type {
  ModelMessage,
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolModelMessage,
} from "ai";
import type { Message } from "../../../protocol/index.ts";
import { decodeApprovalDecisions } from "../approval-decisions.ts";

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

/** Converts the user's answer into approval responses. */
export function toApprovalResponses(
  pendingApprovals: readonly ToolApprovalRequest[],
  message: Message,
): ToolModelMessage {
  const findDecision = decodeApprovalDecisions(message);
  const content = pendingApprovals.map(({ approvalId }): ToolApprovalResponse => {
    const { approved, reason } = findDecision(approvalId);
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
