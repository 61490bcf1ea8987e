import type { AgentCard } from "../../protocol/index.ts";
import { type Authorizer, type AuthorizerOptions, createAuthorizer } from "./authorizer.ts";

/**
 * Creates an authorizer for agent card requests. The security schemes are unknown until the agent card
 * arrives. The authorizer sends the first request without credentials. After a response with status 401, the
 * authorizer sends the credentials in standard headers. Credentials are sent only to the origin that the user
 * of the client configured.
 *
 * Returns `undefined` if an OAuth client is the only credential, because only the agent card declares the
 * token endpoint.
 */
export function createChallengeAuthorizer(
  options: Omit<AuthorizerOptions, "secretOrigins">,
): Authorizer | undefined {
  const { auth } = options;
  const hasFallback =
    typeof auth === "function" ||
    [auth.apiKey, auth.bearer, auth.basic].some((credential) => credential !== undefined);
  if (!hasFallback) return undefined;
  const authorizer = createAuthorizer(STAND_IN_FOR_UNKNOWN_AGENT_CARD, {
    ...options,
    // This authorizer requests no tokens.
    secretOrigins: [],
  });
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

/** Empty security declarations, which the client uses until it has the agent card. */
const STAND_IN_FOR_UNKNOWN_AGENT_CARD: Pick<AgentCard, "name"> = { name: "the card" };
