/**
 * The `colloquy/ui/ai-sdk` entry point connects `useChat` of the AI SDK to A2A agents. It runs in browsers, and requires
 * the types of `ai`.
 */
export * from "../ui/ai-sdk/index.ts";
