import * as grpc from "@grpc/grpc-js";
import { GRPC_SERVICE_V1 } from "../../../src/grpc/index.ts";
import { formatJobAsMessageText, type BenchmarkJob } from "../benchmark-job.ts";
import {
  findOutcomeFault,
  foldEventsIntoTaskOutcome,
  type TaskOutcome,
  type WireTaskOrUpdate,
} from "./task-outcome.ts";
import { createMessageId, MESSAGE_ID_LENGTH, type ServerEndpoint } from "./request-template.ts";
import { ResponseCounter, type LoadOptions, type ThroughputResult } from "./response-counter.ts";

/** Options for `measureGrpcThroughput`. */
export interface GrpcThroughputOptions extends LoadOptions {
  readonly request: GrpcBenchmarkJobRequest;
  /** Text that every response must contain. */
  readonly expectedText: string;
}

/** A gRPC call that sends a job to an agent. */
export interface GrpcBenchmarkJobRequest {
  readonly endpoint: ServerEndpoint;
  readonly operation: "SendMessage" | "SendStreamingMessage";
  readonly job: BenchmarkJob;
}

/**
 * Measures the throughput of gRPC calls that grpc-js sends and receives as bytes. grpc-js costs a multiple of
 * the HTTP load generator, equally for every system, so the CPU time of the systems should be compared, too.
 */
export async function measureGrpcThroughput({
  request,
  expectedText,
  ...load
}: GrpcThroughputOptions): Promise<ThroughputResult> {
  const connections = Array.from({ length: load.connections }, () => new GrpcConnection(request));
  const counter = new ResponseCounter<Buffer[]>(load);
  const runConnection = async (connection: GrpcConnection): Promise<void> => {
    for (;;) {
      const isSampled = counter.countRequest();
      const startedAt = performance.now();
      const response = await connection.callAndCollectMessages().catch((error: unknown) => String(error));
      if (typeof response === "string") return counter.recordFailedRequest(response);
      const latencyMs = performance.now() - startedAt;
      if (!counter.recordLatencyAndSample(latencyMs, isSampled ? response : undefined)) return;
    }
  };
  await counter.waitForConnectionsOrTimeout(connections.map(runConnection));
  for (const connection of connections) connection.close();
  const codec = GRPC_SERVICE_V1.methods[request.operation]!.response;
  const decode = (messages: Buffer[]): TaskOutcome =>
    foldEventsIntoTaskOutcome(messages.map((binary) => codec.decode(binary) as WireTaskOrUpdate));
  return counter.summarizeThroughput({
    findFault: (messages) => findOutcomeFault(() => decode(messages), expectedText),
    countEvents: (messages) => decode(messages).eventCount,
  });
}

const MESSAGE_ID_PLACEHOLDER = "0".repeat(MESSAGE_ID_LENGTH);

/** A connection with one call in flight at a time. */
class GrpcConnection {
  readonly #client: grpc.Client;
  readonly #path: string;
  readonly #isStreaming: boolean;
  readonly #requestBytes: Buffer;
  readonly #messageIdOffset: number;

  constructor({ endpoint: { host, port }, operation, job }: GrpcBenchmarkJobRequest) {
    const method = GRPC_SERVICE_V1.methods[operation]!;
    this.#client = new grpc.Client(`${host}:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#path = method.path;
    this.#isStreaming = method.isStreaming;
    const message = {
      messageId: MESSAGE_ID_PLACEHOLDER,
      role: "ROLE_USER",
      parts: [{ text: formatJobAsMessageText(job) }],
    };
    this.#requestBytes = Buffer.from(method.request.encode({ message }));
    this.#messageIdOffset = this.#requestBytes.indexOf(MESSAGE_ID_PLACEHOLDER);
  }

  /** Sends the call and resolves with all messages of the response. */
  callAndCollectMessages(): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      if (!this.#isStreaming) {
        this.#client.makeUnaryRequest(
          this.#path,
          returnBytesUnchanged,
          returnBytesUnchanged,
          this.#buildNextRequest(),
          A2A_VERSION_METADATA,
          (error, answer) => (answer ? resolve([answer]) : reject(error!)),
        );
        return;
      }
      const messages: Buffer[] = [];
      this.#client
        .makeServerStreamRequest(
          this.#path,
          returnBytesUnchanged,
          returnBytesUnchanged,
          this.#buildNextRequest(),
          A2A_VERSION_METADATA,
        )
        .on("data", (message: Buffer) => messages.push(message))
        .on("error", reject)
        .on("end", () => resolve(messages));
    });
  }

  close(): void {
    this.#client.close();
  }

  /** Builds the request with a new message id. */
  #buildNextRequest(): Buffer {
    const request = Buffer.from(this.#requestBytes);
    request.write(createMessageId(), this.#messageIdOffset, "latin1");
    return request;
  }
}

const A2A_VERSION_METADATA = new grpc.Metadata();
A2A_VERSION_METADATA.set("a2a-version", "1.0");

function returnBytesUnchanged(bytes: Buffer): Buffer {
  return bytes;
}
