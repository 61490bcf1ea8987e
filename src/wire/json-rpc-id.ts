/**
 * Id of a JSON-RPC request and its response. A `RawJsonNumber` is a number that JavaScript cannot print as the
 * client sent it, such as 12345678901234567890 or 1.0.
 */
export type JsonRpcId = string | number | null | RawJsonNumber;

/** A number that `JSON.stringify` prints as `rawJSON`. */
export interface RawJsonNumber {
  readonly rawJSON: string;
}

/** `JSON.rawJSON` exists on Node.js 21 and later. TypeScript does not declare the function. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => RawJsonNumber };

/** An id that is the first member of a request, except for the method and the version. */
const FIRST_ID_PATTERN =
  /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(-?\d[\d.eE+-]*)/;
const LAST_ID_PATTERN = /"id"\s*:\s*(-?\d[\d.eE+-]*)\s*\}\s*$/;
/** Number of characters at the end of a request in which `LAST_ID_PATTERN` searches for an id. */
const LAST_ID_WINDOW = 320;

/**
 * Maximum length of a request that is searched completely. The search of a large request would delay other requests.
 */
const MAX_SEARCHED_LENGTH = 65_536;

/**
 * Returns the id of a request for its response, as the client sent it. `id` is the parsed id, and `body` is the
 * JSON text of the request. Clients compare ids as numbers of arbitrary precision, or as text.
 */
export function preserveJsonRpcId(id: string | number | null, body: string): JsonRpcId {
  if (typeof id !== "number") return id;
  const text = String(id);
  // Almost all clients send the id in one of these two places.
  if (body.startsWith(`{"jsonrpc":"2.0","id":${text},`) || body.endsWith(`"id":${text}}`)) return id;
  const token =
    FIRST_ID_PATTERN.exec(body)?.[1] ??
    LAST_ID_PATTERN.exec(body.slice(-LAST_ID_WINDOW))?.[1] ??
    (body.length <= MAX_SEARCHED_LENGTH ? findMemberNumber(body, "id") : undefined);
  // A member that occurs twice could make the search find another number.
  if (rawJSON === undefined || token === undefined || Number(token) !== id) return id;
  return token === text ? id : rawJSON(token);
}

/** Finds the number in a member of the outermost object of a valid JSON text, without a second parse. */
function findMemberNumber(json: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === OPENING_BRACE || char === OPENING_BRACKET) depth++;
    else if (char === CLOSING_BRACE || char === CLOSING_BRACKET) depth--;
    else if (char === QUOTE) {
      const end = findStringEnd(json, at);
      if (depth === 1 && end - at === name.length + 1 && json.startsWith(name, at + 1)) {
        NUMBER_MEMBER_PATTERN.lastIndex = end + 1;
        found = NUMBER_MEMBER_PATTERN.exec(json)?.[1] ?? found;
      }
      at = end;
    }
  }
  return found;
}

/** Returns the index of the closing quotation mark of a JSON string. */
function findStringEnd(json: string, start: number): number {
  let end = start;
  do end = json.indexOf('"', end + 1);
  while (isEscaped(json, end));
  return end < 0 ? json.length : end;
}

function isEscaped(json: string, index: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

const NUMBER_MEMBER_PATTERN = /\s*:\s*(-?\d[\d.eE+-]*)/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
