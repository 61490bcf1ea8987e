import type { OperationName, Operations, StreamResponse } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { CallOptions } from "./http.ts";

export type StreamOperation = "SendStreamingMessage" | "SubscribeToTask";
export type UnaryOperation = Exclude<OperationName, StreamOperation>;

export interface StreamCallOptions extends CallOptions {
  /** Sent as `Last-Event-ID`: the stream goes on after it. */
  readonly lastEventId?: string | undefined;
}

/** An event with the id under which its server would resume after it. */
export interface ReceivedEvent {
  readonly id?: string | undefined;
  readonly event: StreamResponse;
  /** True when the server said with it that nothing follows (`final` of A2A 0.3). */
  readonly isLast?: boolean;
}

/** One binding to one interface of an agent. Everything rejects with an A2AError, or with what the signal was aborted with. */
export interface Transport {
  readonly version: ProtocolVersion;
  call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]>;
  /** Opened when iteration begins; a connection that breaks is UNAVAILABLE, a plain end is a plain end. */
  stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncIterable<ReceivedEvent>;
}

export function buildStreamHeaders({ headers, lastEventId }: StreamCallOptions): Record<string, string> {
  return lastEventId === undefined ? { ...headers } : { ...headers, "last-event-id": lastEventId };
}
