/**
 * Yields the JSON values in a text. If the entire text is JSON, the first value is the entire text. All JSON
 * objects in the text follow, in the order of their start positions. The function also finds nested objects
 * and objects in code fences. The scan ignores braces in JSON strings.
 */
export function* extractJsonValues(text: string): Generator<unknown, void> {
  yield* tryParseJson(text);
  let budget = MAX_JSON_SCAN_CHARACTERS;
  for (let start = text.indexOf("{"); start >= 0 && budget > 0; start = text.indexOf("{", start + 1)) {
    const end = findObjectEnd(text, start, budget);
    budget -= Math.abs(end) - start;
    if (end > 0) yield* tryParseJson(text.slice(start, end));
  }
}

function* tryParseJson(text: string): Generator<unknown, void> {
  try {
    yield JSON.parse(text);
  } catch {
    // This text is not JSON. Another part of the reply may be.
  }
}

/**
 * Returns the position after the closing brace of the object at `start`. If the object has no closing brace,
 * the result is the end position of the scan as a negative number.
 */
function findObjectEnd(text: string, start: number, budget: number): number {
  const last = Math.min(text.length, start + budget);
  let depth = 0;
  let inString = false;
  for (let at = start; at < last; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -last;
}

/**
 * Maximum total number of characters that all scans of one text can read. A new scan starts at each opening
 * brace, so scans without a limit could take quadratic time.
 */
const MAX_JSON_SCAN_CHARACTERS = 4_000_000;
