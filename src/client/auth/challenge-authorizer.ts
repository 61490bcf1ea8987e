import type { AgentCard } from "../../protocol/index.ts";
import { type Authorizer, type AuthorizerOptions, createAuthorizer } from "./authorizer.ts";

/**
 * Signs requests for a card, which would say how but is not known yet: in the usual way, and only once it was refused
 * without. It goes to the origin that the caller named himself, which is believed in what it says of the agent, and so
 * of where credentials go. Undefined where there is no usual way: an OAuth client learns from the card where tokens are.
 */
export function createChallengeAuthorizer(
  options: Omit<AuthorizerOptions, "agentOrigin">,
): Authorizer | undefined {
  const { auth } = options;
  const hasFallback =
    typeof auth === "function" ||
    [auth.apiKey, auth.bearer, auth.basic].some((credential) => credential !== undefined);
  if (!hasFallback) return undefined;
  const authorizer = createAuthorizer(UNKNOWN_CARD, { ...options, agentOrigin: NO_ORIGIN });
  let wasChallenged = false;
  return {
    authorize: async (signal) => (wasChallenged ? await authorizer.authorize(signal) : { headers: {} }),
    invalidate(authorization) {
      if (wasChallenged) return authorizer.invalidate(authorization);
      wasChallenged = true;
      return true;
    },
  };
}

/** A card that asks for nothing. */
const UNKNOWN_CARD: Pick<AgentCard, "name"> = { name: "the card" };
/** The origin is for tokens, which no usual way gets. */
const NO_ORIGIN = "";
