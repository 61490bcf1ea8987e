import type { AgentCard } from "../../protocol/index.ts";
import type { Type } from "../proto-json.ts";
import { SECURITY_REQUIREMENT, SECURITY_SCHEME } from "../v1/card-schema.ts";
import { cardOf } from "./card-schema.ts";

/** The card of 0.3's proto: the fields of 0.3's JSON with the security of 1.0's. */
export const PROTO_CARD: Type<AgentCard> = cardOf({
  scheme: SECURITY_SCHEME,
  security: SECURITY_REQUIREMENT,
});
