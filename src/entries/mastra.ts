/** The `colloquy/mastra` entry point converts Mastra agents to A2A agents. Requires `@mastra/core`. */
export type {
  ConversationKey,
  ConversationStore,
  MastraAgent,
  MastraOptions,
  MastraStream,
  MastraTextMessage,
} from "../adapters/mastra/index.ts";
export { encodeConversationKey, fromMastra } from "../adapters/mastra/index.ts";
