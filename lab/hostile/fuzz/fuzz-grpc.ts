import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { GRPC_SERVICE_V0_3, GRPC_SERVICE_V1 } from "../../../src/wire/grpc/index.ts";
import { createRandomFromText } from "../seeded-random.ts";
import { FuzzedServer } from "./fuzzed-server.ts";
import type { FuzzPlaceholders } from "./fuzz-request.ts";
import { MAX_FUZZ_FINDINGS, type FuzzFinding, type FuzzOptions, type FuzzResult } from "./fuzz-result.ts";
import { HOSTILE_TEXTS } from "./hostile-values.ts";
import { concatBytes, mutateBytes, mutateProtobuf } from "./mutate-protobuf.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";
import { V03_PROTO_PARAMS, V1_PARAMS } from "./seed-requests.ts";

const CONCURRENCY = 8;
const BATCH_SIZE = 1000;
const CALL_TIMEOUT_MS = 20_000;
/** Time after which the fuzzer closes a stream that does not end. */
const STREAM_MS = 30;

/** A gRPC call of the fuzzer, in the form of the corpus. */
export interface FuzzCall {
  /** HTTP/2 path, `/package.Service/Method`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Bytes of the request in base64: one or more length-prefixed messages. Task ids in the bytes are placeholders of the
   * same length as a real id.
   */
  readonly body: string;
  /** Whether the client leaves the request open, so that the server waits for the rest. */
  readonly staysOpen: boolean;
}

/** Placeholders with the length of a task id, so that lengths in the message stay correct. */
const PLACEHOLDER_IDS = {
  $DONE: "00000000-0000-7000-8000-00000000done",
  $WAITING: "00000000-0000-7000-8000-00000000wait",
  $WORKING: "00000000-0000-7000-8000-00000000work",
} as const;

interface SeedCall {
  readonly path: string;
  readonly message: Uint8Array;
}

const SEED_CALLS: readonly SeedCall[] = [
  [GRPC_SERVICE_V1, V1_PARAMS] as const,
  [GRPC_SERVICE_V0_3, V03_PROTO_PARAMS] as const,
].flatMap(([{ methods }, params]) =>
  Object.values(methods).flatMap(({ operation, path, request }) =>
    params[operation] === undefined
      ? []
      : [{ path, message: request.encode(withPlaceholderIds(params[operation])) }],
  ),
);

function withPlaceholderIds(params: unknown): object {
  return JSON.parse(
    JSON.stringify(params).replace(
      /\$(?:DONE|WAITING|WORKING)/g,
      (name) => PLACEHOLDER_IDS[name as keyof typeof PLACEHOLDER_IDS],
    ),
  ) as object;
}

/** Returns the fuzzed call at an index, which depends only on the seed. */
export function createFuzzCall(seed: string, index: number): FuzzCall {
  const random = createRandomFromText(`${seed}/grpc/${index}`);
  const { path, message } = drawElement(random, SEED_CALLS);
  const mutated = random() < 0.85 ? mutateProtobuf(random, message) : message;
  return {
    path: random() < 0.03 ? `/${drawElement(random, ["x", "lf.a2a.v1.A2AService", "%00/y", "a/b/c"])}` : path,
    headers: random() < 0.2 ? createHostileMetadata(random) : {},
    body: Buffer.from(frameMessage(random, mutated)).toString("base64"),
    staysOpen: random() < 0.05,
  };
}

/** Adds the length prefix of gRPC, or in one of eight calls a wrong prefix. */
function frameMessage(random: RandomSource, message: Uint8Array): Uint8Array {
  const frame = (flag: number, length: number): Uint8Array => {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt8(flag);
    prefix.writeUInt32BE(length, 1);
    return concatBytes(prefix, message);
  };
  const correct = frame(0, message.length);
  if (random() < 0.875) return correct;
  return drawElement(random, [
    () => frame(0, message.length + 1 + drawInteger(random, 100)),
    () => frame(0, Math.max(0, message.length - 1 - drawInteger(random, 10))),
    () => frame(0, 2 ** 32 - 1),
    () => frame(1, message.length),
    () => frame(255, message.length),
    () => concatBytes(correct, correct),
    () => concatBytes(correct, Uint8Array.of(0, 0)),
    () => correct.subarray(0, drawInteger(random, 6)),
    () => mutateBytes(random, correct),
  ])();
}

function createHostileMetadata(random: RandomSource): Record<string, string> {
  const texts = HOSTILE_TEXTS.filter((text) => /^[\u0021-\u007E][\u0020-\u007E]*$/.test(text)).map((text) =>
    text.trim().slice(0, 3000),
  );
  const name = drawElement(random, [
    "a2a-version",
    "a2a-extensions",
    "authorization",
    "content-type",
    "grpc-timeout",
    "grpc-encoding",
    "grpc-accept-encoding",
    "te",
    "x-bin",
    "grpc-status-details-bin",
  ]);
  // HTTP/2 allows only one value of `te`, and Node's client does not send others.
  const values =
    name === "te" ? ["trailers"] : [...texts, "99999999999H", "0n", "1S", "gzip", "application/json"];
  return { [name]: drawElement(random, values) };
}

/** Sends mutated gRPC calls to a server in another process. */
export async function fuzzGrpc(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, count, firstIndex = 0, deadline = Infinity, reportProgress } = options;
  const server = await FuzzedServer.start();
  const caller = new FuzzGrpcCaller(server);
  const outcomes: Record<string, number> = {};
  const findings: FuzzFinding[] = [];
  let sent = 0;
  try {
    while (sent < count && findings.length < MAX_FUZZ_FINDINGS && performance.now() < deadline) {
      await server.renewPlaceholders();
      const start = firstIndex + sent;
      const end = start + Math.min(BATCH_SIZE, count - sent);
      let next = start;
      const sendCalls = async (): Promise<void> => {
        while (next < end) {
          const input = createFuzzCall(seed, next++);
          const { outcome, problem } = await caller.send(input);
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
          const isKnown = findings.some((known) => known.problem.slice(0, 60) === problem?.slice(0, 60));
          if (problem !== undefined && !isKnown) findings.push({ problem, input });
        }
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, sendCalls));
      sent += end - start;
      for (const fault of await server.takeFaults())
        findings.push({ problem: fault, input: `calls ${start} to ${end} of seed ${seed}` });
      reportProgress?.(sent);
    }
    return { name: "grpc", sent, outcomes, findings };
  } finally {
    caller.close();
    await server.stop();
  }
}

/** Sends gRPC calls over HTTP/2 without a gRPC library, which would send only valid frames. */
export class FuzzGrpcCaller {
  readonly #server: FuzzedServer;
  #session: ClientHttp2Session | undefined;

  constructor(server: FuzzedServer) {
    this.#server = server;
  }

  /** Sends a call. Resolves with its gRPC status, and with the problem of the response, if it has one. */
  send(call: FuzzCall): Promise<{ readonly outcome: string; readonly problem?: string }> {
    return new Promise((resolve) => {
      const { path, headers, body, staysOpen } = call;
      const stream = this.#getSession().request(
        { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers },
        { endStream: false },
      );
      const received: IncomingHttpHeaders = {};
      const finish = (error?: Error): void => {
        clearTimeout(timer);
        stream.destroy();
        const code = received["grpc-status"];
        const status = received[":status"] as unknown as number | undefined;
        const outcome = code === undefined ? `HTTP ${status ?? "none"}` : `gRPC ${String(code)}`;
        const problem = findCallProblem(received, error);
        resolve({ outcome, ...(problem === undefined ? {} : { problem }) });
      };
      let timer = setTimeout(
        () => finish(new Error(`no response within ${CALL_TIMEOUT_MS} ms`)),
        CALL_TIMEOUT_MS,
      );
      stream.on("response", (responseHeaders) => {
        Object.assign(received, responseHeaders);
        clearTimeout(timer);
        timer = setTimeout(finish, STREAM_MS);
      });
      stream.on("trailers", (trailers) => Object.assign(received, trailers));
      stream.on("error", finish);
      stream.on("close", () => finish());
      stream.on("data", () => {});
      const bytes = fillPlaceholderBytes(Buffer.from(body, "base64"), this.#server.placeholders);
      if (staysOpen) {
        stream.write(bytes);
        clearTimeout(timer);
        timer = setTimeout(finish, STREAM_MS);
      } else stream.end(bytes);
    });
  }

  close(): void {
    this.#session?.destroy();
  }

  #getSession(): ClientHttp2Session {
    if (!this.#session || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(`http://127.0.0.1:${this.#server.grpcPort}`);
      this.#session.on("error", () => {});
    }
    return this.#session;
  }
}

/** The status codes UNKNOWN and INTERNAL blame the server, which made no mistake that a client can cause. */
function findCallProblem(received: IncomingHttpHeaders, error: Error | undefined): string | undefined {
  const code = received["grpc-status"];
  if (code === "13" || code === "2")
    return `the gRPC status is ${code === "13" ? "INTERNAL" : "UNKNOWN"}: ${String(received["grpc-message"]).slice(0, 200)}`;
  const status = received[":status"] as unknown as number | undefined;
  if (status !== undefined && status >= 500) return `the HTTP status is ${status}`;
  return error && /no response|ECONNREFUSED/.test(error.message) ? error.message : undefined;
}

function fillPlaceholderBytes(bytes: Buffer, placeholders: FuzzPlaceholders): Buffer {
  for (const name of ["$DONE", "$WAITING", "$WORKING"] as const) {
    const at = bytes.indexOf(PLACEHOLDER_IDS[name]);
    if (at >= 0) bytes.write(placeholders[name], at, "latin1");
  }
  return bytes;
}
