import type { AgentCard } from "../../protocol/index.ts";
import type { Schema } from "../proto-json-schema.ts";
import { SECURITY_REQUIREMENT_SCHEMA, SECURITY_SCHEME_SCHEMA } from "../v1/card-schema.ts";
import { createCardSchema } from "./card-schema.ts";

/** The card of 0.3's proto: the fields of 0.3's JSON with the security of 1.0's. */
export const PROTO_AGENT_CARD_SCHEMA: Schema<AgentCard> = createCardSchema({
  scheme: SECURITY_SCHEME_SCHEMA,
  security: SECURITY_REQUIREMENT_SCHEMA,
});
