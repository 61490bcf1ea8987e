/**
 * MESSAGES FOR DEVELOPERS. The folder `diagnostics` formats the log, redacts secrets in the log, and explains
 * mistakes in programs that call Colloquy, such as an unknown option or a missing `await`.
 */
export { didYouMean } from "./did-you-mean.ts";
export { explainMissingAwait } from "./explain-missing-await.ts";
export type { LogFormat } from "./log-line.ts";
export type { LogObserverOptions } from "./log-observer.ts";
export { createLogObserver, resolveObserver } from "./log-observer.ts";
export { defineOptionNames, pickOptions } from "./option-names.ts";
export { redactSecrets } from "./redact-secrets.ts";
