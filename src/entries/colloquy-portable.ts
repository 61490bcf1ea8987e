/**
 * The `colloquy` entry point for runtimes without the import condition `node`, such as browsers and workers. The types are
 * those of `colloquy.ts`. Only functions that need Node.js are missing.
 */
export * from "./a2a-model.ts";
export { createLogObserver } from "../observe/logging/index.ts";
export { LogEvent } from "../protocol/index.ts";
export { foldLoggedEvents, MemoryStore } from "../stores/portable/index.ts";
export * from "../server/portable/index.ts";
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
  readText,
  TaskNotCompletedError,
} from "../client/portable/index.ts";
export * from "../agents/adapters/portable/index.ts";
export { defineConfig } from "../studio/config/index.ts";
