import { LogLevel, setLogger } from "@google/adk";
import type { LogWarningsFunction } from "ai";

/**
 * Redirects the log output of ADK and the AI SDK to a function. By default, ADK logs every request to the
 * console. The AI SDK logs a warning when a model does not support a setting. The function `tell` receives
 * each distinct warning or error once.
 *
 * The redirection applies to the entire process, so only applications should redirect model logs, not
 * libraries.
 */
export function redirectModelLogs(tell: (warning: string) => void): void {
  const seen = new Set<string>();
  const once = (warning: string): void => {
    if (seen.has(warning)) return;
    seen.add(warning);
    tell(warning);
  };
  const log = (level: LogLevel, ...args: unknown[]): void => {
    if (level >= LogLevel.WARN) once(args.map(String).join(" "));
  };
  setLogger({
    log,
    debug: () => {},
    info: () => {},
    warn: (...args) => log(LogLevel.WARN, ...args),
    error: (...args) => log(LogLevel.ERROR, ...args),
    setLogLevel: () => {},
  });
  const warned: LogWarningsFunction = ({ warnings, provider, model }) => {
    for (const warning of warnings) {
      const { feature, details, message } = { feature: "", details: "", message: "", ...warning };
      const texts = [message, feature && `${feature} is not supported`, details];
      once(`${provider} ${model}: ${texts.filter(Boolean).join(", ")}`);
    }
  };
  globalThis.AI_SDK_LOG_WARNINGS = warned;
}
