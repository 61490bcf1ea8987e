import type { StreamInterruption, Subscription } from "../engine/index.ts";
import { addEventPosition, LogEvent, toMessageStatusUpdate } from "../protocol/index.ts";

/**
 * Subscription whose events carry the metadata of the stream cursor and message events extensions. All
 * readers of a task share the converted events, so that each is encoded once.
 */
export class ExtendedSubscription implements Subscription {
  readonly #subscription: Subscription;
  readonly #hasCursor: boolean;
  #previousSeq: number | undefined;

  constructor(subscription: Subscription, hasCursor: boolean, resumeAfterSeq: number | undefined) {
    this.#subscription = subscription;
    this.#hasCursor = hasCursor;
    this.#previousSeq = resumeAfterSeq;
  }

  async next(): Promise<readonly LogEvent[] | undefined> {
    return (await this.#subscription.next())?.map((event) => this.#convert(event));
  }

  close(interruption?: StreamInterruption): void {
    this.#subscription.close(interruption);
  }

  get isComplete(): boolean {
    return this.#subscription.isComplete;
  }

  #convert(event: LogEvent): LogEvent {
    const { seq } = event;
    // A reply without a task has no position.
    if (seq === 0) return event;
    const previousSeq = this.#previousSeq ?? seq - 1;
    this.#previousSeq = seq;
    if (!this.#hasCursor) return getOrConvert(eventsWithMessages, event, convertMessage);
    return previousSeq === seq - 1
      ? getOrConvert(eventsWithPosition, event, (source) => convertToPositioned(source, previousSeq))
      : convertToPositioned(event, previousSeq);
  }
}

type ConvertedEvents = WeakMap<LogEvent, LogEvent>;
const eventsWithMessages: ConvertedEvents = new WeakMap();
const eventsWithPosition: ConvertedEvents = new WeakMap();

function getOrConvert(
  converted: ConvertedEvents,
  source: LogEvent,
  convert: (event: LogEvent) => LogEvent,
): LogEvent {
  let result = converted.get(source);
  if (!result) converted.set(source, (result = convert(source)));
  return result;
}

function convertMessage(source: LogEvent): LogEvent {
  const { seq, event } = source;
  return "message" in event ? LogEvent.create(seq, toMessageStatusUpdate(event.message)) : source;
}

function convertToPositioned(source: LogEvent, previousGeneration: number): LogEvent {
  const { seq, event } = convertMessage(source);
  return LogEvent.create(seq, addEventPosition(event, { generation: seq, previousGeneration }));
}
