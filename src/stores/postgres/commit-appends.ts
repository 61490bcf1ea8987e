import { randomInt } from "node:crypto";
import type { AppendRefusal, LogAppend } from "../../engine/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { isConcurrentWriteError } from "./postgres-error-conversion.ts";
import type { PostgresConnection, PostgresPool } from "./postgres-pool.ts";
import { encodeRows, type RowOf } from "./row-columns.ts";
import { SIZE_SHARD_COUNT } from "./schema.ts";
import {
  APPEND_BATCH,
  APPEND_BATCH_AND_QUEUE_TEXT,
  APPEND_COLUMNS,
  APPEND_EVENTS,
  APPEND_EVENTS_AND_QUEUE_TEXT,
  EVENT_SECTIONS,
  OTHER_SECTIONS,
} from "./statements/append.ts";
import { isTerminal } from "../../protocol/index.ts";
import { findFirstReferencedSeq, omitReferencedContent } from "../artifact-references.ts";
import { getScopeKey } from "../task-owner-scope-key.ts";
import { toLogRows } from "../to-log-rows.ts";
import { computeScopeKey } from "./scope-key.ts";

/** Number of attempts to commit a batch. An attempt fails only if another node commits the same task or message. */
const MAX_ATTEMPTS = 10;

/** The node that appends, and the cipher for the secrets of webhooks. */
interface AppendWriter {
  readonly node: string;
  readonly cipher: PushSecretCipher;
  /** Whether the appends queue tasks for the text index. */
  readonly queuesText: boolean;
}

/** Outcomes of appends by their ordinals. */
type AppendOutcomes = Map<number, AppendRefusal | undefined>;

/**
 * Commits the appends of a batch, usually with one statement in one round trip. Resolves with the outcome of each append
 * once all accepted appends are durable.
 */
export async function commitAppends(
  pool: PostgresPool,
  writer: AppendWriter,
  batch: readonly LogAppend[],
): Promise<(AppendRefusal | undefined)[]> {
  const numbered = batch.map((append, ordinal) => ({ ordinal, append }));
  const groups = splitBatch(numbered.filter(({ append }) => !hasRepeatedMessage(append)));
  const outcomes = await repeatAfterConcurrentWrite(() => commitGroups(pool, writer, groups));
  return numbered.map(({ ordinal }) => (outcomes.has(ordinal) ? outcomes.get(ordinal) : "duplicate-message"));
}

/** Repeats a transaction that another node has made fail. The repetition sees the rows of the other node. */
async function repeatAfterConcurrentWrite<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isConcurrentWriteError(error)) throw error;
    }
  }
}

async function commitGroups(
  pool: PostgresPool,
  writer: AppendWriter,
  groups: readonly (readonly NumberedAppend[])[],
): Promise<AppendOutcomes> {
  const outcomes: AppendOutcomes = new Map();
  const [first] = groups;
  if (first && groups.length === 1) await commitGroup(pool, writer, first, outcomes);
  else
    await pool.runTransaction(async (connection) => {
      for (const group of groups) await commitGroup(connection, writer, group, outcomes);
    });
  return outcomes;
}

async function commitGroup(
  connection: PostgresConnection,
  writer: AppendWriter,
  group: readonly NumberedAppend[],
  outcomes: AppendOutcomes,
): Promise<void> {
  const rows = toAppendRows(group, writer.cipher);
  const hasOnlyEvents = OTHER_SECTIONS.every((section) => rows[section].length === 0);
  const sections = hasOnlyEvents ? EVENT_SECTIONS : [...EVENT_SECTIONS, ...OTHER_SECTIONS];
  const arrays = sections.flatMap((section) => encodeRows(APPEND_COLUMNS[section], rows[section]));
  const [appendEvents, appendBatch] = writer.queuesText
    ? [APPEND_EVENTS_AND_QUEUE_TEXT, APPEND_BATCH_AND_QUEUE_TEXT]
    : [APPEND_EVENTS, APPEND_BATCH];
  const statement = hasOnlyEvents ? appendEvents : appendBatch;
  const [row] = await connection.query(statement, [writer.node, randomInt(SIZE_SHARD_COUNT), ...arrays]);
  const written = new Set(row?.written);
  const duplicates = new Set(row?.duplicates);
  for (const { ordinal } of group) {
    const refusal = duplicates.has(ordinal) ? "duplicate-message" : "conflict";
    outcomes.set(ordinal, written.has(ordinal) ? undefined : refusal);
  }
}

/** The rows of all sections that a group of appends writes. */
type AppendRows = {
  readonly [Section in keyof typeof APPEND_COLUMNS]: RowOf<(typeof APPEND_COLUMNS)[Section]>[];
};

/**
 * Converts appends to rows, and encrypts the secrets of their webhooks. No two appends may concern the same task or
 * message.
 */
function toAppendRows(appends: readonly NumberedAppend[], cipher: PushSecretCipher): AppendRows {
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

/** An append, and its position in the batch. */
interface NumberedAppend {
  readonly ordinal: number;
  readonly append: LogAppend;
}

/**
 * Splits a batch into the smallest number of groups that a statement can commit. A statement reads only rows from
 * before its start, so two appends to one task, or with one message, are in different groups. Their order is kept. A
 * usual batch is one group.
 */
function splitBatch(batch: readonly NumberedAppend[]): NumberedAppend[][] {
  const groups: NumberedAppend[][] = [];
  const nextGroups = new Map<string, number>();
  for (const numbered of batch) {
    const { scope, taskId, messages } = numbered.append;
    const scopeKey = getScopeKey(scope);
    const names = [
      `task ${taskId} ${scopeKey}`,
      ...messages.map(({ messageId }) => `message ${messageId} ${scopeKey}`),
    ];
    const at = Math.max(...names.map((name) => nextGroups.get(name) ?? 0));
    for (const name of names) nextGroups.set(name, at + 1);
    (groups[at] ??= []).push(numbered);
  }
  return groups;
}

/** Returns true if an append registers a message id more than once. */
function hasRepeatedMessage({ messages }: LogAppend): boolean {
  const ids = messages.filter(({ wasQueued }) => !wasQueued).map(({ messageId }) => messageId);
  return new Set(ids).size < ids.length;
}
