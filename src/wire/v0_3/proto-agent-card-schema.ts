import type { AgentCard } from "../../protocol/index.ts";
import type { DecodingSchema } from "../proto-json-schema.ts";
import { SECURITY_REQUIREMENT_SCHEMA, SECURITY_SCHEME_SCHEMA } from "../v1/card-schema.ts";
import { createAgentCardSchema03 } from "./card-schema.ts";

/**
 * Schema for the agent card in the proto of 0.3. In the proto, an agent card has the members of the 0.3 JSON,
 * but the security types of 1.0.
 */
export const PROTO_AGENT_CARD_SCHEMA: DecodingSchema<AgentCard> = createAgentCardSchema03({
  scheme: SECURITY_SCHEME_SCHEMA,
  security: SECURITY_REQUIREMENT_SCHEMA,
});
