import type { LogAppend } from "../../engine/index.ts";
import { isTerminal } from "../../protocol/index.ts";
import { findFirstReferencedSeq, omitReferencedContent } from "../artifact-references.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { toLogRows } from "../to-log-rows.ts";
import type { RowOf } from "./row-columns.ts";
import { computeScopeKey } from "./scope-key.ts";
import type { NumberedAppend } from "./split-batch.ts";
import type { APPEND_COLUMNS } from "./statements/append.ts";

/** The rows of all sections that a group of appends writes. */
type AppendRows = {
  readonly [Section in keyof typeof APPEND_COLUMNS]: RowOf<(typeof APPEND_COLUMNS)[Section]>[];
};

/**
 * Converts appends to rows, and encrypts the secrets of their webhooks. No two appends may concern the same task or
 * message.
 */
export function toAppendRows(appends: readonly NumberedAppend[], cipher: PushSecretCipher): AppendRows {
  const rows: AppendRows = {
    messages: [],
    createdTasks: [],
    changedTasks: [],
    logRows: [],
    snapshots: [],
    turns: [],
    steps: [],
    queuedTurns: [],
    dequeuedTurns: [],
    webhooks: [],
  };
  for (const { ordinal, append } of appends) {
    addTaskRow(rows, ordinal, append);
    addMessageRows(rows, ordinal, append);
    for (const { seq, lines, hasOnlyArtifacts } of toLogRows(append.events))
      rows.logRows.push({
        ordinal,
        seq,
        lines,
        has_only_artifacts: hasOnlyArtifacts,
        committed_at: append.committedAt,
      });
    addSnapshotRow(rows, ordinal, append);
    addTurnRows(rows, ordinal, append, cipher);
    for (const { turnSeq, key, json } of append.steps ?? [])
      rows.steps.push({ ordinal, turn_seq: turnSeq, key, json });
    addWebhookRows(rows, ordinal, append, cipher);
  }
  return rows;
}

function addTaskRow({ createdTasks, changedTasks }: AppendRows, ordinal: number, append: LogAppend): void {
  const {
    scope,
    taskId,
    contextId,
    expectedSeq,
    events,
    status,
    epoch,
    hasRunningTurn,
    incrementsEpoch,
    releasesLease,
    turn,
  } = append;
  const row = {
    ordinal,
    scope: computeScopeKey(scope),
    task_id: taskId,
    seq: expectedSeq + events.length,
    state: status.state,
    status_time: status.timestamp,
    epoch,
    leased: releasesLease !== true,
  };
  if (expectedSeq > 0) {
    const wakeAt = releasesLease ? turn?.wakeAt : undefined;
    changedTasks.push({
      ...row,
      expected_seq: expectedSeq,
      new_epoch: incrementsEpoch ? epoch + 1 : epoch,
      running: hasRunningTurn ?? null,
      wake_at: wakeAt === undefined ? null : new Date(wakeAt).toISOString(),
    });
    return;
  }
  createdTasks.push({
    ...row,
    tenant: scope.tenant,
    principal: scope.principal,
    agent: scope.agent,
    context_id: contextId,
    running: hasRunningTurn ?? false,
  });
}

/** Adds one row per message id. An append can queue a message and begin its turn. */
function addMessageRows({ messages }: AppendRows, ordinal: number, append: LogAppend): void {
  const scope = computeScopeKey(append.scope);
  for (const messageId of new Set(append.messages.map((message) => message.messageId))) {
    const entries = append.messages.filter((message) => message.messageId === messageId);
    const seq = Math.max(...entries.map((message) => message.seq));
    const isNew = entries.some((message) => !message.wasQueued);
    messages.push({ ordinal, scope, message_id: messageId, seq, is_new: isNew });
  }
}

function addSnapshotRow({ snapshots }: AppendRows, ordinal: number, append: LogAppend): void {
  const { expectedSeq, events, snapshot, artifactReferences: references = [] } = append;
  if (!snapshot) return;
  const firstReferencedSeq = findFirstReferencedSeq(references);
  snapshots.push({
    ordinal,
    seq: expectedSeq + events.length,
    json: JSON.stringify(omitReferencedContent(snapshot, references)),
    artifact_references: firstReferencedSeq === undefined ? null : JSON.stringify(references),
    first_referenced_seq: firstReferencedSeq ?? null,
  });
}

function addTurnRows(rows: AppendRows, ordinal: number, append: LogAppend, cipher: PushSecretCipher): void {
  const { turn, queueChange, scope, taskId } = append;
  if (turn !== undefined) rows.turns.push({ ordinal, json: turn && JSON.stringify(turn) });
  if (!queueChange) return;
  const { added, removedThrough: through } = queueChange;
  for (const queued of added) {
    // A turn that the append queues and removes has no row.
    if (through !== undefined && queued.position <= through) continue;
    const json = cipher.encodeTurn(queued, { ...scope, taskId });
    rows.queuedTurns.push({ ordinal, position: queued.position, json });
  }
  if (through !== undefined) rows.dequeuedTurns.push({ ordinal, through });
}

/** Adds one row per webhook id. A later webhook of the append replaces an earlier webhook with its id. */
function addWebhookRows(
  { webhooks }: AppendRows,
  ordinal: number,
  append: LogAppend,
  cipher: PushSecretCipher,
): void {
  const byId = new Map(append.webhooks?.map((webhook) => [webhook.config.id, webhook]));
  for (const [position, { config, version }] of [...byId.values()].entries()) {
    webhooks.push({
      ordinal,
      position,
      scope: computeScopeKey(append.scope),
      after: append.expectedSeq,
      seq: append.expectedSeq + append.events.length,
      has_ended: isTerminal(append.status.state),
      leased: append.releasesLease !== true,
      id: config.id,
      config: JSON.stringify(cipher.seal(config, { ...append.scope, taskId: append.taskId })),
      version,
    });
  }
}
