/**
 * The `colloquy` entry point for runtimes without the import condition `node`, such as browsers and workers. The types are
 * those of `colloquy.ts`. Only functions that need Node.js are missing.
 */
export {
  A2AError,
  data,
  file,
  fromBase64,
  getText,
  isInterrupted,
  isTerminal,
  MESSAGE_EVENTS_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
  text,
  toBase64,
} from "../protocol/index.ts";
export { createLogObserver } from "../logging/index.ts";
export { MemoryStore } from "../stores/portable/index.ts";
export { createServer, signCard } from "../server/portable/index.ts";
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
  readText,
  TaskNotCompletedError,
} from "../client/portable/index.ts";
export {
  agent,
  artifact,
  authRequired,
  chunk,
  failed,
  inputRequired,
  reply,
  status,
} from "../adapters/portable/index.ts";
export { defineConfig } from "../config/index.ts";
