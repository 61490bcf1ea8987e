import {
  type DataPart,
  fromBase64,
  type JsonObject,
  type JsonValue,
  type Part,
  toBase64,
} from "../protocol/index.ts";
import { REQUEST_CREDENTIAL, withoutSecrets } from "./credential-request.ts";
import { isObject, metadataKey } from "./metadata.ts";
import type { AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "./types.ts";

const TYPE = metadataKey("type");
const LONG_RUNNING = metadataKey("is_long_running");
const THOUGHT = metadataKey("thought");
/** What a model wants back with its thought. */
export const SIGNATURE: "adk_thought_signature" = metadataKey("thought_signature");
const VIDEO = metadataKey("video_metadata");
/** Members of a genai part that this bridge has no word for. */
const MORE = metadataKey("more");

/** The members of a genai part that travel as data parts, by their `adk_type`. */
const DATA_MEMBERS = {
  function_call: "functionCall",
  function_response: "functionResponse",
  executable_code: "executableCode",
  code_execution_result: "codeExecutionResult",
} as const satisfies Record<string, keyof GenaiPart>;

/** All members of a genai part that this bridge has a word for. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set<keyof GenaiPart>([
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "videoMetadata",
  ...Object.values(DATA_MEMBERS),
]);

const DATA_TYPES = Object.keys(DATA_MEMBERS) as (keyof typeof DATA_MEMBERS)[];

const NONE = (): boolean => false;

/** Plain data has no genai part of its own; Go and Python wrap it like this, so the bridges understand each other. */
const OPEN = "<a2a_datapart_json>";
const CLOSE = "</a2a_datapart_json>";

/**
 * Genai parts as A2A parts. Empty text is left out: it says nothing, and Go's bridge refuses it.
 * `isLongRunning` tells which function calls wait for an answer from outside.
 */
export function toA2aParts(
  parts: readonly GenaiPart[] | undefined,
  isLongRunning: (id: string) => boolean = NONE,
): Part[] {
  const result: Part[] = [];
  for (const part of parts ?? []) {
    const converted = toA2aPart(part, isLongRunning);
    if (converted) result.push(converted);
  }
  return result;
}

/** One of them; undefined for a part that says nothing. */
export function toA2aPart(part: GenaiPart, isLongRunning: (id: string) => boolean = NONE): Part | undefined {
  if (isTextAlone(part)) return { text: part.text };
  const more = unknownMembers(part);
  const content = toContent(part, isLongRunning);
  if (content) {
    if (more) (content.metadata ??= {})[MORE] = more;
    return withFlags(content, part);
  }
  return more && withFlags({ data: more, metadata: { [TYPE]: "unknown" } }, part);
}

/** What nearly every part of a stream is. */
function isTextAlone(part: GenaiPart): part is { text: string } {
  if (!part.text) return false;
  for (const member in part) if (member !== "text") return false;
  return true;
}

function toContent(part: GenaiPart, isLongRunning: (id: string) => boolean): Part | undefined {
  if (part.text !== undefined && part.text !== "") return { text: part.text };
  for (const type of DATA_TYPES) {
    const value = part[DATA_MEMBERS[type]];
    if (value === undefined || value === null) continue;
    const metadata: JsonObject = { [TYPE]: type };
    if (type === "function_call") metadata[LONG_RUNNING] = isLongRunning(part.functionCall?.id ?? "");
    const data = toJson(value);
    return { data: data["name"] === REQUEST_CREDENTIAL ? withoutSecrets(data) : data, metadata };
  }
  if (part.inlineData) return fromInlineData(part.inlineData);
  if (!part.fileData) return undefined;
  const { fileUri = "", mimeType, displayName } = part.fileData;
  return withFile({ url: fileUri }, mimeType, displayName);
}

/** What this bridge has no word for; undefined when there is nothing. */
function unknownMembers(part: GenaiPart): JsonObject | undefined {
  let more: Record<string, unknown> | undefined;
  for (const member in part) {
    if (!KNOWN_MEMBERS.has(member)) (more ??= {})[member] = part[member as keyof GenaiPart];
  }
  // What is undefined is nothing in JSON.
  const json = more && toJson(more);
  return json && Object.keys(json).length > 0 ? json : undefined;
}

function fromInlineData(blob: NonNullable<GenaiPart["inlineData"]>): Part {
  if (blob.mimeType === "text/plain") {
    const text = decodeText(blob.data ?? "");
    if (text.startsWith(OPEN) && text.endsWith(CLOSE)) {
      return { data: JSON.parse(text.slice(OPEN.length, -CLOSE.length)) as JsonValue };
    }
  }
  return withFile({ raw: blob.data ?? "" }, blob.mimeType, blob.displayName);
}

function withFile<P extends Part>(part: P, mediaType: string | undefined, filename: string | undefined): P {
  if (filename) part.filename = filename;
  if (mediaType) part.mediaType = mediaType;
  return part;
}

/** What genai says beside the content of a part. */
function withFlags<P extends Part>(part: P, flags: GenaiPart): P {
  if (flags.thought) (part.metadata ??= {})[THOUGHT] = true;
  if (flags.thoughtSignature) (part.metadata ??= {})[SIGNATURE] = flags.thoughtSignature;
  if (flags.videoMetadata) (part.metadata ??= {})[VIDEO] = toJson(flags.videoMetadata);
  return part;
}

/** A2A parts as genai parts: the inverse of `toA2aParts`. */
export function toGenaiParts(parts: readonly Part[]): GenaiPart[] {
  return parts.map(toGenaiPart);
}

export function toGenaiPart(part: Part): GenaiPart {
  const result = contentOf(part);
  const { metadata } = part;
  if (!metadata) return result;
  if (metadata[THOUGHT] === true) result.thought = true;
  const signature = metadata[SIGNATURE];
  if (typeof signature === "string") result.thoughtSignature = signature;
  // Go's bridge writes the key without its prefix.
  const video = metadata[VIDEO] ?? metadata["video_metadata"];
  if (isObject(video)) result.videoMetadata = video;
  const more = metadata[MORE];
  // What is known must not come in here, past those who look for it where it belongs.
  if (isObject(more) && isUnknown(more)) Object.assign(result, more);
  return result;
}

function contentOf(part: Part): GenaiPart {
  if ("text" in part) return { text: part.text };
  if ("raw" in part) return { inlineData: aboutFile({ data: part.raw }, part) };
  if ("url" in part) return { fileData: aboutFile({ fileUri: part.url }, part) };
  const type = part.metadata?.[TYPE];
  if (isObject(part.data)) {
    if (type === "unknown" && isUnknown(part.data)) return { ...part.data };
    const known = DATA_TYPES.find((name) => name === type);
    if (known && isSound(known, part.data)) return { [DATA_MEMBERS[known]]: part.data };
  }
  const wrapped = OPEN + JSON.stringify(part.data) + CLOSE;
  return { inlineData: { data: toBase64(new TextEncoder().encode(wrapped)), mimeType: "text/plain" } };
}

function aboutFile<F extends object>(file: F, { mediaType, filename }: Part): F {
  return {
    ...file,
    ...(mediaType && { mimeType: mediaType }),
    ...(filename && { displayName: filename }),
  };
}

/** True when nothing in it is known here: a known member must not come in past those who look for it. */
function isUnknown(data: JsonObject): boolean {
  return !Object.keys(data).some((member) => KNOWN_MEMBERS.has(member));
}

/** A caller can write any metadata: a call or a response counts as one only when it has what ADK will read of it. */
function isSound(type: keyof typeof DATA_MEMBERS, data: JsonObject): boolean {
  if (type !== "function_call" && type !== "function_response") return true;
  const payload = type === "function_call" ? data["args"] : data["response"];
  const id = data["id"];
  // A response may leave the name to the call that it answers.
  const named =
    typeof data["name"] === "string" || (type === "function_response" && data["name"] === undefined);
  return (
    named && (id === undefined || typeof id === "string") && (payload === undefined || isObject(payload))
  );
}

/** A function call that waits for an answer from outside, when the part is one. */
export function longRunningCall(part: Part): AdkFunctionCall | undefined {
  return part.metadata?.[LONG_RUNNING] === true ? dataOf(part, "function_call") : undefined;
}

/** The answer to a function call, when the part is one. */
export function functionResponse(part: Part): AdkFunctionResponse | undefined {
  return dataOf(part, "function_response");
}

/** A function call of any kind, when the part is one. */
export function functionCall(part: Part): AdkFunctionCall | undefined {
  return dataOf(part, "function_call");
}

function dataOf(part: Part, type: keyof typeof DATA_MEMBERS): JsonObject | undefined {
  if (part.metadata?.[TYPE] !== type) return undefined;
  const { data } = part as DataPart;
  return isObject(data) && isSound(type, data) ? data : undefined;
}

/** A copy that is JSON and nothing else: ADK goes on working with its objects after we have told of them. */
export function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function decodeText(base64: string): string {
  return new TextDecoder().decode(fromBase64(base64));
}
