import { randomInt } from "node:crypto";
import type { AppendRefusal, LogAppend } from "../../engine/index.ts";
import type { PushSecretCipher } from "../push-secret-cipher.ts";
import { isConcurrentWriteError } from "./postgres-error-conversion.ts";
import type { PostgresConnection, PostgresPool } from "./postgres-pool.ts";
import { encodeRows } from "./row-columns.ts";
import { SIZE_SHARD_COUNT } from "./schema.ts";
import { hasRepeatedMessage, splitBatch, type NumberedAppend } from "./split-batch.ts";
import {
  APPEND_BATCH,
  APPEND_BATCH_AND_QUEUE_TEXT,
  APPEND_COLUMNS,
  APPEND_EVENTS,
  APPEND_EVENTS_AND_QUEUE_TEXT,
  EVENT_SECTIONS,
  OTHER_SECTIONS,
} from "./statements/append.ts";
import { toAppendRows } from "./to-append-rows.ts";

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
