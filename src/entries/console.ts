/**
 * The `colloquy/console` entry point mounts the console on a server of your program. The console requires Node.js.
 */
export { CONSOLE_REQUEST_HEADER, createConsole } from "../studio/console/index.ts";
export type {
  AgentReloadNotice,
  AgentLoadFailed,
  AgentReloaded,
  AgentRemoved,
  Console,
  ConsoleFeatures,
  ConsoleOptions,
  ConsolePage,
  ConsoleSession,
} from "../studio/console/index.ts";
