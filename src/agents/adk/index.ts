/**
 * Bridge between Google ADK and A2A that serves ADK agents and calls remote agents. `toA2a(agent)` serves an
 * ADK agent. `adkAgent(agent)` returns an engine agent, which a server can serve together with other agents.
 *
 * The converters are pure functions between ADK events and A2A objects. A separate `RunEventProcessor`
 * keeps the state of each run.
 */
export * from "./public.ts";
export { deriveAdkAgentId } from "./adk-agent.ts";
export { type AdkCardOptions } from "./describe-adk-agent.ts";
export { toActionsMetadata, toSessionKeyMetadata } from "./adk-event-metadata.ts";
export type { GenaiContent } from "./adk-structural-types.ts";
export {
  AiSdkLlm,
  type Script,
  type ScriptFunctionInput,
  ScriptedLlm,
  type ScriptedLlmOptions,
  type ScriptedReply,
  type ScriptedStep,
} from "./models/index.ts";
