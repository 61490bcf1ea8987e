import type { CallerEvidence } from "./describe-unknown-caller.ts";
import type { TrafficCall } from "./traffic-call.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import type { RequestLine, StreamEndLine } from "../traffic-line-types.ts";

/** One request from one party to another, which a client, a tap, and a server may all have observed. */
export interface TrafficExchange {
  readonly key: string;
  /** The caller: an agent, the name of the client, or a description of an unknown client. */
  readonly from: string;
  /** How the model knows the caller. */
  readonly fromEvidence: CallerEvidence;
  /** The agent that received the request. */
  readonly to: string;
  readonly operation: string;
  /** Observations of the request: client, tap, server. */
  readonly calls: readonly TrafficCall[];
  readonly startMs: number;
  /** End of the response, or `undefined` while the exchange is open. */
  readonly endMs: number | undefined;
  readonly hasFailed: boolean;
  readonly taskKey: string | undefined;
  readonly contextId: string | undefined;
  readonly messageId: string | undefined;
  /** Key of the task during which the request was made, if known. */
  readonly parentTaskKey: string | undefined;
  readonly frames: number;
  readonly bytes: number;
}

/**
 * Returns the end of a stream that ended before its last event, as the observer nearest to the caller saw it, because a
 * server sees a broken connection as closed by the reader.
 */
export function findEarlyEnd({ calls }: TrafficExchange): TimelineEntry<StreamEndLine> | undefined {
  return calls.find(({ end }) => end !== undefined && end.line.reason !== "completed")?.end;
}

const VANTAGE_ORDER = ["client", "tap", "server", undefined];

/**
 * Groups the observations of the same request. Observations match if they have the same `traceparent`, or otherwise the
 * same message or the same task. The n-th match of one writer belongs to the n-th match of another writer. A
 * server that records the calls of its agents is two writers.
 */
export function groupCallsByExchange(calls: Iterable<TrafficCall>): TrafficCall[][] {
  const groups = new Map<string, TrafficCall[]>();
  const ordinals = new Map<string, number>();
  const withRequest = [...calls].filter((call) => call.request !== undefined).toSorted(compareCalls);
  for (const call of withRequest) {
    const { line } = call.request as TimelineEntry<RequestLine>;
    const identity = computeRequestIdentity(call, line);
    const ofWriter = `${identity}\n${call.writer}\n${call.vantage}`;
    const ordinal = (ordinals.get(ofWriter) ?? 0) + 1;
    ordinals.set(ofWriter, ordinal);
    const key = identity === undefined ? call.key : `${identity}\n${ordinal}`;
    const group = groups.get(key);
    if (group) group.push(call);
    else groups.set(key, [call]);
  }
  return [...groups.values()].map((group) =>
    group.toSorted((a, b) => VANTAGE_ORDER.indexOf(a.vantage) - VANTAGE_ORDER.indexOf(b.vantage)),
  );
}

function compareCalls(a: TrafficCall, b: TrafficCall): number {
  if (a.writer === b.writer) return (a.request?.line.seq ?? 0) - (b.request?.line.seq ?? 0);
  return a.writer < b.writer ? -1 : 1;
}

/** Returns what two observations of a request have in common, or `undefined` if nothing identifies the request. */
function computeRequestIdentity(call: TrafficCall, line: RequestLine): string | undefined {
  if (line.traceparent !== undefined) return `${line.operation}\n${line.traceparent}`;
  if (line.message_id !== undefined) return `message\n${line.message_id}`;
  if (call.taskKey !== undefined) return `${line.operation}\n${call.taskKey}\n${line.after ?? ""}`;
  return undefined;
}
