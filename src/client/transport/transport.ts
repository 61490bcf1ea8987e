import type { OperationName, Operations, StreamResponse } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { CallOptions } from "./http.ts";

/** The operations that return a stream. */
export type StreamOperation = "SendStreamingMessage" | "SubscribeToTask";
/** The operations that return one response. */
export type UnaryOperation = Exclude<OperationName, StreamOperation>;

/** Options for one streaming request. */
export interface StreamCallOptions extends CallOptions {
  /**
   * The id of the last received event. The id is sent as `Last-Event-ID`, and the stream resumes after that
   * event.
   */
  readonly lastEventId?: string | undefined;
}

/** An event, with the id after which its server can resume the stream. */
export interface ReceivedEvent {
  readonly id?: string | undefined;
  readonly event: StreamResponse;
  /** True if the server declared that no other event follows (`final` of A2A 0.3). */
  readonly isLast?: boolean;
}

/**
 * Sends requests to one interface of an agent over one binding. All transport methods reject with an
 * `A2AError`, or with the signal's abort reason.
 */
export interface Transport {
  readonly version: ProtocolVersion;
  call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]>;
  /**
   * Opens a stream when iteration begins. Throws `UNAVAILABLE` if the connection breaks. A normal end of the
   * response ends the iteration.
   */
  stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncIterable<ReceivedEvent>;
}

/** Returns the headers of a streaming request, including `last-event-id`. */
export function buildStreamHeaders({ headers, lastEventId }: StreamCallOptions): Record<string, string> {
  return lastEventId === undefined ? { ...headers } : { ...headers, "last-event-id": lastEventId };
}
