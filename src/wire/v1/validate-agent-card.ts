import { type AgentCard, type FieldViolation, validateAgentCardContent } from "../../protocol/index.ts";
import { DecodingContext } from "../proto-json-schema.ts";
import { findSchema } from "./decode.ts";

/**
 * Returns the violations in an agent card, each with its path. The list of violations is empty if the card
 * is valid. In `strict` mode, every REQUIRED member must be present and not empty, and deviations of real
 * peers are violations.
 */
export function validateAgentCard(json: unknown, mode: "tolerant" | "strict" = "tolerant"): FieldViolation[] {
  const modeContext = new DecodingContext("card", mode, mode === "strict" ? "none" : "all");
  findSchema("AgentCard").decode(json, modeContext);
  const tolerantContext = new DecodingContext("card", "tolerant");
  const card = findSchema("AgentCard").decode(json, tolerantContext) as AgentCard | undefined;
  const isReadable = card !== undefined && tolerantContext.violations.length === 0;
  const violations = [
    ...modeContext.violations,
    ...(isReadable ? validateAgentCardContent({ securitySchemes: {}, ...card }) : []),
  ];
  // An empty value is reported by the schema and by the content validation.
  return violations.filter(
    ({ field }, index) => violations.findIndex((other) => other.field === field) === index,
  );
}
