import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ClientTimeouts,
  type ConnectOptions,
  findCard,
  getInterfaceOrigin,
  parseAgentUrl,
} from "../client/index.ts";
import type { Redactor } from "../observe/logging/index.ts";
import { A2AError, type AgentCard } from "../protocol/index.ts";
import type { CardSource } from "./catalog-entry.ts";
import type { CliContext } from "./cli-context.ts";
import { CliError, createUsageError } from "./cli-error.ts";
import { parseServiceParams, toClientAuthOptions } from "./client-auth-options.ts";
import type { ClientOptions } from "./client-options.ts";
import { createOptionsRedactor } from "./credential-redactor.ts";
import { isLocalPath } from "./is-local-path.ts";
import {
  createFetchResponseFromText,
  createLightweightFetch,
  type FetchObserver,
} from "./lightweight-fetch.ts";

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

/** Agent card with the origin that logins belong to, and the options of the requests. */
export interface LoadedAgentCard extends AgentCardWithServedJson {
  readonly origin: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** Options of `connect` and `findCard` for an agent reference. */
type AgentConnectOptions = ConnectOptions & {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly fetch: typeof fetch;
};

export async function loadAgentCard(
  ref: string,
  options: ClientOptions,
  context: CliContext,
): Promise<LoadedAgentCard> {
  const { url, ...how } = await createConnectOptions(ref, options, context);
  try {
    const { card, json } = await findCard(url, how);
    const origin =
      url === CARD_TEXT_PLACEHOLDER_URL && card.supportedInterfaces[0]
        ? getInterfaceOrigin(card.supportedInterfaces[0])
        : parseAgentUrl(url).origin;
    return { card, servedJson: json, origin, fetch: how.fetch, signal: how.signal };
  } catch (error) {
    throw toCardError(error, ref, url);
  }
}

/**
 * Builds the options of `connect` and `findCard` from the command-line options. The agent card may be at a
 * URL, in a file, or in a catalog. `listLoginSecrets` returns further secrets that no log may contain.
 */
export async function createConnectOptions(
  ref: string,
  options: ClientOptions,
  context: CliContext,
  listLoginSecrets: () => readonly string[] = () => [],
): Promise<AgentConnectOptions> {
  const clientCertificate = readClientCertificate(options);
  const send = withDeclaredCredentials(
    createLightweightFetch({
      ...(options.insecure ? { verifyCertificates: false } : {}),
      clientCertificate,
      ...(options.debug ? createDebugObservers(options, context, listLoginSecrets) : {}),
    }),
  );
  const signal = createTimeoutAndInterruptSignal(options, context);
  const request = { fetch: send, signal, timeouts: chooseTimeouts(options) };
  const auth = toClientAuthOptions(options);
  const source = await findCardSource(ref, options, request);
  const text = "text" in source ? source.text : undefined;
  return {
    ...request,
    url: "url" in source ? source.url : CARD_TEXT_PLACEHOLDER_URL,
    headers: parseServiceParams(options.svcParam),
    fetch: (input, init) =>
      text !== undefined && input === CARD_TEXT_PLACEHOLDER_URL
        ? Promise.resolve(createFetchResponseFromText(text))
        : send(input, init),
    // Sets these options separately because the gRPC transport does not use `fetch`.
    grpc: { ...(options.insecure ? { insecure: true } : {}), ...clientCertificate },
    ...(auth ? { auth } : {}),
    ...(options.allowClearText ? { allowClearText: true } : {}),
    trustedOrigins: "text" in source ? source.trustedOrigins : (options.trustOrigin ?? []),
    ...(options.extension ? { extensions: options.extension } : {}),
    ...(options.a2aVersion ? { version: options.a2aVersion } : {}),
  };
}

function readClientCertificate({
  clientCert,
  clientKey,
}: ClientOptions): { cert: string; key: string } | undefined {
  if (clientCert === undefined && clientKey === undefined) return undefined;
  if (clientCert === undefined || clientKey === undefined)
    throw createUsageError("A client certificate needs both --client-cert and --client-key.");
  const [cert, key] = [clientCert, clientKey].map((file) => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      throw createUsageError(`${file} cannot be read.`, undefined, error);
    }
  });
  return { cert: cert as string, key: key as string };
}

/** Finds the agent card of a reference. `<host>#<name>` is an agent in the catalog of a host. */
async function findCardSource(
  ref: string,
  options: ClientOptions,
  request: Pick<ConnectOptions, "fetch" | "signal" | "timeouts">,
): Promise<CardSource> {
  const text = readCardFile(ref);
  // A card file has no origin, and the user has chosen the file.
  if (text !== undefined) return { text, trustedOrigins: "any" };
  const hash = ref.indexOf("#");
  if (hash < 0) return { url: ref };
  const { findCatalogEntry } = await import("./catalog-entry.ts");
  try {
    return await findCatalogEntry(ref.slice(0, hash), ref.slice(hash + 1), options, request);
  } catch (error) {
    throw toCardError(error, ref, ref);
  }
}

function createDebugObservers(
  options: ClientOptions,
  { streams }: CliContext,
  listLoginSecrets: () => readonly string[],
): Pick<NonNullable<Parameters<typeof createLightweightFetch>[0]>, "createObserver"> {
  // A login can get another token between two requests.
  const createObserver = (): FetchObserver =>
    createDebugLogger((text) => streams.err(text), createOptionsRedactor(options, listLoginSecrets()));
  return { createObserver };
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

/** Placeholder URL for an agent card from a file or a catalog. The client never sends a request to the placeholder URL. */
export const CARD_TEXT_PLACEHOLDER_URL = "http://file.invalid/agent-card.json";

/**
 * Returns the text of an agent card file from a `file://…` URL or a path, or `undefined` for other
 * references.
 */
function readCardFile(ref: string): string | undefined {
  const path = ref.startsWith("file://") ? fileURLToPath(ref) : ref;
  const isFile = path !== ref || (isLocalPath(ref, /\.json$/i) && existsSync(ref));
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
  if (url === CARD_TEXT_PLACEHOLDER_URL && error.reason === "INVALID_AGENT_RESPONSE") {
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

/**
 * Creates an observer that logs the request, response, outcome, and duration of each HTTP exchange for
 * `--debug`. The logger redacts complete lines, because a credential may be split across two chunks.
 */
function createDebugLogger(err: (text: string) => void, redactor: Redactor): FetchObserver {
  const began = performance.now();
  const decoder = new TextDecoder();
  let requestLine = "";
  let line = "";
  const log = (text: string): void => err(`debug: ${redactor.redactText(text)}\n`);
  const elapsedMs = (): number => Math.round(performance.now() - began);
  return {
    onRequest(method, url, headers, body) {
      requestLine = `${method} ${url.href}`;
      log(`> ${requestLine}`);
      for (const [name, value] of Object.entries(redactor.redactHeaders(Object.fromEntries(headers))))
        err(`debug: > ${name}: ${redactor.redactText(value)}\n`);
      if (body !== "") log(`> ${body}`);
    },
    onResponse(status, contentType) {
      log(`${requestLine}: ${status} in ${elapsedMs()} ms (${contentType})`);
    },
    onChunk(chunk) {
      const lines = (line + decoder.decode(chunk, { stream: true })).split("\n");
      line = lines.pop() ?? "";
      for (const completeLine of lines) if (completeLine !== "") log(`< ${completeLine}`);
    },
    onResponseEnd() {
      if (line !== "") log(`< ${line}`);
    },
    onError(error) {
      log(`${requestLine}: ${String(error)} in ${elapsedMs()} ms`);
    },
  };
}

/**
 * Wraps `fetch` so that a card endpoint gets only credentials of schemes that it has declared (a2a-cli SPEC §12.4). The
 * client reads a card without credentials first. After a response with status 401, the client repeats the request with
 * the credentials of the user, and this function removes those that the `WWW-Authenticate` header of the response does
 * not accept.
 */
function withDeclaredCredentials(send: typeof fetch): typeof fetch {
  const schemesByUrl = new Map<string, ReadonlySet<string>>();
  return async (input, init = {}) => {
    if ((init.method ?? "GET") !== "GET" || typeof input !== "string") return await send(input, init);
    const schemes = schemesByUrl.get(input);
    const headers = Object.entries((init.headers ?? {}) as Record<string, string>).filter(
      ([name, value]) => !schemes || isDeclared(name, value, schemes),
    );
    const response = await send(input, { ...init, headers: Object.fromEntries(headers) });
    if (response.status === 401)
      schemesByUrl.set(input, parseSchemes(response.headers.get("www-authenticate") ?? ""));
    return response;
  };
}

function isDeclared(name: string, value: string, schemes: ReadonlySet<string>): boolean {
  if (name === "authorization") return schemes.has((value.split(" ")[0] ?? "").toLowerCase());
  return name !== "x-api-key" || schemes.has("apikey");
}

/** Returns the names of the schemes in a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
function parseSchemes(challenge: string): ReadonlySet<string> {
  const names = challenge
    .replaceAll(/"[^"]*"/g, "")
    .split(",")
    .map((part) => /^[\w!#$%&'*+.^`|~-]+(?=\s|$)/.exec(part.trim())?.[0].toLowerCase());
  return new Set(names.filter((name) => name !== undefined));
}
