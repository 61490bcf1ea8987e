/**
 * The `colloquy/client` entry point for runtimes without the import condition `node`, such as browsers and workers. The
 * types are those of `client.ts`.
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
export {
  collect,
  connect,
  createCardVerifier,
  createWebhook,
  findCard,
  readText,
  TaskNotCompletedError,
  verifyCard,
} from "../client/portable/index.ts";
