import { setTimeout as delay } from "node:timers/promises";
import {
  A2AError,
  isObject,
  isSameJson,
  type JsonObject,
  type JsonValue,
  type OperationName,
} from "../../../protocol/index.ts";
import { rewriteCardUrls } from "../cards/rewrite-card-urls.ts";
import { describeParams } from "../recording/call-description.ts";
import type { RecordedAgent, RecordedExchange } from "./recorded-exchanges.ts";

/** Longest delay of a timer in Node.js, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** A request to a replayed agent, and the recorded exchange that answers the request. */
export interface ReplayedCall {
  readonly exchange: RecordedExchange;
  /**
   * Waits until a number of recorded milliseconds have passed since the request. Resolves with false if the client has
   * closed the call.
   */
  readonly waitUntil: (offsetMs: number) => Promise<boolean>;
}

/** Replies to the requests of all bindings from the record of one agent. */
export class AgentReplay {
  readonly #agent: RecordedAgent;
  readonly #matcher: ExchangeMatcher;
  readonly #msPerRecordedMs: number;
  readonly #onMiss: (text: string) => void;

  constructor(agent: RecordedAgent, speed: number | "max", onMiss: (text: string) => void) {
    this.#agent = agent;
    this.#matcher = new ExchangeMatcher(agent.exchanges);
    this.#msPerRecordedMs = speed === "max" ? 0 : 1 / speed;
    this.#onMiss = onMiss;
  }

  get agentName(): string {
    return this.#agent.name;
  }

  /** Returns the agent card with the addresses of the replay, or `undefined` if the record contains no card. */
  buildCard(addresses: ReplayAddresses): JsonObject | undefined {
    return this.#agent.card && directCardToReplay(this.#agent.card, addresses);
  }

  /**
   * Finds the recorded exchange for a request with parameters in the form of A2A 1.0. Throws an explanation if the
   * request was not recorded. `closed` aborts when the client closes the call.
   */
  startCall(
    operation: OperationName,
    params: JsonObject,
    header: (name: string) => string | undefined,
    closed: AbortSignal,
  ): ReplayedCall {
    const startMs = performance.now();
    const { after } = describeParams(operation, params, { header });
    const exchange = this.#matcher.match(operation, params, after);
    if (!exchange) throw this.#createMiss(operation, params);
    const waitUntil = async (offsetMs: number): Promise<boolean> => {
      const remainingMs = startMs + offsetMs * this.#msPerRecordedMs - performance.now();
      if (remainingMs > 1)
        await delay(Math.min(remainingMs, MAX_DELAY_MS), undefined, { signal: closed }).catch(() => {});
      return !closed.aborted;
    };
    return { exchange, waitUntil };
  }

  /** Reports a request that was not recorded. */
  #createMiss(operation: OperationName, params: JsonObject): A2AError {
    const { name, exchanges } = this.#agent;
    const same = exchanges.filter((exchange) => exchange.operation === operation);
    const what = isObject(params["message"])
      ? `the message ${summarizeMessage(params["message"])}`
      : `the task ${JSON.stringify(params["id"] ?? params["taskId"] ?? "")}`;
    const text = `The record of ${name} contains no ${operation} for ${what}. It contains ${same.length} other requests of this operation. Record the request with colloquy tap.`;
    this.#onMiss(text);
    return new A2AError(isObject(params["message"]) ? "UNSUPPORTED_OPERATION" : "TASK_NOT_FOUND", text);
  }
}

/** The addresses under which a client reaches the replay. */
export interface ReplayAddresses {
  /** Host and port of the HTTP listener. */
  readonly http: string;
  /** Host and port of the gRPC listener, or undefined without the packages for gRPC. */
  readonly grpc: string | undefined;
}

/** Replaces the URLs of the interfaces in an agent card. Interfaces that the replay does not serve are omitted. */
export function directCardToReplay(card: JsonObject, { http, grpc }: ReplayAddresses): JsonObject {
  // The record of a server contains the card of the agent before the server has added its interfaces.
  if (card["supportedInterfaces"] === undefined && card["url"] === undefined)
    return { ...card, supportedInterfaces: listReplayInterfaces({ http, grpc }) };
  const { card: directed } = rewriteCardUrls(card, (url, binding) =>
    binding === "GRPC" ? grpc : url.replace(/^https?:\/\/[^/?#]*/i, `http://${http}`),
  );
  return grpc === undefined ? removeGrpcInterfaces(directed) : directed;
}

function listReplayInterfaces({ http, grpc }: ReplayAddresses): JsonObject[] {
  const url = `http://${http}/`;
  return ["1.0", "0.3"].flatMap((protocolVersion) => [
    { url, protocolBinding: "JSONRPC", protocolVersion },
    { url, protocolBinding: "HTTP+JSON", protocolVersion },
    ...(grpc === undefined ? [] : [{ url: grpc, protocolBinding: "GRPC", protocolVersion }]),
  ]);
}

function removeGrpcInterfaces(card: JsonObject): JsonObject {
  const rest = { ...card };
  for (const [list, binding] of [
    ["supportedInterfaces", "protocolBinding"],
    ["additionalInterfaces", "transport"],
  ] as const) {
    const interfaces = rest[list];
    if (Array.isArray(interfaces))
      rest[list] = interfaces.filter((item) => !isObject(item) || item[binding] !== "GRPC");
  }
  return rest;
}

/** Returns the text of a message, for an error message. */
function summarizeMessage({ parts }: JsonObject): string {
  const text = (Array.isArray(parts) ? parts : [])
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text);
}

/**
 * Finds the recorded exchange for each request. A message matches by its content. Equal messages receive the recorded
 * responses in their order, and then from the beginning again. Other requests match by their task, and receive the last
 * response again after the recorded ones.
 */
class ExchangeMatcher {
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

/**
 * Returns the exchanges about the same task. Subscriptions after the same event, and lists with the same parameters, take
 * precedence.
 */
function findSameRequests(
  exchanges: readonly RecordedExchange[],
  params: JsonObject,
  after: number | undefined,
): RecordedExchange[] {
  const same = exchanges.filter(
    ({ params: recorded }) => recorded["id"] === params["id"] && recorded["taskId"] === params["taskId"],
  );
  const isAboutTask = (params["id"] ?? params["taskId"]) !== undefined;
  const closest = same.filter(({ request, params: recorded }) =>
    isAboutTask ? request.after === after : isSameJson(recorded, params),
  );
  return closest.length > 0 ? closest : same;
}
