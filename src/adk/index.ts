/**
 * GOOGLE ADK ON THE NETWORK. `toA2a(agent)` serves an ADK agent; `adkAgent(agent)` makes it an agent of the engine, so
 * that it can be served beside others. Below them the converters are pure functions between ADK's events and A2A's
 * words; everything that a run knows lives in its own `Processor`.
 */
export { toA2a, type ToA2aOptions } from "./to-a2a.ts";
export { type AdkAgentOptions, adkAgent } from "./executor.ts";
export type { AdkRoot, AdkSource, RunnerOptions } from "./source.ts";
export { type AdkAgentLike, buildAgentSkills, type DescribeOptions } from "./card.ts";
export { toA2aPart, toA2aParts, toGenaiPart, toGenaiParts } from "./parts.ts";
export { eventToMessage } from "./message.ts";
export { type SessionEventOptions, toSessionEvent } from "./session-event.ts";
export {
  actionsMetadata,
  ADK_EXTENSION,
  eventMetadata,
  fromEventMetadata,
  type PeerAction,
  sessionMetadata,
  type SessionPlace,
} from "./metadata.ts";
export { RemoteAgent, type RemoteAgentOptions, type RemoteRequest } from "./remote/remote-agent.ts";
export type { RunHooks } from "./hooks.ts";
export type { AdkEvent, AdkRunner, AdkRunRequest, GenaiContent, GenaiPart } from "./types.ts";
export { MemorySessionService, type MemorySessionOptions } from "./sessions/memory.ts";
export { SqliteSessionService } from "./sessions/sqlite.ts";
export {
  AiSdkLlm,
  hushModels,
  type AiSdkSource,
  model,
  type LlmRoleModel,
  type ModelOptions,
  roleModel,
  type RoleCall,
  type RoleModelOptions,
  type RoleReply,
  type RoleUsage,
  type Script,
  type ScriptedAsk,
  ScriptedLlm,
  type ScriptedOptions,
  type ScriptedReply,
  type ScriptedStep,
} from "./models/index.ts";
