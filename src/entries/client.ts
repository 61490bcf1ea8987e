/**
 * The `colloquy/client` entry point exports the client for remote A2A agents, without server code. The client
 * therefore also runs in browsers and edge runtimes.
 */
export * from "./a2a-model.ts";
export type {
  A2AClient,
  AgentCredentials,
  AuthorizeFunction,
  SecurityRequirementToSatisfy,
  CardTrustOptions,
  CardVerifier,
  ClientAuthOptions,
  ClientBindingName,
  AgentAnswer,
  ClientPushConfigs,
  ClientTasks,
  ConnectOptions,
  DiscoveredAgent,
  GrpcClientOptions,
  MessageInput,
  OAuthClient,
  RetryOptions,
  SendOptions,
  VerifiedSignature,
  WebhookAuthOptions,
  WebhookOptions,
  WebhookSignatureOptions,
} from "../client/index.ts";
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
  discover,
  findCard,
  readText,
  TaskNotCompletedError,
  verifyCard,
} from "../client/index.ts";
