import type { Clock, Observer } from "../../engine/index.ts";
import {
  type CardProtocol,
  type CardType,
  createCardProtocol,
  type CardRecorder,
} from "../../cards/index.ts";
import type { RoleModel } from "../role-model.ts";
import { systemClock } from "./clock.ts";
import { type RoleConnectionOptions, RoleClientPool, type RoleTarget } from "./role-client-pool.ts";

/** A protocol with whatever types and roles. */
export type AnyCardProtocol = CardProtocol<CardType, string>;

/** What everybody who sends and receives cards may be given. */
export interface RoleRuntimeOptions extends RoleConnectionOptions {
  /** Where the other roles are, by their names. */
  readonly roleTargets?: Readonly<Record<string, RoleTarget>>;
  /** Who may send whom what. Default: the three roles, five types and the ways between them. */
  readonly protocol?: AnyCardProtocol;
  /** Told of every card that is sent, received or relayed, and of every call of the model. */
  readonly recorder?: CardRecorder;
  /** Told of what went wrong where the error card says less than is known. */
  readonly observer?: Pick<Observer, "onError">;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** A new `card_id`. Default: a random UUID. */
  readonly newId?: () => string;
  /**
   * How long a role that is stopped may take to say what it has, in milliseconds. Default 2,000, or less where the one who
   * stops it has less to give.
   */
  readonly graceMs?: number;
  /** For each task that is sent and has no deadline of its own, in milliseconds. Default: none. */
  readonly deadlineMs?: number;
}

/** What a role works with: one for all of its tasks. */
export interface RoleRuntime {
  readonly role: string;
  readonly protocol: AnyCardProtocol;
  readonly clients: RoleClientPool;
  readonly recorder: CardRecorder | undefined;
  readonly observer: Pick<Observer, "onError">;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly graceMs: number;
  readonly deadlineMs: number | undefined;
  readonly model: RoleModel | undefined;
}

export function createRoleRuntime(
  role: string,
  options: RoleRuntimeOptions & { readonly model?: RoleModel },
): RoleRuntime {
  const { protocol = createCardProtocol(), roleTargets = {}, clock = systemClock } = options;
  if (!protocol.roles.includes(role)) {
    const knownRoles = protocol.roles.join(", ");
    throw new Error(
      `The protocol knows no role ${JSON.stringify(role)}, only ${knownRoles}; give createCardProtocol({ roles: [${JSON.stringify(role)}] }) with routes for it.`,
    );
  }
  return {
    role,
    protocol,
    clients: new RoleClientPool(roleTargets, options),
    recorder: options.recorder,
    observer: options.observer ?? {},
    clock,
    newId: options.newId ?? (() => crypto.randomUUID()),
    graceMs: options.graceMs ?? 2000,
    deadlineMs: options.deadlineMs,
    model: options.model,
  };
}
