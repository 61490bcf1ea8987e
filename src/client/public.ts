/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type {
  AuthorizeFunction,
  ClientAuthOptions,
  AgentCredentials,
  OAuthClient,
} from "./auth/client-auth.ts";
export { TaskNotCompletedError } from "./ask-agent.ts";
export { collect } from "./collect-stream-result.ts";
export { connect } from "./node/connect.ts";
export type { ConnectOptions } from "./find-card.ts";
export type { DiscoveredAgent } from "./card/discover-agents.ts";
export { discover, findCard } from "./find-card.ts";
export type { GrpcClientOptions } from "./transport/transport.ts";
export type { MessageInput, SendOptions } from "./message-input.ts";
export { readText } from "./read-text.ts";
export type { RetryOptions } from "./stream/retry.ts";
export type { A2AClient, AgentAnswer } from "./a2a-client.ts";
export type { ClientBindingName } from "./transport/create-transport.ts";
export type { CardTrustOptions, CardVerifier } from "./card/verify-card.ts";
export { createCardVerifier, verifyCard } from "./card/verify-card.ts";
export type { WebhookOptions } from "./webhook/webhook.ts";
export { createWebhook } from "./webhook/webhook.ts";
export type { WebhookAuthOptions, WebhookSignatureOptions } from "./webhook/webhook-authenticator.ts";
