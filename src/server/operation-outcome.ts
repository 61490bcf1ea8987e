import type { Subscription } from "../engine/index.ts";
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
