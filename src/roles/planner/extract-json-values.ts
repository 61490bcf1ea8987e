/**
 * Yields the JSON values that a text can contain: the entire text, else every object from its opening to its
 * closing brace, ordered by start position. Objects in code fences and nested objects are included. Braces in
 * strings are ignored.
 */
export function* extractJsonValues(text: string): Generator<unknown, void> {
  yield* tryParseJson(text);
  let budget = MAX_CHARACTERS_SCANNED;
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
 * Returns the position after the brace that closes the object at `start`. When no brace closes it, returns
 * the negated position where the scan stopped.
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
 * Maximum number of characters that are scanned. Each opening brace starts a new scan, so the total could
 * otherwise grow quadratically.
 */
const MAX_CHARACTERS_SCANNED = 4_000_000;
