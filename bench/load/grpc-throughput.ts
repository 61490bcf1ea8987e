import * as grpc from "@grpc/grpc-js";
import { GRPC_SERVICE_V1 } from "../../src/grpc/index.ts";
import { formatJob, type BenchmarkJob } from "../job.ts";
import { findOutcomeFault, foldResults, type WireResult } from "./task-outcome.ts";
import type { ServerEndpoint } from "./request-template.ts";
import { SAMPLE_INTERVAL, summarizeLatencies, type ThroughputResult } from "./http-measurements.ts";

/** Many calls at once for a while, over as many connections. */
export interface GrpcThroughputOptions {
  readonly request: GrpcJobRequest;
  readonly connections: number;
  /** Not counted. */
  readonly rampUpMs: number;
  readonly durationMs: number;
  /** The text that every answer must amount to. */
  readonly expectedText: string;
}

/** A call that gives an agent a job. */
export interface GrpcJobRequest {
  readonly endpoint: ServerEndpoint;
  readonly operation: "SendMessage" | "SendStreamingMessage";
  readonly job: BenchmarkJob;
}

/**
 * Calls as grpc-js makes them, with bytes in and bytes out. That costs a multiple of what the HTTP generator does, and the
 * same for every subject: compare the CPU time of the subjects, too.
 */
export async function measureGrpcThroughput({
  request,
  connections,
  rampUpMs,
  durationMs,
  expectedText,
}: GrpcThroughputOptions): Promise<ThroughputResult> {
  const connectionList = Array.from({ length: connections }, () => new GrpcConnection(request));
  const latencies: number[] = [];
  const samples: Buffer[][] = [];
  const faults: string[] = [];
  const begin = performance.now() + rampUpMs;
  const end = begin + durationMs;
  let sentRequests = 0;
  let completed = 0;
  const runConnection = async (connection: GrpcConnection): Promise<void> => {
    for (;;) {
      const isSampled = sentRequests < connections || sentRequests % SAMPLE_INTERVAL === 0;
      sentRequests++;
      const startedAt = performance.now();
      const answer = await connection.call().catch((error: unknown) => String(error));
      const now = performance.now();
      if (now > end) return;
      if (typeof answer === "string") {
        faults.push(answer);
        return;
      }
      completed++;
      if (now > begin) latencies.push(now - startedAt);
      if (isSampled) samples.push(answer);
    }
  };
  await Promise.race([Promise.all(connectionList.map(runConnection)), sleep(rampUpMs + durationMs + 50)]);
  for (const connection of connectionList) connection.close();
  const decodeResults = (messages: readonly Buffer[]): WireResult[] =>
    messages.map(
      (binary) => GRPC_SERVICE_V1.methods[request.operation]!.response.decode(binary) as WireResult,
    );
  for (const messages of samples) {
    const fault = findOutcomeFault(() => foldResults(decodeResults(messages)), expectedText);
    if (fault) faults.push(fault);
  }
  return {
    ...summarizeLatencies(latencies, durationMs),
    completed,
    checked: samples.length,
    faults,
    eventsPerResponse:
      samples[0] && faults.length === 0 ? foldResults(decodeResults(samples[0])).eventCount : Number.NaN,
  };
}

const MESSAGE_ID_PLACEHOLDER = "0".repeat(20);
const RUN_ID = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
let sentCount = 0;

/** A connection that has one call under way at a time. */
class GrpcConnection {
  readonly #client: grpc.Client;
  readonly #path: string;
  readonly #isStreaming: boolean;
  readonly #requestBytes: Buffer;
  readonly #messageIdOffset: number;

  constructor({ endpoint: { host, port }, operation, job }: GrpcJobRequest) {
    const method = GRPC_SERVICE_V1.methods[operation]!;
    this.#client = new grpc.Client(`${host}:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#path = method.path;
    this.#isStreaming = method.isStreaming;
    const message = {
      messageId: MESSAGE_ID_PLACEHOLDER,
      role: "ROLE_USER",
      parts: [{ text: formatJob(job) }],
    };
    this.#requestBytes = Buffer.from(method.request.encode({ message }));
    this.#messageIdOffset = this.#requestBytes.indexOf(MESSAGE_ID_PLACEHOLDER);
  }

  /** All messages of an answer. */
  call(): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      if (!this.#isStreaming) {
        this.#client.makeUnaryRequest(
          this.#path,
          passBytesThrough,
          passBytesThrough,
          this.#buildNextRequest(),
          VERSION_METADATA,
          (error, answer) => (answer ? resolve([answer]) : reject(error!)),
        );
        return;
      }
      const messages: Buffer[] = [];
      this.#client
        .makeServerStreamRequest(
          this.#path,
          passBytesThrough,
          passBytesThrough,
          this.#buildNextRequest(),
          VERSION_METADATA,
        )
        .on("data", (message: Buffer) => messages.push(message))
        .on("error", reject)
        .on("end", () => resolve(messages));
    });
  }

  close(): void {
    this.#client.close();
  }

  /** The request with an id of its own: servers may take the same message for a retry. */
  #buildNextRequest(): Buffer {
    const request = Buffer.from(this.#requestBytes);
    request.write(
      RUN_ID + String(sentCount++).padStart(MESSAGE_ID_PLACEHOLDER.length - RUN_ID.length, "0"),
      this.#messageIdOffset,
      "latin1",
    );
    return request;
  }
}

const VERSION_METADATA = new grpc.Metadata();
VERSION_METADATA.set("a2a-version", "1.0");

function passBytesThrough(bytes: Buffer): Buffer {
  return bytes;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
