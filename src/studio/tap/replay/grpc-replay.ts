import type { GrpcFailure, GrpcResponseOrFailure, GrpcServerCall } from "../../../wire/grpc/index.ts";
import { A2AError, isStreamingOperation } from "../../../protocol/index.ts";
import { toGrpcError, type ProtoDialect } from "../../../wire/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";
import type { AgentReplay, ReplayAddresses, ReplayedCall } from "./agent-replay.ts";
import { toJsonObject } from "./decode-recorded-params.ts";
import { MAX_REPLAY_REQUEST_BYTES } from "./http-replay.ts";
import type { RecordedExchange } from "./recorded-exchanges.ts";
import { decodeReplayedResult, listReplayedEvents } from "./replay-response.ts";

/** A listener that serves a recorded agent over gRPC. */
export interface GrpcReplayListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Time in milliseconds in which a request message must arrive. */
const RECEIVE_REQUEST_MS = 120_000;

/**
 * Serves a recorded agent over gRPC on 127.0.0.1. Resolves with `undefined` if the packages for gRPC are not installed.
 * Rejects if the port is in use.
 */
export async function startGrpcReplay(
  replay: AgentReplay,
  port: number,
  resolveAddresses: (host: string) => ReplayAddresses,
): Promise<GrpcReplayListener | undefined> {
  const grpc = await import("../../../wire/grpc/index.ts").catch(() => undefined);
  if (!grpc) return undefined;
  const grpcReplay = new GrpcReplay(replay, resolveAddresses);
  const listener = await grpc.startGrpcListener({
    services: [grpc.GRPC_SERVICE_V1, grpc.GRPC_SERVICE_V0_3],
    host: "127.0.0.1",
    port,
    tls: undefined,
    maxRequestBytes: MAX_REPLAY_REQUEST_BYTES,
    receiveMs: RECEIVE_REQUEST_MS,
    keepaliveMs: 0,
    guardConnection: () => {},
    scheduleCall: (_remoteAddress, start) => start(),
    handleCall: (call) => grpcReplay.handle(call),
  });
  return {
    port: listener.port,
    close: async () => {
      const drained = listener.drain();
      listener.forceShutdown();
      await drained;
    },
  };
}

class GrpcReplay {
  readonly #replay: AgentReplay;
  readonly #resolveAddresses: (host: string) => ReplayAddresses;

  constructor(replay: AgentReplay, resolveAddresses: (host: string) => ReplayAddresses) {
    this.#replay = replay;
    this.#resolveAddresses = resolveAddresses;
  }

  /** Replies to a call. Never rejects. */
  async handle(call: GrpcServerCall): Promise<GrpcResponseOrFailure> {
    const dialect = call.service.version === "1.0" ? v1.protoDialect : v0_3.protoDialect;
    const closed = new AbortController();
    call.onClose(() => closed.abort());
    try {
      return await this.#respond(call, dialect, closed.signal);
    } catch (error) {
      return { failure: toFailure(error, dialect) };
    }
  }

  async #respond(
    call: GrpcServerCall,
    dialect: ProtoDialect,
    closed: AbortSignal,
  ): Promise<GrpcResponseOrFailure> {
    const { operation, request, response } = call.method;
    const json = request.decode(await call.receiveRequest(() => {}));
    const params = toJsonObject(dialect.decodeParams(operation, json));
    const replayed = this.#replay.startCall(operation, params, (name) => call.header(name), closed);
    const { exchange, waitUntil } = replayed;
    await waitUntil(exchange.response?.duration_ms ?? 0);
    const common = { headers: undefined, watchWrite: () => () => {} };
    if (isStreamingOperation(operation) && exchange.response?.is_stream)
      return { ...common, body: () => void replayStream(replayed, call, dialect) };
    if (exchange.response?.status === undefined)
      return { failure: toFailure(createInterruptedError("no response"), dialect) };
    try {
      const result = decodeReplayedResult(
        operation,
        exchange,
        this.#resolveAddresses(call.header("host") ?? ""),
      );
      return { ...common, body: response.encode(dialect.toProtoResponseMessage(operation, result)) };
    } catch (error) {
      const { headers, ...failure } = toFailure(error, dialect);
      return { failure: { ...failure, headers: { ...headers, ...selectRecordedTrailers(exchange, call) } } };
    }
  }
}

/** Replays a stream with its recorded times. A stream that broke in the record ends with `UNAVAILABLE`. */
async function replayStream(
  { exchange, waitUntil }: ReplayedCall,
  call: GrpcServerCall,
  dialect: ProtoDialect,
): Promise<void> {
  const { operation, response } = call.method;
  try {
    for (const { offsetMs, content } of listReplayedEvents(exchange)) {
      if (!(await waitUntil(offsetMs))) return;
      if (content instanceof A2AError) throw content;
      await call.write([response.encode(dialect.toProtoResponseMessage(operation, content.event))]);
      if (dialect.isLastEvent?.(content, operation as "SendStreamingMessage")) return call.end();
    }
    const { end, request } = exchange;
    if (end) await waitUntil(Math.max(0, end.mono_ms - request.mono_ms));
    if (end?.reason !== "completed") throw createInterruptedError(end?.reason ?? "no end");
    call.end();
  } catch (error) {
    call.end(toFailure(error, dialect));
  }
}

/**
 * Returns the recorded status, message, and details of a gRPC error, which replace those of the decoded error. Details
 * of another version would be wrong, and other bindings have no trailers.
 */
function selectRecordedTrailers(
  { request, response }: RecordedExchange,
  { service }: GrpcServerCall,
): Record<string, string> {
  if (request.binding !== "GRPC" || request.protocol_version !== service.version) return {};
  const { headers = {} } = response ?? {};
  return Object.fromEntries(
    ["grpc-status", "grpc-message", "grpc-status-details-bin"].flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function toFailure(error: unknown, { version }: ProtoDialect): GrpcFailure {
  const a2aError = A2AError.from(error);
  const encoded = version === "0.3" ? v0_3.toGrpcError(a2aError) : toGrpcError(a2aError, "1.0.1");
  return { ...encoded, headers: {} };
}

function createInterruptedError(reason: string): A2AError {
  return new A2AError("UNAVAILABLE", `The recorded call broke at this point (${reason}).`);
}
