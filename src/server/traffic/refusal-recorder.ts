import type { Caller } from "../../engine/index.ts";
import type { A2AError } from "../../protocol/index.ts";
import type { RequestLine } from "../../trace/index.ts";
import type { TrafficWriter } from "../../trace/recording/index.ts";
import type { HttpRequest } from "../http-exchange.ts";
import { selectRecordedHeaders } from "./recorded-headers.ts";

/** A request that the server refused before it knew the operation. */
export interface RefusedRequest {
  readonly request: Pick<HttpRequest, "path" | "header">;
  /** HTTP method, or the operation of a gRPC call. */
  readonly operation: string;
  readonly binding: RequestLine["binding"];
  /** Id of the agent. Missing if the path of the request names no agent. */
  readonly agentId?: string | undefined;
  /** The caller. Missing if the caller is not authenticated. */
  readonly caller?: Caller | undefined;
  readonly status: number | string;
  readonly error: A2AError;
  /** Time at which the request arrived, on the monotonic clock. */
  readonly startMs: number;
}

/** Callers without credentials must not be able to displace the other lines of a record with a limited size. */
const MAX_REFUSALS_PER_SECOND = 20;

/** Records refused requests as requests with a failed response, up to a limit per second. */
export class RefusalRecorder {
  readonly #writer: TrafficWriter;
  readonly #getAgentName: (agentId: string) => string;
  readonly #monotonicNow: () => number;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #recordedInSecond = 0;
  #unrecorded = 0;

  constructor(
    writer: TrafficWriter,
    getAgentName: (agentId: string) => string,
    monotonicNow: () => number = () => performance.now(),
  ) {
    this.#writer = writer;
    this.#getAgentName = getAgentName;
    this.#monotonicNow = monotonicNow;
  }

  record({ request, operation, binding, agentId, caller, status, error, startMs }: RefusedRequest): void {
    const nowMs = this.#monotonicNow();
    if (nowMs - this.#secondStartMs >= 1_000) {
      this.#secondStartMs = nowMs;
      this.#recordedInSecond = 0;
    }
    if (this.#recordedInSecond >= MAX_REFUSALS_PER_SECOND) {
      this.#unrecorded += 1;
      return;
    }
    this.#recordedInSecond += 1;
    const others = this.#unrecorded > 0 ? ` (${this.#unrecorded} earlier refusals are not recorded)` : "";
    this.#unrecorded = 0;
    const call = this.#writer.createCallId();
    const traceparent = request.header("traceparent");
    this.#writer.write({
      kind: "request",
      call,
      to: agentId === undefined ? "server" : this.#getAgentName(agentId),
      ...(caller && caller.principal !== "" && { from: caller.principal }),
      binding,
      operation,
      url: request.path,
      ...(traceparent !== undefined && { traceparent }),
      headers: selectRecordedHeaders(request),
    });
    this.#writer.write({
      kind: "response",
      call,
      status,
      duration_ms: Math.round((nowMs - startMs) * 1_000) / 1_000,
      error: `${error.reason}: ${error.message}${others}`,
    });
  }
}
