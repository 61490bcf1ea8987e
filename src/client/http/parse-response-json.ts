import { A2AError, parseJsonOrUndefined } from "../../protocol/index.ts";
import { countJsonValues } from "../../wire/index.ts";

/**
 * Parses the JSON of a response or of a stream event, or returns `undefined` if the text is not valid JSON. Throws
 * INVALID_AGENT_RESPONSE, before parsing, if the text has more than `maxJsonValues` values and member names.
 */
export function parseResponseJson(
  text: string,
  { maxJsonValues }: { readonly maxJsonValues: number },
): unknown {
  // Every value and every member name has at least one character, so short texts need no scan.
  if (text.length > maxJsonValues && countJsonValues(text, maxJsonValues).values > maxJsonValues) {
    const limit = maxJsonValues.toLocaleString("en");
    const message = `The agent's response has more than ${limit} JSON values and member names. Raise maxJsonValues if this number is expected.`;
    throw new A2AError("INVALID_AGENT_RESPONSE", message);
  }
  return parseJsonOrUndefined(text);
}
