import type { Deferred } from "../data-structures/index.ts";
import type { PendingQueueChange } from "./pending-queue-change.ts";
import type { WebhookRegistration } from "./push/push-store.ts";
import type { LogAppend } from "./task-store.ts";

/**
 * A message that the task has accepted but not yet committed. `durableSeq` resolves with the sequence
 * number of the message's event once the event is durable.
 */
export interface UncommittedMessage {
  readonly messageId: string;
  readonly seq: number;
  readonly durableSeq: Deferred<number>;
  /** Webhook that the request registers together with the message. */
  readonly webhook?: WebhookRegistration | undefined;
  /** True if the store already has the message in the task's queue. */
  readonly wasQueued?: boolean;
}

/** Returns the message ids that an append stores, with the sequence numbers of the messages. */
export function selectMessageIds(
  messages: readonly UncommittedMessage[],
  queueChange: PendingQueueChange | undefined,
): LogAppend["messages"] {
  const logged = messages.map(({ messageId, seq, wasQueued }) =>
    wasQueued ? { messageId, seq, wasQueued } : { messageId, seq },
  );
  return queueChange
    ? [...queueChange.messageIds.map((messageId) => ({ messageId, seq: 0 })), ...logged]
    : logged;
}
