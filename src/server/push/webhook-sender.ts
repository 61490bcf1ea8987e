import { setMaxListeners } from "node:events";
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  Agent as HttpAgent,
  type AgentOptions,
} from "node:http";
import { request as httpsRequest, Agent as HttpsAgent } from "node:https";
import type { NotificationSender, DeliveryResult, DeliveryFailure } from "../../webhooks/index.ts";
import { createGuardedLookup } from "./guarded-fetch.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard, createWebhookValidator } from "./webhook-url-guard.ts";
import {
  checkChallengeResponse,
  toDeliveryResult,
  createNotificationSender,
  type WebhookPost,
} from "./notification-sender.ts";
import type { NotificationSignFunction } from "./push-signer.ts";
import type { Duplex } from "node:stream";
import type { Observer, TaskStore } from "../../engine/index.ts";
import { assemblePushService, type PushService } from "./assemble-push-service.ts";
import type { PushOptions } from "../server-options.ts";

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
/**
 * Sends push notifications to webhooks (A2A §4.3.3), and connects only to addresses that the URL guard
 * allows.
 */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #httpAgent = createWebhookAgent(HttpAgent);
  readonly #httpsAgent = createWebhookAgent(HttpsAgent);

  /**
   * Attempts to deliver a push notification, and returns the result. Repeats the attempt once if the webhook
   * had already closed a reused connection.
   */
  readonly deliver: NotificationSender;

  constructor(options: WebhookSenderOptions) {
    const { guard } = options;
    this.#options = options;
    this.deliver = createNotificationSender({
      ...options,
      // Node calls no lookup function for an IP address.
      findUrlViolation: (url) => guard.findUrlViolation(url),
      post: (post, signal) => {
        // Every concurrent delivery adds a listener to this signal.
        setMaxListeners(0, signal);
        return this.#postTwiceIfStale(post, signal);
      },
    });
  }

  /** The receiver may close an idle connection at the moment of its reuse. This does not count as a failure. */
  async #postTwiceIfStale(post: WebhookPost, signal: AbortSignal): Promise<DeliveryResult> {
    const outcome = await this.#post(post, signal);
    if (outcome !== "stale") return outcome;
    const retried = await this.#post(post, signal);
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
    { url: address, owner, body, headers, expectedBody }: WebhookPost,
    signal: AbortSignal,
  ): Promise<DeliveryResult | "stale"> {
    const url = new URL(address);
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
        lookup: createGuardedLookup(this.#options.guard, owner),
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

/**
 * Maximum number of idle connections of a pool. Without this limit, callers with many host names could fill the pool
 * with idle connections, and other deliveries would wait for a connection.
 */
const MAX_IDLE_CONNECTIONS = 256;

const CONNECTION_POOL_OPTIONS: AgentOptions = {
  keepAlive: true,
  maxSockets: 32,
  maxTotalSockets: 512,
  maxFreeSockets: 64,
  timeout: 30_000,
};

/** Creates a pool of connections to webhooks. If too many connections are idle, the pool closes a used connection. */
function createWebhookAgent<A extends HttpAgent>(Agent: new (options: AgentOptions) => A): A {
  const agent = new Agent(CONNECTION_POOL_OPTIONS);
  const keepSocketAlive: (socket: Duplex) => unknown = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => hasRoomForIdleConnection(agent) && Boolean(keepSocketAlive(socket));
  return agent;
}

function hasRoomForIdleConnection({ freeSockets }: HttpAgent): boolean {
  let idleCount = 0;
  for (const sockets of Object.values(freeSockets)) idleCount += sockets?.length ?? 0;
  return idleCount < MAX_IDLE_CONNECTIONS;
}

/** Creates the push service of a server on Node.js, Bun, or Deno, which resolves host names before it connects. */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer,
): PushService | undefined {
  return assemblePushService(options, store, observer, (guard, transportOptions) => {
    const sender = new WebhookSender({ guard, ...transportOptions });
    return {
      deliver: sender.deliver,
      validateWebhook: createWebhookValidator(guard),
      close: () => sender.close(),
    };
  });
}
