import type {
  ModelMessage,
  ToolApprovalRequest,
  ToolApprovalResponse,
  ToolCallPart,
  ToolModelMessage,
} from "ai";
import { type Message, getText } from "../../protocol/index.ts";

/** The approvals that the end of a conversation waits for. */
export function listPendingApprovals(messages: readonly ModelMessage[]): ToolApprovalRequest[] {
  const asked: ToolApprovalRequest[] = [];
  const answered = new Set<string>();
  for (const { role, content } of messages) {
    if (typeof content === "string") continue;
    for (const part of content) {
      if (role === "assistant" && part.type === "tool-approval-request" && !part.isAutomatic)
        asked.push(part);
      if (role === "tool" && part.type === "tool-approval-response") answered.add(part.approvalId);
    }
  }
  return asked.filter(({ approvalId }) => !answered.has(approvalId));
}

/**
 * What the user answered: for each approval a data part `{ approvalId, approved, reason? }`, or one word for all of them.
 * Everything but a plain yes is a no, with what was said as the reason.
 */
export function toApprovalResponses(
  waiting: readonly ToolApprovalRequest[],
  message: Message,
): ToolModelMessage {
  const decided = new Map(
    message.parts.flatMap((part) => ("data" in part ? parseApprovalDecision(part.data) : [])),
  );
  const words = getText(message.parts).trim();
  const isYes = /^(?:y|yes|ok|okay|approved?)[.!]?$/i.test(words);
  const content = waiting.map(({ approvalId }): ToolApprovalResponse => {
    const { approved, reason } = decided.get(approvalId) ?? {
      approved: isYes,
      reason: isYes || words === "" ? undefined : words,
    };
    const response = { type: "tool-approval-response", approvalId, approved } as const;
    return reason === undefined ? response : { ...response, reason };
  });
  return { role: "tool", content };
}

/** What became of approvals that nobody will give any more, because their task was cancelled: they were not given. */
export function createDeniedApprovals(
  waiting: readonly ToolApprovalRequest[],
  messages: readonly ModelMessage[],
): ToolModelMessage {
  const reason = "The user cancelled the task.";
  const names = new Map(
    messages.flatMap(listToolCalls).map(({ toolCallId, toolName }) => [toolCallId, toolName]),
  );
  const content = waiting.flatMap(({ approvalId, toolCallId }): ToolModelMessage["content"] => [
    { type: "tool-approval-response", approvalId, approved: false, reason },
    {
      type: "tool-result",
      toolCallId,
      toolName: names.get(toolCallId) ?? "",
      output: { type: "execution-denied", reason },
    },
  ]);
  return { role: "tool", content };
}

function listToolCalls({ role, content }: ModelMessage): ToolCallPart[] {
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
  const about = { approved: approved === true, reason: typeof reason === "string" ? reason : undefined };
  return typeof approvalId === "string" ? [[approvalId, about]] : [];
}
