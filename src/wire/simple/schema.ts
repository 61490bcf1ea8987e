import type { JsonObject, JsonValue, Part } from "../../protocol/index.ts";
import {
  checked,
  converted,
  list,
  message,
  optional,
  required,
  type Decoding,
  type Type,
} from "../proto-json.ts";
import { bytes, string, struct, value } from "../scalars.ts";

/** What the parameters of the dialect's methods are, read strictly, every violation with its path. */

export interface CreateParams {
  skill: string;
  input: JsonObject;
}

export const CREATE_PARAMS: Type<CreateParams> = message<CreateParams>({
  skill: required(string),
  input: required(struct),
});

export interface GetParams {
  taskId: string;
}

export const GET_PARAMS: Type<GetParams> = message<GetParams>({ taskId: required(string) });

/** The guide's parts are flat, where 0.3 has a `file` within. */
interface FlatPart {
  kind: string;
  text?: string;
  data?: JsonValue;
  url?: string;
  bytes?: string;
  name?: string;
  mimeType?: string;
  metadata?: JsonObject;
}

const KINDS = ["text", "data", "file", "image"];

const FLAT_PART: Type<FlatPart> = message<FlatPart>({
  kind: required(
    checked(string, (kind) => (KINDS.includes(kind) ? undefined : `must be one of ${KINDS.join(", ")}`)),
  ),
  text: optional(string),
  data: optional(value),
  url: optional(string),
  bytes: optional(bytes),
  name: string,
  mimeType: string,
  metadata: struct,
});

// Stands for a refused part in an output that nobody will see, so that its list is not called empty, too.
const REFUSED: Part = { text: "" };

const PART: Type<Part> = converted(FLAT_PART, (part, at) => toPart(part, at) ?? REFUSED);

function toPart(
  { kind, text, data, url, bytes: raw, name, mimeType, metadata }: FlatPart,
  at: Decoding,
): Part | undefined {
  const common = {
    ...(metadata ? { metadata } : {}),
    ...(name === undefined ? {} : { filename: name }),
    ...(mimeType === undefined ? {} : { mediaType: mimeType }),
  };
  if (kind === "text") return text === undefined ? at.refuse(`needs "text"`) : { text, ...common };
  if (kind === "data") return data === undefined ? at.refuse(`needs "data"`) : { data, ...common };
  // Nothing else would say that it is one.
  if (kind === "image" && !mimeType?.startsWith("image/"))
    return at.refuse(`needs the "mimeType" of the image, such as "image/png"`);
  if (url !== undefined && raw === undefined) return { url, ...common };
  if (raw !== undefined && url === undefined) return { raw, ...common };
  return at.refuse(`needs either "url" or, as base64, "bytes"`);
}

interface SimpleMessage {
  role: string;
  parts: Part[];
  metadata?: JsonObject;
}

export interface SendParams {
  message: SimpleMessage;
  messageId?: string;
  thread?: { threadId?: string };
  taskId?: string;
  metadata?: JsonObject;
}

export const SEND_PARAMS: Type<SendParams> = message<SendParams>({
  message: required(
    message<SimpleMessage>({
      role: required(
        checked(string, (role) => (role === "user" ? undefined : `must be "user" in a request`)),
      ),
      parts: required(list(PART)),
      metadata: struct,
    }),
  ),
  messageId: string,
  thread: message<{ threadId?: string }>({ threadId: string }),
  taskId: string,
  metadata: struct,
});
