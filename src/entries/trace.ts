/**
 * The `colloquy/trace` entry point writes and reads traffic records, and computes views from them. Requires Node.js.
 */
export * from "../trace/index.ts";
export * from "../trace/recording/index.ts";
