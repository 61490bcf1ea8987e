import type { OperationName, Operations, StreamResponse } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { TransportCallOptions, TransportOptions } from "./send-http-request.ts";

/** The A2A operations that return a stream. */
export type StreamOperation = "SendStreamingMessage" | "SubscribeToTask";
/** The A2A operations that return one response. */
export type UnaryOperation = Exclude<OperationName, StreamOperation>;

/** Options for one streaming request. */
export interface StreamCallOptions extends TransportCallOptions {
  /**
   * The id of the last received event, which the client sends as `Last-Event-ID` to resume the stream after
   * that event.
   */
  readonly lastEventId?: string | undefined;
}

/** A stream event, and the event id that the client sends to resume the stream after this event. */
export interface ReceivedStreamEvent {
  readonly id?: string | undefined;
  readonly event: StreamResponse;
  /** Size of the event on the wire: characters over HTTP, and bytes over gRPC. Default: 0. */
  readonly size?: number;
  /** True if the server marked the event as `final` (A2A 0.3), so that no event follows. */
  readonly isLast?: boolean;
}

/**
 * Sends requests to one interface of an agent over one protocol binding. A failed call rejects with an
 * `A2AError`. An aborted call rejects with the abort reason of its signal.
 */
export interface Transport {
  readonly version: ProtocolVersion;
  call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: TransportCallOptions,
  ): Promise<Operations[O]["result"]>;
  /**
   * Opens a stream when iteration begins. Throws `UNAVAILABLE` if the connection breaks. The iteration ends
   * when the server ends the response normally.
   */
  stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncIterable<ReceivedStreamEvent>;
}

/** Creates a transport for the address of a gRPC interface. */
export type GrpcTransportFactory = (options: TransportOptions, url: string) => Transport;

/** Returns the headers of a streaming request, including `last-event-id`. */
export function buildStreamHeaders({ headers, lastEventId }: StreamCallOptions): Record<string, string> {
  return lastEventId === undefined ? { ...headers } : { ...headers, "last-event-id": lastEventId };
}
