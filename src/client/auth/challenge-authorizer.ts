import type { AgentCard } from "../../protocol/index.ts";
import { type Authorizer, type AuthorizerOptions, createAuthorizer } from "./authorizer.ts";

/**
 * Creates an authorizer for fetching a card, before its security schemes are known. The authorizer sends the
 * first request without credentials. After a 401 response, it sends them in standard headers. The request
 * goes to the origin that the caller configured, which is trusted with the credentials.
 *
 * Returns `undefined` if the credentials contain only an OAuth client, because the token endpoint is declared
 * in the card.
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

/** A placeholder for a card without security schemes. */
const UNKNOWN_CARD: Pick<AgentCard, "name"> = { name: "the card" };
/** The agent origin is only used to request tokens, which this authorizer never does. */
const NO_ORIGIN = "";
