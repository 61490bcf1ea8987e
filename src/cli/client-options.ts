import { addOptionRows } from "./option-rows.ts";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { ClientBindingName } from "../client/index.ts";
import { isObject, type JsonObject, parseJsonOrUndefined } from "../protocol/index.ts";
import type { OutputFormat } from "./output-writer.ts";

/** Options shared by all commands that contact an agent. */
export interface ClientOptions {
  agentCard?: string;
  output: OutputFormat;
  stream?: boolean;
  verbose?: boolean;
  bearer?: string;
  apiKey?: string;
  basic?: string;
  oauthClient?: string;
  oauthIssuer?: string;
  clientCert?: string;
  clientKey?: string;
  extension?: string[];
  svcParam?: string[];
  transport?: ClientBindingName[];
  a2aVersion?: "1.0" | "0.3";
  insecure?: boolean;
  allowClearText?: boolean;
  trustOrigin?: string[];
  timeout?: number;
  config?: string;
  record?: string;
  debug?: boolean;
}

const BINDINGS_BY_NAME: ReadonlyMap<string, ClientBindingName> = new Map([
  ["jsonrpc", "JSONRPC"],
  ["http+json", "HTTP+JSON"],
  ["rest", "HTTP+JSON"],
  ["grpc", "GRPC"],
]);

const CLIENT_OPTION_ROWS = `
--stream  show events as they happen; with -o json, one line per event
--verbose  show all details in text output: ids, media types, and metadata (default: concise)
--bearer <token>  bearer token to authenticate with
--api-key <key>  API key to authenticate with
--basic <name:password>  name and password to authenticate with
--oauth-client <id:secret>  OAuth 2.0 client for getting a token from the server in the card; without a secret only for auth login
--oauth-issuer <url>  the authorization server that the client secret belongs to
--client-cert <file>  TLS client certificate to authenticate with (PEM)
--client-key <file>  private key of the client certificate (PEM)
--extension <uri>  an extension that you support; repeatable
--svc-param <k:v>  add a service parameter (an HTTP header, or gRPC metadata); repeatable
--transport <binding>  preferred binding: jsonrpc, rest or grpc; repeatable, first is best (default: the order of the agent's card)
--a2a-version <version>  use only this version of A2A (default: 1.0, or 0.3 if the card offers only 0.3)
--insecure  accept any TLS certificate, for development (default: they are verified)
--allow-clear-text  also send credentials to hosts without TLS
--trust-origin <url>  also send credentials to this origin if a card names it; repeatable (default: only to the card's origin)
--timeout <duration>  stop waiting after this time, for example 30s or 5m (default: never)
--config <path>  settings file (A2ACLI_BEARER=…) that replaces the nearest .env
--record <file>  append the traffic to this file, without credentials; colloquy trace show reads it
--debug  log requests and responses to stderr, without credentials`;

const CLIENT_OPTION_VALUES = {
  "a2a-version": ["1.0", "0.3"],
  extension: appendCommaList,
  "svc-param": (text: string, previous: string[] = []) => [...previous, ...text.split("\n")],
  timeout: parseDuration,
  transport: appendBindings,
  "trust-origin": appendCommaList,
};

/**
 * Adds the options that all client commands share. Variables can also set the client options (see
 * `settings.ts`).
 */
export function addClientOptions(command: Command): Command {
  command
    .option(
      "-a, --agent-card <ref>",
      "replaces <agent>: a host, the URL of the agent or of its card, or a card file",
    )
    .addOption(createOutputOption());
  return addOptionRows(command, CLIENT_OPTION_ROWS, { values: CLIENT_OPTION_VALUES }).addHelpText(
    "after",
    `
Each option except --stream can also be set as a variable: --agent-card is A2ACLI_AGENT_CARD.
Precedence: flag, environment, nearest .env (or --config), ~/.config/a2a-cli/.env, default.
A credential in a flag is seen in the list of processes and in the shell's history. Prefer A2ACLI_BEARER,
A2ACLI_API_KEY, A2ACLI_BASIC, or A2ACLI_OAUTH_CLIENT.`,
  );
}

export function createOutputOption(): Option {
  return new Option("-o, --output <format>", "text, or json with the protocol's own types")
    .choices(["text", "json"])
    .default("text");
}

export function createPollIntervalOption(): Option {
  return new Option("--poll-interval <duration>", "time between two polls while waiting")
    .argParser(parseDuration)
    .default(2000, "2s");
}

/** Parses a number of days. */
export function parseDays(value: string): number {
  const days = Number(value);
  if (value.trim() !== "" && Number.isFinite(days) && days >= 0) return days;
  throw new InvalidArgumentError("Pass a number of days, such as 30.");
}

/** Longest delay of a timer in Node.js. A longer timer would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Parses a duration such as `500ms`, `30s`, `5m`, or `1h`, or a plain number of seconds. Returns
 * milliseconds, at most the longest delay of a timer, about 24 days.
 */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (!match) throw new InvalidArgumentError("Use a duration such as 500ms, 30s, 5m, or 1h.");
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return Math.min(Number(match[1]) * (units[match[2] ?? "s"] as number), MAX_TIMER_MS);
}

export function parsePort(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) {
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  }
  return number;
}

export function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function parseJsonObject(text: string): JsonObject {
  const value = parseJsonOrUndefined(text);
  if (isObject(value)) return value;
  throw new InvalidArgumentError(`It must be a JSON object, for example '{"key":"value"}'.`);
}

/** Parses one occurrence of a repeatable command-line option. */
export function appendValue(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text];
}

/**
 * Parses one occurrence of a repeatable option with comma-separated values. An environment variable can
 * therefore contain several values for the option.
 */
export function appendCommaList(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), ...text.split(",").map((one) => one.trim())];
}

function appendBindings(text: string, previous: ClientBindingName[] = []): ClientBindingName[] {
  return [
    ...previous,
    ...appendCommaList(text, undefined).map((name) => {
      const known = BINDINGS_BY_NAME.get(name.toLowerCase());
      if (!known) throw new InvalidArgumentError("Allowed values are jsonrpc, rest, and grpc.");
      return known;
    }),
  ];
}
