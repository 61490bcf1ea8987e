import { resolveObserver } from "../../../observe/logging/index.ts";
import type { AgentEvent, AgentMessage, Clock, Observer, Run } from "../../../engine/index.ts";
import {
  type CardProtocol,
  type CardRecorder,
  type CardType,
  type ControlCard,
  createCardProtocol,
  findCardInCancelMetadata,
  MESSAGE_CARD_EXTENSION_URI,
  type MessageCard,
  findCardInMessage,
  MAX_PROBLEM_FORWARDS,
  MESSAGE_CARD_MEDIA_TYPE,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  toCardParts,
} from "../../index.ts";
import type { RoleModel } from "../role-model.ts";
import { type A2AClient, connect, type ConnectOptions } from "../../../client/index.ts";
import {
  type JsonObject,
  truncateText,
  A2AError,
  acceptsMediaType,
  getText,
  type Message,
} from "../../../protocol/index.ts";
import { omitUndefined } from "../../../base/usage-checks/index.ts";

/** A status event or artifact event of a task. */
export type TaskUpdateEvent = Extract<AgentEvent, { status: unknown } | { artifact: unknown }>;

export type TaskUpdateState = Extract<TaskUpdateEvent, { status: unknown }>["status"]["state"];

/** Card protocol type for all roles and all types of message cards. */
export type AnyCardProtocol = CardProtocol<CardType, string>;

/** Location of a role: a URL, a client, or a function that returns a URL or a client. */
export type RoleTarget = string | A2AClient | (() => string | A2AClient | Promise<string | A2AClient>);

/** Options that roles and controllers share. */
export interface RoleRuntimeOptions {
  /**
   * Options for connections to roles with a configured URL, for example credentials. By default, clients
   * resume an interrupted stream with up to 5 retries.
   */
  readonly connectOptions?: ConnectOptions;
  /** Locations of other roles, by role name. */
  readonly roleTargets?: Readonly<Record<string, RoleTarget>>;
  /**
   * Card protocol, which defines the routes for each type of message card. The default protocol has three
   * roles and five types of message cards.
   */
  readonly protocol?: AnyCardProtocol;
  /** Recorder for every message card that the role sends, receives, or relays, and for every model call. */
  readonly recorder?: CardRecorder;
  /**
   * Observer that receives complete errors. Error cards omit error details. The default observer writes
   * errors to stderr, and the value `false` disables the default observer.
   */
  readonly observer?: Pick<Observer, "onError"> | false;
  /** Clock. Default: the system clock. */
  readonly clock?: Clock;
  /** Function that returns a new `card_id`. */
  readonly newId?: () => string;
  /**
   * Grace period in milliseconds during which a stopped role can return a partial result. If the role that
   * sends the stop has a shorter grace period, the shorter one applies. Default: 2,000.
   */
  readonly graceMs?: number;
  /** Time limit in milliseconds for tasks without a deadline. Default: none. */
  readonly deadlineMs?: number;
}

/** Environment that all tasks of a role share. */
export interface RoleRuntime extends Required<
  Pick<RoleRuntimeOptions, "protocol" | "clock" | "newId" | "graceMs">
> {
  readonly role: string;
  /**
   * Returns the client for a role, which is connected on first use. Rejects if the role is unknown or unreachable.
   * After a failed connection, the next call connects again.
   */
  readonly getClient: (role: string) => Promise<A2AClient>;
  readonly recorder: CardRecorder | undefined;
  readonly observer: Pick<Observer, "onError">;
  readonly deadlineMs: number | undefined;
  readonly model: RoleModel | undefined;
}

/** Creates the runtime environment of a role. Throws if the card protocol does not define the role. */
export function createRoleRuntime(
  role: string,
  options: RoleRuntimeOptions & { readonly model?: RoleModel },
): RoleRuntime {
  const { protocol = createCardProtocol(), clock = systemClock } = options;
  if (!protocol.roles.includes(role)) {
    const knownRoles = protocol.roles.join(", ");
    throw new Error(
      `The card protocol does not define the role ${JSON.stringify(role)} (defined roles: ${knownRoles}). Use createCardProtocol({ roles: [${JSON.stringify(role)}] }) with routes for it.`,
    );
  }
  return {
    role,
    protocol,
    getClient: createClientPool(options),
    recorder: options.recorder,
    observer: resolveObserver(options.observer),
    clock,
    newId: options.newId ?? (() => crypto.randomUUID()),
    graceMs: options.graceMs ?? 2000,
    deadlineMs: options.deadlineMs,
    model: options.model,
  };
}

function createClientPool({
  roleTargets = {},
  connectOptions = {},
}: RoleRuntimeOptions): RoleRuntime["getClient"] {
  const extensions = new Set([...(connectOptions.extensions ?? []), MESSAGE_CARD_EXTENSION_URI]);
  const complete = { reconnect: { maxRetries: 5 }, ...connectOptions, extensions: [...extensions] };
  const targets = new Map(Object.entries(roleTargets));
  const clients = new Map<string, Promise<A2AClient>>();
  const connectTo = async (role: string): Promise<A2AClient> => {
    const target = targets.get(role);
    if (target === undefined) {
      const known = [...targets.keys()].join(", ") || "none";
      throw new Error(
        `The role ${role} has no location (known roles: ${known}). Add its URL to "roleTargets".`,
      );
    }
    const resolved = typeof target === "function" ? await target() : target;
    return typeof resolved === "string" ? await connect(resolved, complete) : resolved;
  };
  return (role) => {
    const client = clients.get(role) ?? connectTo(role);
    clients.set(role, client);
    client.catch(() => clients.delete(role));
    return client;
  };
}

/** Fraction of the requester's grace period that a role passes on to downstream roles. */
const DOWNSTREAM_GRACE_PERIOD_SHARE = 0.5;
const OWN_GRACE_PERIOD_SHARE = 0.8;

/**
 * Returns the grace periods for downstream roles and for the role itself. Both are shorter than the
 * requester's grace period, so that each role can reply in time.
 */
export function computeGracePeriods(
  { graceMs }: { readonly graceMs: number },
  parameters: JsonObject,
): { readonly forOthersMs: number; readonly forItselfMs: number } {
  const { grace_ms } = parameters;
  if (typeof grace_ms !== "number" || !(grace_ms >= 0)) {
    return { forOthersMs: graceMs, forItselfMs: graceMs * OWN_GRACE_PERIOD_SHARE };
  }
  const availableMs = Math.min(graceMs, grace_ms);
  return {
    forOthersMs: availableMs * DOWNSTREAM_GRACE_PERIOD_SHARE,
    forItselfMs: availableMs * OWN_GRACE_PERIOD_SHARE,
  };
}

/**
 * Returns the parameters of the control card that stopped the work, or the reason `cancelled` if no control
 * card stopped it.
 */
export function getStopCardParameters(reason: unknown): JsonObject {
  return isControlCard(reason) ? (reason.metadata.parameters ?? {}) : { reason: "cancelled" };
}

export function isStopCausedByTimeout({ reason }: JsonObject): boolean {
  return reason === "timeout";
}

export function isControlCard(value: unknown): value is ControlCard {
  if (typeof value !== "object" || value === null) return false;
  return "message_type" in value && (value as MessageCard).message_type === "control";
}

/** Abort reason for work that ends because the server closes, and that no later process continues. */
export class ServerClosingError extends Error {
  override readonly name = "AbortError";
}

/** Abort reason for an attempt that ends before its task. A later attempt or turn continues the work. */
export class TurnContinuesError extends Error {
  override readonly name = "AbortError";
}

/** Returns the abort reason for a cancellation with this metadata: the control card, if the metadata contains one. */
export function toCancellationAbortReason(cancelMetadata: JsonObject): unknown {
  const card = findCardInCancelMetadata(cancelMetadata);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
}

const MAX_ERROR_CHARACTERS = 500;

/**
 * Formats a thrown value as a short error text. The error text is short enough for an error card. If the
 * error text made the card invalid, the task would get no reply.
 */
export function formatError(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
  return text.length > MAX_ERROR_CHARACTERS ? `${truncateText(text, MAX_ERROR_CHARACTERS)}…` : text;
}

/**
 * System clock whose timers do not keep the process alive. The clock duplicates a clock in `src/engine`,
 * because `src/cards/roles` may import only types from `src/engine`.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
  scheduleTurn: (callback) => void setImmediate(callback),
};

/**
 * Returns whether the reply to an incoming message must be a message card. The sender of the message must
 * accept the media type of message cards, and must request the extension or send a message card.
 */
export function shouldReplyInCards({ extensions, message, configuration }: Run): boolean {
  const acceptsCards =
    acceptsMediaType(configuration, MESSAGE_CARD_MEDIA_TYPE) ||
    acceptsMediaType(configuration, "application/json");
  return acceptsCards && (extensions.includes(MESSAGE_CARD_EXTENSION_URI) || isCardMessage(message));
}

/**
 * Parses the message card that starts a task. The function converts plain text to a task card. The sender of
 * this task card is the first role that may send tasks to the receiving role. If the message card has no id,
 * the function uses the id of the A2A message.
 */
export function parseRequestCard(message: Message, role: string, protocol: AnyCardProtocol): MessageCard {
  const { messageId } = message;
  const card_id = /^[A-Za-z0-9_.:-]{1,128}$/.test(messageId) ? messageId : undefined;
  const card = findCardInMessage(message);
  if (card) return { ...card, metadata: { ...omitUndefined({ card_id }), ...card.metadata } };
  const from = protocol.routes.find(({ to, types }) => to === role && types.includes("task"))?.from;
  if (from === undefined)
    throw createInvalidParamsError(
      "message",
      `no role may send a task to the ${role}; add a route to the card protocol`,
    );
  const metadata = { ...omitUndefined({ card_id }), written_by: role };
  return protocol.createTaskCard({ from, to: role, task: getText(message.parts), metadata });
}

/**
 * Validates and returns a message card that starts work. `hops` is the number of roles that have already
 * forwarded the problem. Throws `INVALID_PARAMS` if this role is not allowed to accept the message card.
 */
export function requireValidRequestCard(
  card: MessageCard,
  role: string,
  protocol: AnyCardProtocol,
  hops: number,
): TaskCard | QueryCard {
  const parsed: MessageCard = protocol.parse(card);
  if (parsed.recipient !== role) {
    throw createInvalidParamsError(
      "recipient",
      `is ${parsed.recipient}, but this agent is the ${role}; send the card to its recipient`,
    );
  }
  if (hops > MAX_PROBLEM_FORWARDS) {
    throw createInvalidParamsError(
      "card",
      `was forwarded ${hops} times, which indicates a loop; at most ${MAX_PROBLEM_FORWARDS} are allowed`,
    );
  }
  if (isRequestCard(parsed, protocol)) return parsed as TaskCard | QueryCard;
  const { message_type } = parsed;
  throw createInvalidParamsError(
    "message_type",
    `${message_type} cannot start a task; send a task card, or set the taskId of the message`,
  );
}

/**
 * Parses the message card that answers a query, or returns `undefined` for a plain text answer. Throws
 * `INVALID_PARAMS` if the message card is not a result card for the query.
 */
export function parseAnswerCard(
  message: Message,
  query: QueryCard,
  protocol: AnyCardProtocol,
): ResultCard | undefined {
  const card = findCardInMessage(message);
  if (!card) return undefined;
  const answer: MessageCard = protocol.parse(card);
  const { in_reply_to = query.metadata.card_id } = answer.metadata;
  if (isResultCard(answer) && in_reply_to === query.metadata.card_id) return answer;
  throw createInvalidParamsError("card", `is not a result that replies to ${query.metadata.card_id}`);
}

/**
 * Parses a control card from the requester, or returns `undefined` if the message contains no control card.
 * Throws `INVALID_PARAMS` if another role sent the control card.
 */
export function parseControlCard(
  message: Message,
  parsed: MessageCard,
  protocol: AnyCardProtocol,
): ControlCard | undefined {
  const card = findCardInMessage(message);
  if (!isControlCard(card)) return undefined;
  protocol.parse(card);
  if (card.sender === parsed.sender) return card;
  throw createInvalidParamsError("sender", `is ${card.sender}, but the task was sent by ${parsed.sender}`);
}

/** Returns the message card in an A2A message, or `undefined` if the message card is missing or invalid. */
export function findReadableCard(message: Message): MessageCard | undefined {
  try {
    return findCardInMessage(message);
  } catch {
    return undefined;
  }
}

/** Returns whether an A2A message contains a message card, valid or not. */
function isCardMessage(message: Message): boolean {
  if (message.extensions?.includes(MESSAGE_CARD_EXTENSION_URI)) return true;
  try {
    return findCardInMessage(message) !== undefined;
  } catch {
    return true;
  }
}

/** Returns whether a card starts work: a task, a query, or a card of a custom type that ends no task. */
function isRequestCard({ message_type }: MessageCard, { types }: AnyCardProtocol): boolean {
  if (["result", "error", "control"].includes(message_type)) return false;
  return types.some(({ name, isTerminal }) => name === message_type && !isTerminal);
}

/** Returns whether a card of this type ends work: a result, an error, or a custom type that ends a task. */
export function isReplyType(type: string, { types }: AnyCardProtocol): boolean {
  return types.some(({ name, isTerminal }) => name === type && isTerminal) && type !== "control";
}

function isResultCard(card: MessageCard): card is ResultCard {
  return card.message_type === "result";
}

function createInvalidParamsError(field: string, description: string): A2AError {
  return A2AError.invalidParams([{ field, description }]);
}

/** Converts message cards to A2A events that contain either message cards or plain text. */
export class CardEventEncoder {
  /**
   * Whether the requester accepts message cards. If the requester does not accept message cards, the role
   * does not relay message cards from other roles.
   */
  readonly usesCards: boolean;

  /** `usesCards` is true if the requester requests the message card extension or sends message cards. */
  constructor(usesCards: boolean) {
    this.usesCards = usesCards;
  }

  /** Encodes a message card as a new state of the task, such as progress, a query, or a rejection. */
  encodeStatus(state: TaskUpdateState, card: MessageCard): TaskUpdateEvent {
    return { status: { state, message: this.#createMessage(card) } };
  }

  /** Encodes the final message card of a task, either a result or an error. */
  encodeFinal(card: MessageCard, wasStopped: boolean): TaskUpdateEvent[] {
    const { message_type: type, metadata, content } = card;
    const status = "status" in metadata ? metadata["status"] : undefined;
    if (type === "error" || status === "error")
      return [this.encodeStatus(wasStopped ? "TASK_STATE_CANCELED" : "TASK_STATE_FAILED", card)];
    // A partial result of a stopped role is an artifact of a canceled task.
    const state = wasStopped && status === "partial" ? "TASK_STATE_CANCELED" : "TASK_STATE_COMPLETED";
    const end: TaskUpdateEvent = { status: { state } };
    // An artifact needs at least one part (A2A §5.7), so an empty text result has no artifact.
    if (!this.usesCards && content === "") return [end];
    const { messageId: artifactId = metadata.card_id ?? "result-card", ...message } =
      this.#createMessage(card);
    return [{ artifact: { artifactId, name: this.usesCards ? "result-card" : "result", ...message } }, end];
  }

  #createMessage(card: MessageCard): Pick<AgentMessage, "messageId" | "parts" | "extensions"> {
    if (!this.usesCards) return { parts: [{ text: formatCardText(card) }] };
    const messageId = omitUndefined({ messageId: card.metadata.card_id });
    return { ...messageId, parts: toCardParts(card), extensions: [MESSAGE_CARD_EXTENSION_URI] };
  }
}

/**
 * Returns the content of a message card as text. For a query card, the text also lists the options after the
 * content.
 */
export function formatCardText({ content, metadata }: MessageCard): string {
  const { options } = metadata as { options?: readonly string[] };
  return options?.length ? `${content} (${options.join(" | ")})` : content;
}
