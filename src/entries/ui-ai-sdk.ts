/**
 * The `colloquy/ui/ai-sdk` entry point connects `useChat` of the AI SDK to A2A agents. It runs in browsers, and requires
 * the types of `ai`.
 */
export type { A2AChatTransportOptions, A2AMessageMetadata } from "../ui/ai-sdk/index.ts";
export { A2AChatTransport } from "../ui/ai-sdk/index.ts";
