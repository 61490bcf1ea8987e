import type { JsonObject, JsonValue } from "./json.ts";

/** Who speaks in a message (A2A §4.1.5). */
export type Role = "ROLE_USER" | "ROLE_AGENT";

interface PartBase {
  metadata?: JsonObject;
  /** File name, for example `report.pdf`. */
  filename?: string;
  /** MIME type of the content, for example `text/plain`. */
  mediaType?: string;
}

export interface TextPart extends PartBase {
  text: string;
}

export interface RawPart extends PartBase {
  /** File content: standard base64 with padding. */
  raw: string;
}

export interface UrlPart extends PartBase {
  /** Where the file content can be fetched. */
  url: string;
}

export interface DataPart extends PartBase {
  /** Any JSON value; `null` is a value and is kept. */
  data: JsonValue;
}

/** A piece of content: exactly one of `text`, `raw`, `url`, `data` (A2A §4.1.6). */
export type Part = TextPart | RawPart | UrlPart | DataPart;

/** One turn of a conversation (A2A §4.1.4). */
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

/** A text part that carries nothing but its text, so that neighbours can be joined. */
export function isPlainText(part: Part): part is TextPart {
  return (
    "text" in part &&
    part.metadata === undefined &&
    part.filename === undefined &&
    part.mediaType === undefined
  );
}

/** The text of all text parts, joined without a separator. */
export function getText(parts: readonly Part[]): string {
  let text = "";
  for (const part of parts) if ("text" in part) text += part.text;
  return text;
}

/** A text part. */
export function text(value: string, metadata?: JsonObject): TextPart {
  return metadata ? { text: value, metadata } : { text: value };
}

/** A data part; the media type is left out, which readers take as `application/json`. */
export function data(value: JsonValue, metadata?: JsonObject): DataPart {
  return metadata ? { data: value, metadata } : { data: value };
}

/** A file part from bytes (encoded as base64) or from a URL. */
export function file(
  content: Uint8Array | URL,
  about: { filename?: string; mediaType?: string; metadata?: JsonObject } = {},
): RawPart | UrlPart {
  if (content instanceof URL) return { url: content.href, ...about };
  return { raw: toBase64(content), ...about };
}

/** Standard base64 with padding, as ProtoJSON writes `bytes`. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // In slices, because one call with too many arguments overflows the stack.
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

/** The bytes of a `raw` part. */
export function fromBase64(base64: string): Uint8Array {
  const binary = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
