import { cardViolations, type FieldViolation } from "../../protocol/index.ts";
import { Decoding } from "../proto-json.ts";
import { AGENT_CARD } from "./card-schema.ts";

/**
 * What is wrong with a card, each with its path; empty when nothing is. `strict` also wants what readers do without:
 * every REQUIRED member, with something in it.
 */
export function checkCard(json: unknown, mode: "tolerant" | "strict" = "tolerant"): FieldViolation[] {
  const asWritten = new Decoding("card", mode);
  AGENT_CARD.decode(json, asWritten);
  const asRead = new Decoding("card", "tolerant");
  const card = AGENT_CARD.decode(json, asRead);
  const isReadable = card !== undefined && asRead.violations.length === 0;
  const all = [
    ...asWritten.violations,
    ...(isReadable ? cardViolations({ securitySchemes: {}, ...card }) : []),
  ];
  // What is empty is wrong by both.
  return all.filter(({ field }, at) => all.findIndex((other) => other.field === field) === at);
}
