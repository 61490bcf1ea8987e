/**
 * The reload loop of `colloquy dev`. The loop watches the files of agents and everything that they import, imports the
 * changed modules again, and replaces the agents of the running server.
 */
export {
  AgentReloader,
  type AgentFileSource,
  type AgentFileFailure,
  type AgentReloadReport,
  type LoadedAgentFile,
} from "./agent-reloader.ts";
export { FileWatcher, isDirectory } from "./file-watcher.ts";
export { findModuleSyntaxError, isHalfWrittenFile } from "./find-module-syntax-error.ts";
export {
  cleanReloadMarkers,
  formatErrorStack,
  formatStack,
  formatLoadError,
  toRelativePath,
} from "./format-load-error.ts";
export { ReloadableModules } from "./reloadable-modules.ts";
export { SyntaxGate } from "./syntax-gate.ts";
export { waitForSavedFiles } from "./wait-for-saved-files.ts";
