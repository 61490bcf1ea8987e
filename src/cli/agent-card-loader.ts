import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findCard, type ConnectOptions } from "../client/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import type { CliContext } from "./cli-context.ts";
import { toClientAuthOptions, parseServiceParams } from "./client-auth-options.ts";
import { createDebugLogger } from "./debug-logger.ts";
import { createTextResponse, createNodeFetch } from "./node-fetch.ts";
import type { ClientOptions } from "./client-options.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import { createRedactor } from "./redactor.ts";

/**
 * Which of the words is the agent: none when `--agent-card` names it; else the first, unless the environment names one
 * and the first is no URL.
 */
export function parseAgentArgument(
  words: readonly string[],
  { agentCard }: ClientOptions,
  isFlag: boolean,
): { ref: string; rest: readonly string[] } {
  if (agentCard !== undefined && (isFlag || !/^https?:\/\//i.test(words[0] ?? ""))) {
    return { ref: agentCard, rest: words };
  }
  const [ref, ...rest] = words;
  if (ref !== undefined) return { ref, rest };
  throw createUsageError("Name the agent: its URL as the first argument, or --agent-card.",
    undefined,
  );
}

/** An agent's card, for the commands that want nothing else of it. */
export interface LoadedAgentCard {
  readonly card: AgentCard;
  /** The card's JSON as it was served. */
  readonly servedJson: unknown;
}

export async function loadAgentCard(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<LoadedAgentCard> {
  const { url, ...how } = createConnectOptions(ref, options, context);
  try {
    const { card, json } = await findCard(url, how);
    return { card, servedJson: json };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
}

/** How a card is found, be it at a URL or in a file. */
export function createConnectOptions(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): ConnectOptions & { readonly url: string; readonly signal: AbortSignal } {
  const redact = createRedactor(options);
  const send = createNodeFetch({
    ...(options.insecure ? { verifyCertificates: false } : {}),
    ...(options.debug
      ? { createObserver: () => createDebugLogger((text) => context.streams.err(text), redact) }
      : {}),
  });
  const auth = toClientAuthOptions(options);
  const file = readCardFile(ref);
  return {
    url: file === undefined ? ref : CARD_FILE_URL,
    headers: parseServiceParams(options.svcParam),
    fetch: (input, init) =>
      file !== undefined && input === CARD_FILE_URL
        ? Promise.resolve(createTextResponse(file))
        : send(input, init),
    signal: createAbortSignal(options, context),
    // `fetch` is not there to be instead of gRPC.
    grpc: options.insecure ? { insecure: true } : {},
    ...(auth ? { auth } : {}),
    ...(options.allowClearText ? { allowClearText: true } : {}),
    ...(options.extension ? { extensions: options.extension } : {}),
    ...(options.a2aVersion ? { version: options.a2aVersion } : {}),
  };
}

/** Where the card of a file stands for the client; nothing is ever asked there. */
const CARD_FILE_URL = "http://file.invalid/agent-card.json";

/** The text of a card that is given as `file://…` or as a path; undefined for everything else. */
function readCardFile(ref: string): string | undefined {
  const path = ref.startsWith("file://") ? fileURLToPath(ref) : ref;
  const isFile = path !== ref || (!URL.canParse(ref) && existsSync(ref));
  if (!isFile) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `${ref} cannot be read.`, undefined, error);
  }
}

/**
 * Not `AbortSignal.any` of an `AbortSignal.timeout`: while nobody listens (between two tries, say), both may be collected,
 * and then never fire. A timer holds what it is to abort.
 */
function createAbortSignal(
  { timeout }: ClientOptions,
  { interruptSignal: interrupted }: CliContext,
): AbortSignal {
  if (timeout === undefined || interrupted.aborted) return interrupted;
  const ends = new AbortController();
  const late = (): void => ends.abort(new DOMException("The time of --timeout is over.", "TimeoutError"));
  setTimeout(late, timeout).unref();
  interrupted.addEventListener("abort", () => ends.abort(interrupted.reason), { once: true });
  return ends.signal;
}

export function toCardError(error: unknown, ref: string, url: string): unknown {
  if (!(error instanceof A2AError)) return error;
  if ("clearText" in error.metadata) {
    const hint = "If you trust the network: --allow-clear-text.";
    return new CliError("A2ACLI_ERR_CARD_INVALID", error.message, hint, error);
  }
  if (url === CARD_FILE_URL && error.reason === "INVALID_AGENT_RESPONSE") {
    const why = error.cause instanceof Error ? error.cause.message : error.message;
    return new CliError("A2ACLI_ERR_CARD_INVALID", `${ref} can not be used: ${why}.`, undefined, error);
  }
  const { reason, message } = error;
  if (reason === "NOT_FOUND") return new CliError("A2ACLI_ERR_CARD_NOT_FOUND", message, undefined, error);
  if (reason === "INVALID_PARAMS") return createUsageError(message, undefined, error);
  if (reason !== "INVALID_AGENT_RESPONSE") return error;
  return new CliError("A2ACLI_ERR_CARD_INVALID", message, `curl -i ${ref} shows what answers there.`, error);
}
