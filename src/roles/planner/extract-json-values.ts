/**
 * The JSON values that a text may mean: all of it, else every object from its opening brace to the closing one, in the
 * order in which they begin, also in code fences and inside others. Braces in strings count for nothing.
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
    // No JSON; somewhere else in the text there may be some.
  }
}

/** The position behind the brace that closes the one at `start`; negative, where the text was read to in vain. */
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

/** A text of nothing but braces is read again from each of them; this bounds the sum. */
const MAX_CHARACTERS_SCANNED = 4_000_000;
