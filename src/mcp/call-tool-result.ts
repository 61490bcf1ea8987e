import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import {
  A2AError,
  isTerminal,
  type Part,
  type SendMessageResponse,
  formatTaskState,
  type Task,
  getText,
} from "../protocol/index.ts";
import { TextBudget, computeBase64ByteLength, toStructuredResult } from "./structured-result.ts";

/** Base64 of all files of one result; larger files are only named. */
const MAX_FILES_LENGTH = 4 * 2 ** 20;

/** An agent's answer as the result of a tool: content for models and people, the whole for programs. */
export function toCallToolResult(answer: SendMessageResponse): CallToolResult {
  const parts = collectParts(answer);
  const state = "task" in answer ? answer.task.status.state : undefined;
  const content = toContentBlocks(parts);
  const note = "task" in answer ? formatStateNote(answer.task, content.length === 0) : undefined;
  if (note) content.push({ type: "text", text: note });
  const text = new TextBudget().truncateText(
    parts
      .map((run) => getText(run))
      .filter((said) => said !== "")
      .join("\n\n"),
  );
  const failed = state !== undefined && isTerminal(state) && state !== "TASK_STATE_COMPLETED";
  return {
    content,
    structuredContent: { ...toStructuredResult(answer, text) },
    ...(failed ? { isError: true } : {}),
  };
}

/** What went wrong before there was an answer, or in place of one; models read it, too. */
export function toCallToolError(error: A2AError): CallToolResult {
  const violations = error.violations.slice(1).map(({ field, description }) => `\n${field}: ${description}`);
  return { content: [{ type: "text", text: error.message + violations.join("") }], isError: true };
}

/** The parts of each thing that was said: the artifacts, then the message of the status. */
function collectParts(answer: SendMessageResponse): (readonly Part[])[] {
  if ("message" in answer) return [answer.message.parts];
  const { artifacts = [], status } = answer.task;
  const runs: (readonly Part[])[] = artifacts.map(({ parts }) => parts);
  if (status.message) runs.push(status.message.parts);
  return runs;
}

function toContentBlocks(runs: readonly (readonly Part[])[]): ContentBlock[] {
  const content: ContentBlock[] = [];
  const budget = new TextBudget();
  let room = MAX_FILES_LENGTH;
  for (const run of runs) {
    let text = "";
    const flush = (): void => {
      if (text !== "") content.push({ type: "text", text: budget.truncateText(text) });
      text = "";
    };
    for (const part of run) {
      if ("text" in part) {
        text += part.text;
        continue;
      }
      flush();
      if ("data" in part)
        content.push({ type: "text", text: budget.truncateText(JSON.stringify(part.data)) });
      else if ("url" in part) content.push(toResourceLink(part));
      else if (part.raw.length > room) content.push({ type: "text", text: formatTooLargeNote(part) });
      else {
        room -= part.raw.length;
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

function toFileBlock({ raw, filename, mediaType }: Extract<Part, { raw: string }>, at: number): ContentBlock {
  const [kind] = (mediaType ?? "").toLowerCase().split("/", 1);
  if (mediaType !== undefined && (kind === "image" || kind === "audio")) {
    return { type: kind, data: raw, mimeType: mediaType };
  }
  return {
    type: "resource",
    resource: {
      uri: `a2a:file/${at}/${encodeURIComponent((filename ?? "file").toWellFormed())}`,
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
  return `(${filename} ${mediaType} is too large to be passed on here: ${size} MiB. It is in the task.)`;
}

/** What a model is to do about a state, where that is not plain from what the agent said. */
function formatStateNote({ id, status: { state, message } }: Task, silent: boolean): string | undefined {
  const again = `call this tool again with taskId ${JSON.stringify(id)}`;
  if (state === "TASK_STATE_INPUT_REQUIRED") {
    const how = message?.parts.some((part) => "data" in part)
      ? "as the message or as data"
      : "as the message";
    return `(The agent waits for an answer. To give it, ${again} and the answer ${how}.)`;
  }
  if (state === "TASK_STATE_AUTH_REQUIRED")
    return `(The agent waits until its user has authenticated as it says. After that, ${again}.)`;
  if (!isTerminal(state)) return `(The agent is still at work. To wait for it, ${again} and no message.)`;
  if (!silent) return undefined;
  return state === "TASK_STATE_COMPLETED"
    ? "(The agent is done, and had nothing to say.)"
    : `(The task ended as ${formatTaskState(state)}; the agent did not say why.)`;
}
