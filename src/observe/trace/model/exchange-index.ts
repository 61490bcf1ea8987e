import type { TrafficExchange } from "./traffic-exchange.ts";

/** The exchanges of a record, with the tasks that they connect. */
export class ExchangeIndex {
  readonly exchanges: readonly TrafficExchange[];
  readonly #exchangesByParent: ReadonlyMap<string | undefined, readonly TrafficExchange[]>;
  readonly #parentKeys: ReadonlyMap<string | undefined, string | undefined>;
  readonly #exchangesByCall: ReadonlyMap<string, TrafficExchange>;

  /** `exchanges` are in the order of time. */
  constructor(exchanges: readonly TrafficExchange[]) {
    this.exchanges = exchanges;
    this.#exchangesByParent = Map.groupBy(exchanges, ({ parentTaskKey }) => parentTaskKey);
    // Of several exchanges of a task, the first with a parent counts, because later members of a map win.
    const withParent = exchanges.filter(({ parentTaskKey }) => parentTaskKey !== undefined);
    this.#parentKeys = new Map(
      withParent.toReversed().map(({ taskKey, parentTaskKey }) => [taskKey, parentTaskKey]),
    );
    this.#exchangesByCall = new Map(
      exchanges.flatMap((exchange) => exchange.calls.map(({ key }) => [key, exchange] as const)),
    );
  }

  findExchange(callKey: string): TrafficExchange | undefined {
    return this.#exchangesByCall.get(callKey);
  }

  findParentTaskKey(taskKey: string): string | undefined {
    return this.#parentKeys.get(taskKey);
  }

  listExchangesDuring(taskKey: string): readonly TrafficExchange[] {
    return this.#exchangesByParent.get(taskKey) ?? [];
  }
}
