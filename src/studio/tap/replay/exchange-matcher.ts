import {
  isObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
  type OperationName,
} from "../../../protocol/index.ts";
import type { RecordedExchange } from "./recorded-exchanges.ts";

/**
 * Finds the recorded exchange for each request. A message matches by its content. Equal messages receive the recorded
 * responses in their order, and then from the beginning again. Other requests match by their task, and receive the last
 * response again after the recorded ones.
 */
export class ExchangeMatcher {
  readonly #exchanges: readonly RecordedExchange[];
  readonly #useCounts = new Map<RecordedExchange, number>();

  constructor(exchanges: readonly RecordedExchange[]) {
    this.#exchanges = exchanges;
  }

  /** Returns the exchange for a request with parameters in the form of A2A 1.0, or `undefined` if none was recorded. */
  match(operation: OperationName, params: JsonObject, after?: number): RecordedExchange | undefined {
    const sameOperation = this.#exchanges.filter((exchange) => exchange.operation === operation);
    const found = isObject(params["message"])
      ? this.#selectLeastUsed(findSameMessages(sameOperation, params["message"]))
      : this.#selectNextOrLast(findSameRequests(sameOperation, params, after));
    if (found) this.#useCounts.set(found, this.#countUses(found) + 1);
    return found;
  }

  #countUses(exchange: RecordedExchange): number {
    return this.#useCounts.get(exchange) ?? 0;
  }

  #selectLeastUsed(candidates: readonly RecordedExchange[]): RecordedExchange | undefined {
    const fewest = Math.min(...candidates.map((exchange) => this.#countUses(exchange)));
    return candidates.find((exchange) => this.#countUses(exchange) === fewest);
  }

  #selectNextOrLast(candidates: readonly RecordedExchange[]): RecordedExchange | undefined {
    return candidates.find((exchange) => this.#countUses(exchange) === 0) ?? candidates.at(-1);
  }
}

/**
 * Returns the exchanges whose messages have the same parts. A message to a task matches only messages to this task, and
 * messages of the same context take precedence.
 */
function findSameMessages(exchanges: readonly RecordedExchange[], message: JsonObject): RecordedExchange[] {
  const { parts, taskId, contextId } = message;
  const same = exchanges.filter(({ params }) => {
    const recorded = params["message"];
    return isObject(recorded) && isSameJson(recorded["parts"], parts) && recorded["taskId"] === taskId;
  });
  const inContext = same.filter(({ params }) => getContextId(params) === contextId);
  return contextId !== undefined && inContext.length > 0 ? inContext : same;
}

function getContextId({ message }: JsonObject): JsonValue | undefined {
  return isObject(message) ? message["contextId"] : undefined;
}

/** Returns the exchanges about the same task. Subscriptions after the same event take precedence. */
function findSameRequests(
  exchanges: readonly RecordedExchange[],
  params: JsonObject,
  after: number | undefined,
): RecordedExchange[] {
  const same = exchanges.filter(
    ({ params: recorded }) => recorded["id"] === params["id"] && recorded["taskId"] === params["taskId"],
  );
  const sameAfter = same.filter(({ request }) => request.after === after);
  return sameAfter.length > 0 ? sameAfter : same;
}
