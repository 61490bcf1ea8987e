import type { OperationName, Operations, StreamResponse } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { Call } from "./http.ts";

export type StreamOperation = "SendStreamingMessage" | "SubscribeToTask";
export type UnaryOperation = Exclude<OperationName, StreamOperation>;

export interface StreamCall extends Call {
  /** Sent as `Last-Event-ID`: the stream goes on after it. */
  readonly lastEventId?: string | undefined;
}

/** An event with the id under which its server would resume after it. */
export interface Received {
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
    call: Call,
  ): Promise<Operations[O]["result"]>;
  /** Opened when iteration begins; a connection that breaks is UNAVAILABLE, a plain end is a plain end. */
  stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCall,
  ): AsyncIterable<Received>;
}

export function streamHeaders({ headers, lastEventId }: StreamCall): Record<string, string> {
  return lastEventId === undefined ? { ...headers } : { ...headers, "last-event-id": lastEventId };
}
