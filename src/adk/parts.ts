import {
  type DataPart,
  fromBase64,
  type JsonObject,
  type JsonValue,
  type Part,
  toBase64,
} from "../protocol/index.ts";
import { CREDENTIAL_CALL_NAME, redactCredentialRequest } from "./credential-request.ts";
import { isJsonObject, toAdkMetadataKey } from "./metadata.ts";
import type { AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "./types.ts";

const TYPE_KEY = toAdkMetadataKey("type");
const LONG_RUNNING_KEY = toAdkMetadataKey("is_long_running");
const THOUGHT_KEY = toAdkMetadataKey("thought");
/** What a model wants back with its thought. */
export const THOUGHT_SIGNATURE_KEY: "adk_thought_signature" = toAdkMetadataKey("thought_signature");
const VIDEO_METADATA_KEY = toAdkMetadataKey("video_metadata");
/** Members of a genai part that this bridge has no word for. */
const UNKNOWN_MEMBERS_KEY = toAdkMetadataKey("more");

/** The members of a genai part that travel as data parts, by their `adk_type`. */
const DATA_PART_MEMBERS = {
  function_call: "functionCall",
  function_response: "functionResponse",
  executable_code: "executableCode",
  code_execution_result: "codeExecutionResult",
} as const satisfies Record<string, keyof GenaiPart>;

/** All members of a genai part that this bridge has a word for. */
const KNOWN_PART_MEMBERS: ReadonlySet<string> = new Set<keyof GenaiPart>([
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "videoMetadata",
  ...Object.values(DATA_PART_MEMBERS),
]);

const DATA_PART_TYPES = Object.keys(DATA_PART_MEMBERS) as (keyof typeof DATA_PART_MEMBERS)[];

const isNeverLongRunning = (): boolean => false;

/** Plain data has no genai part of its own; Go and Python wrap it like this, so the bridges understand each other. */
const DATA_PART_OPEN_TAG = "<a2a_datapart_json>";
const DATA_PART_CLOSE_TAG = "</a2a_datapart_json>";

/**
 * Genai parts as A2A parts. Empty text is left out: it says nothing, and Go's bridge refuses it.
 * `isLongRunning` tells which function calls wait for an answer from outside.
 */
export function toA2aParts(
  parts: readonly GenaiPart[] | undefined,
  isLongRunning: (id: string) => boolean = isNeverLongRunning,
): Part[] {
  const result: Part[] = [];
  for (const part of parts ?? []) {
    const converted = toA2aPart(part, isLongRunning);
    if (converted) result.push(converted);
  }
  return result;
}

/** One of them; undefined for a part that says nothing. */
export function toA2aPart(
  part: GenaiPart,
  isLongRunning: (id: string) => boolean = isNeverLongRunning,
): Part | undefined {
  if (hasOnlyText(part)) return { text: part.text };
  const more = collectUnknownMembers(part);
  const content = toA2aPartContent(part, isLongRunning);
  if (content) {
    if (more) (content.metadata ??= {})[UNKNOWN_MEMBERS_KEY] = more;
    return setPartMetadata(content, part);
  }
  return more && setPartMetadata({ data: more, metadata: { [TYPE_KEY]: "unknown" } }, part);
}

/** What nearly every part of a stream is. */
function hasOnlyText(part: GenaiPart): part is { text: string } {
  if (!part.text) return false;
  for (const member in part) if (member !== "text") return false;
  return true;
}

function toA2aPartContent(part: GenaiPart, isLongRunning: (id: string) => boolean): Part | undefined {
  if (part.text !== undefined && part.text !== "") return { text: part.text };
  for (const type of DATA_PART_TYPES) {
    const value = part[DATA_PART_MEMBERS[type]];
    if (value === undefined || value === null) continue;
    const metadata: JsonObject = { [TYPE_KEY]: type };
    if (type === "function_call") metadata[LONG_RUNNING_KEY] = isLongRunning(part.functionCall?.id ?? "");
    const data = toJsonObject(value);
    return { data: data["name"] === CREDENTIAL_CALL_NAME ? redactCredentialRequest(data) : data, metadata };
  }
  if (part.inlineData) return fromInlineData(part.inlineData);
  if (!part.fileData) return undefined;
  const { fileUri = "", mimeType, displayName } = part.fileData;
  return setFileMetadata({ url: fileUri }, mimeType, displayName);
}

/** What this bridge has no word for; undefined when there is nothing. */
function collectUnknownMembers(part: GenaiPart): JsonObject | undefined {
  let more: Record<string, unknown> | undefined;
  for (const member in part) {
    if (!KNOWN_PART_MEMBERS.has(member)) (more ??= {})[member] = part[member as keyof GenaiPart];
  }
  // What is undefined is nothing in JSON.
  const json = more && toJsonObject(more);
  return json && Object.keys(json).length > 0 ? json : undefined;
}

function fromInlineData(blob: NonNullable<GenaiPart["inlineData"]>): Part {
  if (blob.mimeType === "text/plain") {
    const text = decodeBase64Text(blob.data ?? "");
    if (text.startsWith(DATA_PART_OPEN_TAG) && text.endsWith(DATA_PART_CLOSE_TAG)) {
      return {
        data: JSON.parse(text.slice(DATA_PART_OPEN_TAG.length, -DATA_PART_CLOSE_TAG.length)) as JsonValue,
      };
    }
  }
  return setFileMetadata({ raw: blob.data ?? "" }, blob.mimeType, blob.displayName);
}

function setFileMetadata<P extends Part>(
  part: P,
  mediaType: string | undefined,
  filename: string | undefined,
): P {
  if (filename) part.filename = filename;
  if (mediaType) part.mediaType = mediaType;
  return part;
}

/** What genai says beside the content of a part. */
function setPartMetadata<P extends Part>(part: P, flags: GenaiPart): P {
  if (flags.thought) (part.metadata ??= {})[THOUGHT_KEY] = true;
  if (flags.thoughtSignature) (part.metadata ??= {})[THOUGHT_SIGNATURE_KEY] = flags.thoughtSignature;
  if (flags.videoMetadata) (part.metadata ??= {})[VIDEO_METADATA_KEY] = toJsonObject(flags.videoMetadata);
  return part;
}

/** A2A parts as genai parts: the inverse of `toA2aParts`. */
export function toGenaiParts(parts: readonly Part[]): GenaiPart[] {
  return parts.map(toGenaiPart);
}

export function toGenaiPart(part: Part): GenaiPart {
  const result = toGenaiPartContent(part);
  const { metadata } = part;
  if (!metadata) return result;
  if (metadata[THOUGHT_KEY] === true) result.thought = true;
  const signature = metadata[THOUGHT_SIGNATURE_KEY];
  if (typeof signature === "string") result.thoughtSignature = signature;
  // Go's bridge writes the key without its prefix.
  const video = metadata[VIDEO_METADATA_KEY] ?? metadata["video_metadata"];
  if (isJsonObject(video)) result.videoMetadata = video;
  const more = metadata[UNKNOWN_MEMBERS_KEY];
  // What is known must not come in here, past those who look for it where it belongs.
  if (isJsonObject(more) && hasOnlyUnknownMembers(more)) Object.assign(result, more);
  return result;
}

function toGenaiPartContent(part: Part): GenaiPart {
  if ("text" in part) return { text: part.text };
  if ("raw" in part) return { inlineData: withFileMetadata({ data: part.raw }, part) };
  if ("url" in part) return { fileData: withFileMetadata({ fileUri: part.url }, part) };
  const type = part.metadata?.[TYPE_KEY];
  if (isJsonObject(part.data)) {
    if (type === "unknown" && hasOnlyUnknownMembers(part.data)) return { ...part.data };
    const known = DATA_PART_TYPES.find((name) => name === type);
    if (known && isValidPayload(known, part.data)) return { [DATA_PART_MEMBERS[known]]: part.data };
  }
  const wrapped = DATA_PART_OPEN_TAG + JSON.stringify(part.data) + DATA_PART_CLOSE_TAG;
  return { inlineData: { data: toBase64(new TextEncoder().encode(wrapped)), mimeType: "text/plain" } };
}

function withFileMetadata<F extends object>(file: F, { mediaType, filename }: Part): F {
  return {
    ...file,
    ...(mediaType && { mimeType: mediaType }),
    ...(filename && { displayName: filename }),
  };
}

/** True when nothing in it is known here: a known member must not come in past those who look for it. */
function hasOnlyUnknownMembers(data: JsonObject): boolean {
  return !Object.keys(data).some((member) => KNOWN_PART_MEMBERS.has(member));
}

/** A caller can write any metadata: a call or a response counts as one only when it has what ADK will read of it. */
function isValidPayload(type: keyof typeof DATA_PART_MEMBERS, data: JsonObject): boolean {
  if (type !== "function_call" && type !== "function_response") return true;
  const payload = type === "function_call" ? data["args"] : data["response"];
  const id = data["id"];
  // A response may leave the name to the call that it answers.
  const named =
    typeof data["name"] === "string" || (type === "function_response" && data["name"] === undefined);
  return (
    named && (id === undefined || typeof id === "string") && (payload === undefined || isJsonObject(payload))
  );
}

/** A function call that waits for an answer from outside, when the part is one. */
export function parseLongRunningCall(part: Part): AdkFunctionCall | undefined {
  return part.metadata?.[LONG_RUNNING_KEY] === true ? parseTypedData(part, "function_call") : undefined;
}

/** The answer to a function call, when the part is one. */
export function parseFunctionResponse(part: Part): AdkFunctionResponse | undefined {
  return parseTypedData(part, "function_response");
}

/** A function call of any kind, when the part is one. */
export function parseFunctionCall(part: Part): AdkFunctionCall | undefined {
  return parseTypedData(part, "function_call");
}

function parseTypedData(part: Part, type: keyof typeof DATA_PART_MEMBERS): JsonObject | undefined {
  if (part.metadata?.[TYPE_KEY] !== type) return undefined;
  const { data } = part as DataPart;
  return isJsonObject(data) && isValidPayload(type, data) ? data : undefined;
}

/** A copy that is JSON and nothing else: ADK goes on working with its objects after we have told of them. */
export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function decodeBase64Text(base64: string): string {
  return new TextDecoder().decode(fromBase64(base64));
}
