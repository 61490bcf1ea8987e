import { A2AError, isObject, type JsonObject, type JsonValue, type Part } from "../../protocol/index.ts";

/** The members of AG-UI's `RunAgentInput` that the handler reads. */
export interface RunAgentInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly AgUiMessage[];
  /** Answers to the interrupts of the previous run. */
  readonly resume: readonly ResumeEntry[];
  readonly forwardedProps: JsonObject;
}

/** A message that the client already has. */
export interface AgUiMessage {
  readonly id: string;
  readonly role: string;
  readonly content: JsonValue;
  readonly toolCalls: readonly { readonly id: string; readonly arguments: string }[];
}

/** The answer to an interrupt. */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly isResolved: boolean;
  readonly payload: JsonValue;
}

/** Decodes the body of a request. Throws `INVALID_PARAMS` if a required member is missing. */
export function decodeRunAgentInput(json: unknown): RunAgentInput {
  if (!isObject(json)) throw invalid("the body", "a JSON object");
  const { threadId, runId, messages, resume = [], forwardedProps } = json;
  if (typeof threadId !== "string" || threadId === "") throw invalid("threadId", "a string");
  if (typeof runId !== "string") throw invalid("runId", "a string");
  if (!Array.isArray(messages)) throw invalid("messages", "a list");
  if (!Array.isArray(resume)) throw invalid("resume", "a list");
  return {
    threadId,
    runId,
    messages: messages.map(decodeMessage),
    resume: resume.map(decodeResumeEntry),
    forwardedProps: isObject(forwardedProps) ? forwardedProps : {},
  };
}

function decodeMessage(json: JsonValue): AgUiMessage {
  if (!isObject(json) || typeof json["id"] !== "string" || typeof json["role"] !== "string")
    throw invalid("messages", "a list of messages with an id and a role");
  const { id, role, content = null, toolCalls = [] } = json;
  return {
    id,
    role,
    content,
    toolCalls: Array.isArray(toolCalls) ? toolCalls.flatMap(decodeToolCall) : [],
  };
}

function decodeToolCall(json: JsonValue): { id: string; arguments: string }[] {
  if (!isObject(json) || typeof json["id"] !== "string" || !isObject(json["function"])) return [];
  const { arguments: text } = json["function"];
  return [{ id: json["id"], arguments: typeof text === "string" ? text : "" }];
}

function decodeResumeEntry(json: JsonValue): ResumeEntry {
  if (!isObject(json) || typeof json["interruptId"] !== "string")
    throw invalid("resume", "a list of entries with an interruptId");
  const { interruptId, status, payload = null } = json;
  return { interruptId, isResolved: status === "resolved", payload };
}

/** Converts the content of a user's message to parts. */
export function toParts(content: JsonValue): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return Array.isArray(content) ? content.flatMap(toPart) : [];
}

function toPart(json: JsonValue): Part[] {
  if (!isObject(json)) return [];
  if (json["type"] === "text") return typeof json["text"] === "string" ? [{ text: json["text"] }] : [];
  const { source } = json;
  if (!isObject(source) || typeof source["value"] !== "string") return [];
  const { value, mimeType } = source;
  const mediaType = typeof mimeType === "string" ? { mediaType: mimeType } : {};
  return [source["type"] === "data" ? { raw: value, ...mediaType } : { url: value, ...mediaType }];
}

function invalid(name: string, expected: string): A2AError {
  return new A2AError("INVALID_PARAMS", `${name} of the AG-UI request is not ${expected}.`);
}
