import canonicalize from "canonicalize";
import { decodeTolerantly } from "../proto-json-schema.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";

/**
 * The canonical JSON texts that a card signature may cover. `specification` follows A2A §8.4.1. `sdk` follows
 * the official SDKs, which omit every empty value, even a REQUIRED one. For a card without empty values the
 * two texts are equal.
 */
interface CanonicalCard {
  readonly specification: string;
  readonly sdk: string;
}

/**
 * Returns the canonical forms of an agent card. `json` must be the card as served, because only that text
 * shows which optional members are set. Members that A2A 1.0 does not define are omitted. Throws
 * `INVALID_AGENT_RESPONSE` if the JSON is not an agent card.
 */
export function canonicalizeCard(json: unknown): CanonicalCard {
  const { signatures: _, ...card } = decodeTolerantly(AGENT_CARD_SCHEMA, json, "card", "canonical");
  return { specification: canonicalizeJson(card), sdk: canonicalizeJson(removeEmptyValues(card) ?? {}) };
}

/** Serializes JSON in canonical form (RFC 8785). */
function canonicalizeJson(json: unknown): string {
  const text = canonicalize(json);
  if (text === undefined) throw new TypeError("Only JSON has a canonical form.");
  return text;
}

/**
 * Removes empty strings, lists, and objects, and `null`, at every level. Returns `undefined` if nothing is
 * left.
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
