import type { AssistantModelMessage, FilePart, ModelMessage, TextPart, UserModelMessage } from "ai";
import { type Message, type Part, textOf } from "../../protocol/index.ts";
import type { Turn } from "../generator.ts";

/** A message of ours as the model is shown it: data as its JSON text, since models know no data. */
export function toUserMessage({ parts }: Pick<Message, "parts">): UserModelMessage {
  const [only] = parts;
  if (only && parts.length === 1 && "text" in only) return { role: "user", content: only.text };
  return { role: "user", content: parts.map(toContent) };
}

function toContent(part: Part): TextPart | FilePart {
  if ("text" in part) return { type: "text", text: part.text };
  if ("data" in part) return { type: "text", text: JSON.stringify(part.data) };
  const { filename, mediaType = "application/octet-stream" } = part;
  const data = "raw" in part ? part.raw : new URL(part.url);
  return { type: "file", data, mediaType, ...(filename === undefined ? {} : { filename }) };
}

/** What the task itself knows of earlier turns, for when the conversation was forgotten: words, and no tool calls. */
export function earlierIn({ history, task }: Pick<Turn, "history" | "task">): ModelMessage[] {
  const earlier = history.slice(0, -1).map(({ role, parts }): ModelMessage => {
    return role === "ROLE_USER" ? toUserMessage({ parts }) : toAssistant(textOf(parts));
  });
  if (earlier.length === 0) return [];
  const said = textOf((task.artifacts ?? []).flatMap(({ metadata, parts }) => (metadata ? [] : parts)));
  return said === "" ? earlier : [...earlier, toAssistant(said)];
}

function toAssistant(content: string): AssistantModelMessage {
  return { role: "assistant", content };
}
