/**
 * THE DOOR OUT. `connect(url)` finds an agent's card and gives a `Remote`: send, stream, tasks. It speaks A2A 1.0 and
 * 0.3 with any server, over the binding that the card prefers, and shows credentials as the card asks for them. A stream
 * that is cut goes on by itself from where it was; "cut" is never taken for "ended".
 */
export type { Authorize, ClientAuth, ClientCredentials, OAuthClient, Wanted } from "./auth/client-auth.ts";
export { collect } from "./collect.ts";
export { connect } from "./connect.ts";
export type { ConnectOptions } from "./find-card.ts";
export { findCard } from "./find-card.ts";
export type { ExchangeOptions, Peer } from "./exchange.ts";
export { cancelQuietly, exchange } from "./exchange.ts";
export type { GrpcConnection } from "./transport/grpc-transport.ts";
export type { Call } from "./transport/http.ts";
export type { Input, SendOptions } from "./input.ts";
export type { Reconnect } from "./stream/reconnect.ts";
export type { Remote, RemotePushConfigs, RemoteTasks } from "./remote.ts";
export type { ClientBinding } from "./transport/transport-for.ts";
export type { CardTrust, CardVerifier, SignatureKey, VerifiedSignature } from "./card/verify-card.ts";
export { createCardVerifier, verifyCard } from "./card/verify-card.ts";
export type { WebhookOptions } from "./webhook/webhook.ts";
export { createWebhook } from "./webhook/webhook.ts";
export type { WebhookProof, WebhookSignature } from "./webhook/webhook-proof.ts";
