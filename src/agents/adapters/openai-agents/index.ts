/**
 * Adapter that serves agents of the OpenAI Agents SDK over A2A. Install the package `@openai/agents`
 * yourself.
 */
export type { OpenAiAgentsOptions, OpenAiAgentsRecord } from "./from-openai-agents.ts";
export { fromOpenAiAgents } from "./from-openai-agents.ts";
