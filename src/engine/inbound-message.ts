import type { SendMessageRequest } from "../protocol/index.ts";
import type { Caller, TaskScope } from "./caller.ts";
import type { ServiceParameters } from "./service-parameters.ts";

/** A request with a message, and its sender. */
export interface InboundMessage {
  /** Scope of the sender's tasks. */
  readonly scope: TaskScope;
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
}
