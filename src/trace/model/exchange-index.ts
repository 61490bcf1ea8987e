import type { TrafficExchange } from "./traffic-exchange.ts";

/** The exchanges of a record, with the tasks that they connect. */
export class ExchangeIndex {
  readonly exchanges: readonly TrafficExchange[];
  readonly #exchangesByParent: ReadonlyMap<string | undefined, readonly TrafficExchange[]>;
  readonly #parentKeys: ReadonlyMap<string | undefined, string | undefined>;
  /** Keys of the exchanges by the keys of their calls. */
  readonly #keysByCall: ReadonlyMap<string, string>;

  /** `exchanges` are in the order of time. */
  constructor(exchanges: readonly TrafficExchange[]) {
    this.exchanges = exchanges;
    this.#exchangesByParent = Map.groupBy(exchanges, ({ parentTaskKey }) => parentTaskKey);
    // Of several exchanges of a task, the first with a parent counts, because later members of a map win.
    const withParent = exchanges.filter(({ parentTaskKey }) => parentTaskKey !== undefined);
    this.#parentKeys = new Map(
      withParent.toReversed().map(({ taskKey, parentTaskKey }) => [taskKey, parentTaskKey]),
    );
    this.#keysByCall = new Map(
      exchanges.flatMap(({ key, calls }) => calls.map((call) => [call.key, key] as const)),
    );
  }

  findExchangeKey(callKey: string): string | undefined {
    return this.#keysByCall.get(callKey);
  }

  findParentTaskKey(taskKey: string): string | undefined {
    return this.#parentKeys.get(taskKey);
  }

  listExchangesDuring(taskKey: string): readonly TrafficExchange[] {
    return this.#exchangesByParent.get(taskKey) ?? [];
  }
}
