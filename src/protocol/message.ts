import type { JsonObject, JsonValue } from "./json.ts";

/** Sender of a message (A2A §4.1.5). */
export type Role = "ROLE_USER" | "ROLE_AGENT";

interface PartBase {
  metadata?: JsonObject;
  /** File name of the content, for example `report.pdf`. */
  filename?: string;
  /** Media type of the content, for example `text/plain`. */
  mediaType?: string;
}

export interface TextPart extends PartBase {
  text: string;
}

export interface RawPart extends PartBase {
  /** File content in standard base64 format with padding. */
  raw: string;
}

export interface UrlPart extends PartBase {
  /** URL for downloading the file content. */
  url: string;
}

export interface DataPart extends PartBase {
  /** Any JSON value, including `null`. */
  data: JsonValue;
}

/** Content of a message or an artifact, with exactly one of `text`, `raw`, `url`, and `data` (A2A §4.1.6). */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** One message of a conversation between a user and an agent (A2A §4.1.4). */
export interface Message {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: Role;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/**
 * Returns true if a text part has no members other than its text, so that adjacent plain text parts can be
 * joined.
 */
export function isPlainTextPart(part: Part): part is TextPart {
  return (
    "text" in part &&
    part.metadata === undefined &&
    part.filename === undefined &&
    part.mediaType === undefined
  );
}

/** Returns the text of all text parts, joined without a separator. */
export function getText(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if ("text" in part) text += part.text;
  return text;
}

/** Returns true if the metadata of a part or an artifact marks the reasoning of a model, which is not part of the answer. */
export function isThought(metadata: JsonObject | undefined): boolean {
  return metadata?.["thought"] === true || metadata?.["adk_thought"] === true;
}

/** Returns the parts of an artifact or a message without the reasoning of a model. */
export function listAnswerParts({ parts, metadata }: Pick<Message, "parts" | "metadata">): Part[] {
  return parts.filter((part) => !isThought(metadata) && !isThought(part.metadata));
}

/** Creates a text part. */
export function text(value: string, metadata?: JsonObject): TextPart {
  return metadata ? { text: value, metadata } : { text: value };
}

/**
 * Creates a data part without a media type. Receivers treat the content of a data part as
 * `application/json`.
 */
export function data(value: JsonValue, metadata?: JsonObject): DataPart {
  return metadata ? { data: value, metadata } : { data: value };
}

/** Creates a file part from bytes or from a URL. The part contains bytes as base64. */
export function file(
  content: Uint8Array | URL,
  options: { filename?: string; mediaType?: string; metadata?: JsonObject } = {},
): RawPart | UrlPart {
  if (content instanceof URL) return { url: content.href, ...options };
  return { raw: toBase64(content), ...options };
}

/** Encodes bytes as standard base64 with padding, as ProtoJSON does for `bytes` fields. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // Convert in slices, because a call with too many arguments overflows the stack.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

/**
 * Decodes the base64 content of a `raw` part to bytes. `fromBase64` also accepts the URL-safe base64
 * alphabet.
 */
export function fromBase64(base64: string): Uint8Array {
  const binary = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
