import { LogLevel, setLogger } from "@google/adk";
import type { LogWarningsFunction } from "ai";

/**
 * Keeps the libraries under the models from writing to the output of a program: ADK tells of every request there, the AI
 * SDK of every setting that a model does not know, at every call. `tell` gets warnings and errors instead, each once. It
 * holds for the whole process, so it is for programs; a library has no business with it.
 */
export function redirectModelLogs(tell: (warning: string) => void): void {
  const told = new Set<string>();
  const once = (warning: string): void => {
    if (told.has(warning)) return;
    told.add(warning);
    tell(warning);
  };
  const log = (level: LogLevel, ...what: unknown[]): void => {
    if (level >= LogLevel.WARN) once(what.map(String).join(" "));
  };
  setLogger({
    log,
    debug: () => {},
    info: () => {},
    warn: (...what) => log(LogLevel.WARN, ...what),
    error: (...what) => log(LogLevel.ERROR, ...what),
    setLogLevel: () => {},
  });
  const warned: LogWarningsFunction = ({ warnings, provider, model }) => {
    for (const warning of warnings) {
      const { feature, details, message } = { feature: "", details: "", message: "", ...warning };
      once(
        `${provider} ${model}: ${[message, feature && `no ${feature}`, details].filter(Boolean).join(", ")}`,
      );
    }
  };
  globalThis.AI_SDK_LOG_WARNINGS = warned;
}
