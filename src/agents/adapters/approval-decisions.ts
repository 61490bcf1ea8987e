import { getText, isObject, type Message } from "../../protocol/index.ts";

/** The user's decision about one tool call. */
export interface ApprovalDecision {
  readonly approved: boolean;
  /** The reason of a denial, which the model receives. */
  readonly reason: string | undefined;
}

/**
 * Returns a function that finds the user's decision about an approval request. The user's message contains a
 * data part `{ approvalId, approved, reason? }` for each request, or one text for all requests. Any text
 * except a plain "yes" is a denial, and the text is the reason of the denial.
 */
export function decodeApprovalDecisions({
  parts,
}: Pick<Message, "parts">): (approvalId: string) => ApprovalDecision {
  const decisions = new Map(
    parts.flatMap((part) => ("data" in part ? decodeApprovalDecision(part.data) : [])),
  );
  const answerText = getText(parts).trim();
  const approved = /^(?:y|yes|ok|okay|approved?)[.!]?$/i.test(answerText);
  const reason = approved || answerText === "" ? undefined : answerText;
  return (approvalId) => decisions.get(approvalId) ?? { approved, reason };
}

function decodeApprovalDecision(data: unknown): [approvalId: string, ApprovalDecision][] {
  if (!isObject(data) || typeof data["approvalId"] !== "string") return [];
  const { approvalId, approved, reason } = data;
  return [
    [approvalId, { approved: approved === true, reason: typeof reason === "string" ? reason : undefined }],
  ];
}
