import * as grpc from "@grpc/grpc-js";
import { v1 } from "../../src/grpc/index.ts";
import { jobText, type Job } from "../job.ts";
import { faultIn, outcomeOf, type Result } from "./outcome.ts";
import type { Endpoint } from "./request.ts";
import { SAMPLE, speedOf, type RateResult } from "./trial.ts";

/** Many calls at once for a while, over as many connections. */
export interface GrpcOrder {
  readonly target: GrpcTarget;
  readonly connections: number;
  /** Not counted. */
  readonly leadMs: number;
  readonly ms: number;
  /** The text that every answer must amount to. */
  readonly text: string;
}

/** A call that gives an agent a job. */
export interface GrpcTarget {
  readonly endpoint: Endpoint;
  readonly operation: "SendMessage" | "SendStreamingMessage";
  readonly job: Job;
}

/**
 * Calls as grpc-js makes them, with bytes in and bytes out. That costs a multiple of what the HTTP generator does, and the
 * same for every subject: compare the CPU time of the subjects, too.
 */
export async function measureGrpcRate({
  target,
  connections,
  leadMs,
  ms,
  text,
}: GrpcOrder): Promise<RateResult> {
  const open = Array.from({ length: connections }, () => new Caller(target));
  const times: number[] = [];
  const kept: Buffer[][] = [];
  const faults: string[] = [];
  const begin = performance.now() + leadMs;
  const end = begin + ms;
  let asked = 0;
  let completed = 0;
  const work = async (caller: Caller): Promise<void> => {
    for (;;) {
      const keep = asked < connections || asked % SAMPLE === 0;
      asked++;
      const began = performance.now();
      const answer = await caller.call().catch((error: unknown) => String(error));
      const now = performance.now();
      if (now > end) return;
      if (typeof answer === "string") {
        faults.push(answer);
        return;
      }
      completed++;
      if (now > begin) times.push(now - began);
      if (keep) kept.push(answer);
    }
  };
  await Promise.race([Promise.all(open.map(work)), sleep(leadMs + ms + 50)]);
  for (const caller of open) caller.close();
  const read = (messages: readonly Buffer[]): Result[] =>
    messages.map((binary) => v1.methods[target.operation]!.response.decode(binary) as Result);
  for (const messages of kept) {
    const fault = faultIn(() => outcomeOf(read(messages)), text);
    if (fault) faults.push(fault);
  }
  return {
    ...speedOf(times, ms),
    completed,
    checked: kept.length,
    faults,
    events: kept[0] && faults.length === 0 ? outcomeOf(read(kept[0])).events : Number.NaN,
  };
}

const ID = "0".repeat(20);
const RUN = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
let sent = 0;

/** A connection that has one call under way at a time. */
class Caller {
  readonly #client: grpc.Client;
  readonly #path: string;
  readonly #streams: boolean;
  readonly #request: Buffer;
  readonly #id: number;

  constructor({ endpoint: { host, port }, operation, job }: GrpcTarget) {
    const method = v1.methods[operation]!;
    this.#client = new grpc.Client(`${host}:${port}`, grpc.credentials.createInsecure(), {
      "grpc.use_local_subchannel_pool": 1,
    });
    this.#path = method.path;
    this.#streams = method.streams;
    const message = { messageId: ID, role: "ROLE_USER", parts: [{ text: jobText(job) }] };
    this.#request = Buffer.from(method.request.encode({ message }));
    this.#id = this.#request.indexOf(ID);
  }

  /** All messages of an answer. */
  call(): Promise<Buffer[]> {
    return new Promise((resolve, reject) => {
      if (!this.#streams) {
        this.#client.makeUnaryRequest(this.#path, asItIs, asItIs, this.#next(), VERSION, (error, answer) =>
          answer ? resolve([answer]) : reject(error!),
        );
        return;
      }
      const messages: Buffer[] = [];
      this.#client
        .makeServerStreamRequest(this.#path, asItIs, asItIs, this.#next(), VERSION)
        .on("data", (message: Buffer) => messages.push(message))
        .on("error", reject)
        .on("end", () => resolve(messages));
    });
  }

  close(): void {
    this.#client.close();
  }

  /** The request with an id of its own: servers may take the same message for a retry. */
  #next(): Buffer {
    const request = Buffer.from(this.#request);
    request.write(RUN + String(sent++).padStart(ID.length - RUN.length, "0"), this.#id, "latin1");
    return request;
  }
}

const VERSION = new grpc.Metadata();
VERSION.set("a2a-version", "1.0");

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
