/**
 * The server half of the console: an HTTP API over the task store of a server, remote agents, and traffic records. The
 * page of the room `pages/` uses the API.
 */
export * from "./public.ts";
export type {
  AddAgentRequest,
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
  ConsolePushRegistration,
  ConsoleSendRequest,
  ConsoleSignInScheme,
  ConsoleStreamEnd,
  ConsoleTaskList,
  ConsoleTaskQuery,
  ConsoleTaskSummary,
} from "../console-api/index.ts";
