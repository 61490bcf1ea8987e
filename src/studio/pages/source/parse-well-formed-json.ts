/** An object, or an array with its indexes as names. */
type JsonContainer = Record<string, unknown>;

const HALF_OF_SURROGATE_PAIR = /\\ud[89a-f]/i;

/**
 * Parses JSON from a server or from an export, and replaces each unpaired surrogate in a value by U+FFFD. The links of
 * the page contain ids, and a URL cannot contain an unpaired surrogate. JSON can contain one only as an escape, so that
 * most texts need no second look.
 */
export function parseWellFormedJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!HALF_OF_SURROGATE_PAIR.test(text)) return value;
  const root: JsonContainer = { value };
  // A stack instead of a recursion, because a stranger may send JSON of any depth.
  const containers: JsonContainer[] = [root];
  for (let container = containers.pop(); container; container = containers.pop())
    for (const key of Object.keys(container)) {
      const child: unknown = container[key];
      if (typeof child === "string") container[key] = child.toWellFormed();
      else if (typeof child === "object" && child !== null) containers.push(child as JsonContainer);
    }
  return root["value"];
}
