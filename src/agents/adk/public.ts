/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export { toA2a, type ToA2aOptions } from "./to-a2a.ts";
export { type AdkAgentOptions, adkAgent } from "./adk-agent.ts";
export type { AdkRunnableSource, RunnerOptions } from "./lazy-runner.ts";
export { toA2aPart, toA2aParts, toGenaiPart, toGenaiParts } from "./part-conversion.ts";
export { eventToMessage } from "./event-to-message.ts";
export { type SessionEventOptions, toSessionEvent } from "./to-session-event.ts";
export { toEventMetadata, fromEventMetadata, type PeerPermissions } from "./adk-event-metadata.ts";
export { durable } from "./durable.ts";
export { getRunOfToolContext } from "./run-of-tool-context.ts";
export { RemoteAgent } from "./remote/remote-agent.ts";
export type { RemoteAgentOptions, RemoteRequest } from "./remote/remote-agent-options.ts";
export type { RunHooks } from "./run-hooks.ts";
export type { AdkEvent, AdkRunner, GenaiPart, SavedFile } from "./adk-structural-types.ts";
export { MemoryArtifactService, type MemoryArtifactOptions } from "./artifacts/memory-artifact-service.ts";
export { MemorySessionService, type MemorySessionOptions } from "./sessions/memory-session-service.ts";
export { PostgresSessionService } from "./sessions/postgres-session-service.ts";
export { SqliteSessionService } from "./sessions/sqlite-session-service.ts";
export { createModel, type ModelOptions } from "./models/index.ts";
