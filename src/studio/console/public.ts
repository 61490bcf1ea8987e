/** What package entries export of this folder. `index.ts` adds what only other folders use. */
export { CONSOLE_REQUEST_HEADER } from "../console-api/index.ts";
export type {
  AgentLoadFailed,
  AgentReloaded,
  AgentReloadNotice,
  AgentRemoved,
  ConsoleFeatures,
  ConsoleSession,
} from "../console-api/index.ts";
export type { ConsolePage } from "./console-page.ts";
export { createConsole, type Console, type ConsoleOptions } from "./console.ts";
