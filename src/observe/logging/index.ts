/** THE LOG. The folder `logging` formats the log of a server, writes it to stderr, and redacts its secrets. */
export type { LogFormat } from "./log-line.ts";
export { describeThrownValue } from "./log-line.ts";
export { formatStoreMigration } from "./log-observer.ts";
export type { LogObserverOptions } from "./log-observer.ts";
export { createLogObserver, resolveObserver } from "./log-observer.ts";
export { isPrefixedSecret, PREFIXED_SECRET, PRIVATE_KEY_BEGINNING } from "./secret-patterns.ts";
export type { Redactor, RedactorOptions } from "./redactor.ts";
export { createRedactor, getSharedRedactor, redactSecretHeaders, redactUserInfo } from "./redactor.ts";
