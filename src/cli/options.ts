import { InvalidArgumentError, Option, type Command } from "commander";
import type { ClientBinding } from "../client/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import type { Format } from "./output.ts";

/** The options of every command that talks to an agent. */
export interface ClientOptions {
  agentCard?: string;
  output: Format;
  bearer?: string;
  apiKey?: string;
  basic?: string;
  oauthClient?: string;
  oauthIssuer?: string;
  extension?: string[];
  svcParam?: Record<string, string>;
  transport?: ClientBinding[];
  a2aVersion?: "1.0" | "0.3";
  allowClearText?: boolean;
  timeout?: number;
  debug?: boolean;
}

const BINDINGS: Record<string, ClientBinding> = {
  jsonrpc: "JSONRPC",
  "http+json": "HTTP+JSON",
  rest: "HTTP+JSON",
  grpc: "GRPC",
};

/** Each option's variable is `A2ACLI_` and its name (a2a-cli SPEC §7.2), so that one setup serves every A2A tool. */
export function addClientOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "-a, --agent-card <ref>",
        "in place of <agent>: host, URL of it or of its card, or a card file",
      ).env("A2ACLI_AGENT_CARD"),
    )
    .addOption(outputOption())
    .addOption(new Option("--bearer <token>", "bearer token to authenticate with").env("A2ACLI_BEARER"))
    .addOption(new Option("--api-key <key>", "API key to authenticate with").env("A2ACLI_API_KEY"))
    .addOption(
      new Option("--basic <name:password>", "name and password to authenticate with").env("A2ACLI_BASIC"),
    )
    .addOption(
      new Option(
        "--oauth-client <id:secret>",
        "OAuth 2.0 client to get a token for, as the card says where",
      ).env("A2ACLI_OAUTH_CLIENT"),
    )
    .addOption(
      new Option("--oauth-issuer <url>", "the server that the client's secret is for").env(
        "A2ACLI_OAUTH_ISSUER",
      ),
    )
    .addOption(new Option("--extension <uri>", "an extension that you speak; repeatable").argParser(oneMore))
    .addOption(
      new Option("--svc-param <k:v>", "add a service parameter (an HTTP header); repeatable").argParser(
        keyValue,
      ),
    )
    .addOption(
      new Option(
        "--transport <binding>",
        "preferred binding: jsonrpc, rest or grpc; repeatable, first is best",
      ).argParser(binding),
    )
    .addOption(
      new Option("--a2a-version <version>", "speak this version of A2A only").choices(["1.0", "0.3"]),
    )
    .addOption(
      new Option("--allow-clear-text", "send credentials also where the card names a host without TLS").env(
        "A2ACLI_ALLOW_CLEAR_TEXT",
      ),
    )
    .addOption(
      new Option("--timeout <duration>", "give up after this long, for example 30s or 5m")
        .env("A2ACLI_TIMEOUT")
        .argParser(duration),
    )
    .option("--debug", "log requests to stderr");
}

export function outputOption(): Option {
  return new Option("-o, --output <format>", "text, or json: the protocol's own types")
    .choices(["text", "json"])
    .default("text")
    .env("A2ACLI_OUTPUT");
}

export function pollIntervalOption(): Option {
  return new Option("--poll-interval <duration>", "how often to look again while waiting")
    .env("A2ACLI_POLL_INTERVAL")
    .argParser(duration)
    .default(2000, "2s");
}

/** Milliseconds from `500ms`, `30s`, `5m`, `1h`, or a plain number of seconds. */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  if (!match) throw new InvalidArgumentError("Write it as 500ms, 30s, 5m or 1h.");
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return Number(match[1]) * (units[match[2] ?? "s"] as number);
}

export function count(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function jsonObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError(`It must be a JSON object, for example '{"key":"value"}'.`);
}

function keyValue(text: string, previous: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf(":");
  if (at < 1) throw new InvalidArgumentError("Write it as key:value.");
  return { ...previous, [text.slice(0, at).trim()]: text.slice(at + 1).trim() };
}

/** For options that may be repeated. */
export function oneMore(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text];
}

function binding(text: string, previous: ClientBinding[] = []): ClientBinding[] {
  const known = BINDINGS[text.toLowerCase()];
  if (!known) throw new InvalidArgumentError("Known are jsonrpc, rest and grpc.");
  return [...previous, known];
}
