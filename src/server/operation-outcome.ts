import type { NextEvents, StreamInterruption, Subscription } from "../engine/index.ts";
import type { OperationName, Operations } from "../protocol/index.ts";

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
