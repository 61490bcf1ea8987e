/**
 * THE DOOR IN. A request walks through here in one line: `node.ts` or `fetch.ts` makes it an `HttpRequest`, `router.ts`
 * finds the agent and lets the caller in, one of `bindings/` decodes and validates it, `operations.ts` asks the agent's
 * engine, and the answer goes back as JSON or, through `bindings/event-stream.ts`, as server-sent events.
 */
export { createServer } from "./server.ts";
export type { Address, ListenOptions, Server } from "./server.ts";
export type { ServerLimits, ServerOptions } from "./options.ts";
export type { GrpcOptions } from "./bindings/grpc.ts";
export type { Authentication } from "./auth/authentication.ts";
export type { Authenticate, Credentials } from "./auth/scheme.ts";
export type { Beside, Inside } from "./beside.ts";
export type { CardShape } from "./card/card-shape.ts";
export type { CardSigning } from "./card/card-signing.ts";
export { signCard } from "./card/card-signing.ts";
export type { Tenants } from "./tenants.ts";
export { nodeListener } from "./node-listener.ts";
export type { GuardOptions } from "./push/guard.ts";
export type { Resolve } from "./push/lookups.ts";
export type { PushOptions } from "./push/push.ts";
export type { PushSigning } from "./push/signature.ts";
export type { StoreChoice } from "./open-store.ts";
