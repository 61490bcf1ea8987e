import { resolveObserver } from "../../../observe/logging/index.ts";
import type { Clock, Observer } from "../../../engine/index.ts";
import {
  type CardProtocol,
  type CardRecorder,
  type CardType,
  type ControlCard,
  createCardProtocol,
  findCardInCancelMetadata,
  MESSAGE_CARD_EXTENSION_URI,
  type MessageCard,
} from "../../index.ts";
import type { RoleModel } from "../role-model.ts";
import { type A2AClient, connect, type ConnectOptions } from "../../../client/index.ts";
import { type JsonObject, truncateText } from "../../../protocol/index.ts";

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
