import { setMaxListeners } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { LruCache } from "../../data-structures/index.ts";
import {
  getWebhookOwner,
  type NotificationSender,
  type DeliveryResult,
  type DeliveryFailure,
} from "../../webhooks/index.ts";
import { createGuardedLookup } from "./guarded-lookup.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard } from "./webhook-url-guard.ts";
import { checkChallengeResponse, createChallenge } from "./webhook-challenge.ts";
import { WebhookHttpAgent, WebhookHttpsAgent } from "./webhook-connection-pool.ts";
import { toDeliveryResult } from "./delivery-result.ts";
import { buildNotificationHeaders, encodeNotification } from "./notification-payload.ts";
import type { NotificationSignFunction } from "./push-signer.ts";

/** Options for `WebhookSender`. */
export interface WebhookSenderOptions {
  readonly guard: WebhookUrlGuard;
  /**
   * Maximum time in milliseconds that a webhook has to respond to a delivery attempt. A2A §4.3.3 recommends a
   * timeout of 10 to 30 s.
   */
  readonly timeoutMs: number;
  /** Maximum time in milliseconds for the DNS lookup and the connection to a webhook. Default: 5,000. */
  readonly connectTimeoutMs?: number;
  readonly sign?: NotificationSignFunction | undefined;
  /** Whether a receiver must confirm a webhook before its first notification. Default: false. */
  readonly challenge?: boolean;
}

/**
 * Maximum number of bytes that the sender reads from a webhook's response. The sender ignores the response
 * body, but must read the body to reuse the connection.
 */
const MAX_RESPONSE_BYTES = 64 * 1024;
/** A request to a webhook. */
interface WebhookPost {
  readonly lookup: LookupFunction;
  readonly body: string;
  readonly headers: Record<string, string>;
  /** Body that the response must have. By default, the sender ignores the body. */
  readonly expectedBody?: string;
}

/** Maximum number of confirmed webhooks that the sender remembers. */
const MAX_CONFIRMED_WEBHOOKS = 10_000;

/**
 * Sends push notifications to webhooks (A2A §4.3.3), and connects only to addresses that the URL guard
 * allows.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  /** Owners and URLs of the webhooks that their receivers have confirmed. */
  readonly #confirmed = new LruCache<true>(MAX_CONFIRMED_WEBHOOKS);
  readonly #httpAgent = new WebhookHttpAgent();
  readonly #httpsAgent = new WebhookHttpsAgent();

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /**
   * Attempts to deliver a push notification, and returns the result. Repeats the attempt once if the webhook
   * had already closed a reused connection.
   */
  readonly deliver: NotificationSender = async (notification, signal) => {
    const { guard, sign, challenge = false } = this.#options;
    const { config, scope } = notification.webhook;
    // Node calls no lookup function for an IP address, and the rules may have changed since the registration.
    const violation = guard.findUrlViolation(config.url);
    if (violation !== undefined)
      return { ok: false, isPermanent: true, reason: new WebhookNotAllowedError(violation).message };
    const { body, headers } = encodeNotification(notification);
    const signature = sign ? await sign(body, notification) : {};
    const owner = getWebhookOwner(scope);
    const lookup = createGuardedLookup(guard, owner);
    const webhookHeaders = buildNotificationHeaders(notification);
    const post = { lookup, body, headers: { ...signature, ...headers, ...webhookHeaders } };
    // Every concurrent delivery adds a listener to this signal.
    setMaxListeners(0, signal);
    const url = new URL(config.url);
    if (challenge && !this.#confirmed.get(`${config.url} ${owner}`)) {
      const confirmation = await this.#postTwiceIfStale(
        url,
        { lookup, ...createChallenge(webhookHeaders) },
        signal,
      );
      if (!confirmation.ok) return confirmation;
      this.#confirmed.set(`${config.url} ${owner}`, true);
    }
    return await this.#postTwiceIfStale(url, post, signal);
  };

  /** The receiver may close an idle connection at the moment of its reuse. This does not count as a failure. */
  async #postTwiceIfStale(url: URL, post: WebhookPost, signal: AbortSignal): Promise<DeliveryResult> {
    const outcome = await this.#post(url, post, signal);
    if (outcome !== "stale") return outcome;
    const retried = await this.#post(url, post, signal);
    return retried === "stale"
      ? { ok: false, reason: "The receiver closes its connections early." }
      : retried;
  }

  /** Closes all idle connections to webhooks. */
  close(): void {
    this.#httpAgent.destroy();
    this.#httpsAgent.destroy();
  }

  #post(
    url: URL,
    { lookup, body, headers, expectedBody }: WebhookPost,
    signal: AbortSignal,
  ): Promise<DeliveryResult | "stale"> {
    const { timeoutMs, connectTimeoutMs = 5000 } = this.#options;
    const [sendRequest, agent] =
      url.protocol === "https:" ? [httpsRequest, this.#httpsAgent] : [httpRequest, this.#httpAgent];
    const length = String(Buffer.byteLength(body));
    return new Promise((resolve) => {
      let isCheckingResponse = false;
      const request: ClientRequest = sendRequest(url, {
        method: "POST",
        agent,
        signal,
        lookup,
        headers: { ...headers, "content-length": length },
      });
      const timer = setTimeout(
        () => request.destroy(new DeliveryTimeoutError("respond", timeoutMs)),
        timeoutMs,
      );
      // A receiver without a connection occupies a delivery slot, so this timeout is shorter than the
      // response timeout.
      const connectTimer = setTimeout(
        () => request.destroy(new DeliveryTimeoutError("accept the connection", connectTimeoutMs)),
        connectTimeoutMs,
      );
      const onConnected = (): void => clearTimeout(connectTimer);
      request.on("socket", (socket) => {
        if (request.reusedSocket) onConnected();
        else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", onConnected);
      });
      request.on("close", () => {
        clearTimeout(timer);
        clearTimeout(connectTimer);
        // A switch of protocols (status 101) ends in this event, without a response or an error.
        if (!isCheckingResponse)
          resolve({ ok: false, reason: "The receiver closed the connection without a response." });
      });
      request.on("response", (response) => {
        const result = toDeliveryResult(response.statusCode ?? 0, response.headers["retry-after"]);
        if (expectedBody === undefined || !result.ok) {
          resolve(result);
          drainResponse(response);
          return;
        }
        isCheckingResponse = true;
        void checkChallengeResponse(response, expectedBody).then(resolve);
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && error.code === "ECONNRESET";
        resolve(stale ? "stale" : toDeliveryFailureFromError(error));
      });
      request.end(body);
    });
  }
}

class DeliveryTimeoutError extends Error {
  constructor(action: string, ms: number) {
    super(`The receiver did not ${action} within ${ms} ms.`);
  }
}

function toDeliveryFailureFromError(error: NodeJS.ErrnoException): DeliveryFailure {
  if (error instanceof WebhookNotAllowedError) return { ok: false, isPermanent: true, reason: error.message };
  if (error instanceof DeliveryTimeoutError) return { ok: false, reason: error.message };
  return { ok: false, reason: `The receiver is not reachable: ${error.code ?? error.message}.` };
}

function drainResponse(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) response.destroy();
  });
  // The body may end early. This does not matter, because only the status is used.
  response.on("error", () => {});
}
