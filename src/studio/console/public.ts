/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
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
