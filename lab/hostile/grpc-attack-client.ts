import { once } from "node:events";
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { GRPC_SERVICE_V1 } from "../../src/wire/grpc/index.ts";
import type { JsonObject, OperationName } from "../../src/protocol/index.ts";
import type { AttackedServerSetup, AttackTarget } from "./attack.ts";

/** Set-up of an attacked server that also serves gRPC. */
export function setUpGrpcServer(): AttackedServerSetup {
  return { listen: { grpc: true } };
}

/** An HTTP/2 connection of an attacker to the gRPC listener. Errors of the connection and its calls are ignored. */
export class GrpcAttackConnection {
  readonly socket: Socket;
  readonly session: ClientHttp2Session;
  readonly #authorization: string | undefined;

  private constructor(socket: Socket, session: ClientHttp2Session, authorization: string | undefined) {
    this.socket = socket;
    this.session = session;
    this.#authorization = authorization;
  }

  /** Opens a connection from an address of the attacker. `addressIndex` selects one of several addresses. */
  static async open(
    target: AttackTarget,
    { authorization, addressIndex = 0, initialWindowSize }: GrpcAttackConnectionOptions = {},
  ): Promise<GrpcAttackConnection> {
    const { host, port } = getGrpcAddress(target);
    const localAddress = target.attackerAddresses[addressIndex % target.attackerAddresses.length];
    const socket = connectSocket({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
    socket.on("error", () => {});
    await once(socket, "connect");
    const session = connect(`http://${host}:${port}`, {
      createConnection: () => socket,
      maxSessionMemory: 1_000,
      ...(initialWindowSize === undefined ? {} : { settings: { initialWindowSize } }),
    });
    session.on("error", () => {});
    return new GrpcAttackConnection(socket, session, authorization);
  }

  /** Starts a call, or returns `undefined` if the server has closed the connection. */
  startCall(operation: OperationName, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream | undefined {
    if (this.session.destroyed || this.session.closed) return undefined;
    const stream = this.session.request({
      ":method": "POST",
      ":path": GRPC_SERVICE_V1.methods[operation]?.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
      ...headers,
    });
    stream.on("error", () => {});
    return stream;
  }

  /** Calls a unary method, and resolves with the status and the decoded response. */
  async callUnary(operation: OperationName, request: JsonObject): Promise<GrpcAttackReply> {
    const stream = this.startCall(operation);
    if (!stream) return { status: undefined, response: undefined };
    let status: string | undefined;
    const chunks: Buffer[] = [];
    stream.on("response", (headers) => (status = readGrpcStatus(headers) ?? status));
    stream.on("trailers", (headers) => (status = readGrpcStatus(headers) ?? status));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.end(encodeGrpcAttackMessage(operation, request));
    if (!stream.destroyed) await once(stream, "close");
    const body = Buffer.concat(chunks).subarray(5);
    const codec = GRPC_SERVICE_V1.methods[operation]!.response;
    return { status, response: body.length > 0 ? codec.decode(body) : undefined };
  }

  destroy(): void {
    this.session.destroy();
  }
}

interface GrpcAttackConnectionOptions {
  /** Value of the Authorization header of each call. Default: no header. */
  readonly authorization?: string;
  /** Index of the local address. Default: 0. */
  readonly addressIndex?: number;
  /** Number of response bytes that the server may send before the attacker reads. Default: 65,535. */
  readonly initialWindowSize?: number;
}

interface GrpcAttackReply {
  /** Numeric gRPC status, or `undefined` if the server reset the call. */
  readonly status: string | undefined;
  readonly response: JsonObject | undefined;
}

/** Waits until a call has a status, and returns the status. Returns `reset` if the server reset the call. */
export async function waitForGrpcStatus(stream: ClientHttp2Stream): Promise<string> {
  let status: string | undefined;
  stream.on("response", (headers) => (status = readGrpcStatus(headers) ?? status));
  stream.on("trailers", (headers) => (status = readGrpcStatus(headers) ?? status));
  stream.resume();
  if (!stream.destroyed) await once(stream, "close");
  return status ?? "reset";
}

/** Returns the prefix of a message of the given size. */
export function encodeGrpcMessagePrefix(size: number, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compressed);
  prefix.writeUInt32BE(size, 1);
  return prefix;
}

/** Encodes a request with its prefix. */
export function encodeGrpcAttackMessage(operation: OperationName, request: JsonObject): Buffer {
  const message = GRPC_SERVICE_V1.methods[operation]!.request.encode(request);
  return Buffer.concat([encodeGrpcMessagePrefix(message.length), message]);
}

/** Returns a request that sends a text message to the default agent, or to another agent. */
export function createGrpcSendRequest(text: string, agentId?: string): JsonObject {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  return { message, ...(agentId === undefined ? {} : { tenant: agentId }) };
}

function readGrpcStatus(headers: Readonly<Record<string, unknown>>): string | undefined {
  const status = headers["grpc-status"];
  return typeof status === "string" ? status : undefined;
}

function getGrpcAddress({ grpc }: AttackTarget): { readonly host: string; readonly port: number } {
  if (!grpc) throw new Error("the attacked server has no gRPC listener; set listen.grpc in setUpServer");
  return grpc;
}

/** Returns the problems of a victim's call during an attack: it must succeed. */
export async function findGrpcVictimProblems(target: AttackTarget): Promise<string[]> {
  // The victim calls from its own address.
  const victim = await GrpcAttackConnection.open(
    { ...target, attackerAddresses: ["127.0.0.1"] },
    { authorization: target.credentials.victim },
  );
  const startedAt = performance.now();
  const { status } = await victim.callUnary("SendMessage", createGrpcSendRequest("hello"));
  victim.destroy();
  const durationMs = performance.now() - startedAt;
  if (status !== "0") return [`another caller's gRPC call has the status ${status}`];
  return durationMs > 1_000 ? [`another caller's gRPC call took ${Math.round(durationMs)} ms`] : [];
}
