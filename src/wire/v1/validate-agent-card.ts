import { validateAgentCardContent, type FieldViolation } from "../../protocol/index.ts";
import { DecodingContext } from "../proto-json-schema.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";

/**
 * What is wrong with a card, each with its path; empty when nothing is. `strict` also wants what readers do without:
 * every REQUIRED member, with something in it.
 */
export function validateAgentCard(json: unknown, mode: "tolerant" | "strict" = "tolerant"): FieldViolation[] {
  const asWritten = new DecodingContext("card", mode);
  AGENT_CARD_SCHEMA.decode(json, asWritten);
  const asRead = new DecodingContext("card", "tolerant");
  const card = AGENT_CARD_SCHEMA.decode(json, asRead);
  const isReadable = card !== undefined && asRead.violations.length === 0;
  const all = [
    ...asWritten.violations,
    ...(isReadable ? validateAgentCardContent({ securitySchemes: {}, ...card }) : []),
  ];
  // What is empty is wrong by both.
  return all.filter(({ field }, at) => all.findIndex((other) => other.field === field) === at);
}
