import type { LookupAddress, LookupOptions } from "node:dns";
import { setMaxListeners } from "node:events";
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import type {
  NotificationSender,
  DeliveryResult,
  DeliveryFailure,
  WebhookNotification,
} from "../../engine/index.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard } from "./webhook-url-guard.ts";
import { encodeNotification } from "./notification-payload.ts";
import type { NotificationSignFunction } from "./push-signer.ts";

export interface WebhookSenderOptions {
  readonly guard: WebhookUrlGuard;
  /** How long an attempt may take until it is answered, in milliseconds (A2A §4.3.3: 10 to 30 s). */
  readonly timeoutMs: number;
  /** How much of that until there is a connection, the look-up of its name included. Default 5,000. */
  readonly connectTimeoutMs?: number;
  readonly sign?: NotificationSignFunction | undefined;
}

/** An answer is worth its status; of its body no more is read than keeps the connection usable. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const CONNECTION_POOL_OPTIONS = {
  keepAlive: true,
  maxSockets: 32,
  maxTotalSockets: 512,
  maxFreeSockets: 64,
  timeout: 30_000,
};

/** Posts notifications to webhooks (A2A §4.3.3): one attempt each, to addresses that the guard lets through. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #httpAgent = new HttpAgent(CONNECTION_POOL_OPTIONS);
  readonly #httpsAgent = new HttpsAgent(CONNECTION_POOL_OPTIONS);
  readonly #lookup: LookupFunction;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    this.#lookup = createGuardedLookup(options.guard);
  }

  readonly deliver: NotificationSender = async (notification, signal) => {
    const { guard, sign } = this.#options;
    const { config } = notification.webhook;
    // Node does not ask for the address of a host that is one, and rules may have changed since the registration.
    const wrong = guard.findUrlViolation(config.url);
    if (wrong !== undefined)
      return { ok: false, isPermanent: true, reason: new WebhookNotAllowedError(wrong).message };
    const { body, headers } = encodeNotification(notification);
    const signature = sign ? await sign(body, notification) : {};
    const post = { body, headers: { ...signature, ...headers, ...buildNotificationHeaders(notification) } };
    // As many deliveries listen to it as are under way at once.
    setMaxListeners(0, signal);
    const url = new URL(config.url);
    const outcome = await this.#post(url, post, signal);
    if (outcome !== "stale") return outcome;
    // A connection that was kept may be closed just when it is used again; that is nobody's failure.
    const again = await this.#post(url, post, signal);
    return again === "stale" ? { ok: false, reason: "The receiver cuts its connections." } : again;
  };

  /** Ends the connections that are kept. */
  close(): void {
    this.#httpAgent.destroy();
    this.#httpsAgent.destroy();
  }

  #post(
    url: URL,
    { body, headers }: { body: string; headers: Record<string, string> },
    signal: AbortSignal,
  ): Promise<DeliveryResult | "stale"> {
    const { timeoutMs, connectTimeoutMs: connectMs = 5000 } = this.#options;
    const [request, agent] =
      url.protocol === "https:" ? [httpsRequest, this.#httpsAgent] : [httpRequest, this.#httpAgent];
    const length = String(Buffer.byteLength(body));
    return new Promise((resolve) => {
      const posted: ClientRequest = request(url, {
        method: "POST",
        agent,
        signal,
        lookup: this.#lookup,
        headers: { ...headers, "content-length": length },
      });
      const timer = setTimeout(
        () => posted.destroy(new DeliveryTimeoutError("answer", timeoutMs)),
        timeoutMs,
      );
      // One that answers slowly is worth its time; where nobody is, others wait for the place.
      const connecting = setTimeout(
        () => posted.destroy(new DeliveryTimeoutError("take the connection", connectMs)),
        connectMs,
      );
      const connected = (): void => clearTimeout(connecting);
      posted.on("socket", (socket) => {
        if (posted.reusedSocket) connected();
        else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", connected);
      });
      posted.on("close", () => {
        clearTimeout(timer);
        clearTimeout(connecting);
        // Without an answer or an error when the receiver changes the protocol (101).
        resolve({ ok: false, reason: "The receiver closed the connection without an answer." });
      });
      posted.on("response", (answer) => {
        resolve(toDeliveryOutcome(answer));
        drainResponse(answer);
      });
      posted.on("error", (error: NodeJS.ErrnoException) => {
        const stale = posted.reusedSocket && error.code === "ECONNRESET";
        resolve(stale ? "stale" : toDeliveryFailure(error));
      });
      posted.end(body);
    });
  }
}

/**
 * Name resolution for connections that asks the guard: a connection is made to an address that was judged, and to no
 * other.
 */
function createGuardedLookup(guard: WebhookUrlGuard): LookupFunction {
  return (hostname, options, callback) => void lookUpAllowedAddresses(guard, hostname, options, callback);
}

async function lookUpAllowedAddresses(
  guard: WebhookUrlGuard,
  hostname: string,
  { all, family }: LookupOptions,
  callback: Parameters<LookupFunction>[2],
): Promise<void> {
  let found: LookupAddress[];
  try {
    const addresses = await guard.resolveAllowedAddresses(hostname);
    found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  } catch (error) {
    callback(error as NodeJS.ErrnoException, "");
    return;
  }
  const wanted = found.filter((one) => !family || family === one.family || family === `IPv${one.family}`);
  const [first] = wanted;
  if (!first) callback(new Error(`${hostname} has no address of that kind`), "");
  else if (all) callback(null, wanted);
  else callback(null, first.address, first.family);
}

/** By what a receiver knows a notification: who sends it, as the webhook's owner has laid down, and which one it is. */
function buildNotificationHeaders({
  webhook: { taskId, config },
  event,
}: WebhookNotification): Record<string, string> {
  const { token, authentication } = config;
  const { scheme = "", credentials } = authentication ?? {};
  return {
    // So that a receiver can tell a notification that comes again from a new one.
    "x-a2a-notification-id": `${encodeURIComponent(taskId)}:${event.seq}`,
    ...(token ? { "x-a2a-notification-token": token } : {}),
    ...(credentials ? { authorization: `${scheme} ${credentials}` } : {}),
  };
}

function toDeliveryOutcome({ statusCode = 0, headers }: IncomingMessage): DeliveryResult {
  if (statusCode >= 200 && statusCode < 300) return { ok: true };
  const retryAfterMs = parseRetryAfter(headers["retry-after"], Date.now());
  const moved = statusCode >= 300 && statusCode < 400 ? "; redirects are not followed" : "";
  return {
    ok: false,
    reason: `The receiver answered HTTP ${statusCode}${moved}.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    // Gone: its way to say that nobody wants to hear of it any more.
    ...(statusCode === 410 ? { isPermanent: true } : {}),
  };
}

/** Seconds or a date (RFC 9110 §10.2.3), in milliseconds from `now`. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const ms = Date.parse(value) - now;
  return ms > 0 ? ms : undefined;
}

class DeliveryTimeoutError extends Error {
  constructor(what: string, ms: number) {
    super(`The receiver did not ${what} within ${ms} ms.`);
  }
}

function toDeliveryFailure(error: NodeJS.ErrnoException): DeliveryFailure {
  if (error instanceof WebhookNotAllowedError) return { ok: false, isPermanent: true, reason: error.message };
  if (error instanceof DeliveryTimeoutError) return { ok: false, reason: error.message };
  return { ok: false, reason: `The receiver can not be reached: ${error.code ?? error.message}.` };
}

function drainResponse(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) answer.destroy();
  });
  // Cut short, by us or by the receiver: its status was all we wanted.
  answer.on("error", () => {});
}
