import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { GRPC_SERVICE_V1 } from "../../wire/grpc/index.ts";
import type { OperationName } from "../../protocol/index.ts";

/** The end of a call. `httpStatus` differs from 200 if the reply is not gRPC. */
export interface RawGrpcOutcome {
  readonly httpStatus: number | undefined;
  readonly grpcStatus: number | undefined;
  readonly message: string;
  readonly resetCode: number | undefined;
}

/** An HTTP/2 client that controls what it sends in each call, and when. */
export class RawGrpcClient {
  readonly socket: Socket;
  readonly session: ClientHttp2Session;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;

  constructor(
    port: number,
    { initialWindowSize, localAddress }: { initialWindowSize?: number; localAddress?: string } = {},
  ) {
    const socket = connectSocket({
      host: "127.0.0.1",
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
    });
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    this.session = connect(`http://127.0.0.1:${port}`, {
      createConnection: () => socket,
      ...(initialWindowSize === undefined ? {} : { settings: { initialWindowSize } }),
    });
    this.session.on("error", () => {});
  }

  /** Starts a call, and sends only its headers. A header with the value `undefined` removes a default. */
  start(operation: OperationName, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    const stream = this.session.request({
      ":method": "POST",
      ":path": GRPC_SERVICE_V1.methods[operation]?.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    stream.on("error", () => {});
    return stream;
  }

  /** Sends a complete request, and resolves when the call has ended. */
  call(operation: OperationName, request: object, headers?: OutgoingHttpHeaders): Promise<RawGrpcOutcome> {
    const stream = this.start(operation, headers);
    const outcome = readOutcome(stream);
    stream.end(encodeRawGrpcMessage(operation, request));
    return outcome;
  }

  close(): void {
    this.session.destroy();
  }
}

/** Reads a response to its end. */
export async function readOutcome(stream: ClientHttp2Stream): Promise<RawGrpcOutcome> {
  let received: Record<string, unknown> = {};
  stream.on("response", (headers) => (received = { ...received, ...headers }));
  stream.on("trailers", (headers) => (received = { ...received, ...headers }));
  stream.resume();
  // An error precedes the end of the stream, and `rstCode` describes it.
  if (!stream.destroyed) await new Promise((resolve) => stream.once("close", resolve));
  const { ":status": httpStatus, "grpc-status": grpcStatus, "grpc-message": message = "" } = received;
  return {
    httpStatus: httpStatus === undefined ? undefined : Number(httpStatus),
    grpcStatus: grpcStatus === undefined ? undefined : Number(grpcStatus),
    message: decodeURI(String(message)),
    resetCode: stream.rstCode,
  };
}

export function encodeRawGrpcPrefix(size: number, compressed = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(compressed);
  prefix.writeUInt32BE(size, 1);
  return prefix;
}

export function encodeRawGrpcMessage(operation: OperationName, request: object): Buffer {
  const message = GRPC_SERVICE_V1.methods[operation]!.request.encode(request);
  return Buffer.concat([encodeRawGrpcPrefix(message.length), message]);
}

/** Encodes the HEADERS frame that starts a call of ListTasks as stream 1, and does not end the stream. */
export function encodeRawGrpcHeaders(): Buffer {
  const path = Buffer.from(GRPC_SERVICE_V1.methods.ListTasks?.path ?? "");
  const contentType = Buffer.from("application/grpc");
  const authority = Buffer.from("localhost");
  const methodAndScheme = [0x83, 0x86];
  const block = [
    Buffer.from([...methodAndScheme, 0x01, authority.length]),
    authority,
    Buffer.from([0x04, path.length]),
    path,
    Buffer.from([0x0f, 0x10, contentType.length]),
    contentType,
  ];
  return encodeHttp2Frame(1, 4, 1, Buffer.concat(block));
}

/** Encodes an HTTP/2 frame. */
export function encodeHttp2Frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(streamId, 5);
  return Buffer.concat([header, payload]);
}
