import type { TaskScope, TurnRestartData, UnfinishedTask } from "../engine/index.ts";
import type { Webhook } from "../webhooks/index.ts";
import type { DeletableTask } from "./task-deletion-store.ts";
import type { PushSecretCipher, SealedPushConfig } from "./push-secret-cipher.ts";
import { toScope } from "./task-owner-scope-key.ts";

/** A task with a running turn, as a statement returns it. SQLite also needs to decode the state and the time. */
export type UnfinishedTaskRow = TaskScope &
  Omit<UnfinishedTask, "scope" | "turn"> & {
    /** The persisted turn as JSON. */
    readonly turn: string | null;
  };

export function decodeUnfinishedTask(row: UnfinishedTaskRow): UnfinishedTask {
  const { taskId, contextId, seq, state, timestamp, turn } = row;
  const task = { scope: toScope(row), taskId, contextId, seq, state, timestamp };
  return turn === null ? task : { ...task, turn: JSON.parse(turn) as TurnRestartData };
}

/** A webhook with its task. */
export interface WebhookRow extends TaskScope {
  readonly key: number;
  readonly taskId: string;
  /** The configuration as JSON, with encrypted secrets. */
  readonly config: string;
  readonly version: string;
  readonly deliveredSeq: number;
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  readonly deadAt: number | null;
  readonly deadReason: string | null;
}

export function decodeWebhook(row: WebhookRow, cipher: PushSecretCipher): Webhook {
  const { key, taskId, version, deliveredSeq, failingSince, failedAttempts, deadAt, deadReason } = row;
  const config = JSON.parse(row.config) as SealedPushConfig<Webhook["config"]>;
  return {
    key,
    scope: toScope(row),
    taskId,
    ...cipher.open(config, row),
    version,
    deliveredSeq,
    ...(failingSince === null ? {} : { failingSince }),
    ...(failedAttempts === 0 ? {} : { failedAttempts }),
    ...(deadAt === null ? {} : { deadLetter: { at: deadAt, reason: deadReason ?? "" } }),
  };
}

/** A stopped task. SQLite returns 0 and 1 instead of `false` and `true`. */
export type DeletableTaskRow = TaskScope &
  Omit<DeletableTask, "scope" | "hasEvents" | "hasPendingWebhooks"> & {
    readonly hasEvents: boolean | number;
    readonly hasPendingWebhooks: boolean | number;
  };

export function decodeDeletableTask(row: DeletableTaskRow): DeletableTask {
  const { key, taskId, state, timestamp, hasEvents, hasPendingWebhooks } = row;
  return {
    key,
    scope: toScope(row),
    taskId,
    state,
    timestamp,
    hasEvents: Boolean(hasEvents),
    hasPendingWebhooks: Boolean(hasPendingWebhooks),
  };
}
