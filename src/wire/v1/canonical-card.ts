import canonicalize from "canonicalize";
import { decodeTolerantly } from "../proto-json-schema.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";

/**
 * The texts that a signature of a card may be over. `specification`: A2A §8.4.1. `sdk`: what the official SDKs make of a
 * card, which has no empty value anywhere, not even a REQUIRED one. They are the same for a card without empty values.
 */
export interface CanonicalCard {
  readonly specification: string;
  readonly sdk: string;
}

/**
 * The canonical forms of a card, from its JSON as it was served: only there does one see which optional members are set.
 * What is no part of a card of 1.0 is no part of its forms. Throws INVALID_AGENT_RESPONSE for what is no card.
 */
export function canonicalizeCard(json: unknown): CanonicalCard {
  const { signatures: _, ...card } = decodeTolerantly(AGENT_CARD_SCHEMA, json, "card", "canonical");
  return { specification: canonicalizeJson(card), sdk: canonicalizeJson(removeEmptyValues(card) ?? {}) };
}

/** RFC 8785. */
function canonicalizeJson(json: unknown): string {
  const text = canonicalize(json);
  if (text === undefined) throw new TypeError("Only JSON has a canonical form.");
  return text;
}

/** The value without empty strings, lists and objects, and without null, inside and out; undefined when none is left. */
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
