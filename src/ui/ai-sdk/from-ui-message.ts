import type { UIMessage } from "ai";
import { isObject, type JsonObject, type JsonValue, type Part } from "../../protocol/index.ts";
import { type ApprovalDecision, createDecisionPart } from "../decode-tool-event.ts";
import type { ToolChatPart } from "../chat-message.ts";
import type { A2AMessageMetadata } from "./ui-message-chunk-encoder.ts";

/** Converts the parts of a user's message to A2A parts. */
export function fromUIMessage({ parts }: UIMessage): Part[] {
  return parts.flatMap((part): Part[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
    if (part.type === "file") {
      const { mediaType, filename, url } = part;
      return [{ ...fromFileUrl(url), mediaType, ...(filename === undefined ? {} : { filename }) }];
    }
    return "data" in part ? [{ data: part.data as JsonValue }] : [];
  });
}

/** Returns the content of a data URL, and the address of another URL. */
function fromFileUrl(url: string): { raw: string } | { url: string } {
  const match = /^data:[^,]*;base64,/i.exec(url);
  if (match) return { raw: url.slice(match[0].length) };
  if (!url.startsWith("data:")) return { url };
  const text = new TextEncoder().encode(decodeURIComponent(url.slice(url.indexOf(",") + 1)));
  return { raw: btoa(Array.from(text, (byte) => String.fromCharCode(byte)).join("")) };
}

/** Returns the user's decisions in a message of the assistant. */
export function listDecisions({ parts }: UIMessage): ApprovalDecision[] {
  return parts.flatMap((part) => {
    if (!("state" in part) || part.state !== "approval-responded") return [];
    const { id: approvalId, approved, reason } = part.approval;
    return [{ approvalId, approved, reason }];
  });
}

/** Creates the parts that answer the approval requests of the agent, in the format that the agent expects. */
export function createDecisionParts(
  decisions: readonly ApprovalDecision[],
  openCalls: readonly ToolChatPart[],
): Part[] {
  return decisions.flatMap(({ approvalId, approved, reason }) => {
    const approval = openCalls.find((call) => call.approval?.id === approvalId)?.approval;
    return approval ? [createDecisionPart(approval, approved, reason)] : [];
  });
}

/** Reads the metadata that the transport has added to a message. */
export function readMetadata(message: UIMessage | undefined): A2AMessageMetadata {
  const metadata: unknown = message?.metadata;
  if (!isObject(metadata)) return {};
  const { taskId, contextId, taskState } = metadata satisfies JsonObject;
  return {
    ...(typeof taskId === "string" ? { taskId } : {}),
    ...(typeof contextId === "string" ? { contextId } : {}),
    ...(typeof taskState === "string" ? { taskState } : {}),
  };
}
