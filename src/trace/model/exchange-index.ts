import type { TrafficExchange } from "./traffic-exchange.ts";

/** The exchanges of a record, with the tasks that they connect. */
export class ExchangeIndex {
  readonly exchanges: readonly TrafficExchange[];
  readonly #parentKeys = new Map<string, string>();
  readonly #exchangesByParent = new Map<string, TrafficExchange[]>();

  /** `exchanges` are in the order of time. */
  constructor(exchanges: readonly TrafficExchange[]) {
    this.exchanges = exchanges;
    for (const exchange of exchanges) {
      const { taskKey, parentTaskKey } = exchange;
      if (parentTaskKey === undefined) continue;
      if (taskKey !== undefined && !this.#parentKeys.has(taskKey))
        this.#parentKeys.set(taskKey, parentTaskKey);
      const siblings = this.#exchangesByParent.get(parentTaskKey);
      if (siblings) siblings.push(exchange);
      else this.#exchangesByParent.set(parentTaskKey, [exchange]);
    }
  }

  findParentTaskKey(taskKey: string): string | undefined {
    return this.#parentKeys.get(taskKey);
  }

  listExchangesDuring(taskKey: string): readonly TrafficExchange[] {
    return this.#exchangesByParent.get(taskKey) ?? [];
  }
}
