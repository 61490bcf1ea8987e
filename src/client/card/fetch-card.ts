import { A2AError, type AgentCard, type ErrorReason, parseJsonOrUndefined } from "../../protocol/index.ts";
import { createTimeoutError, withDeadline } from "../http/deadline.ts";
import { readBoundedText } from "../http/fetch-without-redirects.ts";
import { type RetryOptions, retrySafeRequest } from "../stream/retry.ts";
import {
  addRetryAfterToError,
  JSON_MEDIA_TYPES,
  limitCardBytes,
  sendRequest,
} from "../transport/send-http-request.ts";
import type { TransportOptions } from "../transport/transport.ts";
import { decodeCard } from "./decode-card.ts";

/** An agent card, and the HTTP metadata that the client needs to revalidate the cached card (RFC 9111). */
export interface FetchedCard {
  readonly card: AgentCard;
  /** The JSON of the agent card, exactly as the server sent it. */
  readonly json: unknown;
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Time when the cached agent card becomes stale, in milliseconds of the monotonic clock. */
  readonly freshUntil: number;
}

/** Calls a function that fetches agent cards, and ends the function at the deadline of `options`. */
export function fetchCardBeforeDeadline<T>(
  { timeoutMs }: CardFetchOptions,
  url: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const createError = (): A2AError =>
    createTimeoutError(`Found no agent card for ${url}`, timeoutMs, "Raise timeouts.connectMs");
  return withDeadline(timeoutMs, signal, createError, work);
}

/** Options for fetching agent cards. */
export interface CardFetchOptions {
  readonly transportOptions: TransportOptions;
  /** Verifies the original JSON of an agent card, and rejects if the card is untrusted. */
  readonly verifyCard: ((card: unknown) => unknown) | undefined;
  readonly retry: RetryOptions;
  /** Maximum time in milliseconds for finding or refreshing an agent card. */
  readonly timeoutMs: number;
  readonly monotonicNow: () => number;
}

/**
 * Fetches the agent card at a URL. If a cached card exists, the function sends a conditional request. The
 * function returns the cached card if the server's card has not changed.
 */
export async function fetchCard(
  { transportOptions, verifyCard, retry, monotonicNow }: CardFetchOptions,
  url: string,
  signal: AbortSignal | undefined,
  cachedCard?: FetchedCard,
): Promise<FetchedCard> {
  const headers: Record<string, string> = {};
  if (cachedCard?.etag) headers["if-none-match"] = cachedCard.etag;
  if (cachedCard?.lastModified) headers["if-modified-since"] = cachedCard.lastModified;
  const requestCard = async (): Promise<Response> => {
    const response = await sendRequest(transportOptions, {
      method: "GET",
      url,
      accept: JSON_MEDIA_TYPES,
      headers,
      signal,
    });
    if (response.ok || (cachedCard && response.status === 304)) return response;
    await response.body?.cancel();
    const reason = CARD_FETCH_ERROR_REASONS_BY_STATUS[response.status] ?? "NOT_FOUND";
    const hint =
      response.status === 401 || response.status === 403
        ? "; if the card requires authentication, set { headers }, or { auth } with a bearer token, a username and password, or an API key"
        : "";
    throw addRetryAfterToError(new A2AError(reason, `HTTP ${response.status}${hint}`), response);
  };
  // A host that does not answer is not retried, because a wrong URL is a more likely cause than a starting
  // server.
  const response = await retrySafeRequest(retry, signal, requestCard, ({ cause }) => cause === undefined);
  const freshUntil = computeFreshUntil(response.headers, monotonicNow());
  if (cachedCard && !response.ok) return { ...cachedCard, freshUntil };
  const json = parseJsonOrUndefined(
    await readBoundedText(limitCardBytes(transportOptions), response, signal),
  );
  const card = await decodeCard(json, url, verifyCard !== undefined, transportOptions.peerLeniency);
  await verifyCard?.(json);
  return {
    card,
    json,
    url,
    etag: response.headers.get("etag"),
    lastModified: response.headers.get("last-modified"),
    freshUntil,
  };
}

/**
 * `A2AError` reasons by HTTP status, for failed agent card requests. Any error status without an entry in
 * `CARD_FETCH_ERROR_REASONS_BY_STATUS` means that no agent card exists at the URL.
 */
const CARD_FETCH_ERROR_REASONS_BY_STATUS: Readonly<Record<number, ErrorReason>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

/**
 * Returns the time when the `max-age` of an agent card expires. An agent card without `max-age` is
 * revalidated on every refresh.
 */
function computeFreshUntil(headers: Headers, now: number): number {
  const cacheControl = headers.get("cache-control") ?? "";
  const maxAge = /\bmax-age=(\d+)/i.exec(cacheControl)?.[1];
  if (maxAge === undefined || /\bno-(?:cache|store)\b/i.test(cacheControl)) return now;
  return now + (Number(maxAge) - Number(headers.get("age") ?? 0)) * 1_000;
}

/**
 * Stores the current agent card of a connection: the public card, or the extended card once the client has
 * fetched it (A2A §3.1.11).
 */
export class AgentCardCache {
  readonly #fetchOptions: CardFetchOptions;
  #publicCard: FetchedCard;
  #extendedCard: AgentCard | undefined;

  constructor(fetchOptions: CardFetchOptions, publicCard: FetchedCard) {
    this.#fetchOptions = fetchOptions;
    this.#publicCard = publicCard;
  }

  get card(): AgentCard {
    return this.#extendedCard ?? this.#publicCard.card;
  }

  get url(): string {
    return this.#publicCard.url;
  }

  /**
   * Replaces the public agent card with the extended agent card. The function verifies the decoded card,
   * because the transport does not keep the original JSON.
   */
  async setExtendedCard(card: AgentCard): Promise<AgentCard> {
    await this.#fetchOptions.verifyCard?.(card);
    this.#extendedCard = card;
    return card;
  }

  /**
   * Returns the current agent card. If the cached copy is stale, the function fetches the public card first
   * (RFC 9111, A2A §8.6.2).
   */
  async refresh(signal: AbortSignal | undefined): Promise<AgentCard> {
    const previous = this.#publicCard;
    if (this.#fetchOptions.monotonicNow() < previous.freshUntil) return this.card;
    this.#publicCard = await fetchCardBeforeDeadline(this.#fetchOptions, previous.url, signal, (deadline) =>
      fetchCard(this.#fetchOptions, previous.url, deadline, previous),
    );
    // The extended card is valid only for the card version that it extends.
    if (this.#publicCard.card.version !== previous.card.version) this.#extendedCard = undefined;
    return this.card;
  }
}
