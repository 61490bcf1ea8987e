import {
  givenKeys,
  KeysUnavailable,
  NotVerified,
  remoteKeys,
  verifyJwt,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type KeySet,
} from "../keys/index.ts";
import { A2AError, type StreamResponse } from "../protocol/index.ts";
import { v0_3, v1 } from "../wire/index.ts";

/** A notification that is to be believed. */
export interface PushNotification {
  readonly taskId: string;
  /** What happened; from a server of 0.3 the whole task, as what happened has left it. */
  readonly event: StreamResponse;
  readonly version: "1.0" | "0.3";
  /** The same whenever the same notification comes; undefined from servers that number none. */
  readonly id: string | undefined;
}

/** Whom to believe: everything that is given here must hold. */
export interface PushReceiverOptions extends FetchKeysOptions {
  /** The `token` of the configuration, which comes back in `X-A2A-Notification-Token`. */
  readonly token?: string;
  /** What the configuration's `authentication` says, as one finds it in the header: `Bearer secret`. */
  readonly authorization?: string;
  /** The sender signs: its public keys, or the HTTPS URL where it has them (`…/.well-known/jwks.json`). */
  readonly jwks?: string | JSONWebKeySet;
  /** The `iss` of the signatures. Default: any. */
  readonly issuer?: string;
  /** The webhook's URL as it was registered. Default: the URL of the request, which is another one behind some proxies. */
  readonly audience?: string;
  /** Believe anybody who posts. Default false: one of `token`, `authorization` and `jwks` is needed. */
  readonly allowUnauthenticated?: boolean;
  /** True for a task that notifications are expected of. Others are answered 404, and come again. Default: any. */
  readonly isExpected?: (taskId: string) => boolean | Promise<boolean>;
  /** Told of what was refused, and of what `handle` throws. */
  readonly onError?: (error: unknown) => void;
  /** Largest body, in bytes. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Notifications taken in at once; beyond that the sender is told to wait. Default 100. */
  readonly atOnce?: number;
}

/** Ids that are remembered, so that what comes again is told from what is new. */
const MAX_REMEMBERED = 10_000;
/** How old a signature without an end of its own may be, in seconds. */
const MAX_AGE = 300;

/**
 * A webhook for push notifications (A2A §4.3.3), for whatever serves `Request` and `Response`. `handle` is called once
 * for each notification, in the order in which the sender sends them; the answer is a success only when it is done, so
 * that what it throws at comes again.
 */
export function pushReceiver(
  options: PushReceiverOptions,
  handle: (notification: PushNotification) => unknown,
): (request: Request) => Promise<Response> {
  const { token, authorization, jwks, allowUnauthenticated = false } = options;
  if (!token && !authorization && !jwks && !allowUnauthenticated) {
    throw new Error(
      "A push receiver that believes everybody can be told anything; give token, authorization or jwks, or say allowUnauthenticated: true.",
    );
  }
  const receiver = new Receiver(options, handle);
  return (request) => receiver.answer(request);
}

/** An answer that is no success. `message` is for the receiver's log; the sender, who may be anybody, sees the status. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}

class Receiver {
  readonly #options: PushReceiverOptions;
  readonly #handle: (notification: PushNotification) => unknown;
  readonly #keys: KeySet | undefined;
  readonly #done = new Set<string>();
  readonly #underWay = new Map<string, Promise<void>>();
  #taken = 0;

  constructor(options: PushReceiverOptions, handle: (notification: PushNotification) => unknown) {
    const { jwks } = options;
    this.#options = options;
    this.#handle = handle;
    this.#keys = typeof jwks === "string" ? remoteKeys(jwks, options) : jwks && givenKeys(jwks);
  }

  async answer(request: Request): Promise<Response> {
    if (this.#taken >= (this.#options.atOnce ?? 100))
      return new Response(null, { status: 503, headers: { "retry-after": "1" } });
    this.#taken++;
    try {
      await this.#take(request);
      return new Response(null, { status: 204 });
    } catch (error) {
      this.#options.onError?.(error);
      return new Response(null, { status: error instanceof Refused ? error.status : 500 });
    } finally {
      this.#taken--;
    }
  }

  async #take(request: Request): Promise<void> {
    if (request.method !== "POST")
      throw new Refused(405, `A notification is posted, not sent by ${request.method}.`);
    // First what can be told without reading, so that strangers cost little.
    await this.#checkSecrets(request.headers);
    const body = await bytesOf(request, this.#options.maxBytes ?? 10 * 1024 * 1024);
    if (this.#keys) await this.#checkSignature(request, body, this.#keys);
    const notification = read(request.headers, body);
    const { isExpected } = this.#options;
    if (isExpected && !(await isExpected(notification.taskId)))
      throw new Refused(404, `No notification of task ${notification.taskId} is expected.`);
    await this.#once(notification);
  }

  async #checkSecrets(headers: Headers): Promise<void> {
    const { token, authorization } = this.#options;
    if (token && !(await isSame(headers.get("x-a2a-notification-token") ?? "", token)))
      throw new Refused(401, "The notification does not have the token of its webhook.");
    if (authorization && !(await isSame(normal(headers.get("authorization") ?? ""), normal(authorization))))
      throw new Refused(401, "The notification does not have the authorization of its webhook.");
  }

  /** The signature is a JWT over the body's hash, in a header of its own or as a bearer token. */
  async #checkSignature(request: Request, body: Uint8Array<ArrayBuffer>, keys: KeySet): Promise<void> {
    const { headers } = request;
    const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const jwt = headers.get("x-a2a-notification-signature") ?? bearer;
    if (!jwt) throw new Refused(401, "The notification is not signed.");
    const { issuer, audience = request.url, now } = this.#options;
    try {
      const claims = await verifyJwt(jwt, keys, {
        requiredClaims: ["iat", "aud"],
        audience,
        maxAge: MAX_AGE,
        ...(issuer === undefined ? {} : { issuer }),
        ...(now ? { now } : {}),
      });
      if (claims["request_body_sha256"] !== (await sha256(body)))
        throw new NotVerified("The signature is over another body.");
    } catch (error) {
      if (error instanceof KeysUnavailable) throw new Refused(503, error.message, error);
      if (error instanceof NotVerified) throw new Refused(401, error.message, error);
      throw error;
    }
  }

  /** Has each notification handled once, also when it comes again before that is done. */
  async #once(notification: PushNotification): Promise<void> {
    const { id } = notification;
    if (id === undefined) {
      await this.#handle(notification);
      return;
    }
    if (this.#done.has(id)) return;
    const known = this.#underWay.get(id);
    if (known) return await known;
    const handling = (async (): Promise<void> => void (await this.#handle(notification)))();
    this.#underWay.set(id, handling);
    try {
      await handling;
      this.#remember(id);
    } finally {
      this.#underWay.delete(id);
    }
  }

  #remember(id: string): void {
    this.#done.add(id);
    if (this.#done.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#done) {
      this.#done.delete(oldest);
      break;
    }
  }
}

/** The notification in a body, in words of 1.0 whatever it is written in. */
function read(headers: Headers, body: Uint8Array): PushNotification {
  const id = headers.get("x-a2a-notification-id") ?? undefined;
  try {
    const json: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    if (typeof json === "object" && json !== null && "kind" in json) {
      const task = v0_3.decodeResult("GetTask", json);
      return { taskId: task.id, event: { task }, version: "0.3", id };
    }
    const event = v1.decodeResult("SubscribeToTask", json);
    const taskId = taskIdOf(event);
    if (taskId === undefined) throw new Refused(400, "The notification belongs to no task.");
    return { taskId, event, version: "1.0", id };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new Refused(400, "The notification is not JSON.", error);
    if (error instanceof A2AError) throw new Refused(400, error.message, error);
    throw error;
  }
}

function taskIdOf(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  if ("artifactUpdate" in event) return event.artifactUpdate.taskId;
  return event.message.taskId;
}

async function bytesOf(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > max) throw new Refused(413, `The notification is larger than ${max} bytes.`);
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** An authorization whose scheme is written as it may be written (RFC 9110 §11.1). */
function normal(authorization: string): string {
  const [scheme = "", ...rest] = authorization.trim().split(" ");
  return [scheme.toLowerCase(), ...rest].join(" ");
}

/** Compares digests, whose common beginnings tell nobody how far a guess was right. */
async function isSame(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([a, b].map((text) => sha256(new TextEncoder().encode(text))));
  return one === other;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
