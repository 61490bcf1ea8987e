import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import {
  A2AError,
  isTerminal,
  type Part,
  type SendMessageResponse,
  formatTaskState,
  type Task,
  getText,
  listAnswerParts,
} from "../../protocol/index.ts";
import { TextBudget, computeBase64ByteLength, toStructuredToolResult } from "./structured-tool-result.ts";

/**
 * Maximum total length, in characters, of all base64 files in one result. For files that exceed the maximum
 * length, the result contains only the file names.
 */
const MAX_TOTAL_BASE64_FILE_LENGTH = 4 * 2 ** 20;

/**
 * Converts an agent's response to a tool result. Models and people read the `content` of the result, and
 * programs read the complete response in `structuredContent`.
 */
export function toCallToolResult(response: SendMessageResponse): CallToolResult {
  const parts = collectAgentResponseParts(response);
  const state = "task" in response ? response.task.status.state : undefined;
  const content = toContentBlocks(parts);
  const note =
    "task" in response ? formatNextStepNoteForModel(response.task, content.length === 0) : undefined;
  if (note) content.push({ type: "text", text: note });
  const text = new TextBudget().truncateText(
    parts
      .map((list) => getText(list))
      .filter((text) => text !== "")
      .join("\n\n"),
  );
  const failed = state !== undefined && isTerminal(state) && state !== "TASK_STATE_COMPLETED";
  return {
    content,
    structuredContent: { ...toStructuredToolResult(response, text) },
    ...(failed ? { isError: true } : {}),
  };
}

/** Converts an error to a tool result that a model can read. */
export function toCallToolError(error: A2AError): CallToolResult {
  const violations = error.violations.slice(1).map(({ field, description }) => `\n${field}: ${description}`);
  return { content: [{ type: "text", text: error.message + violations.join("") }], isError: true };
}

/** Collects the parts of each artifact, followed by the parts of the status message. */
function collectAgentResponseParts(response: SendMessageResponse): (readonly Part[])[] {
  if ("message" in response) return [listAnswerParts(response.message)];
  const { artifacts = [], status } = response.task;
  const partLists: (readonly Part[])[] = artifacts.map(listAnswerParts);
  if (status.message) partLists.push(status.message.parts);
  return partLists;
}

function toContentBlocks(partLists: readonly (readonly Part[])[]): ContentBlock[] {
  const content: ContentBlock[] = [];
  const budget = new TextBudget();
  let remainingFileLength = MAX_TOTAL_BASE64_FILE_LENGTH;
  for (const parts of partLists) {
    let text = "";
    const flush = (): void => {
      if (text !== "") content.push({ type: "text", text: budget.truncateText(text) });
      text = "";
    };
    for (const part of parts) {
      if ("text" in part) {
        text += part.text;
        continue;
      }
      flush();
      if ("data" in part)
        content.push({ type: "text", text: budget.truncateText(JSON.stringify(part.data)) });
      else if ("url" in part) content.push(toResourceLink(part));
      else if (part.raw.length > remainingFileLength)
        content.push({ type: "text", text: formatTooLargeNote(part) });
      else {
        remainingFileLength -= part.raw.length;
        content.push(toFileBlock(part, content.length));
      }
    }
    flush();
  }
  return content;
}

function toResourceLink({ url, filename, mediaType }: Extract<Part, { url: string }>): ContentBlock {
  return {
    type: "resource_link",
    uri: url,
    name: filename ?? url,
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
  };
}

function toFileBlock(
  { raw, filename, mediaType }: Extract<Part, { raw: string }>,
  index: number,
): ContentBlock {
  const [kind] = (mediaType ?? "").toLowerCase().split("/", 1);
  if (mediaType !== undefined && (kind === "image" || kind === "audio")) {
    return { type: kind, data: raw, mimeType: mediaType };
  }
  return {
    type: "resource",
    resource: {
      uri: `a2a:file/${index}/${encodeURIComponent((filename ?? "file").toWellFormed())}`,
      ...(mediaType === undefined ? {} : { mimeType: mediaType }),
      blob: raw,
    },
  };
}

function formatTooLargeNote({
  raw,
  filename = "A file",
  mediaType = "",
}: Extract<Part, { raw: string }>): string {
  const size = (computeBase64ByteLength(raw) / 2 ** 20).toFixed(1);
  return `(${filename} ${mediaType} is too large for this result: ${size} MiB. The file is in the task.)`;
}

/**
 * Returns a note for the model that explains how to continue the task, unless the agent's output makes the
 * next step clear.
 */
function formatNextStepNoteForModel(
  { id, status: { state, message } }: Task,
  isEmpty: boolean,
): string | undefined {
  const callAgain = `call this tool again with taskId ${JSON.stringify(id)}`;
  if (state === "TASK_STATE_INPUT_REQUIRED") {
    const answerForm = message?.parts.some((part) => "data" in part)
      ? "as the message or as data"
      : "as the message";
    return `(The agent is waiting for an answer. To answer, ${callAgain} and the answer ${answerForm}.)`;
  }
  if (state === "TASK_STATE_AUTH_REQUIRED")
    return `(The agent is waiting until its user has signed in as described. After that, ${callAgain}.)`;
  if (!isTerminal(state))
    return `(The agent is still working. To wait for the result, ${callAgain} and no message.)`;
  if (!isEmpty) return undefined;
  return state === "TASK_STATE_COMPLETED"
    ? "(The agent has finished without output.)"
    : `(The task ended as ${formatTaskState(state)}; the agent gave no reason.)`;
}
