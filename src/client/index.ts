/**
 * The A2A client. `connect(url)` finds an agent's card and returns an `A2AClient` with `send`, `stream`, and
 * `tasks`.
 *
 * The client supports A2A 1.0 and 0.3, prefers the bindings that the card lists first, and sends credentials
 * where the card declares them. If a stream loses its connection, it resumes after the last event that the
 * client received. The client never reports a lost connection as the end of a stream.
 */
export * from "./public.ts";
export { parseAgentUrl } from "./card/discover-card.ts";
export { listServerAgents } from "./find-card.ts";
export type { TurnStreamOptions, TurnStreamClient } from "./send-and-stream-until-turn-end.ts";
export { addToResult } from "./collect-stream-result.ts";
export { cancelTaskIgnoringErrors, sendAndStreamUntilTurnEnd } from "./send-and-stream-until-turn-end.ts";
export type { CallOptions } from "./transport/transport.ts";
export { untilAborted } from "./http/deadline.ts";
export type { ClientTimeouts } from "./timeouts.ts";
export { findUntrustedOriginError, getInterfaceOrigin, type TrustedOrigins } from "./trusted-origins.ts";
export { listAuthRequirements } from "./auth/auth-plan.ts";
export type { IssuedToken, OAuthClientIdentity, OAuthEndpoint, OAuthRefusal } from "./auth/oauth-requests.ts";
export {
  assertSecureUrl,
  assertTrustedOrigin,
  createRefusalError,
  fetchServerMetadata,
  findSecretLocation,
  isSameOrigin,
  postOAuthForm,
  requestToken,
  toRefusal,
} from "./auth/oauth-requests.ts";
export { parseGrpcAddress } from "./transport/parse-grpc-address.ts";
