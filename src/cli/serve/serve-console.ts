import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  createConsole,
  type Console,
  type ConsoleOptions,
  type ConsoleSession,
} from "../../studio/console/index.ts";

import { isLoopbackHost } from "../../protocol/index.ts";
import type { ServerOptions } from "../../server/index.ts";
import { bearer } from "../../server/auth/index.ts";
import {
  createTrafficWriter,
  openTrafficRecord,
  type TrafficRecordOptions,
  type TrafficWriter,
} from "../../observe/trace/recording/index.ts";
import { getRecordFilePath } from "../assert-record-writable.ts";
import { createUsageError } from "../cli-error.ts";
import type { PriceOption } from "../trace/price-option.ts";
import { readModelPrices } from "../trace/read-model-prices.ts";
import { readPackageVersion } from "../package-version.ts";
import { readTextFile } from "./serve-auth-options.ts";

/** Options of the commands that offer the console. */
export interface ServeConsoleOptions extends PriceOption {
  console?: boolean;
  /** Whether the command opens the console in the default browser. */
  open?: boolean;
  operatorTokenFile?: string;
  /** Whether users of the console may add agents of this machine and of private networks in every case. */
  allowPrivateAgents?: boolean;
}

/** A console, and the server options that mount it. */
export interface MountedConsole {
  readonly console: Console;
  readonly serverOptions: Pick<ServerOptions, "mountedHandlers" | "record" | "operator">;
  /** Returns the URL that opens the console, with the launch token if anonymous users need it. */
  readonly renderUrl: (serverUrl: string) => string;
}

interface ConsoleSetup {
  readonly mode: ConsoleSession["mode"];
  readonly name: string;
  readonly host: string;
  readonly publicUrl: string | undefined;
  readonly allowPrivateAgents?: boolean | undefined;
  /** Whether the server authenticates its callers. Without authentication, the console requires a launch token. */
  readonly isAuthenticated: boolean;
  readonly agentUrls?: readonly string[];
  readonly recordFiles?: readonly string[];
  /** Record of the server. Default: a new record in `recordFile`. */
  readonly record?: TrafficWriter | undefined;
  /** File of the traffic record. By default, the console observes the traffic and stores it only in memory. */
  readonly recordFile?: string | TrafficRecordOptions | undefined;
  readonly operatorTokenFile?: string | undefined;
  /** File with the secret of the pages' sessions. Default: the sessions end with the command. */
  readonly sessionSecretFile?: string | undefined;
  /** Path of a file with the prices of language models. */
  readonly priceFile?: string | undefined;
  /** Keys that are trusted to sign agent cards. */
  readonly cardTrust?: ConsoleOptions["cardTrust"] | undefined;
}

/** Creates the console of a command. */
export function createMountedConsole(setup: ConsoleSetup): MountedConsole {
  const { mode, name, isAuthenticated, agentUrls = [], recordFiles = [], operatorTokenFile } = setup;
  const version = readPackageVersion();
  const prices = readModelPrices(setup.priceFile);
  const token = isAuthenticated ? undefined : randomBytes(24).toString("base64url");
  const record = setup.record ?? openConsoleRecord(name, setup.recordFile);
  const consoleHandler = createConsole({
    mode,
    name,
    version,
    agentUrls,
    recordFiles,
    allowPrivate: setup.allowPrivateAgents === true || hasOnlyLocalUsers(setup),
    serverRecord: record,
    ...(setup.recordFile === undefined ? {} : { serverRecordFile: getRecordFilePath(setup.recordFile) }),
    ...(token === undefined ? {} : { token }),
    ...(prices && { prices }),
    ...(setup.sessionSecretFile === undefined
      ? {}
      : { sessionSecret: readOrCreateSecret(setup.sessionSecretFile) }),
    ...(setup.cardTrust && { cardTrust: setup.cardTrust }),
  });
  return {
    console: consoleHandler,
    serverOptions: {
      mountedHandlers: [consoleHandler],
      record,
      ...(operatorTokenFile === undefined ? {} : { operator: createOperatorOptions(operatorTokenFile) }),
    },
    renderUrl: (serverUrl) => `${serverUrl}/console/${token === undefined ? "" : `#token=${token}`}`,
  };
}

/** Opens the record that a console shows, in a file or only in memory. */
export function openConsoleRecord(
  name: string,
  file: string | TrafficRecordOptions | undefined,
): TrafficWriter {
  const writerOptions = { vantage: "server", name, code: readPackageVersion() } as const;
  return file === undefined
    ? createTrafficWriter({ write: () => {}, close: () => {} }, writerOptions)
    : openTrafficRecord(file, writerOptions).writer;
}

/**
 * Returns the secret in a file, which only the user can read. Creates the file with a new secret. An interrupted write
 * leaves an empty file, whose content everybody could guess.
 */
function readOrCreateSecret(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  if (statSync(file, { throwIfNoEntry: false })?.size === 0) rmSync(file);
  try {
    writeFileSync(file, randomBytes(32).toString("base64url"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return readFileSync(file, "utf8");
}

/**
 * Returns whether only users of this machine can use the console. A public URL or authentication indicates a proxy, whose
 * users must not reach the private network of this machine.
 */
function hasOnlyLocalUsers({ host, publicUrl, isAuthenticated }: ConsoleSetup): boolean {
  return isLoopbackHost(host) && publicUrl === undefined && !isAuthenticated;
}

function createOperatorOptions(file: string): NonNullable<ServerOptions["operator"]> {
  try {
    return { authenticate: bearer({ tokens: { [readTextFile(file).trim()]: "operator" } }) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw createUsageError(`--operator-token-file ${file}: ${problem}`);
  }
}
