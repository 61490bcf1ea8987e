/**
 * Adapter that serves AI SDK agents over A2A, and offers A2A agents as AI SDK tools. `fromAiSdk` creates an
 * agent from an AI SDK agent (`ToolLoopAgent`) or from a function that calls `streamText`. `a2aTool` creates
 * a tool from any A2A agent. Install the package `ai` (7) yourself.
 */
export type { AiSdkOptions } from "./agent.ts";
export { fromAiSdk } from "./agent.ts";
export { durable, durableTools } from "./durable.ts";
export type { A2aToolOptions } from "./a2a-tool.ts";
export { a2aTool } from "./a2a-tool.ts";
