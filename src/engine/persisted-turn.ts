import type { SendMessageRequest } from "../protocol/index.ts";
import type { Caller } from "./caller.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { Turn } from "./turn.ts";

/**
 * What is kept of a turn at work beside its task's log, so that a later process can have the agent work on it again: all
 * that the agent was told, but for the caller's scopes and claims, and the webhook with its secrets. JSON; stores look at
 * nothing in it.
 */
export interface PersistedTurn {
  /** The seq of the turn's message. */
  readonly seq: number;
  /** How often an agent has begun with it. */
  readonly attempt: number;
  readonly request: Omit<SendMessageRequest, "message">;
  readonly service: Pick<ServiceParameters, "version" | "extensions" | "traceparent" | "needsTask">;
  readonly choseTenant?: boolean;
}

export function toPersistedTurn(
  { request, serviceParameters: service, caller, attempt }: Turn,
  seq: number,
): PersistedTurn {
  const { tenant, configuration = {}, metadata } = request;
  const { taskPushNotificationConfig: _secrets, ...configured } = configuration;
  const { version, extensions, traceparent, needsTask } = service;
  return {
    seq,
    attempt,
    request: {
      configuration: configured,
      ...(tenant === undefined ? {} : { tenant }),
      ...(metadata === undefined ? {} : { metadata }),
    },
    service: {
      ...(version === undefined ? {} : { version }),
      ...(extensions === undefined ? {} : { extensions }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(needsTask === undefined ? {} : { needsTask }),
    },
    ...(caller.choseTenant ? { choseTenant: true } : {}),
  };
}

/** The caller of a kept turn: who owns the task, without what the credentials of that time permitted. */
export function restoreCaller({ tenant, principal }: Caller, { choseTenant }: PersistedTurn): Caller {
  return { tenant, principal, ...(choseTenant ? { choseTenant } : {}) };
}
