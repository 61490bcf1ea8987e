import type { AgentInputItem, UserMessageItem } from "@openai/agents";
import type { Message, Part } from "../../../protocol/index.ts";

type ContentPart = Exclude<UserMessageItem["content"], string>[number];

/**
 * Converts an A2A message into an input item of the OpenAI Agents SDK. Data parts become JSON text, because
 * models have no data parts.
 */
export function toUserItem({ parts }: Pick<Message, "parts">): AgentInputItem {
  const [onlyPart] = parts;
  if (onlyPart && parts.length === 1 && "text" in onlyPart) return { role: "user", content: onlyPart.text };
  return { role: "user", content: parts.map(toContentPart) };
}

/** Creates an item for an earlier answer of the agent. */
export function toAssistantItem(answer: string): AgentInputItem {
  return { role: "assistant", status: "completed", content: [{ type: "output_text", text: answer }] };
}

function toContentPart(part: Part): ContentPart {
  if ("text" in part) return { type: "input_text", text: part.text };
  if ("data" in part) return { type: "input_text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = "file" } = part;
  const url = "raw" in part ? `data:${mediaType};base64,${part.raw}` : part.url;
  if (mediaType.startsWith("image/")) return { type: "input_image", image: url };
  return { type: "input_file", file: "raw" in part ? url : { url }, filename };
}
