import type { DelayedDeletions, Observer, StoreMigrationReport } from "../../engine/index.ts";
import { parseTraceparent } from "../../protocol/index.ts";
import { describeThrownValue, formatLogEntry, type LogEntry, type LogFormat } from "./log-line.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";

/** Options for `createLogObserver`. */
export interface LogObserverOptions {
  /**
   * Format of the log. The value `json` writes one JSON object per line, and `pretty` writes text for people.
   * The default format is `pretty` if stderr is a terminal, and otherwise `json`.
   */
  readonly format?: LogFormat;
  /** Whether the log also contains a line for each request. Default: false. */
  readonly requests?: boolean;
  /** Writes a log entry, which ends with a line end. By default, the log is written to stderr. */
  readonly write?: (entry: string) => void;
}

const HOUR_MS = 60 * 60 * 1000;

const assertKnownOptions = defineOptionNames<LogObserverOptions>()(
  "createLogObserver",
  "format requests write",
);

/**
 * Creates an observer that logs errors, probable mistakes of agents, rejected credentials, disconnected readers, changes of the store's state,
 * migrations of the store, accesses of operators, and a store that is too large. The observer also logs the first failure
 * of a webhook, and the end of its delivery. Each error has its stack, its task id, and the error id that the caller
 * receives. The log contains `***` instead of secrets. A server without the option `observer` uses this
 * observer.
 */
export function createLogObserver(options: LogObserverOptions = {}): Observer {
  assertKnownOptions(options);
  const { write = writeToStderr, format = isStderrTerminal() ? "pretty" : "json", requests } = options;
  if (format !== "json" && format !== "pretty")
    throw new TypeError(`The log format ${JSON.stringify(format)} does not exist; use "json" or "pretty".`);
  const log = (entry: Omit<LogEntry, "time">): void =>
    write(formatLogEntry({ time: new Date().toISOString(), ...entry }, format));
  const logRetentionWarning = (message: string): void => log({ level: "warn", where: "retention", message });
  return {
    onError: ({ where, error, taskId, errorId, traceparent }) =>
      log({
        level: "error",
        where,
        taskId,
        traceId: parseTraceparent(traceparent)?.traceId,
        errorId,
        ...describeThrownValue(error),
      }),
    onWarning: ({ where, message, taskId }) => log({ level: "warn", where, taskId, message }),
    onCredentialsRejected: ({ scheme, reason }) =>
      log({ level: "warn", where: "authentication", message: `${scheme}: ${reason}` }),
    onReaderStalled({ remoteAddress = "an unknown address", connections, timeoutMs }) {
      const message = `Closed ${connections} connections from ${remoteAddress}, because the clients did not read for ${timeoutMs} ms`;
      log({ level: "warn", where: "server", message });
    },
    onPush({ taskId, configId, outcome, isFirstFailure, reason = "" }) {
      if (outcome !== "dead" && !isFirstFailure) return;
      const end = outcome === "dead" ? "receives no more notifications" : "failed, and the server retries";
      log({ level: "warn", where: "push", taskId, message: `Webhook ${configId} ${end}: ${reason}` });
    },
    onStoreState({ store, state, error }) {
      const message = `The task store ${store} is ${state}${error ? `: ${error.message}` : ""}`;
      log({ level: state === "healthy" ? "info" : "error", where: "store", message });
    },
    onStoreMigration: (report) =>
      log({ level: "info", where: "store", message: formatStoreMigration(report) }),
    onSweep({ isOverMaxBytes, evictedWaitingTasks, delayed }) {
      if (delayed) logRetentionWarning(formatDelayedDeletions(delayed));
      if (evictedWaitingTasks > 0)
        logRetentionWarning(
          `The memory store exceeded maxBytes and deleted ${evictedWaitingTasks} tasks that waited for input`,
        );
      if (isOverMaxBytes)
        logRetentionWarning(
          "The store is larger than maxBytes, and no ended task is left that the server may delete",
        );
    },
    onOperatorAccess({ operator, action, agent, taskId, owner, remoteAddress = "an unknown address" }) {
      const place = agent === undefined ? "" : ` of ${agent}`;
      const ownerText = owner === undefined ? "" : ` of the caller ${JSON.stringify(owner.principal)}`;
      const message = `The operator ${JSON.stringify(operator)} used ${JSON.stringify(action)}${place}${ownerText} from ${remoteAddress}`;
      log({ level: "info", where: "operator", taskId, message });
    },
    ...(requests
      ? {
          onRequest: ({ method, path, status, durationMs, traceparent }) =>
            log({
              level: "info",
              where: "request",
              traceId: parseTraceparent(traceparent)?.traceId,
              message: `${method} ${path} ${status} in ${Math.round(durationMs)} ms`,
            }),
        }
      : {}),
  };
}

/** Returns the observer of the option `observer`. The default observer logs errors to stderr. */
export function resolveObserver(observer: Observer | false | undefined): Observer {
  return observer === false ? {} : (observer ?? createLogObserver());
}

function writeToStderr(entry: string): void {
  // `console.error` exists on every runtime, and writes to stderr on Node.js, Deno, and Bun.
  // oxlint-disable-next-line no-console -- the only place where the library writes to the console
  console.error(entry.trimEnd());
}

function isStderrTerminal(): boolean {
  return typeof process !== "undefined" && process.stderr?.isTTY;
}

function formatDelayedDeletions(delayed: DelayedDeletions): string {
  const { clockAheadMs, delayMs, endedTasks, waitingTasks, trimmedTasks } = delayed;
  const [ahead, delay] = [clockAheadMs, delayMs].map((ms) => `${(ms / HOUR_MS).toFixed(1)} h`);
  return (
    `The clock is ${ahead} later than expected, so ${endedTasks} ended tasks, ${waitingTasks} waiting tasks, and the ` +
    `events of ${trimmedTasks} tasks are not deleted for the next ${delay} of running time. If the clock is wrong, ` +
    "correct it. If the clock is right, a sweep by hand deletes them now"
  );
}

/** Formats the progress of a migration as a sentence for operators. */
export function formatStoreMigration(report: StoreMigrationReport): string {
  const { store, phase, fromVersion, toVersion, nextVersion, backupFile, bytes, elapsedMs } = report;
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`;
  if (phase === "backup")
    return `The task store ${store} (${(bytes / 1e6).toFixed(1)} MB) is copied to ${backupFile} before its migration from schema ${fromVersion} to ${toVersion}`;
  if (phase === "step")
    return `The task store ${store} is migrated to schema ${nextVersion} of ${toVersion}, after ${seconds}`;
  const wayBack = backupFile
    ? `The earlier version of Colloquy can open ${backupFile}. Delete this backup when you no longer need it`
    : "There is no backup for the earlier version of Colloquy";
  return `The task store ${store} was migrated from schema ${fromVersion} to ${toVersion} in ${seconds}. ${wayBack}`;
}
