const HALF_OF_SURROGATE_PAIR = /\\ud[89a-f]/i;

/**
 * Parses JSON from a server or from an export, and replaces each unpaired surrogate in a value by U+FFFD. The links of
 * the page contain ids, and a URL cannot contain an unpaired surrogate. JSON can contain one only as an escape, so that
 * most texts need no second look.
 */
export function parseWellFormedJson(text: string): unknown {
  if (!HALF_OF_SURROGATE_PAIR.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
}
