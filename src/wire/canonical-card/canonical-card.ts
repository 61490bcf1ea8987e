import canonicalize from "canonicalize";
import type { AgentCard } from "../../protocol/index.ts";
import { decodeResponseTolerantly } from "../proto-json-schema.ts";
import { findSchema } from "../v1/decode.ts";

/**
 * The two canonical JSON texts of an agent card. The signature of a card may cover either of the two
 * texts. `specification` follows A2A §8.4.1. The `sdk` text follows the official SDKs, which omit every
 * empty value, even a REQUIRED value. If a card has no empty values, the two canonical texts are equal.
 */
interface CanonicalCardTexts {
  readonly specification: string;
  readonly sdk: string;
}

/**
 * Returns the canonical texts of an agent card. The parameter `json` must be the card as the server sent
 * it. A decoded card does not show which optional members are set. The canonical texts omit members that
 * A2A 1.0 does not define. Throws `INVALID_AGENT_RESPONSE` if the JSON is not an agent card.
 */
export function canonicalizeCard(json: unknown): CanonicalCardTexts {
  const { signatures: _, ...card } = decodeResponseTolerantly(
    findSchema("AgentCard"),
    json,
    "card",
    "canonical",
  ) as AgentCard;
  return { specification: canonicalizeJson(card), sdk: canonicalizeJson(removeEmptyValues(card) ?? {}) };
}

/** Serializes a value as JSON in canonical form (RFC 8785). */
function canonicalizeJson(json: unknown): string {
  const text = canonicalize(json);
  if (text === undefined) throw new TypeError("Only JSON has a canonical form.");
  return text;
}

/**
 * Removes empty strings, empty lists, empty objects, and `null` from a value at every level. Returns
 * `undefined` if the entire value is empty.
 */
function removeEmptyValues(json: unknown): unknown {
  if (json === "" || json === null) return undefined;
  if (typeof json !== "object") return json;
  if (Array.isArray(json)) {
    const items = json.map(removeEmptyValues).filter((item) => item !== undefined);
    return items.length > 0 ? items : undefined;
  }
  const members = Object.entries(json)
    .map(([key, value]) => [key, removeEmptyValues(value)] as const)
    .filter(([, value]) => value !== undefined);
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}
