import { A2AError } from "../protocol/index.ts";

/**
 * Default maximum number of JSON values and member names in a request. A message with 24,000 members with different names
 * takes about 90 ms of CPU time, and 10 MB of such members would stop the event loop for two seconds.
 */
export const DEFAULT_MAX_JSON_VALUES = 50_000;

/**
 * Parses JSON text from a request. Throws PAYLOAD_TOO_LARGE, before parsing, if the text has more than `maxValues`
 * values and member names. Throws a `SyntaxError` if the text is not JSON.
 */
export function parseBoundedJson(text: string, maxValues: number = DEFAULT_MAX_JSON_VALUES): unknown {
  assertJsonValueCount(text, maxValues);
  return JSON.parse(text);
}

function assertJsonValueCount(text: string, maxValues: number): void {
  // Every value and every member name has at least one character, so short texts need no scan.
  if (text.length > maxValues && countJsonValues(text, maxValues).values > maxValues)
    throw createTooManyJsonValuesError(maxValues);
}

function createTooManyJsonValuesError(maxValues: number): A2AError {
  const limit = maxValues.toLocaleString("en");
  const message = `The request has more than ${limit} JSON values and member names (maxJsonValues); send large data as text, as bytes, or by URL.`;
  return new A2AError("PAYLOAD_TOO_LARGE", message);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const STRUCTURE_PATTERN = /[,:[{"]/g;
const QUOTE_OR_BACKSLASH_PATTERN = /["\\]/g;
/**
 * Number of characters after a backslash that the scan reads one by one. A search is 20 times faster in long strings, but
 * slower if backslashes follow each other closely.
 */
const ESCAPE_DISTANCE = 16;

/**
 * Counts the values and member names of JSON text, and stops as soon as the number exceeds `maxValues`. Counts an empty
 * array or object as up to two values. `steps` is the number of searches and of characters that the scan reads one by
 * one, and is at most the length of the text.
 */
export function countJsonValues(text: string, maxValues: number): { values: number; steps: number } {
  let values = 1;
  let steps = 0;
  let at = 0;
  while (values <= maxValues) {
    steps++;
    STRUCTURE_PATTERN.lastIndex = at;
    if (!STRUCTURE_PATTERN.test(text)) break;
    at = STRUCTURE_PATTERN.lastIndex;
    if (text.charCodeAt(at - 1) !== QUOTE) values++;
    else {
      const end = findEndOfString(text, at);
      steps += end.steps;
      at = end.at;
    }
  }
  return { values, steps };
}

/** Returns the position after the closing quote of a JSON string. `start` is the position after its opening quote. */
function findEndOfString(text: string, start: number): { at: number; steps: number } {
  let at = start;
  let steps = 0;
  for (;;) {
    steps++;
    QUOTE_OR_BACKSLASH_PATTERN.lastIndex = at;
    if (!QUOTE_OR_BACKSLASH_PATTERN.test(text)) return { at: text.length, steps };
    at = QUOTE_OR_BACKSLASH_PATTERN.lastIndex;
    if (text.charCodeAt(at - 1) === QUOTE) return { at, steps };
    // The character after the backslash is part of the escape.
    let searchFrom = ++at + ESCAPE_DISTANCE;
    for (; at < searchFrom && at < text.length; at++, steps++) {
      const char = text.charCodeAt(at);
      if (char === QUOTE) return { at: at + 1, steps };
      if (char === BACKSLASH) searchFrom = ++at + ESCAPE_DISTANCE;
    }
  }
}
