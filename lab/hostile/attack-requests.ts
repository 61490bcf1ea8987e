import { once } from "node:events";
import { request as sendHttpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { AttackTarget } from "./attack.ts";

/** A request of an attacker, with defaults of a JSON-RPC request over A2A 1.0. */
export interface AttackRequest {
  /** Default: POST. */
  readonly method?: string;
  /** Path of the request. Default: the path of the agent `echo`. */
  readonly path?: string;
  /** Headers in addition to Content-Type and A2A-Version, which the defaults set. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Body as text or bytes, or a value that is sent as JSON. */
  readonly body?: unknown;
  /** Value of the Authorization header, such as `target.credentials.stranger`. Default: no header. */
  readonly authorization?: string;
  /** Local address of the attacker. Default: the first of `target.attackerAddresses`. */
  readonly localAddress?: string;
}

export interface AttackResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly durationMs: number;
}

/** Sends a request from an address of the attacker, on a connection of its own, and reads the whole response. */
export async function sendAttackRequest(
  target: AttackTarget,
  attackRequest: AttackRequest,
): Promise<AttackResponse> {
  const { method = "POST", body, authorization, localAddress = target.attackerAddresses[0] } = attackRequest;
  const { path = getAgentPath(target, "echo") } = attackRequest;
  const startedAt = performance.now();
  const outgoing = sendHttpRequest({
    host: target.host,
    port: target.port,
    method,
    path,
    agent: false,
    signal: target.signal,
    ...(localAddress === undefined ? {} : { localAddress }),
    headers: {
      "content-type": "application/json",
      "a2a-version": "1.0",
      ...(authorization === undefined ? {} : { authorization }),
      ...attackRequest.headers,
    },
  });
  outgoing.end(encodeAttackBody(body));
  const [incoming] = (await once(outgoing, "response")) as [IncomingMessage];
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    body: await text(incoming),
    durationMs: performance.now() - startedAt,
  };
}

/** Opens a TCP connection from an address of the attacker. Errors of the connection are ignored. */
export async function openAttackSocket(
  target: AttackTarget,
  { localAddress = target.attackerAddresses[0], port = target.port }: AttackSocketOptions = {},
): Promise<Socket> {
  const socket = connect({
    host: target.host,
    port,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  await once(socket, "connect");
  socket.on("error", () => {});
  return socket;
}

export interface AttackSocketOptions {
  readonly localAddress?: string;
  /** Default: the port of the HTTP listener. */
  readonly port?: number;
}

/** Returns a JSON-RPC request with a text message to an agent. */
export function createSendMessageBody(
  text: string,
  message: Readonly<Record<string, unknown>> = {},
  configuration?: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return {
    jsonrpc: "2.0",
    id: 1,
    method: "SendMessage",
    params: {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...message },
      ...(configuration ? { configuration } : {}),
    },
  };
}

/** Returns the URL path of an agent. */
export function getAgentPath({ agentUrls }: AttackTarget, agentId: string): string {
  const url = agentUrls[agentId];
  if (url === undefined) throw new Error(`the attacked server has no agent ${agentId}`);
  return new URL(url).pathname;
}

function encodeAttackBody(body: unknown): string | Uint8Array {
  if (body === undefined) return "";
  return typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
}
