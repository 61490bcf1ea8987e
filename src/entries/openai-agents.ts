/**
 * The `colloquy/openai-agents` entry point converts agents of the OpenAI Agents SDK to A2A agents. Requires
 * `@openai/agents`.
 */
export type {
  ConversationKey,
  ConversationStore,
  OpenAiAgentsOptions,
  OpenAiAgentsRecord,
  OpenAiAgentsRunOptions,
} from "../adapters/openai-agents/index.ts";
export { encodeConversationKey, fromOpenAiAgents } from "../adapters/openai-agents/index.ts";
