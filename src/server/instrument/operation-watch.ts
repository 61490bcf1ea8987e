import type { Caller, NextEvents, Observer, StreamInterruption, Subscription } from "../../engine/index.ts";
import type { LogEvent, OperationName, Operations } from "../../protocol/index.ts";
import type { CardOfSpan } from "../../observe/telemetry/index.ts";
import type { RequestLine } from "../../observe/trace/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { HttpRequest, RequestMetadata, RequestRefusal } from "../http-exchange.ts";

/** The outcome of an A2A operation, which is either a result or a stream of events. */
export type OperationResultOrStream<O extends OperationName = OperationName> =
  | {
      readonly result: Operations[O]["result"];
      /** Sequence number of the last event in the result, if the result is a stored task. */
      readonly seq?: number;
      /** Approximate size of the result in characters, if it is known. */
      readonly size?: number | undefined;
    }
  | { readonly stream: Subscription };

/** An A2A request that the server starts to process. */
export interface StartedOperation {
  readonly operation: OperationName;
  readonly binding: RequestLine["binding"];
  readonly version: ProtocolVersion;
  /** The parameters as the client sent them. */
  readonly params: unknown;
  readonly request: RequestMetadata;
  readonly agentId: string;
  readonly card: CardOfSpan;
  readonly caller: Caller;
}

/** How an operation ended. An operation with a stream ends with the stream. */
export interface OperationEnd {
  readonly error?: unknown;
  /** Why the stream did not end regularly. */
  readonly interruption?: StreamInterruption | undefined;
  /** Whether the result or the last event has been delivered, or the server has closed the stream as planned. */
  readonly isComplete?: boolean;
}

/** Watches one operation. The listeners must not throw. */
export interface OperationWatch {
  /** W3C `traceparent` of the operation's span, for the run of the agent. */
  readonly traceparent?: string | undefined;
  /** Receives the decoded parameters. */
  onParams?(params: object): void;
  onResult(result: object): void;
  /** Called if the outcome is a stream, before its events. */
  onStream?(): void;
  onEvents(events: readonly LogEvent[]): void;
  onEnd(end: OperationEnd): void;
}

/** Watches the operations of a server. */
export interface OperationWatcher {
  /** False if nothing needs the operations at the moment. The server then does not call `start`. */
  readonly isActive: boolean;
  start(started: StartedOperation): OperationWatch;
}

/** A request that the server refused before it knew the operation. */
export interface RefusedRequest extends RequestRefusal {
  readonly request: Pick<HttpRequest, "path" | "header">;
  readonly status: number | string;
  /** Time at which the request arrived, on the monotonic clock. */
  readonly startMs: number;
}

/**
 * The subscribers of a server's requests: the log, the metrics, the spans, and the traffic record. A member that is absent,
 * or an empty list, has no subscriber, so that nothing is called for it (E25).
 */
export interface RequestInstrument {
  /** Receives the reports of the server and of its engines. Its listeners cannot throw. */
  readonly observer: Observer;
  readonly operationWatchers: readonly OperationWatcher[];
  /** Records a request that is refused before its operation is known. */
  readonly recordRefusal: ((refusal: RefusedRequest) => void) | undefined;
}

/** Performs an operation, whose outcome and events the watches receive. */
export async function watchOperation<Outcome extends OperationResultOrStream>(
  watches: readonly OperationWatch[],
  perform: () => Promise<Outcome>,
): Promise<Outcome> {
  let hasEnded = false;
  const end = (ending: OperationEnd): void => {
    if (hasEnded) return;
    hasEnded = true;
    for (const watch of watches) watch.onEnd(ending);
  };
  try {
    const outcome = await perform();
    if ("stream" in outcome) {
      const { stream } = outcome;
      for (const watch of watches) watch.onStream?.();
      const onNext = (events: NextEvents): NextEvents => {
        if (events) for (const watch of watches) watch.onEvents(events);
        else end({ isComplete: stream.isComplete });
        return events;
      };
      const onError = (error: unknown): void => end({ error });
      const onClose = (interruption: StreamInterruption | undefined): void =>
        end({ interruption, isComplete: interruption === undefined || stream.isComplete });
      return { ...outcome, stream: hookSubscription(stream, { onNext, onError, onClose }) };
    }
    if (outcome.result) for (const watch of watches) watch.onResult(outcome.result);
    end({ isComplete: true });
    return outcome;
  } catch (error) {
    end({ error });
    throw error;
  }
}

/** Functions that `hookSubscription` calls. */
interface SubscriptionHooks {
  /** Receives the next events, or `undefined` at the end of the stream, and returns the events for the reader. */
  readonly onNext: (events: NextEvents) => NextEvents;
  readonly onError?: (error: unknown) => void;
  readonly onClose?: (interruption: StreamInterruption | undefined) => void;
}

/** Returns a subscription that passes the events and the end of another subscription to hooks. */
export function hookSubscription(subscription: Subscription, hooks: SubscriptionHooks): Subscription {
  const fail = (error: unknown): never => {
    hooks.onError?.(error);
    throw error;
  };
  return {
    next() {
      try {
        const next = subscription.next();
        return next instanceof Promise ? next.then(hooks.onNext).catch(fail) : hooks.onNext(next);
      } catch (error) {
        return fail(error);
      }
    },
    close(interruption) {
      hooks.onClose?.(interruption);
      subscription.close(interruption);
    },
    get isComplete() {
      return subscription.isComplete;
    },
  };
}

/** Calls `respond` and reports the status and the duration of the response to the observer. */
export async function reportRequest<Reply>(
  observer: Pick<Observer, "onRequest">,
  request: Pick<HttpRequest, "method" | "path" | "header">,
  getStatus: (reply: Reply) => number | string,
  respond: () => Promise<Reply>,
): Promise<Reply> {
  if (!observer.onRequest) return respond();
  const startMs = performance.now();
  const { method, path } = request;
  const reply = await respond();
  observer.onRequest({
    method,
    path,
    status: getStatus(reply),
    durationMs: performance.now() - startMs,
    traceparent: request.header("traceparent"),
  });
  return reply;
}
