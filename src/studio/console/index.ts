/**
 * The server half of the console: an HTTP API over the task store of a server, remote agents, and traffic records. The
 * page of the room `pages/` uses the API.
 */
export { CONSOLE_REQUEST_HEADER } from "../console-api/index.ts";
export type {
  AddAgentRequest,
  AgentLoadFailed,
  AgentReloaded,
  AgentReloadNotice,
  AgentRemoved,
  ConsoleAgent,
  ConsoleAgentCapabilities,
  ConsoleAgentList,
  ConsoleAgentStatus,
  ConsoleCardObservation,
  ConsoleCardProblem,
  ConsoleCardReport,
  ConsoleCardSignature,
  ConsoleCredentials,
  ConsoleErrorBody,
  ConsoleFeatures,
  ConsolePushRegistration,
  ConsoleSendRequest,
  ConsoleSession,
  ConsoleSignInScheme,
  ConsoleStreamEnd,
  ConsoleTaskList,
  ConsoleTaskQuery,
  ConsoleTaskSummary,
} from "../console-api/index.ts";
export type { ConsolePage } from "./console-page.ts";
export { createConsole, type Console, type ConsoleOptions } from "./console.ts";
