/**
 * The `colloquy/adk` entry point serves ADK agents over A2A, and makes remote A2A agents available to ADK
 * agents. Requires `@google/adk`.
 */
export * from "../agents/adk/public.ts";
