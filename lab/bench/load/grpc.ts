import { connect, constants, type ClientHttp2Session } from "node:http2";
import { GRPC_SERVICE_V1 } from "../../../src/wire/grpc/index.ts";
import { formatJobAsMessageText, type BenchmarkJob } from "../benchmark-job.ts";
import { createMessageId, MESSAGE_ID_LENGTH, type ServerEndpoint } from "./request-template.ts";
import { ResponseCounter, type LoadOptions, type ThroughputResult } from "./response-counter.ts";
import {
  findOutcomeFault,
  foldEventsIntoTaskOutcome,
  type TaskOutcome,
  type WireTaskOrUpdate,
} from "./responses.ts";

/** Options for `measureGrpcThroughput`. */
export interface GrpcThroughputOptions extends LoadOptions {
  readonly request: GrpcJobRequest;
  /** Text that every response must contain. */
  readonly expectedText: string;
}

/** A gRPC call that sends a job to an agent. */
export interface GrpcJobRequest {
  readonly endpoint: ServerEndpoint;
  readonly operation: "SendMessage" | "SendStreamingMessage";
  readonly job: BenchmarkJob;
}

/** Measures the throughput of gRPC calls that `node:http2` sends and receives as bytes. */
export async function measureGrpcThroughput({
  request,
  expectedText,
  ...load
}: GrpcThroughputOptions): Promise<ThroughputResult> {
  const connections = Array.from({ length: load.connections }, () => new GrpcConnection(request));
  const counter = new ResponseCounter<Buffer>(load);
  const runConnection = async (connection: GrpcConnection): Promise<void> => {
    for (;;) {
      const isSampled = counter.countRequest();
      const startedAt = performance.now();
      const response = await connection.call().catch((error: unknown) => String(error));
      if (typeof response === "string") return counter.recordFailedRequest(response);
      const latencyMs = performance.now() - startedAt;
      if (!counter.recordLatencyAndSample(latencyMs, isSampled ? response : undefined)) return;
    }
  };
  await counter.waitForConnectionsOrTimeout(connections.map(runConnection));
  for (const connection of connections) connection.close();
  const codec = GRPC_SERVICE_V1.methods[request.operation]!.response;
  const decode = (body: Buffer): TaskOutcome =>
    foldEventsIntoTaskOutcome(
      splitGrpcMessages(body).map(
        (message) => codec.decode(message.subarray(PREFIX_LENGTH)) as WireTaskOrUpdate,
      ),
    );
  return counter.summarizeThroughput({
    findFault: (body) => findOutcomeFault(() => decode(body), expectedText),
    countEvents: (body) => decode(body).eventCount,
  });
}

/** Sends one call and returns the messages of the response with their prefixes, as latin1 texts that IPC can transfer. */
export async function sendOneGrpcCall(request: GrpcJobRequest): Promise<string[]> {
  const connection = new GrpcConnection(request);
  const body = await connection.call();
  connection.close();
  return splitGrpcMessages(body).map((message) => message.toString("latin1"));
}

/** Returns the path of an operation. */
export function getGrpcPath(operation: GrpcJobRequest["operation"]): string {
  return GRPC_SERVICE_V1.methods[operation]!.path;
}

/** Length of the compression flag and of the message length in front of each message. */
const PREFIX_LENGTH = 5;

function splitGrpcMessages(body: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = at + PREFIX_LENGTH + body.readUInt32BE(at + 1);
    messages.push(body.subarray(at, end));
    at = end;
  }
  return messages;
}

/** An HTTP/2 connection with one call in flight at a time. */
class GrpcConnection {
  readonly #session: ClientHttp2Session;
  readonly #headers: Record<string, string>;
  readonly #requestBytes: Buffer;
  readonly #messageIdOffset: number;

  constructor({ endpoint: { host, port }, operation, job }: GrpcJobRequest) {
    const { path, request } = GRPC_SERVICE_V1.methods[operation]!;
    this.#session = connect(`http://${host}:${port}`);
    // A lost connection also fails its call, which reports the error.
    this.#session.on("error", () => {});
    this.#headers = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "a2a-version": "1.0",
    };
    const messageId = "0".repeat(MESSAGE_ID_LENGTH);
    const encoded = request.encode({
      message: { messageId, role: "ROLE_USER", parts: [{ text: formatJobAsMessageText(job) }] },
    });
    this.#requestBytes = Buffer.concat([Buffer.alloc(PREFIX_LENGTH), encoded]);
    this.#requestBytes.writeUInt32BE(encoded.length, 1);
    this.#messageIdOffset = this.#requestBytes.indexOf(messageId);
  }

  /** Sends the call with a new message id, and resolves with the body of the response. */
  call(): Promise<Buffer> {
    const request = Buffer.from(this.#requestBytes);
    request.write(createMessageId(), this.#messageIdOffset, "latin1");
    return new Promise((resolve, reject) => {
      const stream = this.#session.request(this.#headers);
      const chunks: Buffer[] = [];
      let status: unknown;
      const readStatus = (headers: Readonly<Record<string, unknown>>): void => {
        status ??= headers["grpc-status"];
      };
      stream.on("response", readStatus);
      stream.on("trailers", readStatus);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("error", reject);
      stream.on("close", () =>
        status === "0" ? resolve(Buffer.concat(chunks)) : reject(new Error(`gRPC status ${String(status)}`)),
      );
      stream.end(request);
    });
  }

  close(): void {
    this.#session.destroy(undefined, constants.NGHTTP2_NO_ERROR);
  }
}
