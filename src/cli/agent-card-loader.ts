import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ClientTimeouts, findCard, type ConnectOptions } from "../client/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { toClientAuthOptions, parseServiceParams } from "./client-auth-options.ts";
import { createDebugLogger } from "./debug-logger.ts";
import { createFetchResponseFromText, createLightweightFetch } from "./lightweight-fetch.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import { isLocalPath } from "./is-local-path.ts";
import { createOptionsRedactor } from "./credential-redactor.ts";

/**
 * Splits the positional arguments into the agent reference and the remaining arguments. If the command line
 * contains `--agent-card`, its value is the agent reference, and all positional arguments belong to the
 * command. If a setting, and not the command line, defines `--agent-card`, a URL as the first argument
 * overrides the setting.
 */
export function splitAgentRefFromArguments(
  words: readonly string[],
  { agentCard }: ClientOptions,
  isFlag: boolean,
): { ref: string; rest: readonly string[] } {
  if (agentCard !== undefined && (isFlag || !/^https?:\/\//i.test(words[0] ?? ""))) {
    return { ref: agentCard, rest: words };
  }
  const [ref, ...rest] = words;
  if (ref !== undefined) return { ref, rest };
  throw createUsageError(
    "No agent is named. Pass its URL as the first argument, or use --agent-card.",
    undefined,
  );
}

/** Agent card that a command uses without connecting to the agent. */
export interface AgentCardWithServedJson {
  readonly card: AgentCard;
  /** JSON of the agent card exactly as the server sent it. */
  readonly servedJson: unknown;
  /** Absent, because reading a card holds no resources. */
  readonly close?: never;
}

export async function loadAgentCard(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<AgentCardWithServedJson> {
  const { url, ...how } = createConnectOptions(ref, options, context);
  try {
    const { card, json } = await findCard(url, how);
    return { card, servedJson: json };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
}

/**
 * Builds the options of `connect` and `findCard` from the command-line options. The agent card may be at a
 * URL or in a file.
 */
export function createConnectOptions(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): ConnectOptions & { readonly url: string; readonly signal: AbortSignal } {
  const send = createLightweightFetch({
    ...(options.insecure ? { verifyCertificates: false } : {}),
    ...(options.debug ? createDebugObservers(options, context) : {}),
  });
  const auth = toClientAuthOptions(options);
  const file = readCardFile(ref);
  return {
    url: file === undefined ? ref : CARD_FILE_PLACEHOLDER_URL,
    headers: parseServiceParams(options.svcParam),
    fetch: (input, init) =>
      file !== undefined && input === CARD_FILE_PLACEHOLDER_URL
        ? Promise.resolve(createFetchResponseFromText(file))
        : send(input, init),
    signal: createTimeoutAndInterruptSignal(options, context),
    timeouts: chooseTimeouts(options),
    // Sets this option separately because the gRPC transport does not use `fetch`.
    grpc: options.insecure ? { insecure: true } : {},
    ...(auth ? { auth } : {}),
    ...(options.allowClearText ? { allowClearText: true } : {}),
    // A card file has no origin, and the user has chosen the file.
    trustedOrigins: file === undefined ? (options.trustOrigin ?? []) : "any",
    ...(options.extension ? { extensions: options.extension } : {}),
    ...(options.a2aVersion ? { version: options.a2aVersion } : {}),
  };
}

function createDebugObservers(
  options: ClientOptions,
  { streams }: CliContext,
): Pick<NonNullable<Parameters<typeof createLightweightFetch>[0]>, "createObserver"> {
  const redactor = createOptionsRedactor(options);
  return { createObserver: () => createDebugLogger((text) => streams.err(text), redactor) };
}

/**
 * Chooses the deadlines of calls. `--timeout` ends the command, so no call ends earlier. Without `--timeout`, a call that
 * waits for the agent's turn has no deadline, because the user can end the command with Ctrl-C.
 */
function chooseTimeouts({ timeout }: ClientOptions): ClientTimeouts {
  return timeout === undefined
    ? { sendMs: Infinity }
    : { connectMs: Infinity, sendMs: Infinity, callMs: Infinity };
}

/** Placeholder URL for an agent card from a file. The client never sends a request to the placeholder URL. */
const CARD_FILE_PLACEHOLDER_URL = "http://file.invalid/agent-card.json";

/**
 * Returns the text of an agent card file from a `file://…` URL or a path, or `undefined` for other
 * references.
 */
function readCardFile(ref: string): string | undefined {
  const path = ref.startsWith("file://") ? fileURLToPath(ref) : ref;
  const isFile = path !== ref || (!URL.canParse(ref) && isLocalPath(ref, /\.json$/i) && existsSync(ref));
  if (!isFile) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `${ref} cannot be read.`, undefined, error);
  }
}

/**
 * Creates a signal that aborts on Ctrl-C or after `--timeout`. The function does not combine
 * `AbortSignal.any` and `AbortSignal.timeout`, because Node can garbage-collect these signals if they have no
 * listeners. The timer holds a reference to the abort controller, so the timeout always aborts the signal.
 */
function createTimeoutAndInterruptSignal(
  { timeout }: ClientOptions,
  { interruptSignal }: CliContext,
): AbortSignal {
  if (timeout === undefined || interruptSignal.aborted) return interruptSignal;
  const controller = new AbortController();
  const onTimeout = (): void =>
    controller.abort(new DOMException("The time limit of --timeout expired.", "TimeoutError"));
  setTimeout(onTimeout, timeout).unref();
  interruptSignal.addEventListener("abort", () => controller.abort(interruptSignal.reason), { once: true });
  return controller.signal;
}

export function toCardError(error: unknown, ref: string, url: string): unknown {
  if (!(error instanceof A2AError)) return error;
  if ("clearText" in error.metadata) {
    const hint = "If you trust the network, pass --allow-clear-text.";
    return new CliError("A2ACLI_ERR_CARD_INVALID", error.message, hint, error);
  }
  if ("untrustedOrigin" in error.metadata) {
    const hint = `If you trust that agent, pass --trust-origin ${error.metadata["untrustedOrigin"]}.`;
    return new CliError("A2ACLI_ERR_CARD_INVALID", error.message, hint, error);
  }
  if (url === CARD_FILE_PLACEHOLDER_URL && error.reason === "INVALID_AGENT_RESPONSE") {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    return new CliError("A2ACLI_ERR_CARD_INVALID", `${ref} cannot be used: ${why}.`, undefined, error);
  }
  const { reason, message } = error;
  if (reason === "NOT_FOUND") return new CliError("A2ACLI_ERR_CARD_NOT_FOUND", message, undefined, error);
  if (reason === "INVALID_PARAMS")
    return createUsageError(message, existsSync(ref) ? `To read the file, pass ./${ref}.` : undefined, error);
  if (reason !== "INVALID_AGENT_RESPONSE") return error;
  return new CliError("A2ACLI_ERR_CARD_INVALID", message, `Run curl -i ${ref} to see the response.`, error);
}
