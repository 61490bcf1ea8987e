/**
 * The A2A client. `connect(url)` finds an agent's card and returns an `A2AClient` with `send`, `stream`, and
 * `tasks`.
 *
 * The client supports A2A 1.0 and 0.3, prefers the bindings that the card lists first, and sends credentials
 * where the card declares them. If a stream loses its connection, it resumes after the last event that the
 * client received. The client never reports a lost connection as the end of a stream.
 */
export type {
  AuthorizeFunction,
  ClientAuthOptions,
  AgentCredentials,
  OAuthClient,
  SecurityRequirementToSatisfy,
} from "./auth/client-auth.ts";
export { TaskNotCompletedError } from "./ask-agent.ts";
export { collect } from "./collect-stream-result.ts";
export { connect } from "./node/connect.ts";
export type { ConnectOptions } from "./find-card.ts";
export type { DiscoveredAgent } from "./card/discover-agents.ts";
export { discover, findCard, listServerAgents } from "./find-card.ts";
export type { TurnStreamOptions, TurnStreamClient } from "./send-and-stream-until-turn-end.ts";
export { cancelTaskIgnoringErrors, sendAndStreamUntilTurnEnd } from "./send-and-stream-until-turn-end.ts";
export type { GrpcClientOptions } from "./transport/transport.ts";
export type { CallOptions } from "./transport/transport.ts";
export type { MessageInput, SendOptions } from "./message-input.ts";
export { untilAborted } from "./http/abortable-waits.ts";
export { readText } from "./read-text.ts";
export type { RetryOptions } from "./stream/retry.ts";
export type { A2AClient, AgentAnswer, ClientPushConfigs, ClientTasks } from "./a2a-client.ts";
export type { ClientTimeouts } from "./timeouts.ts";
export type { TrustedOrigins } from "./trusted-origins.ts";
export { parseGrpcAddress } from "./transport/parse-grpc-address.ts";
export type { ClientBindingName } from "./transport/create-transport.ts";
export type { CardTrustOptions, CardVerifier, VerifiedSignature } from "./card/verify-card.ts";
export { createCardVerifier, verifyCard } from "./card/verify-card.ts";
export type { WebhookOptions } from "./webhook/webhook.ts";
export { createWebhook } from "./webhook/webhook.ts";
export type { WebhookAuthOptions, WebhookSignatureOptions } from "./webhook/webhook-authenticator.ts";
